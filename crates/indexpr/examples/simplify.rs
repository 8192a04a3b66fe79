//! An intermediate representation's index expression, simplified and printed.

use indexpr::{Binary, Error, Graph, Language, Syntax};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // for row in 0..64, for column in 0..32: the compiler has flattened both loops and split them again.
    let mut graph = Graph::new();
    let row = graph.variable("row", 0..64)?;
    let column = graph.variable("column", 0..32)?;
    let index = flattened_and_split(&mut graph, row, column)?;
    assert_eq!(
        graph.text(index, Syntax::Python)?,
        "(row * 32 + column) // 256 * 256 + (row * 32 + column) // 32 % 8 * 32 + (row * 32 + column) % 32",
    );

    // The ranges of the loops prove that all of it cancels.
    let simple = graph.simplify(index);
    assert_eq!(graph.text(simple, Syntax::Python)?, "row * 32 + column");
    assert_eq!(graph.cost(&[index]).divmods, 0); // powers of two, but still operations:
    assert_eq!((graph.cost(&[index]).ops, graph.cost(&[simple]).ops), (10, 2));

    // What must stay is written so that C, which rounds towards zero, gives the same.
    let shifted = graph.parse("(column - 7) // 3", Syntax::Python)?;
    assert_eq!(graph.code(Language::C, &[("third", shifted)])?, "const int third = (((column + 2) * 43) >> 7) - 3;\n");
    Ok(())
}

/// `x // 256 * 256 + x // 32 % 8 * 32 + x % 32` with `x = row * 32 + column`, as a lowering pass emits it.
fn flattened_and_split(graph: &mut Graph, row: indexpr::Expr, column: indexpr::Expr) -> Result<indexpr::Expr, Error> {
    let [eight, width, block] = [8, 32, 256].map(|number| graph.int(number));
    let rows = graph.binary(Binary::Mul, row, width)?;
    let x = graph.binary(Binary::Add, rows, column)?;
    let outer = graph.binary(Binary::Div, x, block)?;
    let outer = graph.binary(Binary::Mul, outer, block)?;
    let inner = graph.binary(Binary::Div, x, width)?;
    let inner = graph.binary(Binary::Mod, inner, eight)?;
    let inner = graph.binary(Binary::Mul, inner, width)?;
    let rest = graph.binary(Binary::Mod, x, width)?;
    let sum = graph.binary(Binary::Add, outer, inner)?;
    graph.binary(Binary::Add, sum, rest)
}
