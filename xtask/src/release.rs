//! What a release consists of, made into one folder with checksums. Each file is tried where a user would have it: in an
//! empty folder outside of the checkout, in an environment without variables.
//!
//! The same commit gives the same bytes, whatever folder the checkout is in: files have the time of the commit, one order
//! and nobody's name, and where the compiler writes down the folders that it ran in, it writes others. That takes the same
//! versions of the compiler, of the linker, of maturin and of npm.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    ffi::OsString,
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use crate::{
    c, npm, package, site, steps, toolchains, web,
    workspace::{Outcome, Stop, Workspace, captured, failed, path_with, skipped},
};

/// The file that lists the others. It is written last: a folder that has it is complete.
const CHECKSUMS: &str = "SHA256SUMS";
pub(crate) const LICENCES: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];
/// Where shells look for completions below the folder that the command is installed under.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/shapetracker"),
    ("zsh", "share/zsh/site-functions/_shapetracker"),
    ("fish", "share/fish/vendor_completions.d/shapetracker.fish"),
];
const MANUAL: &str = "share/man/man1";
const MATURIN: &str = "maturin>=1.9,<2";
/// Zig's linker, which has the symbols of every glibc: what it links runs on systems that are older than this one.
const ZIG: &str = "ziglang cargo-zigbuild";
/// The glibc that a release asks for where it is linked so: that of the tag manylinux2014, the oldest that Rust supports.
const OLDEST_GLIBC: &str = "2.17";

/// Whom wheels are made for that this machine cannot run, where Zig links: as Rust calls them, and what the tag of the wheel ends with.
///
/// Not macOS, whose SDK may be used on Apple's machines only, and not Windows, where a module is linked with a library of Python's
/// that no package here has: there pip builds the source distribution.
const OTHERS: [(&str, &str); 4] = [
    ("x86_64-unknown-linux-gnu", "manylinux_2_17_x86_64.whl"),
    ("aarch64-unknown-linux-gnu", "manylinux_2_17_aarch64.whl"),
    ("x86_64-unknown-linux-musl", "musllinux_1_2_x86_64.whl"),
    ("aarch64-unknown-linux-musl", "musllinux_1_2_aarch64.whl"),
];

/// Makes all that a release consists of, and tries it. Without a folder it is made in that of build outputs, and whatever
/// was made there before is removed.
pub(crate) fn build(workspace: &Workspace, folder: Option<&str>) -> Outcome {
    let wanted = folder.map(|folder| env::current_dir().unwrap_or_default().join(folder));
    if let Some(folder) = &wanted
        && fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some())
    {
        return Err(failed(format!("{} is not empty, and nothing in it is replaced", folder.display())));
    }
    let release = Release::begin(workspace, "distribution", true)?;
    web::build(workspace)?;
    release.page()?;
    npm::try_packed(workspace, &npm::pack(workspace, &release.folder)?, &release.scratch.0.join("npm"))?;
    release.crates()?;
    release.command()?;
    release.c_interface()?;
    release.wheel()?;
    release.wheels_for_others()?;
    release.source_distribution()?;
    release.site()?;
    release.checksums()?;
    let folder = match &wanted {
        None => &release.folder,
        Some(folder) => {
            for (name, path) in web::files(&release.folder)? {
                copy(&path, &folder.join(name))?;
            }
            folder
        }
    };
    anstream::println!("\n{}", folder.display());
    for (name, path) in web::files(folder)?.into_iter().collect::<BTreeMap<_, _>>() {
        anstream::println!("{:>10}  {name}", fs::metadata(&path).map_err(|e| at(&path, e))?.len());
    }
    Ok(())
}

/// Makes what is quickly made from what other steps have built, and tries it. What takes minutes is left to the command:
/// a build in folders without a name, and one from the source distribution alone.
pub(crate) fn check(workspace: &Workspace) -> Outcome {
    let release = Release::begin(workspace, "distribution-check", false)?;
    if has_page(workspace) {
        release.page()?;
    } else {
        anstream::println!("skipped: the page is not built (cargo xtask web)");
    }
    release.command()?;
    release.wheel()?;
    release.source_distribution()
}

/// A release in the making.
struct Release<'a> {
    workspace: &'a Workspace,
    /// Whether it is made to be given away: from nothing, and tried at length.
    whole: bool,
    /// Where its files go.
    folder: PathBuf,
    /// Where they are put together and tried.
    scratch: Scratch,
    version: String,
    /// The machine that it is for, as Rust calls it.
    host: String,
    /// Seconds since 1970: the time of the commit.
    time: String,
    /// The environment that has maturin.
    python: PathBuf,
    /// Whether Zig links, in the place of this machine's linker.
    zig: bool,
}

