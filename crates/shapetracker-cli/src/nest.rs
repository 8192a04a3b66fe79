//! `shapetracker nest`: a statement over several layouts as loops, and what is known of its accesses.

use serde_json::{Map, Value, json};
use shapetracker::ParseError;
use shapetracker::expr::{
    Clash, Error, Expr, InPlace, Language, Nest, Overlap, Signedness, Size, Splits, Syntax, Variable, Width,
};
use shapetracker_symbolic::json::literals;
use shapetracker_symbolic::{Padding, StatementAccess, StatementNest};

use crate::answer::{Answer, Failure};
use crate::code::{Languages, comments};
use crate::input::text_of;
use crate::symbolic::{self, HELP, Where};

/// The most elements of one vector that are asked for.
const WIDEST: i64 = 16;

#[derive(clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// Layouts (A = (64, 16).T), sizes of loops (i = 0..64) and one statement, a line each; - reads them from standard
    /// input.
    #[arg(required = true, value_name = "LINE")]
    lines: Vec<String>,
    /// The language to write in.
    #[arg(long, value_parser = Languages, default_value_t = Language::Python)]
    lang: Language,
    /// The loops in another order, outermost first, such as k,i,j.
    #[arg(long, value_name = "LOOPS")]
    order: Option<String>,
    /// Fuse loops into one, outermost first, such as f=i,j: it may have splits that they have not; may be given several times.
    #[arg(long, value_name = "LOOP=LOOPS")]
    fuse: Vec<String>,
    /// Split a loop by factors, outermost first, such as i=4,16; may be given several times.
    #[arg(long, value_name = "LOOP=FACTORS")]
    split: Vec<String>,
    /// Make no splits but those of --split.
    #[arg(long)]
    no_split: bool,
    /// Run a loop in three parts, so that guards hold in the interior; may be given several times.
    #[arg(long, value_name = "LOOP")]
    partition: Vec<String>,
    /// How many bits all numbers have; without it the fewest that suffice.
    #[arg(long, value_name = "BITS", value_parser = ["32", "64"])]
    width: Option<String>,
    /// Unsigned types for numbers that are never negative, where the language has such.
    #[arg(long)]
    unsigned: bool,
    #[command(flatten)]
    names: Where,
}

fn after_help() -> String {
    format!(
        "Examples:
  shapetracker nest 'C[i, j] += A[i, k] * B[k, j]' 'A = (64, 16)' 'B = (32, 16).T' 'C = (64, 32)'
  shapetracker nest 'y[i] += x[i + k] * w[k]; x = (n,).pad((1, 1)); w = (3,); y = (n,)' --lang c
  shapetracker nest 'S[i, j] = exp(Q[i, j]) if j <= i' 'S = (T, T)' 'Q = (T, T).T' --order j,i
  shapetracker nest - --lang rust --partition i < conv.txt

The statement writes one element: OUT[..] = .., or += -= *= |= &= ^=. An index is an expression over loops and \
names, as in Python. A loop runs over the axes that it is the index of by itself, and the loops that are not on the \
left are reduced. What stands on the right is text of --lang, in which elements and names of loops are replaced. \
`if` says where the statement runs.

Padding of what is written is not written. Padding of what is read is 0: where a product is added or subtracted \
nothing is run there, elsewhere 0 stands in its place. Where the layouts join axes, loops are split so that no index \
has a division, if that can be; --fuse and then --split come first.

Comments name the loops with their ranges; the splits, and why there are no others; for each access its stride along \
each loop (reused: one element for the whole loop), how many elements it takes one after the other in memory, and \
how many one vector may have along the innermost loop, up to {WIDEST}; its guard; whether two accesses of one buffer \
meet; and how many bits suffice. Exit status 1 where the language has no such code; only the reason is printed then, \
on standard error. {HELP} They are arguments of the kernel; one without a greatest value has the greatest with which \
all numbers fit 64 bits.

With --json: statement, language, code, loops (name, size, reduced), names (name, begin, end), needs, splits (loop, \
factors), unserved (function, reason), accesses (name, buffer, element, written, read, index and valid in Python, \
padding: none, skipped or zero, strides (null: no one number), reused, contiguous, vector_width), condition, \
overlaps (accesses, meet: never, somewhere or undecided, in_place: yes, undecided, or written_at and read_at of an \
element that is read after it was written), bits."
    )
}

