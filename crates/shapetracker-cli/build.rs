//! Puts the built page of the explorer into the command, where there is one: `cargo xtask web` builds it.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

fn main() {
    let page = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo says where the package is")).join("page");
    // To cargo, what is missing has always changed. A page that is built later changes the folder that it is in.
    println!("cargo::rerun-if-changed={}", if page.is_dir() { "page" } else { "." });
    let mut files: Vec<_> = fs::read_dir(&page)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some((entry.as_ref().ok()?.file_name().into_string().ok()?, entry.ok()?.path())))
        .filter(|(name, path)| !name.starts_with('.') && path.is_file())
        .collect();
    // It is put there last: without it the page is not all there.
    if !page.join("index.html").is_file() {
        files.clear();
    }
    files.sort();
    let mut table = String::from("&[\n");
    for (name, path) in files {
        let _ = writeln!(table, "    ({name:?}, include_bytes!({:?})),", path.display().to_string());
    }
    table.push_str("]\n");
    let out = Path::new(&env::var("OUT_DIR").expect("cargo says where outputs go")).join("page.rs");
    fs::write(out, table).expect("the folder of outputs can be written");
}
