//! Complete kernels that gather: every element of the output, in row-major order, is what its guarded index reads.

use shapetracker_base::list::sort_short_by_key;

use super::clike::{Root, Statement, Writer};
use super::cuda;
use super::language::{Language, Reason, Unsupported};
use super::loops::Lines;
use super::lower::{Dialect, Program};
use super::nest::{Body, text};
use super::parts::{Valid, digit, used_loops};
use super::sized::unreserved;
use super::spread::Spread;
use crate::constants::{constant, parts};
use crate::error::Error;
use crate::graph::{Binary, Expr, Graph, Map, Node, Variable};
use crate::index::IndexExpr;
use crate::nest::{Nest, conjuncts};

/// The kernel in one language; see [`IndexExpr::kernel`].
pub(super) fn kernel(code: &IndexExpr, language: Language) -> Result<String, Unsupported> {
    match language {
        Language::Python => numpy(code),
        Language::C | Language::Rust => nest(code, language),
        Language::Cuda | Language::OpenCl | Language::Metal | Language::Wgsl => grid(code, language),
        Language::Mlir | Language::Latex => Err(Reason::NoKernel { language }.into()),
    }
}

/// The number of elements of the output: how often the innermost loop runs in all.
pub(super) fn elements(code: &IndexExpr) -> i64 {
    if code.extents.contains(&0) {
        0
    } else {
        code.extents.iter().fold(1, |product, size| product.saturating_mul(*size))
    }
}

/// The names of a graph's variables.
pub(super) fn names(graph: &Graph) -> Vec<String> {
    graph.variables().iter().map(|variable| variable.name.clone()).collect()
}

/// A NumPy function over arrays with one axis per loop, each of which has a length along its own axis alone.
fn numpy(code: &IndexExpr) -> Result<String, Unsupported> {
    let graph = &code.graph;
    let valid = if elements(code) == 0 { Valid::None } else { Valid::of(graph, code.valid) };
    let named = valid.named(code.valid, code.index);
    let names = unreserved(names(graph));
    let sizes: Vec<String> = code.extents.iter().map(i64::to_string).collect();
    let (statements, _) = statements(graph, &names, Dialect::NumPy, &named, 0)?;
    let statements = statements.into_iter().map(|statement| statement.text).collect();
    Ok(numpy_function(&names, &sizes, &used_loops(graph, &named), [Vec::new(), statements], valid))
}

/// A function of the buffer and the names after those of the loops, of which some are used: the lines that define what sizes need, and those
/// that define what is read and where.
pub(super) fn numpy_function(
    names: &[String],
    sizes: &[String],
    used: &[usize],
    [mut lines, definitions]: [Vec<String>; 2],
    valid: Valid,
) -> String {
    let tuple = |list: &[String]| format!("({}{})", list.join(", "), if list.len() == 1 { "," } else { "" });
    let (loops, parameters) = names.split_at(sizes.len());
    for &axis in used.iter().filter(|axis| **axis < sizes.len()) {
        let mut shape = vec!["1".to_owned(); sizes.len()];
        shape[axis].clone_from(&sizes[axis]);
        let line = format!("{} = np.arange({}, dtype=np.int64).reshape({})", loops[axis], sizes[axis], tuple(&shape));
        lines.push(line);
    }
    lines.extend(definitions);
    lines.push(format!("out = np.zeros({}, buffer.dtype)", tuple(sizes)));
    match valid {
        // A size that is an argument may be 0, and without that axis the index would be read.
        Valid::All if !parameters.is_empty() => {
            lines.push("out[...] = buffer[np.broadcast_to(index, out.shape)]".into())
        }
        Valid::All => lines.push("out[...] = buffer[index]".into()),
        Valid::None => {}
        Valid::Some => {
            lines.push("valid = np.broadcast_to(valid, out.shape)".into());
            lines.push("out[valid] = buffer[np.broadcast_to(index, out.shape)[valid]]".into());
        }
    }
    lines.push("return out".into());
    let body: String = lines.iter().map(|line| format!("    {line}\n")).collect();
    let arguments: String = parameters.iter().map(|name| format!(", {name}")).collect();
    format!("import numpy as np\n\n\ndef gather(buffer{arguments}):\n{body}")
}

