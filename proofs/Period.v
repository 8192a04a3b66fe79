(** Weights and strides that are numbers, sizes and jumps that are names: one period of every axis shows all carries. *)

From Coq Require Import ZArith Znumtheory Lia List Bool.
From Shapetracker Require Import View Criterion Overflow Equation Bounding Merge Exact UitDeBos FastPath FirstCarry
  Quotient SubSums.
Import ListNotations.
Open Scope Z_scope.

(** After how many steps of [a] a position is where it was, but for multiples of [W]. *)
Definition period (W a : Z) : Z := W / Z.gcd a W.

Lemma period_turns : forall W a, 0 < W -> 0 < period W a /\ (W | a * period W a).
Proof.
  intros W a HW. unfold period. pose proof (Z.gcd_nonneg a W) as G0.
  destruct (Z.gcd_divide_r a W) as [w Ew], (Z.gcd_divide_l a W) as [u Eu].
  set (g := Z.gcd a W) in *. assert (0 < g) by (assert (g <> 0) by (intros Z; rewrite Z in Ew; lia); lia).
  assert (E : W / g = w) by (rewrite Ew at 1; apply Z.div_mul; lia). rewrite E. split; [nia|].
  exists u. rewrite Eu at 1. rewrite Ew at 1. ring.
Qed.

(** An index may be taken back to the first period of every axis.  All steps from there are in the box that were. *)
Lemma first_period : forall W st ns i, 0 < W -> length st = length ns -> inbox (whole ns) i ->
  exists k, inbox (whole ns) k /\ inbox (whole (map (period W) st)) k /\
    (forall l, inbox (whole ns) (bump l i) -> inbox (whole ns) (bump l k)) /\ (W | dot st i - dot st k).
Proof.
  intros W. induction st as [|a st IH]; destruct ns as [|n ns], i as [|y i]; intros HW L H;
    try discriminate; try (exfalso; exact H).
  - exists []. split; [exact I|]. split; [exact I|]. split; [intros l B; exact B|]. exists 0. reflexivity.
  - destruct H as [H1 H2]. cbn [fst snd] in H1.
    destruct (IH ns i HW ltac:(simpl in L; congruence) H2) as (k & K1 & K2 & K3 & [z K4]).
    destruct (period_turns W a HW) as [P0 [q P1]].
    pose proof (Z.div_mod y (period W a) ltac:(lia)) as D. pose proof (Z.mod_pos_bound y (period W a) P0) as M.
    assert (0 <= y / period W a) by (apply Z.div_pos; lia). assert (LE : y mod period W a <= y) by nia.
    exists (y mod period W a :: k). cbn [map]. split; [split; [simpl; lia|exact K1]|].
    split; [split; [simpl; lia|exact K2]|]. split.
    + intros [|l] B; cbn [bump] in *; destruct B as [B1 B2]; cbn [fst snd] in B1.
      * split; [simpl; lia|exact K1].
      * split; [simpl; lia|exact (K3 l B2)].
    + exists (q * (y / period W a) + z). cbn [dot].
      replace (a * y + dot st i - (a * (y mod period W a) + dot st k))
        with (a * (y - y mod period W a) + (dot st i - dot st k)) by ring.
      rewrite K4. replace (y - y mod period W a) with (period W a * (y / period W a)) by lia.
      replace (a * (period W a * (y / period W a))) with (a * period W a * (y / period W a)) by ring.
      rewrite P1. ring.
Qed.

(** Carries do not change where a position is moved by a multiple of the weight. *)
Lemma carry_beside_turn : forall P a x y y', 0 < P -> (P | y - y') -> carry_beside P a x y = carry_beside P a x y'.
Proof.
  intros P a x y y' HP [z E]. unfold carry_beside. replace y with (y' + z * P) by lia.
  replace (y' + z * P + a) with (y' + a + z * P) by ring. rewrite !Z.div_add by lia. ring.
Qed.

Lemma jumps_total : forall bs a x y,
  (jumps bs (y + a) - jumps bs y) - (jumps bs (x + a) - jumps bs x) = total bs (fun P => carry_beside P a x y).
