//! Every method that may stand after a dot, with sizes that are names: at values of the names it is what the same text is with
//! numbers in their place.

use std::collections::BTreeMap;
use std::sync::Arc;

use shapetracker::advice::Does;
use shapetracker::{AddressRun, ArrayLibrary, Method, ShapeTracker};
use shapetracker_symbolic::{Literal, Question};
use shapetracker_testing::{Rng, numbers};

/// What is known of the names.
const KNOWN: &str = "A=1..4, B=1..5, C=1..3, s=0..3";

/// A method on an array of a shape, of which the sizes are texts; `None` where the array has too few axes for it.
fn called(rng: &mut Rng, method: &str, array: &str, shape: &[String]) -> Option<String> {
    let rank = shape.len() as u64;
    let one = |rng: &mut Rng, list: &[&str]| (*rng.pick(list)).to_owned();
    let axes: Vec<u64> = (0..rank).collect();
    let axis = if rank > 0 { rng.index(shape.len()) } else { 0 };
    let size = shape.get(axis).cloned().unwrap_or_default();
    let joined = |list: &[String]| list.join(", ");
    let with = |axis: usize, item: &str| {
        let mut list = shape.to_vec();
        list[axis] = item.into();
        list
    };
    let each = |make: &dyn Fn(usize, &String) -> String| {
        joined(&shape.iter().enumerate().map(|(at, size)| make(at, size)).collect::<Vec<_>>())
    };
    let turned: Vec<String> = axes.iter().cycle().skip(axis).take(shape.len()).map(u64::to_string).collect();
    let letters: Vec<String> = "bchwxyzuv".chars().take(shape.len()).map(String::from).collect();
    let needed: u64 = match method {
        "reshape" | "expand" | "broadcast_to" | "unsqueeze" | "expand_dims" | "contiguous" | "copy" | "T" | "t"
        | "squeeze" | "flatten" | "ravel" | "clone" | "to" | "astype" | "array" | "asarray" | "asanyarray"
        | "ascontiguousarray" | "asfortranarray" | "detach" | "requires_grad_" | "numpy" | "from_numpy"
        | "reinterpret_tensor" | "as_strided" => 0,
        "mT" | "matrix_transpose" | "rot90" | "transpose" | "swapaxes" | "swapdims" | "diagonal" | "fliplr" => 2,
        _ => 1,
    };
    if rank < needed {
        return None;
    }
    let pair = |rng: &mut Rng| (rng.below(rank.max(1)), rng.below(rank.max(1)));
    Some(match method {
        "reshape" => {
            let mut all: Vec<String> = shape.to_vec();
            all.rotate_left(axis);
            match rng.below(4) {
                0 => format!("{array}.reshape(-1)"),
                1 if rank > 1 => format!("{array}.reshape({}, -1)", shape[0]),
                2 if rank > 0 => format!("{array}.reshape({}, 1)", joined(shape)),
                _ => format!("{array}.reshape({})", if all.is_empty() { "1".into() } else { joined(&all) }),
            }
        }
        "permute" => format!("{array}.permute({})", turned.join(", ")),
        "permute_dims" => format!("{array}.permute_dims(({},))", turned.join(", ")),
        "transpose" | "swapaxes" | "swapdims" => {
            let (a, b) = pair(rng);
            format!("{array}.{method}({a}, {b})")
        }
        "moveaxis" | "movedim" => {
            let (a, b) = pair(rng);
            format!("{array}.{method}({a}, {b})")
        }
        "expand" | "broadcast_to" => {
            let (Some(place), name) = (shape.iter().position(|size| size == "1"), one(rng, &["A", "C", "3"])) else {
                return Some(format!("{array}.{method}({})", joined(shape)));
            };
            format!("{array}.{method}({})", joined(&with(place, &name)))
        }
        "pad" => {
            let pad = one(rng, &["(1, 0)", "(s, A)", "(0, 2)", "(B, 1)"]);
            format!("{array}.pad({})", each(&|at, _| if at == axis { pad.clone() } else { "(0, 0)".into() }))
        }
        "shrink" => {
            let range = one(rng, &["(0, {})", "(1, {})", "(s, {})", "(0, 1)", "(0, {} - 1)"]).replace("{}", &size);
            format!(
                "{array}.shrink({})",
                each(&|at, size| if at == axis { range.clone() } else { format!("(0, {size})") })
            )
        }
        "flip" => format!("{array}.flip({axis})"),
        "step" => format!("{array}.step({})", each(&|at, _| if at == axis { "-1".into() } else { "1".into() })),
        "slice" => {
            let cut = one(rng, &["1:", ":-1", "::-1", "s:", ":1", "0:A"]);
            format!("{array}.slice({})", each(&|at, _| if at == axis { cut.clone() } else { ":".into() }))
        }
        "squeeze" => match shape.iter().position(|size| size == "1") {
            Some(place) => format!("{array}.squeeze({place})"),
            None => format!("{array}.unsqueeze(0).squeeze(0)"),
        },
        "unsqueeze" => format!("{array}.unsqueeze({axis})"),
        "expand_dims" => format!("{array}.expand_dims({axis})"),
        "as_strided" => format!("{array}.as_strided(({},), (1,))", if rank == 0 { "1" } else { &size }),
        "T" | "mT" => format!("{array}.{method}"),
        "t" if rank > 2 => return None,
        "unflatten" => {
            let to = one(rng, &["(1, -1)", "(-1, 1)", "(C, -1)", "({}, 1)", "(A, C)"]).replace("{}", &size);
            format!("{array}.unflatten({axis}, {to})")
        }
        "narrow" => {
            let range = one(rng, &["0, 1", "0, {}", "s, 1", "-1, 1", "1, {} - 1"]).replace("{}", &size);
            format!("{array}.narrow({axis}, {range})")
        }
        "select" => format!("{array}.select({axis}, {})", one(rng, &["0", "-1", "s"])),
        "unbind" => format!("{array}.unbind({axis})[{}]", one(rng, &["0", "1"])),
        "hsplit" | "vsplit" | "dsplit" => {
            let least = if method == "dsplit" { 3 } else { 2 };
            format!("{}.{method}({})[0]", of_rank(array, least, shape.len()), one(rng, &["1", "1", "2"]))
        }
        "rollaxis" => format!("{array}.rollaxis({axis}, {})", rng.below(rank + 1)),
        "rot90" => format!("{array}.rot90({}, (0, {}))", one(rng, &["0", "1", "2", "-1"]), rank - 1),
        "view_as" | "reshape_as" => format!("{array}.{method}(torch.zeros(1, {}, 1))", joined(shape)),
        "expand_as" => {
            let name = one(rng, &["A", "C", "3"]);
            let to = match shape.iter().position(|size| size == "1") {
                Some(place) => with(place, &name),
                None => shape.to_vec(),
            };
            format!("{array}.expand_as(torch.zeros(2, {}))", joined(&to))
        }
        "chunk" | "tensor_split" | "array_split" => {
            format!("{array}.{method}({}, {axis})[{}]", one(rng, &["1", "2", "3"]), one(rng, &["0", "-1"]))
        }
        "split" => format!("{array}.split({}, {axis})[0]", one(rng, &["1", "{}", "C"]).replace("{}", &size)),
        "unfold" => format!(
            "{array}.unfold({axis}, {}, {})",
            one(rng, &["1", "2", "C", "{}"]).replace("{}", &size),
            one(rng, &["1", "2"])
        ),
        "sliding_window_view" => format!("sliding_window_view({array}, {}, {axis})", one(rng, &["1", "2", "C"])),
        "diagonal" => format!("{array}.diagonal({}, 0, 1)", one(rng, &["0", "1", "-1"])),
        "rearrange" => {
            let mut to = letters.clone();
            to.rotate_left(axis);
            match rng.below(3) {
                0 => format!("{array}.rearrange('{} -> {}')", letters.join(" "), to.join(" ")),
                1 => format!("{array}.rearrange('{} -> ({})')", letters.join(" "), to.join(" ")),
                _ => {
                    let mut from = letters.clone();
                    from[axis] = "(p q)".into();
                    let mut to = letters.clone();
                    to.splice(axis..=axis, ["q".into(), "p".into()]);
                    let name = one(rng, &["C", "1", "2", "{}"]).replace("{}", &size);
                    format!("{array}.rearrange('{} -> {}', p={name})", from.join(" "), to.join(" "))
                }
            }
        }
        "repeat" if rng.one_in(2) => {
            format!("{array}.repeat('{0} -> {0} n', n={1})", letters.join(" "), one(rng, &["A", "2"]))
        }
        "repeat" | "tile" => {
            format!("{array}.{method}({})", each(&|at, _| if at == axis { "C".into() } else { "1".into() }))
        }
        "repeat_interleave" => format!("{array}.repeat_interleave({}, {axis})", one(rng, &["2", "C"])),
        "pixel_shuffle" | "pixel_unshuffle" => {
            format!("F.{method}({}, {})", of_rank(array, 3, shape.len()), one(rng, &["1", "1", "2", "C"]))
        }
        "roll" => format!("{array}.roll({}, {axis})", one(rng, &["1", "-1", "0", "s"])),
        "to" => format!("{array}.to(memory_format=torch.contiguous_format)"),
        "astype" => format!("{array}.astype(np.float32)"),
        "array" | "asarray" | "asanyarray" | "asfortranarray" => format!("np.{method}({array})"),
        "from_numpy" => format!("torch.from_numpy({array})"),
        "reinterpret_tensor" => {
            format!("reinterpret_tensor({array}, ({},), (1,))", if rank == 0 { "1" } else { &size })
        }
        "flatten" if rank > 1 => format!("{array}.flatten({}, -1)", rng.below(rank)),
        _ => format!("{array}.{method}()"),
    })
}

