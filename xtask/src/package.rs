//! What a registry would be given: the packages that are to be published, made, unpacked and built as their users would.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use cargo_metadata::{Package, semver::Version};

use crate::{
    toolchains, web,
    workspace::{Outcome, Workspace, failed, skipped},
};

/// The most bytes that a package may have, compressed, without the explorer's page. Recorded layouts and golden files would take
/// several times that. The library's source alone was 286 kB before it read names and what people paste, and 325 since advice is
/// written for any kind of number, 346 since maps of several expressions are decided, 367 since layouts are described, and 371 since claims
/// about them are checked and more of what people paste is read; 373 since copies with names lie as libraries have them.
const MOST_BYTES: u64 = 374_500;
/// The most bytes of the page, each file gzipped: nearly all of it are the modules of the engine, whose limits are in `web.rs`. It was
/// 1,999 kB before layouts were composed and divided on the page of kernels, copies were played and the page was kept for reading offline,
/// and 2,015 before statements over several tensors were shown, whose module is 617 kB.
const MOST_BYTES_OF_PAGE: u64 = 2_650_000;
/// The most bytes of the page of GPU kernels, which has files and a module of its own: 75 kB before it composed and divided layouts.
const MOST_BYTES_OF_KERNELS: u64 = 119_000;
/// The folder of the command's package that has the page.
const PAGE: &str = "page";
/// What must be in every package, whatever else is.
const IN_EVERY_PACKAGE: [&str; 4] = ["Cargo.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Packages everything that is to be published, and builds each package from its own files and those of its siblings, as its users
/// would: with the oldest compiler that it promises to build with; libraries also alone, without any feature.
///
/// `cargo package` could build them itself, but into a folder of its own, with every dependency compiled anew. Unpacked
/// side by side in a workspace they share what is compiled.
pub(crate) fn check(workspace: &Workspace) -> Outcome {
    let packages = published(workspace);
    let complaints: Vec<String> = packages.iter().flat_map(|package| missing(package)).collect();
    if !complaints.is_empty() {
        return Err(failed(complaints.join("\n")));
    }
    // Packages that depend on each other and are on no registry yet can be packaged together since then.
    if workspace.version("cargo") < Some((1, 90)) {
        return Err(skipped("packages that depend on each other take cargo 1.90 or later (rustup update)"));
    }

    let package = format!("package --no-verify --allow-dirty{}", words(&packages));
    // What the lock file names is at hand after any build; a registry has nothing to add.
    if !workspace.succeeds(&mut workspace.cargo(&format!("{package} --offline"))) {
        workspace.run(&mut workspace.cargo(&package))?;
    }
    let folder = workspace.target("package").join("unpacked");
    unpack(workspace, &packages, &folder)?;

    for (version, promising) in promises(&packages) {
        let run = |arguments: &str| {
            workspace.run(toolchains::oldest_cargo(workspace, version, arguments)?.current_dir(&folder))
        };
        run(&format!("check --features shapetracker/serde{}", words(&promising)))?;
        for package in promising.iter().filter(|package| is_library(package)) {
            run(&format!("check --no-default-features --package {}", package.name))?;
        }
    }
    Ok(())
}

/// Builds what is not published, and the command's feature `zarr` with its about 150 packages, with the compiler that they promise to
/// build with. What of it is our own stands on libraries that [`check`] builds, and asks for all of them once more in the checkout.
pub(crate) fn oldest(workspace: &Workspace) -> Outcome {
    let (released, others): (Vec<&Package>, Vec<&Package>) =
        workspace.packages().into_iter().partition(|package| is_published(package));
    for (version, promising) in promises(&others) {
        workspace.run(&mut toolchains::oldest_cargo(workspace, version, &format!("check{}", words(&promising)))?)?;
    }
    let commands: Vec<&Package> =
        released.into_iter().filter(|package| package.features.contains_key("zarr")).collect();
    for (version, promising) in promises(&commands) {
        let arguments = format!("check{} --features zarr", words(&promising));
        workspace.run(&mut toolchains::oldest_cargo(workspace, version, &arguments)?)?;
    }
    Ok(())
}

/// The packages that promise to build with a version of Rust, by that version.
fn promises<'a>(packages: &[&'a Package]) -> BTreeMap<&'a Version, Vec<&'a Package>> {
    let mut promises: BTreeMap<&Version, Vec<&Package>> = BTreeMap::new();
    for &package in packages {
        if let Some(version) = &package.rust_version {
            promises.entry(version).or_default().push(package);
        }
    }
    promises
}

