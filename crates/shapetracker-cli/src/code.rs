//! Expressions as code, with comments that say what they cost and how wide their integers are.

use std::str::FromStr;

use clap::builder::{PossibleValue, TypedValueParser};
use shapetracker::expr::{Binary, Cost, Expr, Extremes, Graph, Language, Node, Unsupported};
use shapetracker_base::int::bits;

use crate::answer::{Failure, count};

/// Reads the name of a language on the command line; completions know the names.
#[derive(Clone)]
pub(crate) struct Languages;

impl TypedValueParser for Languages {
    type Value = Language;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<Language, clap::Error> {
        Language::from_str.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Language::ALL.iter().map(|language| PossibleValue::new(language.to_string()))))
    }
}

impl From<Unsupported> for Failure {
    fn from(err: Unsupported) -> Failure {
        Failure::refusal("unsupported", err.to_string())
    }
}

/// Lines as comments of a language, so that code may be pasted with them.
pub(crate) fn comments(language: Language, lines: &[String]) -> String {
    lines.iter().map(|line| format!("{} {line}", language.comment()).trim_end().to_owned() + "\n").collect()
}

/// What computing some expressions costs, for people: `5 operations, 1 division`.
pub(crate) fn cost_text(graph: &Graph, of: &[Expr]) -> String {
    let Cost { ops, divmods, .. } = graph.cost(of);
    if ops == 0 {
        return "nothing to compute".into();
    }
    let is_division = |part: &Expr| matches!(graph.node(*part), Node::Binary(Binary::Div | Binary::Mod, ..));
    let by_powers = graph.parts(of).iter().filter(|part| is_division(part)).count() - divmods;
    let power = if by_powers == 1 { "a power of two" } else { "powers of two" };
    let operations = count(ops as i64, "operation");
    let divisions = count(divmods as i64, "division");
    match (divmods, by_powers) {
        (0, 0) => format!("{operations}, no division"),
        (0, _) => format!("{operations}, {} by {power}", count(by_powers as i64, "division")),
        (_, 0) => format!("{operations}, {divisions}"),
        _ => format!("{operations}, {divisions} and {by_powers} by {power}"),
    }
}

/// The same with the weight, by which expressions are compared.
pub(crate) fn weight_text(graph: &Graph, of: &[Expr]) -> String {
    match graph.cost(of).weight {
        0 => cost_text(graph, of),
        weight => format!("{}, weight {weight}", cost_text(graph, of)),
    }
}

/// `index in 0..6, every intermediate value in -5..8: 32 bits suffice`; and `index within 0..9, ..`, where 0 and 8 are a
/// bound of which nobody knows whether it is attained.
pub(crate) fn ranges_text(name: &str, extremes: Extremes, values: (i64, i64)) -> String {
    let half_open = |(low, high): (i64, i64)| format!("{low}..{}", i128::from(high) + 1);
    let verdict = if bits(values) == 32 { "32 bits suffice" } else { "64 bits are needed" };
    let is_in = if extremes.exact { "in" } else { "within" };
    let range = half_open(extremes.range());
    format!("{name} {is_in} {range}, every intermediate value in {}: {verdict}", half_open(values))
}
