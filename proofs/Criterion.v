(** When is a partial map of indices a single view?  When its valid set is a box and unit steps are even on it. *)

From Coq Require Import ZArith Lia List Bool.
From Shapetracker Require Import View.
Import ListNotations.
Open Scope Z_scope.

(** * Unit steps *)

(** One step along axis [l].  Past the last axis nothing happens. *)
Fixpoint bump (l : nat) (i : index) : index :=
  match i, l with
  | [], _ => []
  | x :: r, O => x + 1 :: r
  | x :: r, S l' => x :: bump l' r
  end.

Lemma bump_length : forall l i, length (bump l i) = length i.
Proof. intros l i; revert l; induction i; destruct l; simpl; auto. Qed.

Lemma bump_past : forall i l, (length i <= l)%nat -> bump l i = i.
Proof. induction i; destruct l; simpl; intros; try lia; auto. f_equal; apply IHi; lia. Qed.

Lemma dot_bump : forall s i l, length s = length i -> dot s (bump l i) = dot s i + nth l s 0.
Proof.
  induction s; destruct i; destruct l; simpl; intros; try discriminate; try lia.
  rewrite IHs by congruence. lia.
Qed.

Lemma bump_nth : forall i l k, (l < length i)%nat ->
  nth k (bump l i) 0 = nth k i 0 + (if Nat.eqb k l then 1 else 0).
Proof.
  induction i; destruct l; destruct k; simpl; intros; try lia. apply IHi; lia.
Qed.

(** Along axis [l] all unit steps inside the box move the value of [F] by the same amount. *)
Definition even_along (b : box) (F : index -> Z) (l : nat) : Prop :=
  forall i j, inbox b i -> inbox b (bump l i) -> inbox b j -> inbox b (bump l j) ->
  F (bump l i) - F i = F (bump l j) - F j.

Definition even (b : box) (F : index -> Z) : Prop := forall l, even_along b F l.

(** [F] is affine on a box. *)
Definition affine_on (b : box) (F : index -> Z) : Prop :=
  exists o s, length s = length b /\ forall i, inbox b i -> F i = o + dot s i.

(** Strides are read off by probing: the step from the first corner along each axis, 0 where there is none. *)
Fixpoint probe (b : box) (F : index -> Z) : list Z :=
  match b with
  | [] => []
  | r :: b' =>
      (if fst r + 1 <? snd r then F (fst r + 1 :: corner b') - F (fst r :: corner b') else 0)
      :: probe b' (fun i => F (fst r :: i))
  end.

Lemma probe_length : forall b F, length (probe b F) = length b.
Proof. induction b; simpl; intros; congruence. Qed.

Lemma probe_ext : forall b F G, solid b ->
  (forall l, inbox b (bump l (corner b)) -> F (bump l (corner b)) - F (corner b) = G (bump l (corner b)) - G (corner
    b)) ->
  probe b F = probe b G.
Proof.
  induction b as [|r b IH]; simpl; intros F G S H; [reflexivity|].
  inversion S; subst. f_equal.
  - destruct (Z.ltb_spec (fst r + 1) (snd r)); [|reflexivity].
    apply (H O). simpl. split; [lia|apply corner_inbox; assumption].
  - apply IH; [assumption|]. intros l Hl. apply (H (Datatypes.S l)). simpl. split; [lia|assumption].
Qed.

Lemma even_tail : forall r b F x, even (r :: b) F -> fst r <= x < snd r -> even b (fun i => F (x :: i)).
Proof.
  intros r b F x E Hx l i j H1 H2 H3 H4. apply (E (S l) (x :: i) (x :: j)); simpl; auto.
Qed.

(** A map with even steps is the affine map through its probes. *)
Lemma even_affine : forall b F, solid b -> even b F ->
  forall i, inbox b i -> F i = F (corner b) - dot (probe b F) (corner b) + dot (probe b F) i.
