//! The commands that the READMEs show are run, and must print what the READMEs say.
//!
//! A fenced block of `sh`, `bash` or `console` is a session if one of its lines begins with `$ `: each such line is a
//! command, and the lines up to the next one are what it prints on standard output and standard error (nothing is
//! compared where none are shown). A last line `[exit status: 1]` says that the command ends so rather than well. In a
//! block of `sh` or `bash` without `$ `, each line is a command. A backslash at the end of a line continues it, and
//! lines that begin with `#` are comments to the shell as to us.
//!
//! Examples in Rust are tested as the documentation of the package whose README shows them. The README of the project
//! belongs to no package: its examples must stand word for word in the README of one.

use std::{collections::BTreeSet, fs, ops::Range, path::PathBuf};

use crate::workspace::{Outcome, Stop, Workspace, captured, failed, path_with, skipped};

/// What the READMEs show but this must not run, by how the command begins, and why.
const NOT_RUN: &[(&str, &str)] = &[
    ("git clone ", "the checkout is here"),
    ("cd ", "every command runs in the root of the checkout"),
    ("cargo xtask ", "it is what is running"),
    ("cargo install ", "it would change the user's machine; the command is on the PATH all the same"),
    ("cargo add ", "it would change the project"),
    ("cargo bench", "it takes minutes; the step `benches` builds them"),
    ("cargo fuzz ", "the step `fuzz` does that"),
    ("cargo +", "the toolchain may not be installed"),
    ("rustup ", "it would change the user's machine"),
    ("pip install ", "it would change the user's machine"),
    ("python -m shapetracker ", "the tests of the Python package compare what it prints with the command's"),
    ("tar -xzf shapetracker-", "it would change the user's machine; the step `distribution` does that elsewhere"),
];

/// One command that a README shows.
#[derive(Debug, PartialEq)]
struct Shown {
    command: String,
    /// The number of its line, from one.
    line: usize,
    /// What it prints, and how it ends where that is not well.
    answer: Vec<String>,
    /// Where the answer is among the lines of the file.
    place: Range<usize>,
    /// What stands before each line of the block, for blocks in lists.
    indent: String,
}

/// Runs every command of every README and compares.
pub(crate) fn check(workspace: &Workspace) -> Outcome {
    let texts = texts(workspace)?;
    let mut complaints = untested(workspace, &texts);
    for (file, text) in texts {
        for shown in commands(&text) {
            let Some(answer) = run(workspace, &shown)? else { continue };
            if !agree(&shown.answer, &answer) {
                let (file, line, Shown { command, .. }) = (file.display(), shown.line, &shown);
                let (says, is) = (shown.answer.join("\n"), answer.join("\n"));
                complaints
                    .push(format!("{file}:{line}: `{command}`\n--- the README says\n{says}\n--- it prints\n{is}\n"));
            }
        }
    }
    if complaints.is_empty() {
        return Ok(());
    }
    complaints.push("If it is the README that is out of date: cargo xtask readme --bless".to_owned());
    Err(failed(complaints.join("\n")))
}

/// Runs every command of every README and writes what it prints in place of what was there.
pub(crate) fn bless(workspace: &Workspace) -> Outcome {
    for (file, text) in texts(workspace)? {
        let mut answers = Vec::new();
        for shown in commands(&text) {
            let answer = run(workspace, &shown)?;
            answers.extend(answer.map(|answer| (shown, answer)));
        }
        let blessed = with_answers(&text, &answers);
        if blessed != text {
            fs::write(&file, blessed).map_err(|e| failed(format!("{}: {e}", file.display())))?;
            anstream::println!("rewritten: {}", file.display());
        }
    }
    Ok(())
}

