//! The explorer: its engine in WebAssembly, which is a package for JavaScript, its page, and its tests in a browser.

use std::{
    env,
    ffi::OsString,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

use flate2::{Compression, write::GzEncoder};

use crate::{
    npm, steps, toolchains,
    workspace::{Outcome, Stop, Workspace, failed, skipped},
};

const TARGET: &str = "wasm32-unknown-unknown";

/// The most bytes, gzipped, of the scripts.
const MOST_SCRIPT: usize = 40_000;
/// The modules of the engine: their files on the page, their features of the crate, and the most bytes, gzipped. The first one
/// is loaded at once, the others when one of their requests is asked for the first time. The first and `code.wasm` had 250 kB and
/// 400 kB until texts were followed call by call through the memory of their arrays (`clone`, `as_strided`), then 265 and 425 kB with
/// the normal form of stacks; then orders, `roll` and views of a type were read, 7 kB in each of the modules that read texts; since
/// then one reader reads numbers and names, 7 kB more in these and 85 kB less with names, and what people paste is read, 8 kB.
/// With names it is said what libraries do, 52 kB, by the code that says it of numbers, which is 600 bytes larger for that. Minima,
/// products and forms written shorter are 32 kB in the two modules that simplify what is typed; kernels that are nests of loops are 3 kB
/// in the one that writes them, what can be wrong with a nest 300 bytes in all;
/// quotients that stay below a limit because of what they are of are 1 kB in both. Kernels in C and Rust are nests that are split and
/// run in parts, 43 kB in the module of code, which is loaded where somebody looks at code. Descriptions of how a layout lies are 33 kB
/// there; more messages that are read, axes in tuples and by name, and the strides after each step are 3 kB in the modules that read
/// texts. Composition, division and product of layouts are 40 kB in the module of kernels, most of it what decides exactly whether
/// there is a composition. Statements over several tensors have a module of their own, as only who pastes one asks for it: it has the
/// reader of names and the whole of the expressions with their splits, and in the module of names it would be 298 kB more. That the
/// messages which are read are a table, of which the reference is made, is 200 bytes. That sizes of statements may be names, whose
/// values are chosen, checked and put into layouts, is 17 kB in that module.
pub(crate) const MODULES: [(&str, &str, usize); 7] = [
    ("shapetracker.wasm", "explore", 292_300),
    ("free.wasm", "explore,free", 398_800),
    ("code.wasm", "code,free", 570_000),
    ("names.wasm", "names", 385_000),
    ("nest.wasm", "nest", 633_000),
    ("devices.wasm", "devices", 247_000),
    ("kernels.wasm", "kernels", 108_000),
];

/// Where rustup finds a compiler for WebAssembly: nothing where it is the one in use.
struct Toolchain(Option<PathBuf>);

impl Toolchain {
    /// The compiler in use with its target, which rustup may fetch; else Debian's, which is fetched once for this user.
    fn find(workspace: &Workspace) -> Result<Toolchain, Stop> {
        if toolchains::is_target_installed(workspace, TARGET) {
            return Ok(Toolchain(None));
        }
        let Some(folder) = cache() else {
            return Err(skipped("it needs a folder for caches (HOME or XDG_CACHE_HOME)"));
        };
        let folder = folder.join("shapetracker").join("rust-wasm");
        let own = Toolchain(Some(folder.join("usr")));
        // Its cargo is a link to that of rustup, which may be gone.
        if folder.join("complete").is_file() && folder.join("usr/bin/cargo").exists() {
            return Ok(own);
        }
        if toolchains::has_target(workspace, TARGET) {
            return Ok(Toolchain(None));
        }
        let tools = ["rustup", "apt-get", "dpkg-deb"];
        if !tools.iter().all(|tool| workspace.succeeds(&mut workspace.command(*tool, "--version"))) {
            return Err(skipped(format!(
                "there is no compiler for WebAssembly, and none could be fetched (rustup target add {TARGET})"
            )));
        }
        let place = folder.display();
        anstream::println!("Debian's compiler for WebAssembly is fetched into {place}, which takes some minutes, once");
        let script = workspace.path("xtask/setup-wasm.sh");
        if workspace.run(workspace.command("bash", "").arg(script).arg(&folder)).is_err() {
            return Err(skipped(format!(
                "there is no compiler for WebAssembly: neither `rustup target add {TARGET}` nor Debian's packages \
                 (xtask/setup-wasm.sh) gave one"
            )));
        }
        // What an earlier compiler built is of no use to this one.
        let _ = fs::remove_dir_all(workspace.target("wasm"));
        Ok(own)
    }

    /// `cargo` with this compiler, and with a folder for outputs of its own.
    fn cargo(&self, workspace: &Workspace, arguments: &str) -> Command {
        let mut command = workspace.cargo(&format!("{arguments} --target {TARGET} --target-dir"));
        command.arg(workspace.target("wasm"));
        if let Toolchain(Some(folder)) = self {
            command.env("RUSTUP_TOOLCHAIN", folder);
        }
        command
    }
}

/// The folder for what can be fetched again.
fn cache() -> Option<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))
}

