(** Schillinger, "Criteria and proof for when a new view must be appended": splitting, combining, arbitrary change
    inside blocks, and impossibility across blocks, for views without offsets and masks. *)

From Coq Require Import ZArith Lia List Bool.
From Shapetracker Require Import View Criterion Overflow Equation Bounding Merge Exact UitDeBos.
Import ListNotations.
Open Scope Z_scope.

(** Two views put the same elements in the same order: the same "reshape order". *)
Definition same_order (ss st kk tt : list Z) : Prop :=
  numel kk = numel ss /\ forall x, 0 <= x < numel ss -> dot st (unravel ss x) = dot tt (unravel kk x).

(** No view need be appended to reshape [ss : st] to the shape [kk]: some strides give the same order. *)
Definition reshapable (ss st kk : list Z) : Prop := exists tt, length tt = length kk /\ same_order ss st kk tt.

Lemma same_order_sym : forall a s b t, same_order a s b t -> same_order b t a s.
Proof. intros a s b t [N H]. split; [congruence|]. intros x X. symmetry. apply H. lia. Qed.

Lemma same_order_trans : forall a s b t c u, same_order a s b t -> same_order b t c u -> same_order a s c u.
Proof.
  intros a s b t c u [N H] [M K]. split; [congruence|]. intros x X. rewrite H by assumption. apply K. lia.
Qed.

