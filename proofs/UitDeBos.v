(** Theorem 10 of uit de Bos, "Merging tensor views", in the source's own terms: no offsets, no masks. *)

From Coq Require Import ZArith Lia List Bool.
From Shapetracker Require Import View Criterion Overflow Equation Bounding Merge Exact.
Import ListNotations.
Open Scope Z_scope.

(** The functional composition of two views (definition 6): shapes [s1], [s2] and strides [t1], [t2]. *)
Definition composition (s1 t1 t2 : list Z) (i : index) : Z := dot t1 (unravel s1 (dot t2 i)).

(** Some strides describe the composition on the whole index set (definitions 8 and 9). *)
Definition is_merged (s1 t1 s2 t2 tau : list Z) : Prop :=
  length tau = length s2 /\ forall i, inbox (whole s2) i -> dot tau i = composition s1 t1 t2 i.
Definition can_merge (s1 t1 s2 t2 : list Z) : Prop := exists tau, is_merged s1 t1 s2 t2 tau.

(** The zero index and the unit index of an axis. *)
Definition zero (s : list Z) : index := map (fun _ => 0) s.
Definition unit_index (s : list Z) (l : nat) : index := bump l (zero s).

Lemma zero_corner : forall s, corner (whole s) = zero s.
Proof. unfold corner, whole, zero. intros. rewrite map_map. reflexivity. Qed.

Lemma whole_solid : forall s, positives s -> solid (whole s).
Proof. unfold solid, whole. induction 1; simpl; constructor; auto. Qed.

Lemma dot_zero : forall t s, dot t (zero s) = 0.
Proof. induction t; destruct s; simpl; try reflexivity. unfold zero in IHt. rewrite IHt. lia. Qed.

Lemma unravel_zero : forall s, positives s -> unravel s 0 = zero s.
Proof. induction 1; simpl; [reflexivity|]. rewrite IHForall. rewrite Z.div_0_l by (pose proof (numel_pos l H0); lia).
reflexivity. Qed.

Lemma composition_zero : forall s1 t1 s2 t2, positives s1 -> composition s1 t1 t2 (zero s2) = 0.
Proof. intros. unfold composition. rewrite dot_zero, unravel_zero by assumption. apply dot_zero. Qed.

Lemma whole_length : forall s, length (whole s) = length s.
Proof. intros. unfold whole. apply map_length. Qed.

Lemma unit_inside : forall s i l, inbox (whole s) i -> (l < length s)%nat -> inbox (whole s) (bump l i) ->
  inbox (whole s) (unit_index s l).
Proof.
  intros s i l Hi L Hi'. unfold unit_index. rewrite <- zero_corner.
  apply inbox_nth. rewrite bump_length. unfold corner. rewrite map_length. split; [reflexivity|].
  intros k K. rewrite bump_nth by (rewrite map_length, whole_length; assumption).
  assert (Hc : inbox (whole s) (corner (whole s))) by (apply corner_inbox, whole_solid, (whole_positive _ _ Hi)).
  pose proof (proj2 (proj1 (inbox_nth _ _) Hc) k K) as U. unfold corner in U.
  destruct (Nat.eqb_spec k l); [subst|lia].
  pose proof (proj2 (proj1 (inbox_nth _ _) Hi') l K) as V.
  rewrite bump_nth in V by (rewrite (inbox_length _ _ Hi), whole_length; assumption).
  rewrite Nat.eqb_refl in V. pose proof (proj2 (proj1 (inbox_nth _ _) Hi) l K).
  replace (nth l (map fst (whole s)) 0) with 0 in *; [|]; [|].
  2:{ change (map fst (whole s)) with (corner (whole s)). rewrite zero_corner. clear. revert l.
  induction s; destruct l; simpl; auto. }
  assert (fst (nth l (whole s) (0, 0)) = 0).
  { clear. unfold whole. revert l. induction s; destruct l; simpl; auto. }
  lia.
Qed.

(** Theorem 10.  Two views merge if and only if the composition is additive along every axis: a unit step from anywhere
    moves the value as the unit step from zero does. *)
Theorem theorem_10 : forall s1 t1 s2 t2, positives s1 -> positives s2 -> length t2 = length s2 ->
  (can_merge s1 t1 s2 t2 <->
   forall i l, (l < length s2)%nat -> inbox (whole s2) i -> inbox (whole s2) (bump l i) ->
     composition s1 t1 t2 (bump l i) = composition s1 t1 t2 i + composition s1 t1 t2 (unit_index s2 l)).
Proof.
  intros s1 t1 s2 t2 P1 P2 L. set (f := composition s1 t1 t2).
  assert (F0 : f (zero s2) = 0) by (apply composition_zero; assumption).
  pose proof (whole_solid s2 P2) as SO.
  assert (Z0 : inbox (whole s2) (zero s2)) by (rewrite <- zero_corner; apply corner_inbox; assumption).
  split.
  - intros (tau & Lt & H) i l Hl Hi Hi'. pose proof (unit_inside s2 i l Hi Hl Hi') as HU. unfold f.
    rewrite <- !H by assumption. unfold unit_index.
    pose proof (inbox_length _ _ Hi) as Li. pose proof (inbox_length _ _ Z0) as Lz. rewrite whole_length in *.
    rewrite !dot_bump by congruence. rewrite dot_zero. lia.
  - intros H. assert (E : even (whole s2) f).
    { intros l i j Hi Hi' Hj Hj'. destruct (Nat.lt_ge_cases l (length s2)) as [Hl|Hl].
      - rewrite (H i l), (H j l) by assumption. lia.
      - apply (even_past (whole s2) f l); try assumption. rewrite whole_length. exact Hl. }
    exists (probe (whole s2) f). split; [rewrite probe_length; apply whole_length|].
    intros i Hi. change (dot (probe (whole s2) f) i = f i).
    rewrite (even_affine _ _ SO E i Hi), zero_corner, F0, dot_zero. lia.
Qed.

(** ... and the strides are those of the unit indices, on every axis that has one (a size of at least 2). *)
Theorem theorem_10_strides : forall s1 t1 s2 t2 tau, positives s1 -> positives s2 -> length t2 = length s2 ->
  is_merged s1 t1 s2 t2 tau ->
  forall l, (l < length s2)%nat -> 2 <= nth l s2 0 -> nth l tau 0 = composition s1 t1 t2 (unit_index s2 l).
Proof.
  intros s1 t1 s2 t2 tau P1 P2 L [Lt H] l Hl S.
  assert (Z0 : inbox (whole s2) (zero s2)) by (rewrite <- zero_corner; apply corner_inbox, whole_solid, P2).
  assert (HU : inbox (whole s2) (unit_index s2 l)).
  { unfold unit_index. apply inbox_nth. rewrite bump_length. unfold zero at 1. rewrite map_length, whole_length.
    split; [reflexivity|].
    intros k K. unfold zero. rewrite bump_nth by (rewrite map_length; assumption).
    assert (N0 : nth k (map (fun _ : Z => 0) s2) 0 = 0) by (clear; revert k; induction s2; destruct k; simpl; auto).
    assert (NW : nth k (whole s2) (0, 0) = (0, nth k s2 0)).
    { unfold whole. exact (map_nth (fun s : Z => (0, s)) s2 0 k). }
    rewrite N0, NW. simpl.
    assert (0 < nth k s2 0) by (unfold positives in P2; rewrite Forall_forall in P2; apply P2, nth_In; exact K).
    destruct (Nat.eqb_spec k l); [subst; lia|lia]. }
  rewrite <- H by assumption. unfold unit_index. rewrite dot_bump.
  - rewrite dot_zero. lia.
  - rewrite (inbox_length _ _ Z0), whole_length. assumption.
Qed.

(** The merged view is unique if all sizes are at least 2, as the source assumes. *)
Corollary theorem_10_unique : forall s1 t1 s2 t2 tau tau', positives s1 -> Forall (fun s => 2 <= s) s2 ->
  length t2 = length s2 -> is_merged s1 t1 s2 t2 tau -> is_merged s1 t1 s2 t2 tau' -> tau = tau'.
Proof.
  intros s1 t1 s2 t2 tau tau' P1 P2 L M M'.
  assert (P : positives s2) by (eapply Forall_impl; [|exact P2]; simpl; intros; lia).
  apply nth_ext with 0 0; [destruct M, M'; congruence|]. intros l Hl. destruct M as [Lt M], M' as [Lt' M'].
  assert (2 <= nth l s2 0) by (rewrite Forall_forall in P2; apply P2, nth_In; congruence).
  rewrite (theorem_10_strides s1 t1 s2 t2 tau), (theorem_10_strides s1 t1 s2 t2 tau'); auto; try congruence; split;
    assumption.
Qed.

(** The source's mergeability is ours, for views without offset and mask whose composition is defined. *)
Theorem can_merge_iff_mergeable : forall s1 t1 s2 t2, positives s1 -> positives s2 ->
  length t1 = length s1 -> length t2 = length s2 -> fits (strided s1 t1 0) (strided s2 t2 0) ->
  (can_merge s1 t1 s2 t2 <-> mergeable (strided s1 t1 0) (strided s2 t2 0)).
Proof.
  intros s1 t1 s2 t2 P1 P2 L1 L2 fit.
  set (A := strided s1 t1 0) in *. set (B := strided s2 t2 0) in *.
  assert (SA : sizes A = s1) by (apply strided_sizes; assumption).
  assert (SB : sizes B = s2) by (apply strided_sizes; assumption).
  assert (R : forall i, inbox (whole s2) i -> compose A B i = Some (composition s1 t1 t2 i)).
  { intros i H. unfold compose.
    rewrite read_valid by (split; [reflexivity|unfold B; rewrite strided_mask by assumption; exact H]).
    rewrite read_valid.
    - rewrite SA. unfold affine, A, B, composition. rewrite !strided_strides by assumption. reflexivity.
    - split; [reflexivity|]. rewrite SA. unfold A. rewrite strided_mask by assumption. apply unravel_inbox.
      assumption. }
  assert (Z0 : inbox (whole s2) (zero s2)) by (rewrite <- zero_corner; apply corner_inbox, whole_solid, P2).
  unfold mergeable. rewrite SB. split.
  - intros (tau & Lt & H). exists (strided s2 tau 0). split.
    { apply strided_wf. eapply Forall_impl; [|exact P2]. simpl; intros; lia. }
    split; [apply strided_sizes; assumption|]. intros i Hi. rewrite R by assumption.
    rewrite read_valid by (split; [reflexivity|rewrite strided_mask by assumption; exact Hi]).
    unfold affine. rewrite strided_strides by assumption. rewrite <- H by assumption. reflexivity.
  - intros (C & W & SC & H). exists (strides C). split.
    { rewrite <- SC. unfold strides, sizes. rewrite !map_length. reflexivity. }
    assert (V : forall i, inbox (whole s2) i -> offset C + dot (strides C) i = composition s1 t1 t2 i).
    { intros i Hi. specialize (H i Hi). rewrite R in H by assumption. unfold read in H.
      destruct (validb C i); [|discriminate].
      unfold affine in H. congruence. }
    pose proof (V _ Z0) as V0. rewrite composition_zero, dot_zero in V0 by assumption.
    intros i Hi. specialize (V i Hi). lia.
Qed.

(** The cancelling example satisfies the theorem's condition, and its stride is the one that the theorem names. *)
Example theorem_10_example : can_merge [10; 9; 4] [140; 11; 13] [6] [9] /\ composition [10; 9; 4] [140; 11;
  13] [9] [1] = 35.
Proof.
  split; [|reflexivity]. exists [35]. split; [reflexivity|].
  intros [|x [|y i]]; simpl; try tauto. intros [H _].
  assert (x = 0 \/ x = 1 \/ x = 2 \/ x = 3 \/ x = 4 \/ x = 5) as [->|[->|[->|[->|[->| ->]]]]] by lia; reflexivity.
Qed.

(** With one axis there is one condition for each step but the first. *)
Lemma one_axis : forall s1 t1 s a (P : Z -> Z), positives s1 -> 0 < s -> (forall x, 0 <= x < s -> composition s1 t1
  [a] [x] = P x) ->
  (can_merge s1 t1 [s] [a] <-> forall x, 0 <= x < s - 1 -> P (x + 1) = P x + (P 1)).
Proof.
  intros s1 t1 s a P P1 S H. rewrite theorem_10 by first [assumption | reflexivity | repeat constructor; assumption].
  split.
  - intros T x X. specialize (T [x] O). simpl in T. rewrite <- !H by lia. apply T; lia.
  - intros T i l L Hi Hi'. destruct i as [|x [|y i]]; simpl in Hi; try tauto. destruct l as [|l]; [|simpl in L; lia].
    simpl in Hi'. unfold unit_index. simpl. rewrite !H by lia. apply T. lia.
Qed.

(** Computes the digits of a known position. *)
Local Ltac digits :=
  match goal with |- context [unravel ?s ?y] => let u := eval vm_compute in (unravel s y) in change (unravel s y)
    with u end;
  cbn [dot]; lia.

(** Adds one. *)
Local Ltac sums :=
  try change (0 + 1) with 1; try change (1 + 1) with 2; try change (2 + 1) with 3; try change (3 + 1) with 4;
  try change (4 + 1) with 5.

(** Table 1 of the source, for all strides: 4 indices merge exactly if s1 = 2 s2 + 3 s3. *)
Theorem table_1 : forall s1 s2 s3, can_merge [10; 3; 3] [s1; s2; s3] [4] [4] <-> s1 = 2 * s2 + 3 * s3.
Proof.
  intros s1 s2 s3.
  set (P := fun x => if x =? 0 then 0 else if x =? 1 then s2 + s3 else if x =? 2 then 2 * s2 + 2 * s3 else s1 + s2).
  assert (P 0 = 0 /\ P 1 = s2 + s3 /\ P 2 = 2 * s2 + 2 * s3 /\ P 3 = s1 + s2) as (P0 & P1 & P2 & P3)
    by (repeat split; reflexivity).
  rewrite (one_axis _ _ 4 4 P); [|repeat constructor|lia|].
  - split.
    + intros H. specialize (H 2 ltac:(lia)). change (2 + 1) with 3 in H. lia.
    + intros E x X. assert (x = 0 \/ x = 1 \/ x = 2) as [->|[->| ->]] by lia; sums; lia.
  - intros x X. assert (x = 0 \/ x = 1 \/ x = 2 \/ x = 3) as [->|[->|[->| ->]]] by lia; unfold composition; digits.
Qed.

(** Table 2: 6 indices merge exactly if s1 = 3 s2 and s2 = 3 s3. *)
Theorem table_2 : forall s1 s2 s3, can_merge [10; 3; 3] [s1; s2; s3] [6] [4] <-> s1 = 3 * s2 /\ s2 = 3 * s3.
Proof.
  intros s1 s2 s3.
  set (P := fun x => if x =? 0 then 0 else if x =? 1 then s2 + s3 else if x =? 2 then 2 * s2 + 2 * s3
                     else if x =? 3 then s1 + s2 else if x =? 4 then s1 + 2 * s2 + s3 else 2 * s1 + 2 * s3).
  assert (P 0 = 0 /\ P 1 = s2 + s3 /\ P 2 = 2 * s2 + 2 * s3 /\ P 3 = s1 + s2 /\ P 4 = s1 + 2 * s2 + s3 /\
          P 5 = 2 * s1 + 2 * s3) as (P0 & P1 & P2 & P3 & P4 & P5) by (repeat split; reflexivity).
  rewrite (one_axis _ _ 6 4 P); [|repeat constructor|lia|].
  - split.
    + intros H. pose proof (H 2 ltac:(lia)) as H2. pose proof (H 4 ltac:(lia)) as H4.
      change (2 + 1) with 3 in H2. change (4 + 1) with 5 in H4. lia.
    + intros E x X. assert (x = 0 \/ x = 1 \/ x = 2 \/ x = 3 \/ x = 4) as [->|[->|[->|[->| ->]]]] by lia; sums; lia.
  - intros x X.
    assert (x = 0 \/ x = 1 \/ x = 2 \/ x = 3 \/ x = 4 \/ x = 5) as [->|[->|[->|[->|[->| ->]]]]] by lia;
      unfold composition; digits.
Qed.
