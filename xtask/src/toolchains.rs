//! Steps that need more of Rust than the stable compiler for this machine: other compilers, other targets, Miri and the
//! sanitizers. What rustup can fetch is fetched; where it cannot, the step is skipped and says what is missing.

use std::{fs, path::Path, process::Command};

use cargo_metadata::Package;
use cargo_metadata::semver::Version;

use crate::workspace::{self, Outcome, Stop, Workspace, failed, skipped};
use crate::{compiler, package, steps};

const WINDOWS: &str = "x86_64-pc-windows-gnu";
const ARM: &str = "aarch64-unknown-linux-gnu";

/// Whether the standard library for a target is there, after asking rustup for it where it is not.
pub(crate) fn has_target(workspace: &Workspace, target: &str) -> bool {
    is_target_installed(workspace, target)
        || (workspace.succeeds(&mut workspace.command("rustup", &format!("target add {target}")))
            && is_target_installed(workspace, target))
}

/// Whether the standard library for a target is there, for the compiler in use.
pub(crate) fn is_target_installed(workspace: &Workspace, target: &str) -> bool {
    let folder = workspace.read(&mut workspace.command("rustc", &format!("--print target-libdir --target {target}")));
    folder.is_ok_and(|folder| Path::new(folder.trim()).is_dir())
}

/// Checks what people run on Windows. There is no linker for it here, and `check` needs none.
pub(crate) fn windows(workspace: &Workspace) -> Outcome {
    if !cfg!(windows) && !has_target(workspace, WINDOWS) {
        return Err(skipped(format!("the standard library for it could not be fetched (rustup target add {WINDOWS})")));
    }
    // The default members are what is published. The codecs of Zarr, a feature of the command, are written in C, which is
    // compiled even to check what stands on it.
    let has_c = cfg!(windows) || workspace.succeeds(&mut workspace.command("x86_64-w64-mingw32-gcc", "--version"));
    let target = if cfg!(windows) { String::new() } else { format!(" --target {WINDOWS}") };
    if has_c {
        return workspace.run(&mut workspace.cargo(&format!("check --all-features{target}")));
    }
    let (commands, libraries): (Vec<&Package>, Vec<&Package>) =
        package::published(workspace).into_iter().partition(|package| package.name == "shapetracker-cli");
    for (packages, features) in [(libraries, " --all-features"), (commands, "")] {
        let names: String = packages.iter().map(|package| format!(" --package {}", package.name)).collect();
        workspace.run(&mut workspace.cargo(&format!("check{features}{target}{names}")))?;
    }
    Ok(())
}

/// Runs the copying crate's unit tests as a processor of the ARM family would, whose kernels are others.
pub(crate) fn arm(workspace: &Workspace) -> Outcome {
    if cfg!(target_arch = "aarch64") {
        return Err(skipped("this is such a machine, and the tests have run on it"));
    }
    if !has_target(workspace, ARM) {
        return Err(skipped(format!("the standard library for it could not be fetched (rustup target add {ARM})")));
    }
    const LINKER: &str = "aarch64-linux-gnu-gcc";
    const PACKAGES: &str = "gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user";
    let has = |program: &str| workspace.succeeds(&mut workspace.command(program, "--version"));
    let has_both = || has(LINKER) && has("qemu-aarch64");
    if !has_both() {
        steps::install(workspace, PACKAGES);
    }
    if !has_both() {
        return Err(skipped(format!("it needs a linker and an emulator (apt-get install {PACKAGES})")));
    }
    // How long planning takes no kernel has a part in.
    let tests = format!("test --package shapetracker-copy --lib --target {ARM} -- --skip plan::");
    let mut tests = workspace.cargo(&tests);
    // All ways of large copies, and all places where they begin, but not each with each: an emulator takes long for them.
    tests.env("SHAPETRACKER_PART", "1/3");
    tests.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", LINKER);
    tests.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", "qemu-aarch64 -L /usr/aarch64-linux-gnu");
    workspace.run(compiler::stand_in(&mut tests))
}

/// `cargo` of the compiler that packages promise to build with, if it is there or can be fetched. What it builds is of no use to the
/// compiler in use, and lies in a folder of its own.
pub(crate) fn oldest_cargo(workspace: &Workspace, version: &Version, arguments: &str) -> Result<Command, Stop> {
    let mut command = if workspace.version("rustc") == Some((version.major, version.minor)) {
        workspace.cargo(arguments)
    } else {
        let Some(toolchain) = toolchain(workspace, version) else {
            let Version { major, minor, .. } = version;
            return Err(skipped(format!(
                "Rust {major}.{minor} is not there and could not be fetched (rustup toolchain install {major}.{minor})"
            )));
        };
        workspace.command("rustup", &format!("run {toolchain} cargo {arguments}"))
    };
    command.arg("--target-dir").arg(workspace.target("oldest-rust"));
    Ok(command)
}

/// The name by which rustup knows a compiler of a version: one that is there, or one that it fetches.
fn toolchain(workspace: &Workspace, Version { major, minor, patch, .. }: &Version) -> Option<String> {
    let names = [format!("{major}.{minor}.{patch}"), format!("{major}.{minor}")];
    let is_there =
        |name: &&String| workspace.succeeds(&mut workspace.command("rustup", &format!("run {name} cargo --version")));
    if let Some(name) = names.iter().find(is_there) {
        return Some(name.clone());
    }
    let install = format!("toolchain install {} --profile minimal --no-self-update", names[0]);
    workspace.succeeds(&mut workspace.command("rustup", &install));
    names.iter().find(is_there).cloned()
}

