(** Words: which device has each element, in the order of positions, as ramps and repetitions.  Where two of them are the
    same is told without spelling them out. *)

From Coq Require Import ZArith Lia.
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
Theorem one_period : forall u v p len, 0 < p -> repeats p len u -> repeats p len v -> agree u v (Z.min p len) -> agree u v len.
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

(** The longer period alone is not enough: (0 0 1) and (0 0 1 0 0), repeated, agree on 5 places and not on the sixth. *)
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
