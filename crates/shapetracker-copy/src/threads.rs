//! How many threads move the data.

use std::fmt;
#[cfg(not(miri))]
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::Error;

/// The threads that a copy may use: an explicit number, the one that calls among them. The others are started once and kept
/// for as long as this lives.
///
/// ```
/// use shapetracker_copy::Threads;
///
/// assert_eq!(Threads::one().count(), 1);
/// assert_eq!(Threads::new(4)?.count(), 4);
/// # Ok::<(), shapetracker_copy::Error>(())
/// ```
#[derive(Default)]
pub struct Threads {
    pool: Option<Pool>,
    eager: bool,
}

/// Nanoseconds of one thread that are worth waking others: that takes some 50,000 until they work, and as long until the one
/// that waits for them in the end knows that there was nothing left for them. Measured.
const WAKING: f64 = 200_000.0;

/// Chunks for each thread: they even out what takes longer than its neighbours.
const CHUNKS: usize = 16;

/// No machine that this is for runs more at once, and starting them takes longer than they save.
const MOST: usize = 1024;

impl Threads {
    /// The thread that calls, and no other.
    pub const fn one() -> Threads {
        Threads { pool: None, eager: false }
    }

    /// A number of threads; 0 means as many as the machine runs at once.
    ///
    /// # Errors
    /// More than 1024, and threads that the operating system does not grant.
    pub fn new(count: usize) -> Result<Threads, Error> {
        if count > MOST {
            return Err(Error::Threads { count, reason: format!("{MOST} are the most") });
        }
        let count = if count == 0 { thread::available_parallelism().map_or(1, usize::from).min(MOST) } else { count };
        if count == 1 {
            return Ok(Threads::one());
        }
        let pool = Pool::new(count).map_err(|reason| Error::Threads { count, reason })?;
        Ok(Threads { pool: Some(pool), eager: false })
    }

    /// The same threads, for copies of any size. Otherwise one thread alone does what it has done before others could be woken.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_copy::{Plan, Threads};
    ///
    /// let turned = ShapeTracker::contiguous([2, 3])?.permute([1, 0])?;
    /// let mut tensor = [0; 6];
    /// Plan::new(&turned, 4)?.read_into(&[1, 2, 3, 4, 5, 6], &mut tensor, 0, &Threads::new(2)?.eager())?;
    /// assert_eq!(tensor, [1, 4, 2, 5, 3, 6]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn eager(self) -> Threads {
        Threads { eager: true, ..self }
    }

    /// How many they are.
    pub fn count(&self) -> usize {
        self.pool.as_ref().map_or(1, Pool::count)
    }

    /// Whether there are several, and what takes one so many nanoseconds is worth waking the others.
    pub(crate) fn are_worth(&self, nanoseconds: impl FnOnce() -> f64) -> bool {
        self.pool.is_some() && (self.eager || nanoseconds() > WAKING)
    }

    /// Into how many chunks a number of things is shared out.
    pub(crate) fn chunks(&self, all: usize) -> usize {
        all.min(CHUNKS * self.count())
    }

    /// Calls `each` with all numbers below a bound, each once and by one of the threads, and returns when all calls have.
    pub(crate) fn share(&self, bound: usize, each: impl Fn(usize) + Send + Sync) {
        match &self.pool {
            Some(pool) => pool.share(bound, each),
            None => (0..bound).for_each(each),
        }
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Threads").field("count", &self.count()).finish()
    }
}

/// Threads that wait for work: one fewer than asked for, because the one that calls works, too.
///
/// Were it to sleep meanwhile, a system would often wake two others on one processor, since its own still counts as busy, and
/// move one of them only milliseconds later. Measured.
#[cfg(not(miri))]
struct Pool(rayon::ThreadPool);

#[cfg(not(miri))]
impl Pool {
    fn new(count: usize) -> Result<Pool, String> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count - 1).build();
        pool.map(Pool).map_err(|err| err.to_string())
    }

    fn count(&self) -> usize {
        self.0.current_num_threads() + 1
    }

    fn share(&self, bound: usize, each: impl Fn(usize) + Send + Sync) {
        let next = AtomicUsize::new(0);
        let work = || {
            let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
            numbers.take_while(|number| *number < bound).for_each(&each);
        };
        self.0.in_place_scope(|scope| {
            (1..self.count().min(bound)).for_each(|_| scope.spawn(|_| work()));
            work();
        });
    }
}

/// One thread per call: Miri is to judge what the calls touch, not how a pool hands them out, and it takes a pool's threads
/// that outlive the program for an error.
#[cfg(miri)]
struct Pool(usize);

#[cfg(miri)]
impl Pool {
    fn new(count: usize) -> Result<Pool, String> {
        Ok(Pool(count))
    }

    fn count(&self) -> usize {
        self.0
    }

    fn share(&self, bound: usize, each: impl Fn(usize) + Send + Sync) {
        let each = &each;
        thread::scope(|scope| (0..bound).for_each(|number| drop(scope.spawn(move || each(number)))));
    }
}
