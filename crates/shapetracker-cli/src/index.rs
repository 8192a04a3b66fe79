//! `shapetracker index`: code for the address of an element, in any of the languages.

use serde_json::{Value, json};
use shapetracker::expr::{IndexExpr, Language, Syntax};
use shapetracker::json::Value as Document;
use shapetracker::{Chain, Movement, ShapeTracker};
use shapetracker_base::int;
use shapetracker_symbolic::json::{literals, polys};

use crate::answer::{Answer, Failure, tuple};
use crate::code::{Languages, comments, ranges_text, weight_text};
use crate::input::text_of;
use crate::symbolic::{self, HELP, Where};

#[derive(clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// The chain, such as "(3, 2).permute(1, 0)"; - reads it from standard input.
    #[arg(allow_hyphen_values = true)]
    chain: String,
    /// The language to write in.
    #[arg(long, value_parser = Languages, default_value_t = Language::Python)]
    lang: Language,
    /// Print a whole function that gathers all elements, in row-major order.
    #[arg(long)]
    kernel: bool,
    #[command(flatten)]
    names: Where,
}

fn after_help() -> String {
    format!(
        "Examples:
  shapetracker index '(3, 2).permute(1, 0).reshape(3, 2)'
  shapetracker index '(4, 4).pad((1, 1), (0, 0))' --lang cuda
  shapetracker index '(4, 4).pad((1, 1), (0, 0))' --lang c --kernel > gather.c
  shapetracker index '(N, D)[s:s+L].T' --lang cuda --kernel --where 's+L <= N, D=1..129'

`index` is the address of the element idx0, idx1, .. where `valid` holds, and means nothing elsewhere. What both share \
is computed once, as t0, t1 and so on. The variables may be of any integer type. Comments name the ranges of the variables \
and of the index (`index within 0..9`: a bound), say whether 32-bit integers suffice, \
and give the cost: distinct operations; divisions and modulos, those by powers of two apart because they are shifts and \
masks; and a weight, in which any other division counts as 8 operations. A kernel for a GPU is started with at least as \
many threads as it writes elements, in CUDA in blocks of 256; its first line says so where fewer do, or where buffers must be \
aligned. The address is that of the base, also where the chain copies, of which a comment reminds; `explain` has the address \
in the copy. Exit status 1 where the language has no such code; only the reason is printed then, on standard error. {HELP} They are variables of the code and arguments of a kernel.

With --json: chain, shape, language, code, index and valid (in Python, without shared parts; null when that is longer \
than 16 MiB), cost (ops, divmods: those not by a power of two, weight), index_range (the smallest and the \
largest index that is read), index_range_exact (whether both are read; else they are a bound), value_range (a bound of \
everything that is computed), bits. With names: needs, too."
    )
}

pub(crate) fn index(args: &Args) -> Result<Answer, Failure> {
    let text = text_of(&args.chain)?;
    args.names.answer(
        || {
            let chain: Chain = text.parse()?;
            let tracker = chain.tracker()?;
            let about = args.kernel.then(|| (buffers(&tracker), tracker.numel()));
            let code = tracker.index_expr()?;
            let subject = ("chain", json!(chain.to_string()));
            let mut answer = written(args.lang, args.kernel, subject, &code, about, Document::from(code.extents()))?;
            if let Some(copy) = last_copy(&chain)? {
                let remark = format!("addresses of the base, not of {copy}");
                answer.text = comments(args.lang, &[remark]) + &answer.text;
            }
            Ok(answer)
        },
        |question| {
            let chain = question.chain(&text)?;
            let scope = symbolic::scope(question)?;
            let tracker = chain.tracker(&scope)?;
            let code = tracker.index_expr()?;
            let (subject, shape) = (("chain", json!(text.trim())), polys(tracker.shape(), tracker.scope()));
            let mut answer = written(args.lang, args.kernel, subject, &code, None, shape)?;
            // What is needed of the names the expression does not know: its range may be less.
            if !(tracker.needs().is_empty() && tracker.scope().given().is_empty()) {
                answer.json["index_range_exact"] = json!(false);
                answer.text = answer.text.replacen(" index in ", " index within ", 1);
            }
            answer.json["needs"] = json!(literals(tracker.needs(), tracker.scope()));
            if !tracker.needs().is_empty() {
                let needs = tracker.needs().iter().map(|need| need.text(tracker.scope()));
                let needs = format!("needs {}", needs.collect::<Vec<_>>().join(" and "));
                answer.text = comments(args.lang, &[needs]) + &answer.text;
            }
            if chain.ops().iter().any(|op| op.may_copy())
                && let Some(copy) = chain.copy_in_words(&chain.follow(&scope, |_, _| ())?)
            {
                let remark = format!("addresses of the base, not of {copy}");
                answer.text = comments(args.lang, &[remark]) + &answer.text;
            }
            Ok(answer)
        },
    )
}

