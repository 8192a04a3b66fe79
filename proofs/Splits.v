(** Splits of loops: when functions of loops are affine in the digits of a split of each loop, and the coarsest such
    split.

    A function is total, has integer values, and is defined on a box of loops.  A split of a loop of [n] indices is
    a list of factors, innermost first, each at least 2, with product [n].  It serves a function of that loop if the
    function is a sum of multiples of the digits.  What is found is the coarsest split: every other one that serves
    refines it. *)

From Coq Require Import ZArith Lia List Bool.
From Shapetracker Require Import View.
Import ListNotations.
Open Scope Z_scope.

(** * Splits of one loop *)

(** The digits of an index, innermost first. *)
Fixpoint digits (fs : list Z) (x : Z) : list Z :=
  match fs with [] => [] | f :: r => x mod f :: digits r (x / f) end.

Definition large (fs : list Z) : Prop := Forall (fun f => 2 <= f) fs.

(** A split of a loop of [n] indices. *)
Definition factors (n : Z) (fs : list Z) : Prop := large fs /\ numel fs = n.

(** A function is a sum of multiples [ds] of the digits. *)
Definition is_sum (n : Z) (g : Z -> Z) (ds fs : list Z) : Prop :=
  length ds = length fs /\ forall x, 0 <= x < n -> g x = g 0 + dot ds (digits fs x).

Definition serves (n : Z) (g : Z -> Z) (fs : list Z) : Prop := exists ds, is_sum n g ds fs.

(** Where a split cuts its loop: the partial products from the innermost factor on, the size among them. *)
Fixpoint cuts (fs : list Z) : list Z :=
  match fs with [] => [] | f :: r => f :: map (Z.mul f) (cuts r) end.

(** What one step of each digit is worth: the partial products that begin with 1. *)
Fixpoint weights (fs : list Z) : list Z :=
  match fs with [] => [] | f :: r => 1 :: map (Z.mul f) (weights r) end.

(** A split refines another one if it cuts wherever that does. *)
Definition refines (fs gs : list Z) : Prop := incl (cuts gs) (cuts fs).

(** The coarsest split that serves a function. *)
Definition coarsest (n : Z) (g : Z -> Z) (fs : list Z) : Prop :=
  factors n fs /\ serves n g fs /\ forall fs', factors n fs' -> serves n g fs' -> refines fs' fs.

Lemma large_positives : forall fs, large fs -> positives fs.
Proof. intros fs H. eapply Forall_impl; [|exact H]. simpl; intros; lia. Qed.

Lemma large_numel : forall fs, large fs -> 1 <= numel fs.
Proof. intros fs H. pose proof (numel_pos fs (large_positives fs H)). lia. Qed.

Lemma large_one : forall fs, large fs -> numel fs = 1 -> fs = [].
Proof.
  intros [|f fs] H E; [reflexivity|]. inversion H as [|? ? F L]; subst. pose proof (large_numel fs L).
  cbn [numel] in E. nia.
Qed.

Lemma numel_app : forall a b, numel (a ++ b) = numel a * numel b.
Proof. induction a as [|x a IH]; intros b; cbn [app numel]; [ring|]. rewrite IH. ring. Qed.

Lemma digits_length : forall fs x, length (digits fs x) = length fs.
Proof. induction fs; simpl; intros; congruence. Qed.

Lemma dot_zero_digits : forall fs ds, positives fs -> dot ds (digits fs 0) = 0.
Proof.
  induction fs as [|f fs IH]; intros [|d ds] H; simpl; try reflexivity.
  inversion H; subst. rewrite Z.mod_0_l, Z.div_0_l by lia. rewrite IH by assumption. ring.
Qed.

Lemma dot_digits : forall d ds f r x, dot (d :: ds) (digits (f :: r) x) = d * (x mod f) + dot ds (digits r (x / f)).
Proof. reflexivity. Qed.

Lemma digits_app : forall a b x, positives a -> digits (a ++ b) x = digits a x ++ digits b (x / numel a).
Proof.
  induction a as [|f a IH]; intros b x H; simpl; [rewrite Z.div_1_r; reflexivity|].
  inversion H; subst. rewrite IH by assumption. pose proof (numel_pos a H3).
  rewrite Z.div_div by lia. reflexivity.
Qed.

Lemma dot_app : forall a b i j, length a = length i -> dot (a ++ b) (i ++ j) = dot a i + dot b j.
Proof.
  induction a as [|s a IH]; intros b [|x i] j L; try discriminate; simpl; [reflexivity|].
  rewrite IH by (simpl in L; congruence). ring.
Qed.

Lemma cuts_app : forall a b, cuts (a ++ b) = cuts a ++ map (Z.mul (numel a)) (cuts b).
Proof.
  induction a as [|f a IH]; intros b; cbn [app cuts numel].
  - rewrite <- (map_id (cuts b)) at 1. apply map_ext. intros; lia.
  - rewrite IH, map_app, map_map. cbn [app]. f_equal. f_equal. apply map_ext. intros; ring.
Qed.

Lemma cuts_size : forall fs, fs <> [] -> In (numel fs) (cuts fs).
Proof.
  induction fs as [|f fs IH]; intros H; [congruence|]. cbn [cuts numel]. destruct fs as [|e fs].
  - left. simpl. ring.
  - right. apply in_map. apply IH. discriminate.
Qed.

Lemma dot_scaled : forall c s i, dot (map (Z.mul c) s) i = c * dot s i.
Proof. induction s as [|a s IH]; intros [|x i]; simpl; try lia. rewrite IH. ring. Qed.

Lemma weights_length : forall fs, length (weights fs) = length fs.
Proof. induction fs; simpl; [reflexivity|]. rewrite map_length. congruence. Qed.

(** The digits, each as often as its step is worth, are the index. *)
Lemma dot_weights : forall fs x, positives fs -> dot (weights fs) (digits fs x) = x mod numel fs.
Proof.
  induction fs as [|f fs IH]; intros x H; [simpl; rewrite Z.mod_1_r; reflexivity|].
  inversion H; subst. pose proof (numel_pos fs H3). cbn [weights digits dot numel].
  rewrite dot_scaled, IH by assumption. rewrite Z.rem_mul_r by lia. ring.
Qed.

(** ** The run *)

(** The least index from [x] on at which a function is no multiple of its first step, or [n]. *)
Fixpoint first_break (fuel : nat) (g : Z -> Z) (x n : Z) : Z :=
  match fuel with
  | O => n
  | S k => if n <=? x then n else if g x - g 0 =? x * (g 1 - g 0) then first_break k g (x + 1) n else x
  end.

Definition run (g : Z -> Z) (n : Z) : Z := first_break (Z.to_nat n) g 2 n.

Definition is_run (g : Z -> Z) (n r : Z) : Prop :=
  2 <= r <= n /\ (forall x, 0 <= x < r -> g x - g 0 = x * (g 1 - g 0)) /\
  (r < n -> g r - g 0 <> r * (g 1 - g 0)).

Lemma first_break_spec : forall fuel g x n, 2 <= x <= n -> n - x <= Z.of_nat fuel ->
  (forall y, 0 <= y < x -> g y - g 0 = y * (g 1 - g 0)) -> is_run g n (first_break fuel g x n).
Proof.
  induction fuel as [|k IH]; intros g x n X F H; cbn [first_break].
  - assert (x = n) by lia. subst. split; [lia|]. split; [assumption|lia].
  - destruct (Z.leb_spec n x); [assert (x = n) by lia; subst; split; [lia|split; [assumption|lia]]|].
    destruct (Z.eqb_spec (g x - g 0) (x * (g 1 - g 0))) as [E|E].
    + apply IH; [lia|lia|]. intros y Y. destruct (Z.eq_dec y x) as [->|]; [assumption|apply H; lia].
    + split; [lia|]. split; [assumption|intros; assumption].
Qed.

Lemma run_spec : forall g n, 2 <= n -> is_run g n (run g n).
Proof.
  intros g n H. apply first_break_spec; [lia|lia|]. intros y Y.
  destruct (Z.eq_dec y 0) as [->|]; [ring|]. replace y with 1 by lia. ring.
Qed.

Lemma is_run_unique : forall g n r s, is_run g n r -> is_run g n s -> r = s.
Proof.
  intros g n r s (R1 & R2 & R3) (S1 & S2 & S3). destruct (Z.lt_trichotomy r s) as [L|[L|L]]; [|assumption|].
  - exfalso. apply R3; [lia|]. apply S2. lia.
  - exfalso. apply S3; [lia|]. apply R2. lia.
Qed.

(** Whatever split serves a function, the run is one of its cuts: it can be joined until neighbouring digits do not
    continue each other, and then its innermost factor ends where the function stops being a multiple of its first step.
    *)
Lemma innermost : forall rest n g w d ds,
  2 <= w -> large rest -> n = w * numel rest -> is_sum n g (d :: ds) (w :: rest) ->
  exists pre post ds', rest = pre ++ post /\ run g n = w * numel pre /\ is_sum n g (d :: ds') (run g n :: post).
