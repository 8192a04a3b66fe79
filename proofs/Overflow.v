(** Overflow patterns: what adding a number does to the mixed-radix digits of a position.

    Lists are outermost first, so the carry that enters a digit comes from the tail of its list. *)

From Coq Require Import ZArith Lia List Bool.
From Shapetracker Require Import View.
Import ListNotations.
Open Scope Z_scope.

Definition carry (b : bool) : Z := if b then 1 else 0.

(** The carry out of the outermost of some digits: the first entry of their pattern. *)
Definition out (p : list bool) : Z := match p with [] => 0 | b :: _ => carry b end.

(** The overflow pattern of adding [a] to [x]: of each digit, whether it carries. *)
Fixpoint pattern (ss : list Z) (a x : Z) : list bool :=
  match ss with
  | [] => []
  | s :: r =>
      let p := pattern r a x in
      (s <=? (x / numel r) mod s + (a / numel r) mod s + out p) :: p
  end.

(** How far a step with pattern [p] moves the address: the sum of sigma_j (alpha_j + p_(j-1) - s_j p_j). *)
Fixpoint delta (ss st alpha : list Z) (p : list bool) : Z :=
  match ss, st, alpha, p with
  | s :: ss', t :: st', d :: alpha', b :: p' => t * (d + out p' - s * carry b) + delta ss' st' alpha' p'
  | _, _, _, _ => 0
  end.

(** In which interval a pattern says that each digit lies. *)
Fixpoint intervals (ss alpha : list Z) (p : list bool) : box :=
  match ss, alpha, p with
  | s :: ss', d :: alpha', b :: p' =>
      (if b then (s - d - out p', s) else (0, s - d - out p')) :: intervals ss' alpha' p'
  | _, _, _ => []
  end.

Lemma pattern_length : forall ss a x, length (pattern ss a x) = length ss.
Proof. induction ss; simpl; intros; congruence. Qed.

Lemma out_bounds : forall p, 0 <= out p <= 1.
Proof. destruct p as [|[] p]; simpl; lia. Qed.

(** The outermost carry is whether the two remainders together reach the number of elements. *)
Lemma out_pattern : forall ss a x, positives ss ->
  out (pattern ss a x) = (x mod numel ss + a mod numel ss) / numel ss.
Proof.
  induction ss as [|s r IH]; simpl; intros a x H; [rewrite !Z.mod_1_r; reflexivity|].
  inversion H; subst. pose proof (numel_pos r H3) as P. specialize (IH a x H3).
  rewrite !(Z.mul_comm s), !Z.rem_mul_r by lia.
  set (dx := (x / numel r) mod s) in *. set (da := (a / numel r) mod s) in *.
  assert (0 <= dx < s) by (apply Z.mod_pos_bound; assumption).
  assert (0 <= da < s) by (apply Z.mod_pos_bound; assumption).
  rewrite IH. set (X := x mod numel r) in *. set (A := a mod numel r) in *.
  replace (X + numel r * dx + (A + numel r * da)) with ((X + A) + (dx + da) * numel r) by ring.
  rewrite <- Z.div_div by lia. rewrite Z.div_add by lia.
  set (c := (X + A) / numel r) in *. pose proof (out_bounds (pattern r a x)) as B. rewrite IH in B.
  destruct (Z.leb_spec s (dx + da + c)); simpl.
  - apply Z.div_unique with (dx + da + c - s); lia.
  - symmetry; apply Z.div_small; lia.
Qed.

(** No carry leaves the outermost digit when the sum stays inside the shape. *)
Theorem no_carry_out : forall ss a x, positives ss -> 0 <= x -> 0 <= a -> x + a < numel ss -> out (pattern ss a x) = 0.
Proof.
  intros ss a x H Hx Ha L. rewrite out_pattern by assumption. rewrite !Z.mod_small by lia. apply Z.div_small; lia.
Qed.

(** Digits after a step: each grows by its digit of [a] and the carry into it, and loses its size if it carries. *)
Lemma digits_step : forall ss st a x, positives ss -> length st = length ss ->
  dot st (unravel ss (x + a)) - dot st (unravel ss x) = delta ss st (unravel ss a) (pattern ss a x).
Proof.
  induction ss as [|s r IH]; destruct st as [|t st]; simpl; intros a x H L; try discriminate; [reflexivity|].
  inversion H; subst. pose proof (numel_pos r H3) as P.
  rewrite <- (IH st a x H3 ltac:(congruence)).
  pose proof (out_pattern r a x H3) as O. pose proof (out_bounds (pattern r a x)) as B.
  set (c := out (pattern r a x)) in *.
  assert (E : (x + a) / numel r = x / numel r + a / numel r + c).
  { rewrite O. rewrite (Z.div_mod x (numel r)) at 1 by lia. rewrite (Z.div_mod a (numel r)) at 1 by lia.
    replace (numel r * (x / numel r) + x mod numel r + (numel r * (a / numel r) + a mod numel r))
      with ((x mod numel r + a mod numel r) + (x / numel r + a / numel r) * numel r) by ring.
    rewrite Z.div_add by lia. lia. }
  rewrite E. set (X := x / numel r) in *. set (A := a / numel r) in *.
  assert (D : (X + A + c) mod s = X mod s + A mod s + c - s * carry (s <=? X mod s + A mod s + c)).
  { pose proof (Z.mod_pos_bound X s H2). pose proof (Z.mod_pos_bound A s H2).
    symmetry. destruct (Z.leb_spec s (X mod s + A mod s + c)); simpl.
    - apply Z.mod_unique with (X / s + A / s + 1); [lia|]. rewrite (Z.div_mod X s) at 1 by lia.
      rewrite (Z.div_mod A s) at 1 by lia. ring.
    - apply Z.mod_unique with (X / s + A / s); [lia|]. rewrite (Z.div_mod X s) at 1 by lia.
      rewrite (Z.div_mod A s) at 1 by lia. ring. }
  rewrite D. ring.
Qed.

(** A pattern holds exactly if the digits lie in its intervals. *)
Theorem pattern_iff_digits : forall ss a x p, positives ss -> length p = length ss ->
  (pattern ss a x = p <-> inbox (intervals ss (unravel ss a) p) (unravel ss x)).
Proof.
  induction ss as [|s r IH]; destruct p as [|b p]; simpl; intros H L; try discriminate; [tauto|].
  inversion H; subst.
  pose proof (Z.mod_pos_bound (x / numel r) s H2). pose proof (Z.mod_pos_bound (a / numel r) s H2).
  specialize (IH a x p H3 ltac:(congruence)).
  rewrite <- IH. split.
  - intros E. injection E; intros E1 E2. split; [|assumption]. rewrite E1 in E2. subst b.
    destruct (Z.leb_spec s ((x / numel r) mod s + (a / numel r) mod s + out p)); simpl; lia.
  - intros [E1 E2]. rewrite E2. f_equal.
    destruct b; simpl in E1; destruct (Z.leb_spec s ((x / numel r) mod s + (a / numel r) mod s + out p)); auto; lia.
Qed.

(** The intervals of a pattern lie within the sizes. *)
Lemma intervals_within : forall ss a p, positives ss -> length p = length ss ->
  within (intervals ss (unravel ss a) p) (whole ss).
Proof.
  induction ss as [|s r IH]; destruct p as [|b p]; simpl; intros H L; try discriminate; constructor.
  - inversion H; subst. pose proof (Z.mod_pos_bound (a / numel r) s H2). pose proof (out_bounds p).
    destruct b; simpl; lia.
  - inversion H; subst. apply IH; auto.
Qed.

(** The address difference of a step depends on its overflow pattern only. *)
Theorem step_depends_on_pattern : forall A a x, positives (sizes A) ->
  affine A (unravel (sizes A) (x + a)) - affine A (unravel (sizes A) x)
  = delta (sizes A) (strides A) (unravel (sizes A) a) (pattern (sizes A) a x).
Proof.
  intros A a x H. unfold affine. rewrite <- digits_step; [lia|assumption|].
  unfold strides, sizes. rewrite !map_length. reflexivity.
Qed.

(** Two steps of the same length with the same pattern move the address alike. *)
Corollary same_pattern_same_step : forall A a x y, positives (sizes A) ->
  pattern (sizes A) a x = pattern (sizes A) a y ->
  affine A (unravel (sizes A) (x + a)) - affine A (unravel (sizes A) x)
  = affine A (unravel (sizes A) (y + a)) - affine A (unravel (sizes A) y).
Proof. intros A a x y H E. rewrite !step_depends_on_pattern by assumption. rewrite E. reflexivity. Qed.

(** The patterns in which no carry leaves the outermost digit and every digit has a value left: those worth asking
    about.  They are built digit by digit from the innermost, as the implementation walks them. *)
Fixpoint candidates (ss alpha : list Z) : list (list bool) :=
  match ss, alpha with
  | s :: ss', d :: alpha' =>
      flat_map (fun p => (if 0 <? d + out p then [true :: p] else []) ++ (if d + out p <? s then [false :: p] else []))
               (candidates ss' alpha')
  | _, _ => [[]]
  end.

Definition patterns (ss alpha : list Z) : list (list bool) :=
  filter (fun p => out p =? 0) (candidates ss alpha).

Lemma candidates_complete : forall ss a x, positives ss -> In (pattern ss a x) (candidates ss (unravel ss a)).
Proof.
  induction ss as [|s r IH]; simpl; intros a x H; [auto|].
  inversion H; subst. apply in_flat_map. exists (pattern r a x). split; [apply IH; assumption|].
  pose proof (Z.mod_pos_bound (x / numel r) s H2). apply in_or_app.
  destruct (Z.leb_spec s ((x / numel r) mod s + (a / numel r) mod s + out (pattern r a x))).
  - left. destruct (Z.ltb_spec 0 ((a / numel r) mod s + out (pattern r a x))); [left; reflexivity|lia].
  - right. destruct (Z.ltb_spec ((a / numel r) mod s + out (pattern r a x)) s); [left; reflexivity|lia].
Qed.

Lemma candidates_length : forall ss alpha p, length alpha = length ss -> In p (candidates ss alpha) -> length p =
  length ss.
Proof.
  induction ss as [|s r IH]; destruct alpha as [|d alpha]; simpl; intros p L H; try discriminate.
  - destruct H as [<-|[]]; reflexivity.
  - apply in_flat_map in H. destruct H as (q & Q & H). specialize (IH alpha q ltac:(congruence) Q).
    apply in_app_or in H. destruct H as [H|H].
    + destruct (0 <? d + out q); [destruct H as [<-|[]]; simpl; congruence|destruct H].
    + destruct (d + out q <? s); [destruct H as [<-|[]]; simpl; congruence|destruct H].
Qed.

(** Every step inside the shape has its pattern among those. *)
Theorem patterns_complete : forall ss a x, positives ss -> 0 <= x -> 0 <= a -> x + a < numel ss ->
  In (pattern ss a x) (patterns ss (unravel ss a)).
Proof.
  intros. apply filter_In. split; [apply candidates_complete; assumption|].
  rewrite no_carry_out by assumption. reflexivity.
Qed.

(** Table 1 of the first source: with shape (10, 3, 3) and steps of 4, the step from 8 overflows twice. *)
Example pattern_example :
  pattern [10; 3; 3] 4 4 = [false; false; false] /\ pattern [10; 3; 3] 4 8 = [false; true; true] /\
  pattern [10; 3; 3] 4 16 = [false; true; false] /\
  forall s1 s2 s3, delta [10; 3; 3] [s1; s2; s3] [0; 1; 1] [false; true; true] = s1 - s2 - 2 * s3.
Proof. repeat split; try reflexivity. intros; unfold delta, out, carry; lia. Qed.

(** The patterns of a step of 4 that are worth asking about, from the digits (0, 1, 1) on. *)
Example patterns_example :
  patterns [10; 3; 3] [0; 1; 1] = [[false; true; true]; [false; false; true]; [false; true; false]; [false; false;
    false]].
Proof. reflexivity. Qed.