(** The source's notion is the mergeability of the view with the row-major view of the new shape. *)
Theorem reshapable_iff_mergeable : forall ss st kk, positives ss -> positives kk -> length st = length ss ->
  numel kk = numel ss ->
  (reshapable ss st kk <-> mergeable (strided ss st 0) (contiguous kk)).
Proof.
  intros ss st kk P Q L N.
  change (contiguous kk) with (strided kk (row_major kk) 0).
  rewrite <- can_merge_iff_mergeable; try assumption; try apply row_major_length.
  - split.
    + intros (tt & Lt & _ & H). exists tt. split; [assumption|]. intros i Hi.
      pose proof (ravel_bounds kk i Hi) as B. unfold composition. fold (ravel kk i).
      rewrite H by lia. rewrite unravel_ravel by assumption. reflexivity.
    + intros (tt & Lt & H). exists tt. split; [assumption|]. split; [assumption|]. intros x X.
      pose proof (H (unravel kk x) (unravel_inbox kk x Q)) as Y. rewrite Y. unfold composition.
      fold (ravel kk (unravel kk x)). rewrite ravel_unravel by (auto; lia). reflexivity.
  - intros i V. fold (contiguous kk) in *. rewrite contiguous_affine. rewrite strided_sizes by assumption.
    rewrite <- N. apply ravel_bounds. apply contiguous_valid. assumption.
Qed.

(** * Blocks *)

Lemma numel_app : forall a b, numel (a ++ b) = numel a * numel b.
Proof. induction a as [|s a IH]; intros b; cbn [numel app]; [ring|]. rewrite IH. ring. Qed.

Lemma positives_app : forall a b, positives (a ++ b) <-> positives a /\ positives b.
Proof. intros. unfold positives. apply Forall_app. Qed.

Lemma unravel_app : forall a b x, positives a -> positives b ->
  unravel (a ++ b) x = unravel a (x / numel b) ++ unravel b x.
Proof.
  induction a as [|s a IH]; simpl; intros b x P Q; [reflexivity|].
  inversion P; subst. pose proof (numel_pos a H2). pose proof (numel_pos b Q). rewrite IH by assumption. f_equal.
  rewrite numel_app, Z.div_div by lia. rewrite (Z.mul_comm (numel b)). reflexivity.
Qed.

Lemma dot_app : forall a b i j, length a = length i -> dot (a ++ b) (i ++ j) = dot a i + dot b j.
Proof. induction a; destruct i; simpl; intros; try discriminate; [reflexivity|]. rewrite IHa by congruence. ring. Qed.

Lemma dot_scale : forall t s i, dot (map (Z.mul t) s) i = t * dot s i.
Proof. induction s; destruct i; simpl; try lia. rewrite IHs. ring. Qed.

(** Axes that together advance by [t]: the row-major strides of their sizes, times [t]. *)
Definition block_strides (t : Z) (u : list Z) : list Z := map (Z.mul t) (row_major u).

Fixpoint blocks_strides (ts : list Z) (us : list (list Z)) : list Z :=
  match ts, us with t :: ts', u :: us' => block_strides t u ++ blocks_strides ts' us' | _, _ => [] end.

Lemma blocks_strides_length : forall ts us, length ts = length us -> length (blocks_strides ts us) = length (concat us).
Proof.
  induction ts; destruct us; simpl; intros; try discriminate; [reflexivity|].
  rewrite !app_length, IHts by congruence. unfold block_strides. rewrite map_length, row_major_length. reflexivity.
Qed.

Lemma numel_concat : forall us, numel (map numel us) = numel (concat us).
Proof. induction us; simpl; [reflexivity|]. rewrite numel_app, IHus. reflexivity. Qed.

Lemma positives_numels : forall us, positives (concat us) -> positives (map numel us).
Proof.
  induction us; simpl; intros H; [constructor|]. apply positives_app in H. destruct H. constructor.
  - apply numel_pos; assumption.
  - apply IHus; assumption.
Qed.

(** A block is one axis: a view whose axes fall into blocks is in the same order as the one with an axis a block. *)
Theorem blocks_same_order : forall ts us, positives (concat us) -> length ts = length us ->
  same_order (map numel us) ts (concat us) (blocks_strides ts us).
Proof.
  intros ts us P L. split; [symmetry; apply numel_concat|]. intros x _. revert ts x P L.
  induction us as [|u us IH]; destruct ts as [|t ts]; simpl; intros x P L; try discriminate; [reflexivity|].
  apply positives_app in P. destruct P as [P Q].
  rewrite unravel_app by assumption. rewrite dot_app.
  2:{ unfold block_strides. rewrite map_length, row_major_length, unravel_length. reflexivity. }
  rewrite <- IH by (auto; congruence). unfold block_strides. rewrite dot_scale.
  fold (ravel u (unravel u (x / numel (concat us)))). rewrite ravel_unravel_mod by assumption.
  rewrite numel_concat. ring.
Qed.

(** 2.1, splitting: an axis of size p1 p2 and stride s may become two, of strides p2 s and s. *)
Theorem splitting : forall before after sb sa p1 p2 s, length sb = length before ->
  positives before -> 0 < p1 -> 0 < p2 -> positives after -> length sa = length after ->
  same_order (before ++ p1 * p2 :: after) (sb ++ s :: sa) (before ++ p1 :: p2 :: after) (sb ++ p2 * s :: s :: sa).
Proof.
  intros before after sb sa p1 p2 s L P P1 P2 Q La. split.
  { rewrite !numel_app. simpl. ring. }
  intros x _. assert (Q2 : positives (p1 * p2 :: after)) by (constructor; [nia|assumption]).
  assert (Q3 : positives (p1 :: p2 :: after)) by (repeat constructor; assumption).
  rewrite !unravel_app by assumption.
  rewrite !dot_app by (rewrite unravel_length; assumption).
  pose proof (numel_pos after Q).
  replace (numel (p1 :: p2 :: after)) with (numel (p1 * p2 :: after)) by (simpl; ring).
  f_equal. simpl.
  rewrite (Z.mul_comm p1 p2), Z.rem_mul_r by lia.
  rewrite (Z.mul_comm p2 (numel after)), <- Z.div_div by lia. ring.
Qed.

(** 2.2, combining: two axes with s_(j-1) = s_j k_j may become one. *)
Theorem combining : forall before after sb sa k1 k2 s1 s2, length sb = length before ->
  positives before -> 0 < k1 -> 0 < k2 -> positives after -> length sa = length after -> s1 = s2 * k2 ->
  same_order (before ++ k1 :: k2 :: after) (sb ++ s1 :: s2 :: sa) (before ++ k1 * k2 :: after) (sb ++ s2 :: sa).
Proof.
  intros. subst s1. rewrite (Z.mul_comm s2). apply same_order_sym. apply splitting; assumption.
Qed.

(** 2.3, arbitrary change inside blocks: two shapes that divide into blocks of the same sizes can be reshaped into
    each other. *)
Theorem change_inside_blocks : forall ts us vs, positives (concat us) -> positives (concat vs) ->
  length ts = length us -> map numel us = map numel vs ->
  same_order (concat us) (blocks_strides ts us) (concat vs) (blocks_strides ts vs).
Proof.
  intros ts us vs P Q L E.
  assert (length ts = length vs) by (rewrite L; rewrite <- (map_length numel us), E, map_length; reflexivity).
  eapply same_order_trans; [apply same_order_sym, blocks_same_order; assumption|].
  rewrite E. apply blocks_same_order; assumption.
Qed.

(** * The max merge view *)

(** Axes as (size, stride), joined from the innermost on wherever s_(j-1) = s_j k_j. *)
Fixpoint max_merge (v : list (Z * Z)) : list (Z * Z) :=
  match v with
  | [] => []
  | (k, s) :: r =>
      match max_merge r with
      | (m, t) :: r' => if s =? t * m then (k * m, t) :: r' else (k, s) :: (m, t) :: r'
      | [] => [(k, s)]
      end
  end.

(** No two neighbours advance as one. *)
Fixpoint separated (v : list (Z * Z)) : Prop :=
  match v with
  | (k, s) :: (((m, t) :: _) as r) => s <> t * m /\ separated r
  | _ => True
  end.

(** The max merge view: neighbours no longer join, and the axes of the view are its axes divided into blocks. *)
Theorem max_merge_spec : forall v,
  separated (max_merge v) /\
  exists us, map fst (max_merge v) = map numel us /\ map fst v = concat us /\
             map snd v = blocks_strides (map snd (max_merge v)) us /\ Forall (fun u => u <> []) us.
Proof.
  induction v as [|[k s] v [S (us & E1 & E2 & E3 & E4)]]; simpl.
  - split; [exact I|]. exists []. simpl; auto.
  - destruct (max_merge v) as [|[m t] r] eqn:M.
    + destruct us; [|discriminate E1]. simpl in *. split; [exact I|]. exists [[k]]. simpl.
      rewrite E2, E3. unfold block_strides; simpl. repeat split; auto; try (f_equal; ring).
      repeat constructor; discriminate.
    + destruct us as [|u us]; [discriminate E1|]. simpl in E1. injection E1; intros E1' ->. inversion E4; subst.
      destruct (Z.eqb_spec s (t * numel u)) as [J|J].
      * split.
        { destruct r as [|[m' t'] r]; [exact I|]. exact S. }
        exists ((k :: u) :: us). simpl. rewrite E1', E2, E3. simpl. unfold block_strides; simpl. subst s.
        repeat split; auto. constructor; [discriminate|assumption].
      * split; [split; assumption|].
        exists ([k] :: u :: us). simpl. rewrite E1', E2, E3. unfold block_strides; simpl.
        repeat split; auto; try (f_equal; ring). constructor; [discriminate|assumption].
Qed.

(** The max merge view is in the view's order. *)
Corollary max_merge_same_order : forall v, positives (map fst v) ->
  same_order (map fst v) (map snd v) (map fst (max_merge v)) (map snd (max_merge v)).
Proof.
  intros v P. destruct (max_merge_spec v) as (_ & us & E1 & E2 & E3 & _).
  rewrite E1, E2, E3. apply same_order_sym. apply blocks_same_order; [congruence|].
  rewrite map_length. rewrite <- (map_length fst), E1, map_length. reflexivity.
Qed.

(** * Impossibility across blocks *)

(** Digits from the innermost on: simpler where the innermost is peeled off.  [little] reads lists innermost first. *)
Fixpoint little (ss st : list Z) (x : Z) : Z :=
  match ss, st with
  | s :: ss', t :: st' => t * (x mod s) + little ss' st' (x / s)
  | _, _ => 0
  end.

Lemma numel_rev : forall a, numel (rev a) = numel a.
Proof. induction a; simpl; [reflexivity|]. rewrite numel_app, IHa. simpl. ring. Qed.

Lemma positives_rev : forall a, positives a -> positives (rev a).
Proof. unfold positives. intros. apply Forall_rev. assumption. Qed.

Lemma little_rev : forall ss st x, positives ss -> length st = length ss ->
  little ss st x = dot (rev st) (unravel (rev ss) x).
Proof.
  induction ss as [|s ss IH]; destruct st as [|t st]; simpl; intros x P L; try discriminate; [reflexivity|].
  inversion P; subst. rewrite unravel_app by (try apply positives_rev; auto; repeat constructor; auto).
  rewrite dot_app by (rewrite unravel_length, !rev_length; congruence).
  rewrite IH by (auto; congruence). simpl. rewrite Z.mul_1_r, Z.div_1_r. ring.
Qed.

Lemma little_0 : forall ss st, positives ss -> little ss st 0 = 0.
Proof.
  induction ss as [|s ss IH]; destruct st; simpl; intros P; try reflexivity. inversion P; subst.
  rewrite Z.mod_0_l, Z.div_0_l, IH by (auto; lia). lia.
Qed.

(** If a shape's order begins like one stride [t] up to [M], then either its innermost axes make up a block of [M], or
    it goes on like that at [M] itself. *)
Lemma prefix_or_linear : forall k u t M, Forall (fun s => 2 <= s) k -> length u = length k ->
  1 <= M <= numel k -> (forall x, 0 <= x < M -> little k u x = t * x) ->
  (exists a b, k = a ++ b /\ numel a = M) \/ (M < numel k /\ little k u M = t * M).
Proof.
  induction k as [|k1 k IH]; destruct u as [|u1 u]; simpl; intros t M F L B H; try discriminate.
  - left. exists [], []. simpl. split; [reflexivity|lia].
  - inversion F; subst. assert (P : positives k) by (eapply Forall_impl; [|exact H3]; simpl; intros; lia).
    pose proof (numel_pos k P).
    destruct (Z.eq_dec M 1) as [->|M1]; [left; exists [], (k1 :: k); split; reflexivity|].
    assert (u1 = t).
    { specialize (H 1 ltac:(lia)). rewrite Z.mod_small, Z.div_small, little_0 in H by (auto; lia). lia. }
    subst u1.
    destruct (Z_lt_dec M k1) as [S|S].
    { right. split; [nia|]. rewrite Z.mod_small, Z.div_small, little_0 by (auto; lia). lia. }
    assert (G : forall y, 0 <= y -> k1 * y < M -> little k u y = t * k1 * y).
    { intros y Y1 Y2. specialize (H (k1 * y) ltac:(nia)).
      rewrite (Z.mul_comm k1), Z.mod_mul, Z.div_mul in H by lia. lia. }
    pose proof (Z.div_mod M k1 ltac:(lia)) as D. pose proof (Z.mod_pos_bound M k1 ltac:(lia)).
    set (q := M / k1) in *. set (r := M mod k1) in *. assert (1 <= q) by (apply Z.div_le_lower_bound; lia).
    destruct (Z.eq_dec r 0) as [R|R].
    + destruct (IH u (t * k1) q H3 ltac:(congruence)) as [(a & b & -> & E)|[E1 E2]].
      * split; [lia|]. nia.
      * intros y Y. apply G; nia.
      * left. exists (k1 :: a), b. simpl. split; [reflexivity|]. nia.
      * right. split; [nia|]. rewrite E2, R. nia.
    + assert (q < numel k) by nia. right. split; [nia|]. rewrite G by nia. nia.
Qed.

(** Innermost first: if a separated view with sizes of at least 2 is in the order of another shape, that shape divides
    into blocks of the view's sizes. *)
Lemma across_little : forall m t k u, Forall (fun s => 2 <= s) m -> Forall (fun s => 2 <= s) k ->
  length t = length m -> length u = length k -> numel m = numel k ->
  (forall l, (S l < length m)%nat -> nth (S l) t 0 <> nth l t 0 * nth l m 0) ->
  (forall x, 0 <= x < numel m -> little m t x = little k u x) ->
  exists us, concat us = k /\ map numel us = m.
Proof.
  induction m as [|m1 m IH]; destruct t as [|t1 t]; simpl; intros k u Fm Fk Lt Lu N S H; try discriminate.
  - exists []. destruct k as [|k1 k]; [split; reflexivity|]. inversion Fk; subst. simpl in N.
    assert (positives k) by (eapply Forall_impl; [|exact H3]; simpl; intros; lia). pose proof (numel_pos k H0). nia.
  - inversion Fm; subst. assert (Pm : positives m) by (eapply Forall_impl; [|exact H3]; simpl; intros; lia).
    pose proof (numel_pos m Pm).
    destruct (prefix_or_linear k u t1 m1 Fk Lu) as [(a & b & E & Na)|[E1 E2]].
    + nia.
    + intros x X. rewrite <- H by nia. rewrite Z.mod_small, Z.div_small, little_0 by (auto; lia). lia.
    + subst k. apply Forall_app in Fk. destruct Fk as [Fa Fb]. rewrite numel_app, Na in N.
      assert (Pa : positives a) by (eapply Forall_impl; [|exact Fa]; simpl; intros; lia).
      set (ub := skipn (length a) u). set (ua := firstn (length a) u).
      assert (Lua : length ua = length a) by (unfold ua; rewrite firstn_length_le;
        [reflexivity|rewrite Lu, app_length; lia]).
      assert (Lub : length ub = length b) by (unfold ub; rewrite skipn_length, Lu, app_length; lia).
      assert (SP : forall a' ua' y, positives a' -> length ua' = length a' ->
                 little (a' ++ b) (ua' ++ ub) (numel a' * y) = little b ub y).
      { clear. induction a' as [|s a' IHa]; destruct ua' as [|v ua']; simpl; intros y P L; try discriminate.
        - destruct y; reflexivity.
        - inversion P; subst. replace (s * numel a' * y) with ((numel a' * y) * s) by ring.
          rewrite Z.mod_mul, Z.div_mul by lia. rewrite IHa by (auto; congruence). lia. }
      destruct (IH t b ub H3 Fb ltac:(congruence) Lub) as (us & C1 & C2).
      * nia.
      * intros l Hl. apply (S (Datatypes.S l)). lia.
      * intros y Y. specialize (H (m1 * y) ltac:(nia)).
        rewrite (Z.mul_comm m1), Z.mod_mul, Z.div_mul in H by lia.
        replace (y * m1) with (numel a * y) in H by (rewrite Na; ring).
        rewrite <- (firstn_skipn (length a) u) in H. fold ua ub in H. rewrite SP in H by assumption. lia.
      * exists (a :: us). simpl. rewrite C1, C2, Na. split; reflexivity.
    + exfalso. destruct m as [|m2 m]; [simpl in N; lia|]. destruct t as [|t2 t]; [discriminate|].
      inversion H3; subst. apply (S O ltac:(simpl; lia)). simpl.
      rewrite <- H in E2 by nia. rewrite Z.mod_same, Z.div_same in E2 by lia. simpl in E2.
      rewrite Z.mod_small, Z.div_small, little_0 in E2; try lia.
      inversion Pm; subst. assumption.
Qed.

Lemma separated_nth : forall v, separated v -> forall l, (S l < length v)%nat ->
  snd (nth l v (0, 0)) <> snd (nth (S l) v (0, 0)) * fst (nth (S l) v (0, 0)).
Proof.
  induction v as [|[k s] v IH]; simpl; intros H l L; [lia|].
  destruct v as [|[m t] v]; [simpl in L; lia|]. destruct H as [H1 H2].
  destruct l as [|l]; [exact H1|]. apply (IH H2 l). simpl in *; lia.
Qed.

Lemma concat_rev : forall (us : list (list Z)), rev (concat us) = concat (rev (map (@rev Z) us)).
Proof.
  induction us; simpl; [reflexivity|]. rewrite rev_app_distr, IHus, concat_app. simpl. rewrite app_nil_r. reflexivity.
Qed.

(** 3, impossibility across blocks, and its converse.  A max merged view with sizes of at least 2 reshapes to a shape
    with sizes of at least 2 exactly if the shape divides into blocks whose products are the view's sizes. *)
Theorem across_blocks : forall v kk, separated v -> Forall (fun s => 2 <= s) (map fst v) -> Forall (fun s => 2 <= s)
  kk ->
  numel kk = numel (map fst v) ->
  (reshapable (map fst v) (map snd v) kk <-> exists us, concat us = kk /\ map numel us = map fst v).
Proof.
  intros v kk S Fm Fk N.
  assert (Pm : positives (map fst v)) by (eapply Forall_impl; [|exact Fm]; simpl; intros; lia).
  assert (Pk : positives kk) by (eapply Forall_impl; [|exact Fk]; simpl; intros; lia).
  split.
  - intros (tt & Lt & _ & H).
    destruct (across_little (rev (map fst v)) (rev (map snd v)) (rev kk) (rev tt)) as (us & C1 & C2).
    + apply Forall_rev; assumption.
    + apply Forall_rev; assumption.
    + rewrite !rev_length, !map_length; reflexivity.
    + rewrite !rev_length; assumption.
    + rewrite !numel_rev; congruence.
    + intros l Hl. rewrite rev_length, map_length in Hl.
      rewrite !rev_nth by (rewrite map_length; lia). rewrite !map_length.
      assert (NS : forall k, nth k (map snd v) 0 = snd (nth k v (0, 0))) by (intros; exact (map_nth snd v (0, 0) k)).
      assert (NF : forall k, nth k (map fst v) 0 = fst (nth k v (0, 0))) by (intros; exact (map_nth fst v (0, 0) k)).
      rewrite !NS, !NF.
      pose proof (separated_nth v S (length v - Datatypes.S (Datatypes.S l)) ltac:(lia)) as X.
      replace (Datatypes.S (length v - Datatypes.S (Datatypes.S l))) with (length v - Datatypes.S l)%nat in X by lia.
      exact X.
    + intros x X. rewrite numel_rev in X.
      rewrite !little_rev; try (apply positives_rev; assumption); try (rewrite !rev_length; try rewrite !map_length;
        congruence).
      rewrite !rev_involutive. apply H. assumption.
    + exists (rev (map (@rev Z) us)). split.
      * rewrite <- concat_rev, C1. apply rev_involutive.
      * rewrite map_rev, map_map. rewrite (map_ext _ numel) by apply numel_rev. rewrite C2. apply rev_involutive.
  - intros (us & C1 & C2). exists (blocks_strides (map snd v) us).
    assert (length (map snd v) = length us) by (rewrite map_length, <- (map_length fst), <- C2, map_length;
      reflexivity).
    subst kk. split; [apply blocks_strides_length; assumption|]. rewrite <- C2. apply blocks_same_order; assumption.
Qed.

(** Axes of one element are of no account, in the view and in the new shape. *)
Definition real_axes (v : list (Z * Z)) : list (Z * Z) := filter (fun a => negb (fst a =? 1)) v.
Definition real_sizes (kk : list Z) : list Z := filter (fun s => negb (s =? 1)) kk.

Lemma real_axes_order : forall v, positives (map fst v) ->
  same_order (map fst v) (map snd v) (map fst (real_axes v)) (map snd (real_axes v)).
Proof.
  intros v P. assert (N : forall w, numel (map fst (real_axes w)) = numel (map fst w)).
  { induction w as [|[k s] w IH]; simpl; [reflexivity|].
    destruct (Z.eqb_spec k 1); simpl; rewrite ?IH; [subst|]; lia. }
  split; [apply N|]. intros x _. induction v as [|[k s] v IH]; simpl; [reflexivity|].
  inversion P; subst. rewrite IH by assumption. destruct (Z.eqb_spec k 1); simpl.
  - subst. rewrite Z.mod_1_r. lia.
  - rewrite N. reflexivity.
Qed.

Lemma reshapable_real_sizes : forall ss st kk, positives kk -> numel kk = numel ss ->
  (reshapable ss st kk <-> reshapable ss st (real_sizes kk)).
Proof.
  intros ss st kk P N.
  assert (M : forall k, map fst (real_axes (combine k (map (fun _ => 0) k))) = real_sizes k).
  { induction k as [|s k IH]; simpl; [reflexivity|]. destruct (s =? 1); simpl; rewrite ?IH; reflexivity. }
  split.
  - intros (tt & L & H). set (w := combine kk tt).
    assert (E1 : map fst w = kk) by (unfold w; clear - L; revert tt L; induction kk; destruct tt; simpl; intros;
      try discriminate; auto; f_equal; apply IHkk; congruence).
    assert (E2 : map snd w = tt) by (unfold w; clear - L; revert tt L; induction kk; destruct tt; simpl; intros;
      try discriminate; auto; f_equal; apply IHkk; congruence).
    assert (E3 : map fst (real_axes w) = real_sizes kk).
    { rewrite <- E1. clearbody w. clear. unfold real_axes, real_sizes.
      induction w as [|[k s] w IH]; simpl; [reflexivity|].
      destruct (k =? 1); simpl; rewrite IH; reflexivity. }
    exists (map snd (real_axes w)). split; [rewrite <- E3, !map_length; reflexivity|].
    rewrite <- E3. eapply same_order_trans; [exact H|]. rewrite <- E1 at 1. rewrite <- E2. apply real_axes_order.
    rewrite E1. assumption.
  - intros (tt & L & H).
    (* Put a stride back for every axis of one element. *)
    assert (X : exists w, map fst w = kk /\ map fst (real_axes w) = real_sizes kk /\ map snd (real_axes w) = tt).
    { clear - L. revert tt L. induction kk as [|k kk IH]; simpl; intros tt L.
      - exists []. destruct tt; [auto|discriminate].
      - destruct (Z.eqb_spec k 1) as [->|E]; simpl in L.
        + destruct (IH tt L) as (w & W1 & W2 & W3). exists ((1, 0) :: w). simpl. rewrite W1. auto.
        + destruct tt as [|t tt]; [discriminate|]. destruct (IH tt ltac:(injection L; auto)) as (w & W1 & W2 & W3).
          exists ((k, t) :: w). simpl. rewrite (proj2 (Z.eqb_neq k 1) E). simpl. rewrite W1, W2, W3. auto. }
    destruct X as (w & W1 & W2 & W3). exists (map snd w). split; [rewrite <- W1, !map_length; reflexivity|].
    eapply same_order_trans; [exact H|]. apply same_order_sym. rewrite <- W1 at 1. rewrite <- W2, <- W3.
    apply real_axes_order. rewrite W1. assumption.
Qed.

Lemma real_at_least_2 : forall v, positives (map fst v) -> Forall (fun s => 2 <= s) (map fst (real_axes v)).
Proof.
  induction v as [|[k s] v IH]; simpl; intros P; [constructor|]. inversion P; subst.
  destruct (Z.eqb_spec k 1); simpl; [apply IH; assumption|]. constructor; [lia|apply IH; assumption].
Qed.

Lemma max_merge_at_least_2 : forall v, Forall (fun s => 2 <= s) (map fst v) -> Forall (fun s => 2 <= s) (map fst
  (max_merge v)).
Proof.
  induction v as [|[k s] v IH]; simpl; intros P; [constructor|]. inversion P; subst. specialize (IH H2).
  destruct (max_merge v) as [|[m t] r]; simpl in *; [constructor; assumption|]. inversion IH; subst.
  destruct (s =? t * m); simpl; constructor; try assumption. nia.
Qed.

(** The source's criterion, whole.  A view without mask and offset reshapes to a shape with the same number of elements
    exactly if the shape, without its sizes of 1, divides into blocks whose products are the sizes of the view's max
    merge view, taken without axes of one element. *)
Theorem new_view_criterion : forall v kk, positives (map fst v) -> positives kk -> numel kk = numel (map fst v) ->
  (mergeable (strided (map fst v) (map snd v) 0) (contiguous kk) <->
   exists us, concat us = real_sizes kk /\ map numel us = map fst (max_merge (real_axes v))).
Proof.
  intros v kk P Q N. rewrite <- reshapable_iff_mergeable by (auto; rewrite !map_length; reflexivity).
  rewrite reshapable_real_sizes by assumption.
  pose proof (real_axes_order v P) as O1.
  pose proof (real_at_least_2 v P) as R2.
  assert (P2 : positives (map fst (real_axes v))) by (eapply Forall_impl; [|exact R2]; simpl; intros; lia).
  pose proof (max_merge_same_order (real_axes v) P2) as O2.
  pose proof (same_order_trans _ _ _ _ _ _ O1 O2) as O.
  assert (NK : numel (real_sizes kk) = numel kk).
  { clear. induction kk as [|k kk IH]; simpl; [reflexivity|].
    destruct (Z.eqb_spec k 1); simpl; rewrite ?IH; [subst|]; lia. }
  rewrite <- across_blocks.
  - split; intros (tt & L & H); exists tt; (split; [assumption|]).
    + eapply same_order_trans; [apply same_order_sym, O|exact H].
    + eapply same_order_trans; [exact O|exact H].
  - apply max_merge_spec.
  - apply max_merge_at_least_2. assumption.
  - apply Forall_forall. intros s Hs. apply filter_In in Hs. destruct Hs as [Hs E].
    unfold positives in Q. rewrite Forall_forall in Q. specialize (Q s Hs).
    destruct (Z.eqb_spec s 1); [discriminate|lia].
  - rewrite NK, N. symmetry. apply O.
Qed.

(** The transposed (4, 6) splits its axes but does not join them. *)
Example criterion_splits : mergeable (strided [6; 4] [1; 6] 0) (contiguous [2; 3; 4]).
Proof.
  apply (new_view_criterion [(6, 1); (4, 6)] [2; 3; 4]); try (repeat constructor; lia).
  exists [[2; 3]; [4]]. split; reflexivity.
Qed.

(** ... because one axis of 24 does not divide into blocks of 6 and 4. *)
Example criterion_joins_not : ~ mergeable (strided [6; 4] [1; 6] 0) (contiguous [24]).
Proof.
  intros M. apply (new_view_criterion [(6, 1); (4, 6)] [24]) in M; try (repeat constructor; lia).
  destruct M as (us & C & D). destruct us as [|u [|w [|]]]; try discriminate. simpl in C, D.
  injection D; intros D2 D1. destruct u as [|x u]; [discriminate D1|]. injection C; intros C2 C1.
  apply app_eq_nil in C2. destruct C2 as [_ C2]. apply app_eq_nil in C2. destruct C2 as [-> _]. discriminate D2.
Qed.

(** Neighbours join from the innermost on; a permuted view keeps its boundary. *)
Example max_merge_example :
  max_merge [(2, 12); (3, 4); (4, 1)] = [(24, 1)] /\ max_merge [(4, 1); (2, 12); (3, 4)] = [(4, 1); (6, 4)].
Proof. split; reflexivity. Qed.
