(** Shards: which device has each element, in the order of positions.

    Where shards are even the device is a digit of the position.  Elsewhere it is a word, made of ramps and
    repetitions, and whether two words are the same is told without spelling them out. *)

From Coq Require Import ZArith Lia List Bool.
From Shapetracker Require Import View Splits Cute.
Import ListNotations.
Open Scope Z_scope.

(** * Repetitions *)

(** A word of [len] places, whose entries past the first [p] are those [p] places earlier. *)
Definition repeats (p len : Z) (u : Z -> Z) : Prop := forall i, p <= i < len -> u i = u (i - p).

(** Two words agree below a place. *)
Definition agree (u v : Z -> Z) (len : Z) : Prop := forall i, 0 <= i < len -> u i = v i.

(** The first place below [len] at which they differ. *)
Definition first_difference (u v : Z -> Z) (len k : Z) : Prop := 0 <= k < len /\ u k <> v k /\ agree u v k.

(** Two repetitions agree as far as they go if they agree for as long as their periods together are long. *)
Theorem fine_wilf : forall u v p q len, 0 < p -> 0 < q -> repeats p len u -> repeats q len v ->
  agree u v (Z.min (p + q) len) -> agree u v len.
Proof.
  intros u v p q len P Q U V A. assert (H : forall n i, 0 <= i < Z.of_nat n -> i < len -> u i = v i).
  { induction n as [|n IH]; intros i I L; [lia|]. destruct (Z.lt_ge_cases i (p + q)) as [S|S]; [apply A; lia|].
    rewrite (U i), (V i) by lia. rewrite (IH (i - p)), <- (IH (i - q)) by lia.
    rewrite (V (i - p)), (U (i - q)) by lia. rewrite IH by lia. f_equal. lia. }
  intros i I. apply (H (Z.to_nat (i + 1))); lia.
Qed.

(** For one period it is enough to compare it once. *)
Theorem one_period : forall u v p len,
  0 < p -> repeats p len u -> repeats p len v -> agree u v (Z.min p len) -> agree u v len.
Proof.
  intros u v p len P U V A. assert (H : forall n i, 0 <= i < Z.of_nat n -> i < len -> u i = v i).
  { induction n as [|n IH]; intros i I L; [lia|]. destruct (Z.lt_ge_cases i p) as [S|S]; [apply A; lia|].
    rewrite (U i), (V i) by lia. apply IH; lia. }
  intros i I. apply (H (Z.to_nat (i + 1))); lia.
Qed.

(** How much of two repetitions is compared. *)
Definition enough (p q : Z) : Z := if p =? q then p else p + q.

(** Two repetitions differ exactly if they differ there, and first at the same place. *)
Theorem repetitions_compared : forall u v p q len, 0 < p -> 0 < q -> repeats p len u -> repeats q len v ->
  enough p q <= len ->
  (agree u v len <-> agree u v (enough p q)) /\
  forall k, first_difference u v len k <-> first_difference u v (enough p q) k.
Proof.
  intros u v p q len P Q U V L.
  assert (E : agree u v len <-> agree u v (enough p q)).
  { split; [intros A i I; apply A; lia|]. intros A. unfold enough in *. destruct (Z.eqb_spec p q) as [->|N].
    - apply (one_period u v q len Q U V). intros i I. apply A. lia.
    - apply (fine_wilf u v p q len P Q U V). intros i I. apply A. lia. }
  split; [exact E|]. intros k. split; intros (K1 & K2 & K3).
  - split; [|split; assumption]. split; [lia|]. destruct (Z.lt_ge_cases k (enough p q)) as [|G]; [assumption|].
    exfalso. apply K2. apply E; [|lia]. intros i I. apply K3. lia.
  - split; [lia|split; assumption].
Qed.

(** The longer period alone is not enough: (0 0 1) and (0 0 1 0 0), repeated, agree on 5 places and not on the
    sixth. *)
Example longer_period_is_not_enough :
  let u := fun i => if i mod 3 =? 2 then 1 else 0 in
  let v := fun i => if i mod 5 =? 2 then 1 else 0 in
  agree u v 5 /\ u 5 <> v 5.
Proof.
  split; [|vm_compute; discriminate]. intros i I.
  assert (C : i = 0 \/ i = 1 \/ i = 2 \/ i = 3 \/ i = 4) by lia.
  destruct C as [->|[->|[->|[->| ->]]]]; reflexivity.
Qed.

(** * Ramps *)

(** The value [first] as often as [until] says, then each further value [width] times. *)
Record ramp := Ramp { first : Z; until : Z; width : Z }.

Definition entry (r : ramp) (i : Z) : Z := if i <? until r then first r else first r + 1 + (i - until r) / width r.

(** What is left of a ramp past a place. *)
Definition after (r : ramp) (count : Z) : ramp :=
  if count <? until r then Ramp (first r) (until r - count) (width r)
  else let past := count - until r in
       Ramp (first r + 1 + past / width r) (width r - past mod width r) (width r).

Theorem after_is_rest : forall r count i, 0 < until r -> 0 < width r -> 0 <= count -> 0 <= i ->
  entry (after r count) i = entry r (count + i) /\ 0 < until (after r count) /\ width (after r count) = width r.
Proof.
  intros [f u w] count i U W C I. cbn [until width first] in *. unfold after, entry. cbn [until width first].
  destruct (Z.ltb_spec count u) as [S|S]; cbn [until width first].
  - split; [|lia]. destruct (Z.ltb_spec i (u - count)), (Z.ltb_spec (count + i) u); try lia.
    do 2 f_equal. lia.
  - pose proof (Z.mod_pos_bound (count - u) w W). pose proof (Z.div_mod (count - u) w ltac:(lia)).
    set (q := (count - u) / w) in *. set (m := (count - u) mod w) in *. split; [|lia].
    destruct (Z.ltb_spec (count + i) u); [lia|]. destruct (Z.ltb_spec i (w - m)).
    + replace ((count + i - u) / w) with q; [reflexivity|]. apply Z.div_unique with (m + i); lia.
    + replace (count + i - u) with ((i - (w - m)) + (q + 1) * w) by lia. rewrite Z.div_add by lia. lia.
Qed.

(** The first place at which two ramps differ, if they do. *)
Definition ramps_differ (a b : ramp) : option Z :=
  if negb (first a =? first b) then Some 0
  else if negb (until a =? until b) then Some (Z.min (until a) (until b))
  else if negb (width a =? width b) then Some (until a + Z.min (width a) (width b))
  else None.

Theorem ramps_differ_exact : forall a b, 0 < until a -> 0 < until b -> 0 < width a -> 0 < width b ->
  match ramps_differ a b with
  | Some k => forall len, k < len -> first_difference (entry a) (entry b) len k
  | None => forall len, agree (entry a) (entry b) len
  end.
