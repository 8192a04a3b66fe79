//! Random statements compiled from their text, and run beside loops that are walked here.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use indexpr::{Language, Signedness, Width};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use shapetracker_symbolic::{Padding, Question, StatementNest};
use shapetracker_testing::{Rng, held, limited, numbers};

use crate::random::{self, KNOWN, NAMES};

/// How many statements a whole run has.
const CASES: u32 = 400;
/// Cells on both sides of what is written, which must stay as they are.
const AROUND: usize = 32;

#[derive(Debug, Default)]
struct Counts {
    statements: u32,
    names: u32,
    padding: u32,
    skipped: u32,
    zero: u32,
    conditions: u32,
    splits: u32,
    unserved: u32,
    parts: u32,
    reordered: u32,
}

/// A statement as a function in C, and for values of the names what is in its buffer afterwards.
struct Case {
    number: u64,
    text: String,
    function: String,
    calls: Vec<Call>,
}

/// A call in C, with the values of the names, and the hash that it is to print.
struct Call {
    text: String,
    point: Vec<i64>,
    hash: u64,
}

/// A hash of what is in a buffer, and around it. The program in C has the same function.
fn hash(buffer: &[u64]) -> u64 {
    buffer.iter().fold(7, |hash: u64, value| (hash ^ value).wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(23))
}

const HEAD: &str = "\
#include <stdio.h>
#include <stdlib.h>
typedef unsigned long long u64;
static u64 turned(u64 value, int by) { return value << by | value >> (64 - by); }
static u64 filled(u64 seed, u64 at) {
    return turned((at + 1) * 0x9e3779b97f4a7c15ULL + seed * 0xbf58476d1ce4e5b9ULL, 17) | 1;
}
static u64 *buffer(u64 seed, long length, long around) {
    u64 *all = malloc((length + 2 * around + 1) * sizeof *all);
    for (long at = 0; at < length + 2 * around; ++at) all[at] = 77;
    for (long at = 0; at < length; ++at) all[around + at] = filled(seed, at);
    return all + around;
}
static u64 hash(const u64 *all, long length) {
    u64 hash = 7;
    for (long at = 0; at < length; ++at) hash = turned((hash ^ all[at]) * 0xbf58476d1ce4e5b9ULL, 23);
    return hash;
}
";

/// A random statement, its text, and its loops, split, put into another order and run in parts.
fn scheduled(rng: &mut Rng, number: u64, counts: &mut Counts) -> (random::Plain, String, StatementNest) {
    let plain = random::statement(rng);
    let text = plain.text(rng);
    // Names of which something is said must occur.
    let known = KNOWN.split(", ").filter(|item| is_there(&text, &item[..1]));
    let read = || -> Result<_, shapetracker::ParseError> {
        let mut question = Question::new(known)?;
        let statement = question.statement(&text)?;
        statement.nest(&question.scope()?)
    };
    let mut nest = read().unwrap_or_else(|err| panic!("case {number}: {err}\n{text}\n{plain:?}"));
    counts.statements += 1;
    counts.names += u32::from(plain.has_names);
    counts.padding += u32::from(plain.has_padding);
    counts.conditions += u32::from(plain.condition.is_some());
    let has = |padding| nest.accesses().iter().any(|access| access.padding == padding);
    counts.skipped += u32::from(has(Padding::Skipped));
    counts.zero += u32::from(has(Padding::Zero));
    let schedule = rng.below(4);
    if schedule > 0 {
        let splits = nest.nest_mut().split_where_affine().unwrap();
        counts.splits += u32::from(!splits.factors.is_empty());
        counts.unserved += u32::from(!splits.unserved.is_empty());
    }
    if schedule > 1 {
        let mut order: Vec<String> = nest.nest().loops().iter().map(|one| one.name.clone()).collect();
        let before = order.clone();
        for at in (1..order.len()).rev() {
            order.swap(at, rng.index(at + 1));
        }
        counts.reordered += u32::from(order != before);
        let order: Vec<&str> = order.iter().map(|name| &name[..]).collect();
        nest.nest_mut().reorder(&order).unwrap();
    }
    let accesses: Vec<String> = nest.nest().accesses().iter().map(|access| access.name.clone()).collect();
    if rng.one_in(3)
        && let Some(name) = nest.nest().loops().last().map(|one| one.name.clone())
    {
        let accesses: Vec<&str> = accesses.iter().map(|name| &name[..]).collect();
        nest.nest_mut().partition(&name, &accesses).unwrap();
        counts.parts += 1;
    }
    (plain, text, nest)
}