pub(crate) fn nest(args: &Args) -> Result<Answer, Failure> {
    let lines = args.lines.iter().map(|line| text_of(line)).collect::<Result<Vec<_>, Failure>>()?;
    let text = lines.join("\n");
    args.names.question(|question| {
        let statement = question.statement(&text)?;
        let scope = symbolic::scope(question)?;
        let wrong = |err: ParseError| Failure::new("statement", err.message()).placed(err.place());
        let mut nest = statement.nest(&scope).map_err(wrong)?;
        let splits = scheduled(args, &mut nest)?;
        let refused = |err: ParseError| Failure::refusal("unsupported", err.message()).placed(err.place());
        let body = nest.body(args.lang).map_err(refused)?;
        let code = nest.nest().code(args.lang, &body)?;
        let mut report = Report::new(statement.assignment(), args.lang);
        report.loops(&nest, splits.as_ref(), !args.split.is_empty())?;
        report.accesses(&mut nest)?;
        report.overlaps(&nest)?;
        report.bits(&nest, args.width.is_some())?;
        report.json.insert("code".into(), json!(code));
        Ok(Answer {
            text: comments(args.lang, &report.lines) + &code,
            json: Value::Object(report.json),
            positive: true,
        })
    })
}

/// Does to the loops what was asked for, and makes the splits that leave no division unless they are not wanted.
fn scheduled(args: &Args, nest: &mut StatementNest) -> Result<Option<Splits>, Failure> {
    let order: Option<Vec<&str>> = args.order.as_ref().map(|order| order.split(',').map(str::trim).collect());
    // The names of loops as they are without splits may stand in the order, and those of their parts.
    let has = |nest: &StatementNest, name: &str| nest.nest().loops().iter().any(|one| one.name == name);
    let reorder = |nest: &mut StatementNest, order: &[&str]| {
        nest.nest_mut().reorder(order).map_err(|err| refused("--order", &err))
    };
    for text in &args.fuse {
        fuse(nest, text)?;
    }
    let early = order.as_ref().is_some_and(|order| order.iter().all(|name| has(nest, name)));
    if let Some(order) = order.as_ref().filter(|_| early) {
        reorder(nest, order)?;
    }
    for text in &args.split {
        split(nest, text)?;
    }
    let splits = if args.no_split { None } else { Some(nest.nest_mut().split_where_affine()?) };
    if let Some(order) = order.as_ref().filter(|_| !early) {
        reorder(nest, order)?;
    }
    let nest = nest.nest_mut();
    if let Some(width) = &args.width {
        let width = if width == "32" { Width::Bits32 } else { Width::Bits64 };
        nest.set_width(width).map_err(|err| refused("--width", &err))?;
    }
    if args.unsigned {
        nest.set_signedness(Signedness::Unsigned);
    }
    let is_guarded = |access: &&shapetracker::expr::Access| nest.graph().range(access.valid) != (1, 1);
    let guarded: Vec<String> = nest.accesses().iter().filter(is_guarded).map(|access| access.name.clone()).collect();
    if !args.partition.is_empty() && guarded.is_empty() {
        let message = "--partition: there is no guard, so that a loop has no edges";
        return Err(Failure::new("loop", message));
    }
    let guarded: Vec<&str> = guarded.iter().map(|name| &name[..]).collect();
    for name in &args.partition {
        nest.partition(name, &guarded).map_err(|err| refused("--partition", &err))?;
    }
    Ok(splits)
}

