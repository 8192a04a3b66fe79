//! The steps of the test command, one entry in one table each.

use std::{
    collections::BTreeSet,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

use cargo_metadata::Target;

use crate::{
    c, compiler, package, readme,
    release::{self, at},
    rules, site, standing_alone, toolchains, web,
    workspace::{Outcome, Stop, Workspace, failed, skipped},
};

/// When a step runs, unless it is named.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum When {
    /// In `cargo xtask test`, and in `cargo xtask test quick`: what somebody runs again and again while they write.
    Quick,
    /// In `cargo xtask test`.
    Always,
    /// In `cargo xtask test all`: what repeats what another step has judged, in another form.
    Long,
    /// Never.
    Named,
}

/// What a step must wait for.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum After {
    /// Nothing.
    Nothing,
    /// The page, which the step `web` builds: the command that is built then has it, and so has the Python package, whose program it
    /// is. What is built before is built again when the page is there.
    Page,
    /// All other steps, since it measures times.
    Everything,
}

/// One thing that must hold.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) when: When,
    pub(crate) after: After,
    pub(crate) run: fn(&Workspace) -> Outcome,
}

/// Every step, in the order in which they begin. Two run at a time: many keep one processor busy, or none while they wait, and
/// those that compile in one folder wait for each other.
pub(crate) const STEPS: &[Step] = &[
    Step::new(
        "standing-alone",
        "Nothing refers to a place outside the checkout, nothing is left undone",
        standing_alone::check,
    )
    .when(When::Quick),
    Step::new("format", "The code is formatted as rustfmt does it", format).when(When::Quick),
    Step::new("rules", "Every rule by which expressions are simplified names its proof", rules::check)
        .when(When::Quick),
    Step::new(
        "web",
        "The explorer and the package for JavaScript build, work, and are as small as they must be",
        web::check,
    ),
    Step::new("clippy", "The linter has nothing to say about any target with any feature", |w| {
        w.run(&mut w.cargo(&format!("clippy --profile test {EVERYTHING} --all-targets -- -D warnings")))
    })
    .when(When::Quick),
    Step::new("docs", "The documentation builds without a warning", |w| {
        w.run(w.cargo(&format!("doc --profile test {EVERYTHING} --no-deps")).env("RUSTDOCFLAGS", "-D warnings"))
    })
    .when(When::Quick),
    Step::new("tests", "All tests pass, with debug assertions", tests).when(When::Quick).after(After::Page),
    Step::new("release", "The tests pass in the form that people run: optimised, no debug assertions", release_tests)
        .after(After::Page),
    Step::new("browser", "The explorer passes its tests in a browser", web::test_in_browser).after(After::Page),
    Step::new("python", "The Python package installs, is typed as it says, and passes its tests", python)
        .after(After::Page),
    Step::new("readme", "Every command of the READMEs runs, and prints what they say", readme::check)
        .after(After::Page),
    Step::new(
        "package",
        "What is to be published can be packaged, and each package builds on the oldest Rust that it promises",
        package::check,
    )
    .after(After::Page),
    Step::new(
        "c-interface",
        "Programs in C and C++ find the library, do what they shall, and lose no memory",
        c::check,
    ),
    Step::new("fuzz", "The fuzz targets build and find nothing in FUZZ_SECONDS (10) each", fuzz),
    Step::new(
        "miri",
        "Miri finds no undefined behaviour in the copying crate's scalar path and at the engine's boundary",
        toolchains::miri,
    ),
    Step::new(
        "sanitizer",
        "The unsafe code touches no memory that it should not, on a tenth of the random cases and half of the listed",
        toolchains::sanitizer,
    ),
    Step::new("client", "Programs on tinygrad come to the same with its own classes and with the package's", client)
        .after(After::Page),
    Step::new("arm", "The copying crate's kernels for ARM do what they shall, in an emulator", toolchains::arm),
    Step::new(
        "proofs",
        "Coq accepts every proof without an axiom; what was proved answers as the library does",
        proofs,
    )
    .after(After::Page),
    Step::new("windows", "The library, the copying crate and the command build for Windows", toolchains::windows),
    Step::new(
        "distribution",
        "What a release consists of can be made, and works in an empty environment (cargo xtask release does more)",
        release::check,
    )
    .after(After::Page),
    Step::new("instructions", "Copies and nests take no more instructions than recorded, or by hand", instructions),
    Step::new("examples", "Every example runs to its end", examples),
    Step::new("times", "The explorer is as fast as it must be", web::test_times).after(After::Everything),
    Step::new("site", "The site can be made, its links lead somewhere, and every page is reached", site::check)
        .when(When::Long)
        .after(After::Page),
    // The step `web` builds the library as a part of the engine.
    Step::new("wasm", "The library alone builds for WebAssembly", web::check_library).when(When::Long),
    // The step `fuzz` runs it without, and `sanitizer` runs the tests of the unsafe code.
    Step::new(
        "fuzz-sanitizer",
        "The fuzz target of copies touches no memory that it should not, for FUZZ_SECONDS (10)",
        fuzz_in_sanitizer,
    )
    .when(When::Long),
    // The step `clippy` checks their types.
    Step::new("benches", "The benchmarks link", benches).when(When::Long),
    // The step `tests` runs all of them with debug assertions, and `release` those from outside.
    Step::new("units", "All tests pass in the optimised form: unit tests, the engine and Zarr, too", all_in_release)
        .when(When::Long)
        .after(After::Page),
    // The step `package` builds what these stand on with it.
    Step::new("oldest", "What is not published, and the feature `zarr`, build on the oldest Rust", package::oldest)
        .when(When::Long),
    Step::new("judge", "An outside solver agrees with every answer of the merger", judge).when(When::Named),
];

