//! A file that is written whole or not at all.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

#[cfg(unix)]
use super::guard;
use super::unfinished::{Place, Progress, Unfinished};
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
    unfinished: Unfinished,
    progress: Progress,
}

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
                let place = new_place(path, name).map_err(|why| refused(&why))?;
                return Ok(Target { path: path.into(), place, replaced: None });
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
        let progress = Progress::new(length);
        let unfinished = Unfinished::new(&progress, &target.path, json).map_err(|err| target.failure(&err))?;
        let file = unfinished.begin(|| {
            let (file, path) = begin(&target)?.into_parts();
            #[cfg(unix)]
            guard::set_unfinished(Some(&path));
            Ok((file, Place::File(path)))
        });
        let file = file.map_err(|err| target.failure(&err))?;
        let output = Output { target, file, unfinished, progress };
        // A length that the file system or a limit does not allow fails now, and not after the data was moved.
        output.file.set_len(length).map_err(|err| output.target.failure(&err))?;
        Ok(output)
    }

    /// Writes the next bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        // In pieces, so that the progress bar advances within a block.
        for piece in bytes.chunks(1 << 24) {
            self.file.write_all(piece).map_err(|err| self.target.failure(&err))?;
            self.progress.advance(piece.len() as u64);
        }
        Ok(())
    }

    /// Gives the file its name, now that all of it is on the disk.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        self.file.sync_all().map_err(|err| self.target.failure(&err))?;
        let named = self.unfinished.finish(|place| {
            #[cfg(unix)]
            guard::set_unfinished(None);
            match (place, &self.target.replaced) {
                (Place::File(file), Some(_)) => file.persist(&self.target.place).map_err(|err| err.error),
                (Place::File(file), None) => file.persist_noclobber(&self.target.place).map_err(|err| err.error),
                #[cfg(feature = "zarr")]
                (Place::Folder(_), _) => Ok(()),
            }
        });
        named.map_err(|err| self.target.failure(&err))
    }
}

/// Where what is not there yet will be: its name in a folder that exists; else why it cannot be written.
pub(super) fn new_place(path: &Path, name: &OsStr) -> Result<PathBuf, String> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        return Err(format!("cannot be written: there is no folder {}", shown_path(folder)));
    }
    Ok(folder.join(name))
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
