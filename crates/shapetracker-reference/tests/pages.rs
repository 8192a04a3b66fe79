//! Every row of the library's tables has its page, and what the pages claim is what the library answers for numbers.

use std::collections::{BTreeMap, BTreeSet};

use shapetracker::{Chain, KnownMessage, ShapeTracker};
use shapetracker_cute::{ComposedLayout, Layout};
use shapetracker_reference::{
    CALLS, OPERATIONS, Page, RAISED, asked, cute_pages, embed, explorer, judged, method_names, pages,
};

fn all() -> Vec<Page> {
    pages().unwrap()
}

#[test]
fn every_row_has_a_page_with_an_address_and_a_title_of_its_own() {
    let pages = all();
    let mut addresses = BTreeSet::new();
    for page in &pages {
        assert!(addresses.insert(page.path.to_ascii_lowercase()), "{}", page.path);
        assert!(
            page.path.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"/-_".contains(&byte)),
            "{}",
            page.path
        );
        let heading = page.text.lines().next().unwrap().replace('\\', "");
        assert_eq!(heading, format!("# {}", page.title));
        assert!(!page.about.is_empty() && page.about.len() < 220, "{}: {}", page.path, page.about);
        assert!(page.path == "index" || page.text.contains("## Exercise"), "{}", page.path);
    }
    let titles: BTreeSet<&str> = pages.iter().map(|page| &page.title[..]).collect();
    assert_eq!(titles.len(), pages.len());
    for name in method_names() {
        let address = if ["T", "mT"].contains(&name) { format!("{name}-attribute") } else { name.to_owned() };
        assert!(addresses.contains(&format!("methods/{}", address.to_ascii_lowercase())), "{name}");
        assert!(CALLS.iter().any(|call| call.method == name), "{name}");
    }
    assert!(CALLS.iter().all(|call| method_names().any(|name| name == call.method)));
    assert_eq!(pages.iter().filter(|page| page.path.starts_with("errors/")).count(), KnownMessage::ALL.len());
    assert_eq!(pages.iter().filter(|page| page.path.starts_with("cute/")).count(), OPERATIONS.len());
    // The first page leads to all.
    for page in &pages[1..] {
        assert!(pages[0].text.contains(&format!("]({}.md)", page.path)), "{}", page.path);
    }
}

/// The value of a polynomial as it is printed.
fn value(text: &str, names: &BTreeMap<&str, i64>) -> i64 {
    let mut sum = 0;
    for term in text.replace(" - ", " + -").split(" + ") {
        let (sign, term) = if let Some(rest) = term.strip_prefix('-') { (-1, rest) } else { (1, term) };
        let factor = |factor: &str| {
            let (base, power) = factor.split_once("**").unwrap_or((factor, "1"));
            names.get(base).copied().unwrap_or_else(|| base.parse().unwrap()).pow(power.parse().unwrap())
        };
        sum += sign * product(term, &factor);
    }
    sum
}

fn product(term: &str, factor: &dyn Fn(&str) -> i64) -> i64 {
    term.replace("**", "^").split('*').map(|text| factor(&text.replace('^', "**"))).product()
}

fn tuple(text: &str, names: &BTreeMap<&str, i64>) -> Vec<i64> {
    let inside = text.trim_start_matches('(').trim_end_matches(')').trim_end_matches(',');
    inside.split(", ").filter(|item| !item.is_empty()).map(|item| value(item, names)).collect()
}

/// How far the address moves with each index, found by looking; nothing along an axis of one index.
fn looked_up(tracker: &ShapeTracker) -> Vec<Option<i64>> {
    let origin = vec![0; tracker.rank()];
    let step = |axis: usize| {
        let mut next = origin.clone();
        next[axis] = 1;
        (tracker.shape()[axis] > 1).then(|| tracker.address(&next).unwrap() - tracker.address(&origin).unwrap())
    };
    (0..tracker.rank()).map(step).collect()
}