/// A folder outside of the checkout that is gone when nobody needs it any longer.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl<'a> Release<'a> {
    fn begin(workspace: &'a Workspace, folder: &str, whole: bool) -> Result<Self, Stop> {
        let is_gnu = |version: String| version.contains("GNU tar");
        if !workspace.read(&mut workspace.command("tar", "--version")).is_ok_and(is_gnu) {
            return Err(skipped("the archives are made by GNU tar (apt-get install tar; brew install gnu-tar)"));
        }
        if !workspace.succeeds(&mut workspace.command("gzip", "--version")) {
            return Err(skipped("the archives are compressed by gzip (apt-get install gzip)"));
        }
        // A checkout may belong to another user than the one who releases it.
        let git = |arguments: &str| {
            workspace.read(&mut workspace.command("git", &format!("-c safe.directory=* {arguments}")))
        };
        // The earliest time that wheels can have, where nothing tells another one.
        let time = env::var("SOURCE_DATE_EPOCH").ok().or_else(|| git("log -1 --format=%ct").ok());
        let time = time.map_or_else(|| "315532800".to_owned(), |time| time.trim().to_owned());
        if whole && git("status --porcelain").is_ok_and(|changes| !changes.is_empty()) {
            anstream::println!("The checkout has changes that are in no commit: what is made of it is no release.");
        }
        let version = package::published(workspace).first().map(|package| package.version.to_string());
        let folder = workspace.target(folder);
        if folder.is_dir() {
            fs::remove_dir_all(&folder).map_err(|error| at(&folder, error))?;
        }
        let scratch = Scratch(env::temp_dir().join(format!("shapetracker-release-{}", std::process::id())));
        for folder in [&folder, &scratch.0] {
            fs::create_dir_all(folder).map_err(|error| at(folder, error))?;
        }
        let (version, host) = (version.unwrap_or_default(), toolchains::host(workspace)?);
        let environment = workspace.target("python");
        let mut zig = None;
        if whole && host.ends_with("-linux-gnu") {
            zig = steps::python_environment(workspace, &environment, &format!("{MATURIN} {ZIG}")).ok();
            if zig.is_none() {
                anstream::println!("Without Zig (pip install {ZIG}) what is built asks for the glibc of this machine.");
            }
        }
        if zig.is_none() {
            steps::python_environment(workspace, &environment, MATURIN)?;
        }
        Ok(Self { workspace, whole, folder, scratch, version, host, time, python: environment, zig: zig.is_some() })
    }

    /// A program in an environment without variables, in the folder outside of the checkout.
    fn bare(&self, program: impl Into<OsString>, arguments: &str) -> Command {
        let mut command = self.workspace.command(program, arguments);
        command.env_clear().current_dir(&self.scratch.0);
        command
    }

    /// Lets a command that calls the compiler write the same, whoever releases and where. That is built apart from
    /// everything else, which has other settings.
    fn reproducible<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        if !self.whole {
            return command;
        }
        let mut folders = vec![(self.workspace.path(""), "/shapetracker")];
        let home = |name| env::var_os(name).map(PathBuf::from);
        folders
            .extend(home("CARGO_HOME").or_else(|| Some(home("HOME")?.join(".cargo"))).map(|folder| (folder, "/cargo")));
        let mut flags = OsString::new();
        for (folder, name) in folders {
            if !flags.is_empty() {
                flags.push("\u{1f}");
            }
            // The root of the checkout ends with a separator, or does not.
            flags.push("--remap-path-prefix=");
            flags.push(folder.components().as_path());
            flags.push(format!("={name}"));
        }
        command
            .env("CARGO_ENCODED_RUSTFLAGS", flags)
            .env("CARGO_TARGET_DIR", self.workspace.target("release-build"))
            .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
            .env("CARGO_PROFILE_RELEASE_STRIP", "symbols")
    }

    /// Packs a folder below the scratch folder into an archive of its name.
    fn pack(&self, name: &str) -> Result<PathBuf, Stop> {
        let archive = self.folder.join(format!("{name}.tar"));
        // The format has no place for the times of access. Permissions are not those that the user's mask left.
        let tar = "--format=ustar --sort=name --owner=0 --group=0 --numeric-owner --mode=u+rwX,go+rX,go-w";
        let mut tar = self.workspace.command("tar", tar);
        tar.arg(format!("--mtime=@{}", self.time)).arg("-C").arg(&self.scratch.0).arg("-cf").arg(&archive).arg(name);
        self.workspace.run(&mut tar)?;
        self.workspace.run(self.workspace.command("gzip", "-n -9 -f").arg(&archive))?;
        Ok(archive.with_extension("tar.gz"))
    }

    /// Unpacks an archive into a new folder, without the folder that everything in it is in.
    fn unpack(&self, archive: &Path, name: &str) -> Result<PathBuf, Stop> {
        let folder = self.scratch.0.join(name);
        fs::create_dir_all(&folder).map_err(|error| at(&folder, error))?;
        let mut tar = self.workspace.command("tar", "-xz --strip-components=1 -C");
        self.workspace.run(tar.arg(&folder).arg("-f").arg(archive))?;
        Ok(folder)
    }

    /// The packages of Rust, which `package.rs` makes and builds from each other.
    fn crates(&self) -> Outcome {
        package::check(self.workspace)?;
        for package in package::published(self.workspace) {
            let path = package::archive(self.workspace, package);
            copy(&path, &self.folder.join(path.file_name().unwrap_or_default()))?;
        }
        Ok(())
    }
}

