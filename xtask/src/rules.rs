//! The rules of the simplifier name their proofs.
//!
//! In `indexpr` every function that divides says in a comment which theorems of `proofs/` it rests on, or why it needs none, and so does
//! whatever else changes a bound on the strength of an argument:
//!
//! ```text
//! // Proved: `common_divisor`, `multiples_leave` in `proofs/Simplify.v`.
//! // No rule: it chooses among sums that are equal.
//! ```
//!
//! The comments are the one table from rules to proofs; `proofs/README.md` shows it in another order. They are held against
//! the functions, the theorems and that page here. Nothing is compiled: it reads text.
//!
//! In other crates functions may name theorems in the same way; of those no more is asked than that the theorems and their rows are there.

use std::{collections::BTreeSet, fs, path::Path};

use crate::workspace::{Outcome, Stop, Workspace, failed};

/// Where the rules are.
const CODE: &str = "crates/indexpr/src";

/// Where functions rest on other theorems, which they may name.
const OTHERS: [&str; 3] = ["crates/shapetracker/src", "crates/shapetracker-cute/src", "crates/shapetracker-shard/src"];

/// The files whose every theorem is a rule of the code.
const RULES: [&str; 2] = ["proofs/Simplify.v", "proofs/Rounding.v"];

/// What a function says that rests on theorems, and one that rests on none although it divides.
const PROVED: &str = "Proved:";
const NO_RULE: &str = "No rule:";

/// What divides, or makes an expression that does. Spaces around operators are rustfmt's.
const DIVIDES: [&str; 19] = [
    " / ",
    " % ",
    " /= ",
    " %= ",
    "div_floor(",
    "div_ceil",
    "div_euclid(",
    "rem_euclid(",
    "div_rem(",
    "wrapping_div(",
    "wrapping_rem(",
    "checked_div",
    "checked_rem",
    "gcd(",
    ".divided(",
    ".as_quotient(",
    "Rounding::of(",
    ".binary(Binary::Div,",
    ".binary(Binary::Mod,",
];

/// Checks that each rule names its theorems, and each theorem is named.
pub(crate) fn check(workspace: &Workspace) -> Outcome {
    let read = |file: &str| {
        let path = workspace.path(file);
        fs::read_to_string(&path).map_err(|e| failed(format!("{}: {e}", path.display())))
    };
    let mut functions = Vec::new();
    for file in files(&workspace.path(CODE))? {
        let file = format!("{CODE}/{file}");
        functions.extend(functions_of(&file, &read(&file)?));
    }
    for folder in OTHERS {
        for file in files(&workspace.path(folder))? {
            let file = format!("{folder}/{file}");
            let named = functions_of(&file, &read(&file)?).into_iter().filter(|function| function.says(PROVED));
            functions.extend(named);
        }
    }
    let mut proofs = Vec::new();
    for file in cited(&functions).into_iter().chain(RULES.map(str::to_owned)).collect::<BTreeSet<_>>() {
        let text = read(&file).unwrap_or_default();
        proofs.push((file, text));
    }
    let complaints = complaints(&functions, &proofs, &read("proofs/README.md")?, &read("proofs/Assumptions.v")?);
    if complaints.is_empty() {
        return Ok(());
    }
    // Of a long reason only the last line is shown where commands show their output as they go.
    let all = complaints.join("\n");
    if workspace.verbose {
        println!("{all}");
    }
    Err(failed(format!("{all}\n{} rules or theorems are not in order", complaints.len())))
}