#[test]
fn strides_with_names_are_those_of_numbers() {
    let mut compared = 0;
    for call in CALLS {
        for given in call.arrays() {
            let Ok(said) = asked(&call.on(&given)) else { continue };
            for more in [0, 1, 3] {
                let values = said.values(more).unwrap();
                let words = said.values_in_words(&values);
                let names: BTreeMap<&str, i64> = words
                    .split(", ")
                    .filter_map(|pair| pair.split_once(" = "))
                    .map(|(name, value)| (name, value.parse().unwrap()))
                    .collect();
                let text = said.at(&values).unwrap();
                let first = text.rsplit_once('\n').unwrap().0;
                for (lies, text) in [(&said.before, first), (&said.after, &text[..])] {
                    let chain: Chain = text.parse().unwrap();
                    let tracker = chain.follow(None, |_, _| ()).unwrap().over_base().unwrap();
                    assert_eq!(tuple(&lies.shape, &names), tracker.shape(), "{text}");
                    let Some(strides) = &lies.strides else { continue };
                    for (said, seen) in tuple(strides, &names).into_iter().zip(looked_up(&tracker)) {
                        assert!(seen.is_none_or(|seen| seen == said), "{text}: {strides}");
                    }
                    let offset = lies.offset.as_ref().map_or(0, |offset| value(offset, &names));
                    assert_eq!(tracker.address(&vec![0; tracker.rank()]), Some(offset), "{text}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 1000, "{compared}");
}

#[test]
fn pictures_show_the_addresses_of_their_lines() {
    let mut pictures = 0;
    for page in all().iter().filter(|page| page.path.starts_with("methods/")) {
        let mut rest = &page.text[..];
        while let Some(begin) = rest.find("<svg") {
            let end = begin + rest[begin..].find("</svg>").unwrap();
            let svg = &rest[begin..end];
            let link = rest[end..].split("index.html#c=").nth(1).unwrap().split('"').next().unwrap();
            let text = decoded(link);
            // The second tensor is the one after the line.
            let cells = svg.split("class=\"name\"").nth(2).unwrap();
            let shown: Vec<&str> = cells
                .split("</text>")
                .filter_map(|cell| cell.rsplit_once("\">"))
                .map(|(_, text)| text)
                .skip(1)
                .collect();
            let chain: Chain = text.parse().unwrap();
            let tracker = chain.follow(None, |_, _| ()).unwrap().over_base().unwrap();
            let mut index = vec![0; tracker.rank()];
            let mut wanted = Vec::new();
            'all: loop {
                wanted.push(tracker.address(&index).map_or("\u{2013}".to_owned(), |address| address.to_string()));
                for axis in (0..index.len()).rev() {
                    index[axis] += 1;
                    if index[axis] < tracker.shape()[axis] {
                        continue 'all;
                    }
                    index[axis] = 0;
                }
                break;
            }
            assert_eq!(shown, wanted, "{}: {text}", page.path);
            pictures += 1;
            rest = &rest[end..];
        }
    }
    assert!(pictures > 60, "{pictures}");
}

/// The text of a link, as the explorer reads it.
fn decoded(link: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), link.bytes());
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
            }
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).unwrap()
}

#[test]
fn links_say_their_text() {
    for text in ["x = torch.zeros(2, 3)\nx.view(6)", "rearrange(x, 'a b -> (a b)', b=3)", "\"&#+%é\""] {
        let link = explorer(text, None);
        assert_eq!(decoded(link.strip_prefix("../../explorer/index.html#c=").unwrap()), text);
        let frame = explorer(text, Some("flow"));
        let line = embed(&frame, text);
        assert!(
            line.starts_with("<iframe src=\"../../explorer/index.html?embed=flow#c=") && !line.contains('\n'),
            "{line}"
        );
        assert_eq!(line.matches('"').count() % 2, 0);
    }
}