/// The explorer's page.
impl Release<'_> {
    fn page(&self) -> Outcome {
        let name = format!("shapetracker-explorer-{}", self.version);
        let folder = self.scratch.0.join(&name);
        for (file, path) in page_files(self.workspace)? {
            copy(&path, &folder.join(file))?;
        }
        for file in LICENCES {
            copy(&self.workspace.path(file), &folder.join(file))?;
        }
        let unpacked = self.unpack(&self.pack(&name)?, "page")?;

        let files: BTreeMap<String, PathBuf> = web::files(&unpacked)?.into_iter().collect();
        let mut named = BTreeSet::from(["index.html", LICENCES[0], LICENCES[1]].map(str::to_owned));
        for (name, path) in &files {
            if let Ok(text) = fs::read_to_string(path) {
                for file in references(&text) {
                    if !files.contains_key(file) {
                        return Err(failed(format!("{name} of the page names {file}, which is not in its archive")));
                    }
                    named.insert(file.to_owned());
                }
            }
        }
        match files.keys().find(|name| !named.contains(*name)) {
            Some(name) => Err(failed(format!("nothing in the archive of the page names {name}"))),
            None => Ok(()),
        }
    }
}

/// The files of the built page, for a site: those that the command has, and the image that other sites show of it.
pub(crate) fn page_files(workspace: &Workspace) -> Result<Vec<(String, PathBuf)>, Stop> {
    web::files(&workspace.path("web/dist"))
}

pub(crate) fn has_page(workspace: &Workspace) -> bool {
    ["web/dist", "crates/shapetracker-cli/page"]
        .iter()
        .all(|folder| workspace.path(folder).join("index.html").is_file())
}

/// The files that a file of the page names: what is quoted and begins with `./`, or is made a URL by a script, up to a fragment.
fn references(text: &str) -> impl Iterator<Item = &str> {
    let parts: Vec<&str> = text.split(['"', '\'', '`']).collect();
    let pairs = (1..parts.len()).map(move |i| (parts[i - 1], parts[i]));
    let named = |before: &str, part| before.ends_with("new URL(").then_some(part);
    let all = pairs.filter_map(move |(before, part)| part.strip_prefix("./").or_else(|| named(before, part)));
    // What begins with a fragment is the page itself.
    all.filter_map(|file| file.split('#').next()).filter(|file| !file.is_empty())
}

/// The site.
impl Release<'_> {
    fn site(&self) -> Outcome {
        let name = format!("shapetracker-{}-site", self.version);
        let folder = self.scratch.0.join(&name);
        // Nothing of libraries that are no longer there.
        let _ = fs::remove_dir_all(self.workspace.target("site-api/doc"));
        site::make(self.workspace, &folder)?;
        for file in LICENCES {
            copy(&self.workspace.path(file), &folder.join(file))?;
        }
        site::check_links(&self.unpack(&self.pack(&name)?, "site")?)
    }
}

