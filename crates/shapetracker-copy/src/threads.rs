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
    pool: Option<rayon::ThreadPool>,
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
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
        let pool = pool.map_err(|err| Error::Threads { count, reason: err.to_string() })?;
        Ok(Threads { pool: Some(pool) })
    }

    /// How many they are.
    pub fn count(&self) -> usize {
        self.pool.as_ref().map_or(1, rayon::ThreadPool::current_num_threads)
    }

    pub(crate) fn pool(&self) -> Option<&rayon::ThreadPool> {
        self.pool.as_ref()
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Threads").field("count", &self.count()).finish()
    }
}