/// An array of at least so many axes: those that it misses are new ones in front.
fn of_rank(array: &str, least: usize, rank: usize) -> String {
    match least.saturating_sub(rank) {
        0 => array.to_owned(),
        more => format!("{array}[{}]", vec!["None"; more].join(", ")),
    }
}

fn start(rng: &mut Rng) -> (String, Vec<String>) {
    const SIZES: [&str; 9] = ["A", "B", "C", "1", "2", "4", "2*A", "B*C", "4*C"];
    let rank = rng.below(5);
    let shape: Vec<String> = (0..rank).map(|_| (*rng.pick(&SIZES)).to_owned()).collect();
    let list = shape.join(", ");
    let text = match rng.below(3) {
        0 if rank > 1 => format!("({list})"),
        1 => format!("np.zeros(({list}{}))", if rank == 1 { "," } else { "" }),
        _ if rank > 0 => format!("torch.zeros({list})"),
        _ => "np.zeros(())".into(),
    };
    (text, shape)
}

/// The text with numbers for names.
fn put(text: &str, values: &[(&str, i64)]) -> String {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let (mut result, mut rest, mut quoted) = (String::new(), text, false);
    while let Some(first) = rest.chars().next() {
        quoted ^= first == '\'';
        let len = rest.find(|c| !is_letter(c)).filter(|len| *len > 0).unwrap_or(if is_letter(first) {
            rest.len()
        } else {
            1
        });
        let value = values.iter().find(|(name, _)| !quoted && *name == &rest[..len]);
        result += &value.map_or_else(|| rest[..len].to_owned(), |(_, value)| value.to_string());
        rest = &rest[len..];
    }
    result
}

