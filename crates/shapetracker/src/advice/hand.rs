//! A library at work on a chain: which of its calls are views, which copy, and which raise.

use super::array::Array;
use super::{Does, LibraryAdvice};
use crate::error::{Error, Fault};
use crate::fit::{Misfit, fit};
use crate::notation::{ArrayLibrary, Chain, list};
use indexpr::text::tuple;

use crate::{ChainStart, Movement, ShapeTracker, View};

/// A library with the array that it has, and the expression that made it.
#[derive(Clone)]
struct Hand {
    library: ArrayLibrary,
    array: Array,
    code: Code,
    /// The operations that copied, each with how many elements.
    copied: Vec<(usize, i64)>,
}

/// Why an operation copies.
enum Why {
    /// No view of the array has that shape.
    Shape,
    /// A library always copies here.
    Always,
    /// PyTorch has no negative strides.
    Backwards,
    /// A copy is what is written.
    Asked,
    /// The call copies where another one makes a view.
    Flat,
}

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
    if start.mask().is_some() {
        return cannot(format!("{library} has no arrays with masked elements."));
    }
    if !library.has(start) {
        return cannot(format!("{library} has no negative strides."));
    }
    let array = Array::of(start);
    let name = name(library, chain);
    let is_given = matches!(chain.start(), ChainStart::Views(_));
    let plain = Hand { library, array, code: Code::of(&name), copied: Vec::new() };
    let (mut usual, mut least) = (plain.clone(), plain);
    let mut first = None;
    for (number, (op, after)) in chain.ops().iter().zip(&trackers[1..]).enumerate() {
        let done = if op.may_copy() {
            // That the elements lie in order is not asked for its own sake.
            if *op == Movement::Copy {
                least.copied_as(number, op, chain.written(number));
            }
            Ok(usual.copied_as(number, op, chain.written(number)))
        } else if matches!(op, Movement::AsStrided(..)) && !chain.written(number).contains("as_strided") {
            usual
                .windows(number, op, after.shape())
                .and_then(|why| least.windows(number, op, after.shape()).map(|_| why))
        } else {
            let flat = usual.flattens(chain.written(number));
            let done = usual.step(number, op, after.shape(), false);
            let done = done.map(|why| if why.is_none() && flat { Some(usual.flattened(number)) } else { why });
            done.and_then(|why| least.step(number, op, after.shape(), true).map(|_| why))
        };
        match done {
            Ok(Some(why)) => {
                first.get_or_insert((number, why));
            }
            Ok(None) => {}
            Err(err) => return cannot(format!("{library} cannot do this: {}.", err.reason())),
        }
    }
    let copied = usual.copied;
    let Some((step, why)) = first else {
        let (sentence, code) = match chain.ops().is_empty() && is_given {
            true => {
                let code = strided(library, "x", start);
                (format!("{library} has this layout, as a view of a flat array `x`."), Some(code))
            }
            false => (format!("{library} makes a view: nothing is copied."), None),
        };
        return LibraryAdvice { library, does: Does::View, copied, sentence, code };
    };
    let (mut sentence, does) = complaint(library, chain, trackers, step, &why, copied[0].1);
    let direct = view.filter(|view| library.has(view)).and_then(|view| direct(library, start, view, &name));
    if copied.len() > 1 {
        let all: i128 = copied.iter().map(|&(_, elements)| i128::from(elements)).sum();
        sentence += &format!(" In all {} operations copy {all} elements.", copied.len());
    }
    let needed: i128 = least.copied.iter().map(|&(_, elements)| i128::from(elements)).sum();
    let code = match direct {
        // Where another call will do there is nothing to be clever about.
        Some(direct) if needed > 0 || !matches!(why, Why::Flat) => {
            sentence += " Yet the whole chain is one view.";
            Some(direct)
        }
        // Only where a shape is in the way is there anything to write instead.
        _ => {
            let all: i128 = copied.iter().map(|&(_, elements)| i128::from(elements)).sum();
            if needed == 0 && copied.len() > 1 {
                sentence += " Nothing must be copied.";
            } else if needed > 0 && needed < all {
                sentence += &format!(" Copying {} is enough.", how_many(needed));
            }
            (needed < all || matches!(why, Why::Shape)).then(|| least.code.text())
        }
    };
    LibraryAdvice { library, does, copied, sentence, code }
}

