(** Bounded linear equations: each reduction of the solver is sound and complete, and so is a solver made of them. *)

From Coq Require Import ZArith Znumtheory Lia List Bool Permutation.
From Shapetracker Require Import View Overflow Equation Strip.
Import ListNotations.
Open Scope Z_scope.

(** * Normal form *)

(** Sign flip: y becomes N - 1 - y. *)
Theorem flip : forall w n ts W, solvable ((w, n) :: ts) W <-> solvable ((- w, n) :: ts) (W - w * (n - 1)).
Proof.
  intros. rewrite !solvable_cons. split; intros (v & H & S); exists (n - 1 - v); (split; [lia|]).
  - replace (W - w * (n - 1) - - w * (n - 1 - v)) with (W - w * v) by ring. assumption.
  - replace (W - w * (n - 1 - v)) with (W - w * (n - 1) - - w * v) by ring. assumption.
Qed.

(** A term of weight 0 contributes nothing. *)
Theorem drop_zero_weight : forall n ts W, 0 < n -> (solvable ((0, n) :: ts) W <-> solvable ts W).
Proof.
  intros. rewrite solvable_cons. split.
  - intros (v & _ & S). rewrite Z.mul_0_l, Z.sub_0_r in S. assumption.
  - intros S. exists 0. rewrite Z.mul_0_l, Z.sub_0_r. split; [lia|assumption].
Qed.

(** ... nor does a term of one value. *)
Theorem drop_single : forall w ts W, solvable ((w, 1) :: ts) W <-> solvable ts W.
Proof.
  intros. rewrite solvable_cons. split.
  - intros (v & H & S). replace v with 0 in S by lia. rewrite Z.mul_0_r, Z.sub_0_r in S. assumption.
  - intros S. exists 0. rewrite Z.mul_0_r, Z.sub_0_r. split; [lia|assumption].
Qed.

(** A term without values leaves no solution. *)
Theorem no_values : forall w n ts W, n <= 0 -> ~ solvable ((w, n) :: ts) W.
Proof. intros w n ts W H S. apply solvable_cons in S. destruct S as (v & V & _). lia. Qed.

(** The order of the terms is of no account. *)
Theorem reorder : forall ts us W, Permutation ts us -> (solvable ts W <-> solvable us W).
Proof.
  intros ts us W P. revert W. induction P as [|[w n] ts us P IH|[w n] [v m] ts|ts us vs P1 IH1 P2 IH2]; intros W.
  - tauto.
  - rewrite !solvable_cons. split; intros (x & X & S); exists x; (split; [assumption|]); apply IH; assumption.
  - rewrite !solvable_cons. split; intros (x & X & S); apply solvable_cons in S; destruct S as (y & Y & S);
      exists y; (split; [assumption|]); apply solvable_cons; exists x; (split; [assumption|]).
    + replace (W - w * y - v * x) with (W - v * x - w * y) by ring. assumption.
    + replace (W - v * y - w * x) with (W - w * x - v * y) by ring. assumption.
  - rewrite IH1. apply IH2.
Qed.

(** * Coalescing *)

(** If the second weight is [m] times the first and [m] is at most the number of values of the first, then the two
    together take every multiple of the first weight in a range without a gap. *)
Theorem coalesce : forall w n m k ts W, 0 < n -> 0 < k -> 0 <= m <= n ->
  (solvable ((w, n) :: (m * w, k) :: ts) W <-> solvable ((w, n + m * (k - 1)) :: ts) W).
