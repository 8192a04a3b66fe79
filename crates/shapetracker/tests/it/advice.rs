//! What array libraries do with a chain, against their own rules as they are documented; and expressions that are one view,
//! by all elements.

use std::cell::Cell;

use indexpr::{Graph, Syntax};
use shapetracker::advice::{Does, one_view};
use shapetracker::{ArrayLibrary, Dims, Unmerged};

use crate::oracle::{Array, check_witness};
use crate::random::{Chain, Op, Tape, cases, check};
use shapetracker_testing::held;

/// An array as a library keeps it.
#[derive(Clone, Debug)]
struct Kept {
    shape: Vec<i64>,
    strides: Vec<i64>,
}

/// Strides of a shape whose axes follow each other in memory in this order, the innermost first.
fn packed(shape: &[i64], order: &[usize]) -> Kept {
    let mut strides = vec![0; shape.len()];
    let mut next = 1;
    for &axis in order {
        strides[axis] = next;
        next *= shape[axis];
    }
    Kept { shape: shape.to_vec(), strides }
}

fn row_major(shape: &[i64]) -> Kept {
    packed(shape, &(0..shape.len()).rev().collect::<Vec<_>>())
}

impl Kept {
    fn numel(&self) -> i64 {
        self.shape.iter().product()
    }

    fn is_packed(&self, order: &[usize]) -> bool {
        let packed = packed(&self.shape, order);
        (0..self.shape.len()).all(|axis| self.shape[axis] == 1 || self.strides[axis] == packed.strides[axis])
    }

    /// Whether the elements fill a piece of memory without gaps and without reading an address twice.
    fn is_dense(&self) -> bool {
        let mut addresses: Vec<i64> = vec![0];
        for (size, stride) in self.shape.iter().zip(&self.strides) {
            addresses = addresses.iter().flat_map(|at| (0..*size).map(move |i| at + i * stride)).collect();
        }
        addresses.sort_unstable();
        addresses.iter().enumerate().all(|(number, address)| *address == number as i64)
    }

    /// The rule of PyTorch's `Tensor.view`, as `computeStride` in ATen/TensorUtils.cpp has it.
    fn torch_view(&self, new: &[i64]) -> Option<Kept> {
        let (old, strides) = (&self.shape, &self.strides);
        if old.is_empty() {
            return Some(Kept { shape: new.to_vec(), strides: vec![1; new.len()] });
        }
        let mut result = vec![0; new.len()];
        let mut view_d = new.len() as i64 - 1;
        let mut chunk_base = strides[old.len() - 1];
        let (mut tensor_numel, mut view_numel) = (1, 1);
        for tensor_d in (0..old.len()).rev() {
            tensor_numel *= old[tensor_d];
            if tensor_d == 0 || (old[tensor_d - 1] != 1 && strides[tensor_d - 1] != tensor_numel * chunk_base) {
                while view_d >= 0 && (view_numel < tensor_numel || new[view_d as usize] == 1) {
                    result[view_d as usize] = view_numel * chunk_base;
                    view_numel *= new[view_d as usize];
                    view_d -= 1;
                }
                if view_numel != tensor_numel {
                    return None;
                }
                if tensor_d > 0 {
                    chunk_base = strides[tensor_d - 1];
                    tensor_numel = 1;
                    view_numel = 1;
                }
            }
        }
        (view_d == -1).then(|| Kept { shape: new.to_vec(), strides: result })
    }

    /// The rule of NumPy's `reshape`, as `_attempt_nocopy_reshape` in shape.c has it.
    fn numpy_view(&self, new: &[i64]) -> Option<Kept> {
        let kept: Vec<usize> = (0..self.shape.len()).filter(|&axis| self.shape[axis] != 1).collect();
        let old: Vec<i64> = kept.iter().map(|&axis| self.shape[axis]).collect();
        let old_strides: Vec<i64> = kept.iter().map(|&axis| self.strides[axis]).collect();
        let mut strides = vec![0; new.len()];
        let (mut oi, mut oj, mut ni, mut nj) = (0, 1, 0, 1);
        while ni < new.len() && oi < old.len() {
            let (mut np, mut op) = (new[ni], old[oi]);
            while np != op {
                if np < op {
                    np *= new[nj];
                    nj += 1;
                } else {
                    op *= old[oj];
                    oj += 1;
                }
            }
            for ok in oi..oj - 1 {
                if old_strides[ok] != old[ok + 1] * old_strides[ok + 1] {
                    return None;
                }
            }
            strides[nj - 1] = old_strides[oj - 1];
            for nk in (ni + 1..nj).rev() {
                strides[nk - 1] = strides[nk] * new[nk];
            }
            (ni, oi) = (nj, oj);
            (nj, oj) = (nj + 1, oj + 1);
        }
        let last = if ni >= 1 { strides[ni - 1] } else { 1 };
        strides[ni..].fill(last);
        Some(Kept { shape: new.to_vec(), strides })
    }

    /// PyTorch's `suggest_memory_format`, as c10/core/MemoryFormat.h has it.
    fn is_channels_last(&self) -> bool {
        let order: &[usize] = match self.shape.len() {
            4 => &[1, 3, 2, 0],
            5 => &[1, 4, 3, 2, 0],
            _ => return false,
        };
        let mut min = 0;
        if self.strides[1] == 0 {
            return false;
        }
        for &d in order {
            if self.shape[d] == 0 || self.strides[d] < min || (d == 0 && min == self.strides[1]) {
                return false;
            }
            min = self.strides[d];
            if self.shape[d] > 1 {
                min *= self.shape[d];
            }
        }
        true
    }