/// Whether there is a nightly compiler with a component, after asking rustup for the component where there is not.
fn has_nightly(workspace: &Workspace, component: &str) -> bool {
    let is_there =
        || workspace.succeeds(&mut workspace.command("rustup", &format!("run nightly cargo {component} --version")));
    let add = format!("component add {component} --toolchain nightly");
    is_there() || (workspace.succeeds(&mut workspace.command("rustup", &add)) && is_there())
}

/// Interprets the tests that were written for Miri: `miri` in the copying crate, `boundary` in the explorer's engine.
///
/// Miri takes the scalar path of the kernels, as every processor without their instructions does, and sees what the
/// address sanitizer does not: reads of uninitialised memory, broken aliasing, data races.
pub(crate) fn miri(workspace: &Workspace) -> Outcome {
    if !has_nightly(workspace, "miri") {
        return Err(skipped("Miri could not be fetched (rustup component add miri --toolchain nightly)"));
    }
    for tests in ["--package shapetracker-copy --test it miri", "--package shapetracker-wasm --lib boundary"] {
        let mut run = workspace.command("rustup", "run nightly cargo miri test -Zprofile-rustflags");
        // The interpreter is there for unsafe code. What forbids it is interpreted in as few steps as the compiler makes of it.
        for package in ["indexpr", "shapetracker-base", "shapetracker"] {
            run.args(["--config", &format!("profile.test.package.{package}.rustflags=['-Zmir-opt-level=4']")]);
        }
        run.args(tests.split(' ')).arg("--target-dir");
        // What allocates threads reads how many processors there are, and where; that is outside of the interpreter.
        run.arg(workspace.target("miri")).env("MIRIFLAGS", "-Zmiri-disable-isolation");
        // What the code asserts is held by other steps, and takes the interpreter long.
        run.env("CARGO_PROFILE_TEST_DEBUG_ASSERTIONS", "false").env("CARGO_PROFILE_TEST_OVERFLOW_CHECKS", "false");
        workspace.run(&mut run)?;
    }
    Ok(())
}

/// The machine that the compiler builds for.
pub(crate) fn host(workspace: &Workspace) -> Result<String, Stop> {
    let version = workspace.read(&mut workspace.command("rustc", "--version --verbose"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| failed("`rustc --version --verbose` names no host"))
}

/// Whether the compiler in use has the address sanitizer's library for a machine.
fn has_sanitizer_library(workspace: &Workspace, host: &str) -> bool {
    let folder = workspace.read(&mut workspace.command("rustc", &format!("--print target-libdir --target {host}")));
    let files = folder.ok().and_then(|folder| fs::read_dir(folder.trim()).ok());
    files.into_iter().flatten().flatten().any(|file| file.file_name().to_string_lossy().contains("_rt.asan"))
}

/// Whether there is a compiler that can build with the address sanitizer.
pub(crate) fn has_address_sanitizer(workspace: &Workspace, host: &str) -> bool {
    const SYSTEMS: [&str; 4] =
        ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "x86_64-apple-darwin", "aarch64-apple-darwin"];
    SYSTEMS.contains(&host) && workspace.succeeds(&mut workspace.command("rustup", "run nightly cargo --version"))
}

/// Runs the tests of the crate with unsafe code under the address sanitizer, in the form of a release; where the standard library has
/// none for this machine, under valgrind, which takes much longer for each case.
///
/// Only that crate and its tests are compiled for the sanitizer. What they stand on forbids unsafe code, and is what the step
/// `release` compiles: what it allocates and copies goes through the sanitizer's functions all the same.
pub(crate) fn sanitizer(workspace: &Workspace) -> Outcome {
    let host = host(workspace)?;
    const TESTS: &str = "--package shapetracker-copy --features shapetracker/serde --lib --tests";
    if has_sanitizer_library(workspace, &host) {
        let mut run = workspace.cargo_release(&format!("test --release {TESTS}"));
        compiler::stand_in(&mut run);
        workspace::allow(&mut run, "PROFILE_RUSTFLAGS");
        run.args(["--config", "profile.release.package.shapetracker-copy.rustflags=['-Zsanitizer=address']"]);
        // Some tests ask for more memory than there is, and must be told so.
        run.env("ASAN_OPTIONS", "allocator_may_return_null=1");
        return workspace.run(run.env("SHAPETRACKER_CASES", "0.2").env("SHAPETRACKER_PART", "1/2"));
    }
    if workspace.succeeds(&mut workspace.command("valgrind", "--version")) {
        let runner = format!("CARGO_TARGET_{}_RUNNER", host.to_uppercase().replace('-', "_"));
        let mut run = workspace.cargo(&format!("test {TESTS} -- --skip large --skip corpus"));
        // Only what is touched is judged: optimised safe code branches on values that it then does not use.
        let valgrind = "valgrind --quiet --error-exitcode=1 --undef-value-errors=no";
        return workspace.run(run.env(runner, valgrind).env("SHAPETRACKER_CASES", "0.02"));
    }
    Err(skipped("it needs a machine for which Rust has the address sanitizer, or valgrind"))
}