fn case(number: u64, counts: &mut Counts) -> Case {
    let mut rng = Rng(0x5eed_0000 + number);
    let (plain, text, mut nest) = scheduled(&mut rng, number, counts);
    let width = if rng.one_in(2) { Width::Bits64 } else { Width::Bits32 };
    nest.nest_mut().set_width(width).unwrap();
    let unsigned = rng.one_in(4);
    if unsigned {
        nest.nest_mut().set_signedness(Signedness::Unsigned);
    }
    let body = nest.body(Language::C).unwrap();
    let code = nest.nest().code(Language::C, &body).unwrap();
    let kind = if width == Width::Bits32 { "int" } else { "long long" };
    let parameters: Vec<&str> = nest.nest().parameters().iter().map(|parameter| &parameter.name[..]).collect();
    let inputs = plain.inputs.iter().map(|input| format!("const u64 *{}", input.name));
    let names = parameters.iter().map(|name| format!("{kind} {name}"));
    let arguments: Vec<String> = std::iter::once("u64 *C".to_owned()).chain(inputs).chain(names).collect();
    let unused: String = plain.inputs.iter().map(|input| format!("(void){}; ", input.name)).collect();
    let unused: String = unused + &parameters.iter().map(|name| format!("(void){name}; ")).collect::<String>();
    let function = format!("static void f{number}({}) {{\n{unused}\n{code}}}\n", arguments.join(", "));
    let mut calls = Vec::new();
    for _ in 0..if parameters.is_empty() { 1 } else { 3 } {
        let point = vec![1 + rng.int(5), 1 + rng.int(4)];
        let lengths: Vec<usize> = plain.tensors().map(|tensor| length(tensor.chain(Some(&point)))).collect();
        let out = plain.run(&point, lengths[0]);
        let mut whole = vec![77; AROUND];
        whole.extend(out);
        whole.extend([77; AROUND]);
        let mut call = format!("u64 *out = buffer(0, {}, {AROUND}); f{number}(out", lengths[0]);
        for (seed, length) in lengths[1..].iter().enumerate() {
            call += &format!(", buffer({}, {length}, 0)", seed + 1);
        }
        for name in &parameters {
            let place = NAMES.iter().position(|known| known == name).unwrap();
            call += &format!(", {}", point[place]);
        }
        call += &format!("); printf(\"%llu\\n\", hash(out - {AROUND}, {}));", lengths[0] + 2 * AROUND);
        calls.push(Call { text: call, point, hash: hash(&whole) });
    }
    Case { number, text, function, calls }
}

/// Whether a name occurs in a text.
fn is_there(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == name)
}

/// How long the buffer is that a chain of numbers begins with.
fn length(chain: String) -> usize {
    let shape = &chain[1..chain.find(')').unwrap()];
    shape.split(", ").filter(|size| !size.is_empty()).map(|size| size.parse::<usize>().unwrap()).product()
}

/// The shader around a statement whose elements are integers.
fn shader(plain: &random::Plain, nest: &StatementNest) -> String {
    let code = nest.nest().code(Language::Wgsl, &nest.body(Language::Wgsl).unwrap()).unwrap();
    let mut text = String::new();
    for (at, tensor) in plain.tensors().enumerate() {
        let access = if at == 0 { "read_write" } else { "read" };
        text += &format!("@group(0) @binding({at}) var<storage, {access}> {}: array<i32>;\n", tensor.name);
    }
    let names: Vec<String> = nest.nest().parameters().iter().map(|name| format!("{}: i32", name.name)).collect();
    let ones = vec!["1"; names.len()].join(", ");
    text += &format!("fn f({}) {{\n{code}}}\n", names.join(", "));
    text + &format!("@compute @workgroup_size(1)\nfn main() {{ f({ones}); }}\n")
}

