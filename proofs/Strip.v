(** Three terms of which the last divides the others: a point of a strip in a rectangle, counted by floor sums.

    This settles such an equation in as many steps as Euclid's algorithm takes, whatever the sizes. *)

From Coq Require Import ZArith Lia List Bool.
From Shapetracker Require Import View Overflow Equation.
Import ListNotations.
Open Scope Z_scope.

(** One term left: it is a division. *)
Theorem one_term : forall w n W, 0 < w -> (solvable [(w, n)] W <-> (w | W) /\ 0 <= W / w < n).
Proof.
  intros w n W Hw. rewrite solvable_cons. split.
  - intros (v & V & S). apply solvable_nil in S. assert (E : W = v * w) by lia. rewrite E.
    split; [exists v; reflexivity|].
    rewrite Z.div_mul by lia. assumption.
  - intros [[k K] V]. rewrite K, Z.div_mul in V by lia. exists k. split; [assumption|]. apply solvable_nil. lia.
Qed.

(** * The strip *)

(** A last weight [c] that divides all others turns the equation into a question about a strip: c divides the target,
    and the other terms, divided by c, can sum to a value in a range. *)
Theorem strip : forall c n ts W, 0 < c -> 0 < n ->
  (solvable (map (fun t => (c * fst t, snd t)) ts ++ [(c, n)]) W <->
   (c | W) /\ exists V, W / c - (n - 1) <= V <= W / c /\ solvable ts V).
Proof.
  intros c n ts W Hc Hn. rewrite solvable_app.
  assert (SC : forall V, solvable (map (fun t => (c * fst t, snd t)) ts) V <-> exists U, V = c * U /\ solvable ts U).
  { induction ts as [|[w k] ts IH]; intros V; simpl.
    - rewrite solvable_nil. split.
      + intros ->. exists 0. rewrite solvable_nil. lia.
      + intros (U & -> & S). apply solvable_nil in S. subst. ring.
    - rewrite solvable_cons. split.
      + intros (v & Hv & S). apply IH in S. destruct S as (U & E & S). exists (U + w * v). split; [lia|].
        apply solvable_cons. exists v. split; [assumption|]. replace (U + w * v - w * v) with U by ring. assumption.
      + intros (U & -> & S). apply solvable_cons in S. destruct S as (v & Hv & S). exists v. split; [assumption|].
        apply IH. exists (U - w * v). split; [ring|assumption]. }
  split.
  - intros (V & S1 & S2). apply SC in S1. destruct S1 as (U & -> & S1). apply one_term in S2; [|assumption].
    destruct S2 as [[k K] S2]. rewrite K, Z.div_mul in S2 by lia.
    assert (E : W = (U + k) * c) by lia. rewrite E, Z.div_mul by lia. split; [exists (U + k); reflexivity|].
    exists U. split; [lia|assumption].
  - intros [[k K] (V & R & S)]. rewrite K, Z.div_mul in R by lia. exists (c * V). split; [apply SC; exists V; auto|].
    apply one_term; [assumption|]. replace (W - c * V) with ((k - V) * c) by lia. split; [exists (k - V); reflexivity|].
    rewrite Z.div_mul by lia. lia.
Qed.

(** The strip with two terms, in the words of the procedure: does L <= a x + b y <= U have a point in a rectangle? *)
Corollary strip_of_two : forall c n a b N M W, 0 < c -> 0 < n ->
  (solvable [(c * a, N); (c * b, M); (c, n)] W <->
   (c | W) /\ exists x y, 0 <= x < N /\ 0 <= y < M /\ W / c - (n - 1) <= a * x + b * y <= W / c).
Proof.
  intros c n a b N M W Hc Hn. rewrite (strip c n [(a, N); (b, M)] W Hc Hn). split; intros [D H]; (split; [exact D|]).
  - destruct H as (V & R & S). apply solvable_cons in S. destruct S as (x & X & S). apply solvable_cons in S.
    destruct S as (y & Y & S). apply solvable_nil in S. exists x, y. repeat split; lia.
  - destruct H as (x & y & X & Y & R). exists (a * x + b * y). split; [assumption|].
    apply solvable_cons. exists x. split; [assumption|]. apply solvable_cons. exists y. split; [assumption|].
    apply solvable_nil. lia.
Qed.

(** * Sums *)

Fixpoint sum (n : nat) (f : Z -> Z) : Z := match n with O => 0 | S k => sum k f + f (Z.of_nat k) end.

Lemma sum_ext : forall n f g, (forall x, 0 <= x < Z.of_nat n -> f x = g x) -> sum n f = sum n g.
Proof.
  induction n as [|n IH]; intros f g H; simpl; [reflexivity|]. rewrite (IH f g), (H (Z.of_nat n)); [reflexivity|lia|].
  intros x X. apply H. lia.
Qed.

Lemma sum_plus : forall n f g, sum n (fun x => f x + g x) = sum n f + sum n g.
Proof. induction n as [|n IH]; intros; simpl; [reflexivity|]. rewrite IH. ring. Qed.

Lemma sum_scale : forall n c f, sum n (fun x => c * f x) = c * sum n f.
Proof. induction n as [|n IH]; intros; simpl; [ring|]. rewrite IH. ring. Qed.

Lemma sum_const : forall n c, sum n (fun _ => c) = c * Z.of_nat n.
Proof. induction n as [|n IH]; intros; [simpl; ring|]. cbn [sum]. rewrite IH. lia. Qed.

Lemma sum_first : forall n f, sum (S n) f = f 0 + sum n (fun x => f (x + 1)).
Proof.
  induction n as [|n IH]; intros f; [simpl; lia|]. change (sum (S (S n)) f) with (sum (S n) f + f (Z.of_nat (S n))).
  rewrite IH. cbn [sum]. replace (Z.of_nat n + 1) with (Z.of_nat (S n)) by lia. ring.
Qed.

(** Summing backwards. *)
Lemma sum_back : forall n f, sum n (fun x => f (Z.of_nat n - 1 - x)) = sum n f.
Proof.
  induction n as [|n IH]; intros f; [reflexivity|]. rewrite sum_first. cbn [sum].
  rewrite <- (IH f). replace (Z.of_nat (S n) - 1 - 0) with (Z.of_nat n) by lia.
  rewrite Z.add_comm. f_equal. apply sum_ext. intros x X. f_equal. lia.
Qed.

Lemma sum_swap : forall n k f, sum n (fun x => sum k (fun y => f x y)) = sum k (fun y => sum n (fun x => f x y)).
Proof.
  induction n as [|n IH]; intros k f; simpl; [symmetry; apply (sum_const k 0)|]. rewrite IH. symmetry. apply sum_plus.
Qed.

Lemma sum_numbers : forall n, 2 * sum n (fun x => x) = Z.of_nat n * (Z.of_nat n - 1).
Proof. induction n as [|n IH]; [reflexivity|]. cbn [sum]. lia. Qed.

Definition one_if (b : bool) : Z := if b then 1 else 0.

(** How many numbers below [n] are at least [t], or less than [t]. *)
Lemma count_from : forall n t, 0 <= t <= Z.of_nat n -> sum n (fun x => one_if (t <=? x)) = Z.of_nat n - t.
Proof.
  induction n as [|n IH]; intros t T; [simpl; lia|]. cbn [sum]. unfold one_if at 2.
  destruct (Z.leb_spec t (Z.of_nat n)); [rewrite IH by lia; lia|].
  rewrite (sum_ext n _ (fun _ => 0)); [rewrite sum_const; lia|]. intros x X. unfold one_if.
  destruct (Z.leb_spec t x); lia.
Qed.

Lemma count_below : forall n t, 0 <= t <= Z.of_nat n -> sum n (fun x => one_if (x <? t)) = t.
Proof.
  induction n as [|n IH]; intros t T; [simpl; lia|]. cbn [sum]. unfold one_if at 2.
  destruct (Z.ltb_spec (Z.of_nat n) t).
  - assert (E : t = Z.of_nat (S n)) by lia. rewrite (sum_ext n _ (fun _ => 1)); [rewrite sum_const; lia|].
    intros x X. unfold one_if. destruct (Z.ltb_spec x t); lia.
  - rewrite IH by lia. lia.
Qed.

Lemma sum_positive : forall n p, 0 < sum n (fun x => one_if (p x)) <-> exists x, 0 <= x < Z.of_nat n /\ p x = true.
Proof.
  intros n p. assert (N : forall k, 0 <= sum k (fun x => one_if (p x))).
  { induction k as [|k IH]; cbn [sum]; [lia|]. unfold one_if at 2. destruct (p (Z.of_nat k)); lia. }
  induction n as [|n IH].
  - simpl. split; [lia|intros (x & X & _); lia].
  - cbn [sum]. unfold one_if at 2. destruct (p (Z.of_nat n)) eqn:E.
    + specialize (N n). split; [intros _; exists (Z.of_nat n); split; [lia|assumption]|lia].
    + rewrite Z.add_0_r, IH. split; intros (x & X & P).
      * exists x. split; [lia|assumption].
      * exists x. split; [|assumption]. assert (x <> Z.of_nat n) by congruence. lia.
Qed.

(** * Floor sums *)

(** Counting the points below a line by rows instead of columns. *)
Lemma floor_sum_swap : forall n m a b, 0 < a -> 0 < m -> 0 <= b < m ->
  let top := a * Z.of_nat n + b in
  sum n (fun x => (a * x + b) / m) = sum (Z.to_nat (top / m)) (fun y => (m * y + top mod m) / a).
Proof.
  intros n m a b Ha Hm Hb top.
  assert (HT : 0 <= top) by (unfold top; nia).
  assert (HY : 0 <= top / m) by (apply Z.div_pos; lia).
  pose proof (Z.div_mod top m ltac:(lia)) as D.
  set (Y := Z.to_nat (top / m)). assert (EY : Z.of_nat Y = top / m) by (unfold Y; apply Z2Nat.id; assumption).
  (* Columns: each quotient is a count of rows. *)
  rewrite (sum_ext n _ (fun x => sum Y (fun y => one_if (m * (y + 1) <=? a * x + b)))).
  2:{ intros x X. rewrite (sum_ext Y _ (fun y => one_if (y <? (a * x + b) / m))).
      - symmetry. apply count_below. rewrite EY. split; [apply Z.div_pos; nia|]. apply Z.div_le_mono; unfold top; nia.
      - intros y Hy. f_equal. pose proof (Z.div_mod (a * x + b) m ltac:(lia)).
        pose proof (Z.mod_pos_bound (a * x + b) m Hm).
        destruct (Z.leb_spec (m * (y + 1)) (a * x + b)); destruct (Z.ltb_spec y ((a * x + b) / m)); auto; exfalso;
          nia. }
  rewrite sum_swap. rewrite <- sum_back. apply sum_ext. intros y Hy. rewrite EY in *.
  (* A row holds the columns from some [t] on. *)
  set (t := - ((b - m * (top / m - 1 - y + 1)) / a)).
  pose proof (Z.div_mod (b - m * (top / m - 1 - y + 1)) a ltac:(lia)) as D2.
  pose proof (Z.mod_pos_bound (b - m * (top / m - 1 - y + 1)) a Ha) as B2.
  rewrite (sum_ext n _ (fun x => one_if (t <=? x))).
  - rewrite count_from.
    + assert (E : m * y + top mod m = b - m * (top / m - 1 - y + 1) + Z.of_nat n * a) by (unfold top in *; lia).
      rewrite E, Z.div_add by lia. unfold t. lia.
    + assert (0 <= m * y + top mod m) by (pose proof (Z.mod_pos_bound top m Hm); nia).
      assert (m * (top / m - 1 - y + 1) >= m) by nia.
      unfold t. unfold top in *. split; nia.
  - intros x X. f_equal. unfold t.
    destruct (Z.leb_spec (m * (top / m - 1 - y + 1)) (a * x + b));
      destruct (Z.leb_spec (- ((b - m * (top / m - 1 - y + 1)) / a)) x); auto; exfalso; nia.
Qed.

(** The sum of floor((a x + b) / m) over the x below n, by steps like those of Euclid's algorithm. *)
Fixpoint floor_sum (fuel : nat) (n m a b : Z) : Z :=
  match fuel with
  | O => sum (Z.to_nat n) (fun x => (a * x + b) / m)
  | S fuel' =>
      let base := a / m * (n * (n - 1) / 2) + b / m * n in
      let top := (a mod m) * n + b mod m in
      if top <? m then base else base + floor_sum fuel' (top / m) (a mod m) m (top mod m)
  end.

(** Those steps compute the sum, whatever the fuel: where it ends the sum is added up. *)
Theorem floor_sum_is_sum : forall fuel n m a b, 0 <= n -> 0 < m ->
  floor_sum fuel n m a b = sum (Z.to_nat n) (fun x => (a * x + b) / m).
Proof.
  induction fuel as [|fuel IH]; intros n m a b Hn Hm; [reflexivity|]. cbn [floor_sum].
  pose proof (Z.mod_pos_bound a m Hm). pose proof (Z.mod_pos_bound b m Hm).
  assert (E : sum (Z.to_nat n) (fun x => (a * x + b) / m)
              = a / m * (n * (n - 1) / 2) + b / m * n + sum (Z.to_nat n) (fun x => (a mod m * x + b mod m) / m)).
  { rewrite (sum_ext _ _ (fun x => (a / m * x + b / m) + (a mod m * x + b mod m) / m)).
    - rewrite sum_plus, sum_plus, sum_scale, sum_const, Z2Nat.id by assumption.
      replace (sum (Z.to_nat n) (fun x => x)) with (n * (n - 1) / 2); [ring|].
      pose proof (sum_numbers (Z.to_nat n)) as Q. rewrite Z2Nat.id in Q by assumption. rewrite <- Q.
      rewrite Z.mul_comm, Z.div_mul by lia. reflexivity.
    - intros x _. rewrite (Z.div_mod a m) at 1 by lia. rewrite (Z.div_mod b m) at 1 by lia.
      replace ((m * (a / m) + a mod m) * x + (m * (b / m) + b mod m))
        with ((a mod m * x + b mod m) + (a / m * x + b / m) * m) by ring.
      rewrite Z.div_add by lia. ring. }
  rewrite E. set (base := a / m * (n * (n - 1) / 2) + b / m * n). set (top := a mod m * n + b mod m).
  destruct (Z.ltb_spec top m) as [T|T].
  - rewrite (sum_ext _ _ (fun _ => 0)); [rewrite sum_const; lia|]. intros x X. rewrite Z2Nat.id in X by assumption.
    apply Z.div_small. unfold top in T. nia.
  - assert (0 < a mod m) by (unfold top in T; nia).
    rewrite IH; [| |assumption].
    + f_equal. pose proof (floor_sum_swap (Z.to_nat n) m (a mod m) (b mod m) ltac:(assumption) Hm ltac:(assumption))
        as S.
      cbv zeta in S. rewrite Z2Nat.id in S by assumption. fold top in S. symmetry. exact S.
    + apply Z.div_pos; unfold top; nia.
Qed.

(** Does (a x + b) mod m come down to R or less for some x below n? *)
Definition small_remainder (n m a b R : Z) : bool :=
  if n <=? 0 then false
  else if R <? 0 then false
  else if m - 1 <=? R then true
  else let fuel := Z.to_nat (2 * Z.log2 m + 4) in 0 <? floor_sum fuel n m a b - floor_sum fuel n m a (b - R - 1).

(** Two floor sums tell: their difference counts the x in question. *)
Theorem small_remainder_iff : forall n m a b R, 0 < m ->
  (small_remainder n m a b R = true <-> exists x, 0 <= x < n /\ (a * x + b) mod m <= R).
Proof.
  intros n m a b R Hm. unfold small_remainder.
  destruct (Z.leb_spec n 0); [split; [discriminate|intros (x & X & _); lia]|].
  destruct (Z.ltb_spec R 0).
  { split; [discriminate|]. intros (x & _ & X). pose proof (Z.mod_pos_bound (a * x + b) m Hm). lia. }
  destruct (Z.leb_spec (m - 1) R).
  { split; [|reflexivity]. intros _. exists 0. pose proof (Z.mod_pos_bound (a * 0 + b) m Hm). lia. }
  cbv zeta. rewrite !floor_sum_is_sum by lia. rewrite Z.ltb_lt.
  set (n' := Z.to_nat n). assert (EN : Z.of_nat n' = n) by (apply Z2Nat.id; lia).
  assert (E : sum n' (fun x => (a * x + b) / m) - sum n' (fun x => (a * x + (b - R - 1)) / m)
              = sum n' (fun x => one_if ((a * x + b) mod m <=? R))).
  { assert (P : sum n' (fun x => (a * x + b) / m)
                = sum n' (fun x => one_if ((a * x + b) mod m <=? R)) + sum n' (fun x => (a * x + (b - R - 1)) / m)).
    { rewrite <- sum_plus. apply sum_ext. intros x _. set (z := a * x + b).
      replace (a * x + (b - R - 1)) with (z - R - 1) by (unfold z; ring).
      pose proof (Z.div_mod z m ltac:(lia)). pose proof (Z.mod_pos_bound z m Hm). unfold one_if.
      destruct (Z.leb_spec (z mod m) R).
      - assert (z / m - 1 = (z - R - 1) / m) by (apply Z.div_unique with (z mod m - R - 1 + m); lia). lia.
      - assert (z / m = (z - R - 1) / m) by (apply Z.div_unique with (z mod m - R - 1); lia). lia. }
    lia. }
  rewrite E, sum_positive, EN. split; intros (x & X & P); exists x; (split; [assumption|]).
  - apply Z.leb_le. assumption.
  - apply Z.leb_le. assumption.
Qed.

(** * Points of a strip in a rectangle *)

(** Is there x below n and y below k with V - K <= a x + b y <= V?  Where y is not limited by k, a remainder must be
    small; where it is, y = k - 1 and x lies in a range. *)
Definition strip_point (a b n k K V : Z) : bool :=
  let from := Z.max 0 ((V - b * k) / a + 1) in
  let to := Z.min (n - 1) (V / a) in
  if small_remainder (to - from + 1) b a (V - a * to) K then true
  else Z.max 0 (- ((K + b * (k - 1) - V) / a)) <=? Z.min (n - 1) ((V - b * k) / a).

(** The test for a point of the strip in the rectangle is exact. *)
Theorem strip_point_iff : forall a b n k K V, 0 < a -> 0 < b -> 0 < k -> 0 <= K ->
  (strip_point a b n k K V = true <-> exists x y, 0 <= x < n /\ 0 <= y < k /\ V - K <= a * x + b * y <= V).
Proof.
  intros a b n k K V Ha Hb Hk HK. unfold strip_point.
  set (from := Z.max 0 ((V - b * k) / a + 1)). set (to := Z.min (n - 1) (V / a)).
  pose proof (Z.div_mod (V - b * k) a ltac:(lia)) as D1. pose proof (Z.mod_pos_bound (V - b * k) a Ha) as B1.
  pose proof (Z.div_mod V a ltac:(lia)) as D2. pose proof (Z.mod_pos_bound V a Ha) as B2.
  set (u := (V - b * k) / a) in *. set (v := V / a) in *.
  pose proof (Z.div_mod (K + b * (k - 1) - V) a ltac:(lia)) as D3.
  pose proof (Z.mod_pos_bound (K + b * (k - 1) - V) a Ha) as B3.
  set (w := (K + b * (k - 1) - V) / a) in *.
  assert (FREE : small_remainder (to - from + 1) b a (V - a * to) K = true <->
            exists x, from <= x <= to /\ (V - a * x) mod b <= K).
  { rewrite small_remainder_iff by assumption. split.
    - intros (x & X & R). exists (to - x). split; [lia|].
      replace (V - a * (to - x)) with (a * x + (V - a * to)) by ring. assumption.
    - intros (x & X & R). exists (to - x). split; [lia|].
      replace (a * (to - x) + (V - a * to)) with (V - a * x) by ring. assumption. }
  destruct (small_remainder (to - from + 1) b a (V - a * to) K) eqn:S.
  - split; [|reflexivity]. intros _. destruct (proj1 FREE eq_refl) as (x & X & R).
    assert (0 <= V - a * x) by (clear - X D2 B2 Ha; unfold to in X; nia).
    assert (V - a * x < b * k) by (clear - X D1 B1 Ha; unfold from in X; nia).
    pose proof (Z.div_mod (V - a * x) b ltac:(lia)). pose proof (Z.mod_pos_bound (V - a * x) b Hb).
    exists x, ((V - a * x) / b). split; [unfold from, to in X; lia|]. split.
    + split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia].
    + lia.
  - rewrite Z.leb_le. split.
    + intros H. exists (Z.max 0 (- w)), (k - 1).
      assert (X : 0 <= Z.max 0 (- w) < n /\ - w <= Z.max 0 (- w) <= u) by lia.
      set (x := Z.max 0 (- w)) in *. split; [lia|]. split; [lia|]. clear - X D1 B1 D3 B3 Ha Hb. nia.
    + intros (x & y & X & Y & B). destruct (Z_lt_dec u x) as [F|F].
      * exfalso. assert (Q : false = true); [|discriminate]. apply FREE. exists x.
        assert (x <= v) by (clear - B D2 B2 Ha Hb Y; nia).
        split; [unfold from, to; lia|].
        pose proof (Z.div_mod (V - a * x) b ltac:(lia)). pose proof (Z.mod_pos_bound (V - a * x) b Hb).
        assert (V - a * x < b * k) by (clear - F D1 B1 Ha; nia).
        assert (y <= (V - a * x) / b) by (apply Z.div_le_lower_bound; lia). nia.
      * assert (- w <= x) by (clear - B D3 B3 Ha Hb Y; nia). lia.
Qed.

(** The whole step: three terms, the last weight dividing the others. *)
Definition three_terms (w1 n1 w2 n2 c n3 W : Z) : bool :=
  if W mod c =? 0 then strip_point (w1 / c) (w2 / c) n1 n2 (n3 - 1) (W / c) else false.

(** ... and so is the whole step. *)
Theorem three_terms_iff : forall w1 n1 w2 n2 c n3 W, 0 < w1 -> 0 < w2 -> 0 < c -> 0 < n2 -> 0 < n3 ->
  (c | w1) -> (c | w2) ->
  (three_terms w1 n1 w2 n2 c n3 W = true <-> solvable [(w1, n1); (w2, n2); (c, n3)] W).
Proof.
  intros w1 n1 w2 n2 c n3 W H1 H2 Hc N2 N3 [a Ea] [b Eb]. unfold three_terms. subst w1 w2. rewrite !Z.div_mul by lia.
  assert (0 < a) by nia. assert (0 < b) by nia.
  rewrite (Z.mul_comm a c), (Z.mul_comm b c), strip_of_two by assumption.
  destruct (Z.eqb_spec (W mod c) 0) as [M|M].
  - rewrite strip_point_iff by lia. apply Z.mod_divide in M; [|lia]. tauto.
  - split; [discriminate|]. intros [D _]. apply Z.mod_divide in D; [|lia]. contradiction.
Qed.

(** Ranges of 10^9 values, settled at once. *)
Example three_terms_example :
  three_terms 1000003 1000000000 999983 1000000000 1 3 ((1000003 + 999983) * 999999999 + 2) = true /\
  three_terms 1000003 1000000000 999983 1000000000 1 3 ((1000003 + 999983) * 999999999 + 3) = false /\
  three_terms 1000000000 10 1000 10 1 10 5000005050 = false.
Proof. repeat split; vm_compute; reflexivity. Qed.
