(** The rules of the simplifier of index expressions: the crate [indexpr].

    An expression is read as linear forms [c + sum a_k x_k] over atoms: variables, floors, remainders, minima, choices
    and whatever else is not linear.  Every step that changes one of these, or a bound, rests on a statement below.  Above
    each stands the function of the crate that relies on it, and above that function stands the name of the statement;
    the test command compares both.

    What a statement is called tells what it is for.
    - [Theorem]: a rule that the crate uses.
    - [Proposition]: a rule that is proved and that the crate does not use.
    - [Lemma], [Example]: what serves here only.

    Where only the value of a form matters it is an integer; where its coefficients do, it is [c + dot cs xs], the
    coefficients [cs] times the values [xs] of the atoms.  [/] and [mod] round down, for divisors of either sign.  *)

From Coq Require Import ZArith Lia List Bool Znumtheory.
From Shapetracker Require Import View Criterion Overflow Equation Bounding Merge Exact UitDeBos FastPath FirstCarry
  Quotient.
Import ListNotations.
Open Scope Z_scope.

(** A quotient and its remainder, for [lia]. *)
Ltac divide_out m d := pose proof (Z.div_mod m d ltac:(lia)); pose proof (Z.mod_pos_bound m d ltac:(lia)).

(** The quotient rounded up; [div_ceil] of [shapetracker-base]. *)
Definition ceil_div (a b : Z) : Z := - ((- a) / b).

Lemma floor_at_least : forall a b x, 0 < b -> (x <= a / b <-> b * x <= a).
Proof. intros a b x Hb. divide_out a b. split; nia. Qed.

Lemma ceil_at_most : forall a b x, 0 < b -> (ceil_div a b <= x <-> a <= b * x).
Proof. intros a b x Hb. unfold ceil_div. pose proof (floor_at_least (- a) b (- x) Hb). split; nia. Qed.

(** * Divisions: [algebra.rs] *)

(** [Algebra::quotient]: a negative divisor. *)
Theorem negative_divisor : forall m d, d < 0 -> m / d = (- m) / (- d).
Proof. intros. symmetry. apply Z.div_opp_opp. lia. Qed.

Example negative_divisor_example : 7 / -2 = -4 /\ (- (7)) / 2 = -4.
Proof. split; reflexivity. Qed.

(** [Form::divided]: the coefficients divided by a number of either sign that divides all of them.  The division is
    exact, so that it does not matter how it rounds. *)
