(** Carries over boundaries only, going up or down: the form in which the implementation walks the patterns.

    The implementation does not add |a| to a walk from the other end.  It lets a position move down and borrow.  And it
    asks only about the boundaries where a carry moves the address: the digits between them are joined. *)

From Coq Require Import ZArith Lia List Bool.
From Shapetracker Require Import View Criterion Overflow Equation Bounding Merge Exact UitDeBos Schillinger FastPath.
Import ListNotations.
Open Scope Z_scope.

(** The pattern of borrows of taking [a] away from [x]: of each digit, whether it borrows from the next. *)
Fixpoint borrows (ss : list Z) (a x : Z) : list bool :=
  match ss with
  | [] => []
  | s :: r => let p := borrows r a x in ((x / numel r) mod s <? (a / numel r) mod s + out p) :: p
  end.

(** In which interval a pattern of borrows says that each digit lies. *)
Fixpoint borrow_intervals (ss alpha : list Z) (p : list bool) : box :=
  match ss, alpha, p with
  | s :: ss', d :: alpha', b :: p' =>
      (if b then (0, d + out p') else (d + out p', s)) :: borrow_intervals ss' alpha' p'
  | _, _, _ => []
  end.

Lemma borrows_length : forall ss a x, length (borrows ss a x) = length ss.
Proof. induction ss; simpl; intros; congruence. Qed.

(** A pattern of borrows holds exactly if the digits lie in its intervals. *)
Theorem borrows_iff_digits : forall ss a x p, positives ss -> length p = length ss ->
  (borrows ss a x = p <-> inbox (borrow_intervals ss (unravel ss a) p) (unravel ss x)).
Proof.
  induction ss as [|s r IH]; destruct p as [|b p]; simpl; intros H L; try discriminate; [tauto|].
  inversion H; subst. pose proof (Z.mod_pos_bound (x / numel r) s H2).
  specialize (IH a x p H3 ltac:(congruence)). rewrite <- IH. split.
  - intros E. injection E; intros E1 E2. split; [|assumption]. rewrite E1 in E2. subst b.
    destruct (Z.ltb_spec ((x / numel r) mod s) ((a / numel r) mod s + out p)); simpl; lia.
  - intros [E1 E2]. rewrite E2. f_equal.
    destruct b; simpl in E1; destruct (Z.ltb_spec ((x / numel r) mod s) ((a / numel r) mod s + out p)); auto; lia.
Qed.

(** A carry into the outermost digit, told by quotients: how much more a quotient moves than the step alone would. *)
Theorem carry_is_quotient : forall ss a x, positives ss ->
  out (pattern ss a x) = (x + a) / numel ss - x / numel ss - a / numel ss.
Proof.
  intros ss a x H. pose proof (numel_pos ss H). rewrite out_pattern by assumption.
  rewrite (Z.div_mod x (numel ss)) at 2 by lia. rewrite (Z.div_mod a (numel ss)) at 2 by lia.
  replace (numel ss * (x / numel ss) + x mod numel ss + (numel ss * (a / numel ss) + a mod numel ss))
    with ((x mod numel ss + a mod numel ss) + (x / numel ss + a / numel ss) * numel ss) by ring.
  rewrite Z.div_add by lia. lia.
Qed.

(** A borrow out of the outermost digit, likewise. *)
Theorem borrow_is_quotient : forall ss a x, positives ss ->
  out (borrows ss a x) = x / numel ss - a / numel ss - (x - a) / numel ss.
Proof.
  induction ss as [|s r IH]; simpl; intros a x H; [rewrite !Z.div_1_r; lia|].
  inversion H; subst. pose proof (numel_pos r H3) as P. specialize (IH a x H3).
  rewrite !(Z.mul_comm s), <- !Z.div_div by lia.
  set (X := x / numel r) in *. set (A := a / numel r) in *. set (c := out (borrows r a x)) in *.
  assert (E : (x - a) / numel r = X - A - c) by lia. rewrite E.
  pose proof (out_bounds (borrows r a x)) as B. fold c in B.
  pose proof (Z.mod_pos_bound X s H2). pose proof (Z.mod_pos_bound A s H2).
  pose proof (Z.div_mod X s ltac:(lia)). pose proof (Z.div_mod A s ltac:(lia)).
  destruct (Z.ltb_spec (X mod s) (A mod s + c)); simpl.
  - assert (Q : X / s - A / s - 1 = (X - A - c) / s) by (apply Z.div_unique with (X mod s - A mod s - c + s); lia). lia.
  - assert (Q : X / s - A / s = (X - A - c) / s) by (apply Z.div_unique with (X mod s - A mod s - c); lia). lia.
Qed.

(** The weights of the boundaries above some digits, from the outermost in: those of the tails of the list. *)
Fixpoint jump_weights (js : list Z) (ss : list Z) : list (Z * Z) :=
  match js, ss with
  | c :: js', _ :: r => (numel r, c) :: jump_weights js' r
  | _, _ => []
  end.

(** How far carries move the address: the jump of every boundary that is carried over, and of those that the step
    crosses by itself. *)
