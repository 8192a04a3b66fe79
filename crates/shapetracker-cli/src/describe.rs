//! `shapetracker describe`: in which order the elements of a layout lie, what it leaves out and shares, and what takes it as it is.

use serde_json::{Value, json};
use shapetracker::describe::{Line, Memory, Overlap, describe as described};
use shapetracker::json::Value as Document;
use shapetracker::{Buffer, BufferOf, Chain, ShapeTracker};

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
columns, forms: of each operation, leading; batch), no_matrix and no_tensor_map (kind, sentence), nearest_matrix and \
nearest_tensor_map (view, elements: how many are copied), tensor_map (dims: of each axes, size, stride; address, box_multiple), \
formats (library, name), vector (elements, run), reported (library, strides, minor_to_major, says, none), lines (topic, text); \
what was not decided is null. overlaps, each with layouts (two numbers, from 0), sentence, kind (shared, nothing, ranges, residues or \
searched), and indices and address, ranges, or modulus and residues. With names: shape, bytes, orders (name, when), range, holes, \
injective, collision, matrix (operation, leading, when), tensor_map, lines; when has kind (all, formula, never, undecided), text and \
formula."
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
            let mut chains = texts.iter().map(|text| question.chain(text)).collect::<Result<Vec<_>, _>>()?;
            let (Some(chain), None) = (chains.pop(), chains.pop()) else {
                let message = "whether layouts share an address is told where all sizes are numbers";
                return Err(Failure::new("usage", message));
            };
            let scope = symbolic::scope(question)?;
            let end = chain.follow(&scope, |_, _| {})?;
            let tracker = end.over_newest();
            let found = tracker.describe(width);
            let mut text = table::named(tracker.views(), &scope);
            if !matches!(end.buffer(), BufferOf::Base) {
                text += &paragraph(&format!("over {}", chain.copy_in_words(&end).unwrap_or_default()), 2);
            }
            text += &lines(&found.lines());
            text += &symbolic::needs(tracker.needs(), &scope);
            let document = Document::from(&found).with("layout", chain.text().trim());
            Ok(Answer { text, json: json!({ "layouts": [document], "overlaps": [] }), positive: true })
        },
    )
}

fn of_numbers(texts: &[impl AsRef<str>], memory: Option<Memory>) -> Result<Answer, Failure> {
    let (mut text, mut documents, mut trackers) = (String::new(), Vec::new(), Vec::<ShapeTracker>::new());
    for (number, layout) in texts.iter().enumerate() {
        let chain: Chain = layout.as_ref().parse()?;
        let end = chain.follow(None, |_, _| {})?;
        if matches!(end.buffer(), Buffer::Copy { .. }) && texts.len() > 1 {
            let copy = chain.copy_in_words(end.buffer()).unwrap_or_default();
            return Err(Failure::new(
                "usage",
                format!("layout {number} is over {copy}, and not over one buffer with the others"),
            ));
        }
        let tracker = end.over_newest();
        let found = described(tracker, memory);
        if texts.len() > 1 {
            text += &format!("{BOLD}{number}: {chain}{BOLD:#}\n");
        }
        text += &table::views(tracker.views());
        if let Some(copy) = chain.copy_in_words(end.buffer()) {
            text += &paragraph(&format!("over {copy}"), 2);
        }
        text += &lines(&found.lines());
        if texts.len() > 1 {
            text.push('\n');
        }
        documents.push(json!(Document::from(&found).with("layout", chain.to_string())));
        trackers.push(tracker.clone());
    }
    let mut overlaps = Vec::<Value>::new();
    for (second, other) in trackers.iter().enumerate() {
        for (first, tracker) in trackers[..second].iter().enumerate() {
            let (style, sentence, document) = match tracker.overlap(other) {
                Ok(found) => {
                    let style = if matches!(found, Overlap::Apart(_)) { GOOD } else { BAD };
                    (style, found.to_string(), Document::from(&found))
                }
                Err(err) => {
                    let sentence = err.to_string();
                    let document = Document::Null.with("sentence", &sentence[..]).with("kind", "undecided");
                    (BAD, sentence, document)
                }
            };
            let pair = format!("{first} and {second}");
            // Lines are broken before there are colours in them.
            let told = paragraph(&format!("{pair}: {sentence}"), 0);
            text += &told.replacen(&pair, &format!("{style}{pair}{style:#}"), 1);
            overlaps.push(json!(document.with("layouts", Document::from((first as i64, second as i64)))));
        }
    }
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