/// The command.
impl Release<'_> {
    fn command(&self) -> Outcome {
        let (build, target) =
            if self.zig { ("zigbuild", format!("{}.{OLDEST_GLIBC}", self.host)) } else { ("build", self.host.clone()) };
        let mut cargo = self.workspace.cargo_release(&format!("{build} --release --locked --bins"));
        if self.whole {
            cargo.args(["--target", &target]).env("PATH", path_with(&self.python.join("bin")));
            // Who unpacks the command cannot choose what it was built with. It takes minutes, which the step has not.
            cargo.args(["--features", "shapetracker-cli/zarr"]);
        }
        self.workspace.run(self.reproducible(&mut cargo))?;
        let built = if self.whole { format!("release-build/{}/release", self.host) } else { "release".to_owned() };
        let file = format!("shapetracker{}", env::consts::EXE_SUFFIX);
        let program = self.workspace.target(built).join(&file);

        let name = format!("shapetracker-{}-{}", self.version, self.host);
        let folder = self.scratch.0.join(&name);
        copy(&program, &folder.join("bin").join(&file))?;
        for (shell, place) in COMPLETIONS {
            let script = self.workspace.read(&mut self.bare(&program, &format!("completions {shell}")))?;
            write(&folder.join(place), &script)?;
        }
        let pages = manual(|arguments| self.workspace.read(&mut self.bare(&program, arguments)))?;
        for (name, page) in &pages {
            write(&folder.join(MANUAL).join(format!("{name}.1")), page)?;
        }
        for text in LICENCES.into_iter().chain(["CHANGELOG.md", "crates/shapetracker-cli/README.md"]) {
            let path = self.workspace.path(text);
            copy(&path, &folder.join("share/doc/shapetracker").join(path.file_name().unwrap_or_default()))?;
        }
        let installed = self.unpack(&self.pack(&name)?, "installed")?;

        let program = installed.join("bin").join(&file);
        self.try_command(&program)?;
        if cfg!(unix) {
            self.try_completions(&installed)?;
            self.try_manual(&installed, &pages)?;
        }
        let needs = fs::read(&program).map_err(|error| at(&program, error)).map(|bytes| newest_glibc(&bytes))?;
        anstream::println!("command: {}, {}", self.host, glibc_sentence(needs));
        Ok(())
    }

    /// Asks the command some things, the page among them.
    fn try_command(&self, program: &Path) -> Outcome {
        let version = format!("shapetracker {}\n", self.version);
        let questions: [(&[&str], &str); 3] = [
            (&["--version"], &version),
            (&["merge", "(4, 6):(1, 4)", "(4, 2, 3):(6, 3, 1)"], "(4, 2, 3):(1, 12, 4)"),
            (&["index", "(3, 2).permute(1, 0).reshape(3, 2)"], "index = t0 + idx1 - t0 // 3 * 5"),
        ];
        for (question, answer) in questions {
            let text = self.workspace.read(self.bare(program, "").args(question))?;
            if !text.contains(answer) {
                return Err(failed(format!("`shapetracker {}` says\n{text}and not {answer}", question.join(" "))));
            }
        }
        if !has_page(self.workspace) {
            return Ok(());
        }
        let mut command = self.bare(program, "explore --json");
        let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut server = spawned.map_err(|error| at(program, error))?;
        let mut line = String::new();
        let read = server.stdout.take().map(|output| BufReader::new(output).read_line(&mut line));
        let served =
            match (read, line.trim().strip_prefix("{\"url\":\"http://").and_then(|rest| rest.strip_suffix("/\"}"))) {
                (Some(Ok(_)), Some(address)) => self.try_server(address),
                _ => Err(failed(format!("`shapetracker explore --json` says `{line}`"))),
            };
        let _ = server.kill().and_then(|()| server.wait());
        served
    }

    /// Fetches every file of the page.
    fn try_server(&self, address: &str) -> Outcome {
        let files = page_files(self.workspace)?;
        for (name, path) in files.iter().filter(|(name, _)| web::is_for_the_command(name)) {
            let fetch = || {
                let mut stream = TcpStream::connect(address)?;
                stream.set_read_timeout(Some(Duration::from_secs(20)))?;
                write!(stream, "GET /{name} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
                let mut answer = Vec::new();
                stream.read_to_end(&mut answer)?;
                Ok::<_, std::io::Error>(answer.ends_with(&fs::read(path)?))
            };
            if !fetch().map_err(|error| at(path, error))? {
                return Err(failed(format!("`shapetracker explore` serves another {name} than was built")));
            }
        }
        Ok(())
    }

    /// Lets each shell load the completions, and complete something.
    fn try_completions(&self, installed: &Path) -> Outcome {
        const BASH: &str = r#"
            . "$1" && complete -p shapetracker || exit
            COMP_WORDS=(shapetracker expl) COMP_CWORD=1; _shapetracker shapetracker expl shapetracker; echo "${COMPREPLY[@]}"
            COMP_WORDS=(shapetracker index --ke) COMP_CWORD=2; _shapetracker shapetracker --ke index; echo "${COMPREPLY[@]}""#;
        const ZSH: &str = r#"fpath=("${1:h}" $fpath); autoload -Uz compinit && compinit -u -D
            autoload +X _shapetracker && echo "$_comps[shapetracker]" && zsh -f -n "$1""#;
        const FISH: &str = r#"source $argv[1]; complete -C "shapetracker expl"; complete -C "shapetracker index --ke""#;
        for (shell, place) in COMPLETIONS {
            if !self.has(shell, shell) {
                anstream::println!(
                    "skipped: completions for {shell} are not tried, it is not there (apt-get install {shell})"
                );
                continue;
            }
            let (options, script, expected): (_, _, &[&str]) = match shell {
                "bash" => ("--noprofile --norc -c", BASH, &["-F _shapetracker", "explain explore\n", "--kernel\n"]),
                "zsh" => ("-f -c", ZSH, &["_shapetracker\n"]),
                _ => ("--no-config --private -c", FISH, &["explain\t", "explore\t", "--kernel\t"]),
            };
            let file = installed.join(place);
            let mut shell_command = self.bare(shell, options);
            shell_command.arg(script);
            // What comes after the script is $0, but not to fish.
            shell_command.args((shell != "fish").then_some(shell)).arg(&file).stdin(Stdio::null());
            shell_command.env("PATH", env::var_os("PATH").unwrap_or_default()).env("HOME", &self.scratch.0);
            let (status, output) = captured(&mut shell_command).map_err(|error| failed(format!("{shell}: {error}")))?;
            if !status.success() || !expected.iter().all(|text| output.contains(text)) {
                let file = file.display();
                return Err(failed(format!(
                    "{shell} does not complete with {file}, but ends with {status} and says\n{output}"
                )));
            }
        }
        Ok(())
    }

    /// Formats each page of the manual without a warning, and has one found beside the command.
    fn try_manual(&self, installed: &Path, pages: &[(String, String)]) -> Outcome {
        if !self.has("groff", "groff") {
            anstream::println!("skipped: the manual is not formatted, there is no groff (apt-get install groff)");
            return Ok(());
        }
        for (page, _) in pages {
            let path = installed.join(MANUAL).join(format!("{page}.1"));
            let mut groff = self.workspace.command("groff", "-man -Tutf8 -ww");
            let (status, output) =
                captured(groff.arg(&path).stdin(Stdio::null())).map_err(|error| failed(format!("groff: {error}")))?;
            let complaints: Vec<&str> = output.lines().filter(|line| line.contains("warning: ")).collect();
            if !status.success()
                || !complaints.is_empty()
                || !output.contains("DESCRIPTION") && !output.contains("D\u{8}D")
            {
                return Err(failed(format!("groff cannot format {page}.1\n{}", complaints.join("\n"))));
            }
        }
        if self.workspace.succeeds(&mut self.workspace.command("man", "--version")) {
            let mut man = self.bare("man", "-w shapetracker-explain");
            man.env("PATH", path_with(&installed.join("bin")));
            let found = self.workspace.read(&mut man)?;
            if !found.contains("shapetracker-explain.1") {
                return Err(failed(format!("`man -w shapetracker-explain` finds {found}")));
            }
        }
        Ok(())
    }

    /// Whether there is a program: after installing its package, where that needs nobody's leave.
    fn has(&self, program: &str, package: &str) -> bool {
        let there = || self.workspace.succeeds(&mut self.workspace.command(program, "--version"));
        if !there() && self.whole {
            steps::install(self.workspace, package);
        }
        there()
    }
}