/// Checks that the library builds for WebAssembly.
pub(crate) fn check_library(workspace: &Workspace) -> Outcome {
    let toolchain = Toolchain::find(workspace)?;
    workspace.run(&mut toolchain.cargo(workspace, "check --package shapetracker --all-features"))
}

/// Builds the engine and the page, and puts the page where the next build of the command finds it.
pub(crate) fn build(workspace: &Workspace) -> Outcome {
    find_node(workspace)?;
    let toolchain = Toolchain::find(workspace)?;
    install_packages(workspace)?;
    for (name, feature, _) in MODULES {
        build_module(workspace, &toolchain, name, feature)?;
    }
    npm::fill(workspace)?;

    workspace.run(&mut npm(workspace, "run build"))?;
    let page = workspace.path("crates/shapetracker-cli/page");
    let mut built = files(&workspace.path("web/dist"))?;
    built.retain(|(name, _)| is_for_the_command(name));
    // The first file names the others: whenever this is interrupted, those that it names are there.
    built.sort_by_key(|(name, _)| name == "index.html");
    for (name, path) in &built {
        copy(path, &page, name)?;
    }
    for (name, path) in files(&page)? {
        if !name.starts_with('.') && !built.iter().any(|(new, _)| *new == name) {
            fs::remove_file(path).map_err(|e| failed(format!("{name}: {e}")))?;
        }
    }
    Ok(())
}

/// Whether a file of the page is in the command, too: what other sites show of a link to the page is of no use to a page that
/// this machine alone sees.
pub(crate) fn is_for_the_command(name: &str) -> bool {
    name != "preview.png"
}

/// Builds a module of the engine, and puts it into the package for JavaScript and where the page finds it.
fn build_module(workspace: &Workspace, toolchain: &Toolchain, name: &str, feature: &str) -> Outcome {
    let arguments =
        format!("build --profile wasm --package shapetracker-wasm --no-default-features --features {feature}");
    workspace.run(&mut toolchain.cargo(workspace, &arguments))?;
    // Every byte is downloaded. The features are those that Rust's compiler uses for this target, whose linker keeps all data above
    // the first 1,024 bytes: constants below that are added to addresses where they are read.
    let engine = workspace.target("wasm").join(TARGET).join("wasm/shapetracker_wasm.wasm");
    let smaller = engine.with_file_name(name);
    let features = "--enable-bulk-memory --enable-bulk-memory-opt --enable-multivalue --enable-mutable-globals \
                    --enable-nontrapping-float-to-int --enable-reference-types --enable-sign-ext";
    let mut optimise = workspace.command("node", "web/node_modules/binaryen/bin/wasm-opt -Oz --low-memory-unused");
    workspace.run(optimise.args(features.split_whitespace()).arg(&engine).arg("-o").arg(&smaller))?;
    copy(&smaller, &workspace.path(npm::FOLDER).join("dist"), name)?;
    copy(&smaller, &workspace.path("web/public"), name)
}