/// Fuses loops as `f=i,j` says.
fn fuse(nest: &mut StatementNest, text: &str) -> Result<(), Failure> {
    let Some((name, loops)) = text.split_once('=') else {
        let message = "--fuse: expected a new loop and those that it is made of, such as f=i,j";
        return Err(Failure::at("syntax", message, text, 0..text.len()));
    };
    let loops: Vec<&str> = loops.split(',').map(str::trim).collect();
    nest.nest_mut().fuse(&loops, name.trim()).map_err(|err| refused("--fuse", &err))
}

/// Splits a loop as `i=4,16` says.
fn split(nest: &mut StatementNest, text: &str) -> Result<(), Failure> {
    let Some((name, factors)) = text.split_once('=') else {
        let message = "--split: expected a loop and its factors, such as i=4,16";
        return Err(Failure::at("syntax", message, text, 0..text.len()));
    };
    let factors = factors.split(',').map(|factor| Ok(nest.parse(factor.trim())?.into()));
    let factors = factors.collect::<Result<Vec<Size>, ParseError>>();
    let factors = factors.map_err(|err| Failure::from(err).about("--split"))?;
    nest.nest_mut().split(name.trim(), &factors).map_err(|err| refused("--split", &err))
}

/// What a nest refuses to do for an option.
fn refused(option: &str, err: &Error) -> Failure {
    Failure::new(shapetracker::Error::from(err.clone()).kind().name(), format!("{option}: {}", err.reason()))
}

/// An expression over names as the text of Python, or as a number.
fn text(nest: &Nest, expr: Expr) -> Result<String, Failure> {
    Ok(nest.graph().text(expr, Syntax::Python)?)
}

fn value(nest: &Nest, expr: Expr) -> Result<Value, Failure> {
    let text = text(nest, expr)?;
    Ok(text.parse::<i64>().map_or_else(|_| json!(text), |number| json!(number)))
}

/// What is said of a nest, line by line and as data.
struct Report {
    lines: Vec<String>,
    json: Map<String, Value>,
}

impl Report {
    fn new(statement: &str, language: Language) -> Report {
        let mut json = Map::new();
        json.insert("statement".into(), json!(statement));
        json.insert("language".into(), json!(language.to_string()));
        // It stands before what it is said of.
        json.insert("code".into(), Value::Null);
        Report { lines: vec![statement.to_owned()], json }
    }

    fn line(&mut self, about: &str, what: &str) {
        self.lines.push(format!("{about}: {what}"));
    }

    /// The loops, the names, and the splits.
    fn loops(&mut self, of: &StatementNest, splits: Option<&Splits>, is_split: bool) -> Result<(), Failure> {
        let nest = of.nest();
        let (mut ranges, mut loops) = (Vec::new(), Vec::new());
        for one in nest.loops() {
            let reduced = if one.is_reduced { " (reduced)" } else { "" };
            ranges.push(format!("{} in 0..{}{reduced}", one.name, text(nest, one.size)?));
            loops.push(json!({ "name": one.name, "size": value(nest, one.size)?, "reduced": one.is_reduced }));
        }
        let ranges = if ranges.is_empty() { "none".into() } else { ranges.join(", ") };
        self.line("loops", &ranges);
        self.json.insert("loops".into(), json!(loops));
        let names = nest.parameters();
        if !names.is_empty() {
            let names = names.iter().map(|name| format!("{} in {}..{}", name.name, name.range.start, name.range.end));
            self.line("names", &names.collect::<Vec<_>>().join(", "));
        }
        let range = |name: &Variable| json!({ "name": name.name, "begin": name.range.start, "end": name.range.end });
        let names = names.iter().map(range);
        self.json.insert("names".into(), names.collect());
        if !of.needs().is_empty() {
            let needs: Vec<String> = of.needs().iter().map(|need| need.text(of.scope())).collect();
            self.line("needs", &needs.join(" and "));
        }
        self.json.insert("needs".into(), json!(literals(of.needs(), of.scope())));
        let (mut parts, mut unserved) = (Vec::new(), Vec::new());
        if let Some(splits) = splits {
            match splits.text(nest.graph()) {
                split if !split.is_empty() => self.line("splits", &split),
                _ if splits.unserved.is_empty() && !is_split => self.line("splits", "none are needed"),
                _ => {}
            }
            for (name, factors) in &splits.factors {
                let factors = factors.iter().map(|factor| value(nest, *factor)).collect::<Result<Vec<_>, _>>()?;
                parts.push(json!({ "loop": name, "factors": factors }));
            }
            for one in &splits.unserved {
                self.line("no split", &one.to_string());
                unserved.push(json!({ "function": one.function.to_string(), "reason": one.to_string() }));
            }
        }
        self.json.insert("splits".into(), json!(parts));
        self.json.insert("unserved".into(), json!(unserved));
        Ok(())
    }

