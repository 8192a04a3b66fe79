(** The fast path: when is the quotient of a position affine on a box, and what does that say of the address? *)

From Coq Require Import ZArith Lia List Bool.
From Shapetracker Require Import View Criterion Overflow Equation Bounding Merge Exact.
Import ListNotations.
Open Scope Z_scope.

(** * The boundary test *)

(** How often the first step along each axis carries over a boundary at multiples of [P], from position [x] on. *)
Definition carries_at (P x : Z) (st : list Z) : list Z := map (fun a => (x + a) / P - x / P) st.

(** What is left of the strides when those carries are taken off. *)
Definition rests (P x : Z) (st : list Z) : list Z := map (fun a => a - P * ((x + a) / P - x / P)) st.

(** The most that strides move a number down, or up, on the way from the first corner of a box. *)
Fixpoint falls (st : list Z) (b : box) : Z :=
  match st, b with a :: st', r :: b' => Z.min 0 (a * (snd r - fst r - 1)) + falls st' b' | _, _ => 0 end.
Fixpoint rises (st : list Z) (b : box) : Z :=
  match st, b with a :: st', r :: b' => Z.max 0 (a * (snd r - fst r - 1)) + rises st' b' | _, _ => 0 end.

(** The boundary test: the remainder, moved by what is left of the strides, never leaves [0, P). *)
Definition boundary_test (P o : Z) (st : list Z) (b : box) : Prop :=
  let x := o + dot st (corner b) in
  0 <= x mod P + falls (rests P x st) b /\ x mod P + rises (rests P x st) b < P.

Lemma falls_low : forall st b, solid b -> falls st b = low_end st b - dot st (corner b).
Proof.
  induction st as [|a st IH]; destruct b as [|r b]; simpl; intros S; try lia. inversion S; subst.
  rewrite IH by assumption. destruct (Z.leb_spec 0 a).
  - rewrite Z.min_l by nia. lia.
  - rewrite Z.min_r by nia. lia.
Qed.

Lemma rises_high : forall st b, solid b -> rises st b = high_end st b - dot st (corner b).
Proof.
  induction st as [|a st IH]; destruct b as [|r b]; simpl; intros S; try lia. inversion S; subst.
  rewrite IH by assumption. destruct (Z.leb_spec 0 a).
  - rewrite Z.max_r by nia. lia.
  - rewrite Z.max_l by nia. lia.
Qed.

Lemma rests_dot : forall P x st i, dot (rests P x st) i = dot st i - P * dot (carries_at P x st) i.
Proof. induction st as [|a st IH]; destruct i as [|y i]; simpl; try lia. rewrite IH. ring. Qed.

(** The steps of an affine quotient are the carries of the first steps, on every axis that has one. *)
Lemma carries_are_steps : forall b P o st, solid b -> length st = length b ->
  even b (fun i => (o + dot st i) / P) ->
  forall i, inbox b i ->
  (o + dot st i) / P = (o + dot st (corner b)) / P
    + dot (carries_at P (o + dot st (corner b)) st) i - dot (carries_at P (o + dot st (corner b)) st) (corner b).
