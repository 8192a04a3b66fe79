(** Stacks of any height: the pattern at one level fixes the step that enters the next.  And the conditions that the
    strides of a pair must satisfy. *)

From Coq Require Import ZArith Lia List Bool.
From Shapetracker Require Import View Criterion Overflow Equation Bounding Merge Exact UitDeBos Schillinger FastPath
  Boundaries.
Import ListNotations.
Open Scope Z_scope.

(** * Conditions on strides *)

(** What each stride is multiplied by in the move of a pattern: no stride occurs in it. *)
Fixpoint coefficients (ss alpha : list Z) (p : list bool) : list Z :=
  match ss, alpha, p with
  | s :: ss', d :: alpha', b :: p' => d + out p' - s * carry b :: coefficients ss' alpha' p'
  | _, _, _ => []
  end.

(** The move of a pattern is linear in the strides. *)
Theorem delta_is_linear : forall ss st alpha p, length st = length ss -> length alpha = length ss -> length p =
  length ss ->
  delta ss st alpha p = dot st (coefficients ss alpha p).
Proof.
  induction ss as [|s ss IH]; destruct st as [|t st], alpha as [|d alpha], p as [|b p]; simpl; intros;
    try discriminate; auto.
  f_equal. apply IH; congruence.
Qed.

(** For given sizes and a given [B], a pair without masks merges exactly if [A]'s strides satisfy one linear equation
    for each pattern that some step attains: that it moves the address as the first step does. *)
Theorem stride_conditions : forall A B, wf A -> wf B -> fits A B -> full A -> full B ->
  (mergeable A B <->
   forall l i, (l < length (sizes B))%nat -> inbox (starts B (mask B) l) i ->
     let a := Z.abs (nth l (strides B) 0) in
     let alpha := unravel (sizes A) a in
     delta (sizes A) (strides A) alpha (pattern (sizes A) a (affine B i))
     = delta (sizes A) (strides A) alpha (pattern (sizes A) a (affine B (corner (starts B (mask B) l))))).
Proof.
  intros A B wfA wfB fit FA FB. rewrite exact_merge_full_boxes by assumption.
  assert (PA : forall l i, inbox (starts B (mask B) l) i -> positives (sizes A)).
  { intros l i H. apply positive_of_numel; [apply wf_sizes; assumption|].
    assert (V : valid B i) by (split; [apply FB|eapply inbox_within; [apply starts_within|exact H]]).
    pose proof (fit i V). lia. }
  split.
  - intros H l i L Hi a alpha. specialize (H l L). unfold carries_alike in H. fold a in H. fold alpha in H.
    specialize (H (pattern (sizes A) a (affine B i)) (pattern_length _ _ _)).
    destruct (Z.eq_dec (delta (sizes A) (strides A) alpha (pattern (sizes A) a (affine B i)))
                       (delta (sizes A) (strides A) alpha (pattern (sizes A) a (affine B (corner (starts B (mask B)
                         l))))))
      as [E|E]; [exact E|].
    exfalso. apply (H E). exists i. split; [assumption|].
    apply pattern_iff_digits; [exact (PA l i Hi)|apply pattern_length|reflexivity].
  - intros H l L p Lp D (i & Hi & Di). apply D. apply pattern_iff_digits in Di; [|exact (PA l i Hi)|assumption].
    rewrite <- Di. apply H; assumption.
Qed.

(** * Stacks *)

(** The views below the top one, the nearest first, the one next to memory last.  [down] follows a position. *)
Fixpoint down (As : list view) (x : Z) : option Z :=
  match As with
  | [] => Some x
  | A :: r => match read A (unravel (sizes A) x) with Some y => down r y | None => None end
  end.

(** What a stack reads. *)
Definition stack_read (B : view) (As : list view) (i : index) : option Z :=
  match read B i with Some x => down As x | None => None end.

(** The address by the affine formulas, valid or not. *)
Fixpoint address_down (As : list view) (x : Z) : Z :=
  match As with [] => x | A :: r => address_down r (affine A (unravel (sizes A) x)) end.

