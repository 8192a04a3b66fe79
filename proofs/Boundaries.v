(** Carries over boundaries only, going up or down: the form in which the implementation walks the patterns.

    The implementation does not add |a| to a walk from the other end.  It lets a position move down and borrow.  And it
    asks only about the boundaries where a carry moves the address: the digits between them are joined. *)

From Coq Require Import ZArith Lia List Bool.
From Shapetracker Require Import View Criterion Overflow Equation Bounding Merge Exact UitDeBos Schillinger FastPath.
Import ListNotations.
Open Scope Z_scope.

(** The pattern of borrows of taking [a] away from [x]: of each digit, whether it borrows from the next. *)
Fixpoint borrows (ss : list Z) (a x : Z) : list bool :=
  match ss with
  | [] => []
  | s :: r => let p := borrows r a x in ((x / numel r) mod s <? (a / numel r) mod s + out p) :: p
  end.

(** In which interval a pattern of borrows says that each digit lies. *)
Fixpoint borrow_intervals (ss alpha : list Z) (p : list bool) : box :=
  match ss, alpha, p with
  | s :: ss', d :: alpha', b :: p' =>
      (if b then (0, d + out p') else (d + out p', s)) :: borrow_intervals ss' alpha' p'
  | _, _, _ => []
  end.

Lemma borrows_length : forall ss a x, length (borrows ss a x) = length ss.
Proof. induction ss; simpl; intros; congruence. Qed.

(** A pattern of borrows holds exactly if the digits lie in its intervals. *)
Theorem borrows_iff_digits : forall ss a x p, positives ss -> length p = length ss ->
  (borrows ss a x = p <-> inbox (borrow_intervals ss (unravel ss a) p) (unravel ss x)).
Proof.
  induction ss as [|s r IH]; destruct p as [|b p]; simpl; intros H L; try discriminate; [tauto|].
  inversion H; subst. pose proof (Z.mod_pos_bound (x / numel r) s H2).
  specialize (IH a x p H3 ltac:(congruence)). rewrite <- IH. split.
  - intros E. injection E; intros E1 E2. split; [|assumption]. rewrite E1 in E2. subst b.
    destruct (Z.ltb_spec ((x / numel r) mod s) ((a / numel r) mod s + out p)); simpl; lia.
  - intros [E1 E2]. rewrite E2. f_equal.
    destruct b; simpl in E1; destruct (Z.ltb_spec ((x / numel r) mod s) ((a / numel r) mod s + out p)); auto; lia.
Qed.

(** A carry into the outermost digit, told by quotients: how much more a quotient moves than the step alone would. *)
Theorem carry_is_quotient : forall ss a x, positives ss ->
  out (pattern ss a x) = (x + a) / numel ss - x / numel ss - a / numel ss.
Proof.
  intros ss a x H. pose proof (numel_pos ss H). rewrite out_pattern by assumption.
  rewrite (Z.div_mod x (numel ss)) at 2 by lia. rewrite (Z.div_mod a (numel ss)) at 2 by lia.
  replace (numel ss * (x / numel ss) + x mod numel ss + (numel ss * (a / numel ss) + a mod numel ss))
    with ((x mod numel ss + a mod numel ss) + (x / numel ss + a / numel ss) * numel ss) by ring.
  rewrite Z.div_add by lia. lia.
Qed.

(** A borrow out of the outermost digit, likewise. *)
Theorem borrow_is_quotient : forall ss a x, positives ss ->
  out (borrows ss a x) = x / numel ss - a / numel ss - (x - a) / numel ss.
Proof.
  induction ss as [|s r IH]; simpl; intros a x H; [rewrite !Z.div_1_r; lia|].
  inversion H; subst. pose proof (numel_pos r H3) as P. specialize (IH a x H3).
  rewrite !(Z.mul_comm s), <- !Z.div_div by lia.
  set (X := x / numel r) in *. set (A := a / numel r) in *. set (c := out (borrows r a x)) in *.
  assert (E : (x - a) / numel r = X - A - c) by lia. rewrite E.
  pose proof (out_bounds (borrows r a x)) as B. fold c in B.
  pose proof (Z.mod_pos_bound X s H2). pose proof (Z.mod_pos_bound A s H2).
  pose proof (Z.div_mod X s ltac:(lia)). pose proof (Z.div_mod A s ltac:(lia)).
  destruct (Z.ltb_spec (X mod s) (A mod s + c)); simpl.
  - assert (Q : X / s - A / s - 1 = (X - A - c) / s) by (apply Z.div_unique with (X mod s - A mod s - c + s); lia). lia.
  - assert (Q : X / s - A / s = (X - A - c) / s) by (apply Z.div_unique with (X mod s - A mod s - c); lia). lia.
