//! Layouts as code: index expressions in many languages, and chains as calls on arrays.

use shapetracker::expr::{Language, UnknownLanguage};
use shapetracker::{ArrayLibrary, Chain, ChainStart, Stored};

use crate::fault::Fault;
use crate::json::{Value, object};
use crate::layout::{Layout, read};
use crate::request::Fields as _;

pub(crate) fn code(request: &Value) -> Result<Value, Fault> {
    let (language, kernel) = (request.text("language")?, request.is_set("kernel"));
    let library = ArrayLibrary::ALL.iter().copied().find(|library| library.name() == language);
    let code = match language {
        _ if library.is_some() || language == "chain" => text(&Read::of(request)?, library)?,
        _ => {
            let unknown = |err: UnknownLanguage| Fault::request(err.to_string());
            let language: Language = language.parse().map_err(unknown)?;
            match Layout::over_base(request, "source")? {
                Layout::Chain(tracker) => {
                    let code = tracker.index_expr()?;
                    let code = if kernel { code.kernel(language)? } else { code.code(language)? };
                    let copy = Read::of(request)?.copy();
                    let remark =
                        copy.map(|copy| format!("{} addresses of the base, not of {copy}\n", language.comment()));
                    remark.unwrap_or_default() + &code
                }
                Layout::Free(_) if kernel => {
                    let message = "a kernel is written for a chain, whose elements have an order in memory";
                    return Err(Fault::new("unsupported", message));
                }
                Layout::Free(free) => {
                    let [index, valid] = free.simple;
                    free.graph.code(language, &[("valid", valid), ("index", index)])?
                }
            }
        }
    };
    Ok(object! { "code": code })
}

/// The chain of a source, and the tensor after all operations.
struct Read<'a> {
    text: &'a str,
    chain: Chain,
    base: Option<Vec<i64>>,
    last: Stored,
}

impl Read<'_> {
    fn of(request: &Value) -> Result<Read<'_>, Fault> {
        let source = request.object("source")?;
        if source.get("chain").is_none() {
            return Err(Fault::new("unsupported", "expressions over variables are no chain of operations"));
        }
        let text = source.text("chain")?;
        let base = source.numbers_or_none("base")?;
        let chain = read(text, base.as_deref())?;
        let base = base.filter(|_| chain.start() == &ChainStart::Nothing);
        let last = chain.follow(base.as_deref(), |_, _| ()).map_err(|err| Fault::chain(&err, text))?;
        Ok(Read { text, base: base.map(|base| base.to_vec()), chain, last })
    }

    /// The copy that the tensor lies in, in words; nothing where that is the base.
    fn copy(&self) -> Option<String> {
        self.chain.copy_in_words(self.last.buffer())
    }
}

/// The chain, shape and views as the command prints them.
pub(crate) fn json(request: &Value) -> Result<Value, Fault> {
    let read = Read::of(request)?;
    let result = read.last.over_newest();
    let list = |numbers: &[i64]| format!("[{}]", joined(numbers));
    let views = result.views().iter().map(|view| {
        let ranges = |mask: &[(i64, i64)]| {
            let ranges: Vec<String> = mask.iter().map(|(begin, end)| format!("[{begin}, {end}]")).collect();
            format!("[{}]", ranges.join(", "))
        };
        let mask = view.mask().map_or("null".to_owned(), ranges);
        let (shape, strides) = (list(view.shape()), list(view.strides()));
        format!("    {{\"shape\": {shape}, \"strides\": {strides}, \"offset\": {}, \"mask\": {mask}}}", view.offset())
    });
    let views = views.collect::<Vec<_>>().join(",\n");
    // A chain has no character that JSON would escape.
    let (chain, shape) = (&read.chain, list(result.shape()));
    let buffer = read.copy().map_or_else(String::new, |copy| format!("  \"buffer\": \"{copy}\",\n"));
    let text =
        format!("{{\n  \"chain\": \"{chain}\",\n  \"shape\": {shape},\n{buffer}  \"views\": [\n{views}\n  ]\n}}\n");
    Ok(object! { "json": text })
}

fn joined<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

/// The chain as text: in our own notation, or as calls on the arrays of a library.
fn text(read: &Read, library: Option<ArrayLibrary>) -> Result<String, Fault> {
    match (library, &read.base) {
        (Some(library), base) => {
            read.chain.calls(library, base.as_deref()).map_err(|err| Fault::chain(&err, read.text))
        }
        (None, Some(base)) => Ok(format!("({}).{}\n", joined(base), read.chain)),
        (None, None) => Ok(format!("{}\n", read.chain)),
    }
}
