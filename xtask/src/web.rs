//! The explorer: its engine in WebAssembly, its page, and its tests in a browser.

use std::{
    env,
    ffi::OsString,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

use flate2::{Compression, write::GzEncoder};

use crate::workspace::{Outcome, Stop, Workspace, failed, skipped};

const TARGET: &str = "wasm32-unknown-unknown";

/// The most bytes, gzipped, of the scripts.
const MOST_SCRIPT: usize = 40_000;
/// The most bytes, gzipped, of the engine: what it has, and a little room. It is the whole library.
const MOST_ENGINE: usize = 360_000;

/// Where rustup finds a compiler for WebAssembly: nothing where it is the one in use.
struct Toolchain(Option<PathBuf>);

impl Toolchain {
    /// The compiler in use with its target, which rustup may fetch; else Debian's, which is fetched once for this user.
    fn find(workspace: &Workspace) -> Result<Toolchain, Stop> {
        if has_target(workspace) {
            return Ok(Toolchain(None));
        }
        let Some(folder) = cache() else {
            return Err(skipped("it needs a folder for caches (HOME or XDG_CACHE_HOME)"));
        };
        let folder = folder.join("shapetracker").join("rust-wasm");
        let own = Toolchain(Some(folder.join("usr")));
        if folder.join("complete").is_file() {
            return Ok(own);
        }
        if workspace.succeeds(&mut workspace.command("rustup", &format!("target add {TARGET}")))
            && has_target(workspace)
        {
            return Ok(Toolchain(None));
        }
        let debian =
            ["apt-get", "dpkg-deb"].iter().all(|tool| workspace.succeeds(&mut workspace.command(*tool, "--version")));
        if !debian {
            let advice = format!("its target is not installed (rustup target add {TARGET})");
            return Err(skipped(advice));
        }
        let script = workspace.path("xtask/setup-wasm.sh");
        if workspace.run(workspace.command("bash", "").arg(script).arg(&folder)).is_err() {
            return Err(skipped(format!(
                "neither `rustup target add {TARGET}` nor Debian's packages (xtask/setup-wasm.sh) gave a compiler"
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

fn has_target(workspace: &Workspace) -> bool {
    let folder = workspace.read(&mut workspace.command("rustc", &format!("--print target-libdir --target {TARGET}")));
    folder.is_ok_and(|folder| Path::new(folder.trim()).is_dir())
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
    let toolchain = Toolchain::find(workspace)?;
    workspace.run(&mut toolchain.cargo(workspace, "build --profile wasm --package shapetracker-wasm"))?;
    let engine = workspace.target("wasm").join(TARGET).join("wasm/shapetracker_wasm.wasm");
    let public = workspace.path("web/public");
    create(&public)?;
    copy(&engine, &public.join("shapetracker.wasm"))?;

    install(workspace)?;
    workspace.run(&mut npm(workspace, "run build"))?;
    let page = workspace.path("crates/shapetracker-cli/page");
    for (name, path) in files(&page)?.into_iter().filter(|(name, _)| !name.to_string_lossy().starts_with('.')) {
        fs::remove_file(path).map_err(|e| failed(format!("{}: {e}", name.display())))?;
    }
    for (name, path) in files(&workspace.path("web/dist"))? {
        copy(&path, &page.join(name))?;
    }
    Ok(())
}

/// Builds everything, checks what is checked without a browser, and the sizes.
pub(crate) fn check(workspace: &Workspace) -> Outcome {
    build(workspace)?;
    workspace.run(&mut npm(workspace, "run --if-present unit"))?;
    let (mut scripts, mut engine) = (0, 0);
    for (name, path) in files(&workspace.path("web/dist"))? {
        match Path::new(&name).extension().and_then(|ending| ending.to_str()) {
            Some("js") => scripts += gzipped(&path)?,
            Some("wasm") => engine += gzipped(&path)?,
            _ => {}
        }
    }
    anstream::println!(
        "scripts {scripts} bytes gzipped (at most {MOST_SCRIPT}), engine {engine} (at most {MOST_ENGINE})"
    );
    if scripts > MOST_SCRIPT || engine > MOST_ENGINE {
        return Err(failed("the page is larger than it may be"));
    }
    Ok(())
}

/// Builds everything and runs the tests in a browser.
pub(crate) fn test_in_browser(workspace: &Workspace) -> Outcome {
    build(workspace)?;
    let browser = browser(workspace)?;
    workspace.run(npm(workspace, "run browser").env("CHROMIUM", browser))
}

/// Installs the page's packages, unless they are there as the lock file names them.
fn install(workspace: &Workspace) -> Outcome {
    if !workspace.succeeds(&mut workspace.command("node", "--version"))
        || !workspace.succeeds(&mut npm(workspace, "--version"))
    {
        return Err(skipped("the page is built by Node.js 20 or later with npm (nodejs.org)"));
    }
    let age = |path: &str| fs::metadata(workspace.path(path)).and_then(|file| file.modified()).ok();
    let installed = age("web/node_modules/.package-lock.json");
    if installed.is_some() && installed >= age("web/package-lock.json") {
        return Ok(());
    }
    if workspace.run(&mut npm(workspace, "ci --no-audit --no-fund")).is_err() {
        return Err(skipped("npm could not install the packages that the page is built with (npm ci in web)"));
    }
    Ok(())
}

/// `npm` with arguments as they would be typed, to be run in the folder of the page.
fn npm(workspace: &Workspace, arguments: &str) -> Command {
    let name = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let mut command = workspace.command(name, arguments);
    // The tests use a browser that is there already.
    command
        .current_dir(workspace.path("web"))
        .env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")
        .env("npm_config_yes", "true");
    command
}

/// A Chromium: the one that is named, or one that is found, or one that this machine's administrator gets.
fn browser(workspace: &Workspace) -> Result<OsString, Stop> {
    const PLACES: [&str; 4] =
        ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/usr/bin/google-chrome-stable"];
    let there = || PLACES.iter().find(|place| Path::new(place).is_file()).map(OsString::from);
    if let Some(browser) = env::var_os("CHROMIUM").or_else(there) {
        return Ok(browser);
    }
    let is_root = workspace.read(&mut workspace.command("id", "-u")).is_ok_and(|id| id.trim() == "0");
    if is_root && workspace.succeeds(&mut workspace.command("apt-get", "--version")) {
        let mut install =
            workspace.command("apt-get", "-q -o DPkg::Lock::Timeout=600 install -y --no-install-recommends");
        install.args(["chromium", "fonts-dejavu-core"]).env("DEBIAN_FRONTEND", "noninteractive");
        // A list of packages may be missing or old; then what follows says so.
        let _ = workspace.run(&mut workspace.command("apt-get", "-q -o DPkg::Lock::Timeout=600 update"));
        let _ = workspace.run(&mut install);
    }
    there().ok_or_else(|| skipped("there is no Chromium (apt-get install chromium, or CHROMIUM=/path/to/it)"))
}

fn create(folder: &Path) -> Outcome {
    fs::create_dir_all(folder).map_err(|e| failed(format!("{}: {e}", folder.display())))
}

fn copy(from: &Path, to: &Path) -> Outcome {
    fs::copy(from, to).map(|_| ()).map_err(|e| failed(format!("{} to {}: {e}", from.display(), to.display())))
}

/// The files of a folder.
fn files(folder: &Path) -> Result<Vec<(OsString, PathBuf)>, Stop> {
    let entries = fs::read_dir(folder).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
    let entries = entries.map_err(|e| failed(format!("{}: {e}", folder.display())))?;
    let files = entries.into_iter().map(|entry| (entry.file_name(), entry.path()));
    Ok(files.filter(|(_, path)| path.is_file()).collect())
}

fn gzipped(path: &Path) -> Result<usize, Stop> {
    let zipped = || {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&fs::read(path)?)?;
        encoder.finish()
    };
    zipped().map(|bytes| bytes.len()).map_err(|e| failed(format!("{}: {e}", path.display())))
}
