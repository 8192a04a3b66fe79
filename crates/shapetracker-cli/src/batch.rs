//! `shapetracker batch`: JSON Lines in, one JSON object per line out, in order.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::{self, DeserializeOwned, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use shapetracker::expr::{Cost, Syntax};
use shapetracker::json::Value as Document;
use shapetracker::{AddressRun, Error, Movement, ParseError, ShapeTracker, View};
use shapetracker_symbolic::{self as names, Pair, Question};

use crate::answer::Failure;
use crate::files::{open_regular, shown, shown_path};
use crate::input::mistake;
use crate::symbolic;

#[derive(clap::Args)]
#[command(after_help = r#"Examples:
  shapetracker batch --crc32 --expr chains.jsonl > reduced.jsonl
  echo '{"id":"c1","base":[2,3],"ops":[["permute",[1,0]],["reshape",[6]]]}' | shapetracker batch

A line in has an id, and a base shape or views (the first next to memory); then perhaps ops:
  {"id":"c1","base":[2,3],"ops":[["permute",[1,0]],["reshape",[6]]]}
  {"id":"m1","views":[{"shape":[2,3],"strides":[3,1],"offset":0,"mask":null}]}
ops: ["reshape",[sizes]], ["permute",[axes]], ["expand",[sizes]], ["pad",[[before,after],..]],
["shrink",[[begin,end],..]], ["flip",[one boolean per axis, or axes]], ["step",[steps]], and those of `explain`.
Sizes, strides, offsets, masks and bounds may be texts with names, as in `merge`, of which "where"
says what is known:
  {"id":"s1","base":["B","T","3*D"],"ops":[["reshape",["B","T",3,"D"]]],"where":"T=1..4097"}

A line may have the words of another command that only answers instead. What that writes with --json
is then the line out, behind the id:
  {"id":"l1","command":["layout","compose","(6,2):(8,2)","(4,3):(3,1)"]}

A line out has the id, the shape, the fewest views; with --crc32 crc32 (null above 2^22 elements);
with --expr index and valid, expressions over idx0, idx1, .., and their cost: ops, and divmods, the
divisions and modulos among them that are not by a power of two. With names it has the fields of
`merge --json`, for a base or ops with shape and views instead of earlier and later. A line that
cannot be served yields
  {"id":..,"error":{"kind":"..","message":".."}}
and the run goes on; the exit status is then 1. Blank lines are skipped.

A field that a line in does not have is an error of the line, except what a line out has and the
remarks of recorded layouts (source, numel, view, mergeable, reference_views, reference_cost), which
are not read. FILE is a regular file, or a pipe that a shell opens, as in <(zcat chains.jsonl.gz);
what else is no regular file can be standard input. The output is JSON with and
without --json."#)]
pub(crate) struct Args {
    /// The file to read; standard input when there is none, or for -.
    file: Option<PathBuf>,
    /// Add the CRC-32 of all addresses in row-major order, each a little-endian 64-bit integer, -1 where masked.
    #[arg(long)]
    crc32: bool,
    /// Add the cheapest Python expressions for the address of an element and for whether it has one, and their cost.
    #[arg(long)]
    expr: bool,
}

/// Above so many elements the CRC-32 is null: going through all addresses would take too long.
const MOST_ELEMENTS: i64 = 1 << 22;

/// A longer line is refused before it is read in full, so that input without line ends cannot fill the memory.
const LONGEST_LINE: u64 = 1 << 26;

/// What may stand beside a question and is not read: the fields of an answer, so that answers can be asked about again, and
/// those that the recorded layouts of the tests have.
const REMARKS: [&str; 19] = [
    "shape",
    "scope",
    "needs",
    "kind",
    "formula",
    "text",
    "leaves",
    "witness",
    "reason",
    "crc32",
    "index",
    "valid",
    "cost",
    "source",
    "numel",
    "view",
    "mergeable",
    "reference_views",
    "reference_cost",
];

#[derive(Default)]
struct Line<'a> {
    id: Option<&'a RawValue>,
    base: Option<&'a RawValue>,
    views: Option<&'a RawValue>,
    ops: Option<&'a RawValue>,
    /// The words of another command, in place of all others.
    command: Option<&'a RawValue>,
    /// What is said of sizes that are names.
    given: Option<&'a RawValue>,
    /// The first field that is none of these and no remark.
    unknown: Option<String>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Line<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = Line<'de>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object with a base or views")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Line<'de>, A::Error> {
                let mut line = Line::default();
                while let Some(name) = map.next_key::<String>()? {
                    let field = match &name[..] {
                        "id" => &mut line.id,
                        "base" => &mut line.base,
                        "views" => &mut line.views,
                        "ops" => &mut line.ops,
                        "command" => &mut line.command,
                        "where" => &mut line.given,
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                            if !REMARKS.contains(&&name[..]) {
                                line.unknown.get_or_insert(name);
                            }
                            continue;
                        }
                    };
                    let value = map.next_value::<&RawValue>()?;
                    if field.replace(value).is_some() {
                        return Err(de::Error::custom(format_args!("the line has two fields `{name}`")));
                    }
                }
                Ok(line)
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

