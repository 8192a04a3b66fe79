//! `shapetracker merge`: two views as one, or proof that they are not.

use serde_json::json;
use shapetracker::json::Value as Document;
use shapetracker::{Chain, Unmerged, View, merge as merged};

use crate::answer::{Answer, BAD, Failure, GOOD, paragraph, witness_json};
use crate::symbolic::{self, HELP, Where};
use crate::{shown, table};
use shapetracker_symbolic::Pair;

#[derive(clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// The view next to memory: (shape):(strides), with `offset` and `mask` after it if there are any, or View(...).
    #[arg(allow_hyphen_values = true)]
    earlier: String,
    /// The view whose addresses are positions in the earlier one.
    #[arg(allow_hyphen_values = true)]
    later: String,
    #[command(flatten)]
    names: Where,
}

fn after_help() -> String {
    format!(
        "Examples:
  shapetracker merge '(4, 6):(1, 4)' '(4, 2, 3):(6, 3, 1)'
  shapetracker merge '(2, 3):(1, 2)' '(3, 2):(2, 1)'
  shapetracker merge 'View(shape=(10, 9, 4), strides=(140, 11, 13))' '(6):(9)'
  shapetracker merge '(2, 3).permute(1, 0)' '(6)'
  shapetracker merge '(H, T):(1, H)' '(H*T)' --where 'T=1..4097'

A bare shape is a row-major view. Exit status 1 when the views are not one.

{HELP} Exit status 1 unless the answer is one view for all values.

With --json: earlier, later, mergeable (true, false, or null when undecided), view, reason, witness. With names: earlier, \
later, scope (names and their ranges), needs, kind (all, formula, never or undecided), formula (it is one view exactly \
where one of these lists of conditions holds: poly compares by op with 0, modulo mod if there is one), text, view, leaves \
(literals, view, verdict), witness (values, and the evidence there), reason."
    )
}

pub(crate) fn merge(args: &Args) -> Result<Answer, Failure> {
    args.names.answer(
        || of_numbers(args),
        |question| {
            let (earlier, later) = (question.chain(&args.earlier)?, question.chain(&args.later)?);
            Ok(symbolic::pair(&Pair::of_chains(&symbolic::scope(question)?, &earlier, &later)?))
        },
    )
}

fn of_numbers(args: &Args) -> Result<Answer, Failure> {
    let (earlier, later) = (one_view(&args.earlier)?, one_view(&args.later)?);
    let answer = |mergeable, view: Option<&View>, reason: Option<String>, witness: Option<Document>| {
        json!({
            "earlier": earlier,
            "later": later,
            "mergeable": mergeable,
            "view": view,
            "reason": reason,
            "witness": witness,
        })
    };
    match merged(&earlier, &later) {
        Ok(view) => Ok(Answer {
            text: format!(
                "{GOOD}One view{GOOD:#}: {view}\n{}{}",
                table::views(std::slice::from_ref(&view)),
                before(&view)
            ),
            json: answer(Some(true), Some(&view), None, None),
            positive: true,
        }),
        Err(Unmerged::Witness(witness)) => Ok(Answer {
            text: format!(
                "{BAD}Not one view{BAD:#}\n{}\n{}",
                paragraph(&format!("{witness}."), 2),
                shown::followed(&witness, &earlier, &later),
            ),
            json: answer(Some(false), None, Some(witness.to_string()), Some(witness_json(&witness))),
            positive: false,
        }),
        Err(Unmerged::Undecided) => Ok(Answer {
            text: format!("{BAD}Undecided{BAD:#}\n{}", paragraph(&format!("{}.", Unmerged::Undecided), 2)),
            json: answer(None, None, Some(Unmerged::Undecided.to_string()), None),
            positive: false,
        }),
        Err(Unmerged::Error(err)) => Err(err.into()),
        Err(other) => Err(Failure::new("unmerged", other.to_string())),
    }
}

/// What is to be said of a view that no array has, since it reads below address 0.
fn before(view: &View) -> String {
    let told = |err: shapetracker::Error| paragraph(&format!("Mind that {}.", err.reason()), 2);
    view.fits_buffer(None).err().map_or(String::new(), told)
}

/// Reads a view, or a chain that ends in one.
pub(crate) fn one_view(text: &str) -> Result<View, Failure> {
    let tracker = text.parse::<Chain>()?.tracker()?;
    let [view] = tracker.views() else {
        return Err(Failure::new(
            "views",
            format!("`{text}` is {} views, but one is merged with another", tracker.views().len()),
        ));
    };
    Ok(view.clone())
}