/// The texts whose commands are run: the READMEs of the checkout and of its packages, and the comparison.
fn texts(workspace: &Workspace) -> Result<Vec<(PathBuf, String)>, Stop> {
    let packages =
        workspace.packages().into_iter().map(|package| package.manifest_path.with_file_name("README.md").into());
    let of_the_checkout = ["README.md", "COMPARE.md"].map(|name| workspace.path(name));
    let files: BTreeSet<PathBuf> = packages.chain(of_the_checkout).filter(|file| file.is_file()).collect();
    if files.is_empty() {
        return Err(skipped("no README.md"));
    }
    // The command is called as users call it who installed it.
    workspace.run(&mut workspace.cargo_release("build --release --bins"))?;
    let read = |file: PathBuf| match fs::read_to_string(&file) {
        Ok(text) => Ok((file, text)),
        Err(e) => Err(failed(format!("{}: {e}", file.display()))),
    };
    files.into_iter().map(read).collect()
}

/// The examples in Rust that no package's README has.
fn untested(workspace: &Workspace, texts: &[(PathBuf, String)]) -> Vec<String> {
    let is_tested =
        |block: &str| texts.iter().any(|(file, text)| *file != workspace.path("README.md") && text.contains(block));
    let of_the_project = texts.iter().filter(|(file, _)| *file == workspace.path("README.md"));
    let blocks = of_the_project.flat_map(|(file, text)| rust_blocks(text).into_iter().map(move |block| (file, block)));
    let untested = blocks.filter(|(_, block)| !is_tested(block));
    untested
        .map(|(file, block)| {
            format!("{}: no package's README has this example, so nothing tests it\n{block}", file.display())
        })
        .collect()
}

/// The blocks of Rust in a text, with their fences.
fn rust_blocks(text: &str) -> Vec<&str> {
    const BEGIN: &str = "```rust\n";
    let blocks = text.match_indices(BEGIN).filter_map(|(at, _)| {
        let end = at + BEGIN.len() + text[at + BEGIN.len()..].find("\n```")?;
        Some(&text[at..end + "\n```".len()])
    });
    blocks.collect()
}

/// What a command prints and how it ends, in the form of a README; nothing if it must not be run.
fn run(workspace: &Workspace, Shown { command, .. }: &Shown) -> Result<Option<Vec<String>>, Stop> {
    if let Some((_, reason)) = NOT_RUN.iter().find(|(begin, _)| command.starts_with(begin)) {
        if workspace.verbose {
            anstream::println!("not run: {command} ({reason})");
        }
        return Ok(None);
    }
    let mut shell = workspace.command("sh", "-c");
    // Cargo is told to keep its progress to itself, for a README shows what the command says.
    shell.arg(command).env("PATH", path_with(&workspace.target("release"))).env("CARGO_TERM_QUIET", "true");
    workspace.sharing(shell.env_remove("RUST_BACKTRACE"));
    let (status, output) = captured(&mut shell).map_err(|e| failed(format!("`{command}`: {e}")))?;
    if workspace.verbose {
        anstream::println!("run: {command} ({status})");
    }
    let mut answer: Vec<String> = output.lines().map(|line| line.trim_end().to_owned()).collect();
    answer.truncate(answer.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1));
    match status.code() {
        Some(0) => {}
        Some(code) => answer.push(ending(code)),
        None => return Err(failed(format!("`{command}` ended with {status}"))),
    }
    Ok(Some(answer))
}

fn ending(code: i32) -> String {
    format!("[exit status: {code}]")
}

/// Whether a command answered as shown: it must end alike, and print the same where the README shows what it prints.
fn agree(shown: &[String], answer: &[String]) -> bool {
    let (shown_lines, shown_ending) = split(shown);
    let (lines, ending) = split(answer);
    shown_ending == ending && (shown_lines.is_empty() || shown_lines == lines)
}

/// What a command prints, apart from how it ends.
fn split(answer: &[String]) -> (&[String], Option<&String>) {
    match answer.split_last() {
        Some((last, lines)) if last.starts_with("[exit status: ") => (lines, Some(last)),
        _ => (answer, None),
    }
}