Proof.
  induction b as [|r b IH]; intros F S E i H.
  - destruct i; simpl in *; [lia|tauto].
  - destruct i as [|x i]; [simpl in H; tauto|]. destruct H as [Hx Hi].
    inversion S; subst.
    pose proof (corner_inbox b H2) as Hc.
    set (g := fun y => F (y :: corner b)).
    assert (Hline : forall n, (0 <= n)%Z -> fst r + n < snd r ->
              g (fst r + n) = g (fst r) + n * (if fst r + 1 <? snd r then g (fst r + 1) - g (fst r) else 0)).
    { intros n Hn. pattern n. apply natlike_ind; [| |assumption].
      - intros _. rewrite Z.add_0_r. lia.
      - intros m Hm IHm Hlt. unfold Z.succ in *. specialize (IHm ltac:(lia)).
        assert (Hst : g (fst r + (m + 1)) - g (fst r + m) = g (fst r + 1) - g (fst r)).
        { replace (fst r + (m + 1)) with (fst r + m + 1) by lia.
          apply (E O (fst r + m :: corner b) (fst r :: corner b)); simpl; split; auto; lia. }
        destruct (Z.ltb_spec (fst r + 1) (snd r)); [|lia]. lia. }
    specialize (Hline (x - fst r) ltac:(lia) ltac:(lia)).
    replace (fst r + (x - fst r)) with x in Hline by lia.
    pose proof (IH (fun i => F (x :: i)) H2 (even_tail _ _ _ _ E Hx) i Hi) as H3. simpl in H3.
    assert (P : probe b (fun i => F (x :: i)) = probe b (fun i => F (fst r :: i))).
    { apply probe_ext; [assumption|]. intros l Hl.
      apply (E (Datatypes.S l) (x :: corner b) (fst r :: corner b)); simpl; split; auto; lia. }
    rewrite P in H3. simpl. unfold g in Hline. lia.
Qed.

(** A map is affine on a box exactly if its unit steps are even there. *)
Theorem affine_iff_even : forall b F, solid b -> (affine_on b F <-> even b F).
Proof.
  intros b F S; split.
  - intros (o & s & Hl & H) l i j Hi Hi' Hj Hj'.
    rewrite (H _ Hi), (H _ Hi'), (H _ Hj), (H _ Hj').
    rewrite !dot_bump by (rewrite Hl; symmetry; eapply inbox_length; eassumption). lia.
  - intros E. exists (F (corner b) - dot (probe b F) (corner b)), (probe b F). split; [apply probe_length|].
    intros i Hi. apply even_affine; assumption.
Qed.

(** * The view of a map that is affine on its box of valid indices *)

Fixpoint join (ss st : list Z) (b : box) : list axis :=
  match ss, st, b with
  | s :: ss', t :: st', r :: b' => Axis s t (fst r) (snd r) :: join ss' st' b'
  | _, _, _ => []
  end.

(** The view with valid box [b] whose strides and offset are those that [F] shows at the first corner. *)
Definition assemble (ss : list Z) (b : box) (F : index -> Z) : view :=
  View (join ss (probe b F) b) (F (corner b) - dot (probe b F) (corner b)) true.

Lemma join_sizes : forall ss st b, length st = length ss -> length b = length ss -> map size (join ss st b) = ss.
Proof. induction ss; destruct st, b; simpl; intros; try discriminate; auto. f_equal; apply IHss; congruence. Qed.

Lemma join_strides : forall ss st b, length st = length ss -> length b = length ss -> map stride (join ss st b) = st.
Proof. induction ss; destruct st, b; simpl; intros; try discriminate; auto. f_equal; apply IHss; congruence. Qed.

Lemma join_mask : forall ss st b, length st = length ss -> length b = length ss ->
  map (fun a => (lo a, hi a)) (join ss st b) = b.
Proof.
  induction ss; destruct st, b as [|[u v] b]; simpl; intros; try discriminate; auto. f_equal; apply IHss; congruence.