#[test]
fn messages_are_raised_where_the_pages_say_so() {
    for raised in RAISED {
        let known = KnownMessage::ALL.iter().find(|known| known.begins() == raised.begins).unwrap();
        // What begins a message is in it, and with the line in front the library reads it.
        assert!(raised.message.contains(raised.begins), "{}", raised.begins);
        let text = if known.has_shapes() {
            raised.message.to_owned()
        } else {
            format!("{}\n{}", raised.asks.unwrap_or(raised.code), raised.message)
        };
        let (chain, unread) = Chain::read_from(&text, None);
        let is_begun = chain.start() != &shapetracker::ChainStart::Nothing;
        assert!(is_begun, "{text}: {unread:?}");
        let is_of_layout = !raised.begins.starts_with("the tensor has a non-zero number");
        assert_eq!(judged(raised.asks.unwrap_or(raised.code)).raises, is_of_layout, "{}", raised.code);
        let wrong = raised.lines.iter().filter(|line| judged(line).raises).count();
        assert!((1..=2).contains(&wrong), "{}: {wrong} of the lines raise", raised.begins);
    }
}

#[test]
fn operations_on_layouts_do_what_their_definitions_say() {
    let layout = |text: &str| text.parse::<Layout>().unwrap();
    let values =
        |layout: &ComposedLayout| (0..layout.layout().size()).map(|at| layout.at(at).unwrap()).collect::<Vec<_>>();
    let sorted = |mut list: Vec<i64>| {
        list.sort_unstable();
        list
    };
    let mut found = 0;
    for operation in OPERATIONS {
        for given in operation.given {
            let Ok(result) = (operation.does)(given) else { continue };
            let shown = values(&result);
            let a = given[0].parse::<Layout>().ok();
            let of_a = |at: i64| a.as_ref().and_then(|a| a.at_extended(at)).unwrap();
            match operation.name {
                "make_layout" => assert!(shown.iter().copied().eq(0..shown.len() as i64)),
                "coalesce" => assert_eq!(shown, values(&layout(given[0]).into())),
                "filter" => {
                    let distinct: BTreeSet<i64> = values(&layout(given[0]).into()).into_iter().collect();
                    assert_eq!(shown.iter().copied().collect::<BTreeSet<_>>(), distinct);
                    assert_eq!(shown.len(), distinct.len());
                }
                "composition" => {
                    let b = layout(given[1]);
                    let wanted: Vec<i64> = (0..b.size()).map(|at| of_a(b.at(at).unwrap())).collect();
                    assert_eq!(shown, wanted);
                }
                "complement" => {
                    // Sums of both are all addresses, each once.
                    let of_layout = values(&layout(given[0]).into());
                    let sums =
                        of_layout.iter().flat_map(|value| shown.iter().map(move |other| value + other)).collect();
                    let cotarget: i64 = given[1].parse().unwrap();
                    assert_eq!(sorted(sums), (0..cotarget).collect::<Vec<_>>());
                }
                "right_inverse" => assert!(shown.iter().enumerate().all(|(at, &value)| of_a(value) == at as i64)),
                "left_inverse" => {
                    let a = layout(given[0]);
                    assert!((0..a.size()).all(|at| result.at(a.at(at).unwrap()) == Some(at)));
                }
                name if name.ends_with("divide") => assert_eq!(sorted(shown), sorted(values(&layout(given[0]).into()))),
                name if name.ends_with("product") => {
                    // Each repetition is the layout, moved by a whole number of its own extents.
                    let first = values(&layout(given[0]).into());
                    let all: BTreeSet<i64> = shown.iter().copied().collect();
                    assert!(first.iter().all(|value| all.contains(value)));
                    assert_eq!(shown.len() % first.len(), 0);
                    assert_eq!(all.len(), shown.len());
                }
                "Swizzle" => {
                    let numbers: Vec<u32> = given[0]
                        .trim_matches(|c: char| !c.is_ascii_digit())
                        .split(',')
                        .map(|part| part.parse().unwrap())
                        .collect();
                    let [bits, base, shift] = numbers[..] else { panic!() };
                    let mask = ((1_i64 << bits) - 1) << (base + shift);
                    let wanted: Vec<i64> = values(&layout(given[1]).into())
                        .into_iter()
                        .map(|value| value ^ ((value & mask) >> shift))
                        .collect();
                    assert_eq!(shown, wanted);
                }
                name => panic!("{name} has no definition here"),
            }
            found += 1;
        }
    }
    assert!(found > 40 && cute_pages().unwrap().iter().all(|page| page.text.contains("<svg")), "{found}");
}
