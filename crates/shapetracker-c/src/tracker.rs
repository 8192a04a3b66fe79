//! Trackers: layouts of tensors whose sizes are numbers or names, one kind of handle for both.

use std::borrow::Cow;
use std::ffi::c_char;
use std::sync::Arc;

use shapetracker::json::Value;
use shapetracker::text::tuple;
use shapetracker::{MAX_RANK, Ranges, View};
use shapetracker_symbolic::{Question, Sym, bounded, json};

use crate::answer::Answer;
use crate::caller::{Caller, Handle, free, handed, handed_text};
use crate::error::{Error, Mistake, unanswered, undecided};
use crate::expression::Expression;

/// The layout of a tensor: which address of its buffer each element has, if it has one. It does not change: operations make new ones.
///
/// Sizes may be names, which a text declares (`st_tracker_read`): all functions take both, and where an answer is one for numbers alone
/// they say so by an error of the kind `names`.
#[derive(Clone)]
pub struct Tracker(Kind);

#[derive(Clone)]
enum Kind {
    Numbers(shapetracker::ShapeTracker),
    Names(Box<shapetracker_symbolic::ShapeTracker>),
}

impl Handle for Tracker {
    const WHAT: &'static str = "tracker";
}

/// The most axes that a tensor has.
pub const ST_MAX_RANK: usize = 64;

const _: () = assert!(ST_MAX_RANK == MAX_RANK);

/// One strided view as plain numbers, of which those of the first `rank` axes count. Element `i` lies at `offset` plus the sum of
/// `i[axis] * strides[axis]`; where `is_masked`, only elements with `begins[axis] <= i[axis] < ends[axis]` on every axis have an
/// address.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Strided {
    /// The number of axes.
    pub rank: usize,
    /// Whether there is a mask.
    pub is_masked: bool,
    /// The address of the element whose indices are all 0.
    pub offset: i64,
    /// The size of each axis.
    pub shape: [i64; ST_MAX_RANK],
    /// How far the address moves for one step along each axis, in elements.
    pub strides: [i64; ST_MAX_RANK],
    /// The first index of each axis that is not masked.
    pub begins: [i64; ST_MAX_RANK],
    /// The index behind the last one of each axis that is not masked.
    pub ends: [i64; ST_MAX_RANK],
}

impl Strided {
    fn of(view: &View) -> Strided {
        let list = |values: &mut dyn Iterator<Item = i64>| {
            let mut list = [0; ST_MAX_RANK];
            list.iter_mut().zip(values).for_each(|(place, value)| *place = value);
            list
        };
        let ends = |axis: usize| view.mask().map_or((0, view.shape()[axis]), |mask| mask[axis]);
        Strided {
            rank: view.rank(),
            is_masked: view.mask().is_some(),
            offset: view.offset(),
            shape: list(&mut view.shape().iter().copied()),
            strides: list(&mut view.strides().iter().copied()),
            begins: list(&mut (0..view.rank()).map(|axis| ends(axis).0)),
            ends: list(&mut (0..view.rank()).map(|axis| ends(axis).1)),
        }
    }

    fn view(&self) -> Result<View, Mistake> {
        let rank = self.rank;
        if rank > ST_MAX_RANK {
            let sentence = format!("a tensor has at most {ST_MAX_RANK} axes, not {rank}");
            return Err(Mistake::new("too_many_axes", "view", sentence));
        }
        let mask: Option<Ranges> =
            self.is_masked.then(|| (0..rank).map(|at| (self.begins[at], self.ends[at])).collect());
        Ok(View::new(&self.shape[..rank], &self.strides[..rank], self.offset, mask.as_deref())?)
    }
}

/// A movement operation on numbers or on names, written once. A tracker is larger than what most operations compute, and so it is made
/// where it stays.
macro_rules! moved {
    ($tracker:expr, |$of:ident| $numbers:expr, $names:expr) => {
        match &$tracker.0 {
            Kind::Numbers($of) => match $numbers {
                Ok(moved) => Ok(handed(Tracker(Kind::Numbers(moved)))),
                Err(err) => Err(err.into()),
            },
            Kind::Names($of) => cold(|| bounded(|| Tracker::of_names($names?).map(handed))),
        }
    };
}

/// What is done with names, apart from the code that numbers run through.
#[cold]
#[inline(never)]
fn cold<T>(done: impl FnOnce() -> T) -> T {
    done()
}

