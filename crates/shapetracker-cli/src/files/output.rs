//! A file that is written whole or not at all.

use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tempfile::{NamedTempFile, TempPath};

#[cfg(unix)]
use super::guard;
use super::{Input, shown_path, special};
use crate::answer::Failure;

/// The path of an output, checked: nothing is there yet, or it may be replaced.
pub(crate) struct Target {
    /// The path as it was given, for messages.
    path: PathBuf,
    /// The same with symbolic links followed: the file that is created or replaced.
    place: PathBuf,
    /// The owner and permissions of the file that is replaced; `None` if there is none.
    replaced: Option<Metadata>,
}

/// A file that is being written under a temporary name in the folder of its target. It gets its name by a rename when it is
/// complete; a run that ends before removes it.
pub(crate) struct Output {
    target: Target,
    file: File,
    unfinished: Arc<Mutex<Unfinished>>,
    bar: ProgressBar,
    started: Instant,
}

/// What must be cleaned up when the run is interrupted; shared with the thread that waits for signals.
struct Unfinished {
    file: Option<TempPath>,
    bar: ProgressBar,
    /// Whether the file already has its name: a signal is then ignored, because the work is done.
    done: bool,
}

/// The progress bar appears when a run takes longer than this.
const PATIENCE: Duration = Duration::from_millis(500);

impl Target {
    /// Checks that a file can be written to a path: it is not the input, and another file there may be replaced.
    ///
    /// Nothing is opened: to open a FIFO would take as long as nobody reads it.
    pub(crate) fn new(path: &Path, input: &Input, force: bool) -> Result<Target, Failure> {
        let refused = |why: &str| Failure::new("output", format!("{} {why}", shown_path(path)));
        if path.as_os_str() == "-" {
            return Err(refused("is no name of a file: standard output cannot be renamed; ./- is a file of that name"));
        }
        let Some(name) = path.file_name() else {
            return Err(refused("is no name of a file"));
        };
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(err) if err.kind() == io::ErrorKind::NotFound && !path.is_symlink() => {
                let folder = match path.parent() {
                    Some(folder) if folder != Path::new("") => folder,
                    _ => Path::new("."),
                };
                if !folder.is_dir() {
                    let why = format!("cannot be written: there is no folder {}", shown_path(folder));
                    return Err(refused(&why));
                }
                return Ok(Target { path: path.into(), place: folder.join(name), replaced: None });
            }
            Err(err) if err.kind() == io::ErrorKind::NotFound => {
                return Err(refused("cannot be written: it is a link that leads nowhere"));
            }
            Err(err) => return Err(refused(&format!("cannot be written: {err}"))),
        };
        if let Some(what) = special(&metadata) {
            return Err(refused(&format!("cannot be written: it is {what}, and not a regular file")));
        }
        if input.is_at(path, &metadata) {
            return Err(refused("is the input, which is never written to"));
        }
        if !force {
            return Err(refused("is there already; --force replaces it"));
        }
        let place = path.canonicalize().map_err(|err| refused(&format!("cannot be written: {err}")))?;
        Ok(Target { path: path.into(), place, replaced: Some(metadata) })
    }

    fn failure(&self, err: &io::Error) -> Failure {
        let reason = err.to_string();
        // The error may go on with the temporary name, which means nothing to the user.
        let reason = reason.split(" at path ").next().unwrap_or_default();
        Failure::new("io", format!("cannot write {}: {reason}", shown_path(&self.path)))
    }
}

impl Output {
    /// Creates a file of a known length. From here on a signal removes the file before it ends the process.
    pub(crate) fn create(target: Target, length: u64, json: bool) -> Result<Output, Failure> {
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::hidden());
        if let Ok(style) =
            ProgressStyle::with_template("{wide_bar} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left")
        {
            bar.set_style(style);
        }
        let unfinished = Arc::new(Mutex::new(Unfinished { file: None, bar: bar.clone(), done: false }));
        remove_when_interrupted(&unfinished, &target.path, json).map_err(|err| target.failure(&err))?;
        let file = {
            let mut unfinished = locked(&unfinished);
            let (file, path) = begin(&target).map_err(|err| target.failure(&err))?.into_parts();
            #[cfg(unix)]
            guard::set_unfinished(Some(&path));
            unfinished.file = Some(path);
            file
        };
        let output = Output { target, file, unfinished, bar, started: Instant::now() };
        // A length that the file system or a limit does not allow fails now, and not after the data was moved.
        output.file.set_len(length).map_err(|err| output.target.failure(&err))?;
        Ok(output)
    }

    /// Writes the next bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        // In pieces, so that the progress bar advances within a block.
        for piece in bytes.chunks(1 << 24) {
            self.file.write_all(piece).map_err(|err| self.target.failure(&err))?;
            self.bar.inc(piece.len() as u64);
            if self.bar.is_hidden() && self.started.elapsed() > PATIENCE {
                self.bar.set_draw_target(ProgressDrawTarget::stderr());
            }
        }
        Ok(())
    }

    /// Gives the file its name, now that all of it is on the disk.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        self.file.sync_all().map_err(|err| self.target.failure(&err))?;
        let mut unfinished = locked(&self.unfinished);
        unfinished.bar.finish_and_clear();
        let Some(file) = unfinished.file.take() else { return Ok(()) };
        #[cfg(unix)]
        guard::set_unfinished(None);
        let named = match self.target.replaced {
            Some(_) => file.persist(&self.target.place),
            None => file.persist_noclobber(&self.target.place),
        };
        named.map_err(|err| self.target.failure(&err.error))?;
        unfinished.done = true;
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        let mut unfinished = locked(&self.unfinished);
        unfinished.bar.finish_and_clear();
        unfinished.file = None;
    }
}

