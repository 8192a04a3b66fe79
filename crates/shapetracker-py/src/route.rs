//! From an array's memory to a tracker's tensor: a view, one pass, or two.

use std::borrow::Cow;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use pyo3::exceptions::{PyMemoryError, PyOverflowError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use shapetracker::Dims;
use shapetracker_base::int::gcd;
use shapetracker_copy::{Plan, Threads};

use crate::error::{layout, undecided, unmerged};
use crate::memory::Layout;

/// The operation that all errors here are of.
pub(crate) const APPLY: &str = "apply";

/// How a tracker's tensor comes from an array's memory: what follows from their layouts alone.
pub(crate) struct Route {
    pub(crate) tracker: shapetracker::ShapeTracker,
    memory: Layout,
    from: Units,
    /// The tracker on the memory, in units; None where its outer view reaches further than the array, though no
    /// element of the tensor does.
    composed: Option<shapetracker::ShapeTracker>,
    shared: OnceLock<Option<Shared>>,
    plan: OnceLock<Result<Plan, shapetracker_copy::Error>>,
    /// What was the fastest on this machine, by the number of threads.
    tuned: Mutex<Vec<(usize, Arc<Plan>)>>,
}

/// How data are moved.
pub(crate) struct How<'a, 'py> {
    pub(crate) threads: i64,
    /// Whether ways to move them are measured when they are moved for the first time.
    pub(crate) tuned: bool,
    /// Called with the bytes that are done and with all, at the beginning and after each part.
    pub(crate) progress: Option<&'a Bound<'py, PyAny>>,
}

/// A view of an array's memory, in bytes from the lowest one of an element.
pub(crate) struct Shared {
    pub(crate) offset: i64,
    pub(crate) strides: Dims,
    /// Whether two indices share an element.
    pub(crate) collides: bool,
}

impl Route {
    /// Where the same layouts come again and again, as they do in a loop, planning would take longer than to move a
    /// little: the last routes are kept. Of those that were tuned, which takes as long as many copies, more are.
    pub(crate) fn find(tracker: &shapetracker::ShapeTracker, memory: &Layout) -> PyResult<Arc<Route>> {
        const MOST: usize = 16;
        const MOST_TUNED: usize = 256;
        static LAST: Mutex<Vec<Arc<Route>>> = Mutex::new(Vec::new());
        {
            let mut last = locked(&LAST);
            if let Some(at) = last.iter().position(|route| route.memory == *memory && route.tracker == *tracker) {
                last[..=at].rotate_right(1);
                return Ok(last[0].clone());
            }
        }
        let route = Arc::new(Route::new(tracker, memory)?);
        let mut last = locked(&LAST);
        if last.len() >= MOST {
            let untuned = last[MOST - 1..].iter().position(|route| locked(&route.tuned).is_empty());
            match untuned {
                Some(at) => drop(last.remove(MOST - 1 + at)),
                None => last.truncate(MOST_TUNED - 1),
            }
        }
        last.insert(0, route.clone());
        Ok(route)
    }

    fn new(tracker: &shapetracker::ShapeTracker, memory: &Layout) -> PyResult<Route> {
        let from = Units::new(memory)?;
        let numel = from.view.numel() / from.inner;
        // Nearly always the array has all that the view next to memory reads, and what others leave out of it is no matter.
        let outside = |range: Option<(i64, i64)>| range.filter(|&(first, last)| first < 0 || last >= numel);
        if outside(tracker.views()[0].address_range()).is_some()
            && let Some((first, last)) = outside(tracker.address_range().map_err(undecided)?)
        {
            let element = if first < 0 { first } else { last };
            let sentence = format!("{APPLY}: the tracker reads element {element}, but the array has only {numel}");
            return Err(PyValueError::new_err(sentence));
        }
        let wide = from.widened(tracker)?;
        let composed = if from.view.is_identity() {
            Some(wide.into_owned())
        } else {
            shapetracker::ShapeTracker::from(from.view.clone()).compose(&wide).ok()
        };
        let (tracker, memory) = (tracker.clone(), memory.clone());
        let (shared, plan, tuned) = (OnceLock::new(), OnceLock::new(), Mutex::new(Vec::new()));
        Ok(Route { tracker, memory, from, composed, shared, plan, tuned })
    }

    /// The view of the memory that the tensor is, where it is one.
    pub(crate) fn shared(&self) -> Option<&Shared> {
        let find = || {
            let composed = self.composed.as_ref()?;
            let view = composed.single_view().ok().filter(|view| view.mask().is_none() && !view.is_empty())?;
            let outer = view.rank() - usize::from(self.from.inner > 1);
            let in_bytes = |units: i64| units.checked_mul(self.from.bytes);
            Some(Shared {
                offset: in_bytes(view.offset())?,
                strides: view.strides()[..outer].iter().map(|&stride| in_bytes(stride)).collect::<Option<_>>()?,
                collides: !view.is_contiguous() && !matches!(composed.collision(), Ok(None)),
            })
        };
        self.shared.get_or_init(find).as_ref()
    }

    /// Why the tensor is no view of the memory.
    pub(crate) fn must_move(&self, py: Python<'_>) -> PyErr {
        match self.composed.as_ref().map(shapetracker::ShapeTracker::single_view) {
            Some(Err(err)) => unmerged(py, err),
            _ => PyValueError::new_err(format!(
                "{APPLY}: copy=False, but the tracker is masked, and the array has no elements to show there"
            )),
        }
    }

    /// Moves the data from an array's bytes to a new tensor's.
    pub(crate) fn carry_out(
        &self,
        py: Python<'_>,
        source: &[u8],
        room: &mut [MaybeUninit<u8>],
        fill: &[u8],
        how: &How<'_, '_>,
    ) -> PyResult<()> {
        static ONE: Threads = Threads::one();
        let unit = self.from.bytes as usize;
        let several = if how.threads == 1 { None } else { Some(pool(how.threads)?) };
        let pool = several.as_deref().unwrap_or(&ONE);
        let part = &fill[..unit];
        let once = self.composed.as_ref().filter(|_| fill.chunks(unit).all(|other| other == part));
        // Handing the interpreter over takes longer than to move a little.
        let little = room.len() < 1 << 15;
        let gathered;
        let (source, tracker, fill) = match once {
            Some(composed) => (source, composed, part),
            None => {
                // In two passes, over a row-major copy of the array.
                gathered = moving(py, little, || self.gathered(source, part, pool))?;
                (&gathered[..], &self.tracker, fill)
            }
        };
        let Some(progress) = how.progress else {
            let known = if how.tuned && !little && once.is_some() { self.tuned(pool.count()) } else { None };
            let tune = how.tuned && !little && known.is_none();
            let found = moving(py, little, || {
                let Some(composed) = once else {
                    return Plan::new(tracker, fill.len())?.read_uninit(source, room, fill, pool).map(|_| None);
                };
                let plan = match &known {
                    Some(tuned) => tuned,
                    None => self.plan.get_or_init(|| Plan::new(composed, unit)).as_ref().map_err(Clone::clone)?,
                };
                let tensor = plan.read_uninit(source, room, fill, pool)?;
                if tune { plan.tuned_bytes(source, tensor, fill, pool).map(Some) } else { Ok(None) }
            })?;
            if let Some(plan) = found {
                locked(&self.tuned).push((pool.count(), Arc::new(plan)));
            }
            return Ok(());
        };
        let total = room.len();
        progress.call1((0, total))?;
        let (mut rest, mut done) = (room, 0);
        for rows in slabs(tracker, fill.len())? {
            let (these, others) = std::mem::take(&mut rest).split_at_mut(rows.numel() as usize * fill.len());
            moving(py, false, || Plan::new(&rows, fill.len())?.read_uninit(source, these, fill, pool).map(|_| ()))?;
            (rest, done) = (others, done + these.len());
            progress.call1((done, total))?;
        }
        Ok(())
    }

    /// The plan that was found to be the fastest with so many threads.
    ///
    /// Its lock is never held while others than this thread may fork.
    fn tuned(&self, threads: usize) -> Option<Arc<Plan>> {
        locked(&self.tuned).iter().find(|(count, _)| *count == threads).map(|(_, plan)| plan.clone())
    }

    /// The array in row-major order.
    fn gathered(&self, source: &[u8], fill: &[u8], pool: &Threads) -> Result<Vec<u8>, shapetracker_copy::Error> {
        let width = fill.len();
        let gathering = Plan::new(&self.from.view.clone().into(), width)?;
        let numel = self.from.view.numel();
        let too_much = shapetracker_copy::Error::Memory { numel, width };
        let bytes = usize::try_from(numel).ok().and_then(|numel| numel.checked_mul(width));
        let bytes = bytes.ok_or_else(|| too_much.clone())?;
        let mut gathered = Vec::new();
        gathered.try_reserve_exact(bytes).map_err(|_| too_much)?;
        gathered.resize(bytes, 0);
        gathering.read_bytes(source, &mut gathered, fill, pool)?;
        Ok(gathered)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Moves data, without the interpreter unless it is `little`; a panic is an exception.
pub(crate) fn moving<T: Send>(
    py: Python<'_>,
    little: bool,
    run: impl FnOnce() -> Result<T, shapetracker_copy::Error> + Send,
) -> PyResult<T> {
    let run = || catch_unwind(AssertUnwindSafe(run));
    match if little { run() } else { py.detach(run) } {
        Ok(moved) => moved.map_err(|err| copying(&err)),
        Err(panic) => {
            let what = panic.downcast_ref::<String>().map(String::as_str);
            let what = what.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason was given");
            Err(PyRuntimeError::new_err(format!("{APPLY}: a fault of this library, please report it: {what}")))
        }
    }
}

/// A tracker in parts that follow each other in row-major order, each of about 16 MiB: small enough to say often how far the work
/// is, and so large that planning each of them costs nothing.
fn slabs(tracker: &shapetracker::ShapeTracker, width: usize) -> PyResult<Vec<shapetracker::ShapeTracker>> {
    const BYTES: i64 = 16 << 20;
    let shape = tracker.shape();
    let Some(axis) = shape.iter().position(|&size| size > 1) else { return Ok(vec![tracker.clone()]) };
    let row = shape[axis + 1..].iter().product::<i64>().saturating_mul(width as i64);
    let rows = (BYTES / row.max(1)).max(1);
    let mut ranges: Vec<(i64, i64)> = shape.iter().map(|&size| (0, size)).collect();
    let mut parts = Vec::new();
    for begin in (0..shape[axis]).step_by(rows as usize) {
        ranges[axis] = (begin, (begin + rows).min(shape[axis]));
        parts.push(tracker.shrink(&ranges).map_err(|err| layout(&err))?);
    }
    Ok(parts)
}

/// A layout in units of which all its strides are whole numbers: elements, or parts of them on an axis of their own.
struct Units {
    /// How many bytes a unit has.
    bytes: i64,
    /// How many units an element has; an innermost axis, if they are several.
    inner: i64,
    view: shapetracker::View,
}

impl Units {
    fn new(memory: &Layout) -> PyResult<Units> {
        if memory.width == 0 {
            return Err(PyValueError::new_err(format!("{APPLY}: elements of no bytes cannot be moved")));
        }
        let bytes = memory.strides.iter().fold(memory.width, |unit, &stride| gcd(unit.into(), stride.into()) as i64);
        let inner = memory.width / bytes;
        let (mut shape, mut strides) = (memory.shape.clone(), Dims::new());
        strides.extend(memory.strides.iter().map(|stride| stride / bytes));
        if inner > 1 {
            shape.push(inner);
            strides.push(1);
        }
        let view = shapetracker::View::new(shape, strides, memory.start / bytes, None);
        Ok(Units { bytes, inner, view: view.map_err(|err| layout(&err))? })
    }

    /// The tracker in units instead of elements.
    fn widened<'a>(&self, tracker: &'a shapetracker::ShapeTracker) -> PyResult<Cow<'a, shapetracker::ShapeTracker>> {
        if self.inner == 1 {
            return Ok(Cow::Borrowed(tracker));
        }
        let past =
            || PyOverflowError::new_err(format!("{APPLY}: addresses in bytes are past the range of 64-bit integers"));
        let wider = |number: i64| number.checked_mul(self.inner).ok_or_else(past);
        let mut views = Vec::with_capacity(tracker.views().len());
        for view in tracker.views() {
            let (mut shape, mut strides) = (Dims::from(view.shape()), Dims::new());
            shape.push(self.inner);
            for &stride in view.strides() {
                strides.push(wider(stride)?);
            }
            strides.push(1);
            // Of a scalar, a mask without ranges is what masks it.
            let last = if view.is_empty() { (0, 0) } else { (0, self.inner) };
            let mask = view.mask().map(|mask| [mask, &[last]].concat());
            let view = shapetracker::View::new(shape, strides, wider(view.offset())?, mask.as_deref());
            views.push(view.map_err(|err| layout(&err))?);
        }
        shapetracker::ShapeTracker::from_views(views).map(Cow::Owned).map_err(|err| layout(&err))
    }
}

/// The exception that fits an error of the library that moves.
pub(crate) fn copying(err: &shapetracker_copy::Error) -> PyErr {
    use shapetracker_copy::Error;
    match err {
        Error::Layout(err) => layout(err),
        Error::Undecided(err) => undecided(*err),
        Error::Memory { .. } => PyMemoryError::new_err(format!("{APPLY}: {err}")),
        _ => PyValueError::new_err(format!("{APPLY}: {err}")),
    }
}

/// Several threads, started when they are asked for first.
fn pool(count: i64) -> PyResult<Arc<Threads>> {
    /// By process and number: a process that is forked off has none of its parent's threads.
    static POOLS: Mutex<Vec<(u32, usize, Arc<Threads>)>> = Mutex::new(Vec::new());
    let count = usize::try_from(count).map_err(|_| {
        PyValueError::new_err(format!(
            "{APPLY}: `threads` is to be 0, for all that the machine has, or more, not {count}"
        ))
    })?;
    let process = std::process::id();
    let mut pools = locked(&POOLS);
    if let Some((_, _, pool)) = pools.iter().find(|(by, of, _)| (*by, *of) == (process, count)) {
        return Ok(pool.clone());
    }
    let pool = Arc::new(Threads::new(count).map_err(|err| copying(&err))?);
    pools.push((process, count, pool.clone()));
    Ok(pool)
}