Proof.
  induction bs as [|[P c] r IH]; intros a x y; [reflexivity|]. cbn [jumps total]. rewrite <- IH. unfold carry_beside.
  ring.
Qed.

(** The steps along an axis are even exactly if each that starts in the first period of every axis, and is made at
    all, moves the jumps as the first one does.  Which carries there are does not depend on the sizes, and whether the
    step is made depends on nothing else. *)
Theorem one_period_decides : forall G bs o st ns W l, positives ns -> length st = length ns -> 0 < W ->
  (forall P c, In (P, c) bs -> 0 < P /\ (P | W)) -> even (whole ns) G ->
  (even_along (whole ns) (fun i => G i + jumps bs (o + dot st i)) l <->
   forall k, inbox (whole (map (period W) st)) k -> inbox (whole ns) k -> inbox (whole ns) (bump l k) ->
     (l < length ns)%nat -> total bs (fun P => carry_beside P (nth l st 0) o (o + dot st k)) = 0).
Proof.
  intros G bs o st ns W l PN L HW HB EG.
  assert (HZ : inbox (whole ns) (zero ns)) by (rewrite <- zero_corner; apply corner_inbox, whole_solid, PN).
  assert (BUMP : forall i, inbox (whole ns) i -> dot st (bump l i) = dot st i + nth l st 0).
  { intros i Hi. apply dot_bump. rewrite L, (inbox_length _ _ Hi), whole_length. reflexivity. }
  assert (STEP : forall i, inbox (whole ns) i -> inbox (whole ns) (bump l i) -> inbox (whole ns) (bump l (zero ns)) ->
            (G (bump l i) + jumps bs (o + dot st (bump l i)) - (G i + jumps bs (o + dot st i)))
            - (G (bump l (zero ns)) + jumps bs (o + dot st (bump l (zero ns)))
               - (G (zero ns) + jumps bs (o + dot st (zero ns))))
            = total bs (fun P => carry_beside P (nth l st 0) o (o + dot st i))).
  { intros i Hi Hi' HU. pose proof (EG l i (zero ns) Hi Hi' HZ HU). rewrite !BUMP by assumption. rewrite dot_zero.
    rewrite <- jumps_total. rewrite Z.add_0_l, Z.add_0_r, Z.add_assoc. lia. }
  split.
  - intros E k _ Hk Hk' Hl. pose proof (unit_inside ns k l Hk Hl Hk') as HU. unfold unit_index in HU.
    rewrite <- (STEP k Hk Hk' HU). pose proof (E k (zero ns) Hk Hk' HZ HU) as X. cbv beta in X. lia.
  - intros H. destruct (Nat.lt_ge_cases l (length ns)) as [Hl|Hl].
    2:{ intros i j Hi _ Hj _. pose proof (inbox_length _ _ Hi) as Li. pose proof (inbox_length _ _ Hj) as Lj.
        rewrite whole_length in *. rewrite (bump_past i), (bump_past j) by lia. lia. }
    assert (Z : forall i, inbox (whole ns) i -> inbox (whole ns) (bump l i) ->
              total bs (fun P => carry_beside P (nth l st 0) o (o + dot st i)) = 0).
    { intros i Hi Hi'. destruct (first_period W st ns i HW L Hi) as (k & K1 & K2 & K3 & K4).
      transitivity (total bs (fun P => carry_beside P (nth l st 0) o (o + dot st k)));
        [|exact (H k K2 K1 (K3 l Hi') Hl)]. clear - HB K4.
      induction bs as [|[P c] r IH]; [reflexivity|].
      cbn [total]. rewrite IH by (intros P' c' I; apply (HB P' c'); right; exact I). f_equal. f_equal.
      destruct (HB P c (or_introl eq_refl)) as [HP D]. apply carry_beside_turn; [exact HP|].
      replace (o + dot st i - (o + dot st k)) with (dot st i - dot st k) by ring. eapply Z.divide_trans; eassumption. }
    intros i j Hi Hi' Hj Hj'. pose proof (unit_inside ns i l Hi Hl Hi') as HU. unfold unit_index in HU.
    pose proof (STEP i Hi Hi' HU) as S1. pose proof (STEP j Hj Hj' HU) as S2. rewrite Z in S1, S2 by assumption. lia.
Qed.

(** All weights divide the outermost one. *)
Lemma weights_divide : forall ss st P c, In (P, c) (boundaries ss st) -> (P | numel (tl ss)).
Proof.
  induction ss as [|s [|s2 r] IH]; intros st P c I; [destruct I|destruct st; destruct I|].
  destruct st as [|t [|t2 tr]]; [destruct I|destruct I|].
  change (In (P, c) ((numel (s2 :: r), t - s2 * t2) :: boundaries (s2 :: r) (t2 :: tr))) in I. destruct I as [I|I].
  - apply (f_equal fst) in I. cbn [fst] in I. rewrite <- I. exists 1. cbn [tl]. ring.
  - specialize (IH (t2 :: tr) P c I). cbn [tl numel] in *. apply Z.divide_mul_r. exact IH.
Qed.

(** So a pair without masks is one view exactly if the jumps satisfy one linear equation for every step of the first
    periods that the sizes of the later view allow.  [W] is the weight of the outermost boundary.  The tables of the
    first source are these equations, with the sizes from which on each of them is asked for. *)
Theorem one_period_mergeable : forall A B, wf A -> wf B -> fits A B -> full A -> full B -> positives (sizes B) ->
  let W := numel (tl (sizes A)) in
  (mergeable A B <->
   forall l k, (l < length (sizes B))%nat -> inbox (whole (map (period W) (strides B))) k ->
     inbox (whole (sizes B)) k -> inbox (whole (sizes B)) (bump l k) ->
     total (boundaries (sizes A) (strides A))
       (fun P => carry_beside P (nth l (strides B) 0) (offset B) (affine B k)) = 0).
Proof.
  intros A B WA WB fit FA FB PB W. destruct (full_pair A B WA fit FA FB PB) as (PA & S & R & _).
  rewrite (mergeable_iff_even A B _ WA WB S R).
  assert (IN : forall i, inbox (whole (sizes B)) i -> 0 <= affine B i < numel (sizes A)).
  { intros i Hi. apply fit. destruct FB as [LB FB]. split; [exact LB|rewrite FB; exact Hi]. }
  assert (HW : 0 < W).
  { unfold W. destruct (sizes A); [simpl; lia|]. inversion PA; subst. apply numel_pos. assumption. }
  assert (L : length (strides B) = length (sizes B)) by (unfold strides, sizes; rewrite !map_length; reflexivity).
  assert (EG : even (whole (sizes B)) (fun i => offset A + last (strides A) 0 * affine B i)).
  { apply even_plus; [apply even_const|]. apply even_scale. unfold affine. apply even_plus; [apply even_const|].
    apply even_dot. rewrite L, whole_length. reflexivity. }
  assert (HB : forall P c, In (P, c) (boundaries (sizes A) (strides A)) -> 0 < P /\ (P | W)).
  { intros P c I. split; [exact (boundaries_pos _ _ P c PA I)|exact (weights_divide _ _ P c I)]. }
  pose proof (fun l => one_period_decides _ _ (offset B) (strides B) (sizes B) W l PB L HW HB EG) as D.
  assert (SAME : forall i, inbox (whole (sizes B)) i -> address A B i =
            offset A + last (strides A) 0 * affine B i
            + jumps (boundaries (sizes A) (strides A)) (offset B + dot (strides B) i)).
  { intros i Hi. unfold address, affine at 1.
    rewrite address_by_boundaries; [|exact PA|unfold strides, sizes; rewrite !map_length; reflexivity|exact (IN i Hi)].
    unfold affine. ring. }
  split.
  - intros E l k Hl K1 K2 K3. refine (proj1 (D l) _ k K1 K2 K3 Hl). intros i j Hi Hi' Hj Hj'.
    rewrite <- !SAME by assumption. apply (E l); assumption.
  - intros H. eapply even_ext; [intros i Hi; symmetry; apply SAME; exact Hi|]. intros l. apply D.
    intros k K1 K2 K3 Hl. exact (H l k Hl K1 K2 K3).
Qed.

(** Shape (10, 3, 3) read in steps of 4, weights 9 and 3: nine steps show all carries.  That from 8 is the first one to
    carry over both boundaries, and it is made from four elements on. *)
Example period_example : period 9 4 = 9 /\ period 36 9 = 4 /\
  carry_beside 9 4 0 4 = 0 /\ carry_beside 3 4 0 4 = 0 /\ carry_beside 9 4 0 8 = 1 /\ carry_beside 3 4 0 8 = 1.
Proof. repeat split; reflexivity. Qed.

(** The first source's example with a name for the size as well as for the strides. *)
Example steps_of_4 : forall s s1 s2 s3, 1 <= s <= 23 ->
  (mergeable (strided [10; 3; 3] [s1; s2; s3] 0) (strided [s] [4] 0) <->
   s <= 3 \/ (s <= 5 /\ s1 = 2 * s2 + 3 * s3) \/ (s2 = 3 * s3 /\ s1 = 9 * s3)).
Proof.
  intros s s1 s2 s3 Hs. rewrite one_period_mergeable.
  - change (sizes (strided [s] [4] 0)) with [s]. change (strides (strided [s] [4] 0)) with [4].
    change (offset (strided [s] [4] 0)) with 0. change (numel (tl (sizes (strided [10; 3; 3] [s1; s2; s3] 0)))) with 9.
    change (boundaries (sizes (strided [10; 3; 3] [s1; s2; s3] 0)) (strides (strided [10; 3; 3] [s1; s2; s3] 0)))
      with [(9, s1 - 3 * s2); (3, s2 - 3 * s3)].
    cbn [length map total]. change (period 9 4) with 9.
    assert (AT : forall k l, affine (strided [s] [4] 0) [k] = 4 * k /\
              ((l < 1)%nat -> nth l [4] 0 = 4 /\ bump l [k] = [k + 1])).
    { intros k l. split; [unfold affine; cbn [offset strided strides]; change (0 + (4 * k + 0) = 4 * k); lia|].
      intros Hl. assert (l = O) by lia. subst l. split; reflexivity. }
    split.
    + intros H. destruct (Z_le_dec s 3) as [S3|S3]; [left; exact S3|right].
      pose proof (H O [2] ltac:(lia) ltac:(simpl; lia) ltac:(simpl; lia) ltac:(simpl; lia)) as E2.
      rewrite (proj1 (AT 2 O)) in E2.
      destruct (Z_le_dec s 5) as [S5|S5]; [left; split; [exact S5|]|right].
      * change ((s1 - 3 * s2) * 1 + ((s2 - 3 * s3) * 1 + 0) = 0) in E2. lia.
      * pose proof (H O [4] ltac:(lia) ltac:(simpl; lia) ltac:(simpl; lia) ltac:(simpl; lia)) as E4.
        rewrite (proj1 (AT 4 O)) in E4. change ((s1 - 3 * s2) * 1 + ((s2 - 3 * s3) * 1 + 0) = 0) in E2.
        change ((s1 - 3 * s2) * 1 + ((s2 - 3 * s3) * 0 + 0) = 0) in E4. lia.
    + intros C l k Hl K1 K2 K3. destruct k as [|k [|k' k2]]; try (exfalso; simpl in K1; tauto).
      rewrite (proj1 (AT k l)). destruct (proj2 (AT k l) Hl) as [-> B]. rewrite B in K3.
      assert (0 <= k <= 8 /\ k + 1 < s) as [K S] by (simpl in K1, K3; lia).
      assert (k = 0 \/ k = 1 \/ k = 2 \/ k = 3 \/ k = 4 \/ k = 5 \/ k = 6 \/ k = 7 \/ k = 8) as KS by lia.
      repeat destruct KS as [->|KS]; try subst k; repeat match goal with |- context [carry_beside ?P ?a ?x ?y] =>
        let v := eval vm_compute in (carry_beside P a x y) in change (carry_beside P a x y) with v end; lia.
  - apply strided_wf. repeat constructor; lia.
  - apply strided_wf. repeat constructor; lia.
  - intros i [_ V]. destruct i as [|y [|z i]]; simpl in V; try tauto.
    change (0 <= 0 + (4 * y + 0) < 90). lia.
  - split; reflexivity.
  - split; reflexivity.
  - change (positives [s]). repeat constructor; lia.
Qed.