impl Step {
    const fn new(name: &'static str, about: &'static str, run: fn(&Workspace) -> Outcome) -> Self {
        Self { name, about, when: When::Always, after: After::Nothing, run }
    }

    const fn after(self, after: After) -> Self {
        Self { after, ..self }
    }

    const fn when(self, when: When) -> Self {
        Self { when, ..self }
    }
}

/// The word for the steps that are quick.
pub(crate) const QUICK: &str = "quick";
/// The word for all steps but those that must be named.
const ALL: &str = "all";

/// The steps whose name contains one of the words, or that the word stands for; without words, what runs always.
pub(crate) fn chosen(words: &[&str]) -> Result<Vec<&'static Step>, String> {
    if words.is_empty() {
        return Ok(STEPS.iter().filter(|step| matches!(step.when, When::Quick | When::Always)).collect());
    }
    let has = |step: &Step, word: &str| match word {
        QUICK => step.when == When::Quick,
        ALL => step.when != When::Named,
        _ => step.name.contains(word),
    };
    for word in words {
        if !STEPS.iter().any(|step| has(step, word)) {
            let names: Vec<_> = STEPS.iter().map(|step| step.name).collect();
            return Err(format!("no step has `{word}` in its name; the steps are {}", names.join(", ")));
        }
    }
    Ok(STEPS.iter().filter(|step| words.iter().any(|word| has(step, word))).collect())
}

/// How many times as many random cases a run of such steps has; none for those that hold all of them. Further cases of a kind repeat
/// what the first of it have shown.
pub(crate) fn cases(words: &[&str]) -> Option<&'static str> {
    match words {
        [] => Some("0.25"),
        _ => words.contains(&QUICK).then_some("0.05"),
    }
}

fn format(workspace: &Workspace) -> Outcome {
    workspace.run(&mut workspace.cargo("fmt --all --check"))?;
    if has_fuzz_targets(workspace) {
        workspace.run(&mut workspace.cargo("fmt --manifest-path fuzz/Cargo.toml --check"))?;
    }
    Ok(())
}

