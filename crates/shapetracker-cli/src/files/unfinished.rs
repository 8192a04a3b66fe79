//! What must not stay where a run ends before its output is whole, and how far the run is.

use std::io;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
#[cfg(feature = "zarr")]
use tempfile::TempDir;
use tempfile::TempPath;

#[cfg(unix)]
use super::guard;
#[cfg(unix)]
use super::shown_path;
#[cfg(unix)]
use crate::answer::Failure;

/// An output under its temporary name. It is removed when this is dropped, and when the process is ended by a signal.
pub(super) struct Unfinished(Arc<RwLock<State>>);

/// What has the temporary name; removed when it is dropped.
pub(super) enum Place {
    File(TempPath),
    #[cfg(feature = "zarr")]
    Folder(TempDir),
}

/// Shared with the thread that waits for signals.
struct State {
    place: Option<Place>,
    bar: ProgressBar,
    /// Whether the output already has its name: a signal is then ignored, because the work is done.
    done: bool,
}

/// A progress bar over bytes, which appears when a run takes longer than [`PATIENCE`].
#[derive(Clone)]
pub(super) struct Progress {
    bar: ProgressBar,
    started: Instant,
}

const PATIENCE: Duration = Duration::from_millis(500);

impl Progress {
    pub(super) fn new(bytes: u64) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::hidden());
        if let Ok(style) =
            ProgressStyle::with_template("{wide_bar} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left")
        {
            bar.set_style(style);
        }
        Progress { bar, started: Instant::now() }
    }

    pub(super) fn advance(&self, bytes: u64) {
        self.bar.inc(bytes);
        if self.bar.is_hidden() && self.started.elapsed() > PATIENCE {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl Unfinished {
    /// Nothing yet; from here on a signal that ends the process removes what there is, and says that `path` was not
    /// written.
    pub(super) fn new(progress: &Progress, path: &Path, json: bool) -> io::Result<Unfinished> {
        let state = State { place: None, bar: progress.bar.clone(), done: false };
        let unfinished = Unfinished(Arc::new(RwLock::new(state)));
        remove_when_interrupted(&unfinished, path, json)?;
        Ok(unfinished)
    }

    /// Creates what has the temporary name; no signal comes in between.
    pub(super) fn begin<T>(&self, create: impl FnOnce() -> io::Result<(T, Place)>) -> io::Result<T> {
        let mut state = self.write();
        let (created, place) = create()?;
        state.place = Some(place);
        Ok(created)
    }

    /// Gives the output its name; no signal comes in between.
    pub(super) fn finish(&self, name: impl FnOnce(Place) -> io::Result<()>) -> io::Result<()> {
        let mut state = self.write();
        state.bar.finish_and_clear();
        let Some(place) = state.place.take() else { return Ok(()) };
        name(place)?;
        state.done = true;
        Ok(())
    }

    /// While this is held nothing is removed: what is written into a folder that is being removed would stay.
    #[cfg(feature = "zarr")]
    pub(super) fn hold(&self) -> impl Sized {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let mut state = self.write();
        state.bar.finish_and_clear();
        state.place = None;
    }
}

/// Removes the unfinished output on a signal that ends the process, reports that, and ends the process by the signal, as a
/// shell that waits for it must know. What is ignored, as SIGHUP is under `nohup`, stays ignored.
#[cfg(unix)]
fn remove_when_interrupted(unfinished: &Unfinished, path: &Path, json: bool) -> io::Result<()> {
    use std::io::Write;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};

    // With a handler for SIGXFSZ, writing past the limit for the size of a file is an error and not the end of the process.
    signal_hook::flag::register(SIGXFSZ, Arc::default())?;
    let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT].into_iter().filter(|signal| !guard::is_ignored(*signal));
    let mut signals = signal_hook::iterator::Signals::new(ending)?;
    let failure = Failure::new("interrupted", format!("interrupted: {} was not written", shown_path(path)));
    let unfinished = Unfinished(Arc::clone(&unfinished.0));
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            // The lock is also held while the output is created and renamed, so that neither is interrupted halfway.
            let mut state = unfinished.write();
            if state.done {
                continue;
            }
            state.place = None;
            state.bar.finish_and_clear();
            // A failure to report has nowhere to be reported.
            let _ = if json {
                writeln!(io::stdout(), "{}", failure.json())
            } else {
                anstream::stderr().write_all(failure.text().as_bytes())
            };
            let _ = signal_hook::low_level::emulate_default_handler(signal);
            std::process::exit(128 + signal);
        }
    })?;
    Ok(())
}

#[cfg(not(unix))]
fn remove_when_interrupted(_: &Unfinished, _: &Path, _: bool) -> io::Result<()> {
    Ok(())
}