    fn suggested(&self, shape: &[i64]) -> Kept {
        match shape.len() {
            4 if self.is_channels_last() => packed(shape, &[1, 3, 2, 0]),
            5 if self.is_channels_last() => packed(shape, &[1, 4, 3, 2, 0]),
            _ => row_major(shape),
        }
    }

    /// PyTorch's `empty_like`, which keeps the strides of a dense tensor and closes the gaps of another one: the rule of
    /// `infer_dense_strides` in ATen/ExpandUtils.cpp, which the tests of the Python package hold against PyTorch itself.
    fn like(&self) -> Kept {
        if self.is_dense() {
            return self.clone();
        }
        let mut order: Vec<usize> = Vec::new();
        for axis in (0..self.shape.len()).rev() {
            // It moves inwards past each axis with a larger stride, and over those that say nothing on its way there.
            let (stride, size) = (self.strides[axis], self.shape[axis]);
            order.push(axis);
            let mut at = order.len() - 1;
            for other in (0..at).rev() {
                let (theirs, extent) = (self.strides[order[other]], self.shape[order[other]]);
                if stride == 0 || theirs == 0 {
                    continue;
                }
                if theirs < stride {
                    break;
                }
                if theirs > stride || extent > size {
                    order.swap(other, at);
                    at = other;
                }
            }
        }
        packed(&self.shape, &order)
    }
}

/// What a library does with an operation: the array after it, and whether elements are copied.
fn done(library: ArrayLibrary, kept: &Kept, op: &Op, to: &[i64]) -> (Kept, Vec<i64>) {
    let torch = library == ArrayLibrary::PyTorch;
    let rank = kept.shape.len();
    let resolve = |axis: i64, rank: usize| axis.rem_euclid(rank as i64) as usize;
    let each =
        |sign: &dyn Fn(usize) -> i64| -> Vec<i64> { (0..rank).map(|axis| kept.strides[axis] * sign(axis)).collect() };
    let all = kept.numel();
    // A pad writes all of its result.
    let written: i64 = to.iter().product();
    if all == 0 || to.contains(&0) {
        let padded = matches!(op, Op::Pad(_)) && written > 0;
        return (row_major(to), if padded { vec![written] } else { Vec::new() });
    }
    match op {
        Op::Reshape(_) => {
            let view = if torch { kept.torch_view(to) } else { kept.numpy_view(to) };
            view.map_or_else(|| (row_major(to), vec![all]), |view| (view, Vec::new()))
        }
        Op::Unsqueeze(axis) => {
            let at = resolve(*axis, rank + 1);
            let mut strides = kept.strides.clone();
            strides.insert(at, if at < rank { kept.shape[at] * kept.strides[at] } else { 1 });
            (Kept { shape: to.to_vec(), strides }, Vec::new())
        }
        Op::Squeeze(axes) => {
            let gone: Vec<usize> = axes.iter().map(|&axis| resolve(axis, rank)).collect();
            let strides = (0..rank).filter(|axis| !gone.contains(axis)).map(|axis| kept.strides[axis]);
            (Kept { shape: to.to_vec(), strides: strides.collect() }, Vec::new())
        }
        Op::Permute(axes) => {
            let strides = axes.iter().map(|&axis| kept.strides[resolve(axis, rank)]);
            (Kept { shape: to.to_vec(), strides: strides.collect() }, Vec::new())
        }
        Op::Expand(_) => {
            let stride = |axis: usize| if kept.shape[axis] == to[axis] { kept.strides[axis] } else { 0 };
            (Kept { shape: to.to_vec(), strides: (0..rank).map(stride).collect() }, Vec::new())
        }
        Op::Shrink(_) => (Kept { shape: to.to_vec(), strides: kept.strides.clone() }, Vec::new()),
        Op::Pad(pads) => {
            let order: Vec<usize> = (0..rank).collect();
            let after = match torch {
                true if pads.iter().all(|pad| *pad == (0, 0)) => kept.like(),
                true => kept.suggested(to),
                false if kept.is_packed(&order) && !kept.is_packed(&(0..rank).rev().collect::<Vec<_>>()) => {
                    packed(to, &order)
                }
                false => row_major(to),
            };
            (after, vec![written])
        }
        Op::Flip(axes) => {
            let axes: Vec<usize> = axes.iter().map(|&axis| resolve(axis, rank)).collect();
            match torch && !axes.is_empty() {
                true => (kept.like(), vec![all]),
                false => {
                    let strides = each(&|axis| if axes.contains(&axis) { -1 } else { 1 });
                    (Kept { shape: to.to_vec(), strides }, Vec::new())
                }
            }
        }
        Op::Step(steps) => match torch && steps.iter().any(|step| *step < 0) {
            true => {
                let flipped = kept.like();
                let strides = (0..rank).map(|axis| flipped.strides[axis] * steps[axis].abs()).collect();
                (Kept { shape: to.to_vec(), strides }, vec![all])
            }
            false => (Kept { shape: to.to_vec(), strides: each(&|axis| steps[axis]) }, Vec::new()),
        },
        Op::AsStrided(_, strides, _) => {
            let mut copied = Vec::new();
            if !kept.is_packed(&(0..rank).rev().collect::<Vec<_>>()) {
                copied.push(all);
            }
            if torch && strides.iter().zip(to).any(|(stride, size)| *stride < 0 && *size > 1) {
                copied.push(to.iter().product());
                return (row_major(to), copied);
            }
            (Kept { shape: to.to_vec(), strides: strides.clone() }, copied)
        }
    }
}

