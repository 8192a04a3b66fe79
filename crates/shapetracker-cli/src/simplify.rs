//! `shapetracker simplify`: any index expression made cheaper.

use std::ops::Range;

use serde_json::json;
use shapetracker::expr::{Expr, Extremes, Graph, Language, Syntax};
use shapetracker::json::Value as Document;
use shapetracker_base::int;
use shapetracker_base::text::Place;

use crate::answer::{Answer, Failure};
use crate::code::{Languages, comments, ranges_text, weight_text};
use crate::input::text_of;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  shapetracker simplify '(x*4 + y) // 4' --where 'x=0..10, y=0..4'
  shapetracker simplify '(i*8 + j) % 8 / 2' --c --where i=0..100 --where j=0..8 --lang cuda
  shapetracker simplify '(x - 3) % 5' --where x=0..100 --given '3 <= x < 8'

Expressions have + - * // % min max, comparisons, and, or, not, `a if c else b`, and >> << & by constants; with --c \
they are read as in C, where / and % round towards zero. The result has the same value for all values of the \
variables, and costs no more.

With --json: expression, simplified, given (both as read and simplified, or null), language, code (with --lang), cost \
(before and after: ops, divmods, weight), range (of the result, where the condition given holds), range_exact (whether \
both ends are attained; else they are a bound), value_range (a bound of everything that is computed), bits.")]
pub(crate) struct Args {
    /// The expression; - reads it from standard input.
    #[arg(allow_hyphen_values = true)]
    expression: String,
    /// The half-open ranges of the variables, such as "x=0..10, y=-3..4"; may be given several times.
    #[arg(short = 'w', long = "where", value_name = "RANGES", allow_hyphen_values = true)]
    ranges: Vec<String>,
    /// A condition: where it does not hold, the expression may become anything. It is simplified, too.
    #[arg(long, value_name = "CONDITION", allow_hyphen_values = true)]
    given: Option<String>,
    /// Read the expression as C, and write it so.
    #[arg(long)]
    c: bool,
    /// Print definitions in this language, with shared parts computed once.
    #[arg(long, value_parser = Languages)]
    lang: Option<Language>,
}

pub(crate) fn simplify(args: &Args) -> Result<Answer, Failure> {
    let (syntax, language) = if args.c { (Syntax::C, Language::C) } else { (Syntax::Python, Language::Python) };
    let mut graph = Graph::new();
    for text in &args.ranges {
        declare(&mut graph, text)?;
    }
    let expr = parse(&mut graph, &text_of(&args.expression)?, syntax)?;
    let given = args.given.as_ref().map(|text| condition(&mut graph, text, syntax)).transpose()?;
    let (simple, simple_given) = match given {
        None => (graph.simplify(expr), None),
        Some(given) => {
            let (simple, given) = graph.simplify_pair(expr, given);
            (simple, Some(given))
        }
    };
    let before: Vec<Expr> = [expr].into_iter().chain(given).collect();
    let after: Vec<Expr> = [simple].into_iter().chain(simple_given).collect();
    let named: Vec<(&str, Expr)> =
        simple_given.map(|given| ("given", given)).into_iter().chain([("value", simple)]).collect();
    let text = |expr| graph.text(expr, syntax);
    let code = match args.lang {
        Some(language) => graph.code(language, &named)?,
        None if simple_given.is_some() => graph.code(language, &named)?,
        None => text(simple)? + "\n",
    };
    let cost = |of: &[Expr]| Document::from(graph.cost(of));
    let values = graph.value_range(&after);
    // Where a condition that was given never holds, no value is asked for: the range is that of the expression by itself.
    let extremes = graph.extremes(simple, simple_given).or_else(|| graph.extremes(simple, None));
    let extremes = extremes.unwrap_or_else(|| Extremes::bound(graph.range(simple)));
    let json = json!({
        "expression": text(expr).ok(),
        "simplified": text(simple).ok(),
        "given": given.zip(simple_given).map(|(given, simple)| [text(given).ok(), text(simple).ok()]),
        "language": args.lang.map(|language| language.to_string()),
        "code": args.lang.map(|_| &code),
        "cost": { "before": cost(&before), "after": cost(&after) },
        "range": [extremes.low, extremes.high],
        "range_exact": extremes.exact,
        "value_range": [values.0, values.1],
        "bits": int::bits(values),
    });
    let remarks = [
        format!("before: {}", weight_text(&graph, &before)),
        format!("after:  {}", weight_text(&graph, &after)),
        match graph.range(simple) {
            _ if !graph.is_condition(simple) => ranges_text("value", extremes, values),
            (0, 1) => "a condition".into(),
            (truth, _) => format!("a condition that is always {}", truth == 1),
        },
    ];
    Ok(Answer { text: comments(args.lang.unwrap_or(language), &remarks) + &code, json, positive: true })
}

