//! `shapetracker layout`: the algebra of CuTe's layouts, and what threads do to memory through them.

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;

use clap::{Subcommand, ValueEnum};
use serde_json::{Value, json};
use shapetracker::expr::Language;
use shapetracker::json::Value as Document;
use shapetracker_cute::{
    Access, AccessPattern, AccessReport, Census, ComposedLayout, Error, Layout, LinearLayout, NoComposition,
    NoLeftInverse, NoSwizzle, NotTiled, Order, Tiler,
};

use crate::answer::{Answer, BAD, BOLD, DIM, Failure, GOOD, count, paragraph, sentence, width};
use crate::code::Languages;
use crate::files::Dtype;
use crate::index::written;
use crate::input::text_of;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  shapetracker layout show '((2,2),4):((1,8),2)'
  shapetracker layout compose '(6,2):(8,2)' '(4,3):(3,1)'
  shapetracker layout compose '(4,6,8):(2,3,5)' '6:3' --claim '(2,3):(6,3)'
  shapetracker layout complement '(2,2):(1,6)' 24
  shapetracker layout divide '(8,12):(12,1)' '(4,3)' --form zipped
  shapetracker layout inverse '(2,3):(8,1)' --left
  shapetracker layout code 'Sw<3,3,3> o 0 o (64,64):(64,1)' --lang cuda
  shapetracker layout banks '((8,32),8):((8,64),1)' '((64,8),8):((64,8),1)' --dtype f16

A layout is written as CuTe prints it, (4,8):(8,1) or (_4,_8):(_8,_1) or Layout<Shape<_4,_8>,Stride<_8,_1>>. \
Sw<3,3,3> o 0 o (8,64):(64,1) is one under a swizzle, and of a printed tensor, ptr[32b](0x7f00) o (4,8):(1,4), the layout is read; \
a swizzle of a pointer, Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1), is that of its elements. \
A tiler is a layout, or one for each mode: (3:3,(2,4):(1,8)), or only \
sizes: (4,8). A layout of - is read from standard input.

Exit status 1 where what is asked for does not exist, or whether it does is open; where a claim is refuted, or banks conflict.")]
pub(crate) struct Args {
    #[command(subcommand)]
    question: Question,
}

#[derive(Subcommand)]
enum Question {
    /// What a layout is: its size, its values, whether it has some value twice, and the same as a view.
    Show(Show),
    /// The layout that does what two layouts do, one after the other; or why there is none.
    Compose(Compose),
    /// Whether a layout that some other tool printed is the composition of two others; if not, where.
    Audit(Audit),
    /// The complement: the layout of the addresses that the given layout leaves free.
    Complement(Complement),
    /// A layout cut into tiles: the tile first, then where the tiles are.
    Divide(Divide),
    /// A layout repeated along another one.
    Product(Product),
    /// The layout that undoes a layout.
    Inverse(Inverse),
    /// A layout as a linear map of bits, as Triton prints them; and such a map as a layout.
    Linear(Linear),
    /// The cheapest code for the address of a coordinate, in the language of your choice, swizzle included.
    Code(Code),
    /// What threads do to memory: bank conflicts, sectors, the widest vector, and the swizzle without conflicts.
    Banks(Banks),
}

#[derive(clap::Args)]
#[command(after_help = "Examples:
  shapetracker layout show '((2,2),4):((1,8),2)'
  shapetracker layout show 'Sw<2,0,2> o 0 o (4,4):(4,1)'

