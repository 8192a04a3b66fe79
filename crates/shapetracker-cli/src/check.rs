//! `shapetracker check`: can a tensor be viewed under another shape, and if not, what helps?

use serde_json::json;
use shapetracker::{Blocked, Misfit, View, fit, report};

use crate::answer::{Answer, BAD, BOLD, DIM, Failure, GOOD, count, paragraph, tuple, witness_json};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  shapetracker check --shape 2,3 --strides 1,2 --to 3,2
  shapetracker check --shape '(8, 3, 5)' --strides '(0, 1, 3)' --to 8,-1
  shapetracker check --shape 4,6 --to 24

Exit status 1 when a copy is needed.

With --json: view (the tensor), to, fits (true, false, or null when undecided), result (the view under the new shape); \
and when it does not fit: witness, reason, obstacles (kind, old_axes, new_axes, sentence, and stride and needed or \
range), copy (elements, of, copied, buffer_shape, view, pytorch).")]
pub(crate) struct Args {
    /// The shape of the tensor, as 2,3 or "(2, 3)".
    #[arg(long, value_parser = numbers, allow_hyphen_values = true)]
    shape: Numbers,
    /// Its strides, in elements; row-major when they are not given.
    #[arg(long, value_parser = numbers, allow_hyphen_values = true)]
    strides: Option<Numbers>,
    /// The address of its first element.
    #[arg(long, default_value_t = 0, allow_hyphen_values = true)]
    offset: i64,
    /// The shape to view it under; one size may be -1 and is inferred.
    #[arg(long, value_parser = numbers, allow_hyphen_values = true)]
    to: Numbers,
}

/// Numbers on the command line, one an axis.
pub(crate) type Numbers = std::sync::Arc<[i64]>;

/// Reads `2,3`, `(2, 3)`, `[2, 3]` or, for no axes at all, `()`.
pub(crate) fn numbers(text: &str) -> Result<Numbers, String> {
    let text = text.trim();
    let inside = match (text.chars().next(), text.chars().last()) {
        (Some('('), Some(')')) | (Some('['), Some(']')) if text.len() > 1 => &text[1..text.len() - 1],
        _ => text,
    };
    let inside = inside.trim();
    if inside.is_empty() {
        return Ok(Numbers::from([]));
    }
    let inside = inside.strip_suffix(',').unwrap_or(inside);
    inside
        .split(',')
        .map(|number| {
            let number = number.trim();
            number.parse().map_err(|_| format!("expected whole numbers such as 2,3 or (2, 3), found `{number}`"))
        })
        .collect()
}

pub(crate) fn check(args: &Args) -> Result<Answer, Failure> {
    let strides = match &args.strides {
        Some(strides) => strides.to_vec(),
        None => View::contiguous(&args.shape)?.strides().to_vec(),
    };
    let view = View::new(&args.shape, strides, args.offset, None)?;
    let answer = |fits: Option<bool>, result: Option<&View>| json!({ "view": view, "to": args.to[..], "fits": fits, "result": result });
    match fit(&view, &args.to) {
        Ok(result) => Ok(Answer {
            text: format!(
                "{GOOD}Yes{GOOD:#}, {} can be viewed as {}\n\n  strides  {}\n  offset   {}\n{}",
                shown(&view),
                tuple(result.shape()),
                tuple(result.strides()),
                result.offset(),
                if in_pytorch(&view) {
                    format!("  PyTorch  x.view({})\n", list(result.shape()))
                } else {
                    String::new()
                },
            ),
            json: answer(Some(true), Some(&result)),
            positive: true,
        }),
        Err(Misfit::Blocked(blocked)) => {
            let mut json = answer(Some(false), None);
            json["reason"] = json!(blocked.witness.to_string());
            json["witness"] = json!(witness_json(&blocked.witness));
            json["obstacles"] = json!(blocked.obstacles.iter().collect::<report::Value>());
            json["copy"] = json!({
                "elements": blocked.copied.numel(),
                "of": view.numel(),
                "copied": blocked.copied,
                "buffer_shape": blocked.copied.shape(),
                "view": blocked.view,
                "pytorch": blocked.pytorch(&view),
            });
            Ok(Answer { text: no(&view, &blocked), json, positive: false })
        }
        Err(undecided @ Misfit::Undecided) => Ok(Answer {
            text: format!("{BAD}Undecided{BAD:#}\n{}", paragraph(&format!("{undecided}."), 2)),
            json: answer(None, None),
            positive: false,
        }),
        Err(Misfit::Error(err)) => Err(err.into()),
    }
}

fn shown(view: &View) -> String {
    let offset = if view.offset() == 0 { String::new() } else { format!(" and offset {}", view.offset()) };
    format!("shape {} with strides {}{offset}", tuple(view.shape()), tuple(view.strides()))
}

fn no(view: &View, blocked: &Blocked) -> String {
    let mut text = format!("{BAD}No{BAD:#}, {} cannot be viewed as {}\n", shown(view), tuple(blocked.view.shape()));
    text += &format!("\n{BOLD}What is in the way{BOLD:#}\n");
    for obstacle in &blocked.obstacles {
        text += &paragraph(&format!("{obstacle}."), 2);
    }
    text += &format!("\n{BOLD}Proof{BOLD:#}\n{}", paragraph(&format!("{}.", blocked.witness), 2));
    let (copied, result) = (&blocked.copied, &blocked.view);
    let whole = copied == view;
    let how_many = match (copied.numel(), view.numel()) {
        (some, all) if some == all => format!("all {}", count(all, "element")),
        (some, all) => format!("{some} of {all} elements"),
    };
    text += &format!("\n{BOLD}The smallest copy that helps{BOLD:#} {DIM}({how_many}){DIM:#}\n");
    let from = if whole {
        String::new()
    } else {
        format!(" of the elements at strides {} from {}", tuple(copied.strides()), copied.offset())
    };
    text += &format!("  copy     into a fresh row-major buffer of shape {}{from}\n", tuple(copied.shape()));
    text += &format!("  view     that buffer as {} with strides {}", tuple(result.shape()), tuple(result.strides()));
    text += &if result.offset() == 0 { "\n".to_owned() } else { format!(" and offset {}\n", result.offset()) };
    if let Some(recipe) = blocked.pytorch(view) {
        text += &format!("  PyTorch  {recipe}\n");
    }
    text
}

/// Whether PyTorch has such tensors: its strides are not negative, and it has no masks.
fn in_pytorch(view: &View) -> bool {
    view.mask().is_none() && view.strides().iter().all(|&stride| stride >= 0)
}

/// Numbers as the arguments of a call.
fn list(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}