#[test]
fn random_statements_in_wgsl_are_valid() {
    let mut counts = Counts::default();
    for number in numbers(CASES / 2) {
        let (plain, text, nest) = scheduled(&mut Rng(0x3651_0000 + number), number, &mut counts);
        let shader = shader(&plain, &nest);
        let module = naga::front::wgsl::parse_str(&shader).map_err(|error| error.emit_to_string(&shader));
        let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
        let valid = module
            .and_then(|module| validator.validate(&module).map(drop).map_err(|error| error.emit_to_string(&shader)));
        valid.unwrap_or_else(|error| panic!("case {number}: {text}\n{shader}\n{error}"));
    }
    let held = held(CASES / 2);
    assert!(held < 20 || (counts.zero > held / 10 && counts.parts > held / 10), "{counts:?}");
}

#[test]
fn random_statements_in_c_compute_what_plain_loops_do() {
    let found = limited::output(Command::new("cc").arg("--version"), b"");
    if !found.is_ok_and(|output| output.status.success()) {
        println!("skipped: there is no `cc`");
        return;
    }
    let mut counts = Counts::default();
    let cases: Vec<Case> = numbers(CASES).map(|number| case(number, &mut counts)).collect();
    let mut program = HEAD.to_owned();
    cases.iter().for_each(|case| program += &case.function);
    program += "int main(void) {\n";
    for call in cases.iter().flat_map(|case| &case.calls) {
        program += &format!("    {{ {} }}\n", call.text);
    }
    program += "    return 0;\n}\n";
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("statements-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let (source, binary) = (folder.join("statements.c"), folder.join("statements"));
    fs::write(&source, &program).unwrap();
    let flags = ["-std=c11", "-w", "-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all", "-o"];
    let compiled = limited::output(Command::new("cc").args(flags).arg(&binary).arg(&source), b"").unwrap();
    assert!(compiled.status.success(), "{}\n{program}", String::from_utf8_lossy(&compiled.stderr));
    let output = limited::output(&mut Command::new(&binary), b"").unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    let calls = cases.iter().flat_map(|case| case.calls.iter().map(move |call| (case, call)));
    let calls: Vec<(&Case, &Call)> = calls.collect();
    assert_eq!(printed.lines().count(), calls.len());
    for (line, (case, call)) in printed.lines().zip(&calls) {
        let (number, point) = (case.number, &call.point);
        assert_eq!(line, call.hash.to_string(), "case {number} at {point:?}\n{}\n{}", case.text, case.function);
    }
    fs::remove_dir_all(folder).unwrap();
    println!("{} calls, {counts:?}", calls.len());
    for (share, of) in [
        (3, counts.names),
        (4, counts.padding),
        (6, counts.skipped),
        (10, counts.zero),
        (5, counts.conditions),
        (6, counts.splits),
        (5, counts.parts),
        (5, counts.reordered),
    ] {
        assert!(of >= held(CASES) / share / 2, "{counts:?}");
    }
}

#[test]
fn a_buffer_may_have_the_name_of_a_choice_with_zero() {
    let text = "y[i] = x[i] + x_or_zero[i]; x = (7,).pad((1, 0)); x_or_zero = (8,); y = (8,)";
    let mut question = Question::default();
    let nest = question.statement(text).unwrap().nest(&question.scope().unwrap()).unwrap();
    for language in [Language::C, Language::Python, Language::Rust, Language::Wgsl] {
        let code = nest.nest().code(language, &nest.body(language).unwrap()).unwrap();
        assert_eq!(code.matches("x_or_zero[index_x_or_zero").count(), 1, "{code}");
        assert_eq!(code.matches(" x[index_x").count() + code.matches("(x[index_x").count(), 1, "{code}");
    }
}
