//! The checkout stands alone: no file names a place on the machine where it was written, and nothing is left undone.

use std::path::Path;

use crate::workspace::{Outcome, Workspace, failed, skipped};

/// Checks every file that git tracks or would track.
pub(crate) fn check(workspace: &Workspace) -> Outcome {
    // A checkout may belong to another user than the one who tests it; reading its index is harmless.
    let git = |arguments: &str| workspace.command("git", &format!("-c safe.directory=* {arguments}"));
    if !workspace.succeeds(&mut git("rev-parse --is-inside-work-tree")) {
        return Err(skipped("this is no git checkout, or there is no git"));
    }
    let files = workspace.read(&mut git("ls-files -z --cached --others --exclude-standard"))?;
    let files = files.split_terminator('\0');
    let complaints: Vec<String> = files.flat_map(|file| complaints(file, &workspace.path(file))).collect();
    if complaints.is_empty() { Ok(()) } else { Err(failed(complaints.join("\n"))) }
}

fn complaints(name: &str, path: &Path) -> Vec<String> {
    // What is no text, and what is deleted but still in git's index, refers to nothing.
    let Ok(text) = std::fs::read_to_string(path) else { return Vec::new() };
    let lines = (1..).zip(text.lines());
    lines.filter_map(|(number, line)| Some(format!("{name}:{number}: {}", complaint(line)?))).collect()
}

/// What is wrong with a line.
fn complaint(line: &str) -> Option<&'static str> {
    // The words are put together here, so that this file does not name them itself.
    const OUTSIDE: [&str; 3] = [concat!("/", "work", "/"), concat!("/", "home", "/"), concat!("/", "root", "/")];
    const BESIDE: &str = concat!("shared", "/");
    const UNDONE: [&str; 3] = [concat!("to", "do!"), concat!("unimple", "mented!"), concat!("FIX", "ME")];

    if OUTSIDE.iter().any(|folder| begins_path(line, folder)) {
        return Some("names a folder of the machine on which it was written");
    }
    if begins_path(line, BESIDE) || line.contains(concat!("../", "shared")) {
        return Some("names a folder beside the checkout");
    }
    UNDONE.iter().any(|word| line.contains(word)).then_some("says that something is left to do")
}

/// Whether a path in the line begins with the folder.
fn begins_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let inside = |c: char| c.is_alphanumeric() || "/._-}*$".contains(c);
        let named = |c: char| c.is_alphanumeric() || "._-".contains(c);
        !line[..at].ends_with(inside) && line[at + folder.len()..].starts_with(named)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_outside_the_checkout_are_found() {
        let (work, shared) = (concat!("/", "work"), concat!("sha", "red"));
        for line in [
            format!("see {work}/main/README.md"),
            format!("include_str!(\"../../../{shared}/corpus/chains.jsonl\")"),
            format!("(`{shared}/theory.md`, section 2)"),
            concat!("// FIX", "ME: later").to_owned(),
        ] {
            assert!(complaint(&line).is_some(), "{line}");
        }
    }

    #[test]
    fn ordinary_words_and_paths_are_not() {
        for line in
            ["tests/work/main.rs", "crates/a/tests/shared/mod.rs", "framework/x", "the work/home ratio", "shared / not"]
        {
            assert_eq!(complaint(line), None, "{line}");
        }
    }
}
