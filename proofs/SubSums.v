(** Boundaries where the quotient test fails: none, one, or several whose jumps cannot cancel. *)

From Coq Require Import ZArith Lia List Bool.
From Shapetracker Require Import View Criterion Overflow Equation Bounding Merge Exact UitDeBos FastPath FirstCarry
  Quotient.
Import ListNotations.
Open Scope Z_scope.

(** * How the carries of two steps can differ *)

(** How often a unit step along an axis of stride [a] from position [y] carries, less how often the one from [x] does.
    *)
Definition carry_beside (P a x y : Z) : Z := ((y + a) / P - y / P) - ((x + a) / P - x / P).

(** The only difference there can be to the first step, which is taken from [x]: +1 where the first step moves the
    quotient by [q], -1 where it moves it by [q + 1], and none where the stride is a multiple of the weight. *)
Definition direction (P x a : Z) : Z := if a mod P =? 0 then 0 else if x mod P + a mod P <=? P - 1 then 1 else -1.

(** Along one axis the carries of any step, less those of the first step, are 0 or that direction. *)
Theorem carry_beside_first : forall P a x y, 0 < P ->
  carry_beside P a x y = 0 \/ carry_beside P a x y = direction P x a.
Proof.
  intros P a x y HP. unfold carry_beside, direction.
  rewrite <- !quotient_step_is_carry by assumption. unfold quotient_step.
  pose proof (Z.mod_pos_bound x P HP). pose proof (Z.mod_pos_bound y P HP).
  destruct (Z.eqb_spec (a mod P) 0); destruct (Z.leb_spec (x mod P + a mod P) (P - 1));
    destruct (Z.leb_spec (y mod P + a mod P) (P - 1)); lia.
Qed.

(** All sums of one or more of some numbers. *)
Fixpoint sub_sums (cs : list Z) : list Z :=
  match cs with [] => [] | c :: r => c :: sub_sums r ++ map (Z.add c) (sub_sums r) end.

(** What the boundaries can add to the first step of an axis of stride [a]: the jump of each, in its direction.  A
    boundary that has none on this axis is left out. *)
Fixpoint turns (bs : list (Z * Z)) (x a : Z) : list Z :=
  match bs with
  | [] => []
  | (P, c) :: r => if direction P x a =? 0 then turns r x a else direction P x a * c :: turns r x a
  end.

(** Steps along an axis move the jumps either alike, with the same carries over every boundary, or by amounts that
    differ by a sub-sum. *)
Theorem steps_differ_by_sub_sum : forall bs a x y, (forall P c, In (P, c) bs -> 0 < P) ->
  let moves := (jumps bs (y + a) - jumps bs y) - (jumps bs (x + a) - jumps bs x) in
  ((forall P c, In (P, c) bs -> carry_beside P a x y = 0) /\ moves = 0) \/ In moves (sub_sums (turns bs x a)).
Proof.
  induction bs as [|[P c] r IH]; intros a x y HP moves.
  - left. split; [intros P c []|]. unfold moves. simpl. lia.
  - specialize (IH a x y (fun P' c' I => HP P' c' (or_intror I))). cbv zeta in IH.
    set (rest := (jumps r (y + a) - jumps r y) - (jumps r (x + a) - jumps r x)) in *.
    assert (M : moves = c * carry_beside P a x y + rest).
    { unfold moves, rest, carry_beside. cbn [jumps]. ring. }
    cbn [turns]. destruct (carry_beside_first P a x y (HP P c (or_introl eq_refl))) as [E|E].
    + rewrite E in M. rewrite Z.mul_0_r, Z.add_0_l in M. rewrite M. destruct IH as [[H0 H1]|I].
      * left. split; [|exact H1]. intros P' c' [Q|Q]; [injection Q as <- <-; exact E|exact (H0 P' c' Q)].
      * right. destruct (direction P x a =? 0); [exact I|].
        simpl. right. apply in_or_app. left. exact I.
    + rewrite E in M. destruct (Z.eqb_spec (direction P x a) 0) as [D|D].
      * rewrite D in M, E. rewrite Z.mul_0_r, Z.add_0_l in M. rewrite M. destruct IH as [[H0 H1]|I].
        { left. split; [|exact H1]. intros P' c' [Q|Q]; [injection Q as <- <-; exact E|exact (H0 P' c' Q)]. }
        right. exact I.
      * right. rewrite M, (Z.mul_comm c). destruct IH as [[_ H1]|I].
        { rewrite H1, Z.add_0_r. left. reflexivity. }
        right. apply in_or_app. right. apply in_map. exact I.
Qed.

