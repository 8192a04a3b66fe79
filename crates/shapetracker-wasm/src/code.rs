//! Layouts as code: index expressions in many languages, and chains as calls on arrays.

use std::fmt::Write;

use shapetracker::expr::{Language, UnknownLanguage};
use shapetracker::{Chain, ChainProgress, Dims, Movement, Ranges, ShapeTracker, Start, View};

use crate::fault::Fault;
use crate::json::{Value, object};
use crate::layout::Layout;

pub(crate) fn code(request: &Value) -> Result<Value, Fault> {
    let layout = Layout::of(request, "source")?;
    let (language, kernel) = (request.text("language")?, request.is_set("kernel"));
    let code = match language {
        "numpy" | "pytorch" | "chain" => calls(&Read::of(request)?, language)?,
        _ => {
            let unknown = |err: UnknownLanguage| Fault::request(err.to_string());
            let language: Language = language.parse().map_err(unknown)?;
            match &layout {
                Layout::Chain(tracker) => {
                    let code = tracker.index_expr()?;
                    if kernel { code.kernel(language)? } else { code.code(language)? }
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

/// The chain of a source, with the trackers before and after each operation.
struct Read {
    chain: Chain,
    base: Option<Vec<i64>>,
    trackers: Vec<ShapeTracker>,
}

impl Read {
    fn of(request: &Value) -> Result<Read, Fault> {
        let source = request.object("source")?;
        if source.get("chain").is_none() {
            return Err(Fault::new("unsupported", "expressions over variables are no chain of operations"));
        }
        let text = source.text("chain")?;
        let chain: Chain = text.parse().map_err(|err| Fault::syntax(&err, "chain", text))?;
        let base = source.numbers_or_none("base")?.filter(|_| chain.start() == &Start::Nothing);
        let ChainProgress { trackers, error, .. } = chain.progress(base.as_deref());
        match error {
            Some(err) => Err(Fault::chain(&err, text)),
            None => Ok(Read { base: base.map(|base| base.to_vec()), chain, trackers }),
        }
    }
}

/// The chain, shape and views as the command prints them.
pub(crate) fn json(request: &Value) -> Result<Value, Fault> {
    let read = Read::of(request)?;
    let result = &read.trackers[read.trackers.len() - 1];
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
    let text = format!("{{\n  \"chain\": \"{chain}\",\n  \"shape\": {shape},\n  \"views\": [\n{views}\n  ]\n}}\n");
    Ok(object! { "json": text })
}

fn joined<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

/// Numbers as Python writes a tuple.
fn tuple(items: &[i64]) -> String {
    if items.len() == 1 { format!("({},)", items[0]) } else { format!("({})", joined(items)) }
}

/// The chain as statements, each of which makes an array `x` from the one before.
fn calls(read: &Read, language: &str) -> Result<String, Fault> {
    if language == "chain" {
        return Ok(match &read.base {
            Some(base) => format!("({}).{}\n", joined(base), read.chain),
            None => format!("{}\n", read.chain),
        });
    }
    let torch = language == "pytorch";
    let mut code = if torch { "import torch\n\n" } else { "import numpy as np\n\n" }.to_owned();
    let arange = if torch { "torch.arange" } else { "np.arange" };
    match (read.chain.start(), &read.base) {
        (Start::Views(views), _) => {
            // Addresses below 0 are in front of what is called the first element.
            let (low, high) = views[0].address_range().unwrap_or((0, -1));
            let (mut below, end) = (low.min(0), high.saturating_add(1));
            let from = if below < 0 { format!("{below}, ") } else { String::new() };
            line(&mut code, &format!("{arange}({from}{end})"), None);
            for view in views {
                let (mut valid, pads) = unmasked(view);
                valid.offset = valid.offset.wrapping_sub(std::mem::take(&mut below));
                line(&mut code, &valid.call(torch), Some(&valid.shape));
                if view.mask().is_some() {
                    let call = if torch { torch_call } else { numpy_call };
                    line(&mut code, &call(&Movement::Pad(pads), &valid.shape, view.shape())?, Some(view.shape()));
                }
            }
        }
        (Start::Shape(shape), _) => {
            let numel = read.trackers[0].numel();
            line(&mut code, &format!("{arange}({numel}).reshape({})", tuple(shape)), Some(shape));
        }
        (Start::Nothing, base) => {
            let numel = read.trackers[0].numel();
            let base = base.as_deref().unwrap_or_default();
            line(&mut code, &format!("{arange}({numel}).reshape({})", tuple(base)), Some(base));
        }
    }
    for (op, around) in read.chain.ops().iter().zip(read.trackers.windows(2)) {
        let (from, to) = (around[0].shape(), around[1].shape());
        let call = if torch { torch_call(op, from, to)? } else { numpy_call(op, from, to)? };
        line(&mut code, &call, Some(to));
    }
    Ok(code)
}

fn line(code: &mut String, value: &str, shape: Option<&[i64]>) {
    let remark = shape.map_or(String::new(), |shape| format!("  # {}", tuple(shape)));
    // Writing to a string cannot fail.
    let _ = writeln!(code, "x = {value}{remark}");
}

/// Elements of `x`, counted in row-major order, at every index.
struct Strided {
    shape: Dims,
    strides: Dims,
    offset: i64,
}

/// The valid elements of a view, and how many masked ones are around them.
fn unmasked(view: &View) -> (Strided, Ranges) {
    let (mut shape, mut offset, mut pads) = (Dims::from(view.shape()), view.offset(), Ranges::new());
    for (axis, (begin, end)) in view.mask().unwrap_or_default().iter().enumerate() {
        offset = offset.wrapping_add(begin.wrapping_mul(view.strides()[axis]));
        pads.push((*begin, shape[axis] - end));
        shape[axis] = end - begin;
    }
    (Strided { shape, strides: view.strides().into(), offset }, pads)
}

impl Strided {
    fn call(&self, torch: bool) -> String {
        // Without elements offset and strides may be anything, and so may the stride of an axis of size 1.
        let empty = self.shape.contains(&0);
        let mut offset = if empty { 0 } else { self.offset };
        let (mut strides, mut flipped) = (self.strides.clone(), Vec::new());
        for (axis, stride) in strides.iter_mut().enumerate() {
            if empty || self.shape[axis] == 1 {
                *stride = 0;
            }
            // PyTorch has no negative strides.
            if torch && *stride < 0 {
                offset += (self.shape[axis] - 1) * *stride;
                *stride = -*stride;
                flipped.push(axis as i64);
            }
        }
        let from = if offset == 0 { String::new() } else { format!("[{offset}:]") };
        let (shape, flip) = (tuple(&self.shape), if flipped.is_empty() { String::new() } else { flip(&flipped) });
        if torch {
            let flat = if offset == 0 { "" } else { ".view(-1)" };
            return format!("x.contiguous(){flat}{from}.as_strided({shape}, {}){flip}", tuple(&strides));
        }
        let strides: Vec<String> = strides.iter().map(|stride| format!("{stride} * x.itemsize")).collect();
        let comma = if strides.len() == 1 { "," } else { "" };
        format!("np.lib.stride_tricks.as_strided(x.ravel(){from}, {shape}, ({}{comma}))", strides.join(", "))
    }
}

fn flip(axes: &[i64]) -> String {
    format!(".flip({})", tuple(axes))
}

/// Axes counted from the front.
fn axes(axes: &[i64], rank: usize) -> Vec<i64> {
    axes.iter().map(|axis| if *axis < 0 { axis + rank as i64 } else { *axis }).collect()
}

/// The axes that an operation reverses.
fn reversed(op: &Movement, rank: usize) -> Vec<i64> {
    match op {
        Movement::Flip(flipped) => axes(flipped, rank),
        Movement::FlipEach(each) => (0..).zip(each).filter(|(_, reversed)| **reversed).map(|(axis, _)| axis).collect(),
        _ => Vec::new(),
    }
}

fn slice((begin, end, step): (Option<i64>, Option<i64>, i64)) -> String {
    let bound = |bound: Option<i64>| bound.map_or(String::new(), |bound| bound.to_string());
    let step = if step == 1 { String::new() } else { format!(":{step}") };
    format!("{}:{}{step}", bound(begin), bound(end))
}

fn indexed(slices: &[String]) -> String {
    if slices.is_empty() { "x".to_owned() } else { format!("x[{}]", slices.join(", ")) }
}

fn numpy_call(op: &Movement, from: &[i64], to: &[i64]) -> Result<String, Fault> {
    Ok(match op {
        Movement::Reshape(_) | Movement::Squeeze(_) | Movement::Unsqueeze(_) => format!("x.reshape({})", tuple(to)),
        Movement::Permute(order) => format!("x.transpose({})", joined(&axes(order, from.len()))),
        Movement::Transpose(a, b) => format!("x.swapaxes({a}, {b})"),
        Movement::Expand(_) | Movement::BroadcastTo(_) => format!("np.broadcast_to(x, {})", tuple(to)),
        Movement::Pad(pads) => {
            let pads: Vec<String> = pads.iter().map(|(before, after)| format!("({before}, {after})")).collect();
            if pads.is_empty() { "x".to_owned() } else { format!("np.pad(x, [{}])", pads.join(", ")) }
        }
        Movement::Shrink(ranges) => {
            let ranges = ranges.iter().map(|(begin, end)| slice((Some(*begin), Some(*end), 1)));
            indexed(&ranges.collect::<Vec<_>>())
        }
        Movement::Flip(_) | Movement::FlipEach(_) => {
            format!("np.flip(x, {})", tuple(&reversed(op, from.len())))
        }
        Movement::Step(steps) => indexed(&steps.iter().map(|step| slice((None, None, *step))).collect::<Vec<_>>()),
        Movement::Slice(slices) => indexed(&slices.iter().map(|part| slice(*part)).collect::<Vec<_>>()),
        Movement::AsStrided(shape, strides, offset) => {
            Strided { shape: shape.clone(), strides: strides.clone(), offset: *offset }.call(false)
        }
    })
}

fn torch_call(op: &Movement, from: &[i64], to: &[i64]) -> Result<String, Fault> {
    Ok(match op {
        Movement::Reshape(_) | Movement::Squeeze(_) | Movement::Unsqueeze(_) => format!("x.reshape({})", tuple(to)),
        Movement::Permute(order) => format!("x.permute({})", tuple(&axes(order, from.len()))),
        Movement::Transpose(a, b) => format!("x.transpose({a}, {b})"),
        Movement::Expand(_) | Movement::BroadcastTo(_) => format!("x.expand({})", tuple(to)),
        Movement::Pad(pads) => {
            let pads: Vec<i64> = pads.iter().rev().flat_map(|(before, after)| [*before, *after]).collect();
            if pads.is_empty() { "x".to_owned() } else { format!("torch.nn.functional.pad(x, {})", tuple(&pads)) }
        }
        Movement::Shrink(_) => numpy_call(op, from, to)?,
        Movement::Flip(_) | Movement::FlipEach(_) => {
            format!("x{}", flip(&reversed(op, from.len())))
        }
        Movement::Step(steps) => forward(&steps.iter().map(|step| (None, None, *step)).collect::<Vec<_>>(), from)?,
        Movement::Slice(slices) => forward(slices, from)?,
        Movement::AsStrided(shape, strides, offset) => {
            Strided { shape: shape.clone(), strides: strides.clone(), offset: *offset }.call(true)
        }
    })
}

/// Slices whose steps may be negative, by flipping such axes first.
fn forward(slices: &[(Option<i64>, Option<i64>, i64)], from: &[i64]) -> Result<String, Fault> {
    let (mut flipped, mut parts) = (Vec::new(), Vec::new());
    for ((axis, &(begin, end, step)), &size) in slices.iter().enumerate().zip(from) {
        // A step past the axis takes the first element alone; a far longer one would overflow in PyTorch.
        let longest = size.max(1);
        if step > 0 {
            parts.push(slice((begin, end, step.min(longest))));
            continue;
        }
        // The elements that the slice takes, counted from the other end.
        let taken = ShapeTracker::contiguous([size])?.slice([(begin, end, step)])?;
        let begin = taken.address(&[0]).map_or(size, |first| size - 1 - first);
        let step = step.saturating_neg().min(longest);
        let end = begin + (taken.numel() - 1) * step + 1;
        flipped.push(axis as i64);
        parts.push(slice((Some(begin), Some(end.clamp(begin, size)), step)));
    }
    let flip = if flipped.is_empty() { String::new() } else { flip(&flipped) };
    Ok(format!("x{flip}{}", indexed(&parts).trim_start_matches('x')))
}
