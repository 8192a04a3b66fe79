(** The bounding box of a set of indices, by bisection on a question that only asks whether parts of a box meet it. *)

From Coq Require Import ZArith Lia List Bool.
From Shapetracker Require Import View.
Import ListNotations.
Open Scope Z_scope.

(** * Bisection *)

(** The least value from [lo] on that passes, if [hi] passes and passing is monotone. *)
Fixpoint bisect (fuel : nat) (lo hi : Z) (p : Z -> bool) : Z :=
  match fuel with
  | O => hi
  | S fuel' => if lo <? hi then
                 let m := (lo + hi) / 2 in if p m then bisect fuel' lo m p else bisect fuel' (m + 1) hi p
               else hi
  end.
Definition least (lo hi : Z) (p : Z -> bool) : Z := bisect (Z.to_nat (Z.log2 (hi - lo) + 1)) lo hi p.

Lemma bisect_spec : forall fuel lo hi p, lo <= hi -> hi - lo < 2 ^ Z.of_nat fuel -> p hi = true ->
  (forall s t, lo <= s <= t -> t <= hi -> p s = true -> p t = true) ->
  let m := bisect fuel lo hi p in lo <= m <= hi /\ p m = true /\ forall t, lo <= t < m -> p t = false.
Proof.
  induction fuel as [|fuel IH]; intros lo hi p L F H M; simpl.
  - simpl in F. split; [lia|]. split; [assumption|]. intros; lia.
  - destruct (Z.ltb_spec lo hi) as [Q|Q].
    2:{ split; [lia|]. split; [assumption|]. intros; lia. }
    rewrite Nat2Z.inj_succ, Z.pow_succ_r in F by lia.
    set (m := (lo + hi) / 2).
    assert (lo <= m < hi) by (unfold m; split; [apply Z.div_le_lower_bound; lia|apply Z.div_lt_upper_bound; lia]).
    assert (2 * m <= lo + hi < 2 * m + 2).
    { unfold m. pose proof (Z.div_mod (lo + hi) 2). pose proof (Z.mod_pos_bound (lo + hi) 2). lia. }
    destruct (p m) eqn:E.
    + destruct (IH lo m p) as (A & B & C); [lia|lia|assumption| |].
      { intros s t S T Y. apply (M s t); [lia|lia|assumption]. }
      split; [lia|]. split; assumption.
    + destruct (IH (m + 1) hi p) as (A & B & C); [lia|lia|assumption| |].
      { intros s t S T Y. apply (M s t); [lia|lia|assumption]. }
      split; [lia|]. split; [assumption|]. intros t T.
      destruct (Z_le_dec t m) as [D|D]; [|apply C; lia].
      destruct (p t) eqn:Y; [|reflexivity]. rewrite (M t m) in E; [discriminate|lia|lia|assumption].
Qed.

(** Bisection finds the least value that passes. *)
Lemma least_spec : forall lo hi p, lo <= hi -> p hi = true ->
  (forall s t, lo <= s <= t -> t <= hi -> p s = true -> p t = true) ->
  let m := least lo hi p in lo <= m <= hi /\ p m = true /\ forall t, lo <= t < m -> p t = false.
Proof.
  intros lo hi p L H M. apply bisect_spec; try assumption.
  pose proof (Z.log2_nonneg (hi - lo)). rewrite Z2Nat.id by lia.
  destruct (Z.eq_dec lo hi) as [->|N].
  - rewrite Z.sub_diag. reflexivity.
  - replace (Z.log2 (hi - lo) + 1) with (Z.succ (Z.log2 (hi - lo))) by lia. apply Z.log2_spec. lia.
Qed.

(** * One range of a box *)

Fixpoint set_range (l : nat) (r : range) (b : box) : box :=
  match b, l with
  | [], _ => []
  | _ :: b', O => r :: b'
  | s :: b', S l' => s :: set_range l' r b'
  end.

Lemma set_range_length : forall b l r, length (set_range l r b) = length b.
Proof. induction b; destruct l; simpl; intros; auto. Qed.

Lemma set_range_inbox : forall b l r i, (l < length b)%nat ->
  fst (nth l b (0, 0)) <= fst r -> snd r <= snd (nth l b (0, 0)) ->
  (inbox (set_range l r b) i <-> inbox b i /\ fst r <= nth l i 0 < snd r).
Proof.
  induction b as [|q b IH]; destruct l; destruct i as [|x i]; simpl; intros; try lia; try tauto.
  - split; [intros [A B]|intros [[A B] C]]; repeat split; auto; lia.
  - rewrite IH by (auto; lia). tauto.
Qed.

Lemma set_range_within : forall b l r,
  fst (nth l b (0, 0)) <= fst r -> snd r <= snd (nth l b (0, 0)) -> within (set_range l r b) b.
Proof.
  induction b as [|q b IH]; destruct l; simpl; intros; constructor; simpl; try lia.
  - clear. induction b; constructor; auto; lia.
  - apply IH; assumption.
Qed.

Lemma within_refl : forall b, within b b.
Proof. induction b; constructor; auto; lia. Qed.

