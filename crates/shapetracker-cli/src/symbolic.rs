//! Questions about sizes that are names.

use std::sync::Arc;

use serde_json::{Value, json};
use shapetracker::expr::{Expr, IndexExpr, Syntax};
use shapetracker::json::Value as Document;
use shapetracker::{BufferOf, ParseError};
use shapetracker_symbolic::json::{literals, poly, polys};
use shapetracker_symbolic::{
    Answer as Verdict, Chain, ChainError, ChainStart, Copies, Counterexample, Equality, Error, LibraryAdvice, Literal,
    Pair, Question, Scope, View, bounded,
};

use crate::answer::{Answer, BAD, BOLD, DIM, Failure, GOOD, count, paragraph, sentence, tuple, width};
use crate::{shown, table};

/// What is known of sizes that are names.
#[derive(clap::Args)]
pub(crate) struct Where {
    /// What is known of sizes that are names, such as "T=1..4097, H=8*h, s+L <= N"; may be given several times.
    #[arg(short = 'w', long = "where", value_name = "CONDITIONS", allow_hyphen_values = true)]
    given: Vec<String>,
}

/// The end of a help text that says what `--where` takes.
pub(crate) const HELP: &str = "Sizes, strides, offsets, masks and bounds may be names and what + - * and ** make of them. --where \
gives half-open ranges (T=1..4097, T=0.., s=0..N, x=..), definitions (D=64, H=8*h) and conditions (s+L <= N, a*b == c*d, p % 2 == 0). \
A name without a range is at least 1, or any integer if it occurs in strides only.";

impl Where {
    /// The answer where all sizes are numbers; or that where they are names, if something is said of names or if there are
    /// names in what cannot be read as numbers.
    pub(crate) fn answer<T>(
        &self,
        numbers: impl FnOnce() -> Result<T, Failure>,
        names: impl FnOnce(&mut Question) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if !self.given.is_empty() {
            return self.question(names);
        }
        let failure = match numbers() {
            Err(failure) if failure.is_syntax() => failure,
            answer => return answer,
        };
        let mut question = Question::default();
        let answer = bounded(|| names(&mut question));
        if question.names().next().is_some() { answer } else { Err(failure) }
    }
}

impl Where {
    /// The answer to a question in which numbers are what names are.
    pub(crate) fn question<T>(&self, answer: impl FnOnce(&mut Question) -> Result<T, Failure>) -> Result<T, Failure> {
        bounded(|| answer(&mut Question::new(&self.given).map_err(wrong)?))
    }
}

/// An argument of numbers, in whose place names may stand.
#[derive(Clone)]
pub(crate) struct Named<T> {
    pub(crate) text: Arc<str>,
    numbers: Option<T>,
}

impl<T> Named<T> {
    /// An argument as text, and read as numbers; refused where there are neither numbers nor names in it.
    pub(crate) fn new(text: &str, numbers: Result<T, String>) -> Result<Named<T>, String> {
        if let Err(err) = &numbers {
            let mut question = Question::default();
            // What is wrong besides is said when the names are read.
            let _ = question.sizes(text);
            if question.names().next().is_none() {
                return Err(err.clone());
            }
        }
        Ok(Named { text: text.into(), numbers: numbers.ok() })
    }

    /// The numbers; a failure to read them where there are names.
    pub(crate) fn numbers(&self) -> Result<&T, Failure> {
        self.numbers.as_ref().ok_or_else(|| Failure::new("syntax", "there are names in place of numbers"))
    }
}

impl From<Error> for Failure {
    fn from(err: Error) -> Failure {
        Failure::new(err.kind().name(), err.to_string())
    }
}

impl From<ChainError> for Failure {
    fn from(err: ChainError) -> Failure {
        Failure::new(err.name(), err.message()).placed(err.place())
    }
}

/// The names of a question, and what is known of them.
pub(crate) fn scope(question: &Question) -> Result<Arc<Scope>, Failure> {
    question.scope().map(Arc::new).map_err(wrong)
}

/// What is wrong with what is said of names.
pub(crate) fn wrong(err: ParseError) -> Failure {
    Failure::new("where", format!("--where: {}", err.message())).placed(err.place())
}

/// The answer about two views: `heading` is what stands in front of `one view if and only if`.
pub(crate) fn pair(pair: &Pair) -> Answer {
    let verdict = pair.answer();
    let mut sentence = pair.sentence();
    sentence[..1].make_ascii_uppercase();
    let positive = matches!(verdict, Verdict::Always { .. });
    let style = if positive { GOOD } else { BAD };
    let mut text = format!("{style}{sentence}{style:#}\n");
    text += &views(verdict, pair.scope(), pair.needs());
    text += &needs(pair.needs(), pair.scope());
    if let Some(found) = verdict.counterexample() {
        text += &counterexample(found, &pair.views().map(View::clone), pair.scope());
    }
    Answer { text, json: json!(Document::from(pair)), positive }
}