impl Tracker {
    /// A tracker of names, which is one of numbers where there are no names.
    fn of_names(named: shapetracker_symbolic::ShapeTracker) -> Result<Tracker, Mistake> {
        Ok(Tracker(match named.scope().names() {
            [] => Kind::Numbers(named.at_point(&[])?),
            _ => Kind::Names(Box::new(named)),
        }))
    }

    pub(crate) fn of_view(view: View) -> Tracker {
        Tracker(Kind::Numbers(view.into()))
    }

    pub(crate) fn of_numbers(tracker: shapetracker::ShapeTracker) -> Tracker {
        Tracker(Kind::Numbers(tracker))
    }

    /// One view over names.
    pub(crate) fn over(
        scope: shapetracker_symbolic::Scope,
        view: shapetracker_symbolic::View,
    ) -> Result<Tracker, Mistake> {
        Tracker::of_names(shapetracker_symbolic::ShapeTracker::from_views(Arc::new(scope), [view])?)
    }

    pub(crate) fn numbers(&self, operation: &str) -> Result<&shapetracker::ShapeTracker, Mistake> {
        match &self.0 {
            Kind::Numbers(tracker) => Ok(tracker),
            Kind::Names(_) => Err(Mistake::names(operation)),
        }
    }

    fn names(&self) -> Cow<'_, shapetracker_symbolic::ShapeTracker> {
        match &self.0 {
            Kind::Numbers(tracker) => Cow::Owned(tracker.into()),
            Kind::Names(named) => Cow::Borrowed(named),
        }
    }

    fn rank(&self) -> usize {
        match &self.0 {
            Kind::Numbers(tracker) => tracker.rank(),
            Kind::Names(named) => named.rank(),
        }
    }

    /// The shape as text that is read again.
    fn shape_text(&self) -> String {
        match &self.0 {
            Kind::Numbers(tracker) => tuple(tracker.shape()).to_string(),
            Kind::Names(named) => {
                let sizes: String = named.shape().iter().map(|size| named.scope().text(size) + ",").collect();
                format!("({sizes})")
            }
        }
    }

    /// What a text says: as numbers, or as names if something is said of names, or if there are some in what cannot be read as numbers.
    fn read(text: &str, known: Option<&str>) -> Result<Tracker, Mistake> {
        either(
            known,
            || {
                let chain: shapetracker::Chain = text.parse().map_err(|err| Mistake::text("read", &err))?;
                Ok(Tracker(Kind::Numbers(chain.tracker()?)))
            },
            |known| Question::new(known).map_err(|err| Mistake::text("where", &err)),
            |question| Tracker::of_names(named(question, text)?),
        )
    }

    /// The tensor after calls that a text says, on its shape, as the row-major tracker of that shape is read.
    fn applied(&self, calls: &str, known: Option<&str>) -> Result<Tracker, Mistake> {
        let calls = calls.trim_start().trim_start_matches('.');
        let shape = self.shape_text();
        let text = format!("{shape}{}{calls}", if calls.starts_with('[') { "" } else { "." });
        let before = text.len() - calls.len();
        let known = known.or(matches!(self.0, Kind::Names(_)).then_some(""));
        let applied = either(
            known,
            || {
                let chain: shapetracker::Chain = text.parse().map_err(|err| Mistake::text("apply", &err))?;
                let mut tracker = Cow::Borrowed(self.numbers("apply")?);
                for op in chain.ops() {
                    tracker = Cow::Owned(tracker.apply(op)?);
                }
                Ok(Tracker(Kind::Numbers(tracker.into_owned())))
            },
            |known| Question::about(&self.names(), known).map_err(|err| Mistake::text("where", &err)),
            |question| Tracker::of_names(self.names().compose(&named(question, &text)?)?),
        );
        applied.map_err(|mistake| mistake.after(before))
    }

    pub(crate) fn answer(&self) -> Result<Answer, Mistake> {
        match &self.0 {
            Kind::Numbers(tracker) => Answer::of_numbers(tracker),
            Kind::Names(named) => Answer::of_names(named),
        }
    }

    pub(crate) fn expression(&self) -> Result<Expression, Mistake> {
        Ok(Expression::of_index(match &self.0 {
            Kind::Numbers(tracker) => tracker.index_expr()?,
            Kind::Names(named) => bounded(|| named.index_expr())?,
        }))
    }

    fn text(&self) -> String {
        match &self.0 {
            Kind::Numbers(tracker) => tracker.to_string(),
            Kind::Names(named) => named.to_string(),
        }
    }

    fn document(&self) -> String {
        match &self.0 {
            Kind::Numbers(tracker) => {
                let views: Value = tracker.views().iter().map(Value::from).collect();
                Value::Null.with("shape", tracker.shape()).with("views", views).to_string()
            }
            Kind::Names(named) => {
                let scope = named.scope();
                let views: Value = named.views().iter().map(|view| json::view(view, scope)).collect();
                let document = Value::Null.with("shape", json::polys(named.shape(), scope)).with("views", views);
                let needs = json::literals(named.needs(), scope);
                document.with("names", json::scope(scope)).with("needs", needs).to_string()
            }
        }
    }
}