With --json: text, layout (text, shape, stride, size, cosize), swizzle (bits, base, shift), offset, static (as CuTe's \
C++ prints types), coalesced, injective (null where that was not decided), collision (two coordinates with one value, or \
null), bijective (null under a swizzle), not_bijective (why: kind, sentence and the evidence, or null), view (of a layout \
without a swizzle: shape, strides, offset, mask), plain (the layout without the swizzle that has the same values, or null), \
values (of at most 256 coordinates, or null).")]
struct Show {
    /// The layout.
    #[arg(allow_hyphen_values = true)]
    layout: String,
}

#[derive(clap::Args)]
#[command(after_help = "Examples:
  shapetracker layout compose '(6,2):(8,2)' '(4,3):(3,1)'
  shapetracker layout compose '(8,12):(12,1)' '(2:4,3:1)'
  shapetracker layout compose '(4,1):(1,7)' 8:1 --strict
  shapetracker layout compose '(4,6,8):(2,3,5)' 6:3 --claim '(2,3):(6,3)'

The last mode of the first layout goes on for ever, as in CuTe, unless --strict. Exit status 1 where the composition is no \
layout; with --claim, where the claimed layout is not the composition.

With --json: a, b, strict, layout (text, shape, stride, size, cosize; null where there is none), why (kind, sentence and \
the evidence, or null). With --claim the keys are those of `shapetracker layout audit`.")]
struct Compose {
    /// The layout that is applied last.
    #[arg(allow_hyphen_values = true)]
    a: String,
    /// The layout that is applied first, or a tiler.
    #[arg(allow_hyphen_values = true)]
    b: String,
    /// Let the first layout end with its last coordinate.
    #[arg(long)]
    strict: bool,
    /// A layout that somebody says is the composition, to be proved or refuted.
    #[arg(long, value_name = "LAYOUT", conflicts_with = "strict", allow_hyphen_values = true)]
    claim: Option<String>,
}

#[derive(clap::Args)]
#[command(after_help = "Examples:
  shapetracker layout audit '(4,6,8):(2,3,5)' 6:3 '(2,3):(6,3)'
  shapetracker layout audit '(6,2):(8,2)' '(4,3):(3,1)' '((2,2),3):((24,2),8)'

Only values count, not parentheses. It is the same as `shapetracker layout compose A B --claim R`. Exit status 1 where R is not \
the composition.

With --json: a, b, claim, mismatch (coordinate, expected, found, sentence; or null), layout (the composition: text, shape, \
stride, size, cosize; null where it is no layout).")]
struct Audit {
    /// The layout that is applied last.
    #[arg(allow_hyphen_values = true)]
    a: String,
    /// The layout that is applied first.
    #[arg(allow_hyphen_values = true)]
    b: String,
    /// The layout that should be their composition.
    #[arg(value_name = "R", allow_hyphen_values = true)]
    claim: String,
}

#[derive(clap::Args)]
#[command(after_help = "Examples:
  shapetracker layout complement '(2,2):(1,6)' 24
  shapetracker layout complement 4:2

With --json: a, cotarget, layout (text, shape, stride, size, cosize; null where there is none), why (kind, sentence and \
the evidence, or null).")]
struct Complement {
    /// The layout.
    #[arg(allow_hyphen_values = true)]
    a: String,
    /// Up to which number to fill; without it, as little as fills the gaps.
    #[arg(default_value_t = 1, allow_hyphen_values = true)]
    cotarget: i64,
}

/// In which order a division has its parts.
// What the forms are is said below the options: a help that explains values is a page long.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    Logical,
    Zipped,
    Tiled,
}

#[derive(clap::Args)]
#[command(after_help = "Examples:
  shapetracker layout divide '(4,2,3):(2,1,8)' 4:2
  shapetracker layout divide '(8,12):(12,1)' '(4,3)' --form zipped

The forms: logical, mode by mode, the tile and then the rest; zipped, the tiles of all modes and then all rests; tiled, the \
tiles of all modes and then each rest by itself.

With --json: a, b, form, layout (text, shape, stride, size, cosize; null where there is none), why (kind, sentence and \
the evidence, or null).")]
struct Divide {
    /// The layout.
    #[arg(allow_hyphen_values = true)]
    a: String,
    /// The tiler.
    #[arg(allow_hyphen_values = true)]
    b: String,
    /// The order of the parts.
    #[arg(long, value_enum, default_value = "logical")]
    form: Form,
}

/// In which order a product has its parts.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ProductForm {
    Logical,
    Zipped,
    Tiled,
    Blocked,
    Raked,
}

#[derive(clap::Args)]
#[command(after_help = "Examples:
  shapetracker layout product '(2,2):(4,1)' 6:1
  shapetracker layout product '(2,5):(5,1)' '(3,4):(1,3)' --form blocked

The forms: logical, the layout and then its repeats, mode by mode with a tiler; zipped, the layouts of all modes and then \
all repeats; tiled, the layouts of all modes and then each repeat by itself; blocked, mode by mode, the block and then its \
repeats; raked, mode by mode, the repeats and then the block.

