//! The C interface: installed as its users have it, and programs in C and C++ that are compiled, run and watched.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    readme,
    release::{at, copy, write},
    steps,
    workspace::{Outcome, Stop, Workspace, failed, skipped},
};

const CRATE: &str = "crates/shapetracker-c";
/// The guide whose programs are run, and must print what stands behind them.
const GUIDE: &str = "docs/from-c-and-cpp.md";
/// What any program is compiled with.
const WARNINGS: &str = "-Wall -Wextra -Wpedantic -Werror -O1";
/// What a static library of Rust's leaves to be linked, as `rustc --print native-static-libs` says for Linux.
const SYSTEM: &str = "-lpthread -ldl -lm";

/// A compiler of C and the one of C++ that belongs to it.
const COMPILERS: [(&str, &str); 2] = [("gcc", "g++"), ("clang", "clang++")];

/// Builds the library as it is released, installs it in an empty folder, and tries it there.
pub(crate) fn check(workspace: &Workspace) -> Outcome {
    if !cfg!(target_os = "linux") {
        return Err(skipped("the options of compilers and linkers are those of Linux"));
    }
    workspace.run(&mut workspace.cargo_release("build --release --package shapetracker-c"))?;
    let folder = workspace.target("c");
    let _ = fs::remove_dir_all(&folder);
    let installed = folder.join("installed");
    install(workspace, &workspace.target("release"), &installed)?;
    try_installed(workspace, &installed, &folder.join("programs"))
}

/// Puts headers, both libraries and what finds them into a folder, in which they may be moved.
pub(crate) fn install(workspace: &Workspace, built: &Path, folder: &Path) -> Outcome {
    for header in ["shapetracker.h", "shapetracker.hpp"] {
        copy(&workspace.path(CRATE).join("include").join(header), &folder.join("include").join(header))?;
    }
    for library in ["libshapetracker_c.a", "libshapetracker_c.so"] {
        copy(&built.join(library), &folder.join("lib").join(library))?;
    }
    let version = workspace.packages().into_iter().find(|package| package.name == "shapetracker-c");
    let version = version.map(|package| package.version.to_string()).unwrap_or_default();
    for (template, place) in [
        ("shapetracker.pc.in", "lib/pkgconfig/shapetracker.pc"),
        ("shapetrackerConfig.cmake.in", "lib/cmake/shapetracker/shapetrackerConfig.cmake"),
        ("shapetrackerConfigVersion.cmake.in", "lib/cmake/shapetracker/shapetrackerConfigVersion.cmake"),
    ] {
        let path = workspace.path(CRATE).join("install").join(template);
        let text = fs::read_to_string(&path).map_err(|error| at(&path, error))?;
        write(&folder.join(place), &text.replace("@VERSION@", &version).replace("@SYSTEM@", SYSTEM))?;
    }
    Ok(())
}

/// Compiles the examples and the programs of the guide with every compiler that there is, runs them, and watches what they do with
/// memory; and finds the library by pkg-config and by CMake.
pub(crate) fn try_installed(workspace: &Workspace, installed: &Path, scratch: &Path) -> Outcome {
    fs::create_dir_all(scratch).map_err(|error| at(scratch, error))?;
    let has = |program: &str| workspace.succeeds(&mut workspace.command(program, "--version"));
    let tries = Tries { workspace, installed, scratch };
    let compilers: Vec<_> = COMPILERS.into_iter().filter(|(c, cpp)| has(c) && has(cpp)).collect();
    if compilers.is_empty() {
        return Err(skipped("it needs a compiler of C and C++ (apt-get install gcc g++)"));
    }
    for (missing, _) in COMPILERS.into_iter().filter(|pair| !compilers.contains(pair)) {
        anstream::println!("skipped: {missing} is not there (apt-get install {missing})");
    }
    let guide = tries.guide()?;
    let example = |name: &str| workspace.path(CRATE).join("examples").join(name);
    let examples = [example("layout.c"), example("convolution.cpp"), example("memref.cpp")];
    for (place, (c, cpp)) in compilers.iter().enumerate() {
        let compiler = |source: &Path| if is_c(source) { *c } else { *cpp };
        // The sanitizers see what a program reads and writes; the library's own code is watched by valgrind.
        let sanitized = "-g -fsanitize=address,undefined -fno-sanitize-recover=all";
        let sanitized = if tries.links_with(c, sanitized)? { sanitized } else { "-g" };
        if sanitized == "-g" {
            anstream::println!("skipped: {c} has no sanitizers (apt-get install libclang-rt-dev)");
        }
        for source in &examples {
            let program = tries.compiled(compiler(source), source, sanitized)?;
            let printed = workspace.read(&mut workspace.command(&program, ""))?;
            if source.ends_with("convolution.cpp") {
                let kernel = scratch.join("kernel.c");
                write(&kernel, &printed)?;
                let program = tries.compiled(c, &kernel, sanitized)?;
                workspace.run(&mut workspace.command(&program, ""))?;
            }
        }
        for (source, printed) in &guide {
            let program = tries.compiled(compiler(source), source, "")?;
            let prints = workspace.read(&mut workspace.command(&program, ""))?;
            if prints != *printed {
                return Err(failed(format!("{GUIDE} shows\n{printed}\nand its program prints\n{prints}")));
            }
        }
        if place == 0 {
            tries.watched(&examples, compiler)?;
            tries.by_pkg_config(c, &examples[0])?;
        }
    }
    tries.by_cmake()
}

