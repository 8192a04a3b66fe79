(** Axes that are reshaped apart can be decided apart: the rules for one axis or two hold inside any view. *)

From Coq Require Import ZArith Lia List Bool.
From Shapetracker Require Import View Criterion Overflow Equation Bounding Merge Exact UitDeBos Schillinger FastPath
  Reshape Refine.
Import ListNotations.
Open Scope Z_scope.

(** A view whose axes are those of two others; addresses add up, and both must be valid. *)
Definition product (A1 A2 : view) : view := View (axes A1 ++ axes A2) (offset A1 + offset A2) (live A1 && live A2).

Lemma product_sizes : forall A1 A2, sizes (product A1 A2) = sizes A1 ++ sizes A2.
Proof. intros. unfold sizes, product; simpl. apply map_app. Qed.

Lemma product_wf : forall A1 A2, wf (product A1 A2) <-> wf A1 /\ wf A2.
Proof. intros. unfold wf, product; simpl. apply Forall_app. Qed.

(** What both read, added up. *)
Definition both (u v : option Z) : option Z := match u, v with Some x, Some y => Some (x + y) | _, _ => None end.

Lemma product_read : forall A1 A2 i j, length i = length (axes A1) ->
  read (product A1 A2) (i ++ j) = both (read A1 i) (read A2 j).
Proof.
  intros A1 A2 i j L.
  assert (V : valid (product A1 A2) (i ++ j) <-> valid A1 i /\ valid A2 j).
  { unfold valid, mask, product; simpl. rewrite map_app, inbox_app by (rewrite map_length; assumption).
    rewrite andb_true_iff. tauto. }
  assert (A : affine (product A1 A2) (i ++ j) = affine A1 i + affine A2 j).
  { unfold affine, strides, product; simpl. rewrite map_app, dot_app by (rewrite map_length; congruence). lia. }
  destruct (validb A1 i) eqn:V1; [|rewrite (read_invalid A1 i) by (apply validb_false; exact V1)].
  - rewrite (read_valid A1 i) by (apply validb_iff; exact V1). apply validb_iff in V1.
    destruct (validb A2 j) eqn:V2.
    + rewrite (read_valid A2 j) by (apply validb_iff; exact V2). apply validb_iff in V2.
      rewrite read_valid by tauto. simpl. rewrite A. reflexivity.
    + rewrite (read_invalid A2 j) by (apply validb_false; exact V2). apply validb_false in V2.
      rewrite read_invalid by tauto. reflexivity.
  - apply validb_false in V1. rewrite read_invalid by tauto. reflexivity.
Qed.

(** A reshape of the first axes and one of the others, side by side. *)
Lemma product_compose : forall A1 A2 k1 k2 i j,
  positives (sizes A1) -> positives (sizes A2) -> numel k1 = numel (sizes A1) -> numel k2 = numel (sizes A2) ->
  inbox (whole k1) i -> inbox (whole k2) j ->
  compose (product A1 A2) (contiguous (k1 ++ k2)) (i ++ j)
  = both (compose A1 (contiguous k1) i) (compose A2 (contiguous k2) j).
Proof.
  intros A1 A2 k1 k2 i j P1 P2 N1 N2 Hi Hj.
  assert (H : inbox (whole (k1 ++ k2)) (i ++ j)).
  { unfold whole. rewrite map_app, inbox_app; [split; assumption|]. apply inbox_length. assumption. }
  unfold compose. rewrite !contiguous_read by assumption. rewrite product_sizes, unravel_app by assumption.
  assert (R : ravel (k1 ++ k2) (i ++ j) = ravel k2 j + ravel k1 i * numel k2).
  { clear - Hi. unfold ravel. revert i Hi. induction k1 as [|s k1 IH]; destruct i as [|x i]; simpl; intros H; try tauto.
    - lia.
    - destruct H as [_ H]. rewrite IH by assumption. rewrite numel_app. ring. }
  pose proof (ravel_bounds k1 i Hi). pose proof (ravel_bounds k2 j Hj).
  assert (Q : ravel (k1 ++ k2) (i ++ j) / numel (sizes A2) = ravel k1 i).
  { rewrite R, <- N2, Z.div_add, Z.div_small by lia. lia. }
  rewrite Q. rewrite product_read by (rewrite unravel_length; unfold sizes; apply map_length).
  rewrite R, N2, unravel_turn by assumption. reflexivity.
Qed.

Lemma split_index : forall k1 k2 i, inbox (whole (k1 ++ k2)) i ->
  exists u v, i = u ++ v /\ inbox (whole k1) u /\ inbox (whole k2) v.