Proof.
  intros w n m k ts W Hn Hk Hm. rewrite !solvable_cons. split.
  - intros (u & U & S). apply solvable_cons in S. destruct S as (v & V & S). exists (u + m * v). split; [nia|].
    replace (W - w * (u + m * v)) with (W - w * u - m * w * v) by ring. assumption.
  - intros (y & Y & S).
    assert (X : exists u v, 0 <= u < n /\ 0 <= v < k /\ y = u + m * v).
    { destruct (Z.eq_dec m 0) as [->|M]; [exists y, 0; lia|].
      destruct (Z_lt_dec (y / m) k) as [L|L].
      - exists (y mod m), (y / m). pose proof (Z.mod_pos_bound y m ltac:(lia)).
        pose proof (Z.div_mod y m M). assert (0 <= y / m) by (apply Z.div_pos; lia). lia.
      - exists (y - m * (k - 1)), (k - 1). assert (k <= y / m) by lia.
        assert (m * (y / m) <= y) by (apply Z.mul_div_le; lia). nia. }
    destruct X as (u & v & U & V & ->). exists u. split; [assumption|]. apply solvable_cons. exists v.
    split; [assumption|].
    replace (W - w * u - m * w * v) with (W - w * (u + m * v)) by ring. assumption.
Qed.

(** * Cuts *)

(** The largest sum of terms with weights that are not negative. *)
Fixpoint reach (ts : list term) : Z := match ts with [] => 0 | (w, n) :: r => w * (n - 1) + reach r end.

Fixpoint divisor (ts : list term) : Z := match ts with [] => 0 | (w, _) :: r => Z.gcd w (divisor r) end.

Definition normal (ts : list term) : Prop := Forall (fun t => 0 < fst t /\ 0 < snd t) ts.

(** Range cut: a target below 0 or above the reach has no solution. *)
Theorem range_cut : forall ts W, normal ts -> solvable ts W -> 0 <= W <= reach ts.
Proof.
  induction ts as [|[w n] ts IH]; intros W N S; simpl.
  - apply solvable_nil in S. lia.
  - apply solvable_cons in S. destruct S as (v & V & S). inversion N as [|? ? [N1 N2] N3]; subst. simpl in *.
    specialize (IH _ N3 S). nia.
Qed.

(** Gcd cut: a target that the common divisor of the weights does not divide has no solution. *)
Theorem gcd_cut : forall ts W, solvable ts W -> (divisor ts | W).
Proof.
  induction ts as [|[w n] ts IH]; intros W S; simpl.
  - apply solvable_nil in S. subst. apply Z.divide_0_r.
  - apply solvable_cons in S. destruct S as (v & V & S). specialize (IH _ S).
    replace W with (w * v + (W - w * v)) by ring. apply Z.divide_add_r.
    + apply Z.divide_mul_l. apply Z.gcd_divide_l.
    + eapply Z.divide_trans; [apply Z.gcd_divide_r|exact IH].
Qed.

(** The largest weight need only take values that leave what the rest can reach and its divisor can divide: the search
    with its cuts is complete. *)
Theorem search_step : forall w n ts W, 0 < w -> normal ts ->
  (solvable ((w, n) :: ts) W <->
   exists v, Z.max 0 (- ((reach ts - W) / w)) <= v <= Z.min (n - 1) (W / w) /\ (divisor ts | W - w * v) /\
             solvable ts (W - w * v)).
Proof.
  intros w n ts W Hw N. rewrite solvable_cons. split.
  - intros (v & V & S). exists v. pose proof (range_cut _ _ N S) as R. pose proof (gcd_cut _ _ S) as G.
    split; [|split; assumption].
    assert (v <= W / w) by (apply Z.div_le_lower_bound; lia).
    assert (- v <= (reach ts - W) / w) by (apply Z.div_le_lower_bound; lia). lia.
  - intros (v & V & _ & S). exists v. split; [lia|assumption].
Qed.

(** The values that leave a multiple of the rest's divisor are one residue class: if [u] is one of them, the others
    are those that differ from it by multiples of g / gcd(w, g). *)
Theorem residue_class : forall w g W u v, 0 < g -> (g | W - w * u) ->
  ((g | W - w * v) <-> (g / Z.gcd w g | v - u)).