fn text(chain: &Chain, reshape: &str) -> String {
    let list = |numbers: &[i64]| numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    let pairs = |pairs: &[(i64, i64)]| pairs.iter().map(|(a, b)| format!("({a}, {b})")).collect::<Vec<_>>().join(", ");
    let tuple = |numbers: &[i64]| format!("({}{})", list(numbers), if numbers.len() == 1 { "," } else { "" });
    let mut text = tuple(&chain.base);
    for op in &chain.ops {
        text += &match op {
            Op::Reshape(shape) => format!(".{reshape}({})", list(shape)),
            Op::Permute(axes) => format!(".permute({})", list(axes)),
            Op::Expand(shape) => format!(".expand({})", list(shape)),
            Op::Pad(each) => format!(".pad({})", pairs(each)),
            Op::Shrink(each) => format!(".shrink({})", pairs(each)),
            Op::Flip(axes) => format!(".flip({})", tuple(axes)),
            Op::Step(steps) => format!(".step({})", list(steps)),
            Op::AsStrided(shape, strides, offset) => {
                format!(".as_strided({}, {}, {offset})", tuple(shape), tuple(strides))
            }
            Op::Unsqueeze(axis) => format!(".unsqueeze({axis})"),
            Op::Squeeze(axes) => format!(".squeeze({})", tuple(axes)),
        };
    }
    text
}

#[test]
pub(crate) fn libraries_do_as_their_rules_say() {
    let seen = Cell::new([0_u32; 4]);
    check(
        cases::CHAINS,
        |tape| (tape.chain(), tape.chance(50)),
        |(chain, is_view)| {
            let text = text(chain, if *is_view { "view" } else { "reshape" });
            let read: shapetracker::Chain = text.parse().map_err(|err| format!("{text}: {err}"))?;
            let advice = read.advice(None).map_err(|err| format!("{text}: {err}"))?;
            let shapes: Vec<Vec<i64>> = chain
                .ops
                .iter()
                .scan(Array::contiguous(&chain.base), |array, op| {
                    *array = op.on_array(array);
                    Some(array.shape.clone())
                })
                .collect();
            for found in &advice.libraries {
                let (mut kept, mut copied, mut raises) = (row_major(&chain.base), Vec::new(), false);
                let views = *is_view && found.library == ArrayLibrary::PyTorch;
                for (number, (op, to)) in chain.ops.iter().zip(&shapes).enumerate() {
                    let (after, elements) = done(found.library, &kept, op, to);
                    // Wherever in the chain `view` stands: it raises what `reshape` copies.
                    raises |= views && matches!(op, Op::Reshape(_)) && !elements.is_empty();
                    copied.extend(elements.into_iter().map(|elements| (number, elements)));
                    kept = after;
                }
                let does = match raises {
                    true => Does::Raises,
                    false if copied.is_empty() => Does::View,
                    false => Does::Copies,
                };
                if found.copied != copied || found.does != does {
                    return Err(format!(
                        "{text} with {}: {:?} {:?}, and by its rule {does:?} {copied:?}",
                        found.library, found.does, found.copied
                    ));
                }
                let mut counts = seen.get();
                counts[does as usize] += 1;
                seen.set(counts);
            }
            Ok(())
        },
    );
    println!("views, raises, copies, cannot: {:?}", seen.get());
    assert!(seen.get()[..3].iter().all(|count| *count > held(cases::CHAINS) / 60));
}

#[test]
fn what_is_advised_is_less_than_what_a_library_copies() {
    check(
        cases::CHAINS / 4,
        |tape| tape.chain(),
        |chain| {
            let text = text(chain, "reshape");
            let read: shapetracker::Chain = text.parse().map_err(|err| format!("{text}: {err}"))?;
            let advice = read.advice(None).map_err(|err| format!("{text}: {err}"))?;
            let end = chain.ops.iter().fold(Array::contiguous(&chain.base), |array, op| op.on_array(&array));
            let is_one = end.single_view().is_some();
            if advice.view.is_ok() != is_one {
                return Err(format!("{text}: {:?}", advice.view));
            }
            match (&advice.copy, is_one) {
                (None, true) => {}
                (Some(copy), false) if copy.elements <= copy.of && copy.elements > 0 => {}
                (copy, _) => return Err(format!("{text}: one view: {is_one}, and {copy:?}")),
            }
            Ok(())
        },
    );
}

/// An expression with its meaning.
#[derive(Clone, Debug)]
enum Part {
    Int(i64),
    Variable(usize),
    Binary(&'static str, Box<Part>, Box<Part>),
}

impl Part {
    fn random(tape: &mut Tape, variables: usize, depth: u32) -> Part {
        if depth == 0 || tape.chance(20) {
            return if variables > 0 && tape.chance(65) {
                Part::Variable(tape.below(variables as i64) as usize)
            } else {
                Part::Int(tape.signed(6))
            };
        }
        let part = |tape: &mut Tape| Box::new(Part::random(tape, variables, depth - 1));
        match tape.below(10) {
            0..5 => Part::Binary(tape.pick(&["+", "-"]), part(tape), part(tape)),
            5..8 => Part::Binary("*", Box::new(Part::Int(tape.signed(5))), part(tape)),
            _ => Part::Binary(tape.pick(&["//", "%"]), part(tape), Box::new(Part::Int(tape.within(1, 7)))),
        }
    }

    fn value(&self, at: &[i64]) -> i64 {
        match self {
            Part::Int(value) => *value,
            Part::Variable(variable) => at[*variable],
            Part::Binary(op, a, b) => {
                let (a, b) = (a.value(at), b.value(at));
                match *op {
                    "+" => a + b,
                    "-" => a - b,
                    "*" => a * b,
                    "//" => a.div_euclid(b),
                    _ => a.rem_euclid(b),
                }
            }
        }
    }

