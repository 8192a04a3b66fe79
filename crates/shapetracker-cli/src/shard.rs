//! `shapetracker shard`: what becomes of a tensor that is spread over devices, and what must move between them.

use serde_json::{Value, json};
use shapetracker::json::Value as Document;
use shapetracker::{Chain, Movement};
use shapetracker_shard::{Check, Error, Moved, Outcome, Passage, Placement, Sharded};

use crate::answer::{Answer, BAD, BOLD, DIM, Failure, GOOD, paragraph, sentence};
use crate::check::{Numbers, numbers};
use crate::files::Dtype;
use crate::input::text_of;
use crate::plan::bytes;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  shapetracker shard '(8, 512, 1024) @ dp=2, tp=4 : S(0), S(1)' --view 4096,1024
  shapetracker shard '(4, 4) @ dp=2 : S(1)' --view 16 --dtype f32
  shapetracker shard '(8, 6) @ x=2, y=3 : P(\"x\", \"y\")' --chain 'permute(1, 0).reshape(3, 2, 8)'
  shapetracker shard '(4, 4) @ dp=2 : S(1)' --check '(2, 8) : S(1)'
  shapetracker shard '(64, 64) @ tp=4 : S(0)' --target '(64, 64) : S(1)' --dtype bf16

A tensor is its shape, its mesh of devices and a placement for each mesh axis: R (every device has everything), S(0) or \
Shard(0) (axis 0 is cut into parts of equal size, the last ones perhaps shorter or empty), SS(0, 4) or _StridedShard(dim=0, \
split_factor=4) (axis 0 is cut into 4 pieces, and each of them as by S(0)), P or Partial() (summands of everything). One \
partition of JAX may stand in place of all placements: P('dp', None, ('x', 'y')). They apply in the order of the mesh axes, \
each to what the earlier ones left.

An operation is free where every device already holds its part of the result: no communication, only another shape of the \
local tensor. Where elements must move, the answer names a device and elements that show it, and how many move to the \
cheapest plain shards of the result; with --target, how many must move to that.

Exit status 1 where an operation is not free, a claim is refuted, or elements must move to a target.

With --json: tensor, chain, claim, target; outcome (kind: free, unsayable, moves, undecided; after, parts, witness, \
reason), asked (the operations that the outcome is about: two numbers, the second past the last), check (kind: proved, \
refuted, undecided; witness, reason), moved (elements, most, device, bytes, and after: where they move to). What is not \
asked for is null. The fields in these are those of shapetracker_shard::json.")]
pub(crate) struct Args {
    /// The tensor: shape @ mesh : placements; - reads it from standard input.
    tensor: String,
    /// The shape to view it under; one size may be -1 and is inferred.
    #[arg(long, value_name = "SHAPE", value_parser = numbers, allow_hyphen_values = true)]
    view: Option<Numbers>,
    /// A chain of operations to do, such as "permute(1, 0).reshape(6)".
    #[arg(long, value_name = "CHAIN", conflicts_with = "view")]
    chain: Option<String>,
    /// How somebody says that the result is placed, to be proved or refuted; the mesh may be left away.
    #[arg(long, value_name = "TENSOR")]
    check: Option<String>,
    /// How the result shall be placed: counts the fewest elements that must move. The mesh may be left away.
    #[arg(long, value_name = "TENSOR", conflicts_with = "check")]
    target: Option<String>,
    /// The type of the elements, as f32 or bf16, to count bytes.
    #[arg(long, value_parser = crate::plan::dtype)]
    dtype: Option<Dtype>,
    /// Bytes per element, in place of a type.
    #[arg(long, value_name = "BYTES", conflicts_with = "dtype", value_parser = clap::value_parser!(u32).range(1..))]
    width: Option<u32>,
}