Theorem divided : forall g cs xs, g <> 0 -> Forall (Z.divide g) cs -> dot cs xs = g * dot (map (fun a => a / g) cs) xs.
Proof.
  intros g cs. induction cs as [|a cs IH]; intros xs Hg H; [simpl; lia|].
  inversion H as [|? ? [k Hk] H']; subst. destruct xs as [|x xs]; [simpl; lia|]. cbn [map dot].
  rewrite (IH xs Hg H'), Z.div_mul by assumption. ring.
Qed.

Theorem divided_rounds_nowhere : forall g a, g <> 0 -> (g | a) -> a / g = Z.quot a g.
Proof. intros g a Hg [k ->]. rewrite Z.div_mul, Z.quot_mul by assumption. reflexivity. Qed.

(** [Algebra::quotient]: a common divisor of the divisor and of all coefficients.  The constant need not be a multiple
    of it. *)
Theorem common_divisor : forall g d c cs xs, 0 < g -> 0 < d -> (g | d) -> Forall (Z.divide g) cs ->
  (c + dot cs xs) / d = (c / g + dot (map (fun a => a / g) cs) xs) / (d / g).
Proof.
  intros g d c cs xs Hg Hd [e ->] H. rewrite (divided g cs xs) by (assumption || lia). rewrite Z.div_mul by lia.
  replace (e * g) with (g * e) by ring. rewrite <- Z.div_div by nia.
  replace (c + g * dot (map (fun a => a / g) cs) xs) with (c + dot (map (fun a => a / g) cs) xs * g) by ring.
  rewrite Z.div_add by lia. reflexivity.
Qed.

Example common_divisor_example : forall x y, (7 + dot [4; -6] [x; y]) / 10 = (3 + dot [2; -3] [x; y]) / 5.
Proof.
  intros. apply (common_divisor 2 10 7 [4; -6] [x; y]); try lia; [exists 5; reflexivity|].
  repeat constructor; [exists 2|exists (-3)]; reflexivity.
Qed.

(** [Algebra::quotient]: what is left where the divisor became 1. *)
Theorem divisor_one : forall m, m / 1 = m.
Proof. exact Z.div_1_r. Qed.

(** [Algebra::flattened]: one floor in place of two, beside a rest that is an integer. *)
Theorem flattened : forall m e rest d, 0 < e -> 0 < d -> (m / e + rest) / d = (m + e * rest) / (e * d).
Proof.
  intros m e rest d He Hd. rewrite <- Z.div_div by lia.
  replace (m + e * rest) with (m + rest * e) by ring. rewrite Z.div_add by lia. reflexivity.
Qed.

Example flattened_example : (7 / 3 + 5) / 4 = (7 + 3 * 5) / (3 * 4) /\ (-7 / 3 + 1) / 4 = (-7 + 3 * 1) / (3 * 4).
Proof. split; reflexivity. Qed.

(** [Algebra::affine_part]: a division by a proper divisor of the divisor first. *)
Theorem affine_part : forall m by_ d, 0 < by_ -> 0 < d -> (by_ | d) -> m / d = (m / by_) / (d / by_).
Proof.
  intros m b d Hb Hd [e ->]. rewrite Z.div_mul by lia. replace (e * b) with (b * e) by ring.
  rewrite Z.div_div by nia. reflexivity.
Qed.

(** [Algebra::quotient]: multiples of the divisor leave the numerator. *)
Theorem multiples_leave : forall d taken rest, 0 < d -> (d * taken + rest) / d = taken + rest / d.
Proof.
  intros. replace (d * taken + rest) with (rest + taken * d) by ring. rewrite Z.div_add by lia. lia.
Qed.

(** [reduce]: which coefficient stays.  [most] is [Taken::Most]; otherwise it is [Taken::Multiples]. *)
Definition kept (most : bool) (d a : Z) : Z :=
  if a mod d =? 0 then 0
  else if negb most then a
  else if a mod d =? 1 then 1
  else if a mod d =? d - 1 then -1
  else if (- d <? a) && (a <? d) then a
  else a mod d.

Lemma kept_congruent : forall most d a, 0 < d -> (d | a - kept most d a).
Proof.
  intros most d a Hd. divide_out a d. unfold kept.
  destruct (Z.eqb_spec (a mod d) 0); [exists (a / d); lia|].
  destruct (negb most); [exists 0; lia|].
  destruct (Z.eqb_spec (a mod d) 1); [exists (a / d); lia|].
  destruct (Z.eqb_spec (a mod d) (d - 1)); [exists (a / d + 1); lia|].
  destruct (andb _ _); [exists 0; lia|exists (a / d); lia].
Qed.

(** A form is [d] times what is taken, and the rest.  The constant of the rest lies in [0..d].  The division of the
    difference of coefficients is exact, and so it does not matter that the code's rounds towards zero. *)
Theorem reduced : forall most d c cs xs, 0 < d ->
  c + dot cs xs = d * (c / d + dot (map (fun a => Z.quot (a - kept most d a) d) cs) xs)
                  + (c mod d + dot (map (kept most d) cs) xs)
  /\ 0 <= c mod d < d.
Proof.
  intros most d c cs xs Hd. divide_out c d. split; [|assumption].
  assert (D : dot cs xs = d * dot (map (fun a => Z.quot (a - kept most d a) d) cs) xs + dot (map (kept most d) cs) xs).
  { revert xs. induction cs as [|a cs IH]; intros xs; [simpl; lia|]. destruct xs as [|x xs]; [simpl; lia|].
    cbn [map dot]. rewrite IH. destruct (kept_congruent most d a Hd) as [k Hk]. rewrite Hk, Z.quot_mul by lia.
    replace a with (k * d + kept most d a) at 1 by lia. ring. }
  lia.
Qed.

(** 16 i + 5 j by 15 is i and i + 5 j; j stays, since its coefficient is small. *)
Example reduced_example : map (kept true 15) [16; 5] = [1; 5] /\ map (kept true 15) [14; -23] = [-1; 7] /\
  map (kept false 15) [16; 30] = [16; 0].
Proof. repeat split. Qed.

(** [Algebra::with_remainders]: any multiple of a remainder in place of what it is. *)
Theorem remainder_as_atom : forall form k m d, d <> 0 -> form = form - k * m + k * d * (m / d) + k * (m mod d).
Proof. intros. pose proof (Z.div_mod m d ltac:(lia)). nia. Qed.

(** * Conditions: [atoms.rs] and [algebra.rs] *)

(** A [Condition]: bounds, both ends included; either may be missing. *)
Definition allowed (low high : option Z) (x : Z) : Prop :=
  match low with Some l => l <= x | None => True end /\ match high with Some h => x <= h | None => True end.

Lemma bounds_keep : forall f g low high x y, (forall l, l <= x <-> f l <= y) -> (forall h, x <= h <-> y <= g h) ->
  (allowed low high x <-> allowed (option_map f low) (option_map g high) y).
Proof. intros f g low high x y F G. unfold allowed. destruct low, high; simpl; rewrite ?F, ?G; tauto. Qed.

Lemma bounds_turn : forall f g low high x y, (forall l, l <= x <-> y <= g l) -> (forall h, x <= h <-> f h <= y) ->
  (allowed low high x <-> allowed (option_map f high) (option_map g low) y).
Proof. intros f g low high x y F G. unfold allowed. destruct low, high; simpl; rewrite ?F, ?G; tauto. Qed.

(** [Condition::normal]: without a constant, and divided by the content with either sign.  Bounds are rounded inwards;
    a negative divisor turns them round. *)
Theorem normal_form : forall c g f low high, g <> 0 ->
  (allowed low high (c + g * f) <->
   if 0 <? g
   then allowed (option_map (fun l => ceil_div (l - c) g) low) (option_map (fun h => (h - c) / g) high) f
   else allowed (option_map (fun h => ceil_div (h - c) g) high) (option_map (fun l => (l - c) / g) low) f).
Proof.
  intros c g f low high Hg. destruct (Z.ltb_spec 0 g) as [P|N].
  - apply bounds_keep.
    + intros l. rewrite ceil_at_most by assumption. lia.
    + intros h. rewrite floor_at_least by assumption. lia.
  - assert (P : 0 < - g) by lia. apply bounds_turn.
    + intros l. rewrite <- (Z.div_opp_opp (l - c) g), floor_at_least by lia. lia.
    + intros h. unfold ceil_div. rewrite <- (Z.div_opp_opp (- (h - c)) g) by lia.
      fold (ceil_div (- (h - c)) (- g)). change (- (- - (h - c) / - g)) with (ceil_div (- (h - c)) (- g)).
      rewrite ceil_at_most by assumption. lia.
Qed.

(** 1 <= 3 - 2 f <= 8 is -2 <= f <= 1. *)
Example normal_form_example : forall f, allowed (Some 1) (Some 8) (3 + -2 * f) <-> allowed (Some (-2)) (Some 1) f.
Proof. intros f. apply (normal_form 3 (-2) f (Some 1) (Some 8)). lia. Qed.

(** [Algebra::without_quotient]: an inequality needs no floor with the coefficient 1 or -1.  The bound that limits the
    quotient from above is raised by [d - 1]. *)
Theorem without_quotient : forall d s m rest low high, 0 < d -> s = 1 \/ s = -1 ->
  (allowed low high (s * (m / d) + rest) <->
   allowed (option_map (fun l => l * d + - (if 0 <? s then 0 else d - 1)) low)
           (option_map (fun h => h * d + (if 0 <? s then d - 1 else 0)) high)
           (d * rest + s * m)).
Proof.
  intros d s m rest low high Hd Hs. divide_out m d. set (q := m / d) in *. clearbody q.
  (* d a <= d b + r says a <= b, and a <= b says d a <= d b: each of the four inequalities is of one of these forms. *)
  assert (F : forall a b r, 0 <= r < d -> (a <= b <-> d * a <= d * b + r)) by (intros; split; nia).
  apply bounds_keep; intros b; destruct Hs; subst s; cbn [Z.ltb Z.compare].
  - rewrite (F b (1 * q + rest) (m mod d)) by lia. lia.
  - rewrite (F b (-1 * q + rest) (d - 1 - m mod d)) by lia. lia.
  - rewrite (F (1 * q + rest) b (d - 1 - m mod d)) by lia. lia.
  - rewrite (F (-1 * q + rest) b (m mod d)) by lia. lia.
Qed.

(** With any other coefficient it is not so: 2 (m / 3) >= 3 holds from m = 6 on, and 2 m >= 9 from m = 5 on. *)
Example without_quotient_needs_one : ~ (2 * (5 / 3) >= 3) /\ 2 * 5 >= 3 * 3.
Proof. change (5 / 3) with 1. lia. Qed.

(** [Algebra::unwrapped]: a condition on a remainder, which is short of it by [less], as a range of remainders. *)
Theorem range_of_remainders : forall d m less low high, 0 < d ->
  (allowed low high (m mod d - less) <->
   (match low with Some l => Z.max (l + less) 0 | None => 0 end) <= m mod d <
   (match high with Some h => Z.min (h + 1 + less) d | None => d end)).
Proof. intros d m less low high Hd. divide_out m d. unfold allowed. destruct low, high; lia. Qed.

(** [Context::unwrapped]: a congruent form [R] whose interval misses all translates of [b..e] but [b..e] itself. *)
Theorem unwrapped : forall s b e m R, 0 < s -> 0 <= b -> e <= s -> (s | m - R) -> e - s <= R -> R < b + s ->
  (b <= R < e <-> b <= m mod s < e).
Proof.
  intros s b e m R Hs Hb He [k Hk] H1 H2.
  assert (E : m mod s = R mod s). { replace m with (R + k * s) by lia. apply Z.mod_add. lia. }
  rewrite E. divide_out R s. assert (C : R / s <= -1 \/ R / s = 0 \/ 1 <= R / s) by lia. nia.
Qed.

(** The transposed convolution of DESIGN.md: rows are 6 k + i by 7, masked to 0..5; i - k lies in -2..6. *)
Example unwrapped_example : forall i k, 0 <= i < 6 -> 0 <= k < 3 ->
  (0 <= i - k < 5 <-> 0 <= (6 * k + i) mod 7 < 5).
Proof. intros i k Hi Hk. apply unwrapped; try lia. exists k. ring. Qed.

(** [unwrap]: the coefficient nearest to 0 of those that are congruent. *)
Definition nearest (s a : Z) : Z := if s / 2 <? a mod s then a mod s - s else a mod s.

(** Multiples of the size may be taken from every coefficient and added to the constant. *)
Theorem unwrap_is_congruent : forall s c t cs xs, 0 < s ->
  (s | (c + dot cs xs) - (c + t * s + dot (map (nearest s) cs) xs)).
Proof.
  intros s c t cs xs Hs.
  assert (D : (s | dot cs xs - dot (map (nearest s) cs) xs)).
  { revert xs. induction cs as [|a cs IH]; intros xs; [exists 0; simpl; lia|].
    destruct xs as [|x xs]; [exists 0; simpl; lia|]. cbn [map dot]. destruct (IH xs) as [k Hk].
    divide_out a s. unfold nearest at 1.
    destruct (s / 2 <? a mod s); [exists ((a / s + 1) * x + k)|exists (a / s * x + k)]; nia. }
  destruct D as [k Hk]. exists (k - t). lia.
Qed.

(** It makes the interval of the term shortest. *)
Theorem nearest_is_shortest : forall s a k, 0 < s -> (s | a - k) -> Z.abs (nearest s a) <= Z.abs k.
Proof.
  intros s a k Hs [t Ht]. divide_out a s. divide_out s 2. unfold nearest.
  assert (k = a mod s + (a / s - t) * s) by nia. set (u := a / s - t) in *. clearbody u.
  assert (C : u <= -2 \/ u = -1 \/ u = 0 \/ 1 <= u) by lia.
  destruct (Z.ltb_spec (s / 2) (a mod s)); nia.
Qed.

(** If any shift of the interval [low..=high] by a multiple of the size passes, then this one does. *)
Theorem least_shift : forall s b e low high t, 0 < s -> e - s <= low + t * s -> high + t * s < b + s ->
  e - s <= low + ceil_div (e - s - low) s * s /\ high + ceil_div (e - s - low) s * s < b + s.
Proof.
  intros s b e low high t Hs H1 H2.
  pose proof (proj2 (ceil_at_most (e - s - low) s t Hs) ltac:(lia)).
  pose proof (proj1 (ceil_at_most (e - s - low) s (ceil_div (e - s - low) s) Hs) ltac:(lia)). nia.
Qed.

(** It is not always the one that passes: x + 4 y modulo 7, for x in 0..4 and y in 0..2, lies in 1..6 exactly where
    x + 4 y does.  With -3 for the 4 no shift passes, and it is -3 that [unwrap] tries. *)
Example nearest_is_not_best :
  nearest 7 4 = -3 /\
  (6 - 7 <= 1 * 0 + 4 * 0 /\ 1 * 3 + 4 * 1 < 1 + 7) /\
  ~ (exists t, 6 - 7 <= 1 * 0 + -3 * 1 + t * 7 /\ 1 * 3 + -3 * 0 + t * 7 < 1 + 7).
Proof. split; [reflexivity|]. split; [lia|]. intros [t H]. lia. Qed.

(** * Intervals and what is known: [context.rs] *)

(** A [Span], both ends included. *)
Definition lies (x : Z) (v : Z * Z) : Prop := fst v <= x <= snd v.

(** [add]: a span and a multiple of another one. *)
Definition add (s : Z * Z) (f : Z) (v : Z * Z) : Z * Z :=
  (fst s + Z.min (f * fst v) (f * snd v), snd s + Z.max (f * fst v) (f * snd v)).

Theorem add_holds : forall s S f x v, lies s S -> lies x v -> lies (s + f * x) (add S f v).
Proof. unfold lies, add. intros s S f x v H1 H2. simpl. destruct (Z.le_gt_cases 0 f); nia. Qed.

Fixpoint sum_of (S : Z * Z) (cs : list Z) (vs : list (Z * Z)) : Z * Z :=
  match cs, vs with c :: cs', v :: vs' => sum_of (add S c v) cs' vs' | _, _ => S end.

(** [Context::bounds]: the bounds of a form by those of its atoms, or of the pieces of a decomposition.  The pieces may
    depend on each other in any way. *)
Theorem bounds_of_pieces : forall cs xs vs s S, Forall2 lies xs vs -> lies s S ->
  lies (s + dot cs xs) (sum_of S cs vs).
Proof.
  induction cs as [|c cs IH]; intros xs vs s S H HS.
  - simpl. unfold lies in *. lia.
  - destruct H as [|x v xs vs Hx H]; [simpl; unfold lies in *; lia|]. cbn [dot sum_of].
    replace (s + (c * x + dot cs xs)) with ((s + c * x) + dot cs xs) by ring. apply IH; [exact H|].
    apply add_holds; assumption.
Qed.

(** [unwrap] as a whole: the form that it makes of the pieces of a decomposition, and its test. *)
Theorem unwrap_holds : forall s b e c cs xs vs, 0 < s -> 0 <= b -> e <= s -> Forall2 lies xs vs ->
  let span := sum_of (c, c) (map (nearest s) cs) vs in
  let shift := ceil_div (e - s - fst span) s * s in
  snd span + shift < b + s ->
  let m := c + dot cs xs in
  let R := m + (dot (map (nearest s) cs) xs - dot cs xs) + shift in
  (b <= R < e <-> b <= m mod s < e).
Proof.
  intros s b e c cs xs vs Hs Hb He H span shift T m R.
  pose proof (bounds_of_pieces (map (nearest s) cs) xs vs c (c, c) H ltac:(unfold lies; simpl; lia)) as B.
  fold span in B. unfold lies in B.
  pose proof (proj1 (ceil_at_most (e - s - fst span) s (ceil_div (e - s - fst span) s) Hs) ltac:(lia)) as L.
  apply unwrapped; try assumption; unfold R, m.
  - replace (c + dot cs xs - (c + dot cs xs + (dot (map (nearest s) cs) xs - dot cs xs) + shift))
      with ((c + dot cs xs) - (c + ceil_div (e - s - fst span) s * s + dot (map (nearest s) cs) xs))
      by (unfold shift; ring).
    apply unwrap_is_congruent. exact Hs.
  - unfold shift. lia.
  - lia.
Qed.

(** For atoms that range over a box both ends are attained. *)
Theorem bounds_are_attained : forall cs vs c, length cs = length vs -> Forall (fun v => fst v <= snd v) vs ->
  (exists xs, Forall2 lies xs vs /\ c + dot cs xs = fst (sum_of (c, c) cs vs)) /\
  (exists xs, Forall2 lies xs vs /\ c + dot cs xs = snd (sum_of (c, c) cs vs)).
Proof.
  assert (G : forall cs vs l h, length cs = length vs -> Forall (fun v => fst v <= snd v) vs ->
    (exists xs, Forall2 lies xs vs /\ l + dot cs xs = fst (sum_of (l, h) cs vs)) /\
    (exists xs, Forall2 lies xs vs /\ h + dot cs xs = snd (sum_of (l, h) cs vs))).
  { induction cs as [|a cs IH]; intros [|v vs] l h L B; try discriminate.
    - split; exists []; split; try constructor; simpl; lia.
    - inversion B as [|? ? B1 B2]; subst. cbn [sum_of].
      destruct (IH vs (fst (add (l, h) a v)) (snd (add (l, h) a v)) ltac:(simpl in L; congruence) B2)
        as [[xs [X1 X2]] [ys [Y1 Y2]]].
      rewrite <- surjective_pairing in X2, Y2. split.
      + exists ((if 0 <=? a then fst v else snd v) :: xs). split.
        * constructor; [|exact X1]. unfold lies. destruct (0 <=? a); lia.
        * cbn [dot]. rewrite <- X2. unfold add. simpl. destruct (Z.leb_spec 0 a); nia.
      + exists ((if 0 <=? a then snd v else fst v) :: ys). split.
        * constructor; [|exact Y1]. unfold lies. destruct (0 <=? a); lia.
        * cbn [dot]. rewrite <- Y2. unfold add. simpl. destruct (Z.leb_spec 0 a); nia. }
  intros cs vs c. apply G.
Qed.

Example bounds_example : forall x y, 0 <= x <= 4 -> -1 <= y <= 2 -> lies (3 + dot [2; -5] [x; y]) (-7, 16).
Proof.
  intros x y Hx Hy. pose proof (bounds_of_pieces [2; -5] [x; y] [(0, 4); (-1, 2)] 3 (3, 3)) as H. apply H.
  - repeat constructor; simpl; lia.
  - unfold lies; simpl; lia.
Qed.

(** [Context::learn]: the range of a quotient, *)
Theorem quotient_range : forall d m low high, 0 < d -> lies m (low, high) -> lies (m / d) (low / d, high / d).
Proof. unfold lies. simpl. intros d m low high Hd H. split; apply Z.div_le_mono; lia. Qed.

(** the range of its remainder without the constant [c] of the numerator, *)
Theorem remainder_range : forall d m c, 0 < d -> lies ((m - c) - d * (m / d)) (- c, d - 1 - c).
Proof. unfold lies. simpl. intros d m c Hd. divide_out m d. lia. Qed.

(** and the digit between two quotients of one numerator. *)
Theorem digit_range : forall m finer d, 0 < finer -> 0 < d -> (finer | d) ->
  lies (m / finer - d / finer * (m / d)) (0, d / finer - 1).
Proof.
  unfold lies. simpl. intros m f d Hf Hd [r ->]. rewrite Z.div_mul by lia. assert (0 < r) by nia.
  replace (r * f) with (f * r) by ring. rewrite <- Z.div_div by lia. divide_out (m / f) r. lia.
Qed.

(** [Context::assume]: the difference of a form and of a multiple of a part of it. *)
Theorem difference_range : forall whole factor part W P, lies whole W -> lies part P ->
  lies (whole - factor * part) (add W (- factor) P).
Proof.
  intros. replace (whole - factor * part) with (whole + - factor * part) by ring. apply add_holds; assumption.
Qed.

(** [Context::bounds_by_elimination]: [known] is a remainder or a digit of the quotient that is eliminated, in whose
    term it has [unit], and the form [coefficient].  The sum [by_ * form + factor * known] is without that quotient, *)
Theorem elimination_eliminates : forall coefficient unit, unit <> 0 ->
  let common := Z.gcd coefficient unit in
  let by_ := Z.abs unit / common in
  let factor := coefficient / common * - Z.sgn unit in
  by_ * coefficient + factor * unit = 0 /\ 0 < by_.
Proof.
  intros a u Hu common b f. subst b f. assert (G : 0 < common).
  { pose proof (Z.gcd_nonneg a u) as N. fold common in N. assert (common <> 0); [|lia].
    intros E. apply Z.gcd_eq_0_r in E. contradiction. }
  destruct (Z.gcd_divide_l a u) as [p Hp], (Z.gcd_divide_r a u) as [q Hq]. fold common in Hp, Hq.
  assert (Z.abs u = Z.abs q * common) by (rewrite Hq, Z.abs_mul, (Z.abs_eq common) by lia; reflexivity).
  assert (Ea : a / common = p) by (rewrite Hp at 1; apply Z.div_mul; lia).
  assert (Eu : Z.abs u / common = Z.abs q) by (rewrite H; apply Z.div_mul; lia).
  rewrite Ea, Eu. split.
  - assert (U : u = Z.sgn u * Z.abs u) by (rewrite Z.mul_comm; symmetry; apply Z.abs_sgn).
    assert (S : Z.sgn u * Z.sgn u = 1) by (destruct u; simpl; lia).
    rewrite Hp. rewrite U at 2. rewrite H.
    transitivity (Z.abs q * p * common * (1 - Z.sgn u * Z.sgn u)); [ring|rewrite S; ring].
  - assert (q <> 0) by (intros ->; lia). lia.
Qed.

(** and its bounds are bounds of the form. *)
Theorem elimination_bounds : forall by_ factor form known W V, 0 < by_ ->
  lies (by_ * form + factor * known) W -> lies known V ->
  let T := add W (- factor) V in
  ceil_div (fst T) by_ <= form <= snd T / by_.
Proof.
  intros b f form known W V Hb H1 H2 T. pose proof (difference_range _ f _ _ _ H1 H2) as D. fold T in D.
  replace (b * form + f * known - f * known) with (b * form) in D by ring. unfold lies in D.
  rewrite ceil_at_most, floor_at_least by assumption. exact D.
Qed.

(** x / 3 - x / 2 + x with x in 0..100: by itself in -49..132, and after elimination in -1..83. *)
Example elimination_example : forall x, 0 <= x < 100 -> -1 <= x / 3 - x / 2 + x <= 83.
Proof.
  intros x H. pose proof (remainder_range 2 x 0 ltac:(lia)) as R2. pose proof (remainder_range 3 x 0 ltac:(lia)) as R3.
  unfold lies in *. cbn [fst snd] in *. lia.
Qed.

(** [Context::with_known_values] and [with_known_sums]: a form whose value is known leaves a sum, and a multiple of that
    value comes in. *)
Theorem known_value : forall form factor known value, known = value -> form = form - factor * known + factor * value.
Proof. intros. subst. ring. Qed.

(** [Condition::truth]: what bounds of a form say of a condition on it. *)
Theorem truth_by_bounds : forall low high x S, lies x S ->
  (match low with Some l => l <= fst S | None => True end -> match high with Some h => snd S <= h | None => True end ->
   allowed low high x) /\
  (forall l, low = Some l -> snd S < l -> ~ allowed low high x) /\
  (forall h, high = Some h -> h < fst S -> ~ allowed low high x).
Proof.
  unfold lies, allowed. intros low high x S H. repeat split.
  - destruct low; lia.
  - destruct high; lia.
  - intros l -> ?. lia.
  - intros h -> ?. destruct low; lia.
Qed.

(** [Context::without_implied_bounds]. *)
Theorem implied_bounds : forall low high x S, lies x S ->
  (allowed low high x <->
   allowed (match low with Some l => if fst S <? l then Some l else None | None => None end)
           (match high with Some h => if h <? snd S then Some h else None | None => None end) x).
Proof.
  unfold lies, allowed. intros low high x S H.
  destruct low as [l|], high as [h|]; try (destruct (Z.ltb_spec (fst S) l)); try (destruct (Z.ltb_spec h (snd S)));
    split; intros; repeat split; try tauto; lia.
Qed.

(** [Context::without_tail]: a part that is too small to decide. *)
Theorem tail_dropped : forall by_ large small S low high, 0 < by_ -> lies small S ->
  (forall l, low = Some l -> ceil_div (l - fst S) by_ = ceil_div (l - snd S) by_) ->
  (forall h, high = Some h -> (h - fst S) / by_ = (h - snd S) / by_) ->
  (allowed low high (by_ * large + small) <->
   allowed (option_map (fun l => ceil_div (l - fst S) by_) low) (option_map (fun h => (h - fst S) / by_) high) large).
Proof.
  intros b large small S low high Hb [H1 H2] L H.
  assert (A : forall l, low = Some l -> (l <= b * large + small <-> ceil_div (l - fst S) b <= large)).
  { intros l E. specialize (L l E). split.
    - intros. rewrite L. apply ceil_at_most; lia.
    - intros G. apply (proj1 (ceil_at_most (l - fst S) b large Hb)) in G. lia. }
  assert (B : forall h, high = Some h -> (b * large + small <= h <-> large <= (h - fst S) / b)).
  { intros h E. specialize (H h E). split.
    - intros. apply floor_at_least; lia.
    - intros G. rewrite H in G. apply (proj1 (floor_at_least (h - snd S) b large Hb)) in G. lia. }
  unfold allowed. destruct low as [l|], high as [h|]; simpl;
    rewrite ?(A l eq_refl), ?(B h eq_refl); tauto.
Qed.

(** 40 i + j >= 80 with j in 0..40 is i >= 2. *)
Example tail_example : forall i j, 0 <= j < 40 -> (80 <= 40 * i + j <-> 2 <= i).
Proof.
  intros i j H. pose proof (tail_dropped 40 i j (0, 39) (Some 80) None) as T. unfold allowed in T. simpl in T.
  assert (G : forall P Q : Prop, (P /\ True <-> Q /\ True) -> (P <-> Q)) by tauto. apply G, T; try lia.
  - unfold lies; simpl; lia.
  - intros l E. injection E as <-. reflexivity.
  - discriminate.
Qed.

(** [Context::saturated]: no coefficient need be larger than what is missing to the bound.  [es] are the ends at which
    the terms are least. *)
Fixpoint least_at (cs es xs : list Z) : Prop :=
  match cs, es, xs with
  | c :: cs', e :: es', x :: xs' => (0 < c -> e <= x) /\ (c < 0 -> x <= e) /\ least_at cs' es' xs'
  | [], [], [] => True
  | _, _, _ => False
  end.

Definition clamp (M a : Z) : Z := Z.max (- M) (Z.min a M).

Lemma clamped_sums : forall M cs es xs, 0 < M -> least_at cs es xs ->
  let T := dot cs xs - dot cs es in
  let U := dot (map (clamp M) cs) xs - dot (map (clamp M) cs) es in
  0 <= U <= T /\ (U = T \/ M <= U).
Proof.
  intros M. induction cs as [|c cs IH]; intros [|e es] [|x xs] HM H; try (simpl in H; tauto); [simpl; lia|].
  destruct H as [H1 [H2 H3]]. specialize (IH es xs HM H3). cbn [map dot] in *. cbv zeta in *.
  set (t := dot cs xs) in *. set (t' := dot cs es) in *.
  set (u := dot (map (clamp M) cs) xs) in *. set (u' := dot (map (clamp M) cs) es) in *.
  assert (D : 0 <= clamp M c * (x - e) <= c * (x - e) /\
              (clamp M c * (x - e) = c * (x - e) \/ M <= clamp M c * (x - e))).
  { unfold clamp.
    assert (K : c < - M \/ - M <= c <= M \/ M < c) by lia. destruct K as [K|[K|K]].
    - replace (Z.max (- M) (Z.min c M)) with (- M) by lia. specialize (H2 ltac:(lia)).
      destruct (Z.eq_dec x e) as [->|N]; [rewrite Z.sub_diag; lia|nia].
    - replace (Z.max (- M) (Z.min c M)) with c by lia. split; [|left; reflexivity].
      assert (Q : c < 0 \/ c = 0 \/ 0 < c) by lia. destruct Q as [Q|[Q|Q]]; [|subst c; lia|].
      + specialize (H2 Q). nia.
      + specialize (H1 Q). nia.
    - replace (Z.max (- M) (Z.min c M)) with M by lia. specialize (H1 ltac:(lia)).
      destruct (Z.eq_dec x e) as [->|N]; [rewrite Z.sub_diag; lia|nia]. }
  split; [lia|]. destruct IH as [IH1 [IH2|IH2]], D as [D1 [D2|D2]]; lia.
Qed.

Theorem saturated : forall bound cs es xs, least_at cs es xs ->
  let missing := bound - dot cs es in
  0 < missing ->
  (bound <= dot cs xs <->
   missing + dot (map (clamp missing) cs) es <= dot (map (clamp missing) cs) xs).
Proof.
  intros bound cs es xs H missing HM. pose proof (clamped_sums missing cs es xs HM H) as C. cbv zeta in C. lia.
Qed.

(** The ends are those of the intervals of the atoms, by the signs of the coefficients. *)
Theorem ends_are_least : forall cs xs vs, length cs = length vs -> Forall2 lies xs vs ->
  least_at cs (map (fun cv => if 0 <? fst cv then fst (snd cv) else snd (snd cv)) (combine cs vs)) xs.
Proof.
  induction cs as [|c cs IH]; intros xs [|v vs] L H; try discriminate; inversion H as [|x ? xs' ? Hx H']; subst.
  - exact I.
  - cbn [combine map least_at fst snd]. unfold lies in Hx.
    split; [|split; [|apply IH; [simpl in L; congruence|exact H']]]; intros; destruct (Z.ltb_spec 0 c); lia.
Qed.

(** Where the bound is an upper one, the negated form has it as a lower one. *)
Theorem saturated_above : forall high cs xs, dot cs xs <= high <-> - high <= dot (map Z.opp cs) xs.
Proof.
  intros high cs xs. assert (E : dot (map Z.opp cs) xs = - dot cs xs).
  { revert xs. induction cs as [|c cs IH]; intros [|x xs]; try reflexivity. cbn [map dot]. rewrite IH. lia. }
  lia.
Qed.

(** 100 i - 7 j >= -20 for i >= 0 and j <= 3 needs 1 more than -21: it is i - j >= -2. *)
Example saturated_example : forall i j, 0 <= i -> j <= 3 -> (-20 <= dot [100; -7] [i; j] <-> -2 <= i - j).
Proof.
  intros i j Hi Hj. pose proof (saturated (-20) [100; -7] [0; 3] [i; j]) as S. cbv zeta in S.
  change (-20 - dot [100; -7] [0; 3]) with 1 in S. change (map (clamp 1) [100; -7]) with [1; -1] in S.
  rewrite S; [|cbn [least_at]; lia|lia]. cbn [dot]. lia.
Qed.

(** * The affine quotient: [context.rs] and [boundary.rs] *)

Fixpoint beyond (xs : list Z) (vs : list (Z * Z)) : list Z :=
  match xs, vs with x :: xs', v :: vs' => x - fst v :: beyond xs' vs' | _, _ => [] end.

Definition reaches (vs : list (Z * Z)) : list Z := map (fun v => snd v - fst v + 1) vs.

Lemma beyond_inbox : forall xs vs, Forall2 lies xs vs -> inbox (whole (reaches vs)) (beyond xs vs).
Proof.
  intros xs vs H. induction H as [|x v xs vs Hx H IH]; [exact I|]. cbn [reaches map whole beyond inbox].
  split; [|exact IH].
  unfold lies in Hx. simpl. lia.
Qed.

Lemma beyond_dot : forall cs xs vs, Forall2 lies xs vs -> dot cs (beyond xs vs) = dot cs xs - dot cs (map fst vs).
Proof.
  intros cs xs vs H. revert cs. induction H as [|x v xs vs Hx H IH]; intros [|c cs]; try (simpl; lia).
  cbn [beyond map dot]. rewrite IH. ring.
Qed.

(** [quotient_of_pieces]: the boundary test on the box of the intervals of the pieces.  The pieces may depend on each
    other in any way: what holds on the whole box holds at each of its points. *)
Theorem affine_in_pieces : forall d c cs vs ts xs, 0 < d -> length cs = length vs -> length ts = length vs ->
  Forall2 lies xs vs ->
  let first := c + dot cs (map fst vs) in
  quotient_test d first cs (reaches vs) ts ->
  (c + dot cs xs) / d = (first / d - dot ts (map fst vs)) + dot ts xs.
Proof.
  intros d c cs vs ts xs Hd L1 L2 H first T.
  pose proof (quotient_test_sound d first cs (reaches vs) ts Hd) as Q. unfold reaches in Q at 1 2.
  rewrite map_length in Q. specialize (Q L1 L2 T (beyond xs vs) (beyond_inbox xs vs H)).
  rewrite !beyond_dot in Q by assumption.
  replace (first + (dot cs xs - dot cs (map fst vs))) with (c + dot cs xs) in Q by (unfold first; ring). lia.
Qed.

(** An interval that is longer than [M], the largest number, counts as one of that length: along it a remainder that
    moves at all leaves [0..d] either way. *)
Theorem long_reach : forall M d r moved reach, 0 <= r < d -> d <= M -> M <= reach -> moved <> 0 ->
  ~ (0 <= r + moved * M < d) /\ ~ (0 <= r + moved * reach < d).
Proof. intros M d r k n Hr Hd Hn Hk. assert (k <= -1 \/ 1 <= k) by lia. split; nia. Qed.

(** [is_affine]: the step of the quotient along an axis, from the remainder at the first corner; and the same where the
    sum of both leaves the type of the numbers. *)
Theorem step_from_remainder : forall d o a, 0 < d ->
  (o mod d + a) / d = quotient_step d o a /\
  a / d + (if d - o mod d <=? a mod d then 1 else 0) = quotient_step d o a.
Proof.
  intros d o a Hd. split.
  - rewrite quotient_step_is_carry by assumption. divide_out o d.
    replace (o + a) with (o mod d + a + o / d * d) by lia. rewrite Z.div_add by lia. lia.
  - unfold quotient_step. destruct (Z.leb_spec (d - o mod d) (a mod d)), (Z.leb_spec (o mod d + a mod d) (d - 1)); lia.
Qed.

(** [is_affine] as it walks over the axes, each with its step and its reach: the steps of the quotient, if the
    remainders stay in [0..d].  Axes of reach 0 do not move. *)
Fixpoint walk (d r : Z) (axes : list (Z * Z)) (low high : Z) : option (list Z) :=
  match axes with
  | [] => Some []
  | (a, n) :: rest =>
    if n <=? 0 then option_map (cons 0) (walk d r rest low high)
    else
      let t := (r + a) / d in
      let moved := (a - t * d) * n in
      let low' := low + Z.min moved 0 in
      let high' := high + Z.max moved 0 in
      if (low' <? 0) || (d <=? high') then None else option_map (cons t) (walk d r rest low' high')
  end.

Lemma ups_natural : forall rs ns, positives ns -> 0 <= ups rs ns /\ downs rs ns <= 0.
Proof.
  induction rs as [|a rs IH]; intros [|n ns] P; try (simpl; lia). inversion P as [|? ? P1 P2]; subst.
  specialize (IH ns P2). cbn [ups downs]. destruct (Z.ltb_spec 0 a), (Z.ltb_spec a 0); nia.
Qed.

Lemma chosen_more : forall P o a st n ns t ts, n = 1 \/ t = quotient_step P o a -> chosen P o st ns ts ->
  chosen P o (a :: st) (n :: ns) (t :: ts).
Proof.
  intros P o a st n ns t ts H [L C]. split; [simpl; congruence|]. intros [|l] Hl N; simpl in *.
  - destruct H as [H|H]; [contradiction|exact H].
  - apply C; [lia|exact N].
Qed.

Lemma walk_steps : forall d o, 0 < d -> forall st ns low high, length st = length ns -> positives ns ->
  0 <= low -> high <= d - 1 ->
  match walk d (o mod d) (combine st (map (fun n => n - 1) ns)) low high with
  | Some ts => chosen d o st ns ts /\
               high + ups (leftovers d st ts) ns <= d - 1 /\ 0 <= low + downs (leftovers d st ts) ns
  | None => forall ts, chosen d o st ns ts ->
            ~ (high + ups (leftovers d st ts) ns <= d - 1 /\ 0 <= low + downs (leftovers d st ts) ns)
  end.
Proof.
  intros d o Hd. induction st as [|a st IH]; intros [|n ns] low high L P Hl Hh; try discriminate.
  - simpl. split; [split; [reflexivity|simpl; lia]|lia].
  - inversion P as [|? ? P1 P2]; subst. cbn [map combine walk].
    assert (Ln : length st = length ns) by (simpl in L; congruence).
    destruct (step_from_remainder d o a Hd) as [Q _].
    destruct (Z.leb_spec (n - 1) 0) as [N|N].
    + (* One index: whatever step is put down. *)
      assert (E : n = 1) by lia. specialize (IH ns low high Ln P2 Hl Hh). subst n.
      destruct (walk _ _ _ low high) as [ts|]; cbn [option_map].
      * destruct IH as [C [U D]]. split; [apply chosen_more; [left; reflexivity|exact C]|].
        cbn [leftovers ups downs]. rewrite !Z.mul_0_r. destruct (0 <? _), (_ <? 0); lia.
      * intros [|t ts] C; [destruct C; discriminate|]. apply chosen_cons in C. destruct C as [_ C].
        specialize (IH ts C). cbn [leftovers ups downs]. rewrite !Z.mul_0_r. destruct (0 <? _), (_ <? 0); lia.
    + rewrite Q. set (t := quotient_step d o a). set (m := a - t * d).
      assert (U0 : (if 0 <? m then m * (n - 1) else 0) = Z.max (m * (n - 1)) 0) by (destruct (Z.ltb_spec 0 m); nia).
      assert (D0 : (if m <? 0 then m * (n - 1) else 0) = Z.min (m * (n - 1)) 0) by (destruct (Z.ltb_spec m 0); nia).
      destruct (Z.ltb_spec (low + Z.min (m * (n - 1)) 0) 0) as [A|A]; [|
        destruct (Z.leb_spec d (high + Z.max (m * (n - 1)) 0)) as [B|B]]; cbn [orb].
      1, 2: intros [|t' ts] C; [destruct C; discriminate|]; apply chosen_cons in C; destruct C as [[C1|C1] C2];
        [lia|]; subst t'; cbn [leftovers ups downs]; fold t; fold m; rewrite U0, D0;
        pose proof (ups_natural (leftovers d st ts) ns P2); lia.
      specialize (IH ns (low + Z.min (m * (n - 1)) 0) (high + Z.max (m * (n - 1)) 0) Ln P2 A ltac:(lia)).
      destruct (walk _ _ _ _ _) as [ts|]; cbn [option_map].
      * destruct IH as [C [U D]]. split; [apply chosen_more; [right; reflexivity|exact C]|].
        cbn [leftovers ups downs]. fold m. rewrite U0, D0. lia.
      * intros [|t' ts] C; [destruct C; discriminate|]. apply chosen_cons in C. destruct C as [[C1|C1] C2]; [lia|].
        subst t'. specialize (IH ts C2). cbn [leftovers ups downs]. fold t. fold m. rewrite U0, D0. lia.
Qed.

(** It answers exactly: with the steps of the quotient where it is affine on the box, and with none where it is not. *)
Theorem walk_is_exact : forall d o st ns, 0 < d -> length st = length ns -> positives ns ->
  match walk d (o mod d) (combine st (map (fun n => n - 1) ns)) (o mod d) (o mod d) with
  | Some ts => quotient_test d o st ns ts /\
               forall i, inbox (whole ns) i -> (o + dot st i) / d = o / d + dot ts i
  | None => ~ affine_on (whole ns) (fun i => (o + dot st i) / d)
  end.
Proof.
  intros d o st ns Hd L P. pose proof (Z.mod_pos_bound o d Hd).
  pose proof (walk_steps d o Hd st ns (o mod d) (o mod d) L P ltac:(lia) ltac:(lia)) as W.
  destruct (walk _ _ _ _ _) as [ts|].
  - destruct W as [C T]. split; [exact T|]. apply quotient_test_exact; assumption.
  - intros A. pose proof (quotient_steps_chosen d o st ns L) as C. apply (W _ C).
    apply (quotient_test_exact d o st ns _ Hd P L C). exact A.
Qed.

(** 4 i + j by 4 with j in 0..4 moves with i alone; with j in 0..5 it is not affine. *)
Example walk_example : walk 4 0 [(4, 9); (1, 3)] 0 0 = Some [1; 0] /\ walk 4 0 [(4, 9); (1, 4)] 0 0 = None.
Proof. split; reflexivity. Qed.

(** [quotient_of_pieces] as a whole, which walks over the pieces from their least values. *)
Theorem pieces_walked : forall d c cs vs xs ts, 0 < d -> length cs = length vs -> Forall2 lies xs vs ->
  let first := c + dot cs (map fst vs) in
  walk d (first mod d) (combine cs (map (fun v => snd v - fst v) vs)) (first mod d) (first mod d) = Some ts ->
  (c + dot cs xs) / d = (first / d - dot ts (map fst vs)) + dot ts xs.
Proof.
  intros d c cs vs xs ts Hd L H first W.
  assert (P : positives (reaches vs)).
  { clear - H. induction H as [|x v xs vs Hx H IH]; constructor; [unfold lies in Hx; lia|exact IH]. }
  assert (E : map (fun v => snd v - fst v) vs = map (fun n => n - 1) (reaches vs)).
  { unfold reaches. rewrite map_map. apply map_ext. intros; lia. }
  assert (Ln : length cs = length (reaches vs)) by (unfold reaches; rewrite map_length; exact L).
  rewrite E in W. pose proof (walk_is_exact d first cs (reaches vs) Hd Ln P) as X. rewrite W in X. destruct X as [T _].
  apply affine_in_pieces; try assumption.
  pose proof (walk_steps d first Hd cs (reaches vs) (first mod d) (first mod d) Ln P) as Y. rewrite W in Y.
  destruct Y as [[Lt _] _]; pose proof (Z.mod_pos_bound first d Hd); lia.
Qed.

(** [(4 i + j) / 4] with [4 i + j - 4 k] in 0..3 is [k], whatever the variables are. *)
Example affine_in_pieces_example : forall i j k, lies (4 * i + j - 4 * k) (0, 3) -> lies k (0, 9) ->
  (4 * i + j) / 4 = k.
Proof.
  intros i j k H1 H2.
  pose proof (affine_in_pieces 4 0 [4; 1] [(0, 9); (0, 3)] [1; 0] [k; 4 * i + j - 4 * k]) as A. cbv zeta in A.
  replace (0 + dot [4; 1] [k; 4 * i + j - 4 * k]) with (4 * i + j) in A by (cbn [dot]; ring). rewrite A.
  - change ((0 + dot [4; 1] (map fst [(0, 9); (0, 3)])) / 4 - dot [1; 0] (map fst [(0, 9); (0, 3)])) with 0.
    cbn [dot]. lia.
  - lia.
  - reflexivity.
  - reflexivity.
  - repeat constructor; unfold lies in *; cbn [fst snd] in *; lia.
  - unfold quotient_test. split; vm_compute; discriminate.
Qed.

(** * Conjunctions: [conjunction.rs] *)

(** [minimize]: a condition is judged by the others alone, as they stand. *)
Theorem judged_by_others : forall C C' others : Prop, (others -> (C <-> C')) -> (C /\ others <-> C' /\ others).
Proof. tauto. Qed.

Theorem implied_by_others : forall C others : Prop, (others -> C) -> (C /\ others <-> others).
Proof. tauto. Qed.

(** Judged by all others as they were at the start, two that imply each other would both go. *)
Example judged_as_they_stand : exists C D : Prop, (D -> C) /\ (C -> D) /\ ~ (True <-> C /\ D).
Proof. exists False, False. tauto. Qed.

(** [on_one_form]: two conditions on one form are one. *)
Theorem on_one_form : forall l1 h1 l2 h2 x,
  (allowed l1 h1 x /\ allowed l2 h2 x <->
   allowed (match l1, l2 with Some a, Some b => Some (Z.max a b) | None, l => l | l, None => l end)
           (match h1, h2 with Some a, Some b => Some (Z.min a b) | None, h => h | h, None => h end) x).
Proof. unfold allowed. intros [a|] [b|] [c|] [d|] x; split; intros; repeat split; try tauto; lia. Qed.

(** [join_extremes]: forms that are as small as they can be, together.  The bounds need not be attained. *)
Theorem extremes_joined : forall fs : list (Z * Z), Forall (fun f => snd f <= fst f) fs ->
  (Forall (fun f => fst f <= snd f) fs <->
   fold_right Z.add 0 (map fst fs) <= fold_right Z.add 0 (map snd fs)).
Proof.
  intros fs H. assert (S : fold_right Z.add 0 (map snd fs) <= fold_right Z.add 0 (map fst fs)).
  { induction H as [|f fs H1 H2 IH]; simpl; lia. }
  induction H as [|f fs H1 H2 IH]; simpl in *; [split; [lia|constructor]|].
  assert (S' : fold_right Z.add 0 (map snd fs) <= fold_right Z.add 0 (map fst fs)).
  { clear - H2. induction H2 as [|g gs G1 G2 IH]; simpl; lia. }
  split.
  - intros F. inversion F as [|? ? F1 F2]; subst. apply IH in F2; lia.
  - intros. constructor; [lia|]. apply IH; lia.
Qed.

Example extremes_example : forall x y, 3 <= x -> -2 <= y -> (x <= 3 /\ y <= -2 <-> x + y <= 1).
Proof. lia. Qed.

(** [widened]: a condition on a longer sum, whose other terms reach less far than the factor. *)
Theorem widened : forall factor form tail S low high, factor <> 0 -> lies tail S -> snd S - fst S < Z.abs factor ->
  let (low', high') := if 0 <? factor then (low, high) else (high, low) in
  (allowed low high form <->
   allowed (option_map (fun b => b * factor + fst S) low') (option_map (fun b => b * factor + snd S) high')
           (factor * form + tail)).
Proof.
  intros f x t S low high Hf [H1 H2] W. destruct (Z.ltb_spec 0 f) as [P|N].
  - apply bounds_keep; intros b; split; nia.
  - apply bounds_turn; intros b; split; nia.
Qed.

(** 3 i + 2 j < 57 is 150 i + 100 j + k < 2850, for k in 0..50. *)
Example widened_example : forall i j k, 0 <= k < 50 -> (3 * i + 2 * j <= 56 <-> 150 * i + 100 * j + k <= 2849).
Proof. lia. Qed.

(** [shifted]: a range of [(m + c) mod d] as a range of [m mod d].  The condition is short of the remainder by [c]. *)
Theorem shifted : forall d m c low high, 0 < d ->
  let l := match low with Some l => Z.max l (- c) | None => - c end in
  let h := match high with Some h => Z.min h (d - 1 - c) | None => d - 1 - c end in
  let first := l mod d in
  let last := first + (h - l) in
  l <= h -> last < d ->
  (allowed low high ((m + c) mod d - c) <->
   allowed (if 0 <? first then Some first else None) (if last + 1 <? d then Some last else None) (m mod d)).
Proof.
  intros d m c low high Hd l h first last Hlh Hlast.
  assert (A : allowed low high ((m + c) mod d - c) <-> l <= (m + c) mod d - c <= h).
  { divide_out (m + c) d. unfold allowed, l, h. destruct low, high; lia. }
  assert (B : allowed (if 0 <? first then Some first else None) (if last + 1 <? d then Some last else None) (m mod d)
              <-> first <= m mod d <= last).
  { divide_out m d. unfold allowed. destruct (Z.ltb_spec 0 first), (Z.ltb_spec (last + 1) d); lia. }
  assert (L : - c <= l) by (unfold l; destruct low; lia).
  assert (H : h <= d - 1 - c) by (unfold h; destruct high; lia).
  rewrite A, B. clear A B.
  divide_out (m + c) d. divide_out m d. divide_out l d. fold first in H4, H5.
  set (v := (m + c) mod d) in *. set (u := m mod d) in *.
  set (k := (m + c) / d - m / d) in *. set (j := l / d) in *.
  assert (E : v - c = u - k * d) by (unfold k; lia). assert (F : l = first + j * d) by lia.
  assert (T : - k - j <= -1 \/ - k - j = 0 \/ 1 <= - k - j) by lia.
  assert (G : v - c - l = u - first + (- k - j) * d) by lia.
  set (t := - k - j) in *. clearbody t k j v u first. unfold last in *. clear last.
  destruct T as [T|[T|T]]; [assert (t * d <= - d) by nia|subst t|assert (d <= t * d) by nia]; split; lia.
Qed.

(** (m + 3) mod 8 in 4..=6 is m mod 8 in 1..=3; in 2..=4 it would be two ranges, and stays. *)
Example shifted_example : forall m,
  allowed (Some 1) (Some 3) ((m + 3) mod 8 - 3) <-> allowed (Some 1) (Some 3) (m mod 8).
Proof. intros m. apply (shifted 8 m 3 (Some 1) (Some 3)); vm_compute; congruence. Qed.

(** * What is written: [emit.rs], [narrow.rs] and [simplify.rs] *)

(** [Emitter::candidates], [Emitter::remainders]: a remainder as a form has it. *)
Theorem remainder_is_difference : forall m d, d <> 0 -> m - d * (m / d) = m mod d.
Proof. intros. rewrite Z.mod_eq by assumption. reflexivity. Qed.

(** [Emitter::use_remainders]: a multiple of a quotient by its remainder. *)
Theorem quotient_by_remainder : forall rest c m d, 0 < d -> (d | c) ->
  rest + c * (m / d) = (rest + c / d * m) - c / d * (m mod d).
Proof. intros rest c m d Hd [f ->]. rewrite Z.div_mul by lia. pose proof (Z.div_mod m d ltac:(lia)). nia. Qed.

(** [Emitter::use_remainders], after [reduce]: multiples of the divisor do not matter to a remainder. *)
Theorem reduced_numerator : forall d taken rest, 0 < d -> (d * taken + rest) mod d = rest mod d.
Proof. intros. replace (d * taken + rest) with (rest + taken * d) by ring. apply Z.mod_add. lia. Qed.

(** [unnested]: nor do inner remainders by multiples of the divisor. *)
Theorem unnested_remainder : forall form c m e d, 0 < d -> 0 < e -> (d | e) ->
  (form + c * (m mod e)) mod d = (form + c * m) mod d.
Proof.
  intros form c m e d Hd He [k ->]. pose proof (Z.div_mod m (k * d) ltac:(lia)) as E.
  replace (form + c * m) with (form + c * (m mod (k * d)) + c * k * (m / (k * d)) * d) by nia.
  rewrite Z.mod_add by lia. reflexivity.
Qed.

(** [Emitter::remainders]: a remainder beside another quotient of a part of the numerator. *)
Theorem remainder_of_quotient : forall n rest c e, 0 < c -> 0 < e ->
  let m := n + c * rest in
  m / (c * e) = (n / c + rest) / e /\ (n / c + rest) - e * (m / (c * e)) = (n / c + rest) mod e.
Proof.
  intros n rest c e Hc He m. assert (Q : m / (c * e) = (n / c + rest) / e) by (symmetry; apply flattened; lia).
  split; [exact Q|]. rewrite Q. apply remainder_is_difference. lia.
Qed.

(** [Emitter::test]: bounds of a sum are shifted by its constant, and turned round by a single negative sign. *)
Theorem turned_bounds : forall low high c x,
  (allowed low high (x + c) <-> allowed (option_map (fun l => l - c) low) (option_map (fun h => h - c) high) x) /\
  (allowed low high (- x) <-> allowed (option_map Z.opp high) (option_map Z.opp low) x).
Proof. intros. split; [apply bounds_keep|apply bounds_turn]; lia. Qed.

(** [Emitter::compare_sides]; and [Reader::condition] backwards: a comparison is a test of a difference. *)
Theorem difference_tested : forall a b,
  (a - b <= -1 <-> a < b) /\ (a - b <= 0 <-> a <= b) /\ (1 <= a - b <-> a > b) /\ (0 <= a - b <-> a >= b) /\
  (0 <= a - b <= 0 <-> a = b).
Proof. lia. Qed.

(** [Reader::opposite]: the negation of a test with one bound. *)
Theorem opposite_test : forall b x, (~ b <= x <-> x <= b - 1) /\ (~ x <= b <-> b + 1 <= x).
Proof. lia. Qed.

(** [Reader::opaque]: a number modulo itself. *)
Theorem own_remainder : forall m, m <> 0 -> m mod m = 0.
Proof. exact Z.mod_same. Qed.

(** * Minima and maxima of several forms: [lattice.rs] *)

(** The minimum of numbers ([m = true]), or their maximum: [Kind::Extremum].  Of no numbers there is none; the code
    never makes one, and 0 stands here for what is not used. *)
Definition extremum_of_two (m : bool) (a b : Z) : Z := if m then Z.min a b else Z.max a b.

Fixpoint extremum (m : bool) (l : list Z) : Z :=
  match l with [] => 0 | a :: l' => match l' with [] => a | _ => extremum_of_two m a (extremum m l') end end.

(** [a] is as good as [b], or better. *)
Definition beats (m : bool) (a b : Z) : Prop := if m then a <= b else b <= a.

(** The extremum is one of its operands, and beats them all.  Nothing else does. *)
Lemma extremum_spec : forall m l, l <> [] -> In (extremum m l) l /\ Forall (beats m (extremum m l)) l.
Proof.
  intros m l. induction l as [|a l IH]; intros H; [congruence|]. destruct l as [|b l].
  - simpl. split; [left; reflexivity|]. constructor; [|constructor]. destruct m; simpl; lia.
  - destruct IH as [I F]; [congruence|].
    change (extremum m (a :: b :: l)) with (extremum_of_two m a (extremum m (b :: l))).
    set (e := extremum m (b :: l)) in *. clearbody e. rewrite Forall_forall in *. unfold extremum_of_two, beats in *.
    destruct m; [destruct (Z.min_spec a e) as [[H1 ->]|[H1 ->]]|destruct (Z.max_spec a e) as [[H1 ->]|[H1 ->]]];
      (split; [simpl in *; tauto|]); intros x [->|Hx]; try lia; specialize (F x Hx); lia.
Qed.

Lemma extremum_unique : forall m l v, In v l -> Forall (beats m v) l -> extremum m l = v.
Proof.
  intros m l v I F. assert (N : l <> []) by (intros ->; destruct I).
  destruct (extremum_spec m l N) as [I' F']. rewrite Forall_forall in *. specialize (F _ I'). specialize (F' _ I).
  unfold beats in *. destruct m; lia.
Qed.

Lemma beats_trans : forall m a b c, beats m a b -> beats m b c -> beats m a c.
Proof. unfold beats. intros []; lia. Qed.

Lemma beats_total : forall m a b, beats m a b \/ beats m b a.
Proof. unfold beats. intros []; lia. Qed.

(** What beats one operand at least, and what all operands are beaten by. *)
Lemma beats_extremum : forall m l v, l <> [] ->
  (beats m (extremum m l) v <-> Exists (fun a => beats m a v) l) /\
  (beats m v (extremum m l) <-> Forall (beats m v) l).
Proof.
  intros m l v N. destruct (extremum_spec m l N) as [I F]. rewrite Exists_exists, Forall_forall in *. split; split.
  - intros H. exists (extremum m l). tauto.
  - intros [x [Hx H]]. exact (beats_trans m _ x _ (F x Hx) H).
  - intros H x Hx. exact (beats_trans m _ _ _ H (F x Hx)).
  - intros H. exact (H _ I).
Qed.

(** Two numbers that beat the same are equal. *)
Lemma beats_same : forall m a b, (forall v, beats m v a <-> beats m v b) -> a = b.
Proof.
  intros m a b H. pose proof (proj1 (H a)). pose proof (proj2 (H b)). unfold beats in *. destruct m; lia.
Qed.

Lemma extremum_cons : forall m a l, l <> [] -> extremum m (a :: l) = extremum_of_two m a (extremum m l).
Proof. intros m a [|b l] H; [congruence|reflexivity]. Qed.

Lemma beats_two : forall m a b v,
  (beats m v (extremum_of_two m a b) <-> beats m v a /\ beats m v b) /\
  (beats m (extremum_of_two m a b) v <-> beats m a v \/ beats m b v).
Proof. unfold beats, extremum_of_two. intros []; lia. Qed.

Lemma beats_negb : forall m a b, beats (negb m) a b <-> beats m b a.
Proof. intros []; reflexivity. Qed.

(** The order of operands, and how often each is there, do not matter. *)
Theorem operands_are_a_set : forall m l l', l <> [] -> (forall x, In x l <-> In x l') -> extremum m l = extremum m l'.
Proof.
  intros m l l' N H. destruct (extremum_spec m l N) as [I F]. symmetry. apply extremum_unique.
  - apply H, I.
  - rewrite Forall_forall in *. intros x Hx. apply F, H, Hx.
Qed.

(** [Algebra::as_extremum]: a multiple of an extremum and what is added to it are in its operands; a negative multiple
    of it is the other extremum. *)
Theorem extremum_in_sum : forall m rest f l, l <> [] -> f <> 0 ->
  rest + f * extremum m l = extremum (if 0 <? f then m else negb m) (map (fun a => rest + f * a) l).
Proof.
  intros m rest f l N Hf. destruct (extremum_spec m l N) as [I F]. symmetry. apply extremum_unique.
  - apply in_map_iff. exists (extremum m l). split; [reflexivity|exact I].
  - rewrite Forall_forall in *. intros y Hy. apply in_map_iff in Hy. destruct Hy as [x [<- Hx]]. specialize (F x Hx).
    unfold beats in *. destruct (Z.ltb_spec 0 f), m; simpl; nia.
Qed.

(** 7 - 2 min(x, y) is max(7 - 2 x, 7 - 2 y). *)
Example extremum_in_sum_example : forall x y, 7 + -2 * Z.min x y = Z.max (7 + -2 * x) (7 + -2 * y).
Proof. intros x y. exact (extremum_in_sum true 7 (-2) [x; y] ltac:(discriminate) ltac:(lia)). Qed.

(** [Algebra::extremum_of]: what all operands have in common stands outside, whatever it is: [common], a constant
    [shift] and a [factor], which for the negative of the other extremum is negative. *)
Theorem common_part_outside : forall m common shift f l, l <> [] -> f <> 0 ->
  extremum m (map (fun a => common + (shift + f * a)) l) =
  common + shift + f * extremum (if 0 <? f then m else negb m) l.
Proof.
  intros m c s f l N Hf. rewrite extremum_in_sum by assumption.
  replace (if 0 <? f then if 0 <? f then m else negb m else negb (if 0 <? f then m else negb m)) with m
    by (destruct (0 <? f), m; reflexivity).
  f_equal. apply map_ext. intros; ring.
Qed.

(** [Algebra::joined]: extrema of the same operation are taken apart. *)
Theorem extrema_taken_apart : forall m l1 l2 l3, l2 <> [] ->
  extremum m (l1 ++ extremum m l2 :: l3) = extremum m (l1 ++ l2 ++ l3).
Proof.
  intros m l1 l2 l3 N. apply (beats_same m). intros v.
  assert (N1 : l1 ++ extremum m l2 :: l3 <> []) by (destruct l1; discriminate).
  assert (N2 : l1 ++ l2 ++ l3 <> []) by (destruct l1; [destruct l2; [congruence|discriminate]|discriminate]).
  rewrite (proj2 (beats_extremum m _ v N1)), (proj2 (beats_extremum m _ v N2)), !Forall_app, Forall_cons_iff.
  rewrite (proj2 (beats_extremum m _ v N)). tauto.
Qed.

(** [Algebra::join]: an operand that another one always beats goes. *)
Theorem beaten_operand_goes : forall m a b l, In b l -> beats m b a -> extremum m (a :: l) = extremum m l.
Proof.
  intros m a b l I B. assert (N : l <> []) by (intros ->; destruct I). apply (beats_same m). intros v.
  rewrite (proj2 (beats_extremum m (a :: l) v ltac:(discriminate))), (proj2 (beats_extremum m l v N)), Forall_cons_iff.
  split; [tauto|]. intros F. split; [|exact F]. rewrite Forall_forall in F. exact (beats_trans m _ b _ (F b I) B).
Qed.

(** Which of two operands does is told by the bounds of their difference. *)
Theorem beaten_by_difference : forall operand other S, lies (operand - other) S ->
  (0 <= fst S -> beats true other operand /\ beats false operand other) /\
  (snd S <= 0 -> beats true operand other /\ beats false other operand).
Proof. unfold lies, beats. lia. Qed.

(** [Algebra::share]: extrema of the other operation with operands in common. *)
Theorem shared_operands : forall m both left right, both <> [] -> left <> [] -> right <> [] ->
  extremum m [extremum (negb m) (both ++ left); extremum (negb m) (both ++ right)] =
  extremum (negb m) (both ++ [extremum m [extremum (negb m) left; extremum (negb m) right]]).
Proof.
  intros m b l r Nb Nl Nr.
  assert (A : forall x y, x <> [] -> y <> [] ->
    extremum (negb m) (x ++ y) = extremum_of_two (negb m) (extremum (negb m) x) (extremum (negb m) y)).
  { intros x y Nx Ny. apply (beats_same (negb m)). intros v.
    assert (N : x ++ y <> []) by (destruct x; [congruence|discriminate]).
    rewrite (proj2 (beats_extremum _ _ v N)), Forall_app, (proj1 (beats_two _ _ _ v)).
    rewrite (proj2 (beats_extremum _ _ v Nx)), (proj2 (beats_extremum _ _ v Ny)). tauto. }
  rewrite (A b l), (A b r), (A b [_]) by (assumption || discriminate). cbn [extremum].
  generalize (extremum (negb m) b) (extremum (negb m) l) (extremum (negb m) r). intros x y z.
  unfold extremum_of_two. destruct m; simpl; lia.
Qed.

(** min(max(a, b), max(a, c)) is max(a, min(b, c)). *)
Example shared_operands_example : forall a b c, Z.min (Z.max a b) (Z.max a c) = Z.max a (Z.min b c).
Proof.
  intros. exact (shared_operands true [a] [b] [c] ltac:(discriminate) ltac:(discriminate) ltac:(discriminate)).
Qed.

(** [saturated] of [lattice.rs]: beside the constant [C] no coefficient need be larger than what is missing to it from
    the least value of the form. *)
Theorem saturated_operand : forall c C cs es xs, least_at cs es xs ->
  let least := c + dot cs es in
  let missing := C - least in
  0 < missing ->
  Z.min (c + dot cs xs) C =
  Z.min (least + (dot (map (clamp missing) cs) xs - dot (map (clamp missing) cs) es)) C.
Proof.
  intros c C cs es xs H least missing HM. pose proof (clamped_sums missing cs es xs HM H) as B. cbv zeta in B. lia.
Qed.

(** A maximum is the negative of a minimum of negatives. *)
Theorem maximum_is_minimum : forall a b, Z.max a b = - Z.min (- a) (- b).
Proof. lia. Qed.

(** min(5 x + 3, 5) for natural x is min(2 x + 3, 5). *)
Example saturated_operand_example : forall x, 0 <= x -> Z.min (5 * x + 3) 5 = Z.min (2 * x + 3) 5.
Proof.
  intros x H. pose proof (saturated_operand 3 5 [5] [0] [x]) as S. cbv zeta in S. cbn [least_at dot] in S.
  change (map (clamp (5 - (3 + (5 * 0 + 0)))) [5]) with [2] in S. cbn [dot] in S. lia.
Qed.

(** [Algebra::cap]: what another operand always beats does not matter to an extremum within an extremum of the other
    operation.  Something is left there. *)
Theorem beaten_within : forall m other rest gone left, left <> [] -> Forall (beats m other) gone ->
  extremum_of_two m other (extremum_of_two (negb m) rest (extremum m (gone ++ left))) =
  extremum_of_two m other (extremum_of_two (negb m) rest (extremum m left)).
Proof.
  intros m o r g l N F. assert (E : extremum_of_two m o (extremum m (g ++ l)) = extremum_of_two m o (extremum m l)).
  { apply (beats_same m). intros v. rewrite !(proj1 (beats_two m _ _ v)).
    assert (N' : g ++ l <> []) by (destruct g; [exact N|discriminate]).
    rewrite (proj2 (beats_extremum m _ v N')), (proj2 (beats_extremum m _ v N)), Forall_app. split; [tauto|].
    intros [H1 H2]. split; [exact H1|]. split; [|exact H2]. rewrite Forall_forall in *. intros x Hx.
    exact (beats_trans m _ _ _ H1 (F x Hx)). }
  revert E. generalize (extremum m (g ++ l)) (extremum m l). intros x y E. unfold extremum_of_two in *.
  destruct m; simpl; lia.
Qed.

(** [Algebra::divide_once], [Algebra::quotient_of_operands]: one division of the extremum in place of one of each
    operand, and back; rounding down keeps the order of numbers. *)
Theorem quotient_of_extremum : forall m d l, 0 < d -> l <> [] ->
  extremum m l / d = extremum m (map (fun a => a / d) l).
Proof.
  intros m d l Hd N. destruct (extremum_spec m l N) as [I F]. symmetry. apply extremum_unique.
  - apply in_map_iff. exists (extremum m l). split; [reflexivity|exact I].
  - rewrite Forall_forall in *. intros y Hy. apply in_map_iff in Hy. destruct Hy as [x [<- Hx]]. specialize (F x Hx).
    unfold beats in *. destruct m; apply Z.div_le_mono; assumption.
Qed.

(** The same of two numbers. *)
Lemma floor_of_min : forall a b d, 0 < d -> Z.min a b / d = Z.min (a / d) (b / d).
Proof.
  intros a b d Hd. destruct (Z.le_ge_cases a b) as [H|H].
  - pose proof (Z.div_le_mono a b d Hd H). rewrite (Z.min_l a b), Z.min_l; lia.
  - pose proof (Z.div_le_mono b a d Hd H). rewrite (Z.min_r a b), Z.min_r; lia.
Qed.

Lemma floor_of_max : forall a b d, 0 < d -> Z.max a b / d = Z.max (a / d) (b / d).
Proof.
  intros a b d Hd. destruct (Z.le_ge_cases a b) as [H|H].
  - pose proof (Z.div_le_mono a b d Hd H). rewrite (Z.max_r a b), Z.max_r; lia.
  - pose proof (Z.div_le_mono b a d Hd H). rewrite (Z.max_l a b), Z.max_l; lia.
Qed.

(** A constant beside a quotient is a multiple of the divisor in its numerator. *)
Theorem constant_in_numerator : forall m d n, d <> 0 -> m / d + n = (m + n * d) / d.
Proof. intros. rewrite Z.div_add by assumption. reflexivity. Qed.

(** [Algebra::choose_once]: the extremum of two choices by one condition; and [Algebra::added_within]: what is added to
    a choice, and multiples of choices by one condition. *)
Theorem choices_by_one_condition : forall m (c : bool) a b a' b',
  extremum_of_two m (if c then a else b) (if c then a' else b') =
  if c then extremum_of_two m a a' else extremum_of_two m b b'.
Proof. intros m [] *; reflexivity. Qed.

Theorem choice_in_sum : forall (c : bool) rest f g a b a' b',
  rest + f * (if c then a else b) + g * (if c then a' else b') =
  rest + (if c then g * a' + f * a else g * b' + f * b).
Proof. intros []; intros; ring. Qed.

(** [Algebra::choice_of]: what both have in common is added outside, and equal ones need no choice. *)
Theorem common_part_of_choice : forall (c : bool) common a b,
  (if c then common + a else common + b) = common + (if c then a else b) /\ (if c then a else a) = a.
Proof. intros []; intros; split; reflexivity. Qed.

(** [Algebra::where_chosen]: each form of a choice may be another one that is equal where it is chosen. *)
Theorem equal_where_chosen : forall (c : bool) a b a' b', (c = true -> a = a') -> (c = false -> b = b') ->
  (if c then a else b) = (if c then a' else b') :> Z.
Proof. intros []; auto. Qed.

(** [Algebra::as_comparison]: a choice that is a minimum or a maximum, because the condition compares both.  [b - a] is
    [factor * form + constant]; [holds] and [fails] are its values next to the bound of the condition. *)
Theorem choice_is_extremum : forall a b factor form constant (is_low : bool) bound,
  b - a = factor * form + constant ->
  let chosen := if is_low then bound <=? form else form <=? bound in
  let holds := factor * bound + constant in
  let fails := factor * (if is_low then bound - 1 else bound + 1) + constant in
  let grows := eqb (0 <? factor) is_low in
  (grows = true -> 0 <= holds -> fails <= 0 -> (if chosen then a else b) = Z.min a b) /\
  (grows = false -> holds <= 0 -> 0 <= fails -> (if chosen then a else b) = Z.max a b).
Proof.
  intros a b f x c low t E. cbv zeta.
  destruct low; destruct (Z.ltb_spec 0 f) as [P|P]; cbn [eqb];
    [destruct (Z.leb_spec t x)|destruct (Z.leb_spec t x)|destruct (Z.leb_spec x t)|destruct (Z.leb_spec x t)];
    split; intros G H1 H2; try discriminate; try nia.
Qed.

(** [a if x >= 3 else b] with [b - a = 2 x - 5] is the minimum: the difference is 1 at 3, and -1 at 2. *)
Example choice_is_extremum_example : forall a x, let b := a + (2 * x - 5) in
  (if 3 <=? x then a else b) = Z.min a b.
Proof.
  intros a x b. pose proof (choice_is_extremum a b 2 x (-5) true 3 ltac:(unfold b; ring)) as C. cbv zeta in C.
  apply C; [reflexivity|lia|lia].
Qed.

(** [Algebra::with_the_other]: the minimum and the maximum of two numbers together are their sum, *)
Theorem both_extrema : forall form f g common a b,
  form + f * Z.min a b + g * Z.max a b =
  form + (f - common) * Z.min a b + (g - common) * Z.max a b + common * (a + b).
Proof. intros. replace (a + b) with (Z.min a b + Z.max a b) by lia. ring. Qed.

(** and [Algebra::product_of_both]: multiplied, they are the product. *)
Theorem product_of_extrema : forall a b, Z.min a b * Z.max a b = a * b.
Proof. intros. destruct (Z.le_ge_cases a b); [rewrite Z.min_l, Z.max_r|rewrite Z.min_r, Z.max_l]; lia || nia. Qed.

(** [Algebra::without_both]: what is twice in an exclusive or is not in it. *)
Theorem xor_twice : forall a b, Z.lxor (Z.lxor a b) b = a /\ Z.lxor (Z.lxor a b) a = b.
Proof.
  intros a b. split; [|rewrite (Z.lxor_comm a b)]; rewrite Z.lxor_assoc, Z.lxor_nilpotent, Z.lxor_0_r; reflexivity.
Qed.

(** [Reader::number]: an exclusive or with itself and with 0. *)
Theorem xor_neutral : forall a, Z.lxor a a = 0 /\ Z.lxor a 0 = a /\ Z.lxor 0 a = a.
Proof. intros. rewrite Z.lxor_nilpotent, Z.lxor_0_r, Z.lxor_0_l. repeat split. Qed.

(** [Algebra::bounds_by_cases]: the bounds of an extremum, and of a choice, by those of its operands.  What is added to
    it and by what it is multiplied is in the operands before ([extremum_in_sum], [choice_in_sum]). *)
Fixpoint span_of_cases (join : Z * Z -> Z * Z -> Z * Z) (spans : list (Z * Z)) : Z * Z :=
  match spans with [] => (0, 0) | s :: rest => match rest with [] => s | _ => join s (span_of_cases join rest) end end.

Definition span_of_extremum (m : bool) (s t : Z * Z) : Z * Z :=
  (extremum_of_two m (fst s) (fst t), extremum_of_two m (snd s) (snd t)).

Definition span_of_choice (s t : Z * Z) : Z * Z := (Z.min (fst s) (fst t), Z.max (snd s) (snd t)).

Theorem bounds_of_extremum : forall m xs spans, xs <> [] -> Forall2 lies xs spans ->
  lies (extremum m xs) (span_of_cases (span_of_extremum m) spans).
Proof.
  intros m xs spans N H. induction H as [|x s xs spans Hx H IH]; [congruence|]. destruct H as [|y t xs spans Hy H].
  - exact Hx.
  - specialize (IH ltac:(discriminate)). rewrite extremum_cons by discriminate.
    change (span_of_cases (span_of_extremum m) (s :: t :: spans))
      with (span_of_extremum m s (span_of_cases (span_of_extremum m) (t :: spans))).
    set (e := extremum m (y :: xs)) in *. set (u := span_of_cases (span_of_extremum m) (t :: spans)) in *.
    clearbody e u. unfold lies, span_of_extremum, extremum_of_two in *. destruct m; simpl; lia.
Qed.

(** So a sum with it has bounds by those of the sums with its operands, the other way round for a negative multiple. *)
Theorem bounds_of_cases : forall m rest f xs spans, xs <> [] -> f <> 0 ->
  Forall2 lies (map (fun x => rest + f * x) xs) spans ->
  lies (rest + f * extremum m xs) (span_of_cases (span_of_extremum (if 0 <? f then m else negb m)) spans).
Proof.
  intros m rest f xs spans N Hf H. rewrite extremum_in_sum by assumption. apply bounds_of_extremum; [|exact H].
  intros E. apply map_eq_nil in E. contradiction.
Qed.

Theorem bounds_of_choice : forall (c : bool) a b s t, lies a s -> lies b t ->
  lies (if c then a else b) (span_of_choice s t).
Proof. unfold lies, span_of_choice. simpl. intros []; lia. Qed.

(** Two intervals that hold a value: so does what they have in common. *)
Theorem spans_met : forall x s t, lies x s -> lies x t -> lies x (Z.max (fst s) (fst t), Z.min (snd s) (snd t)).
Proof. unfold lies. simpl. lia. Qed.

(** [Algebra::keep_what_decides]: an operand that nowhere beats all others, each by 1 at least, goes; *)
Definition outdoes (m : bool) (a b : Z) : Prop := if m then 1 <= b - a else 1 <= a - b.

Lemma not_outdoes : forall m a b, ~ outdoes m a b <-> beats m b a.
Proof. unfold outdoes, beats. intros []; lia. Qed.

Lemma outdoes_all_or_not : forall m a l, Forall (outdoes m a) l \/ Exists (fun b => beats m b a) l.
Proof.
  intros m a l. induction l as [|b l [IH|IH]]; [left; constructor| |right; apply Exists_cons_tl, IH].
  assert (D : outdoes m a b \/ beats m b a) by (unfold outdoes, beats; destruct m; lia).
  destruct D as [D|D]; [left; constructor; assumption|right; constructor; exact D].
Qed.

Theorem never_decides : forall m a l, l <> [] -> ~ Forall (outdoes m a) l -> extremum m (a :: l) = extremum m l.
Proof.
  intros m a l N H. destruct (outdoes_all_or_not m a l) as [D|D]; [contradiction|]. apply Exists_exists in D.
  destruct D as [b [I B]]. exact (beaten_operand_goes m a b l I B).
Qed.

(** and one that is another form wherever it decides is replaced by it, if that form nowhere beats all others where one
    of them is as good as the operand.  [other] is one of them.  *)
Theorem replaced_where_it_decides : forall m a a' l, l <> [] ->
  (Forall (outdoes m a) l -> a' = a) ->
  (forall other, In other l -> ~ (Forall (outdoes m a') l /\ (if m then 0 <= a - other else 0 <= other - a))) ->
  extremum m (a' :: l) = extremum m (a :: l).
Proof.
  intros m a a' l N H1 H2. destruct (outdoes_all_or_not m a l) as [D|D]; [rewrite (H1 D); reflexivity|].
  transitivity (extremum m l); [|symmetry; apply never_decides; [exact N|]].
  - apply never_decides; [exact N|]. intros F. apply Exists_exists in D. destruct D as [b [I B]].
    apply (H2 b I). split; [exact F|]. unfold beats in B. destruct m; lia.
  - apply Exists_exists in D. destruct D as [b [I B]]. rewrite Forall_forall. intros F. specialize (F b I).
    apply not_outdoes in B. contradiction.
Qed.

(** Without the second condition it is wrong.  Let x be 0 or 3: in min(x, 2) it decides at 0 only, where it is 0.  But
    at 3 the minimum is 2, and with 0 in the place of x it is not.  *)
Example replaced_needs_check :
  (Forall (outdoes true 3) [2] -> 0 = 3) /\ extremum true [0; 2] <> extremum true [3; 2].
Proof. split; [|discriminate]. intros F. inversion F as [|? ? D _]. simpl in D. lia. Qed.

(** [Algebra::context_of]: two lower bounds that contradict each other in their sum. *)
Theorem bounds_of_sum_contradict : forall x y a b S, lies (x + y) S -> snd S < a + b -> ~ (a <= x /\ b <= y).
Proof. unfold lies. lia. Qed.

(** An interval whose ends are the wrong way round holds no value: what it was found for never is. *)
Theorem empty_span : forall x S, snd S < fst S -> ~ lies x S.
Proof. unfold lies. lia. Qed.

(** [Algebra::conditions_of_cases], [Algebra::decided]: a bound of an extremum.  [all] says that it is a lower bound of
    a minimum or an upper one of a maximum; then it is one of all operands, and otherwise of one at least.  *)
Definition bounded (is_low : bool) (t x : Z) : Prop := if is_low then t <= x else x <= t.

Theorem bound_of_extremum : forall m (is_low : bool) t l, l <> [] ->
  (bounded is_low t (extremum m l) <->
   if eqb m is_low then Forall (bounded is_low t) l else Exists (bounded is_low t) l).
Proof.
  intros m is_low t l N. destruct m, is_low; cbn [eqb].
  - exact (proj2 (beats_extremum true l t N)).
  - exact (proj1 (beats_extremum true l t N)).
  - exact (proj1 (beats_extremum false l t N)).
  - exact (proj2 (beats_extremum false l t N)).
Qed.

(** So it is decided where one operand ends it, those that say nothing are left out, and where one is left it is the
    condition. *)
Theorem decided_but_for_one : forall (P : Z -> Prop) l,
  (forall a, In a l -> ~ P a -> ~ Forall P l) /\ (forall a, In a l -> P a -> Exists P l) /\
  (forall a l', Forall P l' -> (Forall P (a :: l') <-> P a)) /\
  (forall a l', Forall (fun b => ~ P b) l' -> (Exists P (a :: l') <-> P a)) /\
  (Forall (fun b => ~ P b) l -> ~ Exists P l).
Proof.
  intros P l.
  assert (E : forall l', Forall (fun b => ~ P b) l' -> ~ Exists P l').
  { intros l' F X. apply Exists_exists in X. destruct X as [x [I X]]. rewrite Forall_forall in F. exact (F x I X). }
  split; [|split; [|split; [|split]]].
  - intros a I NP F. rewrite Forall_forall in F. exact (NP (F a I)).
  - intros a I HP. apply Exists_exists. exists a. split; assumption.
  - intros a l' F. rewrite Forall_cons_iff. tauto.
  - intros a l' F. rewrite Exists_cons. specialize (E l' F). tauto.
  - apply E.
Qed.

(** [Reader::test_of_choice]: a test of a choice, where one of both cases at least is decided.  Each is judged where it
    is chosen.  *)
Theorem test_of_choice : forall c A B T : Prop, (c \/ ~ c) -> (T <-> (c -> A) /\ (~ c -> B)) ->
  ((c -> A) -> (~ c -> ~ B) -> (T <-> c)) /\ ((c -> ~ A) -> (~ c -> B) -> (T <-> ~ c)) /\
  ((c -> A) -> (T <-> c \/ B)) /\ ((c -> ~ A) -> (T <-> ~ c /\ B)) /\
  ((~ c -> B) -> (T <-> ~ c \/ A)) /\ ((~ c -> ~ B) -> (T <-> c /\ A)).
Proof. tauto. Qed.

(** [Reader::both]: a truth, a condition twice, and a condition and its negation; *)
Theorem own_conditions : forall A : Prop, (A \/ ~ A) ->
  (True /\ A <-> A) /\ (False /\ A <-> False) /\ (True \/ A <-> True) /\ (False \/ A <-> A) /\
  (A /\ A <-> A) /\ (A \/ A <-> A) /\ (A /\ ~ A <-> False) /\ (A \/ ~ A <-> True).
Proof. tauto. Qed.

(** and two of which one implies the other. *)
Theorem one_implies_other : forall A B : Prop, (A -> B) -> (A /\ B <-> A) /\ (A \/ B <-> B).
Proof. tauto. Qed.

(** [Reader::choice]: a condition that is one of two. *)
Theorem chosen_conditions : forall c A B : Prop, (c \/ ~ c) ->
  let T := (c /\ A) \/ (~ c /\ B) in
  (A -> (T <-> c \/ B)) /\ (~ A -> B -> (T <-> ~ c)) /\ (~ B -> (T <-> c /\ A)) /\ ((A <-> B) -> (T <-> A)).
Proof. cbv zeta. tauto. Qed.

(** [Algebra::implies], [Algebra::on_one_form] of [lattice.rs]: tests of one form against each other.  Bounds that are
    missing are those past all numbers.  *)
Theorem implied_on_one_form : forall low high least most x,
  (least <= low -> high <= most -> low <= x <= high -> least <= x <= most) /\
  (high < least \/ most < low -> low <= x <= high -> ~ (least <= x <= most)) /\
  (low <= least -> most <= high -> ~ (low <= x <= high) -> ~ (least <= x <= most)).
Proof. lia. Qed.

Theorem either_on_one_form : forall low high least most x, ~ (high + 1 < least) -> ~ (most + 1 < low) ->
  (low <= x <= high \/ least <= x <= most <-> Z.min low least <= x <= Z.max high most).
Proof. lia. Qed.

(** x < 3 or x >= 3 is all; x < 3 or x >= 4 is no range. *)
Example either_example : forall x, (-9 <= x <= 2 \/ 3 <= x <= 9) <-> -9 <= x <= 9.
Proof. intros x. apply (either_on_one_form (-9) 2 3 9 x); lia. Qed.

(** * Products of atoms, and divisions by them: [product.rs] *)

(** [primitive]: what the coefficients and the constant have in common, with either sign, is a factor;
    [Algebra::product] multiplies it again. *)
Theorem primitive_form : forall g c cs xs, g <> 0 -> (g | c) -> Forall (Z.divide g) cs ->
  c + dot cs xs = g * (c / g + dot (map (fun a => a / g) cs) xs).
Proof.
  intros g c cs xs Hg [k ->] H. rewrite (divided g cs xs) by assumption. rewrite Z.div_mul by assumption. ring.
Qed.

Theorem product_of_primitives : forall left right a b, (left * a) * (right * b) = (a * b) * (left * right).
Proof. intros. ring. Qed.

(** [Algebra::distributed]: an atom times a sum, term by term. *)
Theorem distributed : forall x c cs ys, x * (c + dot cs ys) = c * x + dot cs (map (fun y => x * y) ys).
Proof.
  intros x c cs ys. assert (E : dot cs (map (fun y => x * y) ys) = x * dot cs ys).
  { revert ys. induction cs as [|a cs IH]; intros [|y ys]; cbn [map dot]; rewrite ?IH; ring. }
  rewrite E. ring.
Qed.

(** A product of atoms, whatever their order. *)
Definition product_of (xs : list Z) : Z := fold_right Z.mul 1 xs.

Lemma product_of_app : forall xs ys, product_of (xs ++ ys) = product_of xs * product_of ys.
Proof.
  unfold product_of. induction xs as [|x xs IH]; intros ys; cbn [app fold_right]; [|rewrite IH]; ring.
Qed.

(** [Algebra::divided_by]: a term whose factors hold those of the divisor, and whose coefficient the divisor's divides.
    *)
Theorem term_divided : forall factor unit factors left, unit <> 0 -> (unit | factor) ->
  factor * product_of (factors ++ left) = (unit * product_of factors) * (factor / unit * product_of left).
Proof.
  intros f u fs l Hu [k ->]. rewrite Z.div_mul, product_of_app by assumption. ring.
Qed.

(** [Algebra::divided]: what is left by the divisor, if it is a remainder; and if nothing is. *)
Theorem known_remainder : forall d q rest, 0 <= rest -> 0 < d - rest ->
  (d * q + rest) / d = q /\ (d * q + rest) mod d = rest.
Proof.
  intros d q r H1 H2. split; symmetry; [apply Z.div_unique with r|apply Z.mod_unique with q]; lia.
Qed.

Theorem nothing_left : forall d q, d <> 0 -> d * q / d = q /\ (d * q) mod d = 0.
Proof. intros d q Hd. rewrite Z.mul_comm. split; [apply Z.div_mul|apply Z.mod_mul]; assumption. Qed.

(** [Algebra::is_quotient_below]: what a quotient is of says how far below a limit it stays. *)
Theorem quotient_below : forall x b t d, 0 < b -> x + b * t < b * d -> x / b + t < d.
Proof.
  intros x b t d Hb H. replace (x / b + t) with ((x + t * b) / b) by (rewrite Z.div_add; lia).
  apply Z.div_lt_upper_bound; lia.
Qed.

(** (x y + z) // y is x where 0 <= z < y. *)
Example known_remainder_example : forall x y z, 0 <= z < y -> (x * y + z) / y = x.
Proof. intros x y z H. rewrite (Z.mul_comm x y). apply known_remainder; lia. Qed.

(** [Algebra::factored], [Algebra::divided_by_sum]: terms with a factor in common as one product, whether that is an
    atom or a sum, and what they have in common again. *)
Theorem factor_in_common : forall rest factor common inner a b left right,
  rest + factor * (common * inner) = rest + common * (factor * inner) /\
  rest + a * (factor * left) + b * (right * factor) = rest + factor * (a * left + b * right).
Proof. intros. split; ring. Qed.

(** [Algebra::bounds_by_corners]: the value of a form with products of atoms.  Each term is a coefficient and the
    places of its factors, none of them twice.  *)
Definition value_at (v : nat -> Z) (term : Z * list nat) : Z := fst term * product_of (map v (snd term)).

Definition form_at (constant : Z) (terms : list (Z * list nat)) (v : nat -> Z) : Z :=
  constant + fold_right Z.add 0 (map (value_at v) terms).

Definition put (v : nat -> Z) (i : nat) (t : Z) : nat -> Z := fun j => if Nat.eqb j i then t else v j.

Lemma put_other : forall v i t is, ~ In i is -> map (put v i t) is = map v is.
Proof.
  intros v i t is H. apply map_ext_in. intros j Hj. unfold put.
  destruct (Nat.eqb_spec j i); [subst; contradiction|reflexivity].
Qed.

Lemma term_is_linear : forall v i term, NoDup (snd term) ->
  exists a b, forall t, value_at (put v i t) term = a + b * t.
Proof.
  intros v i [c is] H. unfold value_at. cbn [fst snd] in *. destruct (in_dec Nat.eq_dec i is) as [I|I].
  - apply in_split in I. destruct I as [l1 [l2 ->]]. apply NoDup_remove_2 in H.
    exists 0, (c * (product_of (map v l1) * product_of (map v l2))). intros t.
    rewrite map_app, product_of_app. cbn [map product_of fold_right]. fold (product_of (map (put v i t) l2)).
    rewrite !put_other by (intros C; apply H, in_or_app; tauto). unfold put. rewrite Nat.eqb_refl. ring.
  - exists (c * product_of (map v is)), 0. intros t. rewrite put_other by exact I. ring.
Qed.

Lemma form_is_linear : forall c terms v i, Forall (fun term => NoDup (snd term)) terms ->
  exists a b, forall t, form_at c terms (put v i t) = a + b * t.
Proof.
  intros c terms v i H. unfold form_at. induction H as [|term terms H1 H2 IH].
  - exists c, 0. intros; simpl; ring.
  - destruct IH as [a [b E]], (term_is_linear v i term H1) as [a' [b' E']]. exists (a + a'), (b + b'). intros t.
    cbn [map fold_right]. specialize (E t). rewrite E'. lia.
Qed.

Lemma corner_below : forall f : (nat -> Z) -> Z,
  (forall v i, exists a b, forall t, f (put v i t) = a + b * t) -> (forall v w, (forall i, v i = w i) -> f v = f w) ->
  forall range is v, (forall i, In i is -> lies (v i) (range i)) ->
  exists w, (forall i, In i is -> w i = fst (range i) \/ w i = snd (range i)) /\ (forall i, ~ In i is -> w i = v i) /\
    f w <= f v.
Proof.
  intros f L X range is. induction is as [|i is IH]; intros v H.
  - exists v. split; [intros i []|]. split; [reflexivity|lia].
  - destruct (IH v ltac:(intros j Hj; apply H; right; exact Hj)) as [w [W1 [W2 W3]]].
    destruct (in_dec Nat.eq_dec i is) as [I|I].
    + exists w. split; [|split; [|exact W3]].
      * intros j [<-|Hj]; [apply W1, I|apply W1, Hj].
      * intros j Hj. apply W2. intros C. apply Hj. right. exact C.
    + assert (Hi : lies (w i) (range i)) by (rewrite W2 by exact I; apply H; left; reflexivity).
      destruct (L w i) as [a [b E]].
      assert (Ew : f w = a + b * w i).
      { rewrite <- E. apply X. intros j. unfold put. destruct (Nat.eqb_spec j i); [subst|]; reflexivity. }
      set (t := if 0 <=? b then fst (range i) else snd (range i)). exists (put w i t). split; [|split].
      * intros j Hj. unfold put. destruct (Nat.eqb_spec j i) as [->|Nj].
        -- unfold t. destruct (0 <=? b); [left|right]; reflexivity.
        -- apply W1. destruct Hj as [Hj|Hj]; [congruence|exact Hj].
      * intros j Hj. unfold put. destruct (Nat.eqb_spec j i) as [->|Nj]; [exfalso; apply Hj; left; reflexivity|].
        apply W2. intros C. apply Hj. right. exact C.
      * rewrite E. enough (b * t <= b * w i) by lia. unfold lies in Hi. unfold t. destruct (Z.leb_spec 0 b); nia.
Qed.

(** Linear in each of its atoms, it is least and greatest at corners of the box of their ranges: an interval that holds
    its values at all corners holds all of them. *)
Theorem bounds_by_corners : forall c terms range v S, Forall (fun term => NoDup (snd term)) terms ->
  let atoms := concat (map snd terms) in
  (forall i, In i atoms -> lies (v i) (range i)) ->
  (forall w, (forall i, In i atoms -> w i = fst (range i) \/ w i = snd (range i)) -> lies (form_at c terms w) S) ->
  lies (form_at c terms v) S.
Proof.
  intros c terms range v S H atoms Hv HS.
  assert (X : forall f g : nat -> Z, (forall i, f i = g i) -> form_at c terms f = form_at c terms g).
  { intros f g E. unfold form_at. f_equal. f_equal. apply map_ext. intros [a is]. unfold value_at. cbn [fst snd].
    f_equal. f_equal. apply map_ext. exact E. }
  destruct (corner_below (form_at c terms) (fun w i => form_is_linear c terms w i H) X range atoms v Hv)
    as [w [W1 [_ W2]]].
  assert (L : forall w i, exists a b, forall t, - form_at c terms (put w i t) = a + b * t).
  { intros w0 i. destruct (form_is_linear c terms w0 i H) as [a [b E]]. exists (- a), (- b).
    intros t. rewrite (E t). ring. }
  destruct (corner_below (fun w => - form_at c terms w) L (fun f g E => f_equal Z.opp (X f g E)) range atoms v Hv)
    as [u [U1 [_ U2]]].
  pose proof (HS w W1) as A1. pose proof (HS u U1) as A2. unfold lies in *. cbv beta in *. lia.
Qed.

(** x y - 2 x for x in 0..4 and y in 1..6 lies in -3..9. *)
Example bounds_by_corners_example : forall x y, 0 <= x <= 3 -> 1 <= y <= 5 -> lies (x * y - 2 * x) (-3, 9).
Proof.
  intros x y Hx Hy.
  pose proof (bounds_by_corners 0 [(1, [0; 1]%nat); (-2, [0]%nat)] (fun i => if Nat.eqb i 0 then (0, 3) else (1, 5))
    (fun i => if Nat.eqb i 0 then x else y) (-3, 9)) as B. cbv zeta in B.
  unfold form_at, value_at, product_of in B.
  cbn [map fst snd concat app fold_right Nat.eqb] in B.
  replace (x * y - 2 * x) with (0 + (1 * (x * (y * 1)) + (-2 * (x * 1) + 0))) by ring. apply B; clear B.
  - repeat constructor; simpl; intuition discriminate.
  - unfold lies. intros i [<-|[<-|[<-|[]]]]; cbn [Nat.eqb fst snd]; lia.
  - intros w W. pose proof (W 0%nat ltac:(left; reflexivity)) as W0.
    pose proof (W 1%nat ltac:(right; left; reflexivity)) as W1. unfold lies.
    cbn [Nat.eqb fst snd] in *. destruct W0 as [-> | ->], W1 as [-> | ->]; lia.
Qed.

(** * Forms written shorter: [shorter.rs] *)

(** [Algebra::remade], [Algebra::shorter]: a divisor of the other sign, *)
Theorem negated_divisor : forall m d, d <> 0 -> (- m) / d = m / (- d) /\ (- m) mod d = - (m mod (- d)).
Proof.
  intros m d Hd. rewrite <- (Z.opp_involutive d) at 1 3. rewrite Z.div_opp_opp, Z.mod_opp_opp by lia.
  split; reflexivity.
Qed.

(** whose remainders are not positive, *)
Theorem negative_remainder_range : forall m d, 0 < d -> 1 - d <= m mod (- d) <= 0.
Proof. intros m d Hd. pose proof (Z.mod_neg_bound m (- d) ltac:(lia)). lia. Qed.

(** and a multiple of a remainder. *)
Theorem scaled_remainder : forall k m d, 0 < k -> 0 < d -> k * (m mod d) = (k * m) mod (k * d).
Proof. intros. rewrite Z.mul_mod_distr_l by lia. reflexivity. Qed.

(** [Algebra::as_remainder]: a multiple of the divisor times a quotient, by the remainder. *)
Theorem multiple_by_remainder : forall factor m d, d <> 0 -> (d | factor) ->
  let k := - (factor / d) in factor * (m / d) = - k * m + k * (m mod d).
Proof.
  intros f m d Hd [e ->]. cbv zeta. rewrite Z.div_mul by assumption. pose proof (Z.div_mod m d Hd). nia.
Qed.

(** [Algebra::of_difference]: the difference of two quotients whose numerators differ by a constant. *)
Theorem difference_of_quotients : forall m c d, 0 < d -> (m + c) / d - m / d = (m mod d + c) / d.
Proof.
  intros m c d Hd. pose proof (Z.div_mod m d ltac:(lia)) as E.
  replace (m + c) with (m mod d + c + m / d * d) by lia. rewrite Z.div_add by lia. ring.
Qed.

Fixpoint sum_of_floors (x d : Z) (k : nat) : Z :=
  match k with O => 0 | S k' => sum_of_floors x d k' + (x + Z.of_nat k') / d end.

Lemma floors_of_next : forall x d k, sum_of_floors (x + 1) d k = sum_of_floors x d k + (x + Z.of_nat k) / d - x / d.
Proof.
  intros x d. induction k as [|k IH]; [simpl; rewrite Z.add_0_r; lia|]. cbn [sum_of_floors]. rewrite IH.
  replace (x + 1 + Z.of_nat k) with (x + Z.of_nat (S k)) by lia. lia.
Qed.

Lemma floors_below : forall d k, Z.of_nat k <= d -> sum_of_floors 0 d k = 0.
Proof.
  intros d. induction k as [|k IH]; intros H; [reflexivity|]. cbn [sum_of_floors]. rewrite IH by lia.
  rewrite Z.div_small by lia. reflexivity.
Qed.

(** [Algebra::of_complete_residues], Hermite's identity: floor(x / n) + floor((x + 1) / n) + ... + floor((x + n - 1) /
    n) = x. *)
Theorem hermite : forall n x, (0 < n)%nat -> sum_of_floors x (Z.of_nat n) n = x.
Proof.
  intros n x Hn.
  assert (N : forall y, sum_of_floors (y + 1) (Z.of_nat n) n = sum_of_floors y (Z.of_nat n) n + 1).
  { intros y. rewrite floors_of_next. replace (y + Z.of_nat n) with (y + 1 * Z.of_nat n) by lia.
    rewrite Z.div_add by lia. lia. }
  revert x. apply Z.peano_ind.
  - apply floors_below. lia.
  - intros y IH. unfold Z.succ. rewrite N. lia.
  - intros y IH. specialize (N (Z.pred y)). replace (Z.pred y + 1) with y in N by lia. lia.
Qed.

Example hermite_example : forall x, x / 2 + (x + 1) / 2 = x.
Proof. intros x. pose proof (hermite 2 x ltac:(lia)) as H. simpl in H. rewrite Z.add_0_r in H. exact H. Qed.

(** [Algebra::with_constant]: a constant of the sum in the numerator. *)
Theorem constant_taken_in : forall n factor m d, factor <> 0 -> d <> 0 -> (factor | n) ->
  factor * (m / d) + n = factor * ((m + n / factor * d) / d).
Proof. intros n f m d Hf Hd [k ->]. rewrite Z.div_mul, Z.div_add by assumption. ring. Qed.

(** [Algebra::rounded_up]: the half that is rounded up, *)
Theorem other_half : forall x, x - x / 2 = (x + 1) / 2.
Proof. intros x. divide_out x 2. divide_out (x + 1) 2. lia. Qed.

(** and [Algebra::rounded_down], the one that is rounded down. *)
Theorem lower_half : forall m, (m + 1) / 2 = m - m / 2.
Proof. intros m. divide_out m 2. divide_out (m + 1) 2. lia. Qed.

(** * More of quotients and of what is eliminated: [algebra.rs], [context.rs] *)

(** [Algebra::quotient_within]: the quotient of a remainder. *)
Theorem quotient_of_own_remainder : forall m by_ d, 0 < d -> 0 < by_ -> (d | by_) ->
  m mod by_ / d = m / d - by_ / d * (m / by_).
Proof.
  intros m b d Hd Hb [e ->]. rewrite Z.div_mul by lia. assert (0 < e) by nia.
  rewrite Z.mod_eq by lia. replace (m - e * d * (m / (e * d))) with (m + - (e * (m / (e * d))) * d) by ring.
  rewrite Z.div_add by lia. ring.
Qed.

(** The quotient is -1 or 0, and so it is by any larger or smaller divisor that is large enough. *)
Theorem any_large_divisor : forall m d by_, - by_ <= m < by_ -> by_ <= d -> m / d = m / by_.
Proof.
  intros m d b Hm Hd. destruct (Z.le_gt_cases 0 m).
  - rewrite !Z.div_small by lia. reflexivity.
  - transitivity (-1); [symmetry; apply Z.div_unique with (m + d)|apply Z.div_unique with (m + b)]; lia.
Qed.

(** (x - 5) // 100 for x in 0..10 is (x - 5) // 8: a shift. *)
Example any_large_divisor_example : forall x, 0 <= x < 10 -> (x - 5) / 100 = (x - 5) / 8.
Proof. intros x H. apply any_large_divisor; lia. Qed.

(** [Algebra::digit]: two quotients of one numerator as a remainder of the finer one. *)
Theorem digit_of_quotients : forall rest factor m by_ d, 0 < by_ -> 0 < d -> (by_ | d) ->
  rest + factor * (m / by_) + - (factor * (d / by_)) * (m / d) = rest + factor * ((m / by_) mod (d / by_)).
Proof.
  intros rest f m b d Hb Hd [r ->]. rewrite Z.div_mul by lia. assert (0 < r) by nia.
  replace (r * b) with (b * r) by ring. rewrite <- Z.div_div, (Z.mod_eq (m / b) r) by lia. ring.
Qed.

(** [Context::eliminated]: a weaker condition, of the multiple of a form without one of its quotients. *)
Theorem eliminated_condition : forall by_ factor form known V low high, 0 < by_ -> lies known V ->
  let T := add (0, 0) factor V in
  allowed low high form ->
  allowed (option_map (fun l => l * by_ + fst T) low) (option_map (fun h => h * by_ + snd T) high)
    (by_ * form + factor * known).
Proof.
  intros b f x k V low high Hb H T A. pose proof (add_holds 0 (0, 0) f k V ltac:(unfold lies; simpl; lia) H) as B.
  fold T in B. unfold lies in B. unfold allowed in *. destruct low as [l|], high as [h|]; cbn [option_map]; nia.
Qed.

(** * Rules that are proved and not used: minima and maxima *)

(** A floor of a minimum, by a negative divisor. *)
Proposition floor_of_min_negative : forall a b d, d < 0 -> Z.min a b / d = Z.max (a / d) (b / d).
Proof.
  intros a b d Hd. rewrite !(negative_divisor _ d Hd), Z.opp_min_distr, floor_of_max by lia. reflexivity.
Qed.

Proposition floor_of_max_negative : forall a b d, d < 0 -> Z.max a b / d = Z.min (a / d) (b / d).
Proof.
  intros a b d Hd. rewrite !(negative_divisor _ d Hd), Z.opp_max_distr, floor_of_min by lia. reflexivity.
Qed.

(** Quotients rounded up do the same. *)
Proposition ceiling_of_min : forall a b d, 0 < d -> ceil_div (Z.min a b) d = Z.min (ceil_div a d) (ceil_div b d).
Proof. intros a b d Hd. unfold ceil_div. rewrite Z.opp_min_distr, floor_of_max by lia. apply Z.opp_max_distr. Qed.

(** A number held between two others: the order of the two operations matters only where the range is empty. *)
Proposition clamp_orders : forall x l h,
  (l <= h -> Z.min (Z.max x l) h = Z.max (Z.min x h) l) /\
  (h <= l -> Z.min (Z.max x l) h = h /\ Z.max (Z.min x h) l = l).
Proof. lia. Qed.

(** Two of them are one, on the intersection of the ranges, or the constant that the outer one has nearer. *)
Proposition clamp_of_clamp : forall x l h l' h', l <= h -> l' <= h' ->
  Z.max l' (Z.min h' (Z.max l (Z.min h x))) =
  Z.max (Z.max l' (Z.min h' l)) (Z.min (Z.max l' (Z.min h' h)) x).
Proof.
  intros x l h l' h' _ _. rewrite Z.min_max_distr, Z.min_assoc. generalize (Z.min h' l), (Z.min h' h). intros a c. lia.
Qed.

(** A constant that caps a multiple, both divided by the factor. *)
Proposition capped_numerator : forall g m c, 0 < g ->
  Z.min (g * m) c / g = Z.min m (c / g) /\ Z.max (g * m) c / g = Z.max m (c / g).
Proof.
  intros g m c Hg. rewrite floor_of_min, floor_of_max by assumption. rewrite Z.mul_comm, Z.div_mul by lia.
  split; reflexivity.
Qed.

(** The difference of a number and of its minimum with another one is what it has above that. *)
Proposition excess : forall a b, a - Z.min a b = Z.max (a - b) 0 /\ Z.max a b - a = Z.max (b - a) 0.
Proof. lia. Qed.

(** A term held below a constant, of a natural number: the product leaves the minimum exactly if the constant is at most
    the factor.  So [min (3 x) 1 = min x 1]. *)
Proposition capped_product : forall a c,
  (forall x, 0 <= x -> Z.min (a * x) c = c * Z.min x 1) <-> 0 <= c <= a.
Proof.
  intros a c. split.
  - intros H. pose proof (H 0 ltac:(lia)). pose proof (H 1 ltac:(lia)). lia.
  - intros H x Hx. destruct (Z.eq_dec x 0) as [->|N]; [lia|].
    rewrite (Z.min_r x 1) by lia. rewrite Z.min_r; nia.
Qed.

Example capped_product_example : forall x, 0 <= x -> Z.min (3 * x) 1 = Z.min x 1.
Proof. intros x H. rewrite (proj2 (capped_product 3 1) ltac:(lia) x H). lia. Qed.

(** With a larger constant what is over the last multiple is a second step. *)
Proposition capped_product_steps : forall a k r x, 0 <= r < a ->
  Z.min (a * x) (a * k + r) = a * Z.min x k + r * Z.min (Z.max (x - k) 0) 1.
Proof.
  intros a k r x H. destruct (Z.le_gt_cases x k) as [L|G].
  - rewrite (Z.min_l x k), (Z.max_r (x - k) 0), (Z.min_l 0 1) by lia. rewrite Z.min_l; nia.
  - rewrite (Z.min_r x k), (Z.max_l (x - k) 0), (Z.min_r (x - k) 1) by lia. rewrite Z.min_r; nia.
Qed.

(** * Rules that are proved and not used: digits *)

(** A quotient of a digit is a digit, if its divisor divides that of the digit. *)
Proposition quotient_of_digit : forall x a b c, 0 < a -> 0 < b -> 0 < c -> (c | b) ->
  (x / a) mod b / c = (x / (a * c)) mod (b / c).
Proof.
  intros x a b c Ha Hb Hc [e ->]. rewrite Z.div_mul by lia. assert (0 < e) by nia. rewrite <- Z.div_div by lia.
  replace (e * c) with (c * e) by ring. set (y := x / a). clearbody y.
  rewrite Z.rem_mul_r by lia. replace (y mod c + c * ((y / c) mod e)) with (y mod c + (y / c) mod e * c) by ring.
  rewrite Z.div_add by lia. rewrite (Z.div_small (y mod c) c); [lia|]. apply Z.mod_pos_bound. lia.
Qed.

Proposition quotient_of_remainder : forall x a b, 0 < a -> 0 < b -> x mod (a * b) / a = (x / a) mod b.
Proof.
  intros x a b Ha Hb. pose proof (quotient_of_digit x 1 (a * b) a ltac:(lia) ltac:(nia) Ha) as Q.
  rewrite Z.div_1_r, Z.mul_1_l, (Z.mul_comm a b), Z.div_mul in Q by lia. rewrite (Z.mul_comm a b). apply Q.
  exists b. reflexivity.
Qed.

(** A remainder of a remainder, by a divisor of its divisor; of itself, as in [x / 3 mod 3 mod 3], and by a larger
    divisor. *)
Proposition remainder_of_remainder : forall x m n, 0 < m -> 0 < n -> (n | m) -> (x mod m) mod n = x mod n.
Proof.
  intros x m n Hm Hn D. pose proof (unnested_remainder 0 1 x m n Hn Hm D) as U.
  rewrite !Z.add_0_l, !Z.mul_1_l in U. exact U.
Qed.

Proposition remainder_by_no_less : forall x m n, 0 < m <= n -> (x mod m) mod n = x mod m.
Proof. intros x m n H. apply Z.mod_small. divide_out x m. lia. Qed.

(** A remainder by a product, in digits; and of a multiple, beside a constant. *)
Proposition remainder_in_digits : forall x a b, 0 < a -> 0 < b -> x mod (a * b) = x mod a + a * ((x / a) mod b).
Proof. intros. apply Z.rem_mul_r; lia. Qed.

Proposition remainder_of_multiple : forall a b m c, 0 < a -> 0 < b ->
  (a * m + c) mod (a * b) = a * ((m + c / a) mod b) + c mod a.
Proof.
  intros a b m c Ha Hb. rewrite remainder_in_digits by assumption.
  replace (a * m + c) with (c + m * a) by ring. rewrite Z.mod_add, Z.div_add by lia.
  rewrite (Z.add_comm (c / a) m). ring.
Qed.

(** Digits put together: neighbouring ones are one digit, and all of them are the number. *)
Proposition digits_joined : forall x a b, 0 < a -> 0 < b ->
  (x / a) mod b * a + x mod a = x mod (a * b) /\ x / (a * b) * b + (x / a) mod b = x / a.
Proof.
  intros x a b Ha Hb. split; [rewrite remainder_in_digits by assumption; ring|].
  rewrite <- Z.div_div by lia. divide_out (x / a) b. lia.
Qed.

(** A constant of more than the divisor is taken apart. *)
Proposition constant_taken_out : forall x c d, 0 < d -> (x + c) / d = c / d + (x + c mod d) / d.
Proof.
  intros x c d Hd. rewrite <- (multiples_leave d (c / d)) by assumption. f_equal.
  pose proof (Z.div_mod c d ltac:(lia)). lia.
Qed.

Proposition constant_of_remainder : forall x c d, 0 < d -> (x + c) mod d = (x + c mod d) mod d.
Proof. intros x c d Hd. rewrite Z.add_mod_idemp_r by lia. reflexivity. Qed.

(** * Rules that are proved and not used: complete sets of residues *)

Fixpoint sum_of_remainders (x d : Z) (k : nat) : Z :=
  match k with O => 0 | S k' => sum_of_remainders x d k' + (x + Z.of_nat k') mod d end.

(** The remainders of [n] numbers side by side are all of 0..n, so that twice their sum is [n (n - 1)]. *)
Proposition complete_residues : forall n x, (0 < n)%nat ->
  2 * sum_of_remainders x (Z.of_nat n) n = Z.of_nat n * (Z.of_nat n - 1).
Proof.
  intros n x Hn.
  assert (G : forall d k, d <> 0 ->
    2 * sum_of_remainders x d k + 2 * d * sum_of_floors x d k = 2 * x * Z.of_nat k + Z.of_nat k * (Z.of_nat k - 1)).
  { intros d k Hd. induction k as [|k IH]; [simpl; lia|]. cbn [sum_of_floors sum_of_remainders].
    pose proof (Z.div_mod (x + Z.of_nat k) d Hd) as E. rewrite Nat2Z.inj_succ. unfold Z.succ. nia. }
  specialize (G (Z.of_nat n) n ltac:(lia)). rewrite hermite in G by assumption. lia.
Qed.
