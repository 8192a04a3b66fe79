//! A file that is written whole or not at all.

use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tempfile::{NamedTempFile, TempPath};

use super::shown_path;
use crate::answer::Failure;

/// Where an output goes: a name that may be taken.
pub(crate) struct Target {
    /// The name that was asked for.
    path: PathBuf,
    /// Where that leads.
    place: PathBuf,
    /// What is known of the file that is replaced.
    replaced: Option<Metadata>,
}

/// A file in the making: beside the place where it goes, and gone if it is not finished.
pub(crate) struct Output {
    target: Target,
    file: File,
    unfinished: Arc<Mutex<Unfinished>>,
    bar: ProgressBar,
    started: Instant,
}

/// What an interrupted run leaves behind if nobody takes it away.
struct Unfinished {
    file: Option<TempPath>,
    bar: ProgressBar,
    /// Whether the file has its name, so that there is nothing left to interrupt.
    done: bool,
}

/// A shorter run has no progress bar.
const PATIENCE: Duration = Duration::from_millis(500);

impl Target {
    /// Checks that a file can go to a path: not onto the input, not onto another file unless that is wanted.
    pub(crate) fn new(path: &Path, input: &Path, force: bool) -> Result<Target, Failure> {
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
        if same_file::is_same_file(path, input).unwrap_or(false) {
            return Err(refused("is the input, which is never written to"));
        }
        if !metadata.is_file() {
            return Err(refused(if metadata.is_dir() { "is a directory" } else { "is no regular file" }));
        }
        if !force {
            return Err(refused("is there already; --force replaces it"));
        }
        let place = path.canonicalize().map_err(|err| refused(&format!("cannot be written: {err}")))?;
        Ok(Target { path: path.into(), place, replaced: Some(metadata) })
    }

    fn failure(&self, err: &io::Error) -> Failure {
        let reason = err.to_string();
        // The name of the unfinished file, which may follow, is nobody's business.
        let reason = reason.split(" at path ").next().unwrap_or_default();
        Failure::new("io", format!("cannot write {}: {reason}", shown_path(&self.path)))
    }
}

impl Output {
    /// Begins a file of a known length. From here on signals end the process only after the file was taken away.
    pub(crate) fn create(target: Target, length: u64, json: bool) -> Result<Output, Failure> {
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::hidden());
        if let Ok(style) =
            ProgressStyle::with_template("{wide_bar} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left")
        {
            bar.set_style(style);
        }
        let unfinished = Arc::new(Mutex::new(Unfinished { file: None, bar: bar.clone(), done: false }));
        take_away_when_interrupted(&unfinished, &target.path, json).map_err(|err| target.failure(&err))?;
        let file = {
            let mut unfinished = locked(&unfinished);
            let (file, path) = begin(&target).map_err(|err| target.failure(&err))?.into_parts();
            unfinished.file = Some(path);
            file
        };
        let output = Output { target, file, unfinished, bar, started: Instant::now() };
        // A file that is longer than the file system or a limit allows fails now, rather than in the end.
        output.file.set_len(length).map_err(|err| output.target.failure(&err))?;
        Ok(output)
    }

    /// Writes the next bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        // In pieces, so that the bar moves.
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

/// An empty file beside the place of a target, under a name that says what it is.
fn begin(target: &Target) -> io::Result<NamedTempFile> {
    // A name may be as long as names can be, and this one is longer.
    let name: String = target.place.file_name().unwrap_or_default().to_string_lossy().chars().take(40).collect();
    let prefix = format!(".{name}.");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".unfinished");
    let folder = target.place.parent().unwrap_or(Path::new("."));
    begin_with_permissions(&mut builder, folder, target.replaced.as_ref())
}

/// With the permissions of any new file, of which the user's mask takes away some, or of the file that is replaced.
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
    // Nobody else may read it before it has its group.
    let file = builder.permissions(PermissionsExt::from_mode(0o600)).tempfile_in(folder)?;
    let created = file.as_file().metadata()?;
    let kept = |same: bool, owner, group| same || fchown(file.as_file(), owner, group).is_ok();
    // Only an administrator may give files away.
    kept(created.uid() == replaced.uid(), Some(replaced.uid()), None);
    let has_group = kept(created.gid() == replaced.gid(), None, Some(replaced.gid()));
    let mode = replaced.mode() & 0o777;
    // Another group may do no more than everybody.
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

/// Takes an unfinished file away when the user or the system ends the process, and says so.
#[cfg(unix)]
fn take_away_when_interrupted(unfinished: &Arc<Mutex<Unfinished>>, path: &Path, json: bool) -> io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};

    // Writing past the limit of a file's size is then an error like any other.
    signal_hook::flag::register(SIGXFSZ, Arc::default())?;
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
    let failure = Failure::new("interrupted", format!("interrupted: {} was not written", shown_path(path)));
    let unfinished = Arc::clone(unfinished);
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            // Whoever finishes or begins a file holds the lock: nothing is half done from here to the end.
            let mut unfinished = locked(&unfinished);
            if unfinished.done {
                continue;
            }
            unfinished.file = None;
            unfinished.bar.finish_and_clear();
            // Nobody is left to tell when this fails.
            let _ = if json {
                writeln!(io::stdout(), "{}", failure.json())
            } else {
                anstream::stderr().write_all(failure.text().as_bytes())
            };
            std::process::exit(128 + signal);
        }
    })?;
    Ok(())
}

#[cfg(not(unix))]
fn take_away_when_interrupted(_: &Arc<Mutex<Unfinished>>, _: &Path, _: bool) -> io::Result<()> {
    Ok(())
}

fn locked(unfinished: &Mutex<Unfinished>) -> MutexGuard<'_, Unfinished> {
    unfinished.lock().unwrap_or_else(PoisonError::into_inner)
}