fn addresses(tracker: &ShapeTracker) -> Vec<Option<i64>> {
    let mut all = Vec::new();
    tracker.runs().for_each(|run| match run {
        AddressRun::Valid { first, step, count } => all.extend((0..count).map(|place| Some(first + place * step))),
        AddressRun::Masked { count } => all.extend((0..count).map(|_| None)),
    });
    all
}

#[derive(Default)]
struct Counts {
    /// How often a method was tried, was read, and was the same at values.
    methods: BTreeMap<&'static str, [usize; 3]>,
}

fn chain(rng: &mut Rng, counts: &mut Counts) {
    let (mut text, mut shape) = start(rng);
    let mut last = None;
    for _ in 0..1 + rng.below(3) {
        let method = rng.pick(Method::ALL).name();
        let Some(more) = called(rng, method, &text, &shape) else { continue };
        let count = counts.methods.entry(method).or_default();
        count[0] += 1;
        let mut question = Question::new([KNOWN]).unwrap();
        question.sizes("A, B, C, s").unwrap();
        let Ok(read) = question.chain(&more) else { continue };
        let scope = Arc::new(question.scope().unwrap());
        let Ok(tracker) = read.tracker(&scope) else { continue };
        count[1] += 1;
        // What follows the copies leads to the same elements of the base.
        let stored = read.follow(&scope, |_, _| ()).unwrap_or_else(|err| panic!("{err}"));
        let shown = |size| format!("({})", scope.text(size)).replace("(1)", "1");
        (text, shape) = (more, tracker.shape().iter().map(shown).collect());
        last = Some((method, tracker, stored));
    }
    let Some((method, tracker, stored)) = last else { return };
    let mut held = false;
    for _ in 0..4 {
        let values = [("A", 3), ("B", 4), ("C", 2), ("s", 3)];
        let values = values.map(|(name, below)| (name, i64::from(name != "s") + rng.below(below) as i64));
        let integers = put(&text, &values);
        // Where it can be done with names it can be done with numbers, and comes to the same.
        let Ok(at) = tracker.at(values) else { continue };
        let expected = match integers.parse::<shapetracker::Chain>() {
            // That is asked of what is copied, and not of what the elements are.
            Err(err) if err.message().starts_with("whether `to` copies depends") => continue,
            read => read.unwrap_or_else(|err| panic!("{text} at {values:?}: {err}")),
        };
        let expected = expected.tracker().unwrap_or_else(|err| panic!("{text} at {values:?}: {err}"));
        assert_eq!(at.shape(), expected.shape(), "{text} at {values:?}");
        assert_eq!(addresses(&at), addresses(&expected), "{text} at {values:?}");
        if let Ok(Ok(base)) = stored.over_base().map(|base| base.at(values)) {
            assert_eq!(addresses(&base), addresses(&expected), "{text} at {values:?}, through its copies");
        }
        held = true;
    }
    if held {
        counts.methods.entry(method).or_default()[2] += 1;
    }
}