/// What a library does with the first operation that is no view, and how that is said.
fn complaint(
    library: ArrayLibrary,
    chain: &Chain,
    trackers: &[ShapeTracker],
    step: usize,
    why: &Why,
    elements: i64,
) -> (String, Does) {
    let shape = list(trackers[step + 1].shape());
    let written = chain.written(step);
    let call = |name: &str| format!("`.{name}({shape})`");
    let copies = format!("copies {}", all(elements));
    match (why, library) {
        (Why::Shape, ArrayLibrary::PyTorch) if written.starts_with("view") => {
            (format!("{} raises a RuntimeError; {} {copies}.", call("view"), call("reshape")), Does::Raises)
        }
        (Why::Shape, ArrayLibrary::PyTorch) => {
            (format!("{} {copies}; {} raises a RuntimeError.", call("reshape"), call("view")), Does::Copies)
        }
        (Why::Shape, ArrayLibrary::NumPy) => (format!("{} silently {copies}.", call("reshape")), Does::Copies),
        (Why::Backwards, _) => {
            let op = &chain.ops()[step];
            (format!("`.{op}` {copies}: {library} has no negative strides."), Does::Copies)
        }
        (Why::Asked, _) => (format!("`.{written}` {copies}."), Does::Copies),
        (Why::Flat, _) => {
            let name = called(written);
            let view = call(if library == ArrayLibrary::PyTorch { "view" } else { "reshape" });
            let always = if name == "flatten" { "always copies: here" } else { "copies" };
            let because = if name == "ravel" { ", which do not lie in order" } else { "" };
            (format!("`.{name}()` {always} {}{because}; {view} makes a view.", all(elements)), Does::Copies)
        }
        (Why::Always, _) => {
            let op = &chain.ops()[step];
            let into = match op {
                Movement::Pad(_) => format!(" into a new array of {}", trackers[step + 1].numel()),
                _ => String::new(),
            };
            (format!("`.{op}` {copies}{into}."), Does::Copies)
        }
    }
}

impl Hand {
    /// Does an operation as the library does it; with `least`, a copy that it needs is the smallest one. Answers why it
    /// copies, where it does.
    fn step(&mut self, number: usize, op: &Movement, to: &[i64], least: bool) -> Result<Option<Why>, Error> {
        let (library, from) = (self.library, self.array.view()?);
        let is_reshape = is_reshape(op);
        if self.array.numel() == 0 || to.contains(&0) {
            // Without elements there is nothing to copy, and every shape will do.
            let code = if is_reshape { reshaped(library, to) } else { library.call(op, from.shape(), to) };
            self.code.then(&code);
            self.array = Array::contiguous(to);
            return Ok(None);
        }
        match op {
            Movement::Pad(pads) => {
                self.copy(number, self.array.numel());
                self.code.then(&library.call(op, from.shape(), to));
                self.array = match library {
                    // Where nothing is added PyTorch clones.
                    ArrayLibrary::PyTorch if pads.iter().all(|pad| *pad == (0, 0)) => self.array.like(),
                    ArrayLibrary::PyTorch => self.array.suggested(to),
                    ArrayLibrary::NumPy => self.array.padded(to),
                };
                return Ok(Some(Why::Always));
            }
            Movement::AsStrided(_, strides, _) => return self.as_strided(number, op, strides, to),
            _ => {}
        }
        if is_reshape {
            return match fit(&from, to) {
                Ok(next) => {
                    if from.shape() != to {
                        self.code.then(&reshaped(library, to));
                    }
                    self.array = self.array.moved(op, &next);
                    Ok(None)
                }
                Err(Misfit::Blocked(blocked)) => {
                    let blocked = match library {
                        ArrayLibrary::NumPy => Some(&*blocked),
                        ArrayLibrary::PyTorch => blocked.without_negative_strides(),
                    };
                    let recipe =
                        blocked.filter(|_| least).and_then(|blocked| Some((blocked, blocked.recipe(library)?)));
                    match recipe {
                        Some((blocked, recipe)) => {
                            self.copy(number, blocked.elements());
                            self.code.then(&recipe);
                            self.array = Array::of(blocked.view());
                        }
                        None => {
                            self.copy(number, self.array.numel());
                            let copy = if library == ArrayLibrary::NumPy { "x.copy()" } else { "x.contiguous()" };
                            self.code.then(copy);
                            self.code.then(&reshaped(library, to));
                            self.array = Array::contiguous(to);
                        }
                    }
                    Ok(Some(Why::Shape))
                }
                // Whether a library finds a view is decided by its own rule, which always ends: it is that of `fit` where
                // this one ends.
                Err(Misfit::Undecided) => Err(overflow("reshape")),
                Err(Misfit::Error(err)) => Err(err),
            };
        }
        let mut why = None;
        let backwards = backwards(op);
        let next = match library {
            ArrayLibrary::PyTorch if !backwards.is_empty() => {
                self.copy(number, self.array.numel());
                let copy = self.array.like();
                why = Some(Why::Backwards);
                // The copy runs backwards in memory, so that reading it as the array was is reading it backwards.
                let original = ShapeTracker::from(copy.view()?).flip(&backwards)?;
                let Some(original) = original.as_view().cloned() else { return Err(overflow("flip")) };
                self.array = Array { shape: self.array.shape.clone(), ..copy };
                ShapeTracker::from(original).apply(op)?
            }
            _ => ShapeTracker::from(from.clone()).apply(op)?,
        };
        let Some(next) = next.as_view() else { return Err(overflow("view")) };
        self.code.then(&library.call(op, from.shape(), to));
        self.array = self.array.moved(op, next);
        Ok(why)
    }

