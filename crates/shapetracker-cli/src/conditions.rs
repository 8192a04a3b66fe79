//! `shapetracker conditions`: which strides an earlier view must have for a later one to merge with it.

use serde_json::json;
use shapetracker::Unanswered;
use shapetracker::json::Value as Document;
use shapetracker_symbolic::{Answer as Verdict, Pair, Poly, Question, View};

use crate::answer::{Answer, BOLD, Failure, tuple};
use crate::check::{Numbers, sizes};
use crate::merge::one_view;
use crate::symbolic::{self, HELP, Named, Where};

#[derive(clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// The shape of the earlier view, as 10,3,3 or "(10, 3, 3)".
    #[arg(long, value_parser = sizes, allow_hyphen_values = true)]
    shape: Named<Numbers>,
    /// The later view, such as "(6):(4)"; a bare shape is a row-major view.
    #[arg(long, allow_hyphen_values = true)]
    later: String,
    #[command(flatten)]
    names: Where,
}

fn after_help() -> String {
    format!(
        "Examples:
  shapetracker conditions --shape 10,3,3 --later '(6):(4)'
  shapetracker conditions --shape 4,6 --later '(2, 12)'
  shapetracker conditions --shape 10,3,3 --later '(s):(4)'

The earlier view, next to memory, has strides s1, s2, .. from the outermost axis to the innermost, and nothing masked. \
The equations hold exactly when the two views are one. {HELP}

With --json: shape, later, equations (for each a coefficient for each stride: the sum of coefficient times stride is \
0), text. With names: those of `merge`."
    )
}

pub(crate) fn conditions(args: &Args) -> Result<Answer, Failure> {
    args.names.answer(|| of_numbers(args), |question| of_names(args, question))
}

/// The pair of views, in whose answer the strides are names like the sizes.
fn of_names(args: &Args, question: &mut Question) -> Result<Answer, Failure> {
    let shape = question.sizes(&args.shape.text).map_err(|err| Failure::from(err).about("--shape"))?;
    let later = question.chain(&args.later).map_err(|err| Failure::from(err).about("--later"))?;
    let names: Vec<String> = (1..=shape.len()).map(|axis| format!("s{axis}")).collect();
    if let Some(taken) = question.names().find(|name| names.iter().any(|stride| stride == name)) {
        let message = format!("`{taken}` is a stride of the earlier view, and cannot be the name of a size");
        return Err(Failure::new("name", message));
    }
    let strides = question.strides(&names.join(","))?;
    let scope = symbolic::scope(question)?;
    let (later, needs) = later.view(&scope)?;
    let earlier = View { shape, strides, offset: Poly::default(), mask: None };
    let pair = Pair::new(scope, needs, earlier, later)?;
    let [earlier, later] = pair.views().map(|view| view.text(pair.scope()));
    let text = match (pair.answer(), pair.sentence().split_once(" if and only if ")) {
        (Verdict::When { .. }, Some((one, formula))) => {
            format!("{BOLD}{earlier}{BOLD:#} and {BOLD}{later}{BOLD:#} are {one} exactly if\n\n  {formula}\n")
        }
        _ => format!("{BOLD}{earlier}{BOLD:#} and {BOLD}{later}{BOLD:#} are {}\n", pair.sentence()),
    };
    let text = text + &symbolic::needs(pair.needs(), pair.scope());
    Ok(Answer {
        text,
        json: json!(Document::from(&pair)),
        positive: !matches!(pair.answer(), Verdict::Undecided { .. }),
    })
}

fn of_numbers(args: &Args) -> Result<Answer, Failure> {
    let (shape, later) = (args.shape.numbers()?, one_view(&args.later)?);
    let conditions = match shapetracker::conditions(shape, &later) {
        Ok(conditions) => conditions,
        Err(Unanswered::Error(err)) => return Err(err.into()),
        Err(undecided) => return Err(Failure::new("undecided", undecided.to_string())),
    };
    let strides: Vec<String> = (1..=shape.len()).map(|axis| format!("s{axis}")).collect();
    let pair = format!("{BOLD}{}:{}{BOLD:#} and {BOLD}{later}{BOLD:#} are one view", tuple(shape), tuple(&strides));
    let text = if conditions.equations().is_empty() {
        format!("{pair} whatever the strides\n")
    } else {
        let equations = conditions.to_string().replace(", ", "\n  ");
        format!("{pair} exactly if\n\n  {equations}\n")
    };
    let equations: Vec<&[i64]> = conditions.equations().iter().map(|equation| &equation[..]).collect();
    let json = json!({
        "shape": shape[..],
        "later": later,
        "equations": equations,
        "text": conditions.to_string(),
    });
    Ok(Answer { text, json, positive: true })
}