Proof.
  induction rest as [|f rest IH]; intros n g w d ds W R N [L S].
  - destruct ds; [|discriminate]. simpl in N. replace (w * 1) with w in N by ring. subst n.
    assert (E : run g w = w).
    { apply (is_run_unique g w); [apply run_spec; lia|]. split; [lia|]. split; [|lia].
      assert (D : g 1 = g 0 + d).
      { rewrite (S 1) by lia. simpl. rewrite Z.mod_1_l by lia. ring. }
      intros x X. rewrite (S x) by lia. simpl. rewrite Z.mod_small by lia. rewrite D. ring. }
    exists [], [], []. rewrite E. simpl. split; [reflexivity|]. split; [ring|]. split; [reflexivity|exact S].
  - destruct ds as [|d' ds]; [discriminate|]. inversion R as [|? ? F R']; subst x l.
    pose proof (large_numel rest R') as NR. cbn [numel] in N. assert (NF : 2 <= f * numel rest) by nia.
    destruct (Z.eq_dec d' (w * d)) as [->|D].
    + destruct (IH n g (w * f) d ds) as (pre & post & ds' & E1 & E2 & E3); [nia|assumption|rewrite N; ring| |].
      { split; [simpl in *; congruence|]. intros x X. rewrite (S x X). cbn [digits dot].
        rewrite Z.rem_mul_r, Z.div_div by lia. ring. }
      exists (f :: pre), post, ds'. split; [simpl; congruence|]. split; [rewrite E2; simpl; ring|assumption].
    + assert (E : run g n = w).
      { apply (is_run_unique g n); [apply run_spec; nia|].
        assert (P : positives (f :: rest)) by (apply large_positives; assumption).
        assert (D1 : g 1 = g 0 + d).
        { rewrite (S 1), dot_digits, Z.mod_1_l, Z.div_small, dot_zero_digits by (assumption || nia). ring. }
        split; [nia|]. split.
        - intros x X. rewrite (S x), dot_digits, Z.mod_small, Z.div_small, dot_zero_digits by (assumption || nia).
          rewrite D1. ring.
        - intros H. rewrite (S w), !dot_digits, Z.mod_same, Z.div_same, Z.mod_1_l, Z.div_small by lia.
          rewrite dot_zero_digits by (apply large_positives; assumption). rewrite D1. lia. }
      exists [], (f :: rest), (d' :: ds). rewrite E. split; [reflexivity|]. split; [simpl; ring|]. split; assumption.
Qed.

(** What is left of a function at the multiples of its innermost factor. *)
Lemma is_sum_multiples : forall f r n g d ds, 2 <= f -> positives r -> n = f * numel r ->
  is_sum n g (d :: ds) (f :: r) -> is_sum (numel r) (fun y => g (f * y)) ds r.
Proof.
  intros f r n g d ds F P N [L S]. split; [simpl in L; congruence|]. intros y Y. rewrite Z.mul_0_r.
  rewrite (S (f * y)) by nia. cbn [digits dot]. rewrite (Z.mul_comm f y), Z.mod_mul, Z.div_mul by lia. ring.
Qed.

(** And the function from what is left. *)
Lemma is_sum_whole : forall f r n g d ds, 2 <= f -> positives r -> n = f * numel r -> length ds = length r ->
  (forall x, 0 <= x < n -> g x = g (f * (x / f)) + d * (x mod f)) ->
  is_sum (numel r) (fun y => g (f * y)) ds r -> is_sum n g (d :: ds) (f :: r).
Proof.
  intros f r n g d ds F P N L H [_ S]. split; [simpl; congruence|]. intros x X. rewrite H by assumption.
  rewrite (S (x / f)).
  - rewrite Z.mul_0_r. cbn [digits dot]. ring.
  - split; [apply Z.div_pos; lia|]. apply Z.div_lt_upper_bound; lia.
Qed.

(** The steps that a split must have, read off at its partial products. *)
Definition steps (g : Z -> Z) (fs : list Z) : list Z := map (fun w => g w - g 0) (weights fs).

Lemma steps_cons : forall g f r, steps g (f :: r) = (g 1 - g 0) :: steps (fun y => g (f * y)) r.
Proof. intros. unfold steps. cbn [weights map]. rewrite map_map, Z.mul_0_r. reflexivity. Qed.

Lemma is_sum_steps : forall fs n g ds, factors n fs -> is_sum n g ds fs -> ds = steps g fs.
Proof.
  induction fs as [|f r IH]; intros n g ds [F N] S.
  - destruct S as [L _]. destruct ds; [reflexivity|discriminate].
  - destruct ds as [|d ds]; [destruct S as [L _]; discriminate|]. inversion F; subst. cbn [numel] in *.
    pose proof (large_numel r H2). pose proof (large_positives r H2) as P. rewrite steps_cons. f_equal.
    + destruct S as [_ S]. rewrite (S 1) by nia. cbn [digits dot]. rewrite Z.mod_1_l, Z.div_small by lia.
      rewrite dot_zero_digits by assumption. ring.
    + apply (IH (numel r)); [split; [assumption|reflexivity]|].
      eapply is_sum_multiples; [exact H1|exact P|reflexivity|exact S].
Qed.

Corollary serves_steps : forall n g fs, factors n fs -> serves n g fs -> is_sum n g (steps g fs) fs.
Proof. intros n g fs F [ds S]. rewrite <- (is_sum_steps fs n g ds F S). exact S. Qed.

(** ** The greedy rule *)

(** A loop has a split that serves a function exactly if its run divides the size, the multiples of the run have
    one, and the function at an index is that at the multiple of the run below it plus what the steps past it add. *)
Theorem split_at_run : forall n g, 2 <= n ->
  let r := run g n in
  (exists fs, factors n fs /\ serves n g fs) <->
  (n mod r = 0 /\ (exists fs, factors (n / r) fs /\ serves (n / r) (fun y => g (r * y)) fs) /\
   forall x, 0 <= x < n -> g x = g (x - x mod r) + (g (x mod r) - g 0)).
Proof.
  intros n g N r. pose proof (run_spec g n N) as (R1 & R2 & R3). fold r in R1, R2, R3. split.
  - intros (fs & [F E] & ds & S). destruct fs as [|w rest]; [simpl in E; lia|].
    destruct ds as [|d ds]; [destruct S; discriminate|]. inversion F; subst.
    destruct (innermost rest (numel (w :: rest)) g w d ds) as (pre & post & ds' & E1 & E2 & E3);
      [assumption|assumption|reflexivity|assumption|]. fold r in E2, E3.
    subst rest. apply Forall_app in H2. destruct H2 as [H2 H3]. cbn [numel] in *.
    rewrite numel_app in *. pose proof (large_numel post H3). pose proof (large_numel pre H2).
    assert (Q : w * (numel pre * numel post) = numel post * r) by (rewrite E2; ring).
    rewrite Q in *. rewrite Z.div_mul, Z.mod_mul by lia. split; [reflexivity|]. split.
    + exists post. split; [split; [assumption|reflexivity]|]. exists ds'.
      eapply is_sum_multiples; [lia|apply large_positives; assumption| |exact E3]. ring.
    + destruct E3 as [_ S']. assert (M : forall x, x - x mod r = r * (x / r)) by (intros; rewrite Z.mod_eq by lia;
        ring).
      intros x X. pose proof (Z.mod_pos_bound x r ltac:(lia)).
      assert (0 <= x / r < numel post) by (split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]).
      rewrite (S' x X), (S' (x - x mod r)), (S' (x mod r)) by (rewrite ?M; nia). cbn [digits dot].
      rewrite M. rewrite (Z.mul_comm r (x / r)), Z.mod_mul, Z.div_mul by lia.
      rewrite (Z.mod_small (x mod r)), (Z.div_small (x mod r)) by lia.
      rewrite dot_zero_digits by (apply large_positives; assumption). ring.
  - intros (M & (fs & [F E] & ds & S) & H). exists (r :: fs).
    assert (Q : n = r * numel fs) by (rewrite E; apply Z.div_exact; lia).
    split; [split; [constructor; [lia|assumption]|simpl; lia]|]. exists ((g 1 - g 0) :: ds).
    apply is_sum_whole; [lia|apply large_positives; assumption|assumption|destruct S; assumption| |rewrite E;
      exact S].
    intros x X. rewrite (H x X). replace (x - x mod r) with (r * (x / r)) by (rewrite Z.mod_eq by lia; ring).
    rewrite R2 by (apply Z.mod_pos_bound; lia). ring.
Qed.

(** The runs one after the other; nothing where one does not divide what is left. *)
Fixpoint runs (fuel : nat) (g : Z -> Z) (n : Z) : option (list Z) :=
  if n <=? 1 then Some [] else
  match fuel with
  | O => None
  | S k => let r := run g n in
           if n mod r =? 0 then option_map (cons r) (runs k (fun y => g (r * y)) (n / r)) else None
  end.

Lemma runs_factors : forall fuel g n fs, 1 <= n -> runs fuel g n = Some fs -> factors n fs.
Proof.
  induction fuel as [|k IH]; intros g n fs N E; cbn [runs] in E; destruct (Z.leb_spec n 1).
  1, 3: injection E; intros <-; split; [constructor|simpl; lia].
  - discriminate.
  - pose proof (run_spec g n ltac:(lia)) as (R1 & _). set (r := run g n) in *.
    destruct (Z.eqb_spec (n mod r) 0) as [M|M]; [|discriminate].
    destruct (runs k _ (n / r)) as [rest|] eqn:Q; [|discriminate]. injection E; intros <-.
    assert (D : n = r * (n / r)) by (apply Z.div_exact; lia).
    apply IH in Q; [|nia]. destruct Q as [Q1 Q2]. split; [constructor; [lia|assumption]|]. simpl. lia.
Qed.

(** If any split serves, the runs do, and that split refines theirs. *)
Lemma runs_serve : forall fuel n g fs', n <= Z.of_nat fuel -> factors n fs' -> serves n g fs' ->
  exists fs, runs fuel g n = Some fs /\ factors n fs /\ serves n g fs /\ refines fs' fs.
Proof.
  induction fuel as [|k IH]; intros n g fs' N [F E] [ds S]; cbn [runs];
    pose proof (large_numel fs' F); destruct (Z.leb_spec n 1); try lia.
  - exists []. split; [reflexivity|]. split; [split; [constructor|simpl; lia]|]. split; [|intros c []].
    exists []. split; [reflexivity|]. intros x X. replace x with 0 by lia. simpl. ring.
  - destruct fs' as [|w rest]; [simpl in E; lia|]. destruct ds as [|d ds]; [destruct S; discriminate|].
    inversion F; subst x l. pose proof (run_spec g n ltac:(lia)) as (R1 & _).
    destruct (innermost rest n g w d ds) as (pre & post & ds' & E1 & E2 & E3);
      [assumption|assumption|simpl in E; lia|assumption|]. set (r := run g n) in *.
    subst rest. apply Forall_app in H4. destruct H4 as [H4 H5]. cbn [numel] in E. rewrite numel_app in E.
    pose proof (large_numel post H5). pose proof (large_numel pre H4).
    assert (Q : n = numel post * r) by (rewrite E2, <- E; ring).
    assert (P : positives post) by (apply large_positives; assumption).
    assert (Z1 : n / r = numel post) by (rewrite Q; apply Z.div_mul; lia).
    assert (Z2 : n mod r = 0) by (rewrite Q; apply Z.mod_mul; lia). rewrite Z1, Z2. cbn [Z.eqb].
    pose proof (is_sum_multiples r post n g d ds' ltac:(lia) P ltac:(lia) E3) as S'.
    destruct (IH (numel post) (fun y => g (r * y)) post) as (fs & G1 & [G2 G2'] & [es G3] & G4);
      [nia|split; [assumption|reflexivity]|exists ds'; exact S'|]. rewrite G1.
    exists (r :: fs). split; [reflexivity|]. split; [split; [constructor; [lia|assumption]|simpl; nia]|]. split.
    + exists (d :: es). apply is_sum_whole.
      * lia.
      * apply large_positives; assumption.
      * nia.
      * destruct G3; assumption.
      * intros x X. destruct E3 as [_ E3]. destruct S' as [_ S'].
        assert (0 <= x / r < numel post) by (split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]).
        rewrite (E3 x X). specialize (S' (x / r) ltac:(assumption)). cbv beta in S'. rewrite S', Z.mul_0_r.
        cbn [digits dot]. ring.
      * rewrite G2'. exact G3.
    + intros c C. change (w :: pre ++ post) with ((w :: pre) ++ post). rewrite cuts_app. apply in_app_iff.
      change (w * numel pre) with (numel (w :: pre)) in E2. rewrite E2 in C. destruct C as [<-|C].
      * left. apply cuts_size. discriminate.
      * right. apply in_map_iff in C. destruct C as (c' & <- & C). apply in_map, G4, C.
Qed.

(** All numbers below [n]. *)
Definition below (n : Z) : list Z := map Z.of_nat (seq 0 (Z.to_nat n)).

Lemma in_below : forall n x, In x (below n) <-> 0 <= x < n.
Proof.
  intros n x. unfold below. rewrite in_map_iff. split.
  - intros (k & <- & H). apply in_seq in H. lia.
  - intros H. exists (Z.to_nat x). split; [lia|]. apply in_seq. lia.
Qed.

(** Whether a function is the sum that its steps make. *)
Definition sumb (n : Z) (g : Z -> Z) (fs : list Z) : bool :=
  forallb (fun x => g x =? g 0 + dot (steps g fs) (digits fs x)) (below n).

Lemma steps_length : forall g fs, length (steps g fs) = length fs.
Proof. intros. unfold steps. rewrite map_length. apply weights_length. Qed.

Lemma sumb_iff : forall n g fs, factors n fs -> (sumb n g fs = true <-> serves n g fs).
Proof.
  intros n g fs F. unfold sumb. rewrite forallb_forall. split.
  - intros H. exists (steps g fs). split; [apply steps_length|]. intros x X. apply Z.eqb_eq, H, in_below; assumption.
  - intros S x X. apply in_below in X. apply Z.eqb_eq. apply (serves_steps n g fs F S). assumption.
Qed.

(** The coarsest split of a loop for a function, if any split serves it. *)
Definition split_loop (g : Z -> Z) (n : Z) : option (list Z) :=
  match runs (Z.to_nat n) g n with
  | Some fs => if sumb n g fs then Some fs else None
  | None => None
  end.

(** The greedy rule is exact. *)
Theorem split_loop_exact : forall n g, 1 <= n ->
  match split_loop g n with
  | Some fs => coarsest n g fs
  | None => forall fs, factors n fs -> ~ serves n g fs
  end.
Proof.
  intros n g N. unfold split_loop.
  assert (K : forall fs', factors n fs' -> serves n g fs' ->
    exists fs, runs (Z.to_nat n) g n = Some fs /\ factors n fs /\ serves n g fs /\ refines fs' fs)
    by (intros; apply runs_serve; [lia|assumption|assumption]).
  destruct (runs (Z.to_nat n) g n) as [fs|] eqn:R.
  - pose proof (runs_factors _ _ _ _ N R) as F. destruct (sumb n g fs) eqn:B.
    + apply sumb_iff in B; [|assumption]. split; [assumption|]. split; [assumption|]. intros fs' F' S'.
      destruct (K fs' F' S') as (gs & E & _ & _ & H). injection E; intros <-. assumption.
    + intros fs' F' S'. destruct (K fs' F' S') as (gs & E & _ & S & _). injection E; intros <-.
      apply sumb_iff in S; [congruence|assumption].
  - intros fs' F' S'. destruct (K fs' F' S') as (gs & E & _). discriminate.
Qed.

(** ** Refinement *)

Lemma in_cuts : forall fs c, In c (cuts fs) -> exists pre post, fs = pre ++ post /\ pre <> [] /\ c = numel pre.
Proof.
  induction fs as [|f fs IH]; intros c H; [destruct H|]. destruct H as [<-|H].
  - exists [f], fs. split; [reflexivity|]. split; [discriminate|simpl; ring].
  - apply in_map_iff in H. destruct H as (b & <- & H). destruct (IH b H) as (pre & post & -> & _ & ->).
    exists (f :: pre), post. split; [reflexivity|]. split; [discriminate|reflexivity].
Qed.

Lemma cuts_bound : forall fs c, large fs -> In c (cuts fs) -> 2 <= c <= numel fs.
Proof.
  intros fs c L H. destruct (in_cuts fs c H) as (pre & post & -> & N & ->). apply Forall_app in L.
  destruct L as [L1 L2]. rewrite numel_app. pose proof (large_numel pre L1). pose proof (large_numel post L2).
  destruct pre as [|p pre]; [congruence|]. inversion L1; subst. pose proof (large_numel pre H5). cbn [numel] in *.
  nia.
Qed.

(** What a refinement does below the innermost factor of the coarser split, and past it. *)
Lemma refines_cons : forall a r fs', large (a :: r) -> large fs' -> refines fs' (a :: r) ->
  exists pre post, fs' = pre ++ post /\ numel pre = a /\ refines post r.
Proof.
  intros a r fs' L L' H. destruct (in_cuts fs' a) as (pre & post & -> & _ & E); [apply H; left; reflexivity|].
  exists pre, post. split; [reflexivity|]. split; [congruence|]. intros c C. inversion L; subst.
  pose proof (cuts_bound r c H3 C). apply Forall_app in L'. destruct L' as [L1 L2].
  assert (I : In (numel pre * c) (cuts (pre ++ post))) by (apply H; right; apply in_map; assumption).
  rewrite cuts_app in I. apply in_app_iff in I. destruct I as [I|I].
  - pose proof (cuts_bound pre _ L1 I). nia.
  - apply in_map_iff in I. destruct I as (b & Q & I). replace c with b by nia. assumption.
Qed.

(** A refinement of a split that serves serves. *)
Theorem finer_serves : forall fs n g fs', factors n fs -> factors n fs' -> refines fs' fs ->
  serves n g fs -> serves n g fs'.
Proof.
  induction fs as [|a r IH]; intros n g fs' [F N] [F' N'] R [ds S].
  - simpl in N. rewrite (large_one fs' F') by congruence. exists ds. exact S.
  - destruct ds as [|d ds]; [destruct S; discriminate|].
    destruct (refines_cons a r fs' F F' R) as (pre & post & -> & A & R'). inversion F; subst x l.
    apply Forall_app in F'. destruct F' as [F1 F2]. rewrite numel_app in N'. cbn [numel] in N.
    assert (P : positives r) by (apply large_positives; assumption).
    assert (M : numel post = numel r) by nia.
    pose proof (is_sum_multiples a r n g d ds H1 P ltac:(lia) S) as S'.
    destruct (IH (numel r) (fun y => g (a * y)) post) as [es [L2 T]];
      [split; [assumption|reflexivity]|split; [assumption|assumption]|assumption|exists ds; exact S'|].
    exists (map (Z.mul d) (weights pre) ++ es). split.
    + rewrite !app_length, map_length, weights_length. congruence.
    + intros x X. rewrite digits_app by (apply large_positives; assumption).
      rewrite dot_app by (rewrite map_length, weights_length, digits_length; reflexivity).
      rewrite dot_scaled, dot_weights, A by (apply large_positives; assumption).
      assert (0 <= x / a < numel r) by (split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]).
      pose proof (T (x / a) ltac:(assumption)) as T1. destruct S as [_ S]. destruct S' as [_ S'].
      pose proof (S' (x / a) ltac:(assumption)) as T2. cbv beta in T1, T2. rewrite Z.mul_0_r in T1, T2.
      rewrite (S x X). cbn [digits dot]. lia.
Qed.

(** Two splits that refine each other are the same: the coarsest split is unique. *)
Theorem refines_antisymmetric : forall fs fs', large fs -> large fs' -> refines fs fs' -> refines fs' fs -> fs = fs'.
Proof.
  induction fs as [|a r IH]; intros [|b r'] L L' H H'; [reflexivity| | |].
  1: exfalso; apply (H b); left; reflexivity.
  1: exfalso; apply (H' a); left; reflexivity.
  assert (first : forall a r c, large (a :: r) -> In c (cuts (a :: r)) -> a <= c).
  { clear. intros a r c L [<-|C]; [lia|]. apply in_map_iff in C. destruct C as (e & <- & C). inversion L; subst.
    pose proof (cuts_bound r e H2 C). nia. }
  assert (E : a = b).
  { pose proof (first a r b L (H b ltac:(left; reflexivity))).
    pose proof (first b r' a L' (H' a ltac:(left; reflexivity))). lia. }
  subst b. f_equal. inversion L; inversion L'; subst.
  assert (cancel : forall r r', large r' -> refines (a :: r) (a :: r') -> refines r r').
  { clear - H2. intros r r' L R c C. pose proof (cuts_bound r' c L C).
    assert (I : In (a * c) (cuts (a :: r))) by (apply R; right; apply in_map; assumption).
    destruct I as [I|I]; [nia|]. apply in_map_iff in I. destruct I as (e & Q & I). replace c with e by nia.
    assumption. }
  apply IH; auto.
Qed.

(** * Several loops *)

(** The sum of multiples of the digits of all loops. *)
Fixpoint dots (dss fss : list (list Z)) (i : index) : Z :=
  match dss, fss, i with
  | ds :: dss', fs :: fss', x :: i' => dot ds (digits fs x) + dots dss' fss' i'
  | _, _, _ => 0
  end.

Definition zeros (ns : list Z) : index := map (fun _ => 0) ns.

Definition same_lengths (dss fss : list (list Z)) : Prop :=
  Forall2 (fun ds fs => length ds = length fs) dss fss.

(** A list of splits, one for each loop, serves a function of the loops. *)
Definition serves_all (ns : list Z) (f : index -> Z) (fss : list (list Z)) : Prop :=
  exists dss, same_lengths dss fss /\ forall i, inbox (whole ns) i -> f i = f (zeros ns) + dots dss fss i.

(** What each loop adds by itself, the others at 0. *)
Fixpoint parts (f : index -> Z) (ns : list Z) (i : index) : Z :=
  match ns, i with
  | _ :: ns', x :: i' => (f (x :: zeros ns') - f (0 :: zeros ns')) + parts (fun j => f (0 :: j)) ns' i'
  | _, _ => 0
  end.

Definition separable (ns : list Z) (f : index -> Z) : Prop :=
  forall i, inbox (whole ns) i -> f i = f (zeros ns) + parts f ns i.

(** The function along each loop, the others at 0. *)
Fixpoint lines (f : index -> Z) (ns : list Z) : list (Z -> Z) :=
  match ns with
  | [] => []
  | _ :: ns' => (fun x => f (x :: zeros ns')) :: lines (fun j => f (0 :: j)) ns'
  end.

(** Something of each loop: of its size, its function and its split. *)
Fixpoint each (P : Z -> (Z -> Z) -> list Z -> Prop) (ns : list Z) (gs : list (Z -> Z)) (fss : list (list Z)) : Prop :=
  match ns, gs, fss with
  | [], [], [] => True
  | n :: ns', g :: gs', fs :: fss' => P n g fs /\ each P ns' gs' fss'
  | _, _, _ => False
  end.

Lemma zeros_inbox : forall ns, positives ns -> inbox (whole ns) (zeros ns).
Proof. induction 1; simpl; [exact I|]. split; [lia|assumption]. Qed.

Lemma dots_zero : forall ns fss dss, Forall2 factors ns fss -> dots dss fss (zeros ns) = 0.
Proof.
  induction ns as [|n ns IH]; intros fss dss F; inversion F; subst; destruct dss as [|ds dss]; try reflexivity.
  cbn [zeros map dots]. rewrite dot_zero_digits by (apply large_positives; apply H1).
  change (map (fun _ => 0) ns) with (zeros ns). rewrite IH by assumption. reflexivity.
Qed.

(** Splits of all loops serve a function exactly if it is a sum of one function for each loop, and each split serves
    that of its loop. *)
Theorem several_loops : forall ns f fss, positives ns -> Forall2 factors ns fss ->
  (serves_all ns f fss <-> separable ns f /\ each serves ns (lines f ns) fss).
Proof.
  induction ns as [|n ns IH]; intros f fss P F; inversion F; subst; clear F.
  - split.
    + intros _. split; [|exact I]. intros [|x i] H; [simpl; lia|destruct H].
    + intros _. exists []. split; [constructor|]. intros [|x i] H; [simpl; lia|destruct H].
  - rename y into fs, l' into fss. inversion P as [|? ? N P']; subst x l.
    assert (Z0 : positives fs) by (apply large_positives; apply H1).
    specialize (IH (fun j => f (0 :: j)) fss P' H3). cbn [lines each]. split.
    + intros (dss & L & S). inversion L as [|ds ? dss' ? L1 L2]; subst.
      assert (T : forall i, inbox (whole ns) i -> f (0 :: i) = f (0 :: zeros ns) + dots dss' fss i).
      { intros i I. rewrite (S (0 :: i)) by (split; [simpl; lia|assumption]). cbn [dots].
        rewrite dot_zero_digits by assumption. cbn [zeros map]. change (map (fun _ => 0) ns) with (zeros ns). ring. }
      assert (U : forall x, 0 <= x < n -> f (x :: zeros ns) = f (0 :: zeros ns) + dot ds (digits fs x)).
      { intros x X. rewrite (S (x :: zeros ns)) by (split; [simpl; lia|apply zeros_inbox; assumption]). cbn [dots].
        rewrite (dots_zero ns) by assumption. cbn [zeros map]. change (map (fun _ => 0) ns) with (zeros ns). ring. }
      destruct (proj1 IH) as [V W]; [exists dss'; split; assumption|]. split; [|split; [|assumption]].
      * intros [|x i] I; [destruct I|]. destruct I as [I1 I2]. simpl in I1.
        rewrite (S (x :: i)) by (split; assumption).
        cbn [parts dots zeros map]. change (map (fun _ => 0) ns) with (zeros ns).
        pose proof (V i I2) as V1. cbv beta in V1. pose proof (T i I2). rewrite (U x) by lia. lia.
      * exists ds. split; [assumption|]. intros x X. rewrite (U x) by assumption. reflexivity.
    + intros (V & [ds [L S]] & E). destruct (proj2 IH) as (dss & L' & T).
      { split; [|assumption]. intros i I. pose proof (V (0 :: i) ltac:(split; [simpl; lia|assumption])) as V1.
        cbn [parts zeros map] in V1. change (map (fun _ => 0) ns) with (zeros ns) in V1. lia. }
      exists (ds :: dss). split; [constructor; assumption|]. intros [|x i] I; [destruct I|]. destruct I as [I1 I2].
      simpl in I1. rewrite (V (x :: i)) by (split; assumption). cbn [parts dots zeros map].
      change (map (fun _ => 0) ns) with (zeros ns).
      pose proof (V (0 :: i) ltac:(split; [simpl; lia|assumption])) as V1. cbn [parts zeros map] in V1.
      change (map (fun _ => 0) ns) with (zeros ns) in V1.
      pose proof (T i I2) as T1. cbv beta in T1. rewrite (S x) by lia. lia.
Qed.

Lemma each_finer : forall ns gs fss gss,
  Forall2 factors ns fss -> Forall2 factors ns gss -> Forall2 refines gss fss ->
  each serves ns gs fss -> each serves ns gs gss.
Proof.
  induction ns as [|n ns IH]; intros gs fss gss F G R S; inversion F; subst; inversion G; subst;
    destruct gs as [|g gs];
    simpl in S; try tauto. inversion R; subst. destruct S as [S1 S2]. split.
  - eapply finer_serves; [exact H1|assumption|assumption|assumption].
  - eapply IH; [exact H3|assumption|assumption|assumption].
Qed.

(** ** The procedure for one function *)

Fixpoint runs_each (ns : list Z) (gs : list (Z -> Z)) : option (list (list Z)) :=
  match ns, gs with
  | n :: ns', g :: gs' =>
      match runs (Z.to_nat n) g n, runs_each ns' gs' with Some fs, Some fss => Some (fs :: fss) | _, _ => None end
  | _, _ => Some []
  end.

Fixpoint indices (ns : list Z) : list index :=
  match ns with [] => [[]] | n :: r => flat_map (fun x => map (cons x) (indices r)) (below n) end.

Lemma in_indices : forall ns i, In i (indices ns) <-> inbox (whole ns) i.
Proof.
  induction ns as [|n ns IH]; intros i; cbn [indices].
  - destruct i; simpl; [intuition|]. split; [intros [H|[]]; discriminate|tauto].
  - rewrite in_flat_map. split.
    + intros (x & X & H). apply in_map_iff in H. destruct H as (j & <- & H). apply in_below in X. apply IH in H.
      split; [exact X|exact H].
    + destruct i as [|x i]; [intros []|]. intros [X H]. exists x. split; [apply in_below; exact X|].
      apply in_map, IH, H.
Qed.

Fixpoint steps_each (gs : list (Z -> Z)) (fss : list (list Z)) : list (list Z) :=
  match gs, fss with g :: gs', fs :: fss' => steps g fs :: steps_each gs' fss' | _, _ => [] end.

(** Whether a function is the sum that its steps along each loop make. *)
Definition is_served (ns : list Z) (f : index -> Z) (fss : list (list Z)) : bool :=
  let dss := steps_each (lines f ns) fss in
  forallb (fun i => f i =? f (zeros ns) + dots dss fss i) (indices ns).

Definition candidate (ns : list Z) (f : index -> Z) : option (list (list Z)) :=
  match runs_each ns (lines f ns) with
  | Some fss => if is_served ns f fss then Some fss else None
  | None => None
  end.

Lemma lines_length : forall ns f, length (lines f ns) = length ns.
Proof. induction ns; simpl; intros; congruence. Qed.

Lemma runs_each_factors : forall ns gs fss, positives ns -> length gs = length ns -> runs_each ns gs = Some fss ->
  Forall2 factors ns fss.
Proof.
  induction ns as [|n ns IH]; intros [|g gs] fss P L E; try discriminate; cbn [runs_each] in E.
  - injection E; intros <-. constructor.
  - inversion P; subst. destruct (runs (Z.to_nat n) g n) as [fs|] eqn:R; [|discriminate].
    destruct (runs_each ns gs) as [rest|] eqn:Q; [|discriminate]. injection E; intros <-. constructor.
    + eapply runs_factors; [|exact R]. lia.
    + apply (IH gs); [assumption|simpl in L; congruence|assumption].
Qed.

Lemma runs_each_serve : forall ns gs fss', Forall2 factors ns fss' -> each serves ns gs fss' ->
  exists fss, runs_each ns gs = Some fss /\ each serves ns gs fss /\ Forall2 refines fss' fss.
Proof.
  induction ns as [|n ns IH]; intros gs fss' F S; inversion F; subst; clear F; destruct gs as [|g gs]; simpl in S;
    try tauto.
  - exists []. split; [reflexivity|]. split; [exact I|constructor].
  - destruct S as [S1 S2]. destruct (IH gs l' H3 S2) as (fss & R1 & R2 & R3).
    destruct (runs_serve (Z.to_nat n) n g y) as (fs & Q1 & _ & Q2 & Q3); [lia|assumption|assumption|].
    exists (fs :: fss). cbn [runs_each]. rewrite Q1, R1. split; [reflexivity|]. split; [split; assumption|].
    constructor; assumption.
Qed.

Lemma steps_each_parts : forall ns f fss, Forall2 factors ns fss -> each serves ns (lines f ns) fss ->
  forall i, inbox (whole ns) i -> dots (steps_each (lines f ns) fss) fss i = parts f ns i.
Proof.
  induction ns as [|n ns IH]; intros f fss F E [|x i] I; inversion F; subst; simpl in I; try tauto; try reflexivity.
  cbn [lines each] in E. destruct E as [E1 E2]. destruct I as [I1 I2]. cbn [lines steps_each dots parts].
  rewrite (IH _ _ H3 E2 i I2). destruct (serves_steps _ _ _ H1 E1) as [_ S]. pose proof (S x I1) as S1.
  cbv beta in S1. lia.
Qed.

Lemma steps_each_lengths : forall gs fss, length gs = length fss -> same_lengths (steps_each gs fss) fss.
Proof.
  induction gs as [|g gs IH]; intros [|fs fss] L; try discriminate; constructor; [apply steps_length|].
  apply IH. simpl in L; congruence.
Qed.

Lemma Forall2_same_length : forall (A B : Type) (R : A -> B -> Prop) a b, Forall2 R a b -> length a = length b.
Proof. induction 1; simpl; congruence. Qed.

Lemma is_served_iff : forall ns f fss, positives ns -> Forall2 factors ns fss ->
  (is_served ns f fss = true <-> serves_all ns f fss).
Proof.
  intros ns f fss P F. unfold is_served. rewrite forallb_forall. split.
  - intros H. exists (steps_each (lines f ns) fss). split.
    + apply steps_each_lengths. rewrite lines_length. eapply Forall2_same_length; exact F.
    + intros i I. apply Z.eqb_eq, H, in_indices, I.
  - intros S i I. apply in_indices in I. apply Z.eqb_eq. apply several_loops in S; [|assumption|assumption].
    destruct S as [S E]. rewrite steps_each_parts by assumption. apply S; assumption.
Qed.

(** The procedure for one function is exact: what it finds is the coarsest. *)
Theorem candidate_exact : forall ns f, positives ns ->
  match candidate ns f with
  | Some fss => Forall2 factors ns fss /\ serves_all ns f fss /\
                forall fss', Forall2 factors ns fss' -> serves_all ns f fss' -> Forall2 refines fss' fss
  | None => forall fss', Forall2 factors ns fss' -> ~ serves_all ns f fss'
  end.
Proof.
  intros ns f P. unfold candidate.
  assert (K : forall fss', Forall2 factors ns fss' -> serves_all ns f fss' ->
    exists fss, runs_each ns (lines f ns) = Some fss /\ serves_all ns f fss /\ Forall2 refines fss' fss).
  { intros fss' F S. pose proof S as S0. apply several_loops in S; [|assumption|assumption]. destruct S as [S E].
    destruct (runs_each_serve ns (lines f ns) fss' F E) as (fss & R1 & R2 & R3). exists fss.
    split; [assumption|]. split; [|assumption]. apply several_loops; [assumption| |split; assumption].
    eapply runs_each_factors; [assumption|apply lines_length|exact R1]. }
  destruct (runs_each ns (lines f ns)) as [fss|] eqn:R.
  - pose proof (runs_each_factors _ _ _ P (lines_length ns f) R) as F. destruct (is_served ns f fss) eqn:B.
    + apply is_served_iff in B; [|assumption|assumption]. split; [assumption|]. split; [assumption|].
      intros fss' F' S'. destruct (K fss' F' S') as (gss & E & _ & H). injection E; intros <-. assumption.
    + intros fss' F' S'. destruct (K fss' F' S') as (gss & E & S & _). injection E; intros <-.
      apply is_served_iff in S; [congruence|assumption|assumption].
  - intros fss' F' S'. destruct (K fss' F' S') as (gss & E & _). discriminate.
Qed.

(** * Several functions *)

Definition comparable (a b : Z) : Prop := (a | b) \/ (b | a).

(** Of any two numbers one divides the other. *)
Definition chain (cs : list Z) : Prop := forall a b, In a cs -> In b cs -> comparable a b.

(** A chain in its order: each number past [lo] is a larger multiple of the one before it. *)
Fixpoint linked (lo : Z) (cs : list Z) : Prop :=
  match cs with [] => True | c :: r => lo < c /\ (lo | c) /\ linked c r end.

Lemma linked_above : forall cs lo c, linked lo cs -> In c cs -> lo < c /\ (lo | c).
Proof.
  induction cs as [|a cs IH]; intros lo c L H; [destruct H|]. destruct L as (L1 & L2 & L3). destruct H as [<-|H].
  - split; assumption.
  - destruct (IH a c L3 H). split; [lia|]. eapply Z.divide_trans; eassumption.
Qed.

(** The cuts of a split are a chain. *)
Theorem cuts_chain : forall fs, large fs -> chain (cuts fs).
Proof.
  intros fs L a b A B. destruct (in_cuts fs a A) as (p & q & E & _ & ->).
  destruct (in_cuts fs b B) as (p' & q' & E' & _ & ->). rewrite E in E'. clear - E'. revert p' q q' E'.
  induction p as [|x p IH]; intros [|y p'] q q' E'; simpl in E'.
  - left. apply Z.divide_refl.
  - left. exists (numel (y :: p')). simpl. ring.
  - right. exists (numel (x :: p)). simpl. ring.
  - injection E' as -> E'. destruct (IH p' q q' E') as [D|D]; [left|right]; apply Z.mul_divide_mono_l; assumption.
Qed.

(** Puts a cut into a chain in its order; nothing where some other cut and this one do not divide each other. *)
Fixpoint insert (c : Z) (cs : list Z) : option (list Z) :=
  match cs with
  | [] => Some [c]
  | a :: r => if a mod c =? 0 then (if c mod a =? 0 then Some cs else Some (c :: cs))
              else if c mod a =? 0 then option_map (cons a) (insert c r) else None
  end.

Lemma insert_spec : forall cs lo c, 0 < lo -> linked lo cs -> lo < c -> (lo | c) ->
  match insert c cs with
  | Some cs' => linked lo cs' /\ forall x, In x cs' <-> x = c \/ In x cs
  | None => exists a, In a cs /\ ~ comparable a c
  end.
Proof.
  induction cs as [|a cs IH]; intros lo c LO L C D; cbn [insert].
  - split; [simpl; tauto|]. intros x. simpl. intuition.
  - destruct L as (L1 & L2 & L3).
    destruct (Z.eqb_spec (a mod c) 0) as [A|A]; destruct (Z.eqb_spec (c mod a) 0) as [B|B].
    + apply Z.mod_divide in A, B; [|lia|lia]. assert (a = c) by (apply Z.divide_antisym_nonneg; try assumption; lia).
      subst a. split; [simpl; auto|]. intros x. simpl. intuition.
    + apply Z.mod_divide in A; [|lia]. assert (c <> a) by (intros ->; apply B; apply Z.mod_same; lia).
      pose proof (Z.divide_pos_le c a ltac:(lia) A). split.
      * simpl. split; [assumption|]. split; [assumption|]. split; [lia|]. split; assumption.
      * intros x. simpl. intuition.
    + apply Z.mod_divide in B; [|lia]. assert (c <> a) by (intros ->; apply A; apply Z.mod_same; lia).
      pose proof (Z.divide_pos_le a c ltac:(lia) B). specialize (IH a c ltac:(lia) L3 ltac:(lia) B).
      destruct (insert c cs) as [cs'|]; simpl.
      * destruct IH as [IH1 IH2]. split; [split; [assumption|split; assumption]|]. intros x. rewrite IH2. intuition.
      * destruct IH as (e & E1 & E2). exists e. split; [right; assumption|assumption].
    + exists a. split; [left; reflexivity|]. intros [K|K]; apply Z.mod_divide in K; try lia.
Qed.

Fixpoint insert_all (ws cs : list Z) : option (list Z) :=
  match ws with
  | [] => Some cs
  | w :: r => match insert w cs with Some cs' => insert_all r cs' | None => None end
  end.

Lemma insert_all_spec : forall ws cs, linked 1 cs -> Forall (fun w => 2 <= w) ws ->
  match insert_all ws cs with
  | Some cs' => linked 1 cs' /\ forall x, In x cs' <-> In x ws \/ In x cs
  | None => exists a b, In a ws /\ (In b ws \/ In b cs) /\ ~ comparable a b
  end.
Proof.
  induction ws as [|w ws IH]; intros cs L F; cbn [insert_all].
  - split; [assumption|]. intros x. simpl. tauto.
  - inversion F; subst. pose proof (insert_spec cs 1 w ltac:(lia) L ltac:(lia) (Z.divide_1_l w)) as S.
    destruct (insert w cs) as [cs1|].
    + destruct S as [S1 S2]. specialize (IH cs1 S1 H2). destruct (insert_all ws cs1) as [cs2|].
      * destruct IH as [IH1 IH2]. split; [assumption|]. intros x. rewrite IH2, S2. simpl. intuition.
      * destruct IH as (a & b & A & B & C). exists a, b. split; [right; assumption|]. split; [|assumption].
        rewrite S2 in B. simpl. intuition.
    + destruct S as (a & A & B). exists w, a. split; [left; reflexivity|]. split; [right; assumption|].
      unfold comparable in *. tauto.
Qed.

(** The factors between the cuts of a chain. *)
Fixpoint between (lo : Z) (cs : list Z) : list Z :=
  match cs with [] => [] | c :: r => c / lo :: between c r end.

Lemma between_cuts : forall cs lo, 0 < lo -> linked lo cs ->
  large (between lo cs) /\ map (Z.mul lo) (cuts (between lo cs)) = cs.
Proof.
  induction cs as [|c cs IH]; intros lo LO L; [split; [constructor|reflexivity]|]. destruct L as (L1 & [q L2] & L3).
  subst c. destruct (IH (q * lo) ltac:(lia) L3) as [I1 I2]. cbn [between]. rewrite Z.div_mul by lia.
  split; [constructor; [nia|assumption]|]. cbn [cuts map]. f_equal; [ring|]. rewrite map_map.
  rewrite <- I2 at 2. apply map_ext. intros; ring.
Qed.

(** A chain of divisors of a size, the size among them where it is not 1. *)
Definition chain_of (n : Z) (cs : list Z) : Prop := linked 1 cs /\ Forall (fun c => (c | n))
  cs /\ (2 <= n -> In n cs).

Definition uncut (n : Z) : list Z := if n <=? 1 then [] else [n].

Lemma uncut_chain : forall n, 0 < n -> chain_of n (uncut n).
Proof.
  intros n N. unfold uncut. destruct (Z.leb_spec n 1).
  - split; [exact I|]. split; [constructor|lia].
  - split; [simpl; split; [lia|split; [apply Z.divide_1_l|exact I]]|].
    split; [repeat constructor; apply Z.divide_refl|].
    intros _. left; reflexivity.
Qed.

Lemma between_factors : forall n cs, 0 < n -> chain_of n cs -> factors n (between 1 cs) /\ cuts (between 1 cs) = cs.
Proof.
  intros n cs N (L & D & H). destruct (between_cuts cs 1 ltac:(lia) L) as [B1 B2].
  assert (B3 : cuts (between 1 cs) = cs).
  { rewrite <- B2 at 2. rewrite <- (map_id (cuts (between 1 cs))) at 1. apply map_ext. intros; lia. }
  split; [|assumption]. split; [assumption|]. pose proof (large_numel _ B1). destruct (Z.eq_dec n 1) as [->|].
  - destruct cs as [|c cs]; [reflexivity|]. inversion D; subst. destruct L as [L1 _].
    pose proof (Z.divide_pos_le c 1 ltac:(lia) H3). lia.
  - assert (I : In n (cuts (between 1 cs))) by (rewrite B3; apply H; lia). pose proof (cuts_bound _ n B1 I).
    assert (J : In (numel (between 1 cs)) cs).
    { rewrite <- B3 at 2. apply cuts_size. intros E. rewrite E in I. destruct I. }
    rewrite Forall_forall in D. pose proof (Z.divide_pos_le _ n ltac:(lia) (D _ J)). lia.
Qed.

Fixpoint join_each (fss css : list (list Z)) : option (list (list Z)) :=
  match fss, css with
  | fs :: fss', cs :: css' =>
      match insert_all (cuts fs) cs, join_each fss' css' with
      | Some cs', Some rest => Some (cs' :: rest)
      | _, _ => None
      end
  | _, _ => Some []
  end.

Fixpoint join_functions (ns : list Z) (funs : list (index -> Z)) (css : list (list Z)) : option (list (list Z)) :=
  match funs with
  | [] => Some css
  | f :: rest =>
      match candidate ns f with
      | Some fss => match join_each fss css with Some css' => join_functions ns rest css' | None => None end
      | None => None
      end
  end.

(** The coarsest splits of all loops that serve all functions, if there are any: the factors of each loop, innermost
    first. *)
Definition decide_splits (ns : list Z) (funs : list (index -> Z)) : option (list (list Z)) :=
  option_map (map (between 1)) (join_functions ns funs (map uncut ns)).

(** Splits that cut wherever chains do. *)
Definition cut_at (fss css : list (list Z)) : Prop := Forall2 (fun fs cs => incl cs (cuts fs)) fss css.

Lemma factors_cuts : forall n fs, factors n fs -> Forall (fun c => 2 <= c /\ (c | n)) (cuts fs).
Proof.
  intros n fs [F N]. apply Forall_forall. intros c C. pose proof (cuts_bound fs c F C). split; [lia|].
  destruct (in_cuts fs c C) as (p & q & -> & _ & ->). rewrite numel_app in N. exists (numel q). lia.
Qed.

Lemma join_each_spec : forall ns fss css, Forall2 factors ns fss -> Forall2 chain_of ns css ->
  match join_each fss css with
  | Some css' => Forall2 chain_of ns css' /\ Forall2 (fun cs cs' => incl cs cs') css css' /\
                 Forall2 (fun fs cs' => incl (cuts fs) cs') fss css' /\
                 (forall gss, Forall2 refines gss fss -> cut_at gss css -> cut_at gss css')
  | None => forall gss, Forall large gss -> Forall2 refines gss fss -> ~ cut_at gss css
  end.
Proof.
  induction ns as [|n ns IH]; intros fss css F C; inversion F as [|? fs ? fss' F1 F2]; subst;
    inversion C as [|? cs ? css' C0 C4]; subst; cbn [join_each].
  - split; [constructor|]. split; [constructor|]. split; [constructor|]. intros gss _ H; exact H.
  - specialize (IH fss' css' F2 C4). pose proof (factors_cuts n fs F1) as FC. destruct C0 as (C1 & C2 & C3).
    assert (FC2 : Forall (fun w => 2 <= w) (cuts fs)) by (eapply Forall_impl; [|exact FC]; simpl; tauto).
    pose proof (insert_all_spec (cuts fs) cs C1 FC2) as S. rewrite Forall_forall in FC, C2.
    destruct (insert_all (cuts fs) cs) as [cs1|].
    + destruct S as [S1 S2]. destruct (join_each fss' css') as [css1|].
      * destruct IH as (I1 & I2 & I3 & I4). split; [|split; [|split]].
        -- constructor; [|assumption]. split; [assumption|]. split.
           ++ apply Forall_forall. intros x X. apply S2 in X. destruct X as [X|X]; [apply FC in X; tauto|apply C2, X].
           ++ intros N. apply S2. right. apply C3; assumption.
        -- constructor; [|assumption]. intros x X. apply S2. right; assumption.
        -- constructor; [|assumption]. intros x X. apply S2. left; assumption.
        -- intros gss R G. inversion R as [|gs ? gss' ? R1 R2]; subst. inversion G as [|? ? ? ? G1 G2]; subst.
           constructor; [|apply I4; assumption]. intros x X. apply S2 in X.
           destruct X as [X|X]; [apply R1, X|apply G1, X].
      * intros gss LG R G. inversion R as [|gs ? gss' ? R1 R2]; subst. inversion G as [|? ? ? ? G1 G2]; subst.
        inversion LG; subst. apply (IH gss'); assumption.
    + destruct S as (a & b & A & B & K). intros gss LG R G. inversion R as [|gs ? gss' ? R1 R2]; subst.
      inversion G as [|? ? ? ? G1 G2]; subst. inversion LG as [|? ? LG1 LG2]; subst.
      apply K. apply (cuts_chain gs); [assumption|apply R1, A|]. destruct B as [B|B]; [apply R1, B|apply G1, B].
Qed.

Lemma cut_at_mono : forall gss css css', Forall2 (fun cs cs' : list Z => incl cs cs') css css' -> cut_at gss css' ->
  cut_at gss css.
Proof.
  intros gss css css' H. revert gss. induction H; intros gss G; inversion G; subst; constructor.
  - intros c C. apply H4, H, C.
  - apply IHForall2; assumption.
Qed.

Lemma join_functions_spec : forall funs ns css, positives ns -> Forall2 chain_of ns css ->
  match join_functions ns funs css with
  | Some css' => Forall2 chain_of ns css' /\ Forall2 (fun cs cs' => incl cs cs') css css' /\
                 (forall gss,
                   Forall2 factors ns gss -> cut_at gss css' -> Forall (fun f => serves_all ns f gss) funs) /\
                 (forall gss,
                   Forall2 factors ns gss -> Forall (fun f => serves_all ns f gss) funs -> cut_at gss css ->
                    cut_at gss css')
  | None => forall gss, Forall2 factors ns gss -> Forall (fun f => serves_all ns f gss) funs -> ~ cut_at gss css
  end.
Proof.
  induction funs as [|f funs IH]; intros ns css P C; cbn [join_functions].
  - split; [assumption|]. split; [|split; [constructor|auto]]. clear.
    induction css; constructor; [apply incl_refl|assumption].
  - pose proof (candidate_exact ns f P) as CA. destruct (candidate ns f) as [fss|].
    + destruct CA as (A1 & A2 & A3). pose proof (join_each_spec ns fss css A1 C) as J.
      destruct (join_each fss css) as [css1|].
      * destruct J as (J1 & J2 & J3 & J4). specialize (IH ns css1 P J1).
        destruct (join_functions ns funs css1) as [css2|].
        -- destruct IH as (I1 & I2 & I3 & I4). split; [assumption|]. split; [|split].
           ++ clear - J2 I2. revert css2 I2. induction J2; intros css2 I2; inversion I2; subst; constructor.
              ** eapply incl_tran; eassumption.
              ** apply IHJ2; assumption.
           ++ intros gss G K. constructor; [|apply I3; assumption].
              apply several_loops; [assumption|assumption|]. apply several_loops in A2; [|assumption|assumption].
              destruct A2 as [A2 A4]. split; [assumption|].
              assert (K1 : cut_at gss css1) by (eapply cut_at_mono; eassumption).
              apply (each_finer ns _ fss); [assumption|assumption| |assumption].
              clear - J3 K1. revert gss K1. induction J3; intros gss K1; inversion K1; subst; constructor.
              ** eapply incl_tran; eassumption.
              ** apply IHJ3; assumption.
           ++ intros gss G S K. inversion S; subst. apply I4; [assumption|assumption|]. apply J4; [|assumption].
              apply A3; assumption.
        -- intros gss G S K. inversion S; subst. apply (IH gss); [assumption|assumption|]. apply J4; [|assumption].
           apply A3; assumption.
      * intros gss G S K. inversion S; subst. apply (J gss); [|apply A3; assumption|assumption].
        clear - G. induction G; constructor; [apply H|assumption].
    + intros gss G S. inversion S; subst. exfalso. apply (CA gss); assumption.
Qed.

Lemma cut_at_uncut : forall ns gss, Forall2 factors ns gss -> cut_at gss (map uncut ns).
Proof.
  induction 1; constructor; [|assumption]. destruct H as [L N]. unfold uncut. destruct (Z.leb_spec x 1).
  - intros c [].
  - intros c [<-|[]]. rewrite <- N. apply cuts_size. intros ->. simpl in N. lia.
Qed.

(** The procedure is exact: it answers splits exactly if some splits of all loops serve all functions; those that it
    answers do, and all others that do refine them. *)
Theorem decide_splits_exact : forall ns funs, positives ns ->
  match decide_splits ns funs with
  | Some fss => Forall2 factors ns fss /\ Forall (fun f => serves_all ns f fss) funs /\
                forall gss,
                  Forall2 factors ns gss -> Forall (fun f => serves_all ns f gss) funs -> Forall2 refines gss fss
  | None => forall gss, Forall2 factors ns gss -> ~ Forall (fun f => serves_all ns f gss) funs
  end.
Proof.
  intros ns funs P. unfold decide_splits.
  assert (C : Forall2 chain_of ns (map uncut ns)).
  { clear funs. induction P; constructor; [apply uncut_chain; assumption|assumption]. }
  pose proof (join_functions_spec funs ns (map uncut ns) P C) as J.
  destruct (join_functions ns funs (map uncut ns)) as [css|]; cbn [option_map].
  - destruct J as (J1 & _ & J3 & J4).
    assert (B : Forall2 factors ns (map (between 1) css) /\ Forall2 (fun fs cs => cuts fs = cs) (map (between 1)
      css) css).
    { clear - P J1. induction J1; [split; constructor|]. inversion P; subst. destruct (IHJ1 H3).
      destruct (between_factors x y H2 H). split; constructor; assumption. }
    destruct B as [B1 B2]. split; [assumption|]. split.
    + apply J3; [assumption|]. clear - B2. induction B2; constructor; [|assumption]. subst. apply incl_refl.
    + intros gss G S. specialize (J4 gss G S (cut_at_uncut ns gss G)). clear - J4 B2. revert gss J4.
      induction B2; intros gss J4; inversion J4; subst; constructor; [|apply IHB2; assumption].
      unfold refines. assumption.
  - intros gss G S. apply (J gss G S). apply cut_at_uncut; assumption.
Qed.

(** Two answers are the same: there is one list of coarsest splits. *)
Theorem coarsest_splits_unique : forall ns fss gss, Forall2 factors ns fss -> Forall2 factors ns gss ->
  Forall2 refines fss gss -> Forall2 refines gss fss -> fss = gss.
Proof.
  intros ns fss gss F. revert gss. induction F; intros gss G R R'; inversion G; subst; [reflexivity|].
  inversion R; subst. inversion R'; subst. f_equal; [|apply IHF; assumption].
  destruct H, H2. apply refines_antisymmetric; assumption.
Qed.

(** The same without a procedure. *)

Lemma each_coarsest : forall ns gs fss, positives ns -> Forall2 factors ns fss -> each serves ns gs fss ->
  exists own, each coarsest ns gs own.
Proof.
  induction ns as [|n ns IH]; intros gs fss P F S; inversion F as [|? fs0 ? fss0 F1 F2]; subst;
    destruct gs as [|g gs]; simpl in S; try tauto.
  - exists []. exact I.
  - destruct S as [S1 S2]. inversion P as [|? ? P1 P2]; subst. destruct (IH gs fss0 P2 F2 S2) as [own O].
    pose proof (split_loop_exact n g ltac:(lia)) as E. destruct (split_loop g n) as [fs|].
    + exists (fs :: own). split; assumption.
    + exfalso. apply (E fs0); assumption.
Qed.

Lemma each_coarsest_parts : forall ns gs own, each coarsest ns gs own ->
  Forall2 factors ns own /\ each serves ns gs own /\
  forall fss, Forall2 factors ns fss -> each serves ns gs fss -> Forall2 refines fss own.
Proof.
  induction ns as [|n ns IH]; intros [|g gs] [|fs own] O; simpl in O; try tauto.
  - split; [constructor|]. split; [exact I|]. intros fss F _. inversion F; subst; constructor.
  - destruct O as [(O1 & O2 & O3) O]. destruct (IH gs own O) as (I1 & I2 & I3). split; [constructor; assumption|].
    split; [split; assumption|]. intros fss F S. inversion F; subst. destruct S as [S1 S2].
    constructor; [apply O3; assumption|apply I3; assumption].
Qed.

(** Splits that refine all that are given, where the cuts of these are chains. *)
Lemma chains_joined : forall ns own, positives ns -> Forall (Forall2 factors ns) own ->
  (forall l, chain (concat (map (fun fss => cuts (nth l fss [])) own))) ->
  exists gss, Forall2 factors ns gss /\ Forall (Forall2 refines gss) own.
Proof.
  induction ns as [|n ns IH]; intros own P F C.
  - exists []. split; [constructor|]. eapply Forall_impl; [|exact F]. intros fss H. inversion H; subst; constructor.
  - inversion P; subst. destruct (IH (map (@tl _) own)) as (gss & G1 & G2); [assumption| | |].
    + rewrite Forall_map. eapply Forall_impl; [|exact F]. intros fss H. inversion H; subst. assumption.
    + intros l. specialize (C (S l)). rewrite map_map.
      assert (E : map (fun fss => cuts (nth l (tl fss) [])) own = map (fun fss => cuts (nth (S l) fss [])) own).
      { apply map_ext. intros [|fs fss]; [destruct l; reflexivity|reflexivity]. }
      rewrite E. exact C.
    + specialize (C O). set (ws := concat (map (fun fss => cuts (nth 0 fss [])) own)) in *.
      assert (W : Forall (fun c => 2 <= c /\ (c | n)) ws).
      { apply Forall_concat. rewrite Forall_map. eapply Forall_impl; [|exact F]. intros fss H. inversion H; subst.
        simpl. apply factors_cuts. assumption. }
      destruct (uncut_chain n H1) as (U1 & U2 & U3).
      assert (W2 : Forall (fun w => 2 <= w) ws) by (eapply Forall_impl; [|exact W]; simpl; tauto).
      pose proof (insert_all_spec ws (uncut n) U1 W2) as J. destruct (insert_all ws (uncut n)) as [cs|].
      * destruct J as [J1 J2]. destruct (between_factors n cs H1) as [B1 B2].
        { split; [assumption|]. split; [|intros; apply J2; right; apply U3; assumption].
          apply Forall_forall. intros x X. apply J2 in X. rewrite Forall_forall in W, U2.
          destruct X as [X|X]; [apply W, X|apply U2, X]. }
        exists (between 1 cs :: gss). split; [constructor; assumption|]. rewrite Forall_forall in *. intros fss O.
        specialize (F fss O). inversion F; subst. specialize (G2 l' (in_map (@tl _) own (y :: l') O)).
        constructor; [|assumption]. intros c X. rewrite B2. apply J2. left. unfold ws. apply in_concat.
        exists (cuts y). split; [|assumption]. apply in_map_iff. exists (y :: l'). split; [reflexivity|assumption].
      * exfalso. destruct J as (a & b & A & B & K). apply K. destruct B as [B|B]; [apply C; assumption|].
        unfold uncut in B. destruct (n <=? 1); [destruct B|]. destruct B as [<-|[]]. left.
        rewrite Forall_forall in W. apply W, A.
Qed.

(** There are splits of all loops that serve all functions exactly if each function is a sum of one for each loop,
    each of these has a split, and for each loop the cuts of the coarsest ones are a chain. *)
Theorem common_splits : forall ns funs, positives ns ->
  (exists fss, Forall2 factors ns fss /\ Forall (fun f => serves_all ns f fss) funs) <->
  exists own, Forall2 (fun f fss => separable ns f /\ each coarsest ns (lines f ns) fss) funs own /\
              forall l, chain (concat (map (fun fss => cuts (nth l fss [])) own)).
Proof.
  intros ns funs P. split.
  - intros (fss & F & S).
    assert (O : exists own, Forall2 (fun f fss => separable ns f /\ each coarsest ns (lines f ns) fss) funs own /\
                  Forall (Forall2 refines fss) own).
    { induction S as [|f funs S1 S2 IH]; [exists []; split; constructor|]. destruct IH as (own & O1 & O2).
      apply several_loops in S1; [|assumption|assumption]. destruct S1 as [S1 S3].
      destruct (each_coarsest ns _ fss P F S3) as [o O]. exists (o :: own).
      split; [constructor; [split; assumption|assumption]|].
      constructor; [|assumption]. apply each_coarsest_parts in O. apply O; assumption. }
    destruct O as (own & O1 & O2). exists own. split; [assumption|]. intros l a b A B.
    assert (L : Forall large fss) by (clear - F; induction F; constructor; [apply H|assumption]).
    assert (K : forall c, In c (concat (map (fun fs => cuts (nth l fs [])) own)) -> In c (cuts (nth l fss []))).
    { intros c X. apply in_concat in X. destruct X as (cs & X & Y). apply in_map_iff in X. destruct X as (o & <- & X).
      rewrite Forall_forall in O2. specialize (O2 o X). clear - O2 Y. revert l Y.
      induction O2 as [|gs fs gss o H _ IH]; intros [|l] Y; simpl in *; try tauto; [apply H, Y|apply IH, Y]. }
    apply (cuts_chain (nth l fss [])); [|apply K; assumption|apply K; assumption].
    destruct (nth_in_or_default l fss []) as [I| ->]; [|constructor]. rewrite Forall_forall in L. apply L, I.
  - intros (own & O & C).
    assert (F : Forall (Forall2 factors ns) own).
    { clear - O. induction O; constructor; [|assumption]. destruct H as [_ H]. apply each_coarsest_parts in H.
      apply H. }
    destruct (chains_joined ns own P F C) as (gss & G1 & G2). exists gss. split; [assumption|].
    clear - O G1 G2 P. induction O as [|f fss funs own [S1 S2] _ IH]; constructor; inversion G2; subst; [|apply IH;
      assumption].
    apply each_coarsest_parts in S2. destruct S2 as (S2 & S3 & _). apply several_loops; [assumption|assumption|].
    split; [assumption|]. apply (each_finer ns _ fss); assumption.
Qed.

(** * Factors that may be 1 *)

(** Factors of 1 change nothing. *)
Fixpoint drop_ones (fs ds : list Z) : list Z * list Z :=
  match fs, ds with
  | f :: fs', d :: ds' =>
      let (gs, es) := drop_ones fs' ds' in if f =? 1 then (gs, es) else (f :: gs, d :: es)
  | _, _ => ([], [])
  end.

Lemma drop_ones_spec : forall fs ds, positives fs -> length ds = length fs ->
  let (gs, es) := drop_ones fs ds in
  large gs /\ numel gs = numel fs /\ length es = length gs /\ (length gs <= length fs)%nat /\
  forall x, dot es (digits gs x) = dot ds (digits fs x).
Proof.
  induction fs as [|f fs IH]; intros [|d ds] P L; try discriminate; cbn [drop_ones].
  - split; [constructor|]. split; [reflexivity|]. split; [reflexivity|]. split; [simpl; lia|reflexivity].
  - inversion P; subst. specialize (IH ds H2 ltac:(simpl in L; congruence)). destruct (drop_ones fs ds) as [gs es].
    destruct IH as (I1 & I2 & I3 & I4 & I5). destruct (Z.eqb_spec f 1) as [->|].
    + split; [assumption|]. split; [cbn [numel]; lia|]. split; [assumption|]. split; [simpl; lia|]. intros x.
      cbn [digits dot]. rewrite Z.mod_1_r, Z.div_1_r, I5. ring.
    + split; [constructor; [lia|assumption]|]. split; [cbn [numel]; congruence|]. split; [simpl; congruence|].
      split; [simpl; lia|]. intros x. cbn [digits dot]. rewrite I5. reflexivity.
Qed.

Lemma naturals_positive : forall fs, Forall (fun f => 0 <= f) fs -> 0 < numel fs -> positives fs.
Proof.
  induction 1 as [|f fs F _ IH]; intros N; [constructor|]. cbn [numel] in N.
  assert (f <> 0) by (intros ->; lia). constructor; [lia|]. apply IH. nia.
Qed.

(** Without factors of 1 a list of factors is a split that adds the same. *)
Lemma composition_splits : forall ns fss dss,
  positives ns -> Forall2 (fun n fs => Forall (fun f => 0 <= f) fs /\ numel fs = n) ns fss -> same_lengths dss fss ->
  exists gss ess, Forall2 factors ns gss /\ same_lengths ess gss /\
    Forall2 (fun gs fs : list Z => (length gs <= length fs)%nat) gss fss /\
    forall c, dots ess gss c = dots dss fss c.
Proof.
  induction ns as [|n ns IH]; intros fss dss P F L; inversion F as [|? fs ? fss' [F1 F2] F3]; subst;
    inversion L as [|ds ? dss' ? L1 L2]; subst.
  - exists [], []. split; [constructor|]. split; [constructor|]. split; [constructor|reflexivity].
  - inversion P as [|? ? P1 P2]; subst. pose proof (naturals_positive fs F1 P1) as PF.
    destruct (IH fss' dss' P2 F3 L2) as (gss & ess & G1 & G2 & G3 & G4).
    pose proof (drop_ones_spec fs ds PF L1) as D. destruct (drop_ones fs ds) as [gs es].
    destruct D as (D1 & D2 & D3 & D4 & D5).
    exists (gs :: gss), (es :: ess). split; [constructor; [split; congruence|assumption]|].
    split; [constructor; assumption|]. split; [constructor; assumption|]. intros [|x c]; [reflexivity|].
    cbn [dots]. rewrite D5, G4. reflexivity.
Qed.

(** Where sizes and factors are names, all this is said of each of their values, and factors may be 1 there.  A split by
    names whose digits serve a function at some values is, without those factors, a split that serves there; and there
    is a coarsest one, which it refines. *)
Theorem named_splits_refine : forall ns f fss, positives ns ->
  Forall2 (fun n fs => Forall (fun f => 0 <= f) fs /\ numel fs = n) ns fss -> serves_all ns f fss ->
  exists gss hss, Forall2 factors ns gss /\ Forall2 (fun gs fs : list Z => (length gs <= length fs)%nat) gss fss /\
    serves_all ns f gss /\ candidate ns f = Some hss /\ Forall2 refines gss hss.
Proof.
  intros ns f fss P F (dss & L & S). destruct (composition_splits ns fss dss P F L) as (gss & ess & G1 & G2 & G3 & G4).
  assert (SG : serves_all ns f gss) by (exists ess; split; [assumption|]; intros i I; rewrite G4; apply S, I).
  pose proof (candidate_exact ns f P) as C. destruct (candidate ns f) as [hss|]; [|exfalso; exact (C gss G1 SG)].
  destruct C as (_ & _ & C). exists gss, hss. repeat split; try assumption. apply C; assumption.
Qed.

(** Cuts that are guessed from divisors prove nothing where they do not serve: here the divisor is 4, and at every size
    a cut by 2 serves and one by 4 does not. *)
Example divisors_are_no_runs : forall m, 1 <= m ->
  let g := fun x => (x + 1) / 4 + (x + 3) / 4 in serves (4 * m) g [2; 2 * m] /\ ~ serves (4 * m) g [4; m].
Proof.
  intros m M g. split.
  - exists [1; 1]. split; [reflexivity|]. intros x X. change (g 0) with 0. unfold g. cbn [digits dot].
    rewrite (Z.mod_small (x / 2)) by (split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]).
    Z.div_mod_to_equations. lia.
  - intros (ds & L & S). destruct ds as [|d [|e [|? ?]]]; try discriminate. pose proof (S 1 ltac:(lia)) as S1.
    pose proof (S 2 ltac:(lia)) as S2. change (1 = 0 + (d * 1 + (e * (0 mod m) + 0))) in S1.
    change (1 = 0 + (d * 2 + (e * (0 mod m) + 0))) in S2. rewrite Z.mod_0_l in S1, S2 by lia. lia.
Qed.

(** All this is for functions of all indices.  Of one that counts at some of them only there may be no coarsest
    split: at 0, 2 and 3 of a loop of 6 the values 0, 2 and 5 are sums of digits for either of two splits that do not
    refine each other, and not without a split. *)
Definition serves_where (P : Z -> Prop) (g : Z -> Z) (fs : list Z) : Prop :=
  exists ds, length ds = length fs /\ forall x, P x -> g x = g 0 + dot ds (digits fs x).

Example no_coarsest_under_a_guard :
  let P := fun x => x = 0 \/ x = 2 \/ x = 3 in
  let g := fun x => if x =? 2 then 2 else if x =? 3 then 5 else 0 in
  factors 6 [2; 3] /\ factors 6 [3; 2] /\ serves_where P g [2; 3] /\ serves_where P g [3; 2] /\
  ~ refines [2; 3] [3; 2] /\ ~ refines [3; 2] [2; 3] /\ ~ serves_where P g [6].
Proof.
  repeat split; try (repeat constructor; lia).
  - exists [3; 2]. split; [reflexivity|]. intros x [->|[->| ->]]; reflexivity.
  - exists [1; 5]. split; [reflexivity|]. intros x [->|[->| ->]]; reflexivity.
  - intros H. destruct (H 3 ltac:(left; reflexivity)) as [E|[E|[]]]; discriminate.
  - intros H. destruct (H 2 ltac:(left; reflexivity)) as [E|[E|[]]]; discriminate.
  - intros ([|d [|e ds]] & L & S); try discriminate. pose proof (S 2 ltac:(tauto)) as S2.
    pose proof (S 3 ltac:(tauto)) as S3.
    change (2 = 0 + (d * 2 + 0)) in S2. change (5 = 0 + (d * 3 + 0)) in S3. lia.
Qed.

(** A loop of 12 with runs of 2, and with runs of 3; two loops that carry into each other; and a loop of 7. *)
Example splits_examples :
  let i2 := fun i => match i with [x] => x / 2 + x mod 2 * 9 | _ => 0 end in
  let i3 := fun i => match i with [x] => x / 3 + x mod 3 * 9 | _ => 0 end in
  let i6 := fun i => match i with [x] => x / 6 + x mod 6 * 9 | _ => 0 end in
  let ij := fun i => match i with [x; y] => (x + y) / 2 | _ => 0 end in
  decide_splits [12] [i2] = Some [[2; 6]] /\ decide_splits [12] [i2; i6] = Some [[2; 3; 2]] /\
  decide_splits [12] [i2; i3] = None /\ decide_splits [7] [i2] = None /\
  decide_splits [2; 2] [ij] = None /\ decide_splits [2; 2] [] = Some [[2]; [2]].
Proof. repeat split; vm_compute; reflexivity. Qed.