Lemma within_trans : forall a b c, within a b -> within b c -> within a c.
Proof.
  intros a b c H; revert c. induction H; intros c X; inversion X; subst; constructor; [lia|].
  apply IHForall2; assumption.
Qed.

Lemma within_nth : forall b c, within b c -> forall l, (l < length b)%nat ->
  fst (nth l c (0, 0)) <= fst (nth l b (0, 0)) /\ snd (nth l b (0, 0)) <= snd (nth l c (0, 0)).
Proof. induction 1; simpl; intros [|k] K; try lia. apply IHForall2. lia. Qed.

Lemma nth_within : forall b c, length b = length c -> (forall l, (l < length b)%nat ->
  fst (nth l c (0, 0)) <= fst (nth l b (0, 0)) /\ snd (nth l b (0, 0)) <= snd (nth l c (0, 0))) -> within b c.
Proof.
  induction b as [|r b IH]; destruct c as [|s c]; simpl; intros L H; try discriminate; constructor.
  - apply (H O). lia.
  - apply IH; [congruence|]. intros l Hl. apply (H (S l)). lia.
Qed.

Lemma nth_solid : forall b, (forall l, (l < length b)%nat -> fst (nth l b (0, 0)) < snd (nth l b (0, 0))) -> solid b.
Proof.
  induction b as [|r b IH]; intros H; constructor.
  - apply (H O). simpl; lia.
  - apply IH. intros l Hl. apply (H (S l)). simpl; lia.
Qed.

(** * The bounding box *)

Section Bounding.

(** [ask c] tells whether the part [c] of the box [b] meets the set [S]. *)
Variable ask : box -> bool.

(** The least and the greatest entry on axis [l] of a member of the set. *)
Definition lowest (b : box) (l : nat) : Z :=
  let r := nth l b (0, 0) in least (fst r) (snd r - 1) (fun t => ask (set_range l (fst r, t + 1) b)).
Definition highest (b : box) (l : nat) : Z :=
  let r := nth l b (0, 0) in - least (1 - snd r) (- fst r) (fun t => ask (set_range l (- t, snd r) b)).

Definition bounding (b : box) : box :=
  map (fun l => (lowest b l, highest b l + 1)) (seq 0 (length b)).

Variable S : index -> Prop.
Variable b : box.
Hypothesis ask_ok : forall c, within c b -> (ask c = true <-> exists i, inbox c i /\ S i).
Hypothesis some : exists i, inbox b i /\ S i.

Lemma bounding_length : length (bounding b) = length b.
Proof. unfold bounding. rewrite map_length, seq_length. reflexivity. Qed.

Lemma bounding_nth : forall l, (l < length b)%nat -> nth l (bounding b) (0, 0) = (lowest b l, highest b l + 1).
Proof.
  intros l L. unfold bounding.
  rewrite (nth_indep _ (0, 0) (lowest b O, highest b O + 1)) by (rewrite map_length, seq_length; assumption).
  rewrite (map_nth (fun l => (lowest b l, highest b l + 1)) (seq 0 (length b)) O l).
  rewrite seq_nth by assumption. reflexivity.
Qed.

Lemma lowest_spec : forall l, (l < length b)%nat ->
  (exists i, inbox b i /\ S i /\ nth l i 0 = lowest b l) /\
  (forall i, inbox b i -> S i -> lowest b l <= nth l i 0).
Proof.
  intros l L. unfold lowest. set (r := nth l b (0, 0)).
  set (p := fun t => ask (set_range l (fst r, t + 1) b)).
  assert (P : forall t, fst r <= t <= snd r - 1 ->
              (p t = true <-> exists i, inbox b i /\ S i /\ nth l i 0 <= t)).
  { intros t T. unfold p. rewrite ask_ok by (apply set_range_within; simpl; fold r; lia). split.
    - intros (i & H & Q). apply set_range_inbox in H; simpl; fold r; try lia; try assumption.
      exists i. simpl in H. split; [tauto|]. split; [assumption|lia].
    - intros (i & H & Q & E). exists i. split; [|assumption].
      apply set_range_inbox; simpl; fold r; try lia; try assumption.
      split; [assumption|]. pose proof (proj2 (proj1 (inbox_nth b i) H) l L) as N. fold r in N. lia. }
  destruct some as (i0 & H0 & Q0).
  pose proof (proj2 (proj1 (inbox_nth b i0) H0) l L) as N0. fold r in N0.
  destruct (least_spec (fst r) (snd r - 1) p) as (A & B & C).
  - lia.
  - apply P; [lia|]. exists i0. split; [assumption|]. split; [assumption|lia].
  - intros s t Hs Ht X. apply P in X; [|lia]. apply P; [lia|]. destruct X as (i & H & Q & E).
    exists i; repeat split; auto; lia.
  - set (m := least (fst r) (snd r - 1) p) in *.
    assert (Low : forall i, inbox b i -> S i -> m <= nth l i 0).
    { intros i H Q. destruct (Z_le_dec m (nth l i 0)); [assumption|exfalso].
      pose proof (proj2 (proj1 (inbox_nth b i) H) l L) as N. fold r in N.
      specialize (C (nth l i 0) ltac:(lia)).
      assert (p (nth l i 0) = true) by (apply P; [lia|]; exists i; repeat split; auto; lia). congruence. }
    split; [|assumption]. apply P in B; [|lia]. destruct B as (i & H & Q & E).
    exists i. repeat split; auto. specialize (Low i H Q). lia.
