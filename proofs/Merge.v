(** The exact merge: bounding box of the composed valid set, is it a box, pattern test, assemble.

    Everything is asked of one decision procedure for bounded linear equations; any that decides them will do. *)

From Coq Require Import ZArith Lia List Bool.
From Shapetracker Require Import View Criterion Overflow Equation Bounding.
Import ListNotations.
Open Scope Z_scope.

(** * Holes: an index whose digits are not all in their valid ranges *)

(** The ways to lie outside a mask: one digit below its range or above it, all others free. *)
Fixpoint outside (ss : list Z) (m : box) : list box :=
  match ss, m with
  | s :: ss', r :: m' =>
      ((0, fst r) :: whole ss') :: ((snd r, s) :: whole ss') :: map (cons (0, s)) (outside ss' m')
  | _, _ => []
  end.

Lemma outside_iff : forall ss m d, within m (whole ss) -> inbox (whole ss) d ->
  (~ inbox m d <-> exists iv, In iv (outside ss m) /\ inbox iv d).
Proof.
  induction ss as [|s ss IH]; intros m d W H; inversion W as [|r ? m' ? W1 W2]; subst; destruct d as [|x d];
    simpl in *; try tauto.
  - split; [tauto|]. intros (iv & [] & _).
  - destruct H as [H1 H2]. specialize (IH m' d W2 H2). split.
    + intros N. destruct (Z_lt_dec x (fst r)) as [L|L].
      { exists ((0, fst r) :: whole ss). split; [left; reflexivity|]. simpl. split; [lia|assumption]. }
      destruct (Z_le_dec (snd r) x) as [U|U].
      { exists ((snd r, s) :: whole ss). split; [right; left; reflexivity|]. simpl. split; [lia|assumption]. }
      destruct (proj1 IH) as (iv & I & J). { intros X. apply N. split; [lia|assumption]. }
      exists ((0, s) :: iv). split; [right; right; apply in_map; assumption|]. simpl. split; [lia|assumption].
    + intros (iv & [<-|[<-|I]] & J) [X Y]; simpl in J.
      * lia.
      * lia.
      * apply in_map_iff in I. destruct I as (iv' & <- & I). simpl in J. apply (proj2 IH); [|assumption].
        exists iv'. tauto.
Qed.

Lemma outside_within : forall ss m iv, within m (whole ss) -> Forall (fun r : range => fst r <= snd r) m ->
  Forall (fun s => 0 <= s) ss -> In iv (outside ss m) -> within iv (whole ss).
Proof.
  induction ss as [|s ss IH]; intros m iv W F P H; inversion W as [|r ? m' ? W1 W2]; subst; simpl in *; [tauto|].
  inversion F; inversion P; subst. simpl in *.
  destruct H as [<-|[<-|H]].
  - constructor; simpl; [lia|apply within_refl].
  - constructor; simpl; [lia|apply within_refl].
  - apply in_map_iff in H. destruct H as (iv' & <- & H). constructor; simpl; [lia|]. eapply IH; eauto.
Qed.

(** * The procedure *)

Section Procedure.

Variable solver : list term -> Z -> bool.

(** Does some index of the box [b] of [B] have digits in the intervals [iv]?  Asked as an equation. *)
Definition ask (A B : view) (b iv : box) : bool :=
  solver (question_terms (sizes A) (strides B) b iv) (question_target (sizes A) (offset B) (strides B) b iv).

(** The indices at which steps along axis [l] start, on the way on which the position grows. *)
Definition starts (B : view) (b : box) (l : nat) : box :=
  let r := nth l b (0, 0) in
  if 0 <=? nth l (strides B) 0 then set_range l (fst r, snd r - 1) b else set_range l (fst r + 1, snd r) b.

(** The pattern test of one axis: no step has a pattern that moves the address unlike the first step. *)
Definition even_axis (A B : view) (b : box) (l : nat) : bool :=
  let a := Z.abs (nth l (strides B) 0) in
  let alpha := unravel (sizes A) a in
  let from := starts B b l in
  let first := delta (sizes A) (strides A) alpha (pattern (sizes A) a (affine B (corner from))) in
  forallb (fun p => if delta (sizes A) (strides A) alpha p =? first then true
                    else negb (ask A B from (intervals (sizes A) alpha p)))
          (patterns (sizes A) alpha).

(** The address by both affine formulas, valid or not. *)
Definition address (A B : view) (i : index) : Z := affine A (unravel (sizes A) (affine B i)).

Definition solidb (b : box) : bool := forallb (fun r : range => fst r <? snd r) b.

(** The single view that does what [A] and [B] do, or [None] if there is none. *)
Definition merge (A B : view) : option view :=
  if negb (live A) || negb (live B) || negb (solidb (mask B)) then Some (nothing (sizes B))
  else if negb (ask A B (mask B) (mask A)) then Some (nothing (sizes B))
  else
    let b := bounding (fun c => ask A B c (mask A)) (mask B) in
    if existsb (ask A B b) (outside (sizes A) (mask A)) then None
    else if forallb (even_axis A B b) (seq 0 (length b)) then Some (assemble (sizes B) b (address A B))
    else None.

(** * Why it is right *)

Hypothesis solver_decides : decides solver.

Section Pair.

Variables A B : view.
Hypothesis wfA : wf A.
Hypothesis wfB : wf B.
Hypothesis fit : fits A B.
Hypothesis liveA : live A = true.
Hypothesis liveB : live B = true.
Hypothesis posA : positives (sizes A).

Lemma mask_length : length (strides B) = length (mask B).
Proof. unfold strides, mask. rewrite !map_length. reflexivity. Qed.

Lemma within_inside : forall b i, within b (mask B) -> inbox b i -> valid B i.
Proof. intros b i W H. split; [assumption|]. eapply inbox_within; eassumption. Qed.

(** The question means what it says. *)
Lemma ask_iff : forall b iv, within b (mask B) -> within iv (whole (sizes A)) ->
  (ask A B b iv = true <-> exists i, inbox b i /\ inbox iv (unravel (sizes A) (affine B i))).
Proof.
  intros b iv W V. unfold ask. rewrite (solver_decides _ _). rewrite <- question_is_equation; auto.
  - reflexivity.
  - rewrite mask_length. symmetry. eapply Forall2_length. exact W.
  - intros i H. apply fit. eapply within_inside; eassumption.
Qed.

(** The composed valid set, as a set of indices of [B]. *)
Definition composed (i : index) : Prop := inbox (mask A) (unravel (sizes A) (affine B i)).

Lemma composed_iff : forall i, compose A B i <> None <-> inbox (mask B) i /\ composed i.
Proof.
  intros i. unfold compose. destruct (validb B i) eqn:E.
  - rewrite read_valid by (apply validb_iff; assumption). apply validb_iff in E. destruct E as [_ E].
    unfold composed. destruct (validb A (unravel (sizes A) (affine B i))) eqn:F.
    + rewrite read_valid by (apply validb_iff; assumption). apply validb_iff in F. destruct F as [_ F].
      intuition discriminate.
    + rewrite read_invalid by (apply validb_false; assumption). apply validb_false in F.
      split; [congruence|]. intros [_ X]. exfalso. apply F. split; assumption.
  - rewrite read_invalid by (apply validb_false; assumption). apply validb_false in E.
    split; [congruence|]. intros [X _]. exfalso. apply E. split; assumption.
Qed.

Lemma composed_value : forall i, inbox (mask B) i -> composed i -> compose A B i = Some (address A B i).
Proof.
  intros i H C. unfold compose. rewrite read_valid by (split; assumption). apply read_valid. split; assumption.
Qed.

Lemma mask_A_within : within (mask A) (whole (sizes A)).
Proof. apply mask_within_whole. assumption. Qed.

(** A step along an axis, as a step up in positions: a pattern tells how far it moves the address. *)
Lemma step_up : forall b l i, within b (mask B) -> 0 <= nth l (strides B) 0 ->
  inbox b i -> inbox b (bump l i) ->
  let a := Z.abs (nth l (strides B) 0) in
  let p := pattern (sizes A) a (affine B i) in
  address A B (bump l i) - address A B i = delta (sizes A) (strides A) (unravel (sizes A) a) p /\
  In p (patterns (sizes A) (unravel (sizes A) a)).
Proof.
  intros b l i W Ha H H' a p.
  assert (Li : length (strides B) = length i).
  { rewrite mask_length. symmetry. eapply inbox_length. eapply inbox_within; eassumption. }
  assert (E : affine B (bump l i) = affine B i + a).
  { unfold affine. rewrite dot_bump by assumption. unfold a. lia. }
  pose proof (fit i (within_inside _ _ W H)). pose proof (fit _ (within_inside _ _ W H')). rewrite E in *.
  split.
  - unfold address. rewrite E. apply step_depends_on_pattern. assumption.
  - apply patterns_complete; try assumption; try lia.
Qed.

Lemma step_down : forall b l i, within b (mask B) -> nth l (strides B) 0 < 0 ->
  inbox b i -> inbox b (bump l i) ->
  let a := Z.abs (nth l (strides B) 0) in
  let p := pattern (sizes A) a (affine B (bump l i)) in
  address A B i - address A B (bump l i) = delta (sizes A) (strides A) (unravel (sizes A) a) p /\
  In p (patterns (sizes A) (unravel (sizes A) a)).
Proof.
  intros b l i W Ha H H' a p.
  assert (Li : length (strides B) = length i).
  { rewrite mask_length. symmetry. eapply inbox_length. eapply inbox_within; eassumption. }
  assert (E : affine B i = affine B (bump l i) + a).
  { unfold affine. rewrite dot_bump by assumption. unfold a. lia. }
  pose proof (fit i (within_inside _ _ W H)). pose proof (fit _ (within_inside _ _ W H')). rewrite E in *.
  split.
  - unfold address. rewrite E. apply step_depends_on_pattern. assumption.
  - apply patterns_complete; try assumption; try lia.
Qed.

Lemma bump_inbox : forall b l i, (l < length b)%nat ->
  (inbox b i /\ inbox b (bump l i) <->
   length i = length b /\ inbox b i /\ nth l i 0 + 1 < snd (nth l b (0, 0))).
Proof.
  intros b l i L. split.
  - intros [H H']. pose proof (inbox_length _ _ H). split; [assumption|]. split; [assumption|].
    pose proof (proj2 (proj1 (inbox_nth _ _) H') l L) as N. rewrite bump_nth in N by lia. rewrite Nat.eqb_refl in N.
    lia.
  - intros (Li & H & N). split; [assumption|]. apply inbox_nth. rewrite bump_length. split; [assumption|].
    intros k K. rewrite bump_nth by lia. pose proof (proj2 (proj1 (inbox_nth _ _) H) k K).
    destruct (Nat.eqb_spec k l); [subst; lia|lia].
Qed.

(** Starts of steps up are the indices with a step left; for a negative stride, those that a step leads to. *)
Lemma starts_up : forall b l i, (l < length b)%nat -> 0 <= nth l (strides B) 0 ->
  (inbox (starts B b l) i <-> inbox b i /\ inbox b (bump l i)).
Proof.
  intros b l i L Ha. unfold starts. rewrite (proj2 (Z.leb_le _ _) Ha).
  rewrite set_range_inbox by (simpl; auto; lia). simpl. rewrite bump_inbox by assumption. split.
  - intros [H N]. split; [apply inbox_length; assumption|]. split; [assumption|lia].
  - intros (Li & H & N). split; [assumption|]. pose proof (proj2 (proj1 (inbox_nth _ _) H) l L). lia.
Qed.

Fixpoint drop (l : nat) (i : index) : index :=
  match i, l with
  | [], _ => []
  | x :: r, O => x - 1 :: r
  | x :: r, S l' => x :: drop l' r
  end.

Lemma bump_drop : forall i l, bump l (drop l i) = i.
Proof. induction i; destruct l; simpl; auto; [f_equal; lia|f_equal; apply IHi]. Qed.

Lemma drop_length : forall i l, length (drop l i) = length i.
Proof. induction i; destruct l; simpl; auto. Qed.

Lemma drop_nth : forall i l k, (l < length i)%nat ->
  nth k (drop l i) 0 = nth k i 0 - (if Nat.eqb k l then 1 else 0).
Proof. induction i; destruct l; destruct k; simpl; intros; try lia. apply IHi; lia. Qed.

Lemma starts_down : forall b l i, (l < length b)%nat -> nth l (strides B) 0 < 0 ->
  (inbox (starts B b l) i <-> exists j, i = bump l j /\ inbox b j /\ inbox b (bump l j)).
Proof.
  intros b l i L Ha. unfold starts. rewrite (proj2 (Z.leb_gt _ _) Ha).
  rewrite set_range_inbox by (simpl; auto; lia). simpl. split.
  - intros [H N]. exists (drop l i). rewrite bump_drop. split; [reflexivity|]. split; [|assumption].
    pose proof (inbox_length _ _ H) as Li. apply inbox_nth. rewrite drop_length. split; [assumption|].
    intros k K. rewrite drop_nth by lia. pose proof (proj2 (proj1 (inbox_nth _ _) H) k K).
    destruct (Nat.eqb_spec k l); [subst; lia|lia].
  - intros (j & -> & H & H'). split; [assumption|].
    pose proof (inbox_length _ _ H) as Lj. rewrite bump_nth by lia. rewrite Nat.eqb_refl.
    pose proof (proj2 (proj1 (inbox_nth _ _) H) l L).
    pose proof (proj2 (proj1 (inbox_nth _ _) H') l L) as N. rewrite bump_nth in N by lia. rewrite Nat.eqb_refl in N.
    lia.
Qed.

Lemma starts_within : forall b l, within (starts B b l) b.
Proof. intros b l. unfold starts. destruct (0 <=? _); apply set_range_within; simpl; lia. Qed.

(** The pattern test, as a statement: no start of a step along the axis has digits in the intervals of a pattern that
    moves the address unlike the first step. *)
Definition no_other_pattern (b : box) (l : nat) : Prop :=
  let a := Z.abs (nth l (strides B) 0) in
  let alpha := unravel (sizes A) a in
  let from := starts B b l in
  let first := delta (sizes A) (strides A) alpha (pattern (sizes A) a (affine B (corner from))) in
  forall p, In p (patterns (sizes A) alpha) -> delta (sizes A) (strides A) alpha p <> first ->
  ~ exists i, inbox from i /\ inbox (intervals (sizes A) alpha p) (unravel (sizes A) (affine B i)).

(** Steps along an axis are even exactly if no other pattern is attained. *)
Theorem even_iff_no_other_pattern : forall b l, within b (mask B) -> (l < length b)%nat ->
  (even_along b (address A B) l <-> no_other_pattern b l).
Proof.
  intros b l W L. unfold no_other_pattern.
  set (a := Z.abs (nth l (strides B) 0)). set (alpha := unravel (sizes A) a).
  set (from := starts B b l).
  set (first := delta (sizes A) (strides A) alpha (pattern (sizes A) a (affine B (corner from)))).
  destruct (Z_le_dec 0 (nth l (strides B) 0)) as [U|U].
  - split.
    + intros E p Ip D (i & Hi & Di).
      assert (Hc : inbox from (corner from)) by (apply corner_inbox; eapply inbox_solid; exact Hi).
      apply starts_up in Hi; try assumption. apply starts_up in Hc; try assumption.
      destruct Hi as [Hi Hi'], Hc as [Hc Hc'].
      pose proof (E _ _ Hi Hi' Hc Hc') as Q.
      destruct (step_up b l i W U Hi Hi') as [Qi _]. destruct (step_up b l _ W U Hc Hc') as [Qc _].
      fold a alpha in Qi, Qc. apply pattern_iff_digits in Di; [|assumption|].
      2:{ apply filter_In in Ip. eapply candidates_length; [|apply Ip]. apply unravel_length. }
      rewrite Di in Qi. apply D. unfold first. lia.
    + intros N.
      assert (Q : forall i, inbox b i -> inbox b (bump l i) -> address A B (bump l i) - address A B i = first).
      { intros i Hi Hi'. destruct (step_up b l i W U Hi Hi') as [Qi Ii]. fold a alpha in Qi, Ii.
        destruct (Z.eq_dec (delta (sizes A) (strides A) alpha (pattern (sizes A) a (affine B i))) first) as [Y|Y];
          [lia|].
        exfalso. apply (N _ Ii Y). exists i. split; [apply starts_up; auto|].
        apply pattern_iff_digits; [assumption|apply pattern_length|reflexivity]. }
      intros i j Hi Hi' Hj Hj'. rewrite (Q i), (Q j) by assumption. reflexivity.
  - apply Z.nle_gt in U. split.
    + intros E p Ip D (i & Hi & Di).
      assert (Hc : inbox from (corner from)) by (apply corner_inbox; eapply inbox_solid; exact Hi).
      apply starts_down in Hi; try assumption. apply starts_down in Hc; try assumption.
      destruct Hi as (i' & -> & Hi & Hi'), Hc as (c & Ec & Hc & Hc').
      pose proof (E _ _ Hi Hi' Hc Hc') as Q.
      destruct (step_down b l _ W U Hi Hi') as [Qi _]. destruct (step_down b l _ W U Hc Hc') as [Qc _].
      fold a alpha in Qi, Qc. apply pattern_iff_digits in Di; [|assumption|].
      2:{ apply filter_In in Ip. eapply candidates_length; [|apply Ip]. apply unravel_length. }
      rewrite Di in Qi. apply D. unfold first. rewrite Ec. lia.
    + intros N.
      assert (Q : forall i, inbox b i -> inbox b (bump l i) -> address A B i - address A B (bump l i) = first).
      { intros i Hi Hi'. destruct (step_down b l i W U Hi Hi') as [Qi Ii]. fold a alpha in Qi, Ii.
        destruct (Z.eq_dec (delta (sizes A) (strides A) alpha (pattern (sizes A) a (affine B (bump l i)))) first) as
          [Y|Y]; [lia|].
        exfalso. apply (N _ Ii Y). exists (bump l i). split; [apply starts_down; auto; exists i; auto|].
        apply pattern_iff_digits; [assumption|apply pattern_length|reflexivity]. }
      intros i j Hi Hi' Hj Hj'. pose proof (Q i Hi Hi'). pose proof (Q j Hj Hj'). lia.
Qed.

Lemma even_axis_iff : forall b l, within b (mask B) -> (even_axis A B b l = true <-> no_other_pattern b l).
Proof.
  intros b l W. unfold even_axis, no_other_pattern.
  set (a := Z.abs (nth l (strides B) 0)). set (alpha := unravel (sizes A) a).
  set (from := starts B b l).
  set (first := delta (sizes A) (strides A) alpha (pattern (sizes A) a (affine B (corner from)))).
  assert (K : forall p, In p (patterns (sizes A) alpha) ->
     (ask A B from (intervals (sizes A) alpha p) = true <->
      exists i, inbox from i /\ inbox (intervals (sizes A) alpha p) (unravel (sizes A) (affine B i)))).
  { intros p Ip. apply ask_iff.
    - eapply within_trans; [apply starts_within|exact W].
    - apply intervals_within; [assumption|]. apply filter_In in Ip. eapply candidates_length; [|apply Ip].
      apply unravel_length. }
  rewrite forallb_forall. split.
  - intros H p Ip D X. specialize (H p Ip). apply Z.eqb_neq in D. rewrite D in H.
    apply K in X; [|assumption]. rewrite X in H. discriminate.
  - intros H p Ip. destruct (Z.eqb_spec (delta (sizes A) (strides A) alpha p) first) as [D|D]; [reflexivity|].
    apply negb_true_iff. destruct (ask A B from (intervals (sizes A) alpha p)) eqn:Q; [|reflexivity].
    exfalso. apply (H p Ip D). apply K; assumption.
Qed.

(** Past the last axis there are no steps. *)
Lemma even_past : forall b F l, (length b <= l)%nat -> even_along b F l.
Proof.
  intros b F l L i j Hi _ Hj _. pose proof (inbox_length _ _ Hi). pose proof (inbox_length _ _ Hj).
  rewrite !bump_past by lia. lia.
Qed.

Lemma forallb_even : forall b, within b (mask B) ->
  (forallb (even_axis A B b) (seq 0 (length b)) = true <-> even b (address A B)).
Proof.
  intros b W. rewrite forallb_forall. split.
  - intros H l. destruct (Nat.lt_ge_cases l (length b)) as [L|L]; [|apply even_past; assumption].
    apply even_iff_no_other_pattern; [assumption|assumption|]. apply even_axis_iff; [assumption|]. apply H.
    apply in_seq. lia.
  - intros H l I. apply in_seq in I. apply even_axis_iff; [assumption|].
    apply even_iff_no_other_pattern; [assumption|lia|]. apply H.
Qed.

(** The test for holes finds one exactly if the box is not all valid. *)
Lemma holes_iff : forall b, within b (mask B) ->
  (existsb (ask A B b) (outside (sizes A) (mask A)) = true <-> exists i, inbox b i /\ ~ composed i).
Proof.
  intros b W. rewrite existsb_exists.
  assert (F : Forall (fun r : range => fst r <= snd r) (mask A)).
  { unfold mask. apply Forall_forall. intros r R. apply in_map_iff in R. destruct R as (x & <- & R).
    unfold wf in wfA. rewrite Forall_forall in wfA. specialize (wfA x R). unfold wf_axis in wfA. simpl; lia. }
  assert (P : Forall (fun s => 0 <= s) (sizes A)) by (apply wf_sizes; assumption).
  split.
  - intros (iv & I & Q). apply ask_iff in Q; [|assumption|eapply outside_within; eauto using mask_A_within].
    destruct Q as (i & H & D). exists i. split; [assumption|]. unfold composed.
    apply outside_iff with (ss := sizes A); [apply mask_A_within|apply unravel_inbox; assumption|]. exists iv; auto.
  - intros (i & H & N). unfold composed in N.
    apply outside_iff with (ss := sizes A) in N; [|apply mask_A_within|apply unravel_inbox; assumption].
    destruct N as (iv & I & D). exists iv. split; [assumption|].
    apply ask_iff; [assumption|eapply outside_within; eauto using mask_A_within|]. exists i; auto.
Qed.

End Pair.

(** Nothing is read where [B] has no valid index. *)
Lemma compose_nothing : forall A B, (forall i, ~ (valid B i /\ valid A (unravel (sizes A) (affine B i)))) ->
  forall i, compose A B i = None.
Proof.
  intros A B H i. unfold compose. destruct (validb B i) eqn:E.
  - rewrite read_valid by (apply validb_iff; assumption). apply read_invalid. intros V. apply (H i).
    split; [apply validb_iff; assumption|assumption].
  - rewrite read_invalid by (apply validb_false; assumption). reflexivity.
Qed.

Lemma nothing_is_view : forall ss f, Forall (fun s => 0 <= s) ss -> (forall i, f i = None) -> is_view ss f (nothing ss).
Proof.
  intros ss f P H. split; [apply nothing_wf; assumption|]. split; [apply nothing_sizes|].
  intros i _. rewrite H. apply nothing_read.
Qed.

Lemma solidb_iff : forall b, solidb b = true <-> solid b.
Proof.
  intros b. unfold solidb, solid. rewrite forallb_forall, Forall_forall. split; intros H r R; apply Z.ltb_lt; auto.
Qed.

(** A shape that has a position has no size 0. *)
Lemma positive_of_numel : forall ss, Forall (fun s => 0 <= s) ss -> 0 < numel ss -> positives ss.
Proof.
  induction 1; simpl; intros; constructor.
  - destruct (Z.eq_dec x 0); [subst; lia|lia].
  - apply IHForall. assert (x <> 0) by (intros ->; lia). nia.
Qed.

(** The procedure is right: what it returns is a canonical view that reads what the pair reads, and it returns one
    exactly if there is one.  It holds for all well-formed views with [B] reading inside [A]: any offsets, negative
    and zero strides, masks, size 0, rank 0. *)
Theorem merge_correct : forall A B, wf A -> wf B -> fits A B ->
  match merge A B with
  | Some C => is_view (sizes B) (compose A B) C /\ canonical C
  | None => ~ mergeable A B
  end.
Proof.
  intros A B wfA wfB fit. unfold merge.
  pose proof (wf_sizes B wfB) as ZB.
  assert (EMPTY : (forall i, compose A B i = None) ->
                  is_view (sizes B) (compose A B) (nothing (sizes B)) /\ canonical (nothing (sizes B))).
  { intros H. split; [apply nothing_is_view; assumption|]. left. rewrite nothing_sizes. reflexivity. }
  destruct (live A) eqn:LA; simpl.
  2:{ apply EMPTY. apply compose_nothing. intros i [_ [X _]]. congruence. }
  destruct (live B) eqn:LB; simpl.
  2:{ apply EMPTY. apply compose_nothing. intros i [[X _] _]. congruence. }
  destruct (solidb (mask B)) eqn:SB; simpl.
  2:{ apply EMPTY. apply compose_nothing. intros i [[_ X] _]. apply inbox_solid in X. apply solidb_iff in X.
  congruence. }
  apply solidb_iff in SB.
  assert (PA : positives (sizes A)).
  { apply positive_of_numel; [apply wf_sizes; assumption|].
    pose proof (fit (corner (mask B)) (conj LB (corner_inbox _ SB))). lia. }
  pose proof (ask_iff A B fit LB PA) as ASK.
  pose proof (mask_A_within A wfA) as WA.
  destruct (ask A B (mask B) (mask A)) eqn:Q; simpl.
  2:{ apply EMPTY. apply compose_nothing. intros i [[_ X] [_ Y]].
      assert (ask A B (mask B) (mask A) = true) by (apply ASK; [apply within_refl|assumption|exists i; auto]).
      congruence. }
  set (asked := fun c => ask A B c (mask A)).
  set (b := bounding asked (mask B)).
  assert (AO : forall c, within c (mask B) -> (asked c = true <-> exists i, inbox c i /\ composed A B i)).
  { intros c Wc. apply ASK; assumption. }
  assert (SO : exists i, inbox (mask B) i /\ composed A B i) by (apply AO; [apply within_refl|exact Q]).
  pose proof (bounding_within asked (composed A B) (mask B) AO SO) as Wb. fold b in Wb.
  pose proof (bounding_solid asked (composed A B) (mask B) AO SO) as Sb. fold b in Sb.
  pose proof (box_iff_fills asked (composed A B) (mask B) AO SO) as BF. fold b in BF.
  pose proof (fun i => bounding_holds asked (composed A B) (mask B) AO SO i) as BH. fold b in BH.
  pose proof (holes_iff A B wfA fit LB PA b Wb) as HO.
  pose proof (forallb_even A B fit LB PA b Wb) as EV.
  assert (WW : within b (whole (sizes B))) by (eapply within_trans; [exact Wb|apply mask_within_whole; assumption]).
  pose proof (single_view_criterion (sizes B) (compose A B) ZB) as CRIT.
  assert (NOTEMPTY : ~ forall i, inbox (whole (sizes B)) i -> compose A B i = None).
  { intros N. destruct SO as (i & H & C).
    specialize (N i (valid_inside _ _ wfB (conj LB H))). rewrite (composed_value A B LA LB i H C) in N. discriminate. }
  (* A single view's mask is the bounding box. *)
  assert (SAME : forall c, within c (whole (sizes B)) ->
     (forall i, inbox (whole (sizes B)) i -> (compose A B i <> None <-> inbox c i)) ->
     (forall i, inbox b i -> composed A B i) /\ forall i, inbox b i <-> inbox c i).
  { intros c Wc Hc.
    assert (M : forall i, inbox (mask B) i -> (composed A B i <-> inbox c i)).
    { intros i H. rewrite <- Hc by (eapply valid_inside; [exact wfB|split; assumption]).
      rewrite (composed_iff A B LA LB). tauto. }
    assert (FILL : forall i, inbox b i -> composed A B i) by (apply BF; exists c; exact M).
    split; [exact FILL|]. intros i. split; intros H.
    - apply M; [eapply inbox_within; eassumption|apply FILL; assumption].
    - assert (X : compose A B i <> None) by (apply Hc; [eapply inbox_within; eassumption|assumption]).
      apply (composed_iff A B LA LB) in X. apply BH; tauto. }
  destruct (existsb (ask A B b) (outside (sizes A) (mask A))) eqn:OUT.
  - intros SV. apply CRIT in SV. destruct SV as [N|(c & Wc & Sc & Hc & Ec)]; [contradiction|].
    destruct (SAME c Wc Hc) as [FILL _]. destruct (proj1 HO eq_refl) as (i & H & N). apply N, FILL, H.
  - assert (FILL : forall i, inbox b i -> composed A B i).
    { intros i H. destruct (inboxb (mask A) (unravel (sizes A) (affine B i))) eqn:X; [apply inboxb_iff; exact X|].
      apply inboxb_false in X. exfalso. assert (Y : false = true) by (apply HO; exists i; split; assumption).
      discriminate. }
    assert (VAL : forall i, inbox b i -> compose A B i = Some (address A B i)).
    { intros i H. apply composed_value; auto. eapply inbox_within; eassumption. }
    destruct (forallb (even_axis A B b) (seq 0 (length b))) eqn:E.
    + pose proof (proj1 EV eq_refl) as E'. split; [|apply assemble_canonical; assumption].
      split; [apply assemble_wf; assumption|]. split; [apply assemble_sizes; assumption|].
      intros i I. rewrite assemble_read by assumption. destruct (inboxb b i) eqn:X.
      * apply inboxb_iff in X. symmetry. apply VAL. assumption.
      * apply inboxb_false in X. destruct (compose A B i) eqn:Y; [|reflexivity]. exfalso. apply X.
        assert (Y' : compose A B i <> None) by congruence. apply (composed_iff A B LA LB) in Y'. apply BH; tauto.
    + intros SV. apply CRIT in SV. destruct SV as [N|(c & Wc & Sc & Hc & Ec)]; [contradiction|].
      destruct (SAME c Wc Hc) as [_ EQ].
      assert (even b (address A B)).
      { intros l i j Hi Hi' Hj Hj'.
        assert (V : forall k, inbox b k -> value (compose A B) k = address A B k).
        { intros k K. unfold value. rewrite VAL by assumption. reflexivity. }
        rewrite <- !V by assumption. apply (Ec l); apply EQ; assumption. }
      apply EV in H. discriminate.
Qed.

(** It answers a view exactly if the pair is mergeable. *)
Theorem merge_complete : forall A B, wf A -> wf B -> fits A B -> (mergeable A B <-> exists C, merge A B = Some C).
Proof.
  intros A B wfA wfB fit. pose proof (merge_correct A B wfA wfB fit) as H. destruct (merge A B) as [C|].
  - split; [exists C; reflexivity|]. intros _. exists C. apply H.
  - split; [intros M; contradiction|intros (C & E); discriminate].
Qed.

(** The view that it answers is the only canonical one that will do. *)
Theorem merge_unique : forall A B C D, wf A -> wf B -> fits A B -> merge A B = Some C ->
  is_view (sizes B) (compose A B) D -> canonical D -> D = C.
Proof.
  intros A B C D wfA wfB fit E (WD & ZD & RD) CD. pose proof (merge_correct A B wfA wfB fit) as H. rewrite E in H.
  destruct H as [(WC & ZC & RC) CC]. apply canonical_unique; auto; [congruence|].
  intros i I. rewrite ZD in I. rewrite RD, RC by assumption. reflexivity.
Qed.

(** Being mergeable does not depend on how a view without valid indices is written, so it is decidable. *)
Corollary mergeable_decidable : forall A B, wf A -> wf B -> fits A B -> {mergeable A B} + {~ mergeable A B}.
Proof.
  intros A B wfA wfB fit. pose proof (merge_correct A B wfA wfB fit) as H. destruct (merge A B) as [C|].
  - left. exists C. apply H.
  - right. exact H.
Qed.

End Procedure.