/// What is read as numbers, or as names where something is said of them or some are in what cannot be read as numbers.
pub(crate) fn either<T>(
    known: Option<&str>,
    numbers: impl FnOnce() -> Result<T, Mistake>,
    question: impl FnOnce(Option<&str>) -> Result<Question, Mistake>,
    names: impl FnOnce(&mut Question) -> Result<T, Mistake>,
) -> Result<T, Mistake> {
    let mistake = match known {
        Some(_) => None,
        None => match numbers() {
            Err(mistake) if mistake.is_syntax() => Some(mistake),
            answer => return answer,
        },
    };
    bounded(|| {
        let mut question = question(known)?;
        let answer = names(&mut question);
        match mistake {
            Some(mistake) if question.names().next().is_none() => Err(mistake),
            _ => answer,
        }
    })
}

/// The tracker of a text over the names of a question.
fn named(question: &mut Question, text: &str) -> Result<shapetracker_symbolic::ShapeTracker, Mistake> {
    let chain = question.chain(text).map_err(|err| Mistake::text("read", &err))?;
    let scope = Arc::new(question.scope().map_err(|err| Mistake::text("where", &err))?);
    Ok(chain.tracker(&scope)?)
}

fn syms(values: &[i64]) -> impl Iterator<Item = Sym> + '_ {
    values.iter().map(|&value| value.into())
}

/// Does something with the pairs of numbers that stand one after the other.
#[inline]
fn in_pairs<T>(values: &[i64], does: impl FnOnce(&[(i64, i64)]) -> T) -> T {
    // The pairs of most tensors are not worth a list that may grow.
    let (chunks, mut few) = (values.as_chunks().0, [(0, 0); 8]);
    let pair = |&[first, second]: &[i64; 2]| (first, second);
    match few.get_mut(..chunks.len()) {
        Some(few) => {
            few.iter_mut().zip(chunks).for_each(|(to, chunk)| *to = pair(chunk));
            does(few)
        }
        None => does(&chunks.iter().map(pair).collect::<Ranges>()),
    }
}

/// An operation on a tracker that takes numbers.
///
/// # Safety
/// The promises of the caller of a function of this interface.
#[allow(unsafe_code)]
#[inline(always)]
unsafe fn operated(
    operation: &'static str,
    tracker: *const Tracker,
    values: *const i64,
    count: usize,
    out: *mut *mut Tracker,
    does: impl FnOnce(&Tracker, &[i64]) -> Result<*mut Tracker, Mistake>,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of(operation) };
    caller.answer(out, |caller| {
        let (tracker, values) =
            (caller.handle("the tracker", tracker)?, caller.list("the list of numbers", values, count)?);
        does(tracker, values)
    })
}

/// The row-major tracker of a shape.
///
/// Errors: a negative size (`negative_size`), more than 64 axes, more elements than an `int64_t` counts (`overflow`).
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_tracker_new(shape: *const i64, rank: usize, out: *mut *mut Tracker) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("contiguous") };
    caller.answer(out, |caller| {
        let shape = caller.list("the shape", shape, rank)?;
        Ok(handed(Tracker(Kind::Numbers(shapetracker::ShapeTracker::contiguous(shape)?))))
    })
}

/// The tracker that a text says: a chain such as `(3, 2).permute(1, 0).reshape(6)` of any method of NumPy, PyTorch or this library,
/// a view such as `(2, 3):(1, 2) offset 4`, or a layout as a compiler prints it, `memref<2x3xf32, strided<[1, 2], offset: 4>>`.
///
/// Sizes, strides, offsets and bounds may be names. `known` says what is known of them, such as `"T=1..4097, H=8*h, s+L <= N"`; it may
/// be null. A name of which nothing is said is at least 1, or any integer where it occurs in strides only.
///
/// Errors: a text that cannot be read (`syntax`, with its place), operations that cannot be done (with theirs).
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_tracker_read(
    text: *const c_char,
    known: *const c_char,
    out: *mut *mut Tracker,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("read") };
    caller.answer(out, |caller| {
        let (text, known) = (caller.text("the text", text)?, caller.text_or_none("what is known", known)?);
        Tracker::read(text, known).map(handed)
    })
}