struct Tries<'a> {
    workspace: &'a Workspace,
    installed: &'a Path,
    scratch: &'a Path,
}

fn is_c(source: &Path) -> bool {
    source.extension().is_some_and(|extension| extension == "c")
}

impl Tries<'_> {
    /// The programs of the guide, each with what it prints: a block of `c` or `cpp` that has a `main`, and the block of `text` behind
    /// it.
    fn guide(&self) -> Result<Vec<(PathBuf, String)>, Stop> {
        let path = self.workspace.path(GUIDE);
        let text = fs::read_to_string(&path).map_err(|error| at(&path, error))?;
        let mut programs: Vec<(PathBuf, String)> = Vec::new();
        for block in readme::blocks(&text) {
            let (language, block) = (block.language, block.lines.join("\n") + "\n");
            match language {
                "c" | "cpp" if block.contains("int main(") => {
                    let source = self.scratch.join(format!("guide{}.{language}", programs.len()));
                    write(&source, &block)?;
                    programs.push((source, String::new()));
                }
                "text" => {
                    if let Some((_, printed)) = programs.last_mut() {
                        *printed = block;
                    }
                }
                _ => {}
            }
        }
        if programs.is_empty() {
            return Err(failed(format!("{GUIDE} has no programs")));
        }
        Ok(programs)
    }

    /// Whether a compiler has the libraries that options ask for.
    fn links_with(&self, compiler: &str, options: &str) -> Result<bool, Stop> {
        let source = self.scratch.join("empty.c");
        write(&source, "int main(void) { return 0; }\n")?;
        let mut command = self.workspace.command(compiler, options);
        Ok(self.workspace.succeeds(command.arg(&source).arg("-o").arg(self.scratch.join("empty"))))
    }

    /// Compiles a program and links it with the static library.
    fn compiled(&self, compiler: &str, source: &Path, options: &str) -> Result<PathBuf, Stop> {
        let stem = source.file_stem().unwrap_or_default().to_string_lossy();
        let program =
            self.scratch.join(format!("{stem}-{compiler}{}", if options.is_empty() { "" } else { "-watched" }));
        let standard = if is_c(source) { "-std=c11" } else { "-std=c++17" };
        let mut command = self.workspace.command(compiler, &format!("{standard} {WARNINGS} {options} -I"));
        command.arg(self.installed.join("include")).arg(source).arg(self.installed.join("lib/libshapetracker_c.a"));
        self.workspace.run(command.args(SYSTEM.split(' ')).arg("-o").arg(&program))?;
        Ok(program)
    }

    /// Runs the examples in valgrind, which sees the library's memory, too: what is lost is an error.
    fn watched(&self, examples: &[PathBuf], compiler: impl Fn(&Path) -> &'static str) -> Outcome {
        if !self.workspace.succeeds(&mut self.workspace.command("valgrind", "--version")) {
            anstream::println!("skipped: no program is watched by valgrind (apt-get install valgrind)");
            return Ok(());
        }
        for source in examples {
            let program = self.compiled(compiler(source), source, "")?;
            // Optimised safe code branches on values that it then does not use.
            const OPTIONS: &str = "--quiet --undef-value-errors=no --leak-check=full \
                --show-leak-kinds=definite,indirect,possible --error-exitcode=1";
            self.workspace.run(self.workspace.command("valgrind", OPTIONS).arg(program))?;
        }
        Ok(())
    }

    /// Finds the shared library by pkg-config.
    fn by_pkg_config(&self, compiler: &str, source: &Path) -> Outcome {
        let mut asked = self.workspace.command("pkg-config", "--cflags --libs shapetracker");
        asked.env("PKG_CONFIG_PATH", self.installed.join("lib/pkgconfig"));
        if !self.workspace.succeeds(&mut self.workspace.command("pkg-config", "--version")) {
            anstream::println!("skipped: pkg-config is not there (apt-get install pkg-config)");
            return Ok(());
        }
        let flags = self.workspace.read(&mut asked)?;
        let program = self.scratch.join("by-pkg-config");
        let mut command = self.workspace.command(compiler, WARNINGS);
        command.arg(source).args(flags.split_whitespace()).arg("-o").arg(&program);
        self.workspace.run(&mut command)?;
        self.workspace.run(self.with_shared(&mut self.workspace.command(&program, "")))
    }

    /// Builds the examples as a project of CMake's that finds the library, and runs its tests.
    fn by_cmake(&self) -> Outcome {
        let is_there = || self.workspace.succeeds(&mut self.workspace.command("cmake", "--version"));
        if !is_there() {
            steps::install(self.workspace, "cmake");
        }
        if !is_there() {
            anstream::println!("skipped: CMake is not there (apt-get install cmake)");
            return Ok(());
        }
        let build = self.scratch.join("cmake");
        let mut configure = self.workspace.command("cmake", "-S");
        configure.arg(self.workspace.path(CRATE).join("examples")).arg("-B").arg(&build);
        self.workspace.run(configure.arg(format!("-DCMAKE_PREFIX_PATH={}", self.installed.display())))?;
        self.workspace.run(self.workspace.command("cmake", "--build").arg(&build))?;
        // Cargo names a folder in which a library of this name may lie, too; CMake has named its own in the programs.
        let mut tests = self.workspace.command("ctest", "--output-on-failure --test-dir");
        self.workspace.run(tests.arg(&build).env_remove("LD_LIBRARY_PATH"))
    }

    fn with_shared<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.env("LD_LIBRARY_PATH", self.installed.join("lib"))
    }
}