    /// What each access does along the loops, and its guard.
    fn accesses(&mut self, of: &mut StatementNest) -> Result<(), Failure> {
        let loops: Vec<String> = of.nest().loops().iter().map(|one| one.name.clone()).collect();
        let mut heading = vec!["stride along".to_owned()];
        heading.extend(loops.iter().cloned());
        heading.push("contiguous".into());
        heading.extend(loops.last().map(|inner| format!("vector along {inner}")));
        let (mut rows, mut guards, mut all) = (vec![heading], Vec::new(), Vec::new());
        for access in of.accesses().to_vec() {
            let StatementAccess { name, buffer, element, is_written, is_read, padding, .. } = access;
            let nest = of.nest_mut();
            let (mut row, mut strides, mut reused) = (vec![name.clone()], Map::new(), Vec::new());
            for one in &loops {
                let stride = nest.stride(&name, one)?;
                let is_reused = nest.is_reused(&name, one)?;
                row.push(match stride {
                    _ if is_reused => "reused".into(),
                    Some(stride) => text(nest, stride)?,
                    None => "varies".into(),
                });
                strides.insert(one.clone(), stride.map(|stride| value(nest, stride)).transpose()?.unwrap_or_default());
                reused.extend(is_reused.then_some(one));
            }
            let contiguous = nest.contiguous(&name)?;
            row.push(text(nest, contiguous)?);
            let width = loops.last().map(|inner| nest.vector_width(&name, inner, WIDEST)).transpose()?.unwrap_or(1);
            if !loops.is_empty() {
                row.push(width.to_string());
            }
            rows.push(row);
            let access = nest.accesses().iter().find(|access| access.name == name);
            let Some((index, valid)) = access.map(|access| (access.index, access.valid)) else { continue };
            let (index, valid) = (text(nest, index)?, text(nest, valid)?);
            let padding = match padding {
                Padding::None => "none",
                Padding::Skipped => "skipped",
                Padding::Zero => "zero",
            };
            match padding {
                "skipped" => {
                    guards.push(format!("{element} is padding unless {valid}: the statement is not run there"))
                }
                "zero" => guards.push(format!("{element} is padding unless {valid}: it is 0 there")),
                _ => {}
            }
            all.push(json!({
                "name": name,
                "buffer": buffer,
                "element": element,
                "written": is_written,
                "read": is_read,
                "index": index,
                "valid": valid,
                "padding": padding,
                "strides": strides,
                "reused": reused,
                "contiguous": value(nest, contiguous)?,
                "vector_width": width,
            }));
        }
        self.lines.push(String::new());
        self.lines.extend(columns(&rows));
        if !guards.is_empty() || of.condition().is_some() {
            self.lines.push(String::new());
        }
        let nest = of.nest();
        let condition = of.condition().and_then(|name| nest.accesses().iter().find(|access| access.name == name));
        let condition = condition.map(|access| text(nest, access.valid)).transpose()?;
        if let Some(condition) = &condition {
            self.lines.push(format!("the statement is run where {condition}"));
        }
        self.lines.extend(guards);
        self.json.insert("accesses".into(), json!(all));
        self.json.insert("condition".into(), json!(condition));
        Ok(())
    }