    /// Whether a call is one that copies although a view would do: NumPy's `flatten` always does, and `ravel` makes an array in
    /// row-major order.
    fn flattens(&self, written: &str) -> bool {
        let is_flat = match (called(written), self.library) {
            ("flatten", library) => library == ArrayLibrary::NumPy,
            ("ravel", _) => !self.array.is_contiguous(),
            _ => false,
        };
        is_flat && self.array.numel() > 0
    }

    /// The copy that such a call makes of the view that would do.
    fn flattened(&mut self, number: usize) -> Why {
        self.copy(number, self.array.numel());
        self.array = Array::contiguous(&self.array.shape);
        Why::Flat
    }

    /// A copy that is written, or none where `contiguous` finds that the elements lie in order.
    fn copied_as(&mut self, number: usize, op: &Movement, written: &str) -> Option<Why> {
        self.code.then(&self.library.call(op, &self.array.shape, &self.array.shape));
        if *op == Movement::Contiguous && self.array.is_contiguous() {
            return None;
        }
        self.copy(number, self.array.numel());
        // PyTorch's `clone` keeps the order of the elements in memory, where nothing else is said.
        let keeps = self.library == ArrayLibrary::PyTorch && written.starts_with("clone()");
        self.array = if keeps { self.array.like() } else { Array::contiguous(&self.array.shape) };
        Some(Why::Asked)
    }

    /// `as_strided` of the elements in row-major order: of an array that is not, a copy is made first.
    fn as_strided(&mut self, number: usize, op: &Movement, strides: &[i64], to: &[i64]) -> Result<Option<Why>, Error> {
        let library = self.library;
        let from = self.array.shape.clone();
        let mut why = None;
        if !self.array.is_contiguous() {
            self.copy(number, self.array.numel());
            self.array = Array::contiguous(&from);
            why = Some(Why::Always);
        }
        let next = ShapeTracker::contiguous(&from)?.apply(op)?;
        let Some(next) = next.as_view() else { return Err(overflow("as_strided")) };
        if library == ArrayLibrary::PyTorch && strides.iter().zip(to).any(|(&stride, &size)| stride < 0 && size > 1) {
            // It is laid out forwards, and flipped, which copies.
            self.copy(number, next.numel());
            self.array = Array::contiguous(to);
            why = Some(Why::Backwards);
        } else {
            let strides = strides.into();
            let offset = self.array.offset.checked_add(next.offset()).ok_or_else(|| overflow("as_strided"))?;
            self.array = Array { shape: to.into(), strides, offset };
        }
        self.code.then(&library.call(op, &from, to));
        Ok(why)
    }

    /// `unfold`, `sliding_window_view` and `diagonal`, which are read as `as_strided` of the elements in row-major order: the
    /// libraries make views of any array, whose strides are those of its own axes.
    fn windows(&mut self, number: usize, op: &Movement, to: &[i64]) -> Result<Option<Why>, Error> {
        let from = self.array.view()?;
        let next = ShapeTracker::from(from.clone()).apply(op)?;
        let Movement::AsStrided(_, steps, begin) = op else { return Err(overflow("as_strided")) };
        let Some(next) = next.as_view() else { return self.as_strided(number, op, steps, to) };
        let code = match self.library {
            // What PyTorch strides is the memory, whatever the array is.
            ArrayLibrary::PyTorch => strided(self.library, "x", next),
            // NumPy begins where the array begins.
            ArrayLibrary::NumPy if *begin == 0 => self.library.as_strided("x", next.shape(), next.strides()),
            ArrayLibrary::NumPy => {
                let (mut rest, mut places) = (*begin, Vec::new());
                for &size in from.shape().iter().rev() {
                    places.push(format!("{}:", rest % size));
                    rest /= size;
                }
                places.reverse();
                self.library.as_strided(&format!("x[{}]", places.join(", ")), next.shape(), next.strides())
            }
        };
        self.code.then(&code);
        let old = &self.array.strides;
        // Along an axis of size 1 it steps along the axes that the others step along.
        let row_major = Array::contiguous(from.shape()).strides;
        let along = |mut step: i64| {
            (0..from.rank()).fold(0, |sum: i64, axis| {
                let times = step / row_major[axis].max(1);
                step -= times * row_major[axis];
                sum.saturating_add(times.saturating_mul(old[axis]))
            })
        };
        let strides = (0..next.rank()).map(|axis| match next.shape()[axis] {
            1 => along(steps[axis]),
            _ => next.strides()[axis],
        });
        self.array = Array { shape: to.into(), strides: strides.collect(), offset: next.offset() };
        Ok(None)
    }