/// The tracker of one strided view, such as a memref or an array of another library has.
///
/// Errors: a mask outside of its axis, an address past an `int64_t`.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_tracker_of_view(view: *const Strided, out: *mut *mut Tracker) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("view") };
    caller.answer(out, |caller| {
        let [view] = caller.list("the view", view, 1)? else { return Err(Mistake::new("length", "view", "no view")) };
        Ok(handed(Tracker::of_view(view.view()?)))
    })
}

/// Ends a tracker; null is left alone.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_tracker_free(tracker: *mut Tracker) {
    // SAFETY: the promise of the caller.
    unsafe { free(tracker) }
}

/// The same elements in row-major order under another shape, of which one size may be -1. Another view goes on top where no single
/// one does it.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_tracker_reshape(
    tracker: *const Tracker,
    shape: *const i64,
    rank: usize,
    out: *mut *mut Tracker,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    unsafe {
        operated("reshape", tracker, shape, rank, out, |tracker, shape| {
            moved!(tracker, |of| of.reshape(shape), of.reshape(syms(shape)))
        })
    }
}

/// The axes in a new order. Negative axes count from behind the last one.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_tracker_permute(
    tracker: *const Tracker,
    axes: *const i64,
    rank: usize,
    out: *mut *mut Tracker,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    unsafe {
        operated("permute", tracker, axes, rank, out, |tracker, axes| {
            moved!(tracker, |of| of.permute(axes), of.permute(axes))
        })
    }
}

/// Axes of size 1 repeated to the given sizes; -1 for an axis that stays.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_tracker_expand(
    tracker: *const Tracker,
    sizes: *const i64,
    rank: usize,
    out: *mut *mut Tracker,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    unsafe {
        operated("expand", tracker, sizes, rank, out, |tracker, sizes| {
            moved!(tracker, |of| of.expand(sizes), of.expand(syms(sizes)))
        })
    }
}

/// Masked elements before and after each axis: `2 * rank` numbers, two an axis.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_tracker_pad(
    tracker: *const Tracker,
    before_and_after: *const i64,
    rank: usize,
    out: *mut *mut Tracker,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    unsafe {
        operated("pad", tracker, before_and_after, rank.saturating_mul(2), out, |tracker, pads| {
            in_pairs(pads, |pads| {
                moved!(tracker, |of| of.pad(pads), of.pad(pads.iter().map(|&(a, b)| (a.into(), b.into()))))
            })
        })
    }
}

/// The half-open range of each axis: `2 * rank` numbers, the first index and the one behind the last.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_tracker_shrink(
    tracker: *const Tracker,
    begin_and_end: *const i64,
    rank: usize,
    out: *mut *mut Tracker,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    unsafe {
        operated("shrink", tracker, begin_and_end, rank.saturating_mul(2), out, |tracker, ranges| {
            in_pairs(ranges, |ranges| {
                moved!(tracker, |of| of.shrink(ranges), of.shrink(ranges.iter().map(|&(a, b)| (a.into(), b.into()))))
            })
        })
    }
}

/// The named axes reversed.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_tracker_flip(
    tracker: *const Tracker,
    axes: *const i64,
    count: usize,
    out: *mut *mut Tracker,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    unsafe {
        operated("flip", tracker, axes, count, out, |tracker, axes| moved!(tracker, |of| of.flip(axes), of.flip(axes)))
    }
}

/// The tensor after calls of methods, as a text says them: `"step(2, 1)"`, `"unfold(0, 3, 1).T"`, `"[..., ::2]"`. Every method that a
/// chain may have can be called, with names in the place of sizes, too; `known` says what is known of names that are new, and may be
/// null.
///
/// Errors: those of `st_tracker_read`; places are those in `calls`.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_tracker_apply(
    tracker: *const Tracker,
    calls: *const c_char,
    known: *const c_char,
    out: *mut *mut Tracker,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("apply") };
    caller.answer(out, |caller| {
        let tracker = caller.handle("the tracker", tracker)?;
        let (calls, known) = (caller.text("the calls", calls)?, caller.text_or_none("what is known", known)?);
        tracker.applied(calls, known).map(handed)
    })
}

