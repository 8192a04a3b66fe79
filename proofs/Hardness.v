(** Deciding mergeability is as hard as showing that no subset of some weights has a given sum. *)

From Coq Require Import ZArith Lia List Bool.
From Shapetracker Require Import View Criterion Overflow Equation Bounding Merge Exact FastPath Reshape.
Import ListNotations.
Open Scope Z_scope.

(** Some of the weights sum to the target. *)
Definition subset_sum (w : list Z) (T : Z) : Prop :=
  exists y, length y = length w /\ Forall (fun v => v = 0 \/ v = 1) y /\ dot w y = T.

Fixpoint total (w : list Z) : Z := match w with [] => 0 | a :: r => a + total r end.

(** The pair: one masked axis that lets a single position through, read by axes of size 2 with the weights as strides
    and two more with a stride that exceeds their sum. *)
Definition gate (w : list Z) (T M : Z) : view := View [Axis (total w + 2 * M + 1) 1 (T + M) (T + M + 1)] 0 true.
Definition chooser (w : list Z) (M : Z) : view := strided (repeat 2 (length w + 2)) (w ++ [M; M]) 0.

Lemma dot_range : forall w y, Forall (fun a => 0 <= a) w -> length y = length w -> Forall (fun v => v = 0 \/ v = 1) y ->
  0 <= dot w y <= total w.
Proof.
  induction w as [|a w IH]; destruct y as [|v y]; simpl; intros F L C; try discriminate; [lia|].
  inversion F; inversion C; subst. specialize (IH y H2 ltac:(congruence) H6). nia.
Qed.

Lemma inbox_twos : forall k i, inbox (whole (repeat 2 k)) i <-> length i = k /\ Forall (fun v => v = 0 \/ v = 1) i.
Proof.
  induction k as [|k IH]; destruct i as [|x i]; simpl.
  - split; auto.
  - split; [tauto|intros [H _]; discriminate].
  - split; [tauto|intros [H _]; discriminate].
  - rewrite IH. split.
    + intros [H [H1 H2]]. split; [congruence|]. constructor; [lia|assumption].
    + intros [H F]. inversion F; subst. split; [lia|]. split; [congruence|assumption].
Qed.

Lemma dot_split : forall w y u v M, length y = length w -> dot (w ++ [M; M]) (y ++ [u; v]) = dot w y + M * (u + v).
Proof.
  induction w as [|a w IH]; destruct y as [|x y]; intros u v M L; try discriminate; cbn [app dot].
  - ring.
  - rewrite IH by (simpl in L; congruence). ring.
Qed.

Lemma last_two : forall (i : list Z) k, length i = (k + 2)%nat -> exists y u v, i = y ++ [u; v] /\ length y = k.
Proof.
  induction i as [|x i IH]; intros k L; simpl in L; [lia|]. destruct k as [|k].
  - destruct i as [|z [|]]; simpl in L; try lia. exists [], x, z. split; reflexivity.
  - destruct (IH k ltac:(lia)) as (y & u & v & -> & E). exists (x :: y), u, v. simpl. split; [reflexivity|congruence].
Qed.

Lemma box_corner : forall y b, inbox b (y ++ [1; 0]) -> inbox b (y ++ [0; 1]) -> inbox b (y ++ [1; 1]).
Proof.
  induction y as [|x y IH]; intros b H1 H2.
  - destruct b as [|r [|q [|p b]]]; simpl in *; tauto.
  - destruct b as [|r b]; simpl in *; [tauto|]. destruct H1 as [H1 H1'], H2 as [H2 H2']. split; [assumption|].
    apply IH; assumption.
Qed.

Lemma app_same_length : forall (y z : list Z) u v, length y = length z -> y ++ u = z ++ v -> y = z /\ u = v.
Proof.
  induction y as [|a y IH]; destruct z as [|b z]; simpl; intros u v L E; try discriminate; [auto|].
  injection E; intros E' ->. destruct (IH z u v ltac:(congruence) E') as [-> ->]. auto.
Qed.

(** Within its bounds the pair is well-formed and reads inside. *)
Theorem reduction_fits : forall w T M, Forall (fun a => 0 <= a) w -> 0 <= T < M -> total w < M ->
  wf (gate w T M) /\ wf (chooser w M) /\ fits (gate w T M) (chooser w M).
