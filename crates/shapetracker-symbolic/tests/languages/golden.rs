//! The code of a few trackers, as it was when somebody read it.

use std::path::PathBuf;

use indexpr::Language;

use crate::cases;

#[test]
fn the_code_is_as_it_was() {
    let bless = std::env::var_os("BLESS").is_some_and(|value| value == "1");
    let mut different = Vec::new();
    for case in cases::golden() {
        let mut text = String::new();
        for &language in Language::ALL {
            let code = case.code.code(language).unwrap_or_else(|error| format!("{error}\n"));
            text += &format!("==== {language}\n{code}\n");
            if let Ok(kernel) = case.code.kernel(language) {
                text += &format!("==== {language}: kernel\n{kernel}\n");
            }
        }
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/languages/golden/{}.txt", case.name));
        if bless {
            std::fs::write(&path, &text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        } else if std::fs::read_to_string(&path).ok().as_deref() != Some(&text) {
            different.push(format!("{path:?} should be\n{text}"));
        }
    }
    let advice = "read what changed, and run with BLESS=1 if it is right";
    assert!(different.is_empty(), "{advice}\n{}", different.join("\n"));
}
