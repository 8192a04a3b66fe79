//! Questions about sizes that are names.

use std::sync::Arc;

use serde_json::json;
use shapetracker::View as Integers;
use shapetracker::json::Value as Document;
use shapetracker_symbolic::{
    Answer as Verdict, ChainError, Counterexample, Error, Literal, Pair, Question, Scope, View,
};

use crate::answer::{Answer, BAD, BOLD, Failure, GOOD, paragraph};
use crate::{merge, table};

/// What is known of sizes that are names.
#[derive(clap::Args)]
pub(crate) struct Where {
    /// What is known of sizes that are names, such as "T=1..4097, H=8*h, s+L <= N"; may be given several times.
    #[arg(short = 'w', long = "where", value_name = "CONDITIONS", allow_hyphen_values = true)]
    given: Vec<String>,
}

/// The end of a help text that says what `--where` takes.
pub(crate) const NAMES: &str = "Sizes, strides, offsets, masks and bounds may be names and what + - * and ** make of them. --where \
gives half-open ranges (T=1..4097, T=0.., x=..), definitions (D=64, H=8*h) and conditions (s+L <= N, a*b == c*d, p % 2 == 0). \
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
            let mut question = Question::new(&self.given).map_err(|err| Failure::from(err).about("--where"))?;
            return names(&mut question);
        }
        let failure = match numbers() {
            Err(failure) if failure.is_syntax() => failure,
            answer => return answer,
        };
        let mut question = Question::default();
        let answer = names(&mut question);
        if question.names().next().is_some() { answer } else { Err(failure) }
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
    question.scope().map(Arc::new).map_err(|err| Failure::from(err).about("--where"))
}

/// The answer about two views: `heading` is what stands in front of `one view if and only if`.
pub(crate) fn pair(pair: &Pair) -> Answer {
    let verdict = pair.answer();
    let mut sentence = pair.sentence();
    sentence[..1].make_ascii_uppercase();
    let positive = matches!(verdict, Verdict::Always { .. });
    let style = if positive { GOOD } else { BAD };
    let mut text = format!("{style}{}{style:#}\n", paragraph(&sentence, 0).trim_end());
    text += &views(pair);
    text += &needs(pair.needs(), pair.scope());
    if let Some(found) = pair.counterexample() {
        text += &counterexample(pair, found);
    }
    Answer { text, json: json!(Document::from(pair)), positive }
}

/// The view, or the view in each case.
fn views(pair: &Pair) -> String {
    /// A table with more cases would bury the rest of the answer.
    const MOST: usize = 12;
    let names = pair.answer().scope(pair.scope());
    if let Some(view) = pair.answer().view() {
        return table::named(std::slice::from_ref(view), &names);
    }
    let cases = pair.cases();
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
fn counterexample(pair: &Pair, found: &Counterexample) -> String {
    let values = pair.values();
    let heading = if values.is_empty() { String::new() } else { format!(" where {values}") };
    let mut text = format!("\n{BOLD}Not one view{heading}{BOLD:#}\n{}", paragraph(&format!("{}.", found.witness), 2));
    let at = |view: &View| -> Option<Integers> { view.at(&found.values) };
    let [earlier, later] = pair.views();
    if let (Some(earlier), Some(later)) = (at(earlier), at(later)) {
        text += &format!("\n{}", merge::shown(&found.witness, &earlier, &later));
    }
    text
}
