//! Kernels whose loops run as often as their arguments say: those of [`kernel`](super::kernel), with expressions over
//! parameters in the place of literal sizes.

use smallvec::SmallVec;

use super::clike::{Root, Writer};
use super::kernel::{Argument, elements, head, nest, numpy_function, stores, thread};
use super::language::{Language, Reason, Unsupported};
use super::lower::{Dialect, Op, Program};
use super::parts::{Valid, used_loops};
use crate::constants::{constant, parts};
use crate::error::{Error, Reason as Mistake};
use crate::graph::{Expr, Graph, Node};
use crate::index::{IndexExpr, KernelWriter};

/// Words of the languages and names of the kernels themselves that an argument cannot have; those that are no names of
/// variables at all are not among them.
const RESERVED: &str = " None alias alignas alignof array as asm assert async auto await bool box break buffer case catch \
    char class const const_assert constant continue crate def default del delete device diagnostic discard do double dyn \
    elements elif enable enum except export extern f16 f32 f64 false finally float fn for friend from gather gen gid global goto \
    groups half half2 i32 i64 id impl import in index inline input int is kernel lambda let local long loop main match mod \
    move mut namespace new nonlocal np nullptr operator out override pass priv private protected ptr pub public raise ref \
    register requires rest restrict ret return self short signed size_t sizeof sizes static storage struct super switch \
    template this thread threadgroup throw trait true try type typedef typename u32 u64 uchar uint ulong uniform union \
    unsafe unsigned use ushort using usize valid value var virtual void volatile where while with workgroup yield ";

impl IndexExpr {
    /// An index and a condition in loops that run as often as expressions over parameters say.
    ///
    /// The first variables of the graph are the loops, as many as there are sizes; the other variables are the parameters,
    /// which kernels take as arguments. A loop's variable ranges from 0 to the greatest value of its size. What is written is
    /// right for all values of the parameters in their ranges for which no size is negative.
    ///
    /// ```
    /// use indexpr::{Graph, IndexExpr, Language, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// graph.variable("i", 0..64)?;
    /// graph.variable("j", 0..4)?;
    /// let (n, four) = (graph.variable("n", 1..65)?, graph.int(4));
    /// let index = graph.parse("j * n + i", Syntax::Python)?;
    /// let always = graph.bool(true);
    /// let code = IndexExpr::with_sizes(graph, index, always, [n, four])?;
    /// assert_eq!(code.extents(), [64, 4]);
    /// assert_eq!(
    ///     code.kernel(Language::C)?,
    ///     "\
    /// void gather(const float *restrict in, float *restrict out, int n) {
    ///     for (int i = 0; i < n; ++i) {
    ///         const int t0 = i * 4;
    ///         for (int j = 0; j < 4; ++j) {
    ///             const int index_out = t0 + j;
    ///             const int index_in = i + n * j;
    ///             out[index_out] = in[index_in];
    ///         }
    ///     }
    /// }
    /// ",
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`IndexExpr::new`]; a size that depends on a loop.
    pub fn with_sizes(graph: Graph, index: Expr, valid: Expr, sizes: impl AsRef<[Expr]>) -> Result<IndexExpr, Error> {
        const OP: &str = "index";
        let sizes = sizes.as_ref();
        for expr in [index, valid].iter().chain(sizes) {
            graph.check(OP, *expr)?;
        }
        if sizes.iter().chain([&index]).any(|size| graph.is_condition(*size)) {
            return Err(Mistake::NotANumber.in_op(OP));
        }
        if !graph.is_condition(valid) {
            return Err(Mistake::NotACondition.in_op(OP));
        }
        let (variables, loops) = (graph.variables(), sizes.len());
        if variables.len() < loops {
            return Err(Mistake::Extents { variables: variables.len(), given: loops }.in_op(OP));
        }
        let is_loop = |part: Expr| matches!(graph.node(part), Node::Variable(place) if place < loops);
        if let Some(variable) = graph.parts(sizes).into_iter().find(|part| is_loop(*part)) {
            let name = graph.text(variable, crate::Syntax::Python)?.into();
            return Err(Mistake::LoopInExtent { name }.in_op(OP));
        }
        let extents: SmallVec<[i64; 8]> = sizes.iter().map(|size| graph.range(*size).1.max(0)).collect();
        if let Some((variable, &extent)) =
            variables.iter().zip(&extents).find(|(variable, extent)| variable.range != (0..(**extent).max(1)))
        {
            let (name, begin, end) = (variable.name[..].into(), variable.range.start, variable.range.end);
            return Err(Mistake::Extent { name, begin, end, extent }.in_op(OP));
        }
        let is_number = |size: &Expr| crate::constants::constant(&graph, *size).is_some();
        let sizes = if loops == variables.len() && sizes.iter().all(is_number) { Vec::new() } else { sizes.to_vec() };
        let has_parameters = loops < variables.len();
        let writer = if has_parameters { KernelWriter(Some(kernel)) } else { KernelWriter::PLAIN };
        Ok(IndexExpr { graph, index, valid, extents, sizes, lowest: 0, writer })
    }
}