    fn copy(&mut self, number: usize, elements: i64) {
        self.copied.push((number, elements));
    }
}

/// The name of a method or function in a call as it is written.
fn called(written: &str) -> &str {
    let call = written.split('(').next().unwrap_or_default();
    call.rsplit('.').next().unwrap_or_default().trim()
}

/// An address that leaves 64 bits.
fn overflow(op: &'static str) -> Error {
    Fault::Overflow { op, what: "an address" }.into()
}

/// The axes along which an operation walks backwards.
fn backwards(op: &Movement) -> Vec<i64> {
    let negative = |steps: &mut dyn Iterator<Item = i64>| {
        (0..).zip(steps).filter(|(_, step)| *step < 0).map(|(axis, _)| axis).collect()
    };
    match op {
        Movement::Flip(axes) => axes.to_vec(),
        Movement::FlipEach(each) => (0..).zip(each).filter(|(_, reversed)| **reversed).map(|(axis, _)| axis).collect(),
        Movement::Step(steps) => negative(&mut steps.iter().copied()),
        Movement::Slice(slices) => negative(&mut slices.iter().map(|slice| slice.2)),
        _ => Vec::new(),
    }
}

pub(super) fn is_reshape(op: &Movement) -> bool {
    matches!(op, Movement::Reshape(_) | Movement::Squeeze(_) | Movement::SqueezeAll | Movement::Unsqueeze(_))
}

/// The array `x` seen under a shape.
fn reshaped(library: ArrayLibrary, to: &[i64]) -> String {
    let method = if library == ArrayLibrary::PyTorch { "view" } else { "reshape" };
    format!("x.{method}({})", if to.is_empty() { "()".into() } else { list(to) })
}

/// A view of a flat array that begins at address 0.
fn strided(library: ArrayLibrary, array: &str, view: &View) -> String {
    match (library, view.offset()) {
        (_, 0) => library.as_strided(array, view.shape(), view.strides()),
        (ArrayLibrary::PyTorch, offset) => {
            format!("{array}.as_strided({}, {}, {offset})", tuple(view.shape()), tuple(view.strides()))
        }
        (_, offset) => library.as_strided(&format!("{array}[{offset}:]"), view.shape(), view.strides()),
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
    let prefixes: &[&str] = match library {
        ArrayLibrary::NumPy => &["np."],
        ArrayLibrary::PyTorch => &["torch."],
    };
    match is_name || prefixes.iter().any(|prefix| written.starts_with(prefix)) {
        true => written.into(),
        false => "x".into(),
    }
}

/// Lines of Python, the last of which is an expression.
#[derive(Clone)]
struct Code {
    lines: Vec<String>,
    last: String,
}

impl Code {
    fn of(name: &str) -> Code {
        Code { lines: Vec::new(), last: name.into() }
    }

    /// Goes on with an expression on `x`, which is the one before: put in its place where it stands once.
    fn then(&mut self, code: &str) {
        let places = places(code);
        match places[..] {
            [] => {}
            [at] => self.last = format!("{}{}{}", &code[..at], self.last, &code[at + 1..]),
            _ if self.last == "x" => self.last = code.into(),
            _ => {
                let before = std::mem::replace(&mut self.last, code.into());
                self.lines.push(format!("x = {before}"));
            }
        }
    }

    fn text(mut self) -> String {
        self.lines.push(self.last);
        self.lines.join("\n")
    }
}

/// Where the name `x` stands in an expression.
fn places(code: &str) -> Vec<usize> {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let bytes = code.as_bytes();
    (0..bytes.len())
        .filter(|&at| bytes[at] == b'x' && !is_word(bytes.get(at + 1)) && (at == 0 || !is_word(bytes.get(at - 1))))
        .collect()
}

/// A number of elements, all of them.
fn all(elements: i64) -> String {
    if elements == 1 { "the one element".into() } else { format!("all {elements} elements") }
}

fn how_many(elements: i128) -> String {
    if elements == 1 { "1 element".into() } else { format!("{elements} elements") }
}