/// The view, or the view in each case.
fn views(verdict: &Verdict, scope: &Scope, needs: &[Literal]) -> String {
    /// A table with more cases would bury the rest of the answer.
    const MOST: usize = 12;
    let names = verdict.scope(scope);
    if let Some(view) = verdict.view() {
        return table::named(std::slice::from_ref(view), &names);
    }
    let cases = verdict.cases(scope, needs);
    let rows = cases.iter().take(MOST).map(|(condition, view)| match view {
        Ok(view) => vec![condition.clone(), view.text(&names)],
        Err(reason) => vec![condition.clone(), format!("undecided: {reason}")],
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() {
        return String::new();
    }
    let more = match cases.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!("  and {more} more cases, which --json has\n"),
    };
    table::table(&["where", "view"], &rows, &[]) + &more
}

/// What is needed of the values.
pub(crate) fn needs(needs: &[Literal], scope: &Scope) -> String {
    if needs.is_empty() {
        return String::new();
    }
    let needs: Vec<String> = needs.iter().map(|literal| literal.text(scope)).collect();
    format!("\n{BOLD}Needs{BOLD:#}\n{}", paragraph(&needs.join(" and "), 2))
}

/// Values at which it is not one view, and the proof there.
fn counterexample(found: &Counterexample, views: &[View], scope: &Scope) -> String {
    let values = scope.names().iter().zip(&found.values).map(|(name, value)| format!("{} = {value}", name.name));
    let values = values.collect::<Vec<_>>().join(", ");
    let heading = if values.is_empty() { String::new() } else { format!(" where {values}") };
    let mut text = format!("\n{BOLD}Not one view{heading}{BOLD:#}\n{}", paragraph(&format!("{}.", found.witness), 2));
    if let [earlier, later] = views
        && let (Some(earlier), Some(later)) = (earlier.at(&found.values), later.at(&found.values))
    {
        text += &format!("\n{}", shown::followed(&found.witness, &earlier, &later));
    }
    text
}

/// A chain followed operation by operation.
pub(crate) fn explain(chain: &Chain, scope: &Arc<Scope>) -> Result<Answer, Failure> {
    struct Step {
        text: String,
        shape: String,
        views: usize,
        /// What is copied, and what is needed.
        remarks: String,
        json: Document,
    }
    let (mut steps, mut trackers, mut known) = (Vec::<Step>::new(), Vec::new(), 0);
    let end = chain.follow(scope, |tensor, done| {
        let tracker = tensor.over_newest();
        let new = &tracker.needs()[known.min(tracker.needs().len())..];
        known = tracker.needs().len();
        let op = done.as_ref().map_or(String::new(), |(op, _)| scope.movement(op));
        let shape = polys(tracker.shape(), scope);
        let mut json = Document::Null.with("text", &op[..]).with("shape", shape).with("views", tracker.views().len());
        let mut remarks = Vec::new();
        if let Some((_, copies)) = &done
            && let Some(text) = copies.text(scope)
        {
            remarks.push(text);
            json = json.with("copies", document_of(copies, scope));
        }
        if !new.is_empty() {
            let new = new.iter().map(|literal| literal.text(scope)).collect::<Vec<_>>();
            remarks.push(format!("needs {}", new.join(" and ")));
        }
        steps.push(Step {
            text: if op.is_empty() { String::new() } else { format!(".{op}") },
            shape: tuple(&tracker.shape().iter().map(|size| scope.text(size)).collect::<Vec<_>>()),
            views: tracker.views().len(),
            remarks: remarks.iter().map(|remark| format!(", {remark}")).collect(),
            json: json.with("needs", literals(new, scope)),
        });
        trackers.push(tracker.clone());
    })?;
    let (result, buffer) = (end.over_newest(), chain.copy_in_words(&end));

    let longest = |text: fn(&Step) -> &str| steps.iter().map(|step| text(step).chars().count()).max().unwrap_or(0);
    let shape_width = longest(|step| &step.shape).min(30);
    let op_width = longest(|step| &step.text).min(width().saturating_sub(20 + shape_width));
    let start = match chain.start() {
        ChainStart::Views(views) => format!("a stack of {}", count(views.len() as i64, "view")),
        _ => steps.first().map_or(String::new(), |step| step.shape.clone()),
    };
    let mut text = format!("{BOLD}{start}{BOLD:#}\n");
    for step in &steps[1..] {
        let Step { text: op, shape, views, remarks, .. } = step;
        let views = count(*views as i64, "view");
        text += &format!("  {op:op_width$}  {DIM}{shape:shape_width$}{DIM:#}  {views}{remarks}\n");
    }
    text += &match result.views().len() {
        1 => format!("\n{GOOD}One view{GOOD:#}\n"),
        views => format!("\n{BAD}{views} views{BAD:#}, the first next to memory\n"),
    };
    text += &table::named(result.views(), scope);
    if let Some(buffer) = &buffer {
        text += &paragraph(&format!("over {buffer}"), 2);
    }
    if result.as_view().is_some() {
        let description = result.describe(None);
        let lies = description.lines().into_iter().filter(|line| match line.topic {
            "order" => description.order("row-major") != Some(&Equality::Always),
            "writing" => matches!(description.collision, Some(Some(_))),
            _ => false,
        });
        text += &lies.map(|line| paragraph(&sentence(&line.text), 2)).collect::<String>();
    }
    let verdict = result.single_view();
    if result.views().len() > 1 {
        text += &format!("  They are {}.\n{}", verdict.sentence(scope), views(&verdict, scope, result.needs()));
    }
    text += &needs(result.needs(), scope);
    if let Some(found) = verdict.counterexample() {
        text += &counterexample(found, result.views(), scope);
    }
    // Before a copy the trackers are those over the base.
    let advice = match end.buffer() {
        BufferOf::Base => chain.advice_knowing(scope, &trackers),
        _ => chain.advice(scope)?,
    };
    let library = |found: &LibraryAdvice| {
        let copied =
            found.copied.iter().map(|(op, elements)| Document::List(vec![Document::from(*op), poly(elements, scope)]));
        shapetracker::json::library(found.library, found.does, &found.sentence, found.code.as_deref())
            .with("unless", found.unless.iter().map(|part| literals(part, scope)).collect::<Document>())
            .with("copied", copied.collect::<Document>())
    };
    let libraries_json: Document = advice.libraries.iter().map(library).collect();
    if advice.libraries.iter().any(|found| !found.copied.is_empty() && found.code.is_some()) {
        let libraries = advice.libraries.into_iter().map(|found| (found.library, found.sentence, found.code));
        text += &shown::with_arrays(None, libraries);
    }
    let code = result.index_expr().map_err(|err| err.to_string());
    let into = buffer.as_ref().map_or(String::new(), |buffer| format!(" into {buffer}"));
    text +=
        &format!("\n{BOLD}Index expression{into}{BOLD:#}\n{}", shown::expression(code.as_ref().map_err(String::clone)));
    let steps: Document = steps.into_iter().skip(1).map(|step| step.json).collect();
    let mut fields = vec![("chain".to_owned(), chain.text().trim().into()), ("steps".to_owned(), steps)];
    if let Document::Object(more) = Document::from(result) {
        fields.extend(more);
    }
    if let BufferOf::Copy { op, elements } = end.buffer() {
        let buffer = Document::Null.with("op", op as i64).with("elements", poly(&elements, scope));
        fields.push(("buffer".to_owned(), buffer));
    }
    let python = |part: fn(&IndexExpr) -> Expr| {
        let code = code.as_ref().ok()?;
        code.graph().text(part(code), Syntax::Python).ok()
    };
    fields.push(("index".to_owned(), python(IndexExpr::index).into()));
    fields.push(("valid".to_owned(), python(IndexExpr::valid).into()));
    fields.push(("cost".to_owned(), code.as_ref().ok().map(|code| Document::from(code.cost())).into()));
    fields.push(("libraries".to_owned(), libraries_json));
    Ok(Answer { text, json: json!(Document::Object(fields)), positive: true })
}

/// What an operation copies: how many elements, and where it does not, as a formula, or null where that is not known to be.
fn document_of(copies: &Copies, scope: &Scope) -> Document {
    let unless = match copies {
        Copies::Unless(_, formula) => formula.iter().map(|part| literals(part, scope)).collect(),
        _ => Document::Null,
    };
    let elements = copies.elements().map_or(Document::Null, |elements| poly(elements, scope));
    Document::Null.with("elements", elements).with("unless", unless)
}

/// A document of JSON as the library has it.
pub(crate) fn document(value: Value) -> Document {
    match value {
        Value::Null => Document::Null,
        Value::Bool(value) => Document::Bool(value),
        // What is no 64-bit integer is read as a text, and refused there if it is none at all.
        Value::Number(number) => number.as_i64().map_or_else(|| number.to_string().into(), Document::Int),
        Value::String(text) => Document::Text(text),
        Value::Array(items) => items.into_iter().map(document).collect(),
        Value::Object(fields) => {
            Document::Object(fields.into_iter().map(|(name, value)| (name, document(value))).collect())
        }
    }
}