With --json: a, b, form, layout (text, shape, stride, size, cosize; null where there is none), why (kind, sentence and \
the evidence, or null).")]
struct Product {
    /// The layout.
    #[arg(allow_hyphen_values = true)]
    a: String,
    /// Along what it is repeated: a tiler, for blocked and raked products a layout.
    #[arg(allow_hyphen_values = true)]
    b: String,
    /// The order of the parts.
    #[arg(long, value_enum, default_value = "logical")]
    form: ProductForm,
}

#[derive(clap::Args)]
#[command(after_help = "Examples:
  shapetracker layout inverse '(3,4):(4,1)'
  shapetracker layout inverse '(2,3):(8,1)' --left

A right inverse R of A has A(R(i)) = i, for as many numbers as there are; a left inverse L has L(A(x)) = x for all x. \
Exit status 1 where there is no left inverse, and \
where it is not known whether there is one.

With --json: a, left, layout (text, shape, stride, size, cosize; null where none was found), is_longest (of a right inverse; \
false where that is open), why (kind, sentence and the evidence, or null).")]
struct Inverse {
    /// The layout.
    #[arg(allow_hyphen_values = true)]
    a: String,
    /// The left inverse, in place of the right one.
    #[arg(long)]
    left: bool,
}

#[derive(clap::Args)]
#[command(after_help = "Examples:
  shapetracker layout linear '((2,2),4):((1,8),2)' --names lane,register
  shapetracker layout linear '{register = [[1], [2]], lane = [[4], [9]]}'

With --json: linear (inputs: name, bases; outputs: name, size; text), layout (text, swizzle, offset, layout; null where \
there is none), why (kind, sentence and the evidence, or null).")]
struct Linear {
    /// A layout, or a linear map as Triton prints it.
    #[arg(allow_hyphen_values = true)]
    of: String,
    /// The names of the inputs, one for each mode of the layout; without it in0, in1, ..
    #[arg(long, value_delimiter = ',')]
    names: Option<Vec<String>>,
}

#[derive(clap::Args)]
#[command(after_help = "Examples:
  shapetracker layout code 'Sw<3,3,3> o 0 o (64,64):(64,1)' --lang cuda
  shapetracker layout code '((2,2),4):((1,8),2)' --number
  shapetracker layout code '(4,8):(1,4)' --lang cuda --kernel

`index` is the address at a coordinate: idx0, idx1, .. are the numbers of the modes of the outermost tuple, the first one \
idx0; with --number idx0 is the number of the whole coordinate, the first mode the fastest. A kernel writes the elements in \
row-major order of idx0, idx1, .. Comments are those of `shapetracker index`. Exit status 1 where the language has no such code.

With --json: layout, and the keys of `shapetracker index` but for chain.")]
struct Code {
    /// The layout.
    #[arg(allow_hyphen_values = true)]
    layout: String,
    /// The language to write in.
    #[arg(long, value_parser = Languages, default_value_t = Language::Python)]
    lang: Language,
    /// One variable, the number of the coordinate, in place of one for each mode.
    #[arg(long)]
    number: bool,
    /// Print a whole function that gathers all elements.
    #[arg(long)]
    kernel: bool,
}

#[derive(clap::Args)]
#[command(after_help = "Examples:
  shapetracker layout banks '(32,32):(32,1)' --dtype f32
  shapetracker layout banks '((8,32),8):((8,64),1)' '((64,8),8):((64,8),1)' --dtype f16
  shapetracker layout banks 'Sw<3,3,3> o 0 o ((64,8),8):((64,8),1)' --dtype f16

The first mode of a layout takes the thread, the others its values; the modes of threads are put in parentheses, as in \
((8,4),2):((1,64),8). Addresses count elements from a base that is aligned to 128 bytes. Give all layouts in which one tile \
is written and read: the swizzle is for all of them.

Exit status 1 where banks conflict.

With --json: accesses (text, threads, values, element_bytes, vector, widest, banks and sectors: most, warp, value, counts, \
total; swizzled: the layout under the swizzle that was found, or null), swizzle (text, bits, base, shift; or null), no_swizzle \
(why there is none: kind, sentence and the evidence; or null), elements (of shared memory that the tile needs: without, with \
the swizzle; null where there is none).")]
struct Banks {
    /// The layouts: threads and values to addresses, in elements.
    #[arg(required = true)]
    layouts: Vec<String>,
    /// The type of the elements, as f16 or f32.
    #[arg(long, default_value = "f32", value_parser = crate::plan::dtype)]
    dtype: Dtype,
    /// Bytes per element, in place of a type.
    #[arg(long, value_name = "BYTES", conflicts_with = "dtype")]
    width: Option<i64>,
    /// How many values a thread moves with one instruction; without it, as many as it can.
    #[arg(long, value_name = "ELEMENTS")]
    vector: Option<i64>,
}

