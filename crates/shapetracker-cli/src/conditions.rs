//! `shapetracker conditions`: which strides an earlier view must have for a later one to merge with it.

use serde_json::json;
use shapetracker::Unanswered;

use crate::answer::{Answer, BOLD, Failure, tuple};
use crate::check::{Numbers, numbers};
use crate::merge::one_view;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  shapetracker conditions --shape 10,3,3 --later '(6):(4)'
  shapetracker conditions --shape 4,6 --later '(2, 12)'

The earlier view, next to memory, has strides s1, s2, .. from the outermost axis to the innermost, and nothing masked. \
The equations hold exactly when the two views are one.

With --json: shape, later, equations (for each a coefficient for each stride: the sum of coefficient times stride is \
0), text.")]
pub(crate) struct Args {
    /// The shape of the earlier view, as 10,3,3 or "(10, 3, 3)".
    #[arg(long, value_parser = numbers, allow_hyphen_values = true)]
    shape: Numbers,
    /// The later view, such as "(6):(4)"; a bare shape is a row-major view.
    #[arg(long, allow_hyphen_values = true)]
    later: String,
}

pub(crate) fn conditions(args: &Args) -> Result<Answer, Failure> {
    let later = one_view(&args.later)?;
    let conditions = match shapetracker::conditions(&args.shape, &later) {
        Ok(conditions) => conditions,
        Err(Unanswered::Error(err)) => return Err(err.into()),
        Err(undecided) => return Err(Failure::new("undecided", undecided.to_string())),
    };
    let strides: Vec<String> = (1..=args.shape.len()).map(|axis| format!("s{axis}")).collect();
    let pair =
        format!("{BOLD}{}:{}{BOLD:#} and {BOLD}{later}{BOLD:#} are one view", tuple(&args.shape), tuple(&strides));
    let text = if conditions.equations().is_empty() {
        format!("{pair} whatever the strides\n")
    } else {
        let equations = conditions.to_string().replace(", ", "\n  ");
        format!("{pair} exactly if\n\n  {equations}\n")
    };
    let equations: Vec<&[i64]> = conditions.equations().iter().map(|equation| &equation[..]).collect();
    let json = json!({
        "shape": args.shape[..],
        "later": later,
        "equations": equations,
        "text": conditions.to_string(),
    });
    Ok(Answer { text, json, positive: true })
}