/// What is asked about a tensor, and what comes of it.
struct Answered {
    tensor: Sharded,
    /// The operations, and their texts.
    ops: Vec<(Movement, String)>,
    passage: Option<Passage>,
    claim: Option<(Sharded, Check)>,
    target: Option<Sharded>,
    /// The fewest elements that move, and to which tensor.
    moved: Option<(Sharded, Moved)>,
    width: Option<u32>,
}

pub(crate) fn shard(args: &Args) -> Result<Answer, Failure> {
    let answered = Answered::new(args)?;
    let json = answered.json(args);
    let positive = answered.is_positive();
    Ok(Answer { text: answered.text(positive), json, positive })
}

impl Answered {
    fn new(args: &Args) -> Result<Answered, Failure> {
        let tensor: Sharded = text_of(&args.tensor)?.parse()?;
        let beside = |text: &Option<String>| text.as_ref().map(|text| tensor.parse_beside(text)).transpose();
        let claimed = beside(&args.check).map_err(|err| Failure::from(err).about("--check"))?;
        let target = beside(&args.target).map_err(|err| Failure::from(err).about("--target"))?;
        let ops = ops(args, &tensor)?;
        let width = match &args.dtype {
            Some(dtype) => Some(dtype.width().map_err(|message| Failure::new("dtype", message))? as u32),
            None => args.width,
        };
        let movements: Vec<Movement> = ops.iter().map(|(op, _)| op.clone()).collect();
        let passage = (!ops.is_empty()).then(|| tensor.through(&movements)).transpose()?;
        // The tensor that the last question was about: after everything that is free, or before what is not.
        let is_done = passage.as_ref().is_none_or(|passage| matches!(passage.outcome, Outcome::Free { .. }));
        let last = match &passage {
            Some(Passage { outcome: Outcome::Free { after }, .. }) => after.clone(),
            Some(passage) => passage.before.clone(),
            None => tensor.clone(),
        };
        let only_reshapes = passage.as_ref().is_none_or(|passage| {
            is_done || passage.asked.end == ops.len() && ops[passage.asked.clone()].iter().all(|(op, _)| is_reshape(op))
        });
        let comparable = |what: &str| {
            if only_reshapes {
                return Ok(());
            }
            let message = format!("{what} cannot be compared: the chain stops at an operation that moves elements");
            Err(Failure::refusal("moves", message))
        };
        let claim = match claimed {
            None => None,
            Some(claimed) => {
                comparable("--check")?;
                let check = last.check(&claimed)?;
                Some((claimed, check))
            }
        };
        let moved = match &target {
            Some(target) => {
                comparable("--target")?;
                Some((target.clone(), last.moved(target)?))
            }
            // What would have to move is only of interest where nobody claims that nothing does.
            None if !is_done && only_reshapes && claim.is_none() => match &passage {
                Some(Passage { outcome: Outcome::Moves { .. }, asked, before }) => {
                    let shape = before_shape(before, &movements[asked.clone()])?;
                    last.cheapest(&shape)?
                }
                _ => None,
            },
            None => None,
        };
        Ok(Answered { tensor, ops, passage, claim, target, moved, width })
    }

    fn is_positive(&self) -> bool {
        if let Some((_, check)) = &self.claim {
            return *check == Check::Proved;
        }
        if self.target.is_some() {
            return self.moved.as_ref().is_some_and(|(_, moved)| moved.elements == 0);
        }
        self.passage.as_ref().is_none_or(|passage| matches!(passage.outcome, Outcome::Free { .. }))
    }

    fn json(&self, args: &Args) -> Value {
        let document = |document: Document| json!(document);
        let bytes = |moved: &Moved| self.width.map(|width| moved.bytes(width));
        let moved = self.moved.as_ref().map(|(after, moved)| {
            let mut document = document(moved.into());
            document["bytes"] = bytes(moved).map_or(Value::Null, integer);
            document["after"] = json!(Document::from(after));
            document
        });
        json!({
            "tensor": document((&self.tensor).into()),
            "chain": self.ops.iter().map(|(_, text)| text).collect::<Vec<_>>(),
            "claim": self.claim.as_ref().map(|(claimed, _)| document(claimed.into())),
            "target": self.target.as_ref().map(|target| document(target.into())),
            "outcome": self.passage.as_ref().map(|passage| document((&passage.outcome).into())),
            "asked": self.passage.as_ref().map(|passage| [passage.asked.start, passage.asked.end]),
            "check": self.claim.as_ref().map(|(_, check)| document(check.into())),
            "moved": moved,
            "dtype": args.dtype.as_ref().map(|dtype| &dtype.name),
        })
    }