pub(crate) fn layout(args: &Args) -> Result<Answer, Failure> {
    match &args.question {
        Question::Show(args) => show(args),
        Question::Compose(args) => compose(args),
        Question::Audit(args) => audited(&args.a, &args.b, &args.claim),
        Question::Complement(args) => complement(args),
        Question::Divide(args) => divide(args),
        Question::Product(args) => product(args),
        Question::Inverse(args) => inverse(args),
        Question::Linear(args) => linear(args),
        Question::Code(args) => code(args),
        Question::Banks(args) => banks(args),
    }
}

/// What is read from an argument.
fn read<T: FromStr>(text: &str) -> Result<T, Failure>
where
    Failure: From<T::Err>,
{
    Ok(text_of(text)?.parse()?)
}

/// The texts of two arguments. Both are fetched before either is read as a layout: so two `-` are told of as such, and not as a
/// mistake in an empty text.
fn texts<'a>(a: &'a str, b: &'a str) -> Result<[Cow<'a, str>; 2], Failure> {
    Ok([text_of(a)?, text_of(b)?])
}

fn document(value: impl Into<Document>) -> Value {
    json!(value.into())
}

/// What a question for one layout comes to: the layout, or why there is none.
struct Found {
    verdict: (&'static str, &'static str),
    /// The layout as text and as a document.
    layout: Option<(String, Value)>,
    /// More about it, a line or two.
    notes: Vec<String>,
    why: Option<(String, Value)>,
}

impl Found {
    fn new<T: Display, Why: Display>(verdicts: [(&'static str, &'static str); 2], found: &Result<T, Why>) -> Found
    where
        Document: for<'a> From<&'a T> + for<'a> From<&'a Why>,
    {
        Found {
            verdict: verdicts[usize::from(found.is_err())],
            layout: found.as_ref().ok().map(|layout| (layout.to_string(), document(layout))),
            notes: Vec::new(),
            why: found.as_ref().err().map(|why| (why.to_string(), document(why))),
        }
    }

    /// The answer, with what was asked in front of it.
    fn answer(self, asked: Value) -> Answer {
        let mut json = asked;
        if let Value::Object(fields) = &mut json {
            fields.insert("layout".into(), self.layout.as_ref().map_or(Value::Null, |(_, document)| document.clone()));
            fields.insert("why".into(), self.why.as_ref().map_or(Value::Null, |(_, document)| document.clone()));
        }
        let positive = self.layout.is_some();
        let style = if positive { GOOD } else { BAD };
        let (verdict, rest) = self.verdict;
        let mut text = format!("{style}{verdict}{style:#}{rest}\n");
        if let Some((layout, _)) = &self.layout {
            text += &format!("\n  {layout}\n");
        }
        for note in &self.notes {
            text += &paragraph(note, 2);
        }
        if let Some((why, _)) = &self.why {
            text += &format!("\n{BOLD}Why{BOLD:#}\n{}", paragraph(&sentence(why), 2));
        }
        Answer { text, json, positive }
    }
}