/// All pages of the manual with their names, as the command prints them.
pub(crate) fn manual(read: impl Fn(&str) -> Result<String, Stop>) -> Result<Vec<(String, String)>, Stop> {
    let mut pages = vec![("shapetracker".to_owned(), read("man")?)];
    let mut done = 0;
    while let Some((_, page)) = pages.get(done) {
        // Commands of a command have pages of their own.
        for command in commands(page) {
            pages.push((format!("shapetracker-{command}"), read(&format!("man {}", command.replace('-', " ")))?));
        }
        done += 1;
    }
    Ok(pages)
}

/// The commands whose pages a page of the manual names, such as `explain`, or `layout-show`.
fn commands(manual: &str) -> Vec<String> {
    let names = manual.lines().filter_map(|line| line.strip_prefix("shapetracker\\-")?.strip_suffix("(1)"));
    names.map(|name| name.replace('\\', "")).collect()
}

/// The newest version of glibc whose symbols a program asks for: such as `GLIBC_2.34` among the names of its symbols.
fn newest_glibc(program: &[u8]) -> Option<(u32, u32)> {
    let text = String::from_utf8_lossy(program);
    let versions = text.split("GLIBC_").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (major, minor) = rest[..end].split_once('.')?;
        Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
    });
    versions.max()
}