#[derive(Serialize)]
struct Served<'a> {
    id: Option<&'a RawValue>,
    shape: &'a [i64],
    views: &'a [View],
    #[serde(skip_serializing_if = "Option::is_none")]
    crc32: Option<Option<String>>,
    #[serde(flatten)]
    code: Option<Code>,
}

/// The index expression and its cost.
#[derive(Serialize)]
struct Code {
    index: String,
    valid: String,
    cost: Price,
}

#[derive(Serialize)]
struct Price {
    ops: usize,
    divmods: usize,
}

/// Serves all lines, of which the description of the command line reads those that are other commands; returns whether every one could
/// be served.
pub(crate) fn batch(args: &Args, cli: &mut clap::Command) -> Result<bool, Failure> {
    let mut input: Box<dyn BufRead> = match args.file.as_ref().filter(|file| file.as_os_str() != "-") {
        None => Box::new(BufReader::with_capacity(1 << 16, io::stdin().lock())),
        Some(path) => {
            let file =
                if is_stream(path) { File::open(path).map_err(|err| err.to_string()) } else { open_regular(path) };
            let file = file.map_err(|reason| Failure::new("io", format!("cannot read {}: {reason}", shown_path(path))));
            Box::new(BufReader::with_capacity(1 << 16, file?))
        }
    };
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut line = Vec::new();
    let mut all_served = true;
    // Whether what comes next is the rest of a line that was too long.
    let mut rest = false;
    loop {
        line.clear();
        match input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(_) => {}
            Err(err) => {
                let _ = out.flush();
                return Err(Failure::new("io", format!("cannot read on: {err}")));
            }
        }
        let cut = line.len() as u64 == LONGEST_LINE && line.last() != Some(&b'\n');
        let line = line.trim_ascii_end();
        if std::mem::replace(&mut rest, cut) || line.is_empty() {
            continue;
        }
        let written = if cut {
            let failure = Failure::new("too_long", format!("the line is longer than {LONGEST_LINE} bytes"));
            refuse(None, &failure, &mut out, &mut all_served)
        } else {
            serve(line, args, cli, &mut out, &mut all_served)
        };
        if let Err(err) = written.and_then(|()| out.write_all(b"\n")) {
            return ended(&err, all_served);
        }
    }
    match out.flush() {
        Ok(()) => Ok(all_served),
        Err(err) => ended(&err, all_served),
    }
}

/// Whether a path is a name for something that this process was started with open, as a shell's `<(..)` gives: a pipe then
/// has a writer already, and nothing waits for one.
fn is_stream(path: &Path) -> bool {
    path == Path::new("/dev/stdin") || path.starts_with("/dev/fd") || path.starts_with("/proc/self/fd")
}

/// A closed pipe ends the run without a failure, as in `shapetracker batch | head`; any other error is a failure.
fn ended(err: &io::Error, all_served: bool) -> Result<bool, Failure> {
    match err.kind() {
        io::ErrorKind::BrokenPipe => Ok(all_served),
        _ => Err(Failure::new("io", format!("cannot write: {err}"))),
    }
}

/// Writes the answer to one line.
fn serve(
    line: &[u8],
    args: &Args,
    cli: &mut clap::Command,
    out: &mut impl Write,
    all_served: &mut bool,
) -> io::Result<()> {
    let parsed = match parse(line) {
        Ok(parsed) => parsed,
        Err(failure) => return refuse(None, &failure, out, all_served),
    };
    if let Some(unknown) = &parsed.unknown {
        let message = format!(
            "the line has a field `{}`, which is none of `id`, `base`, `views`, `ops`, `where` and `command`",
            shown(unknown)
        );
        return refuse(parsed.id, &Failure::new("unknown_field", message), out, all_served);
    }
    if let Some(command) = parsed.command {
        return match answer_of(command, &parsed, cli, line) {
            Ok(document) => with_id(&parsed, &document.to_string(), out),
            Err(failure) => refuse(parsed.id, &failure, out, all_served),
        };
    }
    let answer = if parsed.given.is_some() {
        Err(Failure::new("where", ""))
    } else {
        tracker(&parsed, line).and_then(|tracker| {
            let code = args.expr.then(|| Code::of(&tracker)).transpose()?;
            Ok((tracker, code))
        })
    };
    // There may be names in what cannot be read as numbers.
    let answer = match answer {
        Err(failure) if failure.is_of(&["where", "base", "views", "ops"]) => match in_names(&parsed, line) {
            Ok(None) => Err(failure),
            Err(failure) => Err(failure),
            Ok(Some(document)) => return with_id(&parsed, &document.to_string(), out),
        },
        answer => answer,
    };
    match answer {
        Ok((tracker, code)) => {
            let crc32 = args.crc32.then(|| crc32_of(&tracker));
            let served = Served { id: parsed.id, shape: tracker.shape(), views: tracker.views(), crc32, code };
            Ok(serde_json::to_writer(out, &served)?)
        }
        Err(failure) => refuse(parsed.id, &failure, out, all_served),
    }
}