fn parse(graph: &mut Graph, text: &str, syntax: Syntax) -> Result<Expr, Failure> {
    graph.parse(text, syntax).map_err(|err| {
        let unknown = err.is_unknown_name();
        let failure = Failure::from(err);
        if unknown { failure.adding("; --where gives variables and their ranges") } else { failure }
    })
}

fn condition(graph: &mut Graph, text: &str, syntax: Syntax) -> Result<Expr, Failure> {
    let text = text.trim_end();
    let given = parse(graph, text, syntax).map_err(|failure| failure.about("--given"))?;
    if graph.is_condition(given) {
        return Ok(given);
    }
    let message = "--given: a condition is needed here, such as `x < 4`, not a number";
    Err(Failure::at("not_a_condition", message, text, 0..text.len()))
}

/// Makes the variables of a text such as `x=0..10, y in -3..4`.
fn declare(graph: &mut Graph, text: &str) -> Result<(), Failure> {
    for (name, range, span) in ranges(text)? {
        graph.variable(name, range).map_err(|err| Failure::from(err).placed(&Place::new(text, span)))?;
    }
    Ok(())
}

/// A name, its range, and where both stand.
pub(crate) type Named<'a> = (&'a str, Range<i64>, Range<usize>);

/// The names in a text such as `x=0..10, y in -3..4`, their ranges, and where each of them stands.
pub(crate) fn ranges(text: &str) -> Result<Vec<Named<'_>>, Failure> {
    let (mut begin, mut ranges) = (0, Vec::new());
    for item in text.split(',') {
        let whole = begin..begin + item.len();
        begin = whole.end + 1;
        let span = trimmed(text, whole);
        let (name, range) = variable(text, span.clone())?;
        ranges.push((&text[name], range, span));
    }
    Ok(ranges)
}

/// Where the name of a variable stands, and its range, in a part of a text such as `x=0..10`.
fn variable(text: &str, span: Range<usize>) -> Result<(Range<usize>, Range<i64>), Failure> {
    let item = &text[span.clone()];
    let letters = item.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(item.len());
    let rest = item[letters..].trim_start();
    let range = rest.strip_prefix('=').or_else(|| rest.strip_prefix("in").filter(|rest| rest.starts_with(' ')));
    let bounds = range.and_then(|range| range.split_once(".."));
    let Some((low, high)) = bounds.filter(|_| letters > 0 && !item.starts_with(|c: char| c.is_numeric())) else {
        let message = "--where: expected a half-open range such as `x=0..10`";
        return Err(Failure::at("syntax", message, text, span));
    };
    // The bounds end where the item does, and the first ends before the dots.
    let (low_end, high_end) = (span.end - high.len() - "..".len(), span.end);
    let low = bound(text, low_end - low.len()..low_end)?;
    let high = bound(text, high_end - high.len()..high_end)?;
    Ok((span.start..span.start + letters, low..high))
}

fn bound(text: &str, span: Range<usize>) -> Result<i64, Failure> {
    let span = trimmed(text, span);
    let number = &text[span.clone()];
    let digits = number.strip_prefix(['-', '+']).unwrap_or(number);
    let (kind, message) = match number.parse() {
        Ok(number) => return Ok(number),
        Err(_) if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            ("overflow", "--where: the bound is past the range of 64-bit integers")
        }
        Err(_) => ("syntax", "--where: expected a whole number"),
    };
    Err(Failure::at(kind, message, text, span))
}

/// A span without the white space at its ends.
fn trimmed(text: &str, span: Range<usize>) -> Range<usize> {
    let part = &text[span.clone()];
    let end = span.start + part.trim_end().len();
    end - part.trim_end().trim_start().len()..end
}