/// The kernel in one language; see [`IndexExpr::kernel`].
pub(super) fn kernel(code: &IndexExpr, language: Language) -> Result<String, Unsupported> {
    let names = names(code);
    match language {
        Language::Python => numpy(code, &names),
        Language::C | Language::Rust => nest(code, language),
        Language::Mlir | Language::Latex => Err(Reason::NoKernel { language }.into()),
        _ => grid(code, &names, language),
    }
}

/// The names of the variables.
fn names(code: &IndexExpr) -> Vec<String> {
    unreserved(super::kernel::names(&code.graph))
}

/// Names with an underscore behind those that mean something else in a kernel.
pub(super) fn unreserved(mut names: Vec<String>) -> Vec<String> {
    let is_reserved = |name: &String| RESERVED.contains(&format!(" {name} "));
    for place in 0..names.len() {
        if is_reserved(&names[place]) {
            while is_reserved(&names[place]) || (0..names.len()).any(|at| at != place && names[at] == names[place]) {
                names[place].push('_');
            }
        }
    }
    names
}

/// A program that computes the sizes, which come first, and other expressions; sizes that are names or literals need no
/// statement.
struct Sizes<'a> {
    program: Program,
    places: Vec<usize>,
    /// The names of the variables, and those that statements have taken.
    taken: Vec<&'a str>,
    loops: usize,
}

impl Sizes<'_> {
    /// The definitions of sizes that are neither names nor literals, and the text of each size.
    fn statements(&self, literal: impl Fn(i64) -> String) -> (Vec<String>, Vec<String>) {
        let titles: Vec<String> = (0..self.loops).map(|axis| self.free(format!("size{axis}"))).collect();
        let mut roots = Vec::new();
        let mut texts = Vec::new();
        for (title, &place) in titles.iter().zip(&self.places[..self.loops]) {
            texts.push(match self.program.op(place) {
                Op::Int(value) => literal(value),
                Op::Variable(variable) => self.taken[variable].to_owned(),
                _ => {
                    roots.push(Root::Named(title, place));
                    title.clone()
                }
            });
        }
        let writer = Writer { program: &self.program, variables: &self.taken, levels: &[], foreign: false };
        (writer.write(&roots).0.into_iter().map(|statement| statement.text).collect(), texts)
    }

    /// A name that no variable has.
    fn free(&self, mut name: String) -> String {
        while self.taken.contains(&&name[..]) {
            name.push('_');
        }
        name
    }

    /// The definitions of named expressions, after so many statements, which may have named the first parts.
    fn more(&self, named: &[(&str, Expr)], after: usize) -> Vec<String> {
        let numbered: Vec<String> = (0..after).map(|n| format!("t{n}")).collect();
        let mut taken = self.taken.clone();
        taken.extend(numbered.iter().map(|name| &name[..]));
        let places = self.places[self.loops..].iter();
        let roots: Vec<_> = named.iter().zip(places).map(|((name, _), place)| Root::Named(name, *place)).collect();
        let writer = Writer { program: &self.program, variables: &taken, levels: &[], foreign: false };
        writer.write(&roots).0.into_iter().map(|statement| statement.text).collect()
    }
}

fn sizes<'a>(
    code: &IndexExpr,
    names: &'a [String],
    dialect: Dialect,
    named: &[(&str, Expr)],
) -> Result<Sizes<'a>, Unsupported> {
    let exprs: Vec<Expr> = code.sizes.iter().copied().chain(named.iter().map(|named| named.1)).collect();
    let (program, places) = Program::with_elements(&code.graph, &exprs, dialect, elements(code), false)?;
    Ok(Sizes { program, places, taken: names.iter().map(|name| &name[..]).collect(), loops: code.sizes.len() })
}

/// The names of the parameters.
fn arguments<'a>(code: &IndexExpr, names: &'a [String]) -> &'a [String] {
    &names[code.extents.len()..]
}

