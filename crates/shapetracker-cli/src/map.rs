//! `shapetracker map`: a map from loops to several expressions, and what is asked of it.

use std::ops::Range;

use serde_json::{Value, json};
use shapetracker::{IndexMap, NotComposed, NotInverted, Unproved};

use crate::answer::{Answer, BAD, Failure, GOOD, tuple};
use crate::input::text_of;
use crate::simplify::ranges;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  shapetracker map '(i, j) -> (i // 4, j, i % 4)' --where 'i=0..16, j=0..8'
  shapetracker map 'lambda i: (i // 4, i % 4)' --where i=0..14 --onto 4,4
  shapetracker map 'affine_map<(d0) -> (d0 mod 4)>' --where d0=0..8
  shapetracker map '(i) -> (i // 4 * 4 + i % 4)' --equals '(k) -> (k)' --where i=0..1000
  shapetracker map '(a, b) -> (a*4 + b)' --after '(i) -> (i // 4, i % 4)' --where 'a=0..4, b=0..4, i=0..16' --to mlir

Maps are read as Python's lambda, as TVM prints them (T.index_map(lambda ..)), as MLIR's affine_map<..>, with an arrow \
between two tuples, or as the results by themselves: then the loops are those of --where, in their order. Every answer is \
exact: a no has indices that show it, and what is not decided is said to be undecided. Without --onto the box is the \
smallest one around the images.

Exit status 1 where two indices have one image, where the box of --onto is not reached completely or left, where the maps \
of --equals differ, where what --after gives leaves the ranges of the loops, or where one of these is undecided.

With --json: map, loops (name, begin, end), results (of the map simplified), indices (how many, or null past 64 bits), \
one_to_one (true, false, or null when undecided), collision (indices, image) or null, box (begin and end of each \
result), onto (true, false or null), missed (an element that is not reached) or null, outside (index, image: not in the box) or null, \
inverse (map, loops, everywhere: whether all of the box has an index) or null, equal (with --equals: true, false or \
null), difference (index, images) or null, text (with --to), undecided (question, reason).")]
pub(crate) struct Args {
    /// The map; - reads it from standard input.
    #[arg(allow_hyphen_values = true)]
    map: String,
    /// The half-open ranges of the loops, such as "i=0..16, j=0..8"; may be given several times.
    #[arg(short = 'w', long = "where", value_name = "RANGES", allow_hyphen_values = true)]
    ranges: Vec<String>,
    /// Sizes of a box, or half-open ranges of it, that the images should be: 4,8,4 or 0..4,-2..6.
    #[arg(long, value_name = "BOX", allow_hyphen_values = true)]
    onto: Option<String>,
    /// Another map of the same box: is it equal? Loops without ranges have those of the map, in their order.
    #[arg(long, value_name = "MAP", allow_hyphen_values = true)]
    equals: Option<String>,
    /// A map that is done first; the questions are about both, one after the other.
    #[arg(long, value_name = "MAP", allow_hyphen_values = true)]
    after: Option<String>,
    /// Print the map in this notation instead of the answers.
    #[arg(long, value_name = "NOTATION")]
    to: Option<Notation>,
}

/// How a map is written.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Notation {
    // `lambda i: (i // 4,)`
    Python,
    // `T.index_map(lambda i: (i // 4,))`
    Tvm,
    // `affine_map<(i) -> (i floordiv 4)>`
    Mlir,
}

/// A name, its range, and whether a map has it as a loop.
type Given<'a> = (&'a str, Range<i64>, bool);

pub(crate) fn map(args: &Args) -> Result<Answer, Failure> {
    let mut given: Vec<Given<'_>> = Vec::new();
    for text in &args.ranges {
        for (name, range, span) in ranges(text)? {
            if given.iter().any(|(known, other, _)| *known == name && *other != range) {
                return Err(Failure::at("ranges_differ", format!("--where: `{name}` has two ranges"), text, span));
            }
            given.push((name, range, false));
        }
    }
    let text = text_of(&args.map)?;
    // A map without a list of loops has all of them.
    let mut map = read(&text, &mut given, None)?;
    if let Some(text) = &args.after {
        let first = read(text, &mut given, None).map_err(|failure| failure.about("--after"))?;
        map = map.after(&first).map_err(|err| match &err {
            NotComposed::Outside { .. } => Failure::refusal("outside", format!("--after: {err}")),
            NotComposed::Unproved(unproved) => refused(unproved)
                .unwrap_or_else(|| Failure::refusal("undecided", unproved.to_string()))
                .about("--after"),
            _ => Failure::refusal("undecided", format!("--after: {err}")),
        })?;
    }
    let other = args.equals.as_ref().map(|text| read(text, &mut given, Some(&map)));
    let other = other.transpose().map_err(|failure| failure.about("--equals"))?;
    if let Some((name, ..)) = given.iter().find(|(.., used)| !used) {
        let message = format!("--where: `{name}` is no loop of a map");
        return Err(Failure::new("syntax", message));
    }
    let target = match &args.onto {
        Some(text) => target(text)?,
        None => map.image_box(),
    };
    answer(&map.simplify(), other.as_ref(), &target, args)
}