/// `base`, and then `later`, whose addresses are positions of `base` in row-major order.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_tracker_then(
    base: *const Tracker,
    later: *const Tracker,
    out: *mut *mut Tracker,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("then") };
    caller.answer(out, |caller| {
        let (base, later) = (caller.handle("the base", base)?, caller.handle("the later tracker", later)?);
        let both = match (&base.0, &later.0) {
            (Kind::Numbers(base), Kind::Numbers(later)) => Tracker(Kind::Numbers(base.compose(later)?)),
            _ => bounded(|| Tracker::of_names(base.names().compose(&later.names())?))?,
        };
        Ok(handed(both))
    })
}

/// The tracker of numbers where names have values: `count` names, with a value each. A tracker of numbers stays what it is.
///
/// Errors: a name without a value, values that do not satisfy what is known and needed.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_tracker_at(
    tracker: *const Tracker,
    names: *const *const c_char,
    values: *const i64,
    count: usize,
    out: *mut *mut Tracker,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("at") };
    caller.answer(out, |caller| {
        let tracker = caller.handle("the tracker", tracker)?;
        let texts = caller.list("the names", names, count)?.iter();
        let texts = texts.map(|&name| caller.text("a name", name)).collect::<Result<Vec<_>, _>>()?;
        let values = caller.list("the values", values, count)?;
        let numbers = match &tracker.0 {
            Kind::Numbers(tracker) => tracker.clone(),
            Kind::Names(named) => {
                let point = named.scope().point("at", named.needs(), texts.into_iter().zip(values.iter().copied()))?;
                named.at_point(&point)?
            }
        };
        Ok(handed(Tracker(Kind::Numbers(numbers))))
    })
}

/// The number of axes; 0 for what is no tracker.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_tracker_rank(tracker: *const Tracker) -> usize {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("rank") };
    caller.asked(0, |caller| Ok(caller.handle("the tracker", tracker)?.rank()))
}

/// How many views the tracker needs, one over the other: 1 where it is known to be one strided view; 0 for what is no tracker.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_tracker_views(tracker: *const Tracker) -> usize {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("views") };
    caller.asked(0, |caller| {
        Ok(match &caller.handle("the tracker", tracker)?.0 {
            Kind::Numbers(tracker) => tracker.views().len(),
            Kind::Names(named) => named.views().len(),
        })
    })
}

/// One of the views as numbers, of which number 0 is next to memory: shape, strides, offset and mask. The last one has the shape of the
/// tensor.
///
/// Errors: a view that there is not (`views`); sizes that are names (`names`): `st_tracker_document` has their views.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_tracker_view(tracker: *const Tracker, number: usize, out: *mut Strided) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("view") };
    caller.answer(out, |caller| {
        let views = caller.handle("the tracker", tracker)?.numbers("view")?.views();
        let view = views.get(number).ok_or_else(|| {
            let sentence = format!("there is no view {number}: the tracker has {}, from 0 on", views.len());
            Mistake::new("views", "view", sentence)
        })?;
        Ok(Strided::of(view))
    })
}

/// The tracker as text, which `st_tracker_read` reads again: `(3, 2):(1, 3)`.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_tracker_text(tracker: *const Tracker, out: *mut *mut c_char) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("text") };
    caller.answer(out, |caller| Ok(handed_text(caller.handle("the tracker", tracker)?.text())))
}

/// Shape and views as a document of JSON: `{"shape":[3,2],"views":[{"shape":[3,2],"strides":[1,3],"offset":0,"mask":null}]}`. Of a
/// tracker of names numbers may be texts, and it also has `names`, what is known of them, and `needs`, what must hold of them.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_tracker_document(tracker: *const Tracker, out: *mut *mut c_char) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("document") };
    caller.answer(out, |caller| Ok(handed_text(caller.handle("the tracker", tracker)?.document())))
}

/// The address of an element, and whether it has one: `address` is written where `has_address` is true, and may be null.
///
/// Errors: an index with another number of entries than there are axes (`rank`), or outside of the shape (`range_outside`).
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_tracker_address(
    tracker: *const Tracker,
    index: *const i64,
    rank: usize,
    has_address: *mut bool,
    address: *mut i64,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("address") };
    caller.answer(has_address, |caller| {
        let tracker = caller.handle("the tracker", tracker)?.numbers("address")?;
        let (index, shape) = (caller.list("the index", index, rank)?, tracker.shape());
        if index.len() != shape.len() {
            let sentence = format!("an index takes one number an axis: the tensor has {}, not {rank}", shape.len());
            return Err(Mistake::new("rank", "address", sentence));
        }
        if let Some(axis) = (0..rank).find(|&axis| !(0..shape[axis]).contains(&index[axis])) {
            let sentence = format!("index {} is not in 0..{} on axis {axis}", index[axis], shape[axis]);
            return Err(Mistake::new("range_outside", "address", sentence));
        }
        let found = tracker.address(index);
        found.into_iter().for_each(|found| caller.also(address, found));
        Ok(found.is_some())
    })
}

