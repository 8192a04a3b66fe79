//! `shapetracker simplify`: any index expression made cheaper.

use std::ops::Range;

use serde_json::json;
use shapetracker::expr::{Binary, Expr, Extremes, Graph, Language, Node, Syntax};
use shapetracker::json::Value as Document;
use shapetracker_base::int;
use shapetracker_base::text::Place;
use shapetracker_symbolic::json::literals;
use shapetracker_symbolic::{Expression, Literal, Question, Scope, bounded};

use crate::answer::{Answer, Failure};
use crate::code::{Languages, comments, ranges_text, weight_text};
use crate::input::text_of;
use crate::symbolic;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  shapetracker simplify '(x*4 + y) // 4' --where 'x=0..10, y=0..4'
  shapetracker simplify '(i*8 + j) % 8 / 2' --c --where i=0..100 --where j=0..8 --lang cuda
  shapetracker simplify '(x - 3) % 5' --where x=0..100 --given '3 <= x < 8'
  shapetracker simplify '(b*T + t) // T' --where 't=0..T'

Expressions have + - * // % min max, comparisons, and, or, not, `a if c else b`, and >> << & by constants; with --c \
they are read as in C, where / and % round towards zero. The result has the same value for all values of the \
variables, and costs no more.

Ranges may end at names or have no end, and names may be divided by: --where takes ranges (z=0..Z, d=1.., x=..), definitions \
(H=8*h) and conditions (s+L <= N, p % 2 == 0, d != 0). Then a name of which nothing is said is any integer, and one that is \
divided by is at least 1, as is said under `needs`; the result has the same value for all values of the names.

With --json: expression, simplified, given (both as read and simplified, or null), language, code (with --lang), cost \
(before and after: ops, divmods, weight), range (of the result, where the condition given holds), range_exact (whether \
both ends are attained; else they are a bound), value_range (a bound of everything that is computed), bits; range and \
value_range are null where a name has no end; with names also names (what is known of them) and needs.")]
pub(crate) struct Args {
    /// The expression; - reads it from standard input.
    #[arg(allow_hyphen_values = true)]
    expression: String,
    /// The half-open ranges of the variables, such as "x=0..10, y=-3..4, z=0..Z"; may be given several times.
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
    let text = text_of(&args.expression)?;
    let mut kind = Kind::Names;
    let of_numbers = numbers(args, &text, &mut kind);
    if kind == Kind::Numbers || of_numbers.as_ref().is_err_and(|failure| !failure.is_syntax()) {
        return of_numbers;
    }
    // What is no question about numbers alone may be one about names.
    match bounded(|| names(args, &text)) {
        Err(_) if kind == Kind::Variables => of_numbers,
        answer => answer,
    }
}

/// What a question is about, as far as that is known.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Not all ranges are those of numbers.
    Names,
    /// All ranges are.
    Variables,
    /// They are, and nothing is divided by a variable.
    Numbers,
}