/// Writes an object's fields behind the id of a line.
fn with_id(parsed: &Line, object: &str, out: &mut impl Write) -> io::Result<()> {
    write!(out, "{{\"id\":{},{}", parsed.id.map_or("null", RawValue::get), &object[1..])
}

/// The answer to a line that has the words of another command.
fn answer_of(command: &RawValue, parsed: &Line, cli: &mut clap::Command, line: &[u8]) -> Result<Value, Failure> {
    let beside = [("base", parsed.base), ("views", parsed.views), ("ops", parsed.ops), ("where", parsed.given)];
    if let Some((name, _)) = beside.into_iter().find(|(_, field)| field.is_some()) {
        return Err(Failure::new(
            "start",
            format!("a line with a command has no other question, but this one has `{name}`"),
        ));
    }
    crate::asked_in_words(cli, &field::<Vec<String>>("command", command, line)?)
}

impl Code {
    fn of(tracker: &ShapeTracker) -> Result<Code, Error> {
        let code = tracker.index_expr()?;
        let text = |part| code.graph().text(part, Syntax::Python);
        let Cost { ops, divmods, .. } = code.cost();
        Ok(Code { index: text(code.index())?, valid: text(code.valid())?, cost: Price { ops, divmods } })
    }
}

/// Writes why a line was not served.
fn refuse(id: Option<&RawValue>, failure: &Failure, out: &mut impl Write, all_served: &mut bool) -> io::Result<()> {
    *all_served = false;
    write!(out, "{{\"id\":{},\"error\":{}}}", id.map_or("null", RawValue::get), failure.json()["error"])
}

fn parse(line: &[u8]) -> Result<Line<'_>, Failure> {
    let text = std::str::from_utf8(line).map_err(|err| {
        Failure::new("utf8", format!("the line is not text: byte {} is not UTF-8", err.valid_up_to()))
    })?;
    serde_json::from_str(text).map_err(|err| Failure::new("json", place(&err, text, 0)))
}

fn tracker(parsed: &Line, line: &[u8]) -> Result<ShapeTracker, Failure> {
    let start = match (parsed.base, parsed.views) {
        (Some(base), None) => ShapeTracker::contiguous(field::<Vec<i64>>("base", base, line)?)?,
        (None, Some(views)) => ShapeTracker::from_views(field::<Vec<View>>("views", views, line)?)?,
        (Some(_), Some(_)) => return Err(Failure::new("start", "a line has a base or views, but this one has both")),
        (None, None) => return Err(Failure::new("start", "a line has a base or views, but this one has neither")),
    };
    let Some(ops) = parsed.ops else { return Ok(start) };
    let ops: Vec<Movement> = field("ops", ops, line)?;
    ops.iter().enumerate().try_fold(start, |tracker, (number, op)| {
        tracker.apply(op).map_err(|err| Failure::from(err).about(format_args!("ops[{number}]")))
    })
}

/// The answer to a line whose sizes are names: about the pair where it has two views and no operations, and else about the
/// tracker. Nothing where there are no names, and nothing is said of any.
fn in_names(parsed: &Line, line: &[u8]) -> Result<Option<Document>, Failure> {
    let given = parsed.given.map(|given| field::<String>("where", given, line)).transpose()?;
    let wrong = |err: ParseError| Failure::new("where", format!("where: {}", err.message())).placed(err.place());
    let mut question = Question::new(&given).map_err(wrong)?;
    let read = of_names(parsed, &mut question, line);
    if parsed.given.is_none() && question.names().next().is_none() {
        return Ok(None);
    }
    let (start, ops) = read?;
    let scope = Arc::new(question.scope().map_err(wrong)?);
    let start = match start {
        Start::Base(shape) => names::ShapeTracker::in_scope(scope, shape)?,
        Start::Views(views) => match <[names::View; 2]>::try_from(views) {
            Ok([earlier, later]) if ops.is_empty() => {
                return Ok(Some(Document::from(&Pair::new(scope, Vec::new(), earlier, later)?)));
            }
            Ok(views) => names::ShapeTracker::from_views(scope, views)?,
            Err(views) => names::ShapeTracker::from_views(scope, views)?,
        },
    };
    let tracker = ops.iter().enumerate().try_fold(start, |tracker, (number, op)| {
        tracker.apply(op).map_err(|err| Failure::from(err).about(format_args!("ops[{number}]")))
    })?;
    Ok(Some(Document::from(&tracker)))
}

