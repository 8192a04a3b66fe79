(** Reshaping a masked view is merging it with a row-major one; the sources' rules for masks follow. *)

From Coq Require Import ZArith Lia List Bool.
From Shapetracker Require Import View Criterion Overflow Equation Bounding Merge Exact FastPath.
Import ListNotations.
Open Scope Z_scope.

(** A row-major view of as many elements always reads inside. *)
Lemma reshape_fits : forall A kk, numel kk = numel (sizes A) -> fits A (contiguous kk).
Proof.
  intros A kk N i V. rewrite contiguous_affine, <- N. apply ravel_bounds. apply contiguous_valid. assumption.
Qed.

Lemma contiguous_wf : forall kk, Forall (fun s => 0 <= s) kk -> wf (contiguous kk).
Proof. intros. apply strided_wf. assumption. Qed.

(** The merge procedure decides reshapes of masked views: no rule for masks is needed. *)
Theorem reshape_correct : forall solver, decides solver -> forall A kk, wf A -> Forall (fun s => 0 <= s) kk ->
  numel kk = numel (sizes A) ->
  match merge solver A (contiguous kk) with
  | Some C => wf C /\ canonical C /\ sizes C = kk /\
              forall i, inbox (whole kk) i -> read C i = read A (unravel (sizes A) (ravel kk i))
  | None => ~ exists C, wf C /\ sizes C = kk /\
              forall i, inbox (whole kk) i -> read C i = read A (unravel (sizes A) (ravel kk i))
  end.
Proof.
  intros solver D A kk WA WK N.
  pose proof (merge_correct solver D A (contiguous kk) WA (contiguous_wf kk WK) (reshape_fits A kk N)) as H.
  assert (E : forall i, inbox (whole kk) i -> compose A (contiguous kk) i = read A (unravel (sizes A) (ravel kk i))).
  { intros i Hi. unfold compose. rewrite contiguous_read by assumption. reflexivity. }
  destruct (merge solver A (contiguous kk)) as [C|].
  - destruct H as [(W & Z & R) CC]. rewrite contiguous_sizes in *. repeat split; auto. intros i Hi.
    rewrite R, E by assumption. reflexivity.
  - intros (C & W & Z & R). apply H. exists C. rewrite contiguous_sizes. split; [assumption|]. split; [assumption|].
    intros i Hi. rewrite E by assumption. apply R. assumption.
Qed.

(** Merging, where what is read may be nothing. *)
Lemma mergeable_iff_box : forall A B, wf A -> wf B ->
  (mergeable A B <-> (forall i, ~ reads A B i) \/
                     exists b, solid b /\ (forall i, reads A B i <-> inbox b i) /\ even b (address A B)).
Proof.
  intros A B wfA wfB. split.
  - intros M. pose proof M as M'. unfold mergeable in M.
    rewrite single_view_criterion in M by (apply wf_sizes; assumption).
    assert (IN : forall i, reads A B i -> inbox (whole (sizes B)) i).
    { intros i H. apply reads_iff in H. eapply valid_inside; [exact wfB|apply H]. }
    destruct M as [N|(b & W & S & V & E)].
    + left. intros i H. apply H. apply N, IN, H.
    + right. exists b. assert (R : forall i, reads A B i <-> inbox b i).
      { intros i. split; intros H; [apply V; [apply IN|]; assumption|].
        apply V; [eapply inbox_within; eassumption|assumption]. }
      split; [assumption|]. split; [assumption|]. apply (mergeable_iff_even A B b); assumption.
  - intros [N|(b & S & R & E)].
    + unfold mergeable. rewrite single_view_criterion by (apply wf_sizes; assumption). left. intros i _.
      destruct (compose A B i) eqn:C; [|reflexivity]. exfalso. apply (N i). unfold reads. congruence.
    + apply (mergeable_iff_even A B b); assumption.
Qed.

Lemma reads_contiguous : forall A kk i, live A = true ->
  (reads A (contiguous kk) i <-> inbox (whole kk) i /\ inbox (mask A) (unravel (sizes A) (ravel kk i))).
Proof.
  intros A kk i L. rewrite reads_iff, contiguous_valid, contiguous_affine. unfold valid. tauto.
Qed.

Lemma ravel_1 : forall n x, ravel [n] [x] = x.
Proof. intros. unfold ravel. cbn [row_major numel dot]. ring. Qed.

Lemma ravel_2 : forall n k x y, ravel [n; k] [x; y] = x * k + y.
Proof. intros. unfold ravel. cbn [row_major numel dot]. ring. Qed.

Lemma unravel_1 : forall n x, 0 <= x < n -> unravel [n] x = [x].
Proof. intros. cbn [unravel numel]. rewrite Z.div_1_r, Z.mod_small by assumption. reflexivity. Qed.

Lemma unravel_2 : forall n k x y, 0 <= x < n -> 0 <= y < k -> unravel [n; k] (x * k + y) = [x; y].
Proof. intros. rewrite <- (ravel_2 n). apply unravel_ravel. simpl. tauto. Qed.

(** Splitting a masked axis: possible exactly if the mask is not cut, that is, if it is empty, if it begins and ends
    between rows, or if it lies within one row. *)
Theorem split_masked : forall p1 p2 s lo hi o, 0 < p1 -> 0 < p2 -> 0 <= lo <= hi -> hi <= p1 * p2 ->
  (mergeable (View [Axis (p1 * p2) s lo hi] o true) (contiguous [p1; p2]) <->
   lo = hi \/ ((p2 | lo) /\ (p2 | hi)) \/ lo / p2 = (hi - 1) / p2).
Proof.
  intros p1 p2 s lo hi o P1 P2 L H. set (A := View [Axis (p1 * p2) s lo hi] o true).
  assert (WA : wf A) by (constructor; [unfold wf_axis; simpl; lia|constructor]).
  assert (WB : wf (contiguous [p1; p2])) by (apply contiguous_wf; repeat constructor; lia).
  assert (RD : forall i, reads A (contiguous [p1; p2]) i <->
                exists x y, i = [x; y] /\ 0 <= x < p1 /\ 0 <= y < p2 /\ lo <= x * p2 + y < hi).
  { intros i. rewrite reads_contiguous by reflexivity. split.
    - intros [I M]. destruct i as [|x [|y [|z i]]]; simpl in I; try tauto.
      exists x, y. rewrite ravel_2 in M. change (sizes A) with [p1 * p2] in M. rewrite unravel_1 in M by nia.
      simpl in M. repeat split; try tauto; lia.
    - intros (x & y & -> & X & Y & M). split; [simpl; tauto|]. rewrite ravel_2. change (sizes A) with [p1 * p2].
      rewrite unravel_1 by nia. simpl. split; [lia|exact I]. }
  assert (AD : forall b, solid b -> (forall i, reads A (contiguous [p1;
    p2]) i <-> inbox b i) -> even b (address A (contiguous [p1; p2]))).
  { intros b S R. apply affine_iff_even; [assumption|]. exists o, [s * p2; s].
    assert (Lb : length b = 2%nat).
    { pose proof (corner_inbox b S) as C. pose proof (inbox_length _ _ C) as E. apply R, RD in C.
      destruct C as (x & y & C & _).
      rewrite <- E, C. reflexivity. }
    split; [symmetry; assumption|]. intros i Hi. apply R, RD in Hi. destruct Hi as (x & y & -> & X & Y & M).
    unfold address. rewrite contiguous_affine, ravel_2. change (sizes A) with [p1 * p2]. rewrite unravel_1 by nia.
    unfold affine, A, strides; simpl. lia. }
  rewrite mergeable_iff_box by assumption.
  pose proof (Z.div_mod lo p2 ltac:(lia)) as Dl. pose proof (Z.mod_pos_bound lo p2 P2) as Bl.
  pose proof (Z.div_mod (hi - 1) p2 ltac:(lia)) as Dh. pose proof (Z.mod_pos_bound (hi - 1) p2 P2) as Bh.
  set (a := lo / p2) in *. set (a' := lo mod p2) in *. set (c := (hi - 1) / p2) in *. set (c' := (hi - 1) mod p2) in *.
  split.
  - intros [N|(b & S & R & _)].
    + left. destruct (Z.eq_dec lo hi) as [E|E]; [assumption|]. exfalso. apply (N [a; a']). apply RD. exists a, a'.
      split; [reflexivity|]. nia.
    + destruct (Z.eq_dec lo hi) as [E|E]; [left; assumption|right].
      destruct (Z.eq_dec a c) as [E'|E']; [right; assumption|left].
      assert (a < c) by nia. assert (c < p1) by nia. assert (0 <= a) by nia.
      assert (MEM : forall x y, 0 <= x < p1 -> 0 <= y < p2 -> (lo <= x * p2 + y < hi <-> inbox b [x; y])).
      { intros x y X Y. rewrite <- R, RD. split.
        - intros M. exists x, y. auto.
        - intros (x' & y' & Q & _ & _ & M). injection Q as <- <-. assumption. }
      destruct b as [|r [|q [|z b]]].
      { exfalso. apply (proj1 (MEM a a' ltac:(nia) ltac:(nia))). nia. }
      { exfalso. apply (proj1 (MEM a a' ltac:(nia) ltac:(nia))). nia. }
      2:{ exfalso. apply (proj1 (MEM a a' ltac:(nia) ltac:(nia))). nia. }
      simpl in MEM.
      pose proof (proj1 (MEM a (p2 - 1) ltac:(lia) ltac:(lia)) ltac:(nia)).
      pose proof (proj1 (MEM c 0 ltac:(lia) ltac:(lia)) ltac:(nia)).
      pose proof (proj2 (MEM c (p2 - 1) ltac:(lia) ltac:(lia)) ltac:(lia)).
      pose proof (proj2 (MEM a 0 ltac:(lia) ltac:(lia)) ltac:(lia)).
      split; [exists a; nia|exists (c + 1); nia].
  - intros C. destruct (Z.eq_dec lo hi) as [E|E].
    { left. intros i R. apply RD in R. destruct R as (x & y & _ & _ & _ & M). lia. }
    right. destruct C as [C|[[[u U] [v V]]|C]]; [contradiction| |].
    + set (b := [(u, v); (0, p2)]).
      assert (S : solid b) by (repeat constructor; simpl; nia).
      assert (R : forall i, reads A (contiguous [p1; p2]) i <-> inbox b i).
      { intros i. rewrite RD. split.
        - intros (x & y & -> & X & Y & M). clear - U V X Y M P2. assert (u <= x) by nia. assert (x < v) by nia. simpl.
          lia.
        - intros I. destruct i as [|x [|y [|z i]]]; simpl in I; try tauto. exists x, y. split; [reflexivity|].
          clear - U V I P1 P2 L H. assert (0 <= u) by nia. assert (v <= p1) by nia. nia. }
      exists b. split; [assumption|]. split; [assumption|]. apply AD; assumption.
    + set (b := [(a, a + 1); (a', c' + 1)]).
      assert (S : solid b) by (repeat constructor; simpl; nia).
      assert (R : forall i, reads A (contiguous [p1; p2]) i <-> inbox b i).
      { intros i. rewrite RD. split.
        - intros (x & y & -> & X & Y & M). rewrite <- C in Dh. clear - Dl Dh Bl Bh X Y M P2.
          assert (a <= x) by nia. assert (x <= a) by nia. assert (x = a) by lia. subst x. simpl. lia.
        - intros I. destruct i as [|x [|y [|z i]]]; simpl in I; try tauto. exists x, y. assert (x = a) by lia.
          subst x. rewrite <- C in Dh.
          split; [reflexivity|]. clear - Dl Dh Bl Bh I P1 P2 L H. nia. }
      exists b. split; [assumption|]. split; [assumption|]. apply AD; assumption.
Qed.

(** Joining two masked axes: possible exactly if the mask is empty, if only one outer index is valid (whatever its
    stride), or if the inner mask is full and the axes advance as one (or the inner axis has one element). *)
Theorem join_masked : forall k1 k2 s1 s2 l1 h1 l2 h2 o, 0 < k1 -> 0 < k2 ->
  0 <= l1 <= h1 -> h1 <= k1 -> 0 <= l2 <= h2 -> h2 <= k2 ->
  (mergeable (View [Axis k1 s1 l1 h1; Axis k2 s2 l2 h2] o true) (contiguous [k1 * k2]) <->
   (l1 = h1 \/ l2 = h2) \/ h1 = l1 + 1 \/ (l2 = 0 /\ h2 = k2 /\ (k2 = 1 \/ s1 = s2 * k2))).
Proof.
  intros k1 k2 s1 s2 l1 h1 l2 h2 o K1 K2 L1 H1 L2 H2. set (A := View [Axis k1 s1 l1 h1; Axis k2 s2 l2 h2] o true).
  assert (WA : wf A) by (repeat constructor; unfold wf_axis; simpl; lia).
  assert (WB : wf (contiguous [k1 * k2])) by (apply contiguous_wf; repeat constructor; nia).
  pose proof (fun x y => unravel_2 k1 k2 x y) as UN.
  assert (RD : forall i, reads A (contiguous [k1 * k2]) i <->
                exists x y, i = [x * k2 + y] /\ l1 <= x < h1 /\ l2 <= y < h2).
  { intros i. rewrite reads_contiguous by reflexivity. split.
    - intros [I M]. destruct i as [|z [|w i]]; simpl in I; try tauto.
      assert (Z1 : z = z / k2 * k2 + z mod k2) by (pose proof (Z.div_mod z k2 ltac:(lia)); lia).
      pose proof (Z.mod_pos_bound z k2 K2).
      assert (0 <= z / k2 < k1) by (split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]).
      rewrite ravel_1, Z1 in M. change (sizes A) with [k1; k2] in M. rewrite UN in M by assumption. simpl in M.
      exists (z / k2), (z mod k2). split; [|lia]. f_equal. pose proof (Z.div_mod z k2 ltac:(lia)). lia.
    - intros (x & y & -> & X & Y). split; [simpl; split; [nia|exact I]|].
      rewrite ravel_1. change (sizes A) with [k1; k2]. rewrite UN by lia. simpl. lia. }
  assert (AD : forall x y, 0 <= x < k1 -> 0 <= y < k2 ->
             address A (contiguous [k1 * k2]) [x * k2 + y] = o + s1 * x + s2 * y).
  { intros x y X Y. unfold address. rewrite contiguous_affine, ravel_1.
    change (sizes A) with [k1; k2]. rewrite UN by assumption. unfold affine, A, strides; simpl. lia. }
  rewrite mergeable_iff_box by assumption. split.
  - intros [N|(b & S & R & E)].
    + left. destruct (Z.eq_dec l1 h1); [left; assumption|]. destruct (Z.eq_dec l2 h2); [right; assumption|].
      exfalso. apply (N [l1 * k2 + l2]). apply RD. exists l1, l2. split; [reflexivity|lia].
    + destruct (Z.eq_dec l1 h1); [left; left; assumption|]. destruct (Z.eq_dec l2 h2); [left; right; assumption|].
      right.
      destruct (Z.eq_dec h1 (l1 + 1)); [left; assumption|right].
      assert (T : forall x y, l1 <= x < h1 -> l2 <= y < h2 -> inbox b [x * k2 + y]).
      { intros x y X Y. apply R, RD. exists x, y. split; [reflexivity|lia]. }
      destruct b as [|r [|q b]];
        [destruct (T l1 l2 ltac:(lia) ltac:(lia))| |destruct (T l1 l2 ltac:(lia) ltac:(lia)) as [_ []]].
      (* All positions between two that are read are read. *)
      assert (BETWEEN : forall z u v, 0 <= u < k1 -> 0 <= v < k2 -> z = u * k2 + v ->
                l1 * k2 + h2 - 1 <= z <= (l1 + 1) * k2 + l2 -> l1 <= u < h1 /\ l2 <= v < h2).
      { intros z u v U V Q B. pose proof (T l1 (h2 - 1) ltac:(lia) ltac:(lia)) as T1.
        pose proof (T (l1 + 1) l2 ltac:(lia) ltac:(lia)) as T2. simpl in T1, T2.
        assert (I : inbox [r] [z]) by (simpl; lia). apply R, RD in I. destruct I as (x & y & I & X & Y).
        injection I; intros I'. assert (x = u) by nia. subst x. nia. }
      assert (F2 : h2 = k2).
      { destruct (Z.eq_dec h2 k2); [assumption|]. exfalso.
        pose proof (BETWEEN (l1 * k2 + h2) l1 h2 ltac:(lia) ltac:(lia) eq_refl ltac:(nia)). lia. }
      assert (F1 : l2 = 0).
      { destruct (Z.eq_dec l2 0); [assumption|]. exfalso.
        pose proof (BETWEEN ((l1 + 1) * k2 + (l2 - 1)) (l1 + 1) (l2 - 1) ltac:(lia) ltac:(lia) eq_refl ltac:(nia)).
        lia. }
      split; [assumption|]. split; [assumption|]. destruct (Z.eq_dec k2 1) as [Q|Q]; [left; assumption|right].
      specialize (E O [l1 * k2 + 0] [l1 * k2 + (k2 - 1)]).
      change (bump 0 [l1 * k2 + 0]) with [l1 * k2 + 0 + 1] in E.
      change (bump 0 [l1 * k2 + (k2 - 1)]) with [l1 * k2 + (k2 - 1) + 1] in E.
      replace (l1 * k2 + 0 + 1) with (l1 * k2 + 1) in E by ring.
      replace (l1 * k2 + (k2 - 1) + 1) with ((l1 + 1) * k2 + 0) in E by ring.
      specialize (E (T l1 0 ltac:(lia) ltac:(lia)) (T l1 1 ltac:(lia) ltac:(lia))
                    (T l1 (k2 - 1) ltac:(lia) ltac:(lia)) (T (l1 + 1) 0 ltac:(lia) ltac:(lia))).
      rewrite !AD in E by lia. lia.
  - intros C. destruct (Z.eq_dec l1 h1) as [E1|E1].
    { left. intros i X. apply RD in X. destruct X as (x & y & _ & X & _). lia. }
    destruct (Z.eq_dec l2 h2) as [E2|E2].
    { left. intros i X. apply RD in X. destruct X as (x & y & _ & _ & X). lia. }
    right. destruct C as [C|[C|(C1 & C2 & C3)]]; [lia| |].
    + set (b := [(l1 * k2 + l2, l1 * k2 + h2)]).
      assert (S : solid b) by (repeat constructor; simpl; lia).
      assert (R : forall i, reads A (contiguous [k1 * k2]) i <-> inbox b i).
      { intros i. rewrite RD. split.
        - intros (x & y & -> & X & Y). simpl. assert (x = l1) by lia. subst x. lia.
        - intros I. destruct i as [|z [|w i]]; simpl in I; try tauto. exists l1, (z - l1 * k2).
          split; [f_equal; lia|lia]. }
      exists b. split; [assumption|]. split; [assumption|]. apply affine_iff_even; [assumption|].
      exists (o + s1 * l1 - s2 * (l1 * k2)), [s2]. split; [reflexivity|]. intros i Hi. apply R, RD in Hi.
      destruct Hi as (x & y & -> & X & Y). rewrite AD by lia. assert (x = l1) by lia. subst x. simpl. lia.
    + subst l2 h2. set (b := [(l1 * k2, h1 * k2)]).
      assert (S : solid b) by (repeat constructor; simpl; nia).
      assert (R : forall i, reads A (contiguous [k1 * k2]) i <-> inbox b i).
      { intros i. rewrite RD. split.
        - intros (x & y & -> & X & Y). simpl. nia.
        - intros I. destruct i as [|z [|w i]]; simpl in I; try tauto. exists (z / k2), (z mod k2).
          pose proof (Z.div_mod z k2 ltac:(lia)). pose proof (Z.mod_pos_bound z k2 K2). split; [f_equal; lia|].
          split; [|lia]. split; [apply Z.div_le_lower_bound; lia|apply Z.div_lt_upper_bound; lia]. }
      exists b. split; [assumption|]. split; [assumption|]. apply affine_iff_even; [assumption|].
      destruct C3 as [C3|C3].
      * exists o, [s1]. split; [reflexivity|]. intros i Hi. apply R, RD in Hi. destruct Hi as (x & y & -> & X & Y).
        rewrite AD by lia. subst k2. assert (y = 0) by lia. subst y. simpl. lia.
      * exists o, [s2]. split; [reflexivity|]. intros i Hi. apply R, RD in Hi. destruct Hi as (x & y & -> & X & Y).
        rewrite AD by lia. subst s1. simpl. lia.
Qed.

(** A broadcast axis with one valid index joins the axis inside it; with more it does not, unless that is broadcast as
    well or has one element. *)
Corollary broadcast_joins : forall k1 k2 s2 l1 h1 o, 0 < k1 -> 1 < k2 -> s2 <> 0 -> 0 <= l1 < h1 -> h1 <= k1 ->
  (mergeable (View [Axis k1 0 l1 h1; Axis k2 s2 0 k2] o true) (contiguous [k1 * k2]) <-> h1 = l1 + 1).
Proof. intros. rewrite join_masked by lia. split; [|lia]. intros [[H4|H4]|[H4|(_ & _ & [H4|H4])]]; try lia; nia. Qed.

(** The sources' examples: 8 elements valid in [2, 6) do not split into 2 rows of 4; 3 rows of 2 with two rows valid
    unfold to [0, 4); the second of 2 rows of 3, its first two elements valid, unfolds to [3, 5). *)
Example split_cut : ~ mergeable (View [Axis 8 1 2 6] 0 true) (contiguous [2; 4]).
Proof.
  change 8 with (2 * 4). rewrite split_masked by lia. intros [H|[[[x X] _]|H]]; [lia|lia|discriminate].
Qed.
(** ... valid in [4, 8) they do: one row. *)
Example split_uncut : mergeable (View [Axis 8 1 4 8] 0 true) (contiguous [2; 4]).
Proof. change 8 with (2 * 4) at 1. rewrite split_masked by lia. right; right. reflexivity. Qed.
(** ... the rows that unfold. *)
Example join_unfolds : mergeable (View [Axis 3 2 0 2; Axis 2 1 0 2] 0 true) (contiguous [6]).
Proof. change 6 with (3 * 2). rewrite join_masked by lia. lia. Qed.
(** ... and the single row. *)
Example join_one_row : mergeable (View [Axis 2 3 1 2; Axis 3 1 0 2] 0 true) (contiguous [6]).
Proof. change 6 with (2 * 3). rewrite join_masked by lia. lia. Qed.
