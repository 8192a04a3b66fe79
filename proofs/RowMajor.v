(** Reshaping without division: the boundaries of a view against the axes of its new shape. *)

From Coq Require Import ZArith Lia List Bool.
From Shapetracker Require Import View Criterion Overflow Equation Bounding Merge Exact UitDeBos Schillinger FastPath
  FirstCarry Reshape Quotient SubSums.
Import ListNotations.
Open Scope Z_scope.

(** * Weights that lie between the axes of a shape *)

(** No axis of the row-major view of [kk] has the weight [P] strictly inside: a_l < P < a_l n_l holds for none of
    them, a_l being the strides and n_l the sizes. *)
Definition between_axes (P : Z) (kk : list Z) : Prop :=
  forall l, (l < length kk)%nat -> P <= nth l (row_major kk) 0 \/ nth l (row_major kk) 0 * nth l kk 0 <= P.

(** The product of the first sizes, as far as the strides of their axes are at least [P].  For the axes after axis [l]
    it is n_(l+1) .. n_k, with [k] the innermost axis whose stride is at least [P]. *)
Fixpoint down_to (P : Z) (kk : list Z) : Z :=
  match kk with [] => 1 | s :: r => if P <=? numel r then s * down_to P r else 1 end.

Lemma between_axes_cons : forall P s r,
  between_axes P (s :: r) <-> (P <= numel r \/ numel r * s <= P) /\ between_axes P r.
Proof.
  intros P s r. split.
  - intros H. split; [apply (H O); simpl; lia|]. intros l Hl. apply (H (S l)). simpl; lia.
  - intros [H0 H] [|l] Hl; [exact H0|]. apply (H l). simpl in Hl; lia.
Qed.

(** A weight between the axes is the number of elements of some innermost axes, which is the stride of the axis before
    them; the product is that of the sizes further out. *)
Theorem down_to_stops : forall kk P, positives kk -> 0 < P <= numel kk -> between_axes P kk ->
  exists k, (k <= length kk)%nat /\ numel (skipn k kk) = P /\ down_to P kk = numel (firstn k kk).
Proof.
  induction kk as [|s r IH]; intros P PK HP H; [exists O; simpl in *; repeat split; lia|].
  inversion PK; subst. apply between_axes_cons in H. destruct H as [H0 H]. cbn [numel down_to] in *.
  destruct (Z.leb_spec P (numel r)).
  - destruct (IH P H3 ltac:(lia) H) as (k & K1 & K2 & K3). exists (S k). cbn [length skipn firstn numel].
    rewrite K3. split; [lia|]. split; [exact K2|reflexivity].
  - exists O. cbn [skipn firstn numel]. split; [lia|]. split; [lia|reflexivity].
Qed.

Lemma down_to_is_quotient : forall kk P, positives kk -> 0 < P <= numel kk -> between_axes P kk ->
  P * down_to P kk = numel kk.
Proof.
  intros kk P PK HP H. destruct (down_to_stops kk P PK HP H) as (k & _ & K1 & ->).
  rewrite <- (firstn_skipn k kk) at 2. rewrite numel_app, K1. ring.
Qed.

(** So its quotient is affine on the shape. *)
Lemma quotient_between : forall kk P i, positives kk -> 0 < P -> between_axes P kk -> inbox (whole kk) i ->
  ravel kk i / P = dot (map (fun a => a / P) (row_major kk)) i.
Proof.
  unfold ravel. induction kk as [|s r IH]; destruct i as [|y i]; intros PK HP H I; try (exfalso; exact I).
  - apply Z.div_0_l. lia.
  - inversion PK; subst. apply between_axes_cons in H. destruct H as [H0 H]. destruct I as [I1 I2]. cbn [fst snd] in I1.
    cbn [row_major map dot]. rewrite <- IH by assumption. pose proof (ravel_bounds r i I2) as B. unfold ravel in B.
    destruct (Z_le_dec P (numel r)) as [N|N].
    + rewrite <- (down_to_is_quotient r P) at 1 2 by (auto; lia).
      replace (P * down_to P r * y + dot (row_major r) i) with (down_to P r * y * P + dot (row_major r) i) by ring.
      rewrite Z.div_add_l by lia. rewrite (Z.mul_comm P), Z.div_mul by lia. reflexivity.
    + rewrite !Z.div_small by nia. lia.
Qed.

(** * A weight inside an axis is crossed by a short step *)

(** Every weight below the number of elements is crossed by a unit step: as far as the outermost axis goes below it,
    then along the inner ones. *)
Lemma some_step_crosses : forall kk P, positives kk -> 0 < P < numel kk ->
  exists k i, (k < length kk)%nat /\ inbox (whole kk) i /\ inbox (whole kk) (bump k i) /\
    ravel kk i < P <= ravel kk i + nth k (row_major kk) 0.