enum Start {
    Base(Vec<names::Poly>),
    Views(Vec<names::View>),
}

/// The start and the operations of a line, in the names of a question.
fn of_names(parsed: &Line, question: &mut Question, line: &[u8]) -> Result<(Start, Vec<names::Movement>), Failure> {
    let list = |name: &'static str, raw: &RawValue| -> Result<Vec<Document>, Failure> {
        Ok(field::<Vec<Value>>(name, raw, line)?.into_iter().map(symbolic::document).collect())
    };
    let wrong = |name: &'static str, place: usize, err: String| {
        Failure::new(name, format!("{name}[{place}]{}{err}", if err.starts_with('[') { "" } else { ": " }))
    };
    let start = match (parsed.base, parsed.views) {
        (Some(base), None) => {
            let base = Document::List(list("base", base)?);
            Start::Base(question.shape_of(&base).map_err(|err| Failure::new("base", format!("base{err}")))?)
        }
        (None, Some(views)) => {
            let views = list("views", views)?.into_iter().enumerate();
            let views = views.map(|(place, view)| question.view_of(&view).map_err(|err| wrong("views", place, err)));
            Start::Views(views.collect::<Result<_, _>>()?)
        }
        (Some(_), Some(_)) => return Err(Failure::new("start", "a line has a base or views, but this one has both")),
        (None, None) => return Err(Failure::new("start", "a line has a base or views, but this one has neither")),
    };
    let ops = parsed.ops.map(|ops| list("ops", ops)).transpose()?.unwrap_or_default().into_iter().enumerate();
    let ops = ops.map(|(place, op)| question.movement_of(&op).map_err(|err| wrong("ops", place, err)));
    Ok((start, ops.collect::<Result<_, _>>()?))
}

/// Reads a field of the line.
fn field<T: DeserializeOwned>(name: &'static str, raw: &RawValue, line: &[u8]) -> Result<T, Failure> {
    serde_json::from_str(raw.get()).map_err(|err| {
        let before = (raw.get().as_ptr() as usize).saturating_sub(line.as_ptr() as usize);
        Failure::new(name, place(&err, raw.get(), before)).about(name)
    })
}

/// The message of an error in a text that begins at some byte of the line, with the column counted in the whole line.
fn place(err: &serde_json::Error, text: &str, before: usize) -> String {
    format!("{} (column {})", mistake(err, text), before + err.column().max(1))
}

/// The CRC-32 of all addresses, unless they are too many.
fn crc32_of(tracker: &ShapeTracker) -> Option<String> {
    (tracker.numel() <= MOST_ELEMENTS).then(|| {
        let mut checksum = Checksum::new();
        tracker.runs().for_each(|run| checksum.add(run));
        checksum.finish()
    })
}

/// The CRC-32 of a stream of addresses, computed over blocks because it is slow on eight bytes at a time.
struct Checksum {
    hasher: crc32fast::Hasher,
    block: Vec<u8>,
    filled: usize,
}

impl Checksum {
    const BYTES: usize = size_of::<i64>();

    fn new() -> Checksum {
        Checksum { hasher: crc32fast::Hasher::new(), block: vec![0; 4096 * Checksum::BYTES], filled: 0 }
    }

    fn add(&mut self, run: AddressRun) {
        let (mut address, step, mut left) = match run {
            AddressRun::Valid { first, step, count } => (first, step, count),
            AddressRun::Masked { count } => (-1, 0, count),
        };
        while left > 0 {
            let free = &mut self.block[self.filled..];
            let now = (free.len() / Checksum::BYTES).min(usize::try_from(left).unwrap_or(usize::MAX));
            for bytes in free[..now * Checksum::BYTES].chunks_exact_mut(Checksum::BYTES) {
                bytes.copy_from_slice(&address.to_le_bytes());
                address = address.wrapping_add(step);
            }
            self.filled += now * Checksum::BYTES;
            left -= now as i64;
            if self.filled == self.block.len() {
                self.hasher.update(&self.block);
                self.filled = 0;
            }
        }
    }

    fn finish(mut self) -> String {
        self.hasher.update(&self.block[..self.filled]);
        format!("{:08x}", self.hasher.finalize())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_zlib() {
        // zlib.crc32(struct.pack('<3q', 0, 2, -1)) of Python.
        let tracker = "(3).step(2).pad((0, 1))".parse::<shapetracker::Chain>().unwrap().tracker().unwrap();
        assert_eq!(crc32_of(&tracker).as_deref(), Some("6007ef36"));
    }
}