(** Numbers of one sign have no sub-sum that vanishes. *)
Theorem one_sign_no_zero : forall cs, Forall (fun c => 0 < c) cs \/ Forall (fun c => c < 0) cs -> ~ In 0 (sub_sums cs).
Proof.
  assert (UP : forall cs, Forall (fun c => 0 < c) cs -> forall s, In s (sub_sums cs) -> 0 < s).
  { induction 1 as [|c cs H F IH]; intros s; [intros []|]. intros [<-|I]; [exact H|]. apply in_app_or in I.
    destruct I as [I|I]; [exact (IH s I)|]. apply in_map_iff in I. destruct I as (u & <- & I). specialize (IH u I).
    lia. }
  assert (DOWN : forall cs, Forall (fun c => c < 0) cs -> forall s, In s (sub_sums cs) -> s < 0).
  { induction 1 as [|c cs H F IH]; intros s; [intros []|]. intros [<-|I]; [exact H|]. apply in_app_or in I.
    destruct I as [I|I]; [exact (IH s I)|]. apply in_map_iff in I. destruct I as (u & <- & I). specialize (IH u I).
    lia. }
  intros cs [F|F] I; [specialize (UP cs F 0 I)|specialize (DOWN cs F 0 I)]; lia.
Qed.

(** The sub-sums with directions that are put down, one for each boundary. *)
Fixpoint turns_by (us : list Z) (bs : list (Z * Z)) : list Z :=
  match us, bs with
  | u :: us', (_, c) :: r => if u =? 0 then turns_by us' r else u * c :: turns_by us' r
  | _, _ => []
  end.

(** Where it is not known whether a stride is a multiple of the weight, the direction may be put down as if it were not:
    that only adds sub-sums. *)
Theorem directions_may_be_more : forall bs us x a,
  Forall2 (fun u b => u = direction (fst b) x a \/ direction (fst b) x a = 0) us bs ->
  forall s, In s (sub_sums (turns bs x a)) -> In s (sub_sums (turns_by us bs)).
Proof.
  intros bs us x a F. induction F as [|u [P c] us bs H F IH]; intros s I; [exact I|]. cbn [turns turns_by fst] in *.
  destruct (Z.eqb_spec (direction P x a) 0) as [D|D].
  - destruct (u =? 0); [exact (IH s I)|]. simpl. right. apply in_or_app. left. exact (IH s I).
  - destruct H as [->|H]; [|contradiction]. destruct (Z.eqb_spec (direction P x a) 0); [contradiction|].
    destruct I as [I|I]; [left; exact I|right]. apply in_app_or in I. apply in_or_app.
    destruct I as [I|I]; [left; exact (IH s I)|right]. apply in_map_iff in I. destruct I as (w & W & I).
    apply in_map_iff. exists w. split; [exact W|exact (IH w I)].
Qed.

(** * The boundaries that fail *)

(** Those where a carry moves the address, and whose quotient is not affine on the box. *)
Definition failing (bs : list (Z * Z)) (x : Z) (st ns : list Z) : list (Z * Z) :=
  filter (fun b => negb (snd b =? 0) && negb (quotient_testb (fst b) x st ns)) bs.
Definition passing (bs : list (Z * Z)) (x : Z) (st ns : list Z) : list (Z * Z) :=
  filter (fun b => (snd b =? 0) || quotient_testb (fst b) x st ns) bs.

Lemma jumps_split : forall bs x st ns y, jumps bs y = jumps (passing bs x st ns) y + jumps (failing bs x st ns) y.
Proof.
  induction bs as [|[P c] r IH]; intros x st ns y; [reflexivity|].
  unfold failing, passing in *. cbn [filter fst snd jumps]. rewrite (IH x st ns y).
  destruct (Z.eqb_spec c 0), (quotient_testb P x st ns); simpl; ring.
Qed.

Lemma test_on_box : forall P o st b, 0 < P -> solid b -> length st = length b ->
  (boundary_test P o st b <-> quotient_testb P (o + dot st (corner b)) st (extents b) = true).
Proof.
  intros P o st b HP S L. rewrite quotient_testb_iff. apply quotient_test_counts; try assumption.
  apply quotient_steps_chosen. unfold extents. rewrite map_length. exact L.
Qed.

Lemma failing_spec : forall bs o st b P c, (forall P c, In (P, c) bs -> 0 < P) -> solid b -> length st = length b ->
  (In (P, c) (failing bs (o + dot st (corner b)) st (extents b)) <->
   In (P, c) bs /\ c <> 0 /\ ~ boundary_test P o st b).