/// What is linted, documented, tested with debug assertions, run as an example and built as a benchmark. Cargo compiles a dependency
/// once per set of features, and that set depends on the packages that are named: the same words everywhere mean one build of each.
/// One profile, too, so that what build scripts compile of C is compiled once. (Zarr's 150 packages in a step of their own were no
/// gain: their features make cargo compile the libraries again.)
const EVERYTHING: &str = "--workspace --all-features";

fn tests(workspace: &Workspace) -> Outcome {
    let mut tests = workspace.cargo(&format!("test {EVERYTHING} --no-fail-fast"));
    workspace.run(compiler::stand_in(&mut tests).envs(workspace.share_of_cases("1/4")))
}

/// The libraries whose tests run in their other form, too, as words for cargo. Their features are those that the command asks for,
/// which shares what is compiled with it, and so does the Python package.
pub(crate) fn libraries(workspace: &Workspace) -> String {
    let packages = package::published(workspace).into_iter().filter(|package| package::is_library(package));
    packages.map(|package| format!("--package {} ", package.name)).collect::<String>() + "--features shapetracker/serde"
}

/// The tests of the libraries from outside in the form of a release, with three quarters of the random cases, and those of the
/// command with the command in that form. Of the unit tests only those of unsafe code run here (see the step `units`).
fn release_tests(workspace: &Workspace) -> Outcome {
    let libraries = libraries(workspace);
    let share = workspace.share_of_cases("2-4/4");
    for targets in
        [format!("{libraries} --test *"), "--package shapetracker-copy --features shapetracker/serde --lib".into()]
    {
        workspace.run(workspace.cargo_release(&format!("test --release --no-fail-fast {targets}")).envs(share))?;
    }
    workspace.run(&mut workspace.cargo_release("build --release --bins"))?;
    // The tests are those that the step `tests` has built.
    let mut tests = workspace.cargo(&format!("test {EVERYTHING} --no-fail-fast"));
    for target in ["apply", "cli", "explore", "memory"] {
        tests.args(["--test", target]);
    }
    compiler::stand_in(&mut tests);
    workspace.run(tests.envs(share).env("SHAPETRACKER_COMMAND", workspace.target("release/shapetracker")))
}

/// Every test in the form of a release, whatever the step `release` leaves out.
fn all_in_release(workspace: &Workspace) -> Outcome {
    workspace.run(&mut workspace.cargo(&format!("test --release {EVERYTHING} --tests --no-fail-fast")))
}

/// Runs the examples as the step `tests` has built them.
fn examples(workspace: &Workspace) -> Outcome {
    let examples: Vec<_> = workspace.targets(|target| target.is_example()).collect();
    let mut names = BTreeSet::new();
    for (package, example) in &examples {
        if !names.insert(&example.name) {
            let Target { name, .. } = example;
            return Err(failed(format!(
                "{}: there is another example `{name}`, and cargo writes both to one file",
                package.name
            )));
        }
    }
    if examples.is_empty() {
        return Err(skipped("there are no examples"));
    }
    workspace.run(&mut workspace.cargo(&format!("build --profile test {EVERYTHING} --examples")))?;
    for (_, example) in examples {
        let program = workspace.target("debug/examples").join(&example.name).with_extension(env::consts::EXE_EXTENSION);
        workspace.run(&mut workspace.command(program, ""))?;
    }
    Ok(())
}

/// Builds the benchmarks, on the dependencies of the tests.
fn benches(workspace: &Workspace) -> Outcome {
    if workspace.targets(|target| target.is_bench()).next().is_none() {
        return Err(skipped("there are no benchmarks"));
    }
    workspace.run(&mut workspace.cargo(&format!("test {EVERYTHING} --benches --no-run")))
}

