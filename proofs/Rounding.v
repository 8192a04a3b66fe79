(** Divisions as machines make them, and the ranges of their results: the rest of the crate [indexpr].

    Languages round quotients towards zero; [Z.quot] and [Z.rem] do.  An index expression rounds down; [/] and [mod] do.
    Above each statement stands the function of the crate that relies on it.  As in [Simplify], a [Theorem] is a rule
    that the crate uses, and the test command compares. *)

From Coq Require Import ZArith Lia List Bool Znumtheory Zquot.
From Shapetracker Require Import View Quotient Simplify.
Import ListNotations.
Open Scope Z_scope.

(** * From rounding towards zero to rounding down: [rounding.rs], [print.rs], [lower.rs] *)

(** How [Z.quot] and [Z.rem] differ from [/] and [mod], for divisors of either sign. *)
Lemma quot_by_floor : forall a b, b <> 0 ->
  let up := andb (if 0 <? b then a <? 0 else 0 <? a) (negb (a mod b =? 0)) in
  Z.quot a b = (if up then a / b + 1 else a / b) /\ Z.rem a b = (if up then a mod b - b else a mod b).
Proof.
  assert (G : forall a b, 0 < b ->
    let up := andb (a <? 0) (negb (a mod b =? 0)) in
    Z.quot a b = (if up then a / b + 1 else a / b) /\ Z.rem a b = (if up then a mod b - b else a mod b)).
  { intros a b Hb up. divide_out a b.
    assert (Q : a = b * (if up then a / b + 1 else a / b) + (if up then a mod b - b else a mod b))
      by (destruct up; lia).
    assert (S : (0 <= a /\ 0 <= (if up then a mod b - b else a mod b) < b) \/
                (a <= 0 /\ - b < (if up then a mod b - b else a mod b) <= 0)).
    { unfold up. destruct (Z.ltb_spec a 0), (Z.eqb_spec (a mod b) 0); simpl; lia. }
    destruct (Zquot_mod_unique_full a b _ _ ltac:(unfold Remainder; rewrite (Z.abs_eq b) by lia; exact S) Q) as [E F].
    split; symmetry; assumption. }
  intros a b Hb. destruct (Z.ltb_spec 0 b) as [P|N]; [apply G; assumption|].
  specialize (G (- a) (- b) ltac:(lia)). cbv zeta in *. rewrite Z.quot_opp_opp, Z.div_opp_opp in G by lia.
  rewrite Z.rem_opp_l, Z.rem_opp_r, Z.mod_opp_opp in G by lia.
  replace (- a <? 0) with (0 <? a) in G by (destruct (Z.ltb_spec (- a) 0), (Z.ltb_spec 0 a); lia).
  replace (- (a mod b) =? 0) with (a mod b =? 0) in G
    by (destruct (Z.eqb_spec (- (a mod b)) 0), (Z.eqb_spec (a mod b) 0); lia).
  destruct (andb _ _); lia.
Qed.

(** [Rounding::of], as it is: where the quotient is never negative, or the divisor always divides, both agree.  The same
    is why [Graph::truncated] leaves out the correction. *)
Theorem rounds_alike : forall a b, b <> 0 -> (0 <= a /\ 0 < b) \/ (a <= 0 /\ b < 0) \/ (b | a) ->
  Z.quot a b = a / b /\ Z.rem a b = a mod b.
Proof.
  intros a b Hb H. destruct (quot_by_floor a b Hb) as [-> ->].
  replace (andb _ _) with false; [split; reflexivity|]. symmetry. apply andb_false_iff.
  destruct H as [[H1 H2]|[[H1 H2]|H]].
  - left. destruct (Z.ltb_spec 0 b); [|lia]. apply Z.ltb_ge. lia.
  - left. destruct (Z.ltb_spec 0 b); [lia|]. apply Z.ltb_ge. lia.
  - right. apply negb_false_iff, Z.eqb_eq. apply Z.mod_divide; assumption.
Qed.

(** [Rounding::of], raised: the least multiple of the divisor that makes the dividend natural. *)
Theorem raised : forall size low x, 0 < size -> low < 0 -> low <= x ->
  let times := Z.quot (size - 1 - low) size in
  0 <= x + times * size /\
  Z.quot (x + times * size) size - times = x / size /\
  Z.rem (x + times * size) size = x mod size /\
  low + (times - 1) * size < 0.
Proof.
  intros size low x Hs Hl Hx times. assert (T : times = (size - 1 - low) / size).
  { unfold times. apply rounds_alike; lia. }
  divide_out (size - 1 - low) size. rewrite <- T in H.
  assert (N : 0 <= x + times * size) by nia.
  destruct (rounds_alike (x + times * size) size) as [Q R]; [lia|left; lia|].
  rewrite Q, R, Z.div_add, Z.mod_add by lia. repeat split; nia.
Qed.

(** A negative divisor is made positive before. *)
Theorem negative_remainder : forall a d, d < 0 -> a / d = (- a) / (- d) /\ a mod d = - ((- a) mod (- d)).
Proof. intros a d Hd. rewrite Z.div_opp_opp, Z.mod_opp_opp by lia. lia. Qed.

