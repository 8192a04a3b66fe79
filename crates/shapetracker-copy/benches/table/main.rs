//! One table: how fast data moves through layouts, as fractions of the speed of memcpy, beside other ways to do it.

mod contest;
mod contestants;
mod numpy;
mod rows;

use std::collections::BTreeMap;
use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

use comfy_table::{CellAlignment, Table, presets::ASCII_MARKDOWN};
use shapetracker::{Chain, ChainStart, ShapeTracker};
use shapetracker_copy::{Plan, Threads};

use crate::contest::{Pair, contest, quartiles};
use crate::contestants::{Element, gather, ours, peers};
use crate::numpy::NumPy;
use crate::rows::{ROWS, Row, Unit};

const HELP: &str = "\
Fractions of memcpy, in one table.

Usage: cargo bench -p shapetracker-copy-table -- [OPTION...] [WORD...]

Only rows whose name contains one of the words are measured; without words, all are.

Options:
  --f32, --u8, --bf16, --c64, --c128
                     Only elements of this type; without them, f32 and u8
  --ours             Only this crate, without its peers
  --no-numpy         Without NumPy
  --threads N        Also this crate with so many threads (0: as many as the machine runs at once)
  --quick            A tenth of the time
  --spread           The quartiles beside each median
  --plans            The plans too, on standard error

Environment:
  PYTHON=python3  The interpreter that has NumPy, and perhaps OpenCV
";

/// What the command line asks for.
struct Options {
    words: Vec<String>,
    types: Vec<&'static str>,
    peers: bool,
    numpy: bool,
    threads: Option<Threads>,
    spread: bool,
    plans: bool,
    /// How long the contest of a row lasts, and NumPy's after it.
    time: Duration,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Some(options) = options()? else {
        print!("{HELP}");
        return Ok(());
    };
    let rows: Vec<&Row> = ROWS.iter().filter(|row| options.wants(row.name)).collect();
    if rows.is_empty() {
        println!("no row is called that");
        return Ok(());
    }
    let mut numpy = match options.numpy.then(NumPy::start) {
        None => None,
        Some(Ok(numpy)) => Some(numpy),
        Some(Err(reason)) => {
            println!("without NumPy: {reason}\n");
            None
        }
    };
    let columns = columns(&options, numpy.as_ref());
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_header(&columns);
    for column in 2..columns.len() {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for name in &options.types {
        for row in rows.iter().filter(|row| row.is_of(name)) {
            let figures = match *name {
                "f32" => measure::<f32>(row, &options, numpy.as_mut()),
                "bf16" => measure::<u16>(row, &options, numpy.as_mut()),
                "c64" => measure::<[f32; 2]>(row, &options, numpy.as_mut()),
                "c128" => measure::<[f64; 2]>(row, &options, numpy.as_mut()),
                _ => measure::<u8>(row, &options, numpy.as_mut()),
            };
            let figures = figures?;
            let mut cells = cells(row, name, &figures, options.spread);
            let cells: Vec<String> =
                columns.iter().map(|column| cells.remove(column.as_str()).unwrap_or_default()).collect();
            eprintln!("{}", cells.join("  "));
            table.add_row(cells);
        }
    }
    println!("{table}");
    Ok(())
}

impl Options {
    fn wants(&self, name: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| name.contains(word))
    }
}

fn options() -> Result<Option<Options>, Box<dyn Error>> {
    use lexopt::prelude::*;

    let mut options = Options {
        words: Vec::new(),
        types: Vec::new(),
        peers: true,
        numpy: true,
        threads: None,
        spread: false,
        plans: false,
        time: Duration::from_secs(1),
    };
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("f32") => options.types.push("f32"),
            Long("u8") => options.types.push("u8"),
            Long("bf16") => options.types.push("bf16"),
            Long("c64") => options.types.push("c64"),
            Long("c128") => options.types.push("c128"),
            Long("ours") => (options.peers, options.numpy) = (false, false),
            Long("no-numpy") => options.numpy = false,
            Long("threads") => options.threads = Some(Threads::new(arguments.value()?.parse()?)?),
            Long("quick") => options.time /= 10,
            Long("spread") => options.spread = true,
            Long("plans") => options.plans = true,
            // Cargo says so to every benchmark.
            Long("bench") => {}
            Value(word) => options.words.push(word.string()?),
            other => return Err(other.unexpected().into()),
        }
    }
    if options.types.is_empty() {
        options.types = vec!["f32", "u8"];
    }
    Ok(Some(options))
}

const LAYOUT: &str = "layout";
const ELEMENTS: &str = "of";
const MEMCPY: &str = "memcpy";
const OURS: &str = "ours";
const OURS_TUNED: &str = "ours, tuned";
const OURS_AS_NUMPY: &str = "ours, as NumPy is measured";
const GATHER: &str = "plain gather";
const OURS_THREADED: &str = "ours, threads";
const HPTT: &str = "HPTT, as reported";

fn columns(options: &Options, numpy: Option<&NumPy>) -> Vec<String> {
    let mut columns = vec![LAYOUT, ELEMENTS, MEMCPY, OURS, OURS_TUNED, GATHER];
    columns.extend(options.threads.is_some().then_some(OURS_THREADED));
    if options.peers {
        columns.extend(["strided-perm", "ndarray"]);
    }
    if let Some(numpy) = numpy {
        columns.extend([OURS_AS_NUMPY, numpy.version.as_str()]);
        columns.extend(numpy.opencv.as_deref());
    }
    if options.peers {
        columns.push(HPTT);
    }
    columns.into_iter().map(str::to_owned).collect()
}