    fn text(&self) -> String {
        match self {
            Part::Int(value) => format!("({value})"),
            Part::Variable(variable) => format!("v{variable}"),
            Part::Binary(op, a, b) => format!("({} {op} {})", a.text(), b.text()),
        }
    }
}

/// Comparisons of parts, all of which hold.
type Conditions = Vec<(&'static str, Part, Part)>;

fn holds(conditions: &Conditions, at: &[i64]) -> bool {
    conditions.iter().all(|(op, a, b)| {
        let (a, b) = (a.value(at), b.value(at));
        match *op {
            "<" => a < b,
            "<=" => a <= b,
            ">" => a > b,
            ">=" => a >= b,
            _ => a == b,
        }
    })
}

#[test]
pub(crate) fn expressions_are_one_view_where_all_elements_say_so() {
    #[derive(Clone, Debug)]
    struct Case {
        ranges: Vec<(i64, i64)>,
        index: Part,
        valid: Conditions,
        simplified: bool,
    }
    let seen = Cell::new([0_u32; 2]);
    check(
        cases::QUERIES * 4,
        |tape| {
            let variables = tape.within(0, 3) as usize;
            let ranges = (0..variables).map(|_| {
                let begin = if tape.chance(50) { 0 } else { tape.signed(4) };
                (begin, begin + tape.within(1, 6))
            });
            let ranges = ranges.collect();
            let index = Part::random(tape, variables, 4);
            let valid = (0..tape.below(3)).map(|_| {
                let op = tape.pick(&["<", "<=", ">", ">=", "=="]);
                let depth = tape.below(3) as u32;
                (op, Part::random(tape, variables, depth), Part::random(tape, variables, 1))
            });
            Case { ranges, index, valid: valid.collect(), simplified: tape.chance(50) }
        },
        |case| {
            let mut graph = Graph::new();
            for (number, (begin, end)) in case.ranges.iter().enumerate() {
                graph.variable(&format!("v{number}"), *begin..*end).map_err(|err| err.to_string())?;
            }
            let conditions: Vec<String> =
                case.valid.iter().map(|(op, a, b)| format!("{} {op} {}", a.text(), b.text())).collect();
            let conditions = if conditions.is_empty() { "True".into() } else { conditions.join(" and ") };
            let mut index = graph.parse(&case.index.text(), Syntax::Python).map_err(|err| err.to_string())?;
            let mut valid = graph.parse(&conditions, Syntax::Python).map_err(|err| err.to_string())?;
            if case.simplified {
                (index, valid) = graph.simplify_pair(index, valid);
            }
            let shape: Vec<i64> = case.ranges.iter().map(|(begin, end)| end - begin).collect();
            let look_up = |at: &[i64]| {
                let at: Vec<i64> = at.iter().zip(&case.ranges).map(|(i, (begin, _))| i + begin).collect();
                holds(&case.valid, &at).then(|| case.index.value(&at))
            };
            let mut array = Array::contiguous(&shape);
            let mut cells = Vec::new();
            array.for_each_index(|index, _| cells.push(look_up(index)));
            array.cells = cells;
            let expected = array.single_view();
            let found = one_view(&graph, index, valid);
            let mut counts = seen.get();
            counts[usize::from(found.is_ok())] += 1;
            seen.set(counts);
            match (found, expected) {
                (Ok(view), Some(_)) => {
                    let mut wrong = None;
                    array.for_each_index(|index, cell| {
                        let index: Dims = index.into();
                        if view.address(&index) != cell {
                            wrong = Some(format!("{view} at {index:?} is {:?}, not {cell:?}", view.address(&index)));
                        }
                    });
                    wrong.map_or(Ok(()), Err)
                }
                (Err(Unmerged::Witness(witness)), None) => {
                    check_witness(&witness, &shape, |index| look_up(index).map(i128::from))
                }
                (found, expected) => Err(format!("{found:?}, and {expected:?} by all elements")),
            }
        },
    );
    println!("not one view, one view: {:?}", seen.get());
    assert!(seen.get().iter().all(|count| *count > held(cases::QUERIES * 4) / 20));
}

#[test]
fn large_expressions_are_decided_where_that_is_possible() {
    let ask = |index: &str, valid: &str, size: i64| {
        let mut graph = Graph::new();
        graph.variable("x", 0..size).unwrap();
        graph.variable("y", -5..size).unwrap();
        let (index, valid) = (graph.parse(index, Syntax::Python).unwrap(), graph.parse(valid, Syntax::Python).unwrap());
        let (index, valid) = graph.simplify_pair(index, valid);
        one_view(&graph, index, valid)
    };
    let size = 1 << 30;
    assert_eq!(ask("3*x - 2*y + 7", "True", size).unwrap().strides(), [3, -2]);
    assert_eq!(ask("3*x - 2*y + 7", "x >= 5 and 2*y < 9", size).unwrap().mask(), Some(&[(5, size), (0, 10)][..]));
    assert!(matches!(ask("x // 1000000 + y", "True", size), Err(Unmerged::Witness(_))));
    assert!(matches!(ask("x % 77 + y", "True", size), Err(Unmerged::Witness(_))));
    assert!(matches!(ask("x", "x + y < 1073741824", size), Err(Unmerged::Witness(_))));
    // One element of 2^60 is another one: no sample finds it, and nothing is said.
    assert!(matches!(ask("x + (1 if x + y == 77 and x == 3 else 0)", "True", size), Err(Unmerged::Undecided)));
}

/// What PyTorch does with a chain, and what it is advised to do.
fn pytorch(text: &str) -> (Does, Vec<(usize, i64)>, Option<String>) {
    advised(ArrayLibrary::PyTorch, text)
}

/// The same of a library.
fn advised(library: ArrayLibrary, text: &str) -> (Does, Vec<(usize, i64)>, Option<String>) {
    let chain: shapetracker::Chain = text.parse().unwrap_or_else(|err| panic!("{err}"));
    let advice = chain.advice(None).unwrap();
    let found = advice.libraries.into_iter().find(|found| found.library == library).unwrap();
    (found.does, found.copied, found.code)
}

#[test]
fn copies_that_are_written_are_weighed() {
    let code = |text: &str| Some(text.to_owned());
    // The fix that everybody writes is the least that can be done.
    assert_eq!(pytorch("(3, 2).permute(1, 0).contiguous().view(6)"), (Does::Copies, vec![(1, 6)], None));
    // Here it is not needed, and there not all of it.
    assert_eq!(pytorch("(3, 2).permute(1, 0).contiguous().permute(1, 0)"), (Does::Copies, vec![(1, 6)], code("x")));
    assert_eq!(
        pytorch("(3, 5).reshape(1, 15).expand(8, 15).contiguous().view(4, 30)"),
        (
            Does::Copies,
            vec![(2, 120)],
            code("x.view(1, 15).expand((8, 15))[:2].contiguous().view(1, 30).expand(4, 30)")
        )
    );
    // Of what lies in order `contiguous` copies nothing.
    assert_eq!(pytorch("(3, 2).contiguous().view(6)"), (Does::View, vec![], None));
}

#[test]
fn calls_that_copy_although_a_view_would_do() {
    // "Return a copy of the array collapsed into one dimension": https://numpy.org/doc/stable/reference/generated/numpy.ndarray.flatten.html
    let flat = advised(ArrayLibrary::NumPy, "np.zeros((4, 6)).flatten()[1:]");
    assert_eq!(flat, (Does::Copies, vec![(0, 24)], Some("np.zeros((4, 6)).reshape(24)[1:]".into())));
    assert_eq!(pytorch("torch.zeros(4, 6).flatten()[1:]"), (Does::View, vec![], None));
    // "Return a contiguous flattened tensor": https://docs.pytorch.org/docs/stable/generated/torch.ravel.html
    let every_second = (Does::Copies, vec![(1, 4)], Some("torch.zeros(8)[::2]".into()));
    assert_eq!(pytorch("torch.zeros(8)[::2].ravel()"), every_second);
    assert_eq!(pytorch("torch.zeros(8)[4:].ravel()"), (Does::View, vec![], None));
    assert_eq!(pytorch("torch.zeros(8)[::2].flatten()"), (Does::View, vec![], None));
}

#[test]
fn windows_and_diagonals_are_views_of_any_array() {
    // Documented by PyTorch and NumPy as views: https://pytorch.org/docs/stable/tensor_view.html
    for text in [
        "torch.arange(30).view(5, 6).unfold(0, 3, 1).unfold(1, 3, 1)",
        "torch.arange(30).view(5, 6).T.unfold(0, 3, 1)",
        "torch.arange(30).view(5, 6).T.diagonal(1)",
    ] {
        assert_eq!(pytorch(text), (Does::View, vec![], None), "{text}");
    }
    // What is copied afterwards is what the windows hold.
    assert_eq!(pytorch("torch.arange(30).view(5, 6).T.diagonal(1).unfold(0, 2, 1).reshape(6)").0, Does::Copies);
}

#[test]
fn new_tensors_of_pytorch_keep_channels_last() {
    // An image with its channels last, seen with them first: padding keeps their order in memory.
    let chain = "(1, 4, 4, 3).permute(0, 3, 1, 2).pad((0, 0), (0, 0), (1, 1), (1, 1))";
    assert_eq!(pytorch(&format!("{chain}.view(108)")).1, [(1, 108), (2, 108)]);
    assert_eq!(pytorch(&format!("{chain}.permute(0, 2, 3, 1).view(36, 3)")).1, [(1, 108)]);
    // And flipping keeps any order.
    assert_eq!(pytorch("(4, 6).permute(1, 0).flip(0).view(24)").1, [(1, 24), (2, 24)]);
}

#[test]
fn found_by_random_lines_what_is_copied_before_an_error_is_counted() {
    // NumPy squeezes axes of size 1 only, where PyTorch leaves others alone.
    let advice = |text: &str, base: &[i64]| {
        let (chain, error) = shapetracker::Chain::read_from(text, Some(base));
        assert_eq!(error, None, "{text}");
        let [pytorch, numpy] = <[_; 2]>::try_from(chain.advice(Some(base)).unwrap().libraries).unwrap();
        assert_eq!((numpy.does, numpy.code), (Does::Raises, None), "{text}");
        (pytorch.copied, numpy.copied, numpy.sentence)
    };
    let refused =
        "`.squeeze(0)` raises an error in NumPy: squeeze: axis 0 has size 4: only an axis of size 1 can be squeezed.";
    assert_eq!(advice("x.squeeze(0)", &[4]), (vec![], vec![], refused.into()));
    let copied = "`.flatten()` always copies: here all 4 elements; `.reshape(4)` makes a view.";
    assert_eq!(advice("x.flatten().squeeze(0)", &[2, 2]), (vec![], vec![(0, 4)], format!("{copied} Then {refused}")));
    let twice = advice("x.T.reshape(-1).copy().squeeze(0)", &[2, 2]);
    assert_eq!(twice.1, [(1, 4), (2, 4)]);
    assert_eq!(twice.2, format!("`.reshape(4)` silently copies all 4 elements. Then {refused}"));
}

#[test]
fn found_by_random_lines_no_memory_is_read_after_a_step_that_pytorch_refuses() {
    for (text, base) in [
        // Of an array without elements nothing was left but the memory before that step.
        ("x[0, 1:3:2, 1:0:-1].expand(3, -1, -1).as_strided((), (), 42)", &[1, 6, 1, 10][..]),
        ("x.view(6, 1, 2)[::2, ::-2].as_strided((2,), (2,)).expand(-1)", &[1, 6, 1, 2]),
    ] {
        let (_, error) = shapetracker::Chain::read_from(text, Some(base));
        let error = error.unwrap_or_else(|| panic!("{text} is read")).to_string();
        assert!(error.contains("negative step") && error.contains("`as_strided` has no memory"), "{error}");
    }
    // What is flipped by a call is a copy.
    let (_, error) = shapetracker::Chain::read_from("x.flip(0).as_strided((2,), (2,))", Some(&[6]));
    assert_eq!(error, None);
}

#[test]
fn found_by_random_lines_what_another_reading_of_a_line_is_is_said_of_that_reading() {
    // Of 20 sections in NumPy, of parts of 20 elements in PyTorch.
    let (chain, error) =
        shapetracker::Chain::read_from("x[::2, :, :, :].reshape(20).split(20, 0)[0]", Some(&[9, 1, 2, 2]));
    assert_eq!(error, None);
    let advice = chain.advice(Some(&[9, 1, 2, 2])).unwrap();
    assert_eq!(advice.sentence, "Not one view: `.reshape(20)` needs a second one.");
    assert_eq!(
        advice.libraries[1].sentence,
        "`.reshape(20)` silently copies all 20 elements. Yet the whole chain is one view, as NumPy reads it.",
    );
}

#[test]
fn found_by_random_lines_what_reads_nothing_is_not_flipped() {
    let text = "torch.clone(x.transpose(1, 1))[-4:, 1:0:-1, ...]";
    let (chain, error) = shapetracker::Chain::read_from(text, Some(&[4, 1]));
    assert_eq!(error, None);
    let advice = chain.advice(Some(&[4, 1])).unwrap();
    assert_eq!(advice.libraries[0].does, Does::Raises);
    assert_eq!(advice.libraries[0].code.as_deref(), Some("x.transpose(1, 1).clone()[0:4, 0:0]"));
}

#[test]
fn found_by_random_lines_calls_that_do_the_same_are_counted_by_each_library() {
    // One element, repeated once: in NumPy a call that copies what nobody may write to before it copies that.
    let text = "sliding_window_view(x, 1, 0)[0, 0, 1, 0, ...].repeat(1)";
    let (chain, error) = shapetracker::Chain::read_from(text, Some(&[1, 1, 16]));
    assert_eq!(error, None);
    assert_eq!(chain.advice(Some(&[1, 1, 16])).unwrap().libraries[1].copied, [(6, 2)]);
}

#[test]
fn found_by_random_lines_shuffled_pixels_and_expanded_copies_have_the_strides_of_pytorch() {
    // `F.pixel_shuffle(torch.empty(1, 3, 2, 4).permute(0, 3, 1, 2), 2)` has strides (24, 1, 4, 1), and with 24 channels (24, 1, 12, 6).
    let shuffled =
        pytorch("F.pixel_shuffle(torch.zeros(1, 1, 1, 24).moveaxis(0, 3).permute(3, 2, 1, 0), 2).view(-1, 8, 1)");
    assert_eq!((shuffled.0, shuffled.1), (Does::Raises, vec![(4, 24), (5, 24)]));
    let kept = pytorch("F.pixel_shuffle(torch.zeros(2, 4, 4, 8).permute(0, 3, 1, 2), 2).permute(0, 2, 3, 1).view(-1)");
    assert_eq!((kept.0, kept.1), (Does::Copies, vec![(3, 256)]));
    // The code that was offered raised: the first axis of the copy has stride 36, and is outermost when it is flipped.
    let text =
        "x.repeat(1, 2, 1, 3).permute(2, 1, 0, 3).flip(0, 3, 1).flatten(2).view((3, 8, 3, 1)).view((3, 2, 4, 3, 1))";
    let (chain, error) = shapetracker::Chain::read_from(text, Some(&[1, 6, 2]));
    assert_eq!(error, None);
    let code = chain.advice(Some(&[1, 6, 2])).unwrap().libraries.swap_remove(0).code.unwrap();
    assert!(!code.contains(".flip((0, 3, 1)).view(6, 2, 6).view("), "{code}");
}

#[test]
fn found_by_random_lines_axes_of_size_1_of_windows_and_diagonals_have_the_strides_of_pytorch() {
    let told = |text: &str, base: &[i64]| {
        let (chain, error) = shapetracker::Chain::read_from(text, Some(base));
        assert_eq!(error, None, "{text}");
        let pytorch = chain.advice(Some(base)).unwrap().libraries.swap_remove(0);
        (pytorch.does, pytorch.copied, pytorch.code)
    };
    // `torch.empty(1, 4, 1).expand(3, 1, 4, 2).diagonal()` has strides (1, 0, 4): of both axes, the first of which repeats.
    let flipped = told("x.expand(3, 1, 4, 2).diagonal().fliplr().view(1, 8)", &[1, 4, 1]);
    assert_eq!((flipped.0, flipped.1), (Does::Raises, vec![(2, 8), (3, 8)]));
    let cloned =
        told("x.expand(2, -1, 3, 2).permute((3, 2, 1, 0)).diagonal().clone().permute((0, -2, 2)).view(4)", &[1, 3, 2]);
    assert_eq!(cloned, (Does::Copies, vec![(3, 4)], None));
    // And windows: `torch.empty(3, 1, 2).unfold(0, 2, 2)` has strides (4, 2, 1, 2).
    let windows = told("x.permute((-2, 0, -1)).expand(2, 2, 2).unfold(-2, 2, 3).fliplr().view(1, 2, 4, 1)", &[2, 1, 1]);
    assert_eq!(windows, (Does::Copies, vec![(3, 8)], None));
}

#[test]
fn an_order_of_numpy_is_that_in_which_the_elements_are_read() {
    let numpy = |text: &str| advised(ArrayLibrary::NumPy, text);
    // Reading by columns what lies by columns is a view: https://numpy.org/doc/stable/reference/generated/numpy.reshape.html
    assert_eq!(numpy("np.zeros((4, 6)).T.reshape((3, 8), order='F')"), (Does::View, vec![], None));
    assert_eq!(numpy("np.zeros((4, 6)).T.reshape((3, 8), order='A')"), (Does::View, vec![], None));
    assert_eq!(numpy("np.zeros((4, 6)).reshape((3, 8), order='F')"), (Does::Copies, vec![(1, 24)], None));
    assert_eq!(numpy("np.zeros((4, 6)).T.ravel('F')"), (Does::View, vec![], None));
    assert_eq!(numpy("np.zeros((2, 3, 4)).swapaxes(0, 1).ravel('K')"), (Does::View, vec![], None));
    assert_eq!(numpy("np.zeros((2, 3, 4)).swapaxes(0, 1).ravel('A')"), (Does::Copies, vec![(1, 24)], None));
    let flat = numpy("np.zeros((4, 6)).T.flatten('F')");
    assert_eq!(flat.1, [(2, 24)]);
    // Found by random lines: an array of one axis becomes one of two in the order of columns, too.
    let back = numpy("x = np.arange(24)\nx.reshape((12, 2), order='F').ravel()");
    assert_eq!((back.0, back.1), (Does::Copies, vec![(2, 24)]));
    let sentence = |text: &str| {
        let chain: shapetracker::Chain = text.parse().unwrap();
        chain.advice(None).unwrap().libraries.swap_remove(1).sentence
    };
    assert_eq!(
        sentence("np.zeros((4, 6)).reshape((3, 8), order='F')"),
        "`.reshape((3, 8), order='F')` silently copies all 24 elements.",
    );
    assert_eq!(
        sentence("np.zeros((4, 6)).T.flatten('F')"),
        "`.flatten('F')` always copies: here all 24 elements; `.transpose(1, 0).reshape(24)` makes a view.",
    );
}

#[test]
fn what_is_rolled_is_a_new_array() {
    let numpy = |text: &str| advised(ArrayLibrary::NumPy, text);
    // Along an axis NumPy keeps the order of memory, and PyTorch makes a new tensor in row-major order.
    assert_eq!(numpy("np.roll(np.zeros((4, 6)).T, 2, 1).T.ravel()").1, [(5, 24)]);
    assert_eq!(pytorch("torch.zeros(4, 6).T.roll(2, 1).T.view(24)").0, Does::Raises);
    assert_eq!(pytorch("torch.zeros(4, 6).T.roll(2, 1).view(24)").1, [(5, 24)]);
    // Without an axis what does not lie in order is copied first.
    assert_eq!(numpy("np.roll(np.zeros((4, 6)).T, 2)").1, [(6, 48)]);
    assert_eq!(pytorch("torch.zeros(4, 6).roll(2)").1, [(5, 24)]);
    // Channels stay last where both parts have them last.
    let image = "torch.zeros(2, 4, 5, 3).permute(0, 3, 1, 2)";
    assert_eq!(pytorch(&format!("{image}.roll(1, 2).permute(0, 2, 3, 1).view(-1)")).0, Does::Copies);
    assert_eq!(pytorch(&format!("{image}.roll(0, 2).permute(0, 2, 3, 1).view(-1)")).0, Does::Raises);
}

#[test]
fn a_memory_format_copies_where_the_elements_lie_otherwise() {
    let image = "torch.zeros(2, 4, 5, 3).permute(0, 3, 1, 2)";
    for name in ["contiguous", "to"] {
        let last = format!(".{name}(memory_format=torch.channels_last)");
        assert_eq!(pytorch(&format!("{image}{last}.permute(0, 2, 3, 1).view(-1)")), (Does::View, vec![], None));
        let copied = pytorch(&format!("torch.zeros(2, 3, 4, 5){last}.permute(0, 2, 3, 1).view(-1)"));
        assert_eq!((copied.0, copied.1), (Does::Copies, vec![(2, 120)]), "{name}");
    }
    // `to` asks whether the order is the one suggested, and every second row of an image still has its channels last.
    let rows = format!("{image}[:, :, ::2]");
    assert_eq!(pytorch(&format!("{rows}.to(memory_format=torch.channels_last)")).1, []);
    assert_eq!(pytorch(&format!("{rows}.contiguous(memory_format=torch.channels_last)")).1, [(4, 60)]);
}

#[test]
fn a_view_of_a_type_of_another_size_is_a_layout_of_the_same_memory() {
    let view = |text: &str| {
        let chain: shapetracker::Chain = text.parse().unwrap_or_else(|err| panic!("{err}"));
        let advice = chain.advice(None).unwrap();
        let view = advice.view.unwrap();
        let copied: usize = advice.libraries.iter().map(|library| library.copied.len()).sum();
        (view.shape().to_vec(), view.strides().to_vec(), view.offset(), copied, advice.sentence)
    };
    // Smaller elements: other strides, and the offset, times their number; the last axis is as much longer.
    let smaller = view("torch.zeros(4, 6)[1:, 2:].view(torch.int16)");
    assert_eq!((smaller.0, smaller.1, smaller.2, smaller.3), (vec![3, 8], vec![12, 1], 16, 0));
    let sentence = "One view: shape (3, 8), strides (12, 1), offset 16. Strides and addresses count elements of int16.";
    assert_eq!(smaller.4, sentence);
    let larger = view("np.zeros((4, 6), np.int32)[::-1, 2:].view(np.float64)");
    assert_eq!((larger.0, larger.1, larger.2, larger.3), (vec![4, 2], vec![-3, 1], 10, 1));
    // And again, with operations in between; elements of as many bytes lie as before.
    let again = view("x = np.arange(24)\nx.view('i2').reshape(4, 24).view(dtype=np.half)[:, :8].view(np.int64).T");
    assert_eq!((again.0, again.1, again.2, again.3), (vec![2, 4], vec![1, 6], 0, 0));
    assert!(again.4.ends_with("count elements of int64."), "{}", again.4);
    // What is copied afterwards are the new elements.
    assert_eq!(pytorch("torch.zeros(4, 6).view(torch.int16).T.reshape(-1)").1, [(2, 48)]);
    let chain: shapetracker::Chain = "torch.zeros(5).view(torch.uint8)[4:]".parse().unwrap();
    assert_eq!((chain.base_len(None), chain.tracker().unwrap().buffer_len().unwrap()), (Some(20), 20));
    assert_eq!(chain.copy_in_words(shapetracker::Buffer::Base).unwrap(), "the buffer read as 20 of uint8");
}

#[test]
fn a_view_of_a_type_of_the_same_size_is_the_same_layout() {
    let view = "torch.zeros(4, 6).view(torch.int32)";
    assert_eq!(pytorch(&format!("{view}.T.view(24)")).0, Does::Raises);
    // The code names the type, too.
    let code = "torch.zeros(4, 6).view(torch.int32).transpose(-2, -1).contiguous().view(24)";
    assert_eq!(pytorch(&format!("{view}.mT.view(24)")).2.as_deref(), Some(code));
    let numpy = advised(ArrayLibrary::NumPy, "np.ones((4, 6), 'f8').view('<i8').flatten()[1:]");
    let code = "np.ones((4, 6), 'f8').view(np.int64).reshape(24)[1:]";
    assert_eq!(numpy, (Does::Copies, vec![(1, 24)], Some(code.into())));
    // Types are read of what says them: of functions that make arrays, and of conversions.
    for text in [
        "torch.arange(6).view(torch.float64)",
        "torch.zeros(2, 3, dtype=torch.half).view(torch.bfloat16)",
        "np.zeros((2, 3)).view(np.complex128, )[:1]",
        "np.zeros((2, 4), np.float32).astype(np.int64).view('f8')",
        "np.array(np.zeros(4), dtype=np.uint8).view(np.int8)",
        "x = np.zeros(4)\ny = x.view()\ny.view(dtype=np.uint64).T",
    ] {
        if let Err(err) = text.parse::<shapetracker::Chain>() {
            // Twice as many bytes, of three elements.
            assert!(
                text.contains("complex128") && err.message().contains("NumPy raises a ValueError"),
                "{text}: {err}"
            );
        }
    }
}

#[test]
fn found_by_random_lines_no_code_leaves_a_view_of_a_type_out() {
    // PyTorch's `as_strided` reads the memory, and what stood before it is no part of the operations.
    for view in ["view(torch.short)", "view(torch.int32)"] {
        let text = format!("torch.empty(8, 4).{view}.T.as_strided((3, 2), (2, 6)).view(6)[..., None].unsqueeze(1)");
        let (does, copied, code) = pytorch(&text);
        assert_eq!((does, copied, code), (Does::Raises, vec![(1, 6)], None), "{view}");
    }
}

#[test]
fn found_by_random_lines_strides_of_axes_of_size_1_that_are_not_known_decide_nothing() {
    // PyTorch makes the new axis before it takes the element, so that its stride is 64; and that of the other one is 4.
    for text in [
        "torch.arange(64)[None, -36].view(torch.int32)",
        "torch.zeros(3, 1, 4).select(2, 3).view(torch.int16)",
        "torch.zeros(4, 12)[:, None, 0:1].view(torch.int8).view(torch.complex64)",
    ] {
        let err = text.parse::<shapetracker::Chain>().unwrap_err();
        assert!(err.message().contains("strides of axes of size 1, which are not known after an index"), "{err}");
    }
    let image = "torch.zeros(1, 24, 1, 1)[None, ::2, 0].to(memory_format=torch.channels_last)";
    let err = image.parse::<shapetracker::Chain>().unwrap_err();
    assert!(err.message().starts_with("whether `to` copies depends on strides of axes of size 1"), "{err}");
    // One axis alone is joined to nothing, so that the other one keeps the stride 1 that it has.
    let flat = "torch.ones(1, 40, 1).reshape(40, 1).swapaxes(-1, 0).flatten(1, 1).view(torch.int64)";
    let err = flat.parse::<shapetracker::Chain>().unwrap_err();
    assert!(err.message().contains("the stride of axis 0 must be a multiple of 2, and it is 1"), "{err}");
    let raises = "torch.zeros(3, 1, 4).narrow(2, 3, 1).squeeze(2).view(torch.int16)".parse::<shapetracker::Chain>();
    assert!(raises.unwrap_err().message().contains("axis 1 has stride 4"));
}