fn show(args: &Show) -> Result<Answer, Failure> {
    let composed: ComposedLayout = read(&args.layout)?;
    let layout = composed.layout();
    let is_plain = composed.as_layout().is_some();
    let size = layout.size();
    let values: Vec<i64> = (0..size.min(MOST_VALUES)).map_while(|x| composed.at(x)).collect();
    // A swizzle tells any two values apart that are different.
    let collision = layout.collision();
    let bijective = is_plain.then(|| layout.bijective());
    let view = is_plain.then(|| layout.to_view(Order::RowMajor, 0)).transpose()?;
    let plain = if is_plain { None } else { Some(composed.plain()) };

    let mut facts: Vec<(&str, String)> = vec![("size", size.to_string())];
    if is_plain {
        facts.push(("cosize", layout.cosize().to_string()));
    }
    facts.push(("in C++", composed.static_text().to_string()));
    let coalesced = layout.coalesce();
    if is_plain && coalesced != *layout {
        facts.push(("coalesced", coalesced.to_string()));
    }
    facts.push((
        "injective",
        match &collision {
            Ok(None) => "yes, no two coordinates have the same value".into(),
            Ok(Some([a, b])) => {
                let value = composed.at(*a).map_or(String::new(), |value| value.to_string());
                format!("no: coordinates {a} and {b} both have value {value}")
            }
            Err(err) => err.to_string(),
        },
    ));
    match &bijective {
        Some(Ok(())) => facts.push(("bijective", format!("yes, onto 0..{size}"))),
        Some(Err(why)) => facts.push(("bijective", format!("no: {why}"))),
        None => {}
    }
    if let Some(view) = &view {
        facts.push(("as a view", format!("{view} in row-major order")));
    }
    match &plain {
        Some(Ok((plain, 0))) => facts.push(("unswizzled", format!("{plain} has the same values"))),
        Some(Ok((plain, offset))) => facts.push(("unswizzled", format!("{plain} has the same values less {offset}"))),
        Some(Err(why)) => facts.push(("unswizzled", format!("no layout has the same values: {why}"))),
        None => {}
    }
    let mut text = format!("{BOLD}{composed}{BOLD:#}\n");
    let label = facts.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
    for (name, fact) in &facts {
        text += &format!("  {name:<label$}  {}", paragraph(fact, label + 4).trim_start());
    }
    let all = (size <= MOST_VALUES).then_some(&values[..]);
    text += &all.map_or(String::new(), |values| grid(layout, values));
    let mut json = document(&composed);
    if let Value::Object(fields) = &mut json {
        fields.insert("static".into(), composed.static_text().to_string().into());
        fields.insert("coalesced".into(), document(&coalesced));
        fields.insert("injective".into(), json!(collision.as_ref().ok().map(Option::is_none)));
        fields.insert("collision".into(), json!(collision.ok().flatten()));
        fields.insert("bijective".into(), json!(bijective.as_ref().map(Result::is_ok)));
        let why = bijective.and_then(Result::err);
        fields.insert("not_bijective".into(), why.as_ref().map_or(Value::Null, document));
        fields.insert("view".into(), json!(view));
        fields.insert(
            "plain".into(),
            plain
                .and_then(Result::ok)
                .map_or(Value::Null, |(plain, offset)| json!({ "layout": document(&plain), "offset": offset })),
        );
        fields.insert("values".into(), json!(all));
    }
    Ok(Answer { text, json, positive: true })
}

/// The most values that are shown, and listed in JSON.
const MOST_VALUES: i64 = 256;

/// The values of a small layout, as CuTe's users draw it: the first mode down, the others across.
fn grid(layout: &Layout, values: &[i64]) -> String {
    let rows = layout.items().first().map_or(1, |item| item.size() as usize);
    let [rows, columns] = if layout.rank() < 2 { [1, rows] } else { [rows, values.len() / rows.max(1)] };
    let digits = values.iter().map(|value| value.to_string().len()).max().unwrap_or(0);
    if values.is_empty() || 2 + columns * (digits + 2) > width() {
        return String::new();
    }
    let mut text = format!("\n{BOLD}Values{BOLD:#}");
    text += &match layout.rank() {
        0 | 1 => "\n".into(),
        2 => format!(" {DIM}(the first mode down, the second across){DIM:#}\n"),
        _ => format!(" {DIM}(the first mode down, the others across){DIM:#}\n"),
    };
    for row in 0..rows {
        let cells = (0..columns).map(|column| format!("  {:>digits$}", values[row + column * rows]));
        text += &(cells.collect::<String>() + "\n");
    }
    text
}

fn compose(args: &Compose) -> Result<Answer, Failure> {
    if let Some(claim) = &args.claim {
        return audited(&args.a, &args.b, claim);
    }
    let [a, b] = texts(&args.a, &args.b)?;
    let (a, b): (ComposedLayout, Tiler) = (a.parse()?, b.parse()?);
    let found = if args.strict { a.layout().compose_strict_by(&b) } else { a.layout().compose_by(&b) };
    let found = found.and_then(|layout| Ok(ComposedLayout::new(a.swizzle(), a.offset(), layout)?));
    let found = decided(found)?;
    let verdicts = [("Yes", ", the composition is a layout"), ("No", ", the composition is no layout")];
    let mut answer = match a.as_layout() {
        Some(_) => Found::new(verdicts, &found.map(|composed| composed.layout().clone())),
        None => Found::new(verdicts, &found),
    };
    if matches!(&answer.why, Some((_, why)) if why["kind"] == "undecided") {
        answer.verdict = ("Undecided", "");
    }
    Ok(answer.answer(json!({ "a": a.to_string(), "b": b.to_string(), "strict": args.strict })))
}

