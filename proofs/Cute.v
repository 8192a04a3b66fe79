(** Layouts as CuTe has them: composition, complements and inverses.

    A layout is a list of modes, a size and a stride each, the leftmost fastest.  Its nesting says how coordinates
    are written and nothing else, so that it is left out here, but for the second layout of a composition: each of
    its leaves becomes a list of modes with the same product. *)

From Coq Require Import ZArith Lia List Bool Permutation.
From Shapetracker Require Import View Splits.
Import ListNotations.
Open Scope Z_scope.

Notation mode := (Z * Z)%type.

Definition naturals (ms : list mode) : Prop := Forall (fun m => 0 <= fst m) ms.

(** The value at a number below the size. *)
Definition at_number (ms : list mode) (x : Z) : Z := dot (map snd ms) (digits (map fst ms) x).

(** The value where the last mode goes on for ever. *)
Fixpoint at_extended (ms : list mode) (x : Z) : Z :=
  match ms with
  | [] => 0
  | [(_, d)] => d * x
  | (s, d) :: r => d * (x mod s) + at_extended r (x / s)
  end.

(** The two readings agree on the numbers of a layout. *)
Theorem extended_agrees : forall ms x,
  0 <= x < numel (map fst ms) -> naturals ms -> at_extended ms x = at_number ms x.
Proof.
  unfold at_number. induction ms as [|[s d] ms IH]; intros x X N; [reflexivity|].
  inversion N as [|? ? N1 N2]; subst. cbn [map fst snd numel] in *.
  assert (0 < s) by (destruct (Z.eq_dec s 0); [subst s|]; lia). destruct ms as [|m ms].
  - cbn [at_extended map digits dot]. simpl in X. rewrite Z.mod_small by lia. ring.
  - assert (E : at_extended (m :: ms) (x / s) = dot (map snd (m :: ms)) (digits (map fst (m :: ms)) (x / s))).
    { apply IH; [|assumption]. split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]. }
    change (at_extended ((s, d) :: m :: ms) x) with (d * (x mod s) + at_extended (m :: ms) (x / s)). rewrite E.
    reflexivity.
Qed.

(** * Coalescing *)

(** No mode has one number, and none goes on where the one before it ends. *)
Fixpoint is_coalesced (ms : list mode) : Prop :=
  match ms with
  | [] => True
  | (s, d) :: r => 2 <= s /\ match r with [] => True | (_, e) :: _ => e <> s * d end /\ is_coalesced r
  end.

Fixpoint coalesced_modes (ms : list mode) : list mode :=
  match ms with
  | [] => []
  | (s, d) :: r =>
      if s =? 1 then coalesced_modes r
      else match coalesced_modes r with
           | (t, e) :: q => if e =? s * d then (s * t, d) :: q else (s, d) :: (t, e) :: q
           | [] => [(s, d)]
           end
  end.

Lemma at_number_cons : forall s d r x, at_number ((s, d) :: r) x = d * (x mod s) + at_number r (x / s).
Proof. reflexivity. Qed.

(** It is the same function, and has the same size. *)
Theorem coalesce_same : forall ms, positives (map fst ms) ->
  is_coalesced (coalesced_modes ms) /\ numel (map fst (coalesced_modes ms)) = numel (map fst ms) /\
  forall x, at_number (coalesced_modes ms) x = at_number ms x.
Proof.
  induction ms as [|[s d] ms IH]; intros P; [split; [exact I|split; reflexivity]|].
  inversion P as [|? ? P1 P2]; subst.
  simpl in P1. destruct (IH P2) as (I1 & I2 & I3). cbn [coalesced_modes]. destruct (Z.eqb_spec s 1) as [->|N].
  - split; [assumption|]. split; [rewrite I2; cbn [map fst numel]; ring|]. intros x.
    rewrite I3, at_number_cons, Z.mod_1_r, Z.div_1_r. ring.
  - destruct (coalesced_modes ms) as [|[t e] q].
    + split; [simpl; lia|]. split; [cbn [map fst numel] in *; lia|]. intros x. rewrite !at_number_cons, <- I3.
      reflexivity.
    + destruct I1 as (J1 & J2 & J3). destruct (Z.eqb_spec e (s * d)) as [->|M].
      * split; [|split].
        -- split; [nia|]. split; [|assumption]. destruct q as [|[u f] q]; [exact I|]. intros K. apply J2. rewrite K.
           ring.
        -- cbn [map fst numel] in *. rewrite <- I2. ring.
        -- intros x. rewrite !at_number_cons, <- I3, at_number_cons, Z.rem_mul_r, Z.div_div by lia. ring.
      * split; [split; [lia|split; [assumption|split; [assumption|split; assumption]]]|].
        split; [cbn [map fst numel] in *; rewrite <- I2; reflexivity|]. intros x. rewrite at_number_cons, I3.
        reflexivity.
Qed.

Lemma coalesced_positive : forall ms, is_coalesced ms -> positives (map fst ms).
Proof. induction ms as [|[s d] ms IH]; intros C; constructor; destruct C as (C1 & _ & C3); [simpl;
  lia|apply IH, C3]. Qed.

Lemma at_number_zero : forall ms, positives (map fst ms) -> at_number ms 0 = 0.
Proof. intros ms P. apply dot_zero_digits. assumption. Qed.

(** The run of a coalesced layout is its first mode. *)
Lemma first_mode : forall s d r, is_coalesced ((s, d) :: r) ->
  is_run (at_number ((s, d) :: r)) (numel (map fst ((s, d) :: r))) s /\ at_number ((s, d) :: r) 1 = d.
Proof.
  intros s d r (C1 & C2 & C3). pose proof (coalesced_positive r C3) as P. pose proof (numel_pos _ P) as N.
  assert (LOW : forall x, 0 <= x < s -> at_number ((s, d) :: r) x = d * x).
  { intros x X. rewrite at_number_cons, Z.mod_small, Z.div_small, at_number_zero by (assumption || lia). ring. }
  cbn [map fst numel]. split; [|rewrite LOW by lia; ring]. split; [nia|]. split.
  - intros x X. rewrite !LOW by lia. ring.
  - intros H. rewrite (LOW 1), (LOW 0) by lia. destruct r as [|[t e] r]; [simpl in H; lia|].
    destruct C3 as (D1 & _ & D3).
    rewrite at_number_cons, Z.mod_same, Z.div_same, at_number_cons, Z.mod_1_l, (Z.div_small 1), at_number_zero
      by (lia || apply coalesced_positive; assumption). intros K. apply C2. lia.
Qed.

(** Two coalesced layouts are the same function of their numbers only if they are the same. *)
Theorem coalesced_unique : forall a b, is_coalesced a -> is_coalesced b -> numel (map fst a) = numel (map fst b) ->
  (forall x, 0 <= x < numel (map fst a) -> at_number a x = at_number b x) -> a = b.
Proof.
  induction a as [|[s d] a IH]; intros [|[t e] b] A B N F.
  - reflexivity.
  - pose proof (numel_pos _ (coalesced_positive _ (proj2 (proj2 B)))). destruct B as [B _].
    cbn [map fst numel] in N. nia.
  - pose proof (numel_pos _ (coalesced_positive _ (proj2 (proj2 A)))). destruct A as [A _].
    cbn [map fst numel] in N. nia.
  - destruct (first_mode s d a A) as [(R1 & R2 & R3) E]. destruct (first_mode t e b B) as [RB EB]. rewrite <- N in RB.
    set (n := numel (map fst ((s, d) :: a))) in *.
    assert (RA : is_run (at_number ((t, e) :: b)) n s).
    { split; [exact R1|]. split.
      - intros x X. rewrite <- !F by lia. apply R2. assumption.
      - intros H. rewrite <- !F by lia. apply R3. assumption. }
    pose proof (is_run_unique _ _ _ _ RA RB). subst t.
    assert (e = d) by (rewrite <- E, <- EB; symmetry; apply F; lia). subst e. f_equal.
    destruct A as (A1 & _ & A3), B as (_ & _ & B3). unfold n in *. cbn [map fst numel] in *.
    apply IH; [assumption|assumption|nia|]. intros x X.
    pose proof (F (s * x) ltac:(nia)) as G.
    rewrite !at_number_cons, (Z.mul_comm s x), Z.mod_mul, Z.div_mul in G by lia. lia.
Qed.

(** * Composition *)

(** Whether a layout takes a number: a strict one those below its size; one whose last mode goes on takes all that
    are not negative, unless it has no mode, or no coordinate before the last mode. *)
Definition has_room (ms : list mode) : bool := forallb (fun s => negb (s =? 0)) (removelast (map fst ms)).

Definition takes (strict : bool) (ms : list mode) (x : Z) : Prop :=
  0 <= x /\
  if strict then x < numel (map fst ms)
  else match ms with [] => x = 0 | _ => has_room ms = true end.

(** A list of modes for each leaf of [B] is a composition if each has the size of its leaf, and if its values are
    those of [A] at the values of [B], all of which [A] takes. *)
Definition composition (strict : bool) (A B : list mode) (fss dss : list (list Z)) : Prop :=
  Forall2 (fun n fs => Forall (fun f => 0 <= f) fs /\ numel fs = n) (map fst B) fss /\ same_lengths dss fss /\
  forall c, inbox (whole (map fst B)) c ->
    takes strict A (dot (map snd B) c) /\ dots dss fss c = at_extended A (dot (map snd B) c).

(** The last value of a layout without negative strides. *)
Fixpoint last_value (ms : list mode) : Z := match ms with [] => 0 | (n, b) :: r => b * (n - 1) + last_value r end.

(** Whether all values are taken. *)
Definition inside (strict : bool) (A B : list mode) : bool :=
  forallb (fun m => (fst m <=? 1) || (0 <=? snd m)) B &&
  (if strict then last_value B <? numel (map fst A)
   else match A with [] => last_value B <=? 0 | _ => has_room A end).

(** The composition: for each leaf the sizes and the strides of its modes.  A leaf of one number keeps one mode. *)
Definition no_mode (fs : list Z) : list Z := match fs with [] => [1] | _ => fs end.
Definition no_step (ds : list Z) : list Z := match ds with [] => [0] | _ => ds end.

Definition compose_layouts (strict : bool) (A B : list mode) : option (list (list Z) * list (list Z)) :=
  let ns := map fst B in
  let f := fun c => at_extended A (dot (map snd B) c) in
  if existsb (fun n => n =? 0) ns then Some (map (fun n => [n]) ns, map (fun _ => [0]) ns)
  else if inside strict A B then
    match candidate ns f with
    | Some fss => Some (map no_mode fss, map no_step (steps_each (lines f ns) fss))
    | None => None
    end
  else None.

Lemma last_value_greatest : forall B c, Forall (fun m => fst m <= 1 \/ 0 <= snd m) B -> inbox (whole (map fst B)) c ->
  0 <= dot (map snd B) c <= last_value B.