/// Builds everything, checks the sizes, and tries the package for JavaScript.
pub(crate) fn check(workspace: &Workspace) -> Outcome {
    build(workspace)?;
    let mut is_small = true;
    let mut check = |what: &str, bytes: usize, most: usize| {
        anstream::println!("{what}: {bytes} bytes gzipped (at most {most})");
        is_small &= bytes <= most;
    };
    let dist = workspace.path("web/dist");
    for (name, _, most) in MODULES {
        check(name, gzipped(&dist.join(name))?, most);
    }
    let scripts: Vec<(String, PathBuf)> = files(&dist)?.into_iter().filter(|(name, _)| name.ends_with(".js")).collect();
    let first = loaded_at_once(&dist, &scripts)?;
    let (mut at_once, mut later) = (0, 0);
    for (name, path) in &scripts {
        *if first.contains(name) { &mut at_once } else { &mut later } += gzipped(path)?;
    }
    check("scripts loaded at once", at_once, MOST_SCRIPT);
    anstream::println!("scripts loaded later: {later} bytes gzipped");
    if !is_small {
        return Err(failed("the page is larger than it may be"));
    }
    npm::check(workspace)
}

/// The scripts that the page loads at once: what its HTML names, with what these import, and the worker of the engine.
fn loaded_at_once(dist: &Path, scripts: &[(String, PathBuf)]) -> Result<Vec<String>, Stop> {
    let read = |path: &Path| fs::read_to_string(path).map_err(|e| failed(format!("{}: {e}", path.display())));
    let page = read(&dist.join("index.html"))?;
    let mut first: Vec<String> = scripts
        .iter()
        .map(|(name, _)| name)
        .filter(|name| name.starts_with("worker") || page.contains(&**name))
        .cloned()
        .collect();
    let mut at = 0;
    while at < first.len() {
        let text = read(&dist.join(&first[at]))?;
        for (name, _) in scripts {
            // `from"./x.js"` and `import"./x.js"` are loaded with a script, and `import("./x.js")` later.
            let is_imported = ["from", "import"]
                .iter()
                .any(|word| ['"', '`', '\''].iter().any(|quote| text.contains(&format!("{word}{quote}./{name}"))));
            if is_imported && !first.contains(name) {
                first.push(name.clone());
            }
        }
        at += 1;
    }
    Ok(first)
}

/// Builds everything, the command with the page too, and runs the tests in a browser but those that measure times.
pub(crate) fn test_in_browser(workspace: &Workspace) -> Outcome {
    test(workspace, &["--exclude", TIMES])
}

/// Runs the tests in a browser that measure times.
pub(crate) fn test_times(workspace: &Workspace) -> Outcome {
    test(workspace, &[TIMES])
}

/// The tests that measure times.
const TIMES: &str = "tests/budgets.test.ts";

fn test(workspace: &Workspace, files: &[&str]) -> Outcome {
    find_node(workspace)?;
    let browser = find_browser(workspace)?;
    // The modules have one name for cargo, which so builds each of them again.
    if !workspace.has_page {
        build(workspace)?;
    }
    workspace.run(&mut workspace.cargo_release("build --release --bins"))?;
    let mut tests = npm(workspace, "run test --");
    if let Some(firefox) = find_firefox(workspace) {
        tests.env("FIREFOX", firefox);
    }
    tests.args(files).env("CHROMIUM", browser).env("SHAPETRACKER", workspace.target("release/shapetracker"));
    workspace.run(&mut tests)
}

/// Finds Node.js of a version that the page's tools run on: `engines` in web/package.json.
fn find_node(workspace: &Workspace) -> Outcome {
    let advice = "the explorer's page needs Node.js 20.19 or later with npm (nodejs.org)";
    let version = workspace.read(&mut workspace.command("node", "--version")).map_err(|_| skipped(advice))?;
    let numbers = version.trim().trim_start_matches('v').splitn(3, '.').map(|number| number.parse().unwrap_or(0));
    if numbers.collect::<Vec<u32>>() < vec![20, 19] {
        return Err(skipped(format!("{advice}; this is {}", version.trim())));
    }
    if workspace.succeeds(&mut npm(workspace, "--version")) { Ok(()) } else { Err(skipped(advice)) }
}