/// The machine that a program is for, by its header.
fn machine(program: &[u8]) -> Option<&'static str> {
    match program {
        [0x7f, b'E', b'L', b'F', ..] => match program.get(18..20)? {
            [62, 0] => Some("x86_64"),
            [183, 0] => Some("aarch64"),
            _ => None,
        },
        _ => None,
    }
}

fn glibc_sentence(needs: Option<(u32, u32)>) -> String {
    needs.map_or_else(|| "needs no glibc".to_owned(), |(major, minor)| format!("needs glibc {major}.{minor} or later"))
}

/// The C interface.
impl Release<'_> {
    /// Headers and libraries, with what finds them. In a run of the tests a step of their own tries them.
    fn c_interface(&self) -> Outcome {
        if !cfg!(target_os = "linux") {
            anstream::println!("skipped: the archive for C and C++ has names and options of Linux");
            return Ok(());
        }
        let (program, target) = if self.zig {
            ("cargo-zigbuild", format!("{}.{OLDEST_GLIBC}", self.host))
        } else {
            ("cargo", self.host.clone())
        };
        // Optimised as one, which the form for programs in Rust cannot be: what a program links is a tenth smaller.
        let build = "rustc --release --locked --package shapetracker-c --lib --crate-type staticlib,cdylib";
        let mut cargo = self.workspace.command(program, build);
        for setting in ["lto='fat'", "codegen-units=1"] {
            cargo.args(["--config", &format!("profile.release.{setting}")]);
        }
        cargo.args(["--target", &target]).env("PATH", path_with(&self.python.join("bin")));
        self.workspace.run(self.reproducible(&mut cargo))?;
        let built = self.workspace.target(format!("release-build/{}/release", self.host));

        let name = format!("shapetracker-c-{}-{}", self.version, self.host);
        let folder = self.scratch.0.join(&name);
        c::install(self.workspace, &built, &folder)?;
        for text in LICENCES.into_iter().chain(["crates/shapetracker-c/README.md"]) {
            let path = self.workspace.path(text);
            copy(&path, &folder.join("share/doc/shapetracker-c").join(path.file_name().unwrap_or_default()))?;
        }
        let installed = self.unpack(&self.pack(&name)?, "c")?;
        c::try_installed(self.workspace, &installed, &self.scratch.0.join("c-programs"))
    }
}