/// The arguments that nothing in the kernel uses, for compilers that ask.
fn unused<'a>(code: &IndexExpr, names: &'a [String], used: &[Expr]) -> Vec<&'a str> {
    let parts = parts(&code.graph, used);
    let is_used = |place: usize| {
        parts
            .iter()
            .any(|part| constant(&code.graph, *part).is_none() && code.graph.node(*part) == Node::Variable(place))
    };
    (code.extents.len()..names.len()).filter(|place| !is_used(*place)).map(|place| &names[place][..]).collect()
}

/// A NumPy function of the buffer and the parameters.
fn numpy(code: &IndexExpr, names: &[String]) -> Result<String, Unsupported> {
    let graph = &code.graph;
    let valid = Valid::of(graph, code.valid);
    let named = valid.named(code.valid, code.index);
    let sizes = sizes(code, names, Dialect::NumPy, &named)?;
    let (lines, texts) = sizes.statements(|value| value.to_string());
    let definitions = sizes.more(&named, lines.len());
    Ok(numpy_function(names, &texts, &used_loops(graph, &named), [lines, definitions], valid))
}

/// A kernel of one thread per element. The loop variables are the digits of the thread's number, innermost first, each of
/// which is divided off before the next.
fn grid(code: &IndexExpr, names: &[String], language: Language) -> Result<String, Unsupported> {
    let graph = &code.graph;
    match elements(code) {
        i64::MAX => return Err(Reason::Sizes { language }.into()),
        elements if language == Language::Metal && elements > u32::MAX.into() => {
            return Err(Reason::Grid { language, elements, most: u32::MAX.into() }.into());
        }
        _ => {}
    }
    let valid = Valid::of(graph, code.valid);
    let named = valid.named(code.valid, code.index);
    let sizes = sizes(code, names, language.dialect().unwrap_or(Dialect::C), &named)?;
    let wide = sizes.program.wide;
    let natural = sizes.program.type_of(true);
    let is_wgsl = language == Language::Wgsl;

    let parameters = code.parameters().iter().zip(arguments(code, names));
    let parameters: Vec<Argument> =
        parameters.map(|(variable, name)| (&name[..], sizes.program.type_of(variable.range.start >= 0))).collect();
    let head = head(language, &parameters);

    let mut lines = Vec::new();
    if is_wgsl {
        lines.extend(arguments(code, names).iter().map(|name| format!("let {name} = sizes.{name};")));
    } else {
        let used: Vec<Expr> = code.sizes.iter().copied().chain(named.iter().map(|named| named.1)).collect();
        lines.extend(unused(code, names, &used).into_iter().map(|name| format!("(void){name};")));
    }
    let (statements, texts) = sizes.statements(|value| if is_wgsl { value.to_string() } else { format!("{value}u") });
    let after = statements.len();
    lines.extend(statements);
    lines.extend(thread(language, natural, wide));
    let one = if is_wgsl { "1" } else { "1u" };
    let counted: Vec<&str> = texts.iter().map(|text| &text[..]).filter(|text| *text != one).collect();
    let product = if counted.is_empty() { one.to_owned() } else { counted.join(" * ") };
    match language {
        Language::Wgsl => {
            lines.push(format!("let elements: i32 = {product};"));
            lines.push("if gid >= u32(elements) { return; }".into());
        }
        _ => {
            lines.push(format!("const {natural} elements = {product};"));
            lines.push("if (gid >= elements) return;".into());
        }
    }
    // Of the axes of more than one element those that are used, and those inside of them.
    let used: Vec<usize> = used_loops(graph, &named).into_iter().filter(|place| *place < texts.len()).collect();
    let single = |axis: usize| texts[axis] == one;
    let kind = if is_wgsl { "let".to_owned() } else { format!("const {natural}") };
    if let [axis] = used[..]
        && (0..texts.len()).all(|other| other == axis || single(other))
    {
        let digit = if is_wgsl { "i32(gid)" } else { "gid" };
        lines.push(format!("{kind} {} = {digit};", names[axis]));
    } else if let Some(&outermost) = used.first() {
        lines.push(if is_wgsl { "var rest = i32(gid);".into() } else { format!("{natural} rest = gid;") });
        for axis in (outermost..texts.len()).rev() {
            if used.contains(&axis) {
                let is_last = (0..axis).all(single);
                let digit = if is_last { "rest".to_owned() } else { format!("rest % {}", texts[axis]) };
                lines.push(format!("{kind} {} = {digit};", names[axis]));
            }
            if axis > outermost && !single(axis) {
                lines.push(format!("rest /= {};", texts[axis]));
            }
        }
    }
    lines.extend(sizes.more(&named, after));
    lines.extend(stores(language, valid));
    let lines: String = lines.iter().map(|line| format!("    {line}\n")).collect();
    Ok(format!("{head}{lines}}}\n"))
}