Qed.

Lemma join_wf : forall ss st b, within b (whole ss) -> solid b -> length st = length ss -> Forall wf_axis (join ss st
  b).
Proof.
  induction ss; intros st b W S L; inversion W; subst; simpl; destruct st; try discriminate; constructor.
  - inversion S; subst. simpl in *. unfold wf_axis; simpl; lia.
  - inversion S; subst. apply IHss; auto.
Qed.

Lemma Forall2_length : forall (X Y : Type) (P : X -> Y -> Prop) u v, Forall2 P u v -> length u = length v.
Proof. induction 1; simpl; congruence. Qed.

Lemma within_length : forall b ss, within b (whole ss) -> length b = length ss.
Proof.
  intros b ss W. unfold within in W. apply Forall2_length in W. unfold whole in W. rewrite map_length in W. assumption.
Qed.

Lemma assemble_sizes : forall ss b F, within b (whole ss) -> sizes (assemble ss b F) = ss.
Proof.
  intros ss b F W. apply within_length in W. unfold sizes, assemble; simpl.
  apply join_sizes; rewrite ?probe_length; auto.
Qed.

Lemma assemble_mask : forall ss b F, within b (whole ss) -> mask (assemble ss b F) = b.
Proof.
  intros ss b F W. apply within_length in W. unfold mask, assemble; simpl. apply join_mask; rewrite ?probe_length; auto.
Qed.

Lemma assemble_strides : forall ss b F, within b (whole ss) -> strides (assemble ss b F) = probe b F.
Proof.
  intros ss b F W. apply within_length in W. unfold strides, assemble; simpl.
  apply join_strides; rewrite ?probe_length; auto.
Qed.

(** The assembled view is well-formed and canonical. *)
Lemma assemble_wf : forall ss b F, within b (whole ss) -> solid b -> wf (assemble ss b F).
Proof.
  intros ss b F W S. unfold wf, assemble; simpl. apply join_wf; auto. rewrite probe_length.
  apply within_length; assumption.
Qed.

Lemma assemble_canonical : forall ss b F, within b (whole ss) -> solid b -> canonical (assemble ss b F).
Proof.
  intros ss b F W S. right. split; [reflexivity|]. unfold assemble; simpl. clear - S.
  revert b F S. induction ss; destruct b as [|r b]; simpl; intros F S; constructor.
  - simpl. inversion S; subst. split; [assumption|]. intros E.
    destruct (Z.ltb_spec (fst r + 1) (snd r)); [lia|reflexivity].
  - inversion S; subst. apply (IHss b (fun i => F (fst r :: i))); assumption.
Qed.

(** Where steps are even the assembled view reads what [F] says. *)
Lemma assemble_read : forall ss b F i, within b (whole ss) -> solid b -> even b F ->
  read (assemble ss b F) i = if inboxb b i then Some (F i) else None.
Proof.
  intros ss b F i W S E. unfold read, validb. rewrite assemble_mask by assumption. simpl.
  destruct (inboxb b i) eqn:H; [|reflexivity]. apply inboxb_iff in H.
  unfold affine. rewrite assemble_strides by assumption. simpl. f_equal. symmetry. apply even_affine; assumption.
Qed.

(** The value of a partial map, 0 where there is none. *)
Definition value (f : index -> option Z) (i : index) : Z := match f i with Some x => x | None => 0 end.

(** The single-view criterion.  A partial map on a shape is a single view exactly if nothing is valid, or if its valid
    indices are a box and its unit steps are even on that box. *)
Theorem single_view_criterion : forall ss f, Forall (fun s => 0 <= s) ss ->
  (single_view ss f <->
   (forall i, inbox (whole ss) i -> f i = None) \/
   (exists b, within b (whole ss) /\ solid b /\
      (forall i, inbox (whole ss) i -> (f i <> None <-> inbox b i)) /\ even b (value f))).