(** [x >= -7]: (2 x + 1) // 3 is (2 x + 16) / 3 - 5. *)
Example raised_example : forall x, -7 <= x -> (2 * x + 1) / 3 = Z.quot (2 * x + 16) 3 - 5.
Proof.
  intros x H. destruct (raised 3 (-13) (2 * x + 1)) as [_ [E _]]; try lia.
  change (Z.quot (3 - 1 - -13) 3) with 5 in E. replace (2 * x + 1 + 5 * 3) with (2 * x + 16) in E by lia. lia.
Qed.

(** [Rounding::Corrected]: the sign of the remainder tells. *)
Theorem corrected : forall a b, b <> 0 ->
  let wrong := if 0 <? b then Z.rem a b <? 0 else 0 <? Z.rem a b in
  a / b = (if wrong then Z.quot a b - 1 else Z.quot a b) /\
  a mod b = (if wrong then Z.rem a b + b else Z.rem a b).
Proof.
  intros a b Hb. destruct (quot_by_floor a b Hb) as [Q R]. cbv zeta in *.
  assert (W : (if 0 <? b then Z.rem a b <? 0 else 0 <? Z.rem a b) =
              andb (if 0 <? b then a <? 0 else 0 <? a) (negb (a mod b =? 0))).
  { rewrite R. destruct (Z.ltb_spec 0 b) as [P|N].
    - pose proof (Z.mod_pos_bound a b P). destruct (Z.ltb_spec a 0), (Z.eqb_spec (a mod b) 0); cbn [andb negb];
        (apply Z.ltb_lt || apply Z.ltb_ge); lia.
    - pose proof (Z.mod_neg_bound a b ltac:(lia)). destruct (Z.ltb_spec 0 a), (Z.eqb_spec (a mod b) 0); cbn [andb negb];
        (apply Z.ltb_lt || apply Z.ltb_ge); lia. }
  rewrite W, Q, R. destruct (andb _ _); lia.
Qed.

(** [is_rounded_up]: the signs of the operands tell as well. *)
Theorem rounded_up_by_signs : forall a b, b <> 0 ->
  let up := andb (xorb (a <? 0) (b <? 0)) (negb (Z.rem a b =? 0)) in
  a / b = Z.quot a b - (if up then 1 else 0) /\ a mod b = Z.rem a b + (if up then b else 0).
Proof.
  intros a b Hb. destruct (quot_by_floor a b Hb) as [Q R]. cbv zeta in *.
  assert (Z0 : (Z.rem a b =? 0) = (a mod b =? 0)).
  { destruct (Z.eqb_spec (a mod b) 0) as [E|E].
    - rewrite R. cbn [negb]. rewrite andb_false_r, E. reflexivity.
    - apply Z.eqb_neq. intros C. apply E. apply Z.mod_divide; [assumption|]. apply Z.rem_divide; assumption. }
  rewrite Z0.
  destruct (Z.eqb_spec (a mod b) 0) as [E|E]; cbn [negb] in *; rewrite ?andb_false_r, ?andb_true_r in *; [lia|].
  assert (a <> 0) by (intros ->; apply E; apply Z.mod_0_l; assumption).
  destruct (Z.ltb_spec 0 b), (Z.ltb_spec a 0), (Z.ltb_spec b 0), (Z.ltb_spec 0 a); cbn [xorb]; lia.
Qed.

(** [Graph::truncated]: C's division by floors. *)
Theorem truncated : forall a b, b <> 0 ->
  let differs := andb (if 0 <? b then a <? 0 else 0 <? a) (negb (a mod b =? 0)) in
  Z.quot a b = (if differs then a / b + 1 else a / b) /\ Z.rem a b = (if differs then a mod b - b else a mod b).
Proof. exact quot_by_floor. Qed.

(** [Graph::truncated]: a dividend that is nearer to 0 than the divisor is its own remainder. *)
Theorem truncated_small : forall a b, Z.abs a < Z.abs b -> Z.quot a b = 0 /\ Z.rem a b = a.
Proof. intros a b H. split; [apply Z.quot_small_iff|apply Z.rem_small_iff]; lia. Qed.

(** [Graph::truncated_by]: a divisor that is a constant, given as its size and its sign.  A negative dividend is raised
    by the size less 1, so that rounding down rounds towards zero; the quotient leaves the remainder. *)
Theorem raised_by_sign : forall a size, 0 < size ->
  Z.quot a size = (a + (if a <? 0 then size - 1 else 0)) / size /\ Z.rem a size = a - Z.quot a size * size.
Proof.
  intros a d Hd. split; [|rewrite Z.rem_eq by lia; ring]. destruct (quot_by_floor a d ltac:(lia)) as [Q _]. rewrite Q.
  divide_out a d. destruct (Z.ltb_spec 0 d); [|lia]. destruct (Z.ltb_spec a 0); cbn [andb]; [|f_equal; lia].
  destruct (Z.eqb_spec (a mod d) 0) as [E|E]; cbn [negb].
  - apply Z.div_unique with (d - 1); lia.
  - apply Z.div_unique with (a mod d - 1); lia.
Qed.

(** The quotient has the sign of both, the remainder that of the dividend; and a dividend that is never positive is
    negated. *)
Theorem truncated_signs : forall a size, 0 < size ->
  Z.quot a (- size) = - Z.quot a size /\ Z.rem a (- size) = Z.rem a size /\
  (a <= 0 -> Z.quot a size = - ((- a) / size) /\ Z.rem a size = - ((- a) mod size)).
Proof.
  intros a d Hd. split; [apply Z.quot_opp_r; lia|]. split; [apply Z.rem_opp_r; lia|]. intros Ha.
  destruct (rounds_alike (- a) d ltac:(lia) ltac:(left; lia)) as [<- <-].
  rewrite Z.quot_opp_l, Z.rem_opp_l by lia. lia.
Qed.

(** [Graph::as_truncated]: the truncated quotient of one is that by the product.  Both divisors are positive. *)
Theorem truncated_twice : forall a b c, 0 < b -> 0 < c ->
  Z.quot ((a + (if a <? 0 then b - 1 else 0)) / b) c = Z.quot a (b * c).
Proof. intros a b c Hb Hc. destruct (raised_by_sign a b Hb) as [<- _]. apply Z.quot_quot; lia. Qed.

(** With a negative divisor what looks the same is no truncated quotient: 5 by -3 is -1, and not -2. *)
Example truncated_twice_needs_signs :
  (5 + (if 5 <? 0 then -3 - 1 else 0)) / -3 = -2 /\ Z.quot 5 (-3) = -1.
Proof. split; reflexivity. Qed.

(** [Graph::rounded_up]: the least number that is at least the quotient, by floors. *)
Theorem rounded_up : forall a b, b <> 0 ->
  (0 < b -> ceil_div a b = (a + (b - 1)) / b) /\ ceil_div a b = 0 - (0 - a) / b.
Proof.
  intros a b Hb. unfold ceil_div. split; [|replace (0 - a) with (- a) by ring; lia]. intros P.
  divide_out (- a) b. apply Z.div_unique with (b - 1 - (- a) mod b); lia.
Qed.

(** * Divisions by products and bits: [rounding.rs], [lower.rs], [evaluate.rs] *)

(** [reciprocal]: a product and a shift, for the numbers up to [high]. *)
Theorem reciprocal : forall d power factor excess high x, 0 < d -> 0 < power -> 0 <= excess ->
  factor * d = power + excess -> excess = 0 \/ high <= (power - 1) / excess -> 0 <= x <= high ->
  x * factor / power = x / d.
Proof.
  intros d P f e high x Hd HP He Hf HC Hx. divide_out x d. symmetry.
  apply Z.div_unique with (x * f - P * (x / d)); [left|ring].
  assert (B : x * e < P).
  { destruct HC as [->|HC]; [lia|]. destruct (Z.eq_dec e 0) as [->|Ne]; [lia|].
    assert (e * high <= P - 1) by (apply floor_at_least; lia). nia. }
  set (q := x / d) in *. set (r := x mod d) in *. clearbody q r.
  assert (E : d * (x * f - P * q) = P * r + x * e) by nia. split; nia.
Qed.

(** The factor of [reciprocal] is the quotient of the power by the divisor, rounded up. *)
Theorem reciprocal_factor : forall power d, 0 < d ->
  let rest := power mod d in
  let factor := if rest =? 0 then power / d else power / d + 1 in
  let excess := if rest =? 0 then 0 else d - rest in
  factor * d = power + excess /\ 0 <= excess < d.
Proof. intros P d Hd. cbv zeta. divide_out P d. destruct (Z.eqb_spec (P mod d) 0); nia. Qed.

(** x / 10 is x * 103 >> 10 for x up to 170. *)
Example reciprocal_example : forall x, 0 <= x <= 170 -> x * 103 / 2 ^ 10 = x / 10.
Proof. intros x H. apply (reciprocal 10 (2 ^ 10) 103 6 170 x); try lia. right. vm_compute. discriminate. Qed.

(** [Program::bits]: a shift and a mask. *)
Theorem shift_and_mask : forall a k, 0 <= k -> Z.shiftr a k = a / 2 ^ k /\ Z.land a (2 ^ k - 1) = a mod 2 ^ k.
Proof.
  intros a k Hk. split; [apply Z.shiftr_div_pow2; assumption|].
  rewrite <- Z.land_ones by assumption. rewrite Z.ones_equiv, Z.sub_1_r. reflexivity.
Qed.

(** [Program::division] in Rust: Euclid's division rounds down by a positive divisor. *)
Theorem euclid_rounds_down : forall a b q r, 0 < b -> a = b * q + r -> 0 <= r < Z.abs b -> q = a / b /\ r = a mod b.
Proof.
  intros a b q r Hb E Hr. rewrite Z.abs_eq in Hr by lia.
  split; [apply Z.div_unique with r|apply Z.mod_unique with q]; lia.
Qed.

(** [divide] of [evaluate.rs]: dividends raised to natural numbers. *)
Theorem raised_in_columns : forall d low a, 0 < d -> low <= a ->
  let under := Z.min low 0 / d in
  0 <= a - under * d /\ a / d = (a - under * d) / d + under /\ a mod d = (a - under * d) mod d.
Proof.
  intros d low a Hd Ha under. divide_out (Z.min low 0) d. fold under in H.
  replace (a - under * d) with (a + (- under) * d) by ring. rewrite Z.div_add, Z.mod_add by lia. repeat split; nia.
Qed.

(** [by_constant] of [evaluate.rs]: a product that is more than the power by less than [2 ^ l], for numbers below
    [2 ^ (p - l)]. *)
Theorem divided_by_product : forall d l p m n, 0 < d -> 0 <= l <= p -> d <= 2 ^ l ->
  2 ^ p <= m * d -> m * d - 2 ^ p < 2 ^ l -> 0 <= n < 2 ^ (p - l) -> n * m / 2 ^ p = n / d.
Proof.
  intros d l p m n Hd Hl Hd2 H1 H2 Hn. pose proof (Z.pow_pos_nonneg 2 p ltac:(lia) ltac:(lia)).
  pose proof (Z.pow_pos_nonneg 2 l ltac:(lia) ltac:(lia)).
  assert (E : 2 ^ p = 2 ^ l * 2 ^ (p - l)) by (rewrite <- Z.pow_add_r by lia; f_equal; lia).
  apply (reciprocal d (2 ^ p) m (m * d - 2 ^ p) n n); try lia.
  destruct (Z.eq_dec (m * d - 2 ^ p) 0) as [E0|E0]; [left; exact E0|right].
  apply floor_at_least; [lia|]. nia.
Qed.

(** For numbers below 2 ^ 31 the factor is the quotient rounded up. *)
Theorem small_factor : forall d l p, 0 < d -> d <= 2 ^ l -> 0 <= p ->
  2 ^ p <= ceil_div (2 ^ p) d * d /\ ceil_div (2 ^ p) d * d - 2 ^ p < 2 ^ l.
Proof.
  intros d l p Hd Hd2 Hp. unfold ceil_div. divide_out (- 2 ^ p) d. split; nia.
Qed.

(** For others it has a bit more than the type: [2 ^ w + m].  The product by it is made in steps that fit. *)
Theorem wide_factor : forall d l w n, 0 < l -> 0 <= w -> 2 ^ (l - 1) < d < 2 ^ l -> d < 2 ^ w -> 0 <= n ->
  let m := (2 ^ l - d) * 2 ^ w / d + 1 in
  let t := n * m / 2 ^ w in
  (2 ^ (w + l) <= (2 ^ w + m) * d /\ (2 ^ w + m) * d - 2 ^ (w + l) < 2 ^ l) /\
  0 <= m < 2 ^ w /\ t <= n /\
  (t + (n - t) / 2) / 2 ^ (l - 1) = n * (2 ^ w + m) / 2 ^ (w + l).
Proof.
  intros d l w n Hl Hw Hd Hdw Hn m t. pose proof (Z.pow_pos_nonneg 2 w ltac:(lia) Hw) as W.
  pose proof (Z.pow_pos_nonneg 2 (l - 1) ltac:(lia) ltac:(lia)) as L.
  assert (L2 : 2 * 2 ^ (l - 1) = 2 ^ l).
  { replace l with (1 + (l - 1)) at 2 by lia. rewrite Z.pow_add_r by lia. reflexivity. }
  rewrite Z.pow_add_r by lia. set (u := (2 ^ l - d) * 2 ^ w) in *. divide_out u d.
  assert (M : 0 <= m < 2 ^ w).
  { unfold m. assert (u + d < d * 2 ^ w) by (unfold u; nia). assert (0 <= u) by (unfold u; nia). split; nia. }
  assert (T : t <= n) by (unfold t; apply Z.div_le_upper_bound; nia).
  split; [split; unfold m; unfold u in *; nia|]. split; [exact M|]. split; [exact T|].
  replace (t + (n - t) / 2) with ((n + t) / 2).
  2: { replace (n + t) with (n - t + t * 2) by ring. rewrite Z.div_add by lia. lia. }
  rewrite Z.div_div, L2 by lia. rewrite <- Z.div_div by lia. f_equal.
  replace (n * (2 ^ w + m)) with (n * m + n * 2 ^ w) by ring. rewrite Z.div_add by lia. unfold t. lia.
Qed.

(** * Ranges and residue classes: [facts.rs] *)

(** [Facts::of_binary] of a product: its extremes are at corners. *)
Theorem product_corners : forall a b al ah bl bh, lies a (al, ah) -> lies b (bl, bh) ->
  lies (a * b) (Z.min (Z.min (al * bl) (al * bh)) (Z.min (ah * bl) (ah * bh)),
                Z.max (Z.max (al * bl) (al * bh)) (Z.max (ah * bl) (ah * bh))).
Proof.
  unfold lies. simpl. intros a b al ah bl bh [A1 A2] [B1 B2].
  assert (E : forall x l h, l <= x <= h -> forall c, Z.min (c * l) (c * h) <= c * x <= Z.max (c * l) (c * h)).
  { intros x l h H c. destruct (Z.le_gt_cases 0 c); nia. }
  pose proof (E b bl bh ltac:(lia) a). pose proof (E a al ah ltac:(lia) bl). pose proof (E a al ah ltac:(lia) bh).
  rewrite !(Z.mul_comm bl), !(Z.mul_comm bh) in *. lia.
Qed.

Lemma quotient_by_range : forall a b bl bh, 0 < bl -> bl <= b <= bh ->
  Z.min (a / bl) (a / bh) <= a / b <= Z.max (a / bl) (a / bh).
Proof.
  intros a b l h Hl Hb. destruct (Z.le_gt_cases 0 a) as [P|N].
  - pose proof (Z.div_le_compat_l a l b ltac:(lia) ltac:(lia)).
    pose proof (Z.div_le_compat_l a b h ltac:(lia) ltac:(lia)). lia.
  - assert (M : forall u v, 0 < u <= v -> a / u <= a / v).
    { intros u v H. apply floor_at_least; [lia|]. divide_out a u. assert (a / u <= -1) by nia. nia. }
    pose proof (M l b ltac:(lia)). pose proof (M b h ltac:(lia)). lia.
Qed.

(** Of a quotient: likewise, for divisors of one sign. *)
Theorem quotient_corners : forall a b al ah bl bh, 0 < bl \/ bh < 0 -> lies a (al, ah) -> lies b (bl, bh) ->
  lies (a / b) (Z.min (Z.min (al / bl) (ah / bl)) (Z.min (al / bh) (ah / bh)),
                Z.max (Z.max (al / bl) (ah / bl)) (Z.max (al / bh) (ah / bh))).
Proof.
  assert (G : forall a b al ah bl bh, 0 < bl -> lies a (al, ah) -> lies b (bl, bh) ->
    lies (a / b) (Z.min (Z.min (al / bl) (ah / bl)) (Z.min (al / bh) (ah / bh)),
                  Z.max (Z.max (al / bl) (ah / bl)) (Z.max (al / bh) (ah / bh)))).
  { unfold lies. simpl. intros a b al ah bl bh Hb A B.
    pose proof (quotient_by_range a b bl bh Hb B).
    pose proof (Z.div_le_mono al a bl ltac:(lia) ltac:(lia)). pose proof (Z.div_le_mono a ah bl ltac:(lia) ltac:(lia)).
    pose proof (Z.div_le_mono al a bh ltac:(lia) ltac:(lia)). pose proof (Z.div_le_mono a ah bh ltac:(lia) ltac:(lia)).
    lia. }
  intros a b al ah bl bh [P|N] A B; [apply G; assumption|].
  unfold lies in A, B. simpl in A, B.
  pose proof (G (- a) (- b) (- ah) (- al) (- bh) (- bl) ltac:(lia) ltac:(unfold lies; simpl; lia)
    ltac:(unfold lies; simpl; lia)) as R.
  rewrite !Z.div_opp_opp in R by lia. unfold lies in *. simpl in *. lia.
Qed.

(** Residue classes of sums, differences and products. *)
Theorem class_of_sum : forall a b am ar bm br, (am | a - ar) -> (bm | b - br) ->
  (Z.gcd am bm | (a + b) - (ar + br)) /\ (Z.gcd am bm | (a - b) - (ar - br)).
Proof.
  intros a b am ar bm br HA HB.
  pose proof (Z.divide_trans _ _ _ (Z.gcd_divide_l am bm) HA) as A.
  pose proof (Z.divide_trans _ _ _ (Z.gcd_divide_r am bm) HB) as B.
  split; [replace (a + b - (ar + br)) with ((a - ar) + (b - br)) by ring; apply Z.divide_add_r; assumption|].
  replace (a - b - (ar - br)) with ((a - ar) - (b - br)) by ring. apply Z.divide_sub_r; assumption.
Qed.

Theorem class_of_product : forall a b am ar bm br, (am | a - ar) -> (bm | b - br) ->
  (Z.gcd (Z.gcd (am * bm) (am * br)) (ar * bm) | a * b - ar * br).
Proof.
  intros a b am ar bm br [x Hx] [y Hy]. set (g := Z.gcd (Z.gcd (am * bm) (am * br)) (ar * bm)).
  assert (G1 : (g | am * bm)) by (eapply Z.divide_trans; [apply Z.gcd_divide_l|apply Z.gcd_divide_l]).
  assert (G2 : (g | am * br)) by (eapply Z.divide_trans; [apply Z.gcd_divide_l|apply Z.gcd_divide_r]).
  assert (G3 : (g | ar * bm)) by apply Z.gcd_divide_r.
  replace a with (ar + x * am) by lia. replace b with (br + y * bm) by lia.
  replace ((ar + x * am) * (br + y * bm) - ar * br) with (x * y * (am * bm) + x * (am * br) + y * (ar * bm)) by ring.
  repeat apply Z.divide_add_r; apply Z.divide_mul_r; assumption.
Qed.

(** Of a quotient by a constant that divides the modulus. *)
Theorem class_of_quotient : forall a d am ar, d <> 0 -> (d | am) -> (am | a - ar) -> (am / d | a / d - ar / d).
Proof.
  intros a d am ar Hd [k ->] [x Hx]. rewrite Z.div_mul by assumption. exists x.
  replace a with (ar + x * k * d) by lia. rewrite Z.div_add by assumption. ring.
Qed.

(** Of a remainder: where all dividends have one quotient, it is the dividend shifted. *)
Theorem remainder_is_shifted : forall a d al ah, d <> 0 -> lies a (al, ah) -> al / d = ah / d ->
  a mod d = a - d * (al / d).
Proof.
  unfold lies. simpl. intros a d al ah Hd A E. assert (Q : a / d = al / d).
  { destruct (Z.lt_total 0 d) as [P|[P|P]]; [|lia|].
    - pose proof (Z.div_le_mono al a d P ltac:(lia)). pose proof (Z.div_le_mono a ah d P ltac:(lia)). lia.
    - rewrite !(negative_divisor _ d P) in *.
      pose proof (Z.div_le_mono (- a) (- al) (- d) ltac:(lia) ltac:(lia)).
      pose proof (Z.div_le_mono (- ah) (- a) (- d) ltac:(lia) ltac:(lia)). lia. }
  rewrite Z.mod_eq, Q by assumption. reflexivity.
Qed.

(** Else it lies on the divisor's side of 0, *)
Theorem remainder_interval : forall a b bl bh, 0 < bl \/ bh < 0 -> lies b (bl, bh) ->
  lies (a mod b) (if bl <? 0 then bl + 1 else 0, if 0 <? bh then bh - 1 else 0).
Proof.
  unfold lies. simpl. intros a b bl bh H B. destruct H as [P|N].
  - pose proof (Z.mod_pos_bound a b ltac:(lia)). destruct (Z.ltb_spec bl 0), (Z.ltb_spec 0 bh); lia.
  - pose proof (Z.mod_neg_bound a b ltac:(lia)). destruct (Z.ltb_spec bl 0), (Z.ltb_spec 0 bh); lia.
Qed.

(** and it is of the dividend's class modulo what divides the divisor and the modulus, so that the ends of the interval
    move to the first and the last number of that class. *)
Theorem class_of_remainder : forall a d am ar low high, d <> 0 -> (am | a - ar) -> lies (a mod d) (low, high) ->
  let modulus := Z.gcd am d in
  (modulus | a mod d - ar) /\
  lies (a mod d) (low + (ar - low) mod modulus, high - (high - ar) mod modulus).
Proof.
  intros a d am ar low high Hd HA HR g.
  assert (P : 0 < g).
  { pose proof (Z.gcd_nonneg am d) as N. fold g in N. assert (g <> 0); [|lia]. intros E.
    apply Z.gcd_eq_0_r in E. contradiction. }
  assert (C : (g | a mod d - ar)).
  { rewrite Z.mod_eq by assumption. replace (a - d * (a / d) - ar) with ((a - ar) - a / d * d) by ring.
    apply Z.divide_sub_r; [eapply Z.divide_trans; [apply Z.gcd_divide_l|exact HA]|].
    apply Z.divide_mul_r, Z.gcd_divide_r. }
  split; [exact C|]. unfold lies in *. simpl in *. destruct C as [k Hk].
  divide_out (ar - low) g. divide_out (high - ar) g.
  assert (0 <= k + (ar - low) / g) by nia. assert (0 <= (high - ar) / g - k) by nia. split; nia.
Qed.

(** [Facts::differs]. *)
Theorem classes_differ : forall a b am ar bm br, (am | a - ar) -> (bm | b - br) ->
  let modulus := Z.gcd am bm in
  1 < modulus -> Z.rem (ar - br) modulus <> 0 -> a <> b.
Proof.
  intros a b am ar bm br HA HB g Hg HN E. subst b. apply HN. apply Z.rem_divide; [lia|].
  destruct (class_of_sum a a am ar bm br HA HB) as [_ D]. fold g in D.
  replace (a - a - (ar - br)) with (- (ar - br)) in D by ring. apply Z.divide_opp_r. exact D.
Qed.

(** [either]: the class that holds two others. *)
Theorem class_of_either : forall x am ar bm br, (am | x - ar) \/ (bm | x - br) ->
  (Z.gcd (Z.gcd am bm) (ar - br) | x - ar).
Proof.
  intros x am ar bm br H. set (g := Z.gcd (Z.gcd am bm) (ar - br)).
  assert (A : (g | am)) by (eapply Z.divide_trans; [apply Z.gcd_divide_l|apply Z.gcd_divide_l]).
  assert (B : (g | bm)) by (eapply Z.divide_trans; [apply Z.gcd_divide_l|apply Z.gcd_divide_r]).
  assert (D : (g | ar - br)) by apply Z.gcd_divide_r. destruct H as [H|H]; [exact (Z.divide_trans _ _ _ A H)|].
  replace (x - ar) with ((x - br) - (ar - br)) by ring. apply Z.divide_sub_r; [|exact D].
  exact (Z.divide_trans _ _ _ B H).
Qed.

(** [divides]: a divisor of the modulus and of the residue divides all numbers of a class. *)
Theorem class_divided : forall a am ar d, (am | a - ar) -> (d | am) -> (d | ar) -> (d | a).
Proof.
  intros a am ar d HA HM HR. replace a with ((a - ar) + ar) by ring. apply Z.divide_add_r; [|exact HR].
  exact (Z.divide_trans _ _ _ HM HA).
Qed.

(** [Facts::shares_no_bits]: the exclusive or of a number and of a multiple of a power of two above it is their sum. *)
Theorem xor_is_sum : forall a b k, 0 <= k -> 0 <= a < 2 ^ k -> (2 ^ k | b) -> Z.lxor a b = a + b.
Proof.
  intros a b k Hk Ha [q ->]. symmetry. apply Z.add_nocarry_lxor. apply Z.bits_inj'. intros n Hn.
  rewrite Z.land_spec, Z.bits_0. destruct (Z.lt_ge_cases n k) as [L|G].
  - rewrite Z.mul_pow2_bits_low by lia. apply andb_false_r.
  - replace (Z.testbit a n) with false; [reflexivity|]. symmetry. rewrite <- (Z.mod_small a (2 ^ k)) by lia.
    apply Z.mod_pow2_bits_high. lia.
Qed.

(** [Facts::of_binary] of an exclusive or.  Two numbers have as many bits in common as are not both set: *)
Lemma lxor_is_difference : forall a b, Z.lxor a b = a + b - 2 * Z.land a b.
Proof.
  intros a b.
  assert (S : forall u v, u = Z.ldiff u v + Z.land u v).
  { intros u v. rewrite Z.add_nocarry_lxor; apply Z.bits_inj'; intros n _;
      rewrite ?Z.lxor_spec, ?Z.land_spec, ?Z.ldiff_spec, ?Z.land_spec, ?Z.bits_0;
      destruct (Z.testbit u n), (Z.testbit v n); reflexivity. }
  assert (X : Z.lxor a b = Z.ldiff a b + Z.ldiff b a).
  { rewrite Z.add_nocarry_lxor; apply Z.bits_inj'; intros n _;
      rewrite ?Z.lxor_spec, ?Z.land_spec, ?Z.ldiff_spec, ?Z.bits_0;
      destruct (Z.testbit a n), (Z.testbit b n); reflexivity. }
  pose proof (S a b). pose proof (S b a). rewrite (Z.land_comm b a) in *. lia.
Qed.

Lemma few_bits : forall a k, 0 <= k -> (- 2 ^ k <= a < 2 ^ k <-> Z.shiftr a k = 0 \/ Z.shiftr a k = -1).
Proof.
  intros a k Hk. rewrite Z.shiftr_div_pow2 by assumption.
  pose proof (Z.pow_pos_nonneg 2 k ltac:(lia) Hk). divide_out a (2 ^ k). split; intros; nia.
Qed.

(** The interval: by the signs, and by the number of bits that no end exceeds. *)
Theorem xor_range : forall a b al ah bl bh k, 0 <= k -> lies a (al, ah) -> lies b (bl, bh) ->
  Forall (fun e => - 2 ^ k <= e < 2 ^ k) [al; ah; bl; bh] ->
  lies (Z.lxor a b) (- 2 ^ k, 2 ^ k - 1) /\
  (0 <= al -> 0 <= bl -> Z.max (Z.max (al - bh) (bl - ah)) 0 <= Z.lxor a b <= Z.min (2 ^ k - 1) (ah + bh)) /\
  (ah < 0 -> bh < 0 -> 0 <= Z.lxor a b) /\
  ((0 <= al /\ bh < 0) \/ (ah < 0 /\ 0 <= bl) -> Z.lxor a b <= -1).
Proof.
  unfold lies. simpl fst. simpl snd. intros a b al ah bl bh k Hk A B F.
  inversion F as [|? ? F1 F']; subst. inversion F' as [|? ? F2 F'']; subst. inversion F'' as [|? ? F3 F3']; subst.
  inversion F3' as [|? ? F4 _]; subst. clear F F' F'' F3'.
  assert (R : - 2 ^ k <= Z.lxor a b < 2 ^ k).
  { apply few_bits; [exact Hk|]. rewrite Z.shiftr_lxor.
    destruct (proj1 (few_bits a k Hk) ltac:(lia)) as [-> | ->], (proj1 (few_bits b k Hk) ltac:(lia)) as [-> | ->];
      [left|right|right|left]; reflexivity. }
  pose proof (Z.lxor_nonneg a b) as N. pose proof (lxor_is_difference a b) as D.
  split; [lia|]. split; [|split].
  - intros Ha Hb. assert (L : 0 <= Z.land a b) by (apply Z.land_nonneg; lia).
    pose proof (lxor_is_difference (Z.lxor a b) b) as E. rewrite Z.lxor_assoc, Z.lxor_nilpotent, Z.lxor_0_r in E.
    pose proof (lxor_is_difference (Z.lxor a b) a) as G.
    rewrite (Z.lxor_comm a b), Z.lxor_assoc, Z.lxor_nilpotent, Z.lxor_0_r in G.
    rewrite (Z.lxor_comm b a) in G.
    assert (0 <= Z.lxor a b) by (apply N; lia).
    assert (0 <= Z.land (Z.lxor a b) b) by (apply Z.land_nonneg; lia).
    assert (0 <= Z.land (Z.lxor a b) a) by (apply Z.land_nonneg; lia). lia.
  - intros. apply N. lia.
  - intros H. assert (~ 0 <= Z.lxor a b); [|lia]. rewrite N. lia.
Qed.

(** As many low bits are known of it as of both operands. *)
Theorem xor_class : forall a b ar br k, 0 <= k -> (2 ^ k | a - ar) -> (2 ^ k | b - br) ->
  (2 ^ k | Z.lxor a b - Z.lxor ar br).
Proof.
  intros a b ar br k Hk [x Hx] [y Hy]. pose proof (Z.pow_pos_nonneg 2 k ltac:(lia) Hk) as P.
  assert (M : forall u v, (Z.lxor u v) mod 2 ^ k = Z.lxor (u mod 2 ^ k) (v mod 2 ^ k)).
  { intros u v. apply Z.bits_inj'. intros n Hn. rewrite Z.lxor_spec. destruct (Z.lt_ge_cases n k).
    - rewrite !Z.mod_pow2_bits_low, Z.lxor_spec by lia. reflexivity.
    - rewrite !Z.mod_pow2_bits_high by lia. reflexivity. }
  assert (E : (Z.lxor a b) mod 2 ^ k = (Z.lxor ar br) mod 2 ^ k).
  { rewrite !M. replace a with (ar + x * 2 ^ k) by lia. replace b with (br + y * 2 ^ k) by lia.
    rewrite !Z.mod_add by lia. reflexivity. }
  divide_out (Z.lxor a b) (2 ^ k). divide_out (Z.lxor ar br) (2 ^ k).
  exists (Z.lxor a b / 2 ^ k - Z.lxor ar br / 2 ^ k). lia.
Qed.

(** * Kernels: [cuda.rs] *)

(** [cut]: an axis cut in two; its number is the outer one times the divisor and the inner one. *)
Theorem axis_cut : forall n d, 0 < d -> (d | n) -> forall x,
  (0 <= x < n <-> exists o i, 0 <= o < n / d /\ 0 <= i < d /\ x = o * d + i) /\
  (forall o i, 0 <= i < d -> (o * d + i) / d = o /\ (o * d + i) mod d = i).
Proof.
  intros n d Hd [k ->] x. rewrite Z.div_mul by lia. split.
  - split.
    + intros H. exists (x / d), (x mod d). divide_out x d. repeat split; nia.
    + intros [o [i [Ho [Hi ->]]]]. nia.
  - intros o i Hi. replace (o * d + i) with (i + o * d) by ring. rewrite Z.div_add, Z.mod_add by lia.
    rewrite Z.div_small, Z.mod_small by lia. lia.
Qed.

(** [reads_fours]: bounds that are multiples of a size hold for all of a group of that size, or for none. *)
Theorem groups_are_whole : forall size group i bound, 0 < size -> 0 <= i < size -> (size | bound) ->
  (bound <= group * size + i <-> bound <= group * size) /\ (group * size + i < bound <-> group * size < bound).
Proof. intros size g i b Hs Hi [k ->]. assert (C : k <= g - 1 \/ k = g \/ g + 1 <= k) by lia.
  destruct C as [C|[->|C]]; [| |]; split; split; nia. Qed.

(** [digit]: the outermost digit of a number needs no remainder. *)
Theorem outermost_digit : forall s r x, 0 < s -> positives r -> 0 <= x < s * numel r ->
  (x / numel r) mod s = x / numel r.
Proof.
  intros s r x Hs Hr Hx. pose proof (numel_pos r Hr). apply Z.mod_small. divide_out x (numel r). nia.
Qed.

(** [digits]: nor does one that has only axes of one element outside of it, whose digits are 0. *)
Fixpoint written (outermost : bool) (ss : list Z) (x : Z) : list Z :=
  match ss with
  | [] => []
  | s :: r => (if s =? 1 then 0 else if outermost then x / numel r else (x / numel r) mod s)
              :: written (outermost && (s =? 1)) r x
  end.

Theorem digits_written : forall ss x, positives ss -> 0 <= x < numel ss -> written true ss x = unravel ss x.
Proof.
  assert (G : forall ss x, written false ss x = unravel ss x).
  { induction ss as [|s r IH]; intros x; [reflexivity|]. cbn [written unravel andb]. rewrite IH.
    destruct (Z.eqb_spec s 1) as [->|N]; [rewrite Z.mod_1_r|]; reflexivity. }
  induction ss as [|s r IH]; intros x P H; [reflexivity|]. inversion P as [|? ? P1 P2]; subst. cbn [numel] in H.
  cbn [written unravel andb]. destruct (Z.eqb_spec s 1) as [->|N].
  - rewrite Z.mod_1_r. f_equal. apply IH; [exact P2|]. lia.
  - rewrite outermost_digit by assumption. f_equal. apply G.
Qed.

(** [Program::remainder]: the remainder by -1 is that by 1. *)
Theorem remainder_by_one : forall a, Z.rem a (-1) = Z.rem a 1.
Proof. intros a. exact (Z.rem_opp_r a 1 ltac:(lia)). Qed.