Proof.
  intros [f u w] [f' u' w'] U U' W W'. cbn [until width first] in *. unfold ramps_differ. cbn [until width first].
  destruct (Z.eqb_spec f f') as [->|N]; cbn [negb].
  2: { intros len L. split; [lia|]. split; [|intros i I; lia]. unfold entry. cbn [until width first].
       destruct (Z.ltb_spec 0 u), (Z.ltb_spec 0 u'); lia. }
  destruct (Z.eqb_spec u u') as [->|N]; cbn [negb].
  2: { intros len L. split; [lia|]. split.
       - unfold entry. cbn [until width first].
         destruct (Z.ltb_spec (Z.min u u') u), (Z.ltb_spec (Z.min u u') u'); try lia.
         + replace (Z.min u u' - u') with 0 by lia. rewrite Z.div_0_l by lia. lia.
         + replace (Z.min u u' - u) with 0 by lia. rewrite Z.div_0_l by lia. lia.
       - intros i I. unfold entry. cbn [until width first]. destruct (Z.ltb_spec i u), (Z.ltb_spec i u'); lia. }
  destruct (Z.eqb_spec w w') as [->|N]; cbn [negb]; [intros len i I; reflexivity|].
  intros len L. split; [lia|]. split.
  - unfold entry. cbn [until width first]. destruct (Z.ltb_spec (u' + Z.min w w') u'); [lia|].
    replace (u' + Z.min w w' - u') with (Z.min w w') by lia.
    destruct (Z.lt_ge_cases w w').
    + rewrite Z.min_l by lia. rewrite Z.div_same, Z.div_small by lia. lia.
    + rewrite Z.min_r by lia. rewrite Z.div_same, (Z.div_small w' w) by lia. lia.
  - intros i I. unfold entry. cbn [until width first]. destruct (Z.ltb_spec i u'); [reflexivity|].
    rewrite !Z.div_small by lia. reflexivity.
Qed.

(** * Words *)

(** The numbers below [n]. *)
Definition below (n : Z) : list Z := map Z.of_nat (seq 0 (Z.to_nat n)).

(** A word is a list of ramps, each with its length, and of words that are repeated. *)
Inductive segment : Type :=
| Up (r : ramp) (len : Z)
| Repeat (count : Z) (word : list segment).

(** The word spelt out. *)
Fixpoint spell (s : segment) : list Z :=
  match s with
  | Up r len => map (entry r) (below len)
  | Repeat count word => concat (repeat (flat_map spell word) (Z.to_nat count))
  end.

Definition spelt (w : list segment) : list Z := flat_map spell w.
Definition size (w : list segment) : Z := Z.of_nat (length (spelt w)).
Definition at_place (w : list segment) (i : Z) : Z := nth (Z.to_nat i) (spelt w) 0.

(** No segment is empty, and the numbers that ramps are made of are positive. *)
Inductive proper : segment -> Prop :=
| proper_up : forall r len, 0 < until r -> 0 < width r -> 0 < len -> proper (Up r len)
| proper_repeat : forall count word, 0 < count -> 0 < size word -> Forall proper word -> proper (Repeat count word).

Definition proper_word (w : list segment) : Prop := Forall proper w.

(** The repetition that comes next is opened. *)
Definition opened (count : Z) (word rest : list segment) : list segment :=
  word ++ (if 1 <? count then Repeat (count - 1) word :: rest else rest).

(** What is left past so many places; nothing where the work that is allowed does not suffice. *)
Fixpoint skip (work : nat) (places : Z) (w : list segment) : option (list segment) :=
  match work with
  | O => None
  | S k =>
      if places <=? 0 then Some w else
      match w with
      | [] => Some []
      | Up r len :: rest =>
          if places <? len then Some (Up (after r places) (len - places) :: rest) else skip k (places - len) rest
      | Repeat count word :: rest =>
          let whole := Z.min (places / size word) count in
          let left := places - whole * size word in
          if whole =? count then skip k left rest
          else if left <=? 0 then Some (Repeat (count - whole) word :: rest)
          else skip k left (opened (count - whole) word rest)
      end
  end.

(** The first of the next [len] places at which two words differ, if they do; nothing where the work does not
    suffice. *)
Fixpoint difference (work : nat) (a b : list segment) (len : Z) : option (option Z) :=
  match work with
  | O => None
  | S k =>
      if len <=? 0 then Some None else
      let past both :=
        match skip k both a, skip k both b with
        | Some a', Some b' => option_map (option_map (Z.add both)) (difference k a' b' (len - both))
        | _, _ => None
        end in
      match a, b with
      | Up r n :: _, Up s m :: _ =>
          let both := Z.min (Z.min n m) len in
          match ramps_differ r s with
          | Some place => if place <? both then Some (Some place) else past both
          | None => past both
          end
      | Repeat m u :: a', Repeat n v :: b' =>
          let both := Z.min (Z.min (m * size u) (n * size v)) len in
          if enough (size u) (size v) <? both then
            match difference k [Repeat m u] [Repeat n v] (enough (size u) (size v)) with
            | Some None => past both
            | answer => answer
            end
          else difference k (if size v <=? size u then opened m u a' else a)
            (if size u <=? size v then opened n v b' else b) len
      | Repeat m u :: a', _ => difference k (opened m u a') b len
      | _, Repeat n v :: b' => difference k a (opened n v b') len
      | _, _ => Some (Some 0)
      end
  end.

Lemma below_length : forall n, length (below n) = Z.to_nat n.
Proof. intros. unfold below. rewrite map_length. apply seq_length. Qed.

Lemma nth_below : forall n i, 0 <= i < n -> nth (Z.to_nat i) (below n) 0 = i.
Proof.
  intros n i I. unfold below. change 0 with (Z.of_nat 0). rewrite map_nth, seq_nth by lia. lia.
Qed.

Lemma nth_skipped : forall (l : list Z) n i, nth i (skipn n l) 0 = nth (n + i) l 0.
Proof. induction l as [|x l IH]; intros [|n] i; simpl; [destruct i; reflexivity|destruct i;
  reflexivity|reflexivity|apply IH]. Qed.

Lemma concat_length : forall (x : list Z) n, length (concat (repeat x n)) = (n * length x)%nat.
Proof. induction n as [|n IH]; [reflexivity|]. simpl. rewrite app_length, IH. reflexivity. Qed.

Lemma size_nonneg : forall w, 0 <= size w.
Proof. intros. unfold size. lia. Qed.

Lemma spelt_repeat : forall count word rest,
  spelt (Repeat count word :: rest) = concat (repeat (spelt word) (Z.to_nat count)) ++ spelt rest.
Proof. reflexivity. Qed.

Lemma opened_spelt : forall count word rest,
  0 < count -> spelt (opened count word rest) = spelt (Repeat count word :: rest).
Proof.
  intros count word rest C. unfold opened. rewrite spelt_repeat. unfold spelt at 1. rewrite flat_map_app.
  fold (spelt word).
  destruct (Z.ltb_spec 1 count).
  - fold (spelt (Repeat (count - 1) word :: rest)). rewrite spelt_repeat, app_assoc. f_equal.
    replace (Z.to_nat count) with (S (Z.to_nat (count - 1))) by lia. reflexivity.
  - fold (spelt rest). replace (Z.to_nat count) with 1%nat by lia. simpl. rewrite app_nil_r. reflexivity.
Qed.

Lemma opened_proper : forall count word rest,
  proper_word (Repeat count word :: rest) -> proper_word (opened count word rest).
Proof.
  intros count word rest P. inversion P as [|? ? P1 P2]; subst. inversion P1; subst. apply Forall_app.
  split; [assumption|].
  destruct (Z.ltb_spec 1 count); [|assumption]. constructor; [constructor; [lia|assumption|assumption]|assumption].
Qed.

Lemma whole_skipped : forall (x l : list Z) n m, (m <= n)%nat ->
  skipn (m * length x) (concat (repeat x n) ++ l) = concat (repeat x (n - m)) ++ l.
Proof.
  intros x l n m L. replace n with (m + (n - m))%nat at 1 by lia.
  rewrite repeat_app, concat_app, <- app_assoc, skipn_app.
  rewrite <- concat_length, skipn_all, Nat.sub_diag. reflexivity.
Qed.

Lemma skipn_more : forall (l : list Z) n m, skipn m (skipn n l) = skipn (n + m) l.
Proof. induction l as [|x l IH]; intros [|n] m; simpl; try reflexivity; [apply skipn_nil|apply IH]. Qed.

Lemma up_skipped : forall r len n, 0 < until r -> 0 < width r -> 0 <= n < len ->
  spell (Up (after r n) (len - n)) = skipn (Z.to_nat n) (spell (Up r len)).
Proof.
  intros r len n U W N. apply (nth_ext _ _ 0 0).
  - cbn [spell]. rewrite skipn_length, !map_length, !below_length. lia.
  - intros i I. cbn [spell] in I. rewrite map_length, below_length in I. rewrite nth_skipped. cbn [spell].
    rewrite (nth_indep _ 0 (entry (after r n) 0)) by (rewrite map_length, below_length; lia).
    rewrite (nth_indep _ 0 (entry r 0)) by (rewrite map_length, below_length; lia). rewrite !map_nth.
    pose proof (nth_below (len - n) (Z.of_nat i) ltac:(lia)) as E1. rewrite Nat2Z.id in E1. rewrite E1.
    pose proof (nth_below len (n + Z.of_nat i) ltac:(lia)) as E2.
    replace (Z.to_nat (n + Z.of_nat i)) with (Z.to_nat n + i)%nat in E2 by lia. rewrite E2.
    apply after_is_rest; lia.
Qed.

(** Skipping places skips them. *)
Lemma skip_spelt : forall work places w w', proper_word w -> 0 <= places -> skip work places w = Some w' ->
  spelt w' = skipn (Z.to_nat places) (spelt w) /\ proper_word w'.
Proof.
  induction work as [|k IH]; intros places w w' P N E; cbn [skip] in E; [discriminate|].
  destruct (Z.leb_spec places 0).
  { injection E as <-. replace places with 0 by lia. split; [reflexivity|assumption]. }
  destruct w as [|[r len|count word] rest].
  - injection E as <-. split; [rewrite skipn_nil; reflexivity|constructor].
  - inversion P as [|? ? P1 P2]; subst. inversion P1; subst.
    change (spelt (Up r len :: rest)) with (spell (Up r len) ++ spelt rest).
    assert (L : length (spell (Up r len)) = Z.to_nat len) by (cbn [spell]; rewrite map_length; apply below_length).
    destruct (Z.ltb_spec places len).
    + injection E as <-. split.
      * change (spelt (Up (after r places) (len - places) :: rest)) with (spell (Up (after r places) (len - places))
          ++ spelt rest).
        rewrite up_skipped by lia. rewrite skipn_app, L.
        replace (Z.to_nat places - Z.to_nat len)%nat with 0%nat by lia. reflexivity.
      * destruct (after_is_rest r places 0) as (_ & A1 & A2); [assumption|assumption|lia|lia|].
        constructor; [constructor; [assumption|rewrite A2; assumption|lia]|assumption].
    + destruct (IH (places - len) rest w' P2 ltac:(lia) E) as [I1 I2]. split; [|assumption]. rewrite I1, skipn_app, L.
      rewrite (skipn_all2 (spell (Up r len))) by (rewrite L; lia). cbn [app]. f_equal. lia.
  - inversion P as [|? ? P1 P2]; subst. inversion P1 as [|? ? C S F]; subst.
    set (whole := Z.min (places / size word) count) in *. set (left := places - whole * size word) in *.
    pose proof (Z.div_mod places (size word) ltac:(lia)). pose proof (Z.mod_pos_bound places (size word) ltac:(lia)).
    assert (0 <= places / size word) by (apply Z.div_pos; lia). assert (W : 0 <= whole <= count) by lia.
    assert (WS : whole * size word <= places) by nia. assert (0 <= left) by lia.
    assert (SP : Z.to_nat (whole * size word) = (Z.to_nat whole * length (spelt word))%nat) by (unfold size in *;
      nia).
    assert (T : forall n, 0 <= n -> skipn (Z.to_nat (whole * size word + n)) (spelt (Repeat count word :: rest)) =
                  skipn (Z.to_nat n) (concat (repeat (spelt word) (Z.to_nat count - Z.to_nat whole)) ++ spelt rest)).
    { intros n NN. rewrite Z2Nat.inj_add by nia. rewrite <- skipn_more, spelt_repeat, SP, whole_skipped by lia.
      reflexivity. }
    replace places with (whole * size word + left) by lia. rewrite T by assumption.
    destruct (Z.eqb_spec whole count) as [Q|Q].
    + destruct (IH left rest w' P2 ltac:(lia) E) as [I1 I2]. split; [|assumption]. rewrite I1, Q, Nat.sub_diag.
      reflexivity.
    + assert (P' : proper_word (Repeat (count - whole) word :: rest)).
      { constructor; [constructor; [lia|assumption|assumption]|assumption]. }
      assert (R : concat (repeat (spelt word) (Z.to_nat count - Z.to_nat whole)) ++ spelt rest =
                  spelt (Repeat (count - whole) word :: rest)).
      { rewrite spelt_repeat. do 3 f_equal. lia. }
      rewrite R. destruct (Z.leb_spec left 0).
      * injection E as <-. replace left with 0 by lia. split; [reflexivity|assumption].
      * destruct (IH left _ w' (opened_proper _ _ _ P') ltac:(lia) E) as [I1 I2]. split; [|assumption].
        rewrite I1, opened_spelt by lia. reflexivity.
Qed.

(** What is right of an answer. *)
Definition answers (a b : list segment) (len : Z) (answer : option Z) : Prop :=
  match answer with
  | None => agree (at_place a) (at_place b) len
  | Some k => first_difference (at_place a) (at_place b) len k
  end.

Lemma answers_past : forall a b a' b' both len answer, 0 <= both <= len ->
  agree (at_place a) (at_place b) both ->
  (forall i, 0 <= i -> at_place a' i = at_place a (both + i)) -> (forall i,
    0 <= i -> at_place b' i = at_place b (both + i)) ->
  answers a' b' (len - both) answer -> answers a b len (option_map (Z.add both) answer).
Proof.
  intros a b a' b' both len answer L A HA HB R.
  assert (X : forall n, agree (at_place a') (at_place b') n -> agree (at_place a) (at_place b) (both + n)).
  { intros n G i I. destruct (Z.lt_ge_cases i both); [apply A; lia|].
    replace i with (both + (i - both)) by ring. rewrite <- HA, <- HB by lia. apply G. lia. }
  destruct answer as [k|]; cbn [answers option_map] in *.
  - destruct R as (R1 & R2 & R3). split; [lia|]. split; [rewrite <- HA, <- HB by lia; assumption|apply X; assumption].
  - replace len with (both + (len - both)) by ring. apply X; assumption.
Qed.

Lemma at_up : forall r n rest i, 0 <= i < n -> at_place (Up r n :: rest) i = entry r i.
Proof.
  intros r n rest i I. unfold at_place. change (spelt (Up r n :: rest)) with (map (entry r) (below n) ++ spelt rest).
  rewrite app_nth1 by (rewrite map_length, below_length; lia).
  rewrite (nth_indep _ 0 (entry r 0)) by (rewrite map_length, below_length; lia). rewrite map_nth, nth_below by lia.
  reflexivity.
Qed.

Lemma at_repeat : forall m u rest i,
  0 < m -> 0 <= i < m * size u -> at_place (Repeat m u :: rest) i = at_place [Repeat m u] i.
Proof.
  intros m u rest i M I. unfold at_place. rewrite !spelt_repeat. change (spelt []) with (@nil Z). rewrite app_nil_r.
  apply app_nth1. rewrite concat_length. unfold size in I. nia.
Qed.

Lemma size_repeat : forall m u, 0 < m -> size [Repeat m u] = m * size u.
Proof.
  intros m u M. unfold size. rewrite spelt_repeat. change (spelt []) with (@nil Z).
  rewrite app_nil_r, concat_length. nia.
Qed.

Lemma repeat_repeats : forall m u len,
  0 < m -> 0 < size u -> len <= m * size u -> repeats (size u) len (at_place [Repeat m u]).
Proof.
  intros m u len M S L i I. unfold at_place. rewrite spelt_repeat. change (spelt []) with (@nil Z). rewrite app_nil_r.
  assert (E : skipn (1 * length (spelt u)) (concat (repeat (spelt u) (Z.to_nat m)) ++ []) =
              concat (repeat (spelt u) (Z.to_nat m - 1)) ++ []) by (apply whole_skipped; lia).
  rewrite !app_nil_r in E.
  replace (Z.to_nat i) with (1 * length (spelt u) + Z.to_nat (i - size u))%nat by (unfold size in *; lia).
  rewrite <- nth_skipped, E. replace (Z.to_nat m) with (Z.to_nat m - 1 + 1)%nat at 2 by lia.
  rewrite repeat_app, concat_app. symmetry. apply app_nth1. rewrite concat_length. unfold size in *. nia.
Qed.

(** The comparison is right, whatever it answers. *)
Theorem difference_exact : forall work a b len answer,
  proper_word a -> proper_word b -> 0 <= len -> len <= size a -> len <= size b ->
  difference work a b len = Some answer -> answers a b len answer.
Proof.
  induction work as [|k IH]; intros a b len answer PA PB L LA LB E; cbn [difference] in E; [discriminate|].
  destruct (Z.leb_spec len 0); [injection E as <-; intros i I; lia|].
  set (past := fun both => match skip k both a, skip k both b with
        | Some a', Some b' => option_map (option_map (Z.add both)) (difference k a' b' (len - both)) | _,
          _ => None end) in *.
  assert (PAST : forall both answer,
    0 <= both <= len -> agree (at_place a) (at_place b) both -> past both = Some answer ->
            answers a b len answer).
  { clear E answer. intros both answer B A E. unfold past in E.
    destruct (skip k both a) as [a'|] eqn:SA; [|discriminate].
    destruct (skip k both b) as [b'|] eqn:SB; [|discriminate].
    destruct (skip_spelt k both a a' PA ltac:(lia) SA) as [A1 A2].
    destruct (skip_spelt k both b b' PB ltac:(lia) SB) as [B1 B2].
    destruct (difference k a' b' (len - both)) as [rest|] eqn:D; [|discriminate]. injection E as <-.
    assert (SZ : forall w w', spelt w' = skipn (Z.to_nat both) (spelt w) -> len <= size w -> len - both <= size w').
    { intros w w' Q S. unfold size in *. rewrite Q, skipn_length. lia. }
    assert (AT : forall w w', spelt w' = skipn (Z.to_nat both) (spelt w) -> forall i,
      0 <= i -> at_place w' i = at_place w (both + i)).
    { intros w w' Q i I. unfold at_place. rewrite Q, nth_skipped. f_equal. lia. }
    eapply answers_past; [exact B|exact A|apply AT; exact A1|apply AT; exact B1|].
    apply IH; [assumption|assumption|lia|eapply SZ; eassumption|eapply SZ; eassumption|exact D]. }
  assert (SAME : forall w w', spelt w' = spelt w -> size w' = size w /\ at_place w' = at_place w).
  { intros w w' Q. unfold size, at_place. rewrite Q. split; reflexivity. }
  assert (OPEN : forall a' b', spelt a' = spelt a -> spelt b' = spelt b -> proper_word a' -> proper_word b' ->
            difference k a' b' len = Some answer -> answers a b len answer).
  { intros a' b' QA QB PA' PB' D. destruct (SAME _ _ QA) as [SA TA]. destruct (SAME _ _ QB) as [SB TB].
    unfold answers. rewrite <- TA, <- TB. apply (IH a' b' len answer);
      [assumption|assumption|lia|lia|lia|assumption]. }
  destruct a as [|[r n|m u] a].
  - unfold size in LA. simpl in LA. lia.
  - destruct b as [|[s m|n' v] b]; [unfold size in LB; simpl in LB; lia| |].
    + inversion PA as [|? ? PA1 _]; subst. inversion PB as [|? ? PB1 _]; subst. inversion PA1; subst.
      inversion PB1; subst.
      pose proof (ramps_differ_exact r s) as R. specialize (R ltac:(assumption) ltac:(assumption) ltac:(assumption)
        ltac:(assumption)).
      set (both := Z.min (Z.min n m) len) in *.
      assert (T : forall i,
        0 <= i < both -> at_place (Up r n :: a) i = entry r i /\ at_place (Up s m :: b) i = entry s i)
        by (intros i I; split; apply at_up; lia).
      destruct (ramps_differ r s) as [place|].
      * destruct (Z.ltb_spec place both).
        -- injection E as <-. destruct (R both) as (R1 & R2 & R3); [assumption|].
           destruct (T place ltac:(lia)) as [T1 T2].
           split; [lia|]. split; [rewrite T1, T2; assumption|]. intros i I. destruct (T i ltac:(lia)) as [-> ->].
           apply R3; lia.
        -- apply (PAST both); [lia| |exact E]. intros i I. destruct (T i I) as [-> ->].
           destruct (R (place + 1)) as (R1 & R2 & R3); [lia|].
           apply R3. lia.
      * apply (PAST both); [lia| |exact E]. intros i I. destruct (T i I) as [-> ->]. apply (R both). assumption.
    + inversion PB as [|? ? PB1 _]; subst. inversion PB1; subst.
      apply (OPEN (Up r n :: a) (opened n' v b)); [reflexivity|apply opened_spelt;
        assumption|assumption|apply opened_proper; assumption|exact E].
  - inversion PA as [|? ? PA1 _]; subst. inversion PA1; subst.
    destruct b as [|[s n|n v] b]; [unfold size in LB; simpl in LB; lia| |].
    + apply (OPEN (opened m u a) (Up s n :: b)); [apply opened_spelt; assumption|reflexivity|apply opened_proper;
        assumption|assumption|exact E].
    + inversion PB as [|? ? PB1 _]; subst. inversion PB1; subst.
      set (both := Z.min (Z.min (m * size u) (n * size v)) len) in *. set (e := enough (size u) (size v)) in *.
      destruct (Z.ltb_spec e both) as [B|B].
      * assert (E0 : 0 < e) by (unfold e, enough; destruct (size u =? size v); lia).
        assert (T : forall i, 0 <= i < both -> at_place (Repeat m u :: a) i = at_place [Repeat m u] i /\
                                               at_place (Repeat n v :: b) i = at_place [Repeat n v] i)
          by (intros i I; split; apply at_repeat; lia).
        destruct (repetitions_compared (at_place [Repeat m u]) (at_place [Repeat n v]) (size u) (size v) both)
          as [C1 C2];
          [assumption|assumption|apply repeat_repeats; [assumption|assumption|lia]|apply repeat_repeats;
            [assumption|assumption|lia]|fold e; lia|].
        fold e in C1, C2.
        destruct (difference k [Repeat m u] [Repeat n v] e) as [[place|]|] eqn:D; [| |discriminate].
        -- injection E as <-. apply IH in D; [|repeat constructor; assumption|repeat constructor;
             assumption|lia|rewrite size_repeat; lia|rewrite size_repeat; lia].
           apply C2 in D. destruct D as (D1 & D2 & D3). destruct (T place D1) as [T1 T2].
           split; [lia|]. split; [rewrite T1, T2; assumption|]. intros i I. destruct (T i ltac:(lia)) as [-> ->].
           apply D3; lia.
        -- apply IH in D; [|repeat constructor; assumption|repeat constructor; assumption|lia|rewrite size_repeat;
             lia|rewrite size_repeat; lia].
           apply C1 in D. apply (PAST both); [lia| |exact E]. intros i I. destruct (T i I) as [-> ->]. apply D; lia.
      * eapply OPEN; [| | | |exact E].
        -- destruct (size v <=? size u); [apply opened_spelt; assumption|reflexivity].
        -- destruct (size u <=? size v); [apply opened_spelt; assumption|reflexivity].
        -- destruct (size v <=? size u); [apply opened_proper; assumption|assumption].
        -- destruct (size u <=? size v); [apply opened_proper; assumption|assumption].
Qed.

(** * Even shards *)

(** The digit of a position that is the coordinate along a mesh axis, and the index of a position along an axis of
    [n] places of [w] positions each. *)
Definition digit (step m p : Z) : Z := p / step mod m.
Definition place_of (w n p : Z) : Z := p / w mod n.

(** The device of a place: a list of [n] is cut into pieces, each of them into parts. *)
Definition ceiling (n by_ : Z) : Z := n / by_ + (if n mod by_ =? 0 then 0 else 1).
Definition owner (pieces parts n x : Z) : Z :=
  let piece := Z.max 1 (ceiling n pieces) in
  let length := Z.min piece (n - x / piece * piece) in
  x mod piece / ceiling length parts.

Lemma ceiling_exact : forall a b, 0 < b -> ceiling (a * b) b = a.
Proof. intros a b B. unfold ceiling. rewrite Z.div_mul, Z.mod_mul by lia. simpl. lia. Qed.

(** Where the weight of an axis divides the step, and the digit repeats a whole number of times along the axis, the
    answered placement gives each position to the device that had it: the axis is cut into as many pieces as the digit
    repeats. *)
Theorem placed_digit : forall w n step m p, 0 < w -> 0 < n -> 0 < step -> 0 < m -> 0 <= p ->
  (w | step) -> (step * m | w * n) ->
  owner (n / (step / w * m)) m n (place_of w n p) = digit step m p.
Proof.
  intros w n step m p W N S M P [t T] [k K]. assert (0 < t) by nia.
  assert (NK : n = k * (t * m)) by (apply (Z.mul_reg_l _ _ w); [lia|rewrite K, T; ring]).
  assert (TM : 0 < t * m) by nia. assert (0 < k) by nia.
  unfold owner, place_of, digit. rewrite T, Z.div_mul by lia. rewrite NK, Z.div_mul by lia.
  replace (k * (t * m)) with (t * m * k) at 2 4 by ring.
  rewrite (Z.mul_comm k (t * m)), ceiling_exact by lia. rewrite Z.max_r by lia.
  set (x := (p / w) mod (t * m * k)). pose proof (Z.mod_pos_bound (p / w) (t * m * k) ltac:(nia)) as X. fold x in X.
  assert (L : x / (t * m) < k) by (apply Z.div_lt_upper_bound; lia).
  assert (0 <= x / (t * m)) by (apply Z.div_pos; lia).
  rewrite Z.min_l by nia. rewrite ceiling_exact by lia.
  assert (E : x mod (t * m) = (p / w) mod (t * m)).
  { unfold x. rewrite (Z.rem_mul_r (p / w) (t * m) k) by lia. rewrite (Z.mul_comm (t * m) (_ mod k)),
      Z.mod_add by lia.
    apply Z.mod_mod. lia. }
  rewrite E. rewrite Z.rem_mul_r by lia. rewrite (Z.mul_comm t (_ mod m)), Z.div_add by lia.
  rewrite (Z.div_small ((p / w) mod t)) by (apply Z.mod_pos_bound; lia). rewrite Z.div_div by lia.
  rewrite (Z.mul_comm w t). lia.
Qed.

(** And there is no other axis: where the coordinate depends on the index along an axis alone, its weight divides
    the step, and the digit repeats a whole number of times along it. *)
Theorem axis_of_digit : forall w n step m N, 0 < w -> 0 < n -> 0 < step -> 2 <= m -> 0 < N ->
  (step * m | N) -> (w * n | N) ->
  (forall p q, 0 <= p < N -> 0 <= q < N -> place_of w n p = place_of w n q -> digit step m p = digit step m q) ->
  (w | step) /\ (step * m | w * n).
Proof.
  intros w n step m N W NN S M NP [a A] [b B] F.
  assert (SM : 0 < step * m) by nia. assert (WN : 0 < w * n) by nia. assert (1 <= a) by nia. assert (1 <= b) by nia.
  assert (D0 : forall p, 0 <= p < step -> digit step m p = 0).
  { intros p P. unfold digit. rewrite Z.div_small by lia. apply Z.mod_0_l. lia. }
  assert (D1 : digit step m step = 1).
  { unfold digit. rewrite Z.div_same by lia. apply Z.mod_small. lia. }
  assert (SN : step < N) by nia. split.
  - apply Z.mod_divide; [lia|]. destruct (Z.eq_dec (step mod w) 0) as [|R]; [assumption|exfalso].
    assert (E : place_of w n step = place_of w n (step - 1)).
    { unfold place_of. f_equal. pose proof (Z.div_mod step w ltac:(lia)). pose proof (Z.mod_pos_bound step w W).
      apply Z.div_unique with (step mod w - 1); [left; lia|lia]. }
    apply F in E; [|lia|lia]. rewrite D1, D0 in E by lia. lia.
  - apply Z.mod_divide; [nia|]. set (q := (w * n) mod (step * m)). set (k := w * n / (step * m)).
    assert (Q : w * n = step * m * k + q) by (apply Z.div_mod; lia).
    pose proof (Z.mod_pos_bound (w * n) (step * m) SM) as QB. fold q in QB.
    assert (0 <= k) by (apply Z.div_pos; nia).
    destruct (Z.eq_dec q 0) as [|Q0]; [assumption|exfalso].
    assert (B1 : b <> 1).
    { intros ->. assert ((a - k) * (step * m) = q) by lia. destruct (Z.le_gt_cases (a - k) 0); nia. }
    assert (LN : w * n < N) by nia.
    assert (KN : step * m * (k + 1) <= N).
    { assert (k < a) by (apply (Z.mul_lt_mono_pos_l (step * m)); lia). rewrite A, (Z.mul_comm a).
      apply Z.mul_le_mono_nonneg_l; lia. }
    assert (P : forall p, 0 <= p -> p + w * n < N -> digit step m (p + w * n) = digit step m p).
    { intros p PP PN. apply F; [lia|lia|]. unfold place_of. rewrite (Z.mul_comm w n), Z.div_add by lia.
      replace (p / w + n) with (p / w + 1 * n) by ring. apply Z.mod_add. lia. }
    assert (Z0 : digit step m (w * n) = 0) by (pose proof (P 0 ltac:(lia) ltac:(lia)) as P0;
      rewrite (D0 0) in P0 by lia; exact P0).
    assert (DK : forall r, 0 <= r < step * m -> digit step m (step * m * k + r) = r / step).
    { intros r R. unfold digit. replace (step * m * k + r) with (r + m * k * step) by ring. rewrite Z.div_add by lia.
      rewrite (Z.mul_comm m k), Z.mod_add by lia. apply Z.mod_small. split; [apply Z.div_pos; lia|].
      apply Z.div_lt_upper_bound; lia. }
    rewrite Q, DK in Z0 by lia. apply Z.div_small_iff in Z0; [|lia].
    assert (QS : q < step) by lia.
    pose proof (P (step - q) ltac:(lia) ltac:(nia)) as P1. rewrite (D0 (step - q)) in P1 by lia.
    replace (step - q + w * n) with (step * m * k + step) in P1 by lia. rewrite DK in P1 by nia.
    rewrite Z.div_same in P1 by lia. lia.
Qed.

(** ** Several mesh axes along one axis *)

(** The place among those of one device, which all have one digit: the place without that digit. *)
Definition without (t m x : Z) : Z := x / (t * m) * t + x mod t.

(** It counts the places of the device in their order. *)
Theorem rank_of_place : forall t m x y, 0 < t -> 0 < m ->
  x = without t m x / t * (t * m) + digit t m x * t + without t m x mod t /\
  (digit t m x = digit t m y -> x < y -> without t m x < without t m y).
Proof.
  intros t m x y T M. assert (TM : 0 < t * m) by nia.
  assert (K : forall x, x = without t m x / t * (t * m) + digit t m x * t + without t m x mod t).
  { clear x y. intros x. unfold without, digit. pose proof (Z.mod_pos_bound x t T).
    rewrite Z.div_add_l, (Z.div_small (x mod t)), Z.add_0_r by lia.
    rewrite (Z.add_comm (_ * t)), Z.mod_add, Z.mod_mod by lia.
    pose proof (Z.div_mod x (t * m) ltac:(lia)) as D. rewrite Z.rem_mul_r in D by lia. lia. }
  split; [apply K|]. intros E L. pose proof (K x) as X. pose proof (K y) as Y. rewrite E in X.
  set (a := without t m x) in *. set (b := without t m y) in *.
  pose proof (Z.div_mod a t ltac:(lia)). pose proof (Z.mod_pos_bound a t T).
  pose proof (Z.div_mod b t ltac:(lia)). pose proof (Z.mod_pos_bound b t T).
  destruct (Z.lt_trichotomy (a / t) (b / t)) as [C|[C|C]].
  { assert (t * (a / t) + t <= t * (b / t)) by nia. lia. }
  { rewrite C in *. lia. }
  assert (b / t * (t * m) + t * m <= a / t * (t * m)) by nia. assert (t <= t * m) by nia. lia.
Qed.

(** Two digits are disjoint if one ends where or before the other one begins. *)
Definition disjoint (d e : Z * Z) : Prop := (fst d * snd d | fst e) \/ (fst e * snd e | fst d).

(** A digit without another one that is disjoint: its step is smaller by the size of one below it. *)
Definition adjusted (e d : Z * Z) : Z * Z := if fst e <? fst d then (fst d / snd e, snd d) else d.

Definition positive (d : Z * Z) : Prop := 0 < fst d /\ 2 <= snd d.

(** Which one of two is below the other is told by the steps. *)
Lemma below_or_above : forall e d, positive e -> positive d -> disjoint e d ->
  (fst e < fst d /\ exists k, fst d = k * (fst e * snd e) /\ 0 < k /\ adjusted e d = (k * fst e, snd d)) \/
  (fst d <= fst e /\ adjusted e d = d /\ exists k, fst e = k * (fst d * snd d) /\ 0 < k).
Proof.
  intros [t m] [t' m'] [E1 E2] [D1 D2] H. unfold disjoint, adjusted in *. cbn [fst snd] in *.
  destruct H as [[k K]|[k K]].
  - left. assert (TM : 2 * t <= t * m) by nia. assert (0 < k) by nia.
    assert (t * m * 1 <= t * m * k) by (apply Z.mul_le_mono_nonneg_l; lia). assert (t < t') by lia.
    split; [assumption|]. exists k. split; [assumption|]. split; [assumption|].
    destruct (Z.ltb_spec t t'); [|lia]. f_equal. rewrite K. replace (k * (t * m)) with (k * t * m) by ring.
    apply Z.div_mul. lia.
  - right. assert (TM : 2 * t' <= t' * m') by nia. assert (0 < k) by nia.
    assert (t' * m' * 1 <= t' * m' * k) by (apply Z.mul_le_mono_nonneg_l; lia). assert (t' < t) by lia.
    split; [lia|]. split; [|exists k; split; assumption].
    destruct (Z.ltb_spec t t'); [lia|reflexivity].
Qed.

(** The digit of the rank is that of the place. *)
Theorem digit_stays : forall e d x, positive e -> positive d -> disjoint e d ->
  digit (fst (adjusted e d)) (snd (adjusted e d)) (without (fst e) (snd e) x) = digit (fst d) (snd d) x.
Proof.
  intros e d x E D H. destruct (below_or_above e d E D H) as [(_ & k & K & KP & ->)|(_ & -> & k & K & KP)];
    destruct e as [t m], d as [t' m'], E as [E1 E2], D as [D1 D2]; unfold digit, without; cbn [fst snd] in *.
  - rewrite K. f_equal. pose proof (Z.mod_pos_bound x t E1). rewrite (Z.mul_comm k t), <- Z.div_div by lia.
    rewrite Z.div_add_l, (Z.div_small (x mod t)), Z.add_0_r by lia. rewrite Z.div_div by nia. f_equal. ring.
  - rewrite K. replace (x / (k * (t' * m') * m) * (k * (t' * m')) + x mod (k * (t' * m')))
      with (x mod (t' * (m' * k)) + x / (k * (t' * m') * m) * k * m' * t') by (replace (k * (t' * m'))
        with (t' * (m' * k)) by ring; ring).
    rewrite Z.div_add by lia. rewrite Z.mod_add by lia. rewrite (Z.rem_mul_r x t' (m' * k)) by nia.
    rewrite (Z.mul_comm t' (_ mod _)), Z.div_add, (Z.div_small (x mod t')) by (apply Z.mod_pos_bound || idtac; lia).
    rewrite Z.add_0_l, (Z.rem_mul_r (x / t') m' k) by lia. rewrite (Z.mul_comm m' (_ mod k)), Z.mod_add by lia.
    apply Z.mod_mod. lia.
Qed.

(** Digits that are disjoint stay so. *)
Lemma adjusted_positive : forall e d, positive e -> positive d -> disjoint e d -> positive (adjusted e d).
Proof.
  intros e d E D H. destruct (below_or_above e d E D H) as [(_ & k & K & KP & ->)|(_ & -> & _)]; [|assumption].
  destruct E, D. split; cbn [fst snd]; [nia|assumption].
Qed.

Lemma end_is_later : forall c d, positive c -> positive d -> (fst c * snd c | fst d) -> fst c < fst d.
Proof.
  intros [t m] [t' m'] [A1 A2] [B1 B2] [q Q]. cbn [fst snd] in *. assert (2 * t <= t * m) by nia.
  assert (0 < q) by nia.
  assert (t * m * 1 <= t * m * q) by (apply Z.mul_le_mono_nonneg_l; lia). lia.
Qed.

Lemma adjusted_divides : forall e c d, positive e -> positive c -> positive d -> disjoint e c -> disjoint e d ->
  (fst c * snd c | fst d) -> (fst (adjusted e c) * snd (adjusted e c) | fst (adjusted e d)).
Proof.
  intros e c d E C D HC HD Q. pose proof (end_is_later c d C D Q). destruct Q as [q Q]. destruct E as [E1 E2].
  destruct (below_or_above e c ltac:(split; assumption) C HC) as [(L & k & K & KP & ->)|(L & -> & k & K & KP)];
    destruct (below_or_above e d ltac:(split; assumption) D HD) as [(L' & j & J & JP & ->)|(L' & -> & j & J & JP)];
    cbn [fst snd].
  - exists q. apply (Z.mul_reg_r _ _ (snd e)); [lia|]. rewrite K, J in Q. lia.
  - lia.
  - exists (j * k). rewrite K. ring.
  - exists q. assumption.
Qed.

Lemma adjusted_disjoint : forall e c d,
  positive e -> positive c -> positive d -> disjoint e c -> disjoint e d -> disjoint c d ->
  disjoint (adjusted e c) (adjusted e d).
Proof. intros e c d E C D HC HD [H|H]; [left|right]; apply adjusted_divides; assumption. Qed.

Lemma adjusted_order : forall e c d,
  positive e -> positive c -> positive d -> disjoint e c -> disjoint e d -> disjoint c d ->
  (fst (adjusted e c) < fst (adjusted e d) <-> fst c < fst d).
Proof.
  intros e c d E C D HC HD [H|H].
  - pose proof (end_is_later _ _ C D H).
    pose proof (end_is_later _ _ (adjusted_positive e c E C HC) (adjusted_positive e d E D HD)
      (adjusted_divides e c d E C D HC HD H)).
    tauto.
  - pose proof (end_is_later _ _ D C H).
    pose proof (end_is_later _ _ (adjusted_positive e d E D HD) (adjusted_positive e c E C HC)
      (adjusted_divides e d c E D C HD HC H)).
    lia.
Qed.

(** The digits of earlier cuts along the axis, each as it is in the list that those before it leave. *)
Fixpoint in_turn (n : nat) (es : list (Z * Z)) : list (Z * Z) :=
  match n, es with S k, e :: r => e :: in_turn k (map (adjusted e) r) | _, _ => [] end.

Definition rank (es : list (Z * Z)) (x : Z) : Z :=
  fold_left (fun x e => without (fst e) (snd e) x) (in_turn (length es) es) x.

Definition digit_left (es : list (Z * Z)) (d : Z * Z) : Z * Z := fold_left (fun d e => adjusted e d)
  (in_turn (length es) es) d.

(** The product of the sizes of those that are below a digit. *)
Fixpoint sizes_below (d : Z * Z) (es : list (Z * Z)) : Z :=
  match es with [] => 1 | e :: r => (if fst e <? fst d then snd e else 1) * sizes_below d r end.

Lemma sizes_below_positive : forall d es, Forall positive es -> 0 < sizes_below d es.
Proof. induction 1 as [|e es [E1 E2] _ IH]; cbn [sizes_below]; [lia|]. destruct (fst e <? fst d); nia. Qed.

(** In the list that the earlier cuts leave of an axis the digit is one again: its step is smaller by the sizes of
    those that are below it. *)
Theorem digit_among_others : forall es d x, Forall positive es -> positive d -> Forall (fun e => disjoint e d) es ->
  ForallOrdPairs disjoint es ->
  digit (fst (digit_left es d)) (snd (digit_left es d)) (rank es x) = digit (fst d) (snd d) x /\
  digit_left es d = (fst d / sizes_below d es, snd d).
Proof.
  intros es. remember (length es) as n eqn:E. revert es E.
  induction n as [|n IH]; intros [|e es] E d x P D H O; try discriminate.
  - unfold digit_left, rank. cbn [in_turn fold_left length sizes_below]. rewrite Z.div_1_r. destruct d.
    split; reflexivity.
  - inversion P as [|? ? P1 P2]; subst. inversion H as [|? ? H1 H2]; subst. inversion O as [|? ? O1 O2]; subst.
    assert (L : length (map (adjusted e) es) = length es) by apply map_length.
    injection E as E.
    assert (P' : Forall positive (map (adjusted e) es)).
    { rewrite Forall_map. rewrite Forall_forall in *. intros c C.
      apply adjusted_positive; [assumption|apply P2, C|apply O1, C]. }
    assert (H' : Forall (fun c => disjoint c (adjusted e d)) (map (adjusted e) es)).
    { rewrite Forall_map. rewrite Forall_forall in *. intros c C.
      apply adjusted_disjoint; [assumption|apply P2, C|assumption|apply O1, C|assumption|apply H2, C]. }
    assert (O' : ForallOrdPairs disjoint (map (adjusted e) es)).
    { clear - P1 P2 O1 O2. induction O2 as [|c es C O2 IH]; [constructor|]. inversion P2; subst.
      inversion O1; subst. cbn [map].
      constructor; [|apply IH; assumption]. rewrite Forall_map. rewrite Forall_forall in *. intros f F.
      apply adjusted_disjoint; [assumption|assumption|auto|assumption|auto|auto]. }
    destruct (IH (map (adjusted e) es) ltac:(congruence) (adjusted e d) (without (fst e) (snd e) x) P'
      (adjusted_positive e d P1 D H1) H' O') as [I1 I2].
    unfold digit_left, rank in *. cbn [length in_turn fold_left]. rewrite L in I1, I2. split.
    + rewrite I1. apply digit_stays; assumption.
    + rewrite I2. cbn [sizes_below].
      assert (S : sizes_below (adjusted e d) (map (adjusted e) es) = sizes_below d es).
      { clear - P1 P2 O1 D H1 H2. induction es as [|f es IH]; [reflexivity|]. inversion P2; subst.
        inversion O1; subst. inversion H2; subst.
        cbn [map sizes_below]. rewrite IH by assumption. f_equal.
        assert (SF : snd (adjusted e f) = snd f) by (unfold adjusted; destruct (fst e <? fst f); reflexivity).
        rewrite SF.
        match goal with F : positive f, DF : disjoint e f, FD : disjoint f d |- _ =>
          pose proof (adjusted_order e f d P1 F D DF H1 FD) as A end.
        destruct (Z.ltb_spec (fst (adjusted e f)) (fst (adjusted e d))), (Z.ltb_spec (fst f) (fst d));
          reflexivity || tauto || lia. }
      pose proof (sizes_below_positive d es P2) as SP.
      rewrite S. clear - P1 D H1 SP. destruct P1 as [E1 E2]. unfold adjusted.
      destruct (Z.ltb_spec (fst e) (fst d)); cbn [fst snd]; f_equal.
      * apply Z.div_div; lia.
      * rewrite Z.mul_1_l. reflexivity.
Qed.

Fixpoint sizes (es : list (Z * Z)) : Z := match es with [] => 1 | e :: r => snd e * sizes r end.

Lemma left_over : forall es d n x, Forall positive es -> positive d -> Forall (fun e => disjoint e d) es ->
  ForallOrdPairs disjoint es -> 0 < n -> Forall (fun e => (fst e * snd e | n)) es -> (fst d * snd d | n)
    -> 0 <= x < n ->
  exists left,
    n = left * sizes es /\ 0 < left /\ (fst (digit_left es d) * snd (digit_left es d) | left)
      /\ 0 <= rank es x < left.
Proof.
  intros es. remember (length es) as k eqn:E. revert es E.
  induction k as [|k IH]; intros [|e es] E d n x P D H O N F Q X; try discriminate.
  - exists n. unfold digit_left, rank. cbn [in_turn fold_left length sizes]. split; [ring|]. split; [assumption|].
    split; assumption.
  - inversion P as [|? ? P1 P2]; subst. inversion H as [|? ? H1 H2]; subst. inversion O as [|? ? O1 O2]; subst.
    inversion F as [|? ? F1 F2]; subst. injection E as E.
    assert (L : length (map (adjusted e) es) = length es) by apply map_length.
    set (end_ := (n, 2)). assert (EP : positive end_) by (split; simpl; lia).
    assert (ED : forall c, (fst c * snd c | n) -> disjoint c end_) by (intros c C; left; exact C).
    destruct F1 as [q F1]. assert (A : fst (adjusted e end_) = q * fst e).
    { assert (fst e < n) by (apply (end_is_later e end_ P1 EP); exists q; exact F1). unfold adjusted.
      cbn [fst snd end_].
      destruct (Z.ltb_spec (fst e) n); [|lia]. cbn [fst]. rewrite F1.
      replace (q * (fst e * snd e)) with (q * fst e * snd e) by ring.
      destruct P1. apply Z.div_mul. lia. }
    assert (DIV : forall c, positive c -> disjoint e c -> (fst c * snd c | n) ->
              (fst (adjusted e c) * snd (adjusted e c) | q * fst e)).
    { intros c C DC K. rewrite <- A. apply adjusted_divides; [assumption|assumption|assumption|assumption| |exact K].
      apply ED. exists q. exact F1. }
    destruct (IH (map (adjusted e) es) ltac:(congruence) (adjusted e d) (q * fst e) (without (fst e) (snd e) x))
      as (left & I1 & I2 & I3 & I4).
    + rewrite Forall_map. rewrite Forall_forall in *. intros c C.
      apply adjusted_positive; [assumption|apply P2, C|apply O1, C].
    + apply adjusted_positive; assumption.
    + rewrite Forall_map. rewrite Forall_forall in *. intros c C.
      apply adjusted_disjoint; [assumption|apply P2, C|assumption|apply O1, C|assumption|apply H2, C].
    + clear - P1 P2 O1 O2. induction O2 as [|c es C O2 IH]; [constructor|]. inversion P2; subst.
      inversion O1; subst. cbn [map].
      constructor; [|apply IH; assumption]. rewrite Forall_map. rewrite Forall_forall in *. intros f FI.
      apply adjusted_disjoint; [assumption|assumption|auto|assumption|auto|auto].
    + destruct P1. nia.
    + rewrite Forall_map. rewrite Forall_forall in *. intros c C. apply DIV; [apply P2, C|apply O1, C|apply F2, C].
    + apply DIV; assumption.
    + destruct P1 as [E1 E2]. unfold without. pose proof (Z.mod_pos_bound x (fst e) E1).
      assert (TM : 0 < fst e * snd e) by nia.
      assert (0 <= x / (fst e * snd e)) by (apply Z.div_pos; lia).
      assert (x / (fst e * snd e) < q) by (apply Z.div_lt_upper_bound; lia). nia.
    + exists left. unfold digit_left, rank in *. cbn [length in_turn fold_left sizes]. rewrite L in I3, I4.
      assert (S : sizes (map (adjusted e) es) = sizes es).
      { clear. induction es as [|f es IH]; [reflexivity|]. cbn [map sizes]. rewrite IH. f_equal.
        unfold adjusted. destruct (fst e <? fst f); reflexivity. }
      rewrite S in I1. split; [rewrite F1; replace (q * (fst e * snd e)) with (q * fst e * snd e) by ring;
        rewrite I1; ring|].
      split; [assumption|]. split; assumption.
Qed.

Lemma sizes_positive : forall es, Forall positive es -> 0 < sizes es.
Proof. induction 1 as [|e es [E1 E2] _ IH]; cbn [sizes]; nia. Qed.

(** So the placement that is answered for it, a cut of the list that the earlier ones leave into as many pieces as
    the digit repeats in it, gives each place to the device that had it. *)
Theorem placed_among_others : forall es d n x,
  Forall positive es -> positive d -> Forall (fun e => disjoint e d) es ->
  ForallOrdPairs disjoint es -> 0 < n -> Forall (fun e => (fst e * snd e | n)) es -> (fst d * snd d | n)
    -> 0 <= x < n ->
  owner (n / sizes es / (fst d / sizes_below d es * snd d)) (snd d) (n / sizes es) (rank es x) = digit (fst d)
    (snd d) x.
Proof.
  intros es d n x P D H O N F Q X. destruct (left_over es d n x P D H O N F Q X) as (left & L1 & L2 & L3 & L4).
  destruct (digit_among_others es d x P D H O) as [A B]. rewrite B in A, L3. cbn [fst snd] in A, L3.
  rewrite L1. rewrite Z.div_mul by (pose proof (sizes_positive es P); lia). rewrite <- A.
  set (step := fst d / sizes_below d es) in *. set (m := snd d) in *. destruct L3 as [k K]. destruct D as [D0 D].
  fold m in D.
  assert (0 <= step) by (apply Z.div_pos; [lia|apply sizes_below_positive; assumption]).
  assert (step <> 0) by (intros Z0; rewrite Z0 in K; lia).
  pose proof (placed_digit 1 left step m (rank es x) ltac:(lia) L2 ltac:(lia) ltac:(lia) ltac:(lia)
    (Z.divide_1_l step)
    ltac:(exists k; lia)) as G.
  unfold place_of in G. rewrite !Z.div_1_r, Z.mod_small in G by lia. exact G.
Qed.

(** * Uneven shards *)

(** Where part [j] of a piece begins and how long it is, how many places device [j] has, which, and how many of them
    are below a place. *)
Definition piece_of (pieces n : Z) : Z := Z.max 1 (ceiling n pieces).
Definition begin_of (parts piece j : Z) : Z := Z.min (ceiling piece parts * j) piece.
Definition part_of (parts piece j : Z) : Z := Z.min (piece - begin_of parts piece j) (ceiling piece parts).

Definition held (pieces parts n j : Z) : Z :=
  let piece := piece_of pieces n in n / piece * part_of parts piece j + part_of parts (n mod piece) j.

Definition held_place (pieces parts n j rank : Z) : Z :=
  let piece := piece_of pieces n in let part := part_of parts piece j in let full := n / piece in
  if (0 <? part) && (rank / part <? full) then rank / part * piece + begin_of parts piece j + rank mod part
  else full * piece + begin_of parts (n mod piece) j + (rank - full * part).

Definition held_below (pieces parts n j x : Z) : Z :=
  let piece := piece_of pieces n in let length := Z.min piece (n - x / piece * piece) in
  x / piece * part_of parts piece j
    + Z.min (Z.max (x mod piece - begin_of parts length j) 0) (part_of parts length j).

Lemma ceiling_bounds : forall n b, 0 <= n -> 0 < b -> n <= b * ceiling n b < n + b.
Proof.
  intros n b N B. unfold ceiling. pose proof (Z.div_mod n b ltac:(lia)). pose proof (Z.mod_pos_bound n b B).
  destruct (Z.eqb_spec (n mod b) 0); lia.
Qed.

(** A place is that of the device whose part it is in. *)
Lemma in_part : forall parts piece x j, 0 < parts -> 0 <= x < piece -> 0 <= j ->
  (x / ceiling piece parts = j <-> begin_of parts piece j <= x < begin_of parts piece j + part_of parts piece j).
Proof.
  intros parts piece x j P X J. unfold part_of, begin_of. pose proof (ceiling_bounds piece parts ltac:(lia) P).
  set (w := ceiling piece parts) in *. assert (W : 0 < w) by nia.
  pose proof (Z.div_mod x w ltac:(lia)). pose proof (Z.mod_pos_bound x w W). set (q := x / w) in *. split.
  - intros <-. lia.
  - intros I. assert (w * j <= x < w * j + w) by lia. destruct (Z.lt_trichotomy q j) as [C|[C|C]]; [|assumption|].
    + assert (w * (q + 1) <= w * j) by (apply Z.mul_le_mono_nonneg_l; lia). lia.
    + assert (w * (j + 1) <= w * q) by (apply Z.mul_le_mono_nonneg_l; lia). lia.
Qed.

Lemma part_bounds : forall parts piece j, 0 < parts -> 0 <= piece -> 0 <= j ->
  0 <= begin_of parts piece j /\ 0 <= part_of parts piece j /\ begin_of parts piece j + part_of parts piece j <= piece.
Proof.
  intros parts piece j P N J. unfold part_of, begin_of. pose proof (ceiling_bounds piece parts N P).
  assert (0 <= ceiling piece parts) by nia. assert (0 <= ceiling piece parts * j) by (apply Z.mul_nonneg_nonneg; lia).
  lia.
Qed.

Lemma piece_positive : forall pieces n, 1 <= piece_of pieces n.
Proof. intros. unfold piece_of. lia. Qed.

(** They are counted one by one: each place below [n] counts for its device, and for no other. *)
Theorem below_counts : forall pieces parts n j, 0 < parts -> 0 <= n -> 0 <= j ->
  held_below pieces parts n j 0 = 0 /\ held_below pieces parts n j n = held pieces parts n j /\
  forall x, 0 <= x < n -> held_below pieces parts n j (x + 1) =
    held_below pieces parts n j x + (if owner pieces parts n x =? j then 1 else 0).
Proof.
  intros pieces parts n j P N J. pose proof (piece_positive pieces n) as Q. unfold held_below, held, owner.
  fold (piece_of pieces n). set (p := piece_of pieces n) in *. cbv zeta.
  assert (B : forall l, 0 <= l -> _) by (intros l L; exact (part_bounds parts l j P L J)).
  split; [|split].
  - rewrite Z.div_0_l, Z.mod_0_l by lia. destruct (B (Z.min p (n - 0 * p)) ltac:(lia)) as (B1 & B2 & B3). lia.
  - f_equal. pose proof (Z.div_mod n p ltac:(lia)). pose proof (Z.mod_pos_bound n p ltac:(lia)).
    replace (Z.min p (n - n / p * p)) with (n mod p) by lia. destruct (B (n mod p) ltac:(lia)) as (B1 & B2 & B3). lia.
  - intros x X. pose proof (Z.div_mod x p ltac:(lia)) as D. pose proof (Z.mod_pos_bound x p ltac:(lia)) as M.
    set (q := x / p) in *. set (m := x mod p) in *. set (l := Z.min p (n - q * p)) in *. assert (L : m < l) by lia.
    pose proof (in_part parts l m j P ltac:(lia) J) as I. destruct (B l ltac:(lia)) as (B1 & B2 & B3).
    destruct (Z.eq_dec (m + 1) p) as [E|E].
    + assert (l = p) by lia.
      replace (x + 1) with ((q + 1) * p) by lia. rewrite Z.div_mul, Z.mod_mul by lia.
      set (l' := Z.min p (n - (q + 1) * p)). assert (L' : 0 <= l') by lia. destruct (B l' L') as (C1 & C2 & C3).
      replace l with p in * by lia. destruct (Z.eqb_spec (m / ceiling p parts) j) as [T|T].
      * apply I in T. lia.
      * assert (~ (begin_of parts p j <= m < begin_of parts p j + part_of parts p j)) by tauto. lia.
    + replace ((x + 1) / p) with q by (apply Z.div_unique with (m + 1); lia).
      replace ((x + 1) mod p) with (m + 1) by (apply Z.mod_unique with q; lia). fold l.
      destruct (Z.eqb_spec (m / ceiling l parts) j) as [T|T].
      * apply I in T. lia.
      * assert (~ (begin_of parts l j <= m < begin_of parts l j + part_of parts l j)) by tauto. lia.
Qed.

(** So the places of a device are in their order those at which the count goes up. *)
Theorem place_exact : forall pieces parts n j rank, 0 < parts -> 0 <= n -> 0 <= j ->
  0 <= rank < held pieces parts n j ->
  let x := held_place pieces parts n j rank in
  0 <= x < n /\ owner pieces parts n x = j /\ held_below pieces parts n j x = rank.
Proof.
  intros pieces parts n j rank P N J R. pose proof (piece_positive pieces n) as Q.
  unfold held_place, held_below, held, owner in *. fold (piece_of pieces n) in *. set (p := piece_of pieces n) in *.
  cbv zeta in *. set (full := n / p) in *. set (w := part_of parts p j) in *.
  pose proof (Z.div_mod n p ltac:(lia)) as D. pose proof (Z.mod_pos_bound n p ltac:(lia)) as M. fold full in D.
  assert (F : 0 <= full) by (apply Z.div_pos; lia).
  destruct (part_bounds parts p j P ltac:(lia) J) as (B1 & B2 & B3). fold w in B2, B3.
  destruct (part_bounds parts (n mod p) j P ltac:(lia) J) as (C1 & C2 & C3).
  assert (HERE : forall q l i, 0 <= q -> 0 <= l -> l = Z.min p (n - q * p) -> 0 <= i < part_of parts l j ->
    let x := q * p + begin_of parts l j + i in
    0 <= x < n /\ x mod p / ceiling (Z.min p (n - x / p * p)) parts = j /\
    x / p * w + Z.min (Z.max (x mod p - begin_of parts (Z.min p (n - x / p * p)) j) 0)
      (part_of parts (Z.min p (n - x / p * p)) j) = q * w + i).
  { intros q l i Q0 L0 L I x.
    destruct (part_bounds parts l j P L0 J) as (E1 & E2 & E3).
    assert (XQ : x / p = q) by (symmetry; apply Z.div_unique with (begin_of parts l j + i); unfold x; lia).
    assert (XM : x mod p = begin_of parts l j + i) by (symmetry; apply Z.mod_unique with q; unfold x; lia).
    rewrite XQ, XM, <- L. split; [unfold x; nia|]. split; [|lia]. apply in_part; lia. }
  destruct (Z.ltb_spec 0 w) as [W|W]; cbn [andb].
  - pose proof (Z.div_mod rank w ltac:(lia)) as DR. pose proof (Z.mod_pos_bound rank w W) as MR.
    assert (0 <= rank / w) by (apply Z.div_pos; lia).
    destruct (Z.ltb_spec (rank / w) full) as [T|T].
    + assert (rank / w * p + p <= full * p) by nia.
      destruct (HERE (rank / w) p (rank mod w)) as (H1 & H2 & H3); [assumption|lia|nia|fold w; lia|].
      split; [exact H1|]. split; [exact H2|]. rewrite H3. lia.
    + assert (full * w <= rank / w * w) by (apply Z.mul_le_mono_nonneg_r; lia).
      destruct (HERE full (n mod p) (rank - full * w)) as (H1 & H2 & H3); [assumption|lia|lia|lia|].
      split; [exact H1|]. split; [exact H2|]. rewrite H3. lia.
  - assert (w = 0) by lia.
    destruct (HERE full (n mod p) (rank - full * w)) as (H1 & H2 & H3); [assumption|lia|lia|lia|].
    split; [exact H1|]. split; [exact H2|]. rewrite H3. lia.
Qed.

(** How long the pieces are can be read off: the first device has its turn again where the second piece begins. *)
Theorem piece_is_read : forall pieces parts n, 0 < parts -> 1 <= n ->
  let p := piece_of pieces n in let w := ceiling (Z.min p n) parts in
  (forall x, 0 <= x < w -> x < n -> owner pieces parts n x = 0) /\
  (forall x, w <= x < Z.min p n -> owner pieces parts n x <> 0) /\
  (p < n -> owner pieces parts n p = 0).
Proof.
  intros pieces parts n P N p w. pose proof (piece_positive pieces n) as Q. fold p in Q.
  pose proof (ceiling_bounds (Z.min p n) parts ltac:(lia) P) as C. fold w in C. assert (W : 0 < w) by nia.
  assert (S : forall x, 0 <= x < Z.min p n -> owner pieces parts n x = x / w).
  { intros x X. unfold owner. fold (piece_of pieces n). fold p. cbv zeta. rewrite (Z.div_small x p), Z.mod_small by lia.
    rewrite Z.mul_0_l, Z.sub_0_r. reflexivity. }
  assert (WP : w <= Z.min p n).
  { unfold w, ceiling. pose proof (Z.div_mod (Z.min p n) parts ltac:(lia)).
    pose proof (Z.mod_pos_bound (Z.min p n) parts P). assert (0 <= Z.min p n / parts) by (apply Z.div_pos; lia).
    destruct (Z.eqb_spec (Z.min p n mod parts) 0); nia. }
  split; [|split].
  - intros x X XN. rewrite S by lia. apply Z.div_small. lia.
  - intros x X. rewrite S by lia. assert (1 <= x / w) by (apply Z.div_le_lower_bound; lia). lia.
  - intros L. unfold owner. fold (piece_of pieces n). fold p. cbv zeta. rewrite Z.mod_same by lia. apply Z.div_0_l.
    rewrite Z.div_same by lia. pose proof (ceiling_bounds (Z.min p (n - 1 * p)) parts ltac:(lia) P).
    intros Z0. rewrite Z0 in *. lia.
Qed.

(** Which numbers of pieces make pieces of a length is an interval. *)
Theorem pieces_interval : forall n p pieces, 1 <= n -> 1 <= p -> 0 < pieces ->
  (ceiling n pieces = p <-> ceiling n p <= pieces /\ (1 < p -> pieces <= ceiling n (p - 1) - 1)).
Proof.
  intros n p pieces N P F. pose proof (ceiling_bounds n pieces ltac:(lia) F) as A.
  pose proof (ceiling_bounds n p ltac:(lia) ltac:(lia)) as B. set (c := ceiling n pieces) in *.
  set (d := ceiling n p) in *.
  assert (UP : n <= p * pieces <-> d <= pieces).
  { split; intros H.
    - destruct (Z.le_gt_cases d pieces); [assumption|exfalso].
      assert (p * (pieces + 1) <= p * d) by (apply Z.mul_le_mono_nonneg_l; lia). lia.
    - assert (p * d <= p * pieces) by (apply Z.mul_le_mono_nonneg_l; lia). lia. }
  assert (C : forall q, 0 <= q -> (c <= q <-> n <= q * pieces)).
  { intros q Q. split; intros H.
    - assert (pieces * c <= pieces * q) by (apply Z.mul_le_mono_nonneg_l; lia). lia.
    - destruct (Z.le_gt_cases c q); [assumption|exfalso].
      assert (pieces * (q + 1) <= pieces * c) by (apply Z.mul_le_mono_nonneg_l; lia). lia. }
  pose proof (C p ltac:(lia)) as C1. pose proof (C (p - 1) ltac:(lia)) as C2.
  assert (DOWN : 1 < p -> (n <= (p - 1) * pieces <-> ceiling n (p - 1) <= pieces)).
  { intros P1. pose proof (ceiling_bounds n (p - 1) ltac:(lia) ltac:(lia)) as E. set (e := ceiling n (p - 1)) in *.
    split; intros H.
    - destruct (Z.le_gt_cases e pieces); [assumption|exfalso].
      assert ((p - 1) * (pieces + 1) <= (p - 1) * e) by (apply Z.mul_le_mono_nonneg_l; lia). lia.
    - assert ((p - 1) * e <= (p - 1) * pieces) by (apply Z.mul_le_mono_nonneg_l; lia). lia. }
  split.
  - intros ->. split; [lia|]. intros P1. specialize (DOWN P1). lia.
  - intros [H1 H2]. destruct (Z.eq_dec p 1) as [->|P1].
    + assert (1 <= c) by nia. lia.
    + specialize (DOWN ltac:(lia)). specialize (H2 ltac:(lia)). lia.
Qed.

(** The coordinates of a place along the mesh axes that cut its axis, where each cut applies to what the earlier ones
    leave. *)
Fixpoint coordinates (cuts : list (Z * Z)) (n x : Z) : list Z :=
  match cuts with
  | [] => []
  | (pieces, parts) :: r =>
      let j := owner pieces parts n x in
      j :: coordinates r (held pieces parts n j) (held_below pieces parts n j x)
  end.

(** * The digits of even shards *)

(** What is left of an axis is the numbers with some digits: a list of segments, each a size and a step, innermost
    first, whose value is the position (at_number).  A cut takes a digit out of one segment. *)
Fixpoint take (below piece parts : Z) (segs : list mode) : option ((Z * Z) * list mode) :=
  match segs with
  | [] => None
  | (s, d) :: r =>
      let end_ := below * s in
      if piece <=? end_ then
        let part := piece / parts in
        if (part mod below =? 0) && (end_ mod piece =? 0) then
          let t := d * (part / below) in
          Some ((t, parts), (part / below, d) :: (end_ / piece, t * parts) :: r)
        else None
      else match take end_ piece parts r with
           | Some (e, r') => Some (e, (s, d) :: r')
           | None => None
           end
  end.

(** Each segment begins at a multiple of where the one before ends. *)
Fixpoint in_order (lo : Z) (segs : list mode) : Prop :=
  match segs with [] => True | (s, d) :: r => 0 < d /\ (lo | d) /\ in_order (s * d) r end.

Lemma in_order_multiple : forall segs lo x, in_order lo segs -> (lo | at_number segs x).
Proof.
  induction segs as [|[s d] segs IH]; intros lo x O; [exists 0; reflexivity|]. destruct O as (O1 & O2 & O3).
  rewrite at_number_cons. apply Z.divide_add_r; [apply Z.divide_mul_l; assumption|].
  eapply Z.divide_trans; [exact O2|]. eapply Z.divide_trans; [exists s; reflexivity|]. apply IH. exact O3.
Qed.

Lemma taken : forall segs below part parts t m segs', 0 < below -> 0 < part -> 0 < parts -> positives (map fst segs) ->
  take below (part * parts) parts segs = Some ((t, m), segs') ->
  exists p, part = below * p /\ 0 < p /\ m = parts /\ positives (map fst segs') /\
    numel (map fst segs) = numel (map fst segs') * parts /\
    (forall y, at_number segs y = at_number segs' (without p parts y) + digit p parts y * t) /\
    forall lo, 0 < lo -> in_order lo segs -> in_order lo segs' /\ 0 < t /\ (lo | t) /\
      forall y, exists q rest, at_number segs y = q * (t * parts) + digit p parts y * t + rest /\
        0 <= rest < t /\ (lo | rest).
Proof.
  induction segs as [|[s d] segs IH]; intros below part parts t m segs' B P M PS T; [discriminate|].
  inversion PS as [|? ? S PS']; subst. cbn [fst] in S. cbn [take] in T. rewrite Z.div_mul in T by lia.
  assert (SPLIT : forall a b y, 0 < a -> 0 < b -> y mod (a * b) = y mod a + a * ((y / a) mod b)).
  { intros a b y A B'. apply Z.rem_mul_r; lia. }
  destruct (Z.leb_spec (part * parts) (below * s)) as [L|L].
  - destruct (Z.eqb_spec (part mod below) 0) as [E1|]; [|discriminate].
    destruct (Z.eqb_spec ((below * s) mod (part * parts)) 0) as [E2|]; [|discriminate]. cbn [andb] in T.
    injection T as <- <- <-. apply Z.mod_divide in E1, E2; [|nia|lia]. destruct E1 as [p E1], E2 as [e E2].
    assert (0 < p) by nia. assert (PP : 0 < part * parts) by nia. assert (0 < e) by nia.
    rewrite E2, Z.div_mul by lia. rewrite E1, Z.div_mul by lia.
    assert (SE : s = p * parts * e) by (apply (Z.mul_reg_l _ _ below); [lia|rewrite E2, E1; ring]).
    assert (PA : 0 < p * parts) by nia. exists p. split; [ring|]. split; [assumption|]. split; [reflexivity|].
    split; [constructor; [assumption|constructor; assumption]|].
    split; [cbn [map fst numel]; rewrite SE; ring|]. split.
    + intros y. rewrite !at_number_cons. unfold without, digit. pose proof (Z.mod_pos_bound y p ltac:(lia)).
      rewrite (Z.add_comm (_ * p)), Z.mod_add, Z.mod_mod, Z.div_add, (Z.div_small (y mod p)), Z.add_0_l by lia.
      rewrite Z.div_div by lia. rewrite <- SE. rewrite SE at 1.
      rewrite (SPLIT (p * parts) e), (SPLIT p parts) by assumption.
      ring.
    + intros lo LO O. cbn [in_order] in O. destruct O as (O1 & O2 & O3).
      assert (TP : 0 < d * p) by nia. split; [|split; [assumption|split; [apply Z.divide_mul_l; assumption|]]].
      * cbn [in_order]. split; [assumption|]. split; [assumption|]. split; [nia|].
        split; [exists parts; ring|]. replace (e * (d * p * parts)) with (s * d) by (rewrite SE; ring). assumption.
      * intros y. rewrite at_number_cons. destruct (in_order_multiple segs (s * d) (y / s) O3) as [k K]. rewrite K.
        exists ((y / (p * parts)) mod e + k * e), (d * (y mod p)). pose proof (Z.mod_pos_bound y p ltac:(lia)).
        split; [|split; [nia|apply Z.divide_mul_l; assumption]]. rewrite SE. rewrite (SPLIT (p * parts) e),
          (SPLIT p parts) by assumption. unfold digit. ring.
  - destruct (take (below * s) (part * parts) parts segs) as [[[t' m'] r']|] eqn:E; [|discriminate].
    injection T as <- <- <-. destruct (IH (below * s) part parts t' m' r' ltac:(nia) P M PS' E)
      as (p & I1 & I2 & I3 & I4 & I5 & I6 & I7).
    assert (SP : 0 < s * p) by nia. exists (s * p). split; [rewrite I1; ring|]. split; [assumption|].
    split; [assumption|]. split; [constructor; assumption|]. split; [cbn [map fst numel]; rewrite I5; ring|].
    assert (DG : forall y, digit (s * p) parts y = digit p parts (y / s)).
    { intros y. unfold digit. rewrite Z.div_div by lia. reflexivity. }
    split.
    + intros y. rewrite !at_number_cons, I6, DG. unfold without at 2 3. pose proof (Z.mod_pos_bound y s S).
      assert (W : y / (s * p * parts) * (s * p) + y mod (s * p) = y mod s + without p parts (y / s) * s).
      { unfold without. rewrite (SPLIT s p) by assumption. rewrite !Z.div_div by nia. replace (s * (p * parts)) with
          (s * p * parts) by ring. ring. }
      rewrite W. rewrite Z.mod_add, Z.mod_mod, Z.div_add, (Z.div_small (y mod s)), Z.add_0_l by lia. ring.
    + intros lo LO O. cbn [in_order] in O. destruct O as (O1 & O2 & O3).
      destruct (I7 (s * d) ltac:(nia) O3) as (J1 & J2 & J3 & J4).
      assert (LT : (lo | s * d)) by (apply Z.divide_mul_r; assumption).
      split; [cbn [in_order]; repeat split; assumption|]. split; [assumption|].
      split; [eapply Z.divide_trans; [exact LT|exact J3]|].
      intros y. destruct (J4 (y / s)) as (q & rest & K1 & K2 & K3). exists q, (d * (y mod s) + rest).
      rewrite at_number_cons, K1, DG. pose proof (Z.mod_pos_bound y s S).
      split; [ring|]. split; [|apply Z.divide_add_r; [apply Z.divide_mul_l; assumption|eapply Z.divide_trans;
        [exact LT|exact K3]]].
      assert (rest + s * d <= t').
      { destruct J3 as [a A], K3 as [b B']. assert (SD : 0 < s * d) by nia. rewrite A, B' in *.
        assert (b < a) by (apply (Z.mul_lt_mono_pos_r (s * d)); lia). nia. }
      split; [nia|]. assert (d * (y mod s) < s * d) by nia. lia.
Qed.

(** Segments that lie below a digit or above it. *)
Definition apart (e : Z * Z) (segs : list mode) : Prop :=
  Forall (fun g => (fst g * snd g | fst e) \/ (fst e * snd e | snd g)) segs.

Lemma taken_apart : forall segs e below part parts t m segs',
  0 < below -> 0 < part -> 0 < parts -> positives (map fst segs) -> apart e segs ->
  take below (part * parts) parts segs = Some ((t, m), segs') ->
  apart e segs' /\ ((t * m | fst e) \/ (fst e * snd e | t)).
Proof.
  induction segs as [|[s d] segs IH]; intros e below part parts t m segs' B P M PS A T; [discriminate|].
  inversion PS as [|? ? S PS']; subst. cbn [fst] in S. inversion A as [|? ? A1 A2]; subst. cbn [fst snd] in A1.
  cbn [take] in T. rewrite Z.div_mul in T by lia. destruct (Z.leb_spec (part * parts) (below * s)) as [L|L].
  - destruct (Z.eqb_spec (part mod below) 0) as [E1|]; [|discriminate].
    destruct (Z.eqb_spec ((below * s) mod (part * parts)) 0) as [E2|]; [|discriminate]. cbn [andb] in T.
    injection T as <- <- <-. apply Z.mod_divide in E1, E2; [|nia|lia]. destruct E1 as [p E1], E2 as [k E2].
    assert (0 < p) by nia. assert (PP : 0 < part * parts) by nia. assert (0 < k) by nia.
    rewrite E2, Z.div_mul by lia. rewrite E1, Z.div_mul by lia.
    assert (SE : s * d = d * p * parts * k).
    { assert (s = p * parts * k) by (apply (Z.mul_reg_l _ _ below); [lia|rewrite E2, E1; ring]). subst s. ring. }
    destruct A1 as [A1|A1].
    + assert (TM : (d * p * parts | fst e)).
      { apply (Z.divide_trans _ (s * d)); [exists k; rewrite SE; ring|exact A1]. }
      split; [|left; exact TM]. constructor; [left; cbn [fst snd]|constructor; [left; cbn [fst snd]|assumption]].
      * apply (Z.divide_trans _ (d * p * parts)); [exists parts; ring|exact TM].
      * replace (k * (d * p * parts)) with (s * d) by (rewrite SE; ring). exact A1.
    + assert (TM : (fst e * snd e | d * p)) by (apply Z.divide_mul_l; exact A1).
      split; [|right; exact TM]. constructor; [right; exact A1|]. constructor; [right; cbn [snd]; apply Z.divide_mul_l;
        exact TM|assumption].
  - destruct (take (below * s) (part * parts) parts segs) as [[[t' m'] r']|] eqn:E; [|discriminate].
    injection T as <- <- <-. destruct (IH e (below * s) part parts t' m' r' ltac:(nia) P M PS' A2 E) as [I1 I2].
    split; [constructor; assumption|exact I2].
Qed.

Lemma taken_leaves : forall segs below part parts t m segs',
  0 < below -> 0 < part -> 0 < parts -> positives (map fst segs) -> forall lo, 0 < lo -> in_order lo segs ->
  take below (part * parts) parts segs = Some ((t, m), segs') -> apart (t, m) segs' /\ (lo | t).
Proof.
  assert (MORE : forall segs lo, in_order lo segs -> Forall (fun g => (lo | snd g)) segs).
  { induction segs as [|[s d] segs IH]; intros lo O; [constructor|]. destruct O as (O1 & O2 & O3).
    constructor; [exact O2|]. eapply Forall_impl; [|apply IH; exact O3]. intros g G.
    eapply Z.divide_trans; [|exact G]. apply Z.divide_mul_r. exact O2. }
  induction segs as [|[s d] segs IH]; intros below part parts t m segs' B P M PS lo LO O T; [discriminate|].
  inversion PS as [|? ? S PS']; subst. cbn [fst] in S. pose proof O as (O1 & O2 & O3).
  cbn [take] in T. rewrite Z.div_mul in T by lia. destruct (Z.leb_spec (part * parts) (below * s)) as [L|L].
  - destruct (Z.eqb_spec (part mod below) 0) as [E1|]; [|discriminate].
    destruct (Z.eqb_spec ((below * s) mod (part * parts)) 0) as [E2|]; [|discriminate]. cbn [andb] in T.
    injection T as <- <- <-. apply Z.mod_divide in E1, E2; [|nia|lia]. destruct E1 as [p E1], E2 as [k E2].
    assert (0 < p) by nia. assert (PP : 0 < part * parts) by nia. assert (0 < k) by nia.
    rewrite E2, Z.div_mul by lia. rewrite E1, Z.div_mul by lia.
    assert (SE : s * d = k * (d * p * parts)).
    { assert (s = p * parts * k) by (apply (Z.mul_reg_l _ _ below); [lia|rewrite E2, E1; ring]). subst s. ring. }
    split; [|apply Z.divide_mul_l; exact O2].
    constructor; [left; cbn [fst snd]; exists 1; ring|]. constructor; [right; cbn [fst snd]; exists 1; ring|].
    eapply Forall_impl; [|apply MORE; exact O3]. intros g G. right. cbn [fst snd].
    eapply Z.divide_trans; [|exact G]. exists k. exact SE.
  - destruct (take (below * s) (part * parts) parts segs) as [[[t' m'] r']|] eqn:E; [|discriminate].
    injection T as <- <- <-. destruct (IH (below * s) part parts t' m' r' ltac:(nia) P M PS' (s * d) ltac:(nia) O3 E)
      as [I1 I2].
    split; [constructor; [left; exact I2|exact I1]|]. eapply Z.divide_trans; [|exact I2]. apply Z.divide_mul_r.
    exact O2.
Qed.

(** The digits of all cuts of an axis, of which so many places are left. *)
Fixpoint digits_found (segs : list mode) (n : Z) (cuts : list (Z * Z)) : option (list (Z * Z)) :=
  match cuts with
  | [] => Some []
  | (pieces, parts) :: r =>
      let piece := piece_of pieces n in
      if (n mod piece =? 0) && (piece mod parts =? 0) then
        match take 1 piece parts segs with
        | Some (e, segs') => option_map (cons e) (digits_found segs' (n / parts) r)
        | None => None
        end
      else None
  end.

(** An even cut: the device is a digit of the place, and the place among its own is the place without it. *)
Lemma even_cut : forall pieces parts n part k x, 0 < part -> 0 < parts -> n = k * (part * parts) -> 0 <= x < n ->
  piece_of pieces n = part * parts ->
  owner pieces parts n x = digit part parts x /\
  held_below pieces parts n (digit part parts x) x = without part parts x /\
  held pieces parts n (digit part parts x) = n / parts.
Proof.
  intros pieces parts n part k x P M N X Q. assert (PP : 0 < part * parts) by nia.
  assert (C : ceiling (part * parts) parts = part) by (apply ceiling_exact; lia).
  assert (DX : 0 <= x / (part * parts) < k) by (split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]).
  assert (MIN : Z.min (part * parts) (n - x / (part * parts) * (part * parts)) = part * parts) by nia.
  assert (SPLIT : x mod (part * parts) = x mod part + part * ((x / part) mod parts)) by (apply Z.rem_mul_r; lia).
  pose proof (Z.mod_pos_bound x part P). pose proof (Z.mod_pos_bound (x / part) parts M).
  assert (J : digit part parts x = x mod (part * parts) / part).
  { unfold digit. rewrite SPLIT, (Z.mul_comm part (_ mod _)), Z.div_add, (Z.div_small (x mod part)) by lia. lia. }
  split; [|split].
  - unfold owner. fold (piece_of pieces n). rewrite Q, MIN, C. symmetry. exact J.
  - unfold held_below, part_of, begin_of. rewrite Q, MIN, C. unfold digit, without. rewrite SPLIT.
    set (j := (x / part) mod parts) in *. assert (part * j + part <= part * parts) by nia. lia.
  - unfold held, part_of, begin_of. rewrite Q. rewrite N, Z.mod_mul, Z.div_mul, C by lia.
    replace (k * (part * parts)) with (k * part * parts) by ring. rewrite Z.div_mul by lia.
    unfold digit. set (j := (x / part) mod parts) in *. assert (part * j + part <= part * parts) by nia.
    assert (Z0 : ceiling 0 parts = 0) by (unfold ceiling; rewrite Z.div_0_l, Z.mod_0_l by lia; reflexivity).
    rewrite Z0. replace (Z.min (part * parts - Z.min (part * j) (part * parts)) part) with part by lia. lia.
Qed.

(** So the digits that are found are the coordinates of the position. *)
Theorem digits_found_exact : forall cuts segs n lo ds, 0 < lo -> in_order lo segs -> positives (map fst segs) ->
  n = numel (map fst segs) -> Forall (fun c => 0 < snd c) cuts -> digits_found segs n cuts = Some ds ->
  Forall (fun d => (0 < fst d /\ (lo | fst d)) /\ 0 < snd d) ds /\ ForallOrdPairs disjoint ds /\
  (forall e, apart e segs -> Forall (fun d => (fst d * snd d | fst e) \/ (fst e * snd e | fst d)) ds) /\
  forall x, 0 <= x < n -> coordinates cuts n x = map (fun d => digit (fst d) (snd d) (at_number segs x)) ds.
Proof.
  induction cuts as [|[pieces parts] cuts IH]; intros segs n lo ds LO O PS N C E.
  { injection E as <-. split; [constructor|]. split; [constructor|]. split; [intros; constructor|reflexivity]. }
  inversion C as [|? ? M C']; subst. cbn [snd] in M. cbn [digits_found] in E.
  set (n := numel (map fst segs)) in *. pose proof (piece_positive pieces n) as Q.
  destruct (Z.eqb_spec (n mod piece_of pieces n) 0) as [E1|]; [|discriminate].
  destruct (Z.eqb_spec (piece_of pieces n mod parts) 0) as [E2|]; [|discriminate]. cbn [andb] in E.
  apply Z.mod_divide in E1, E2; [|lia|lia]. destruct E1 as [k E1], E2 as [part E2].
  assert (P : 0 < part) by nia. rewrite E2 in E.
  destruct (take 1 (part * parts) parts segs) as [[[t m] segs']|] eqn:T; [|discriminate].
  destruct (digits_found segs' (n / parts) cuts) as [ds'|] eqn:F; [|discriminate]. injection E as <-.
  destruct (taken segs 1 part parts t m segs' ltac:(lia) P M PS T) as (p & T1 & T2 & T3 & T4 & T5 & T6 & T7).
  assert (p = part) by lia. subst p m. destruct (T7 lo LO O) as (U1 & U2 & U3 & U4).
  assert (N' : n / parts = numel (map fst segs')) by (unfold n; rewrite T5; apply Z.div_mul; lia).
  rewrite N' in F. destruct (IH segs' _ lo ds' LO U1 T4 eq_refl C' F) as (I0 & IP & I1 & I2).
  destruct (taken_leaves segs 1 part parts t parts segs' ltac:(lia) P M PS lo LO O T) as [A _].
  pose proof (I1 (t, parts) A) as IT.
  split; [constructor; [repeat split; assumption|exact I0]|]. split.
  { constructor; [|exact IP]. eapply Forall_impl; [|exact IT]. intros d [D|D]; [right|left]; exact D. }
  split.
  - intros e AE. destruct (taken_apart segs e 1 part parts t parts segs' ltac:(lia) P M PS AE T) as [V1 V2].
    constructor; [exact V2|apply I1; exact V1].
  - intros x X. cbn [coordinates map fst snd].
    destruct (even_cut pieces parts n part k x P M ltac:(lia) X E2) as (G1 & G2 & G3).
    cbv zeta. rewrite G1, G2, G3.
    destruct (U4 x) as (q & rest & K1 & K2 & K3). pose proof (T6 x) as K4.
    set (j := digit part parts x) in *. set (v := at_number segs' (without part parts x)) in *.
    assert (J : 0 <= j < parts) by (apply Z.mod_pos_bound; assumption).
    assert (TP : 0 < t * parts) by nia. assert (V : v = q * (t * parts) + rest) by lia.
    f_equal.
    + unfold digit. rewrite K1. replace (q * (t * parts) + j * t + rest) with (rest + (j + q * parts) * t) by ring.
      rewrite Z.div_add, (Z.div_small rest), Z.add_0_l, Z.mod_add, Z.mod_small by lia. reflexivity.
    + rewrite N', I2.
      * apply map_ext_in. intros [t' m'] D.
        rewrite Forall_forall in I0, IT. specialize (I0 _ D). specialize (IT _ D). cbn [fst snd] in I0, IT.
        destruct I0 as [[T0 _] M0]. unfold digit. rewrite K4. fold v. cbn [fst snd]. destruct IT as [[a A1]|[a A1]].
        { rewrite A1. replace (v + j * (a * (t' * m'))) with (v + (j * a * m') * t') by ring.
          rewrite Z.div_add, Z.mod_add by lia. reflexivity. }
        { assert (0 < a) by (apply (Z.mul_pos_cancel_r a (t * parts)); lia).
          rewrite A1, (Z.mul_comm a), <- !(Z.div_div _ (t * parts) a) by lia. do 2 f_equal. rewrite V.
          assert (j * t + t <= t * parts) by nia. transitivity q.
          - symmetry. apply Z.div_unique with rest; lia.
          - apply Z.div_unique with (rest + j * t); lia. }
      * pose proof (Z.mod_pos_bound x part P). unfold without. rewrite <- N'.
        assert (x / (part * parts) < k) by (apply Z.div_lt_upper_bound; lia).
        assert (0 <= x / (part * parts)) by (apply Z.div_pos; lia).
        replace (n / parts) with (k * part)
          by (rewrite E1, E2; replace (k * (part * parts)) with (k * part * parts) by ring;
          rewrite Z.div_mul; lia). nia.
Qed.

(** Of an axis of [n] places of [w] positions each: the coordinates of every position are its digits, which are
    disjoint and lie within the axis. *)
Theorem digits_of_axis : forall w n cuts ds, 0 < w -> 0 < n -> Forall (fun c => 0 < snd c) cuts ->
  digits_found [(n, w)] n cuts = Some ds ->
  ForallOrdPairs disjoint ds /\ Forall (fun d => (w | fst d) /\ (fst d * snd d | w * n)) ds /\
  forall p, 0 <= p -> coordinates cuts n (place_of w n p) = map (fun d => digit (fst d) (snd d) p) ds.
Proof.
  intros w n cuts ds W N C E.
  destruct (digits_found_exact cuts [(n, w)] n w ds W) as (D1 & D2 & D3 & D4);
    [cbn [in_order]; split; [assumption|split; [exists 1; ring|exact I]]|constructor; [exact N|constructor]|
     cbn [map fst numel]; ring|assumption|assumption|].
  assert (D : Forall (fun d => ((0 < fst d /\ (w | fst d)) /\ 0 < snd d) /\ (fst d * snd d | w * n)) ds).
  { assert (A : Forall (fun d => (fst d * snd d | w * n) \/ (w * n * 0 | fst d)) ds).
    { apply (D3 (w * n, 0)). constructor; [left; exists 1; cbn [fst snd]; ring|constructor]. }
    rewrite Forall_forall in *. intros d I. specialize (D1 d I). specialize (A d I). split; [exact D1|].
    destruct A as [A|[k A]]; [exact A|lia]. }
  split; [exact D2|]. split; [eapply Forall_impl; [|exact D]; intros d (((_ & X) & _) & Y); split; assumption|].
  intros p P. pose proof (Z.mod_pos_bound (p / w) n N). rewrite D4 by assumption. apply map_ext_in. intros [t m] I.
  rewrite Forall_forall in D. specialize (D _ I). cbn [fst snd] in *. destruct D as (((T & [k K]) & M) & [l L]).
  unfold at_number, place_of, digit. cbn [map fst snd digits dot].
  rewrite Z.add_0_r, Z.mod_mod by lia. subst t.
  assert (0 < k) by nia. assert (NK : n = l * (k * m)) by (apply (Z.mul_reg_l _ _ w); [lia|rewrite L; ring]).
  assert (KM : 0 < k * m) by nia. assert (0 < l) by nia.
  rewrite (Z.mul_comm k w), Z.div_mul_cancel_l, <- Z.div_div by lia.
  set (y := p / w). pose proof (Z.div_mod y n ltac:(lia)) as Y.
  replace (y / k) with (y mod n / k + (y / n * l) * m); [symmetry; apply Z.mod_add; lia|].
  symmetry. rewrite Y at 1.
  replace (n * (y / n) + y mod n) with (y mod n + y / n * l * m * k) by (rewrite NK at 3; ring).
  apply Z.div_add. lia.
Qed.