Proof.
  induction k1 as [|s k1 IH]; simpl; intros k2 i H; [exists [], i; simpl; auto|].
  destruct i as [|x i]; [destruct H|]. destruct H as [H1 H2]. destruct (IH k2 i H2) as (u & v & -> & U & V).
  exists (x :: u), v. simpl. auto.
Qed.

Lemma first_axes : forall (C : list axis) k1 k2, map size C = k1 ++ k2 ->
  exists C1 C2, C = C1 ++ C2 /\ map size C1 = k1 /\ map size C2 = k2.
Proof.
  intros C k1 k2 E. exists (firstn (length k1) C), (skipn (length k1) C). split; [symmetry; apply firstn_skipn|].
  rewrite <- firstn_map, <- skipn_map, E. split.
  - rewrite firstn_app, Nat.sub_diag, firstn_all, firstn_O. apply app_nil_r.
  - rewrite skipn_app, Nat.sub_diag, skipn_all. reflexivity.
Qed.

(** If each part is a single view, so is the whole. *)
Theorem product_mergeable : forall A1 A2 k1 k2,
  positives (sizes A1) -> positives (sizes A2) -> numel k1 = numel (sizes A1) -> numel k2 = numel (sizes A2) ->
  mergeable A1 (contiguous k1) -> mergeable A2 (contiguous k2) ->
  mergeable (product A1 A2) (contiguous (k1 ++ k2)).
Proof.
  intros A1 A2 k1 k2 P1 P2 N1 N2 (C1 & W1 & Z1 & R1) (C2 & W2 & Z2 & R2). rewrite contiguous_sizes in *.
  exists (product C1 C2). rewrite contiguous_sizes. split; [apply product_wf; auto|].
  split; [rewrite product_sizes; congruence|].
  intros i H. destruct (split_index k1 k2 i H) as (u & v & -> & U & V).
  rewrite product_compose by assumption. rewrite <- R1, <- R2 by assumption. apply product_read.
  rewrite (inbox_length _ _ U). unfold whole. rewrite map_length, <- Z1. unfold sizes. apply map_length.
Qed.

(** If the whole is a single view and the other part reads anything at all, a part is a single view. *)
Theorem part_mergeable : forall A1 A2 k1 k2,
  positives (sizes A1) -> positives (sizes A2) -> numel k1 = numel (sizes A1) -> numel k2 = numel (sizes A2) ->
  mergeable (product A1 A2) (contiguous (k1 ++ k2)) ->
  ((exists j, reads A2 (contiguous k2) j) -> mergeable A1 (contiguous k1)) /\
  ((exists i, reads A1 (contiguous k1) i) -> mergeable A2 (contiguous k2)).