/// A fenced block of a text.
pub(crate) struct Block<'t> {
    pub(crate) language: &'t str,
    /// What stands before its fences.
    indent: &'t str,
    /// The index of its first line among those of the text.
    begin: usize,
    pub(crate) lines: Vec<&'t str>,
}

/// The fenced blocks of a text.
pub(crate) fn blocks(text: &str) -> Vec<Block<'_>> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let Some((indent, fence, language)) = fence(lines[at]) else {
            at += 1;
            continue;
        };
        let begin = at + 1;
        let closes =
            |line: &&str| line.trim().starts_with(fence) && line.trim().trim_start_matches(&fence[..1]).is_empty();
        let end = lines[begin..].iter().position(closes).map_or(lines.len(), |length| begin + length);
        let lines = lines[begin..end].iter().map(|line| line.strip_prefix(indent).unwrap_or(line)).collect();
        found.push(Block { language, indent, begin, lines });
        at = end + 1;
    }
    found
}

/// The commands in the fenced blocks of a text.
fn commands(text: &str) -> Vec<Shown> {
    let mut found = Vec::new();
    for Block { language, indent, begin, lines } in blocks(text) {
        let is_session = lines.iter().any(|line| line.starts_with("$ "));
        match language {
            "sh" | "bash" | "console" if is_session => found.extend(session(&lines, begin, indent)),
            "sh" | "bash" => found.extend(script(&lines, begin, indent)),
            _ => {}
        }
    }
    found
}

/// What stands before the fence that opens a block, the fence, and the language of the block.
fn fence(line: &str) -> Option<(&str, &str, &str)> {
    let (indent, rest) = line.split_at(line.len() - line.trim_start().len());
    let mark = rest.chars().next().filter(|c| "`~".contains(*c))?;
    let (fence, info) = rest.split_at(rest.len() - rest.trim_start_matches(mark).len());
    (fence.len() >= 3).then(|| (indent, fence, info.split([',', ' ']).find(|word| !word.is_empty()).unwrap_or("")))
}

/// The commands of a block in which they begin with `$ `; the block begins at that index among the lines of the file.
fn session(block: &[&str], begin: usize, indent: &str) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    let mut at = 0;
    while at < block.len() {
        if let Some(first) = block[at].strip_prefix("$ ") {
            let (command, next) = continued(first, block, at);
            let (line, place, answer) = (begin + at + 1, begin + next..begin + next, Vec::new());
            found.push(Shown { command, line, answer, place, indent: indent.to_owned() });
            at = next;
        } else {
            if let Some(last) = found.last_mut()
                && !block[at].trim_end().is_empty()
            {
                // Blank lines count only between others.
                last.place.end = begin + at + 1;
                let answer = &block[last.place.start - begin..=at];
                last.answer = answer.iter().map(|line| line.trim_end().to_owned()).collect();
            }
            at += 1;
        }
    }
    found
}

/// The commands of a block that has nothing else.
fn script(block: &[&str], begin: usize, indent: &str) -> Vec<Shown> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < block.len() {
        let (command, next) = continued(block[at].trim(), block, at);
        if !command.is_empty() && !command.starts_with('#') {
            let (line, place) = (begin + at + 1, begin + next..begin + next);
            found.push(Shown { command, line, answer: Vec::new(), place, indent: indent.to_owned() });
        }
        at = next;
    }
    found
}

/// A command that begins in a line of the block, with the lines that continue it; and the index of the line after it.
fn continued(first: &str, block: &[&str], at: usize) -> (String, usize) {
    let mut command = first.trim_end().to_owned();
    let mut next = at + 1;
    while command.ends_with('\\') && next < block.len() {
        command.push('\n');
        command.push_str(block[next].trim_end());
        next += 1;
    }
    (command, next)
}