Proof.
  intros ss f Hs. split.
  - intros (C & W & Z & R). subst ss.
    destruct (live C) eqn:L.
    + destruct (Forall_dec (fun r : range => fst r < snd r) (fun r => Z_lt_dec (fst r) (snd r)) (mask C)) as [S|S].
      * right. exists (mask C). split; [apply mask_within_whole; assumption|]. split; [exact S|].
        assert (V : forall i, inbox (mask C) i -> f i = Some (affine C i)).
        { intros i H. rewrite <- R by (eapply inbox_within; [apply mask_within_whole|]; eassumption).
          apply read_valid. split; assumption. }
        split.
        { intros i H. split; intros Q.
          - destruct (inboxb (mask C) i) eqn:B; [apply inboxb_iff; assumption|].
            exfalso. apply Q. rewrite <- R by assumption. apply read_invalid. intros [_ X]. apply inboxb_iff in X.
            congruence.
          - rewrite V by assumption. discriminate. }
        apply affine_iff_even; [exact S|]. exists (offset C), (strides C). split.
        { unfold strides, mask. rewrite !map_length. reflexivity. }
        intros i H. unfold value. rewrite V by assumption. reflexivity.
      * left. intros i H. rewrite <- R by assumption. apply read_invalid. intros [_ X]. apply S.
        apply inbox_solid with i. exact X.
    + left. intros i H. rewrite <- R by assumption. apply read_invalid. intros [X _]. congruence.
  - intros [N|(b & W & S & V & E)].
    + exists (nothing ss). split; [apply nothing_wf; assumption|]. split; [apply nothing_sizes|].
      intros i H. rewrite N by assumption. apply nothing_read.
    + exists (assemble ss b (value f)). split; [apply assemble_wf; assumption|].
      split; [apply assemble_sizes; assumption|].
      intros i H. rewrite assemble_read by assumption. specialize (V i H).
      destruct (inboxb b i) eqn:B.
      * apply inboxb_iff in B. apply V in B. unfold value. destruct (f i); congruence.
      * apply inboxb_false in B. destruct (f i) as [z|]; [|reflexivity]. exfalso. apply B, V. discriminate.
Qed.

(** Both directions on small maps: one valid index is a single view, two with a hole between them are not. *)
Example criterion_yes : single_view [3] (fun i => match i with [1] => Some 7 | _ => None end).
Proof.
  exists (View [Axis 3 0 1 2] 7 true). split; [repeat constructor; simpl; lia|]. split; [reflexivity|].
  intros [|x [|y i]]; simpl; try tauto. intros [H _].
  assert (x = 0 \/ x = 1 \/ x = 2) as [->|[->| ->]] by lia; reflexivity.
Qed.

(** ... and the hole. *)
Example criterion_no : ~ single_view [3] (fun i => match i with [1] => None | _ => Some 7 end).
Proof.
  rewrite single_view_criterion by (repeat constructor; lia). intros [H|(b & W & S & V & E)].
  - assert (X : inbox (whole [3]) [0]) by (simpl; lia). specialize (H [0] X). discriminate H.
  - assert (V0 : inbox b [0]) by (apply (proj1 (V [0] ltac:(simpl; lia))); intros X; discriminate X).
    assert (V2 : inbox b [2]) by (apply (proj1 (V [2] ltac:(simpl; lia))); intros X; discriminate X).
    apply (proj2 (V [1] ltac:(simpl; lia))); [|reflexivity].
    destruct b as [|r [|q b]]; simpl in *; try tauto. lia.
Qed.

(** * Canonical forms are unique *)

Lemma solid_mask_canonical : forall v, live v = true ->
  Forall (fun a => lo a < hi a /\ (hi a = lo a + 1 -> stride a = 0)) (axes v) -> solid (mask v).
Proof. intros v _ H. unfold solid, mask. induction H; simpl; constructor; auto. simpl; tauto. Qed.

Lemma solid_same : forall b c, length b = length c -> solid b -> solid c ->
  (forall i, inbox b i <-> inbox c i) -> b = c.
