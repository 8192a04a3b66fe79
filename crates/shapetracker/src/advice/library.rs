//! What a library does with a chain, in sentences, and what to write instead.

use std::cmp::Ordering;
use std::fmt;

use super::array::{Array, product};
use super::code::Code;
use super::hand::{Hand, Thrift, Why, reshaped, strided};
use super::{ArrayNumber, Does, LibraryAdvice, LibraryAdviceOf};
use crate::error::Error;
use crate::notation::{ArrayLibrary, Call, Chain, ChainError, ChainOf, list};
use crate::number::Number;
use crate::{ChainStartOf, Dims, MovementOf, ShapeTracker};

/// Of so many reshapes that have no view every choice is tried, which to copy whole.
const MOST_CHOICES: u32 = 3;

/// What is said where nothing would have to be copied.
pub(super) const ONE_VIEW: &str = " Yet the whole chain is one view.";

/// Calls that copy, or that raise, in their order.
type Events = Vec<(usize, Why)>;

/// What was found out about a library before anything was written down, but for the numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Decided {
    events: Events,
    /// How what must be written compares with what is, and whether it is nothing.
    needed: Option<(Ordering, bool)>,
}

/// A chain of which a library does the operations, in the numbers that its arrays have.
///
/// ```
/// use shapetracker::advice::{Array, Performed, library_advice};
/// use shapetracker::{ArrayLibrary, Chain};
///
/// let chain: Chain = "(3, 2).permute(1, 0)".parse()?;
/// let start = Array::contiguous(&[3, 2]);
/// let shapes = vec![[3, 2].into(), [2, 3].into()];
/// let performed = Performed { start, ops: chain.ops().to_vec(), shapes, view: None };
/// let advice = library_advice(ArrayLibrary::NumPy, &chain, &performed);
/// assert_eq!(advice.sentence, "NumPy makes a view: nothing is copied.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Performed<N: ArrayNumber> {
    /// The array that the chain starts with.
    pub start: Array<N>,
    /// The operations.
    pub ops: Vec<MovementOf<N>>,
    /// The shape before any operation, and after each.
    pub shapes: Vec<N::Numbers>,
    /// The one view that the whole chain is, if it is one without a mask.
    pub view: Option<Array<N>>,
}

/// What a library does with a chain. The chain may be written in other numbers than it is done in: names there, and their
/// values here.
///
/// ```
/// use shapetracker::advice::{Array, Does, Performed, library_advice};
/// use shapetracker::{ArrayLibrary, Chain};
///
/// let chain: Chain = "(4,).flip(0)".parse()?;
/// let shapes = vec![[4].into(), [4].into()];
/// let performed = Performed { start: Array::contiguous(&[4]), ops: chain.ops().to_vec(), shapes, view: None };
/// assert_eq!(library_advice(ArrayLibrary::PyTorch, &chain, &performed).does, Does::Copies);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Cost: that of the operations, and of the smallest copy for each reshape.
pub fn library_advice<C: Number, N: ArrayNumber>(
    library: ArrayLibrary,
    chain: &ChainOf<C>,
    performed: &Performed<N>,
) -> LibraryAdviceOf<N> {
    let Performed { start, ops, shapes, view } = performed;
    if library == ArrayLibrary::PyTorch && start.has_negative_strides() {
        return cannot(library, format!("{library} has no negative strides."));
    }
    let name = name(library, chain);
    let mut usual = Hand::counting(library, start);
    let events = match follow(&mut usual, chain, ops, ops.len()) {
        Ok(events) => events,
        Err(err) => return cannot(library, format!("{library} cannot do this: {}.", err.reason())),
    };
    let (copied, all) = (usual.copied().to_vec(), usual.written());
    let mut decided = Decided { events, needed: None };
    let Some(&(first, why)) = decided.events.first() else {
        let is_given = matches!(chain.start(), ChainStartOf::Views(_));
        let (sentence, code) = match ops.is_empty() && is_given {
            true => {
                let code = strided(library, "x", start);
                (format!("{library} has this layout, as a view of a flat array `x`."), Some(code))
            }
            false => (format!("{library} makes a view: nothing is copied."), None),
        };
        return LibraryAdviceOf { library, does: Does::View, copied, sentence, code, decided };
    };
    let events = &decided.events;
    let told = |step: usize, why: Why| complaint(library, chain, ops, &shapes[step + 1], step, why, &copied);
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
    // A copy that is asked for is not saved.
    let is_asked = ops.iter().any(|op| matches!(op, MovementOf::Copy)) || chain.is_typed();
    let view = view.as_ref().filter(|_| !is_asked && (!copied.is_empty() || raising.is_none()));
    let direct = view
        .filter(|view| library == ArrayLibrary::NumPy || !view.has_negative_strides())
        .and_then(|view| direct(library, start, view, &name));
    let least = least(library, chain, ops, start, &name);
    // What must be written, and how that compares with what is.
    let needed = least.as_ref().map(|least| (least.written(), least.copied().is_empty()));
    let order = needed.as_ref().map(|(needed, _)| needed.cmp(&all));
    decided.needed = order.zip(needed.as_ref().map(|(_, is_nothing)| *is_nothing));
    let raises = raising.is_some();
    let code = match (direct, needed) {
        // Where another call will do there is nothing to be clever about.
        (Some(direct), ref needed) if why != Why::Flat || needed.as_ref().is_none_or(|(_, is_nothing)| !is_nothing) => {
            sentence += ONE_VIEW;
            Some(direct)
        }
        (_, Some((needed, is_nothing))) => {
            if is_nothing && copied.len() > 1 {
                sentence += " Nothing must be copied.";
            } else if !is_nothing && order == Some(Ordering::Less) {
                sentence += &format!(" Copying {} is enough.", how_many(&needed));
            }
            // What says as much as the chain itself is only of use where this raises an error, or is not code of a library.
            let translates = raises || (chain.is_ours() && why == Why::Shape);
            let is_of_use = match order {
                Some(Ordering::Less) => true,
                Some(Ordering::Equal) => !copied.is_empty() && translates,
                _ => false,
            };
            is_of_use.then_some(least).flatten().and_then(Hand::code)
        }
        (_, None) => None,
    };
    LibraryAdviceOf { library, does, copied, sentence, code, decided }
}

