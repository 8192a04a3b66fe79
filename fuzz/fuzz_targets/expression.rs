//! Any text is an expression or a complaint that points into it; an expression prints as text that reads as the same,
//! and simplifies to one that has the same values and costs no more.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shapetracker::expr::{Expr, Graph, Syntax};

/// Reads a text as either language has it.
fn parse(graph: &mut Graph, text: &str, syntax: Syntax) -> Option<Expr> {
    match graph.parse(text, syntax) {
        Ok(expr) => Some(expr),
        Err(err) => {
            assert!(text.get(err.span()).is_some() && err.to_string().len() < 2000, "{err}");
            None
        }
    }
}

fuzz_target!(|text: &str| {
    let mut graph = Graph::new();
    for (name, range) in [("x", 0..6), ("y", -5..7), ("n", 1..4), ("m", -3..0)] {
        graph.variable(name, range).unwrap();
    }
    for syntax in [Syntax::Python, Syntax::C] {
        let Some(expr) = parse(&mut graph, text, syntax) else { continue };
        let values = graph.values(expr).unwrap();

        let Ok(python) = graph.text(expr, Syntax::Python) else { continue };
        // What is shared is written out each time: that may be long, and reading it takes as long.
        if python.len() > 1 << 16 {
            continue;
        }
        assert_eq!(graph.parse(&python, Syntax::Python).as_ref(), Ok(&expr), "{python}");
        // What C needs to round down can have ranges too wide to be read again.
        if let Ok(c) = graph.text(expr, Syntax::C)
            && c.len() <= 1 << 16
            && let Ok(again) = graph.parse(&c, Syntax::C)
        {
            assert_eq!(graph.values(again).unwrap(), values, "{python} is not {c}");
        }
        let point = [2, -3, 3, -2];
        assert_eq!(graph.evaluate(expr, &point).unwrap(), values[((2 * 12 + 2) * 3 + 2) * 3 + 1], "{python}");

        let simple = graph.simplify(expr);
        let shown = || format!("{python} became {}", graph.text(simple, Syntax::Python).unwrap_or_default());
        assert_eq!(graph.values(simple).unwrap(), values, "{}", shown());
        assert!(graph.cost(&[simple]).weight <= graph.cost(&[expr]).weight, "{}", shown());
    }
});
