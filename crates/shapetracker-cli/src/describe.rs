//! `shapetracker describe`: in which order the elements of a layout lie, what it leaves out and shares, and what takes it as it is.

use serde_json::{Value, json};
use shapetracker::describe::{Line, Memory, Overlap, describe as described};
use shapetracker::json::Value as Document;
use shapetracker::{Buffer, BufferOf, Chain, ShapeTracker};
use shapetracker_symbolic::{Chain as NamedChain, Question};

use crate::answer::{Answer, BAD, BOLD, Failure, GOOD, paragraph};
use crate::files::Dtype;
use crate::input::text_of;
use crate::plan::dtype;
use crate::symbolic::{self, HELP, Where};
use crate::table;

#[derive(clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// Layouts of one buffer, such as "(8, 3, 32, 32).permute(0, 2, 3, 1)" or "(2, 3):(1, 2)"; - reads one from standard input.
    #[arg(required = true, value_name = "LAYOUT")]
    layouts: Vec<String>,
    /// The type of the elements, as f32, bf16 or c128, or as NumPy writes it, such as <f4; without one nothing is said in bytes.
    #[arg(long, value_parser = dtype)]
    dtype: Option<Dtype>,
    /// Bytes per element, in place of a type.
    #[arg(long, value_name = "BYTES", conflicts_with = "dtype", value_parser = clap::value_parser!(u32).range(1..))]
    width: Option<u32>,
    /// What the address of the buffer is a multiple of, in bytes.
    #[arg(long, value_name = "BYTES", default_value = "256", value_parser = clap::value_parser!(u64).range(1..))]
    align: u64,
    #[command(flatten)]
    names: Where,
}

fn after_help() -> String {
    format!(
        "Examples:
  shapetracker describe '(8, 32, 32, 3).permute(0, 3, 1, 2)' --dtype f16
  shapetracker describe '(64, 25)' --width 2
  shapetracker describe '(6, 8)[:, :5]' '(6, 8)[:, 4:]'
  shapetracker describe '(B, T, D).permute(1, 0, 2)' --dtype bf16 --where D=8*d

Of several layouts it also says whether two of them share an address. {HELP}

With --json: layouts, each with layout (its text), shape, views, bytes, dense, order (names, digits: of each axis, size, weight, stride; \
backwards, repeated), valid, range, distinct, holes, injective, collision (indices, address, sentence), matrix (rows, \
columns, forms: of each operation, leading; batch), no_matrix and no_tensor_map (kind, sentence), nearest_dense, nearest_matrix \
and nearest_tensor_map (view, elements: how many are copied), tensor_map (dims: of each axes, size, stride; address, box_multiple), \
formats (library, name), vector (elements, run), reported (library, strides, minor_to_major, says, none), lines (topic, text); \
what was not decided is null. overlaps, each with layouts (two numbers, from 0), sentence, kind (shared, nothing, ranges, residues or \
searched), and indices and address, ranges, or modulus and residues. With names: shape, bytes, orders (name, when), range, holes, \
injective, collision, matrix (operation, leading, when), tensor_map, formats, vector, strides, lines; when has kind (all, formula, never, undecided), text and \
formula; overlaps have layouts, sentence and kind (shared, apart or undecided)."
    )
}

pub(crate) fn describe(args: &Args) -> Result<Answer, Failure> {
    let texts = args.layouts.iter().map(|text| text_of(text)).collect::<Result<Vec<_>, _>>()?;
    let width = match (args.width, &args.dtype) {
        (Some(width), _) => Some(width),
        (None, Some(dtype)) => Some(dtype.width().map_err(|message| Failure::new("dtype", message))? as u32),
        (None, None) => None,
    };
    args.names.answer(
        || of_numbers(&texts, width.map(|bytes| Memory { bytes, alignment: args.align })),
        |question| {
            let chains = texts.iter().map(|text| question.chain(text)).collect::<Result<Vec<_>, _>>()?;
            of_names(&chains, width, question)
        },
    )
}