/// The files of code in a folder, by their paths in it, but for tests.
fn files(folder: &Path) -> Result<Vec<String>, Stop> {
    let (mut files, mut open) = (Vec::new(), vec![String::new()]);
    while let Some(within) = open.pop() {
        let entries = fs::read_dir(folder.join(&within)).map_err(|e| failed(format!("{}: {e}", folder.display())))?;
        for entry in entries.filter_map(Result::ok) {
            let name = format!("{within}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                open.push(format!("{name}/"));
            } else if name.ends_with(".rs") && !name.ends_with("tests.rs") {
                files.push(name);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// A function of the code.
#[derive(Debug)]
struct Function {
    /// Where it begins, for people.
    at: String,
    name: String,
    /// Its own lines without those of functions inside of it; literals and comments are left out.
    code: Vec<String>,
    /// The comments inside of it and above it, without the slashes.
    comments: Vec<String>,
}

impl Function {
    fn divides(&self) -> bool {
        self.code.iter().any(|line| DIVIDES.iter().any(|word| line.contains(word)))
    }

    fn says(&self, word: &str) -> bool {
        self.comments.iter().any(|comment| comment.starts_with(word))
    }

    /// The theorems that it names, each with its file.
    fn theorems(&self) -> Vec<(&str, &str)> {
        let lines = self.comments.iter().filter_map(|comment| comment.strip_prefix(PROVED));
        lines
            .flat_map(|line| {
                let quoted: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
                let file = quoted.iter().copied().find(|name| name.ends_with(".v")).unwrap_or_default();
                quoted.into_iter().filter(move |name| *name != file).map(move |name| (name, file))
            })
            .collect()
    }
}

/// The files of proofs that functions name.
fn cited(functions: &[Function]) -> BTreeSet<String> {
    let theorems = functions.iter().flat_map(Function::theorems);
    theorems.map(|(_, file)| file.to_owned()).filter(|file| !file.is_empty()).collect()
}

/// What is wrong.
fn complaints(functions: &[Function], proofs: &[(String, String)], readme: &str, assumptions: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut named = BTreeSet::new();
    for function in functions {
        let Function { at, name, .. } = function;
        if function.divides() && !function.says(PROVED) && !function.says(NO_RULE) {
            complaints.push(format!("{at}: `{name}` divides: which theorem is it, or why is it no rule?"));
        }
        let theorems = function.theorems();
        if function.says(PROVED) && theorems.is_empty() {
            complaints.push(format!("{at}: `{name}` names no theorem after `{PROVED}`"));
        }
        for (theorem, file) in theorems {
            named.insert((file, theorem));
            let Some((_, text)) = proofs.iter().find(|(known, _)| known == file) else {
                complaints.push(format!("{at}: `{theorem}` is in no file of proofs"));
                continue;
            };
            if !statements(text).any(|(kind, known)| known == theorem && kind == "Theorem") {
                complaints.push(format!("{at}: {file} has no theorem `{theorem}`"));
            }
            let row = |line: &str| line.starts_with('|') && has_word(line, theorem) && has_word(line, name);
            if !readme.lines().any(row) {
                complaints.push(format!("{at}: no row of proofs/README.md has `{theorem}` and `{name}`"));
            }
        }
    }
    for (file, text) in proofs.iter().filter(|(file, _)| RULES.contains(&file.as_str())) {
        for (kind, theorem) in statements(text).filter(|(kind, _)| ["Theorem", "Proposition"].contains(kind)) {
            if kind == "Theorem" && !named.contains(&(file.as_str(), theorem)) {
                complaints
                    .push(format!("{file}: no function names `{theorem}`; one that is not used is a proposition"));
            }
            for (page, text) in [("proofs/README.md", readme), ("proofs/Assumptions.v", assumptions)] {
                if !has_word(text, theorem) {
                    complaints.push(format!("{file}: `{theorem}` is not in {page}"));
                }
            }
        }
    }
    complaints
}

/// The statements of a file of proofs: what kind each is, and its name.
fn statements(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| {
        let mut words = line.split([' ', ':']);
        let kind = words.next().filter(|kind| ["Theorem", "Proposition", "Lemma", "Corollary"].contains(kind))?;
        Some((kind, words.next()?))
    })
}

/// Whether a name is in a text, and not just in a longer name there.
fn has_word(text: &str, word: &str) -> bool {
    let within = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(within) && !text[at + word.len()..].starts_with(within))
}

/// The functions of a file as rustfmt writes it, but for tests at its end.
fn functions_of(file: &str, text: &str) -> Vec<Function> {
    let lines: Vec<&str> = text.lines().collect();
    let tests = lines.windows(2).position(|pair| pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod "));
    let lines = &lines[..tests.unwrap_or(lines.len())];
    let code = without_literals(&lines.join("\n"));
    let code: Vec<&str> = code.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    // Where each function begins and ends, with the comments above it; inner ones come after those around them.
    let mut found: Vec<(usize, usize, Function)> = Vec::new();
    for (first, line) in code.iter().enumerate() {
        let Some(name) = function_named(line) else { continue };
        let end = format!("{}}}", &line[..indent(line)]);
        let is_end = |(at, line): &(usize, &&str)| **line == end || (*at == first && line.ends_with(['}', ';']));
        let last = code.iter().enumerate().skip(first).find(is_end).map_or(code.len() - 1, |(at, _)| at);
        let above = lines[..first].iter().rev();
        let above = above.take_while(|line| line.trim_start().starts_with("//") || line.trim_start().starts_with("#["));
        let at = format!("{file}:{}", first + 1);
        let function = Function { at, name: name.to_owned(), code: Vec::new(), comments: Vec::new() };
        found.push((first - above.count(), last, function));
    }
    for (at, (text, code)) in lines.iter().zip(&code).enumerate() {
        let Some((.., function)) = found.iter_mut().rev().find(|(first, last, _)| (*first..=*last).contains(&at))
        else {
            continue;
        };
        function.code.push((*code).to_owned());
        let comment = text.trim_start();
        if comment.starts_with("//") {
            function.comments.push(comment.trim_start_matches(['/', '!']).trim().to_owned());
        }
    }
    found.into_iter().map(|(.., function)| function).collect()
}

/// The name of the function that begins in a line.
fn function_named(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    while let Some((word, more)) = rest.split_once(' ') {
        if word == "fn" {
            return more.split(|c: char| !c.is_alphanumeric() && c != '_').next();
        }
        if !word.starts_with("pub") && !["in", "const", "unsafe", "async", "extern"].contains(&word) {
            return None;
        }
        rest = more;
    }
    None
}

/// Code with its comments left out, and the insides of its literals; the lines stay what they are.
fn without_literals(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        // How long the literal or the comment is that begins here.
        let hashes = rest.strip_prefix('r').map_or(0, |raw| raw.len() - raw.trim_start_matches('#').len());
        let is_raw = rest.starts_with('r') && rest[1 + hashes..].starts_with('"');
        let is_name = code.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if is_raw && !is_name {
            let end = format!("\"{}", "#".repeat(hashes));
            rest[2 + hashes..].find(&end).map_or(rest.len(), |at| 2 + hashes + at + end.len())
        } else if next == '"' {
            1 + quoted(&rest[1..], '"')
        } else if next == '\'' && is_character(&rest[1..]) {
            1 + quoted(&rest[1..], '\'')
        } else {
            0
        };
        if length == 0 {
            code.push(next);
            rest = &rest[next.len_utf8()..];
        } else {
            code.extend(rest[..length].chars().filter(|c| *c == '\n'));
            rest = &rest[length..];
        }
    }
    code
}

/// How long a literal is after its opening quote, with the closing one.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

/// Whether what stands after a single quote is a character, and not the name of a lifetime.
fn is_character(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next() == Some('\\') || characters.next() == Some('\'')
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "\
/// Halves.
// Proved: `halves` in `proofs/Simplify.v`.
fn half(a: i64) -> i64 {
    a / 2
}

impl Number<'_> {
    /// A text, and no division: ` / `.
    fn text(&self) -> (char, &'static str) {
        ('/', \"a / b\")
    }

    pub(crate) fn third(a: i64) -> i64 {
        fn inner(a: i64) -> i64 {
            a // a / 2
        }
        inner(a).div_euclid(3)
    }
}

#[cfg(test)]
mod tests {
    fn quarter(a: i64) -> i64 {
        a / 4
    }
}
";

    fn complain(code: &str, proofs: &str, readme: &str) -> Vec<String> {
        let proofs = [("proofs/Simplify.v".to_owned(), proofs.to_owned())];
        complaints(&functions_of("a.rs", code), &proofs, readme, "halves, thirds")
    }

    #[test]
    fn functions_are_found_with_their_comments() {
        let functions = functions_of("a.rs", CODE);
        let names: Vec<_> = functions.iter().map(|function| (function.name.as_str(), function.divides())).collect();
        assert_eq!(names, [("half", true), ("text", false), ("third", true), ("inner", false)]);
        assert_eq!(functions[0].theorems(), [("halves", "proofs/Simplify.v")]);
    }

    #[test]
    fn a_rule_without_a_theorem_is_found() {
        let (proofs, readme) = ("Theorem halves : forall a, a = a.\n", "| halving | `half` | `halves` |\n");
        let found = complain(CODE, proofs, readme);
        assert_eq!(found, ["a.rs:13: `third` divides: which theorem is it, or why is it no rule?"]);
        let excused = CODE.replace("    pub(crate)", "    // No rule: it is an example.\n    pub(crate)");
        assert_eq!(complain(&excused, proofs, readme), [""; 0]);
        let without = excused.replace("// Proved:", "//");
        let found = complain(&without, proofs, readme);
        assert!(found.iter().any(|complaint| complaint.contains("`half` divides")), "{found:?}");
        assert!(found.iter().any(|complaint| complaint.contains("no function names `halves`")), "{found:?}");
    }

    #[test]
    fn a_theorem_that_is_not_there_is_found() {
        let code = CODE.replace("    pub(crate)", "    // No rule: it is an example.\n    pub(crate)");
        let readme = "| halving | `half` | `halves` |\n| | | `thirds` |\n";
        let found = complain(&code, "Lemma halves : forall a, a = a.\n", readme);
        assert_eq!(found, ["a.rs:3: proofs/Simplify.v has no theorem `halves`"]);
        let more = "Theorem halves : forall a, a = a.\nTheorem thirds : forall a, a = a.\n";
        let found = complain(&code, more, readme);
        assert_eq!(found, ["proofs/Simplify.v: no function names `thirds`; one that is not used is a proposition"]);
        let found = complain(&code, "Theorem halves : forall a, a = a.\n", "halves are proved");
        assert_eq!(found, ["a.rs:3: no row of proofs/README.md has `halves` and `half`"]);
    }
}
