(** The one question behind every decision: is a bounded linear equation solvable?

    A term is a weight and a number of values; its unknown ranges over 0, 1, .., one less than that number. *)

From Coq Require Import ZArith Lia List Bool.
From Shapetracker Require Import View Overflow.
Import ListNotations.
Open Scope Z_scope.

Definition term := (Z * Z)%type.

(** The meaning: one value for each term, each in its range, with the weighted sum equal to the target. *)
Definition solution (ts : list term) (target : Z) (y : list Z) : Prop :=
  inbox (map (fun t => (0, snd t)) ts) y /\ dot (map fst ts) y = target.
Definition solvable (ts : list term) (target : Z) : Prop := exists y, solution ts target y.

(** A decision procedure for equations. *)
Definition decides (solver : list term -> Z -> bool) : Prop :=
  forall ts target, solver ts target = true <-> solvable ts target.

Lemma solvable_nil : forall W, solvable [] W <-> W = 0.
Proof.
  split.
  - intros (y & H & D). destruct y; simpl in *; [congruence|tauto].
  - intros ->. exists []. split; simpl; auto.
Qed.

Lemma solvable_cons : forall w n ts W,
  solvable ((w, n) :: ts) W <-> exists v, 0 <= v < n /\ solvable ts (W - w * v).
Proof.
  split.
  - intros (y & H & D). destruct y as [|v y]; simpl in *; [tauto|]. destruct H as [H1 H2].
    exists v. split; [assumption|]. exists y. split; [assumption|lia].
  - intros (v & H & y & H2 & D). exists (v :: y). split; simpl; [auto|lia].
Qed.

Lemma solvable_app : forall ts us W,
  solvable (ts ++ us) W <-> exists V, solvable ts V /\ solvable us (W - V).
Proof.
  induction ts as [|[w n] ts IH]; intros us W; simpl.
  - split.
    + intros H. exists 0. rewrite solvable_nil, Z.sub_0_r. auto.
    + intros (V & H1 & H2). apply solvable_nil in H1; subst. rewrite Z.sub_0_r in H2. assumption.
  - rewrite solvable_cons. split.
    + intros (v & H & S). apply IH in S. destruct S as (V & S1 & S2). exists (V + w * v). split.
      * apply solvable_cons. exists v. split; [assumption|]. replace (V + w * v - w * v) with V by ring. assumption.
      * replace (W - (V + w * v)) with (W - w * v - V) by ring. assumption.
    + intros (V & S1 & S2). apply solvable_cons in S1. destruct S1 as (v & H & S1). exists v. split; [assumption|].
      apply IH. exists (V - w * v). split; [assumption|]. replace (W - w * v - (V - w * v)) with (W - V) by ring.
      assumption.
Qed.

(** * Trying all values *)

(** Is there a value in [lo, lo + k) that passes? *)
Fixpoint any_pos (k : positive) (lo : Z) (p : Z -> bool) : bool :=
  match k with
  | xH => p lo
  | xO k' => if any_pos k' lo p then true else any_pos k' (lo + Zpos k') p
  | xI k' => if p lo then true else if any_pos k' (lo + 1) p then true else any_pos k' (lo + 1 + Zpos k') p
  end.
Definition any (lo n : Z) (p : Z -> bool) : bool := match n with Zpos k => any_pos k lo p | _ => false end.

Lemma any_pos_iff : forall k lo p, any_pos k lo p = true <-> exists v, lo <= v < lo + Zpos k /\ p v = true.
Proof.
  induction k as [k IH|k IH|]; intros lo p; simpl.
  - rewrite Pos2Z.inj_xI. destruct (p lo) eqn:E0.
    + split; [intros _; exists lo; split; [lia|assumption]|auto].
    + destruct (any_pos k (lo + 1) p) eqn:E1.
      * apply IH in E1. destruct E1 as (v & H & P). split; [intros _; exists v; split; [lia|assumption]|auto].
      * rewrite IH. split.
        { intros (v & H & P). exists v; split; [lia|assumption]. }
        intros (v & H & P). destruct (Z_lt_dec v (lo + 1 + Zpos k)).
        { exfalso. assert (v <> lo) by congruence.
          assert (any_pos k (lo + 1) p = true) by (apply IH; exists v; split; [lia|assumption]). congruence. }
        exists v; split; [lia|assumption].
  - rewrite Pos2Z.inj_xO. destruct (any_pos k lo p) eqn:E1.
    + apply IH in E1. destruct E1 as (v & H & P). split; [intros _; exists v; split; [lia|assumption]|auto].
    + rewrite IH. split.
      { intros (v & H & P). exists v; split; [lia|assumption]. }
      intros (v & H & P). destruct (Z_lt_dec v (lo + Zpos k)).
      { exfalso. assert (any_pos k lo p = true) by (apply IH; exists v; split; [lia|assumption]). congruence. }
      exists v; split; [lia|assumption].
  - split.
    + intros P. exists lo; split; [lia|assumption].
    + intros (v & H & P). replace lo with v by lia. assumption.
Qed.

Lemma any_iff : forall lo n p, any lo n p = true <-> exists v, lo <= v < lo + n /\ p v = true.
Proof.
  intros lo [|k|k] p; simpl; [| apply any_pos_iff |];
    (split; [discriminate|intros (v & H & _); lia]).
Qed.

Fixpoint enumerate (ts : list term) (W : Z) : bool :=
  match ts with
  | [] => W =? 0
  | (w, n) :: r => any 0 n (fun v => enumerate r (W - w * v))
  end.