Proof.
  intros A1 A2 k1 k2 P1 P2 N1 N2 (C & W & Z & R). rewrite contiguous_sizes in Z, R.
  destruct (first_axes (axes C) k1 k2 Z) as (C1 & C2 & E & Z1 & Z2).
  unfold wf in W. rewrite E in W. apply Forall_app in W. destruct W as [W1 W2].
  assert (CP : forall o1 o2, o1 + o2 = offset C -> product (View C1 o1 (live C)) (View C2 o2 (live C)) = C).
  { intros o1 o2 EO. unfold product; simpl. rewrite EO, <- E, andb_diag. destruct C; reflexivity. }
  assert (BOTH : forall o1 o2 u v, o1 + o2 = offset C -> inbox (whole k1) u -> inbox (whole k2) v ->
            both (read (View C1 o1 (live C)) u) (read (View C2 o2 (live C)) v)
            = both (compose A1 (contiguous k1) u) (compose A2 (contiguous k2) v)).
  { intros o1 o2 u v EO U V. rewrite <- product_compose by assumption.
    transitivity (read (product (View C1 o1 (live C)) (View C2 o2 (live C))) (u ++ v)).
    - symmetry. apply product_read. simpl. rewrite (inbox_length _ _ U). unfold whole. rewrite map_length, <- Z1.
      apply map_length.
    - rewrite (CP o1 o2 EO). apply R. unfold whole. rewrite map_app, inbox_app by (apply inbox_length; assumption).
      auto. }
  assert (INSIDE : forall A k z, reads A (contiguous k) z -> inbox (whole k) z).
  { intros A k z H. apply reads_iff in H. apply contiguous_valid. apply H. }
  split.
  - intros (j & Rj). pose proof (INSIDE _ _ _ Rj) as Hj. unfold reads in Rj.
    destruct (compose A2 (contiguous k2) j) as [y|] eqn:Ej; [|congruence].
    set (o2 := y - dot (map stride C2) j).
    exists (View C1 (offset C - o2) (live C && inboxb (mask (View C2 o2 true)) j)).
    rewrite contiguous_sizes. split; [exact W1|]. split; [exact Z1|]. intros u U.
    pose proof (BOTH (offset C - o2) o2 u j ltac:(lia) U Hj) as B. rewrite Ej in B.
    assert (R2 : read (View C2 o2 (live C)) j = if live C && inboxb (mask (View C2 o2 true)) j then Some y else None).
    { unfold read, validb. simpl. unfold mask; simpl. destruct (live C && _); [|reflexivity].
      unfold affine, strides, o2; simpl. f_equal. lia. }
    rewrite R2 in B. unfold read, validb in *. cbn [live axes offset] in *. unfold mask in *. cbn [axes] in *.
    destruct (live C); cbn [andb] in *.
    + destruct (inboxb (map (fun a => (lo a, hi a)) C2) j); cbn [andb] in *.
      * destruct (inboxb (map (fun a => (lo a, hi a)) C1) u); destruct (compose A1 (contiguous k1) u);
          cbn [both] in B; try discriminate; [|reflexivity].
        injection B; intros. f_equal. unfold affine, strides in *; simpl in *. lia.
      * destruct (inboxb (map (fun a => (lo a, hi a)) C1) u); destruct (compose A1 (contiguous k1) u);
          cbn [both] in B; try discriminate; reflexivity.
    + destruct (compose A1 (contiguous k1) u); cbn [both] in B; [discriminate|reflexivity].
  - intros (i & Ri). pose proof (INSIDE _ _ _ Ri) as Hi. unfold reads in Ri.
    destruct (compose A1 (contiguous k1) i) as [x|] eqn:Ei; [|congruence].
    set (o1 := x - dot (map stride C1) i).
    exists (View C2 (offset C - o1) (live C && inboxb (mask (View C1 o1 true)) i)).
    rewrite contiguous_sizes. split; [exact W2|]. split; [exact Z2|]. intros v V.
    pose proof (BOTH o1 (offset C - o1) i v ltac:(lia) Hi V) as B. rewrite Ei in B.
    assert (R1 : read (View C1 o1 (live C)) i = if live C && inboxb (mask (View C1 o1 true)) i then Some x else None).
    { unfold read, validb. simpl. unfold mask; simpl. destruct (live C && _); [|reflexivity].
      unfold affine, strides, o1; simpl. f_equal. lia. }
    rewrite R1 in B. unfold read, validb in *. cbn [live axes offset] in *. unfold mask in *. cbn [axes] in *.
    destruct (live C); cbn [andb] in *.
    + destruct (inboxb (map (fun a => (lo a, hi a)) C1) i); cbn [andb] in *.
      * destruct (inboxb (map (fun a => (lo a, hi a)) C2) v); destruct (compose A2 (contiguous k2) v);
          cbn [both] in B; try discriminate; [|reflexivity].
        injection B; intros. f_equal. unfold affine, strides in *; simpl in *. lia.
      * destruct (inboxb (map (fun a => (lo a, hi a)) C2) v); destruct (compose A2 (contiguous k2) v);
          cbn [both] in B; try discriminate; reflexivity.
    + destruct (compose A2 (contiguous k2) v); cbn [both] in B; [discriminate|reflexivity].
Qed.

(** The identity reshape is always a single view. *)
Lemma same_shape_mergeable : forall A, wf A -> mergeable A (contiguous (sizes A)).
Proof.
  intros A W. exists A. rewrite contiguous_sizes. split; [assumption|]. split; [reflexivity|].
  intros i H. symmetry. apply contiguous_neutral; assumption.
Qed.

Lemma reads_same_shape : forall A i, wf A -> (reads A (contiguous (sizes A)) i <-> valid A i).
Proof.
  intros A i W. unfold reads. destruct (inboxb (whole (sizes A)) i) eqn:I.
  - apply inboxb_iff in I. rewrite contiguous_neutral by assumption. unfold read. rewrite <- validb_iff.
    destruct (validb A i); intuition congruence.
  - apply inboxb_false in I. split.
    + intros H. exfalso. apply H. unfold compose. rewrite read_invalid; [reflexivity|]. rewrite contiguous_valid.
      assumption.
    + intros V. exfalso. apply I. eapply valid_inside; eassumption.
Qed.

(** A rule for some axes holds with any other axes before and after them, as long as those have a valid index: the
    axes in the middle are reshaped to [k], the others stay as they are. *)
Theorem reshape_in_context : forall before X after k,
  wf before -> wf X -> wf after -> (exists i, valid before i) -> (exists i, valid after i) ->
  positives (sizes before) -> positives (sizes X) -> positives (sizes after) -> numel k = numel (sizes X) ->
  (mergeable (product before (product X after)) (contiguous (sizes before ++ k ++ sizes after)) <-> mergeable X
    (contiguous k)).
