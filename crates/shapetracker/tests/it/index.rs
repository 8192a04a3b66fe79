//! Index expressions of trackers, against the addresses that they should give.

use std::cell::Cell;
use std::io::ErrorKind::NotFound;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::Value;
use shapetracker::expr::{Binary, Cost, Expr, Graph, IndexExpr, Linear, Node, Syntax, Term};
use shapetracker::{ErrorKind, ShapeTracker};

use crate::corpus::{for_each_line, for_each_line_in_sum, is_past_i64, movement, numbers, stack, views};
use crate::oracle::{Array, RawView, evaluate};
use crate::python::Counter;
use crate::random::{Op, cases, check, is_stressed};
use crate::values::{Block, Evaluator, python};
use shapetracker_testing::limited;

/// Both expressions as text, for a person to judge.
fn show(code: &IndexExpr) -> String {
    format!("index\n{}\nvalid\n{}", python(code.graph(), code.index()), python(code.graph(), code.valid()))
}

/// The library's own text.
fn text(code: &IndexExpr, expr: Expr) -> String {
    code.graph().text(expr, Syntax::Python).expect("index expressions are short enough to print")
}

/// All assignments to the variables of a tracker's expressions, row-major: none where a size is 0.
fn blocks(code: &IndexExpr) -> impl Iterator<Item = Block> + use<> {
    Block::all(code.extents().iter().map(|&size| (0, size)).collect())
}

/// Says where the expressions give another address than the array has, or misjudge whether it has one.
fn same_addresses(code: &IndexExpr, array: &Array) -> Result<(), String> {
    if code.extents() != array.shape {
        return Err(format!("the shape is {:?}, and should be {:?}", code.extents(), array.shape));
    }
    for (axis, (variable, &size)) in code.graph().variables().iter().zip(&array.shape).enumerate() {
        if variable.name != format!("idx{axis}") || size > 0 && variable.range != (0..size) {
            return Err(format!("{variable:?} is not the index of axis {axis}"));
        }
    }
    let mut evaluator = Evaluator::new(code.graph(), &[code.index(), code.valid()]);
    let mut cells = array.cells.iter();
    for block in blocks(code) {
        evaluator.run(&block)?;
        let pairs = evaluator.column(code.index()).iter().zip(evaluator.column(code.valid()));
        for (at, ((index, valid), cell)) in pairs.zip(&mut cells).enumerate() {
            let found = (*valid == 1).then_some(*index);
            if found != *cell {
                let assignment = block.assignment(at);
                return Err(format!("{assignment:?} reads {found:?}, and should read {cell:?}:\n{}", show(code)));
            }
        }
    }
    Ok(())
}

/// Whether a number multiplies a sum.
fn multiplies_sums(code: &IndexExpr) -> bool {
    let graph = code.graph();
    let is_sum = |expr| matches!(graph.node(expr), Node::Binary(Binary::Add | Binary::Sub, ..));
    let parts = graph.parts(&[code.index(), code.valid()]);
    parts.iter().any(|part| matches!(graph.node(*part), Node::Binary(Binary::Mul, a, b) if is_sum(a) || is_sum(b)))
}

