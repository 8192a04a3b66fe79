(** Where the boundary test fails, two steps that carry differently are found by walking towards a corner. *)

From Coq Require Import ZArith Lia List Bool.
From Shapetracker Require Import View Criterion Overflow Equation Bounding Merge Exact FastPath.
Import ListNotations.
Open Scope Z_scope.

(** On the way to the corner where a remainder is largest it leaves [0, P) upwards on some unit step. *)
Lemma greedy_up : forall P rs b r, solid b -> length rs = length b -> 0 <= r < P -> P <= r + rises rs b ->
  exists l i, (l < length b)%nat /\ inbox b i /\ inbox b (bump l i) /\
    0 <= r + dot rs i - dot rs (corner b) < P /\ P <= r + dot rs i - dot rs (corner b) + nth l rs 0.
Proof.
  intros P. induction rs as [|a rs IH]; destruct b as [|g b]; intros r S L R H; try discriminate; [simpl in H; lia|].
  inversion S as [|? ? S1 S2]; subst. cbn [rises] in H. simpl in L.
  pose proof (corner_inbox b S2) as Hc.
  set (m := snd g - fst g - 1) in *. assert (0 <= m) by (unfold m; lia).
  destruct (Z_le_dec (a * m) 0) as [N|N].
  - destruct (IH b r S2 ltac:(congruence) R ltac:(lia)) as (l & i & Hl & Hi & Hi' & V & C).
    exists (Datatypes.S l), (fst g :: i). cbn [length bump inbox dot corner map nth]. fold (corner b).
    split; [lia|]. split; [split; [lia|assumption]|]. split; [split; [lia|assumption]|]. lia.
  - destruct (Z_lt_dec (r + a * m) P) as [F|F].
    + destruct (IH b (r + a * m) S2 ltac:(congruence) ltac:(lia) ltac:(lia)) as (l & i & Hl & Hi & Hi' & V & C).
      exists (Datatypes.S l), (fst g + m :: i). cbn [length bump inbox dot corner map nth]. fold (corner b).
      split; [lia|]. split; [split; [unfold m; lia|assumption]|]. split; [split; [unfold m; lia|assumption]|]. lia.
    + assert (0 < a) by nia. set (k := (P - 1 - r) / a).
      assert (0 <= k) by (apply Z.div_pos; lia).
      pose proof (Z.div_mod (P - 1 - r) a ltac:(lia)) as D. pose proof (Z.mod_pos_bound (P - 1 - r) a ltac:(lia)).
      fold k in D.
      assert (k < m) by nia.
      exists O, (fst g + k :: corner b). cbn [length bump inbox dot corner map nth]. fold (corner b).
      split; [lia|]. split; [split; [unfold m in *; lia|assumption]|].
      split; [split; [unfold m in *; lia|assumption]|]. lia.
Qed.

(** ... and downwards on the way to the one where it is smallest. *)
Lemma greedy_down : forall P rs b r, solid b -> length rs = length b -> 0 <= r < P -> r + falls rs b < 0 ->
  exists l i, (l < length b)%nat /\ inbox b i /\ inbox b (bump l i) /\
    0 <= r + dot rs i - dot rs (corner b) < P /\ r + dot rs i - dot rs (corner b) + nth l rs 0 < 0.
Proof.
  intros P. induction rs as [|a rs IH]; destruct b as [|g b]; intros r S L R H; try discriminate; [simpl in H; lia|].
  inversion S as [|? ? S1 S2]; subst. cbn [falls] in H. simpl in L.
  pose proof (corner_inbox b S2) as Hc.
  set (m := snd g - fst g - 1) in *. assert (0 <= m) by (unfold m; lia).
  destruct (Z_le_dec 0 (a * m)) as [N|N].
  - destruct (IH b r S2 ltac:(congruence) R ltac:(lia)) as (l & i & Hl & Hi & Hi' & V & C).
    exists (Datatypes.S l), (fst g :: i). cbn [length bump inbox dot corner map nth]. fold (corner b).
    split; [lia|]. split; [split; [lia|assumption]|]. split; [split; [lia|assumption]|]. lia.
  - destruct (Z_le_dec 0 (r + a * m)) as [F|F].
    + destruct (IH b (r + a * m) S2 ltac:(congruence) ltac:(lia) ltac:(lia)) as (l & i & Hl & Hi & Hi' & V & C).
      exists (Datatypes.S l), (fst g + m :: i). cbn [length bump inbox dot corner map nth]. fold (corner b).
      split; [lia|]. split; [split; [unfold m; lia|assumption]|]. split; [split; [unfold m; lia|assumption]|]. lia.
    + assert (0 < - a) by nia. set (k := r / - a).
      assert (0 <= k) by (apply Z.div_pos; lia).
      pose proof (Z.div_mod r (- a) ltac:(lia)) as D. pose proof (Z.mod_pos_bound r (- a) ltac:(lia)). fold k in D.
      assert (k < m) by nia.
      exists O, (fst g + k :: corner b). cbn [length bump inbox dot corner map nth]. fold (corner b).
      split; [lia|]. split; [split; [unfold m in *; lia|assumption]|].
      split; [split; [unfold m in *; lia|assumption]|]. lia.
Qed.

Lemma nth_carries : forall P x st l, (l < length st)%nat ->
  nth l (carries_at P x st) 0 = (x + nth l st 0) / P - x / P.
Proof. intros P x st. induction st as [|a st IH]; simpl; intros [|l] L; try lia. apply IH. lia. Qed.

Lemma nth_rests : forall P x st l, (l < length st)%nat ->
  nth l (rests P x st) 0 = nth l st 0 - P * ((x + nth l st 0) / P - x / P).
Proof. intros P x st. induction st as [|a st IH]; simpl; intros [|l] L; try lia. apply IH. lia. Qed.

(** If the boundary test fails, some step carries over the boundary exactly once more, or once less, than the first step
    of its axis; and it has a first step.  So the walk of the implementation always ends at one. *)
Theorem first_carry : forall P o st b, 0 < P -> solid b -> length st = length b -> ~ boundary_test P o st b ->
  exists l i, inbox b i /\ inbox b (bump l i) /\ inbox b (bump l (corner b)) /\
    let quotient j := (o + dot st j) / P in
    Z.abs ((quotient (bump l i) - quotient i) - (quotient (bump l (corner b)) - quotient (corner b))) = 1.
Proof.
  intros P o st b HP S L T. unfold boundary_test in T. set (x := o + dot st (corner b)) in *.
  assert (Lr : length (rests P x st) = length b) by (unfold rests; rewrite map_length; assumption).
  pose proof (Z.mod_pos_bound x P HP) as X. pose proof (Z.div_mod x P ltac:(lia)) as DX.
  assert (FIRST : forall l i, (l < length b)%nat -> inbox b i -> inbox b (bump l i) -> inbox b (bump l (corner b))).
  { intros l i Hl Hi Hi'. destruct (proj1 (bump_inbox b l i Hl) (conj Hi Hi')) as (_ & _ & N).
    apply (bump_inbox b l (corner b) Hl).
    split; [apply inbox_length, corner_inbox; assumption|]. split; [apply corner_inbox; assumption|].
    pose proof (proj2 (proj1 (inbox_nth _ _) Hi) l Hl). unfold corner. change 0 with (fst (0, 0)) at 1.
    rewrite map_nth. lia. }
  (* A position is its quotient, affine by the carries of first steps, and its remainder, while that stays in range. *)
  assert (POS : forall l i v, (l < length b)%nat -> inbox b i -> inbox b (bump l i) -> (v = 1 \/ v = -1) ->
     0 <= x mod P + dot (rests P x st) i - dot (rests P x st) (corner b) < P ->
     v * P <= x mod P + dot (rests P x st) i - dot (rests P x st) (corner b) + nth l (rests P x st) 0 < (v + 1) * P ->
     Z.abs (((o + dot st (bump l i)) / P - (o + dot st i) / P)
            - ((o + dot st (bump l (corner b))) / P - (o + dot st (corner b)) / P)) = 1).
  { intros l i v Hl Hi Hi' V R R'.
    assert (Li : length st = length i) by (rewrite (inbox_length _ _ Hi); assumption).
    assert (Lc : length st = length (corner b)) by (unfold corner; rewrite map_length; assumption).
    rewrite !dot_bump by assumption. fold x. rewrite nth_rests in R' by lia. rewrite !rests_dot in *.
    set (t := (x + nth l st 0) / P - x / P) in *.
    set (q := x / P + dot (carries_at P x st) i - dot (carries_at P x st) (corner b)) in *.
    set (r := x mod P + (dot st i - P * dot (carries_at P x st) i) - (dot st (corner b) - P * dot (carries_at P x st)
      (corner b))) in *.
    assert (Q : q = (o + dot st i) / P).
    { apply Z.div_unique with r; [left; exact R|]. unfold q, r, x in *. lia. }
    assert (Q' : q + t + v = (o + (dot st i + nth l st 0)) / P).
    { apply Z.div_unique with (r + (nth l st 0 - P * t) - v * P); [left; lia|]. unfold q, r, x in *. lia. }
    rewrite <- Q, <- Q'. replace (o + (dot st (corner b) + nth l st 0)) with (x + nth l st 0) by (unfold x; ring).
    fold t. lia. }
  assert (SMALL : forall l, (l < length b)%nat -> - P < nth l (rests P x st) 0 < P).
  { intros l Hl. rewrite nth_rests by lia. pose proof (Z.div_mod (x + nth l st 0) P ltac:(lia)).
    pose proof (Z.mod_pos_bound (x + nth l st 0) P HP). nia. }
  destruct (Z_lt_dec (x mod P + falls (rests P x st) b) 0) as [F|F].
  - destruct (greedy_down P (rests P x st) b (x mod P) S Lr X F) as (l & i & Hl & Hi & Hi' & V & C).
    exists l, i. split; [assumption|]. split; [assumption|]. split; [exact (FIRST l i Hl Hi Hi')|]. cbv zeta.
    specialize (SMALL l Hl). apply (POS l i (-1)); try assumption; [auto|lia].
  - assert (G : P <= x mod P + rises (rests P x st) b) by lia.
    destruct (greedy_up P (rests P x st) b (x mod P) S Lr X G) as (l & i & Hl & Hi & Hi' & V & C).
    exists l, i. split; [assumption|]. split; [assumption|]. split; [exact (FIRST l i Hl Hi Hi')|]. cbv zeta.
    specialize (SMALL l Hl). apply (POS l i 1); try assumption; [auto|lia].
Qed.

(** A boundary at 6 that steps of 1 from 0 on reach after 6 steps: the test fails. *)
Example first_carry_example : ~ boundary_test 6 0 [1] [(0, 24)].
Proof. unfold boundary_test. vm_compute. intuition discriminate. Qed.