    fn text(&self, positive: bool) -> String {
        let style = if positive { GOOD } else { BAD };
        let (verdict, rest) = self.verdict();
        let mut text = format!("{style}{verdict}{style:#}{rest}\n\n  {}\n", self.tensor);
        if let Some(passage) = &self.passage {
            let free = match &passage.outcome {
                Outcome::Free { .. } => self.ops.len(),
                _ => passage.asked.start,
            };
            for (number, (_, op)) in self.ops.iter().enumerate() {
                let note = match () {
                    () if number < free => "free",
                    () if passage.asked.contains(&number) => match passage.outcome {
                        Outcome::Moves { .. } => "moves elements",
                        Outcome::Unsayable { .. } => "free, but no placements say what it makes",
                        _ => "undecided",
                    },
                    () => "not asked",
                };
                text += &format!("    {op}  {DIM}{note}{DIM:#}\n");
            }
            if let Outcome::Free { after } = &passage.outcome {
                text += &format!("  {after}\n");
                text += &written_elsewhere(after);
            }
        }
        let why = match (&self.claim, &self.passage) {
            (Some((_, Check::Refuted(why))), _) => Some(why.to_string()),
            (Some((_, Check::Undecided(why))), _) => Some(why.to_string()),
            (Some(_), _) => None,
            (None, Some(passage)) => match &passage.outcome {
                Outcome::Moves { why } => Some(why.to_string()),
                Outcome::Unsayable { parts } => Some(parts.to_string()),
                Outcome::Undecided { why } => Some(why.to_string()),
                _ => None,
            },
            (None, None) => None,
        };
        if let Some(why) = why {
            text += &format!("\n{BOLD}Why{BOLD:#}\n{}", paragraph(&sentence(&why), 2));
        }
        if let Some((after, moved)) = &self.moved {
            let what = match self.target {
                Some(_) => "What must move",
                None => "What moves to the cheapest plain shards",
            };
            text += &format!("\n{BOLD}{what}{BOLD:#}\n");
            let most = match moved.elements {
                0 => String::new(),
                _ => format!("; device {} gets the most, {}", self.device(&moved.device), self.amount(moved.most)),
            };
            text += &format!("  {after}\n");
            text += &paragraph(&format!("{}{most}", self.amount(moved.elements)), 4);
        }
        text
    }

    /// The answer in a few words, and what it is about.
    fn verdict(&self) -> (&'static str, String) {
        if let Some((claimed, check)) = &self.claim {
            return match check {
                Check::Proved => ("Proved", format!(": the devices hold {claimed}")),
                Check::Refuted(_) => ("Refuted", format!(": the devices do not hold {claimed}")),
                _ => ("Undecided", format!(": whether the devices hold {claimed}")),
            };
        }
        if self.target.is_some() {
            return match &self.moved {
                Some((_, moved)) if moved.elements == 0 => ("Yes", ", every device holds what it shall have".into()),
                _ => ("No", ", some device lacks what it shall have".into()),
            };
        }
        match self.passage.as_ref().map(|passage| &passage.outcome) {
            None => ("Yes", ", this is a tensor that devices can hold".into()),
            Some(Outcome::Free { .. }) => ("Yes", ", no element has to move between devices".into()),
            Some(Outcome::Unsayable { .. }) => (
                "Yes and no",
                ": no element has to move between devices, but no placements say what they hold then".into(),
            ),
            Some(Outcome::Moves { .. }) => ("No", ", elements have to move between devices".into()),
            Some(_) => ("Undecided", ": whether elements have to move between devices".into()),
        }
    }