Proof.
  intros b P o st S L E i H. rewrite (even_affine _ _ S E i H).
  set (x := o + dot st (corner b)).
  assert (K : forall b' st' o' j, solid b' -> length st' = length b' -> inbox b' j -> o' + dot st' (corner b') = x ->
     dot (probe b' (fun i => (o' + dot st' i) / P)) j - dot (probe b' (fun i => (o' + dot st' i) / P)) (corner b')
     = dot (carries_at P x st') j - dot (carries_at P x st') (corner b')).
  { clearbody x. clear. induction b' as [|r b' IH]; destruct st' as [|a st']; intros o' j S L H X; try discriminate.
    - destruct j; [reflexivity|destruct H].
    - destruct j as [|y j]; [destruct H|]. destruct H as [H1 H2]. pose proof (Forall_inv_tail S) as H4. simpl in L, X.
      specialize (IH st' (o' + a * fst r) j H4 ltac:(congruence) H2 ltac:(lia)).
      assert (PE : probe b' (fun i => (o' + dot (a :: st') (fst r :: i)) / P) = probe b' (fun i => (o' + a * fst r +
        dot st' i) / P)).
      { apply probe_ext; [assumption|]. intros l _. simpl. rewrite !Z.add_assoc. reflexivity. }
      change (probe (r :: b') (fun i => (o' + dot (a :: st') i) / P)) with
        ((if fst r + 1 <? snd r then (o' + (a * (fst r + 1) + dot st' (corner b'))) / P - (o' + (a * fst r + dot st'
          (corner b'))) / P else 0)
         :: probe b' (fun i => (o' + dot (a :: st') (fst r :: i)) / P)).
      rewrite PE. cbn [dot corner map carries_at]. fold (corner b'). fold (carries_at P x st').
      replace (o' + (a * (fst r + 1) + dot st' (corner b'))) with (x + a) by lia.
      replace (o' + (a * fst r + dot st' (corner b'))) with x by lia.
      destruct (Z.ltb_spec (fst r + 1) (snd r)) as [N|N]; [nia|].
      assert (y = fst r) by lia. subst y. lia. }
  specialize (K b st o i S L H eq_refl). unfold x in *. lia.
Qed.

(** The boundary test is exact, in both directions, on any box that is not empty. *)
Theorem boundary_test_exact : forall P o st b, 0 < P -> solid b -> length st = length b ->
  (affine_on b (fun i => (o + dot st i) / P) <-> boundary_test P o st b).
Proof.
  intros P o st b HP S L. unfold boundary_test. set (x := o + dot st (corner b)).
  assert (Lr : length (rests P x st) = length b) by (unfold rests; rewrite map_length; assumption).
  rewrite falls_low, rises_high by assumption.
  pose proof (Z.div_mod x P ltac:(lia)) as D.
  split.
  - intros A. apply affine_iff_even in A; [|assumption].
    assert (Q : forall i, inbox b i -> 0 <= x mod P + dot (rests P x st) i - dot (rests P x st) (corner b) < P).
    { intros i H. pose proof (carries_are_steps b P o st S L A i H) as E. fold x in E.
      rewrite !rests_dot. pose proof (Z.div_mod (o + dot st i) P ltac:(lia)).
      pose proof (Z.mod_pos_bound (o + dot st i) P HP). unfold x in *. nia. }
    destruct (ends_reached _ _ S Lr) as [(i & Hi & Ei) (j & Hj & Ej)].
    pose proof (Q i Hi). pose proof (Q j Hj). lia.
  - intros [T1 T2]. exists (x / P - dot (carries_at P x st) (corner b)), (carries_at P x st).
    split; [unfold carries_at; rewrite map_length; assumption|]. intros i H.
    pose proof (ends_bound (rests P x st) b i H) as B. rewrite !rests_dot in *.
    symmetry. apply Z.div_unique with (x mod P + dot (rests P x st) i - dot (rests P x st) (corner b)).
    + rewrite !rests_dot. left. lia.
    + rewrite !rests_dot. unfold x in *. lia.
Qed.

(** * The address as a sum over boundaries *)

(** The boundaries between neighbouring digits: where carries happen, and how far a carry moves the address. *)
Fixpoint boundaries (ss st : list Z) : list (Z * Z) :=
  match ss, st with
  | _ :: ((s2 :: _) as r), t :: ((t2 :: _) as tr) => (numel r, t - s2 * t2) :: boundaries r tr
  | _, _ => []
  end.

Fixpoint jumps (l : list (Z * Z)) (x : Z) : Z :=
  match l with [] => 0 | (w, c) :: r => c * (x / w) + jumps r x end.

(** The address of a position is affine but for the carries over the boundaries. *)
Theorem address_by_boundaries : forall ss st x, positives ss -> length st = length ss -> 0 <= x < numel ss ->
  dot st (unravel ss x) = last st 0 * x + jumps (boundaries ss st) x.
Proof.
  assert (G : forall r tr s t x, positives (s :: r) -> length tr = length r ->
     t * (x / numel r) + dot tr (unravel r x) = last (t :: tr) 0 * x + jumps (boundaries (s :: r) (t :: tr)) x).
  { induction r as [|s2 r IH]; destruct tr as [|t2 tr]; intros s t x P L; try discriminate.
    - simpl. rewrite Z.div_1_r. lia.
    - inversion P as [|? ? P1 P2]; subst. inversion P2 as [|? ? P3 P4]; subst. pose proof (numel_pos r P4).
      change (last (t :: t2 :: tr) 0) with (last (t2 :: tr) 0).
      change (boundaries (s :: s2 :: r) (t :: t2 :: tr)) with ((numel (s2 :: r), t - s2 * t2) :: boundaries (s2 :: r)
        (t2 :: tr)).
      cbn [jumps]. specialize (IH tr s2 t2 x P2 ltac:(simpl in L; congruence)).
      cbn [unravel dot]. rewrite (Z.mod_eq (x / numel r) s2) by lia. rewrite Z.div_div by lia.
      cbn [numel]. rewrite (Z.mul_comm s2 (numel r)). nia. }
  intros [|s r] [|t tr] x P L X; try discriminate; [simpl in *; lia|].
  rewrite <- G by (auto; simpl in L; congruence). cbn [unravel dot]. f_equal. f_equal. inversion P; subst.
  pose proof (numel_pos r H2). simpl in X. apply Z.mod_small. split; [apply Z.div_pos; lia|].
  apply Z.div_lt_upper_bound; nia.
Qed.

(** * Even steps add up *)

Lemma even_ext : forall b F G, (forall i, inbox b i -> F i = G i) -> even b F -> even b G.
Proof. intros b F G H E l i j H1 H2 H3 H4. rewrite <- !H by assumption. apply (E l); assumption. Qed.

Lemma even_plus : forall b F G, even b F -> even b G -> even b (fun i => F i + G i).
Proof. intros b F G E1 E2 l i j H1 H2 H3 H4. pose proof (E1 l i j H1 H2 H3 H4). pose proof (E2 l i j H1 H2 H3 H4).
lia. Qed.

Lemma even_scale : forall b c F, even b F -> even b (fun i => c * F i).
Proof. intros b c F E l i j H1 H2 H3 H4. pose proof (E l i j H1 H2 H3 H4). nia. Qed.

Lemma even_dot : forall b st, length st = length b -> even b (fun i => dot st i).
Proof.
  intros b st L l i j H1 H2 H3 H4.
  rewrite !dot_bump by (rewrite L; symmetry; eapply inbox_length; eassumption). lia.
Qed.

Lemma even_const : forall b o, even b (fun _ => o).
Proof. intros b o l i j _ _ _ _. lia. Qed.

Lemma even_jumps : forall b o st l, solid b -> length st = length b ->
  (forall P c, In (P, c) l -> 0 < P) ->
  (forall P c, In (P, c) l -> c <> 0 -> boundary_test P o st b) -> even b (fun i => jumps l (o + dot st i)).
Proof.
  intros b o st l S L. induction l as [|[P c] l IH]; intros HP H; simpl; [apply even_const|].
  apply even_plus.
  - destruct (Z.eq_dec c 0) as [->|C]; [apply even_ext with (fun _ => 0); [reflexivity|apply even_const]|].
    apply even_scale. apply affine_iff_even; [assumption|]. apply boundary_test_exact; try assumption.
    + apply (HP P c). left; reflexivity.
    + apply (H P c); [left; reflexivity|assumption].
  - apply IH; intros; [eapply HP|eapply H]; simpl; eauto.
Qed.

Lemma boundaries_pos : forall ss st P c, positives ss -> In (P, c) (boundaries ss st) -> 0 < P.
Proof.
  induction ss as [|s [|s2 r] IH]; destruct st as [|t [|t2 tr]]; try (simpl; tauto).
  intros P c H I. inversion H; subst.
  change (In (P, c) ((numel (s2 :: r), t - s2 * t2) :: boundaries (s2 :: r) (t2 :: tr))) in I.
  destruct I as [I|I].
  - injection I; intros; subst. apply (numel_pos (s2 :: r)). assumption.
  - eapply IH; eassumption.
Qed.

Lemma jumps_app : forall l1 l2 x, jumps (l1 ++ l2) x = jumps l1 x + jumps l2 x.
Proof. induction l1 as [|[w c] l1 IH]; simpl; intros; [lia|]. rewrite IH. lia. Qed.

Section Pair.

Variables A B : view.
Hypothesis posA : positives (sizes A).
Variable b : box.
Hypothesis Sb : solid b.
Hypothesis Wb : within b (mask B).
Hypothesis inside : forall i, inbox b i -> 0 <= affine B i < numel (sizes A).

Let test (P : Z) : Prop := boundary_test P (offset B) (strides B) b.

Lemma stride_count : length (strides B) = length b.
Proof. rewrite (Forall2_length _ _ _ _ _ Wb). unfold strides, mask. rewrite !map_length. reflexivity. Qed.

Lemma address_sum : forall i, inbox b i ->
  address A B i = offset A + (last (strides A) 0 * affine B i + jumps (boundaries (sizes A) (strides A)) (affine B i)).
Proof.
  intros i H. unfold address, affine at 1. rewrite address_by_boundaries; auto.
  unfold strides, sizes. rewrite !map_length. reflexivity.
Qed.

(** If the test holds at every boundary where a carry moves the address, steps are even: no equation is needed. *)
Theorem fast_path_yes :
  (forall P c, In (P, c) (boundaries (sizes A) (strides A)) -> c <> 0 -> test P) -> even b (address A B).
Proof.
  intros H. eapply even_ext; [intros i Hi; symmetry; apply address_sum; exact Hi|].
  apply even_plus; [apply even_const|]. apply even_plus.
  - apply even_scale. unfold affine. apply even_plus; [apply even_const|apply even_dot, stride_count].
  - apply even_jumps; auto using stride_count. intros P c. apply boundaries_pos. assumption.
Qed.

(** If it fails at exactly one of them, steps are not even. *)
Theorem fast_path_no : forall l1 P c l2, boundaries (sizes A) (strides A) = l1 ++ (P, c) :: l2 -> c <> 0 -> ~ test P ->
  (forall P' c', In (P', c') (l1 ++ l2) -> c' <> 0 -> test P') -> ~ even b (address A B).
Proof.
  intros l1 P c l2 EQ C T H E. apply T.
  assert (HP : forall P' c', In (P', c') (l1 ++ (P, c) :: l2) -> 0 < P') by (intros P' c'; rewrite <- EQ;
    apply boundaries_pos; assumption).
  assert (0 < P) by (apply (HP P c); apply in_or_app; right; left; reflexivity).
  apply boundary_test_exact; auto using stride_count. apply affine_iff_even; [assumption|].
  (* c * quotient is what is left of the address when all else, which is even, is taken away. *)
  assert (K : even b (fun i => c * ((offset B + dot (strides B) i) / P))).
  { assert (R : even b (fun i => offset A + (last (strides A) 0 * affine B i + jumps (l1 ++ l2) (affine B i)))).
    { apply even_plus; [apply even_const|]. apply even_plus.
      - apply even_scale. unfold affine. apply even_plus; [apply even_const|apply even_dot, stride_count].
      - apply even_jumps; auto using stride_count. intros P' c' I. apply (HP P' c'). apply in_app_or in I.
        apply in_or_app. simpl; tauto. }
    eapply even_ext; [|exact (even_plus _ _ _ E (even_scale _ (-1) _ R))].
    intros i Hi. cbv beta. rewrite address_sum by assumption. rewrite EQ, !jumps_app. cbn [jumps]. fold (affine B i).
    ring. }
  intros l i j H1 H2 H3 H4. pose proof (K l i j H1 H2 H3 H4) as X. simpl in X. apply (Z.mul_reg_l _ _ c C). lia.
Qed.

End Pair.

(** * What that means for merging *)

(** Where what is read is a box, merging is evenness of the address on it. *)
Theorem mergeable_iff_even : forall A B b, wf A -> wf B -> solid b -> (forall i, reads A B i <-> inbox b i) ->
  (mergeable A B <-> even b (address A B)).
Proof.
  intros A B b wfA wfB S H.
  assert (V : forall i, inbox b i -> value (compose A B) i = address A B i).
  { intros i Hi. apply H in Hi. apply reads_iff in Hi. destruct Hi as [[LB V1] [LA V2]].
    unfold value. rewrite (composed_value A B LA LB) by assumption. reflexivity. }
  assert (W : within b (whole (sizes B))).
  { apply within_of_inbox; [assumption|]. intros i Hi. apply H in Hi. apply reads_iff in Hi.
    eapply valid_inside; [exact wfB|apply Hi]. }
  unfold mergeable. rewrite single_view_criterion by (apply wf_sizes; assumption). split.
  - intros [N|(c & Wc & Sc & Vc & E)].
    + exfalso. pose proof (corner_inbox b S) as C. apply (proj2 (H _) C). apply N. eapply inbox_within; eassumption.
    + assert (c = b).
      { apply solid_same; try assumption.
        - rewrite (within_length _ _ W), (within_length _ _ Wc). reflexivity.
        - intros i. rewrite <- H. split; intros X.
          + apply Vc; [exact (inbox_within _ _ _ Wc X)|assumption].
          + apply Vc; [|exact X]. apply H in X. exact (inbox_within _ _ _ W X). }
      subst c. eapply even_ext; [|exact E]. intros; apply V; assumption.
  - intros E. right. exists b. split; [assumption|]. split; [assumption|]. split; [intros i _; apply H|].
    eapply even_ext; [|exact E]. intros; symmetry; apply V; assumption.
Qed.

(** For a pair without masks: the test at all boundaries proves that it merges; one failure proves that it does not. *)
Theorem fast_path_full : forall A B, wf A -> wf B -> fits A B -> full A -> full B -> positives (sizes B) ->
  let test P := boundary_test P (offset B) (strides B) (mask B) in
  ((forall P c, In (P, c) (boundaries (sizes A) (strides A)) -> c <> 0 -> test P) -> mergeable A B) /\
  (forall l1 P c l2, boundaries (sizes A) (strides A) = l1 ++ (P, c) :: l2 -> c <> 0 -> ~ test P ->
     (forall P' c', In (P', c') (l1 ++ l2) -> c' <> 0 -> test P') -> ~ mergeable A B).
Proof.
  intros A B wfA wfB fit [LA FA] [LB FB] PB test.
  assert (S : solid (mask B)).
  { rewrite FB. unfold solid, whole. clear - PB. induction PB; simpl; constructor; auto. }
  assert (PA : positives (sizes A)).
  { apply positive_of_numel; [apply wf_sizes; assumption|]. pose proof (fit _ (conj LB (corner_inbox _ S))). lia. }
  assert (RD : forall i, reads A B i <-> inbox (mask B) i).
  { intros i. rewrite reads_iff. split; [intros [[_ X] _]; exact X|]. intros X. split; [split; assumption|].
    split; [assumption|].
    rewrite FA. apply unravel_inbox. assumption. }
  assert (IN : forall i, inbox (mask B) i -> 0 <= affine B i < numel (sizes A)) by (intros i Hi; apply fit; split;
    assumption).
  pose proof (mergeable_iff_even A B (mask B) wfA wfB S RD) as ME. split.
  - intros H. apply ME. apply fast_path_yes; auto using within_refl.
  - intros l1 P c l2 E C T H M. apply ME in M. revert M. eapply fast_path_no; eauto using within_refl.
Qed.

(** Both outcomes occur: a split of an axis passes, a join of axes that do not advance as one fails at one boundary. *)
Example fast_path_examples :
  boundary_test 6 0 [3; 1; 6] (whole [2; 3; 4]) /\ boundaries [4; 6] [1;
    4] = [(6, -23)] /\ ~ boundary_test 6 0 [1] (whole [24]).
Proof. unfold boundary_test. repeat split; vm_compute; intuition discriminate. Qed.
