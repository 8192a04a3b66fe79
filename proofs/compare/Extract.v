(** Extracts what is decided to OCaml.  Numbers stay Coq's own binary integers: nothing can overflow. *)

From Coq Require Import ZArith Extraction ExtrOcamlBasic.
From Shapetracker Require Import Shards View Decide Splits Cute.

(** Axes are made and taken apart by name, because extraction may rename record fields. *)
Definition make_axis (size stride lo hi : Z) : axis := Axis size stride lo hi.
Definition axis_parts (a : axis) : (Z * Z) * (Z * Z) := ((size a, stride a), (lo a, hi a)).

Extraction Language OCaml.
Extraction "merge.ml" decide make_axis axis_parts decide_splits compose_layouts complement
  left_inverse right_inverse difference coordinates.
