//! `shapetracker check`: can a tensor be viewed under another shape, and if not, what helps?

use serde_json::json;
use shapetracker::describe::Claim;
use shapetracker::fit::{Line, Report, explain_array};
use shapetracker::json::Value as Document;
use shapetracker::{ArrayLibrary, ParseError};
use shapetracker_symbolic::{Pair, Question, ShapeTracker, View as NamedView};

use crate::answer::{Answer, BAD, BOLD, DIM, Failure, GOOD, paragraph, witness_json};
use crate::describe::{Elements, claimed};
use crate::input::text_of;
use crate::symbolic::{self, HELP, Named, Where};

#[derive(clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// With --is, a layout in place of a shape and strides, such as "(8, 32, 32, 3).permute(0, 3, 1, 2)"; - reads it from standard input.
    #[arg(value_name = "LAYOUT", requires = "claims", conflicts_with_all = ["shape", "strides", "offset", "to"])]
    layout: Option<String>,
    /// The shape of the tensor, as 2,3 or "(2, 3)".
    #[arg(long, value_parser = sizes, allow_hyphen_values = true, required_unless_present = "layout")]
    shape: Option<Named<Numbers>>,
    /// Its strides, in elements; row-major when they are not given.
    #[arg(long, value_parser = sizes, allow_hyphen_values = true)]
    strides: Option<Named<Numbers>>,
    /// The address of its first element.
    #[arg(long, default_value = "0", value_parser = number, allow_hyphen_values = true)]
    offset: Named<i64>,
    /// The shape to view it under; one size may be -1 and is inferred.
    #[arg(long, value_parser = sizes, allow_hyphen_values = true, required_unless_present = "claims")]
    to: Option<Named<Numbers>>,
    /// What it must be, in place of --to: dense, row-major (or contiguous), column-major, channels_last, channels_last_3d, blocked,
    /// injective (no two elements share an address), matrix (for BLAS), tma (a tensor map of CUDA), vector=4, or a format of cuDNN
    /// or oneDNN such as NHWC or aBcd8b; several with commas between them.
    #[arg(long = "is", id = "claims", value_name = "CLAIM", value_delimiter = ',', conflicts_with = "to", value_parser = str::parse::<Claim>)]
    claims: Vec<Claim>,
    #[command(flatten)]
    elements: Elements,
    #[command(flatten)]
    names: Where,
}

fn after_help() -> String {
    format!(
        "Examples:
  shapetracker check --shape 2,3 --strides 1,2 --to 3,2
  shapetracker check --shape '(8, 3, 5)' --strides '(0, 1, 3)' --to 8,-1
  shapetracker check --shape 4,6 --to 24
  shapetracker check --shape H,T --strides 1,H --to=-1 --where T=1..4097
  shapetracker check '(8, 32, 32, 3).permute(0, 3, 1, 2)' --is channels_last,tma --dtype f16
  shapetracker check '(B, T, 64).permute(1, 0, 2)' --is injective,matrix

Exit status 1 when a copy is needed, and when a claim does not hold, or is not known to for all values. {HELP} What helps is told where \
all sizes are numbers.

With --json: view (the tensor), to, fits (true, false, or null when undecided), result (the view under the new shape); \
when it fits: strides (of the result, as pytorch and numpy report them along axes of size 1, too); when the tensor reads \
below address 0: outside (a sentence; there is no code then); when it does not fit: witness, reason, obstacles (kind, \
old_axes, new_axes, sentence, and stride and needed or \
range), copy (elements, of, smallest: whether no buffer with fewer elements helps, copied: a view, or a list of \
views whose elements come one after another, buffer_shape, view, pytorch, whose recipe is that of the smallest buffer \
without negative strides). With names: those of `merge`, of the tensor and of the row-major view of the shape. With --is: \
layout, holds (whether all claims do), claims, each with claim, holds (null where that is open), and text (what `describe` says)."
    )
}

/// Reads sizes, of which some may be names.
pub(crate) fn sizes(text: &str) -> Result<Named<Numbers>, String> {
    Named::new(text, numbers(text))
}

fn number(text: &str) -> Result<Named<i64>, String> {
    Named::new(text, text.parse().map_err(|err: std::num::ParseIntError| err.to_string()))
}

/// Numbers on the command line, one an axis.
pub(crate) type Numbers = std::sync::Arc<[i64]>;

/// Reads `2,3`, `(2, 3)`, `[2, 3]` or, for no axes at all, `()`.
pub(crate) fn numbers(text: &str) -> Result<Numbers, String> {
    let text = text.trim();
    let inside = match (text.chars().next(), text.chars().last()) {
        (Some('('), Some(')')) | (Some('['), Some(']')) if text.len() > 1 => &text[1..text.len() - 1],
        _ => text,
    };
    let inside = inside.trim();
    if inside.is_empty() {
        return Ok(Numbers::from([]));
    }
    let inside = inside.strip_suffix(',').unwrap_or(inside);
    inside
        .split(',')
        .map(|number| {
            let number = number.trim();
            number.parse().map_err(|_| format!("expected whole numbers such as 2,3 or (2, 3), found `{number}`"))
        })
        .collect()
}

