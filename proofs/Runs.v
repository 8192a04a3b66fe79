(** Runs: how far an axis of a later view is affine over an earlier one, told by its carries and without walking
    along it. *)

From Coq Require Import ZArith Lia List Bool.
From Shapetracker Require Import View Criterion Overflow Equation Bounding Merge Exact UitDeBos FastPath Splits.
Import ListNotations.
Open Scope Z_scope.

(** A boundary between digits, and the steps that carry over it unlike the first step does: at step [x] there have
    been [(remainder + step * x) / weight] of them, and each moves the address by [jump]. *)
Record unlike := Unlike { weight : Z; remainder : Z; step : Z; jump : Z; count : Z }.

Definition unlike_steps (u : unlike) (x : Z) : Z := (remainder u + step u * x) / weight u.

(** The end of the step that is the next one of them. *)
Definition next (u : unlike) : Z := (count u * weight u - 1 - remainder u) / step u + 1.

Definition advance (u : unlike) : unlike := Unlike (weight u) (remainder u) (step u) (jump u) (count u + 1).

(** The unlike steps over a boundary of weight [W] and jump [c], from position [o] on in steps of [s]; nothing where
    all are alike. *)
Definition unlike_of (o s : Z) (boundary : Z * Z) : option unlike :=
  let (W, c) := boundary in
  let r := o mod W in
  let a := s mod W in
  if W - r <=? a then Some (Unlike W (W - 1 - r) (W - a) (- c) 1)
  else if 0 <? a then Some (Unlike W r a c 1)
  else None.

Definition proper_unlike (u : unlike) : Prop :=
  0 < weight u /\ 0 <= remainder u < weight u /\ 0 < step u < weight u.

(** What the carries over a boundary add that is not a multiple of the first step. *)
Definition carried (o s : Z) (boundary : Z * Z) (x : Z) : Z :=
  snd boundary * ((o + s * x) / fst boundary - o / fst boundary - x * ((o + s) / fst boundary - o / fst boundary)).

(** The unlike steps are all of it. *)
Theorem unlike_counts : forall o s W c, 0 < W ->
  match unlike_of o s (W, c) with
  | Some u => proper_unlike u /\ count u = 1 /\ next u > 1 /\ forall x, carried o s (W,
    c) x = jump u * unlike_steps u x
  | None => forall x, carried o s (W, c) x = 0
  end.
Proof.
  intros o s W c HW. unfold unlike_of, carried, unlike_steps, proper_unlike, next. cbn [fst snd].
  pose proof (Z.div_mod o W ltac:(lia)) as Do. pose proof (Z.mod_pos_bound o W HW) as Bo.
  pose proof (Z.div_mod s W ltac:(lia)) as Ds. pose proof (Z.mod_pos_bound s W HW) as Bs.
  set (r := o mod W) in *. set (a := s mod W) in *. set (q := o / W) in *. set (t := s / W) in *.
  assert (Q : forall x, (o + s * x) / W = q + t * x + (r + a * x) / W).
  { intros x. replace (o + s * x) with ((r + a * x) + (q + t * x) * W) by (rewrite Do, Ds; ring).
    rewrite Z.div_add by lia. ring. }
  pose proof (Q 1) as Q1. rewrite !Z.mul_1_r in Q1.
  destruct (Z.leb_spec (W - r) a) as [C|C].
  - cbn [weight remainder step jump count]. split; [lia|]. split; [reflexivity|].
    assert (E1 : (r + a) / W = 1) by (symmetry; apply Z.div_unique with (r + a - W); lia).
    split; [replace (1 * W - 1 - (W - 1 - r)) with r by ring; pose proof (Z.div_pos r (W - a) ltac:(lia) ltac:(lia));
            assert (r / (W - a) >= 1) by (pose proof (Z.div_le_lower_bound r (W - a) 1 ltac:(lia) ltac:(lia)); lia);
              lia|].
    intros x. rewrite Q, Q1, E1.
    replace (W - 1 - r + (W - a) * x) with ((W - 1 - (r + a * x)) + x * W) by ring. rewrite Z.div_add by lia.
    assert (N : (W - 1 - (r + a * x)) / W = - ((r + a * x) / W)).
    { symmetry. pose proof (Z.div_mod (r + a * x) W ltac:(lia)). pose proof (Z.mod_pos_bound (r + a * x) W HW).
      apply Z.div_unique with (W - 1 - (r + a * x) mod W); [left; lia|lia]. }
    rewrite N. ring.
  - assert (E1 : (r + a) / W = 0) by (apply Z.div_small; lia). destruct (Z.ltb_spec 0 a).
    + cbn [weight remainder step jump count]. split; [lia|]. split; [reflexivity|].
      split; [assert ((1 * W - 1 - r) / a >= 1) by (pose proof (Z.div_le_lower_bound (1 * W - 1 - r) a 1 ltac:(lia)
        ltac:(lia)); lia); lia|].
      intros x. rewrite Q, Q1, E1. ring.
    + intros x. assert (a = 0) by lia. rewrite Q, Q1, E1. replace (r + a * x) with r by (subst a; nia).
      rewrite Z.div_small by lia. ring.