/// The Python package.
impl Release<'_> {
    fn wheel(&self) -> Outcome {
        let mut maturin = self.maturin("build --release --locked --out");
        maturin.arg(&self.folder);
        if self.whole {
            maturin.args(["--target", &self.host]).args(self.zig.then_some("--zig"));
        }
        self.workspace.run(self.reproducible(&mut maturin))?;
        let wheel = self.made(".whl")?;
        let mut needs = None;
        for interpreter in self.interpreters() {
            let environment = self.environment(&interpreter)?;
            let mut pip = self.bare(environment.join("bin/python"), "-I -m pip install --quiet --no-index --no-deps");
            self.workspace.run(pip.arg(&wheel).env("HOME", &self.scratch.0))?;
            let module = self.try_package(&environment)?;
            needs = newest_glibc(&fs::read(&module).map_err(|error| at(&module, error))?);
            anstream::println!("wheel: tried with {interpreter}");
        }
        let name = wheel.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let tag = name.trim_end_matches(".whl").splitn(3, '-').nth(2).unwrap_or_default();
        anstream::println!("wheel: {tag}, {}", glibc_sentence(needs));
        if env::consts::OS == "linux" && !tag.contains("manylinux") && !tag.contains("musllinux") {
            anstream::println!("wheel: the tag promises this machine's system only; `auditwheel show` says why");
        }
        Ok(())
    }

    /// Wheels for other machines. For which machine and which system they are linked is looked up in their modules; nobody imports them
    /// here.
    fn wheels_for_others(&self) -> Outcome {
        for (target, tag) in OTHERS.into_iter().filter(|(target, _)| *target != self.host) {
            if !self.zig {
                anstream::println!("skipped: the wheel for {target} is linked by Zig (pip install {ZIG})");
                continue;
            }
            if !toolchains::has_target(self.workspace, target) {
                anstream::println!("skipped: the wheel for {target} (rustup target add {target})");
                continue;
            }
            let mut maturin = self.maturin("build --release --locked --zig --target");
            maturin.arg(target).arg("--out").arg(&self.folder);
            self.workspace.run(self.reproducible(&mut maturin))?;
            let (wheel, unpacked) = (self.made(tag)?, self.scratch.0.join(target));
            let mut unpack = self.bare(self.python.join("bin/python"), "-I -m zipfile -e");
            self.workspace.run(unpack.arg(&wheel).arg(&unpacked))?;
            let module = unpacked.join("shapetracker/_native.abi3.so");
            let bytes = fs::read(&module).map_err(|error| at(&module, error))?;
            let needs = newest_glibc(&bytes);
            if machine(&bytes) != target.split('-').next() || needs.is_some() != target.ends_with("-gnu") {
                let (machine, needs) = (machine(&bytes).unwrap_or("another machine"), glibc_sentence(needs));
                return Err(failed(format!("the module for {target} is one for {machine}, and {needs}")));
            }
            anstream::println!("wheel: {tag}, {}, not imported here", glibc_sentence(needs));
        }
        Ok(())
    }

    /// The source distribution. In a whole release a package is built of it and nothing else; else maturin is only asked
    /// whether it could be, which it answers without the compiler.
    fn source_distribution(&self) -> Outcome {
        self.workspace.run(self.maturin("sdist --out").arg(&self.folder))?;
        let archive = self.made(&format!("shapetracker-{}.tar.gz", self.version))?;
        let listed = self.workspace.read(self.workspace.command("tar", "-tzf").arg(&archive))?;
        for file in LICENCES.into_iter().chain(["Cargo.lock", "PKG-INFO", "crates/shapetracker-py/README.md"]) {
            if !listed.lines().any(|line| line.split_once('/').is_some_and(|(_, path)| path == file)) {
                return Err(failed(format!("the source distribution has no {file}")));
            }
        }
        let (mut pip, environment) = if self.whole {
            let environment = self.environment("python3")?;
            (self.bare(environment.join("bin/python"), "-I -m pip install --no-input --quiet"), Some(environment))
        } else {
            let asked =
                "-I -m pip install --no-input --quiet --dry-run --no-deps --no-build-isolation --force-reinstall";
            (self.bare(self.python.join("bin/python"), asked), None)
        };
        // Where pip, cargo and rustup keep what is theirs, and how they reach their registries.
        const KEPT: [&str; 5] = ["HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "TMPDIR"];
        const KINDS: [&str; 4] = ["PIP_", "SSL_", "CARGO_HTTP_", "CARGO_REGISTR"];
        pip.envs(env::vars_os().filter(|(name, _)| {
            let name = name.to_string_lossy().to_uppercase();
            KEPT.contains(&&name[..]) || name.ends_with("_PROXY") || KINDS.iter().any(|kind| name.starts_with(kind))
        }));
        let folder = environment.as_ref().unwrap_or(&self.python).join("bin");
        self.workspace.run(pip.arg(&archive).env("PATH", path_with(&folder)))?;
        environment.map_or(Ok(()), |environment| self.try_package(&environment).map(|_| ()))
    }

    /// `maturin`, in the environment that it is installed in.
    fn maturin(&self, arguments: &str) -> Command {
        let mut maturin = self.workspace.command(self.python.join("bin/python"), &format!("-m maturin {arguments}"));
        maturin.env("PATH", path_with(&self.python.join("bin"))).env("SOURCE_DATE_EPOCH", &self.time);
        self.workspace.sharing(&mut maturin);
        maturin
    }

    /// The one file of the release whose name ends so.
    fn made(&self, ending: &str) -> Result<PathBuf, Stop> {
        let files = web::files(&self.folder)?;
        let mut files = files.into_iter().filter(|(name, _)| name.ends_with(ending));
        files.next().map(|(_, path)| path).ok_or_else(|| failed(format!("maturin has made no file {ending}")))
    }

    /// The interpreters that a wheel is for: all that are there, or the usual one.
    fn interpreters(&self) -> Vec<String> {
        let all = if self.whole { (10..30).map(|minor| format!("python3.{minor}")).collect() } else { Vec::new() };
        let has_venv =
            |name: &String| self.workspace.succeeds(self.workspace.command(name, "-c").arg("import venv, ensurepip"));
        let found: Vec<String> = all.into_iter().filter(has_venv).collect();
        if found.is_empty() { vec!["python3".to_owned()] } else { found }
    }

    /// A new environment, in which nothing is installed but pip.
    fn environment(&self, interpreter: &str) -> Result<PathBuf, Stop> {
        let folder = self.scratch.0.join("environment");
        let mut venv = self.workspace.command(interpreter, "-m venv --clear");
        self.workspace.run(venv.arg(&folder).current_dir(&self.scratch.0))?;
        Ok(folder)
    }

    /// Imports the installed package and asks it something; returns where its native module is.
    fn try_package(&self, environment: &Path) -> Result<PathBuf, Stop> {
        const QUESTIONS: &str = r#"
import sys, importlib.metadata, shapetracker
from shapetracker import ShapeTracker, View, merge
assert importlib.metadata.version("shapetracker") == sys.argv[1], importlib.metadata.version("shapetracker")
assert merge(View((4, 6), (1, 4)), View((4, 2, 3))) == View((4, 2, 3), (1, 12, 4))
assert ShapeTracker.parse("(3, 2).permute(1, 0).reshape(3, 2)").address(2, 0) == 3
assert "numpy" not in sys.modules
assert shapetracker.__file__.startswith(sys.prefix), shapetracker.__file__
print(shapetracker._native.__file__)
"#;
        let mut python = self.bare(environment.join("bin/python"), "-I -c");
        let module = self.workspace.read(python.arg(QUESTIONS).arg(&self.version))?;
        Ok(PathBuf::from(module.trim()))
    }
}

