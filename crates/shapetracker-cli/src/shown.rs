//! What several commands show.

use shapetracker::expr::{IndexExpr, Language};
use shapetracker::{ArrayLibrary, View, Witness, unravel_index};

use crate::answer::{BOLD, paragraph, width};
use crate::code::cost_text;
use crate::table;

/// An index expression with more definitions than this is only counted: it would bury the rest of the answer.
const MOST_DEFINITIONS: usize = 24;

/// An index expression, a line for each name that it defines, and what it costs.
pub(crate) fn expression(code: Result<&IndexExpr, String>) -> String {
    let written = code.and_then(|code| {
        let lines = code.code(Language::Python).map_err(|err| err.to_string())?;
        Ok((lines, cost_text(code.graph(), &[code.index(), code.valid()])))
    });
    let (lines, cost) = match &written {
        Ok((lines, cost)) => (lines, cost),
        Err(message) => return paragraph(&format!("there is none: {message}"), 2),
    };
    let definitions: Vec<(&str, &str)> = lines.lines().filter_map(|line| line.split_once(" = ")).collect();
    if definitions.len() > MOST_DEFINITIONS {
        let more = format!("{} lines, which `shapetracker index` prints: {cost}", definitions.len());
        return paragraph(&more, 2);
    }
    let indent = " ".repeat(9);
    let rows = definitions.into_iter().chain([("cost", &cost[..])]).map(|(name, text)| {
        let first = format!("  {name:5}  ");
        let options = textwrap::Options::new(width()).initial_indent(&first).subsequent_indent(&indent);
        // A product is not broken.
        textwrap::fill(&text.replace(" * ", "\u{a0}*\u{a0}"), options).replace('\u{a0}', " ") + "\n"
    });
    rows.collect()
}

/// The indices of a witness followed through both views, from index to address: the proof, as a table.
pub(crate) fn followed(witness: &Witness, earlier: &View, later: &View) -> String {
    let row = |index: &[i64], remark: &str| {
        let position = later.address(index);
        let inner = position.and_then(|position| unravel_index(position, earlier.shape()));
        let address = inner.as_ref().and_then(|inner| earlier.address(inner));
        let shown = |number: Option<i64>| number.map_or("masked".into(), |number| number.to_string());
        vec![
            format!("{index:?}"),
            shown(position),
            inner.map_or(String::new(), |inner| format!("{inner:?}")),
            if position.is_some() { shown(address) } else { String::new() },
            remark.to_owned(),
        ]
    };
    let rows = match witness {
        Witness::UnevenStep { axis, steps } => steps
            .iter()
            .flat_map(|step| [row(&step.index, ""), row(&step.next(*axis), &format!("{:+}", step.moved()))])
            .collect(),
        Witness::NotABox { valid: [a, b], invalid } => vec![row(a, ""), row(invalid, "between"), row(b, "")],
        _ => Vec::new(),
    };
    let heading = ["index", "position", "index in the earlier view", "address", ""];
    format!("{BOLD}From index to address{BOLD:#}\n{}", table::table(&heading, &rows, &[1, 3, 4]))
}

/// The least that must be copied, what each library does and what to write instead.
pub(crate) fn with_arrays(
    copy: Option<String>,
    libraries: impl Iterator<Item = (ArrayLibrary, String, Option<String>)>,
) -> String {
    let mut text = format!("\n{BOLD}With arrays{BOLD:#}\n");
    text += &copy.map_or(String::new(), |copy| paragraph(&copy, 2));
    for (library, sentence, code) in libraries {
        text += &paragraph(&format!("{library}: {sentence}"), 2);
        for line in code.iter().flat_map(|code| code.lines()) {
            // Code stays on its line, so that it can be copied.
            text += &format!("    {line}\n");
        }
    }
    text
}