    /// Whether what is written and what is read of one buffer meet.
    fn overlaps(&mut self, of: &StatementNest) -> Result<(), Failure> {
        let (mut lines, mut all) = (Vec::new(), Vec::new());
        let accesses = of.accesses();
        for written in accesses.iter().filter(|access| access.is_written) {
            for read in accesses.iter().filter(|read| read.buffer == written.buffer && read.name != written.name) {
                let pair = [&written.name, &read.name];
                let elements = format!("written as {} and read as {}", written.element, read.element);
                let (meet, sentence) = match of.nest().overlaps(&written.name, &read.name)? {
                    Overlap::Never => ("never", format!("no element is {elements}")),
                    Overlap::Somewhere => ("somewhere", format!("some elements are {elements}")),
                    Overlap::Undecided => ("undecided", format!("it is open whether elements are {elements}")),
                };
                lines.push(sentence);
                let mut about = json!({ "accesses": pair, "meet": meet });
                // Of sums that go where they are read every order has its own result.
                if meet == "somewhere" && !of.nest().loops().iter().any(|one| one.is_reduced) {
                    let (in_place, sentence) = in_place(of, written, read)?;
                    about["in_place"] = in_place;
                    lines.push(sentence);
                }
                all.push(about);
            }
        }
        if !lines.is_empty() {
            self.lines.push(String::new());
        }
        self.lines.extend(lines);
        self.json.insert("overlaps".into(), json!(all));
        Ok(())
    }

    /// How many bits the numbers have.
    fn bits(&mut self, of: &StatementNest, given: bool) -> Result<(), Failure> {
        let bits = if of.nest().width()? == Width::Bits32 { 32 } else { 64 };
        let why = match (given, bits) {
            (true, _) => "are asked for",
            (_, 32) => "suffice",
            _ => "are needed",
        };
        self.lines.push(String::new());
        self.lines.push(format!("{bits} bits {why}"));
        self.json.insert("bits".into(), json!(bits));
        Ok(())
    }
}

/// Whether what is read is, in this order of the loops, what was there before, as data and as a sentence.
fn in_place(of: &StatementNest, written: &StatementAccess, read: &StatementAccess) -> Result<(Value, String), Failure> {
    let nest = of.nest();
    let at = |values: &[i64]| {
        let values = nest.loops().iter().zip(values).map(|(one, value)| format!("{} = {value}", one.name));
        values.collect::<Vec<_>>().join(", ")
    };
    Ok(match nest.in_place(&written.name, &read.name)? {
        InPlace::Yes => (json!("yes"), "each is read before it is written: as if all were read first".into()),
        InPlace::Undecided => (json!("undecided"), "it is open whether each is read before it is written".into()),
        InPlace::No(Clash { parameters, written: earlier, read: later, address, .. }) => {
            let names = nest.parameters().iter().zip(&parameters);
            let mut names: String = names.map(|(name, value)| format!("{} = {value}, ", name.name)).collect();
            if !names.is_empty() {
                names = format!("where {}", names.trim_end_matches(", "));
            }
            let sentence = format!(
                "{} at {} is what was written at {}{}{names}: another order has another result",
                read.element,
                at(&later),
                at(&earlier),
                if names.is_empty() { "" } else { ", " },
            );
            let clash = json!({
                "names": parameters, "written_at": earlier, "read_at": later, "address": address,
            });
            (clash, sentence)
        }
    })
}

/// Rows with their columns below each other.
fn columns(rows: &[Vec<String>]) -> Vec<String> {
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let line = |row: &Vec<String>| {
        let cells = row.iter().enumerate().map(|(column, cell)| format!("{cell:0$}", width(column).unwrap_or(0)));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}
