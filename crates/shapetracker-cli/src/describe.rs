//! `shapetracker describe`: in which order the elements of a layout lie, what it leaves out and shares, and what takes it as it is.

use serde_json::{Value, json};
use shapetracker::describe::{Claim, Line, Memory, Overlap, describe as described};
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
    #[command(flatten)]
    elements: Elements,
    #[command(flatten)]
    names: Where,
}

/// How elements lie in bytes.
#[derive(clap::Args)]
pub(crate) struct Elements {
    /// The type of the elements, as f32, bf16 or c128, or as NumPy writes it, such as <f4; without one nothing is said in bytes.
    #[arg(long, value_parser = dtype)]
    dtype: Option<Dtype>,
    /// Bytes per element, in place of a type.
    #[arg(long, value_name = "BYTES", conflicts_with = "dtype", value_parser = clap::value_parser!(u32).range(1..))]
    width: Option<u32>,
    /// What the address of the buffer is a multiple of, in bytes.
    #[arg(long, value_name = "BYTES", default_value = "256", value_parser = clap::value_parser!(u64).range(1..))]
    align: u64,
}

impl Elements {
    fn memory(&self) -> Result<Option<Memory>, Failure> {
        let bytes = match (self.width, &self.dtype) {
            (Some(width), _) => Some(width),
            (None, Some(dtype)) => Some(dtype.width().map_err(|message| Failure::new("dtype", message))? as u32),
            (None, None) => None,
        };
        Ok(bytes.map(|bytes| Memory { bytes, alignment: self.align }))
    }
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
    let memory = args.elements.memory()?;
    args.names.answer(
        || of_numbers(&texts, memory),
        |question| {
            let chains = texts.iter().map(|text| question.chain(text)).collect::<Result<Vec<_>, _>>()?;
            of_names(&chains, memory.map(|memory| memory.bytes), question)
        },
    )
}

/// Whether a layout is what is claimed of it.
pub(crate) fn claimed(layout: &str, claims: &[Claim], elements: &Elements, names: &Where) -> Result<Answer, Failure> {
    let memory = elements.memory()?;
    if memory.is_none() && claims.contains(&Claim::TensorMap) {
        let message = "--is tma: tensor maps are about bytes; --dtype or --width says how many an element has";
        return Err(Failure::new("usage", message));
    }
    names.answer(
        || {
            let chain: Chain = layout.parse()?;
            let end = chain.follow(None, |_, _| {})?;
            let found = described(end.over_newest(), memory);
            Ok(verdicts(layout, claims, |claim| (found.holds(claim), found.reason(claim))))
        },
        |question| {
            let chain = question.chain(layout)?;
            let scope = symbolic::scope(question)?;
            let end = chain.follow(&scope, |_, _| {})?;
            let tracker = end.over_newest();
            let found = tracker.describe(memory.map(|memory| memory.bytes));
            let lines = found.lines();
            let mut answer = verdicts(layout, claims, |claim| {
                let line = lines.iter().find(|line| line.topic == claim.topic());
                // Without a line nothing is known of names.
                (found.holds(claim), line.map_or_else(|| "not known for all values".into(), |line| line.text.clone()))
            });
            answer.text += &symbolic::needs(tracker.needs(), &scope);
            Ok(answer)
        },
    )
}

/// The claims one by one, each with what is so.
fn verdicts(layout: &str, claims: &[Claim], told: impl Fn(&Claim) -> (Option<bool>, String)) -> Answer {
    let all: Vec<_> = claims.iter().map(|claim| (claim.to_string(), told(claim))).collect();
    let fails = all.iter().filter(|(_, (holds, _))| *holds != Some(true));
    let fails: Vec<&str> = fails.map(|(claim, _)| &claim[..]).collect();
    let (positive, layout) = (fails.is_empty(), layout.trim());
    let mut text = match positive {
        true => format!("{GOOD}Yes{GOOD:#}, {layout} is that\n\n"),
        false => format!("{BAD}No{BAD:#}, {layout} is not {}\n\n", fails.join(", ")),
    };
    let longest = all.iter().map(|(claim, _)| claim.len()).max().unwrap_or(0);
    let mut documents = Vec::new();
    for (claim, (holds, reason)) in all {
        let word = holds.map_or("open", |holds| if holds { "yes" } else { "no" });
        let style = if holds == Some(true) { GOOD } else { BAD };
        let told = paragraph(&reason, longest + 10);
        text += &format!("  {BOLD}{claim:longest$}{BOLD:#}  {style}{word:4}{style:#}  {}", told.trim_start());
        documents.push(json!({ "claim": claim, "holds": holds, "text": reason }));
    }
    Answer { text, json: json!({ "layout": layout, "holds": positive, "claims": documents }), positive }
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
            *text += &paragraph(&format!("{style}{pair}{style:#}: {sentence}"), 0);
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
