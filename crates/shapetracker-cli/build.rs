//! Puts the built page of the explorer into the command, where there is one: `cargo xtask web` builds it.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=page");
    let page = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo says where the package is")).join("page");
    let mut files: Vec<_> = fs::read_dir(&page)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some((entry.as_ref().ok()?.file_name().into_string().ok()?, entry.ok()?.path())))
        .filter(|(name, path)| !name.starts_with('.') && path.is_file())
        .collect();
    files.sort();
    let mut table = String::from("&[\n");
    for (name, path) in files {
        let _ = writeln!(table, "    ({name:?}, include_bytes!({:?})),", path.display().to_string());
    }
    table.push_str("]\n");
    let out = Path::new(&env::var("OUT_DIR").expect("cargo says where outputs go")).join("page.rs");
    fs::write(out, table).expect("the folder of outputs can be written");
}