/// The list of what there is.
impl Release<'_> {
    fn checksums(&self) -> Outcome {
        let files: BTreeSet<String> = web::files(&self.folder)?.into_iter().map(|(name, _)| name).collect();
        let programs = [("sha256sum", "--"), ("shasum", "-a 256 --")];
        let Some((program, options)) = programs
            .iter()
            .find(|(program, _)| self.workspace.succeeds(&mut self.workspace.command(*program, "--version")))
        else {
            return Err(skipped("the checksums are those of sha256sum (apt-get install coreutils)"));
        };
        let mut sums = self.workspace.command(*program, options);
        let sums = self.workspace.read(sums.args(files).current_dir(&self.folder))?;
        write(&self.folder.join(CHECKSUMS), &sums)
    }
}

/// Copies a file, permissions included, into a folder that need not be there.
pub(crate) fn copy(from: &Path, to: &Path) -> Outcome {
    let folder = to.parent().unwrap_or(to);
    fs::create_dir_all(folder).and_then(|()| fs::copy(from, to)).map_err(|error| at(from, error))?;
    Ok(())
}

/// Writes a file into a folder that need not be there.
pub(crate) fn write(to: &Path, text: &str) -> Outcome {
    let folder = to.parent().unwrap_or(to);
    fs::create_dir_all(folder).and_then(|()| fs::write(to, text)).map_err(|error| at(to, error))
}

pub(crate) fn at(path: &Path, error: std::io::Error) -> Stop {
    failed(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_needs() {
        let program = b"\0GLIBC_2.4\0GLIBC_2.34\0GLIBC_2.17\0GLIBC_PRIVATE\0GLIBC_2.\0GLIBC_2.5";
        assert_eq!(newest_glibc(program), Some((2, 34)));
        assert_eq!(newest_glibc(b"\x7fELF, static"), None);
        let header = |kind: u8| [&b"\x7fELF\x02\x01\x01"[..], &[0; 9], &[3, 0, kind, 0]].concat();
        assert_eq!([62, 183, 40].map(|kind| machine(&header(kind))), [Some("x86_64"), Some("aarch64"), None]);
        assert_eq!(machine(b"MZ"), None);
    }

    #[test]
    fn what_a_page_names() {
        let page = r#"<script src="./index-a_1.js"></script><a href="https://x.org/a.js">new URL('b.wasm', base), save('c.svg')"#;
        assert_eq!(references(page).collect::<Vec<_>>(), ["index-a_1.js", "b.wasm"]);
    }

    #[test]
    fn what_a_manual_names() {
        let manual = ".TP\nshapetracker\\-explain(1)\nFollow shapetracker\\-x(1)\n.TP\nshapetracker\\-two\\-words(1)\n";
        assert_eq!(commands(manual), ["explain", "two-words"]);
    }
}