Proof.
  intros bs o st b P c HP S L. unfold failing. rewrite filter_In. cbn [fst snd].
  rewrite andb_true_iff, !negb_true_iff, Z.eqb_neq. split; intros (I & C & T); (split; [exact I|]; split; [exact C|]).
  - rewrite test_on_box by (eauto; eapply HP; exact I). congruence.
  - rewrite test_on_box in T by (eauto; eapply HP; exact I). destruct (quotient_testb _ _ _ _); congruence.
Qed.

Lemma even_passing : forall bs o st b, (forall P c, In (P, c) bs -> 0 < P) -> solid b -> length st = length b ->
  even b (fun i => jumps (passing bs (o + dot st (corner b)) st (extents b)) (o + dot st i)).
Proof.
  intros bs o st b HP S L. apply even_jumps; try assumption; intros P c I; unfold passing in I; rewrite filter_In in I;
    destruct I as [I T]; [apply (HP P c I)|].
  cbn [fst snd] in T. intros C. apply orb_true_iff in T. destruct T as [T|T]; [apply Z.eqb_eq in T; contradiction|].
  apply test_on_box; eauto.
Qed.

(** If some boundary fails, and on no axis with a step a sub-sum of the failing jumps vanishes, steps are not even: some
    step carries unlike the first one of its axis, and no other carries make up for it. *)
Theorem sub_sums_uneven : forall G bs o st b, solid b -> length st = length b -> (forall P c, In (P, c) bs -> 0 < P) ->
  even b G ->
  let x := o + dot st (corner b) in
  let fs := failing bs x st (extents b) in
  fs <> [] ->
  (forall l, (l < length b)%nat -> 2 <= nth l (extents b) 0 -> ~ In 0 (sub_sums (turns fs x (nth l st 0)))) ->
  ~ even b (fun i => G i + jumps bs (o + dot st i)).
