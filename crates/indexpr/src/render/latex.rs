//! Equations in LaTeX, for papers and notebooks.

use super::Unsupported;
use super::clike::{Root, Statement, Writer};
use super::lower::{Dialect, Program};
use crate::graph::{Expr, Graph};
use crate::index::IndexExpr;

/// An equation for each name, after those for what they share.
pub(super) fn equations(graph: &Graph, named: &[(&str, Expr)]) -> Result<String, Unsupported> {
    let exprs: Vec<Expr> = named.iter().map(|(_, expr)| *expr).collect();
    let (program, roots) = Program::new(graph, &exprs, Dialect::Latex)?;
    let names: Vec<String> = named.iter().map(|(name, _)| symbol(name)).collect();
    let roots: Vec<_> = names.iter().zip(roots).map(|(name, root)| Root::Named(name, root)).collect();
    let variables: Vec<String> = graph.variables().iter().map(|variable| symbol(&variable.name)).collect();
    let variables: Vec<&str> = variables.iter().map(|name| &name[..]).collect();
    let (statements, _) =
        Writer { program: &program, variables: &variables, levels: &[], foreign: false }.write(&roots);
    Ok(aligned(statements, None))
}

/// An equation for the address: by cases where the guard depends on the variables.
pub(super) fn address(code: &IndexExpr) -> Result<String, Unsupported> {
    let (program, roots) = Program::new(&code.graph, &[code.valid, code.index], Dialect::Latex)?;
    let roots: Vec<_> = roots.into_iter().map(Root::Inline).collect();
    let variables: Vec<String> = code.graph.variables().iter().map(|variable| symbol(&variable.name)).collect();
    let variables: Vec<&str> = variables.iter().map(|name| &name[..]).collect();
    let (statements, texts) =
        Writer { program: &program, variables: &variables, levels: &[], foreign: false }.write(&roots);
    let (valid, index) = (&texts[0].text, &texts[1].text);
    let address = match crate::constants::constant(&code.graph, code.valid) {
        Some(1) => format!(r"\mathrm{{address}} &= {index}"),
        Some(_) => r"\mathrm{address} &= \text{none}".into(),
        None => format!(
            "\\mathrm{{address}} &= \\begin{{cases}}\n\
             {index} & \\text{{if }} {valid} \\\\\n\
             \\text{{none}} & \\text{{otherwise}}\n\
             \\end{{cases}}",
        ),
    };
    Ok(aligned(statements, Some(address)))
}

/// Lines in one `aligned` environment.
fn aligned(statements: Vec<Statement>, last: Option<String>) -> String {
    let lines: Vec<String> = statements.into_iter().map(|statement| statement.text).chain(last).collect();
    format!("\\begin{{aligned}}\n{}\n\\end{{aligned}}\n", lines.join(" \\\\\n"))
}

/// A name as mathematics: trailing digits become a subscript, and several letters a word in italics.
fn symbol(name: &str) -> String {
    let word = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &name[word.len()..];
    let word = match word {
        "" => return format!(r"\mathit{{{digits}}}"),
        "idx" => "i".into(),
        _ if word.chars().count() == 1 && word != "_" => word.to_owned(),
        _ => format!(r"\mathit{{{}}}", word.replace('_', r"\_")),
    };
    if digits.is_empty() { word } else { format!("{word}_{{{digits}}}") }
}