/// What is said of libraries, held against what is said with numbers in place of the names.
#[derive(Default)]
struct Advised {
    /// Chains, answers of libraries, those for some values only, and those that were not found.
    chains: usize,
    answers: usize,
    conditional: usize,
    undecided: usize,
    /// Answers at values: compared, and told apart.
    compared: usize,
    apart: usize,
    /// Code that was read at values, and code that is no chain.
    codes: usize,
    unread: usize,
}

fn advised(rng: &mut Rng, counts: &mut Advised) {
    let (mut text, mut shape) = start(rng);
    let mut last = None;
    for _ in 0..1 + rng.below(4) {
        let method = rng.pick(Method::ALL).name();
        let Some(more) = called(rng, method, &text, &shape) else { continue };
        let mut question = Question::new([KNOWN]).unwrap();
        question.sizes("A, B, C, s").unwrap();
        let Ok(read) = question.chain(&more) else { continue };
        let scope = Arc::new(question.scope().unwrap());
        let Ok(tracker) = read.tracker(&scope) else { continue };
        let shown = |size| format!("({})", scope.text(size)).replace("(1)", "1");
        (text, shape) = (more, tracker.shape().iter().map(shown).collect());
        last = Some((read, scope, tracker));
    }
    let Some((chain, scope, tracker)) = last else { return };
    let advice = chain.advice(&scope).unwrap_or_else(|err| panic!("{text}: {err}"));
    counts.chains += 1;
    for library in &advice.libraries {
        counts.answers += 1;
        counts.conditional += usize::from(!library.unless.is_empty());
        counts.undecided += usize::from(library.does == Does::Undecided);
    }
    for _ in 0..6 {
        let values = [("A", 3), ("B", 4), ("C", 2), ("s", 3)];
        let values = values.map(|(name, below)| (name, i64::from(name != "s") + rng.below(below) as i64));
        if tracker.at(values).is_err() {
            continue;
        }
        let point = scope.point("advice", &[], values).unwrap();
        let Ok(numbers) = put(&text, &values).parse::<shapetracker::Chain>() else { continue };
        let expected = numbers.advice(None).unwrap_or_else(|err| panic!("{text} at {values:?}: {err}"));
        for (found, expected) in advice.libraries.iter().zip(&expected.libraries) {
            let at = format!("{text} at {values:?}: {}, really {}", found.sentence, expected.sentence);
            if let Some(code) = &found.code {
                // The array as the library makes it, whose methods the code has.
                let start = &text[chain.start_span()];
                let sizes = &start[start.find('(').unwrap_or_default()..];
                let sizes = if start.starts_with("np") { &sizes[1..sizes.len() - 1] } else { sizes };
                let library = if found.library == ArrayLibrary::NumPy { "np" } else { "torch" };
                let sizes = if sizes.matches(',').count() == 0 { sizes.replace(')', ",)") } else { sizes.into() };
                let named = format!("x = {library}.zeros({})\n", sizes.replace("(,)", "()"));
                let code = if start.starts_with('(') { code.clone() } else { code.replace(start, "x") };
                let (read, wrong) = shapetracker::Chain::read_given(&format!("{named}{code}"), None, &values);
                match wrong {
                    Some(_) => counts.unread += 1,
                    None => {
                        let (read, expected) = (read.tracker().unwrap(), numbers.tracker().unwrap());
                        assert_eq!(read.shape(), expected.shape(), "{at}: {code}");
                        assert_eq!(addresses(&read), addresses(&expected), "{at}: {code}");
                        counts.codes += 1;
                    }
                }
            }
            let is_apart = |part: &Vec<Literal>| part.iter().all(|literal| literal.holds(&point) == Some(true));
            // A pattern that repeats an axis once is read without an array that nobody may write to, of which a name says nothing.
            let is_once = text.contains(" n', n=A") && values[0].1 == 1;
            if is_once || found.does == Does::Undecided || found.unless.iter().any(is_apart) {
                counts.apart += 1;
                continue;
            }
            // A copy may be one operation here and several there: the call is the same.
            let called = |op: usize| put(&text[chain.span(op)], &values);
            let copied = found.copied.iter().map(|(op, poly)| (called(*op), poly.eval(&point).unwrap() as i64));
            let really = expected.copied.iter().map(|(op, elements)| (&numbers.text()[numbers.span(*op)], *elements));
            assert_eq!(found.does, expected.does, "{at}");
            assert!(copied.clone().eq(really.map(|(call, elements)| (call.to_owned(), elements))), "{at}: {copied:?}");
            counts.compared += 1;
        }
    }
}

