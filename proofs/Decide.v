(** The procedure as it is extracted and run: the exact merge with the solver of bounded linear equations. *)

From Coq Require Import ZArith List Bool.
From Shapetracker Require Import View Criterion Overflow Equation Bounding Merge Exact Solver.
Import ListNotations.
Open Scope Z_scope.

Inductive verdict :=
  | Refused            (** not a pair: a range leaves its axis, or [B] reads outside [A] *)
  | Single (C : view)  (** the pair is this view *)
  | Several.           (** no single view does what the pair does *)

Definition decide (A B : view) : verdict :=
  if wfb A && wfb B && fitsb A B then
    match merge solve A B with Some C => Single C | None => Several end
  else Refused.

(** The executable's answers are those of the definition. *)
Theorem decide_correct : forall A B,
  match decide A B with
  | Refused => ~ (wf A /\ wf B /\ fits A B)
  | Single C => wf A /\ wf B /\ fits A B /\ is_view (sizes B) (compose A B) C /\ canonical C
  | Several => wf A /\ wf B /\ fits A B /\ ~ mergeable A B
  end.
Proof.
  intros A B. unfold decide. destruct (wfb A && wfb B && fitsb A B) eqn:E.
  - rewrite !andb_true_iff in E. destruct E as [[WA WB] F]. apply wfb_iff in WA, WB. apply fitsb_iff in F.
    pose proof (merge_correct solve solve_decides A B WA WB F) as H.
    destruct (merge solve A B); tauto.
  - intros (WA & WB & F). apply wfb_iff in WA, WB. apply fitsb_iff in F. rewrite WA, WB, F in E. discriminate.
Qed.

(** All three answers occur.  The first pair is large: no cost depends on sizes. *)
Example decide_single :
  decide (strided [10000000; 9; 4] [140; 11; 13] 0) (strided [6] [9] 0) = Single (strided [6] [35] 0).
Proof. vm_compute. reflexivity. Qed.
(** A large transposed matrix, flattened. *)
Example decide_several : decide (strided [3000; 2000] [1; 3000] 0) (strided [6000000] [1] 0) = Several.
Proof. vm_compute. reflexivity. Qed.
(** A later view that reads outside. *)
Example decide_refused : decide (strided [3] [1] 0) (strided [4] [1] 0) = Refused.
Proof. vm_compute. reflexivity. Qed.
