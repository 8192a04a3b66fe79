(** Views, positions and composition: the words that everything else is said in.

    A view is a list of axes, outermost first, with an offset.  An axis has a size, a stride and a half-open range
    [lo, hi) of valid indices.  All numbers are unbounded integers. *)

From Coq Require Import ZArith Lia List Bool.
Import ListNotations.
Open Scope Z_scope.

(** * Boxes of indices *)

(** An index is a list of integers, one for each axis.  A box is a list of half-open ranges. *)
Definition index := list Z.
Notation range := (Z * Z)%type.
Definition box := list range.

(** An index lies in a box: as many entries as ranges, each entry in its range. *)
Fixpoint inbox (b : box) (i : index) : Prop :=
  match b, i with
  | [], [] => True
  | r :: b', x :: i' => fst r <= x < snd r /\ inbox b' i'
  | _, _ => False
  end.

Fixpoint inboxb (b : box) (i : index) : bool :=
  match b, i with
  | [], [] => true
  | r :: b', x :: i' => (fst r <=? x) && (x <? snd r) && inboxb b' i'
  | _, _ => false
  end.

(** The test for a box computes membership. *)
Lemma inboxb_iff : forall b i, inboxb b i = true <-> inbox b i.
Proof.
  induction b as [|r b IH]; destruct i as [|x i]; simpl; try (intuition congruence).
  rewrite !andb_true_iff, IH, Z.leb_le, Z.ltb_lt. tauto.
Qed.

Lemma inboxb_false : forall b i, inboxb b i = false <-> ~ inbox b i.
Proof.
  intros b i. rewrite <- inboxb_iff. destruct (inboxb b i); intuition congruence.
Qed.

(** The first corner of a box. *)
Definition corner (b : box) : index := map fst b.

(** A box with at least one value on every axis. *)
Definition solid (b : box) : Prop := Forall (fun r => fst r < snd r) b.

(** [b] has no range that leaves the one of [c]. *)
Definition within (b c : box) : Prop := Forall2 (fun r s => fst s <= fst r /\ snd r <= snd s) b c.

Lemma corner_inbox : forall b, solid b -> inbox b (corner b).
Proof.
  induction b as [|r b IH]; simpl; intros H; [exact I|].
  inversion H; subst. split; [lia|auto].
Qed.

Lemma inbox_within : forall b c i, within b c -> inbox b i -> inbox c i.
Proof.
  intros b c i W; revert i; induction W as [|r s b c [W1 W2] W IH]; destruct i; simpl; try tauto.
  intros [H1 H2]; split; [lia|auto].
Qed.

Lemma inbox_length : forall b i, inbox b i -> length i = length b.
Proof.
  induction b; destruct i; simpl; try tauto. intros [_ H]; f_equal; auto.
Qed.

(** Membership axis by axis. *)
Lemma inbox_nth : forall b i, inbox b i <->
  length i = length b /\
  forall l, (l < length b)%nat -> fst (nth l b (0, 0)) <= nth l i 0 < snd (nth l b (0, 0)).
Proof.
  induction b as [|r b IH]; destruct i as [|x i]; simpl.
  - split; [split; [reflexivity|intros; lia]|tauto].
  - split; [tauto|intros [H _]; discriminate].
  - split; [tauto|intros [H _]; discriminate].
  - rewrite IH. split.
    + intros [H1 [H2 H3]]; split; [congruence|].
      intros [|l] Hl; [lia|apply H3; lia].
    + intros [H1 H2]; split; [apply (H2 O); lia|].
      split; [congruence|]. intros l Hl; apply (H2 (S l)); lia.
Qed.

Lemma inbox_solid : forall b i, inbox b i -> solid b.
Proof.
  induction b as [|r b IH]; destruct i; simpl; try tauto; intros; constructor; [lia|].
  eapply IH; apply H.
Qed.

(** * Sums, sizes, positions *)

(** The sum of products of two lists. *)
Fixpoint dot (s i : list Z) : Z :=
  match s, i with
  | a :: s', x :: i' => a * x + dot s' i'
  | _, _ => 0
  end.

(** How many elements a shape has. *)
Fixpoint numel (ss : list Z) : Z :=
  match ss with [] => 1 | s :: r => s * numel r end.