pub(crate) fn check(args: &Args) -> Result<Answer, Failure> {
    let Some(to) = &args.to else {
        let layout = match (&args.layout, &args.shape) {
            (Some(layout), _) => text_of(layout)?,
            (None, shape) => written(shape.as_ref(), args.strides.as_ref(), &args.offset).into(),
        };
        return claimed(&layout, &args.claims, &args.elements, &args.names);
    };
    let Some(shape) = &args.shape else { return Err(Failure::new("usage", "--to takes a --shape")) };
    args.names.answer(|| of_numbers(args, shape, to), |question| of_names(args, shape, to, question))
}

/// A tensor as the text of a layout.
fn written(shape: Option<&Named<Numbers>>, strides: Option<&Named<Numbers>>, offset: &Named<i64>) -> String {
    let list = |numbers: &Named<Numbers>| {
        let text = numbers.text.trim();
        let inside = [('(', ')'), ('[', ']')].into_iter().find_map(|(a, b)| text.strip_prefix(a)?.strip_suffix(b));
        format!("({})", inside.unwrap_or(text))
    };
    let shape = shape.map(list).unwrap_or_default();
    let strides = strides.map_or_else(String::new, |strides| format!(":{}", list(strides)));
    match &*offset.text {
        "0" => format!("{shape}{strides}"),
        offset => format!("{shape}{strides} offset {offset}"),
    }
}

fn of_names(
    args: &Args,
    shape: &Named<Numbers>,
    to: &Named<Numbers>,
    question: &mut Question,
) -> Result<Answer, Failure> {
    let about = |what: &'static str| move |err: ParseError| Failure::from(err).about(what);
    let shape = question.sizes(&shape.text).map_err(about("--shape"))?;
    let strides = args.strides.as_ref().map(|strides| question.strides(&strides.text)).transpose();
    let strides = strides.map_err(about("--strides"))?;
    let offset = question.number(&args.offset.text).map_err(about("--offset"))?;
    let to = question.sizes(&to.text).map_err(about("--to"))?;
    let scope = symbolic::scope(question)?;
    let strides = match strides {
        Some(strides) => strides,
        None => ShapeTracker::in_scope(scope.clone(), shape.clone())?.views()[0].strides.clone(),
    };
    Ok(symbolic::pair(&Pair::of_reshape(scope, NamedView { shape, strides, offset, mask: None }, to)?))
}

fn of_numbers(args: &Args, shape: &Named<Numbers>, to: &Named<Numbers>) -> Result<Answer, Failure> {
    let (shape, to) = (shape.numbers()?, to.numbers()?);
    let strides = args.strides.as_ref().map(|strides| strides.numbers()).transpose()?;
    let answer = explain_array(shape, strides.map(|strides| &strides[..]), *args.offset.numbers()?, to)?;
    let view = answer.tracker().views()[0].clone();
    let fits = answer.is_possible();
    let mut json = json!({ "view": view, "to": to[..], "fits": fits, "result": answer.view() });
    // Of the tensor it is the strides that were given, and of the result those that each library reports.
    json["view"]["strides"] = json!(answer.old_strides());
    if fits == Some(true) {
        let reported = |library| json!(answer.strides(library).map(|strides| strides.to_vec()));
        json["strides"] = json!({ "pytorch": reported(ArrayLibrary::PyTorch), "numpy": reported(ArrayLibrary::NumPy) });
    }
    if let Err(err) = view.fits_buffer(None) {
        json["outside"] = json!(err.reason());
    }
    if let Some(blocked) = answer.blocked() {
        json["reason"] = json!(blocked.witness().to_string());
        json["witness"] = json!(witness_json(blocked.witness()));
        json["obstacles"] = json!(blocked.obstacles().iter().collect::<Document>());
        // Of nearly all layouts one view is copied.
        let (copied, buffer_shape) = match blocked.copied() {
            [copied] => (json!(copied), json!(copied.shape())),
            copied => (json!(copied), json!([blocked.elements()])),
        };
        json["copy"] = json!({
            "elements": blocked.elements(),
            "of": view.numel(),
            "smallest": blocked.is_smallest(),
            "copied": copied,
            "buffer_shape": buffer_shape,
            "view": blocked.view(),
            "pytorch": blocked.recipe(ArrayLibrary::PyTorch),
        });
    }
    let positive = fits == Some(true);
    Ok(Answer { text: text(&answer.report(Some(ArrayLibrary::PyTorch)), positive), json, positive })
}

/// A report with colours, its sentences broken into lines.
fn text(report: &Report, positive: bool) -> String {
    let style = if positive { GOOD } else { BAD };
    let mut text = format!("{style}{}{style:#}{}\n", report.answer(), report.rest());
    for section in report.sections() {
        text.push('\n');
        if let Some(heading) = section.heading() {
            let remark = section.remark().map_or(String::new(), |remark| format!(" {DIM}({remark}){DIM:#}"));
            text += &format!("{BOLD}{heading}{BOLD:#}{remark}\n");
        }
        for line in section.lines() {
            text += &match line {
                Line::Sentence(sentence) => paragraph(sentence, 2),
                line => format!("  {line}\n"),
            };
        }
    }
    text
}