/// The definitions of names, and whether numbers have 64 bits.
fn statements(
    graph: &Graph,
    names: &[String],
    dialect: Dialect,
    named: &[(&str, Expr)],
    elements: i64,
) -> Result<(Vec<Statement>, bool), Unsupported> {
    let exprs: Vec<Expr> = named.iter().map(|(_, expr)| *expr).collect();
    let (program, places) = Program::with_elements(graph, &exprs, dialect, elements, false)?;
    let roots: Vec<_> = named.iter().zip(places).map(|((name, _), place)| Root::Named(name, place)).collect();
    let names: Vec<&str> = names.iter().map(|name| &name[..]).collect();
    let (statements, _) = Writer { program: &program, variables: &names, levels: &[], foreign: false }.write(&roots);
    Ok((statements, program.wide))
}

/// A size that a kernel takes: its name and its type.
pub(super) type Argument<'a> = (&'a str, &'static str);

/// What stands before the lines of a kernel of one thread per element.
pub(super) fn head(language: Language, arguments: &[Argument<'_>]) -> String {
    let listed = |text: &dyn Fn(usize, &Argument<'_>) -> String| {
        arguments.iter().enumerate().map(|(place, argument)| text(place, argument)).collect::<String>()
    };
    let more = || listed(&|_, (name, number)| format!(", {number} {name}"));
    match language {
        Language::Cuda => format!(
            "extern \"C\" __global__ void gather(const float *__restrict__ in, float *__restrict__ out{}) {{\n",
            more()
        ),
        Language::OpenCl => format!(
            "__kernel void gather(__global const float *restrict in, __global float *restrict out{}) {{\n",
            more()
        ),
        Language::Metal => format!(
            "#include <metal_stdlib>\n\
             using namespace metal;\n\
             \n\
             kernel void gather(\n    \
                 device const float *in [[buffer(0)]],\n    \
                 device float *out [[buffer(1)]],\n\
             {}    \
                 uint gid [[thread_position_in_grid]]\n\
             ) {{\n",
            listed(&|place, (name, number)| format!("    constant {number} &{name} [[buffer({})]],\n", place + 2))
        ),
        _ => {
            let fields = listed(&|_, (name, number)| format!("    {name}: {number},\n"));
            let has_sizes = !arguments.is_empty();
            format!(
                "{}\
                 @group(0) @binding(0) var<storage, read> input: array<f32>;\n\
                 @group(0) @binding(1) var<storage, read_write> out: array<f32>;\n\
                 {}\
                 \n\
                 @compute @workgroup_size(64)\n\
                 fn gather(\n    \
                     @builtin(global_invocation_id) id: vec3<u32>,\n    \
                     @builtin(num_workgroups) groups: vec3<u32>,\n\
                 ) {{\n",
                if has_sizes { format!("struct Sizes {{\n{fields}}}\n\n") } else { String::new() },
                if has_sizes { "@group(0) @binding(2) var<uniform> sizes: Sizes;\n" } else { "" },
            )
        }
    }
}

/// The line that numbers the threads; none where the head does.
pub(super) fn thread(language: Language, number: &str, wide: bool) -> Option<String> {
    Some(match (language, wide) {
        (Language::Cuda, false) => "const unsigned gid = blockIdx.x * blockDim.x + threadIdx.x;".into(),
        (Language::Cuda, true) => format!("const {number} gid = ({number})blockIdx.x * blockDim.x + threadIdx.x;"),
        (Language::OpenCl, _) => format!("const {number} gid = get_global_id(0);"),
        (Language::Wgsl, _) => "let gid = id.y * (groups.x * 64u) + id.x;".into(),
        _ => return None,
    })
}

/// A kernel of one thread per element, which computes the loop variables from the number of the thread, or its index from
/// that number at once, whichever is cheaper. Numbers of threads are unsigned, so that these divisions are plain.
// No rule: it divides a number of threads.
fn grid(code: &IndexExpr, language: Language) -> Result<String, Unsupported> {
    let elements = elements(code);
    if language == Language::Metal && elements > u32::MAX.into() {
        return Err(Reason::Grid { language, elements, most: u32::MAX.into() }.into());
    }
    let dialect = language.dialect().unwrap_or(Dialect::C);
    let head = head(language, &[]);
    if elements == 0 {
        let body = match language {
            Language::Wgsl => "",
            Language::Metal => "    (void)in;\n    (void)out;\n    (void)gid;\n",
            _ => "    (void)in;\n    (void)out;\n",
        };
        return Ok(format!("{head}{body}}}\n"));
    }
    let mut fours = false;
    if language == Language::Cuda {
        let cut = cuda::cut(code);
        let (cut, parts) = cut.as_ref().map_or((code, &[][..]), |(code, parts)| (code, parts));
        if let Some(tiled) = cuda::tiled(cut, parts, elements) {
            return Ok(tiled);
        }
        fours = cuda::reads_fours(cut);
    }
    // The element has a name of its own where its number is not that of the thread, or may be of another type.
    let own = fours || matches!(language, Language::Metal | Language::Wgsl);
    let element = if own { "element" } else { "gid" };
    let flat = Spread::flat(code, elements, element);
    let (graph, valid, index) = match &flat {
        Some(flat) => (&flat.graph, flat.valid, flat.index),
        None => (&code.graph, code.valid, code.index),
    };
    let valid_where = Valid::of(graph, valid);
    let named = valid_where.named(valid, index);
    // The number of the element is a name of the kernel's own.
    let names = if flat.is_some() { names(graph) } else { unreserved(names(graph)) };
    let (statements, wide) = statements(graph, &names, dialect, &named, elements)?;
    let number = match (language, wide) {
        (Language::Cuda, false) => "unsigned",
        (Language::Cuda, true) => "unsigned long long",
        (_, false) => "uint",
        (_, true) => "ulong",
    };
    let mut lines = Vec::new();
    lines.extend(thread(language, number, wide));
    lines.push(match language {
        Language::Wgsl => format!("if gid >= {elements}u {{ return; }}"),
        _ if fours => format!("if (gid >= {}u) return;", elements / 4),
        _ => format!("if (gid >= {elements}u) return;"),
    });
    if fours {
        lines.push(format!("const {number} element = gid * 4;"));
    }
    for axis in used_loops(graph, &named) {
        let name = &names[axis];
        let digit = match flat {
            Some(_) if fours => "element".into(),
            Some(_) => "gid".into(),
            None => digit(if fours { "element" } else { "gid" }, &code.extents, axis),
        };
        lines.push(match language {
            Language::Wgsl => format!("let {name} = i32({digit});"),
            _ if *name == digit => String::new(),
            _ => format!("const {number} {name} = {digit};"),
        });
    }
    lines.extend(statements.into_iter().map(|statement| statement.text));
    lines.extend(if fours { cuda::stores_of_fours(valid_where) } else { stores(language, valid_where) });
    let lines: String = lines.iter().filter(|line| !line.is_empty()).map(|line| format!("    {line}\n")).collect();
    let launch = if fours { cuda::launch_of_fours(elements) } else { String::new() };
    Ok(format!("{launch}{head}{lines}}}\n"))
}

/// The lines with which a thread writes its element.
pub(super) fn stores(language: Language, valid: Valid) -> Vec<String> {
    match (language, valid) {
        (Language::Wgsl, Valid::All) => vec!["out[gid] = input[index];".into()],
        (Language::Wgsl, Valid::None) => vec!["out[gid] = 0.0;".into()],
        (Language::Wgsl, Valid::Some) => {
            vec!["var value = 0.0;".into(), "if valid { value = input[index]; }".into(), "out[gid] = value;".into()]
        }
        (_, Valid::All) => vec!["out[gid] = in[index];".into()],
        (_, Valid::None) => vec!["(void)in;".into(), "out[gid] = 0.0f;".into()],
        (_, Valid::Some) => vec!["out[gid] = valid ? in[index] : 0.0f;".into()],
    }
}

/// A nest of loops over the output: split where that leaves no floor, and run in parts where the guard decides, so that nothing is
/// asked in the interior. Parameters are arguments.
pub(super) fn nest(code: &IndexExpr, language: Language) -> Result<String, Unsupported> {
    let is_rust = language == Language::Rust;
    let (nest, [input, output]) = gathering(code).map_err(|_| Reason::Sizes { language })?;
    let (element, body, zero) = match is_rust {
        true => (format!("input[{{{input}}} as usize]"), format!("out[{{{output}}} as usize] = {{element}};"), "0.0"),
        false => (format!("in[{{{input}}}]"), format!("out[{{{output}}}] = {{element}};"), "0.0f"),
    };
    let body = Body::new(body).choice("element", &input[..], element, zero);
    let levels = nest.expanded().map_err(Reason::from)?.with_bodies();
    let Lines { lines, number, used } = text(&nest, levels, &body, language.dialect().unwrap_or(Dialect::C), 1)?;
    let is_empty = code.extents.contains(&0);

    let mut head = String::from(match is_rust {
        true => "pub fn gather(input: &[f32], out: &mut [f32]",
        false => "void gather(const float *restrict in, float *restrict out",
    });
    let names = unreserved(names(nest.graph()));
    let arguments = &names[..nest.parameters().len()];
    for name in arguments {
        head += &if is_rust { format!(", {name}: {number}") } else { format!(", {number} {name}") };
    }
    head += ") {\n";
    // What nothing uses, for compilers that ask.
    let buffer = if is_rust { "input" } else { "in" };
    let mut unused: Vec<&str> = Vec::new();
    if is_empty || !lines.contains(&format!("{buffer}[")) {
        unused.push(buffer);
    }
    if is_empty {
        unused.push("out");
    }
    unused.extend((0..arguments.len()).filter(|at| is_empty || !used.contains(at)).map(|at| &arguments[at][..]));
    for name in unused {
        head += &if is_rust { format!("    let _ = {name};\n") } else { format!("    (void){name};\n") };
    }
    Ok(format!("{head}{}}}\n", if is_empty { "" } else { &lines }))
}

/// How many loops are run in parts that leave conditions to loops inside of them: 27 bodies at the most, each with its margins.
const MOST_TOGETHER: usize = 3;

/// The nest of a kernel that gathers, and the names of its two accesses: what is read, where the guard holds, and the position in the
/// output, which is in row-major order. Axes of one element have no loop.
fn gathering(code: &IndexExpr) -> Result<(Nest, [String; 2]), Error> {
    let variables = code.graph.variables();
    let loops = code.extents.len();
    let mut graph = Graph::new();
    for Variable { name, range } in &variables[loops..] {
        graph.variable(name, range.clone())?;
    }
    let mut nest = Nest::new(graph);
    let sizes = match code.sizes.is_empty() {
        true => code.extents.iter().map(|extent| nest.graph_mut().int(*extent)).collect(),
        false => nest.graph_mut().import_all(&code.graph, &code.sizes)?,
    };
    let zero = nest.graph_mut().int(0);
    let mut axes = Vec::new();
    for (size, variable) in sizes.iter().zip(variables) {
        if constant(nest.graph(), *size) == Some(1) {
            axes.push(zero);
            continue;
        }
        axes.push(nest.each(&variable.name, *size)?);
    }
    let mut position = zero;
    for (axis, size) in axes.iter().zip(&sizes) {
        let graph = nest.graph_mut();
        let outer = graph.binary(Binary::Mul, position, *size)?;
        position = graph.binary(Binary::Add, outer, *axis)?;
    }
    let accesses = ["in", "out"].map(|name| {
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let is_free = |name: &String| variables.iter().all(|variable| variable.name != *name);
        std::iter::once(name.to_owned()).chain(numbered).find(is_free).unwrap_or_default()
    });
    let [input, output] = &accesses;
    nest.read_unchecked(input, code, &axes)?;
    nest.access(output, position, None)?;
    let whole = nest.clone();
    // What leaves 64 bits when it is split stays as it is.
    if nest.split_where_affine().is_err() {
        nest = whole;
    }
    // Each condition decides in the outermost loop that it depends on. A loop that decides alone has nothing to ask in its parts;
    // one of several has all that stands in it three times.
    let conditions = conjuncts(nest.graph(), nest.accesses()[0].valid);
    let parts: Vec<Vec<Expr>> = conditions.iter().map(|condition| nest.graph().parts(&[*condition])).collect();
    let loops: Vec<(Expr, String)> = nest.loops().iter().map(|one| (one.variable, one.name.clone())).collect();
    let mut together = 0;
    for (at, (variable, name)) in loops.iter().enumerate() {
        let depends =
            |parts: &Vec<Expr>, on: &[(Expr, String)]| on.iter().any(|(variable, _)| parts.contains(variable));
        let mut own = parts.iter().filter(|own| own.contains(variable) && !depends(own, &loops[..at])).peekable();
        if own.peek().is_none() {
            continue;
        }
        let is_together = own.any(|own| depends(own, &loops[at + 1..]));
        together += usize::from(is_together);
        if !is_together || together <= MOST_TOGETHER {
            nest.partition(name, &[input])?;
        }
    }
    Ok((nest, accesses))
}

/// The same expressions with sums and conjunctions reassociated for loop-invariant code motion: their operands in the
/// order of the loops that they depend on, outermost first. `None` if an intermediate value could leave `i64`.
///
/// In `(i + k) + j` with loops `i`, `j`, `k` no sum can leave the innermost loop; in `(i + j) + k` the first one can.
/// Only parts that nothing else uses are taken apart, since a shared sum is computed in any case. For each variable there is
/// the level of its loop, counted from 1; those of level 0, or none, are no loops, and count as constants.
pub(super) fn grouped(graph: &Graph, roots: &[Expr], depths: &[usize]) -> Option<(Graph, Vec<Expr>)> {
    let parts = parts(graph, roots);
    let family = |expr: Expr| match graph.node(expr) {
        _ if constant(graph, expr).is_some() => None,
        Node::Binary(Binary::Add | Binary::Sub, ..) => Some(Binary::Add),
        Node::Binary(Binary::And, ..) => Some(Binary::And),
        _ => None,
    };
    // The use count of each part, and whether it needs a value of its own: it is a root, is used more than once, or is
    // used by an operation of another family. All other parts are absorbed by the sum or conjunction that uses them.
    let (mut uses, mut levels) = (Map::<Expr, (usize, bool)>::default(), Map::<Expr, usize>::default());
    roots.iter().for_each(|root| uses.entry(*root).or_default().1 = true);
    for &part in &parts {
        let mut level = 0;
        if constant(graph, part).is_none() {
            if let Node::Variable(variable) = graph.node(part) {
                level = depths.get(variable).copied().unwrap_or(0);
            }
            for operand in graph.node(part).operands() {
                let (count, needs_value) = uses.entry(operand).or_default();
                *count += 1;
                *needs_value |= family(part).is_none() || family(part) != family(operand) || *count > 1;
                level = level.max(levels[&operand]);
            }
        }
        levels.insert(part, level);
    }

    let mut new = Graph::new();
    for variable in graph.variables() {
        new.variable(&variable.name, variable.range.clone()).ok()?;
    }
    let mut made: Map<Expr, Expr> = Map::default();
    for &part in parts.iter().filter(|part| uses[part].1) {
        let expr = match (crate::constants::literal(graph, part).unwrap_or_else(|| graph.node(part)), family(part)) {
            (_, Some(family)) => {
                // The terms, and whether each is subtracted.
                let (mut terms, mut pending) = (Vec::new(), vec![(part, false)]);
                while let Some((expr, negative)) = pending.pop() {
                    match graph.node(expr) {
                        Node::Binary(op, a, b) if expr == part || !uses[&expr].1 => {
                            pending.extend([(b, negative ^ (op == Binary::Sub)), (a, negative)]);
                        }
                        _ => terms.push((expr, negative)),
                    }
                }
                // Constants join the sum of the outermost loop, where they cost the least.
                let outermost = terms.iter().map(|(term, _)| levels[term]).filter(|level| *level > 0).min();
                let is_constant = |term: Expr| levels[&term] == 0;
                sort_short_by_key(&mut terms, |(term, negative)| {
                    (levels[term].max(outermost.unwrap_or(0)), is_constant(*term), *negative)
                });
                let mut sum: Option<Expr> = None;
                for (term, negative) in terms {
                    let term = made[&term];
                    sum = Some(match (sum, negative) {
                        (None, false) => term,
                        (None, true) => {
                            let zero = new.int(0);
                            new.binary(Binary::Sub, zero, term).ok()?
                        }
                        (Some(sum), true) => new.binary(Binary::Sub, sum, term).ok()?,
                        (Some(sum), false) => new.binary(family, sum, term).ok()?,
                    });
                }
                sum?
            }
            (node, _) => new.remade(node, |operand| made[&operand]).ok()?,
        };
        made.insert(part, expr);
    }
    Some((new, roots.iter().map(|root| made[root]).collect()))
}