/// Says where the access gives another address than the array has, misjudges whether it has one, or calls an affine map
/// or a stride what is none. The forms are evaluated here, from their terms.
fn same_access(st: &ShapeTracker, array: &Array) -> Result<(), String> {
    let access = st.access().map_err(|error| format!("{st:?}: {error}"))?;
    let value = |form: &Linear, index: &[i64], floors: &[i128]| {
        let terms = form.terms().iter().map(|(term, by)| match term {
            Term::Variable(axis) => i128::from(*by) * i128::from(index[*axis]),
            Term::Floor(at) => i128::from(*by) * floors[*at],
        });
        terms.sum::<i128>() + i128::from(form.constant())
    };
    let (affine, strides) = (access.affine(), (0..array.shape.len()).map(|axis| access.stride(axis)));
    let strides: Vec<Option<i64>> = strides.collect();
    let mut wrong = None;
    array.for_each_index(|index, cell| {
        let mut floors: Vec<i128> = Vec::new();
        for floor in access.floors() {
            let (n, d) = (value(&floor.numerator, index, &floors), i128::from(floor.divisor));
            floors.push(n / d - i128::from(n % d < 0));
        }
        let holds = access.conditions().iter().all(|condition| {
            let value = value(&condition.form, index, &floors);
            condition.least.is_none_or(|least| value >= least.into())
                && condition.most.is_none_or(|most| value <= most.into())
        });
        let found = access.address().filter(|_| holds).map(|form| value(form, index, &floors));
        let mapped = affine.as_ref().map(|map| {
            let moved = map.strides().iter().zip(index).map(|(stride, i)| i128::from(*stride) * i128::from(*i));
            i128::from(map.offset()) + moved.sum::<i128>()
        });
        let agrees = cell.is_none() || mapped.is_none() || mapped == cell.map(i128::from);
        let itself = access.forms().evaluate(index);
        if found != cell.map(i128::from) || itself != found || !agrees {
            wrong.get_or_insert_with(|| format!("{index:?} reads {found:?}, and should read {cell:?}:\n{access:?}"));
        }
        for (axis, stride) in strides.iter().enumerate() {
            let Some(stride) = stride else { continue };
            let mut first = index.to_vec();
            first[axis] = 0;
            // Elements of a line that are there lie at the stride from each other, wherever they are.
            if let (Some(here), Some(there)) = (cell, array.at(&first))
                && i128::from(here) - i128::from(there) != i128::from(*stride) * i128::from(index[axis])
            {
                wrong.get_or_insert_with(|| format!("{index:?} is not {stride} steps from {first:?}:\n{access:?}"));
            }
        }
    });
    wrong.map_or(Ok(()), Err)
}

/// Whether an expression contains a division or modulo, by a power of two or not.
fn divides(graph: &Graph, expr: Expr) -> bool {
    let division = |part: &Expr| matches!(graph.node(*part), Node::Binary(Binary::Div | Binary::Mod, ..));
    graph.parts(&[expr]).iter().any(division)
}