/// The buffer that the last copy of a chain makes, in words; nothing where none is made.
fn last_copy(chain: &Chain) -> Result<Option<String>, Failure> {
    if !chain.ops().iter().any(Movement::may_copy) {
        return Ok(None);
    }
    Ok(chain.copy_in_words(chain.follow(None, |_, _| ())?.buffer()))
}

/// The code of an index, or a whole kernel, with its remarks. `subject` is what it is the index of, as the first field of
/// the JSON; `buffers` says of a kernel what it reads and writes, and how many elements, where these are numbers.
pub(crate) fn written(
    lang: Language,
    kernel: bool,
    subject: (&str, Value),
    expr: &IndexExpr,
    buffers: Option<(String, i64)>,
    shape: Document,
) -> Result<Answer, Failure> {
    let code = if kernel { expr.kernel(lang)? } else { expr.code(lang)? };
    let (graph, parts) = (expr.graph(), [expr.index(), expr.valid()]);
    let mut values = graph.value_range(&parts);
    if let Some((_, numel)) = buffers {
        // A kernel has a loop counter for the elements, too.
        values.1 = values.1.max(numel);
    }
    let extremes = expr.index_extremes();
    let text = |part| graph.text(part, Syntax::Python).ok();
    let (field, subject) = subject;
    let json = json!({
        field: subject,
        "shape": shape,
        "language": lang.to_string(),
        "code": code,
        "index": text(expr.index()),
        "valid": text(expr.valid()),
        "cost": Document::from(expr.cost()),
        "index_range": [extremes.low, extremes.high],
        "index_range_exact": extremes.exact,
        "value_range": [values.0, values.1],
        "bits": int::bits(values),
    });
    let about = buffers.map_or_else(|| variables(expr), |(about, _)| about);
    // A kernel computes parts of an index in outer loops, and those of a split loop without its divisions.
    let of = if kernel { "an index by itself: " } else { "" };
    let weight = format!("{of}{}", weight_text(graph, &parts));
    let mut remarks = vec![about, ranges_text("index", extremes, values), weight];
    if expr.lowest() < 0 {
        let (low, before) = (expr.lowest(), expr.lowest().unsigned_abs());
        remarks.insert(1, format!("reads from address {low} on, {before} before the beginning of the array"));
    }
    Ok(Answer { text: comments(lang, &remarks) + &code, json, positive: true })
}

/// `idx0 in 0..3, idx1 in 0..T, T in 1..4097`.
fn variables(expr: &IndexExpr) -> String {
    let graph = expr.graph();
    let end = |axis: usize, size: i64| match expr.sizes().get(axis) {
        Some(size) => graph.text(*size, Syntax::Python).unwrap_or_default(),
        None => size.to_string(),
    };
    let loops = expr.extents().iter().enumerate().map(|(axis, &size)| format!("idx{axis} in 0..{}", end(axis, size)));
    let names =
        expr.parameters().iter().map(|name| format!("{} in {}..{}", name.name, name.range.start, name.range.end));
    let variables = loops.chain(names).collect::<Vec<_>>().join(", ");
    if variables.is_empty() { "one element, without an index".into() } else { variables }
}

/// What a kernel reads and writes.
fn buffers(tracker: &ShapeTracker) -> String {
    let shape = tuple(tracker.shape());
    match tracker.buffer_len() {
        Ok(len) => format!("shape {shape}: reads a buffer of at least {len}, writes {}", tracker.numel()),
        Err(err) => format!("shape {shape}: {err}"),
    }
}