Qed.

(** A step is before the next unlike one exactly if so many have been. *)
Lemma next_spec : forall u x, proper_unlike u -> (x < next u <-> unlike_steps u x < count u).
Proof.
  intros u x (W & R & S). unfold next, unlike_steps.
  pose proof (Z.div_mod (count u * weight u - 1 - remainder u) (step u) ltac:(lia)) as D.
  pose proof (Z.mod_pos_bound (count u * weight u - 1 - remainder u) (step u) ltac:(lia)) as B. split.
  - intros H. apply Z.div_lt_upper_bound; [lia|]. nia.
  - intros H. apply Z.nle_gt. intros G.
    assert (count u <= (remainder u + step u * x) / weight u) by (apply Z.div_le_lower_bound; [lia|nia]). lia.
Qed.

(** Steps are unlike one at a time. *)
Lemma one_at_a_time : forall u x, proper_unlike u -> unlike_steps u (x + 1) <= unlike_steps u x + 1.
Proof.
  intros u x (W & R & S). unfold unlike_steps. replace (remainder u + step u * (x + 1)) with
    (remainder u + step u * x + step u) by ring.
  transitivity ((remainder u + step u * x + 1 * weight u) / weight u); [apply Z.div_le_mono; lia|].
  rewrite Z.div_add by lia. lia.
Qed.

Lemma unlike_increase : forall u x y, proper_unlike u -> x <= y -> unlike_steps u x <= unlike_steps u y.
Proof. intros u x y (W & R & S) L. unfold unlike_steps. apply Z.div_le_mono; [lia|nia]. Qed.

Fixpoint moved (us : list unlike) (x : Z) : Z :=
  match us with [] => 0 | u :: r => jump u * unlike_steps u x + moved r x end.

(** The least end of a next unlike step, or [n]. *)
Fixpoint nearest (us : list unlike) (n : Z) : Z := match us with [] => n | u :: r => Z.min (next u) (nearest r n) end.

Definition jump_at (x : Z) (u : unlike) : Z := if next u =? x then jump u else 0.
Definition advance_at (x : Z) (u : unlike) : unlike := if next u =? x then advance u else u.

Fixpoint total_jump (x : Z) (us : list unlike)
  : Z := match us with [] => 0 | u :: r => jump_at x u + total_jump x r end.

(** Follows unlike steps as long as those that fall together cancel: the run, or nothing where that takes too long.
    *)
Fixpoint follow (work : nat) (us : list unlike) (n : Z) : option Z :=
  let x := nearest us n in
  if n <=? x then Some n else
  match work with
  | O => None
  | S k => if total_jump x us =? 0 then follow k (map (advance_at x) us) n else Some x
  end.

(** Between steps that are unlike nothing moves. *)
Definition current (us : list unlike) (x : Z) : Prop :=
  Forall (fun u => proper_unlike u /\ unlike_steps u x + 1 = count u) us.

