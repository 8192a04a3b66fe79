//! The steps of the test command, one entry in one table each.

use std::{collections::BTreeSet, env};

use crate::{
    package, readme, standing_alone, toolchains, web,
    workspace::{Outcome, Workspace, failed, path_with, skipped},
};

/// One thing that must hold.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Whether `cargo xtask test` without names runs it.
    pub(crate) by_default: bool,
    pub(crate) run: fn(&Workspace) -> Outcome,
}

/// Every step, in the order in which they run: what fails fast comes first.
pub(crate) const STEPS: &[Step] = &[
    Step::new(
        "standing-alone",
        "Nothing refers to a place outside the checkout, nothing is left undone",
        standing_alone::check,
    ),
    Step::new("format", "The code is formatted as rustfmt does it", format),
    Step::new("clippy", "The linter has nothing to say about any target with any feature", |w| {
        w.run(&mut w.cargo("clippy --workspace --all-targets --all-features -- -D warnings"))
    }),
    Step::new("docs", "The documentation builds without a warning", |w| {
        w.run(w.cargo("doc --workspace --all-features --no-deps").env("RUSTDOCFLAGS", "-D warnings"))
    }),
    Step::new("features", "Everything builds without default features, the library without any", |w| {
        w.run(&mut w.cargo("check --workspace --no-default-features"))?;
        w.run(&mut w.cargo("check --package shapetracker --no-default-features"))
    }),
    Step::new("windows", "The library, the copying crate and the command build for Windows", toolchains::windows),
    Step::new("wasm", "The library builds for WebAssembly", web::check_library),
    // Before all that builds the command, which then has the page.
    Step::new("web", "The explorer builds, and is as small as it must be", web::check),
    Step::new(
        "oldest-rust",
        "Every package builds on the oldest Rust that its manifest promises",
        toolchains::oldest_rust,
    ),
    Step::new("package", "What is to be published can be packaged, and the packages build", package::check),
    Step::new("tests", "All tests pass, with debug assertions", tests),
    Step::new("release", "All tests pass in the form that people run: optimised, no debug assertions", release_tests),
    Step::new("examples", "Every example runs to its end", examples),
    Step::new("readme", "Every command of the READMEs runs, and prints what they say", readme::check),
    Step::new("python", "The Python package installs, is typed as it says, and passes its tests", python),
    Step::new("browser", "The explorer passes its tests in a browser", web::test_in_browser),
    Step::new("benches", "The benchmarks build", benches),
    Step::new(
        "miri",
        "Miri finds no undefined behaviour in the copying crate's scalar path and at the engine's boundary",
        toolchains::miri,
    ),
    Step::new(
        "sanitizer",
        "The unsafe code touches no memory that it should not, on a tenth of the tests' cases",
        toolchains::sanitizer,
    ),
    Step::new(
        "proofs",
        "Coq accepts every proof without an axiom; what was proved answers as the library does",
        proofs,
    ),
    Step::new("fuzz", "The fuzz targets build and find nothing in FUZZ_SECONDS (20) each", fuzz),
    Step { by_default: false, ..Step::new("judge", "An outside solver agrees with every answer of the merger", judge) },
];

impl Step {
    const fn new(name: &'static str, about: &'static str, run: fn(&Workspace) -> Outcome) -> Self {
        Self { name, about, by_default: true, run }
    }
}

/// The steps whose name contains one of the words; without words, those that run by default.
pub(crate) fn chosen(words: &[&str]) -> Result<Vec<&'static Step>, String> {
    if words.is_empty() {
        return Ok(STEPS.iter().filter(|step| step.by_default).collect());
    }
    for word in words {
        if !STEPS.iter().any(|step| step.name.contains(word)) {
            let names: Vec<_> = STEPS.iter().map(|step| step.name).collect();
            return Err(format!("no step has `{word}` in its name; the steps are {}", names.join(", ")));
        }
    }
    Ok(STEPS.iter().filter(|step| words.iter().any(|word| step.name.contains(word))).collect())
}

fn format(workspace: &Workspace) -> Outcome {
    workspace.run(&mut workspace.cargo("fmt --all --check"))?;
    if has_fuzz_targets(workspace) {
        workspace.run(&mut workspace.cargo("fmt --manifest-path fuzz/Cargo.toml --check"))?;
    }
    Ok(())
}

fn tests(workspace: &Workspace) -> Outcome {
    workspace.run(&mut workspace.cargo("test --workspace --all-features --no-fail-fast"))
}