/// An expression before and after, with its condition, and what is known of its values.
struct Simplified<'a> {
    before: (&'a Graph, Vec<Expr>),
    after: (&'a Graph, Vec<Expr>),
    /// The range of the result; `None` where a name in it has no end. It is asked for when the text is there, which may be
    /// too long to be written.
    extremes: &'a dyn Fn() -> Option<Extremes>,
    /// What is known of the names, where there are any.
    names: Option<(&'a Scope, &'a [Literal])>,
}

/// The answer where all variables have ranges of numbers.
fn numbers(args: &Args, text: &str, kind: &mut Kind) -> Result<Answer, Failure> {
    let syntax = syntax(args);
    let mut graph = Graph::new();
    for text in &args.ranges {
        declare(&mut graph, text)?;
    }
    *kind = Kind::Variables;
    let expr = parse(&mut graph, text, syntax)?;
    let given = args.given.as_ref().map(|text| condition(&mut graph, text, syntax)).transpose()?;
    if text.len() > LONGEST_OF_NAMES || !divides_by_variables(&graph, expr) {
        *kind = Kind::Numbers;
    }
    let (simple, simple_given) = match given {
        None => (graph.simplify(expr), None),
        Some(given) => {
            let (simple, given) = graph.simplify_pair(expr, given);
            (simple, Some(given))
        }
    };
    // Where a condition that was given never holds, no value is asked for: the range is that of the expression by itself.
    let extremes = || {
        let found = graph.extremes(simple, simple_given).or_else(|| graph.extremes(simple, None));
        Some(found.unwrap_or_else(|| Extremes::bound(graph.range(simple))))
    };
    let found = Simplified {
        before: (&graph, [expr].into_iter().chain(given).collect()),
        after: (&graph, [simple].into_iter().chain(simple_given).collect()),
        extremes: &extremes,
        names: None,
    };
    found.answer(args)
}

/// The answer where variables have names for ends, or no ends, and where names are divided by.
fn names(args: &Args, text: &str) -> Result<Answer, Failure> {
    let syntax = syntax(args);
    let mut question = Question::new(&args.ranges).map_err(symbolic::wrong)?;
    let mut expression = question.expression(text, syntax)?;
    if let Some(given) = &args.given {
        expression = expression.given(given.trim_end(), syntax).map_err(|err| Failure::from(err).about("--given"))?;
    }
    let simple = expression.simplify();
    if let (Some(language), [name, ..]) = (args.lang, &simple.of_either_sign()[..])
        && language != Language::Python
    {
        let message = format!("{language}: how a quotient is rounded depends on the sign of {name}: say `{name}=1..`");
        return Err(Failure::refusal("unsupported", message));
    }
    let (graph, value, condition) = (simple.graph(), simple.value(), simple.condition());
    // Conditions exclude values, so that the ends need not be attained.
    let is_free = simple.scope().given().is_empty() && simple.scope().definitions().is_empty();
    let extremes = || {
        let of = |condition| graph.extremes(value, condition).filter(|_| is_free);
        let found = || of(condition).or_else(|| of(None)).unwrap_or_else(|| Extremes::bound(graph.range(value)));
        simple.is_bounded().then(found)
    };
    let roots = |of: &Expression| [of.value()].into_iter().chain(of.condition()).collect();
    let found = Simplified {
        before: (expression.graph(), roots(&expression)),
        after: (simple.graph(), roots(&simple)),
        extremes: &extremes,
        names: Some((simple.scope(), simple.needs())),
    };
    found.answer(args)
}

/// What is divided by a variable is looked at as a question about names where the text is no longer.
const LONGEST_OF_NAMES: usize = 1 << 12;

/// Whether something is divided by what is no number.
fn divides_by_variables(graph: &Graph, expr: Expr) -> bool {
    let divisors = graph.parts(&[expr]).into_iter().filter_map(|part| match graph.node(part) {
        Node::Binary(Binary::Div | Binary::Mod, _, divisor) => Some(divisor),
        _ => None,
    });
    let divisors: Vec<Expr> = divisors.collect();
    graph.parts(&divisors).into_iter().any(|part| matches!(graph.node(part), Node::Variable(_)))
}

fn syntax(args: &Args) -> Syntax {
    if args.c { Syntax::C } else { Syntax::Python }
}

impl Simplified<'_> {
    fn answer(&self, args: &Args) -> Result<Answer, Failure> {
        let syntax = syntax(args);
        let language = if args.c { Language::C } else { Language::Python };
        let ((old, before), (graph, after)) = (&self.before, &self.after);
        let simple = after[0];
        let given = before.get(1).copied().zip(after.get(1).copied());
        let named: Vec<(&str, Expr)> =
            given.map(|(_, given)| ("given", given)).into_iter().chain([("value", simple)]).collect();
        let text = |expr| graph.text(expr, syntax);
        let code = match args.lang {
            Some(language) => graph.code(language, &named)?,
            None if given.is_some() => graph.code(language, &named)?,
            None => text(simple)? + "\n",
        };
        let cost = |graph: &Graph, of: &[Expr]| Document::from(graph.cost(of));
        let values = graph.value_range(after);
        let extremes = (self.extremes)();
        let range = extremes.map(|extremes| [extremes.low, extremes.high]);
        let mut json = json!({
            "expression": old.text(before[0], syntax).ok(),
            "simplified": text(simple).ok(),
            "given": given.map(|(given, simple)| [old.text(given, syntax).ok(), text(simple).ok()]),
            "language": args.lang.map(|language| language.to_string()),
            "code": args.lang.map(|_| &code),
            "cost": { "before": cost(old, before), "after": cost(graph, after) },
            "range": range,
            "range_exact": extremes.is_some_and(|extremes| extremes.exact),
            "value_range": range.map(|_| [values.0, values.1]),
            "bits": int::bits(values),
        });
        let mut remarks =
            vec![format!("before: {}", weight_text(old, before)), format!("after:  {}", weight_text(graph, after))];
        remarks.extend(match (graph.node(simple), extremes) {
            (Node::Bool(truth), _) => Some(format!("a condition that is always {truth}")),
            _ if graph.is_condition(simple) => match graph.range(simple) {
                (truth, other) if truth == other && extremes.is_some() => {
                    Some(format!("a condition that is always {}", truth == 1))
                }
                _ => Some("a condition".into()),
            },
            (_, extremes) => extremes.map(|extremes| ranges_text("value", extremes, values)),
        });
        if let Some((scope, needs)) = self.names {
            let text = |literals: &[Literal]| literals.iter().map(|literal| literal.text(scope)).collect::<Vec<_>>();
            if !needs.is_empty() {
                remarks.push(format!("needs {}", text(needs).join(" and ")));
            }
            if let (Some(language), None) = (args.lang, extremes)
                && language != Language::Python
            {
                let used = graph.parts(after).into_iter().filter_map(|part| match graph.node(part) {
                    Node::Variable(place) => Some(&graph.variables()[place]),
                    _ => None,
                });
                let ranges = used.map(|name| format!("{}={}..{}", name.name, name.range.start, name.range.end));
                remarks.push(format!("in code {}", ranges.collect::<Vec<_>>().join(", ")));
            }
            if let Some(fields) = json.as_object_mut() {
                fields.insert("names".into(), json!(scope.known()));
                fields.insert("needs".into(), json!(literals(needs, scope)));
            }
        }
        Ok(Answer { text: comments(args.lang.unwrap_or(language), &remarks) + &code, json, positive: true })
    }
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