/// Reads a map whose loops have the ranges that are given, or those of another map in their order.
fn read(text: &str, given: &mut [Given<'_>], like: Option<&IndexMap>) -> Result<IndexMap, Failure> {
    let names = IndexMap::loop_names(text)?;
    let is_given = |name: &str| given.iter().any(|(known, ..)| *known == name);
    let ranges: Vec<(&str, Range<i64>)> = match (&names, like) {
        (Some(names), Some(like)) if !names.iter().all(|name| is_given(name)) => {
            names.iter().copied().zip(like.loops().iter().map(|each| each.range.clone())).collect()
        }
        (None, Some(like)) => like.loops().iter().map(|each| (&each.name[..], each.range.clone())).collect(),
        _ => {
            let is_loop = |name: &str| names.as_ref().is_none_or(|names| names.contains(&name));
            let mut ranges = Vec::new();
            for (name, range, used) in given {
                if is_loop(name) {
                    *used = true;
                    ranges.push((*name, range.clone()));
                }
            }
            ranges
        }
    };
    IndexMap::parse(text, &ranges).map_err(|err| {
        let unknown = err.is_unknown_name();
        let failure = Failure::from(err);
        if unknown { failure.adding("; --where gives loops and their ranges") } else { failure }
    })
}

/// Reads `4,8,4` or `0..4,-2..6`.
fn target(text: &str) -> Result<Vec<Range<i64>>, Failure> {
    let inside = text.trim();
    let inside = inside.strip_prefix('(').and_then(|inside| inside.strip_suffix(')')).unwrap_or(inside).trim();
    let inside = inside.strip_suffix(',').unwrap_or(inside);
    let range = |item: &str| {
        let (begin, end) = item.split_once("..").unwrap_or(("0", item));
        Some(begin.trim().parse().ok()?..end.trim().parse().ok()?)
    };
    let wrong = || {
        let message = "--onto: expected sizes such as 4,8 or half-open ranges such as 0..4,-2..6";
        Failure::at("syntax", message, text, 0..text.len())
    };
    if inside.is_empty() {
        return Ok(Vec::new());
    }
    inside.split(',').map(|item| range(item).ok_or_else(wrong)).collect()
}

/// A question that does not fit the map, as a failure of the command.
fn refused(err: &Unproved) -> Option<Failure> {
    match err {
        Unproved::Error(err) => Some(err.clone().into()),
        Unproved::Count { .. } => Some(Failure::new("rank", err.to_string())),
        _ => None,
    }
}

/// What is found out about a map, line by line.
struct Report {
    lines: Vec<(&'static str, String)>,
    undecided: Vec<Value>,
    positive: bool,
}

impl Report {
    fn yes(&mut self, question: &'static str, what: &str) {
        self.lines.push((question, format!("{GOOD}yes{GOOD:#}{what}")));
    }

    /// An answer that is negative where it was asked for.
    fn no(&mut self, question: &'static str, why: &str, counts: bool) {
        self.positive &= !counts;
        self.lines.push((question, format!("{BAD}no{BAD:#}{why}")));
    }

    /// Notes a question that was not decided; what does not fit is a failure of the command.
    fn open(&mut self, question: &'static str, err: Unproved, counts: bool) -> Result<(), Failure> {
        if let Some(failure) = refused(&err) {
            return Err(failure);
        }
        self.positive &= !counts;
        self.undecided.push(json!({ "question": question, "reason": err.to_string() }));
        self.lines.push((question, format!("{BAD}undecided{BAD:#}: {err}")));
        Ok(())
    }
}

fn answer(map: &IndexMap, other: Option<&IndexMap>, target: &[Range<i64>], args: &Args) -> Result<Answer, Failure> {
    let mut report = Report { lines: Vec::new(), undecided: Vec::new(), positive: true };
    let loops = |map: &IndexMap| {
        let each = map
            .loops()
            .iter()
            .map(|each| json!({ "name": each.name, "begin": each.range.start, "end": each.range.end }));
        each.collect::<Vec<_>>()
    };
    let python = map.text()?;
    let results: Vec<String> = map
        .results()
        .iter()
        .map(|result| map.graph().text(*result, shapetracker::expr::Syntax::Python))
        .collect::<Result<_, _>>()?;
    let bounds: Vec<String> = target.iter().map(|range| format!("{}..{}", range.start, range.end)).collect();
    let mut json = json!({
        "map": python,
        "loops": loops(map),
        "results": results,
        "indices": map.indices().and_then(|count| i64::try_from(count).ok()),
        "one_to_one": null,
        "collision": null,
        "box": target.iter().map(|range| [range.start, range.end]).collect::<Vec<_>>(),
        "onto": null,
        "missed": null,
        "outside": null,
        "inverse": null,
        "equal": null,
        "difference": null,
        "text": null,
    });
    report.lines.push(("map", python.clone()));

    match map.collision() {
        Ok(None) => {
            json["one_to_one"] = json!(true);
            report.yes("one-to-one", "");
        }
        Ok(Some([a, b])) => {
            let image = map.evaluate(&a)?;
            json["one_to_one"] = json!(false);
            report.no("one-to-one", &format!(": {} and {} both become {}", tuple(&a), tuple(&b), tuple(&image)), true);
            json["collision"] = json!({ "indices": [a, b], "image": image });
        }
        Err(err) => report.open("one-to-one", err, true)?,
    }

    let is_asked = args.onto.is_some();
    let outside = map.outside(target);
    if let Some(failure) = outside.as_ref().err().and_then(refused) {
        return Err(failure.about("--onto"));
    }
    match (outside, map.missed(target)) {
        (Ok(Some(index)), _) => {
            let image = map.evaluate(&index)?;
            json["onto"] = json!(false);
            let why = format!(" {}: {} becomes {}, which is outside", tuple(&bounds), tuple(&index), tuple(&image));
            report.no("onto", &why, is_asked);
            json["outside"] = json!({ "index": index, "image": image });
        }
        (_, Ok(Some(missed))) => {
            json["onto"] = json!(false);
            report.no("onto", &format!(" {}: no index becomes {}", tuple(&bounds), tuple(&missed)), is_asked);
            json["missed"] = json!(missed);
        }
        (Ok(None), Ok(None)) => {
            json["onto"] = json!(true);
            report.yes("onto", &format!(" {}", tuple(&bounds)));
        }
        (Err(err), _) | (_, Err(err)) => report.open("onto", err, is_asked)?,
    }

    match map.inverse() {
        Ok(inverse) => {
            let text = inverse.map.text()?;
            let note = if inverse.is_everywhere { "" } else { ", on the images" };
            report.lines.push(("inverse", format!("{text}{note}")));
            json["inverse"] = json!({ "map": text, "loops": loops(&inverse.map), "everywhere": inverse.is_everywhere });
        }
        Err(NotInverted::NoForm) => report.lines.push(("inverse", "no expressions were found".into())),
        // Said above.
        Err(_) => {}
    }

    match other.map(|other| (other, map.difference(other))) {
        None => {}
        Some((_, Ok(None))) => {
            json["equal"] = json!(true);
            report.yes("equal", "");
        }
        Some((other, Ok(Some(index)))) => {
            let images = [map.evaluate(&index)?, other.evaluate(&index)?];
            json["equal"] = json!(false);
            let why = format!(": {} becomes {}, and {}", tuple(&index), tuple(&images[0]), tuple(&images[1]));
            report.no("equal", &why, true);
            json["difference"] = json!({ "index": index, "images": images });
        }
        Some((_, Err(err))) => report.open("equal", err, true)?,
    }

    let text = match args.to {
        None => None,
        Some(Notation::Python) => Some(python),
        Some(Notation::Tvm) => Some(map.to_tvm().map_err(|why| Failure::refusal("unsupported", why))?),
        Some(Notation::Mlir) => Some(map.to_mlir()?),
    };
    json["text"] = json!(text);
    json["undecided"] = json!(report.undecided);
    let text = match text {
        Some(text) => text + "\n",
        None => report.lines.iter().map(|(question, answer)| format!("{question:<12}{answer}\n")).collect(),
    };
    Ok(Answer { text, json, positive: report.positive || args.to.is_some() })
}