#[test]
fn libraries_do_with_names_what_they_do_with_numbers() {
    let mut counts = Advised::default();
    for seed in numbers(4_000) {
        advised(&mut Rng(7 << 40 | seed), &mut counts);
    }
    let Advised { chains, answers, conditional, undecided, compared, apart, codes, unread } = counts;
    println!("{chains} chains, {answers} answers, {conditional} for some values, {undecided} not found");
    println!(
        "{compared} compared at values, {apart} told apart; {codes} lines of code were read, {unread} are no chain"
    );
    assert!(compared > 10 * apart && codes > compared / 20 && conditional > 0, "too few of some kind");
}

#[test]
fn every_method_is_with_names_what_it_is_with_numbers() {
    let mut counts = Counts::default();
    for seed in numbers(27_000) {
        chain(&mut Rng(seed), &mut counts);
    }
    for method in Method::ALL {
        let [tried, read, same] = counts.methods.get(method.name()).copied().unwrap_or_default();
        println!("{:20} {tried:6} tried, {read:6} read, {same:6} compared", method.name());
        assert!(same > 3, "`{}` was tried {tried} times, read {read} times and compared {same} times", method.name());
    }
}

#[test]
fn what_no_library_has_is_said_for_the_values_for_which_it_has_none() {
    for (text, given, expected) in [
        (
            "(2, 3):(1, 2) offset n - 4",
            "n=1..3",
            "What PyTorch does is not followed for all values: the first view reads from address n - 4 on.",
        ),
        ("(n, 4):(4, 1) mask ((1, n), (0, 4))", "n=2..", "PyTorch has no arrays with masked elements."),
        ("(n, 4):(4, 1) mask ((0, m), (0, 4))", "m <= n", "Unless m >= n: PyTorch has no arrays with masked elements."),
        ("(H*T):(1) over (T, H):(1, T)", "", "Unless H == 1 or T == 1: PyTorch has no arrays that are several views."),
        ("(n):(-1) offset n - 1", "n=2..", "PyTorch has no negative strides."),
    ] {
        let mut question = Question::new([given].iter().filter(|given| !given.is_empty())).unwrap();
        let chain = question.chain(text).unwrap();
        let advice = chain.advice(&Arc::new(question.scope().unwrap())).unwrap();
        assert_eq!(advice.libraries[0].sentence, expected, "{text}");
    }
}