fn of_names(chains: &[NamedChain], width: Option<u32>, question: &Question) -> Result<Answer, Failure> {
    let scope = symbolic::scope(question)?;
    let (mut text, mut documents, mut trackers) = (String::new(), Vec::new(), Vec::new());
    for (number, chain) in chains.iter().enumerate() {
        let end = chain.follow(&scope, |_, _| {})?;
        let tracker = end.over_newest();
        let copy = (!matches!(end.buffer(), BufferOf::Base)).then(|| chain.copy_in_words(&end)).flatten();
        one_buffer(number, copy.as_deref().filter(|_| chains.len() > 1))?;
        let found = tracker.describe(width);
        let written = chain.text().trim();
        text += &heading(number, written, chains.len());
        text += &table::named(tracker.views(), &scope);
        text += &copy.map_or_else(String::new, |copy| paragraph(&format!("over {copy}"), 2));
        text += &lines(&found.lines());
        text += &symbolic::needs(tracker.needs(), &scope);
        text += if chains.len() > 1 { "\n" } else { "" };
        documents.push(json!(Document::from(&found).with("layout", written)));
        trackers.push(tracker.clone());
    }
    let overlaps = overlaps(&mut text, &trackers, |first, second| match first.overlap(second) {
        Ok(None) => {
            let sentence = "they share no address, for all values".to_owned();
            (true, sentence, Document::Null.with("kind", "apart"))
        }
        Ok(Some(found)) => (false, found.to_string(), Document::Null.with("kind", "shared")),
        Err(err) => (false, err.to_string(), Document::Null.with("kind", "undecided")),
    });
    Ok(Answer { text, json: json!({ "layouts": documents, "overlaps": overlaps }), positive: true })
}

/// The layout of a number by its text, where there are several.
fn heading(number: usize, layout: &str, layouts: usize) -> String {
    if layouts > 1 { format!("{BOLD}{number}: {layout}{BOLD:#}\n") } else { String::new() }
}

/// Refuses a layout of a copy beside others.
fn one_buffer(number: usize, copy: Option<&str>) -> Result<(), Failure> {
    copy.map_or(Ok(()), |copy| {
        Err(Failure::new("usage", format!("layout {number} is over {copy}, and not over one buffer with the others")))
    })
}

/// Which pairs of layouts share an address, as text and as documents: whether they are apart, a sentence, and its document.
fn overlaps<T>(text: &mut String, layouts: &[T], ask: impl Fn(&T, &T) -> (bool, String, Document)) -> Vec<Value> {
    let mut overlaps = Vec::new();
    for (second, other) in layouts.iter().enumerate() {
        for (first, layout) in layouts[..second].iter().enumerate() {
            let (apart, sentence, document) = ask(layout, other);
            let (style, pair) = (if apart { GOOD } else { BAD }, format!("{first} and {second}"));
            // Lines are broken before there are colours in them.
            let told = paragraph(&format!("{pair}: {sentence}"), 0);
            *text += &told.replacen(&pair, &format!("{style}{pair}{style:#}"), 1);
            let document = document.with("sentence", sentence);
            overlaps.push(json!(document.with("layouts", Document::from((first as i64, second as i64)))));
        }
    }
    overlaps
}

fn of_numbers(texts: &[impl AsRef<str>], memory: Option<Memory>) -> Result<Answer, Failure> {
    let (mut text, mut documents, mut trackers) = (String::new(), Vec::new(), Vec::<ShapeTracker>::new());
    for (number, layout) in texts.iter().enumerate() {
        let chain: Chain = layout.as_ref().parse()?;
        let end = chain.follow(None, |_, _| {})?;
        let copy = chain.copy_in_words(end.buffer());
        let apart = copy.as_deref().filter(|_| matches!(end.buffer(), Buffer::Copy { .. }) && texts.len() > 1);
        one_buffer(number, apart)?;
        let tracker = end.over_newest();
        let found = described(tracker, memory);
        text += &heading(number, &chain.to_string(), texts.len());
        text += &table::views(tracker.views());
        text += &copy.map_or_else(String::new, |copy| paragraph(&format!("over {copy}"), 2));
        text += &lines(&found.lines());
        text += if texts.len() > 1 { "\n" } else { "" };
        documents.push(json!(Document::from(&found).with("layout", chain.to_string())));
        trackers.push(tracker.clone());
    }
    let overlaps = overlaps(&mut text, &trackers, |first, second| match first.overlap(second) {
        Ok(found) => (matches!(found, Overlap::Apart(_)), found.to_string(), Document::from(&found)),
        Err(err) => (false, err.to_string(), Document::Null.with("kind", "undecided")),
    });
    Ok(Answer { text, json: json!({ "layouts": documents, "overlaps": overlaps }), positive: true })
}

/// Topics and sentences in two columns.
fn lines(lines: &[Line]) -> String {
    let topic = lines.iter().map(|line| line.topic.len()).max().unwrap_or(0);
    let line = |Line { topic: of, text }: &Line| {
        let text = paragraph(text, topic + 4);
        format!("  {BOLD}{of:topic$}{BOLD:#}  {}", text.trim_start())
    };
    lines.iter().map(line).collect()
}
