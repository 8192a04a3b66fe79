//! How many instructions a C compiler makes of the code of recorded stacks, beside those for the expressions of the
//! compiler that they were recorded from (tinygrad 0.11.0).
//!
//! `tests/corpus/reference.jsonl.gz` has these expressions for every stack of more than one view of `indexed.jsonl`:
//! `index` and `valid` as they were printed, and the `bits` that their values need. Both sides become a function
//! `long f(int idx0, int idx1, .., int *valid)`, compiled with `-O2`; what is counted are the instructions of its body,
//! the return among them. Our code declares variables that are never negative as unsigned, so that its function begins
//! with such declarations, which cost nothing. `INSTRUCTIONS=all` compiles every stack, and prints the table that is in
//! `benches/README.md`; without it a sample is compiled.

use std::collections::HashMap;
use std::fmt::Write;

use shapetracker::expr::{Cost, Language};
use shapetracker_testing::judges_sums;

use crate::cases;
use crate::programs::number_type;
use crate::tools::Tool;

/// A stack of which both sides have been compiled.
struct Compiled {
    id: String,
    code: String,
    reference: String,
    cost: Cost,
    /// The instructions of ours and of theirs.
    instructions: [usize; 2],
}

/// A function of a snippet that defines `valid` and `index`.
fn function(name: &str, axes: usize, declarations: &str, code: &str) -> String {
    let parameters: String = (0..axes).map(|axis| format!("int i{axis}, ")).collect();
    format!("long {name}({parameters}int *is_valid) {{\n{declarations}{code}*is_valid = valid;\nreturn index;\n}}\n\n")
}

/// Declarations of the variables as numbers of a type.
fn declarations(kind: &str, axes: usize) -> String {
    (0..axes).map(|axis| format!("const {kind} idx{axis} = i{axis};\n")).collect()
}

/// The code of the reference: its expressions have C's operators, `//` apart, and divide what is not negative, or round
/// as C does.
fn reference(index: &str, valid: &str, bits: i64) -> String {
    let c = |text: &str| text.replace("//", "/").replace("True", "1").replace("False", "0");
    let kind = if bits > 32 { "long long" } else { "int" };
    format!("const int valid = {};\nconst {kind} index = {};\n", c(valid), c(index))
}

/// The instructions of each function of an assembly listing.
fn instructions(listing: &str) -> HashMap<&str, usize> {
    let (mut counts, mut function) = (HashMap::new(), None);
    for line in listing.lines() {
        if let Some(name) = line.strip_suffix(':').filter(|name| name.starts_with("our_") || name.starts_with("their_"))
        {
            function = Some(name);
        } else if line.starts_with("\t.size") {
            function = None;
        } else if let Some(name) = function.filter(|_| line.starts_with('\t') && !line.starts_with("\t.")) {
            *counts.entry(name).or_default() += 1;
        }
    }
    counts
}

/// Every `step`-th stack of more than one view, compiled; `None` without a compiler that makes listings for x86-64.
fn compiled(step: usize) -> Option<Vec<Compiled>> {
    let tool = Tool::listing()?;
    let references: HashMap<String, serde_json::Value> =
        cases::lines("reference").into_iter().map(|line| (line["id"].as_str().expect("an id").into(), line)).collect();
    let (mut stacks, mut program) = (Vec::new(), String::new());
    for line in cases::lines("indexed")
        .iter()
        .filter(|line| line["views"].as_array().is_some_and(|v| v.len() > 1))
        .step_by(step)
    {
        // One stack has an address past i64.
        let Some(index) = cases::tracker(line).and_then(|tracker| tracker.index_expr().ok()) else { continue };
        let id = line["id"].as_str().expect("an id");
        let theirs = &references[id];
        let text = |key: &str| theirs[key].as_str().expect("an expression");
        let bits = theirs["bits"].as_i64().expect("a number of bits");
        let code = index.code(Language::C).expect("C has all of it");
        let theirs = reference(text("index"), text("valid"), bits);
        let axes = index.extents().len();
        let kind = if bits > 32 { "long long" } else { "int" };
        let ours = declarations(number_type(Language::C, &code, true), axes);
        program += &function(&format!("our_{id}"), axes, &ours, &code);
        program += &function(&format!("their_{id}"), axes, &declarations(kind, axes), &theirs);
        stacks.push((id.to_owned(), code, theirs, index.cost()));
    }
    let listing = tool.lines("instructions", &program).join("\n");
    let counts = instructions(&listing);
    let stack = |(id, code, reference, cost): (String, String, String, Cost)| {
        let instructions = ["our", "their"].map(|side| counts[&format!("{side}_{id}")[..]]);
        Compiled { id, code, reference, cost, instructions }
    };
    Some(stacks.into_iter().map(stack).collect())
}

#[test]
fn found_by_an_audit_recorded_stacks_need_hardly_more_instructions_than_the_reference() {
    // What the compiler makes of all of them together is judged.
    if !judges_sums() {
        return;
    }
    let all = std::env::var_os("INSTRUCTIONS").is_some_and(|value| value == "all");
    let Some(stacks) = compiled(if all { 1 } else { 16 }) else { return };
    let total = |side: usize| stacks.iter().map(|stack| stack.instructions[side]).sum::<usize>();
    let ratio = |stack: &Compiled| stack.instructions[0] as f64 / stack.instructions[1] as f64;
    let mut dearer: Vec<&Compiled> = stacks.iter().filter(|stack| ratio(stack) > 1.0).collect();
    dearer.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
    let mut text = String::new();
    for Compiled { id, code, reference, cost, instructions: [ours, theirs] } in &dearer {
        let _ = writeln!(text, "{id}: {ours} for {theirs}, weight {}\n{code}{reference}", cost.weight);
    }
    let share = total(0) as f64 / total(1) as f64;
    let worst = stacks.iter().map(ratio).fold(0.0, f64::max);
    println!(
        "{text}| stacks | ours | reference | ours / reference | worst stack | dearer |\n|---|---|---|---|---|---|"
    );
    println!("| {} | {} | {} | {share:.3} | {worst:.2} | {} |", stacks.len(), total(0), total(1), dearer.len());
    // The figures are those of GCC 12. Other compilers move numbers between registers elsewhere: a few percent.
    assert!(share <= 0.58 * 1.05, "instructions are {share:.3} of the reference's");
    let much = dearer.iter().filter(|stack| stack.instructions[0] > stack.instructions[1] + 2).count();
    assert!(much == 0 && dearer.len() * 50 <= stacks.len(), "{} stacks are dearer\n{text}", dearer.len());
}
