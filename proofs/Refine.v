(** Refining: three views become two.  And joining the axes of the earlier view, which changes nothing. *)

From Coq Require Import ZArith Lia List Bool.
From Shapetracker Require Import View Criterion Overflow Equation Bounding Merge Exact UitDeBos Schillinger FastPath
  Reshape.
Import ListNotations.
Open Scope Z_scope.

(** A map [f] on indices of the shape [ss], read through a later view [D]. *)
Definition through (ss : list Z) (f : index -> option Z) (D : view) (j : index) : option Z :=
  match read D j with Some x => f (unravel ss x) | None => None end.

(** A stack of three views, [A] next to memory. *)
Definition compose3 (A B D : view) : index -> option Z := through (sizes B) (compose A B) D.

Lemma compose_through : forall A B j, compose A B j = through (sizes A) (read A) B j.
Proof. reflexivity. Qed.

(** A view that reads inside has its unravelled positions in the shape. *)
Lemma fits_inside : forall B D j x, wf B -> fits B D -> read D j = Some x ->
  0 <= x < numel (sizes B) /\ inbox (whole (sizes B)) (unravel (sizes B) x) /\ ravel (sizes B) (unravel (sizes B) x)
    = x.
Proof.
  intros B D j x WB F R. unfold read in R. destruct (validb D j) eqn:V; [|discriminate]. injection R; intros <-.
  apply validb_iff in V. pose proof (F j V) as X.
  assert (P : positives (sizes B)) by (apply positive_of_numel; [apply wf_sizes; assumption|lia]).
  split; [assumption|]. split; [apply unravel_inbox; assumption|apply ravel_unravel; assumption].
Qed.

(** Refining, in general.  Between the middle view [B] and the later view [D] only positions matter.  So let [B'] be the
    middle view written in another shape, and let [E] tell for every index of [B] which position of that shape it has.
    If [A] and [B'] are the single view [C], and [E] and [D] are the single view [U], then [C] and [U] do what the three
    views do. *)
Theorem refine : forall A B B' D E C U,
  wf B -> wf B' -> fits B D -> fits B' E -> sizes E = sizes B ->
  (forall i, inbox (whole (sizes B)) i -> read B i = compose B' E i) ->
  is_view (sizes B') (compose A B') C ->
  is_view (sizes D) (compose E D) U ->
  forall j, inbox (whole (sizes D)) j -> compose3 A B D j = compose C U j.
Proof.
  intros A B B' D E C U WB WB' FD FE SE RB (WC & SC & RC) (WU & SU & RU) j Hj.
  unfold compose3, through, compose at 2. rewrite RU by assumption. unfold compose at 2.
  destruct (read D j) as [x|] eqn:RD; [|reflexivity].
  destruct (fits_inside B D j x WB FD RD) as (_ & I & _).
  unfold compose. rewrite RB by assumption. unfold compose. rewrite SE.
  destruct (read E (unravel (sizes B) x)) as [y|] eqn:RE; [|reflexivity].
  destruct (fits_inside B' E _ y WB' FE RE) as (_ & I' & _).
  rewrite SC, RC by assumption. unfold compose. reflexivity.
Qed.

(** Splitting the axes of a full middle view into blocks of row-major axes changes no position: then [E] is the
    row-major view, and the later view is kept as it is.  Three views are two: [C] and [D]. *)
Theorem refine_by_splitting : forall A D C o ts us,
  positives (concat us) -> length ts = length us ->
  let B := strided (map numel us) ts o in
  let B' := strided (concat us) (blocks_strides ts us) o in
  fits B D -> is_view (sizes B') (compose A B') C ->
  forall j, compose3 A B D j = compose C D j.
Proof.
  intros A D C o ts us P L B B' FD (WC & SC & RC) j.
  assert (L1 : length ts = length (map numel us)) by (rewrite map_length; assumption).
  assert (L2 : length (blocks_strides ts us) = length (concat us)) by (apply blocks_strides_length; assumption).
  assert (SB : sizes B = map numel us) by (apply strided_sizes; assumption).
  assert (SB' : sizes B' = concat us) by (apply strided_sizes; assumption).
  assert (PB : positives (sizes B)) by (rewrite SB; apply positives_numels; assumption).
  assert (WB : wf B) by (apply strided_wf; rewrite <- SB; eapply Forall_impl; [|exact PB]; simpl; intros; lia).
  unfold compose3, through, compose at 2. destruct (read D j) as [x|] eqn:RD; [|reflexivity].
  destruct (fits_inside B D j x WB FD RD) as (X & I & _).
  assert (I' : inbox (whole (sizes B')) (unravel (sizes B') x)) by (apply unravel_inbox; rewrite SB'; assumption).
  rewrite SC, RC by assumption. unfold compose.
  assert (R1 : read B (unravel (sizes B) x) = Some (affine B (unravel (sizes B) x))).
  { apply read_valid. split; [reflexivity|]. unfold B at 1. rewrite strided_mask, <- SB by assumption. assumption. }
  assert (R2 : read B' (unravel (sizes B') x) = Some (affine B' (unravel (sizes B') x))).
  { apply read_valid. split; [reflexivity|]. unfold B' at 1. rewrite strided_mask, <- SB' by assumption. assumption. }
  rewrite R1, R2. destruct (blocks_same_order ts us P L) as [N H].
  assert (EQ : affine B (unravel (sizes B) x) = affine B' (unravel (sizes B') x)).
  { unfold affine. rewrite SB, SB'. unfold B, B'. rewrite !strided_strides by assumption. cbn [offset strided].
    rewrite H; [reflexivity|]. rewrite <- SB. assumption. }
  rewrite EQ. reflexivity.
