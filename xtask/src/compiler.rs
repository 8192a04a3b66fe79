//! This program in the place of the compiler, which it calls: cargo has one level of optimisation for a package, and what is compiled
//! of a package is not all of one kind; and it has no word for the assertions that the standard library makes for unsafe code.

use std::{
    env,
    ffi::OsString,
    process::{Command, ExitCode},
};

/// Set where this program stands in the place of the compiler.
const IN_ITS_PLACE: &str = "SHAPETRACKER_COMPILES";

/// By this variable a whole run overrides `lto = "off"` in the profile of tests, and the compiler is told `-Clto=off` here instead.
///
/// Cargo gives the profile's word to the packages that tests depend on, but not to those that procedural macros depend on. A package
/// that is both, such as `quote` wherever `cbindgen` is a dependency of tests, would be compiled once more for each selection of tests,
/// and with it everything that uses a macro.
pub(crate) const TEST_LTO: &str = "CARGO_PROFILE_TEST_LTO";

/// Lets what a cargo command compiles go through this program.
///
/// Unit tests are the whole of a library once more, and run little of it: compiling them optimised takes four times as long as
/// compiling them as they stand. Tests from outside walk millions of indices and stay as the profile says, and so do unit
/// tests that have brute force in them.
pub(crate) fn stand_in(command: &mut Command) -> &mut Command {
    match env::current_exe() {
        Ok(program) => command.env("RUSTC_WRAPPER", program).env(IN_ITS_PLACE, "1"),
        Err(_) => command,
    }
}

/// Calls the compiler, where this program was started in its place.
pub(crate) fn stands_in() -> Option<ExitCode> {
    env::var_os(IN_ITS_PLACE)?;
    let mut words = env::args_os().skip(1);
    let mut compiler = Command::new(words.next()?);
    let mut arguments: Vec<OsString> = words.collect();
    // In a whole run the profile of tests does not say this (see `TEST_LTO`).
    if env::var_os(TEST_LTO).is_some() {
        arguments.push("-Clto=off".into());
    }
    if is_safe(&arguments) {
        arguments.push("-Zub-checks=no".into());
    }
    if arguments.iter().any(|word| word.to_string_lossy().starts_with("-Z")) {
        // The stable compiler has them, and wants to be told.
        compiler.env("RUSTC_BOOTSTRAP", "1");
    }
    if is_unit_tests(&arguments) {
        arguments.extend(["-C", "opt-level=0"].map(OsString::from));
    }
    match compiler.args(arguments).status() {
        Ok(status) if status.success() => Some(ExitCode::SUCCESS),
        Ok(status) => {
            Some(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
        }
        Err(error) => {
            eprintln!("{}: {error}", compiler.get_program().display());
            Some(ExitCode::FAILURE)
        }
    }
}

/// Whether a package forbids unsafe code, as cargo tells the compiler. What the standard library asserts of pointers, along with the
/// debug assertions of those who call it, nothing in such a package can break, and it takes a fifth of the time of its tests.
fn is_safe(arguments: &[OsString]) -> bool {
    arguments.iter().any(|word| word == "--forbid=unsafe_code")
}

/// Whether a library or a command is compiled with the tests that stand within it, or the tests of a command, which wait for it.
fn is_unit_tests(arguments: &[OsString]) -> bool {
    const ROOTS: [&str; 2] = ["/src/lib.rs", "/src/main.rs"];
    const WAITING: &str = "crates/shapetracker-cli/tests/";
    const WALKING: [&str; 3] = ["crates/shapetracker/", "crates/shapetracker-copy/", "crates/shapetracker-shard/"];
    let is_root = |word: &str| {
        !WALKING.iter().any(|folder| word.starts_with(folder)) && ROOTS.iter().any(|root| word.ends_with(root))
            || word.starts_with(WAITING)
    };
    let words = || arguments.iter().filter_map(|word| word.to_str());
    words().any(|word| word == "--test") && words().any(is_root)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn safe_packages_are_known() {
        assert!(is_safe(&words("--crate-name indexpr --warn=missing_docs --forbid=unsafe_code")));
        assert!(!is_safe(&words("--crate-name shapetracker_copy --warn=missing_docs --deny=unsafe_code")));
    }

    #[test]
    fn unit_tests_are_known() {
        let is_one = |text: &str| is_unit_tests(&words(text));
        assert!(is_one("--crate-name indexpr crates/indexpr/src/lib.rs -C opt-level=1 --test"));
        assert!(is_one("--crate-name cli crates/shapetracker-cli/tests/cli.rs --test"));
        assert!(!is_one("--crate-name indexpr crates/indexpr/src/lib.rs -C opt-level=1"));
        assert!(!is_one("--crate-name shapetracker crates/shapetracker/src/lib.rs --test"));
        assert!(!is_one("--crate-name it crates/shapetracker/tests/it/main.rs --test"));
    }
}