/// Whether a layout is the composition of two others.
fn audited(a: &str, b: &str, claim: &str) -> Result<Answer, Failure> {
    let [a, b] = texts(a, b)?;
    let (a, b, claim): (ComposedLayout, Tiler, ComposedLayout) = (a.parse()?, b.parse()?, read(claim)?);
    let whole = match &b {
        Tiler::Whole(layout) => layout.clone(),
        Tiler::Size(size) => Layout::new(*size, 1)?,
        Tiler::ByItem(_) => {
            let message = format!("a claim is for two layouts, and {b} is a tiler for each mode of the first one");
            return Err(Failure::new("usage", message));
        }
    };
    let mismatch = match a.audit(&whole, &claim) {
        Ok(mismatch) => mismatch,
        Err(NoComposition::Error(err)) => return Err(err.into()),
        Err(why @ NoComposition::Undecided) => return Err(Failure::refusal("undecided", why.to_string())),
        Err(why) => return Err(Failure::refusal("outside", why.to_string())),
    };
    let composition = a.compose(&whole);
    // Without a swizzle a layout is a document of its own.
    let shown = |of: &ComposedLayout| of.as_layout().map_or_else(|| document(of), document);
    let json = json!({
        "a": a.to_string(),
        "b": b.to_string(),
        "claim": shown(&claim),
        "mismatch": mismatch.as_ref().map_or(Value::Null, document),
        "layout": composition.as_ref().map_or(Value::Null, shown),
    });
    let text = match &mismatch {
        None => format!("{GOOD}Proved{GOOD:#}: {claim} is the composition, value by value\n"),
        Some(mismatch) => {
            let instead = match composition {
                Ok(layout) => format!("The composition is {layout}."),
                Err(_) => "The composition is no layout at all.".into(),
            };
            let why = format!("{} {instead}", sentence(&mismatch.to_string()));
            format!("{BAD}Refuted{BAD:#}: {claim} is not the composition\n\n{BOLD}Why{BOLD:#}\n{}", paragraph(&why, 2))
        }
    };
    Ok(Answer { text, json, positive: mismatch.is_none() })
}

/// What was found, or the failure where the question made no sense.
fn decided<T>(found: Result<T, NotTiled>) -> Result<Result<T, NotTiled>, Failure> {
    use shapetracker_cute::NoComplement;

    match found {
        Err(
            NotTiled::Error(err)
            | NotTiled::Complement(NoComplement::Error(err))
            | NotTiled::Composition(NoComposition::Error(err)),
        ) => Err(err.into()),
        found => Ok(found),
    }
}

fn complement(args: &Complement) -> Result<Answer, Failure> {
    let a: Layout = read(&args.a)?;
    let found = decided(a.complement(args.cotarget).map_err(NotTiled::from))?;
    let verdicts = [("Yes", ", this is the complement"), ("No", ", there is no complement")];
    Ok(Found::new(verdicts, &found).answer(json!({ "a": a.to_string(), "cotarget": args.cotarget })))
}

fn divide(args: &Divide) -> Result<Answer, Failure> {
    let [a, b] = texts(&args.a, &args.b)?;
    let (a, b): (Layout, Tiler) = (a.parse()?, b.parse()?);
    let found = decided(match args.form {
        Form::Logical => a.logical_divide(&b),
        Form::Zipped => a.zipped_divide(&b),
        Form::Tiled => a.tiled_divide(&b),
    })?;
    let verdicts = [("Yes", ", the layout can be divided"), ("No", ", the layout cannot be divided")];
    Ok(Found::new(verdicts, &found).answer(json!({ "a": a.to_string(), "b": b.to_string(), "form": name(args.form) })))
}

