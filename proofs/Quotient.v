(** The quotient test, in the form that can be asked of polynomials.

    A region of symbolic sizes is decided by comparisons of polynomials, and what is answered must hold at every value
    of the region.  No theorem knows of names: each speaks of integers, and is applied at every value.  What matters
    is which comparisons it asks for.  The test of [FastPath] asks for the carries of the first steps; here they are
    told by one comparison an axis, an axis of one index needs none, and the rest is two inequalities. *)

From Coq Require Import ZArith Lia List Bool.
From Shapetracker Require Import View Criterion Overflow Equation Bounding Merge Exact UitDeBos FastPath FirstCarry.
Import ListNotations.
Open Scope Z_scope.

(** * The test *)

(** How many indices each range of a box has. *)
Definition extents (b : box) : list Z := map (fun r => snd r - fst r) b.

(** How far a unit step along an axis of stride [a] moves the quotient by [P] of a position [o].  With [a = q P + r]
    it is [q] where the remainders of [o] and [a] stay below [P] together, and [q + 1] where they do not. *)
Definition quotient_step (P o a : Z) : Z := if o mod P + a mod P <=? P - 1 then a / P else a / P + 1.

(** What is left of the strides when steps [ts] of the quotient are taken off: a' = a - t P. *)
Fixpoint leftovers (P : Z) (st ts : list Z) : list Z :=
  match st, ts with a :: st', t :: ts' => a - t * P :: leftovers P st' ts' | _, _ => [] end.

(** The sum of a' (n - 1) over the axes with a' > 0, and over those with a' < 0. *)
Fixpoint ups (rs ns : list Z) : Z :=
  match rs, ns with a :: rs', n :: ns' => (if 0 <? a then a * (n - 1) else 0) + ups rs' ns' | _, _ => 0 end.
Fixpoint downs (rs ns : list Z) : Z :=
  match rs, ns with a :: rs', n :: ns' => (if a <? 0 then a * (n - 1) else 0) + downs rs' ns' | _, _ => 0 end.

(** The two inequalities. *)
Definition quotient_test (P o : Z) (st ns ts : list Z) : Prop :=
  o mod P + ups (leftovers P st ts) ns <= P - 1 /\ 0 <= o mod P + downs (leftovers P st ts) ns.

(** Steps chosen by the remainders.  On an axis of one index any integer will do, so there the comparison need not be
    asked. *)
Definition chosen (P o : Z) (st ns ts : list Z) : Prop :=
  length ts = length ns /\
  forall l, (l < length ns)%nat -> nth l ns 0 <> 1 -> nth l ts 0 = quotient_step P o (nth l st 0).

(** * Why it is exact *)

(** The step of the quotient is the carry of the first step. *)
Lemma quotient_step_is_carry : forall P o a, 0 < P -> quotient_step P o a = (o + a) / P - o / P.
Proof.
  intros P o a HP. unfold quotient_step.
  pose proof (Z.div_mod o P ltac:(lia)). pose proof (Z.mod_pos_bound o P HP).
  pose proof (Z.div_mod a P ltac:(lia)). pose proof (Z.mod_pos_bound a P HP).
  destruct (Z.leb_spec (o mod P + a mod P) (P - 1)).
  - assert (E : o / P + a / P = (o + a) / P) by (apply Z.div_unique with (o mod P + a mod P); lia). lia.
  - assert (E : o / P + a / P + 1 = (o + a) / P) by (apply Z.div_unique with (o mod P + a mod P - P); lia). lia.
Qed.

(** What it leaves of a stride is the remainder, or the remainder less [P]. *)
Theorem leftover_of_step : forall P o a, 0 < P ->
  a - quotient_step P o a * P = if o mod P + a mod P <=? P - 1 then a mod P else a mod P - P.
Proof.
  intros P o a HP. unfold quotient_step. pose proof (Z.div_mod a P ltac:(lia)).
  destruct (o mod P + a mod P <=? P - 1); lia.
Qed.

(** Where one of the remainders is 0 the comparison holds, and need not be asked either. *)
Theorem step_without_asking : forall P o a, 0 < P -> o mod P = 0 \/ a mod P = 0 -> quotient_step P o a = a / P.
Proof.
  intros P o a HP H. unfold quotient_step.
  pose proof (Z.mod_pos_bound o P HP). pose proof (Z.mod_pos_bound a P HP).
  destruct (Z.leb_spec (o mod P + a mod P) (P - 1)); [reflexivity|lia].
Qed.

Lemma leftovers_dot : forall P st ts i, length st = length i -> length ts = length i ->
  dot (leftovers P st ts) i = dot st i - P * dot ts i.
Proof.
  intros P.
  induction st as [|a st IH]; destruct ts as [|t ts], i as [|y i]; intros L1 L2; try discriminate; [simpl; lia|].
  cbn [leftovers dot]. rewrite IH by (simpl in *; congruence). ring.
Qed.

Lemma ups_downs_bound : forall rs ns i, inbox (whole ns) i -> downs rs ns <= dot rs i <= ups rs ns.
Proof.
  induction rs as [|a rs IH]; destruct ns as [|n ns], i as [|y i]; intros H; try (simpl in *; tauto); try (simpl; lia).
  destruct H as [H1 H2]. specialize (IH ns i H2). cbn [downs ups dot fst snd] in *.
  destruct (Z.ltb_spec 0 a), (Z.ltb_spec a 0); nia.
Qed.

(** Whatever steps are tried: if the two sums stay in range, the quotient is affine, with those steps. *)
Theorem quotient_test_sound : forall P o st ns ts, 0 < P -> length st = length ns -> length ts = length ns ->
  quotient_test P o st ns ts ->
  forall i, inbox (whole ns) i -> (o + dot st i) / P = o / P + dot ts i.
Proof.
  intros P o st ns ts HP L1 L2 [T1 T2] i H. pose proof (inbox_length _ _ H) as Li. rewrite whole_length in Li.
  pose proof (ups_downs_bound (leftovers P st ts) ns i H) as B.
  rewrite (leftovers_dot P st ts i) in B by congruence.
  symmetry. apply Z.div_unique with (o mod P + (dot st i - P * dot ts i)); [left; lia|].
  pose proof (Z.div_mod o P ltac:(lia)). lia.
Qed.

Lemma chosen_cons : forall P o a st n ns t ts, chosen P o (a :: st) (n :: ns) (t :: ts) ->
  (n = 1 \/ t = quotient_step P o a) /\ chosen P o st ns ts.
Proof.
  intros P o a st n ns t ts [L H]. split.
  - destruct (Z.eq_dec n 1) as [E|E]; [left; exact E|right]. apply (H O); [simpl; lia|exact E].
  - split; [simpl in L; congruence|]. intros l Hl. apply (H (S l)). simpl; lia.
Qed.

(** The sums of the test are those of the boundary test of [FastPath], taken from the first corner of the box. *)
Lemma sums_of_chosen : forall P x st b ts, 0 < P -> solid b -> length st = length b -> chosen P x st (extents b) ts ->
  ups (leftovers P st ts) (extents b) = rises (rests P x st) b /\
  downs (leftovers P st ts) (extents b) = falls (rests P x st) b.
Proof.
  intros P x. induction st as [|a st IH]; destruct b as [|r b]; intros ts HP S L C; try discriminate.
  - destruct ts; auto.
  - destruct ts as [|t ts]; [destruct C as [C _]; discriminate|].
    inversion S as [|? ? S1 S2]; subst. apply chosen_cons in C. destruct C as [C1 C2].
    destruct (IH b ts HP S2 ltac:(simpl in L; congruence) C2) as [E1 E2].
    cbn [leftovers extents map ups downs rests rises falls]. fold (extents b). fold (rests P x st).
    rewrite E1, E2. set (n := snd r - fst r) in *. rewrite <- quotient_step_is_carry by assumption.
    replace (a - P * quotient_step P x a) with (a - quotient_step P x a * P) by ring.
    destruct C1 as [C1|C1].
    + rewrite C1, !Z.mul_0_r. split; destruct (_ <? _); lia.
    + rewrite <- C1. assert (1 <= n) by (unfold n; lia). split.
      * destruct (Z.ltb_spec 0 (a - t * P)); nia.
      * destruct (Z.ltb_spec (a - t * P) 0); nia.
Qed.

(** The test is the boundary test, with the box counted from its first corner. *)
Theorem quotient_test_counts : forall P o st b ts, 0 < P -> solid b -> length st = length b ->
  let x := o + dot st (corner b) in
  chosen P x st (extents b) ts -> (boundary_test P o st b <-> quotient_test P x st (extents b) ts).
Proof.
  intros P o st b ts HP S L x C. unfold boundary_test, quotient_test. fold x.
  destruct (sums_of_chosen P x st b ts HP S L C) as [-> ->]. lia.
Qed.

Lemma extents_whole : forall ns, extents (whole ns) = ns.
Proof.
  intros. unfold extents, whole. rewrite map_map. rewrite <- (map_id ns) at 2. apply map_ext. simpl. intros; lia.
Qed.

Lemma dot_corner_whole : forall st ns, dot st (corner (whole ns)) = 0.
Proof. intros. rewrite zero_corner. apply dot_zero. Qed.

(** The quotient by [P] of the positions o + sum a_l i_l is affine on a box without empty axes exactly if
    the two sums stay in range.  Both directions hold with axes of one index, whatever step is put down for those.
    Then the quotient is that of [o] and the chosen steps. *)
Theorem quotient_test_exact : forall P o st ns ts, 0 < P -> positives ns -> length st = length ns ->
  chosen P o st ns ts ->
  (affine_on (whole ns) (fun i => (o + dot st i) / P) <-> quotient_test P o st ns ts) /\
  (quotient_test P o st ns ts -> forall i, inbox (whole ns) i -> (o + dot st i) / P = o / P + dot ts i).
Proof.
  intros P o st ns ts HP PN L C.
  pose proof (whole_solid ns PN) as S. assert (Lw : length st = length (whole ns)) by (rewrite whole_length; exact L).
  pose proof (quotient_test_counts P o st (whole ns) ts HP S Lw) as Q. cbv zeta in Q.
  rewrite dot_corner_whole, Z.add_0_r, extents_whole in Q. split.
  - rewrite <- Q by exact C. apply boundary_test_exact; assumption.
  - apply quotient_test_sound; [assumption|assumption|apply C].
Qed.

(** The steps by the rule alone, on every axis. *)
Definition quotient_steps (P o : Z) (st : list Z) : list Z := map (quotient_step P o) st.

Lemma quotient_steps_chosen : forall P o st ns, length st = length ns -> chosen P o st ns (quotient_steps P o st).
Proof.
  intros P o st ns L. split; [unfold quotient_steps; rewrite map_length; exact L|]. intros l Hl _.
  unfold quotient_steps. rewrite (nth_indep _ 0 (quotient_step P o 0)) by (rewrite map_length; lia). apply map_nth.
Qed.

(** The test as a program. *)
Definition quotient_testb (P o : Z) (st ns : list Z) : bool :=
  let rs := leftovers P st (quotient_steps P o st) in
  (o mod P + ups rs ns <=? P - 1) && (0 <=? o mod P + downs rs ns).

Lemma quotient_testb_iff : forall P o st ns,
  quotient_testb P o st ns = true <-> quotient_test P o st ns (quotient_steps P o st).
Proof. intros. unfold quotient_testb, quotient_test. rewrite andb_true_iff, !Z.leb_le. tauto. Qed.

(** With names for sizes: rows of 3 H D numbers, read as (T, 3, H, D), at a boundary of weight H D.  The strides of
    the two outer axes are multiples of the weight, and the two inner axes stay below it. *)
Example quotient_test_symbolic : forall T H D, 1 <= T -> 1 <= H -> 1 <= D ->
  quotient_test (H * D) 0 [3 * (H * D); H * D; D; 1] [T; 3; H; D] [3; 1; 0; 0].
Proof.
  intros T H D HT HH HD. unfold quotient_test. rewrite Z.mod_0_l by nia. cbn [leftovers ups downs].
  replace (3 * (H * D) - 3 * (H * D)) with 0 by ring. replace (H * D - 1 * (H * D)) with 0 by ring.
  rewrite !Z.mul_0_l, !Z.sub_0_r. cbn [Z.ltb Z.compare].
  destruct (Z.ltb_spec 0 D); [|lia]. destruct (Z.ltb_spec D 0); [lia|]. nia.
Qed.

(** The choice matters where there is more than one index.  From 5 a step of 3 leads to 8, over a multiple of 4, so
    that [q + 1] is chosen.  For two indices the other step fails the test, although the quotient is affine; for one
    index both pass; for three the quotient is not affine. *)
Example choice_example :
  quotient_step 4 5 3 = 1 /\ quotient_test 4 5 [3] [2] [1] /\ ~ quotient_test 4 5 [3] [2] [0] /\
  quotient_test 4 5 [3] [1] [1] /\ quotient_test 4 5 [3] [1] [0] /\ ~ quotient_test 4 5 [3] [3] [1].
Proof. unfold quotient_test. repeat split; vm_compute; intuition discriminate. Qed.