/// What a library does that has no array such as the one that the chain starts with.
pub(super) fn cannot<N: ArrayNumber>(library: ArrayLibrary, sentence: String) -> LibraryAdviceOf<N> {
    LibraryAdviceOf {
        library,
        does: Does::Cannot,
        copied: Vec::new(),
        sentence,
        code: None,
        decided: Decided::default(),
    }
}

/// The array that whole numbers begin with, or why a library has none.
pub(super) fn array_of(library: ArrayLibrary, start: &ShapeTracker) -> Result<Array, String> {
    let Some(start) = start.as_view() else {
        return Err(format!("{library} has no arrays that are several views."));
    };
    // No array reads before the beginning of its memory, nor past an end that is known.
    if let Err(err) = start.fits_buffer(None) {
        return Err(format!("{library} has no such array: {}.", err.reason()));
    }
    match start.mask() {
        Some(_) => Err(format!("{library} has no arrays with masked elements.")),
        None => Ok(Array::from(start)),
    }
}

/// What is said of a chain with an operation that a library refuses, and of what it copies before that.
pub(super) fn refused(library: ArrayLibrary, chain: &Chain, base: Option<&[i64]>, err: &ChainError) -> LibraryAdvice {
    let (mut start, mut shapes) = (None, Vec::new());
    _ = chain.follow(base, |step, _| {
        start.get_or_insert_with(|| step.over_newest().clone());
        shapes.push(Dims::from_slice(step.shape()));
    });
    let start = start.as_ref().and_then(ShapeTracker::as_view).map(Array::from);
    let mut hand = start.map(|start| Hand::counting(library, &start));
    let until = err.op().unwrap_or(0);
    let events = hand.as_mut().and_then(|hand| follow(hand, chain, chain.ops(), until).ok()).unwrap_or_default();
    let copied = hand.map_or_else(Vec::new, |hand| hand.copied().to_vec());
    let told =
        |&(step, why): &(usize, Why)| complaint(library, chain, chain.ops(), &shapes[step + 1], step, why, &copied);
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
    let decided = Decided { events, needed: None };
    LibraryAdvice { library, does: Does::Raises, copied, sentence, code: None, decided }
}