fn instructions(workspace: &Workspace) -> Outcome {
    if !workspace.succeeds(&mut workspace.command("valgrind", "--version")) {
        return Err(skipped("it needs valgrind (apt-get install valgrind)"));
    }
    workspace.run(
        &mut workspace.cargo_release("bench -p shapetracker-copy --features shapetracker/serde --bench instructions"),
    )?;
    workspace.run(&mut workspace.cargo_release("bench -p shapetracker-symbolic --bench instructions"))
}

fn has_fuzz_targets(workspace: &Workspace) -> bool {
    workspace.path("fuzz/Cargo.toml").is_file()
}

/// What cargo-fuzz would tell the compiler, so that the targets need no tool: libFuzzer counts the edges that an input
/// takes, and sees the operands of comparisons.
const FUZZING: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-simplifycfg-branch-fold-threshold=0";

/// Builds the fuzz targets and runs each for some seconds.
fn fuzz(workspace: &Workspace) -> Outcome {
    fuzz_with(workspace, None)
}

/// The same with the one that reaches unsafe code under the address sanitizer, which takes the nightly compiler and compiles all
/// that the target stands on once more.
fn fuzz_in_sanitizer(workspace: &Workspace) -> Outcome {
    let host = toolchains::host(workspace)?;
    if !toolchains::has_address_sanitizer(workspace, &host) {
        return Err(skipped("it needs Rust's nightly compiler (rustup toolchain install nightly)"));
    }
    fuzz_with(workspace, Some("copy"))
}

/// Builds and runs all fuzz targets, or one of them under the address sanitizer.
fn fuzz_with(workspace: &Workspace, sanitized: Option<&str>) -> Outcome {
    if !has_fuzz_targets(workspace) {
        return Err(skipped("there are no fuzz targets"));
    }
    if !workspace.succeeds(&mut workspace.command("c++", "--version")) {
        return Err(skipped("libFuzzer needs a C++ compiler (apt-get install g++)"));
    }
    let seconds = env::var("FUZZ_SECONDS").unwrap_or_else(|_| "10".to_owned());
    let Ok(number) = seconds.parse::<u32>() else {
        return Err(failed(format!("FUZZ_SECONDS is `{seconds}`, which is not a whole number")));
    };

    let host = toolchains::host(workspace)?;
    let mut targets = workspace.fuzz_targets()?;
    let (compiler, run, features, flags) = match sanitized {
        None => ("cargo", "", "safe,copy", FUZZING.to_owned()),
        Some(name) => {
            targets.retain(|target| target == name);
            ("rustup", "run nightly cargo ", name, format!("{FUZZING} -Zsanitizer=address"))
        }
    };
    let names: String = targets.iter().map(|name| format!(" --bin {name}")).collect();
    // The target is named so that build scripts and macros are built without the flags.
    let build = format!("{run}build --release --manifest-path fuzz/Cargo.toml --target {host}{names}");
    let mut build = workspace.command(compiler, &format!("{build} --no-default-features --features {features}"));
    // Optimising takes longer than a short run gains.
    for setting in [&format!("opt-level={}", u8::from(number > 60)), "lto='off'", "debug=false"] {
        build.args(["--config", &format!("profile.release.{setting}")]);
    }
    workspace.run(build.env("RUSTFLAGS", flags))?;

    // Each takes one processor.
    for pair in targets.chunks(2) {
        thread::scope(|scope| {
            let runs: Vec<_> =
                pair.iter().map(|target| scope.spawn(|| run_fuzz_target(workspace, &host, &seconds, target))).collect();
            let outcomes: Vec<Outcome> =
                runs.into_iter().map(|run| run.join().unwrap_or_else(|_| Err(failed("a thread panicked")))).collect();
            outcomes.into_iter().collect::<Outcome>()
        })?;
    }
    Ok(())
}

