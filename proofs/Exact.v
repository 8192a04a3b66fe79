(** The exact merge as statements, with no procedure in them; and whether a view reads inside another. *)

From Coq Require Import ZArith Lia List Bool.
From Shapetracker Require Import View Criterion Overflow Equation Bounding Merge.
Import ListNotations.
Open Scope Z_scope.

(** No step along axis [l] of the box [b] has a pattern that moves the address unlike the first step.  Here the
    pattern is any list of carries, one for each digit. *)
Definition carries_alike (A B : view) (b : box) (l : nat) : Prop :=
  let a := Z.abs (nth l (strides B) 0) in
  let alpha := unravel (sizes A) a in
  let from := starts B b l in
  let first := delta (sizes A) (strides A) alpha (pattern (sizes A) a (affine B (corner from))) in
  forall p, length p = length (sizes A) -> delta (sizes A) (strides A) alpha p <> first ->
  ~ exists i, inbox from i /\ inbox (intervals (sizes A) alpha p) (unravel (sizes A) (affine B i)).

(** Asking for all patterns is asking for those that the procedure walks: the others have an empty interval, or a carry
    out of the outermost digit. *)
Lemma carries_alike_iff : forall A B b l, fits A B -> live B = true -> positives (sizes A) ->
  within b (mask B) -> (l < length b)%nat -> (carries_alike A B b l <-> no_other_pattern A B b l).