/// How many elements the buffer must have: one more than the largest address that is read. Asked of numbers.
///
/// Errors: an address below 0 (`address_outside`), what takes more work than is done (`undecided`).
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_tracker_buffer_length(tracker: *const Tracker, out: *mut i64) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("buffer_len") };
    caller.answer(out, |caller| {
        let tracker = caller.handle("the tracker", tracker)?.numbers("buffer_len")?;
        tracker.buffer_len().map_err(|err| unanswered("buffer_len", err))
    })
}

/// For each axis its stride where the address is affine along it, and whether it is: `room` numbers and truths, as many as there are axes
/// at least. Of several views this asks for the strides of all together. Asked of numbers.
///
/// Errors: too little room (`length`), what takes more work than is done (`undecided`).
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_tracker_real_strides(
    tracker: *const Tracker,
    strides: *mut i64,
    are_strides: *mut bool,
    room: usize,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("real_strides") };
    caller.done(|caller| {
        let tracker = caller.handle("the tracker", tracker)?.numbers("real_strides")?;
        let found = tracker.real_strides().map_err(|err| undecided("real_strides", err))?;
        let numbers: Vec<i64> = found.iter().map(|stride| stride.unwrap_or_default()).collect();
        caller.fill("the memory for strides", strides, room, &numbers)?;
        let truths = caller.room("the memory for whether there are strides", are_strides, found.len())?;
        truths.iter_mut().zip(&found).for_each(|(truth, stride)| *truth = stride.is_some());
        Ok(())
    })
}

/// Whether the elements lie one after another in row-major order, from any address on, without a mask.
///
/// Errors: with names, that it depends on them or is not known (`names`).
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_tracker_is_contiguous(tracker: *const Tracker, out: *mut bool) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("is_contiguous") };
    caller.answer(out, |caller| match &caller.handle("the tracker", tracker)?.0 {
        Kind::Numbers(tracker) => Ok(tracker.is_contiguous()),
        Kind::Names(named) => match bounded(|| named.contiguity()) {
            shapetracker_symbolic::Equality::Always => Ok(true),
            shapetracker_symbolic::Equality::Never => Ok(false),
            _ => Err(Mistake::names("is_contiguous")),
        },
    })
}

/// For which values of names the tracker is one strided view, with the view or the evidence that it is none: an answer for numbers,
/// too, which have only one choice of values.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_tracker_single_view(tracker: *const Tracker, out: *mut *mut Answer) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("single_view") };
    caller.answer(out, |caller| caller.handle("the tracker", tracker)?.answer().map(handed))
}

/// Whether two trackers over one buffer share an address: for some values of the names, where there are names. `why` is a sentence with
/// the elements that do, or the reason why none do; it may be null.
///
/// Errors: what takes more work than is done, or is not known (`undecided`).
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_tracker_overlap(
    first: *const Tracker,
    second: *const Tracker,
    out: *mut bool,
    why: *mut *mut c_char,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("overlap") };
    caller.answer(out, |caller| {
        let (first, second) =
            (caller.handle("the first tracker", first)?, caller.handle("the second tracker", second)?);
        let (meets, sentence) = match (&first.0, &second.0) {
            (Kind::Numbers(first), Kind::Numbers(second)) => {
                let found = first.overlap(second).map_err(|err| undecided("overlap", err))?;
                (matches!(found, shapetracker::describe::Overlap::Shared { .. }), found.to_string())
            }
            _ => match bounded(|| first.names().overlap(&second.names()))? {
                Some(found) => (true, found.to_string()),
                None => (false, "they share no address".into()),
            },
        };
        if !why.is_null() {
            caller.also(why, handed_text(sentence));
        }
        Ok(meets)
    })
}

/// The cheapest expressions that are found for the address of an element, and for whether it has one, over its index: `idx0`, `idx1` ..,
/// and the names.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_tracker_index(tracker: *const Tracker, out: *mut *mut Expression) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("index") };
    caller.answer(out, |caller| caller.handle("the tracker", tracker)?.expression().map(handed))
}