/// What was measured of a row.
struct Figures {
    /// Bytes of the result.
    bytes: usize,
    /// A contestant's name and its times.
    contestants: Vec<(String, Vec<Pair>)>,
}

/// Checks that all contestants write the same, and measures them.
fn measure<T: Element>(row: &Row, options: &Options, numpy: Option<&mut NumPy>) -> Result<Figures, Box<dyn Error>> {
    let chain: Chain = row.chain.parse()?;
    let tracker = chain.tracker()?;
    let ChainStart::Shape(base) = chain.start() else {
        return Err(format!("{}: the chain has no base shape", row.name).into());
    };
    let plan = Plan::new(&tracker, size_of::<T>())?;
    if options.plans {
        eprintln!("{plan}");
    }
    let input: Vec<T> = (0..base.iter().product::<i64>() as usize).map(T::at).collect();
    let expected: Vec<T> =
        tracker.addresses().map(|address| address.map_or(T::zeroed(), |at| input[at as usize])).collect();
    let mut out = vec![T::at(1); expected.len()];
    let one = Threads::one();

    let tuned = plan.tuned(&input, &mut out, T::zeroed(), &one)?;

    let mut contestants = vec![ours(OURS, &plan, &input, &one), ours(OURS_TUNED, &tuned, &input, &one)];
    contestants.push(gather(GATHER, tracker.addresses(), &input));
    contestants.extend(options.threads.as_ref().map(|threads| ours(OURS_THREADED, &plan, &input, threads)));
    if options.peers {
        contestants.extend(peers(&tracker, &input));
    }
    for contestant in &mut contestants {
        out.fill(T::at(1));
        (contestant.copy)(black_box(&mut out));
        if let Some(at) = (0..out.len()).find(|&at| out[at] != expected[at]) {
            let (name, row, found, expected) = (contestant.name, row.name, out[at], expected[at]);
            return Err(format!("{name}, {row}: element {at} is {found:?}, not {expected:?}").into());
        }
    }
    // One element for all is written with non-temporal stores, if it is much.
    let fill = Plan::new(&ShapeTracker::contiguous([1])?.expand([expected.len() as i64])?, size_of::<T>())?;
    let evict = |out: &mut [T]| fill.read_into(&[T::zeroed()], out, T::zeroed(), &one).expect("as many elements");
    let pairs = contest(&mut contestants, evict, &expected, &mut out, options.time);
    let contestants = contestants.iter().map(|contestant| contestant.name.to_owned()).zip(pairs).collect();
    let mut figures = Figures { bytes: size_of_val(&*out), contestants };

    if let Some(numpy) = numpy {
        // As there: alone, each memcpy right after the copy before it, which leaves in the caches what it leaves there.
        let mut alone = [ours(OURS_AS_NUMPY, &plan, &input, &one)];
        let pairs = contest(&mut alone, |_| {}, &expected, &mut out, options.time / 2);
        figures.contestants.extend(pairs.into_iter().map(|pairs| (OURS_AS_NUMPY.to_owned(), pairs)));

        let checksum = crc32fast::hash(bytemuck::cast_slice(&expected));
        let opencv = row.opencv.and_then(|copy| Some((numpy.opencv.clone()?, rows::NumPy::Chain("", copy))));
        let theirs = [Some((numpy.version.clone(), row.numpy)), opencv];
        for (version, copy) in theirs.into_iter().flatten() {
            let (found, pairs) = numpy
                .contest(T::NAMES[1], base, tracker.shape(), &copy, options.time / 2)
                .map_err(|reason| format!("{version}, {}: {reason}", row.name))?;
            if found != checksum {
                return Err(format!("{version}, {}: the result has another checksum", row.name).into());
            }
            figures.contestants.push((version, pairs));
        }
    }
    Ok(figures)
}

/// The cells of a row, by column.
fn cells<'a>(row: &Row, elements: &str, figures: &'a Figures, spread: bool) -> BTreeMap<&'a str, String> {
    let mut cells = BTreeMap::from([(LAYOUT, row.name.to_owned()), (ELEMENTS, elements.to_owned())]);
    if elements == "f32" {
        cells.insert(HPTT, row.hptt.to_owned());
    }
    for (name, pairs) in &figures.contestants {
        let cell = match row.unit {
            Unit::Fraction => shown(quartiles(pairs.iter().map(|pair| pair.memcpy / pair.copy)), 2, "", spread),
            Unit::Nanoseconds => shown(quartiles(pairs.iter().map(|pair| pair.copy)), 0, " ns", spread),
        };
        cells.insert(name, cell);
    }
    // NumPy's own memcpy is not counted: a call from Python costs more than the bytes of a small array.
    let ours = figures.contestants.iter().filter(|(name, _)| name == OURS);
    let memcpy = ours.flat_map(|(_, pairs)| pairs).map(|pair| pair.memcpy);
    let cell = match row.unit {
        Unit::Fraction => shown(quartiles(memcpy.map(|time| figures.bytes as f64 / time)), 1, " GB/s", spread),
        Unit::Nanoseconds => shown(quartiles(memcpy), 0, " ns", spread),
    };
    cells.insert(MEMCPY, cell);
    cells
}

fn shown([low, median, high]: [f64; 3], digits: usize, unit: &str, spread: bool) -> String {
    if spread {
        format!("{median:.digits$}{unit} ({low:.digits$} to {high:.digits$})")
    } else {
        format!("{median:.digits$}{unit}")
    }
}
