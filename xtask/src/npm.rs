//! The package for JavaScript: packed, installed in an empty folder without a network, and tried there as its README says.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    package, readme,
    release::{LICENCES, at, copy, write},
    web::{MODULES, files, gzipped, npm},
    workspace::{Outcome, Stop, Workspace, failed},
};

/// The folder of the package.
pub(crate) const FOLDER: &str = "npm";
/// The most bytes of the packed package: 2,621,100 of them are the limits of the modules in `web.rs`, 41 kB texts, types and scripts.
const MOST_PACKED: u64 = 2_675_000;

/// What `tsc` must refuse, so that what it accepts says something.
const WRONG: &str = r#"
import { ask, moduleOf } from "shapetracker";
// @ts-expect-error there is no such request
ask("chian", { text: "(3, 2)" });
// @ts-expect-error a source is an object
ask("trace", { source: "(3, 2)", index: [0, 0] });
// @ts-expect-error an answer has no such field
(await ask("chain", { text: "(3, 2)" })).views;
// @ts-expect-error it may be null
(await ask("chain", { text: "(3, 2)" })).result.shape;
// @ts-expect-error no module has this name
moduleOf("chain", { text: "" }) satisfies "names";
"#;

/// The settings of somebody who asks much of types, and none of whose packages says anything of Node.js.
const SETTINGS: &str = r#"{
  "compilerOptions": {
    "target": "ES2022",
    "module": "NodeNext",
    "strict": true,
    "exactOptionalPropertyTypes": true,
    "noUncheckedIndexedAccess": true,
    "skipLibCheck": false,
    "noEmit": true,
    "types": []
  },
  "include": ["*.mts"]
}
"#;

/// Puts what is written elsewhere into the package. Its modules are put there as they are built, and its scripts and types by the build
/// of the page.
pub(crate) fn fill(workspace: &Workspace) -> Outcome {
    for file in LICENCES.into_iter().chain(["crates/shapetracker-wasm/API.md"]) {
        let path = workspace.path(file);
        copy(&path, &workspace.path(FOLDER).join(path.file_name().unwrap_or_default()))?;
    }
    Ok(())
}

