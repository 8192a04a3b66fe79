(** Shortcuts on the way to the bounding box: cutting axes by a digit that is affine, and digits in blocks. *)

From Coq Require Import ZArith Lia List Bool.
From Shapetracker Require Import View Criterion Overflow Equation Bounding Merge Exact.
Import ListNotations.
Open Scope Z_scope.

(** The least and the greatest contribution of an axis. *)
Definition low_of (a : Z) (r : range) : Z := if 0 <=? a then a * fst r else a * (snd r - 1).
Definition high_of (a : Z) (r : range) : Z := if 0 <=? a then a * (snd r - 1) else a * fst r.

(** What all other axes contribute lies between their extremes. *)
Theorem others_bound : forall st b i l, inbox b i -> length st = length b -> (l < length b)%nat ->
  low_end st b - low_of (nth l st 0) (nth l b (0, 0)) <= dot st i - nth l st 0 * nth l i 0
    <= high_end st b - high_of (nth l st 0) (nth l b (0, 0)).
Proof.
  induction st as [|a st IH]; destruct b as [|r b]; intros i l H L Hl; simpl in Hl; try lia; try discriminate.
  destruct i as [|x i]; [destruct H|]. destruct H as [H1 H2]. destruct l as [|l].
  - pose proof (ends_bound st b i H2). cbn [nth low_end high_end dot]. unfold low_of, high_of. destruct (0 <=? a); lia.
  - specialize (IH b i l H2 ltac:(simpl in L; congruence) ltac:(lia)). cbn [nth low_end high_end dot].
    destruct (Z.leb_spec 0 a); nia.
Qed.

(** A box may be cut: at an index where an affine value lies in [begin, last] the entry of an axis lies where it can if
    all others are at their best. *)
Theorem cut_is_safe : forall st b c i l first last, inbox b i -> length st = length b -> (l < length b)%nat ->
  let a := nth l st 0 in
  let rest_low := c + low_end st b - low_of a (nth l b (0, 0)) in
  let rest_high := c + high_end st b - high_of a (nth l b (0, 0)) in
  first <= c + dot st i <= last ->
  (0 < a -> - ((rest_high - first) / a) <= nth l i 0 <= (last - rest_low) / a) /\
  (a < 0 -> - ((last - rest_low) / - a) <= nth l i 0 <= (rest_high - first) / - a).
Proof.
  intros st b c i l first last H L Hl a rest_low rest_high V.
  pose proof (others_bound st b i l H L Hl) as B. fold a in B. unfold rest_low, rest_high.
  split; intros A; split.
  - assert (X : - nth l i 0 <= (c + high_end st b - high_of a (nth l b (0, 0)) - first) / a)
      by (apply Z.div_le_lower_bound; nia). lia.
  - apply Z.div_le_lower_bound; nia.
  - assert (X : - nth l i 0 <= (last - (c + low_end st b - low_of a (nth l b (0, 0)))) / - a)
      by (apply Z.div_le_lower_bound; nia). lia.
  - apply Z.div_le_lower_bound; nia.
Qed.

(** ... and where the whole range of the value misses [first, last] nothing is valid; where it lies inside, all is. *)
Theorem cut_ends : forall st b c i first last, inbox b i ->
  (c + low_end st b > last \/ c + high_end st b < first -> ~ first <= c + dot st i <= last) /\
  (first <= c + low_end st b /\ c + high_end st b <= last -> first <= c + dot st i <= last).
Proof. intros st b c i first last H. pose proof (ends_bound st b i H). lia. Qed.

(** A digit that is valid in whole blocks of [g] may be replaced by the digit that counts the blocks. *)
Theorem digit_in_blocks : forall g w s b e x, 0 < g -> 0 < w -> 0 < s ->
  ((g * b <= (x / w) mod (g * s) < g * e) <-> b <= (x / (w * g)) mod s < e).
Proof.
  intros g w s b e x G W S. rewrite Z.rem_mul_r by lia. rewrite Z.div_div by lia.
  pose proof (Z.mod_pos_bound (x / w) g G). set (u := (x / w) mod g) in *. set (v := (x / (w * g)) mod s) in *. nia.
Qed.

(** 3 i - 2 j lies in [0, 3]: with i = 0, j can only be 0. *)
Example cut_example : forall j, inbox [(0, 1); (0, 4)] [0; j] -> 0 <= 0 + dot [3; -2] [0; j] <= 3 -> 0 <= j <= 0.
Proof.
  intros j H V. pose proof (proj2 (cut_is_safe [3; -2] [(0, 1); (0, 4)] 0 [0; j] 1 0 3 H eq_refl ltac:(simpl;
    lia) V)) as X.
  cbv -[Z.le Z.lt] in X. specialize (X eq_refl). simpl in H. lia.
Qed.
