//! The header that C programs include is the one that the functions of this crate have.

use std::collections::HashMap;
use std::path::Path;
use std::{env, fs};

use cbindgen::{Builder, Config, ExportConfig, Language, RenameRule, Style};

const NOTICE: &str = "\
/* shapetracker: exact tensor layouts, index expressions and copies.
 *
 * Made of the documentation in crates/shapetracker-c/src by its test `header`; changes here are overwritten.
 *
 * A function that can fail returns an error, or NULL where it succeeded, and only then writes its result. Whoever has a
 * handle ends it, once, with the function of its kind. A text that a function wrote is ended by st_text_free; texts that a
 * function returned live as long as the handle that they were asked of.
 *
 * All but nests do not change, and any number of threads may use one of them at a time; a nest is used by one thread at
 * a time. Null in the place of a handle is an error, and so is a handle of another kind. A handle that was ended is
 * undefined behaviour, except in builds with debug assertions, where it is an error, too. A list points to as many entries as
 * the number beside it says, and may be NULL where there are none; texts are UTF-8 and end with a zero byte. */";

/// The names that types of this crate have in C, each with what begins its values.
const NAMES: [(&str, &str); 10] = [
    ("Error", "st_error"),
    ("Tracker", "st_tracker"),
    ("Strided", "st_view"),
    ("Answer", "st_answer"),
    ("Evidence", "st_witness"),
    ("Expression", "st_expression"),
    ("Op", "st_op"),
    ("Part", "st_node"),
    ("Nest", "st_nest"),
    ("Plan", "st_plan"),
];

fn generated(root: &Path) -> String {
    let mut names: HashMap<String, String> = NAMES.iter().map(|&(own, in_c)| (own.into(), in_c.into())).collect();
    names.insert("Layout".into(), "st_layout".into());
    let mut config = Config {
        language: Language::C,
        header: Some(NOTICE.into()),
        include_guard: Some("SHAPETRACKER_H".into()),
        cpp_compat: true,
        style: Style::Type,
        no_includes: true,
        sys_includes: ["stdbool.h", "stddef.h", "stdint.h"].map(String::from).into(),
        usize_is_size_t: true,
        export: ExportConfig { rename: names, ..ExportConfig::default() },
        line_length: 110,
        documentation: true,
        ..Config::default()
    };
    config.enumeration.rename_variants = RenameRule::QualifiedScreamingSnakeCase;
    let mut builder = Builder::new().with_config(config);
    for file in ["version", "error", "tracker", "answer", "expression", "nest", "plan", "layout"] {
        builder = builder.with_src(root.join(format!("src/{file}.rs")));
    }
    let mut header = Vec::new();
    builder.generate().expect("the sources are read").write(&mut header);
    String::from_utf8(header).expect("a header is text")
}

#[test]
fn the_header_declares_what_there_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (path, new) = (root.join("include/shapetracker.h"), generated(root));
    if env::var_os("BLESS").is_some() {
        fs::create_dir_all(root.join("include")).and_then(|()| fs::write(&path, &new)).unwrap();
    }
    let old = fs::read_to_string(&path).unwrap_or_default();
    assert!(old == new, "include/shapetracker.h is not what the functions say: BLESS=1 writes it anew");
}

/// What a header declares twice, or a function that it lacks, no compiler sees as long as nobody calls it.
#[test]
fn every_function_is_declared_once() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let header = fs::read_to_string(root.join("include/shapetracker.h")).unwrap();
    let mut functions = 0;
    for entry in fs::read_dir(root.join("src")).unwrap() {
        let source = fs::read_to_string(entry.unwrap().path()).unwrap();
        for rest in source.split("extern \"C\" fn ").skip(1) {
            let name = rest.split('(').next().unwrap();
            let declared = header.matches(&format!("{name}(")).count();
            assert_eq!(declared, 1, "{name} is declared {declared} times");
            functions += 1;
        }
    }
    assert!(functions >= 40, "{functions} functions");
}