#[test]
fn the_order_of_memory_is_that_of_the_numbers() {
    for text in [
        "np.zeros((A, B)).ravel('K')",
        "np.zeros((A, B)).T.ravel('K')",
        "np.zeros((A, B, C)).transpose(1, 2, 0).flatten(order='K')",
        "np.zeros((A, B, C)).swapaxes(0, -1).swapaxes(0, 1).ravel('K')",
        "np.zeros((A, B)).T.ravel('A')",
        "np.zeros((A, B)).T.reshape(A*B, order='A')",
        "np.zeros((A, B)).T.reshape((A, B), order='A')",
        "np.zeros((A, B, C)).reshape((C*A, B), order='A')",
        "np.zeros((A, B, C)).transpose(1, 0, 2).T.ravel('K')",
        "np.zeros((A, B)).reshape(B, A).T.ravel('K')",
        "np.zeros((A, B, C)).transpose(2, 0, 1)[:, 1:].ravel('K')",
    ] {
        let mut question = Question::new([KNOWN]).unwrap();
        question.sizes("A, B, C, s").unwrap();
        let chain = question.chain(text).unwrap();
        let tracker = chain.tracker(&Arc::new(question.scope().unwrap())).unwrap();
        for values in
            (1..4).flat_map(|a| (1..5).flat_map(move |b| (1..3).map(move |c| [("A", a), ("B", b), ("C", c), ("s", 0)])))
        {
            let numbers: shapetracker::Chain = put(text, &values).parse().unwrap();
            let (found, expected) = (tracker.at(values).unwrap(), numbers.tracker().unwrap());
            assert_eq!(found.shape(), expected.shape(), "{text} at {values:?}");
            assert_eq!(addresses(&found), addresses(&expected), "{text} at {values:?}");
        }
    }
    for text in [
        "np.zeros((A, B, C)).swapaxes(0, 1).ravel('A')",
        "np.broadcast_to(np.zeros((A, 1)), (A, B)).T.ravel('K')",
        "np.zeros((A, B))[:, ::-1].ravel('K')",
        "np.zeros((A, B)).T[:1].ravel('A')",
        "np.zeros((A, B)).T.reshape(1, B, A, 1).transpose(3, 0, 1, 2).ravel('K')",
    ] {
        let err = Question::new([KNOWN]).unwrap().chain(text).unwrap_err();
        let message = "in which order the elements lie depends on sizes that are names: write order='C' or order='F'";
        assert_eq!(err.message(), message, "{text}");
    }
}