(** The strides of the row-major view: of each axis the product of the later sizes. *)
Fixpoint row_major (ss : list Z) : list Z :=
  match ss with [] => [] | s :: r => numel r :: row_major r end.

(** The box of all indices of a shape. *)
Definition whole (ss : list Z) : box := map (fun s => (0, s)) ss.

(** The position of an index in row-major order. *)
Definition ravel (ss : list Z) (i : index) : Z := dot (row_major ss) i.

(** The mixed-radix digits of a position. *)
Fixpoint unravel (ss : list Z) (x : Z) : index :=
  match ss with [] => [] | s :: r => (x / numel r) mod s :: unravel r x end.

Definition positives (ss : list Z) : Prop := Forall (fun s => 0 < s) ss.

Lemma numel_pos : forall ss, positives ss -> 0 < numel ss.
Proof.
  induction 1; simpl; [lia|]. apply Z.mul_pos_pos; assumption.
Qed.

Lemma unravel_length : forall ss x, length (unravel ss x) = length ss.
Proof. induction ss; simpl; intros; congruence. Qed.

Lemma row_major_length : forall ss, length (row_major ss) = length ss.
Proof. induction ss; simpl; congruence. Qed.

(** Whole turns of a shape do not change digits. *)
Lemma unravel_turn : forall ss x k, positives ss -> unravel ss (x + k * numel ss) = unravel ss x.
Proof.
  induction ss as [|s r IH]; simpl; intros x k H; [reflexivity|].
  inversion H; subst. pose proof (numel_pos r H3).
  replace (x + k * (s * numel r)) with (x + (k * s) * numel r) by ring.
  rewrite IH by assumption. rewrite Z.div_add by lia. rewrite Z.mod_add by lia. reflexivity.
Qed.

Lemma unravel_mod : forall ss x, positives ss -> unravel ss (x mod numel ss) = unravel ss x.
Proof.
  intros ss x H. pose proof (numel_pos ss H).
  rewrite <- (unravel_turn ss (x mod numel ss) (x / numel ss) H). f_equal.
  rewrite (Z.div_mod x (numel ss)) at 3 by lia. ring.
Qed.

(** Digits lie in their sizes. *)
Theorem unravel_inbox : forall ss x, positives ss -> inbox (whole ss) (unravel ss x).
Proof.
  induction ss as [|s r IH]; simpl; intros x H; [exact I|].
  inversion H; subst. split; [apply Z.mod_pos_bound; assumption|]. apply IH; assumption.
Qed.

(** Positions of indices lie in the shape. *)
Theorem ravel_bounds : forall ss i, inbox (whole ss) i -> 0 <= ravel ss i < numel ss.
Proof.
  unfold ravel. induction ss as [|s r IH]; destruct i as [|x i]; simpl; try tauto; try lia.
  intros [H1 H2]. specialize (IH _ H2). nia.
Qed.

Lemma whole_positive : forall ss i, inbox (whole ss) i -> positives ss.
Proof.
  induction ss as [|s r IH]; destruct i; simpl; try tauto; intros; constructor; [lia|].
  eapply IH; apply H.
Qed.

(** Writing a position and reading it again: unravelling is a left inverse of row-major order. *)
Theorem unravel_ravel : forall ss i, inbox (whole ss) i -> unravel ss (ravel ss i) = i.
Proof.
  unfold ravel. induction ss as [|s r IH]; destruct i as [|x i]; simpl; try tauto.
  intros [H1 H2]. pose proof (ravel_bounds _ _ H2) as H3. unfold ravel in H3.
  f_equal.
  - rewrite Z.mul_comm, Z.div_add_l by lia. rewrite Z.div_small by lia. rewrite Z.add_0_r. apply Z.mod_small; lia.
  - rewrite Z.add_comm, Z.mul_comm. rewrite unravel_turn by (eapply whole_positive; eauto). apply IH; assumption.
Qed.

(** Digits add up to the position modulo the number of elements. *)
Lemma ravel_unravel_mod : forall ss x, positives ss -> ravel ss (unravel ss x) = x mod numel ss.
Proof.
  unfold ravel. induction ss as [|s r IH]; simpl; intros x H; [rewrite Z.mod_1_r; reflexivity|].
  inversion H; subst. pose proof (numel_pos r H3).
  rewrite IH by assumption. rewrite (Z.mul_comm s), Z.rem_mul_r by lia. ring.