Qed.

(** The weights of the boundaries above some digits, from the outermost in: those of the tails of the list. *)
Fixpoint jump_weights (js : list Z) (ss : list Z) : list (Z * Z) :=
  match js, ss with
  | c :: js', _ :: r => (numel r, c) :: jump_weights js' r
  | _, _ => []
  end.

(** How far carries move the address: the jump of every boundary that is carried over, and of those that the step
    crosses by itself. *)
Fixpoint carried (js ss : list Z) (a : Z) (p : list bool) : Z :=
  match js, ss, p with
  | c :: js', _ :: r, _ :: p' => c * (a / numel r + out p') + carried js' r a p'
  | _, _, _ => 0
  end.

(** Going up, the jumps over boundaries depend on the pattern of carries only. *)
Theorem jumps_up : forall js ss a x, positives ss ->
  jumps (jump_weights js ss) (x + a) - jumps (jump_weights js ss) x = carried js ss a (pattern ss a x).
Proof.
  induction js as [|c js IH]; destruct ss as [|s r]; intros a x H; try reflexivity.
  inversion H; subst. cbn [jump_weights jumps carried pattern]. rewrite <- IH by assumption.
  pose proof (carry_is_quotient r a x H3). rewrite H0. ring.
Qed.

(** Going down, on the pattern of borrows only. *)
Theorem jumps_down : forall js ss a x, positives ss ->
  jumps (jump_weights js ss) (x - a) - jumps (jump_weights js ss) x = - carried js ss a (borrows ss a x).
Proof.
  induction js as [|c js IH]; destruct ss as [|s r]; intros a x H; try reflexivity.
  inversion H; subst. cbn [jump_weights jumps carried borrows].
  pose proof (IH r a x H3). pose proof (borrow_is_quotient r a x H3) as B. rewrite B. nia.
Qed.

(** The weights of the boundaries.  Any numbers that divide one another are the weights of some digits, so the patterns
    over those boundaries are enough where a carry moves the address unlike an affine map. *)
Fixpoint weights_of (ss : list Z) : list Z := match ss with [] => [] | _ :: r => numel r :: weights_of r end.

(** Those weights are the products of the later sizes, and any jumps may be put on them. *)
Theorem jump_weights_weights : forall js ss, length js = length ss ->
  map fst (jump_weights js ss) = weights_of ss /\ map snd (jump_weights js ss) = js.
Proof.
  induction js as [|c js IH]; destruct ss as [|s r]; simpl; intros L; try discriminate; [auto|].
  destruct (IH r ltac:(congruence)) as [-> ->]. auto.
Qed.

(** Steps of one length that differ in how far they move the address differ in their pattern over the boundaries left
    over, when all else that the address consists of is affine: the reasoning of the walk over boundaries. *)
Theorem same_carries_same_step : forall (F : Z -> Z) c js ss a x y, positives ss ->
  (forall z, F z = c * z + jumps (jump_weights js ss) z) ->
  (pattern ss a x = pattern ss a y -> F (x + a) - F x = F (y + a) - F y) /\
  (borrows ss a x = borrows ss a y -> F (x - a) - F x = F (y - a) - F y).
Proof.
  intros F c js ss a x y P E. split; intros Q.
  - pose proof (jumps_up js ss a x P) as X. pose proof (jumps_up js ss a y P) as Y. rewrite Q in X. rewrite !E. lia.
  - pose proof (jumps_down js ss a x P) as X. pose proof (jumps_down js ss a y P) as Y. rewrite Q in X. rewrite !E. lia.
Qed.

(** Taking 4 away from 12 borrows twice, from 8 not at all. *)
Example borrows_example :
  borrows [10; 3; 3] 4 12 = [false; true; true] /\ borrows [10; 3; 3] 4 8 = [false; false; false] /\
  borrow_intervals [10; 3; 3] [0; 1; 1] [false; true; true] = [(1, 10); (0, 2); (0, 1)].
Proof. repeat split; reflexivity. Qed.