/// A copy lies as the same one with numbers does, where it is said how it lies: its strides, and not only its elements.
#[test]
fn copies_lie_as_those_of_the_numbers() {
    let newest = |text: &str| {
        let mut question = Question::new([KNOWN]).unwrap();
        question.sizes("A, B, C, s").unwrap();
        let chain = question.chain(text)?;
        let scope = Arc::new(question.scope().unwrap());
        Ok::<_, shapetracker::ParseError>(chain.follow(&scope, |_, _| ()).unwrap().over_newest().clone())
    };
    let torch = [
        "torch.zeros(A, B, C)",
        "torch.zeros(A, B, C).permute(2, 0, 1)",
        "torch.zeros(A, B, C).transpose(0, -1)",
        // A step past the end leaves an axis of size 1 with the longest stride.
        "torch.zeros(A, 1, 3).expand(-1, B, -1)[:, :, ::5]",
        "torch.zeros(A, 1, 3)[:, :, ::5].expand(-1, B, -1)",
        "torch.zeros(A, 3, 1, 3)[:, ::5, :, ::5].pad((0, 0), (0, 2), (0, 0), (0, 2))",
    ];
    let numpy = ["np.zeros((A, B, C))", "np.zeros((A, B, C)).transpose(2, 0, 1)", "np.zeros((A, B, C)).T"];
    let between = [
        "",
        ".flip(0)",
        "[:, :1]",
        "[1:]",
        ".unsqueeze(1)",
        ".unsqueeze(-1).transpose(0, 2)",
        ".unsqueeze(0).squeeze(0)",
        ".reshape(A*C, B)",
        ".flatten()",
        ".expand(2, -1, -1, -1)",
        ".unsqueeze(2).expand(-1, -1, 3, -1)",
        ".contiguous().permute(1, 0, 2)",
        ".clone().permute(1, 2, 0)",
        ".permute(0, 2, 1).clone().permute(1, 0, 2)",
        "[0]",
        ".T",
        "[::-1]",
        "[:, None]",
        ".swapaxes(0, 1)",
        ".copy().T",
        ".astype(np.int8).swapaxes(1, 2)",
        ".ravel()",
        ".repeat(2, axis=1)",
        ".copy(order='F')",
        ".clone(memory_format=torch.contiguous_format)",
    ];
    let ends = [".clone()", ".clone().transpose(0, -1)", ".astype(np.int8)", ".copy(order='K')", ".copy('A')"];
    let (mut read, mut refused) = (0, 0);
    for start in torch.iter().chain(&numpy) {
        for text in between.iter().flat_map(|between| ends.map(|end| format!("{start}{between}{end}"))) {
            let values = |a, b, c| [("A", a), ("B", b), ("C", c), ("s", 0)];
            let numbers = put(&text, &values(3, 4, 2)).parse::<shapetracker::Chain>();
            if numbers.is_err() || numbers.is_ok_and(|chain| chain.tracker().is_err()) {
                continue;
            }
            let tracker = match newest(&text) {
                Ok(tracker) => tracker,
                Err(err) => {
                    let said = "where the copy lies depends on strides";
                    assert!(err.message().starts_with(said), "{text}: {err}");
                    refused += 1;
                    continue;
                }
            };
            read += 1;
            for values in
                [values(3, 4, 2), values(1, 4, 2), values(3, 1, 2), values(2, 3, 1), values(1, 1, 1), values(3, 3, 2)]
            {
                let numbers: shapetracker::Chain = put(&text, &values).parse().unwrap();
                let expected = numbers.follow(None, |_, _| ()).unwrap();
                let found = tracker.at(values).unwrap();
                assert_eq!(found.shape(), expected.over_newest().shape(), "{text} at {values:?}");
                assert_eq!(addresses(&found), addresses(expected.over_newest()), "{text} at {values:?}");
            }
        }
    }
    println!("{read} copies were followed, and {refused} were not");
    // Axes that are named twice, or that there are not, are a mistake of that operation, and no other.
    for text in ["torch.zeros(A, B).squeeze((0, 0, 0)).clone()", "torch.zeros(A, B).permute(0, 5).clone()"] {
        let mut question = Question::new([KNOWN]).unwrap();
        question.sizes("A, B, C, s").unwrap();
        let is_read = question.chain(text).map(|chain| chain.tracker(&Arc::new(question.scope().unwrap())).is_ok());
        assert!(!is_read.unwrap_or(false), "{text}");
    }
    assert!(read > 500 && refused > 300, "{read} {refused}");
}

