//! CUDA kernels that move more than an element at a time: four side by side, or a tile through shared memory.

use shapetracker_base::int::div_ceil_64;

use super::clike::{Binds, Root, Text, Writer};
use super::lower::{Dialect, Program};
use super::parts::{Valid, digit, used_loops};
use super::spread::{Spread, digits};
use crate::graph::{Binary, Expr, Graph};
use crate::index::IndexExpr;
use crate::quasi::{QuasiAffine, Term};

/// Rows and columns of a tile: a warp has a thread for each.
const SIDE: i64 = 32;
/// Threads of a block that moves tiles, each of which moves `SIDE * SIDE / THREADS` elements of one.
const THREADS: i64 = 256;
/// The fewest indices along each side for which there are tiles, so that there are never more tiles than blocks in a grid of as
/// many threads as there are elements: a side makes at most a 16th as many tiles as it has indices, both together a 256th.
const LEAST: i64 = 16;
/// What a kernel of tiles calls its own.
const OWN: [&str; 13] =
    ["in", "out", "tile", "block", "lane", "warp", "k", "row", "row0", "column", "column0", "valid", "index"];

/// The steps of an index along the loops, without floors.
struct Steps<'a> {
    code: &'a IndexExpr,
    forms: QuasiAffine,
}

impl<'a> Steps<'a> {
    fn of(code: &'a IndexExpr) -> Option<Steps<'a>> {
        let forms = code.graph.quasi_affine(code.index, code.valid).ok()??;
        Some(Steps { code, forms })
    }

    /// How far the index moves with each step along an axis; `None` where that differs.
    fn along(&self, axis: usize) -> Option<i64> {
        let value = self.forms.value()?;
        (!self.forms.floors_depend_on(value, axis)).then(|| value.coefficient(Term::Variable(axis)))
    }

    /// The axes of more than one element, outermost first.
    fn axes(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        (0..self.code.extents.len()).filter(|axis| self.code.extents[*axis] != 1)
    }
}

/// The same elements in the same order with axes cut in two wherever a floor cuts them, so that the floor becomes the index of the
/// outer one; and what the axes are made of. `None` where there is nothing to cut.
// Proved: `axis_cut` in `proofs/Rounding.v`.
pub(super) fn cut(code: &IndexExpr) -> Option<(IndexExpr, Vec<String>)> {
    let forms = code.graph.quasi_affine(code.index, code.valid).ok()??;
    let (axis, divisor) = forms.floors().iter().find_map(|floor| match floor.numerator.terms() {
        [(Term::Variable(axis), 1)] if floor.numerator.constant() == 0 && code.extents[*axis] % floor.divisor == 0 => {
            Some((*axis, floor.divisor))
        }
        _ => None,
    })?;
    let name = &code.graph.variables().get(axis)?.name;
    let (mut graph, mut loops, mut extents) = (Graph::new(), Vec::new(), Vec::new());
    for (place, (variable, &extent)) in code.graph.variables().iter().zip(&code.extents).enumerate() {
        if place != axis {
            extents.push(extent);
            loops.push(graph.variable(&variable.name, variable.range.clone()).ok()?);
            continue;
        }
        let outer = graph.variable(&format!("{name}_0"), 0..extent / divisor).ok()?;
        let inner = graph.variable(&format!("{name}_1"), 0..divisor).ok()?;
        let by = graph.int(divisor);
        let whole = graph.binary(Binary::Mul, outer, by).ok()?;
        loops.push(graph.binary(Binary::Add, whole, inner).ok()?);
        extents.extend([extent / divisor, divisor]);
    }
    let Spread { graph, valid, index } = Spread::new(code, graph, &loops).ok()?.simplified();
    let code = IndexExpr::new(graph, index, valid, extents).ok()?;
    let (code, more) = cut(&code).unwrap_or((code, Vec::new()));
    Some((code, [vec![format!("{name} = {name}_0 * {divisor} + {name}_1")], more].concat()))
}

/// Whether four elements, the first of which has a multiple of four as its number, always read four that are side by side,
/// the first of them at a multiple of four, or none at all.
// Proved: `groups_are_whole` in `proofs/Rounding.v`.
pub(super) fn reads_fours(code: &IndexExpr) -> bool {
    let fours = || {
        let steps = Steps::of(code)?;
        let axis = steps.axes().next_back()?;
        let size = code.extents[axis];
        if size % 4 != 0 || steps.along(axis) != Some(1) {
            return None;
        }
        // A condition cuts no four in two.
        for condition in steps.forms.conditions() {
            if !steps.forms.depends_on(&condition.form, axis) {
                continue;
            }
            let whole = |bound: i128| (bound - i128::from(condition.form.constant())) % 4 == 0;
            let (least, most) = (condition.least.map(i128::from), condition.most.map(|most| i128::from(most) + 1));
            if condition.form.terms() != [(Term::Variable(axis), 1)] || !least.into_iter().chain(most).all(whole) {
                return None;
            }
        }
        let mut graph = Graph::new();
        let mut loops = Vec::new();
        for (place, variable) in code.graph.variables().iter().enumerate() {
            loops.push(if place == axis {
                let (fours, four) = (graph.variable(&variable.name, 0..size / 4).ok()?, graph.int(4));
                graph.binary(Binary::Mul, fours, four).ok()?
            } else {
                graph.variable(&variable.name, variable.range.clone()).ok()?
            });
        }
        let spread = Spread::new(code, graph, &loops).ok()?;
        let (modulus, residue) = spread.graph.congruence(spread.index);
        (modulus % 4 == 0 && residue % 4 == 0).then_some(())
    };
    fours().is_some()
}

/// What a kernel that moves four elements at a time expects of whoever starts it.
// No rule: it divides a number of threads.
pub(super) fn launch_of_fours(elements: i64) -> String {
    let threads = elements / 4;
    format!(
        "// Start at least {threads} threads: each moves four elements. Both buffers must begin at a multiple of 16 bytes.\n"
    )
}

/// The lines with which a thread writes four elements.
pub(super) fn stores_of_fours(valid: Valid) -> Vec<String> {
    let read = "*(const float4 *)&in[index]";
    let value = match valid {
        Valid::All => read.to_owned(),
        _ => format!("valid ? {read} : make_float4(0.0f, 0.0f, 0.0f, 0.0f)"),
    };
    vec![format!("*(float4 *)&out[element] = {value};")]
}

/// How elements are laid out in tiles: along the columns of a tile they are neighbours where they are read, along its rows
/// where they are written.
struct Tiles {
    /// The axes that the number of a row counts, in row-major order: the innermost ones of the output.
    rows: Vec<usize>,
    /// The axes that the number of a column counts: those of the smallest steps.
    columns: Vec<usize>,
}

impl Tiles {
    /// Where neighbours that are written are not read side by side, and there are others that are.
    fn of(code: &IndexExpr) -> Option<Tiles> {
        let steps = Steps::of(code)?;
        let innermost = steps.axes().next_back()?;
        if steps.along(innermost)?.unsigned_abs() <= 1 {
            return None;
        }
        let (mut columns, mut width) = (Vec::new(), 1);
        while width < SIDE {
            let continues = |axis: &usize| {
                *axis != innermost && !columns.contains(axis) && steps.along(*axis).map(i64::abs) == Some(width)
            };
            let Some(next) = steps.axes().filter(continues).max_by_key(|axis| code.extents[*axis]) else { break };
            columns.insert(0, next);
            width = width.checked_mul(code.extents[next])?;
        }
        let (mut rows, mut height) = (Vec::new(), 1_i64);
        for axis in steps.axes().rev() {
            if height >= SIDE || columns.contains(&axis) {
                break;
            }
            rows.insert(0, axis);
            height = height.checked_mul(code.extents[axis])?;
        }
        (width >= LEAST && height >= LEAST).then_some(Tiles { rows, columns })
    }
}

/// A kernel that moves tiles through shared memory, so that reading and writing both go along neighbours. `None` where the kernel
/// of one element for each thread serves as well, and where there are no more than the blocks that a grid can have.
// No rule: it divides numbers of tiles.
pub(super) fn tiled(code: &IndexExpr, parts: &[String], elements: i64) -> Option<String> {
    // More elements than there are numbers: their positions have none, either.
    if elements == i64::MAX {
        return None;
    }
    let Tiles { rows, columns } = Tiles::of(code)?;
    let variables = code.graph.variables();
    let sizes = |axes: &[usize]| axes.iter().map(|axis| code.extents[*axis]).collect::<Vec<i64>>();
    let (height, width) = (sizes(&rows).iter().product::<i64>(), sizes(&columns).iter().product::<i64>());
    let outer: Vec<usize> = (0..variables.len())
        .filter(|axis| code.extents[*axis] != 1 && !rows.contains(axis) && !columns.contains(axis))
        .collect();
    if outer.iter().any(|axis| OWN.contains(&&variables[*axis].name[..])) {
        return None;
    }

    // The index and the position in the output over the numbers of row and column and the other loops.
    let mut graph = Graph::new();
    let mut loops = vec![graph.int(0); variables.len()];
    for &axis in &outer {
        loops[axis] = graph.variable(&variables[axis].name, variables[axis].range.clone()).ok()?;
    }
    for (name, axes, size) in [("column", &columns, width), ("row", &rows, height)] {
        let number = graph.variable(name, 0..size).ok()?;
        for (axis, digit) in axes.iter().zip(digits(&mut graph, number, &sizes(axes)).ok()?) {
            loops[*axis] = digit;
        }
    }
    let mut position = graph.int(0);
    for (axis, index) in loops.iter().enumerate().filter(|(axis, _)| code.extents[*axis] != 1) {
        let stride = graph.int(code.extents[axis + 1..].iter().product());
        let part = graph.binary(Binary::Mul, *index, stride).ok()?;
        position = graph.binary(Binary::Add, position, part).ok()?;
    }
    let mut spread = Spread::new(code, graph, &loops).ok()?.simplified();
    let position = spread.graph.simplify(position);
    let Spread { graph, valid, index } = &spread;

    // Blocks, one for each tile.
    let (down, across) = (div_ceil_64(height, SIDE), div_ceil_64(width, SIDE));
    let tiles: Vec<i64> = sizes(&outer).into_iter().chain([down, across]).collect();
    let blocks = tiles.iter().try_fold(1_i64, |product, size| product.checked_mul(*size))?;
    if blocks > i32::MAX.into() {
        return None;
    }

    let is_guarded = Valid::of(graph, *valid) == Valid::Some;
    let read = if is_guarded { vec![("valid", *valid), ("index", *index)] } else { vec![("index", *index)] };
    let exprs: Vec<Expr> = read.iter().map(|(_, expr)| *expr).chain([position]).collect();
    let (program, places) = Program::with_elements(graph, &exprs, Dialect::Cuda, elements, false).ok()?;
    let number = program.type_of(true);
    let names: Vec<&str> = graph.variables().iter().map(|variable| &variable.name[..]).collect();
    let written = |roots: &[Root], inner: &str| {
        let levels: Vec<usize> = names.iter().map(|name| usize::from(*name == inner)).collect();
        let (statements, texts) =
            Writer { program: &program, variables: &names, levels: &levels, foreign: false }.write(roots);
        let at = |level: usize| {
            let here = statements.iter().filter(|statement| statement.level == level);
            here.map(|statement| statement.text.clone()).collect::<Vec<_>>()
        };
        (at(0), at(1), texts.into_iter().next().unwrap_or_else(|| Text::new("0", Binds::Primary)).text)
    };

    let mut lines = vec![
        (0, format!("__shared__ float tile[{SIDE}][{}]; // rows that begin in different banks", SIDE + 1)),
        (0, "const unsigned block = blockIdx.x;".into()),
        (0, format!("if (block >= {blocks}u) return;")),
        (0, format!("const unsigned lane = threadIdx.x % {SIDE}u, warp = threadIdx.x / {SIDE}u;")),
    ];
    let named: Vec<(&str, Expr)> = exprs.iter().map(|expr| ("", *expr)).collect();
    let used = used_loops(graph, &named);
    for (place, axis) in outer.iter().enumerate().filter(|(place, _)| used.contains(place)) {
        lines.push((0, format!("const {number} {} = {};", variables[*axis].name, digit("block", &tiles, place))));
    }
    for (place, (name, count)) in [("row0", down), ("column0", across)].into_iter().enumerate() {
        let begin = match count {
            1 => "0".into(),
            _ => format!(
                "{} * {SIDE}{}",
                digit("block", &tiles, outer.len() + place),
                if program.wide { "ull" } else { "u" }
            ),
        };
        lines.push((0, format!("const {number} {name} = {begin};")));
    }
    // What the threads of a warp do: each has its own index along one side, and all take the same steps along the other.
    let phase = |(own, own_size): (&str, i64), (step, step_size): (&str, i64), roots: &[Root], store: &str| {
        let (before, inside, at) = written(roots, step);
        let mut lines = vec![
            (0, if own_size % SIDE == 0 { "{".into() } else { format!("if ({own}0 + lane < {own_size}u) {{") }),
            (1, format!("const {number} {own} = {own}0 + lane;")),
        ];
        lines.extend(before.into_iter().map(|statement| (1, statement)));
        lines.push((1, format!("for (unsigned k = 0; k < {SIDE}u; k += {}u) {{", THREADS / SIDE)));
        lines.push((2, format!("const {number} {step} = {step}0 + warp + k;")));
        if step_size % SIDE != 0 {
            lines.push((2, format!("if ({step} >= {step_size}u) continue;")));
        }
        lines.extend(inside.into_iter().map(|statement| (2, statement)));
        lines.extend([(2, store.replace("AT", &at)), (1, "}".into()), (0, "}".into())]);
        lines
    };
    let (row, column) = (("row", height), ("column", width));
    let named = read.iter().zip(&places).map(|((name, _), place)| Root::Named(name, *place));
    let value = if is_guarded { "valid ? in[index] : 0.0f" } else { "in[index]" };
    lines.extend(phase(column, row, &named.collect::<Vec<_>>(), &format!("tile[warp + k][lane] = {value};")));
    lines.push((0, "__syncthreads();".into()));
    lines.extend(phase(row, column, &[Root::Inline(*places.last()?)], "out[AT] = tile[lane][warp + k];"));
    let lines: String = lines.into_iter().map(|(depth, line)| "    ".repeat(depth + 1) + &line + "\n").collect();
    let listed = |axes: &[usize]| axes.iter().map(|axis| &variables[*axis].name[..]).collect::<Vec<_>>().join(", ");
    let parts: String = parts.iter().map(|part| format!("// {part}\n")).collect();
    Some(format!(
        "// Start {blocks} blocks of {THREADS} threads (any more do nothing), each of which moves a tile through shared memory:\n\
         // columns count {}, along which neighbours are read, and rows {}, along which they are written.\n{parts}\
         extern \"C\" __global__ void __launch_bounds__({THREADS})\n\
         gather(const float *__restrict__ in, float *__restrict__ out) {{\n{lines}}}\n",
        listed(&columns),
        listed(&rows),
    ))
}