Proof.
  induction B as [|[n b] B IH]; intros [|x c] F I; simpl in I; try tauto; [simpl; lia|].
  inversion F; subst. destruct I as [I1 I2]. specialize (IH c H2 I2). cbn [map fst snd dot last_value] in *.
  destruct H1 as [H1|H1]; [|nia]. assert (x = 0) by lia. assert (n = 1) by lia. subst. lia.
Qed.

(** The last coordinate, and where one entry is 1. *)
Lemma last_value_attained : forall B, positives (map fst B) ->
  inbox (whole (map fst B)) (map (fun m => fst m - 1) B) /\ dot (map snd B) (map (fun m => fst m - 1) B)
    = last_value B.
Proof.
  induction B as [|[n b] B IH]; intros P; [split; [exact I|reflexivity]|]. inversion P; subst.
  destruct (IH H2) as [I1 I2]. simpl in *. split; [split; [lia|assumption]|]. rewrite I2. ring.
Qed.

Lemma dot_zeros : forall s ns, dot s (zeros ns) = 0.
Proof. induction s as [|a s IH]; intros [|n ns]; simpl; try reflexivity. rewrite IH. ring. Qed.

Lemma negative_attained : forall B m, In m B -> positives (map fst B) -> 2 <= fst m ->
  exists c, inbox (whole (map fst B)) c /\ dot (map snd B) c = snd m.