(** A stack of two is a pair. *)
Theorem stack_of_two : forall A B i, stack_read B [A] i = compose A B i.
Proof.
  intros. unfold stack_read, compose, down. destruct (read B i) as [x|]; [|reflexivity].
  destruct (read A (unravel (sizes A) x)); reflexivity.
Qed.

(** The pattern of a step [a] at a position: carries on the way up, borrows on the way down. *)
Definition carries (A : view) (a x : Z) : list bool :=
  if 0 <=? a then pattern (sizes A) a x else borrows (sizes A) (- a) x.

(** The intervals of a pattern. *)
Definition carry_intervals (A : view) (a : Z) (p : list bool) : box :=
  if 0 <=? a then intervals (sizes A) (unravel (sizes A) a) p else borrow_intervals (sizes A) (unravel (sizes A) (-
    a)) p.

(** The step in the addresses of a view that a step with a pattern makes. *)
Definition move (A : view) (a : Z) (p : list bool) : Z :=
  if 0 <=? a then delta (sizes A) (strides A) (unravel (sizes A) a) p
  else - delta (sizes A) (strides A) (unravel (sizes A) (- a)) p.

(** A step down borrows where the step back up carries. *)
Lemma pattern_borrows : forall ss a x, positives ss -> pattern ss a (x - a) = borrows ss a x.
Proof.
  induction ss as [|s r IH]; intros a x H; [reflexivity|].
  pose proof (carry_is_quotient (s :: r) a (x - a) H) as C. pose proof (borrow_is_quotient (s :: r) a x H) as B.
  inversion H; subst. specialize (IH a x H3). cbn [pattern borrows] in *. rewrite IH in *. f_equal.
  replace (x - a + a) with x in C by ring. cbn [out] in *.
  match goal with |- ?u = ?v => destruct u, v; simpl in *; try reflexivity; lia end.
Qed.

(** One level: the address moves by what the pattern says. *)
Theorem one_level : forall A a x, positives (sizes A) ->
  affine A (unravel (sizes A) (x + a)) = affine A (unravel (sizes A) x) + move A a (carries A a x).
Proof.
  intros A a x P. unfold move, carries. destruct (Z.leb_spec 0 a).
  - rewrite <- step_depends_on_pattern by assumption. ring.
  - rewrite <- pattern_borrows by assumption. rewrite <- step_depends_on_pattern by assumption.
    replace (x - - a + - a) with x by ring. replace (x - - a) with (x + a) by ring. ring.
Qed.

(** One level: a pattern holds exactly if the digits lie in its intervals. *)
Theorem one_level_digits : forall A a x p, positives (sizes A) -> length p = length (sizes A) ->
  (carries A a x = p <-> inbox (carry_intervals A a p) (unravel (sizes A) x)).
Proof.
  intros A a x p P L. unfold carries, carry_intervals. destruct (0 <=? a).
  - apply pattern_iff_digits; assumption.
  - apply borrows_iff_digits; assumption.
Qed.

(** The patterns of a step on its way down, and how far it has moved the address at the end. *)
Fixpoint trace (As : list view) (a x : Z) : list (list bool) :=
  match As with
  | [] => []
  | A :: r => carries A a x :: trace r (move A a (carries A a x)) (affine A (unravel (sizes A) x))
  end.
Fixpoint moved (As : list view) (a : Z) (ps : list (list bool)) : Z :=
  match As, ps with A :: r, p :: ps' => moved r (move A a p) ps' | _, _ => a end.

Definition all_positive (As : list view) : Prop := Forall (fun A => positives (sizes A)) As.

(** The address difference of a step through a stack depends on the patterns on its way only. *)
Theorem step_depends_on_trace : forall As a x, all_positive As ->
  address_down As (x + a) - address_down As x = moved As a (trace As a x).
Proof.
  induction As as [|A As IH]; intros a x P; cbn [address_down moved trace]; [lia|].
  inversion P; subst. rewrite one_level by assumption. apply IH. assumption.
Qed.