/// Packages as words for cargo.
fn words(packages: &[&Package]) -> String {
    packages.iter().map(|package| format!(" --package {}", package.name)).collect()
}

/// The packages that are to be published: all of them, except where the manifest says `publish = false`.
pub(crate) fn published(workspace: &Workspace) -> Vec<&Package> {
    workspace.packages().into_iter().filter(|package| is_published(package)).collect()
}

fn is_published(package: &Package) -> bool {
    package.publish.as_ref().is_none_or(|registries| !registries.is_empty())
}

/// Whether a package is there to be used by others' programs. What the command is made of is not, though the Python package has it, too.
pub(crate) fn is_library(package: &Package) -> bool {
    package.targets.iter().any(|target| target.is_lib()) && !package.targets.iter().any(|target| target.is_bin())
}

/// Where cargo puts a package that it has made.
pub(crate) fn archive(workspace: &Workspace, package: &Package) -> PathBuf {
    workspace.target("package").join(format!("{}-{}.crate", package.name, package.version))
}

/// What a manifest does not say and a registry, or whoever finds the package there, wants to know.
fn missing(package: &Package) -> Vec<String> {
    let fields = [
        ("description", package.description.is_none()),
        ("license", package.license.is_none()),
        ("readme", package.readme.is_none()),
        ("rust-version", package.rust_version.is_none()),
        ("keywords", package.keywords.is_empty()),
        ("categories", package.categories.is_empty()),
        ("package.metadata.docs.rs", package.metadata.get("docs").is_none()),
    ];
    let missing = fields.into_iter().filter(|(_, is_missing)| *is_missing);
    missing.map(|(field, _)| format!("{} is to be published, but has no `{field}`", package.name)).collect()
}

/// Unpacks the packages side by side, as a workspace in which each takes the others from their packages.
fn unpack(workspace: &Workspace, packages: &[&Package], folder: &Path) -> Outcome {
    let at = |path: &Path, error: std::io::Error| failed(format!("{}: {error}", path.display()));
    if folder.is_dir() {
        fs::remove_dir_all(folder).map_err(|error| at(folder, error))?;
    }
    fs::create_dir_all(folder).map_err(|error| at(folder, error))?;
    let (mut members, mut patches) = (String::new(), String::new());
    for package in packages {
        let name = format!("{}-{}", package.name, package.version);
        let packed = archive(workspace, package);
        let bytes = fs::metadata(&packed).map_err(|error| at(&packed, error))?.len();
        // Every file of every package has one time, by which cargo would take what it has built before for this.
        workspace.run(workspace.command("tar", "-xzmf").arg(&packed).arg("-C").arg(folder))?;
        let page = folder.join(&name).join(PAGE);
        let mut bytes = bytes;
        for (what, is_of_kernels, most) in
            [("explorer", false, MOST_BYTES_OF_PAGE), ("page of threads and banks", true, MOST_BYTES_OF_KERNELS)]
        {
            if !page.is_dir() {
                break;
            }
            let part = web::gzipped_files(&page, |name| name.starts_with("kernels") == is_of_kernels)? as u64;
            if part > most {
                return Err(failed(format!("the {what} in {name}.crate has {part} bytes, and may have {most}")));
            }
            bytes = bytes.saturating_sub(part);
        }
        if bytes > MOST_BYTES {
            return Err(failed(format!("{name}.crate has {bytes} bytes without a page, and may have {MOST_BYTES}")));
        }
        for file in IN_EVERY_PACKAGE {
            let path = folder.join(&name).join(file);
            if !path.is_file() {
                return Err(failed(format!("{name}.crate has no {file}")));
            }
        }
        members += &format!("  \"{name}\",\n");
        patches += &format!("{} = {{ path = \"{name}\" }}\n", package.name);
    }
    let manifest = format!("[workspace]\nresolver = \"3\"\nmembers = [\n{members}]\n\n[patch.crates-io]\n{patches}");
    let manifest_path = folder.join("Cargo.toml");
    fs::write(&manifest_path, manifest).map_err(|error| at(&manifest_path, error))?;
    let lock = workspace.path("Cargo.lock");
    fs::copy(&lock, folder.join("Cargo.lock")).map_err(|error| at(&lock, error))?;
    Ok(())
}