Proof.
  induction b as [|[u v] b IH]; destruct c as [|[u' v'] c]; simpl; intros L Sb Sc H; try discriminate; [reflexivity|].
  inversion Sb as [|? ? B1 B2]; inversion Sc as [|? ? C1 C2]; subst; simpl in *.
  pose proof (corner_inbox b B2) as Hb. pose proof (corner_inbox c C2) as Hc.
  assert (forall x, u <= x < v <-> u' <= x < v').
  { intros x. split; intros X.
    - destruct (proj1 (H (x :: corner b))); simpl; auto.
    - destruct (proj2 (H (x :: corner c))); simpl; auto. }
  assert (u = u' /\ v = v') as [-> ->].
  { pose proof (proj1 (H0 u) ltac:(lia)). pose proof (proj1 (H0 (v - 1)) ltac:(lia)).
    pose proof (proj2 (H0 u') ltac:(lia)). pose proof (proj2 (H0 (v' - 1)) ltac:(lia)). lia. }
  f_equal. apply IH; auto. intros i. split; intros X.
  - destruct (proj1 (H (u' :: i))); simpl; auto. split; [lia|assumption].
  - destruct (proj2 (H (u' :: i))); simpl; auto. split; [lia|assumption].
Qed.

(** Affine maps that agree on a box, with stride 0 where the box is one index wide, have the same strides. *)
Lemma affine_unique : forall b s t o p, solid b -> length s = length b -> length t = length b ->
  (forall l, fst (nth l b (0, 0)) + 1 = snd (nth l b (0, 0)) -> nth l s 0 = 0 /\ nth l t 0 = 0) ->
  (forall i, inbox b i -> o + dot s i = p + dot t i) -> s = t.
Proof.
  induction b as [|r b IH]; destruct s as [|a s], t as [|a' t]; simpl; intros o p S Ls Lt Z H; try discriminate;
    [reflexivity|].
  inversion S; subst. pose proof (corner_inbox b H3) as Hc.
  assert (a = a').
  { destruct (Z.eq_dec (fst r + 1) (snd r)) as [E|E].
    - destruct (Z O E) as [-> ->]. reflexivity.
    - pose proof (H (fst r :: corner b) ltac:(simpl; split; [lia|assumption])) as X.
      pose proof (H (fst r + 1 :: corner b) ltac:(simpl; split; [lia|assumption])) as Y. simpl in *. lia. }
  subst a'. f_equal. apply (IH s t (o + a * fst r) (p + a * fst r)); auto.
  - intros l E. apply (Z (Datatypes.S l)). exact E.
  - intros i Hi. pose proof (H (fst r :: i) ltac:(simpl; split; [lia|assumption])) as X. simpl in X. lia.
Qed.

Lemma axes_equal : forall v w : list axis, map size v = map size w -> map stride v = map stride w ->
  map (fun a => (lo a, hi a)) v = map (fun a => (lo a, hi a)) w -> v = w.
Proof.
  induction v as [|[] v IH]; destruct w as [|[] w]; simpl; intros H1 H2 H3; try discriminate; [reflexivity|].
  injection H1; injection H2; injection H3; intros; subst. f_equal. apply IH; assumption.
Qed.

(** Two canonical views of one shape that read the same everywhere are the same view. *)
Theorem canonical_unique : forall v w, wf v -> wf w -> canonical v -> canonical w -> sizes v = sizes w ->
  (forall i, inbox (whole (sizes v)) i -> read v i = read w i) -> v = w.
Proof.
  intros v w Wv Ww Cv Cw Z R.
  assert (V : forall i, valid v i <-> valid w i).
  { intros i. split; intros X.
    - pose proof (valid_inside _ _ Wv X) as I. specialize (R i I). rewrite (read_valid _ _ X) in R.
      apply validb_iff. unfold read in R. destruct (validb w i); congruence.
    - pose proof (valid_inside _ _ Ww X) as I. rewrite <- Z in I. specialize (R i I). rewrite (read_valid w _ X) in R.
      apply validb_iff. unfold read in R. destruct (validb v i); congruence. }
  assert (NN : forall v, live v = true -> Forall (fun a => lo a < hi a /\ (hi a = lo a + 1 -> stride a = 0)) (axes v) ->
               valid v (corner (mask v))).
  { intros u L F. split; [assumption|]. apply corner_inbox. apply solid_mask_canonical; assumption. }
  destruct Cv as [Cv|[Lv Fv]], Cw as [Cw|[Lw Fw]].
  - rewrite Cv, Cw, Z. reflexivity.
  - exfalso. pose proof (NN _ Lw Fw) as X. apply V in X. rewrite Cv in X. destruct X as [X _]. discriminate.
  - exfalso. pose proof (NN _ Lv Fv) as X. apply V in X. rewrite Cw in X. destruct X as [X _]. discriminate.
  - pose proof (solid_mask_canonical _ Lv Fv) as Sv. pose proof (solid_mask_canonical _ Lw Fw) as Sw.
    assert (Ln : length (axes v) = length (axes w)) by (unfold sizes in Z; apply (f_equal (@length _)) in Z;
      rewrite !map_length in Z; exact Z).
    assert (M : mask v = mask w).
    { apply solid_same; auto.
      - unfold mask; rewrite !map_length; exact Ln.
      - intros i. specialize (V i). unfold valid in V. rewrite Lv, Lw in V. tauto. }
    assert (A : forall i, inbox (mask v) i -> affine v i = affine w i).
    { intros i X. assert (X' : valid v i) by (split; assumption).
      pose proof (R i (valid_inside _ _ Wv X')) as Y.
      rewrite (read_valid _ _ X'), (read_valid w i) in Y by (apply V; assumption). congruence. }
    assert (T : strides v = strides w).
    { apply (affine_unique (mask v) _ _ (offset v) (offset w)); auto.
      - unfold strides, mask; rewrite !map_length; reflexivity.
      - unfold strides, mask; rewrite !map_length; congruence.
      - assert (Q : forall u l, Forall (fun a => lo a < hi a /\ (hi a = lo a + 1 -> stride a = 0)) u ->
            fst (nth l (map (fun a => (lo a, hi a)) u) (0, 0)) + 1 = snd (nth l (map (fun a => (lo a, hi a)) u) (0,
              0)) ->
            nth l (map stride u) 0 = 0).
        { intros u l F; revert l. induction F as [|x u [F1 F2] F IH]; intros [|l]; simpl; intros; auto. }
        intros l E. split; [apply (Q _ l Fv E)|]. rewrite M in E. apply (Q _ l Fw E). }
    destruct v as [xv ov lv], w as [xw ow lw]; simpl in *. subst lv lw.
    assert (xv = xw) by (apply axes_equal; assumption). subst xw. f_equal.
    assert (X : inbox (mask (View xv ov true)) (corner (mask (View xv ov true)))) by (apply corner_inbox; assumption).
    specialize (A _ X). unfold affine in A; simpl in A. unfold strides in A; simpl in A. lia.
Qed.

(** Of two ways to write one map only one is canonical: an axis with one valid index has stride 0. *)
Example canonical_example :
  let v := View [Axis 3 0 1 2] 7 true in let w := View [Axis 3 5 1 2] 2 true in
  wf v /\ wf w /\ canonical v /\ ~ canonical w /\ read v [1] = read w [1] /\ read v [0] = read w [0].
Proof.
  intros v w. split; [repeat constructor; simpl; lia|]. split; [repeat constructor; simpl; lia|].
  split; [right; split; [reflexivity|repeat constructor; simpl; lia]|]. split; [|split; reflexivity].
  intros [H|[_ H]]; [discriminate|]. inversion H; subst. simpl in *. lia.
Qed.
