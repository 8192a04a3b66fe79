//! What a library does with a chain, in sentences, and what to write instead.

use super::code::Code;
use super::hand::{Hand, Thrift, Why, reshaped, strided};
use super::{Does, LibraryAdvice};
use crate::error::Error;
use crate::fit::fit;
use crate::notation::{ArrayLibrary, Chain, ChainError, list};
use crate::{ChainStart, Dims, ShapeTracker, View};

/// Of so many reshapes that have no view every choice is tried, which to copy whole.
const MOST_CHOICES: u32 = 3;

/// What is said where nothing would have to be copied.
pub(super) const ONE_VIEW: &str = " Yet the whole chain is one view.";

/// Calls that copy, or that raise, in their order.
type Events = Vec<(usize, Why)>;

/// What a library does with a chain, of which there are the trackers before any operation and after each; `view` is the view
/// that the whole chain is, if it is one and no copy is asked for.
pub(super) fn advised(
    library: ArrayLibrary,
    chain: &Chain,
    trackers: &[ShapeTracker],
    view: Option<&View>,
) -> LibraryAdvice {
    let cannot =
        |sentence: String| LibraryAdvice { library, does: Does::Cannot, copied: Vec::new(), sentence, code: None };
    let Some(start) = trackers[0].as_view() else {
        return cannot(format!("{library} has no arrays that are several views."));
    };
    // No array reads before the beginning of its memory, nor past an end that is known.
    if let Err(err) = start.fits_buffer(None) {
        return cannot(format!("{library} has no such array: {}.", err.reason()));
    }
    if start.mask().is_some() {
        return cannot(format!("{library} has no arrays with masked elements."));
    }
    if !library.has(start) {
        return cannot(format!("{library} has no negative strides."));
    }
    let name = name(library, chain);
    let mut usual = Hand::counting(library, start);
    let events = match follow(&mut usual, chain, chain.ops().len()) {
        Ok(events) => events,
        Err(err) => return cannot(format!("{library} cannot do this: {}.", err.reason())),
    };
    let (copied, all) = (usual.copied().to_vec(), usual.written());
    let Some(&(first, why)) = events.first() else {
        let is_given = matches!(chain.start(), ChainStart::Views(_));
        let (sentence, code) = match chain.ops().is_empty() && is_given {
            true => {
                let code = strided(library, "x", start);
                (format!("{library} has this layout, as a view of a flat array `x`."), Some(code))
            }
            false => (format!("{library} makes a view: nothing is copied."), None),
        };
        return LibraryAdvice { library, does: Does::View, copied, sentence, code };
    };
    let elements = |step: usize| copied.iter().find(|(at, _)| *at == step).map_or(0, |(_, elements)| *elements);
    let told = |step: usize, why: Why| complaint(library, chain, trackers[step + 1].shape(), step, why, elements(step));
    let mut sentence = told(first, why);
    let raising = events.iter().find(|(_, why)| why.raises());
    if let Some(&(step, why)) = raising.filter(|(step, _)| *step != first) {
        sentence += &format!(" Then {}", told(step, why));
    }
    let does = if raising.is_some() { Does::Raises } else { Does::Copies };
    if copied.len() > 1 {
        let with = match raising {
            Some((_, Why::Raises)) => "With `reshape` in its place",
            Some(_) => "With `flip` in its place",
            None => "In all",
        };
        sentence += &format!(" {with} {} operations copy {all} elements.", copied.len());
    }
    // Where nothing is copied but an index raises, there is nothing to write instead.
    let view = view.filter(|_| all > 0 || raising.is_none());
    let direct = view.filter(|view| library.has(view)).and_then(|view| direct(library, start, view, &name));
    let least = least(library, chain, start, &name);
    let needed = least.as_ref().map(Hand::written);
    let code = match (direct, needed) {
        // Where another call will do there is nothing to be clever about.
        (Some(direct), needed) if needed != Some(0) || why != Why::Flat => {
            sentence += ONE_VIEW;
            Some(direct)
        }
        (_, Some(needed)) => {
            if needed == 0 && copied.len() > 1 {
                sentence += " Nothing must be copied.";
            } else if needed > 0 && needed < all {
                sentence += &format!(" Copying {} is enough.", how_many(needed));
            }
            // What says as much as the chain itself is only of use where this raises an error, or is not code of a library.
            let translates = raising.is_some() || (chain.is_ours() && why == Why::Shape);
            (needed < all || (needed == all && all > 0 && translates)).then_some(least).flatten().and_then(Hand::code)
        }
        (_, None) => None,
    };
    LibraryAdvice { library, does, copied, sentence, code }
}

/// What is said of a chain with an operation that a library refuses, and of what it copies before that.
pub(super) fn refused(library: ArrayLibrary, chain: &Chain, base: Option<&[i64]>, err: &ChainError) -> LibraryAdvice {
    let (mut start, mut shapes) = (None, Vec::new());
    _ = chain.follow(base, |step, _| {
        start.get_or_insert_with(|| step.over_newest().clone());
        shapes.push(Dims::from_slice(step.shape()));
    });
    let mut hand = start.as_ref().and_then(ShapeTracker::as_view).map(|start| Hand::counting(library, start));
    let until = err.op().unwrap_or(0);
    let events = hand.as_mut().and_then(|hand| follow(hand, chain, until).ok()).unwrap_or_default();
    let copied = hand.map_or_else(Vec::new, |hand| hand.copied().to_vec());
    let told = |&(step, why): &(usize, Why)| {
        let elements = copied.iter().find(|(at, _)| *at == step).map_or(0, |(_, elements)| *elements);
        complaint(library, chain, &shapes[step + 1], step, why, elements)
    };
    let refusal = || {
        let call = err.op().map_or_else(|| "this".into(), |op| format!("`{}`", chain.written_call(op)));
        format!("{call} raises an error in {library}: {}.", err.message())
    };
    let mut sentences: Vec<String> = events.first().map(told).into_iter().collect();
    match events.iter().position(|(_, why)| why.raises()) {
        Some(0) => {}
        Some(at) => sentences.push(told(&events[at])),
        None => sentences.push(refusal()),
    }
    let sentence = sentences.join(" Then ");
    LibraryAdvice { library, does: Does::Raises, copied, sentence, code: None }
}