/// Packs what is built, and tries it.
pub(crate) fn check(workspace: &Workspace) -> Outcome {
    let folder = env::temp_dir().join(format!("shapetracker-npm-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(|error| at(&folder, error))?;
    let tried = pack(workspace, &folder).and_then(|archive| try_packed(workspace, &archive, &folder.join("tried")));
    let _ = fs::remove_dir_all(&folder);
    tried
}

/// Packs what is built into an archive in a folder.
pub(crate) fn pack(workspace: &Workspace, folder: &Path) -> Result<PathBuf, Stop> {
    let version = package::published(workspace).first().map(|package| package.version.to_string()).unwrap_or_default();
    let manifest = workspace.path(FOLDER).join("package.json");
    let text = fs::read_to_string(&manifest).map_err(|error| at(&manifest, error))?;
    if !text.contains(&format!("\"version\": \"{version}\"")) {
        return Err(failed(format!("{} does not have the version of the crates, {version}", manifest.display())));
    }
    let mut pack = npm(workspace, "pack --loglevel=error --pack-destination");
    workspace.run(pack.arg(folder).current_dir(workspace.path(FOLDER)))?;
    let archive = folder.join(format!("shapetracker-{version}.tgz"));
    let bytes = fs::metadata(&archive).map_err(|error| at(&archive, error))?.len();
    anstream::println!("the package for JavaScript: {bytes} bytes packed (at most {MOST_PACKED})");
    if bytes > MOST_PACKED {
        return Err(failed("the package for JavaScript is larger than it may be"));
    }
    Ok(archive)
}

/// Installs a packed package in an empty folder, and does there what its README says: each block of `js` prints the block of `text`
/// behind it, and is typed.
pub(crate) fn try_packed(workspace: &Workspace, archive: &Path, folder: &Path) -> Outcome {
    write(&folder.join("package.json"), "{ \"private\": true }\n")?;
    let mut install = npm(workspace, "install --offline --no-audit --no-fund --loglevel=error");
    workspace.run(install.arg(archive).current_dir(folder))?;
    let installed = folder.join("node_modules");
    let dependencies = fs::read_dir(&installed).map_err(|error| at(&installed, error))?;
    let dependencies = dependencies.filter_map(Result::ok).filter(|entry| entry.path().is_dir()).count();
    if dependencies != 1 {
        return Err(failed(format!("with the package for JavaScript {} others are installed", dependencies - 1)));
    }

    let readme = installed.join("shapetracker/README.md");
    let readme = fs::read_to_string(&readme).map_err(|error| at(&readme, error))?;
    let mut examples: Vec<(PathBuf, String)> = Vec::new();
    for block in readme::blocks(&readme) {
        let (language, block) = (block.language, block.lines.join("\n") + "\n");
        match language {
            "js" => {
                let script = folder.join(format!("example{}.mjs", examples.len()));
                write(&script, &block)?;
                write(&script.with_extension("mts"), &block)?;
                examples.push((script, String::new()));
            }
            "text" => examples.last_mut().into_iter().for_each(|(_, printed)| printed.clone_from(&block)),
            _ => {}
        }
    }
    if examples.is_empty() {
        return Err(failed("the README of the package for JavaScript has no examples"));
    }
    for (script, says) in examples {
        let printed = workspace.read(workspace.command("node", "").arg(script).current_dir(folder))?;
        if printed != says {
            return Err(failed(format!("{FOLDER}/README.md\n--- it says\n{says}\n--- it prints\n{printed}")));
        }
    }

    bundle(workspace, &folder.join("bundled"))?;
    write(&folder.join("wrong.mts"), WRONG)?;
    write(&folder.join("tsconfig.json"), SETTINGS)?;
    workspace.run(&mut tsc(workspace, folder))?;
    sizes(&readme, &installed.join("shapetracker/dist"))
}

/// Lets a bundler, the one that the page is built with, make a page that asks: it must find every module.
fn bundle(workspace: &Workspace, folder: &Path) -> Outcome {
    write(&folder.join("index.html"), "<script type=\"module\" src=\"./main.js\"></script>\n")?;
    write(&folder.join("main.js"), "import { ask } from \"shapetracker\";\nask(\"chain\", { text: \"(3, 2)\" });\n")?;
    let mut vite = workspace.command("node", "");
    vite.arg(workspace.path("web/node_modules/vite/bin/vite.js")).arg("build").current_dir(folder);
    workspace.run(&mut vite)?;
    let found = files(&folder.join("dist/assets"))?.into_iter().filter(|(name, _)| name.ends_with(".wasm")).count();
    let all = MODULES.len();
    if found == all { Ok(()) } else { Err(failed(format!("a bundler finds {found} of {all} modules of the engine"))) }
}

/// TypeScript's compiler, which the page is built with.
fn tsc(workspace: &Workspace, folder: &Path) -> Command {
    let mut command = workspace.command("node", "");
    command.arg(workspace.path("web/node_modules/typescript/bin/tsc")).arg("-p").arg(folder);
    command
}

/// The table of the README says how large the modules are, to a hundredth.
fn sizes(readme: &str, dist: &Path) -> Outcome {
    for (name, path) in files(dist)?.iter().filter(|(name, _)| name.ends_with(".wasm")) {
        let row = readme.lines().find(|line| line.starts_with(&format!("| {name} |")));
        let row: Vec<&str> = row.unwrap_or_default().split('|').map(str::trim).collect();
        let bytes = fs::read(path).map_err(|error| at(path, error))?.len();
        for (at, bytes) in [(3, bytes), (4, gzipped(path)?)] {
            let said = row.get(at).and_then(|cell| cell.strip_suffix(" kB")?.replace(',', "").parse::<usize>().ok());
            if said.is_none_or(|said| (said * 1000).abs_diff(bytes) > bytes / 100 + 500) {
                let said = row.get(at).unwrap_or(&"nothing");
                return Err(failed(format!("{FOLDER}/README.md says that {name} has {said}; it has {bytes} bytes")));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_modules() {
        let folder = env::temp_dir().join(format!("shapetracker-sizes-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a.wasm"), [0; 30_000]).unwrap();
        let is_said = |row: &str| sizes(row, &folder).is_ok();
        let said =
            ["| a.wasm | x | 30 kB | 0 kB |", "| a.wasm | x | 32 kB | 0 kB |", "| a.wasm | x | 30 kB | 2 kB |", ""]
                .map(is_said);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(said, [true, false, false, false]);
    }
}
