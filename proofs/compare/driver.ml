(* Reads questions as lines of numbers, decides each, and writes one line an answer.

   "merge" and both views, the one next to memory first.  A view: rank, sizes, strides, offset, 1 or 0 for "live",
   then lo and hi of each axis.  An answer: "refused", "several", or "single" and a view.

   The others begin each list with its length, and answer "none", or "some" and lists:
   "splits", the sizes of the loops, and functions, each as all of its values: the factors of each loop, innermost first;
   "compose", 1 if the first layout is strict, and two layouts as lists of sizes and strides, fastest first: the sizes of
   the modes of each leaf, then their strides;
   "complement", modes by ascending stride, and a cotarget: modes;
   "left" and "right", modes: those of the inverse;
   "coordinates", cuts as numbers of pieces and parts, and a number of places: the coordinate of each cut, place by place;
   "difference", two words and how many of their places: the first at which they differ.  A word is a list of segments, a
   ramp as 0, its first value, how often it comes, how often each further one does, and its length, a repetition as 1, how
   often it is repeated, and the word. *)

open Merge

(* Decimal text to Coq's binary integers and back, of any length. *)

let rec small n = if n = 1 then XH else if n land 1 = 1 then XI (small (n lsr 1)) else XO (small (n lsr 1))
let digit c = let n = Char.code c - 48 in if n = 0 then Z0 else Zpos (small n)
let ten = Zpos (small 10)
let z word =
  let negative = word.[0] = '-' in
  let value = ref Z0 in
  String.iteri (fun k c -> if not (negative && k = 0) then value := Z.add (Z.mul !value ten) (digit c)) word;
  if negative then Z.opp !value else !value

(* Decimal digits, the last one first. *)
let rec double_plus carry = function
  | [] -> if carry = 0 then [] else [carry]
  | d :: rest -> let n = 2 * d + carry in (n mod 10) :: double_plus (n / 10) rest
let rec decimal = function XH -> [1] | XO p -> double_plus 0 (decimal p) | XI p -> double_plus 1 (decimal p)
let text p = String.concat "" (List.rev_map string_of_int (decimal p))
let string_of_z = function Z0 -> "0" | Zpos p -> text p | Zneg p -> "-" ^ text p

let view next =
  let rank = int_of_string (next ()) in
  let list () = List.init rank (fun _ -> next ()) in
  let sizes = list () in
  let strides = list () in
  let offset = next () in
  let live = next () = "1" in
  let ranges = List.init rank (fun _ -> let lo = next () in let hi = next () in (lo, hi)) in
  let rec axes s t r = match s, t, r with
    | size :: s, stride :: t, (lo, hi) :: r -> make_axis (z size) (z stride) (z lo) (z hi) :: axes s t r
    | _ -> [] in
  { axes = axes sizes strides ranges; offset = z offset; live }

let words v =
  let parts = List.map (fun a -> let (s, t), (l, h) = axis_parts a in (s, t, l, h)) v.axes in
  let all = List.map (fun (s, _, _, _) -> s) parts @ List.map (fun (_, t, _, _) -> t) parts @ [v.offset] in
  let ranges = List.concat_map (fun (_, _, l, h) -> [l; h]) parts in
  String.concat " " ([string_of_int (List.length parts)] @ List.map string_of_z all
                     @ [if v.live then "1" else "0"] @ List.map string_of_z ranges)

(* Functions of loops as tables of their values, in row-major order. *)

let rec int_of_positive = function XH -> 1 | XO p -> 2 * int_of_positive p | XI p -> 2 * int_of_positive p + 1
let int_of_z = function Z0 -> 0 | Zpos p -> int_of_positive p | Zneg p -> - (int_of_positive p)

let count next = int_of_string (next ())
let list_of next item = let length = count next in List.init length (fun _ -> item ())
let pair next = let size = z (next ()) in let stride = z (next ()) in (size, stride)

let table next sizes =
  let values = Array.init (List.fold_left ( * ) 1 sizes) (fun _ -> z (next ())) in
  fun index -> values.(List.fold_left2 (fun at size i -> at * size + int_of_z i) 0 sizes index)

let all lists = String.concat " " (List.concat_map (fun l -> string_of_int (List.length l) :: List.map string_of_z l) lists)

let rec word next = list_of next (fun () -> match next () with
  | "0" ->
      let first = z (next ()) in
      let until = z (next ()) in
      let width = z (next ()) in
      Up ({ first; until; width }, z (next ()))
  | _ ->
      let times = z (next ()) in
      Repeat (times, word next))

(* More steps than any question takes. *)
let work = let rec steps n work = if n = 0 then work else steps (n - 1) (S work) in steps 1_000_000 O

let modes_text modes = "some " ^ all (List.map (fun (size, stride) -> [size; stride]) modes)

(* The question of a line, by its first word. *)
let answer next = match next () with
  | "merge" ->
      let a = view next in
      let b = view next in
      (match decide a b with
       | Refused -> "refused"
       | Several -> "several"
       | Single c -> "single " ^ words c)
  | "splits" ->
      let sizes = list_of next (fun () -> count next) in
      let functions = list_of next (fun () -> table next sizes) in
      (match decide_splits (List.map (fun n -> z (string_of_int n)) sizes) functions with
       | None -> "none"
       | Some factors -> "some " ^ all factors)
  | "compose" ->
      let strict = next () = "1" in
      let a = list_of next (fun () -> pair next) in
      let b = list_of next (fun () -> pair next) in
      (match compose_layouts strict a b with
       | None -> "none"
       | Some (sizes, strides) -> "some " ^ all sizes ^ " " ^ all strides)
  | "complement" ->
      let modes = list_of next (fun () -> pair next) in
      let cotarget = z (next ()) in
      (match complement modes cotarget with
       | None -> "none"
       | Some modes -> modes_text modes)
  | "left" ->
      (match left_inverse (list_of next (fun () -> pair next)) with
       | None -> "none"
       | Some modes -> modes_text modes)
  | "right" -> modes_text (right_inverse (list_of next (fun () -> pair next)))
  | "coordinates" ->
      let cuts = list_of next (fun () -> pair next) in
      let places = count next in
      "some " ^ all (List.init places (fun x -> coordinates cuts (z (string_of_int places)) (z (string_of_int x))))
  | "difference" ->
      let a = word next in
      let b = word next in
      (match difference work a b (z (next ())) with
       | None -> failwith "a million steps are too few"
       | Some None -> "none"
       | Some (Some place) -> "some " ^ string_of_z place)
  | word -> failwith ("no question " ^ word)

let () =
  try
    while true do
      let rest = ref (String.split_on_char ' ' (input_line stdin)) in
      let next () = match !rest with
        | [] -> failwith "a line is too short"
        | word :: more -> rest := more; word in
      print_endline (answer next)
    done
  with End_of_file -> ()