/// Does the calls of a chain that are made of its first operations.
fn follow(hand: &mut Hand<Option<Code>>, chain: &Chain, until: usize) -> Result<Events, Error> {
    let (mut at, mut events) = (0, Events::new());
    while at < until {
        let (call, ops) = chain.call(at);
        if ops.end > until {
            break;
        }
        events.extend(hand.does(at, call, &chain.ops()[ops.clone()])?);
        at = ops.end;
    }
    Ok(events)
}

/// The same chain with the fewest elements written that are known to do.
fn least(library: ArrayLibrary, chain: &Chain, start: &View, name: &str) -> Option<Hand<Option<Code>>> {
    if chain.leaves_out_types() {
        return None;
    }
    let done = |whole: u32| {
        let mut hand = Hand::writing(library, start, name, Thrift::Least { whole });
        follow(&mut hand, chain, chain.ops().len()).ok()?;
        hand.writes().then_some(hand)
    };
    let mut best = done(0)?;
    let choices = match best.blocked() {
        0 => return Some(best),
        blocked if blocked <= MOST_CHOICES => (1..1 << blocked).collect(),
        _ => vec![u32::MAX],
    };
    for whole in choices {
        best = match done(whole) {
            Some(other) if other.written() < best.written() => other,
            _ => best,
        };
    }
    Some(best)
}

/// What a library does with a call that is no view, and how that is said.
fn complaint(library: ArrayLibrary, chain: &Chain, to: &[i64], step: usize, why: Why, elements: i64) -> String {
    let shape = list(to);
    let call = |name: &str| format!("`.{name}({shape})`");
    let copies = format!("copies {}", all(elements));
    let written = chain.written_call(step);
    let order = chain.order_of_reading(step);
    match (why, library) {
        (Why::Shape, _) if order.is_some() => format!("`{written}` silently {copies}."),
        (Why::Raises, _) => format!("{} raises a RuntimeError; {} {copies}.", call("view"), call("reshape")),
        (Why::Shape, ArrayLibrary::PyTorch) => {
            format!("{} {copies}; {} raises a RuntimeError.", call("reshape"), call("view"))
        }
        (Why::Shape, ArrayLibrary::NumPy) => format!("{} silently {copies}.", call("reshape")),
        (Why::NegativeStep, _) => {
            let flip = if elements == 0 { String::new() } else { format!("; `flip` {copies}") };
            format!("`{written}` raises a ValueError, as {library} has no negative strides{flip}.")
        }
        (Why::Backwards, _) => {
            let op = &chain.ops()[step];
            format!("`.{op}` {copies}: {library} has no negative strides.")
        }
        (Why::Asked, _) => format!("`{written}` {copies}."),
        (Why::Flat, _) => {
            let name = chain.name_of_call(step);
            let view = match order {
                Some(axes) => format!("`.transpose({}).reshape({shape})`", list(axes)),
                None => call(if library == ArrayLibrary::PyTorch { "view" } else { "reshape" }),
            };
            let always = if name == "flatten" { "always copies: here" } else { "copies" };
            let because = if name == "ravel" { ", which do not lie in order" } else { "" };
            let name = if order.is_some() { written } else { format!(".{name}()") };
            format!("`{name}` {always} {}{because}; {view} makes a view.", all(elements))
        }
        (Why::New, _) => format!("`{written}` makes a new array of {}.", how_many(elements.into())),
        (Why::Memory, _) => format!(
            "`{written}` is of the elements in row-major order, which takes a contiguous copy of {} first.",
            all(elements)
        ),
    }
}

/// A view of the array that a chain starts with, as one call.
fn direct(library: ArrayLibrary, start: &View, view: &View, name: &str) -> Option<String> {
    if start == view {
        return Some(name.into());
    }
    if fit(start, view.shape()).is_ok_and(|fitting| fitting == *view) {
        return Some(reshaped(library, view.shape()).replacen('x', name, 1));
    }
    if !start.is_contiguous() || start.offset() != 0 {
        return None;
    }
    let mut code = Code::of(name);
    code.then(&match library {
        ArrayLibrary::PyTorch => strided(library, "x", view),
        ArrayLibrary::NumPy => strided(library, if view.offset() == 0 { "x" } else { "x.reshape(-1)" }, view),
    });
    Some(code.text())
}

/// What the array that a chain starts with is called: as it is written, where that is an expression of the library.
fn name(library: ArrayLibrary, chain: &Chain) -> String {
    let written = chain.written_start();
    let is_name = !written.is_empty() && written.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_name = is_name && !written.starts_with(|c: char| c.is_ascii_digit());
    // A shape is no array.
    let is_shape = written.starts_with("torch.Size");
    let prefixes: &[&str] = match library {
        ArrayLibrary::NumPy => &["np."],
        ArrayLibrary::PyTorch => &["torch."],
    };
    match is_name || (!is_shape && prefixes.iter().any(|prefix| written.starts_with(prefix))) {
        true => written.into(),
        false => "x".into(),
    }
}

/// A number of elements, all of them.
fn all(elements: i64) -> String {
    if elements == 1 { "the one element".into() } else { format!("all {elements} elements") }
}

fn how_many(elements: i128) -> String {
    if elements == 1 { "1 element".into() } else { format!("{elements} elements") }
}
