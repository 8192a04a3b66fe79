//! Compilers and interpreters.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The start of a hash of numbers.
pub(crate) const START: u64 = 0xcbf2_9ce4_8422_2325;

/// A hash of numbers that takes a line in any language.
pub(crate) fn hash(numbers: impl IntoIterator<Item = i64>) -> u64 {
    numbers.into_iter().fold(START, |hash, number| (hash ^ number as u64).wrapping_mul(0x100_0000_01b3))
}

/// A tool that turns a program into what it prints.
pub(crate) struct Tool {
    name: &'static str,
    /// The command and its arguments before the file.
    command: Vec<String>,
    extension: &'static str,
    /// Whether the result has to be run.
    compiles: bool,
}

impl Tool {
    /// The C compiler, with all the checks that it has.
    pub(crate) fn c() -> Option<Tool> {
        let compiler = || vec![std::env::var("CC").unwrap_or("cc".into())];
        Tool::sanitized(
            "C",
            compiler,
            "c",
            &["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1"],
            "int main(void) { return 0; }",
        )
    }

    /// The C++ compiler, for kernels that are C++ with attributes.
    pub(crate) fn cpp() -> Option<Tool> {
        let compiler = || vec![std::env::var("CXX").unwrap_or("c++".into())];
        let arguments = ["-std=c++14", "-Wall", "-Wextra", "-Werror", "-Wno-attributes", "-O1"];
        Tool::sanitized("C++", compiler, "cpp", &arguments, "int main() { return 0; }")
    }

    /// The compiler for CUDA, where there is a GPU, too.
    pub(crate) fn nvcc() -> Option<Tool> {
        let mut command = vec![std::env::var("NVCC").unwrap_or("nvcc".into())];
        command.extend(["-std=c++17", "-O1", "-arch=native"].map(String::from));
        let trivial = "int main() { int devices = 0; cudaGetDeviceCount(&devices); return devices == 0; }";
        Tool { name: "CUDA", command, extension: "cu", compiles: true }.tried(trivial)
    }

    /// A C compiler for x86-64 that is asked for a listing of what it makes of each function, none of which it merges
    /// with another.
    pub(crate) fn listing() -> Option<Tool> {
        let mut command = vec![std::env::var("CC").unwrap_or("cc".into())];
        let arguments = ["-std=c11", "-O2", "-w", "-S", "-fno-ipa-icf", "-fno-asynchronous-unwind-tables", "-o", "-"];
        command.extend(arguments.map(String::from));
        let tool = Tool { name: "listing", command, extension: "c", compiles: false };
        let listing = tool.output("trivial", "#ifndef __x86_64__\n#error\n#endif\nint f(int x) { return x; }");
        if listing.as_ref().is_ok_and(|listing| listing.contains("\tret")) {
            return Some(tool);
        }
        println!("skipped: there is no C compiler that lists the instructions of an x86-64");
        None
    }

    pub(crate) fn rust() -> Option<Tool> {
        let mut command = vec![std::env::var("RUSTC").unwrap_or("rustc".into())];
        let arguments =
            ["--edition=2021", "-Dwarnings", "-Coverflow-checks=on", "-Cdebug-assertions=on", "-Copt-level=1"];
        command.extend(arguments.map(String::from));
        Tool { name: "Rust", command, extension: "rs", compiles: true }.tried("fn main() {}")
    }

    pub(crate) fn python() -> Option<Tool> {
        let command = vec![std::env::var("PYTHON").unwrap_or("python3".into())];
        Tool { name: "Python", command, extension: "py", compiles: false }.tried("pass")
    }

    fn sanitized(
        name: &'static str,
        compiler: impl Fn() -> Vec<String>,
        extension: &'static str,
        arguments: &[&str],
        trivial: &str,
    ) -> Option<Tool> {
        let sanitizers: [&[&str]; 3] =
            [&["-fsanitize=address,undefined", "-fno-sanitize-recover=all"], &["-fsanitize=undefined"], &[]];
        let tools = sanitizers.iter().map(|more| {
            let mut command = compiler();
            command.extend(arguments.iter().chain(*more).map(|argument| argument.to_string()));
            Tool { name, command, extension, compiles: true }
        });
        tools.into_iter().find_map(|tool| tool.quietly_tried(trivial)).or_else(|| {
            println!("skipped: there is no {name} compiler that works");
            None
        })
    }

    fn tried(self, trivial: &str) -> Option<Tool> {
        let name = self.name;
        self.quietly_tried(trivial).or_else(|| {
            println!("skipped: there is no {name} that works");
            None
        })
    }

    fn quietly_tried(self, trivial: &str) -> Option<Tool> {
        self.output("trivial", trivial).is_ok().then_some(self)
    }

    /// Whether a program of one line runs.
    pub(crate) fn runs(&self, what: &str, program: &str) -> bool {
        self.output(what, program).is_ok()
    }

    /// The lines that a program prints; one that does not compile or run fails the test.
    pub(crate) fn lines(&self, what: &str, program: &str) -> Vec<String> {
        let text = self.output(what, program).unwrap_or_else(|error| panic!("{} {what}: {error}", self.name));
        text.lines().map(String::from).collect()
    }

    /// What a program prints.
    ///
    /// A program prints the same whenever its text and its compiler are the same, so that what it printed is kept beside
    /// it: tests that run in several forms (with debug assertions and without) compile each program once, and compile it
    /// again wherever they write another.
    fn output(&self, what: &str, program: &str) -> Result<String, String> {
        let file = directory().join(format!("{what}_{}.{}", self.name.replace('+', "p"), self.extension));
        let kept = file.with_extension(format!("{}.kept", self.extension));
        // Tests in another form may run at this time: they wait, and find what is kept.
        let lock = fs::File::create(file.with_extension(format!("{}.lock", self.extension)));
        let lock = lock.and_then(|lock| lock.lock().map(|()| lock)).map_err(|error| error.to_string())?;
        let head = format!("{}\n{:?}\n{program}\0", self.version(), self.command);
        if let Ok(text) = fs::read_to_string(&kept)
            && let Some(output) = text.strip_prefix(&head)
        {
            return Ok(output.to_owned());
        }
        let output = self.fresh_output(&file, program)?;
        // Whole or not at all: a test that is stopped while it writes leaves nothing that another would believe. What cannot be kept
        // is run again.
        let unfinished = kept.with_extension("unfinished");
        let _ = fs::write(&unfinished, head + &output).and_then(|()| fs::rename(&unfinished, &kept));
        drop(lock);
        Ok(output)
    }

    /// Which compiler or interpreter it is.
    fn version(&self) -> String {
        printed(Command::new(&self.command[0]).arg("--version")).unwrap_or_default()
    }

    fn fresh_output(&self, file: &Path, program: &str) -> Result<String, String> {
        fs::write(file, program).map_err(|error| error.to_string())?;
        let mut command = Command::new(&self.command[0]);
        command.args(&self.command[1..]).arg(file).current_dir(directory());
        if !self.compiles {
            return printed(&mut command);
        }
        let program = file.with_extension(format!("{}.exe", self.extension));
        printed(command.arg("-o").arg(&program))?;
        printed(&mut Command::new(program))
    }
}

fn printed(command: &mut Command) -> Result<String, String> {
    let output =
        shapetracker_testing::limited::output(command, b"").map_err(|error| format!("{command:?}: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(format!("{command:?}\n{}{}", text(&output.stdout), text(&output.stderr))),
    }
}

/// Where programs are written.
pub(crate) fn directory() -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("languages");
    fs::create_dir_all(&directory).expect("the directory for temporary files can be written");
    directory
}
