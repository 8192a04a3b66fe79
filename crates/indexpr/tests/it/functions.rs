//! Random nests as functions in C and its relatives, and what each returns, found without the text that is written.

use indexpr::{Body, Language, Nest, Signedness, Width};
use shapetracker_testing::{Rng, numbers};

use super::random::{self, Plain};

/// The start of what an element has.
const START: u64 = 0x9e37_79b9_7f4a_7c15;

/// A number that tells apart what an element has; the sum over all elements does not depend on their order.
fn mixed(start: u64, numbers: impl IntoIterator<Item = i64>) -> u64 {
    numbers
        .into_iter()
        .fold(start, |hash: u64, number| (hash ^ number as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(23))
}

/// What the body of a nest adds up over all elements, by definition.
pub(crate) fn expected(plain: &Plain, parameters: &[i64]) -> u64 {
    let loops = plain.sizes.len();
    let of = |point: Vec<i64>| {
        let accesses = plain.accesses.iter().map(|access| match access.holds(&point) {
            true => access.index.value(&point),
            false => -99,
        });
        mixed(START, point[..loops].iter().copied().chain(accesses))
    };
    plain.points(parameters).into_iter().map(of).fold(0, u64::wrapping_add)
}

/// What a nest adds up whose innermost loops, those from `outer` on, are reduced: for each element of the others what its
/// reduced loops add up to, mixed with where it is and with the guards that are known there.
fn expected_of_parts(plain: &Plain, outer: usize, known: &[usize], parameters: &[i64]) -> u64 {
    let mut parts = std::collections::BTreeMap::<Vec<i64>, u64>::new();
    for point in plain.all_points(parameters) {
        let part = parts.entry(point[..outer].to_vec()).or_default();
        if plain.accesses.iter().all(|access| access.holds(&point)) {
            let indices = plain.accesses.iter().map(|access| access.index.value(&point));
            let numbers = point[..plain.sizes.len()].iter().copied().chain(indices);
            *part = part.wrapping_add(mixed(1, numbers));
        }
    }
    // Elements whose reduced loops never run are there as well.
    for point in plain.points_of(outer, parameters) {
        parts.entry(point[..outer].to_vec()).or_default();
    }
    let of = |(point, part): (Vec<i64>, u64)| {
        let at = [&point[..], &vec![0; plain.sizes.len() - outer], parameters].concat();
        let guards = known.iter().map(|access| i64::from(plain.accesses[*access].holds(&at)));
        mixed(part, point.iter().copied().chain(guards))
    };
    parts.into_iter().map(of).fold(0, u64::wrapping_add)
}

/// A nest with one width and signedness of those that hold its numbers.
pub(crate) fn typed(rng: &mut Rng, nest: &mut Nest) -> (Width, bool) {
    if rng.one_in(2) {
        nest.set_width(Width::Bits64).unwrap();
    } else {
        nest.set_width(Width::Bits32).unwrap();
    }
    let is_unsigned = rng.one_in(3);
    nest.set_signedness(if is_unsigned { Signedness::Unsigned } else { Signedness::Signed });
    (nest.width().unwrap(), is_unsigned)
}

/// The words of a language for what the functions consist of.
struct Words {
    /// What stands before a function.
    function: &'static str,
    /// The signed types of 32 and 64 bits, and the unsigned ones.
    types: [&'static str; 4],
    /// What a literal of the last type ends with.
    suffix: &'static str,
}

impl Words {
    fn of(language: Language) -> Words {
        let types = ["int", "long long", "unsigned", "unsigned long long"];
        match language {
            Language::C => Words { function: "", types, suffix: "ull" },
            Language::Cuda => Words { function: "__device__ ", types, suffix: "ull" },
            Language::OpenCl => Words { function: "", types: ["int", "long", "uint", "ulong"], suffix: "ul" },
            _ => panic!("{language} is no relative of C"),
        }
    }

    fn kind(&self, width: Width, is_unsigned: bool) -> &'static str {
        self.types[usize::from(width == Width::Bits64) + 2 * usize::from(is_unsigned)]
    }
}

/// The function `mix`, which all others call.
pub(crate) fn head(language: Language) -> String {
    let Words { function, types: [.., long, _, ulong], suffix } = Words::of(language);
    format!(
        "{function}void mix({ulong} *hash, {long} number) {{\n    \
             *hash = (*hash ^ ({ulong})number) * 0xbf58476d1ce4e5b9{suffix};\n    \
             *hash = *hash << 23 | *hash >> 41;\n}}\n\n"
    )
}

/// A nest as a function of its parameters.
pub(crate) struct Function {
    pub(crate) plain: Plain,
    pub(crate) name: String,
    /// The definition of the function.
    pub(crate) text: String,
    /// The type of its parameters.
    pub(crate) kind: &'static str,
    /// Some values of the parameters, and what the function returns for them.
    pub(crate) calls: Vec<(Vec<i64>, u64)>,
}

impl Function {
    fn new(language: Language, name: String, plain: &Plain, kind: &'static str, code: &str) -> Function {
        let Words { function, types: [.., ulong], .. } = Words::of(language);
        let names = &plain.names[plain.sizes.len()..];
        let mut arguments: Vec<String> = names.iter().map(|name| format!("{kind} {name}")).collect();
        let unused: String = names.iter().map(|name| format!("    (void){name};\n")).collect();
        if arguments.is_empty() {
            arguments.push("void".into());
        }
        let code: String = code.lines().map(|line| format!("    {line}\n")).collect();
        let text = format!(
            "{function}{ulong} {name}({}) {{\n    {ulong} sum = 0, part, hash;\n    (void)part;\n    (void)hash;\n\
             {unused}{code}    return sum;\n}}\n\n",
            arguments.join(", ")
        );
        Function { plain: plain.clone(), name, text, kind, calls: Vec::new() }
    }

    /// A call of the function with literals.
    pub(crate) fn call(&self, values: &[i64]) -> String {
        let values: Vec<String> = values.iter().map(i64::to_string).collect();
        format!("{}({})", self.name, values.join(", "))
    }
}

/// Functions of so many nests in a default run, whose guards decide what the body sees or whether it runs.
pub(crate) fn plain(count: u32, language: Language) -> Vec<Function> {
    let words = Words::of(language);
    let of = |case: u64| {
        let mut rng = Rng(0xc0de_0000 + case);
        let (plain, mut nest) = random::nest(&mut rng);
        let (width, is_unsigned) = typed(&mut rng, &mut nest);
        let mut body = format!("hash = {START:#x}{};\n", words.suffix);
        for name in &plain.names[..plain.sizes.len()] {
            body += &format!("mix(&hash, {{{name}}});\n");
        }
        for at in 0..plain.accesses.len() {
            body += &format!("mix(&hash, {{a{at}?}} ? {{a{at}}} : -99);\n");
        }
        let code = nest.code(language, &Body::new(body + "sum += hash;")).unwrap();
        let mut function =
            Function::new(language, format!("plain_{case}"), &plain, words.kind(width, is_unsigned), &code);
        for values in random::parameters(&mut rng, &plain) {
            let sum = expected(&plain, &values);
            function.calls.push((values, sum));
        }
        function
    };
    numbers(count).map(of).collect()
}

/// Functions of so many reductions in a default run: what stands before and after the reduced loops is run for each element,
/// once, whatever the guards are.
pub(crate) fn reductions(count: u32, language: Language) -> Vec<Function> {
    let words = Words::of(language);
    let (mut asked, mut held) = (0, 0);
    let of = |case: u64| {
        let mut rng = Rng(0xc0de_1000 + case);
        let (plain, mut nest, outer) = random::reduction(&mut rng);
        let (width, is_unsigned) = typed(&mut rng, &mut nest);
        let names = &plain.names[..plain.sizes.len()];
        let mixes = |of: &str, names: &[String]| -> String {
            names.iter().map(|name| format!("mix(&{of}, {{{name}}});\n")).collect()
        };
        let indices: String = (0..plain.accesses.len()).map(|at| format!("mix(&hash, {{a{at}}});\n")).collect();
        let inner = format!("hash = 1;\n{}{indices}part += hash;", mixes("hash", names));
        // A guard that the reduced loops decide is not known after them.
        let with = |guards: &[usize]| {
            let guards: String = guards.iter().map(|at| format!("mix(&part, {{a{at}?}});\n")).collect();
            let after = format!("{}{guards}sum += part;", mixes("part", &names[..outer]));
            nest.code(language, &Body::new(inner.clone()).before("part = 0;").after(after))
        };
        let known: Vec<usize> = (0..plain.accesses.len()).filter(|at| with(&[*at]).is_ok()).collect();
        (asked, held) = (asked + plain.accesses.len(), held + known.len());
        let code = with(&known).unwrap();
        let mut function =
            Function::new(language, format!("reduced_{case}"), &plain, words.kind(width, is_unsigned), &code);
        for values in random::parameters(&mut rng, &plain) {
            let sum = expected_of_parts(&plain, outer, &known, &values);
            function.calls.push((values, sum));
        }
        function
    };
    let functions = numbers(count).map(of).collect();
    // Of a few it may be any number.
    assert!(asked < 30 || held * 3 >= asked, "{held} of {asked} guards are known after the reduced loops");
    functions
}

/// Compares what was printed for each call of each function with what it returns.
pub(crate) fn compare(functions: &[Function], printed: &[String], program: &str) {
    let calls: Vec<_> = functions.iter().flat_map(|one| one.calls.iter().map(move |call| (one, call))).collect();
    assert_eq!(printed.len(), calls.len(), "{program}");
    for (line, (function, (values, sum))) in printed.iter().zip(calls) {
        assert_eq!(line, &sum.to_string(), "{program}: {values:?} {:?}\n{}", function.plain, function.text);
    }
}