/// The tests of the project's crates again; not the examples in their documentation, which take long to compile.
fn release_tests(workspace: &Workspace) -> Outcome {
    let crates = "--workspace --exclude xtask --all-features";
    workspace.run(&mut workspace.cargo(&format!("test --release {crates} --lib --bins --tests --no-fail-fast")))
}

fn examples(workspace: &Workspace) -> Outcome {
    let mut none = true;
    for (package, example) in workspace.targets(|target| target.is_example()) {
        none = false;
        let mut run = workspace.cargo(&format!("run --release --package {} --example {}", package.name, example.name));
        if !example.required_features.is_empty() {
            run.args(["--features", &example.required_features.join(",")]);
        }
        workspace.run(&mut run)?;
    }
    if none { Err(skipped("there are no examples")) } else { Ok(()) }
}

fn benches(workspace: &Workspace) -> Outcome {
    let packages: BTreeSet<_> =
        workspace.targets(|target| target.is_bench()).map(|(package, _)| &package.name).collect();
    if packages.is_empty() {
        return Err(skipped("there are no benchmarks"));
    }
    let packages: String = packages.iter().map(|name| format!(" --package {name}")).collect();
    workspace.run(&mut workspace.cargo(&format!("bench --no-run --all-features --benches{packages}")))
}

fn has_fuzz_targets(workspace: &Workspace) -> bool {
    workspace.path("fuzz/Cargo.toml").is_file()
}

/// Runs the targets under cargo-fuzz. Only `copy` reaches unsafe code and needs a sanitizer, which takes the nightly
/// compiler; for the others the stable one will do.
fn fuzz(workspace: &Workspace) -> Outcome {
    if !has_fuzz_targets(workspace) {
        return Err(skipped("there are no fuzz targets"));
    }
    if !workspace.succeeds(&mut workspace.command("c++", "--version")) {
        return Err(skipped("libFuzzer needs a C++ compiler (apt-get install g++)"));
    }
    let seconds = env::var("FUZZ_SECONDS").unwrap_or_else(|_| "20".to_owned());
    if seconds.parse::<u32>().is_err() {
        return Err(failed(format!("FUZZ_SECONDS is `{seconds}`, which is not a whole number")));
    }

    let tools = workspace.target("tools");
    let path = path_with(&tools.join("bin"));
    let cargo = |arguments: &str| {
        let mut command = workspace.cargo(arguments);
        command.env("PATH", &path);
        command
    };
    if !workspace.succeeds(&mut cargo("fuzz --version")) {
        let mut install = cargo("install cargo-fuzz --debug --root");
        if workspace.run(install.arg(&tools)).is_err() {
            workspace.run(&mut cargo("check --manifest-path fuzz/Cargo.toml"))?;
            return Err(skipped("cargo-fuzz could not be installed; the targets were only checked"));
        }
    }
    let sanitizer = toolchains::has_address_sanitizer(workspace, &toolchains::host(workspace)?);
    for target in workspace.read(&mut cargo("fuzz list"))?.lines() {
        // New inputs are kept in the first folder; the seeds and the dictionary belong to the project, where it has some.
        let corpus = format!("fuzz/corpus/{target}");
        std::fs::create_dir_all(workspace.path(&corpus)).map_err(|e| failed(format!("{corpus}: {e}")))?;
        let mut run = if target == "copy" && sanitizer {
            // The proxy of rustup finds the toolchain for cargo-fuzz and all that it calls.
            cargo(&format!("+nightly fuzz run --sanitizer address {target} {corpus}"))
        } else {
            cargo(&format!("fuzz run --sanitizer none {target} {corpus}"))
        };
        let (seeds, dictionary) = (format!("fuzz/seeds/{target}"), format!("fuzz/{target}.dict"));
        if workspace.path(&seeds).is_dir() {
            run.arg(seeds);
        }
        run.args(["--", "-timeout=10", "-verbosity=0", "-print_final_stats=1"]);
        run.arg(format!("-max_total_time={seconds}"));
        if target == "copy" {
            // Its inputs have one length.
            run.args(["-len_control=0", "-max_len=160"]);
        }
        if workspace.path(&dictionary).is_file() {
            run.arg(format!("-dict={dictionary}"));
        }
        workspace.run(&mut run)?;
    }
    Ok(())
}