Fixpoint carried (js ss : list Z) (a : Z) (p : list bool) : Z :=
  match js, ss, p with
  | c :: js', _ :: r, _ :: p' => c * (a / numel r + out p') + carried js' r a p'
  | _, _, _ => 0
  end.

(** Going up, the jumps over boundaries depend on the pattern of carries only. *)
Theorem jumps_up : forall js ss a x, positives ss ->
  jumps (jump_weights js ss) (x + a) - jumps (jump_weights js ss) x = carried js ss a (pattern ss a x).
Proof.
  induction js as [|c js IH]; destruct ss as [|s r]; intros a x H; try reflexivity.
  inversion H; subst. cbn [jump_weights jumps carried pattern]. rewrite <- IH by assumption.
  pose proof (carry_is_quotient r a x H3). rewrite H0. ring.
Qed.

(** Going down, on the pattern of borrows only. *)
Theorem jumps_down : forall js ss a x, positives ss ->
  jumps (jump_weights js ss) (x - a) - jumps (jump_weights js ss) x = - carried js ss a (borrows ss a x).
Proof.
  induction js as [|c js IH]; destruct ss as [|s r]; intros a x H; try reflexivity.
  inversion H; subst. cbn [jump_weights jumps carried borrows].
  pose proof (IH r a x H3). pose proof (borrow_is_quotient r a x H3) as B. rewrite B. nia.
Qed.

(** The weights of the boundaries.  Any numbers that divide one another are the weights of some digits, so the patterns
    over those boundaries are enough where a carry moves the address unlike an affine map. *)
Fixpoint weights_of (ss : list Z) : list Z := match ss with [] => [] | _ :: r => numel r :: weights_of r end.

(** Those weights are the products of the later sizes, and any jumps may be put on them. *)
Theorem jump_weights_weights : forall js ss, length js = length ss ->
  map fst (jump_weights js ss) = weights_of ss /\ map snd (jump_weights js ss) = js.
Proof.
  induction js as [|c js IH]; destruct ss as [|s r]; simpl; intros L; try discriminate; [auto|].
  destruct (IH r ltac:(congruence)) as [-> ->]. auto.
Qed.

(** Steps of one length that differ in how far they move the address differ in their pattern over the boundaries left
    over, when all else that the address consists of is affine: the reasoning of the walk over boundaries. *)
Theorem same_carries_same_step : forall (F : Z -> Z) c js ss a x y, positives ss ->
  (forall z, F z = c * z + jumps (jump_weights js ss) z) ->
  (pattern ss a x = pattern ss a y -> F (x + a) - F x = F (y + a) - F y) /\
  (borrows ss a x = borrows ss a y -> F (x - a) - F x = F (y - a) - F y).
Proof.
  intros F c js ss a x y P E. split; intros Q.
  - pose proof (jumps_up js ss a x P) as X. pose proof (jumps_up js ss a y P) as Y. rewrite Q in X. rewrite !E. lia.
  - pose proof (jumps_down js ss a x P) as X. pose proof (jumps_down js ss a y P) as Y. rewrite Q in X. rewrite !E. lia.
Qed.

(** The digits between boundaries whose weights divide one another, outermost first, and one on top that is not asked
    about. *)
Fixpoint ratios (ws : list Z) : list Z :=
  match ws with
  | [] => []
  | w :: r => match r with [] => [w] | v :: _ => w / v :: ratios r end
  end.

Fixpoint chain (ws : list Z) : Prop :=
  match ws with
  | [] => True
  | w :: r => 0 < w /\ match r with [] => True | v :: _ => (v | w) end /\ chain r
  end.

(** Any boundaries whose weights divide one another are those of some digits. *)
Theorem boundaries_as_digits : forall ws js, chain ws -> length js = length ws ->
  positives (1 :: ratios ws) /\ jump_weights js (1 :: ratios ws) = combine ws js.
Proof.
  assert (NUM : forall r w, chain (w :: r) -> positives (ratios (w :: r)) /\ numel (ratios (w :: r)) = w).
  { induction r as [|v r IH]; intros w (W & D & C).
    - split; [repeat constructor; assumption|]. simpl. lia.
    - destruct (IH v C) as [P N]. destruct D as [k K]. assert (0 < v) by apply C.
      change (ratios (w :: v :: r)) with (w / v :: ratios (v :: r)). subst w. rewrite Z.div_mul by lia. split.
      + constructor; [nia|assumption].
      + cbn [numel]. rewrite N. reflexivity. }
  assert (JW : forall ws js h, chain ws -> length js = length ws -> jump_weights js (h :: ratios ws) = combine ws js).
  { induction ws as [|w r IH]; destruct js as [|c js]; intros h C L; try discriminate; [reflexivity|].
    destruct (NUM r w C) as [_ N]. cbn [jump_weights combine]. rewrite N. f_equal.
    destruct r as [|v r].
    - destruct js; [reflexivity|discriminate].
    - change (ratios (w :: v :: r)) with (w / v :: ratios (v :: r)). apply IH; [apply C|simpl in L |- *; lia]. }
  intros ws js C L. split; [|apply JW; assumption]. constructor; [lia|]. destruct ws as [|w r]; [constructor|].
  apply NUM. assumption.
Qed.

(** The walk over boundaries.  On a box let the address be a part with even steps and jumps over some boundaries.  Steps
    along an axis are even exactly if no pattern is attained whose jumps differ from those of the first step.  Up and
    down alike. *)
Theorem walk_over_boundaries : forall b G js ss o st l, solid b -> length st = length b -> positives ss ->
  (l < length b)%nat -> even_along b G l ->
  let a := nth l st 0 in
  let jumped p := if 0 <=? a then carried js ss a p else - carried js ss (- a) p in
  let at_position x := if 0 <=? a then pattern ss a x else borrows ss (- a) x in
  let where_ p := if 0 <=? a then intervals ss (unravel ss a) p else borrow_intervals ss (unravel ss (- a)) p in
  (even_along b (fun i => G i + jumps (jump_weights js ss) (o + dot st i)) l <->
   forall p, length p = length ss -> jumped p <> jumped (at_position (o + dot st (corner b))) ->
   ~ exists i, inbox b i /\ inbox b (bump l i) /\ inbox (where_ p) (unravel ss (o + dot st i))).
Proof.
  intros b G js ss o st l S L P Hl EG a jumped at_position where_.
  assert (STEP : forall i, inbox b i ->
    jumps (jump_weights js ss) (o + dot st (bump l i)) - jumps (jump_weights js ss) (o + dot st i) = jumped
      (at_position (o + dot st i))).
  { intros i Hi. rewrite dot_bump by (rewrite L; symmetry; apply inbox_length; assumption). fold a.
    unfold jumped, at_position.
    destruct (Z.leb_spec 0 a).
    - rewrite <- jumps_up by assumption. replace (o + (dot st i + a)) with (o + dot st i + a) by ring. reflexivity.
    - rewrite <- jumps_down by assumption. replace (o + (dot st i + a)) with (o + dot st i - - a) by ring.
      reflexivity. }
  assert (LP : forall x, length (at_position x) = length ss).
  { intros x. unfold at_position. destruct (0 <=? a); [apply pattern_length|apply borrows_length]. }
  assert (IFF : forall p x, length p = length ss -> (at_position x = p <-> inbox (where_ p) (unravel ss x))).
  { intros p x Lp. unfold at_position, where_.
    destruct (0 <=? a); [apply pattern_iff_digits|apply borrows_iff_digits]; assumption. }
  assert (FIRST : forall i, inbox b i -> inbox b (bump l i) -> inbox b (corner b) /\ inbox b (bump l (corner b))).
  { intros i Hi Hi'. destruct (proj1 (bump_inbox b l i Hl) (conj Hi Hi')) as (_ & _ & N).
    pose proof (corner_inbox b S) as Hc.
    apply (bump_inbox b l (corner b) Hl). split; [apply inbox_length; assumption|]. split; [assumption|].
    pose proof (proj2 (proj1 (inbox_nth _ _) Hi) l Hl). unfold corner. change 0 with (fst (0, 0)) at 1.
    rewrite map_nth. lia. }
  split.
  - intros E p Lp D (i & Hi & Hi' & W). apply IFF in W; [|assumption]. apply D. rewrite <- W.
    destruct (FIRST i Hi Hi') as [Hc Hc']. rewrite <- !STEP by assumption.
    pose proof (E i (corner b) Hi Hi' Hc Hc') as X. pose proof (EG i (corner b) Hi Hi' Hc Hc'). cbv beta in X. lia.
  - intros H i j Hi Hi' Hj Hj'. pose proof (EG i j Hi Hi' Hj Hj').
    assert (Q : forall k, inbox b k -> inbox b (bump l k) ->
              jumped (at_position (o + dot st k)) = jumped (at_position (o + dot st (corner b)))).
    { intros k Hk Hk'. destruct (Z.eq_dec (jumped (at_position (o + dot st k))) (jumped (at_position (o + dot st
        (corner b))))) as [E|E];
        [exact E|].
      exfalso. apply (H _ (LP _) E). exists k. split; [assumption|]. split; [assumption|].
      apply IFF; [apply LP|reflexivity]. }
    pose proof (STEP i Hi). pose proof (STEP j Hj). rewrite (Q i) in * by assumption.
    rewrite (Q j) in * by assumption. lia.
Qed.

(** Taking 4 away from 12 borrows twice, from 8 not at all. *)
Example borrows_example :
  borrows [10; 3; 3] 4 12 = [false; true; true] /\ borrows [10; 3; 3] 4 8 = [false; false; false] /\
  borrow_intervals [10; 3; 3] [0; 1; 1] [false; true; true] = [(1, 10); (0, 2); (0, 1)].
Proof. repeat split; reflexivity. Qed.

(** The boundaries at 36 and 4, with the digits that they make. *)
Example boundaries_example : chain [36; 4] /\ ratios [36; 4] = [9; 4] /\
  jump_weights [41; -41] (1 :: ratios [36; 4]) = [(36, 41); (4, -41)].
Proof. split; [simpl; repeat split; try lia; exists 9; reflexivity|]. split; reflexivity. Qed.
