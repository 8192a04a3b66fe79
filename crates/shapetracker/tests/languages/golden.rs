//! The code of a few trackers, as it was when somebody read it.

use std::path::PathBuf;

use shapetracker::expr::Language;

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
            // That there are no kernels in a language need not be said in every file.
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

/// A kernel in loops, and what stands in its innermost loops.
fn innermost(chain: &str, language: Language) -> (String, Vec<String>) {
    let tracker = chain.parse::<shapetracker::Chain>().unwrap().tracker().unwrap();
    let kernel = tracker.index_expr().unwrap().kernel(language).unwrap();
    let body = |loops: &str| loops.split('}').next().map(str::to_owned);
    // A loop with a line that writes before the next loop begins.
    let bodies = kernel.split("for ").filter(|part| part.contains("out[")).filter_map(body).collect();
    (kernel, bodies)
}

#[test]
fn a_kernel_in_loops_divides_by_nothing_and_asks_nothing_in_its_interior() {
    for language in [Language::C, Language::Rust] {
        let heads = "(8, 12, 64, 64).permute(0, 2, 1, 3).reshape(8, 64, 768)";
        let (kernel, bodies) = innermost(heads, language);
        assert_eq!((kernel.matches("for ").count(), bodies.len()), (4, 1), "{kernel}");
        assert!([" / ", " % ", ">>", "_euclid"].iter().all(|division| !kernel.contains(division)), "{kernel}");

        // A margin is written by loops of its own: of three axes two outer margins, and in the rows one more.
        let (kernel, bodies) = innermost("(16, 56, 56).pad((0, 0), (1, 1), (2, 0))", language);
        assert!(!kernel.contains("valid"), "{kernel}");
        assert_eq!(bodies.len(), 4, "{kernel}");

        // A window over a padded image: nine parts, one of which asks nothing, and that is the interior.
        let windows = "(4, 56, 56).pad((0, 0), (1, 1), (1, 1)).unfold(1, 3, 1).unfold(2, 3, 1)";
        let (kernel, bodies) = innermost(windows, language);
        let asking: Vec<bool> =
            bodies.iter().map(|body| body.contains("valid_in {") || body.contains("valid_in ?")).collect();
        assert_eq!((asking.len(), asking.iter().filter(|asks| !**asks).count()), (9, 1), "{kernel}");
        let interior = &bodies[asking.iter().position(|asks| !asks).unwrap()];
        assert!(interior.contains("0..3") || interior.contains("idx4 < 3"), "{interior}");

        // Six windows: three of them are run in parts, and the others asked.
        let six = (0..6).map(|axis| format!(".unfold({axis}, 3, 1)")).collect::<String>();
        let pads = ["(1, 1)"; 6].join(", ");
        let (kernel, bodies) = innermost(&format!("(8, 8, 8, 8, 8, 8).pad({pads}){six}"), language);
        assert_eq!(bodies.len(), 27, "{} bytes", kernel.len());
    }
}