Proof.
  unfold ravel. induction kk as [|s r IH]; intros P PK HP; [simpl in HP; lia|].
  inversion PK; subst. pose proof (numel_pos r H2) as N. cbn [numel] in HP.
  pose proof (corner_inbox _ (whole_solid r H2)) as C. pose proof (dot_corner_whole (row_major r) r) as C0.
  destruct (Z_le_dec P ((s - 1) * numel r)) as [E|E].
  - set (q := (P - 1) / numel r).
    pose proof (Z.div_mod (P - 1) (numel r) ltac:(lia)) as D. pose proof (Z.mod_pos_bound (P - 1) (numel r) N).
    fold q in D. assert (0 <= q) by (apply Z.div_pos; lia). assert (q < s - 1) by nia.
    exists O, (q :: corner (whole r)). cbn [length bump row_major dot nth]. rewrite C0.
    split; [lia|]. split; [simpl; split; [lia|exact C]|]. split; [simpl; split; [lia|exact C]|]. nia.
  - destruct (IH (P - (s - 1) * numel r) H2 ltac:(lia)) as (k & i & Hk & Hi & Hi' & V).
    exists (S k), (s - 1 :: i). cbn [length bump row_major dot nth].
    split; [lia|]. split; [simpl; split; [lia|exact Hi]|]. split; [simpl; split; [lia|exact Hi']|]. lia.
Qed.

Lemma row_major_decreasing : forall kk k, positives kk -> (k < length kk)%nat ->
  1 <= nth k (row_major kk) 0 <= numel (tl kk).
Proof.
  induction kk as [|s r IH]; intros k PK Hk; [simpl in Hk; lia|].
  inversion PK; subst. pose proof (numel_pos r H2). cbn [row_major tl].
  destruct k as [|k]; [simpl; lia|]. cbn [nth]. specialize (IH k H2 ltac:(simpl in Hk; lia)).
  destruct r as [|s' r']; [simpl in Hk; lia|]. inversion H2; subst. pose proof (numel_pos r' H5).
  cbn [tl numel] in *. nia.
Qed.

(** A weight strictly inside an axis is crossed by a step that is shorter than the weight. *)
Lemma short_step_crosses : forall kk P l, positives kk -> (l < length kk)%nat ->
  nth l (row_major kk) 0 < P < nth l (row_major kk) 0 * nth l kk 0 ->
  exists k i, (k < length kk)%nat /\ inbox (whole kk) i /\ inbox (whole kk) (bump k i) /\
    ravel kk i < P <= ravel kk i + nth k (row_major kk) 0 /\ nth k (row_major kk) 0 < P.
Proof.
  induction kk as [|s r IH]; intros P l PK Hl HP; [simpl in Hl; lia|]. inversion PK; subst.
  destruct l as [|l].
  - cbn [nth row_major] in HP. pose proof (numel_pos r H2).
    destruct (some_step_crosses (s :: r) P PK ltac:(cbn [numel]; lia)) as (k & i & Hk & Hi & Hi' & V).
    exists k, i. repeat (split; [assumption|]).
    pose proof (row_major_decreasing (s :: r) k PK Hk) as D. cbn [tl] in D. lia.
  - destruct (IH P l H2 ltac:(simpl in Hl; lia) HP) as (k & i & Hk & Hi & Hi' & V & D).
    exists (S k), (0 :: i). unfold ravel in *. cbn [length bump row_major dot nth].
    split; [lia|]. split; [simpl; split; [lia|exact Hi]|]. split; [simpl; split; [lia|exact Hi']|]. lia.
Qed.

(** * The boundaries of a shape without axes of one element *)

(** From the outermost in, each weight is at least twice the next. *)
Lemma weights_double : forall ss st, Forall (fun s => 2 <= s) ss -> forall l1 P c l2,
  boundaries ss st = l1 ++ (P, c) :: l2 -> forall P' c', In (P', c') l1 -> 2 * P <= P'.
Proof.
  assert (UP : forall ss st P c, Forall (fun s => 2 <= s) ss -> In (P, c) (boundaries ss st) ->
             2 * P <= numel ss /\ forall s r, ss = s :: r -> P <= numel r).
  { induction ss as [|s [|s2 r] IH]; intros st P c F I; [destruct I|destruct st; destruct I|].
    destruct st as [|t [|t2 tr]]; [destruct I|destruct I|].
    inversion F as [|? ? F1 F2]; subst.
    assert (PP : positives (s2 :: r)) by (eapply Forall_impl; [|exact F2]; simpl; intros; lia).
    pose proof (numel_pos _ PP) as N.
    assert (LE : P <= numel (s2 :: r)).
    { change (In (P, c) ((numel (s2 :: r), t - s2 * t2) :: boundaries (s2 :: r) (t2 :: tr))) in I.
      destruct I as [I|I]; [apply (f_equal fst) in I; cbn [fst] in I; lia|]. destruct (IH (t2 :: tr) P c F2 I). lia. }
    split; [change (numel (s :: s2 :: r)) with (s * numel (s2 :: r)); nia|].
    intros s' r' E. injection E as <- <-. exact LE. }
  induction ss as [|s [|s2 r] IH]; intros st F l1 P c l2 E P' c' I.
  - destruct l1; discriminate E.
  - destruct st; destruct l1; discriminate E.
  - destruct st as [|t [|t2 tr]]; [destruct l1; discriminate E|destruct l1; discriminate E|].
    inversion F as [|? ? F1 F2]; subst.
    change (boundaries (s :: s2 :: r) (t :: t2 :: tr))
      with ((numel (s2 :: r), t - s2 * t2) :: boundaries (s2 :: r) (t2 :: tr)) in E.
    destruct l1 as [|w l1]; [destruct I|].
    pose proof (f_equal (@tl (Z * Z)) E) as E'. pose proof (f_equal (fun l => fst (hd (0, 0) l)) E) as Ew.
    cbn [tl hd app fst] in E', Ew. destruct I as [I|I].
    + rewrite I in Ew. cbn [fst] in Ew. rewrite <- Ew.
      apply (UP (s2 :: r) (t2 :: tr) P c F2). rewrite E'. apply in_or_app. right. left. reflexivity.
    + exact (IH (t2 :: tr) F2 l1 P c l2 E' P' c' I).
Qed.

Lemma jumps_even_between : forall kk bs, positives kk ->
  (forall P c, In (P, c) bs -> 0 < P) -> (forall P c, In (P, c) bs -> c = 0 \/ between_axes P kk) ->
  even (whole kk) (fun i => jumps bs (ravel kk i)).
Proof.
  intros kk bs PK HP H. induction bs as [|[P c] r IH]; [exact (even_const (whole kk) 0)|]. cbn [jumps]. apply even_plus.
  - destruct (H P c (or_introl eq_refl)) as [->|B].
    + apply even_ext with (fun _ => 0); [intros; ring|apply even_const].
    + apply even_scale. eapply even_ext.
      * intros i Hi. symmetry. apply quotient_between; [exact PK|apply (HP P c (or_introl eq_refl))|exact B|exact Hi].
      * apply even_dot. rewrite map_length, row_major_length, whole_length. reflexivity.
  - apply IH; intros P' c' I; [apply (HP P' c')|apply (H P' c')]; right; exact I.
Qed.

(** The last member of a list that has a property. *)
Lemma last_with : forall (X : Type) (p : X -> bool) l, existsb p l = true ->
  exists l1 y l2, l = l1 ++ y :: l2 /\ p y = true /\ forall z, In z l2 -> p z = false.
Proof.
  induction l as [|x l IH]; intros E; [discriminate|]. cbn [existsb] in E.
  destruct (existsb p l) eqn:F.
  - destruct (IH eq_refl) as (l1 & y & l2 & -> & Y & Z). exists (x :: l1), y, l2. auto.
  - rewrite orb_false_r in E. exists [], x, l. split; [reflexivity|]. split; [exact E|]. intros z I.
    destruct (p z) eqn:Q; [|reflexivity]. assert (existsb p l = true) by (apply existsb_exists; exists z; auto).
    congruence.
Qed.

(** The test as a program. *)
Fixpoint between_axesb (P : Z) (kk : list Z) : bool :=
  match kk with [] => true | s :: r => ((P <=? numel r) || (numel r * s <=? P)) && between_axesb P r end.

Lemma between_axesb_iff : forall kk P, between_axesb P kk = true <-> between_axes P kk.
Proof.
  induction kk as [|s r IH]; intros P.
  - split; [intros _ l Hl; simpl in Hl; lia|reflexivity].
  - rewrite between_axes_cons. cbn [between_axesb]. rewrite andb_true_iff, orb_true_iff, !Z.leb_le, IH. tauto.
Qed.

Lemma inside_of_not_between : forall kk P, ~ between_axes P kk ->
  exists l, (l < length kk)%nat /\ nth l (row_major kk) 0 < P < nth l (row_major kk) 0 * nth l kk 0.
Proof.
  induction kk as [|s r IH]; intros P H.
  - exfalso. apply H. intros l Hl. simpl in Hl. lia.
  - destruct (Z_le_dec P (numel r)) as [A|A]; [|destruct (Z_le_dec (numel r * s) P) as [A'|A']].
    + destruct (IH P) as (l & Hl & V); [intros B; apply H, between_axes_cons; tauto|]. exists (S l). simpl.
      split; [lia|exact V].
    + destruct (IH P) as (l & Hl & V); [intros B; apply H, between_axes_cons; tauto|]. exists (S l). simpl.
      split; [lia|exact V].
    + exists O. simpl. split; [lia|]. lia.
Qed.

Section Order.

(** A view of sizes [ss] and strides [st], in the row-major order of the sizes [kk]. *)
Variables ss st kk : list Z.
Hypothesis Pss : positives ss.
Hypothesis Lst : length st = length ss.
Hypothesis Pkk : positives kk.
Hypothesis same_count : numel kk = numel ss.

Let address_of (i : index) : Z := dot st (unravel ss (ravel kk i)).

Lemma order_sum : forall i, inbox (whole kk) i ->
  address_of i = last st 0 * ravel kk i + jumps (boundaries ss st) (ravel kk i).
Proof.
  intros i Hi. pose proof (ravel_bounds kk i Hi). apply address_by_boundaries; auto. lia.
Qed.

Lemma even_multiple : forall c, even (whole kk) (fun i => c * ravel kk i).
Proof.
  intros c. apply even_scale. unfold ravel. apply even_dot. rewrite row_major_length, whole_length. reflexivity.
Qed.

(** Let a boundary whose jump is not 0 lie strictly inside an axis.  If every other boundary has jump 0, lies between
    the axes, or weighs at least twice as much, then steps are not even: the short step that crosses the boundary
    carries over no other one unlike the first step of its axis. *)
Lemma inside_uneven : forall P c l1 l2, boundaries ss st = l1 ++ (P, c) :: l2 -> c <> 0 -> ~ between_axes P kk ->
  (forall P' c', In (P', c') (l1 ++ l2) -> c' = 0 \/ between_axes P' kk \/ 2 * P <= P') ->
  ~ even (whole kk) address_of.
Proof.
  intros P c l1 l2 EQ C NB OTHERS E.
  assert (HP : forall P' c', In (P', c') (l1 ++ l2) -> 0 < P').
  { intros P' c' I. apply (boundaries_pos ss st P' c' Pss). rewrite EQ. apply in_app_or in I. apply in_or_app. simpl.
    tauto. }
  destruct (inside_of_not_between kk P NB) as (l & Hl & V).
  destruct (short_step_crosses kk P l Pkk Hl V) as (k & i & Hk & Hi & Hi' & CR & SH).
  pose proof (unit_inside kk i k Hi Hk Hi') as HU. unfold unit_index in HU.
  assert (HZ : inbox (whole kk) (zero kk)) by (rewrite <- zero_corner; apply corner_inbox, whole_solid, Pkk).
  assert (LK : forall j, inbox (whole kk) j -> ravel kk (bump k j) = ravel kk j + nth k (row_major kk) 0).
  { intros j Hj. unfold ravel. apply dot_bump. rewrite row_major_length, (inbox_length _ _ Hj), whole_length.
    reflexivity. }
  assert (R0 : ravel kk (zero kk) = 0) by apply dot_zero.
  pose proof (LK i Hi) as Xi. pose proof (LK (zero kk) HZ) as X0. rewrite R0 in X0.
  pose proof (ravel_bounds kk i Hi) as RB. pose proof (row_major_decreasing kk k Pkk Hk) as A1.
  set (a := nth k (row_major kk) 0) in *.
  assert (REST : jumps (l1 ++ l2) (ravel kk i + a) - jumps (l1 ++ l2) (ravel kk i)
                 = jumps (l1 ++ l2) (0 + a) - jumps (l1 ++ l2) 0).
  { clear EQ. induction (l1 ++ l2) as [|[P' c'] r IH]; [reflexivity|]. cbn [jumps].
    specialize (IH (fun P' c' I => OTHERS P' c' (or_intror I)) (fun P' c' I => HP P' c' (or_intror I))).
    pose proof (HP P' c' (or_introl eq_refl)) as P0.
    destruct (OTHERS P' c' (or_introl eq_refl)) as [->|[B|F]]; [lia| |].
    - pose proof (jumps_even_between kk [(P', c')] Pkk) as EJ. cbn [jumps] in EJ.
      assert (EV : even (whole kk) (fun i => c' * (ravel kk i / P') + 0)).
      { apply EJ; intros P2 c2 [I|[]]; injection I as <- <-; auto. }
      pose proof (EV k i (zero kk) Hi Hi' HZ HU) as D. cbv beta in D. rewrite Xi, X0, R0 in D. lia.
    - rewrite !(Z.div_small _ P') by lia. lia. }
  pose proof (E k i (zero kk) Hi Hi' HZ HU) as D. rewrite !order_sum in D by assumption.
  rewrite EQ, !jumps_app in D. rewrite !jumps_app in REST. cbn [jumps] in D. rewrite Xi, X0, R0 in D.
  set (x := ravel kk i) in *. rewrite (Z.div_small x P), (Z.div_small (0 + a) P), (Z.div_small 0 P) in D by lia.
  assert (Q : 1 = (x + a) / P) by (apply Z.div_unique with (x + a - P); lia). rewrite <- Q in D. lia.
Qed.

(** Where all sizes are at least 2, steps are even exactly if every boundary whose jump is not 0 lies between the
    axes. *)
Lemma even_iff_between : Forall (fun s => 2 <= s) ss ->
  (even (whole kk) address_of <-> forall P c, In (P, c) (boundaries ss st) -> c = 0 \/ between_axes P kk).
Proof.
  intros F. split.
  - intros E. set (bad := fun b : Z * Z => negb (snd b =? 0) && negb (between_axesb (fst b) kk)).
    assert (BAD : forall P c, bad (P, c) = false <-> c = 0 \/ between_axes P kk).
    { intros P c. unfold bad. cbn [fst snd]. rewrite <- between_axesb_iff.
      destruct (Z.eqb_spec c 0), (between_axesb P kk); simpl; intuition congruence. }
    destruct (existsb bad (boundaries ss st)) eqn:X.
    2:{ intros P c I. apply BAD. destruct (bad (P, c)) eqn:Q; [|reflexivity].
        assert (existsb bad (boundaries ss st) = true) by (apply existsb_exists; exists (P, c); auto). congruence. }
    exfalso. destruct (last_with _ bad _ X) as (outer & [P c] & inner & EQ & Y & REST).
    revert E. apply (inside_uneven P c outer inner EQ).
    + intros Q. rewrite (proj2 (BAD P c)) in Y by tauto. discriminate Y.
    + intros Q. rewrite (proj2 (BAD P c)) in Y by tauto. discriminate Y.
    + intros P' c' I. apply in_app_or in I. destruct I as [I|I].
      * right. right. exact (weights_double ss st F outer P c inner EQ P' c' I).
      * specialize (REST _ I). apply BAD in REST. tauto.
  - intros H. eapply even_ext; [intros i Hi; symmetry; apply order_sum; exact Hi|].
    apply even_plus; [apply even_multiple|]. apply jumps_even_between; try assumption.
    intros P c. apply boundaries_pos. exact Pss.
Qed.

End Order.

(** * The reshaped view *)

(** The strides of the reshaped view.  The axis of stride a_l has sigma a_l, with sigma the innermost stride, and for
    every boundary at or below it the jump times the product n_(l+1) .. n_k.  Nothing is divided. *)
Fixpoint reshaped_strides (sigma : Z) (bs : list (Z * Z)) (kk : list Z) : list Z :=
  match kk with
  | [] => []
  | _ :: r => sigma * numel r + total bs (fun P => if P <=? numel r then down_to P r else 0)
              :: reshaped_strides sigma bs r
  end.

Lemma reshaped_strides_length : forall sigma bs kk, length (reshaped_strides sigma bs kk) = length kk.
Proof. induction kk; simpl; congruence. Qed.

Lemma reshaped_strides_dot : forall sigma bs kk i, positives kk -> inbox (whole kk) i ->
  (forall P c, In (P, c) bs -> 0 < P) -> (forall P c, In (P, c) bs -> c = 0 \/ between_axes P kk) ->
  dot (reshaped_strides sigma bs kk) i = sigma * ravel kk i + jumps bs (ravel kk i).
Proof.
  assert (ROW : forall bs r, positives r ->
            (forall P c, In (P, c) bs -> 0 < P) -> (forall P c, In (P, c) bs -> c = 0 \/ between_axes P r) ->
            total bs (fun P => if P <=? numel r then down_to P r else 0) = jumps bs (numel r)).
  { intros bs r PR. pose proof (numel_pos r PR). induction bs as [|[P c] bs IH]; intros HP H0; [reflexivity|].
    cbn [total jumps].
    rewrite IH by (intros P' c' I; first [apply (HP P' c')|apply (H0 P' c')]; right; exact I). f_equal.
    destruct (H0 P c (or_introl eq_refl)) as [->|B]; [ring|]. f_equal.
    pose proof (HP P c (or_introl eq_refl)). destruct (Z.leb_spec P (numel r)).
    - rewrite <- (down_to_is_quotient r P) by (auto; lia). rewrite Z.mul_comm, Z.div_mul by lia. reflexivity.
    - rewrite Z.div_small by lia. reflexivity. }
  intros sigma bs. induction kk as [|s r IH]; destruct i as [|y i]; intros PK I HP H; try (exfalso; exact I).
  - assert (J0 : jumps bs 0 = 0).
    { clear. induction bs as [|[P c] bs IH]; [reflexivity|]. cbn [jumps]. rewrite IH. change (0 / P) with 0. ring. }
    unfold ravel. cbn [reshaped_strides dot row_major]. rewrite J0. ring.
  - inversion PK; subst. destruct I as [I1 I2]. cbn [fst snd] in I1.
    assert (HR : forall P c, In (P, c) bs -> c = 0 \/ between_axes P r).
    { intros P c J. destruct (H P c J) as [C|B]; [left; exact C|right]. apply between_axes_cons in B. apply B. }
    cbn [reshaped_strides dot]. rewrite (IH i H3 I2 HP HR), (ROW bs r H3 HP HR).
    pose proof (ravel_bounds r i I2) as RB. unfold ravel in *. cbn [row_major dot]. set (x := dot (row_major r) i) in *.
    assert (J : jumps bs (numel r * y + x) = jumps bs (numel r) * y + jumps bs x).
    { clear - HP H HR H2 H3 I1 RB. pose proof (numel_pos r H3).
      induction bs as [|[P c] bs IH]; [simpl; lia|]. cbn [jumps].
      rewrite IH by (intros P' c' J; first [apply (HP P' c')|apply (H P' c')|apply (HR P' c')]; right; exact J).
      pose proof (HP P c (or_introl eq_refl)).
      destruct (H P c (or_introl eq_refl)) as [->|B]; [ring|]. apply between_axes_cons in B. destruct B as [B0 B].
      destruct (Z_le_dec P (numel r)) as [N|N].
      - assert (E : (numel r * y + x) / P = numel r / P * y + x / P).
        { rewrite <- (down_to_is_quotient r P) at 1 2 by (auto; lia).
          replace (P * down_to P r * y + x) with (down_to P r * y * P + x) by ring.
          rewrite Z.div_add_l by lia. rewrite (Z.mul_comm P), Z.div_mul by lia. reflexivity. }
        rewrite E. ring.
      - rewrite !Z.div_small by nia. ring. }
    rewrite J. ring.
Qed.

Lemma reshape_full : forall A kk, wf A -> full A -> positives kk -> numel kk = numel (sizes A) ->
  positives (sizes A) /\ (forall i, reads A (contiguous kk) i <-> inbox (whole kk) i).
Proof.
  intros A kk WA FA PK N.
  destruct (full_pair A (contiguous kk) WA (reshape_fits A kk N) FA) as (PA & _ & R & _).
  - split; [reflexivity|]. rewrite contiguous_sizes. apply strided_mask, row_major_length.
  - rewrite contiguous_sizes. exact PK.
  - rewrite contiguous_sizes in R. auto.
Qed.

(** The view, wherever the condition holds.  The earlier view may be taken with any axes in which its order of
    elements can be written: with axes of one element or without, with neighbours that join or not.  So nothing need
    be asked of its sizes for a yes. *)
Theorem reshape_view : forall A kk ss st, wf A -> full A -> positives kk -> numel kk = numel (sizes A) ->
  positives ss -> length st = length ss -> same_order (sizes A) (strides A) ss st ->
  (forall P c, In (P, c) (boundaries ss st) -> c = 0 \/ between_axes P kk) ->
  is_view kk (compose A (contiguous kk)) (strided kk (reshaped_strides (last st 0) (boundaries ss st) kk) (offset A)).
Proof.
  intros A kk ss st WA FA PK N PS L [N' O] H.
  destruct (reshape_full A kk WA FA PK N) as [PA R].
  split; [apply strided_wf; eapply Forall_impl; [|exact PK]; simpl; intros; lia|].
  split; [apply strided_sizes, reshaped_strides_length|]. intros i Hi.
  rewrite read_valid.
  2:{ split; [reflexivity|]. rewrite strided_mask by apply reshaped_strides_length. exact Hi. }
  unfold affine. rewrite strided_strides by apply reshaped_strides_length. cbn [offset strided].
  pose proof (proj1 (reads_iff _ _ _) (proj2 (R i) Hi)) as [V1 V2]. rewrite contiguous_affine in V2.
  unfold compose. rewrite contiguous_read by exact Hi. rewrite read_valid by exact V2. unfold affine. f_equal. f_equal.
  pose proof (ravel_bounds kk i Hi). rewrite O by lia. rewrite (order_sum ss st kk PS L ltac:(congruence)) by exact Hi.
  apply reshaped_strides_dot; try assumption. intros P c. apply boundaries_pos. exact PS.
Qed.

(** The earlier view without its axes of one element: its boundaries, and its innermost stride. *)
Definition real (A : view) : list (Z * Z) := real_axes (combine (sizes A) (strides A)).
Definition real_boundaries (A : view) : list (Z * Z) := boundaries (map fst (real A)) (map snd (real A)).

Lemma map_combine : forall (xs ys : list Z), length xs = length ys ->
  map fst (combine xs ys) = xs /\ map snd (combine xs ys) = ys.
Proof.
  induction xs as [|x xs IH]; destruct ys as [|y ys]; intros L; try discriminate; [auto|].
  destruct (IH ys ltac:(simpl in L; congruence)) as [E1 E2]. simpl. rewrite E1, E2. auto.
Qed.

Lemma real_order : forall A, positives (sizes A) ->
  same_order (sizes A) (strides A) (map fst (real A)) (map snd (real A)) /\
  Forall (fun s => 2 <= s) (map fst (real A)).
Proof.
  intros A PA.
  assert (L : length (sizes A) = length (strides A)) by (unfold sizes, strides; rewrite !map_length; reflexivity).
  destruct (map_combine _ _ L) as [E1 E2]. unfold real. split.
  - pose proof (real_axes_order (combine (sizes A) (strides A))) as Q. rewrite E1, E2 in Q. exact (Q PA).
  - apply real_at_least_2. rewrite E1. exact PA.
Qed.

Lemma reshape_even : forall A kk ss st, wf A -> full A -> positives kk -> numel kk = numel (sizes A) ->
  same_order (sizes A) (strides A) ss st ->
  (mergeable A (contiguous kk) <-> even (whole kk) (fun i => dot st (unravel ss (ravel kk i)))).
Proof.
  intros A kk ss st WA FA PK N [_ O]. destruct (reshape_full A kk WA FA PK N) as [PA R].
  assert (WB : wf (contiguous kk)) by (apply contiguous_wf; eapply Forall_impl; [|exact PK]; simpl; intros; lia).
  rewrite (mergeable_iff_even A (contiguous kk) (whole kk) WA WB (whole_solid kk PK) R).
  assert (AD : forall i, inbox (whole kk) i ->
            address A (contiguous kk) i = offset A + dot st (unravel ss (ravel kk i))).
  { intros i Hi. unfold address. rewrite contiguous_affine. unfold affine. rewrite O; [reflexivity|].
    rewrite <- N. apply ravel_bounds. exact Hi. }
  split; intros E l i j Hi Hi' Hj Hj'; pose proof (E l i j Hi Hi' Hj Hj') as D; cbv beta in *;
    pose proof (AD _ Hi); pose proof (AD _ Hi'); pose proof (AD _ Hj); pose proof (AD _ Hj'); lia.
Qed.

(** A no that asks for less.  It takes one boundary strictly inside an axis, with a jump that is not 0, if every other
    boundary has jump 0, lies between the axes, or weighs at least twice as much.  So the innermost one that lies inside
    will do if the axis just above it has at least two elements, and the only one will do whatever the sizes are. *)
Theorem reshape_no : forall A kk ss st P c l1 l2, wf A -> full A -> positives kk -> numel kk = numel (sizes A) ->
  positives ss -> length st = length ss -> same_order (sizes A) (strides A) ss st ->
  boundaries ss st = l1 ++ (P, c) :: l2 -> c <> 0 -> ~ between_axes P kk ->
  (forall P' c', In (P', c') (l1 ++ l2) -> c' = 0 \/ between_axes P' kk \/ 2 * P <= P') ->
  ~ mergeable A (contiguous kk).
Proof.
  intros A kk ss st P c l1 l2 WA FA PK N PS L O EQ C NB OTHERS M.
  apply (reshape_even A kk ss st WA FA PK N O) in M. revert M.
  apply inside_uneven with P c l1 l2; try assumption. destruct O as [N' _]. congruence.
Qed.

(** The criterion.  A view without mask, whatever its strides and offset, is one view with a row-major view of as many
    elements exactly if no boundary of it, its axes of one element left out, lies strictly inside an axis of the new
    shape, but where the jump is 0.  The new shape may have axes of one element: the condition holds for them by
    itself. *)
Theorem reshape_iff_boundaries : forall A kk, wf A -> full A -> positives kk -> numel kk = numel (sizes A) ->
  (mergeable A (contiguous kk) <->
   forall P c, In (P, c) (real_boundaries A) -> forall l, (l < length kk)%nat ->
     c = 0 \/ P <= nth l (row_major kk) 0 \/ nth l (row_major kk) 0 * nth l kk 0 <= P).
Proof.
  intros A kk WA FA PK N. destruct (reshape_full A kk WA FA PK N) as [PA R]. destruct (real_order A PA) as [O F].
  rewrite (reshape_even A kk _ _ WA FA PK N O).
  rewrite (even_iff_between (map fst (real A)) (map snd (real A)) kk).
  - fold (real_boundaries A). split.
    + intros H P c I l Hl. destruct (H P c I) as [C|B]; [left; exact C|right; exact (B l Hl)].
    + intros H P c I. destruct (Z.eq_dec c 0) as [C|C]; [left; exact C|right]. intros l Hl.
      destruct (H P c I l Hl) as [C'|B]; [contradiction|exact B].
  - eapply Forall_impl; [|exact F]. simpl; intros; lia.
  - rewrite !map_length. reflexivity.
  - exact PK.
  - destruct O as [N' _]. congruence.
  - exact F.
Qed.

(** ... and this is the view then. *)
Theorem reshape_strides : forall A kk, wf A -> full A -> positives kk -> numel kk = numel (sizes A) ->
  mergeable A (contiguous kk) ->
  is_view kk (compose A (contiguous kk))
    (strided kk (reshaped_strides (last (map snd (real A)) 0) (real_boundaries A) kk) (offset A)).
Proof.
  intros A kk WA FA PK N M. destruct (reshape_full A kk WA FA PK N) as [PA R]. destruct (real_order A PA) as [O F].
  assert (PS : positives (map fst (real A))) by (eapply Forall_impl; [|exact F]; simpl; intros; lia).
  apply (reshape_view A kk (map fst (real A)) (map snd (real A)) WA FA PK N PS); [rewrite !map_length;
  reflexivity|exact O|].
  apply (even_iff_between (map fst (real A)) (map snd (real A)) kk PS); try assumption.
  - rewrite !map_length. reflexivity.
  - destruct O as [N' _]. congruence.
  - apply (reshape_even A kk _ _ WA FA PK N O). exact M.
Qed.

(** * With names for sizes *)

Lemma same_order_refl : forall ss st, same_order ss st ss st.
Proof. intros. split; reflexivity. Qed.

(** An (a, b) matrix, transposed and then read as (c, d). *)
Example transposed_as : forall a b c d, 1 <= a -> 1 <= b -> 1 <= c -> 1 <= d -> a * b = c * d ->
  (mergeable (strided [b; a] [1; b] 0) (contiguous [c; d]) <-> a = 1 \/ a = d \/ b = 1).
Proof.
  intros a b c d Ha Hb Hc Hd E. set (A := strided _ _ _).
  assert (WA : wf A) by (apply strided_wf; repeat constructor; lia). assert (FA : full A) by (split; reflexivity).
  assert (PK : positives [c; d]) by (repeat constructor; lia).
  assert (N : numel [c; d] = numel (sizes A)) by (change (sizes A) with [b; a]; cbn [numel]; lia).
  rewrite (reshape_iff_boundaries A [c; d] WA FA PK N). unfold real_boundaries, real.
  change (sizes A) with [b; a]. change (strides A) with [1; b]. cbn [combine real_axes filter fst].
  destruct (Z.eqb_spec b 1) as [B1|B1], (Z.eqb_spec a 1) as [A1|A1]; cbn [negb map fst snd boundaries numel];
    try (split; [tauto|intros _ P j []]).
  rewrite Z.mul_1_r. split.
  - intros H. pose proof (H a (1 - a * b) (or_introl eq_refl) O ltac:(simpl; lia)) as H0.
    pose proof (H a (1 - a * b) (or_introl eq_refl) 1%nat ltac:(simpl; lia)) as H1.
    cbn [nth row_major numel] in H0, H1. nia.
  - intros [H|[H|H]]; [contradiction| |contradiction]. subst d. intros P j [I|[]] l Hl. injection I as <- <-. right.
    destruct l as [|[|l]]; [| |simpl in Hl; lia]; cbn [nth row_major numel]; lia.
Qed.

(** The heads of an attention layer: (B, T, H, D) with the middle axes exchanged, read as (B, H T, D).  Nothing is
    asked of B and D: the yes holds with axes of one element as it stands, and the no asks only for H to be at least
    2. *)
Example heads_joined : forall B T H D, 1 <= B -> 1 <= T -> 1 <= H -> 1 <= D ->
  (mergeable (strided [B; H; T; D] [T * (H * D); D; H * D; 1] 0) (contiguous [B; H * T; D]) <-> T = 1 \/ H = 1).
Proof.
  intros B T H D HB HT HH HD. set (A := strided _ _ _). set (kk := [B; H * T; D]).
  assert (WA : wf A) by (apply strided_wf; repeat constructor; lia). assert (FA : full A) by (split; reflexivity).
  assert (PK : positives kk) by (repeat constructor; nia).
  assert (N : numel kk = numel (sizes A)) by (change (sizes A) with [B; H; T; D]; unfold kk; cbn [numel]; ring).
  assert (PS : positives [B; H; T; D]) by (repeat constructor; lia).
  assert (O : same_order (sizes A) (strides A) [B; H; T; D] [T * (H * D); D; H * D; 1]) by (split; reflexivity).
  assert (AXES : forall P, between_axes P kk <->
            (P <= H * T * D \/ H * T * D * B <= P) /\ (P <= D \/ D * (H * T) <= P) /\ (P <= 1 \/ D <= P)).
  { intros P. unfold kk. rewrite !between_axes_cons. cbn [numel]. rewrite !Z.mul_1_r, !Z.mul_1_l.
    assert (between_axes P []) by (intros l Hl; simpl in Hl; lia). tauto. }
  assert (EQ : boundaries [B; H; T; D] [T * (H * D); D; H * D; 1] =
            [(H * T * D, T * (H * D) - H * D)] ++ (T * D, D - T * (H * D)) :: [(D, H * D - D)]).
  { cbn [boundaries numel app]. rewrite !Z.mul_1_r. rewrite Z.mul_assoc. reflexivity. }
  split.
  - intros M. destruct (Z.eq_dec T 1) as [T1|T1]; [left; exact T1|].
    destruct (Z.eq_dec H 1) as [H1|H1]; [right; exact H1|].
    exfalso. revert M.
    refine (reshape_no A kk _ [T * (H * D); D; H * D; 1] _ _ _ _ WA FA PK N PS eq_refl O EQ _ _ _).
    + assert (2 <= T * H) by nia. nia.
    + rewrite AXES. assert (D < T * D) by nia. assert (T * D < D * (H * T)) by nia. lia.
    + intros P' c' [I|[I|[]]]; injection I as <- <-; right; [right; nia|left]. apply AXES.
      assert (1 <= H * T) by nia. split; [left; nia|]. split; [left|right]; lia.
  - intros C. eexists. rewrite contiguous_sizes.
    apply (reshape_view A kk _ [T * (H * D); D; H * D; 1] WA FA PK N PS eq_refl O). rewrite EQ.
    assert (1 <= H * T) by nia.
    intros P c [I|[I|[I|[]]]]; injection I as <- <-; right; apply AXES.
    + split; [left; lia|]. split; right; nia.
    + destruct C as [->| ->]; (split; [left; nia|]; split; [|right]; nia).
    + split; [left; nia|]. split; [left|right]; lia.
Qed.

(** Axes of one element take no part.  (2, 3) exchanged is not one row, and is any shape that keeps its rows. *)
Example reshaped_example :
  real_boundaries (strided [3; 1; 2] [2; 7; 1] 0) = [(2, 0)] /\
  reshaped_strides 1 [(2, 0)] [6] = [1] /\
  real_boundaries (strided [3; 2] [1; 3] 0) = [(2, -5)] /\ between_axesb 2 [6] = false /\
  between_axesb 2 [3; 1; 2] = true /\ reshaped_strides 3 [(2, -5)] [3; 1; 2] = [1; 1; 3].
Proof. repeat split; reflexivity. Qed.