/// Runs a fuzz target that is built for so many seconds.
fn run_fuzz_target(workspace: &Workspace, host: &str, seconds: &str, target: &str) -> Outcome {
    let program = workspace.path(format!("fuzz/target/{host}/release/{target}"));
    // New inputs are kept in the first folder; the seeds and the dictionary belong to the project, where it has some.
    let (corpus, artifacts) = (format!("fuzz/corpus/{target}"), format!("fuzz/artifacts/{target}/"));
    for folder in [&corpus, &artifacts] {
        fs::create_dir_all(workspace.path(folder)).map_err(|e| failed(format!("{folder}: {e}")))?;
    }
    let mut run = workspace.command(program.with_extension(env::consts::EXE_EXTENSION), &corpus);
    let (seeds, dictionary) = (format!("fuzz/seeds/{target}"), format!("fuzz/{target}.dict"));
    if workspace.path(&seeds).is_dir() {
        run.arg(seeds);
    }
    // Of one input, in seconds: what is not optimised may take several times as long, on a busy machine.
    run.args(["-timeout=60", "-verbosity=0", "-print_final_stats=1"]);
    run.args([format!("-artifact_prefix={artifacts}"), format!("-max_total_time={seconds}")]);
    if target == "copy" {
        // Its inputs have one length.
        run.args(["-len_control=0", "-max_len=160"]);
    }
    if workspace.path(&dictionary).is_file() {
        run.arg(format!("-dict={dictionary}"));
    }
    workspace.run(&mut run)
}

/// Installs the Python package as a user would, and tests it.
fn python(workspace: &Workspace) -> Outcome {
    let python = with_package(workspace)?;
    let except = "--allowlist crates/shapetracker-py/tests/stubtest.txt --ignore-unused-allowlist";
    workspace.run(&mut workspace.command(&python, &format!("-m mypy.stubtest shapetracker {except}")))?;
    workspace.run(&mut workspace.command(&python, "-m mypy --strict -p shapetracker"))?;
    workspace.run(&mut workspace.command(&python, "-m pytest -q -rs crates/shapetracker-py/tests"))
}

/// Runs programs on tinygrad with its own classes and with the package's. The long comparison, with larger programs and times, is
/// that with CLIENT_LONG=1.
fn client(workspace: &Workspace) -> Outcome {
    let has_clang = || workspace.succeeds(&mut workspace.command("clang", "--version"));
    if !has_clang() {
        install(workspace, "clang");
    }
    if !has_clang() {
        return Err(skipped("tinygrad compiles its kernels with clang (apt-get install clang)"));
    }
    let python = with_package(workspace)?;
    let mut compare = workspace.command(&python, "crates/shapetracker-py/client/compare.py");
    if env::var("CLIENT_LONG").is_ok_and(|value| !value.is_empty() && value != "0") {
        compare.arg("--long");
    }
    workspace.run(&mut compare)
}

/// An environment of Python with packages from PyPI: the path of its interpreter. It is kept as long as the same packages are asked
/// for.
pub(crate) fn python_environment(workspace: &Workspace, environment: &Path, packages: &str) -> Result<PathBuf, Stop> {
    let new_enough = "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))";
    if !workspace.succeeds(workspace.command("python3", "-c").arg(new_enough)) {
        return Err(skipped("it needs Python 3.10 or later with its venv module (apt-get install python3-venv)"));
    }
    let (python, note) = (environment.join("bin/python"), environment.join("packages.txt"));
    let has_pip = workspace.succeeds(&mut workspace.command(&python, "-m pip --version"));
    if has_pip && fs::read_to_string(&note).is_ok_and(|installed| installed == packages) {
        return Ok(python);
    }
    if !has_pip {
        workspace.run(workspace.command("python3", "-m venv --clear").arg(environment))?;
    }
    let installed =
        workspace.run(&mut workspace.command(&python, &format!("-m pip install --quiet --no-compile {packages}")));
    installed.map_err(|_| skipped(format!("pip could not install what is needed: {packages}")))?;
    fs::write(&note, packages).map_err(|error| at(&note, error))?;
    Ok(python)
}