Qed.

Lemma highest_spec : forall l, (l < length b)%nat ->
  (exists i, inbox b i /\ S i /\ nth l i 0 = highest b l) /\
  (forall i, inbox b i -> S i -> nth l i 0 <= highest b l).
Proof.
  intros l L. unfold highest. set (r := nth l b (0, 0)).
  set (p := fun t => ask (set_range l (- t, snd r) b)).
  assert (P : forall t, 1 - snd r <= t <= - fst r ->
              (p t = true <-> exists i, inbox b i /\ S i /\ - t <= nth l i 0)).
  { intros t T. unfold p. rewrite ask_ok by (apply set_range_within; simpl; fold r; lia). split.
    - intros (i & H & Q). apply set_range_inbox in H; simpl; fold r; try lia; try assumption.
      exists i. simpl in H. split; [tauto|]. split; [assumption|lia].
    - intros (i & H & Q & E). exists i. split; [|assumption].
      apply set_range_inbox; simpl; fold r; try lia; try assumption.
      split; [assumption|]. pose proof (proj2 (proj1 (inbox_nth b i) H) l L) as N. fold r in N. lia. }
  destruct some as (i0 & H0 & Q0).
  pose proof (proj2 (proj1 (inbox_nth b i0) H0) l L) as N0. fold r in N0.
  destruct (least_spec (1 - snd r) (- fst r) p) as (A & B & C).
  - lia.
  - apply P; [lia|]. exists i0. split; [assumption|]. split; [assumption|lia].
  - intros s t Hs Ht X. apply P in X; [|lia]. apply P; [lia|]. destruct X as (i & H & Q & E).
    exists i; repeat split; auto; lia.
  - set (m := least (1 - snd r) (- fst r) p) in *.
    assert (High : forall i, inbox b i -> S i -> nth l i 0 <= - m).
    { intros i H Q. destruct (Z_le_dec (nth l i 0) (- m)); [assumption|exfalso].
      pose proof (proj2 (proj1 (inbox_nth b i) H) l L) as N. fold r in N.
      specialize (C (- nth l i 0) ltac:(lia)).
      assert (p (- nth l i 0) = true) by (apply P; [lia|]; exists i; repeat split; auto; lia). congruence. }
    split; [|assumption]. apply P in B; [|lia]. destruct B as (i & H & Q & E).
    exists i. repeat split; auto. specialize (High i H Q). lia.
Qed.

(** The bounding box holds the set, ... *)
Lemma bounding_holds : forall i, inbox b i -> S i -> inbox (bounding b) i.
Proof.
  intros i H Q. apply inbox_nth. rewrite bounding_length. split; [apply inbox_length; assumption|].
  intros l L. rewrite bounding_nth by assumption. simpl.
  pose proof (proj2 (lowest_spec l L) i H Q). pose proof (proj2 (highest_spec l L) i H Q). lia.
Qed.

(** ... lies in every box that holds it, ... *)
Lemma bounding_smallest : forall c, (forall i, inbox b i -> S i -> inbox c i) -> within (bounding b) c.
Proof.
  intros c H. destruct some as (i0 & H0 & Q0).
  assert (Lc : length b = length c).
  { pose proof (inbox_length _ _ H0). pose proof (inbox_length _ _ (H _ H0 Q0)). congruence. }
  apply nth_within; rewrite bounding_length; [assumption|]. intros l L. rewrite bounding_nth by assumption. simpl.
  destruct (proj1 (lowest_spec l L)) as (i & Hi & Qi & Ei). destruct (proj1 (highest_spec l L)) as (j & Hj & Qj & Ej).
  pose proof (proj2 (proj1 (inbox_nth c i) (H i Hi Qi)) l ltac:(lia)).
  pose proof (proj2 (proj1 (inbox_nth c j) (H j Hj Qj)) l ltac:(lia)). lia.
Qed.

Lemma bounding_within : within (bounding b) b.
Proof. apply bounding_smallest. auto. Qed.

Lemma bounding_solid : solid (bounding b).
Proof. destruct some as (i & H & Q). apply inbox_solid with i. apply bounding_holds; assumption. Qed.

(** ... so that the set is a box exactly if it fills its bounding box. *)
Theorem box_iff_fills : (exists c, forall i, inbox b i -> (S i <-> inbox c i)) <-> (forall i, inbox (bounding b) i ->
  S i).
Proof.
  split.
  - intros (c & H) i Hi.
    pose proof (inbox_within _ _ _ bounding_within Hi) as Bi. apply H; [assumption|].
    apply inbox_within with (bounding b); [|assumption].
    apply bounding_smallest. intros j Hj Qj. apply H; assumption.
  - intros H. exists (bounding b). intros i Hi. split; [apply bounding_holds; assumption|apply H].
Qed.

End Bounding.
