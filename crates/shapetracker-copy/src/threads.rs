//! How many threads move the data.

use std::fmt;

use crate::Error;

/// The threads that a copy may use: an explicit number, started once and kept for as long as this lives.
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
}

/// No machine that this is for runs more at once, and starting them takes longer than they save.
const MOST: usize = 1024;

impl Threads {
    /// The thread that calls, and no other.
    pub const fn one() -> Threads {
        Threads { pool: None }
    }

    /// A number of threads; 0 means as many as the machine runs at once.
    ///
    /// # Errors
    /// More than 1024, and threads that the operating system does not grant.
    pub fn new(count: usize) -> Result<Threads, Error> {
        if count > MOST {
            return Err(Error::Threads { count, reason: format!("{MOST} are the most") });
        }
        if count == 1 {
            return Ok(Threads::one());
        }
        let pool = Pool::new(count).map_err(|reason| Error::Threads { count, reason })?;
        Ok(Threads { pool: Some(pool) })
    }

    /// How many they are.
    pub fn count(&self) -> usize {
        self.pool.as_ref().map_or(1, Pool::count)
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

/// Threads that wait for work.
#[cfg(not(miri))]
struct Pool(rayon::ThreadPool);

#[cfg(not(miri))]
impl Pool {
    fn new(count: usize) -> Result<Pool, String> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
        pool.map(Pool).map_err(|err| err.to_string())
    }

    fn count(&self) -> usize {
        self.0.current_num_threads()
    }

    fn share(&self, bound: usize, each: impl Fn(usize) + Send + Sync) {
        use rayon::iter::{IntoParallelIterator, ParallelIterator};
        self.0.install(|| (0..bound).into_par_iter().for_each(each));
    }
}

/// One thread per call: Miri is to judge what the calls touch, not how a pool hands them out, and it takes a pool's threads
/// that outlive the program for an error.
#[cfg(miri)]
struct Pool(usize);

#[cfg(miri)]
impl Pool {
    fn new(count: usize) -> Result<Pool, String> {
        Ok(Pool(if count == 0 { 2 } else { count }))
    }

    fn count(&self) -> usize {
        self.0
    }

    fn share(&self, bound: usize, each: impl Fn(usize) + Send + Sync) {
        let each = &each;
        std::thread::scope(|scope| (0..bound).for_each(|number| drop(scope.spawn(move || each(number)))));
    }
}