Qed.

(** ... and a right inverse. *)
Theorem ravel_unravel : forall ss x, positives ss -> 0 <= x < numel ss -> ravel ss (unravel ss x) = x.
Proof. intros. rewrite ravel_unravel_mod by assumption. apply Z.mod_small; assumption. Qed.

(** The first source's example of unravelling. *)
Example unravel_example : unravel [2; 3; 4] 5 = [0; 1; 1] /\ ravel [2; 3; 4] [0; 1; 1] = 5.
Proof. split; reflexivity. Qed.

(** * Views *)

Record axis := Axis { size : Z; stride : Z; lo : Z; hi : Z }.

(** [live = false] says that nothing at all is valid.  It is there for rank 0, where no range can say so. *)
Record view := View { axes : list axis; offset : Z; live : bool }.

Definition sizes (v : view) : list Z := map size (axes v).
Definition strides (v : view) : list Z := map stride (axes v).
Definition mask (v : view) : box := map (fun a => (lo a, hi a)) (axes v).

(** A well-formed axis: its valid range lies within its size.  Size 0 is allowed. *)
Definition wf_axis (a : axis) : Prop := 0 <= lo a /\ lo a <= hi a /\ hi a <= size a.
Definition wf (v : view) : Prop := Forall wf_axis (axes v).

(** The address by the affine formula, valid or not. *)
Definition affine (v : view) (i : index) : Z := offset v + dot (strides v) i.

(** The valid indices of a view. *)
Definition valid (v : view) (i : index) : Prop := live v = true /\ inbox (mask v) i.
Definition validb (v : view) (i : index) : bool := live v && inboxb (mask v) i.

Lemma validb_iff : forall v i, validb v i = true <-> valid v i.
Proof. intros. unfold validb, valid. rewrite andb_true_iff, inboxb_iff. tauto. Qed.

Lemma validb_false : forall v i, validb v i = false <-> ~ valid v i.
Proof. intros. rewrite <- validb_iff. destruct (validb v i); intuition congruence. Qed.

(** What a view reads at an index: an address, or nothing. *)
Definition read (v : view) (i : index) : option Z := if validb v i then Some (affine v i) else None.

Lemma read_valid : forall v i, valid v i -> read v i = Some (affine v i).
Proof. intros v i H. unfold read. rewrite (proj2 (validb_iff v i) H). reflexivity. Qed.

Lemma read_invalid : forall v i, ~ valid v i -> read v i = None.
Proof. intros v i H. unfold read. rewrite (proj2 (validb_false v i) H). reflexivity. Qed.

(** A pair of views: an index enters [B]; the address that it reads is unravelled in the shape of [A] and enters
    [A], which is next to memory. *)
Definition compose (A B : view) (i : index) : option Z :=
  match read B i with
  | Some x => read A (unravel (sizes A) x)
  | None => None
  end.

(** [B] reads inside [A]: every address that it yields is a position of [A]. *)
Definition fits (A B : view) : Prop := forall i, valid B i -> 0 <= affine B i < numel (sizes A).

(** [C] is the map [f] on the indices of a shape. *)
Definition is_view (ss : list Z) (f : index -> option Z) (C : view) : Prop :=
  wf C /\ sizes C = ss /\ forall i, inbox (whole ss) i -> read C i = f i.

(** The map [f] on a shape is a single view. *)
Definition single_view (ss : list Z) (f : index -> option Z) : Prop := exists C, is_view ss f C.

(** The pair is mergeable: some single view of [B]'s shape does what [A] and [B] do. *)
Definition mergeable (A B : view) : Prop := single_view (sizes B) (compose A B).

(** Indices outside the shape are invalid, so the shape needs no mention where validity is known. *)
Lemma mask_within_whole : forall v, wf v -> within (mask v) (whole (sizes v)).
Proof.
  intros v H. unfold wf, mask, whole, sizes in *. induction H; simpl; constructor; auto.
  unfold wf_axis in H; simpl; lia.
Qed.

Lemma valid_inside : forall v i, wf v -> valid v i -> inbox (whole (sizes v)) i.
Proof. intros v i H [_ V]. eapply inbox_within; [apply mask_within_whole; exact H|exact V]. Qed.

(** A view with everything valid. *)
Definition full (v : view) : Prop := live v = true /\ mask v = whole (sizes v).

(** The view of a shape with given strides and no mask, and the row-major one. *)
Definition strided (ss st : list Z) (o : Z) : view :=
  View (map (fun p => Axis (fst p) (snd p) 0 (fst p)) (combine ss st)) o true.
Definition contiguous (ss : list Z) : view := strided ss (row_major ss) 0.

Lemma strided_sizes : forall ss st o, length st = length ss -> sizes (strided ss st o) = ss.
Proof.
  unfold sizes, strided; simpl. induction ss; destruct st; simpl; intros; try discriminate; [reflexivity|].
  f_equal. apply (IHss st o). congruence.
Qed.

Lemma strided_strides : forall ss st o, length st = length ss -> strides (strided ss st o) = st.
Proof.
  unfold strides, strided; simpl. induction ss; destruct st; simpl; intros; try discriminate; [reflexivity|].
  f_equal. apply (IHss st o). congruence.
Qed.

Lemma strided_mask : forall ss st o, length st = length ss -> mask (strided ss st o) = whole ss.
Proof.
  unfold mask, whole, strided; simpl. induction ss; destruct st; simpl; intros; try discriminate; [reflexivity|].
  f_equal. apply (IHss st o). congruence.
Qed.

Lemma strided_wf : forall ss st o, Forall (fun s => 0 <= s) ss -> wf (strided ss st o).
Proof.
  unfold wf, strided; simpl. intros ss st o H; revert st. induction H; destruct st; simpl; constructor; auto.
  unfold wf_axis; simpl; lia.
Qed.

Lemma contiguous_sizes : forall ss, sizes (contiguous ss) = ss.
Proof. intros. apply strided_sizes, row_major_length. Qed.

Lemma contiguous_affine : forall ss i, affine (contiguous ss) i = ravel ss i.
Proof.
  intros. unfold affine, contiguous. rewrite strided_strides by apply row_major_length. simpl. reflexivity.
Qed.

Lemma contiguous_valid : forall ss i, valid (contiguous ss) i <-> inbox (whole ss) i.
Proof.
  intros. unfold valid, contiguous. rewrite strided_mask by apply row_major_length. simpl. tauto.
Qed.

(** Row-major views read every position of their shape once: [B = contiguous] is a reshape. *)
Theorem contiguous_read : forall ss i, inbox (whole ss) i -> read (contiguous ss) i = Some (ravel ss i).
Proof. intros. rewrite read_valid by (apply contiguous_valid; assumption). rewrite contiguous_affine. reflexivity. Qed.

(** The row-major view is neutral: nothing changes when a map passes through it. *)
Theorem contiguous_neutral : forall A, wf A ->
  forall i, inbox (whole (sizes A)) i -> compose A (contiguous (sizes A)) i = read A i.
Proof.
  intros A HA i H. unfold compose. rewrite contiguous_read by assumption. rewrite unravel_ravel by assumption.
  reflexivity.
Qed.

(** * Canonical views *)

(** The one canonical view of a shape with nothing valid. *)
Definition nothing (ss : list Z) : view := View (map (fun s => Axis s 0 0 0) ss) 0 false.

(** An axis with one valid index has stride 0; a view with nothing valid is [nothing]. *)
Definition canonical (v : view) : Prop :=
  v = nothing (sizes v) \/
  (live v = true /\ Forall (fun a => lo a < hi a /\ (hi a = lo a + 1 -> stride a = 0)) (axes v)).

Lemma nothing_sizes : forall ss, sizes (nothing ss) = ss.
Proof. unfold sizes, nothing; simpl. induction ss; simpl; congruence. Qed.

Lemma nothing_wf : forall ss, Forall (fun s => 0 <= s) ss -> wf (nothing ss).
Proof. unfold wf, nothing; simpl. induction 1; simpl; constructor; auto. unfold wf_axis; simpl; lia. Qed.

Lemma nothing_read : forall ss i, read (nothing ss) i = None.
Proof. reflexivity. Qed.

Lemma wf_sizes : forall v, wf v -> Forall (fun s => 0 <= s) (sizes v).
Proof. unfold wf, sizes. intros v H. induction H; simpl; constructor; auto. unfold wf_axis in H; lia. Qed.