(** What patterns say of a position: at each level its digits lie in the intervals, where the step that enters a level
    is what the patterns above have made of it. *)
Fixpoint inside (As : list view) (a : Z) (ps : list (list bool)) (x : Z) : Prop :=
  match As, ps with
  | [], [] => True
  | A :: r, p :: ps' =>
      inbox (carry_intervals A a p) (unravel (sizes A) x) /\ inside r (move A a p) ps' (affine A (unravel (sizes A) x))
  | _, _ => False
  end.

(** One carry for each digit of each level. *)
Fixpoint shaped (As : list view) (ps : list (list bool)) : Prop :=
  match As, ps with
  | [], [] => True
  | A :: r, p :: ps' => length p = length (sizes A) /\ shaped r ps'
  | _, _ => False
  end.

Lemma trace_shaped : forall As a x, shaped As (trace As a x).
Proof.
  induction As as [|A As IH]; intros a x; simpl; [exact I|]. split; [|apply IH].
  unfold carries. destruct (0 <=? a); [apply pattern_length|apply borrows_length].
Qed.

(** Patterns hold exactly if the digits of every level lie in their intervals. *)
Theorem trace_iff_digits : forall As a x ps, all_positive As -> shaped As ps -> (trace As a x = ps <-> inside As a ps
  x).
Proof.
  induction As as [|A As IH]; intros a x ps P S; destruct ps as [|p ps]; simpl in *; try tauto.
  inversion P; subst. destruct S as [S1 S2]. rewrite <- one_level_digits by assumption. split.
  - intros E. injection E; intros E2 E1. split; [assumption|]. rewrite <- E1. apply IH; assumption.
  - intros [E1 E2]. rewrite E1. f_equal. apply IH; assumption.
Qed.

(** The question of a stack as a system: one linear equation for each level, in the digits of that level and of the one
    above. *)
Fixpoint linked (As : list view) (ivs : list box) (x : Z) (ds : list index) : Prop :=
  match As, ivs, ds with
  | [], [], [] => True
  | A :: r, iv :: ivs', d :: ds' => x = ravel (sizes A) d /\ inbox iv d /\ linked r ivs' (affine A d) ds'
  | _, _, _ => False
  end.
Fixpoint passes (As : list view) (ivs : list box) (x : Z) : Prop :=
  match As, ivs with
  | [], [] => True
  | A :: r, iv :: ivs' => inbox iv (unravel (sizes A) x) /\ passes r ivs' (affine A (unravel (sizes A) x))
  | _, _ => False
  end.
Fixpoint ranged (As : list view) (x : Z) : Prop :=
  match As with [] => True | A :: r => 0 <= x < numel (sizes A) /\ ranged r (affine A (unravel (sizes A) x)) end.

(** Whether a position passes given intervals at every level is whether that system is solvable. *)
Theorem question_is_system : forall As ivs x, all_positive As ->
  Forall2 (fun A iv => within iv (whole (sizes A))) As ivs -> ranged As x ->
  (passes As ivs x <-> exists ds, linked As ivs x ds).
Proof.
  intros As ivs x P W. revert x P. induction W as [|A iv As ivs W1 W IH]; intros x P R.
  - simpl. split; [exists []; exact I|auto].
  - inversion P as [|? ? P1 P2]; subst. destruct R as [R1 R2]. cbn [passes]. split.
    + intros [H1 H2]. apply IH in H2; try assumption. destruct H2 as (ds & H2).
      exists (unravel (sizes A) x :: ds). simpl. split; [symmetry; apply ravel_unravel; assumption|]. split; assumption.
    + intros (ds & L). destruct ds as [|d ds]; [destruct L|]. cbn [linked] in L. destruct L as (E & H1 & L).
      assert (U : unravel (sizes A) x = d) by (rewrite E; apply unravel_ravel; eapply inbox_within; eassumption).
      rewrite U in *. split; [assumption|]. apply IH; try assumption. exists ds. assumption.
Qed.

(** The indices at which a stack reads something. *)
Definition stack_reads (B : view) (As : list view) (i : index) : Prop := stack_read B As i <> None.