/// An empty file in the folder of a target, `.NAME.*.unfinished`.
fn begin(target: &Target) -> io::Result<NamedTempFile> {
    // The target may have the longest name that the file system takes, so that this one must be cut.
    let name: String = target.place.file_name().unwrap_or_default().to_string_lossy().chars().take(40).collect();
    let prefix = format!(".{name}.");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".unfinished");
    let folder = target.place.parent().unwrap_or(Path::new("."));
    begin_with_permissions(&mut builder, folder, target.replaced.as_ref())
}

/// With the permissions of the file that is replaced, or else those of any new file (0666 less the umask).
#[cfg(unix)]
fn begin_with_permissions(
    builder: &mut tempfile::Builder,
    folder: &Path,
    replaced: Option<&Metadata>,
) -> io::Result<NamedTempFile> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

    let Some(replaced) = replaced else {
        return builder.permissions(PermissionsExt::from_mode(0o666)).tempfile_in(folder);
    };
    // Private at first: with its final mode but another group, the wrong users could read it.
    let file = builder.permissions(PermissionsExt::from_mode(0o600)).tempfile_in(folder)?;
    let created = file.as_file().metadata()?;
    let kept = |same: bool, owner, group| same || fchown(file.as_file(), owner, group).is_ok();
    // Only root may change the owner; where that fails, the file stays with the user.
    kept(created.uid() == replaced.uid(), Some(replaced.uid()), None);
    let has_group = kept(created.gid() == replaced.gid(), None, Some(replaced.gid()));
    let mode = replaced.mode() & 0o777;
    // Where the group could not be kept, the group that the file has gets no more rights than all others.
    let mode = if has_group { mode } else { mode & !0o070 | (mode & (mode << 3) & 0o070) };
    file.as_file().set_permissions(PermissionsExt::from_mode(mode))?;
    Ok(file)
}

#[cfg(not(unix))]
fn begin_with_permissions(
    builder: &mut tempfile::Builder,
    folder: &Path,
    _: Option<&Metadata>,
) -> io::Result<NamedTempFile> {
    builder.tempfile_in(folder)
}

/// Removes the unfinished file on a signal that ends the process, reports that, and ends the process by the signal, as a
/// shell that waits for it must know. What is ignored, as SIGHUP is under `nohup`, stays ignored.
#[cfg(unix)]
fn remove_when_interrupted(unfinished: &Arc<Mutex<Unfinished>>, path: &Path, json: bool) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};

    // With a handler for SIGXFSZ, writing past the limit for the size of a file is an error and not the end of the process.
    signal_hook::flag::register(SIGXFSZ, Arc::default())?;
    let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT].into_iter().filter(|signal| !guard::is_ignored(*signal));
    let mut signals = signal_hook::iterator::Signals::new(ending)?;
    let failure = Failure::new("interrupted", format!("interrupted: {} was not written", shown_path(path)));
    let unfinished = Arc::clone(unfinished);
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            // The lock is also held while the file is created and renamed, so that neither is interrupted halfway.
            let mut unfinished = locked(&unfinished);
            if unfinished.done {
                continue;
            }
            unfinished.file = None;
            unfinished.bar.finish_and_clear();
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
fn remove_when_interrupted(_: &Arc<Mutex<Unfinished>>, _: &Path, _: bool) -> io::Result<()> {
    Ok(())
}

fn locked(unfinished: &Mutex<Unfinished>) -> MutexGuard<'_, Unfinished> {
    unfinished.lock().unwrap_or_else(PoisonError::into_inner)
}
