(** Evidence: what a "no" carries, and why it proves that no single view exists. *)

From Coq Require Import ZArith Lia List Bool.
From Shapetracker Require Import View Criterion Overflow Equation Bounding Merge Exact FastPath Reshape Solver.
Import ListNotations.
Open Scope Z_scope.

(** [k] lies between [i] and [j] on every axis. *)
Fixpoint between (i j k : index) : Prop :=
  match i, j, k with
  | [], [], [] => True
  | x :: i', y :: j', z :: k' => Z.min x y <= z <= Z.max x y /\ between i' j' k'
  | _, _, _ => False
  end.

(** A box holds all that lies between two of its members. *)
Theorem box_between : forall b i j k, inbox b i -> inbox b j -> between i j k -> inbox b k.
Proof.
  induction b as [|r b IH]; destruct i as [|x i], j as [|y j], k as [|z k]; simpl; try tauto.
  intros [H1 H2] [H3 H4] [H5 H6]. split; [lia|]. apply (IH i j k); assumption.
Qed.

(** A hole: two indices that are read and one between them that is not.  Then no single view will do. *)
Theorem hole_proves_no : forall A B i j k, wf A -> wf B ->
  reads A B i -> reads A B j -> between i j k -> ~ reads A B k -> ~ mergeable A B.
Proof.
  intros A B i j k WA WB Hi Hj Hb Hk M. apply mergeable_iff_box in M; try assumption.
  destruct M as [N|(b & _ & R & _)]; [exact (N i Hi)|]. apply Hk. apply R.
  apply (box_between b i j k); try apply R; assumption.
Qed.

(** Uneven steps: two steps along one axis, all four indices read, that move the address by different amounts. *)
Theorem uneven_proves_no : forall A B l i j w x y z,
  wf A -> wf B ->
  compose A B i = Some w -> compose A B (bump l i) = Some x ->
  compose A B j = Some y -> compose A B (bump l j) = Some z ->
  x - w <> z - y -> ~ mergeable A B.
Proof.
  intros A B l i j w x y z WA WB Ei Ei' Ej Ej' D (C & W & S & R).
  assert (IN : forall k v, compose A B k = Some v -> read C k = Some v).
  { intros k v E. rewrite R; [assumption|]. eapply valid_inside; [exact WB|].
    assert (H : reads A B k) by (unfold reads; congruence). apply reads_iff in H. apply H. }
  apply IN in Ei, Ei', Ej, Ej'. clear R IN. unfold read in *.
  destruct (validb C i) eqn:Vi, (validb C (bump l i)), (validb C j) eqn:Vj, (validb C (bump l j)); try discriminate.
  injection Ei; injection Ei'; injection Ej; injection Ej'; intros; subst. apply D. unfold affine.
  assert (L : forall k, validb C k = true -> length (strides C) = length k).
  { intros k V. apply validb_iff in V. destruct V as [_ V]. apply inbox_length in V. rewrite V. unfold strides, mask.
    rewrite !map_length. reflexivity. }
  rewrite !dot_bump by auto. lia.
Qed.

(** * Finding a hole between two members of a set *)

Fixpoint meet (i j : index) : index :=
  match i, j with x :: i', y :: j' => Z.min x y :: meet i' j' | _, _ => [] end.
Fixpoint joined (i j : index) : index :=
  match i, j with x :: i', y :: j' => Z.max x y :: joined i' j' | _, _ => [] end.

Lemma meet_facts : forall i j, length i = length j -> length (meet i j) = length i /\ between i j (meet i j) /\
  forall l, nth l (meet i j) 0 <= nth l i 0 /\ nth l (meet i j) 0 <= nth l j 0.
Proof.
  induction i as [|x i IH]; destruct j as [|y j]; simpl; intros L; try discriminate.
  - split; [reflexivity|]. split; [exact I|]. intros [|l]; lia.
  - destruct (IH j ltac:(congruence)) as (A & B & C). split; [congruence|]. split; [split; [lia|assumption]|].
    intros [|l]; [lia|apply C].
Qed.

Lemma joined_facts : forall i j, length i = length j -> length (joined i j) = length i /\ between i j (joined i j) /\
  forall l, nth l i 0 <= nth l (joined i j) 0 /\ nth l j 0 <= nth l (joined i j) 0.