Qed.

(** A transposed matrix that is flattened is no single view, but with the flat axis split it is one: so what follows
    needs two views, not three. *)
Example refine_example :
  let A := strided [2; 3] [1; 2] 0 in
  let us := [[2; 3]] in
  merge enumerate A (strided (map numel us) [1] 0) = None /\
  merge enumerate A (strided (concat us) (blocks_strides [1] us) 0) = Some (strided [2; 3] [1; 2] 0).
Proof. split; vm_compute; reflexivity. Qed.

(** * Joining the axes of the earlier view *)

(** Two views that read the same at every position are the same earlier view. *)
Definition same_positions (A A' : view) : Prop :=
  numel (sizes A) = numel (sizes A') /\
  forall x, 0 <= x < numel (sizes A) -> read A (unravel (sizes A) x) = read A' (unravel (sizes A') x).

(** Merging does not tell them apart. *)
Theorem same_positions_merge : forall A A' B, wf A -> wf B -> fits A B -> same_positions A A' ->
  (forall i, compose A B i = compose A' B i) /\ (mergeable A B <-> mergeable A' B).
Proof.
  intros A A' B WA WB F [N H].
  assert (E : forall i, compose A B i = compose A' B i).
  { intros i. unfold compose. destruct (read B i) as [x|] eqn:R; [|reflexivity].
    apply H. unfold read in R. destruct (validb B i) eqn:V; [|discriminate]. injection R; intros <-.
    apply F, validb_iff, V. }
  split; [exact E|]. split; intros (C & W & S & R); exists C; (split; [assumption|]); (split; [assumption|]);
    intros i Hi; rewrite R by assumption; [|symmetry]; apply E.
Qed.

Lemma inbox_app : forall b c i j, length i = length b -> (inbox (b ++ c) (i ++ j) <-> inbox b i /\ inbox c j).
Proof.
  induction b as [|r b IH]; destruct i as [|x i]; simpl; intros j L; try discriminate; [tauto|].
  rewrite IH by congruence. tauto.
Qed.

(** The middle of a view may be replaced by axes that are valid at the same positions and move the address alike. *)
Lemma replace_axes : forall before after u v o p,
  positives (map size before) -> positives (map size after) -> positives (map size u) -> positives (map size v) ->
  numel (map size u) = numel (map size v) ->
  (forall x, 0 <= x < numel (map size u) ->
     (inbox (map (fun a => (lo a, hi a)) u) (unravel (map size u) x) <->
      inbox (map (fun a => (lo a, hi a)) v) (unravel (map size v) x)) /\
     (inbox (map (fun a => (lo a, hi a)) u) (unravel (map size u) x) ->
      o + dot (map stride u) (unravel (map size u) x) = p + dot (map stride v) (unravel (map size v) x))) ->
  same_positions (View (before ++ u ++ after) o true) (View (before ++ v ++ after) p true).
Proof.
  intros before after u v o p PB PA PU PV N H.
  assert (SZ : forall w q, sizes (View (before ++ w ++ after) q true) = map size before ++ map size w ++ map size
    after).
  { intros. unfold sizes; simpl. rewrite !map_app. reflexivity. }
  split.
  - rewrite !SZ, !numel_app, N. reflexivity.
  - intros x _. rewrite !SZ.
    assert (PUA : positives (map size u ++ map size after)) by (apply positives_app; split; assumption).
    assert (PVA : positives (map size v ++ map size after)) by (apply positives_app; split; assumption).
    rewrite !unravel_app by assumption. rewrite !numel_app, N.
    set (xb := x / (numel (map size v) * numel (map size after))). set (xm := x / numel (map size after)).
    assert (M : forall w, positives (map size w) -> numel (map size w) = numel (map size v) ->
                unravel (map size w) xm = unravel (map size w) (xm mod numel (map size v))).
    { intros w Pw E. rewrite <- E. symmetry. apply unravel_mod. assumption. }
    rewrite (M u PU N), (M v PV eq_refl).
    pose proof (Z.mod_pos_bound xm (numel (map size v)) (numel_pos _ PV)) as B.
    specialize (H (xm mod numel (map size v)) ltac:(lia)). destruct H as [H1 H2].
    set (du := unravel (map size u) (xm mod numel (map size v))) in *.
    set (dv := unravel (map size v) (xm mod numel (map size v))) in *.
    assert (V : forall w q d, length d = length (map size w) ->
              (valid (View (before ++ w ++ after) q true) (unravel (map size before) xb ++ d ++ unravel (map size
                after) x) <->
               inbox (map (fun a => (lo a, hi a)) before) (unravel (map size before) xb) /\
               inbox (map (fun a => (lo a, hi a)) w) d /\
               inbox (map (fun a => (lo a, hi a)) after) (unravel (map size after) x))).
    { intros w q d Ld. unfold valid, mask; simpl. rewrite !map_app.
      rewrite inbox_app by (rewrite unravel_length, !map_length; reflexivity).
      rewrite inbox_app by (rewrite Ld, !map_length; reflexivity). tauto. }
    assert (AF : forall w q d, length d = length (map size w) ->
              affine (View (before ++ w ++ after) q true) (unravel (map size before) xb ++ d ++ unravel (map size
                after) x) =
              q + dot (map stride w) d + (dot (map stride before) (unravel (map size before) xb)
                                          + dot (map stride after) (unravel (map size after) x))).
    { intros w q d Ld. unfold affine, strides; simpl. rewrite !map_app.
      rewrite dot_app by (rewrite unravel_length, !map_length; reflexivity).
      rewrite dot_app by (rewrite Ld, !map_length; reflexivity). ring. }
    assert (LU : length du = length (map size u)) by apply unravel_length.
    assert (LV : length dv = length (map size v)) by apply unravel_length.
    destruct (validb (View (before ++ u ++ after) o true) (unravel (map size before) xb ++ du ++ unravel (map size
      after) x)) eqn:Q.
    + apply validb_iff in Q. rewrite (read_valid _ _ Q). apply V in Q; [|assumption]. destruct Q as (Q1 & Q2 & Q3).
      rewrite read_valid by (apply V; [assumption|]; tauto). rewrite !AF by assumption. rewrite H2 by assumption.
      reflexivity.
    + apply validb_false in Q. rewrite (read_invalid _ _ Q). rewrite read_invalid; [reflexivity|].
      intros X. apply Q. apply V; [assumption|]. apply V in X; [|assumption]. tauto.
Qed.

(** An axis of one element, if it is valid, may be left out. *)
Theorem drop_one_element : forall before after s o, positives (map size before) -> positives (map size after) ->
  same_positions (View (before ++ [Axis 1 s 0 1] ++ after) o true) (View (before ++ [] ++ after) o true).
Proof.
  intros. apply replace_axes; auto; try (repeat constructor; simpl; lia).
  intros x X. cbn [map unravel numel size lo hi stride inbox dot]. rewrite Z.mod_1_r. cbn [fst snd]. split; [lia|].
  intros; ring.
Qed.

(** Neighbours that advance as one join if the inner one is fully valid: the outer range counts inner blocks. *)
Theorem join_full_inner : forall before after k1 k2 s l h o,
  positives (map size before) -> positives (map size after) -> 0 < k1 -> 0 < k2 ->
  same_positions (View (before ++ [Axis k1 (s * k2) l h; Axis k2 s 0 k2] ++ after) o true)
                 (View (before ++ [Axis (k1 * k2) s (l * k2) (h * k2)] ++ after) o true).
Proof.
  intros before after k1 k2 s l h o PB PA K1 K2. apply replace_axes; auto; try (repeat constructor; simpl; nia).
  - intros x X. cbn [map numel size] in X.
    pose proof (Z.div_mod x k2 ltac:(lia)) as D. pose proof (Z.mod_pos_bound x k2 K2) as B.
    assert (0 <= x / k2 < k1) by (split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]).
    cbn [map size]. rewrite unravel_1 by lia.
    replace (unravel [k1; k2] x) with [x / k2; x mod k2].
    2:{ rewrite <- (unravel_2 k1 k2) by assumption. f_equal. lia. }
    cbn [map lo hi stride inbox dot fst snd]. split; [|intros _; nia].
    split; [nia|]. intros [Y _]. split; [|lia]. clear - D B Y K2. nia.
Qed.

(** An outer axis with one valid index joins whatever is inside, whatever its stride: it only places the inner range. *)
Theorem join_single_outer : forall before after k1 k2 s1 s2 l1 l2 h2 o,
  positives (map size before) -> positives (map size after) -> 0 < k1 -> 0 < k2 -> 0 <= l2 -> h2 <= k2 ->
  same_positions (View (before ++ [Axis k1 s1 l1 (l1 + 1); Axis k2 s2 l2 h2] ++ after) o true)
                 (View (before ++ [Axis (k1 * k2) s2 (l1 * k2 + l2) (l1 * k2 + h2)] ++ after) (o + s1 * l1 - s2 * (l1
                   * k2)) true).
Proof.
  intros before after k1 k2 s1 s2 l1 l2 h2 o PB PA K1 K2 L2 H2.
  apply replace_axes; auto; try (repeat constructor; simpl; nia).
  - intros x X. cbn [map numel size] in X.
    pose proof (Z.div_mod x k2 ltac:(lia)) as D. pose proof (Z.mod_pos_bound x k2 K2) as B.
    assert (0 <= x / k2 < k1) by (split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]).
    cbn [map size]. rewrite unravel_1 by lia.
    replace (unravel [k1; k2] x) with [x / k2; x mod k2].
    2:{ rewrite <- (unravel_2 k1 k2) by assumption. f_equal. lia. }
    cbn [map lo hi stride inbox dot fst snd]. split.
    + split.
      * intros [Y [Y2 _]]. assert (E : x / k2 = l1) by lia. rewrite E in D. lia.
      * intros [Y _]. assert (l1 <= x / k2) by (clear - D B Y L2 K2; nia).
        assert (x / k2 <= l1) by (clear - D B Y H2 K2; nia).
        assert (E : x / k2 = l1) by lia. rewrite E in *. lia.
    + intros [Y _]. assert (E : x / k2 = l1) by lia. rewrite E in *. nia.
Qed.

(** The general form: the boundaries at 2 do not divide the middle view's axis of 5, which begins at position 1.  It is
    extended to three rows of 2, and the later view leaves the two ends out. *)
Example refine_example_extended :
  let A := strided [4; 2] [1; 4] 0 in
  let B := strided [5] [1] 1 in
  let D := strided [2; 2] [2; 1] 0 in
  let C := strided [3; 2] [1; 4] 0 in
  let U := strided [2; 2] [2; 1] 1 in
  merge enumerate A B = None /\
  forall j, inbox (whole (sizes D)) j -> compose3 A B D j = compose C U j.
Proof.
  intros A B D C U. split; [vm_compute; reflexivity|].
  set (B' := strided [3; 2] [2; 1] 0). set (E := strided [5] [1] 1).
  assert (M : merge enumerate A B' = Some C) by (vm_compute; reflexivity).
  assert (N : merge enumerate E D = Some U) by (vm_compute; reflexivity).
  assert (WA : wf A) by (apply wfb_iff; reflexivity). assert (WB : wf B) by (apply wfb_iff; reflexivity).
  assert (WB' : wf B') by (apply wfb_iff; reflexivity). assert (WE : wf E) by (apply wfb_iff; reflexivity).
  assert (WD : wf D) by (apply wfb_iff; reflexivity).
  pose proof (merge_correct enumerate enumerate_decides A B' WA WB' ltac:(apply fitsb_iff; reflexivity)) as HC.
  rewrite M in HC.
  pose proof (merge_correct enumerate enumerate_decides E D WE WD ltac:(apply fitsb_iff; reflexivity)) as HU.
  rewrite N in HU.
  apply (refine A B B' D E C U); try assumption; try (apply fitsb_iff; reflexivity); try reflexivity; try apply HC;
    try apply HU.
  intros [|x [|y i]]; simpl; try tauto. intros [H _].
  assert (x = 0 \/ x = 1 \/ x = 2 \/ x = 3 \/ x = 4) as [->|[->|[->|[->| ->]]]] by lia; reflexivity.
Qed.