Proof.
  intros w g W u v G U. set (d := Z.gcd w g).
  assert (D : 0 < d).
  { unfold d. pose proof (Z.gcd_nonneg w g).
    destruct (Z.eq_dec (Z.gcd w g) 0) as [E|E]; [apply Z.gcd_eq_0_r in E; lia|lia]. }
  destruct (Z.gcd_divide_l w g) as [w' Ew]. destruct (Z.gcd_divide_r w g) as [g' Eg]. fold d in Ew, Eg.
  assert (Q : g / d = g') by (rewrite Eg; apply Z.div_mul; lia). rewrite Q.
  assert (RP : rel_prime g' w').
  { apply Zgcd_1_rel_prime. assert (E : d * Z.gcd g' w' = d * 1).
    { rewrite <- Z.gcd_mul_mono_l_nonneg by lia. rewrite (Z.mul_comm d g'), (Z.mul_comm d w'), <- Eg, <- Ew.
      unfold d. rewrite Z.gcd_comm. ring. }
    apply Z.mul_reg_l in E; lia. }
  assert (DIFF : (g | W - w * v) <-> (g | w * (v - u))).
  { split; intros H.
    - replace (w * (v - u)) with (W - w * u - (W - w * v)) by ring. apply Z.divide_sub_r; assumption.
    - replace (W - w * v) with (W - w * u - w * (v - u)) by ring. apply Z.divide_sub_r; assumption. }
  rewrite DIFF. split.
  - intros [k K]. apply Gauss with w'; [|assumption]. exists k.
    assert (X : d * (w' * (v - u)) = d * (k * g')) by (rewrite Ew in K; rewrite Eg in K; rewrite <- ?Ew in *; nia).
    apply Z.mul_reg_l in X; lia.
  - intros [k K]. rewrite K, Eg, Ew. exists (k * w'). ring.
Qed.

(** There is such a value exactly if gcd(w, g) divides the target. *)
Theorem residue_exists : forall w g W, 0 < g -> ((exists u, (g | W - w * u)) <-> (Z.gcd w g | W)).
Proof.
  intros w g W G. split.
  - intros [u [k K]]. replace W with (w * u + k * g) by lia. apply Z.divide_add_r.
    + apply Z.divide_mul_l, Z.gcd_divide_l.
    + apply Z.divide_mul_r, Z.gcd_divide_r.
  - intros [k K]. destruct (Z.gcd_bezout w g (Z.gcd w g) eq_refl) as (a & b & E).
    exists (k * a). exists (k * b). rewrite K, <- E. ring.
Qed.

(** * A solver made of these steps *)

(** Normal form: positive weights, at least two values.  [None] if some term has no values. *)
Fixpoint prepare (ts : list term) (W : Z) : option (list term * Z) :=
  match ts with
  | [] => Some ([], W)
  | (w, n) :: r =>
      if n <=? 0 then None
      else match prepare r W with
           | None => None
           | Some (r', W') =>
               if (w =? 0) || (n =? 1) then Some (r', W')
               else if w <? 0 then Some ((- w, n) :: r', W' - w * (n - 1)) else Some ((w, n) :: r', W')
           end
  end.

Lemma prepare_spec : forall ts W,
  match prepare ts W with
  | Some (r, W') => normal r /\ (solvable ts W <-> solvable r W')
  | None => ~ solvable ts W
  end.
Proof.
  assert (SHIFT : forall ts W x r W', prepare ts W = Some (r, W') -> prepare ts (W + x) = Some (r, W' + x)).
  { induction ts as [|[w n] ts IH]; simpl; intros W x r W' E.
    - injection E; intros; subst. reflexivity.
    - destruct (n <=? 0); [discriminate|]. destruct (prepare ts W) as [[r0 W0]|] eqn:Q; [|discriminate].
      rewrite (IH _ x _ _ Q). destruct ((w =? 0) || (n =? 1)); [injection E; intros; subst; reflexivity|].
      destruct (w <? 0); injection E; intros; subst; [|reflexivity]. do 2 f_equal. ring. }
  assert (NONE : forall ts W x, prepare ts W = None -> prepare ts (W + x) = None).
  { induction ts as [|[w n] ts IH]; simpl; intros W x E; [discriminate|].
    destruct (n <=? 0); [reflexivity|]. destruct (prepare ts W) as [[r0 W0]|] eqn:Q; [|rewrite (IH _ _ Q); reflexivity].
    destruct ((w =? 0) || (n =? 1)); [discriminate|]. destruct (w <? 0); discriminate. }
  induction ts as [|[w n] ts IH]; intros W; simpl.
  - split; [constructor|tauto].
  - destruct (Z.leb_spec n 0) as [L|L]; [apply no_values; lia|].
    destruct (prepare ts W) as [[r W']|] eqn:Q.
    + assert (EQ : forall x, solvable ts (W + x) <-> solvable r (W' + x)).
      { intros x. specialize (IH (W + x)). rewrite (SHIFT _ _ x _ _ Q) in IH. apply IH. }
      pose proof (IH W) as N. rewrite Q in N. destruct N as [N E0].
      assert (CONS : solvable ((w, n) :: ts) W <-> solvable ((w, n) :: r) W').
      { rewrite !solvable_cons. split; intros (v & V & S); exists v; (split; [assumption|]);
          rewrite <- Z.add_opp_r in *; apply EQ; assumption. }
      destruct (Z.eqb_spec w 0) as [->|W0]; simpl.
      { split; [assumption|]. rewrite drop_zero_weight by assumption. exact E0. }
      destruct (Z.eqb_spec n 1) as [->|N1]; simpl.
      { split; [assumption|]. rewrite drop_single. exact E0. }
      destruct (Z.ltb_spec w 0).
      * split; [constructor; simpl; [lia|assumption]|]. rewrite CONS. apply flip.
      * split; [constructor; simpl; [lia|assumption]|]. exact CONS.
    + intros S. apply solvable_cons in S. destruct S as (v & V & S).
      specialize (IH (W - w * v)). rewrite <- Z.add_opp_r in *. rewrite (NONE _ _ _ Q) in IH. contradiction.
Qed.

Fixpoint insert (t : term) (ts : list term) : list term :=
  match ts with [] => [t] | u :: r => if fst t <=? fst u then t :: u :: r else u :: insert t r end.
Fixpoint sort (ts : list term) : list term := match ts with [] => [] | t :: r => insert t (sort r) end.

Lemma insert_perm : forall t ts, Permutation (insert t ts) (t :: ts).
Proof.
  induction ts as [|u ts IH]; simpl; [constructor; constructor|]. destruct (fst t <=? fst u); [apply Permutation_refl|].
  eapply Permutation_trans; [apply perm_skip, IH|]. apply perm_swap.
Qed.

Lemma sort_perm : forall ts, Permutation (sort ts) ts.
Proof.
  induction ts as [|t ts IH]; simpl; [constructor|]. eapply Permutation_trans; [apply insert_perm|].
  apply perm_skip, IH.
Qed.

(** One term takes in all later ones that it coalesces with. *)
Fixpoint absorb (w n : Z) (ts : list term) : term * list term :=
  match ts with
  | [] => ((w, n), [])
  | (v, k) :: r =>
      if (v mod w =? 0) && (v / w <=? n) then absorb w (n + v / w * (k - 1)) r
      else let (t, r') := absorb w n r in (t, (v, k) :: r')
  end.

Fixpoint join_terms (fuel : nat) (ts : list term) : list term :=
  match fuel, ts with
  | S fuel', (w, n) :: r => let (t, r') := absorb w n r in t :: join_terms fuel' r'
  | _, _ => ts
  end.

Lemma absorb_spec : forall ts w n, 0 < w -> 0 < n -> normal ts ->
  let (t, r) := absorb w n ts in
  0 < fst t /\ 0 < snd t /\ normal r /\ forall W, solvable ((w, n) :: ts) W <-> solvable (t :: r) W.
Proof.
  induction ts as [|[v k] ts IH]; intros w n Hw Hn N; simpl.
  - repeat split; auto.
  - inversion N as [|? ? [N1 N2] N3]; subst. simpl in N1, N2.
    destruct ((v mod w =? 0) && (v / w <=? n)) eqn:C.
    + apply andb_true_iff in C. destruct C as [C1 C2]. apply Z.eqb_eq in C1. apply Z.leb_le in C2.
      assert (V : v = v / w * w) by (pose proof (Z.div_mod v w ltac:(lia)); lia).
      assert (0 <= v / w) by (apply Z.div_pos; lia).
      specialize (IH w (n + v / w * (k - 1)) Hw ltac:(nia) N3). destruct (absorb w (n + v / w * (k - 1)) ts) as [t r].
      destruct IH as (A & B & C & D). repeat split; auto; intros S.
      * apply D. rewrite V in S. apply coalesce in S; auto.
      * rewrite V. apply coalesce; auto. apply D. assumption.
    + specialize (IH w n Hw Hn N3). destruct (absorb w n ts) as [t r]. destruct IH as (A & B & C' & D).
      split; [assumption|]. split; [assumption|]. split; [constructor; auto|]. intros W.
      rewrite (reorder _ _ W (perm_swap (v, k) (w, n) ts)). rewrite (reorder _ _ W (perm_swap (v, k) t r)).
      rewrite !solvable_cons. split; intros (x & X & S); exists x; (split; [assumption|]); apply D; assumption.
Qed.

Lemma join_terms_spec : forall fuel ts, normal ts -> normal (join_terms fuel ts) /\ forall W, solvable ts W <->
  solvable (join_terms fuel ts) W.
Proof.
  induction fuel as [|fuel IH]; intros ts N; [split; [exact N|reflexivity]|].
  destruct ts as [|[w n] ts]; [split; [exact N|reflexivity]|]. simpl. inversion N as [|? ? [N1 N2] N3]; subst.
  simpl in N1, N2.
  pose proof (absorb_spec ts w n N1 N2 N3) as A. destruct (absorb w n ts) as [[w' n'] r]. destruct A as (A & B & C & D).
  destruct (IH r C) as [N' E]. split; [constructor; auto|]. intros W. rewrite D. rewrite !solvable_cons.
  split; intros (x & X & S); exists x; (split; [assumption|]); apply E; assumption.
Qed.

(** Coefficients of a common divisor.  What they are used for is checked where it is used. *)
Fixpoint bezout (fuel : nat) (a b : Z) : Z * Z :=
  match fuel with
  | O => (1, 0)
  | S fuel' => if b =? 0 then (1, 0) else let (x, y) := bezout fuel' b (a mod b) in (y, x - a / b * y)
  end.

(** Whether three terms are left of which the last divides the others, and then the answer. *)
Definition strip_applies (w : Z) (r : list term) : bool :=
  match r with [(w2, _); (c, _)] => if w mod c =? 0 then w2 mod c =? 0 else false | _ => false end.
Definition strip_answer (w n : Z) (r : list term) (W : Z) : bool :=
  match r with [(w2, n2); (c, n3)] => three_terms w n w2 n2 c n3 W | _ => false end.

(** The search from the first term on, cut by range, divisor and residue class; a strip is settled at once. *)
Fixpoint search (ts : list term) (W : Z) : bool :=
  match ts with
  | [] => W =? 0
  | (w, n) :: r =>
      let g := divisor r in
      if strip_applies w r then strip_answer w n r W
      else if g =? 0 then (W mod w =? 0) && (0 <=? W / w) && (W / w <? n) && (match r with [] => true | _ => false end)
      else
        let low := Z.max 0 (- ((reach r - W) / w)) in
        let high := Z.min (n - 1) (W / w) in
        let d := Z.gcd w g in
        if high <? low then false
        else if negb (W mod d =? 0) then false
        else
          let every := g / d in
          let u := (W / d * fst (bezout (Z.to_nat (2 * Z.log2 (w + g) + 4)) w g)) mod every in
          if (W - w * u) mod g =? 0 then
            let first := low + (u - low) mod every in
            any 0 ((high - first) / every + 1) (fun k => search r (W - w * (first + k * every)))
          else any low (high - low + 1) (fun v => search r (W - w * v))
  end.

Lemma divisor_zero : forall ts, normal ts -> divisor ts = 0 -> ts = [].
Proof.
  intros [|[w n] ts] N E; [reflexivity|]. inversion N as [|? ? [N1 _] _]; subst. simpl in *.
  apply Z.gcd_eq_0_l in E. lia.
Qed.

Lemma divisor_nonneg : forall ts, 0 <= divisor ts.
Proof. destruct ts as [|[w n] ts]; simpl; [lia|]. apply Z.gcd_nonneg. Qed.

Lemma strip_answer_iff : forall w n r W, normal ((w, n) :: r) -> strip_applies w r = true ->
  (strip_answer w n r W = true <-> solvable ((w, n) :: r) W).
Proof.
  intros w n r W N A. destruct r as [|[w2 n2] [|[c n3] [|]]]; try discriminate. simpl in A |- *.
  inversion N as [|? ? [N1 N2] N']; subst. inversion N' as [|? ? [N3 N4] N'']; subst.
  inversion N'' as [|? ? [N5 N6] _]; subst. simpl in *.
  destruct (Z.eqb_spec (w mod c) 0) as [D1|]; [|discriminate]. apply Z.eqb_eq in A.
  apply three_terms_iff; try assumption; apply Z.mod_divide; lia.
Qed.

(** The search with all its cuts decides equations in normal form. *)
Theorem search_exact : forall ts W, normal ts -> (search ts W = true <-> solvable ts W).
Proof.
  induction ts as [|[w n] r IH]; intros W N; cbn [search]; cbv zeta.
  - rewrite solvable_nil. apply Z.eqb_eq.
  - inversion N as [|? ? [N1 N2] N3]; subst. simpl in N1, N2. specialize (fun W => IH W N3).
    destruct (strip_applies w r) eqn:SA; [apply strip_answer_iff; assumption|].
    destruct (Z.eqb_spec (divisor r) 0) as [G0|G0].
    + rewrite (divisor_zero r N3 G0). rewrite one_term by assumption.
      rewrite !andb_true_iff, Z.eqb_eq, Z.leb_le, Z.ltb_lt. rewrite <- Z.mod_divide by lia. tauto.
    + assert (G : 0 < divisor r) by (pose proof (divisor_nonneg r); lia).
      rewrite search_step by assumption.
      set (low := Z.max 0 (- ((reach r - W) / w))). set (high := Z.min (n - 1) (W / w)). set (g := divisor r) in *.
      destruct (Z.ltb_spec high low) as [E|E]; [split; [discriminate|intros (v & V & _); lia]|].
      set (d := Z.gcd w g).
      assert (D : 0 < d) by (unfold d; pose proof (Z.gcd_nonneg w g); destruct (Z.eq_dec (Z.gcd w g) 0) as [Q|Q];
        [apply Z.gcd_eq_0_r in Q; lia|lia]).
      destruct (Z.eqb_spec (W mod d) 0) as [M|M]; cbn [negb].
      2:{ split; [discriminate|]. intros (v & _ & DV & _). exfalso. apply M. apply Z.mod_divide; [lia|].
          apply residue_exists; [assumption|]. exists v. assumption. }
      set (every := g / d). set (u := (W / d * fst (bezout (Z.to_nat (2 * Z.log2 (w + g) + 4)) w g)) mod every).
      assert (EV : 0 < every).
      { unfold every. apply Z.div_str_pos. split; [assumption|]. apply Z.divide_pos_le; [assumption|].
        apply Z.gcd_divide_r. }
      destruct (Z.eqb_spec ((W - w * u) mod g) 0) as [U|U].
      * apply Z.mod_divide in U; [|lia].
        set (first := low + (u - low) mod every).
        assert (F1 : low <= first < low + every) by (unfold first; pose proof (Z.mod_pos_bound (u - low) every EV);
          lia).
        assert (F2 : (every | first - u)).
        { exists (- ((u - low) / every)). unfold first. pose proof (Z.div_mod (u - low) every ltac:(lia)). lia. }
        assert (CL : forall v, (g | W - w * v) <-> (every | v - first)).
        { intros v. rewrite (residue_class w g W u v G U). fold d every. split; intros H.
          - replace (v - first) with (v - u - (first - u)) by ring. apply Z.divide_sub_r; assumption.
          - replace (v - u) with (v - first + (first - u)) by ring. apply Z.divide_add_r; assumption. }
        rewrite any_iff. split.
        { intros (k & K & S). apply IH in S. exists (first + k * every). split; [|split; [|assumption]].
          - assert (k <= (high - first) / every) by lia.
            assert (every * ((high - first) / every) <= high - first) by (apply Z.mul_div_le; lia). nia.
          - apply CL. exists k. ring. }
        { intros (v & V & DV & S). apply CL in DV. destruct DV as [k K]. exists k. split.
          - assert (0 <= k) by nia. assert (k <= (high - first) / every) by (apply Z.div_le_lower_bound; lia). lia.
          - apply IH. replace (first + k * every) with v by lia. assumption. }
      * rewrite any_iff. split.
        { intros (v & V & S). apply IH in S. exists v. split; [lia|]. split; [|assumption]. apply gcd_cut. assumption. }
        { intros (v & V & _ & S). exists v. split; [lia|]. apply IH. assumption. }
Qed.

(** Normal form, coalescing from the smallest weight up, search from the largest weight down. *)
Definition solve (ts : list term) (W : Z) : bool :=
  match prepare ts W with
  | None => false
  | Some (r, W') => let s := sort r in search (rev (join_terms (length s) s)) W'
  end.

Lemma normal_perm : forall ts us, Permutation ts us -> normal ts -> normal us.
Proof. intros ts us P N. unfold normal in *. rewrite Forall_forall in *. intros t H. apply N.
eapply Permutation_in; [apply Permutation_sym, P|exact H]. Qed.

(** The solver decides equations. *)
Theorem solve_decides : decides solve.
Proof.
  intros ts W. unfold solve. pose proof (prepare_spec ts W) as P. destruct (prepare ts W) as [[r W']|].
  - destruct P as [N E]. rewrite E.
    assert (NS : normal (sort r)) by (eapply normal_perm; [apply Permutation_sym, sort_perm|exact N]).
    destruct (join_terms_spec (length (sort r)) (sort r) NS) as [NJ EJ].
    rewrite search_exact by (eapply normal_perm; [apply Permutation_rev|exact NJ]).
    rewrite <- (reorder _ _ W' (Permutation_rev (join_terms (length (sort r)) (sort r)))).
    rewrite <- EJ. apply reorder, sort_perm.
  - split; [discriminate|contradiction].
Qed.

(** A solution at the very edge of ranges of 10^9 values, and none a little further. *)
Example solve_example :
  solve [(1000003, 1000000000); (999983, 1000000000); (7, 3)] ((1000003 + 999983) * 999999999 + 7) = true /\
  solve [(1000003, 1000000000); (999983, 1000000000); (7, 3)] ((1000003 + 999983) * 999999999 + 15) = false.
Proof. split; vm_compute; reflexivity. Qed.

(** Small ones, as [enumerate] has them. *)
Example solve_small : solve [(3, 4); (-5, 3)] 1 = true /\ solve [(2, 9); (-6, 4)] 3 = false.
Proof. split; vm_compute; reflexivity. Qed.