/// Whether some affine function with whole coefficients gives all addresses; `false` also where that is hard to tell.
fn is_affine(array: &Array) -> bool {
    // Gauss's elimination, one equation at a time: the coefficients, the constant, and the address.
    let columns = array.shape.len() + 1;
    let mut rows: Vec<Vec<i128>> = Vec::new();
    let mut consistent = true;
    array.for_each_index(|index, cell| {
        let Some(address) = cell.filter(|_| consistent) else { return };
        let mut row: Vec<i128> = index.iter().copied().chain([1, address]).map(i128::from).collect();
        for known in &rows {
            let pivot = known.iter().position(|x| *x != 0).expect("a row that is kept is not zero");
            let (keep, take) = (known[pivot], row[pivot]);
            row.iter_mut().zip(known).for_each(|(x, k)| *x = *x * keep - k * take);
        }
        let Some(divisor) = row.iter().filter(|x| **x != 0).map(|x| x.abs()).reduce(gcd) else { return };
        row.iter_mut().for_each(|x| *x /= divisor);
        consistent &= row[..columns].iter().any(|x| *x != 0);
        rows.push(row);
    });
    // Back substitution with every free coefficient zero.
    let mut solution = vec![0; columns];
    consistent
        && rows.iter().rev().all(|row| {
            let pivot = row.iter().position(|x| *x != 0).expect("a row that is kept is not zero");
            let rest = row[columns] - (0..columns).map(|at| row[at] * solution[at]).sum::<i128>();
            solution[pivot] = rest / row[pivot];
            rest % row[pivot] == 0
        })
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// What is counted about the expressions of many trackers.
#[derive(Default)]
struct Tally {
    trackers: Cell<usize>,
    stacked: Cell<usize>,
    affine: Cell<usize>,
    affine_but_divided: Cell<usize>,
    weight: Cell<usize>,
}

impl Tally {
    fn check(&self, st: &ShapeTracker, array: &Array) -> Result<(), String> {
        let code = st.index_expr().map_err(|error| format!("{st:?}: {error}"))?;
        same_addresses(&code, array)?;
        same_access(st, array)?;
        let alone = st.multiplied_out_expr().map_err(|error| format!("{st:?}: {error}"))?;
        same_addresses(&alone, array)?;
        if multiplies_sums(&alone) {
            return Err(format!("a sum is multiplied as a whole:\n{}", show(&alone)));
        }
        let add = |cell: &Cell<usize>, more: usize| cell.set(cell.get() + more);
        add(&self.trackers, 1);
        add(&self.weight, code.cost().weight);
        let constant = matches!(code.graph().node(code.valid()), Node::Bool(_));
        let masked = array.cells.iter().filter(|cell| cell.is_none()).count();
        let (all, none) = (masked == 0, masked == array.cells.len());
        if all != none && !constant {
            return Err(format!("the condition is the same at every index, but not written so:\n{}", show(&code)));
        }
        if st.views().len() == 1 {
            let whole = st.views()[0].mask().is_none();
            if divides(code.graph(), code.index()) || divides(code.graph(), code.valid()) || whole && !constant {
                return Err(format!(
                    "one view needs no division, and a condition only where it is masked:\n{}",
                    show(&code)
                ));
            }
            return Ok(());
        }
        add(&self.stacked, 1);
        if is_affine(array) {
            add(&self.affine, 1);
            add(&self.affine_but_divided, usize::from(divides(code.graph(), code.index())));
        }
        Ok(())
    }

    fn print(&self, what: &str) {
        let Tally { trackers, stacked, affine, affine_but_divided, weight } = self;
        eprintln!(
            "{} {what}, weight {}; {} of more than one view: {} affine where valid, of whose indices {} divide",
            trackers.get(),
            weight.get(),
            stacked.get(),
            affine.get(),
            affine_but_divided.get(),
        );
        // Few of them have valid indices that leave the steps open.
        let few = affine_but_divided.get() * 50 <= affine.get();
        assert!(few || is_stressed(), "too many affine addresses are divided for");
    }
}

#[test]
pub(crate) fn chains_of_operations_have_index_expressions_that_give_their_addresses() {
    let tally = Tally::default();
    check(
        cases::INDEX_CHAINS,
        |tape| tape.chain(),
        |chain| {
            let mut array = Array::contiguous(&chain.base);
            let mut st = ShapeTracker::contiguous(&chain.base).map_err(|error| error.to_string())?;
            for op in &chain.ops {
                array = op.on_array(&array);
                st = op.on_tracker(&st).map_err(|error| error.to_string())?;
            }
            tally.check(&st, &array)
        },
    );
    tally.print("chains");
}

#[test]
pub(crate) fn stacks_of_views_have_index_expressions_that_give_their_addresses() {
    let tally = Tally::default();
    check(
        cases::INDEX_STACKS,
        |tape| tape.stack(),
        |stack| {
            let st = ShapeTracker::from_views(stack.iter().map(RawView::view)).map_err(|error| error.to_string())?;
            tally.check(&st, &evaluate(stack))
        },
    );
    tally.print("stacks");
}

/// The tracker of a line of either file; `None` where it is past `i64`.
fn tracker(line: &Value) -> Result<Option<ShapeTracker>, String> {
    if line["views"].is_array() {
        let views = views(&stack(line))?;
        return views.map(ShapeTracker::from_views).transpose().map_err(|error| error.to_string());
    }
    let mut st = ShapeTracker::contiguous(numbers(&line["base"])).map_err(|error| error.to_string())?;
    for op in line["ops"].as_array().expect("operations") {
        st = match st.apply(&movement(op)) {
            Ok(st) => st,
            Err(error) if error.kind() == ErrorKind::Overflow && is_past_i64(numbers(&op[1])) => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
    }
    Ok(Some(st))
}

/// The CRC-32 of all addresses, as the corpus defines it.
fn crc32(code: &IndexExpr) -> Result<String, String> {
    let mut evaluator = Evaluator::new(code.graph(), &[code.index(), code.valid()]);
    let mut hasher = crc32fast::Hasher::new();
    let mut bytes = Vec::new();
    for block in blocks(code) {
        evaluator.run(&block)?;
        // Residues are looked at in the first block only.
        evaluator.residues = false;
        bytes.clear();
        for (index, valid) in evaluator.column(code.index()).iter().zip(evaluator.column(code.valid())) {
            bytes.extend_from_slice(&if *valid == 1 { *index } else { -1 }.to_le_bytes());
        }
        hasher.update(&bytes);
    }
    Ok(format!("{:08x}", hasher.finalize()))
}

/// The expressions of every line of a file give its recorded addresses.
fn recorded_addresses(name: &str, most_refused: usize) {
    let [refused, checked] = [0; 2].map(AtomicUsize::new);
    for_each_line(name, |line| {
        let Some(st) = tracker(line)? else {
            refused.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        };
        let code = st.index_expr().map_err(|error| format!("{st:?}: {error}"))?;
        let Some(expected) = line["crc32"].as_str() else { return Ok(()) };
        checked.fetch_add(1, Ordering::Relaxed);
        let found = crc32(&code)?;
        if found == expected { Ok(()) } else { Err(format!("crc32 {found} should be {expected}:\n{}", show(&code))) }
    });
    eprintln!("{name}: {checked:?} lines have the recorded addresses, {refused:?} are past i64");
    assert!(refused.into_inner() <= most_refused);
}

#[test]
fn recorded_chains_have_index_expressions_that_give_their_addresses() {
    recorded_addresses("chains", 2);
}

#[test]
fn recorded_stacks_have_index_expressions_that_give_their_addresses() {
    recorded_addresses("indexed", 1);
}

struct Compared {
    id: String,
    ours: Cost,
    reference: [usize; 2],
}

#[test]
fn recorded_stacks_have_index_expressions_no_dearer_than_the_reference() {
    let compared = Mutex::new(Vec::new());
    let in_sum = for_each_line_in_sum("indexed", |line| {
        if stack(line).len() < 2 {
            return Ok(());
        }
        let Some(st) = tracker(line)? else { return Ok(()) };
        let ours = st.index_expr().map_err(|error| format!("{st:?}: {error}"))?.cost();
        let reference = ["ops", "divmods"].map(|key| line["reference_cost"][key].as_u64().expect("a count") as usize);
        let id = line["id"].as_str().expect("an id").to_owned();
        compared.lock().expect("no check panics").push(Compared { id, ours, reference });
        Ok(())
    });
    let mut compared = compared.into_inner().expect("no check panics");
    compared.sort_by_key(|line| line.id[1..].parse::<usize>().expect("a number after the x"));
    let mut totals = [[0; 2]; 2];
    let mut dearer = Vec::new();
    for Compared { id, ours, reference } in &compared {
        let ours = [ours.ops, ours.divmods];
        for what in 0..2 {
            totals[what][0] += ours[what];
            totals[what][1] += reference[what];
        }
        if (0..2).any(|what| ours[what] > reference[what]) {
            dearer.push(format!(
                "{id}: ops {} and divmods {}, reference {} and {}",
                ours[0], ours[1], reference[0], reference[1]
            ));
        }
    }
    let [ops, divmods] = totals.map(|[ours, reference]| ours as f64 / reference as f64);
    eprintln!(
        "{} stacks of more than one view: ops {:?} ({ops:.3}), divmods {:?} ({divmods:.3})",
        compared.len(),
        totals[0],
        totals[1]
    );
    for (what, name) in ["ops", "divmods"].iter().enumerate() {
        // A reference of nothing that we match counts as the same.
        let ratio = |line: &Compared| match ([line.ours.ops, line.ours.divmods][what], line.reference[what]) {
            (0, 0) => 1.0,
            (ours, reference) => ours as f64 / reference as f64,
        };
        let mut ratios: Vec<f64> = compared.iter().map(ratio).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        let decile = |tenth: usize| format!("{:.2}", ratios[(ratios.len() - 1) * tenth / 10]);
        eprintln!("  deciles of {name} over the reference's: {}", (0..=10).map(decile).collect::<Vec<_>>().join(" "));
    }
    assert!(
        dearer.is_empty(),
        "{} of {} lines are dearer than the reference:\n{}",
        dearer.len(),
        compared.len(),
        dearer.join("\n")
    );
    // What is reached (0.70 was aimed at: see the DESIGN.md of `indexpr`), so that it does not get lost.
    assert!(!in_sum || ops <= 0.74, "ops are {ops:.3} of the reference's in total");
    assert!(!in_sum || divmods <= 0.22, "divmods are {divmods:.3} of the reference's in total");
}

/// The mask is on a part of the address. Compared as a part, with a smaller bound, it shares three operations with the
/// address; compared with all that lies below its axis, it shares nine. The reference needs 12 in all.
#[test]
fn found_by_an_audit_a_mask_shares_the_longest_sum_with_the_address() {
    let raw = |shape: &[i64], strides: &[i64], mask: Option<&[(i64, i64)]>| RawView {
        shape: shape.to_vec(),
        strides: strides.to_vec(),
        offset: 0,
        mask: mask.map(<[_]>::to_vec),
    };
    let padded = raw(&[2, 8, 59, 50], &[22800, 2850, 50, 1], Some(&[(0, 2), (0, 8), (0, 57), (0, 50)]));
    let stack = [padded, raw(&[4, 19, 16, 3, 3, 4], &[12, 150, 2950, 100, 2, 3], None)];
    let st = ShapeTracker::from_views(stack.iter().map(RawView::view)).unwrap();
    let code = st.index_expr().unwrap();
    assert_eq!((code.cost().ops, code.cost().divmods), (12, 0), "{}", show(&code));
    same_addresses(&code, &evaluate(&stack)).unwrap();
    // What is read as data keeps the shorter form, of which more can be seen.
    same_access(&st, &evaluate(&stack)).unwrap();
    assert_eq!(st.access().unwrap().conditions()[0].form.to_string(), "i1*3 + i3*2");
}

/// The cost of every recorded line is what an independent reading of its printed text counts; where there is a
/// Python, what Python's own reading counts.
#[test]
fn costs_are_those_of_the_printed_expressions() {
    let printed = Mutex::new(Vec::new());
    for name in ["indexed", "chains"] {
        for_each_line(name, |line| {
            let Some(st) = tracker(line)? else { return Ok(()) };
            let code = st.index_expr().map_err(|error| format!("{st:?}: {error}"))?;
            let texts = [code.index(), code.valid()].map(|expr| text(&code, expr));
            let (mut counter, cost) = (Counter::default(), code.cost());
            texts.iter().try_for_each(|text| counter.read(text))?;
            if (counter.ops, counter.divmods) != (cost.ops, cost.divmods) {
                let (ops, divmods) = (counter.ops, counter.divmods);
                return Err(format!("{cost:?}, and the text has {ops} and {divmods}:\n{}\n{}", texts[0], texts[1]));
            }
            let id = line["id"].as_str().expect("an id").to_owned();
            printed.lock().expect("no check panics").push((
                id,
                texts.join("\t"),
                format!("{} {}", cost.ops, cost.divmods),
            ));
            Ok(())
        });
    }
    let printed = printed.into_inner().expect("no check panics");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/index_cost.py");
    let lines: String = printed.iter().map(|(_, texts, _)| format!("{texts}\n")).collect();
    let output = match limited::output(Command::new("python3").arg(script), lines.as_bytes()) {
        Ok(output) => output,
        Err(error) if error.kind() != NotFound => panic!("python3: {error}"),
        Err(_) => return eprintln!("Python's own reading is skipped: there is no python3"),
    };
    assert!(output.status.success(), "index_cost.py fails");
    let output = String::from_utf8(output.stdout).expect("the output is text");
    assert_eq!(output.lines().count(), printed.len());
    for ((id, texts, cost), found) in printed.iter().zip(output.lines()) {
        assert_eq!(cost, found, "{id}: ops and divmods of {texts}");
    }
    eprintln!("Python counts the same in {} pairs of expressions", printed.len());
}

/// The value of an expression that is written down here, at all indices of a tracker.
fn same_values(code: &IndexExpr, formula: impl Fn(&mut Graph, &[Expr]) -> Result<Expr, shapetracker::expr::Error>) {
    let mut graph = code.graph().clone();
    let indices: Vec<Expr> = (0..code.extents().len())
        .map(|axis| graph.variable(&format!("idx{axis}"), 0..code.extents()[axis]).expect("it exists"))
        .collect();
    let expected = formula(&mut graph, &indices).expect("every value fits i64");
    let mut evaluator = Evaluator::new(&graph, &[code.index(), code.valid(), expected]);
    for block in blocks(code) {
        evaluator.run(&block).unwrap();
        assert_eq!(evaluator.column(code.index()), evaluator.column(expected), "{}", show(code));
        assert!(evaluator.column(code.valid()).iter().all(|valid| *valid == 1));
    }
}

mod sources {
    use super::*;

    fn cost(code: &IndexExpr) -> (usize, usize) {
        (code.cost().ops, code.cost().divmods)
    }

    /// The shapetracker notes: `((ridx0*2)+ridx1)`.
    #[test]
    fn a_two_by_two_view_is_idx0_times_2_plus_idx1() {
        let code = ShapeTracker::contiguous([2, 2]).unwrap().index_expr().unwrap();
        same_values(&code, |graph, idx| {
            let two = graph.int(2);
            let rows = graph.binary(Binary::Mul, idx[0], two)?;
            graph.binary(Binary::Add, rows, idx[1])
        });
        assert_eq!(cost(&code), (2, 0));
        assert_eq!(text(&code, code.index()).replace(' ', ""), "idx0*2+idx1");
        assert_eq!(text(&code, code.valid()), "True");
    }

    /// The shapetracker notes: `(((((ridx0*2)+ridx1)%3)*2)+(((ridx0*2)+ridx1)//3))`.
    #[test]
    fn three_by_two_turned_and_reshaped() {
        let st = ShapeTracker::contiguous([3, 2]).unwrap().permute([1, 0]).unwrap().reshape([3, 2]).unwrap();
        let code = st.index_expr().unwrap();
        same_values(&code, |graph, idx| {
            let (two, three) = (graph.int(2), graph.int(3));
            let rows = graph.binary(Binary::Mul, idx[0], two)?;
            let position = graph.binary(Binary::Add, rows, idx[1])?;
            let rest = graph.binary(Binary::Mod, position, three)?;
            let rest = graph.binary(Binary::Mul, rest, two)?;
            let quotient = graph.binary(Binary::Div, position, three)?;
            graph.binary(Binary::Add, rest, quotient)
        });
        let (ops, divmods) = cost(&code);
        assert!(ops <= 6 && divmods <= 1, "{}", show(&code));
    }

    /// How dimension merging works: `((idx0*4)+(idx1*2)+idx2)`, and `idx2` for two elements broadcast to eight.
    #[test]
    fn cubes() {
        let code = ShapeTracker::contiguous([2, 2, 2]).unwrap().index_expr().unwrap();
        same_values(&code, |graph, idx| {
            let (four, two) = (graph.int(4), graph.int(2));
            let planes = graph.binary(Binary::Mul, idx[0], four)?;
            let rows = graph.binary(Binary::Mul, idx[1], two)?;
            let sum = graph.binary(Binary::Add, planes, rows)?;
            graph.binary(Binary::Add, sum, idx[2])
        });
        assert_eq!(cost(&code), (4, 0));
        let st = ShapeTracker::contiguous([2]).unwrap().reshape([1, 1, 2]).unwrap().expand([2, 2, 2]).unwrap();
        let code = st.index_expr().unwrap();
        same_values(&code, |_, idx| Ok(idx[2]));
        assert_eq!(cost(&code), (0, 0));
    }

    /// A simplifier without its guard turned `((z*3)/2)*2` into `z*3`.
    #[test]
    fn dividing_and_multiplying_again_is_not_nothing() {
        let mut graph = Graph::new();
        let (z, three, two) = (graph.variable("z", 0..10).unwrap(), graph.int(3), graph.int(2));
        let product = graph.binary(Binary::Mul, z, three).unwrap();
        let half = graph.binary(Binary::Div, product, two).unwrap();
        let whole = graph.binary(Binary::Mul, half, two).unwrap();
        let simple = graph.simplify(whole);
        let mut evaluator = Evaluator::new(&graph, &[simple]);
        evaluator.run(&Block::some(&(0..10).map(|z| vec![z]).collect::<Vec<_>>())).unwrap();
        assert_eq!(evaluator.column(simple), [0, 2, 6, 8, 12, 14, 18, 20, 24, 26]);
    }
}

/// 64 operations that leave as many views as can be; says what the expressions cost, and how long they took.
fn adversarial(what: &str, base: &[i64], round: &[Op]) -> Result<(), String> {
    let mut array = Array::contiguous(base);
    let mut st = ShapeTracker::contiguous(base).unwrap();
    for op in round.iter().cycle().take(64) {
        array = op.on_array(&array);
        st = op.on_tracker(&st).unwrap();
    }
    let start = Instant::now();
    let code = st.index_expr().map_err(|error| format!("{what}: {} views: {error}", st.views().len()))?;
    let took = start.elapsed();
    same_addresses(&code, &array).map_err(|why| format!("{what}: {why}"))?;
    let (views, cost) = (st.views().len(), code.cost());
    let parts = code.graph().parts(&[code.index(), code.valid()]).len();
    eprintln!("{what}: {views} views, {cost:?}, {parts} of {} parts, {took:.2?}", code.graph().len());
    // Per view and axis: a quotient, a remainder, a product, a sum, and two comparisons and what joins them.
    if cost.ops > views * base.len() * 7 {
        return Err(format!("{what}: {cost:?} for {views} views"));
    }
    let tried = code.graph().len();
    if tried > 100_000 { Err(format!("{what}: {tried} expressions were tried")) } else { Ok(()) }
}

#[test]
fn long_chains_have_expressions_that_grow_no_faster_than_the_chain() {
    let mut found: Vec<String> = Vec::new();
    let turn = || Op::Permute(vec![1, 0]);
    found.extend(
        adversarial(
            "turned and reshaped",
            &[6, 35],
            &[turn(), Op::Reshape(vec![10, 21]), turn(), Op::Reshape(vec![6, 35])],
        )
        .err(),
    );
    found.extend(
        adversarial(
            "turned, reshaped, and shifted by a pad and a shrink",
            &[6, 35],
            &[
                turn(),
                Op::Reshape(vec![10, 21]),
                Op::Pad(vec![(1, 0), (0, 1)]),
                Op::Shrink(vec![(0, 10), (1, 22)]),
                turn(),
                Op::Reshape(vec![6, 35]),
                Op::Pad(vec![(0, 1), (1, 0)]),
                Op::Shrink(vec![(1, 7), (0, 35)]),
            ],
        )
        .err(),
    );
    found.extend(
        adversarial(
            "turned backwards and reshaped",
            &[6, 35],
            &[
                turn(),
                Op::Reshape(vec![10, 21]),
                Op::Flip(vec![0]),
                turn(),
                Op::Reshape(vec![6, 35]),
                Op::Flip(vec![1]),
            ],
        )
        .err(),
    );
    found.extend(
        adversarial(
            "four axes in another order",
            &[2, 3, 5, 7],
            &[Op::Permute(vec![3, 1, 0, 2]), Op::Reshape(vec![2, 3, 5, 7])],
        )
        .err(),
    );
    found.extend(
        adversarial(
            "an axis cut, every other piece kept, and padded back",
            &[210],
            &[
                Op::Pad(vec![(1, 5)]),
                Op::Reshape(vec![12, 18]),
                Op::Permute(vec![1, 0]),
                Op::Reshape(vec![216]),
                Op::Shrink(vec![(3, 213)]),
            ],
        )
        .err(),
    );
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// What reviewing found, each a tracker or an expression that was refused, wrong or endless once.
mod found {
    use super::*;
    use shapetracker::View;

    fn simplified(text: &str, variables: &[(&str, std::ops::Range<i64>)]) -> [Vec<i64>; 2] {
        let mut graph = Graph::new();
        for (name, range) in variables {
            graph.variable(name, range.clone()).unwrap();
        }
        let expr = graph.parse(text, Syntax::Python).unwrap();
        let simple = graph.simplify(expr);
        [expr, simple].map(|expr| graph.values(expr).unwrap())
    }

    #[test]
    fn a_modulo_of_a_modulo_whose_numerator_was_replaced() {
        let text = "((a % 12 + c) % 6 + d) - ((a % 12 + c) % 6 + d) // 3 * 3";
        let [before, after] = simplified(text, &[("a", 0..100), ("c", 0..5), ("d", 0..5)]);
        assert_eq!(before, after);
    }

    #[test]
    fn a_choice_between_numbers_too_far_apart_for_a_class() {
        let text = "((4611686018427387908 if x == 0 else -4611686018427387904) == -4611686018427387904)";
        let [before, after] = simplified(text, &[("x", 0..2)]);
        assert_eq!(before, [0, 1]);
        assert_eq!(before, after);
    }

    #[test]
    fn bounds_past_what_a_division_leaves_do_not_come_round() {
        let text = "4 <= ((x + y) % 9 - 3) - ((x + y) % 9 - 3) // 7 * 7 < 9";
        let [before, after] = simplified(text, &[("x", 0..2), ("y", -5..1)]);
        assert_eq!(before, after);
        let text = "18 <= (x*12 + y*28 + z*4 - 7) % 28 < 26 and (x*12 + y*28 + z*4 - 7) // 84 % 4 < 1";
        let [before, after] = simplified(text, &[("x", 0..2), ("y", 5..11), ("z", 0..21)]);
        assert_eq!(before, after);
    }

    #[test]
    fn conditions_that_share_their_parts_are_read_once() {
        let mut graph = Graph::new();
        let x = graph.variable("x", 0..100).unwrap();
        let mut condition = graph.within(x, 1, 99).unwrap();
        for k in 0..60 {
            let (a, b) = (graph.within(x, 1 + k % 7, 90).unwrap(), graph.within(x, 2, 80 + k % 5).unwrap());
            let left = graph.binary(Binary::And, condition, a).unwrap();
            let right = graph.binary(Binary::And, condition, b).unwrap();
            condition = graph.binary(Binary::And, left, right).unwrap();
        }
        let simple = graph.simplify(condition);
        assert_eq!(graph.text(simple, Syntax::Python).unwrap(), "7 <= x < 80");
    }

    #[test]
    fn numbers_without_an_opposite_are_no_panic() {
        let scalar: ShapeTracker = View::new([], [], i64::MIN, None).unwrap().into();
        let pair = View::new([2], [i64::MIN], 0, None).unwrap();
        let one = ShapeTracker::from(pair.clone());
        for st in [scalar, one] {
            let code = st.index_expr().unwrap();
            let values = code.graph().values(code.index()).unwrap();
            assert_eq!(values.into_iter().map(Some).collect::<Vec<_>>(), st.addresses().collect::<Vec<_>>());
        }
    }

    #[test]
    fn high_stacks_of_masks_have_expressions() {
        let mut st = ShapeTracker::contiguous([6, 35]).unwrap();
        for k in 0..24 {
            st = st.permute([1, 0]).unwrap();
            if k % 2 == 0 {
                st = st.pad([(1, 0), (0, 1)]).unwrap();
                st = st.reshape([st.numel()]).unwrap().shrink([(3, 213)]).unwrap();
            }
            st = st.reshape(if k % 2 == 0 { [10, 21] } else { [6, 35] }).unwrap();
        }
        let code = st.index_expr().unwrap();
        let [index, valid] = [code.index(), code.valid()].map(|expr| code.graph().values(expr).unwrap());
        let found = index.into_iter().zip(valid).map(|(index, valid)| (valid == 1).then_some(index));
        assert!(found.eq(st.addresses()));
    }

    #[test]
    fn many_axes_have_expressions() {
        let mut st = ShapeTracker::contiguous([2, 3].repeat(20)).unwrap();
        for k in 0..4 {
            let axes: Vec<i64> = (0..40).map(|axis| (axis * 7 + 3) % 40).collect();
            st = st.permute(axes).unwrap().reshape(if k % 2 == 0 { [3, 2] } else { [2, 3] }.repeat(20)).unwrap();
        }
        let code = st.index_expr().unwrap();
        for k in 0..50u64 {
            let index: Vec<i64> = (0..40)
                .map(|axis| ((k * 37 + axis * k * 11 + axis) % st.shape()[axis as usize] as u64) as i64)
                .collect();
            assert_eq!(Some(code.graph().evaluate(code.index(), &index).unwrap()), st.address(&index));
        }
    }

    #[test]
    fn coefficients_near_the_end_of_i64_are_no_endless_search() {
        let st = ShapeTracker::from_views([
            View::new(
                [1223908178988161, 4, 942, 1, 1],
                [4, 0, 4, 0, 0],
                1646244236353354887,
                Some(&[(0, 1223908178988161), (0, 1), (0, 942), (0, 1), (0, 1)]),
            )
            .unwrap(),
            View::new([1821, 913303489, 1024, 7], [0, 0, 7, 1], 1886, Some(&[(0, 1), (0, 1), (0, 1024), (0, 7)]))
                .unwrap(),
            View::new([2808077, 13298, 1518, 24, 1], [4245356544, -64779, 33, 1, 0], 861366363, None).unwrap(),
        ])
        .unwrap();
        let code = st.index_expr().unwrap();
        let index = vec![0; st.rank()];
        let [at, valid] = [code.index(), code.valid()].map(|expr| code.graph().evaluate(expr, &index).unwrap());
        assert_eq!((valid == 1).then_some(at), st.address(&index));
    }

    #[test]
    fn a_modulo_that_no_machine_computes_is_refused() {
        let mut graph = Graph::new();
        let (low, minus) = (graph.int(i64::MIN), graph.int(-1));
        assert_eq!(graph.binary(Binary::Mod, low, minus).unwrap_err().kind(), shapetracker::expr::ErrorKind::Overflow);
    }
}