/// Installs the Python package as a user would, with what its tests need, into an environment of its own.
fn python(workspace: &Workspace) -> Outcome {
    const NEEDED: &str = "maturin>=1.9,<2 numpy pytest mypy tinygrad==0.11.0";
    let new_enough = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))";
    if !workspace.succeeds(workspace.command("python3", "-c").arg(new_enough)) {
        return Err(skipped("it needs Python 3.10 or later with its venv module (apt-get install python3-venv)"));
    }
    let environment = workspace.target("python");
    let python = environment.join("bin/python");
    if !workspace.succeeds(&mut workspace.command(&python, "-m pip --version")) {
        workspace.run(workspace.command("python3", "-m venv --clear").arg(&environment))?;
    }
    let installed = workspace.run(&mut workspace.command(&python, &format!("-m pip install --quiet {NEEDED}")));
    if installed.is_err() {
        return Err(skipped(format!("pip could not install what its tests need: {NEEDED}")));
    }
    // Without isolation the build is cargo's own, and nothing is compiled twice.
    let install = "-m pip install --quiet --no-build-isolation --no-deps --force-reinstall .";
    let path = path_with(&environment.join("bin"));
    workspace.run(workspace.command(&python, install).env("PATH", path))?;
    workspace.run(&mut workspace.command(&python, "-m mypy.stubtest shapetracker"))?;
    workspace.run(&mut workspace.command(&python, "-m mypy --strict -p shapetracker"))?;
    workspace.run(&mut workspace.command(&python, "-m pytest -q -rs crates/shapetracker-py/tests"))
}

/// Checks the proofs, and puts random and recorded pairs to the program that is extracted from them and to the command.
fn proofs(workspace: &Workspace) -> Outcome {
    let has = |program, question| workspace.succeeds(&mut workspace.command(program, question));
    let missing = || !has("coqc", "--version") || !has("ocamlfind", "ocamlopt -version");
    if missing() {
        install(workspace, "coq ocaml-findlib");
    }
    if missing() {
        return Err(skipped("it needs Coq 8.16 or later and OCaml (apt-get install coq ocaml-findlib)"));
    }
    workspace.run(&mut workspace.cargo("build --release --bins"))?;
    workspace.run(&mut workspace.command("make", "-C proofs --no-print-directory"))?;
    let mut compare = workspace.command("make", "-C proofs --no-print-directory compare");
    for (name, path) in [
        ("COMMAND", workspace.target("release/shapetracker")),
        ("CORPUS", workspace.path("crates/shapetracker/tests/corpus/pairs.jsonl.gz")),
    ] {
        compare.arg(format!("{name}={}", path.display()));
    }
    workspace.run(&mut compare)
}

/// Installs packages of Debian where that needs nobody's leave: for root, on a machine that has `apt-get`. Whether they
/// are there afterwards is for the caller to see.
pub(crate) fn install(workspace: &Workspace, packages: &str) {
    let is_root = workspace.read(&mut workspace.command("id", "-u")).is_ok_and(|id| id.trim() == "0");
    if !is_root || !workspace.succeeds(&mut workspace.command("apt-get", "--version")) {
        return;
    }
    let apt = |arguments: &str| {
        let mut command = workspace.command("apt-get", "-qq -o DPkg::Lock::Timeout=600");
        command.args(arguments.split_whitespace()).env("DEBIAN_FRONTEND", "noninteractive");
        workspace.succeeds(&mut command)
    };
    let packages = format!("install -y --no-install-recommends {packages}");
    if !apt(&packages) && apt("update") {
        apt(&packages);
    }
}

/// Runs the script with an exact integer-set library at hand, and with the command `shapetracker` on the PATH.
fn judge(workspace: &Workspace) -> Outcome {
    let script = "crates/shapetracker/tests/judge/judge.py";
    if !workspace.path(script).is_file() {
        return Err(skipped(format!("there is no {script}")));
    }
    let environment = workspace.target("judge");
    let python = environment.join("bin/python");
    if !workspace.succeeds(workspace.command(&python, "-c").arg("import islpy")) {
        workspace.run(workspace.command("python3", "-m venv").arg(&environment))?;
        workspace.run(&mut workspace.command(&python, "-m pip install --quiet islpy"))?;
    }
    workspace.run(&mut workspace.cargo("build --release --bins"))?;
    workspace.run(workspace.command(&python, script).arg("--self-test"))?;
    workspace.run(workspace.command(&python, script).arg(workspace.target("release/shapetracker")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_chosen_by_their_parts() {
        let names = |words: &[&str]| chosen(words).map(|steps| steps.iter().map(|step| step.name).collect::<Vec<_>>());
        assert_eq!(names(&["est", "form"]).unwrap(), ["format", "tests"]);
        assert_eq!(names(&["judge"]).unwrap(), ["judge"]);
        assert!(!names(&[]).unwrap().contains(&"judge"));
        assert!(names(&["format", "nothing"]).unwrap_err().starts_with("no step has `nothing` in its name"));
    }
}