/// Does the calls of a chain that are made of its first operations.
fn follow<C: Number, N: ArrayNumber>(
    hand: &mut Hand<Option<Code>, N>,
    chain: &ChainOf<C>,
    ops: &[MovementOf<N>],
    until: usize,
) -> Result<Events, Error> {
    let (mut at, mut events) = (0, Events::new());
    while at < until {
        let (call, range) = chain.call(at);
        if range.end > until {
            break;
        }
        events.extend(hand.does(at, call, &ops[range.clone()])?);
        at = range.end;
    }
    Ok(events)
}

/// The same chain with the fewest elements written that are known to do.
fn least<C: Number, N: ArrayNumber>(
    library: ArrayLibrary,
    chain: &ChainOf<C>,
    ops: &[MovementOf<N>],
    start: &Array<N>,
    name: &str,
) -> Option<Hand<Option<Code>, N>> {
    if chain.leaves_out_types() {
        return None;
    }
    let done = |whole: u32| {
        let mut hand = Hand::writing(library, start, name, Thrift::Least { whole });
        follow(&mut hand, chain, ops, ops.len()).ok()?;
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
fn complaint<C: Number, N: ArrayNumber>(
    library: ArrayLibrary,
    chain: &ChainOf<C>,
    ops: &[MovementOf<N>],
    to: &[N],
    step: usize,
    why: Why,
    copied: &[(usize, N)],
) -> String {
    let elements = copied.iter().find(|(at, _)| *at == step).map(|(_, elements)| elements);
    let none = N::from(0);
    let how_many_are = elements.unwrap_or(&none);
    let all = || all(how_many_are);
    let shape = list(to);
    let call = |name: &str| format!("`.{name}({shape})`");
    let copies = format!("copies {}", all());
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
            let flip = if elements.is_none() { String::new() } else { format!("; `flip` {copies}") };
            format!("`{written}` raises a ValueError, as {library} has no negative strides{flip}.")
        }
        (Why::Backwards, _) => {
            let op = ops[step].text(N::to_string);
            format!("`.{op}` {copies}: {library} has no negative strides.")
        }
        (Why::Asked, _) => format!("`{written}` {copies}."),
        (Why::Flat, _) => {
            let view = match order {
                Some(axes) => format!("`.transpose({}).reshape({shape})`", list(axes)),
                None => call(if library == ArrayLibrary::PyTorch { "view" } else { "reshape" }),
            };
            let (name, always, because) = match chain.call(step).0 {
                Call::Flatten => (".flatten()", "always copies: here", ""),
                _ => (".ravel()", "copies", ", which do not lie in order"),
            };
            let name = if order.is_some() { written } else { name.into() };
            format!("`{name}` {always} {}{because}; {view} makes a view.", all())
        }
        (Why::New, _) => format!("`{written}` makes a new array of {}.", how_many(how_many_are)),
        (Why::Memory, _) => format!(
            "`{written}` is of the elements in row-major order, which takes a contiguous copy of {} first.",
            all()
        ),
    }
}

/// A view of the array that a chain starts with, as one call.
fn direct<N: ArrayNumber>(library: ArrayLibrary, start: &Array<N>, view: &Array<N>, name: &str) -> Option<String> {
    if start.reads_as(view) {
        return Some(name.into());
    }
    if product(&start.shape) == product(&view.shape)
        && N::reshaped(start, &view.shape).ok().flatten().is_some_and(|fitting| fitting.reads_as(view))
    {
        return Some(reshaped(library, &view.shape).replacen('x', name, 1));
    }
    if !start.is_contiguous() || !start.offset.is(0) {
        return None;
    }
    let mut code = Code::of(name);
    code.then(&match library {
        ArrayLibrary::PyTorch => strided(library, "x", view),
        ArrayLibrary::NumPy => strided(library, if view.offset.is(0) { "x" } else { "x.reshape(-1)" }, view),
    });
    Some(code.text())
}

/// What the array that a chain starts with is called: as it is written, where that is an expression of the library.
fn name<C: Number>(library: ArrayLibrary, chain: &ChainOf<C>) -> String {
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
fn all<N: ArrayNumber>(elements: &N) -> String {
    if elements.integer() == Some(1) { "the one element".into() } else { format!("all {elements} elements") }
}

fn how_many(elements: &impl fmt::Display) -> String {
    match elements.to_string() {
        one if one == "1" => "1 element".into(),
        elements => format!("{elements} elements"),
    }
}