Lemma down_address : forall As x y, down As x = Some y -> y = address_down As x.
Proof.
  induction As as [|A As IH]; simpl; intros x y H; [congruence|].
  unfold read in H. destruct (validb A (unravel (sizes A) x)); [|discriminate]. apply IH. assumption.
Qed.

(** The exact merge of a stack.  It is a single view exactly if it reads nothing, or if it reads all of the bounding box
    of what it reads and no step there has patterns that move the address unlike the first step of its axis. *)
Theorem exact_merge_stack : forall B As, wf B -> all_positive As ->
  (single_view (sizes B) (stack_read B As) <->
   (forall i, ~ stack_reads B As i) \/
   exists b, solid b /\ bounds (stack_reads B As) b /\ (forall i, inbox b i -> stack_reads B As i) /\
     forall l ps, let a := nth l (strides B) 0 in
       shaped As ps -> moved As a ps <> moved As a (trace As a (affine B (corner b))) ->
       ~ exists i, inbox b i /\ inbox b (bump l i) /\ inside As a ps (affine B i)).
Proof.
  intros B As WB P.
  assert (VB : forall i, stack_reads B As i -> valid B i).
  { intros i H. unfold stack_reads, stack_read in H. apply validb_iff. unfold read in H.
    destruct (validb B i); congruence. }
  assert (IN : forall i, stack_reads B As i -> inbox (whole (sizes B)) i) by (intros i H; eapply valid_inside;
    [exact WB|apply VB, H]).
  assert (VAL : forall i, stack_reads B As i -> value (stack_read B As) i = address_down As (affine B i)).
  { intros i H. pose proof (VB i H) as V. unfold stack_reads, value, stack_read in *. rewrite (read_valid _ _ V) in *.
    destruct (down As (affine B i)) as [y|] eqn:E; [|congruence]. apply down_address. assumption. }
  assert (EVEN : forall b, solid b -> (forall i, inbox b i -> stack_reads B As i) ->
     (even b (value (stack_read B As)) <->
      forall l ps, let a := nth l (strides B) 0 in
       shaped As ps -> moved As a ps <> moved As a (trace As a (affine B (corner b))) ->
       ~ exists i, inbox b i /\ inbox b (bump l i) /\ inside As a ps (affine B i))).
  { intros b Sb R. pose proof (corner_inbox b Sb) as Hc.
    assert (STEP : forall l i, inbox b i -> inbox b (bump l i) ->
              value (stack_read B As) (bump l i) - value (stack_read B As) i
              = moved As (nth l (strides B) 0) (trace As (nth l (strides B) 0) (affine B i))).
    { intros l i Hi Hi'. rewrite !VAL by auto.
      assert (E : affine B (bump l i) = affine B i + nth l (strides B) 0).
      { unfold affine. rewrite dot_bump; [ring|]. destruct (VB i (R i Hi)) as [_ M]. apply inbox_length in M.
        rewrite M. unfold strides, mask. rewrite !map_length. reflexivity. }
      rewrite E. apply step_depends_on_trace. assumption. }
    assert (FIRST : forall l i, (l < length b)%nat -> inbox b i -> inbox b (bump l i) -> inbox b (bump l (corner b))).
    { intros l i L Hi Hi'. destruct (proj1 (bump_inbox b l i L) (conj Hi Hi')) as (Li & _ & N).
      apply (bump_inbox b l (corner b) L). split; [apply inbox_length; assumption|]. split; [assumption|].
      pose proof (proj2 (proj1 (inbox_nth _ _) Hi) l L). unfold corner.
      change 0 with (fst (0, 0)) at 1. rewrite map_nth. lia. }
    split.
    - intros E l ps a S D (i & Hi & Hi' & Ii). apply D. apply trace_iff_digits in Ii; try assumption. subst ps.
      destruct (Nat.lt_ge_cases l (length b)) as [L|L].
      + unfold a. rewrite <- !STEP by (eauto). apply (E l); eauto.
      + unfold a in *. pose proof (STEP l i Hi Hi') as X. pose proof (STEP l (corner b) Hc) as Y.
        assert (Ei : bump l i = i) by (apply bump_past; rewrite (inbox_length _ _ Hi); exact L).
        assert (Ec : bump l (corner b) = corner b) by (apply bump_past; rewrite (inbox_length _ _ Hc); exact L).
        rewrite Ei in X. rewrite Ec in Y. rewrite <- X, <- Y by exact Hc. lia.
    - intros H l i j Hi Hi' Hj Hj'. rewrite !STEP by assumption.
      assert (Q : forall k, inbox b k -> inbox b (bump l k) ->
         moved As (nth l (strides B) 0) (trace As (nth l (strides B) 0) (affine B k))
         = moved As (nth l (strides B) 0) (trace As (nth l (strides B) 0) (affine B (corner b)))).
      { intros k Hk Hk'.
        destruct (Z.eq_dec (moved As (nth l (strides B) 0) (trace As (nth l (strides B) 0) (affine B k)))
                           (moved As (nth l (strides B) 0) (trace As (nth l (strides B) 0) (affine B (corner b)))))
                             as [E|E]; [exact E|].
        exfalso. apply (H l _ (trace_shaped As _ _) E). exists k. split; [assumption|]. split; [assumption|].
        apply trace_iff_digits; [assumption|apply trace_shaped|reflexivity]. }
      rewrite (Q i), (Q j) by assumption. reflexivity. }
  rewrite single_view_criterion by (apply wf_sizes; assumption). split.
  - intros [N|(b & W & S & V & E)].
    + left. intros i H. apply H. apply N, IN, H.
    + right. exists b. assert (R : forall i, inbox b i -> stack_reads B As i).
      { intros i H. apply V; [eapply inbox_within; eassumption|assumption]. }
      split; [assumption|]. split.
      { split; [intros i H; apply V; [apply IN|]; assumption|]. intros c H. apply within_of_inbox; [assumption|].
        auto. }
      split; [assumption|]. apply EVEN; assumption.
  - intros [N|(b & S & [B1 B2] & R & H)].
    + left. intros i _. destruct (stack_read B As i) eqn:E; [|reflexivity]. exfalso. apply (N i). unfold stack_reads.
      congruence.
    + right. exists b. split; [apply within_of_inbox; auto|]. split; [assumption|]. split.
      { intros i _. split; [apply B1|apply R]. }
      apply EVEN; assumption.
Qed.

(** Three views of which no neighbours are one, but all three together are: the perfect shuffle of 8 elements, three
    times over, is no shuffle at all. *)
Example three_shuffles :
  let P := strided [4; 2] [1; 4] 0 in
  (wf P /\ all_positive [P; P]) /\ merge enumerate P P = None /\ single_view (sizes P) (stack_read P [P; P]).
Proof.
  intros P. split; [split; [apply wfb_iff; reflexivity|repeat constructor]|]. split; [vm_compute; reflexivity|].
  exists (contiguous [4; 2]). split; [apply wfb_iff; reflexivity|]. split; [reflexivity|].
  intros [|x [|y [|z i]]]; simpl; try tauto. intros [Hx [Hy _]].
  assert (x = 0 \/ x = 1 \/ x = 2 \/ x = 3) as [->|[->|[->| ->]]] by lia; assert (y = 0 \/ y = 1) as [->| ->] by lia;
    reflexivity.
Qed.

(** The two steps of (3):(1) through (2, 2):(s, t) move the address by t, and by s - t.  With s = 2 and t = 1 these are
    the same. *)
Example conditions_example : mergeable (strided [2; 2] [2; 1] 0) (strided [3] [1] 0).
Proof.
  apply stride_conditions; try (apply wfb_iff; reflexivity); try (apply fitsb_iff; reflexivity); try (split;
    reflexivity).
  intros l i L Hi. destruct l as [|l]; [|simpl in L; lia]. destruct i as [|x [|y i]]; simpl in Hi; try tauto.
  assert (x = 0 \/ x = 1) as [->| ->] by lia; reflexivity.
Qed.