/// The text with other answers. Where a README shows nothing of what a command prints, it goes on showing nothing.
fn with_answers(text: &str, answers: &[(Shown, Vec<String>)]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (shown, answer) in answers.iter().rev() {
        if agree(&shown.answer, answer) {
            continue;
        }
        let (printed, ending) = split(answer);
        let printed = if split(&shown.answer).0.is_empty() { &[] } else { printed };
        let new = printed.iter().chain(ending).map(|line| format!("{}{line}", shown.indent).trim_end().to_owned());
        lines.splice(shown.place.clone(), new);
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    const README: &str = "\
# A project

```console
$ echo one; \\
  echo two
one
two

$ false
[exit status: 1]
$ quiet
```

- in a list:

  ```sh
  # A comment
  git clone it

  cargo xtask test
  ```

````text
```console
$ not a command, for the block shows one
```
````

```rust
let x = \"$ neither\";
```
";

    fn texts(shown: &[Shown]) -> Vec<(&str, usize, Vec<&str>)> {
        shown.iter().map(|s| (s.command.as_str(), s.line, s.answer.iter().map(String::as_str).collect())).collect()
    }

    fn owned(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    #[test]
    fn commands_are_found_with_their_answers() {
        assert_eq!(
            texts(&commands(README)),
            [
                ("echo one; \\\n  echo two", 4, vec!["one", "two"]),
                ("false", 9, vec!["[exit status: 1]"]),
                ("quiet", 11, vec![]),
                ("git clone it", 18, vec![]),
                ("cargo xtask test", 20, vec![]),
            ]
        );
    }

    #[test]
    fn examples_in_rust_are_found() {
        assert_eq!(rust_blocks(README), ["```rust\nlet x = \"$ neither\";\n```"]);
        assert_eq!(rust_blocks("```rust\nlet x"), [""; 0]);
    }

    #[test]
    fn blank_lines_within_an_answer_belong_to_it() {
        let text = "```console\n$ a\none\n\ntwo\n\n\n$ b\n```\n";
        assert_eq!(texts(&commands(text)), [("a", 2, vec!["one", "", "two"]), ("b", 8, vec![])]);
    }

    #[test]
    fn a_block_may_end_with_the_file_or_be_empty() {
        assert_eq!(texts(&commands("```sh\na")), [("a", 2, vec![])]);
        assert_eq!(commands("```sh"), []);
        assert_eq!(commands("```console\n```\n~~~\n"), []);
        assert_eq!(texts(&commands("```sh\na \\")), [("a \\", 2, vec![])]);
    }

    #[test]
    fn answers_agree_in_what_is_shown() {
        let agree = |shown: &[&str], answer: &[&str]| agree(&owned(shown), &owned(answer));
        assert!(agree(&["a"], &["a"]));
        assert!(!agree(&["a"], &["b"]));
        assert!(!agree(&["a"], &["a", "b"]));
        assert!(agree(&[], &["anything"]));
        assert!(!agree(&[], &["anything", "[exit status: 1]"]));
        assert!(agree(&["[exit status: 1]"], &["anything", "[exit status: 1]"]));
        assert!(!agree(&["a", "[exit status: 1]"], &["a"]));
        assert!(!agree(&["a", "[exit status: 1]"], &["a", "[exit status: 2]"]));
    }

    #[test]
    fn answers_are_rewritten_in_place() {
        let shown = commands(README);
        let answers = [&["1", "", "2", "3"][..], &[], &["hidden", "[exit status: 2]"], &[], &[]];
        let answers: Vec<_> = shown.into_iter().zip(answers.map(owned)).collect();
        let expected = README
            .replace("one\ntwo\n", "1\n\n2\n3\n")
            .replace("[exit status: 1]\n$ quiet\n", "$ quiet\n[exit status: 2]\n");
        assert_eq!(with_answers(README, &answers), expected);
    }

    #[test]
    fn answers_in_lists_keep_their_indentation() {
        let text = "1. x\n   ```console\n   $ a\n   old\n   ```\n";
        let shown = commands(text).into_iter().map(|shown| (shown, owned(&["new", "", "newer"]))).collect::<Vec<_>>();
        assert_eq!(with_answers(text, &shown), "1. x\n   ```console\n   $ a\n   new\n\n   newer\n   ```\n");
    }
}
