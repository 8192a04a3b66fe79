//! Which handles are alive: known in debug builds, in which a handle that is foreign or was freed is an error and not undefined
//! behaviour. In others every pointer is believed.

#[cfg(debug_assertions)]
mod known {
    use std::collections::HashSet;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    static ALIVE: Mutex<Option<HashSet<usize>>> = Mutex::new(None);

    fn alive() -> MutexGuard<'static, Option<HashSet<usize>>> {
        ALIVE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn made(address: usize) {
        alive().get_or_insert_default().insert(address);
    }

    pub(crate) fn is_alive(address: usize) -> bool {
        alive().as_ref().is_some_and(|alive| alive.contains(&address))
    }

    /// Takes a handle out: of two threads that free one, one is told that it was there.
    pub(crate) fn ended(address: usize) -> bool {
        alive().as_mut().is_some_and(|alive| alive.remove(&address))
    }
}

#[cfg(not(debug_assertions))]
mod known {
    pub(crate) fn made(_: usize) {}

    pub(crate) fn is_alive(_: usize) -> bool {
        true
    }

    pub(crate) fn ended(_: usize) -> bool {
        true
    }
}

pub(crate) use known::{ended, is_alive, made};