#[test]
fn views_of_elements_of_another_size_are_those_of_the_numbers() {
    for text in [
        "np.zeros((A, B), np.int32).view(np.int8)",
        "np.zeros((A, B), np.int32).view(np.int16).T",
        "np.zeros((A, 3, 4*C), np.int8).reshape(3*A, 4*C).view(np.int32)",
        "np.zeros((A, 2*B), np.float32).view('c8').reshape(-1)",
        "torch.zeros(A, 4*C).view(torch.int8)",
        "torch.zeros(A, 2*B, dtype=torch.int8).view(torch.int16).t().reshape(-1)",
        "torch.zeros(2*A*B).view(A, 2*B).view(torch.float64).transpose(0, 1).view(A*B)",
        "torch.zeros(A, B).unsqueeze(1).view(torch.int16).flatten(1)",
    ] {
        let mut question = Question::new([KNOWN]).unwrap();
        question.sizes("A, B, C, s").unwrap();
        let chain = question.chain(text).unwrap();
        let scope = Arc::new(question.scope().unwrap());
        let advice = chain.advice(&scope).unwrap();
        for values in
            (1..4).flat_map(|a| (1..5).flat_map(move |b| (1..3).map(move |c| [("A", a), ("B", b), ("C", c), ("s", 0)])))
        {
            let numbers: shapetracker::Chain = put(text, &values).parse().unwrap();
            let found = advice.tracker.at(values).unwrap();
            let expected = numbers.tracker().unwrap();
            assert_eq!(found.shape(), expected.shape(), "{text} at {values:?}");
            assert_eq!(addresses(&found), addresses(&expected), "{text} at {values:?}");
            let point = scope.point("at", &[], values).unwrap();
            for (found, expected) in advice.libraries.iter().zip(numbers.advice(None).unwrap().libraries) {
                let is_apart = |part: &Vec<Literal>| part.iter().all(|literal| literal.holds(&point) == Some(true));
                if found.does != Does::Undecided && !found.unless.iter().any(is_apart) {
                    assert_eq!(
                        found.does, expected.does,
                        "{text} at {values:?}: {} {}",
                        found.sentence, expected.sentence
                    );
                }
            }
        }
        assert!(advice.sentence.contains("Strides and addresses count elements of"), "{text}: {}", advice.sentence);
    }
    for (text, complaint) in [
        (
            "np.zeros((A, B), np.int8).view(np.int32)",
            "axis 1 has size B, and whether 4 divides it is not known: say that `B = 4*b`",
        ),
        (
            "np.zeros((A, 3), np.int8).view(np.int32)",
            "NumPy raises a ValueError: to view int8 as int32, the last axis must be a multiple of 4, and axis 1 has size 3",
        ),
        (
            "torch.zeros(A, B).t().view(torch.int8)",
            "`view` of float32 as int8, of another size, depends on strides, which are followed where sizes are numbers: with names \
             write it before what moves elements",
        ),
        (
            "np.zeros((A, B), 'S6').view('S4')",
            "NumPy raises a ValueError: the size of S6 and that of S4 are no multiples of each other",
        ),
    ] {
        let mut question = Question::new([KNOWN]).unwrap();
        question.sizes("A, B, C, s").unwrap();
        let err = question.chain(text).unwrap_err();
        assert_eq!(err.message(), complaint);
    }
}