(** Trying all values decides an equation. *)
Theorem enumerate_decides : decides enumerate.
Proof.
  intros ts. induction ts as [|[w n] ts IH]; intros W; simpl.
  - rewrite solvable_nil. apply Z.eqb_eq.
  - rewrite any_iff, solvable_cons. split; intros (v & H & S); exists v; (split; [lia|apply IH; assumption]).
Qed.

(** 3 * 2 - 5 * 1 = 1; sums of 2 and -6 are even. *)
Example enumerate_example : enumerate [(3, 4); (-5, 3)] 1 = true /\ enumerate [(2, 9); (-6, 4)] 3 = false.
Proof. split; reflexivity. Qed.

(** * Digits in given intervals *)

(** Some index of the box [b] reads, by offset [o] and strides [st], a position with digits in the intervals [iv]. *)
Definition meets (ss : list Z) (o : Z) (st : list Z) (b iv : box) : Prop :=
  exists i, inbox b i /\ inbox iv (unravel ss (o + dot st i)).

(** One term for each range: its weight, and how many values it has. *)
Fixpoint terms (st : list Z) (b : box) : list term :=
  match st, b with
  | a :: st', r :: b' => (a, snd r - fst r) :: terms st' b'
  | _, _ => []
  end.

(** The question as an equation: o + sum a_l i_l = sum P_(j-1) d_j. *)
Definition question_terms (ss st : list Z) (b iv : box) : list term :=
  terms st b ++ terms (map Z.opp (row_major ss)) iv.
Definition question_target (ss : list Z) (o : Z) (st : list Z) (b iv : box) : Z :=
  dot (row_major ss) (corner iv) - o - dot st (corner b).

Lemma solvable_terms : forall st b W, length st = length b ->
  (solvable (terms st b) W <-> exists i, inbox b i /\ dot st i = W + dot st (corner b)).
Proof.
  induction st as [|a st IH]; destruct b as [|r b]; simpl; intros W L; try discriminate.
  - rewrite solvable_nil. split.
    + intros ->. exists []. simpl. auto.
    + intros (i & H & D). lia.
  - rewrite solvable_cons. split.
    + intros (v & H & S). apply IH in S; [|congruence]. destruct S as (i & Hi & D).
      exists (v + fst r :: i). simpl. split; [split; [lia|assumption]|lia].
    + intros (i & H & D). destruct i as [|x i]; [destruct H|]. destruct H as [H1 H2]. exists (x - fst r). split; [lia|].
      apply IH; [congruence|]. exists i. split; [assumption|lia].
Qed.

Lemma dot_opp : forall s i, dot (map Z.opp s) i = - dot s i.
Proof. induction s; destruct i; simpl; try reflexivity. rewrite IHs. lia. Qed.

(** Whether some index reads digits in given intervals is whether one bounded linear equation is solvable. *)
Theorem question_is_equation : forall ss o st b iv,
  positives ss -> length st = length b -> within iv (whole ss) ->
  (forall i, inbox b i -> 0 <= o + dot st i < numel ss) ->
  (meets ss o st b iv <-> solvable (question_terms ss st b iv) (question_target ss o st b iv)).
Proof.
  intros ss o st b iv P L W F. unfold question_terms, question_target.
  assert (Lv : length (map Z.opp (row_major ss)) = length iv).
  { rewrite map_length, row_major_length. clear - W. unfold whole in W.
    remember (map (fun s => (0, s)) ss) as c. revert ss Heqc.
    induction W; destruct ss; simpl; intros; try discriminate; auto.
    injection Heqc; intros; subst. f_equal; apply IHW; reflexivity. }
  rewrite solvable_app. split.
  - intros (i & Hi & Hd). set (d := unravel ss (o + dot st i)) in *.
    exists (dot st i - dot st (corner b)). split.
    + apply solvable_terms; [assumption|]. exists i. split; [assumption|lia].
    + apply solvable_terms; [assumption|]. exists d. split; [assumption|].
      rewrite !dot_opp. pose proof (ravel_unravel ss (o + dot st i) P (F i Hi)) as R. unfold ravel in R. fold d in R.
      lia.
  - intros (V & S1 & S2). apply solvable_terms in S1; [|assumption]. apply solvable_terms in S2; [|assumption].
    destruct S1 as (i & Hi & D1), S2 as (d & Hd & D2). rewrite !dot_opp in D2.
    exists i. split; [assumption|].
    assert (E : o + dot st i = ravel ss d) by (unfold ravel; lia).
    rewrite E, unravel_ravel by (eapply inbox_within; eassumption). assumption.
Qed.

(** Does a step of 9 from one of 5 starts find the digits (0 .. 8, 0 .. 2, 3) of shape (10, 9, 4)?  As an equation, and
    its answer. *)
Example question_example :
  let iv := [(0, 9); (0, 3); (3, 4)] in
  (positives [10; 9; 4] /\ within iv (whole [10; 9; 4])) /\
  question_terms [10; 9; 4] [9] [(0, 5)] iv = [(9, 5); (-36, 9); (-4, 3); (-1, 1)] /\
  question_target [10; 9; 4] 0 [9] [(0, 5)] iv = 3 /\
  enumerate (question_terms [10; 9; 4] [9] [(0, 5)] iv) 3 = false.
Proof.
  intros iv. split; [split; repeat constructor; simpl; lia|]. repeat split; vm_compute; reflexivity.
Qed.
