//! A folder that is written whole or not at all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::output::new_place;
use super::shown_path;
use super::unfinished::{Place, Progress, Unfinished};
use crate::answer::Failure;

/// The path of an output folder, checked: nothing is there yet, or it may be replaced.
pub(crate) struct FolderTarget {
    /// The path as it was given, for messages.
    path: PathBuf,
    /// The same with symbolic links followed: the folder that is created or replaced.
    place: PathBuf,
    /// Whether a folder is there that is replaced.
    replaces: bool,
}

/// A folder that is being written under a temporary name beside its target. It gets its name by a rename when it is
/// complete; a run that ends before removes it.
pub(crate) struct OutputFolder {
    target: FolderTarget,
    /// Its temporary name.
    path: PathBuf,
    unfinished: Unfinished,
    progress: Progress,
}

impl FolderTarget {
    /// Checks that a folder can be written to a path: it is not the input and not a part of it, and what is there may be
    /// replaced.
    ///
    /// `replaceable` says why a folder that is there is none that the command would write, so that `--force` never removes
    /// what nobody meant.
    pub(crate) fn new(
        path: &Path,
        input: &Path,
        force: bool,
        replaceable: impl FnOnce(&Path) -> Result<(), String>,
    ) -> Result<FolderTarget, Failure> {
        let refused = |why: &str| Failure::new("output", format!("{} {why}", shown_path(path)));
        if path.as_os_str() == "-" {
            return Err(refused(
                "is no name of a folder: standard output cannot hold one; ./- is a folder of that name",
            ));
        }
        let Some(name) = path.file_name() else {
            return Err(refused("is no name of a folder"));
        };
        let cannot = |err: io::Error| refused(&format!("cannot be written: {err}"));
        let input = input.canonicalize().map_err(cannot)?;
        match fs::metadata(path) {
            Ok(metadata) => {
                let place = path.canonicalize().map_err(cannot)?;
                if place == input {
                    return Err(refused("is the input, which is never written to"));
                }
                if input.starts_with(&place) {
                    return Err(refused("holds the input, which is never written to"));
                }
                if place.starts_with(&input) {
                    return Err(refused("lies in the input, which is never written to"));
                }
                if !force {
                    return Err(refused("is there already; --force replaces it"));
                }
                if !metadata.is_dir() {
                    return Err(refused("cannot be replaced by a folder: it is none"));
                }
                replaceable(&place).map_err(|why| refused(&why))?;
                Ok(FolderTarget { path: path.into(), place, replaces: true })
            }
            Err(err) if err.kind() == io::ErrorKind::NotFound && !path.is_symlink() => {
                let place = new_place(path, name).map_err(|why| refused(&why))?;
                let folder = place.parent().unwrap_or(Path::new("."));
                if folder.canonicalize().map_err(cannot)?.starts_with(&input) {
                    return Err(refused("lies in the input, which is never written to"));
                }
                Ok(FolderTarget { path: path.into(), place, replaces: false })
            }
            Err(err) if err.kind() == io::ErrorKind::NotFound => {
                Err(refused("cannot be written: it is a link that leads nowhere"))
            }
            Err(err) => Err(cannot(err)),
        }
    }

    fn failure(&self, why: &str) -> Failure {
        // The error may go on with the temporary name, which means nothing to the user.
        let why = why.split(" at path ").next().unwrap_or_default();
        Failure::new("io", format!("cannot write {}: {why}", shown_path(&self.path)))
    }

    /// A new name beside the target, `.NAME.*.SUFFIX`, and an empty folder of that name.
    fn beside(&self, suffix: &str) -> io::Result<TempDir> {
        // The target may have the longest name that the file system takes, so that this one must be cut.
        let name: String = self.place.file_name().unwrap_or_default().to_string_lossy().chars().take(40).collect();
        let prefix = format!(".{name}.");
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(suffix);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
        builder.tempdir_in(self.place.parent().unwrap_or(Path::new(".")))
    }
}

impl OutputFolder {
    /// Creates a folder for so many bytes. From here on a signal removes it before it ends the process.
    pub(crate) fn create(target: FolderTarget, bytes: u64, json: bool) -> Result<OutputFolder, Failure> {
        let failure = |err: io::Error| target.failure(&err.to_string());
        let progress = Progress::new(bytes);
        let unfinished = Unfinished::new(&progress, &target.path, json).map_err(failure)?;
        let path = unfinished
            .begin(|| {
                let folder = target.beside(".unfinished")?;
                Ok((folder.path().to_owned(), Place::Folder(folder)))
            })
            .map_err(failure)?;
        Ok(OutputFolder { target, path, unfinished, progress })
    }

    /// Where it is until it has its name.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes something into the folder, which counts as so many bytes of the progress. A signal waits for it.
    pub(crate) fn write(&self, bytes: u64, write: impl FnOnce() -> Result<(), String>) -> Result<(), Failure> {
        let held = self.unfinished.hold();
        let written = write();
        drop(held);
        written.map_err(|why| self.target.failure(&why))?;
        self.progress.advance(bytes);
        Ok(())
    }

    /// Gives the folder its name.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let target = &self.target;
        let named = self.unfinished.finish(|place| {
            let Place::Folder(folder) = place else { return Ok(()) };
            // A folder can only be renamed to what is not there: the one that it replaces is renamed first.
            let replaced = if target.replaces { Some(target.beside(".replaced")?) } else { None };
            if let Some(replaced) = &replaced {
                fs::rename(&target.place, replaced.path().join("array"))?;
            }
            let named = match (&replaced, fs::symlink_metadata(&target.place)) {
                (None, Ok(_)) => Err(io::Error::new(io::ErrorKind::AlreadyExists, "something else is there now")),
                _ => fs::rename(folder.path(), &target.place),
            };
            if named.is_err()
                && let Some(replaced) = &replaced
            {
                fs::rename(replaced.path().join("array"), &target.place)?;
            }
            named?;
            // It has another name now, and nothing is there to remove.
            let _ = folder.keep();
            Ok(())
        });
        named.map_err(|err| self.target.failure(&err.to_string()))
    }
}