Proof.
  induction i as [|x i IH]; destruct j as [|y j]; simpl; intros L; try discriminate.
  - split; [reflexivity|]. split; [exact I|]. intros [|l]; lia.
  - destruct (IH j ltac:(congruence)) as (A & B & C). split; [congruence|]. split; [split; [lia|assumption]|].
    intros [|l]; [lia|apply C].
Qed.

Lemma corners_between : forall b k, inbox b k -> between (corner b) (far b) k.
Proof.
  induction b as [|r b IH]; destruct k as [|x k]; simpl; try tauto. intros [H1 H2]. split; [lia|]. apply IH; assumption.
Qed.

Section Hole.

Variable S : index -> Prop.
Hypothesis S_dec : forall i, {S i} + {~ S i}.

Definition hole : Prop := exists i j k, S i /\ S j /\ between i j k /\ ~ S k.

(** The least of some members is a member, or two of them have a hole between them; and likewise the greatest. *)
Lemma meet_all : forall n ps m, S m -> length m = n -> Forall (fun p => S p /\ length p = n) ps ->
  hole \/ exists c, S c /\ length c = n /\ forall p, In p (m :: ps) -> forall l, nth l c 0 <= nth l p 0.
Proof.
  intros n ps. induction ps as [|p ps IH]; intros m Sm Lm F.
  - right. exists m. split; [assumption|]. split; [assumption|]. intros p [<-|[]] l. lia.
  - inversion F as [|? ? [Sp Lp] F']; subst.
    destruct (meet_facts m p ltac:(congruence)) as (L & B & C).
    destruct (S_dec (meet m p)) as [Y|N]; [|left; exists m, p, (meet m p); auto].
    destruct (IH (meet m p) Y ltac:(congruence) F') as [H|(c & Sc & Lc & H)]; [left; exact H|].
    right. exists c. split; [assumption|]. split; [assumption|].
    assert (Q : forall l, nth l c 0 <= nth l (meet m p) 0) by (intros l; apply H; left; reflexivity).
    intros q [<-|[<-|I]] l; [| |apply H; right; assumption]; specialize (Q l); specialize (C l); lia.
Qed.

Lemma joined_all : forall n ps m, S m -> length m = n -> Forall (fun p => S p /\ length p = n) ps ->
  hole \/ exists c, S c /\ length c = n /\ forall p, In p (m :: ps) -> forall l, nth l p 0 <= nth l c 0.
Proof.
  intros n ps. induction ps as [|p ps IH]; intros m Sm Lm F.
  - right. exists m. split; [assumption|]. split; [assumption|]. intros p [<-|[]] l. lia.
  - inversion F as [|? ? [Sp Lp] F']; subst.
    destruct (joined_facts m p ltac:(congruence)) as (L & B & C).
    destruct (S_dec (joined m p)) as [Y|N]; [|left; exists m, p, (joined m p); auto].
    destruct (IH (joined m p) Y ltac:(congruence) F') as [H|(c & Sc & Lc & H)]; [left; exact H|].
    right. exists c. split; [assumption|]. split; [assumption|].
    assert (Q : forall l, nth l (joined m p) 0 <= nth l c 0) by (intros l; apply H; left; reflexivity).
    intros q [<-|[<-|I]] l; [| |apply H; right; assumption]; specialize (Q l); specialize (C l); lia.
Qed.

(** If the bounding box of a set is not filled, two members have a non-member between them. *)
Theorem unfilled_has_hole : forall b, (forall i, S i -> inbox b i) -> (exists i, S i) ->
  (forall l, (l < length b)%nat -> exists i, S i /\ nth l i 0 = fst (nth l b (0, 0))) ->
  (forall l, (l < length b)%nat -> exists i, S i /\ nth l i 0 = snd (nth l b (0, 0)) - 1) ->
  (exists k, inbox b k /\ ~ S k) -> hole.
Proof.
  intros b IN [m Sm] LO HI (k & Hk & Nk).
  assert (LEN : forall i, S i -> length i = length b) by (intros i Hi; apply inbox_length, IN, Hi).
  assert (LIST : forall val : nat -> Z, (forall l, (l < length b)%nat -> exists i, S i /\ nth l i 0 = val l) ->
            forall n, (n <= length b)%nat -> exists ps, Forall (fun p => S p /\ length p = length b) ps /\
                      forall l, (l < n)%nat -> exists p, In p ps /\ nth l p 0 = val l).
  { intros val H. induction n as [|n IHn]; intros Hn.
    - exists []. split; [constructor|]. intros; lia.
    - destruct (IHn ltac:(lia)) as (ps & F & G). destruct (H n ltac:(lia)) as (p & Sp & Vp).
      exists (p :: ps). split; [constructor; auto|]. intros l Hl. destruct (Nat.eq_dec l n) as [->|Q].
      + exists p. split; [left; reflexivity|assumption].
      + destruct (G l ltac:(lia)) as (q & Iq & Vq). exists q. split; [right; assumption|assumption]. }
  destruct (LIST _ LO (length b) ltac:(lia)) as (ps & Fp & Gp).
  destruct (LIST _ HI (length b) ltac:(lia)) as (qs & Fq & Gq).
  destruct (meet_all (length b) ps m Sm (LEN m Sm) Fp) as [H|(c & Sc & Lc & Hc)]; [exact H|].
  destruct (joined_all (length b) qs m Sm (LEN m Sm) Fq) as [H|(d & Sd & Ld & Hd)]; [exact H|].
  assert (NC : forall l, nth l (corner b) 0 = fst (nth l b (0, 0))) by (intros l; exact (map_nth fst b (0, 0) l)).
  assert (Ec : c = corner b).
  { apply nth_ext with 0 0; [unfold corner; rewrite map_length; assumption|]. intros l Hl. rewrite NC. rewrite Lc in Hl.
    destruct (Gp l Hl) as (p & Ip & Vp). pose proof (Hc p (or_intror Ip) l).
    pose proof (proj2 (proj1 (inbox_nth _ _) (IN c Sc)) l Hl). lia. }
  assert (Ed : d = far b).
  { apply nth_ext with 0 (snd (0, 0) - 1); [unfold far; rewrite map_length; assumption|]. intros l Hl. rewrite Ld in Hl.
    unfold far. rewrite (map_nth (fun r => snd r - 1) b (0, 0) l).
    destruct (Gq l Hl) as (p & Ip & Vp). pose proof (Hd p (or_intror Ip) l).
    pose proof (proj2 (proj1 (inbox_nth _ _) (IN d Sd)) l Hl). lia. }
  exists c, d, k. split; [assumption|]. split; [assumption|]. split; [|assumption]. rewrite Ec, Ed.
  apply corners_between. assumption.
Qed.

End Hole.

(** Reading is decidable. *)
Lemma reads_dec : forall A B i, {reads A B i} + {~ reads A B i}.
Proof. intros A B i. unfold reads. destruct (compose A B i); [left; discriminate|right; congruence]. Qed.

(** Every "no" has one or the other as evidence: the two kinds of witness are complete. *)
Theorem no_has_evidence : forall A B, wf A -> wf B -> fits A B -> ~ mergeable A B ->
  (exists i j k, reads A B i /\ reads A B j /\ between i j k /\ ~ reads A B k) \/
  (exists l i j w x y z, compose A B i = Some w /\ compose A B (bump l i) = Some x /\
                         compose A B j = Some y /\ compose A B (bump l j) = Some z /\ x - w <> z - y).
Proof.
  intros A B wfA wfB fit NM.
  (* The procedure says which. *)
  pose proof (merge_correct enumerate enumerate_decides A B wfA wfB fit) as MC.
  unfold merge in MC. pose proof (nothing_read (sizes B)) as _.
  destruct (live A) eqn:LA; simpl in MC; [|exfalso; apply NM; exists (nothing (sizes B)); apply MC].
  destruct (live B) eqn:LB; simpl in MC; [|exfalso; apply NM; exists (nothing (sizes B)); apply MC].
  destruct (solidb (mask B)) eqn:SB; simpl in MC; [|exfalso; apply NM; exists (nothing (sizes B)); apply MC].
  apply solidb_iff in SB.
  assert (PA : positives (sizes A)).
  { apply positive_of_numel; [apply wf_sizes; assumption|].
    pose proof (fit (corner (mask B)) (conj LB (corner_inbox _ SB))). lia. }
  pose proof (ask_iff enumerate enumerate_decides A B fit LB PA) as ASK.
  pose proof (mask_A_within A wfA) as WA.
  destruct (ask enumerate A B (mask B) (mask A)) eqn:Q; simpl in MC; [|exfalso; apply NM; exists (nothing (sizes B));
    apply MC].
  set (asked := fun c => ask enumerate A B c (mask A)) in *.
  set (b := bounding asked (mask B)) in *.
  assert (AO : forall c, within c (mask B) -> (asked c = true <-> exists i, inbox c i /\ composed A B i)).
  { intros c Wc. apply ASK; assumption. }
  assert (SO : exists i, inbox (mask B) i /\ composed A B i) by (apply AO; [apply within_refl|exact Q]).
  pose proof (bounding_within asked (composed A B) (mask B) AO SO) as Wb. fold b in Wb.
  pose proof (bounding_solid asked (composed A B) (mask B) AO SO) as Sb. fold b in Sb.
  assert (RC : forall i, reads A B i <-> inbox (mask B) i /\ composed A B i) by (intros i; apply composed_iff;
    assumption).
  assert (BB : bounds (reads A B) b).
  { split.
    - intros i H. apply RC in H. apply (bounding_holds asked (composed A B) (mask B) AO SO); tauto.
    - intros c H. apply (bounding_smallest asked (composed A B) (mask B) AO SO). intros i Hi Ci. apply H, RC. tauto. }
  destruct (existsb (ask enumerate A B b) (outside (sizes A) (mask A))) eqn:OUT.
  - left. apply (holes_iff enumerate enumerate_decides A B wfA fit LB PA b Wb) in OUT.
    destruct OUT as (k & K & NK). apply (unfilled_has_hole (reads A B) (reads_dec A B) b (proj1 BB)).
    + destruct SO as (i & Hi & Ci). exists i. apply RC. tauto.
    + intros l L. unfold b in L. rewrite bounding_length in L.
      destruct (lowest_spec asked (composed A B) (mask B) AO SO l L) as [(i & Hi & Ci & Ei) _].
      exists i. split; [apply RC; tauto|]. unfold b. rewrite bounding_nth by assumption. exact Ei.
    + intros l L. unfold b in L. rewrite bounding_length in L.
      destruct (highest_spec asked (composed A B) (mask B) AO SO l L) as [(i & Hi & Ci & Ei) _].
      exists i. split; [apply RC; tauto|]. unfold b. rewrite bounding_nth by assumption. cbn [snd]. lia.
    + exists k. split; [assumption|]. intros X. apply RC in X. tauto.
  - assert (FILL : forall i, inbox b i -> reads A B i).
    { intros i H. apply RC. split; [eapply inbox_within; eassumption|].
      destruct (inboxb (mask A) (unravel (sizes A) (affine B i))) eqn:X; [apply inboxb_iff; exact X|].
      apply inboxb_false in X. exfalso. assert (Y : existsb (ask enumerate A B b) (outside (sizes A) (mask A)) = true).
      { apply (holes_iff enumerate enumerate_decides A B wfA fit LB PA b Wb). exists i. split; assumption.
        } congruence. }
    right. destruct (forallb (even_axis enumerate A B b) (seq 0 (length b))) eqn:E.
    { exfalso. apply NM. eexists. apply MC. }
    (* Some axis fails its test: some pattern is attained there that moves the address unlike the first step. *)
    assert (EX : exists l, In l (seq 0 (length b)) /\ even_axis enumerate A B b l = false).
    { clear - E. induction (seq 0 (length b)) as [|l s IH]; simpl in E; [discriminate|].
      destruct (even_axis enumerate A B b l) eqn:F.
      - destruct (IH E) as (l' & H & H'). exists l'. split; [right; assumption|assumption].
      - exists l. split; [left; reflexivity|assumption]. }
    destruct EX as (l & Il & El). apply in_seq in Il.
    assert (VAL : forall i, inbox b i -> compose A B i = Some (address A B i)).
    { intros i H. pose proof (FILL i H) as R. apply RC in R. apply composed_value; tauto. }
    assert (U : exists p i, In p (patterns (sizes A) (unravel (sizes A) (Z.abs (nth l (strides B) 0)))) /\
              delta (sizes A) (strides A) (unravel (sizes A) (Z.abs (nth l (strides B) 0))) p <>
              delta (sizes A) (strides A) (unravel (sizes A) (Z.abs (nth l (strides B) 0)))
                (pattern (sizes A) (Z.abs (nth l (strides B) 0)) (affine B (corner (starts B b l)))) /\
              inbox (starts B b l) i /\
              inbox (intervals (sizes A) (unravel (sizes A) (Z.abs (nth l (strides B) 0))) p) (unravel (sizes A)
                (affine B i))).
    { unfold even_axis in El. set (a := Z.abs (nth l (strides B) 0)) in *.
      set (first := delta (sizes A) (strides A) (unravel (sizes A) a) (pattern (sizes A) a (affine B (corner (starts
        B b l))))) in *.
      assert (EP : exists p, In p (patterns (sizes A) (unravel (sizes A) a)) /\
                (if delta (sizes A) (strides A) (unravel (sizes A) a) p =? first then true
                 else negb (ask enumerate A B (starts B b l) (intervals (sizes A) (unravel (sizes A) a) p))) = false).
      { clear - El. induction (patterns (sizes A) (unravel (sizes A) a)) as [|p s IH]; [discriminate El|].
        cbn [forallb] in El.
        match type of El with (?c && _ = false) => destruct c eqn:F end.
        - destruct (IH El) as (p' & H & H'). exists p'. split; [right; assumption|assumption].
        - exists p. split; [left; reflexivity|exact F]. }
      destruct EP as (p & Ip & Ep).
      destruct (Z.eqb_spec (delta (sizes A) (strides A) (unravel (sizes A) a) p) first) as [X|X]; [discriminate|].
      apply negb_false_iff in Ep. apply ASK in Ep.
      - destruct Ep as (i & Hi & Di). exists p, i. auto.
      - eapply within_trans; [apply starts_within|exact Wb].
      - apply intervals_within; [assumption|]. apply filter_In in Ip. eapply candidates_length; [|apply Ip].
        apply unravel_length. }
    destruct U as (p & i & Ip & D & Hi & Di).
    assert (Lp : length p = length (sizes A)) by (apply filter_In in Ip; eapply candidates_length;
      [apply unravel_length|apply Ip]).
    apply pattern_iff_digits in Di; try assumption.
    assert (Hc : inbox (starts B b l) (corner (starts B b l))) by (apply corner_inbox; eapply inbox_solid; exact Hi).
    destruct (Z_le_dec 0 (nth l (strides B) 0)) as [P|P].
    + apply starts_up in Hi; try assumption; [|lia]. apply starts_up in Hc; try assumption; [|lia].
      destruct Hi as [Hi Hi'], Hc as [Hc Hc'].
      destruct (step_up A B fit LB PA b l i Wb P Hi Hi') as [Si _].
      destruct (step_up A B fit LB PA b l _ Wb P Hc Hc') as [Sc _].
      exists l, i, (corner (starts B b l)), (address A B i), (address A B (bump l i)),
        (address A B (corner (starts B b l))), (address A B (bump l (corner (starts B b l)))).
      repeat split; try (apply VAL; assumption). rewrite Si, Sc, Di. assumption.
    + apply Z.nle_gt in P. apply starts_down in Hi; try assumption; [|lia].
      apply starts_down in Hc; try assumption; [|lia].
      destruct Hi as (i' & -> & Hi & Hi'), Hc as (c & Ec & Hc & Hc').
      destruct (step_down A B fit LB PA b l _ Wb P Hi Hi') as [Si _].
      destruct (step_down A B fit LB PA b l _ Wb P Hc Hc') as [Sc _].
      exists l, i', c, (address A B i'), (address A B (bump l i')), (address A B c), (address A B (bump l c)).
      repeat split; try (apply VAL; assumption). rewrite Di in Si. rewrite <- Ec in Sc. rewrite Ec in Sc at 1.
      rewrite <- Ec in Sc. rewrite <- Ec. intros X. apply D. lia.
Qed.

(** Both kinds of evidence, on small pairs. *)
Example evidence_hole : ~ mergeable (View [Axis 8 1 2 6] 0 true) (contiguous [2; 4]).
Proof.
  apply (hole_proves_no _ _ [0; 2] [1; 1] [1; 2]); try (apply wfb_iff; reflexivity); try (vm_compute; discriminate).
  - simpl; lia.
  - intros H. apply H. reflexivity.
Qed.

(** ... and the other. *)
Example evidence_uneven : ~ mergeable (strided [3; 2] [1; 3] 0) (strided [6] [1] 0).
Proof. apply (uneven_proves_no _ _ 0 [0] [1] 0 3 3 1); try (apply wfb_iff; reflexivity); try reflexivity.
discriminate. Qed.