/// Installs the page's packages, unless they are there as the lock file names them.
fn install_packages(workspace: &Workspace) -> Outcome {
    let age = |path: &str| fs::metadata(workspace.path(path)).and_then(|file| file.modified()).ok();
    let installed = age("web/node_modules/.package-lock.json");
    if installed.is_some() && installed >= age("web/package-lock.json") {
        return Ok(());
    }
    let Err(stop) = workspace.run(&mut npm(workspace, "ci --no-audit --no-fund --fetch-retries=1")) else {
        return Ok(());
    };
    // With its packages at hand npm fails only at what the project says.
    if workspace.succeeds(&mut npm(workspace, "ping --fetch-retries=0")) {
        return Err(stop);
    }
    Err(skipped("npm cannot reach its registry for the packages that the page is built with (npm ci in web)"))
}

/// `npm` with arguments as they would be typed, to be run in the folder of the page.
pub(crate) fn npm(workspace: &Workspace, arguments: &str) -> Command {
    let name = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let mut command = workspace.command(name, arguments);
    // The tests use a browser that is there already.
    command
        .current_dir(workspace.path("web"))
        .env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")
        .env("npm_config_yes", "true");
    command
}

/// A Chromium: the one that is named, or one that is found, or Debian's.
fn find_browser(workspace: &Workspace) -> Result<OsString, Stop> {
    const PLACES: &[&str] =
        &["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/usr/bin/google-chrome-stable"];
    find(workspace, "CHROMIUM", PLACES, "chromium fonts-dejavu-core")
        .ok_or_else(|| skipped("there is no Chromium (apt-get install chromium, or CHROMIUM=/path/to/it)"))
}

/// A Firefox, likewise; without one the tests say so, and the others run.
fn find_firefox(workspace: &Workspace) -> Option<OsString> {
    find(workspace, "FIREFOX", &["/usr/bin/firefox-esr", "/usr/bin/firefox"], "firefox-esr")
}

/// A program that a variable of the environment names, or that lies at one of some places, or Debian's package of it.
fn find(workspace: &Workspace, variable: &str, places: &[&str], packages: &str) -> Option<OsString> {
    if let Some(named) = env::var_os(variable) {
        return Some(named);
    }
    let there = || places.iter().find(|place| Path::new(place).is_file()).map(OsString::from);
    if there().is_none() {
        steps::install(workspace, packages);
    }
    there()
}

/// Copies a file into a folder, unless the same is there: what is built from it then need not be built again.
fn copy(from: &Path, folder: &Path, name: &str) -> Outcome {
    let to = folder.join(name);
    let content = fs::read(from).map_err(|e| failed(format!("{}: {e}", from.display())))?;
    if fs::read(&to).is_ok_and(|there| there == content) {
        return Ok(());
    }
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(&to, content));
    written.map_err(|e| failed(format!("{}: {e}", to.display())))
}

/// The files of a folder with their names.
pub(crate) fn files(folder: &Path) -> Result<Vec<(String, PathBuf)>, Stop> {
    let entries = fs::read_dir(folder).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
    let entries = entries.map_err(|e| failed(format!("{}: {e}", folder.display())))?;
    let files = entries.into_iter().map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()));
    Ok(files.filter(|(_, path)| path.is_file()).collect())
}

/// How many bytes the files of a folder with such names have, each gzipped.
pub(crate) fn gzipped_files(folder: &Path, is_meant: impl Fn(&str) -> bool) -> Result<usize, Stop> {
    files(folder)?.iter().filter(|(name, _)| is_meant(name)).map(|(_, path)| gzipped(path)).sum()
}

pub(crate) fn gzipped(path: &Path) -> Result<usize, Stop> {
    let zipped = || {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&fs::read(path)?)?;
        encoder.finish()
    };
    zipped().map(|bytes| bytes.len()).map_err(|e| failed(format!("{}: {e}", path.display())))
}