Proof.
  intros before X after k WB WX WA (i & Vi) (j & Vj) PB PX PA N.
  assert (PXA : positives (sizes (product X after))) by (rewrite product_sizes; apply positives_app; split; assumption).
  assert (NXA : numel (k ++ sizes after) = numel (sizes (product X after))) by (rewrite product_sizes, !numel_app, N;
    reflexivity).
  split.
  - intros M. apply part_mergeable in M; auto. destruct M as [_ M].
    assert (M' : mergeable (product X after) (contiguous (k ++ sizes after))).
    { apply M. exists i. apply reads_same_shape; assumption. }
    apply part_mergeable in M'; auto. destruct M' as [M' _]. apply M'. exists j. apply reads_same_shape; assumption.
  - intros M. apply product_mergeable; auto using same_shape_mergeable.
    apply product_mergeable; auto using same_shape_mergeable.
Qed.

(** The sources' rule for splitting a masked axis, inside any view. *)
Corollary split_masked_anywhere : forall before after p1 p2 s l h o,
  wf before -> wf after -> (exists i, valid before i) -> (exists i, valid after i) ->
  positives (sizes before) -> positives (sizes after) -> 0 < p1 -> 0 < p2 -> 0 <= l <= h -> h <= p1 * p2 ->
  (mergeable (product before (product (View [Axis (p1 * p2) s l h] o true) after))
             (contiguous (sizes before ++ [p1; p2] ++ sizes after)) <->
   l = h \/ ((p2 | l) /\ (p2 | h)) \/ l / p2 = (h - 1) / p2).
Proof.
  intros. rewrite <- (split_masked p1 p2 s l h o) by assumption.
  assert (wf (View [Axis (p1 * p2) s l h] o true)) by (constructor; [unfold wf_axis; simpl; lia|constructor]).
  assert (positives (sizes (View [Axis (p1 * p2) s l h] o true))) by (constructor; [simpl; nia|constructor]).
  apply reshape_in_context; try assumption. unfold sizes. cbn [axes map size numel]. ring.
Qed.

(** ... and the one for joining two masked axes. *)
Corollary join_masked_anywhere : forall before after k1 k2 s1 s2 l1 h1 l2 h2 o,
  wf before -> wf after -> (exists i, valid before i) -> (exists i, valid after i) ->
  positives (sizes before) -> positives (sizes after) -> 0 < k1 -> 0 < k2 ->
  0 <= l1 <= h1 -> h1 <= k1 -> 0 <= l2 <= h2 -> h2 <= k2 ->
  (mergeable (product before (product (View [Axis k1 s1 l1 h1; Axis k2 s2 l2 h2] o true) after))
             (contiguous (sizes before ++ [k1 * k2] ++ sizes after)) <->
   (l1 = h1 \/ l2 = h2) \/ h1 = l1 + 1 \/ (l2 = 0 /\ h2 = k2 /\ (k2 = 1 \/ s1 = s2 * k2))).
Proof.
  intros. rewrite <- (join_masked k1 k2 s1 s2 l1 h1 l2 h2 o) by assumption.
  assert (wf (View [Axis k1 s1 l1 h1; Axis k2 s2 l2 h2] o true))
    by (constructor; [unfold wf_axis; simpl; lia|constructor; [unfold wf_axis; simpl; lia|constructor]]).
  assert (positives (sizes (View [Axis k1 s1 l1 h1; Axis k2 s2 l2 h2] o true))) by (repeat constructor; assumption).
  apply reshape_in_context; try assumption. unfold sizes. cbn [axes map size numel]. ring.
Qed.

(** A batch axis before and a channel axis after do not help a cut mask. *)
Example cut_in_context :
  ~ mergeable (product (strided [5] [24] 0) (product (View [Axis (2 * 4) 3 2 6] 0 true) (strided [3] [1] 0)))
              (contiguous ([5] ++ [2; 4] ++ [3])).
Proof.
  intros M. apply split_masked_anywhere in M; try lia; try (repeat constructor; unfold wf_axis; simpl; lia).
  - destruct M as [M|[[[x X] _]|M]]; [lia|lia|discriminate].
  - exists [0]. split; [reflexivity|]. simpl. lia.
  - exists [0]. split; [reflexivity|]. simpl. lia.
Qed.

(** A batch axis before does not harm one either: rows of which all but the first two are cut away still join. *)
Example join_in_context :
  mergeable (product (strided [5] [6] 0) (product (View [Axis 3 2 0 2; Axis 2 1 0 2] 0 true) (strided [] [] 0)))
            (contiguous ([5] ++ [3 * 2] ++ [])).
Proof.
  apply (join_masked_anywhere (strided [5] [6] 0) (strided [] [] 0)); try lia; try (repeat constructor;
    unfold wf_axis; simpl; lia).
  - exists [0]. split; [reflexivity|]. simpl. lia.
  - exists []. split; reflexivity.
Qed.