Proof.
  intros w T M F HT HM.
  assert (Len : length (w ++ [M; M]) = length (repeat 2 (length w + 2))) by (rewrite app_length, repeat_length; simpl;
    reflexivity).
  assert (0 <= total w) by (clear - F; induction F; simpl; lia).
  split; [constructor; [unfold wf_axis; cbn [lo hi size]; lia|constructor]|]. split.
  { apply strided_wf. apply Forall_forall. intros s S. apply repeat_spec in S. lia. }
  intros i [_ V]. unfold chooser in *. rewrite strided_mask in V by assumption.
  unfold affine. rewrite strided_strides by assumption. cbn [offset strided].
  apply inbox_twos in V. destruct V as [V C]. destruct (last_two i _ V) as (y & u & v & -> & Ly).
  rewrite dot_split by assumption. apply Forall_app in C. destruct C as [C1 C2].
  inversion C2 as [|? ? U C3]; inversion C3 as [|? ? U' _]; subst.
  pose proof (dot_range w y F Ly C1). change (sizes (gate w T M)) with [total w + 2 * M + 1]. cbn [numel].
  destruct U as [->| ->], U' as [->| ->]; lia.
Qed.

(** The reduction: the pair is mergeable exactly if no subset sums to the target.  Subset sum is NP-complete, so
    deciding mergeability is coNP-hard in the number of axes. *)
Theorem reduction : forall w T M, Forall (fun a => 0 <= a) w -> 0 <= T < M -> total w < M ->
  (mergeable (gate w T M) (chooser w M) <-> ~ subset_sum w T).
Proof.
  intros w T M F HT HM. destruct (reduction_fits w T M F HT HM) as (WA & WB & FIT).
  assert (0 <= total w) by (clear - F; induction F; simpl; lia).
  assert (Len : length (w ++ [M; M]) = length (repeat 2 (length w + 2))) by (rewrite app_length, repeat_length; simpl;
    reflexivity).
  assert (RD : forall i, reads (gate w T M) (chooser w M) i <->
                exists y u v, i = y ++ [u; v] /\ length y = length w /\ Forall (fun v => v = 0 \/ v = 1) y /\
                              (u = 0 \/ u = 1) /\ (v = 0 \/ v = 1) /\ dot w y + M * (u + v) = T + M).
  { intros i. rewrite reads_iff. split.
    - intros [VB VA]. pose proof (FIT i VB) as R. unfold valid in VB. unfold chooser in VB.
      rewrite strided_mask in VB by assumption.
      destruct VB as [_ VB]. apply inbox_twos in VB. destruct VB as [L C].
      destruct (last_two i _ L) as (y & u & v & -> & Ly). apply Forall_app in C. destruct C as [C1 C2].
      inversion C2 as [|? ? U C3]; inversion C3 as [|? ? U' _]; subst.
      exists y, u, v. repeat split; auto.
      destruct VA as [_ VA]. change (sizes (gate w T M)) with [total w + 2 * M + 1] in *. cbn [numel] in R.
      rewrite unravel_1 in VA by lia. simpl in VA.
      unfold affine, chooser in VA. rewrite strided_strides in VA by assumption. cbn [offset strided] in VA.
      rewrite dot_split in VA by assumption. lia.
    - intros (y & u & v & -> & Ly & C & U & V & E).
      assert (VB : valid (chooser w M) (y ++ [u; v])).
      { split; [reflexivity|]. unfold chooser. rewrite strided_mask by assumption. apply inbox_twos.
        split; [rewrite app_length; simpl; lia|]. apply Forall_app. split; [assumption|].
        constructor; [assumption|constructor; [assumption|constructor]]. }
      split; [assumption|]. split; [reflexivity|]. pose proof (FIT _ VB) as R.
      change (sizes (gate w T M)) with [total w + 2 * M + 1] in *. cbn [numel] in R. rewrite unravel_1 by lia. simpl.
      unfold affine, chooser. rewrite strided_strides by assumption. cbn [offset strided].
      rewrite dot_split by assumption. lia. }
  rewrite mergeable_iff_box by assumption. split.
  - intros MG (y & Ly & C & E).
    assert (R1 : reads (gate w T M) (chooser w M) (y ++ [1; 0])) by (apply RD; exists y, 1, 0; repeat split; auto; lia).
    assert (R2 : reads (gate w T M) (chooser w M) (y ++ [0; 1])) by (apply RD; exists y, 0, 1; repeat split; auto; lia).
    destruct MG as [N|(b & _ & B & _)]; [exact (N _ R1)|].
    apply B in R1. apply B in R2. pose proof (box_corner y b R1 R2) as R3. apply B, RD in R3.
    destruct R3 as (y' & u & v & Q & Ly' & _ & U & V & E').
    assert (Q2 : y = y' /\ [1; 1] = [u; v]) by (apply app_same_length; [congruence|exact Q]).
    destruct Q2 as [<- Q2]. injection Q2; intros; subst. lia.
  - intros N. left. intros i R. apply RD in R. destruct R as (y & u & v & _ & Ly & C & U & V & E).
    pose proof (dot_range w y F Ly C). apply N. exists y. split; [assumption|]. split; [assumption|]. nia.
Qed.

(** Of 3, 5 and 9, some sum to 8, none to 7. *)
Example reduction_examples :
  ~ mergeable (gate [3; 5; 9] 8 18) (chooser [3; 5; 9] 18) /\ mergeable (gate [3; 5; 9] 7 18) (chooser [3; 5; 9] 18).
Proof.
  split.
  - rewrite reduction by (repeat constructor; simpl; lia). intros N. apply N. exists [1; 1; 0]. split; [reflexivity|].
    split; [|reflexivity].
    apply Forall_forall. intros v [<-|[<-|[<-|[]]]]; auto.
  - rewrite reduction by (repeat constructor; simpl; lia). intros (y & L & C & E).
    destruct y as [|a [|b [|c [|]]]]; try discriminate.
    inversion C as [|? ? C1 C']; inversion C' as [|? ? C2 C'']; inversion C'' as [|? ? C3 _]; subst.
    cbn [dot] in E. lia.
Qed.