/// The environment of all steps that use the Python package: the package of the checkout, and what its tests need. A step waits
/// until another one has made it.
pub(crate) fn with_package(workspace: &Workspace) -> Result<PathBuf, Stop> {
    const NEEDS: &str =
        "maturin>=1.9,<2 numpy pytest mypy jax dask[array,distributed] zarr xarray onnx onnxruntime tinygrad==0.11.0";
    let environment = workspace.target("python");
    let path = workspace.target("python.lock");
    let lock = fs::File::create(&path).and_then(|lock| lock.lock().map(|()| lock)).map_err(|error| at(&path, error))?;
    let python = python_environment(workspace, &environment, NEEDS)?;
    let (wheel, installed) = (wheel(workspace, &python)?, environment.join("installed.whl"));
    let new = fs::read(&wheel).map_err(|error| at(&wheel, error))?;
    if fs::read(&installed).ok().as_ref() != Some(&new) {
        workspace.run(workspace.command(&python, "-m pip install --quiet --no-deps --force-reinstall").arg(&wheel))?;
        fs::write(&installed, new).map_err(|error| at(&installed, error))?;
    }
    drop(lock);
    Ok(python)
}

/// The package of the checkout, built with cargo's own outputs: nothing is compiled twice, and the same sources give the same bytes.
fn wheel(workspace: &Workspace, python: &Path) -> Result<PathBuf, Stop> {
    let folder = workspace.target("wheels/checkout");
    let _ = fs::remove_dir_all(&folder);
    let mut maturin = workspace.command(python, "-m maturin build --release --quiet --compatibility linux --out");
    workspace.sharing(maturin.arg(&folder)).env("SOURCE_DATE_EPOCH", "315532800");
    workspace.run(&mut maturin)?;
    let wheel = web::files(&folder)?.pop().map(|(_, path)| path);
    wheel.ok_or_else(|| failed(format!("there is no wheel in {}", folder.display())))
}

/// The judge of advice, which runs random lines, with the package of the checkout: in `python3` where that has PyTorch, else
/// in the environment of the tests.
pub(crate) fn judge_of_advice(workspace: &Workspace) -> Result<Command, Stop> {
    let python = with_package(workspace)?;
    let script = "crates/shapetracker-py/tests/advised.py";
    let new_enough = "import sys, numpy, torch; sys.exit(sys.version_info < (3, 10))";
    if !workspace.succeeds(workspace.command("python3", "-c").arg(new_enough)) {
        return Ok(workspace.command(&python, script));
    }
    // The package works with any interpreter from 3.10 on; what else the environment has is not for this one.
    let (package, wheel) = (workspace.target("package/judge"), wheel(workspace, &python)?);
    let install = "-m pip install --quiet --no-deps --upgrade --target";
    workspace.run(workspace.command(&python, install).arg(&package).arg(wheel))?;
    let mut judge = workspace.command("python3", script);
    judge.env("PYTHONPATH", package);
    Ok(judge)
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
    workspace.run(&mut workspace.cargo_release("build --release --bins"))?;
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
    fn what_is_named_holds_all_cases() {
        assert_eq!(cases(&[]), Some("0.25"));
        assert_eq!(cases(&["docs", "quick"]), Some("0.05"));
        assert_eq!((cases(&["all"]), cases(&["tests", "release"])), (None, None));
    }

    #[test]
    fn names_are_chosen_by_their_parts() {
        let names = |words: &[&str]| chosen(words).map(|steps| steps.iter().map(|step| step.name).collect::<Vec<_>>());
        assert_eq!(names(&["tes", "form"]).unwrap(), ["format", "tests"]);
        assert_eq!(names(&["judge"]).unwrap(), ["judge"]);
        assert_eq!(
            names(&["quick", "web"]).unwrap(),
            ["standing-alone", "format", "rules", "web", "clippy", "docs", "tests"]
        );
        assert!(!names(&[]).unwrap().contains(&"judge"));
        assert!(names(&["format", "nothing"]).unwrap_err().starts_with("no step has `nothing` in its name"));
    }
}
