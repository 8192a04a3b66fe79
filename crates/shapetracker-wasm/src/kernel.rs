//! Layouts of GPU kernels: what threads do to banks and sectors, and one instruction of one warp in all detail.

use shapetracker_cute::{AccessPattern, AccessReport, ComposedLayout, Instruction, Layout, Phase};

use crate::fault::Fault;
use crate::json::{Value, object};
use crate::request::Fields as _;

/// The most layouts that are asked about together.
const MOST_LAYOUTS: usize = 8;
/// The threads of a warp: the rows that are drawn.
const LANES: i64 = 32;
/// The most values of each thread that are drawn.
const MOST_VALUES: i64 = 64;

pub(crate) fn kernel(request: &Value) -> Result<Value, Fault> {
    let bytes = request.number("bytes")?;
    let vector = request.number_or("vector", 0)?;
    let texts = request.list("layouts")?;
    if texts.len() > MOST_LAYOUTS {
        let given = texts.len();
        return Err(Fault::limit(format!(
            "{given} layouts, more than the {MOST_LAYOUTS} that are asked about together"
        )));
    }
    let mut patterns = Vec::new();
    for (line, text) in texts.iter().enumerate() {
        let Value::Text(text) = text else { return Err(Fault::request("a layout is a text")) };
        let about = |fault: Fault| fault.in_variable(line).in_field("layouts");
        let layout: ComposedLayout = text.parse().map_err(|err| about(Fault::syntax(&err, "layouts", text)))?;
        let refused = |err: shapetracker_cute::Error| about(Fault::new("layout", err.to_string()));
        let layout = with_threads(layout, request.number_or("threads", 0)?).map_err(about)?;
        let pattern = AccessPattern::new(layout, bytes).map_err(refused)?;
        let widest = pattern.widest_vector().map_err(refused)?;
        // What is too wide for one of them is as wide as it can be.
        let vector = if vector > 0 { vector.min(widest) } else { widest };
        patterns.push(pattern.with_vector(vector).map_err(refused)?);
    }
    let report =
        AccessReport::new(&patterns).map_err(|err| Fault::new("layout", err.to_string()).in_field("layouts"))?;
    let shown = usize::try_from(request.number_or("shown", 0)?).unwrap_or(0).min(patterns.len().saturating_sub(1));
    let shown = match patterns.get(shown) {
        Some(pattern) => picture(pattern, request.number_or("warp", 0)?, request.number_or("value", 0)?),
        None => Value::Null,
    };
    Ok(Value::from(&report).with("shown", shown))
}

/// The same layout with another of its modes in front, the one that takes the thread.
fn with_threads(layout: ComposedLayout, mode: i64) -> Result<ComposedLayout, Fault> {
    if mode == 0 {
        return Ok(layout);
    }
    let mut items = layout.layout().items();
    let Some(mode) = usize::try_from(mode).ok().filter(|mode| *mode < items.len()) else {
        let rank = items.len();
        let modes = if rank == 1 { "1 mode".to_owned() } else { format!("{rank} modes") };
        return Err(Fault::new(
            "layout",
            format!("the layout has {modes}, so that mode {} cannot take the thread", mode + 1),
        ));
    };
    items[..=mode].rotate_right(1);
    let turned =
        Layout::concat(&items).and_then(|turned| ComposedLayout::new(layout.swizzle(), layout.offset(), turned));
    turned.map_err(|err| Fault::new("layout", err.to_string()))
}

/// The threads of a warp with their values, and one instruction of it; the warp and the value that are nearest to those asked for.
fn picture(pattern: &AccessPattern, warp: i64, value: i64) -> Value {
    let (threads, values) = (pattern.threads(), pattern.values());
    if threads == 0 || values == 0 {
        return Value::Null;
    }
    let warps = (threads - 1) / LANES + 1;
    let warp = warp.clamp(0, warps - 1);
    let value = value.clamp(0, values - 1);
    let value = value - value % pattern.vector();
    let (first, begin) = (warp * LANES, value - value % MOST_VALUES);
    let rows = (threads - first).min(LANES);
    let columns = (values - begin).min(MOST_VALUES);
    let cells = (first..first + rows).flat_map(|thread| (begin..begin + columns).map(move |value| (thread, value)));
    let addresses = cells.clone().filter_map(|(thread, value)| pattern.address(thread, value)).collect::<Value>();
    let words: Vec<i64> = cells.filter_map(|(thread, value)| pattern.word(thread, value)).collect();
    // The sizes inside the mode of the threads, and inside those of the values.
    let items = pattern.addresses().layout().items();
    let (of_threads, of_values) = items.split_at(items.len().min(1));
    let sizes = |modes: &[Layout]| modes.iter().flat_map(Layout::leaves).map(|(size, _)| size).collect::<Value>();
    let instruction = pattern.instruction(warp, value);
    object! {
        "text": pattern.addresses().to_string(),
        "warp": warp,
        "warps": warps,
        "value": value,
        "values": values,
        "first_thread": first,
        "first_value": begin,
        "rows": rows,
        "columns": columns,
        "addresses": addresses,
        "banks": words.iter().map(|&word| Phase::bank(word)).collect::<Value>(),
        "words": words,
        "thread_sizes": sizes(of_threads),
        "value_sizes": sizes(of_values),
        "phases": instruction.iter().flat_map(|Instruction { phases }| phases).map(phase).collect::<Value>(),
    }
}

fn phase(phase: &Phase) -> Value {
    let word =
        |(word, lanes): &(i64, Vec<i64>)| object! { "word": *word, "bank": Phase::bank(*word), "threads": &lanes[..] };
    object! {
        "degree": phase.degree,
        "lanes": phase.lanes.iter().copied().collect::<Value>(),
        "words": phase.words.iter().map(word).collect::<Value>(),
    }
}