Proof.
  intros G bs o st b S L HP EG x fs NE H E.
  assert (HF : forall P c, In (P, c) fs -> In (P, c) bs /\ c <> 0 /\ ~ boundary_test P o st b).
  { intros P c I. apply failing_spec; assumption. }
  assert (PF : forall P c, In (P, c) fs -> 0 < P) by (intros P c I; apply (HP P c); apply (HF P c I)).
  destruct fs as [|[P c] fs'] eqn:EF; [congruence|]. rewrite <- EF in *. clear NE.
  assert (IF : In (P, c) fs) by (rewrite EF; left; reflexivity).
  destruct (HF P c IF) as (_ & _ & T).
  destruct (first_carry P o st b (PF P c IF) S L T) as (l & i & Hi & Hi' & Hc & V).
  cbv beta zeta in V.
  pose proof (corner_inbox b S) as HC.
  assert (Li : length st = length i) by (rewrite (inbox_length _ _ Hi); exact L).
  assert (Lc : length st = length (corner b)) by (rewrite (inbox_length _ _ HC); exact L).
  destruct (Nat.lt_ge_cases l (length b)) as [Hl|Hl].
  2:{ rewrite !bump_past in V by (first [rewrite <- Li|rewrite <- Lc]; lia). rewrite !Z.sub_diag in V. discriminate V. }
  assert (N2 : 2 <= nth l (extents b) 0).
  { pose proof (proj2 (proj1 (inbox_nth _ _) Hc) l Hl) as U. pose proof (proj2 (proj1 (inbox_nth _ _) HC) l Hl) as W.
    rewrite bump_nth in U by lia. rewrite Nat.eqb_refl in U.
    pose proof (map_nth fst b (0, 0) l : nth l (corner b) 0 = _) as C0.
    pose proof (map_nth (fun r : Z * Z => snd r - fst r) b (0, 0) l : nth l (extents b) 0 = _) as N0. cbv beta in N0.
    lia. }
  specialize (H l Hl N2).
  rewrite !dot_bump in V by assumption. fold x in V.
  destruct (steps_differ_by_sub_sum fs (nth l st 0) x (o + dot st i) PF) as [[E0 _]|I].
  - specialize (E0 P c IF). unfold carry_beside in E0. rewrite !(Z.add_assoc o) in V. fold x in V. rewrite E0 in V.
    discriminate V.
  - apply H.
    assert (Z0 : (jumps fs (o + dot st i + nth l st 0) - jumps fs (o + dot st i))
                 - (jumps fs (x + nth l st 0) - jumps fs x) = 0).
    { pose proof (E l i (corner b) Hi Hi' HC Hc) as X. cbv beta in X.
      pose proof (EG l i (corner b) Hi Hi' HC Hc) as Y.
      pose proof (even_passing bs o st b HP S L l i (corner b) Hi Hi' HC Hc) as W. cbv beta in W.
      rewrite !(jumps_split bs x st (extents b)) in X. fold x in W, X. fold fs in X.
      rewrite !dot_bump in X, W by assumption. rewrite !(Z.add_assoc o) in X, W. fold x in X, W. lia. }
    rewrite Z0 in I. exact I.
Qed.

(** * Pairs of views *)

Lemma reads_box : forall A B b, fits A B -> wf A -> solid b -> (forall i, reads A B i <-> inbox b i) ->
  positives (sizes A) /\ within b (mask B) /\ forall i, inbox b i -> 0 <= affine B i < numel (sizes A).
Proof.
  intros A B b fit WA S R.
  assert (V : forall i, inbox b i -> valid B i) by (intros i H; apply R, reads_iff in H; apply H).
  split; [|split].
  - apply positive_of_numel; [apply wf_sizes; assumption|]. pose proof (fit _ (V _ (corner_inbox b S))). lia.
  - apply within_of_inbox; [exact S|]. intros i H. apply (V i H).
  - intros i H. apply fit, V, H.
Qed.

(** Some boundaries fail.  If on every axis with a step no sum of one or more of the failing jumps, each in its
    direction, vanishes, then the pair is not one view. *)
Theorem sub_sums_no : forall A B b, wf A -> wf B -> fits A B -> solid b -> (forall i, reads A B i <-> inbox b i) ->
  let x := affine B (corner b) in
  let fs := failing (boundaries (sizes A) (strides A)) x (strides B) (extents b) in
  fs <> [] ->
  (forall l, (l < length b)%nat -> 2 <= nth l (extents b) 0 -> ~ In 0 (sub_sums (turns fs x (nth l (strides B) 0)))) ->
  ~ mergeable A B.
Proof.
  intros A B b WA WB fit S R x fs NE H M.
  destruct (reads_box A B b fit WA S R) as (PA & W & IN).
  apply (mergeable_iff_even A B b WA WB S R) in M.
  pose proof (stride_count B b W) as L.
  refine (sub_sums_uneven (fun i => offset A + last (strides A) 0 * affine B i) (boundaries (sizes A) (strides A))
            (offset B) (strides B) b S L (fun P c => boundaries_pos _ _ P c PA) _ NE H _).
  - apply even_plus; [apply even_const|]. apply even_scale. unfold affine. apply even_plus; [apply even_const|].
    apply even_dot. exact L.
  - eapply even_ext; [|exact M]. intros i Hi. rewrite (address_sum A B PA b IN i Hi). unfold affine. ring.
Qed.

(** In particular if on every axis the failing jumps, each in its direction, have one sign. *)
Theorem one_sign_no : forall A B b, wf A -> wf B -> fits A B -> solid b -> (forall i, reads A B i <-> inbox b i) ->
  let x := affine B (corner b) in
  let fs := failing (boundaries (sizes A) (strides A)) x (strides B) (extents b) in
  fs <> [] ->
  (forall l, (l < length b)%nat -> 2 <= nth l (extents b) 0 ->
     (forall P c, In (P, c) fs -> 0 <= direction P x (nth l (strides B) 0) * c) \/
     (forall P c, In (P, c) fs -> direction P x (nth l (strides B) 0) * c <= 0)) ->
  ~ mergeable A B.
Proof.
  intros A B b WA WB fit S R x fs NE H.
  apply (sub_sums_no A B b WA WB fit S R NE). fold x. fold fs. intros l Hl N2. apply one_sign_no_zero.
  assert (NZ : forall P c, In (P, c) fs -> c <> 0).
  { intros P c I. unfold fs, failing in I. apply filter_In in I. destruct I as [_ I]. cbn [snd] in I.
    apply andb_true_iff in I. destruct I as [I _]. apply negb_true_iff, Z.eqb_neq in I. exact I. }
  specialize (H l Hl N2). clearbody fs. clear NE. set (a := nth l (strides B) 0) in *. clearbody a.
  destruct H as [H|H]; [left|right].
  - induction fs as [|[P c] fs IH]; [constructor|]. cbn [turns].
    assert (F : Forall (fun c => 0 < c) (turns fs x a)).
    { apply IH; intros P' c' I; [apply (H P')|apply (NZ P')]; right; exact I. }
    destruct (Z.eqb_spec (direction P x a) 0) as [D|D]; [exact F|]. constructor; [|exact F].
    pose proof (NZ P c (or_introl eq_refl)). specialize (H P c (or_introl eq_refl)). nia.
  - induction fs as [|[P c] fs IH]; [constructor|]. cbn [turns].
    assert (F : Forall (fun c => c < 0) (turns fs x a)).
    { apply IH; intros P' c' I; [apply (H P')|apply (NZ P')]; right; exact I. }
    destruct (Z.eqb_spec (direction P x a) 0) as [D|D]; [exact F|]. constructor; [|exact F].
    pose proof (NZ P c (or_introl eq_refl)). specialize (H P c (or_introl eq_refl)). nia.
Qed.

(** Exactly one fails: its jump cannot cancel. *)
Theorem one_failure_no : forall A B b P c, wf A -> wf B -> fits A B -> solid b -> (forall i, reads A B i <->
  inbox b i) ->
  failing (boundaries (sizes A) (strides A)) (affine B (corner b)) (strides B) (extents b) = [(P, c)] ->
  ~ mergeable A B.
Proof.
  intros A B b P c WA WB fit S R E. apply (one_sign_no A B b WA WB fit S R).
  - rewrite E. discriminate.
  - intros l _ _. rewrite E.
    destruct (Z_le_dec 0 (direction P (affine B (corner b)) (nth l (strides B) 0) * c)) as [D|D].
    + left. intros P' c' [Q|[]]. injection Q as <- <-. exact D.
    + right. intros P' c' [Q|[]]. injection Q as <- <-. lia.
Qed.

(** The sum over the boundaries of their jumps times what [f] makes of their weights. *)
Fixpoint total (bs : list (Z * Z)) (f : Z -> Z) : Z :=
  match bs with [] => 0 | (P, c) :: r => c * f P + total r f end.

(** The strides where no boundary fails: sigma a_l + sum of c_j t_jl, with [ts] the steps t_j of the quotients and sigma
    the innermost stride of the earlier view.  The offset is such that the first index keeps its address. *)
Definition merged_strides (A B : view) (ts : Z -> list Z) : list Z :=
  map (fun l => last (strides A) 0 * nth l (strides B) 0
                + total (boundaries (sizes A) (strides A)) (fun P => nth l (ts P) 0))
      (seq 0 (length (axes B))).
Definition merged_offset (A B : view) (b : box) (ts : Z -> list Z) : Z :=
  offset A + last (strides A) 0 * offset B
  + total (boundaries (sizes A) (strides A)) (fun P => affine B (corner b) / P - dot (ts P) (corner b)).

Lemma dot_seq_nth : forall i s, dot (map (fun l => nth l s 0) (seq 0 (length i))) i = dot s i.
Proof.
  induction i as [|y i IH]; intros s; [destruct s; reflexivity|].
  cbn [length seq map dot]. rewrite <- seq_shift, map_map. destruct s as [|a s].
  - rewrite (map_ext _ (fun l => nth l [] 0)) by (intros [|l]; reflexivity). rewrite IH. simpl. lia.
  - cbn [nth dot]. rewrite IH. reflexivity.
Qed.

Lemma dot_map_plus : forall f g ls i, dot (map (fun l : nat => f l + g l) ls) i = dot (map f ls) i + dot (map g ls) i.
Proof. induction ls; destruct i; simpl; try reflexivity. rewrite IHls. ring. Qed.

Lemma dot_map_scale : forall c f ls i, dot (map (fun l : nat => c * f l) ls) i = c * dot (map f ls) i.
Proof. induction ls; destruct i; simpl; try ring. rewrite IHls. ring. Qed.

Lemma dot_map_zero : forall (ls : list nat) i, dot (map (fun _ => 0) ls) i = 0.
Proof. induction ls; destruct i; simpl; try reflexivity. apply IHls. Qed.

Lemma dot_total : forall bs (ts : Z -> list Z) i,
  dot (map (fun l => total bs (fun P => nth l (ts P) 0)) (seq 0 (length i))) i = total bs (fun P => dot (ts P) i).
Proof.
  induction bs as [|[P c] r IH]; intros ts i; cbn [total]; [apply dot_map_zero|].
  rewrite dot_map_plus, dot_map_scale, dot_seq_nth, IH. reflexivity.
Qed.

Lemma from_corner : forall b i, inbox b i ->
  exists k, inbox (whole (extents b)) k /\ forall s, dot s i = dot s (corner b) + dot s k.
Proof.
  induction b as [|r b IH]; destruct i as [|y i]; intros H; try (simpl in H; tauto).
  - exists []. split; [exact I|]. intros [|a s]; simpl; lia.
  - destruct H as [H1 H2]. destruct (IH i H2) as (k & K1 & K2). exists (y - fst r :: k). split.
    + simpl. split; [lia|exact K1].
    + intros [|a s]; [reflexivity|]. cbn [dot corner map]. fold (corner b). rewrite K2. ring.
Qed.

Lemma quotient_on_box : forall P o st b ts, 0 < P -> length st = length b -> length ts = length b ->
  quotient_test P (o + dot st (corner b)) st (extents b) ts ->
  forall i, inbox b i -> (o + dot st i) / P = (o + dot st (corner b)) / P - dot ts (corner b) + dot ts i.
Proof.
  intros P o st b ts HP L1 L2 T i H. destruct (from_corner b i H) as (k & K1 & K2). rewrite !(K2 st), (K2 ts).
  assert (E : length (extents b) = length b) by (unfold extents; apply map_length).
  rewrite Z.add_assoc.
  rewrite (quotient_test_sound P _ st (extents b) ts HP ltac:(congruence) ltac:(congruence) T k K1).
  ring.
Qed.

(** None fails: one view.  Any steps will do that pass the test. *)
Theorem none_fails_view : forall A B b ts, wf A -> wf B -> fits A B -> solid b -> (forall i, reads A B i <->
  inbox b i) ->
  (forall P c, In (P, c) (boundaries (sizes A) (strides A)) -> c <> 0 ->
     length (ts P) = length b /\ quotient_test P (affine B (corner b)) (strides B) (extents b) (ts P)) ->
  is_view (sizes B) (compose A B) (View (join (sizes B) (merged_strides A B ts) b) (merged_offset A B b ts) true).
Proof.
  intros A B b ts WA WB fit S R T.
  destruct (reads_box A B b fit WA S R) as (PA & W & IN).
  pose proof (stride_count B b W) as L.
  assert (LB : length (sizes B) = length b).
  { rewrite <- L. unfold sizes, strides. rewrite !map_length. reflexivity. }
  assert (LM : length (merged_strides A B ts) = length (sizes B)).
  { unfold merged_strides, sizes. rewrite !map_length, seq_length. reflexivity. }
  assert (WW : within b (whole (sizes B))).
  { apply within_of_inbox; [exact S|]. intros i H. eapply valid_inside; [exact WB|]. apply R, reads_iff in H. apply H. }
  assert (ADDR : forall i, inbox b i -> merged_offset A B b ts + dot (merged_strides A B ts) i = address A B i).
  { intros i H. rewrite (address_sum A B PA b IN i H).
    assert (LI : length (axes B) = length i).
    { rewrite (inbox_length _ _ H), <- LB. unfold sizes. rewrite map_length. reflexivity. }
    unfold merged_strides, merged_offset. rewrite LI, dot_map_plus, dot_map_scale, dot_seq_nth, dot_total.
    assert (Q : jumps (boundaries (sizes A) (strides A)) (affine B i) =
                total (boundaries (sizes A) (strides A)) (fun P => affine B (corner b) / P - dot (ts P) (corner b))
                + total (boundaries (sizes A) (strides A)) (fun P => dot (ts P) i)).
    { assert (HP := fun P c => boundaries_pos (sizes A) (strides A) P c PA). clear - T HP H L.
      induction (boundaries (sizes A) (strides A)) as [|[P c] r IH]; [reflexivity|]. cbn [jumps total].
      rewrite IH; [|intros P' c' I; apply (T P' c'); right; exact I|intros P' c' I; apply (HP P' c'); right; exact I].
      destruct (Z.eq_dec c 0) as [->|C]; [ring|].
      destruct (T P c (or_introl eq_refl) C) as [LT TP].
      pose proof (quotient_on_box P (offset B) (strides B) b (ts P) (HP P c (or_introl eq_refl)) L LT TP i H) as E.
      unfold affine at 1. rewrite E. unfold affine. ring. }
    rewrite Q. replace (affine B i) with (offset B + dot (strides B) i) by reflexivity. ring. }
  split; [|split].
  - apply join_wf; assumption.
  - apply join_sizes; congruence.
  - intros i _. set (C := View _ _ _).
    assert (M : mask C = b) by (apply join_mask; congruence).
    assert (ST : strides C = merged_strides A B ts) by (apply join_strides; congruence).
    unfold read, validb. rewrite M. cbn [live C andb]. unfold affine. rewrite ST.
    destruct (inboxb b i) eqn:E.
    + apply inboxb_iff in E. cbn [offset C]. rewrite ADDR by exact E. apply R, reads_iff in E.
      destruct E as [[LB1 V1] [LA1 V2]]. symmetry. apply composed_value; assumption.
    + apply inboxb_false in E. destruct (compose A B i) eqn:Q; [|reflexivity]. exfalso. apply E, R. unfold reads.
      congruence.
Qed.

(** * Pairs without masks: the box is the whole shape *)

Lemma full_pair : forall A B, wf A -> fits A B -> full A -> full B -> positives (sizes B) ->
  positives (sizes A) /\ solid (whole (sizes B)) /\ (forall i, reads A B i <-> inbox (whole (sizes B)) i) /\
  affine B (corner (whole (sizes B))) = offset B.
Proof.
  intros A B WA fit [LA FA] [LB FB] PB. pose proof (whole_solid (sizes B) PB) as S.
  assert (PA : positives (sizes A)).
  { apply positive_of_numel; [apply wf_sizes; assumption|].
    assert (V : valid B (corner (whole (sizes B)))) by (split; [exact LB|rewrite FB; apply corner_inbox, S]).
    pose proof (fit _ V). lia. }
  split; [exact PA|]. split; [exact S|]. split; [|unfold affine; rewrite dot_corner_whole; lia].
  intros i. rewrite reads_iff. split; [intros [[_ X] _]; rewrite <- FB; exact X|]. intros X.
  split; [split; [exact LB|rewrite FB; exact X]|]. split; [exact LA|]. rewrite FA. apply unravel_inbox. exact PA.
Qed.

(** Some fail, and on no axis of at least two indices a sub-sum vanishes: not one view. *)
Theorem sub_sums_no_full : forall A B, wf A -> wf B -> fits A B -> full A -> full B -> positives (sizes B) ->
  let fs := failing (boundaries (sizes A) (strides A)) (offset B) (strides B) (sizes B) in
  fs <> [] ->
  (forall l, (l < length (sizes B))%nat -> 2 <= nth l (sizes B) 0 ->
     ~ In 0 (sub_sums (turns fs (offset B) (nth l (strides B) 0)))) ->
  ~ mergeable A B.
Proof.
  intros A B WA WB fit FA FB PB fs NE H. destruct (full_pair A B WA fit FA FB PB) as (PA & S & R & X).
  pose proof (sub_sums_no A B (whole (sizes B)) WA WB fit S R) as T. cbv zeta in T.
  rewrite X, extents_whole, whole_length in T. exact (T NE H).
Qed.

(** None fails: one view.  Its strides are as above, and its offset is the address of the position [offset B]. *)
Theorem none_fails_full : forall A B ts, wf A -> wf B -> fits A B -> full A -> full B -> positives (sizes B) ->
  (forall P c, In (P, c) (boundaries (sizes A) (strides A)) -> c <> 0 ->
     length (ts P) = length (sizes B) /\ quotient_test P (offset B) (strides B) (sizes B) (ts P)) ->
  is_view (sizes B) (compose A B)
    (strided (sizes B) (merged_strides A B ts)
       (offset A + last (strides A) 0 * offset B
        + total (boundaries (sizes A) (strides A)) (fun P => offset B / P))).
Proof.
  intros A B ts WA WB fit FA FB PB T. destruct (full_pair A B WA fit FA FB PB) as (PA & S & R & X).
  pose proof (none_fails_view A B (whole (sizes B)) ts WA WB fit S R) as V.
  rewrite X, extents_whole, whole_length in V. specialize (V T).
  unfold merged_offset in V. rewrite X in V.
  assert (E : total (boundaries (sizes A) (strides A)) (fun P => offset B / P - dot (ts P) (corner (whole (sizes B))))
              = total (boundaries (sizes A) (strides A)) (fun P => offset B / P)).
  { clear. induction (boundaries (sizes A) (strides A)) as [|[P c] r IH]; [reflexivity|].
    cbn [total]. rewrite IH, dot_corner_whole. ring. }
  rewrite E in V. clear E. set (off := offset A + _ + _) in *.
  assert (J : forall ss st, length st = length ss ->
            join ss st (whole ss) = map (fun p => Axis (fst p) (snd p) 0 (fst p)) (combine ss st)).
  { clear. induction ss as [|s ss IH]; destruct st as [|t st]; intros L; try discriminate; [reflexivity|].
    cbn [join whole map combine fst snd]. fold (whole ss). rewrite IH by (simpl in L; congruence). reflexivity. }
  rewrite J in V; [exact V|]. unfold merged_strides, sizes. rewrite !map_length, seq_length. reflexivity.
Qed.

(** Two boundaries fail, and their jumps may cancel: 41 - 41.  The theorems say nothing, and the pair is one view
    indeed.  With other strides they cannot, and it is not. *)
Example cancelling_example :
  failing (boundaries [10; 9; 4] [140; 11; 13]) 0 [9] [6] = [(36, 41); (4, -41)] /\
  In 0 (sub_sums (turns [(36, 41); (4, -41)] 0 9)) /\
  failing (boundaries [10; 9; 4] [140; 12; 13]) 0 [9] [6] = [(36, 32); (4, -40)] /\
  ~ In 0 (sub_sums (turns [(36, 32); (4, -40)] 0 9)).
Proof. vm_compute. intuition discriminate. Qed.

(** The second pair has no single view: 32, -40 and their sum -8 are the sub-sums. *)
Example no_cancelling : ~ mergeable (strided [10; 9; 4] [140; 12; 13] 0) (strided [6] [9] 0).
Proof.
  apply sub_sums_no_full.
  - apply strided_wf. repeat constructor; lia.
  - apply strided_wf. repeat constructor; lia.
  - apply fitsb_iff. vm_compute. reflexivity.
  - split; reflexivity.
  - split; reflexivity.
  - repeat constructor.
  - vm_compute. discriminate.
  - intros [|l] Hl _; [vm_compute; intuition discriminate|simpl in Hl; lia].
Qed.

(** With names for all numbers: the first [s] elements of an (n, m) view of any strides are one axis exactly if they
    lie in one row, or the rows are single elements, or the rows follow each other. *)
Example first_elements : forall n m s s1 s2, 1 <= n -> 1 <= m -> 1 <= s -> s <= n * m ->
  (mergeable (strided [n; m] [s1; s2] 0) (strided [s] [1] 0) <-> m = 1 \/ s <= m \/ s1 = m * s2).
Proof.
  intros n m s s1 s2 Hn Hm Hs F. set (A := strided _ _ _). set (B := strided _ _ _).
  assert (WA : wf A) by (apply strided_wf; repeat constructor; lia).
  assert (WB : wf B) by (apply strided_wf; repeat constructor; lia).
  assert (fit : fits A B).
  { intros i [_ V]. destruct i as [|y [|z i]]; simpl in V; try tauto. change (0 <= 0 + (1 * y + 0) < n * (m * 1)).
    lia. }
  assert (FA : full A) by (split; reflexivity). assert (FB : full B) by (split; reflexivity).
  assert (PB : positives (sizes B)) by (change (positives [s]); repeat constructor; lia).
  assert (BS : boundaries (sizes A) (strides A) = [(m, s1 - m * s2)]) by (simpl; rewrite Z.mul_1_r; reflexivity).
  assert (T : quotient_test m 0 [1] [s] (quotient_steps m 0 [1]) <-> m = 1 \/ s <= m).
  { unfold quotient_test, quotient_steps. cbn [map leftovers ups downs]. rewrite leftover_of_step by lia.
    rewrite Z.mod_0_l by lia. destruct (Z.eq_dec m 1) as [->|M]; [vm_compute; intuition discriminate|].
    rewrite Z.mod_1_l by lia. destruct (Z.leb_spec (0 + 1) (m - 1)); [|lia]. cbn [Z.ltb Z.compare]. lia. }
  destruct (quotient_testb m 0 [1] [s]) eqn:E.
  - pose proof (proj1 (quotient_testb_iff m 0 [1] [s]) E) as Q. split; [intros _; apply T in Q; tauto|]. intros _.
    exists (strided (sizes B) (merged_strides A B (fun P => quotient_steps P 0 [1]))
             (offset A + last (strides A) 0 * offset B
              + total (boundaries (sizes A) (strides A)) (fun P => offset B / P))).
    apply none_fails_full; try assumption. rewrite BS. intros P c [I|[]] _. injection I as <- _.
    split; [reflexivity|exact Q].
  - assert (Q : ~ (m = 1 \/ s <= m)) by (rewrite <- T, <- quotient_testb_iff; congruence).
    split.
    + intros M. right. right. destruct (Z.eq_dec s1 (m * s2)) as [C|C]; [exact C|exfalso].
      revert M. apply sub_sums_no_full; try assumption; rewrite BS; cbn [failing filter fst snd];
        change (offset B) with 0; change (strides B) with [1]; change (sizes B) with [s];
        unfold failing; cbn [filter fst snd]; rewrite E, (proj2 (Z.eqb_neq (s1 - m * s2) 0)) by lia; cbn [negb andb].
      * discriminate.
      * intros [|l] Hl _; [|simpl in Hl; lia]. apply one_sign_no_zero. cbn [nth turns].
        assert (D : direction m 0 1 = 1).
        { unfold direction. rewrite Z.mod_0_l, Z.mod_1_l by lia. cbn [Z.eqb].
          destruct (Z.leb_spec (0 + 1) (m - 1)); lia. }
        rewrite D. cbn [Z.eqb].
        destruct (Z_lt_dec 0 (s1 - m * s2)); [left|right]; repeat constructor; lia.
    + intros [M|[M|C]]; [tauto|tauto|].
      exists (strided (sizes B) (merged_strides A B (fun P => []))
               (offset A + last (strides A) 0 * offset B
                + total (boundaries (sizes A) (strides A)) (fun P => offset B / P))).
      apply none_fails_full; try assumption. rewrite BS. intros P c [I|[]] N. injection I as <- <-. lia.
Qed.