Lemma moved_same : forall us x y n, current us x -> x <= y < nearest us n -> moved us y = moved us x.
Proof.
  induction us as [|u us IH]; intros x y n C L; [reflexivity|]. inversion C as [|? ? [C1 C2] C3]; subst.
  cbn [nearest moved] in *.
  rewrite (IH x y n C3) by lia. f_equal. f_equal. assert (y < next u) by lia. apply next_spec in H; [|assumption].
  pose proof (unlike_increase u x y C1 ltac:(lia)). lia.
Qed.

Lemma moved_next : forall us x y n, current us x -> x < y -> y <= nearest us n ->
  moved us y = moved us x + total_jump y us /\ current (map (advance_at y) us) y.
Proof.
  induction us as [|u us IH]; intros x y n C L M; [split; [reflexivity|constructor]|].
  inversion C as [|? ? [C1 C2] C3]; subst. cbn [nearest moved total_jump map] in *.
  destruct (IH x y n C3 L ltac:(lia)) as [I1 I2].
  pose proof (unlike_increase u x (y - 1) C1 ltac:(lia)) as U1. pose proof (one_at_a_time u (y - 1) C1) as U2.
  replace (y - 1 + 1) with y in U2 by ring. pose proof (unlike_increase u x y C1 ltac:(lia)) as U3.
  assert (U4 : unlike_steps u (y - 1) < count u) by (apply next_spec; [assumption|lia]).
  unfold jump_at, advance_at. destruct (Z.eqb_spec (next u) y) as [E|E].
  - assert (U5 : ~ unlike_steps u y < count u) by (rewrite <- next_spec by assumption; lia).
    assert (unlike_steps u y = unlike_steps u x + 1) by lia. split; [rewrite I1, H; ring|].
    constructor; [|assumption]. split; [exact C1|]. unfold advance, unlike_steps in *.
    cbn [count weight remainder step]. lia.
  - assert (U5 : unlike_steps u y < count u) by (apply next_spec; [assumption|lia]).
    assert (unlike_steps u y = unlike_steps u x) by lia. split; [rewrite I1, H; ring|].
    constructor; [|assumption]. split; [exact C1|lia].
Qed.

(** The first step at which something has moved is found, if anything is. *)
Lemma follow_exact : forall work us x n r, current us x -> 0 <= x < n -> x < nearest us n -> (forall y,
  0 <= y <= x -> moved us y = 0) ->
  follow work us n = Some r ->
  x < r <= n /\ (forall y, 0 <= y < r -> moved us y = 0) /\ (r < n -> moved us r <> 0).
Proof.
  assert (MS : forall us y z, moved (map (advance_at y) us) z = moved us z).
  { induction us as [|u us IH]; intros y z; [reflexivity|]. cbn [map moved]. rewrite IH. unfold advance_at.
    destruct (next u =? y); reflexivity. }
  induction work as [|k IH]; intros us x n r C X N H E; cbn [follow] in E; set (y := nearest us n) in *;
    destruct (Z.leb_spec n y) as [L|L]; try discriminate.
  1, 2: injection E as <-; split; [lia|]; split; [|lia]; intros z Z0; destruct (Z.le_gt_cases z x); [apply H; lia|];
    rewrite (moved_same us x z n) by (assumption || (fold y; lia)); apply H; lia.
  destruct (moved_next us x y n C ltac:(lia) ltac:(lia)) as [M1 M2].
  assert (B : forall z, 0 <= z < y -> moved us z = 0).
  { intros z Z0. destruct (Z.le_gt_cases z x); [apply H; lia|].
    rewrite (moved_same us x z n) by (assumption || (fold y; lia)). apply H; lia. }
  rewrite (H x) in M1 by lia. destruct (Z.eqb_spec (total_jump y us) 0) as [T|T].
  - destruct (IH (map (advance_at y) us) y n r M2 ltac:(lia)) as (I1 & I2 & I3); [| |assumption|].
    + assert (G : forall vs, current vs y -> y < n -> y < nearest vs n).
      { clear. induction vs as [|v vs IH]; intros C Y; [assumption|]. inversion C as [|? ? [C1 C2] C3]; subst.
        cbn [nearest].
        assert (y < next v) by (apply next_spec; [assumption|lia]). specialize (IH C3 Y). lia. }
      apply G; [assumption|lia].
    + intros z Z0. rewrite MS. destruct (Z.eq_dec z y) as [->|]; [lia|apply B; lia].
    + split; [lia|]. split; [intros z Z0; rewrite <- (MS us y z); apply I2; assumption|intros R;
        rewrite <- (MS us y r); apply I3, R].
  - injection E as <-. split; [lia|]. split; [exact B|intros _; lia].