Proof.
  intros A B b l fit LB PA W L. unfold carries_alike, no_other_pattern.
  set (a := Z.abs (nth l (strides B) 0)). set (alpha := unravel (sizes A) a).
  set (from := starts B b l).
  set (first := delta (sizes A) (strides A) alpha (pattern (sizes A) a (affine B (corner from)))).
  split.
  - intros H p Ip. apply H. apply filter_In in Ip. eapply candidates_length; [apply unravel_length|apply Ip].
  - intros H p Lp D (i & Hi & Di).
    assert (E : pattern (sizes A) a (affine B i) = p) by (apply pattern_iff_digits; assumption).
    refine (H p _ D _); [|exists i; split; assumption]. rewrite <- E.
    destruct (Z_le_dec 0 (nth l (strides B) 0)) as [U|U].
    + apply starts_up in Hi; try assumption. destruct Hi as [Hi Hi'].
      apply (step_up A B fit LB PA b l i W U Hi Hi').
    + apply Z.nle_gt in U. apply starts_down in Hi; try assumption. destruct Hi as (j & -> & Hj & Hj').
      apply (step_down A B fit LB PA b l j W U Hj Hj').
Qed.

(** [b] is the bounding box of a set: it holds the set and lies in every box that does. *)
Definition bounds (S : index -> Prop) (b : box) : Prop :=
  (forall i, S i -> inbox b i) /\ forall c, (forall i, S i -> inbox c i) -> within b c.

Definition far (b : box) : index := map (fun r => snd r - 1) b.

Lemma far_inbox : forall b, solid b -> inbox b (far b).
Proof. induction 1; simpl; [exact I|]. split; [lia|assumption]. Qed.

Lemma within_of_inbox : forall b c, solid b -> (forall i, inbox b i -> inbox c i) -> within b c.
Proof.
  intros b c S H. pose proof (H _ (corner_inbox b S)) as U. pose proof (H _ (far_inbox b S)) as V. clear H.
  revert c U V. induction S as [|r b R S IH]; destruct c as [|s c]; simpl; try tauto; intros U V; constructor; [lia|].
  apply IH; tauto.
Qed.

(** The indices at which a pair reads something. *)
Definition reads (A B : view) (i : index) : Prop := compose A B i <> None.

Lemma reads_iff : forall A B i, reads A B i <-> valid B i /\ valid A (unravel (sizes A) (affine B i)).
Proof.
  intros A B i. unfold reads, compose. destruct (validb B i) eqn:E.
  - rewrite read_valid by (apply validb_iff; assumption). apply validb_iff in E.
    destruct (validb A (unravel (sizes A) (affine B i))) eqn:F.
    + rewrite read_valid by (apply validb_iff; assumption). apply validb_iff in F. intuition discriminate.
    + rewrite read_invalid by (apply validb_false; assumption). apply validb_false in F. tauto.
  - rewrite read_invalid by (apply validb_false; assumption). apply validb_false in E. tauto.
Qed.

(** The exact merge.  A pair is a single view exactly if it reads nothing, or if all of the bounding box of what it
    reads is read and, on that box, no step has a pattern that moves the address unlike the first step of its axis. *)
Theorem exact_merge : forall A B, wf A -> wf B -> fits A B ->
  (mergeable A B <->
   (forall i, ~ reads A B i) \/
   exists b, solid b /\ bounds (reads A B) b /\ (forall i, inbox b i -> reads A B i) /\
             forall l, (l < length b)%nat -> carries_alike A B b l).
Proof.
  intros A B wfA wfB fit. pose proof (wf_sizes B wfB) as ZB.
  pose proof (single_view_criterion (sizes B) (compose A B) ZB) as CRIT.
  assert (INSIDE : forall i, reads A B i -> inbox (whole (sizes B)) i).
  { intros i H. apply reads_iff in H. eapply valid_inside; [exact wfB|apply H]. }
  (* On a box that is read, even steps are equal patterns. *)
  assert (EVEN : forall b, solid b -> (forall i, inbox b i -> reads A B i) ->
            (even b (value (compose A B)) <-> forall l, (l < length b)%nat -> carries_alike A B b l)).
  { intros b Sb R.
    pose proof (proj1 (reads_iff A B _) (R _ (corner_inbox b Sb))) as [VB VA].
    destruct VB as [LB MB], VA as [LA MA].
    assert (Wb : within b (mask B)).
    { apply within_of_inbox; [assumption|]. intros i H. apply R in H. apply reads_iff in H. apply H. }
    assert (PA : positives (sizes A)).
    { apply positive_of_numel; [apply wf_sizes; assumption|]. pose proof (fit _ (conj LB MB)). lia. }
    assert (V : forall k, inbox b k -> value (compose A B) k = address A B k).
    { intros k K. unfold value. apply R in K. apply reads_iff in K. destruct K as [[_ K1] [_ K2]].
      rewrite (composed_value A B LA LB) by assumption. reflexivity. }
    split.
    - intros E l L. apply carries_alike_iff; try assumption. apply even_iff_no_other_pattern; try assumption.
      intros i j Hi Hi' Hj Hj'. rewrite <- !V by assumption. apply (E l); assumption.
    - intros H l. destruct (Nat.lt_ge_cases l (length b)) as [L|L]; [|apply even_past; assumption].
      pose proof (H l L) as N. apply carries_alike_iff in N; try assumption.
      apply even_iff_no_other_pattern in N; try assumption.
      intros i j Hi Hi' Hj Hj'. rewrite !V by assumption. apply N; assumption. }
  unfold mergeable. rewrite CRIT. split.
  - intros [N|(b & W & S & V & E)].
    + left. intros i H. apply H. apply N. apply INSIDE. assumption.
    + right. exists b. assert (R : forall i, inbox b i -> reads A B i).
      { intros i H. apply V; [eapply inbox_within; eassumption|assumption]. }
      split; [assumption|]. split.
      { split.
        - intros i H. apply V; [apply INSIDE|]; assumption.
        - intros c Hc. apply within_of_inbox; [assumption|]. auto. }
      split; [assumption|]. apply EVEN; assumption.
  - intros [N|(b & S & [B1 B2] & R & H)].
    + left. intros i _. destruct (compose A B i) eqn:E; [|reflexivity]. exfalso. apply (N i). unfold reads. congruence.
    + right. exists b. split.
      { apply within_of_inbox; [assumption|]. auto. }
      split; [assumption|]. split.
      { intros i _. split; [apply B1|apply R]. }
      apply EVEN; assumption.
Qed.

(** Full boxes: without masks there is no validity to decide. *)
Theorem exact_merge_full_boxes : forall A B, wf A -> wf B -> fits A B -> full A -> full B ->
  (mergeable A B <-> forall l, (l < length (sizes B))%nat -> carries_alike A B (mask B) l).
Proof.
  intros A B wfA wfB fit [LA FA] [LB FB].
  assert (EQ : forall i, reads A B i <-> inbox (mask B) i).
  { intros i. rewrite reads_iff. split; [intros [[_ H] _]; exact H|]. intros H. split; [split; assumption|].
    split; [assumption|]. rewrite FA. apply unravel_inbox. apply positive_of_numel; [apply wf_sizes; assumption|].
    pose proof (fit i (conj LB H)). lia. }
  assert (Len : length (mask B) = length (sizes B)) by (unfold mask, sizes; rewrite !map_length; reflexivity).
  rewrite exact_merge by assumption. split.
  - intros [N|(b & S & [B1 B2] & R & H)] l L.
    + intros p _ _ (i & Hi & _). apply (N i). apply EQ. eapply inbox_within; [apply starts_within|exact Hi].
    + assert (b = mask B).
      { assert (inbox (mask B) (corner b)) by (apply EQ, R, corner_inbox, S).
        apply solid_same; try assumption.
        - rewrite <- (inbox_length _ _ H0). rewrite (inbox_length _ _ (corner_inbox b S)). reflexivity.
        - eapply inbox_solid; eassumption.
        - intros i. rewrite <- EQ. split; [apply R|apply B1]. }
      subst b. apply H. rewrite Len. exact L.
  - intros H. destruct (solidb (mask B)) eqn:S.
    + apply solidb_iff in S. right. exists (mask B). split; [assumption|]. split.
      { split; [intros i; apply EQ|]. intros c Hc. apply within_of_inbox; [assumption|]. intros i Hi.
        apply Hc, EQ, Hi. }
      split; [intros i; apply EQ|]. intros l L. apply H. rewrite <- Len. exact L.
    + left. intros i R. apply EQ in R. apply inbox_solid in R. apply solidb_iff in R. congruence.
Qed.

(** What a solution of one of the equations proves: a step that differs from the first one.  This is the witness. *)
Theorem witness_is_uneven : forall A B b l p i, fits A B -> live B = true -> positives (sizes A) ->
  within b (mask B) -> (l < length b)%nat -> length p = length (sizes A) ->
  let a := Z.abs (nth l (strides B) 0) in
  let alpha := unravel (sizes A) a in
  let from := starts B b l in
  delta (sizes A) (strides A) alpha p
    <> delta (sizes A) (strides A) alpha (pattern (sizes A) a (affine B (corner from))) ->
  inbox from i -> inbox (intervals (sizes A) alpha p) (unravel (sizes A) (affine B i)) ->
  ~ even_along b (address A B) l.
Proof.
  intros A B b l p i fit LB PA W L Lp a alpha from D Hi Di E.
  apply even_iff_no_other_pattern in E; try assumption. apply carries_alike_iff in E; try assumption.
  apply (E p Lp D). exists i. split; assumption.
Qed.

(** * Does [B] read inside [A]?  Its two extreme addresses tell. *)

Fixpoint low_end (st : list Z) (b : box) : Z :=
  match st, b with
  | a :: st', r :: b' => (if 0 <=? a then a * fst r else a * (snd r - 1)) + low_end st' b'
  | _, _ => 0
  end.
Fixpoint high_end (st : list Z) (b : box) : Z :=
  match st, b with
  | a :: st', r :: b' => (if 0 <=? a then a * (snd r - 1) else a * fst r) + high_end st' b'
  | _, _ => 0
  end.

Lemma ends_bound : forall st b i, inbox b i -> low_end st b <= dot st i <= high_end st b.
Proof.
  induction st as [|a st IH]; destruct b as [|r b]; destruct i as [|x i]; simpl; try tauto; try lia.
  intros [H1 H2]. specialize (IH b i H2). destruct (Z.leb_spec 0 a); nia.
Qed.

Lemma ends_reached : forall st b, solid b -> length st = length b ->
  (exists i, inbox b i /\ dot st i = low_end st b) /\ (exists i, inbox b i /\ dot st i = high_end st b).
Proof.
  induction st as [|a st IH]; destruct b as [|r b]; simpl; intros S L; try discriminate.
  - split; exists []; simpl; auto.
  - inversion S; subst. destruct (IH b H2 ltac:(congruence)) as [(i & Hi & Ei) (j & Hj & Ej)].
    destruct (0 <=? a).
    + split; [exists (fst r :: i)|exists (snd r - 1 :: j)]; simpl; split; try split; auto; lia.
    + split; [exists (snd r - 1 :: i)|exists (fst r :: j)]; simpl; split; try split; auto; lia.
Qed.

Definition fitsb (A B : view) : bool :=
  negb (live B) || negb (solidb (mask B)) ||
  ((0 <=? offset B + low_end (strides B) (mask B)) && (offset B + high_end (strides B) (mask B) <? numel (sizes A))).

(** The check on the two extreme addresses is exact. *)
Theorem fitsb_iff : forall A B, fitsb A B = true <-> fits A B.
Proof.
  intros A B. unfold fitsb, fits, valid.
  destruct (live B); simpl; [|split; [intros _ i [X _]; discriminate|reflexivity]].
  destruct (solidb (mask B)) eqn:S; simpl.
  - apply solidb_iff in S.
    assert (L : length (strides B) = length (mask B)) by (unfold strides, mask; rewrite !map_length; reflexivity).
    destruct (ends_reached _ _ S L) as [(i & Hi & Ei) (j & Hj & Ej)].
    rewrite andb_true_iff, Z.leb_le, Z.ltb_lt. unfold affine. split.
    + intros [H1 H2] k [_ Hk]. pose proof (ends_bound (strides B) _ _ Hk). lia.
    + intros H. pose proof (H i (conj eq_refl Hi)). pose proof (H j (conj eq_refl Hj)). lia.
  - split; [|reflexivity]. intros _ i [_ H]. apply inbox_solid in H. apply solidb_iff in H. congruence.
Qed.

Definition wfb (v : view) : bool := forallb (fun a => (0 <=? lo a) && (lo a <=? hi a) && (hi a <=? size a)) (axes v).

Lemma wfb_iff : forall v, wfb v = true <-> wf v.
Proof.
  intros v. unfold wfb, wf. rewrite forallb_forall, Forall_forall. unfold wf_axis.
  split; intros H a Ha; specialize (H a Ha); rewrite !andb_true_iff, !Z.leb_le in *; tauto.
Qed.

(** * The procedure on named cases, with an equation solver that tries all values *)

Definition flat (ss st : list Z) (o : Z) : view := strided ss st o.

(** Overflows that cancel: (10,9,4):(140,11,13) read by (6):(9) is the single view (6):(35). *)
Example cancelling_overflows :
  merge enumerate (flat [10; 9; 4] [140; 11; 13] 0) (flat [6] [9] 0) = Some (flat [6] [35] 0).
Proof. vm_compute. reflexivity. Qed.

(** A transposed matrix, flattened, is no single view. *)
Example transposed_flattened : merge enumerate (flat [3; 2] [1; 3] 0) (flat [6] [1] 0) = None.
Proof. vm_compute. reflexivity. Qed.

(** A padded row under a negative stride: offsets, masks and signs at once. *)
Example flipped_pad :
  merge enumerate (View [Axis 5 1 1 4] (-1) true) (flat [5] [-1] 4) = Some (View [Axis 5 (-1) 1 4] 3 true).
Proof. vm_compute. reflexivity. Qed.

(** A mask that is cut by a split is no box. *)
Example cut_mask : merge enumerate (View [Axis 8 1 2 6] 0 true) (contiguous [2; 4]) = None.
Proof. vm_compute. reflexivity. Qed.

(** Rank 0: the one element of [B] reads a masked element of [A]. *)
Example masked_scalar : merge enumerate (View [Axis 2 1 1 2] 0 true) (View [] 0 true) = Some (nothing []).
Proof. vm_compute. reflexivity. Qed.

(** Size 0: nothing is read, and any later view without valid indices fits. *)
Example empty_pair : merge enumerate (contiguous [1; 0]) (contiguous [0; 3]) = Some (nothing [0; 3]).
Proof. vm_compute. reflexivity. Qed.

(** The hypotheses of the theorems hold for these. *)
Example hypotheses_hold :
  let A := View [Axis 5 1 1 4] (-1) true in let B := flat [5] [-1] 4 in
  wf A /\ wf B /\ fits A B /\ mergeable A B.
Proof.
  intros A B.
  assert (wf A) by (apply wfb_iff; reflexivity). assert (wf B) by (apply wfb_iff; reflexivity).
  assert (fits A B) by (apply fitsb_iff; reflexivity).
  split; [assumption|]. split; [assumption|]. split; [assumption|].
  apply (merge_complete enumerate enumerate_decides); try assumption.
  exists (View [Axis 5 (-1) 1 4] 3 true). vm_compute. reflexivity.
Qed.

(** ... and for a full pair that the pattern test refuses. *)
Example full_pair_refused :
  let A := flat [3; 2] [1; 3] 0 in let B := flat [6] [1] 0 in
  wf A /\ wf B /\ fits A B /\ full A /\ full B /\ ~ mergeable A B.
Proof.
  intros A B.
  assert (wf A) by (apply wfb_iff; reflexivity). assert (wf B) by (apply wfb_iff; reflexivity).
  assert (fits A B) by (apply fitsb_iff; reflexivity).
  split; [assumption|]. split; [assumption|]. split; [assumption|].
  split; [split; reflexivity|]. split; [split; reflexivity|].
  intros M. apply (merge_complete enumerate enumerate_decides) in M; try assumption.
  destruct M as (C & E). vm_compute in E. discriminate.
Qed.

(** A solution of a pattern's equation, as a witness. *)
Example witness_example : ~ even_along [(0, 6)] (address (strided [3; 2] [1; 3] 0) (strided [6] [1] 0)) 0.
Proof.
  apply witness_is_uneven with (p := [false; true]) (i := [1]).
  - apply fitsb_iff. reflexivity.
  - reflexivity.
  - repeat constructor.
  - repeat constructor; simpl; lia.
  - simpl; lia.
  - reflexivity.
  - vm_compute. discriminate.
  - simpl. lia.
  - apply inboxb_iff. reflexivity.
Qed.