Proof.
  induction B as [|m' B IH]; intros m H P N; [destruct H|]. inversion P as [|? ? P1 P2]; subst. destruct H as [->|H].
  - exists (1 :: zeros (map fst B)). split; [split; [simpl; lia|apply zeros_inbox; assumption]|].
    cbn [map dot]. rewrite dot_zeros. ring.
  - destruct (IH m H P2 N) as (c & C1 & C2). exists (0 :: c). split; [split; [simpl; lia|assumption]|].
    cbn [map dot]. rewrite C2. ring.
Qed.

(** The two extreme values tell whether all are taken. *)
Theorem inside_iff : forall strict A B, naturals A -> positives (map fst B) ->
  (inside strict A B = true <-> forall c, inbox (whole (map fst B)) c -> takes strict A (dot (map snd B) c)).
Proof.
  intros strict A B NA P. unfold inside, takes. rewrite andb_true_iff, forallb_forall. split.
  - intros [F L] c C.
    assert (F' : Forall (fun m => fst m <= 1 \/ 0 <= snd m) B).
    { apply Forall_forall. intros m M. specialize (F m M). apply orb_true_iff in F. rewrite !Z.leb_le in F. exact F. }
    pose proof (last_value_greatest B c F' C) as G. split; [lia|]. destruct strict.
    + apply Z.ltb_lt in L. lia.
    + destruct A; [apply Z.leb_le in L; lia|exact L].
  - intros H.
    assert (F : forall m, In m B -> (fst m <=? 1) || (0 <=? snd m) = true).
    { intros m M. apply orb_true_iff. rewrite !Z.leb_le. destruct (Z.le_gt_cases (fst m) 1) as [|G]; [left;
        assumption|].
      right. destruct (negative_attained B m M P ltac:(lia)) as (c & C1 & C2). apply H in C1. lia. }
    split; [exact F|]. destruct (last_value_attained B P) as [L1 L2]. specialize (H _ L1). rewrite L2 in H.
    destruct H as [H1 H2]. destruct strict; [apply Z.ltb_lt; assumption|].
    destruct A; [apply Z.leb_le; lia|assumption].
Qed.

Lemma no_mode_dots : forall gs fss c, length gs = length fss -> length gs = length c ->
  dots (map no_step (steps_each gs fss)) (map no_mode fss) c = dots (steps_each gs fss) fss c.
Proof.
  induction gs as [|g gs IH]; intros [|fs fss] [|x c] L M; try discriminate; [reflexivity|].
  cbn [steps_each map dots]. rewrite IH by (simpl in *; congruence). f_equal.
  destruct fs as [|f fs]; [|reflexivity]. cbn [steps map no_mode no_step weights digits dot]. ring.
Qed.

Lemma steps_each_serve : forall ns f fss, positives ns -> Forall2 factors ns fss -> serves_all ns f fss ->
  forall c, inbox (whole ns) c -> f c = f (zeros ns) + dots (steps_each (lines f ns) fss) fss c.
Proof.
  intros ns f fss P F S c C. apply several_loops in S; [|assumption|assumption]. destruct S as [S E].
  rewrite steps_each_parts by assumption. apply S; assumption.
Qed.

Lemma existsb_zero : forall ns, Forall (fun n => 0 <= n) ns -> existsb (fun n => n =? 0) ns = false -> positives ns.
Proof.
  induction 1 as [|n ns H1 H2 IH]; intros E; [constructor|]. cbn [existsb] in E. apply orb_false_iff in E.
  destruct E as [E1 E2].
  apply Z.eqb_neq in E1. constructor; [lia|apply IH; assumption].
Qed.

(** The composition exists exactly if the procedure answers one, and what it answers is one. *)
Theorem compose_layouts_exact : forall strict A B, naturals A -> naturals B ->
  match compose_layouts strict A B with
  | Some (fss, dss) => composition strict A B fss dss
  | None => forall fss dss, ~ composition strict A B fss dss
  end.
Proof.
  intros strict A B NA NB. unfold compose_layouts.
  assert (NN : Forall (fun n => 0 <= n) (map fst B)) by (clear - NB; induction NB; constructor; assumption).
  destruct (existsb (fun n => n =? 0) (map fst B)) eqn:E.
  - split; [|split].
    + clear - NN. induction NN; constructor; [|assumption]. split; [repeat constructor; assumption|simpl; ring].
    + clear. induction (map fst B); constructor; [reflexivity|assumption].
    + intros c C. exfalso. apply whole_positive in C. apply existsb_exists in E. destruct E as (n & I1 & I2).
      apply Z.eqb_eq in I2. unfold positives in C. rewrite Forall_forall in C. specialize (C n I1). lia.
  - pose proof (existsb_zero _ NN E) as P. set (f := fun c => at_extended A (dot (map snd B) c)).
    assert (F0 : f (zeros (map fst B)) = 0).
    { unfold f. rewrite dot_zeros. clear. assert (G : forall ms, at_extended ms 0 = 0); [|apply G].
      induction ms as [|[s d] [|m ms] IH]; [reflexivity|simpl; ring|].
      change (at_extended ((s, d) :: m :: ms) 0) with (d * (0 mod s) + at_extended (m :: ms) (0 / s)).
      rewrite Zmod_0_l, Zdiv_0_l, IH. ring. }
    destruct (inside strict A B) eqn:IN.
    + rewrite (inside_iff strict A B NA P) in IN. pose proof (candidate_exact (map fst B) f P) as CE.
      destruct (candidate (map fst B) f) as [fss|].
      * destruct CE as (C1 & C2 & _). split; [|split].
        -- clear - C1. induction C1; constructor; [|assumption]. destruct H as [H1 H2].
           destruct y as [|y ys]; cbn [no_mode]; [split; [repeat constructor; lia|assumption]|].
           split; [|assumption]. eapply Forall_impl; [|exact H1]. simpl; intros; lia.
        -- assert (L : same_lengths (steps_each (lines f (map fst B)) fss) fss).
           { apply steps_each_lengths. rewrite lines_length. eapply Forall2_same_length; exact C1. }
           clear - L. induction L; constructor; [|assumption]. destruct x, y; simpl in *; congruence.
        -- intros c C. split; [apply IN; assumption|].
           rewrite no_mode_dots.
           ++ pose proof (steps_each_serve _ _ _ P C1 C2 c C) as S. rewrite F0 in S. unfold f in S at 1. lia.
           ++ rewrite lines_length. eapply Forall2_same_length; exact C1.
           ++ rewrite lines_length. apply inbox_length in C. rewrite C. unfold whole. rewrite !map_length.
              reflexivity.
      * intros fss dss (K1 & K2 & K3). destruct (composition_splits _ fss dss P K1 K2)
          as (gss & ess & G1 & G2 & _ & G3).
        apply (CE gss G1). exists ess. split; [assumption|]. intros c C. rewrite F0, G3.
        destruct (K3 c C) as [_ K]. unfold f. lia.
    + intros fss dss (K1 & K2 & K3). assert (inside strict A B = true); [|congruence].
      apply inside_iff; [assumption|assumption|]. intros c C. apply K3; assumption.
Qed.

(** Every composition whose modes have at least two numbers each refines it, leaf by leaf: none has fewer modes. *)
Theorem compose_layouts_coarsest : forall strict A B fss dss gss ess, naturals A -> positives (map fst B) ->
  compose_layouts strict A B = Some (fss, dss) -> composition strict A B gss ess -> Forall large gss ->
  exists hss, fss = map no_mode hss /\ Forall2 refines gss hss.
Proof.
  intros strict A B fss dss gss ess NA P E (K1 & K2 & K3) LG. unfold compose_layouts in E.
  destruct (existsb (fun n => n =? 0) (map fst B)) eqn:Z0.
  { apply existsb_exists in Z0. destruct Z0 as (n & I1 & I2). apply Z.eqb_eq in I2.
    unfold positives in P. rewrite Forall_forall in P. specialize (P n I1). lia. }
  destruct (inside strict A B); [|discriminate].
  set (f := fun c => at_extended A (dot (map snd B) c)) in E. pose proof (candidate_exact (map fst B) f P) as CE.
  destruct (candidate (map fst B) f) as [hss|]; [|discriminate]. injection E; intros <- <-. exists hss.
  split; [reflexivity|]. destruct CE as (_ & _ & CE). apply CE.
  - clear - K1 LG. induction K1; constructor; inversion LG; subst; [|apply IHK1; assumption].
    split; [assumption|apply H].
  - exists ess. split; [assumption|]. intros c C. destruct (K3 c C) as [_ K].
    destruct (K3 (zeros (map fst B)) (zeros_inbox _ P)) as [_ K0]. unfold f. rewrite <- K, <- K0.
    enough (D : dots ess gss (zeros (map fst B)) = 0) by lia. apply dots_zero.
    clear - K1 LG. induction K1; constructor; inversion LG; subst; [|apply IHK1; assumption].
    split; [assumption|apply H].
Qed.

(** A layout that is 7 at 4: strict and extended readings of it differ. *)
Example compose_examples :
  compose_layouts false [(4, 1); (1, 7)] [(8, 1)] = Some ([[4; 2]], [[1; 7]]) /\
  compose_layouts true [(4, 1); (1, 7)] [(8, 1)] = None /\
  compose_layouts false [(6, 8); (2, 2)] [(4, 3); (3, 1)] = Some ([[2; 2]; [3]], [[24; 2]; [8]]) /\
  compose_layouts false [(4, 13); (9, 11); (10, 140)] [(6, 9)] = Some ([[6]], [[35]]) /\
  compose_layouts false [(6, 1); (2, 7)] [(3, 2); (2, 3)] = None /\
  compose_layouts false [(4, 2); (6, 3); (8, 5)] [(6, 3)] = None.
Proof. repeat split; vm_compute; reflexivity. Qed.

(** ** What is composed *)

(** A layout as far as numbers up to the last that is asked for reach into it: what lies past that is left out, and
    what would end before it is the last mode. *)
Fixpoint reached_modes (last : Z) (ms : list mode) : list mode :=
  match ms with
  | [] => []
  | (s, d) :: r =>
      if match r with [] => false | _ => s <=? last end then (s, d) :: reached_modes (last / s) r else [(last + 1, d)]
  end.

Lemma at_extended_zero : forall ms, at_extended ms 0 = 0.
Proof.
  induction ms as [|[s d] [|m ms] IH]; [reflexivity|simpl; ring|].
  change (at_extended ((s, d) :: m :: ms) 0) with (d * (0 mod s) + at_extended (m :: ms) (0 / s)).
  rewrite Zmod_0_l, Zdiv_0_l, IH. ring.
Qed.

(** It has those numbers, and the values that the layout has where its last mode goes on. *)
Theorem reached_agrees : forall ms last x, ms <> [] -> positives (map fst ms) -> 0 <= x <= last ->
  x < numel (map fst (reached_modes last ms)) /\ at_number (reached_modes last ms) x = at_extended ms x.
Proof.
  unfold at_number. induction ms as [|[s d] ms IH]; intros last x N P X; [congruence|].
  inversion P as [|? ? P1 P2]; subst.
  simpl in P1. cbn [reached_modes]. destruct ms as [|m ms].
  - cbn [map fst snd numel digits dot at_extended]. rewrite Z.mod_small by lia. split; [lia|ring].
  - change (at_extended ((s, d) :: m :: ms) x) with (d * (x mod s) + at_extended (m :: ms) (x / s)).
    destruct (Z.leb_spec s last).
    + destruct (IH (last / s) (x / s)) as [I1 I2]; [discriminate|assumption| |].
      { split; [apply Z.div_pos; lia|apply Z.div_le_mono; lia]. }
      cbn [map fst snd numel digits dot] in *. rewrite I2. split; [|reflexivity].
      pose proof (Z.div_mod x s ltac:(lia)). pose proof (Z.mod_pos_bound x s P1). nia.
    + cbn [map fst snd numel digits dot]. rewrite !Z.mod_small, Z.div_small, at_extended_zero by lia.
      split; [lia|ring].
Qed.

(** * Complements *)

(** The modes of a layout by ascending stride, those of stride 0 left out, and what they and their complement fill:
    modes of gaps, and the number of addresses that are filled in the end.  Nothing where a stride is no multiple of
    what is filled below it. *)
Fixpoint gaps (filled : Z) (ms : list mode) : option (list mode * Z) :=
  match ms with
  | [] => Some ([], filled)
  | (s, d) :: r =>
      if d mod filled =? 0 then
        match gaps (d * s) r with Some (g, n) => Some ((d / filled, filled) :: g, n) | None => None end
      else None
  end.

(** The complement of sorted modes: the gaps, and as often what is filled as it takes to reach [cotarget]. *)
Definition complement (ms : list mode) (cotarget : Z) : option (list mode) :=
  match gaps 1 ms with
  | Some (g, n) => Some (g ++ [((Z.max 1 cotarget + n - 1) / n, n)])
  | None => None
  end.

Definition value (ms : list mode) (c : index) : Z := dot (map snd ms) c.
Definition coordinate (ms : list mode) (c : index) : Prop := inbox (whole (map fst ms)) c.
Definition positive_modes (ms : list mode) : Prop := Forall (fun m => 1 <= fst m /\ 1 <= snd m) ms.

Lemma gaps_multiple : forall ms lo g n, 0 < lo -> positive_modes ms -> gaps lo ms = Some (g, n) ->
  lo <= n /\ (lo | n) /\ positive_modes g.
Proof.
  induction ms as [|[s d] ms IH]; intros lo g n LO P E; cbn [gaps] in E.
  - injection E as <- <-. split; [lia|]. split; [apply Z.divide_refl|constructor].
  - inversion P as [|? ? [P1 P2] P']; subst. simpl in P1, P2. destruct (Z.eqb_spec (d mod lo) 0) as [D|D];
      [|discriminate].
    apply Z.mod_divide in D; [|lia]. destruct D as [k ->].
    destruct (gaps (k * lo * s) ms) as [[g' n']|] eqn:G; [|discriminate]. injection E as <- <-.
    destruct (IH (k * lo * s) g' n' ltac:(nia) P' G) as (I1 & I2 & I3). assert (1 <= k) by nia.
    split; [nia|]. split.
    + eapply Z.divide_trans; [|exact I2]. exists (k * s). ring.
    + constructor; [|assumption]. simpl. rewrite Z.div_mul by lia. lia.
Qed.

(** The sums of both are multiples of what is filled, and stay below the end. *)
Lemma sums_below : forall ms lo g n t x z, 0 < lo -> 1 <= t -> positive_modes ms -> gaps lo ms = Some (g, n) ->
  coordinate ms x -> coordinate (g ++ [(t, n)]) z ->
  0 <= value ms x + value (g ++ [(t, n)]) z <= t * n - lo /\ (lo | value ms x + value (g ++ [(t, n)]) z).
Proof.
  unfold coordinate, value.
  induction ms as [|[s d] ms IH]; intros lo g n t x z LO T P E X Y; cbn [gaps] in E.
  - injection E as <- <-. destruct x; [|destruct X]. destruct z as [|y [|? ?]]; simpl in Y; try tauto.
    simpl. split; [nia|]. exists y. ring.
  - inversion P as [|? ? [P1 P2] P']; subst. simpl in P1, P2. destruct (Z.eqb_spec (d mod lo) 0) as [D|D];
      [|discriminate].
    apply Z.mod_divide in D; [|lia]. destruct D as [k ->].
    destruct (gaps (k * lo * s) ms) as [[g' n']|] eqn:G; [|discriminate]. injection E as <- <-.
    assert (1 <= k) by nia. rewrite Z.div_mul in * by lia.
    destruct x as [|x0 x]; [destruct X|]. destruct z as [|z0 z]; [destruct Y|].
    cbn [map app fst snd whole] in X, Y. destruct X as [X0 X]. destruct Y as [Y0 Y]. simpl in X0, Y0.
    destruct (IH (k * lo * s) g' n' t x z ltac:(nia) T P' G X Y) as [[I1 I2] [q I3]].
    cbn [map app fst snd dot]. split; [|exists (q * k * s + k * x0 + z0); lia].
    split; [nia|]. nia.
Qed.

(** A layout and its complement reach each address exactly once: each number below [t * n] is the sum of a value of
    the one and a value of the other. *)
Lemma tiled : forall ms lo g n t, 0 < lo -> 1 <= t -> positive_modes ms -> gaps lo ms = Some (g, n) ->
  forall y, 0 <= y < t * n -> (lo | y) ->
  exists x z, coordinate ms x /\ coordinate (g ++ [(t, n)]) z /\ value ms x + value (g ++ [(t, n)]) z = y.
Proof.
  unfold coordinate, value.
  induction ms as [|[s d] ms IH]; intros lo g n t LO T P E y Y [q Q]; cbn [gaps] in E.
  - injection E as <- <-. exists [], [q]. split; [exact I|]. split; [simpl; split; [nia|exact I]|]. simpl. lia.
  - inversion P as [|? ? [P1 P2] P']; subst. simpl in P1, P2. destruct (Z.eqb_spec (d mod lo) 0) as [D|D];
      [|discriminate].
    apply Z.mod_divide in D; [|lia]. destruct D as [k ->].
    destruct (gaps (k * lo * s) ms) as [[g' n']|] eqn:G; [|discriminate]. injection E as <- <-.
    assert (1 <= k) by nia. rewrite Z.div_mul in * by lia.
    set (a := q / k). set (z0 := q mod k). set (b := a / s). set (x0 := a mod s).
    assert (Q1 : q = k * a + z0) by (apply Z.div_mod; lia). assert (Q2 : a = s * b + x0) by (apply Z.div_mod; lia).
    pose proof (Z.mod_pos_bound q k ltac:(lia)) as B1. fold z0 in B1.
    pose proof (Z.mod_pos_bound a s ltac:(lia)) as B2. fold x0 in B2.
    assert (0 <= q) by nia. assert (0 <= a) by (apply Z.div_pos; lia). assert (0 <= b) by (apply Z.div_pos; lia).
    assert (E1 : q * lo = b * (k * lo * s) + (x0 * k + z0) * lo) by (rewrite Q1, Q2; ring).
    destruct (IH (k * lo * s) g' n' t ltac:(nia) T P' G (b * (k * lo * s))) as (x & z & X & Z1 & V).
    { split; [nia|]. assert (0 <= (x0 * k + z0) * lo) by nia. lia. }
    { exists b. reflexivity. }
    exists (x0 :: x), (z0 :: z). cbn [map app fst snd whole dot]. split; [split; [simpl; lia|exact X]|].
    split; [split; [simpl; lia|exact Z1]|]. lia.
Qed.

Lemma tiled_once : forall ms lo g n t, 0 < lo -> 1 <= t -> positive_modes ms -> gaps lo ms = Some (g, n) ->
  forall x z x' z', coordinate ms x -> coordinate (g ++ [(t, n)]) z -> coordinate ms x' -> coordinate (g ++ [(t,
    n)]) z' ->
  value ms x + value (g ++ [(t, n)]) z = value ms x' + value (g ++ [(t, n)]) z' -> x = x' /\ z = z'.
Proof.
  induction ms as [|[s d] ms IH]; intros lo g n t LO T P E x z x' z' X Y X' Y' V; cbn [gaps] in E.
  - injection E as <- <-. unfold coordinate, value in *. destruct x; [|destruct X]. destruct x'; [|destruct X'].
    destruct z as [|y [|? ?]]; simpl in Y; try tauto. destruct z' as [|y' [|? ?]]; simpl in Y'; try tauto.
    simpl in V. split; [reflexivity|]. f_equal. nia.
  - inversion P as [|? ? [P1 P2] P']; subst. simpl in P1, P2. destruct (Z.eqb_spec (d mod lo) 0) as [D|D];
      [|discriminate].
    apply Z.mod_divide in D; [|lia]. destruct D as [k ->].
    destruct (gaps (k * lo * s) ms) as [[g' n']|] eqn:G; [|discriminate]. injection E as <- <-.
    assert (1 <= k) by nia. rewrite Z.div_mul in * by lia. unfold coordinate, value in X, Y, X', Y', V.
    destruct x as [|x0 x]; [destruct X|]. destruct z as [|z0 z]; [destruct Y|].
    destruct x' as [|x0' x']; [destruct X'|]. destruct z' as [|z0' z']; [destruct Y'|].
    cbn [map app fst snd whole dot] in X, Y, X', Y', V. destruct X as [X0 X]. destruct Y as [Y0 Y].
    destruct X' as [X0' X']. destruct Y' as [Y0' Y']. simpl in X0, Y0, X0', Y0'.
    assert (L : 0 < k * lo * s) by nia.
    destruct (sums_below ms (k * lo * s) g' n' t x z L T P' G X Y) as [_ [q Q]].
    destruct (sums_below ms (k * lo * s) g' n' t x' z' L T P' G X' Y') as [_ [q' Q']]. unfold value in Q, Q'.
    assert (K : (q * s + x0) * k + z0 = (q' * s + x0') * k + z0').
    { apply (Z.mul_reg_r _ _ lo); [lia|]. lia. }
    assert (z0 = z0').
    { assert (M : ((q * s + x0) * k + z0) mod k = ((q' * s + x0') * k + z0') mod k) by congruence.
      rewrite !(Z.add_comm (_ * k)), !Z.mod_add, !Z.mod_small in M by lia. exact M. }
    subst z0'. assert (K2 : q * s + x0 = q' * s + x0') by nia.
    assert (x0 = x0').
    { assert (M : (q * s + x0) mod s = (q' * s + x0') mod s) by congruence.
      rewrite !(Z.add_comm (_ * s)), !Z.mod_add, !Z.mod_small in M by lia. exact M. }
    subst x0'. destruct (IH (k * lo * s) g' n' t L T P' G x z x' z' X Y X' Y' ltac:(unfold value; lia)) as [-> ->].
    split; reflexivity.
Qed.

(** A layout and a set of numbers tile [0 .. N]: each number below [N] is once the sum of a value and a number of
    the set. *)
Definition tiles (ms : list mode) (S : Z -> Prop) (N : Z) : Prop :=
  (forall x s, coordinate ms x -> S s -> 0 <= value ms x + s < N) /\
  (forall y, 0 <= y < N -> exists x s, coordinate ms x /\ S s /\ value ms x + s = y) /\
  (forall x s x' s', coordinate ms x -> S s -> coordinate ms x' -> S s' -> value ms x + s = value ms x' + s' ->
     x = x' /\ s = s').

(** What fills the gaps, and that as often as one likes, is such a set. *)
Lemma gaps_tile : forall ms g n t, positive_modes ms -> gaps 1 ms = Some (g, n) -> 1 <= t ->
  tiles ms (fun s => exists z, coordinate (g ++ [(t, n)]) z /\ value (g ++ [(t, n)]) z = s) (t * n).
Proof.
  intros ms g n t P G T. split; [|split].
  - intros x s X (z & Z1 & <-). destruct (sums_below ms 1 g n t x z ltac:(lia) T P G X Z1) as [B _]. lia.
  - intros y Y. destruct (tiled ms 1 g n t ltac:(lia) T P G y Y (Z.divide_1_l y)) as (x & z & X & Z1 & V).
    exists x, (value (g ++ [(t, n)]) z). split; [assumption|].
    split; [exists z; split; [assumption|reflexivity]|assumption].
  - intros x s x' s' X (z & Z1 & <-) X' (z' & Z2 & <-) V.
    destruct (tiled_once ms 1 g n t ltac:(lia) T P G x z x' z' X Z1 X' Z2 V) as [-> ->]. split; reflexivity.
Qed.

(** A layout and its complement reach [0 .. N], each once; [N] is the least multiple of what they fill that is no
    less than the cotarget. *)
Theorem complement_tiles : forall ms cotarget C, positive_modes ms -> complement ms cotarget = Some C ->
  exists g n N, gaps 1 ms = Some (g, n) /\ (n | N) /\ Z.max 1 cotarget <= N < Z.max 1 cotarget + n /\
  tiles ms (fun s => exists z, coordinate C z /\ value C z = s) N.
Proof.
  intros ms cotarget C P E. unfold complement in E. destruct (gaps 1 ms) as [[g n]|] eqn:G; [|discriminate].
  injection E as <-. destruct (gaps_multiple ms 1 g n ltac:(lia) P G) as (N1 & _ & _).
  set (m := Z.max 1 cotarget). set (t := (m + n - 1) / n). exists g, n, (t * n).
  pose proof (Z.div_mod (m + n - 1) n ltac:(lia)) as D. pose proof (Z.mod_pos_bound (m + n - 1) n ltac:(lia)) as B.
  fold t in D.
  assert (M : 1 <= m) by lia. assert (R : m <= t * n < m + n) by lia.
  split; [reflexivity|]. split; [exists t; reflexivity|]. split; [assumption|].
  apply gaps_tile; [assumption|assumption|nia].
Qed.

(** ** Why there is no other rule *)

Lemma value_not_negative : forall ms x, positive_modes ms -> coordinate ms x -> 0 <= value ms x.
Proof.
  unfold coordinate, value. induction ms as [|[s d] ms IH]; intros [|x0 x] P X; simpl in X; try tauto; [simpl; lia|].
  inversion P as [|? ? [P1 P2] P']; subst. destruct X as [X0 X]. specialize (IH x P' X). simpl in *. nia.
Qed.

(** Where all strides are at least [e], so are all values but the first. *)
Lemma value_zero_or_large : forall ms e x,
  1 <= e -> Forall (fun m => 1 <= fst m /\ e <= snd m) ms -> coordinate ms x ->
  x = zeros (map fst ms) \/ e <= value ms x.
Proof.
  unfold coordinate, value. induction ms as [|[s d] ms IH]; intros e [|x0 x] E P X; simpl in X; try tauto.
  inversion P as [|? ? [P1 P2] P']; subst. destruct X as [X0 X]. simpl in P1, P2.
  assert (PP : positive_modes ms) by (eapply Forall_impl; [|exact P']; simpl; intros; lia).
  pose proof (value_not_negative ms x PP X) as V. unfold value in V. simpl.
  destruct (IH e x E P' X) as [->|L]; [|right; nia]. destruct (Z.eq_dec x0 0) as [->|]; [left; reflexivity|right;
    nia].
Qed.

Lemma zero_coordinate : forall ms,
  positive_modes ms -> coordinate ms (zeros (map fst ms)) /\ value ms (zeros (map fst ms)) = 0.
Proof.
  intros ms P. split; [|apply dot_zeros]. apply zeros_inbox. clear - P. induction P; constructor; [lia|assumption].
Qed.

Lemma mod_is : forall y m k r, 0 <= r < m -> y = m * k + r -> y mod m = r.
Proof. intros. symmetry. apply Z.mod_unique with k; [left; lia|lia]. Qed.

(** Filling from 0 is forced: below the next stride the set holds exactly the first [d] of every [s * d] numbers. *)
Lemma forced : forall s d r S N e, 2 <= s -> 1 <= d -> 1 <= e -> Forall (fun m => 1 <= fst m /\ e <= snd m) r ->
  tiles ((s, d) :: r) S N -> forall y, 0 <= y < e -> y < N -> (S y <-> y mod (s * d) < d).
Proof.
  intros s d r S N e HS HD HE P (T1 & T2 & T3).
  assert (PP : positive_modes r) by (eapply Forall_impl; [|exact P]; simpl; intros; lia).
  destruct (zero_coordinate r PP) as [Z0 Z1]. set (z := zeros (map fst r)) in *.
  assert (C : forall j, 0 <= j < s -> coordinate ((s, d) :: r) (j :: z)) by (intros j J; split; [simpl;
    lia|exact Z0]).
  assert (V : forall j x, value ((s, d) :: r) (j :: x) = d * j + value r x) by reflexivity.
  assert (M : 0 < s * d) by nia.
  assert (G : forall n y, 0 <= y < Z.of_nat n -> y < e -> y < N -> (S y <-> y mod (s * d) < d)).
  { induction n as [|n IH]; intros y Y YE YN; [lia|]. set (rr := y mod (s * d)). set (k := y / (s * d)).
    assert (Y1 : y = s * d * k + rr) by (apply Z.div_mod; lia).
    pose proof (Z.mod_pos_bound y (s * d) M) as R. fold rr in R. assert (0 <= k) by (apply Z.div_pos; lia). split.
    - intros SY. destruct (Z.lt_ge_cases rr d) as [|L]; [assumption|exfalso].
      set (i := rr / d). assert (I0 : rr = d * i + rr mod d) by (apply Z.div_mod; lia).
      pose proof (Z.mod_pos_bound rr d ltac:(lia)) as I1. assert (I2 : 1 <= i < s) by nia.
      assert (SI : S (y - d * i)).
      { apply IH; [nia|nia|nia|]. rewrite (mod_is _ (s * d) k (rr mod d)); [lia|nia|lia]. }
      destruct (T3 (0 :: z) y (i :: z) (y - d * i) (C 0 ltac:(lia)) SY (C i ltac:(lia)) SI) as [E _]; [rewrite !V;
        lia|].
      injection E; intros; lia.
    - intros L. destruct (T2 y ltac:(lia)) as (x & t & X & ST & E). destruct x as [|j x]; [destruct X|].
      destruct X as [X0 X]. simpl in X0. rewrite V in E.
      assert (T0 : 0 <= t) by (pose proof (T1 (0 :: z) t (C 0 ltac:(lia)) ST) as T; rewrite V in T; lia).
      destruct (value_zero_or_large r e x HE P X) as [->|W]; [|nia]. fold z in E. rewrite Z1 in E.
      destruct (Z.eq_dec j 0) as [->|J]; [replace y with t by lia; assumption|exfalso].
      apply IH in ST; [|nia|nia|nia]. rewrite (mod_is t (s * d) (k - 1) (rr + s * d - d * j)) in ST; [nia|nia|lia]. }
  intros y Y YN. apply (G (Z.to_nat (y + 1))); lia.
Qed.

(** So what is filled divides the next stride, or else an address is reached twice; *)
Lemma next_stride : forall s d s' e r S N, 2 <= s -> 1 <= d <= e -> 2 <= s' -> 0 < N ->
  Forall (fun m => 1 <= fst m /\ e <= snd m) r -> tiles ((s, d) :: (s', e) :: r) S N -> (s * d | e).
Proof.
  intros s d s' e r S N HS HD HS' HN P T.
  assert (P' : Forall (fun m => 1 <= fst m /\ e <= snd m) ((s', e) :: r)) by (constructor; [simpl; lia|assumption]).
  pose proof (forced s d _ S N e HS ltac:(lia) ltac:(lia) P' T) as F. destruct T as (T1 & _ & T3).
  assert (PP : positive_modes r) by (eapply Forall_impl; [|exact P]; simpl; intros; lia).
  destruct (zero_coordinate r PP) as [Z0 Z1]. set (z := zeros (map fst r)) in *.
  assert (C : forall i j, 0 <= i < s -> 0 <= j < s' -> coordinate ((s, d) :: (s', e) :: r) (i :: j :: z))
    by (intros i j I J; split; [simpl; lia|split; [simpl; lia|exact Z0]]).
  assert (V : forall i j, value ((s, d) :: (s', e) :: r) (i :: j :: z) = d * i + (e * j + 0))
    by (intros; rewrite <- Z1; reflexivity).
  assert (M : 0 < s * d) by nia.
  assert (S0 : S 0) by (apply F; [lia|lia|]; rewrite Z.mod_0_l by lia; lia).
  assert (EN : e < N) by (pose proof (T1 _ 0 (C 0 1 ltac:(lia) ltac:(lia)) S0) as B; rewrite V in B; lia).
  apply Z.mod_divide; [lia|]. set (rr := e mod (s * d)). set (k := e / (s * d)).
  assert (Y1 : e = s * d * k + rr) by (apply Z.div_mod; lia).
  pose proof (Z.mod_pos_bound e (s * d) M) as R. fold rr in R. assert (0 <= k) by (apply Z.div_pos; lia).
  destruct (Z.eq_dec rr 0) as [|R0]; [assumption|exfalso]. set (i := rr / d).
  assert (I0 : rr = d * i + rr mod d) by (apply Z.div_mod; lia). pose proof (Z.mod_pos_bound rr d ltac:(lia)) as I1.
  assert (I2 : 0 <= i < s) by nia. destruct (Z.eq_dec i 0) as [I3|I3].
  - assert (1 <= k) by nia. rewrite I3 in I0.
    assert (SA : S (s * d * k)) by (apply F; [nia|nia|]; rewrite (mod_is _ (s * d) k 0); [lia|nia|lia]).
    assert (SB : S (d - rr)) by (apply F; [lia|lia|]; rewrite (mod_is _ (s * d) 0 (d - rr)); [lia|nia|lia]).
    destruct (T3 _ _ _ _ (C 1 0 ltac:(lia) ltac:(lia)) SA (C 0 1 ltac:(lia) ltac:(lia)) SB) as [E _]; [rewrite !V;
      lia|].
    injection E; intros; lia.
  - assert (SA : S (e - d * i)) by (apply F; [nia|nia|]; rewrite (mod_is _ (s * d) k (rr mod d)); [lia|nia|lia]).
    destruct (T3 _ _ _ _ (C i 0 ltac:(lia) ltac:(lia)) SA (C 0 1 ltac:(lia) ltac:(lia)) S0) as [E _]; [rewrite !V;
      lia|].
    injection E; intros; lia.
Qed.

(** and it divides the end, or else an address lies past it. *)
Lemma last_end : forall s d S N, 2 <= s -> 1 <= d -> 0 < N -> tiles [(s, d)] S N -> (s * d | N).
Proof.
  intros s d S N HS HD HN T. pose proof (forced s d [] S N N HS HD ltac:(lia) ltac:(constructor) T) as F.
  destruct T as (T1 & _ & _). assert (M : 0 < s * d) by nia. apply Z.mod_divide; [lia|].
  set (rr := N mod (s * d)). set (k := N / (s * d)).
  assert (Y1 : N = s * d * k + rr) by (apply Z.div_mod; lia).
  pose proof (Z.mod_pos_bound N (s * d) M) as R. fold rr in R. assert (0 <= k) by (apply Z.div_pos; lia).
  destruct (Z.eq_dec rr 0) as [|R0]; [assumption|exfalso]. set (i := rr / d).
  assert (I0 : rr = d * i + rr mod d) by (apply Z.div_mod; lia). pose proof (Z.mod_pos_bound rr d ltac:(lia)) as I1.
  assert (I2 : 0 <= i < s) by nia.
  assert (C : forall j, 0 <= j < s -> coordinate [(s, d)] [j]) by (intros; split; [simpl; lia|exact I]).
  assert (V : forall j, value [(s, d)] [j] = d * j + 0) by reflexivity. destruct (Z.eq_dec i 0) as [I3|I3].
  - rewrite I3 in I0. assert (SA : S (s * d * k)) by (apply F; [nia|nia|]; rewrite (mod_is _ (s * d) k 0);
      [lia|nia|lia]).
    pose proof (T1 _ _ (C 1 ltac:(lia)) SA) as B. rewrite V in B. lia.
  - assert (SA : S (N - d * i)) by (apply F; [nia|nia|]; rewrite (mod_is _ (s * d) k (rr mod d)); [lia|nia|lia]).
    pose proof (T1 _ _ (C i ltac:(lia)) SA) as B. rewrite V in B. lia.
Qed.

Lemma tiles_shift : forall s d r S N, 1 <= s -> tiles ((s, d) :: r) S N ->
  tiles r (fun y => exists j t, 0 <= j < s /\ S t /\ d * j + t = y) N.
Proof.
  intros s d r S N HS (T1 & T2 & T3). unfold tiles, coordinate, value in *. cbn [map fst snd] in *. split; [|split].
  - intros x y X (j & t & J & ST & <-).
    pose proof (T1 (j :: x) t ltac:(split; [simpl; lia|exact X]) ST) as B. cbn [dot] in B. lia.
  - intros y Y. destruct (T2 y Y) as ([|j x] & t & X & ST & E); [destruct X|]. destruct X as [X0 X]. simpl in X0.
    exists x, (d * j + t). split; [exact X|]. split; [exists j, t; split; [lia|split; [assumption|reflexivity]]|].
    cbn [dot] in E. lia.
  - intros x y x' y' X (j & t & J & ST & <-) X' (j' & t' & J' & ST' & <-) E.
    destruct (T3 (j :: x) t (j' :: x') t') as [E1 E2];
      [split; [simpl; lia|exact X]|assumption|split; [simpl; lia|exact X']|assumption|cbn [dot]; lia|].
    injection E1 as -> ->. subst. split; reflexivity.
Qed.

(** Modes of at least two numbers each, by ascending stride. *)
Fixpoint ascending (lo : Z) (ms : list mode) : Prop :=
  match ms with [] => True | (s, d) :: r => 2 <= s /\ lo <= d /\ ascending d r end.

Lemma ascending_above : forall ms lo, ascending lo ms -> Forall (fun m => 1 <= fst m /\ lo <= snd m) ms.
Proof.
  induction ms as [|[s d] ms IH]; intros lo A; constructor; destruct A as (A1 & A2 & A3); [simpl; lia|].
  eapply Forall_impl; [|exact (IH d A3)]. simpl; intros; lia.
Qed.

Lemma tiles_gaps : forall ms lo S N, 0 < lo -> 0 < N -> ascending 1 ms -> tiles ms S N ->
  match ms with [] => (lo | N) | (_, d) :: _ => (lo | d) end -> exists g n, gaps lo ms = Some (g, n) /\ (n | N).
Proof.
  induction ms as [|[s d] ms IH]; intros lo S N LO HN A T D; cbn [gaps]; [exists [], lo; split;
    [reflexivity|assumption]|].
  destruct A as (A1 & A2 & A3). rewrite (proj2 (Z.mod_divide d lo ltac:(lia)) D). cbn [Z.eqb].
  pose proof (tiles_shift s d ms S N ltac:(lia) T) as T'.
  assert (A' : ascending 1 ms).
  { destruct ms as [|[s' e] ms]; [exact I|]. destruct A3 as (A3 & A4 & A5). split; [assumption|].
    split; [lia|assumption]. }
  assert (D' : match ms with [] => (d * s | N) | (_, e) :: _ => (d * s | e) end).
  { rewrite (Z.mul_comm d s). destruct ms as [|[s' e] ms]; [eapply last_end; [| | |exact T]; lia|].
    destruct A3 as (A3 & A4 & A5). eapply next_stride; [| | | | |exact T]; try lia.
    apply ascending_above; assumption. }
  destruct (IH (d * s) _ N ltac:(nia) HN A' T' D') as (g & n & G1 & G2). rewrite G1.
  eexists; eexists; split; [reflexivity|assumption].
Qed.

(** A set that tiles [0 .. N] with the layout exists exactly if the rule finds what fills the gaps, and it divides
    [N]. *)
Theorem complement_exact : forall ms N, 0 < N -> ascending 1 ms ->
  ((exists S, tiles ms S N) <-> exists g n, gaps 1 ms = Some (g, n) /\ (n | N)).
Proof.
  intros ms N HN A. split.
  - intros [S T]. eapply tiles_gaps; [lia|assumption|assumption|exact T|].
    destruct ms as [|[s d] ms]; apply Z.divide_1_l.
  - intros (g & n & G & [t ->]).
    assert (P : positive_modes ms) by (exact (ascending_above ms 1 A)).
    destruct (gaps_multiple ms 1 g n ltac:(lia) P G) as (N1 & _ & _). eexists.
    apply gaps_tile; [assumption|exact G|nia].
Qed.

(** There is one such set. *)
Theorem complement_unique : forall ms S S' N, positive_modes ms -> tiles ms S N -> tiles ms S' N -> forall y,
  S y <-> S' y.
Proof.
  intros ms S S' N P T T'. destruct (zero_coordinate ms P) as [Z0 Z1].
  assert (R : forall A, tiles ms A N -> forall y, A y -> 0 <= y < N).
  { intros A (A1 & _) y H. specialize (A1 _ y Z0 H). rewrite Z1 in A1. lia. }
  assert (G : forall n A B, tiles ms A N -> tiles ms B N -> forall y, 0 <= y < Z.of_nat n -> A y -> B y).
  { induction n as [|n IH]; intros A B TA TB y Y H; [lia|]. pose proof (R A TA y H) as YN.
    pose proof TB as (B1 & B2 & B3). destruct (B2 y YN) as (x & s & X & HS & V).
    destruct (value_zero_or_large ms 1 x ltac:(lia) P X) as [->|L]; [rewrite Z1 in V; replace y with s by lia;
      assumption|].
    exfalso. pose proof (R B TB s HS) as SN. apply (IH B A TB TA s ltac:(lia)) in HS. destruct TA as (_ & _ & A3).
    destruct (A3 x s _ y X HS Z0 H) as [-> _]; [rewrite Z1; lia|]. rewrite Z1 in L. lia. }
  intros y. split; intros H.
  - pose proof (R S T y H). apply (G (Z.to_nat (y + 1)) S S' T T'); [lia|assumption].
  - pose proof (R S' T' y H). apply (G (Z.to_nat (y + 1)) S' S T' T); [lia|assumption].
Qed.

(** * Inverses *)

(** A mode with its weight: how many numbers further its next entry is. *)
Record weighted := Weighted { size_of : Z; stride_of : Z; weight_of : Z }.

Definition weighted_modes (ms : list mode) : list weighted :=
  map (fun p => Weighted (fst (fst p)) (snd (fst p)) (snd p)) (combine ms (weights (map fst ms))).

Lemma weighted_parts : forall ms,
  map size_of (weighted_modes ms) = map fst ms /\ map stride_of (weighted_modes ms) = map snd ms /\
  map weight_of (weighted_modes ms) = weights (map fst ms).
Proof.
  intros ms. unfold weighted_modes. rewrite !map_map. cbn [size_of stride_of weight_of].
  assert (L : length ms = length (weights (map fst ms))) by (rewrite weights_length, map_length; reflexivity).
  revert L. generalize (weights (map fst ms)). induction ms as [|m ms IH]; intros [|w ws] L; try discriminate;
    [repeat split|]. destruct (IH ws ltac:(simpl in L; congruence)) as (I1 & I2 & I3). simpl.
    repeat split; congruence.
Qed.

(** Entries, each with its mode, in any order. *)
Fixpoint total (k : weighted -> Z) (es : list (weighted * Z)) : Z :=
  match es with [] => 0 | (t, x) :: r => k t * x + total k r end.

Lemma total_dot : forall k es, total k es = dot (map k (map fst es)) (map snd es).
Proof. induction es as [|[t x] es IH]; [reflexivity|]. cbn [total map fst snd dot]. rewrite IH. reflexivity. Qed.

Lemma total_permuted : forall k es es', Permutation es es' -> total k es = total k es'.
Proof. induction 1; cbn [total]; [reflexivity|destruct x; lia|destruct x, y; lia|congruence]. Qed.

Lemma digits_of_coordinate : forall fs c, inbox (whole fs) c -> digits fs (dot (weights fs) c) = c.
Proof.
  induction fs as [|f fs IH]; intros [|x c] I; simpl in I; try tauto. destruct I as [I1 I2].
  cbn [weights dot digits]. rewrite dot_scaled.
  replace (1 * x + f * dot (weights fs) c) with (x + dot (weights fs) c * f) by ring.
  rewrite Z.mod_add, Z.div_add, Z.mod_small, Z.div_small by lia. rewrite Z.add_0_l, IH by assumption. reflexivity.
Qed.

Lemma digits_inbox : forall fs x, positives fs -> inbox (whole fs) (digits fs x).
Proof.
  induction fs as [|f fs IH]; intros x P; [exact I|]. inversion P; subst.
  split; [simpl; apply Z.mod_pos_bound; assumption|apply IH; assumption].
Qed.

(** ** The left inverse *)

(** What undoes modes whose strides nest: each mode's entry is a digit of the value. *)
Fixpoint undoing (d w : Z) (ts : list weighted) : list mode :=
  match ts with
  | [] => [(1, w)]
  | t :: r => (stride_of t / d, w) :: undoing (stride_of t) (weight_of t) r
  end.

Fixpoint nests (d s : Z) (ts : list weighted) : Prop :=
  match ts with
  | [] => True
  | t :: r => 1 <= stride_of t /\ (d | stride_of t) /\ s * d <= stride_of t /\ nests (stride_of t) (size_of t) r
  end.

Lemma undoing_more : forall d w ts m, at_extended (m :: undoing d w ts) = fun v =>
  snd m * (v mod fst m) + at_extended (undoing d w ts) (v / fst m).
Proof. intros d w [|t ts] [s e]; reflexivity. Qed.

Lemma nests_multiple : forall ts d s c, 1 <= d -> nests d s ts -> (d | dot (map stride_of ts) c).
Proof.
  induction ts as [|t ts IH]; intros d s [|x c] D N; try (exists 0; reflexivity). destruct N as (N1 & N2 & N3 & N4).
  cbn [map dot]. apply Z.divide_add_r; [apply Z.divide_mul_l; assumption|].
  eapply Z.divide_trans; [exact N2|]. apply (IH _ _ c N1 N4).
Qed.

Lemma undone : forall ts d s w x c v, 1 <= d -> 0 <= x < s -> nests d s ts -> inbox (whole (map size_of ts)) c ->
  d * v = d * x + dot (map stride_of ts) c ->
  at_extended (undoing d w ts) v = w * x + dot (map weight_of ts) c.
Proof.
  induction ts as [|t ts IH]; intros d s w x c v D X N I E.
  - destruct c; [|destruct I]. simpl in *. assert (v = x) by nia. subst. ring.
  - destruct c as [|y c]; [destruct I|]. destruct I as [I1 I2]. simpl in I1. destruct N as (N1 & [q Q] & N3 & N4).
    cbn [undoing]. rewrite undoing_more. cbn [fst snd]. rewrite Q, Z.div_mul by lia. rewrite <- Q.
    destruct (nests_multiple ts _ _ c N1 N4) as [k K]. cbn [map dot] in *.
    assert (V : v = x + (y + k) * q) by nia. assert (1 <= q) by nia. assert (s <= q) by nia.
    rewrite V, Z.mod_add, Z.div_add, Z.mod_small, Z.div_small by lia.
    rewrite (IH (stride_of t) (size_of t) (weight_of t) y c (0 + (y + k)) N1 I1 N4 I2); [ring|].
    rewrite K. ring.
Qed.

Lemma combine_parts : forall (ts : list weighted) (c : list Z), length ts = length c ->
  map fst (combine ts c) = ts /\ map snd (combine ts c) = c.
Proof.
  induction ts as [|t ts IH]; intros [|y c] L; try discriminate; [split; reflexivity|].
  destruct (IH c ltac:(simpl in L; congruence)) as [I1 I2]. simpl. split; congruence.
Qed.

(** A left inverse takes each value of the layout to its number. *)
Theorem left_inverse_undoes : forall ms ts,
  positives (map fst ms) -> Permutation (weighted_modes ms) ts -> nests 1 1 ts ->
  forall x, 0 <= x < numel (map fst ms) -> at_extended (undoing 1 0 ts) (at_number ms x) = x.
Proof.
  intros ms ts P T N x X. destruct (weighted_parts ms) as (W1 & W2 & W3).
  set (c := digits (map fst ms) x). set (es := combine (weighted_modes ms) c).
  assert (L : length (weighted_modes ms) = length c).
  { unfold c. rewrite digits_length, <- W1, map_length. reflexivity. }
  destruct (combine_parts _ _ L) as [E1 E2]. fold es in E1, E2.
  rewrite <- E1 in T. apply Permutation_sym in T. destruct (Permutation_map_inv _ _ T) as (es' & F1 & F2).
  assert (I : inbox (whole (map size_of ts)) (map snd es')).
  { assert (G : Forall (fun e => 0 <= snd e < size_of (fst e)) es').
    { apply (Permutation_Forall F2). pose proof (digits_inbox (map fst ms) x P) as D. fold c in D.
      rewrite <- E2, <- W1, <- E1 in D. clear - D. induction es as [|[t y] es IH]; constructor; simpl in *; [lia|].
      apply IH. apply D. }
    rewrite F1. clear - G. induction G; [exact I|]. destruct x as [t y]. simpl in *. split; [lia|assumption]. }
  rewrite (undone ts 1 1 0 0 (map snd es') (at_number ms x)); [|lia|lia|assumption|assumption|].
  - rewrite F1 at 1. rewrite <- total_dot, <- (total_permuted _ _ _ F2), total_dot, E1, E2, W3.
    unfold c. rewrite dot_weights by assumption. rewrite Z.mod_small by assumption. ring.
  - rewrite F1 at 1. rewrite <- total_dot, <- (total_permuted _ _ _ F2), total_dot, E1, E2, W2. unfold at_number.
    fold c. ring.
Qed.

(** By ascending stride. *)
Fixpoint put (t : weighted) (ts : list weighted) : list weighted :=
  match ts with [] => [t] | u :: r => if stride_of t <=? stride_of u then t :: ts else u :: put t r end.

Definition by_stride (ts : list weighted) : list weighted := fold_right put [] ts.

Lemma put_permuted : forall t ts, Permutation (t :: ts) (put t ts).
Proof.
  induction ts as [|u ts IH]; [apply Permutation_refl|]. cbn [put]. destruct (stride_of t <=? stride_of u);
    [apply Permutation_refl|]. eapply perm_trans; [apply perm_swap|]. apply perm_skip, IH.
Qed.

Lemma by_stride_permuted : forall ts, Permutation ts (by_stride ts).
Proof.
  induction ts as [|t ts IH]; [constructor|]. cbn [by_stride fold_right].
  eapply perm_trans; [apply perm_skip, IH|apply put_permuted].
Qed.

Fixpoint nesting (d s : Z) (ts : list weighted) : bool :=
  match ts with
  | [] => true
  | t :: r => (1 <=? stride_of t) && (stride_of t mod d =? 0) && (s * d <=? stride_of t)
      && nesting (stride_of t) (size_of t) r
  end.

Lemma nesting_nests : forall ts d s, 1 <= d -> nesting d s ts = true -> nests d s ts.
Proof.
  induction ts as [|t ts IH]; intros d s D E; [exact I|]. cbn [nesting nests] in *.
  apply andb_prop in E. destruct E as [E E4]. apply andb_prop in E. destruct E as [E E3]. apply andb_prop in E.
  destruct E as [E1 E2]. apply Z.leb_le in E1, E3. apply Z.eqb_eq in E2.
  split; [assumption|]. split; [apply Z.mod_divide; [lia|assumption]|]. split; [assumption|]. apply IH; assumption.
Qed.

(** The left inverse that is answered, its last mode without an end. *)
Definition left_inverse (ms : list mode) : option (list mode) :=
  let ts := by_stride (weighted_modes (coalesced_modes ms)) in
  if nesting 1 1 ts then Some (undoing 1 0 ts) else None.

Theorem left_inverse_answers : forall ms L, positives (map fst ms) -> left_inverse ms = Some L ->
  forall x, 0 <= x < numel (map fst ms) -> at_extended L (at_number ms x) = x.
Proof.
  intros ms L P E x X. unfold left_inverse in E. destruct (coalesce_same ms P) as (C1 & C2 & C3).
  destruct (nesting 1 1 _) eqn:N; [|discriminate]. injection E as <-. rewrite <- C3 by assumption.
  apply left_inverse_undoes; [apply coalesced_positive; assumption|apply by_stride_permuted|apply nesting_nests;
    [lia|exact N]|rewrite C2; exact X].
Qed.

(** Where strides do not nest, some layouts have a left inverse, *)
Example undone_without_nesting : forall x, 0 <= x < 4 ->
  at_extended [(2, 1); (3, 1)] (at_number [(2, 2); (2, 3)] x) = x.
Proof.
  intros x X. assert (C : x = 0 \/ x = 1 \/ x = 2 \/ x = 3) by lia. destruct C as [->|[->|[->| ->]]]; reflexivity.
Qed.

Lemma first_digit : forall L, positives (map fst L) ->
  (exists e, forall y, at_extended L y = e * y) \/
  (exists s e r, 2 <= s /\ forall y, at_extended L y = e * (y mod s) + at_extended r (y / s)).
Proof.
  induction L as [|[s e] L IH]; intros P; [left; exists 0; reflexivity|].
  inversion P as [|? ? P1 P2]; subst. cbn [fst] in P1. destruct L as [|m L]; [left; exists e; reflexivity|].
  destruct (Z.eq_dec s 1) as [->|S].
  - assert (F : forall y, at_extended ((1, e) :: m :: L) y = at_extended (m :: L) y).
    { intros y. change (e * (y mod 1) + at_extended (m :: L) (y / 1) = at_extended (m :: L) y).
      rewrite Z.mod_1_r, Z.div_1_r. lia. }
    destruct (IH P2) as [[e' H]|(s' & e' & r & S & H)]; [left; exists e'|right; exists s', e', r; split;
      [assumption|]]; intros y; rewrite F; apply H.
  - right. exists s, e, (m :: L). split; [lia|reflexivity].
Qed.

(** and some have none though no two numbers have one value.  For (3,3):(2,3) a first digit of size 2 is worth as
    much from 2 to 3 as from 6 to 7, and a larger one as much from 1 to 2 as from 0 to 1. *)
Theorem not_undone :
  (forall x y, 0 <= x < 9 -> 0 <= y < 9 -> at_number [(3, 2); (3, 3)] x = at_number [(3, 2); (3, 3)] y -> x = y) /\
  forall L, positives (map fst L) -> ~ forall x, 0 <= x < 9 -> at_extended L (at_number [(3, 2); (3, 3)] x) = x.
Proof.
  split.
  - assert (C : forall x, 0 <= x < 9 -> x = 0 \/ x = 1 \/ x = 2 \/ x = 3 \/ x = 4 \/ x = 5 \/ x = 6 \/ x = 7 \/ x = 8)
      by (intros; lia).
    assert (U : forall x, 0 <= x < 9 ->
              nth (Z.to_nat (at_number [(3, 2); (3, 3)] x)) [0; 0; 1; 3; 2; 4; 6; 5; 7; 0; 8] 0 = x).
    { intros x X. destruct (C x X) as [->|[->|[->|[->|[->|[->|[->|[->| ->]]]]]]]]; reflexivity. }
    intros x y X Y E. rewrite <- (U x X), <- (U y Y), E. reflexivity.
  - intros L P H. pose proof (H 1 ltac:(lia)) as H1. pose proof (H 2 ltac:(lia)) as H2.
    pose proof (H 4 ltac:(lia)) as H4. pose proof (H 3 ltac:(lia)) as H3. pose proof (H 5 ltac:(lia)) as H5.
    pose proof (H 6 ltac:(lia)) as H6. pose proof (H 7 ltac:(lia)) as H7.
    change (at_extended L 2 = 1) in H1. change (at_extended L 4 = 2) in H2. change (at_extended L 3 = 3) in H3.
    change (at_extended L 5 = 4) in H4. change (at_extended L 7 = 5) in H5. change (at_extended L 6 = 6) in H6.
    destruct (first_digit L P) as [[e F]|(s & e & r & S & F)]; [rewrite F in *; lia|].
    destruct (Z.eq_dec s 2) as [->|N].
    + rewrite F in *. change (e * 1 + at_extended r 1 = 3) in H3. change (e * 0 + at_extended r 1 = 1) in H1.
      change (e * 1 + at_extended r 3 = 5) in H5. change (e * 0 + at_extended r 3 = 6) in H6. lia.
    + rewrite F, Z.mod_small, Z.div_small, at_extended_zero in H1 by lia. lia.
Qed.

(** ** The right inverse *)

(** Modes of a layout, the strides of which are 1, the size of the first one, and so on, are counted up one after
    the other. *)
Theorem right_inverse_undoes : forall ms ts rest, positives (map fst ms) ->
  Permutation (weighted_modes ms) (ts ++ rest) -> map stride_of ts = weights (map size_of ts) ->
  let R := map (fun t => (size_of t, weight_of t)) ts in
  forall i, 0 <= i < numel (map fst R) ->
  0 <= at_number R i < numel (map fst ms) /\ at_number ms (at_number R i) = i.
Proof.
  intros ms ts rest P T H R i I. destruct (weighted_parts ms) as (W1 & W2 & W3).
  assert (R1 : map fst R = map size_of ts) by (unfold R; rewrite map_map; reflexivity).
  assert (R2 : map snd R = map weight_of ts) by (unfold R; rewrite map_map; reflexivity).
  set (c := digits (map size_of ts) i ++ zeros (map size_of rest)). set (es := combine (ts ++ rest) c).
  assert (L : length (ts ++ rest) = length c).
  { unfold c, zeros. rewrite !app_length, digits_length, !map_length. reflexivity. }
  destruct (combine_parts _ _ L) as [E1 E2]. fold es in E1, E2.
  rewrite <- E1 in T. destruct (Permutation_map_inv _ _ T) as (es' & F1 & F2).
  assert (PS : Forall (fun t => 0 < size_of t) (ts ++ rest)).
  { rewrite E1 in T. apply (Permutation_Forall T). rewrite <- W1 in P. clear - P. unfold positives in P.
    rewrite Forall_map in P. exact P. }
  apply Forall_app in PS. destruct PS as [PS1 PS2].
  assert (PT : positives (map size_of ts)) by (unfold positives; rewrite Forall_map; exact PS1).
  assert (G : inbox (whole (map fst ms)) (map snd es')).
  { assert (G : Forall (fun e => 0 <= snd e < size_of (fst e)) es').
    { apply (Permutation_Forall F2).
      assert (D : inbox (whole (map size_of (ts ++ rest))) c).
      { rewrite map_app. unfold c, whole. rewrite map_app. clear - PS2 PT.
        pose proof (digits_inbox (map size_of ts) i PT) as D. revert D. generalize (digits (map size_of ts) i).
        induction (map size_of ts) as [|s l IH]; intros [|y ys] D; simpl in D; try tauto.
        - simpl. apply (zeros_inbox (map size_of rest)). unfold positives. rewrite Forall_map. exact PS2.
        - destruct D as [D1 D2]. split; [exact D1|]. apply IH; [inversion PT; assumption|exact D2]. }
      rewrite <- E2, <- E1 in D. clear - D. induction es as [|[t y] es IH]; constructor; simpl in *; [lia|].
      apply IH, D. }
    rewrite <- W1, F1. clear - G. induction G; [exact I|]. destruct x as [t y]. simpl in *. split; [lia|assumption]. }
  assert (K : forall k, dot (map k (weighted_modes ms)) (map snd es') = dot (map k ts) (digits (map size_of ts) i)).
  { intros k. rewrite F1, <- total_dot, <- (total_permuted _ _ _ F2), total_dot, E1, E2. unfold c.
    rewrite map_app, dot_app by (rewrite digits_length, !map_length; reflexivity). rewrite dot_zeros. ring. }
  assert (N : at_number R i = dot (weights (map fst ms)) (map snd es')).
  { unfold at_number. rewrite R1, R2, <- W3, K. reflexivity. }
  assert (B : digits (map fst ms) (at_number R i) = map snd es') by (rewrite N; apply digits_of_coordinate;
    assumption).
  split.
  - rewrite N, <- B, dot_weights by assumption. apply Z.mod_pos_bound, numel_pos; assumption.
  - unfold at_number at 1. rewrite B, <- W2, K, H, dot_weights by assumption. rewrite R1 in I.
    apply Z.mod_small; assumption.
Qed.

(** Where no two coordinates have the same value, and no mode begins where the counted ones end, that end is no
    value: so no right inverse is longer.  The coordinates are those of the counted modes and then of the others. *)
Theorem right_inverse_longest : forall ts rest,
  Forall (fun t => 2 <= size_of t /\ 1 <= stride_of t) (ts ++ rest) -> map stride_of ts = weights (map size_of ts) ->
  (forall c c', inbox (whole (map size_of (ts ++ rest))) c -> inbox (whole (map size_of (ts ++ rest))) c' ->
     dot (map stride_of (ts ++ rest)) c = dot (map stride_of (ts ++ rest)) c' -> c = c') ->
  (forall t, In t rest -> stride_of t <> numel (map size_of ts)) ->
  forall c, inbox (whole (map size_of (ts ++ rest))) c -> dot (map stride_of (ts ++ rest))
    c <> numel (map size_of ts).
Proof.
  intros ts rest P H INJ NO c C E. set (m := numel (map size_of ts)) in *.
  apply Forall_app in P. destruct P as [PT PR].
  assert (PS : positives (map size_of ts)).
  { unfold positives. rewrite Forall_map. eapply Forall_impl; [|exact PT]. simpl; intros; lia. }
  assert (PZ : positives (map size_of rest)).
  { unfold positives. rewrite Forall_map. eapply Forall_impl; [|exact PR]. simpl; intros; lia. }
  assert (JOIN : forall a b, inbox (whole (map size_of ts)) a -> inbox (whole (map size_of rest)) b ->
            inbox (whole (map size_of (ts ++ rest))) (a ++ b) /\
            dot (map stride_of (ts ++ rest)) (a ++ b) = dot (weights (map size_of ts)) a + dot (map stride_of rest)
              b).
  { intros a b A B. rewrite !map_app. split.
    - clear - A B. unfold whole. rewrite map_app. revert a A. induction (map size_of ts) as [|s l IH];
        intros [|y a] A; simpl in A; try tauto.
      destruct A as [A1 A2]. split; [exact A1|apply IH; exact A2].
    - apply inbox_length in A. unfold whole in A. rewrite !map_length in A.
      rewrite dot_app by (rewrite map_length; congruence).
      rewrite H. reflexivity. }
  assert (SPLIT : exists a b, c = a ++ b /\ inbox (whole (map size_of ts)) a /\ inbox (whole (map size_of rest)) b).
  { clear - C. rewrite map_app in C. unfold whole in *. rewrite map_app in C. revert c C.
    induction (map size_of ts) as [|s l IH]; intros c C; [exists [], c; split; [reflexivity|split;
      [exact I|exact C]]|].
    destruct c as [|y c]; [destruct C|]. destruct C as [C1 C2]. destruct (IH c C2) as (a & b & -> & A & B).
    exists (y :: a), b. split; [reflexivity|]. split; [split; assumption|assumption]. }
  destruct SPLIT as (a & b & -> & A & B). destruct (JOIN a b A B) as [_ V]. rewrite V in E.
  assert (AB : 0 <= dot (weights (map size_of ts)) a < m).
  { pose proof (dot_weights (map size_of ts) (dot (weights (map size_of ts)) a) PS) as D.
    rewrite digits_of_coordinate in D by assumption. rewrite D. apply Z.mod_pos_bound, numel_pos; assumption. }
  (* A unit of some other mode is at most [m], and less: then the counted modes reach it, too. *)
  assert (U : exists e,
    inbox (whole (map size_of rest)) e /\ e <> zeros (map size_of rest) /\ 0 <= dot (map stride_of rest) e < m).
  { assert (G : forall rest b, Forall (fun t => 2 <= size_of t /\ 1 <= stride_of t) rest -> (forall t,
      In t rest -> stride_of t <> m) ->
              inbox (whole (map size_of rest)) b -> 0 < dot (map stride_of rest) b <= m ->
              exists e, inbox (whole (map size_of rest)) e /\ e <> zeros (map size_of rest)
                /\ 0 <= dot (map stride_of rest) e < m).
    { clear. induction rest as [|t rest IH]; intros [|y b] P NO B D; simpl in B; try tauto; [simpl in D; lia|].
      inversion P as [|? ? P1 P2]; subst. destruct B as [B1 B2]. cbn [map dot] in D.
      assert (PZ : positives (map size_of rest)).
      { unfold positives. rewrite Forall_map. eapply Forall_impl; [|exact P2]. simpl; intros; lia. }
      assert (0 <= dot (map stride_of rest) b).
      { clear - B2 P2. revert b B2. induction rest as [|t rest IH]; intros [|y b] B2; simpl in B2; try tauto;
          [simpl; lia|].
        inversion P2 as [|? ? P3 P4]; subst. destruct B2 as [B3 B4]. specialize (IH P4 b B4). cbn [map dot]. nia. }
      destruct (Z.eq_dec y 0) as [->|Y].
      - destruct (IH b P2 ltac:(intros u K; apply NO; right; exact K) B2 ltac:(lia)) as (e & E1 & E2 & E3).
        exists (0 :: e). split; [split; [simpl; lia|exact E1]|]. split; [intros K; injection K; exact E2|].
        cbn [map dot]. lia.
      - exists (1 :: zeros (map size_of rest)). split; [split; [simpl; lia|apply zeros_inbox; assumption]|].
        split; [discriminate|]. cbn [map dot]. rewrite dot_zeros. specialize (NO t ltac:(left; reflexivity)). nia. }
    apply (G rest b PR NO B). lia. }
  destruct U as (e & E1 & E2 & E3). set (v := dot (map stride_of rest) e) in *.
  destruct (JOIN (zeros (map size_of ts)) e (zeros_inbox _ PS) E1) as [J1 J2].
  destruct (JOIN (digits (map size_of ts) v) (zeros (map size_of rest)) (digits_inbox _ _ PS) (zeros_inbox _ PZ))
    as [J3 J4].
  rewrite dot_zeros in J2, J4. rewrite dot_weights, Z.mod_small in J4 by (assumption || exact E3).
  assert (K : zeros (map size_of ts) ++ e = digits (map size_of ts) v ++ zeros (map size_of rest)) by (apply INJ;
    [assumption|assumption|lia]).
  apply E2. apply (f_equal (skipn (length (map size_of ts)))) in K. rewrite !skipn_app in K.
  unfold zeros at 1 2 in K. rewrite digits_length, !map_length in K.
  rewrite !skipn_all2 in K by (rewrite ?digits_length, !map_length; lia).
  rewrite (skipn_all2 (digits (map size_of ts) v)) in K by (rewrite digits_length, map_length; lia).
  rewrite Nat.sub_diag in K. exact K.
Qed.

(** Modes that are counted up one after the other, from a stride on. *)
Definition counts (reached : Z) (ts : list weighted) : Prop :=
  map stride_of ts = map (Z.mul reached) (weights (map size_of ts)) /\ Forall (fun t => 2 <= size_of t) ts.

(** The longest of the lists that count up from a stride, in so many steps; of those that are as long the last. *)
Fixpoint counted (work : nat) (ts : list weighted) (reached : Z) : list weighted :=
  match work with
  | O => []
  | S k => fold_left (fun best t =>
      if (stride_of t =? reached) && (2 <=? size_of t) then
        let found := t :: counted k ts (reached * size_of t) in
        if numel (map size_of best) <=? numel (map size_of found) then found else best
      else best) ts []
  end.

Lemma counts_cons : forall reached t ts,
  counts reached (t :: ts) <-> stride_of t = reached /\ 2 <= size_of t /\ counts (reached * size_of t) ts.
Proof.
  intros reached t ts. unfold counts. cbn [map weights]. rewrite map_map, Z.mul_1_r.
  rewrite (map_ext (fun x => reached * (size_of t * x)) (Z.mul (reached * size_of t))) by (intros; ring). split.
  - intros [E F]. injection E as E1 E2. inversion F; subst. repeat split; assumption.
  - intros (E1 & F1 & E2 & F2). split; [congruence|constructor; assumption].
Qed.

Lemma counted_counts : forall work ts reached,
  incl (counted work ts reached) ts /\ counts reached (counted work ts reached).
Proof.
  assert (Z0 : forall (ts : list weighted) reached, incl [] ts /\ counts reached []).
  { intros. split; [intros x X; destruct X|split; [reflexivity|constructor]]. }
  induction work as [|k IH]; intros ts reached; [apply Z0|]. cbn [counted].
  assert (G : forall some best, incl some ts -> incl best ts /\ counts reached best ->
    let c := fold_left (fun best t =>
      if (stride_of t =? reached) && (2 <=? size_of t) then
        let found := t :: counted k ts (reached * size_of t) in
        if numel (map size_of best) <=? numel (map size_of found) then found else best
      else best) some best in incl c ts /\ counts reached c).
  { induction some as [|t some IS]; intros best I B; [exact B|]. cbn [fold_left]. apply IS; [intros x X; apply I; right;
      exact X|]. destruct (Z.eqb_spec (stride_of t) reached) as [E|]; [|exact B].
    destruct (Z.leb_spec 2 (size_of t)); [|exact B]. cbn [andb].
    destruct (_ <=? _); [|exact B]. destruct (IH ts (reached * size_of t)) as [I1 I2]. split.
    - intros x [<-|X]; [apply I; left; reflexivity|apply I1, X].
    - apply counts_cons. repeat split; assumption || apply I2. }
  apply G; [apply incl_refl|apply Z0].
Qed.

Lemma counted_longest : forall work ts reached c, incl c ts -> counts reached c -> (length c <= work)%nat ->
  numel (map size_of c) <= numel (map size_of (counted work ts reached)).
Proof.
  induction work as [|k IH]; intros ts reached c I C L.
  - destruct c; [simpl; lia|simpl in L; lia].
  - cbn [counted]. set (step := fun best t =>
      if (stride_of t =? reached) && (2 <=? size_of t) then
        let found := t :: counted k ts (reached * size_of t) in
        if numel (map size_of best) <=? numel (map size_of found) then found else best
      else best).
    assert (UP : forall some best, numel (map size_of best) <= numel (map size_of (fold_left step some best))).
    { induction some as [|t some IS]; intros best; cbn [fold_left]; [lia|]. eapply Z.le_trans; [|apply IS].
      unfold step. destruct (_ && _); [|lia]. cbv zeta. destruct (Z.leb_spec (numel (map size_of best))
        (numel (map size_of (t :: counted k ts (reached * size_of t))))); lia. }
    destruct c as [|t c]; [apply (UP ts [])|]. apply counts_cons in C. destruct C as (C1 & C2 & C3).
    destruct (in_split t ts) as (l & r & E); [apply I; left; reflexivity|].
    assert (T : forall best, numel (map size_of (t :: c)) <= numel (map size_of (step best t))).
    { intros best. specialize (IH ts (reached * size_of t) c ltac:(intros x X; apply I; right; exact X) C3
        ltac:(simpl in L; lia)). unfold step. rewrite (proj2 (Z.eqb_eq _ _) C1), (proj2 (Z.leb_le _ _) C2). cbn [andb].
      cbv zeta. cbn [map numel] in *. assert (size_of t * numel (map size_of c)
        <= size_of t * numel (map size_of (counted k ts (reached * size_of t)))) by (apply Z.mul_le_mono_nonneg_l; lia).
      destruct (Z.leb_spec (numel (map size_of best))
        (size_of t * numel (map size_of (counted k ts (reached * size_of t))))); cbn [map numel]; lia. }
    assert (F : fold_left step ts [] = fold_left step r (step (fold_left step l []) t)).
    { rewrite E at 1. rewrite fold_left_app. reflexivity. }
    rewrite F. eapply Z.le_trans; [apply T|apply UP].
Qed.

Lemma counts_apart : forall ts reached, 1 <= reached -> counts reached ts ->
  NoDup ts /\ Forall (fun t => reached <= stride_of t) ts.
Proof.
  induction ts as [|t ts IH]; intros reached R C; [split; constructor|]. apply counts_cons in C.
  destruct C as (C1 & C2 & C3). assert (M : reached * 2 <= reached * size_of t) by (apply Z.mul_le_mono_nonneg_l; lia).
  destruct (IH (reached * size_of t) ltac:(lia) C3) as [I1 I2]. rewrite Forall_forall in I2. split.
  - constructor; [|assumption]. intros X. apply I2 in X. lia.
  - rewrite Forall_forall. intros u [<-|X]; [lia|apply I2 in X; lia].
Qed.

Lemma others : forall {A : Type} (l m : list A), NoDup l -> incl l m -> exists rest, Permutation m (l ++ rest).
Proof.
  induction l as [|x l IH]; intros m N I; [exists m; apply Permutation_refl|]. inversion N; subst.
  destruct (in_split x m) as (a & b & ->); [apply I; left; reflexivity|].
  destruct (IH (a ++ b) ltac:(assumption)) as [rest R].
  - intros y Y. assert (X : In y (a ++ x :: b)) by (apply I; right; exact Y). apply in_app_or in X.
    apply in_or_app. destruct X as [X|[->|X]]; [left; exact X|contradiction|right; exact X].
  - exists rest. eapply perm_trans; [apply Permutation_sym, Permutation_middle|]. apply perm_skip, R.
Qed.

(** The right inverse that is answered. *)
Definition right_inverse (ms : list mode) : list mode :=
  let ts := weighted_modes (coalesced_modes ms) in
  map (fun t => (size_of t, weight_of t)) (counted (length ts) ts 1).

(** It undoes, and no list of modes that are counted up from 1 has more numbers. *)
Theorem right_inverse_answers : forall ms, positives (map fst ms) ->
  let R := right_inverse ms in
  (forall i, 0 <= i < numel (map fst R) ->
    0 <= at_number R i < numel (map fst ms) /\ at_number ms (at_number R i) = i) /\
  forall c, incl c (weighted_modes (coalesced_modes ms)) -> counts 1 c -> numel (map size_of c) <= numel (map fst R).
Proof.
  intros ms P R. destruct (coalesce_same ms P) as (C1 & C2 & C3). set (ts := weighted_modes (coalesced_modes ms)) in *.
  destruct (counted_counts (length ts) ts 1) as [I C]. destruct (counts_apart _ 1 ltac:(lia) C) as [N _].
  destruct (others _ _ N I) as [rest T]. split.
  - intros i X. destruct (right_inverse_undoes (coalesced_modes ms) _ rest (coalesced_positive _ C1) T) with (i := i)
      as [U V].
    + destruct C as [C _]. rewrite C. rewrite (map_ext (Z.mul 1) (fun x => x)) by (intros; ring). apply map_id.
    + exact X.
    + unfold R, right_inverse. fold ts. rewrite <- C2. split; [exact U|].
      rewrite <- C3 by (rewrite <- C2; exact U). exact V.
  - intros c J D. unfold R, right_inverse. fold ts. rewrite map_map. cbn [fst]. apply counted_longest;
      [assumption|assumption|]. apply NoDup_incl_length; [|assumption]. apply (counts_apart c 1 ltac:(lia) D).
Qed.