fn product(args: &Product) -> Result<Answer, Failure> {
    let [a, b] = texts(&args.a, &args.b)?;
    let a: Layout = a.parse()?;
    let tiled = |of: fn(&Layout, &Tiler) -> Result<Layout, NotTiled>| {
        let b: Tiler = b.parse()?;
        Ok::<_, Failure>((b.to_string(), of(&a, &b)))
    };
    let gridded = |of: fn(&Layout, &Layout) -> Result<Layout, NotTiled>| {
        let b: Layout = b.parse()?;
        Ok::<_, Failure>((b.to_string(), of(&a, &b)))
    };
    let (b, found) = match args.form {
        ProductForm::Logical => tiled(Layout::logical_product),
        ProductForm::Zipped => tiled(Layout::zipped_product),
        ProductForm::Tiled => tiled(Layout::tiled_product),
        ProductForm::Blocked => gridded(Layout::blocked_product),
        ProductForm::Raked => gridded(Layout::raked_product),
    }?;
    let verdicts = [("Yes", ", the product exists"), ("No", ", there is no product")];
    let found = Found::new(verdicts, &decided(found)?);
    Ok(found.answer(json!({ "a": a.to_string(), "b": b, "form": name(args.form) })))
}

/// The name of a value as the command line has it.
fn name(value: impl ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

fn inverse(args: &Inverse) -> Result<Answer, Failure> {
    let a: Layout = read(&args.a)?;
    let asked = |longest: Option<bool>| json!({ "a": a.to_string(), "left": args.left, "is_longest": longest });
    if !args.left {
        let found = a.right_inverse()?;
        let verdicts = [("Yes", ", this is a right inverse"); 2];
        let reached = match found.layout.size() {
            0 => "the layout has no value".to_owned(),
            1 => "it takes the value 0 to its coordinate".to_owned(),
            size => format!("it takes each value from 0 to {} to its coordinate", size - 1),
        };
        let longest = match (found.layout.size(), found.is_longest) {
            (0, _) => String::new(),
            (size, true) => format!("; none is longer, because the layout does not have the value {size}"),
            (_, false) => "; whether a longer one exists is open".to_owned(),
        };
        let note = sentence(&format!("{reached}{longest}"));
        let mut answer = Found::new(verdicts, &Ok::<_, NoLeftInverse>(found.layout.clone()));
        answer.notes.push(note);
        return Ok(answer.answer(asked(Some(found.is_longest))));
    }
    let found = match a.left_inverse() {
        Err(NoLeftInverse::Error(err)) => return Err(err.into()),
        found => found,
    };
    let mut answer = Found::new([("Yes", ", this is a left inverse"), ("No", ", there is no left inverse")], &found);
    if found == Err(NoLeftInverse::Open) {
        answer.verdict = ("Undecided", ": it is not known whether a left inverse exists");
    }
    Ok(answer.answer(asked(None)))
}

fn linear(args: &Linear) -> Result<Answer, Failure> {
    let text = text_of(&args.of)?;
    let as_layout = text.parse::<ComposedLayout>();
    // A text that is neither gets the complaint about what it looks like.
    let is_map = text.trim_start().starts_with(['{', '#', '-']) || (as_layout.is_err() && text.contains("->"));
    if is_map {
        if args.names.is_some() {
            return Err(Failure::new("usage", "--names is for a layout: a linear map has names for its inputs"));
        }
        let map: LinearLayout = text.parse()?;
        let found = match map.to_layout(Order::RowMajor) {
            Err(NoComposition::Error(err)) => return Err(err.into()),
            found => found,
        };
        let verdicts = [("Yes", ", the map is a layout"), ("No", ", the map is no layout, with or without a swizzle")];
        return Ok(Found::new(verdicts, &found).answer(json!({ "linear": document(&map) })));
    }
    let composed = as_layout?;
    let names: Vec<String> = match &args.names {
        Some(names) => names.clone(),
        None => (0..composed.layout().rank()).map(|item| format!("in{item}")).collect(),
    };
    let names: Vec<&str> = names.iter().map(|name| &name[..]).collect();
    let layout = document(&composed);
    let (text, linear, why) = match composed.to_linear(&names, "offset") {
        Ok(map) => {
            let lines: String = map.to_string().lines().map(|line| format!("  {line}\n")).collect();
            (format!("{GOOD}Yes{GOOD:#}, the layout is linear over bits\n\n{lines}"), document(&map), Value::Null)
        }
        Err(shapetracker_cute::NotLinear::Error(err)) => return Err(err.into()),
        Err(why) => {
            let reason = paragraph(&sentence(&why.to_string()), 2);
            let text = format!("{BAD}No{BAD:#}, the layout is not linear over bits\n\n{BOLD}Why{BOLD:#}\n{reason}");
            (text, Value::Null, document(&why))
        }
    };
    let positive = why.is_null();
    Ok(Answer { text, json: json!({ "linear": linear, "layout": layout, "why": why }), positive })
}

fn code(args: &Code) -> Result<Answer, Failure> {
    let given: ComposedLayout = read(&args.layout)?;
    let composed = if args.number {
        // Whatever is in a tuple of its own is one mode of it.
        ComposedLayout::new(given.swizzle(), given.offset(), Layout::concat([given.layout()])?)?
    } else {
        given.clone()
    };
    let expr = composed.index_expr()?;
    let size = composed.layout().size();
    let shape: Vec<String> = expr.extents().iter().map(i64::to_string).collect();
    let reads = if size > 0 { i128::from(expr.index_extremes().high) + 1 } else { 0 };
    let about = args
        .kernel
        .then(|| (format!("shape ({}): reads a buffer of at most {reads}, writes {size}", shape.join(", ")), size));
    let subject = ("layout", document(&given));
    written(args.lang, args.kernel, subject, &expr, about, Document::from(expr.extents()))
}

fn banks(args: &Banks) -> Result<Answer, Failure> {
    let element_bytes = match args.width {
        Some(width) => width,
        None => args.dtype.width().map_err(|message| Failure::new("dtype", message))? as i64,
    };
    let mut patterns = Vec::new();
    for text in &args.layouts {
        let layout: ComposedLayout = read(text)?;
        let pattern = |layout: ComposedLayout| {
            let pattern = AccessPattern::new(layout, element_bytes)?;
            let vector = args.vector.map_or_else(|| pattern.widest_vector(), Ok)?;
            pattern.with_vector(vector)
        };
        patterns.push(pattern(layout.clone()).map_err(|err| Failure::from(err).about(&layout))?);
    }
    let report = AccessReport::new(&patterns)?;
    let positive = report.worst() <= 1;
    let mut text = match report.worst() {
        ..=1 => format!("{GOOD}No bank conflicts{GOOD:#}, in any warp\n"),
        worst => format!("{BAD}Bank conflicts{BAD:#}: up to {worst}-way\n"),
    };
    for Access { pattern, widest, banks, sectors, .. } in &report.accesses {
        let vector = pattern.vector();
        text += &format!("\n  {}\n", pattern.addresses());
        let bytes = count(vector * element_bytes, "byte");
        let most = if vector == *widest { ", the widest".into() } else { format!("; {widest} are possible") };
        text += &paragraph(&format!("vectors of {} ({bytes}){most}", count(vector, "element")), 4);
        let degree = |degree: i64| if degree == 1 { "no conflict".into() } else { format!("{degree}-way conflicts") };
        text += &paragraph(&format!("shared memory: {}", census(banks, degree)), 4);
        text += &paragraph(&format!("global memory: {}", census(sectors, |cost| count(cost, "sector"))), 4);
    }
    match &report.swizzle {
        Ok(swizzle) => {
            text += &format!("\n{GOOD}{swizzle}{GOOD:#} leaves no conflict in any warp\n");
            for swizzled in report.accesses.iter().filter_map(|access| access.swizzled.as_ref()) {
                text += &format!("  {swizzled}\n");
            }
            if let Some([without, with]) = report.elements.filter(|[without, with]| with > without) {
                text += &format!("  It needs {with} elements of shared memory in place of {without}\n");
            }
        }
        Err(NoSwizzle::NoConflict) => {}
        Err(why) => text += &format!("\n{}", paragraph(&sentence(&why.to_string()), 0)),
    }
    Ok(Answer { text, json: document(&report), positive })
}

/// What instructions cost: all of them the same, or how many how much.
fn census(census: &Census, cost: impl Fn(i64) -> String) -> String {
    match &census.counts[..] {
        [] => "no instruction".into(),
        [(same, 1)] => format!("{} in the only instruction", cost(*same)),
        [(same, instructions)] => format!("{} in each of {instructions} instructions", cost(*same)),
        counts => {
            let each = counts
                .iter()
                .map(|(each, instructions)| format!("{} in {}", cost(*each), count(*instructions, "instruction")));
            let each: Vec<String> = each.collect();
            format!("{}; the most in warp {}, from value {} on", each.join(", "), census.warp, census.value)
        }
    }
}

impl From<Error> for Failure {
    fn from(err: Error) -> Failure {
        let message = err.to_string();
        if err.is_limit() { Failure::refusal("undecided", message) } else { Failure::new("layout", message) }
    }
}