Qed.

(** The unlike steps of all boundaries at which a carry moves the address. *)
Fixpoint all_unlike (o s : Z) (bs : list (Z * Z)) : list unlike :=
  match bs with
  | [] => []
  | b :: r => if snd b =? 0 then all_unlike o s r
              else match unlike_of o s b with Some u => u :: all_unlike o s r | None => all_unlike o s r end
  end.

Lemma all_unlike_moved : forall o s bs, Forall (fun b => 0 < fst b) bs ->
  current (all_unlike o s bs) 1 /\ forall x,
  moved (all_unlike o s bs) x = jumps bs (o + s * x) - jumps bs o - x * (jumps bs (o + s) - jumps bs o).
Proof.
  induction bs as [|[W c] bs IH]; intros P; [split; [constructor|intros x; simpl; lia]|].
  inversion P as [|? ? P1 P2]; subst.
  destruct (IH P2) as [I1 I2]. simpl in P1. cbn [all_unlike snd]. pose proof (unlike_counts o s W c P1) as U.
  unfold carried in U. cbn [fst snd] in U. destruct (Z.eqb_spec c 0) as [->|N].
  - split; [assumption|]. intros x. rewrite I2. cbn [jumps]. ring.
  - destruct (unlike_of o s (W, c)) as [u|].
    + destruct U as (U1 & U2 & U3 & U4). split.
      * constructor; [|assumption]. split; [assumption|]. rewrite U2.
        assert (G : 1 < next u) by lia. apply next_spec in G; [|assumption]. rewrite U2 in G.
        assert (0 <= unlike_steps u 1) by (destruct U1 as (? & ? & ?); unfold unlike_steps; apply Z.div_pos; lia).
        lia.
      * intros x. cbn [moved jumps]. rewrite I2, <- U4. ring.
    + split; [assumption|]. intros x. rewrite I2. cbn [jumps]. specialize (U x). lia.
Qed.

(** What the address of an axis of a later view is, over an earlier one: positions [o], [o + s], .. in the digits of
    a shape. *)
Definition along (ss st : list Z) (o s : Z) (x : Z) : Z := dot st (unravel ss (o + s * x)).

(** The run that carries tell is the run: the first index at which the address is no multiple of its first step. *)
Theorem followed_run : forall work ss st o s n r, positives ss -> length st = length ss -> 2 <= n ->
  (forall x, 0 <= x < n -> 0 <= o + s * x < numel ss) ->
  follow work (all_unlike o s (boundaries ss st)) n = Some r -> r = run (along ss st o s) n.
Proof.
  intros work ss st o s n r P L N I E.
  assert (PB : Forall (fun b => 0 < fst b) (boundaries ss st)).
  { apply Forall_forall. intros [W c] H. simpl. eapply boundaries_pos; eassumption. }
  destruct (all_unlike_moved o s (boundaries ss st) PB) as [C M]. set (us := all_unlike o s (boundaries ss st)) in *.
  set (g := along ss st o s).
  assert (A : forall x, 0 <= x < n -> g x = last st 0 * (o + s * x) + jumps (boundaries ss st) (o + s * x)).
  { intros x X. unfold g, along. apply address_by_boundaries; [assumption|assumption|apply I; assumption]. }
  assert (G : forall x, 0 <= x < n -> g x - g 0 - x * (g 1 - g 0) = moved us x).
  { intros x X. rewrite M, !A by lia. replace (o + s * 0) with o by ring. replace (o + s * 1) with (o + s) by ring.
    ring. }
  assert (NX : 1 < nearest us n).
  { clear - C N. induction us as [|u us IH]; [simpl; lia|]. inversion C as [|? ? [C1 C2] C3]; subst. cbn [nearest].
    assert (1 < next u) by (apply next_spec; [assumption|lia]). specialize (IH C3). lia. }
  destruct (follow_exact work us 1 n r C ltac:(lia) NX) as (R1 & R2 & R3); [|exact E|].
  { intros y Y. rewrite <- G by lia. assert (C2 : y = 0 \/ y = 1) by lia. destruct C2 as [->| ->]; ring. }
  apply (is_run_unique g n); [|apply run_spec; assumption]. split; [lia|]. split.
  - intros x X. specialize (R2 x X). rewrite <- G in R2 by lia. lia.
  - intros H. specialize (R3 H). rewrite <- G in R3 by lia. lia.