    /// Elements, and bytes where their width is known.
    fn amount(&self, elements: i128) -> String {
        let noun = if elements == 1 { "element" } else { "elements" };
        match self.width {
            Some(width) => {
                let number = u128::try_from(elements).unwrap_or(0).saturating_mul(width.into());
                format!("{elements} {noun} ({})", bytes(number))
            }
            None => format!("{elements} {noun}"),
        }
    }

    /// A device as its coordinates, with the names of the mesh axes.
    fn device(&self, device: &[i64]) -> String {
        let coordinates = self.tensor.mesh().names().iter().zip(device);
        let coordinates: Vec<String> = coordinates.map(|(name, coordinate)| format!("{name}={coordinate}")).collect();
        format!("({})", coordinates.join(", "))
    }
}

/// The operations that are asked about.
fn ops(args: &Args, tensor: &Sharded) -> Result<Vec<(Movement, String)>, Failure> {
    let reshaped = |shape: &[i64]| {
        let op = Movement::Reshape(shape.into());
        (op.clone(), format!(".{op}"))
    };
    if let Some(shape) = &args.view {
        return Ok(vec![reshaped(shape)]);
    }
    let Some(text) = &args.chain else {
        return Ok(Vec::new());
    };
    let text = text.trim_end();
    let (chain, err) = Chain::read_from(text, Some(tensor.shape()));
    err.map_or(Ok(()), Err)?;
    chain.tracker_from(tensor.shape())?;
    let op = |(number, op): (usize, &Movement)| {
        (op.clone(), format!(".{}", text[chain.span(number)].trim_start_matches('.')))
    };
    Ok(chain.ops().iter().enumerate().map(op).collect())
}

/// The shape that operations make of a tensor.
fn before_shape(before: &Sharded, ops: &[Movement]) -> Result<Vec<i64>, Failure> {
    let mut tracker = shapetracker::ShapeTracker::contiguous(before.shape())?;
    for op in ops {
        tracker = tracker.apply(op)?;
    }
    Ok(tracker.shape().to_vec())
}

/// Whether an operation keeps all elements in their row-major order.
fn is_reshape(op: &Movement) -> bool {
    matches!(op, Movement::Reshape(_) | Movement::Squeeze(_) | Movement::SqueezeAll | Movement::Unsqueeze(_))
}

/// The placements as PyTorch and JAX write them.
fn written_elsewhere(after: &Sharded) -> String {
    let placements: Vec<String> = after
        .placements()
        .iter()
        .map(|placement| match placement {
            Placement::Replicate => "Replicate()".into(),
            Placement::Partial => "Partial()".into(),
            Placement::Shard(axis) => format!("Shard({axis})"),
            Placement::StridedShard { axis, pieces } => format!("_StridedShard({axis}, split_factor={pieces})"),
        })
        .collect();
    let mut text = format!("\n  PyTorch  [{}]\n", placements.join(", "));
    if let Some(spec) = after.spec() {
        let quoted = |names: &Vec<&str>| names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>();
        let entry = |names: &Vec<&str>| match &quoted(names)[..] {
            [] => "None".to_owned(),
            [name] => name.clone(),
            names => format!("({})", names.join(", ")),
        };
        text += &format!("  JAX      P({})\n", spec.iter().map(entry).collect::<Vec<_>>().join(", "));
    }
    text
}

/// A number, or its digits where it does not fit.
fn integer(number: i128) -> Value {
    i64::try_from(number).map_or_else(|_| json!(number.to_string()), |number| json!(number))
}

impl From<Error> for Failure {
    fn from(err: Error) -> Failure {
        let message = err.to_string();
        if err.is_limit() { Failure::refusal("undecided", message) } else { Failure::new("shard", message) }
    }
}
