//! Writes the pages of the reference into a folder: `shapetracker-reference FOLDER`.

use std::{env, fs, path::PathBuf, process::ExitCode};

fn main() -> ExitCode {
    match write() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn write() -> Result<(), String> {
    let folder = PathBuf::from(env::args_os().nth(1).ok_or("the folder for the pages is missing")?);
    for page in shapetracker_reference::pages()? {
        let path = folder.join(format!("{}.md", page.path));
        let parent = path.parent().ok_or("a page has no folder")?;
        let written = fs::create_dir_all(parent).and_then(|()| fs::write(&path, page.markdown()));
        written.map_err(|err| format!("{}: {err}", path.display()))?;
    }
    Ok(())
}