Qed.

(** Where that takes too long it is asked, up to which index the axis is affine, and the answer is narrowed down:
    [ask] tells two steps that differ, the first one and another. *)
Fixpoint narrowed (work : nat) (ask : Z -> option Z) (affine longest asked : Z) : option Z :=
  if longest <=? affine then Some affine else
  match work with
  | O => None
  | S k =>
      match ask asked with
      | None => narrowed k ask asked longest (asked + (longest - asked + 1) / 2)
      | Some y => narrowed k ask affine (y + 1) (affine + (y + 1 - affine + 1) / 2)
      end
  end.

Theorem narrowed_run : forall work g n ask affine longest asked r, 2 <= n ->
  (forall m, 2 <= m <= n -> match ask m with
     | None => forall x, 0 <= x < m -> g x - g 0 = x * (g 1 - g 0)
     | Some y => 1 <= y < m - 1 /\ g (y + 1) - g y <> g 1 - g 0
     end) ->
  2 <= affine <= longest -> longest <= n -> affine <= asked <= longest ->
  (forall x, 0 <= x < affine -> g x - g 0 = x * (g 1 - g 0)) -> run g n <= longest ->
  narrowed work ask affine longest asked = Some r -> r = run g n.
Proof.
  induction work as [|k IH]; intros g n ask affine longest asked r N A L M Q H R E; cbn [narrowed] in E;
    destruct (Z.leb_spec longest affine) as [D|D]; try discriminate.
  1, 2: injection E as <-; pose proof (run_spec g n N) as (R1 & R2 & R3); destruct (Z.lt_ge_cases (run g n) affine);
    [|lia];
    exfalso; apply R3; [lia|apply H; lia].
  specialize (A asked ltac:(lia)) as A1. destruct (ask asked) as [y|].
  - destruct A1 as [Y1 Y2]. assert (RY : run g n <= y + 1).
    { pose proof (run_spec g n N) as (_ & R2 & _). apply Z.nlt_ge. intros G. apply Y2.
      pose proof (R2 y ltac:(lia)). pose proof (R2 (y + 1) ltac:(lia)). lia. }
    assert (AY : affine <= y + 1).
    { apply Z.nlt_ge. intros G. apply Y2. pose proof (H y ltac:(lia)). pose proof (H (y + 1) ltac:(lia)). lia. }
    eapply IH; [exact N|exact A| | | |exact H|exact RY|exact E]; try lia.
    pose proof (Z.div_mod (y + 1 - affine + 1) 2 ltac:(lia)). pose proof (Z.mod_pos_bound (y + 1 - affine + 1)
      2 ltac:(lia)). lia.
  - eapply IH; [exact N|exact A| | | |exact A1|exact R|exact E]; try lia.
    pose proof (Z.div_mod (longest - asked + 1) 2 ltac:(lia)).
    pose proof (Z.mod_pos_bound (longest - asked + 1) 2 ltac:(lia)). lia.
Qed.

(** Carries that cancel: (10, 9, 4):(140, 11, 13) in steps of 9 is affine for all of 6 indices, (9, 3, 5):(2, 1, 0)
    for 3. *)
Example followed_examples :
  follow 64 (all_unlike 0 9 (boundaries [10; 9; 4] [140; 11; 13])) 6 = Some 6 /\
  follow 64 (all_unlike 0 9 (boundaries [9; 3; 5] [2; 1; 0])) 6 = Some 3 /\
  follow 64 (all_unlike 60 (-12) (boundaries [10; 8; 6; 4] [7; 5; 3; 2])) 6 = Some 2.
Proof. repeat split; vm_compute; reflexivity. Qed.
