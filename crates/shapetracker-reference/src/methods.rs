//! A page for each movement operation, in the spelling of each library: the rows of [`Method::ALL`], and the other names of ours.

use std::collections::BTreeMap;

use shapetracker::advice::Does;
use shapetracker::{ArrayLibrary, Chain, Method, MovementKind};

use crate::asked::{Asked, asked, trackers, tuple};
use crate::calls::{CALLS, Call, Given};
use crate::figure::{Cells, figure};
use crate::page::{Page, address, code, head, prose, python, row, shown};

/// The names of all that has a page, in the order of the table.
///
/// ```
/// assert!(shapetracker_reference::method_names().eq(["reshape", "view", "permute"].into_iter().chain(
///     shapetracker_reference::method_names().skip(3)
/// )));
/// ```
pub fn method_names() -> impl Iterator<Item = &'static str> {
    Method::ALL.iter().flat_map(|method| {
        let ours = method.library().is_none().then(|| MovementKind::named(method.name())).flatten();
        let others = ours.map(MovementKind::aliases).unwrap_or_default();
        std::iter::once(method.name()).chain(others.iter().copied())
    })
}

/// The row of a name.
fn row_of(name: &str) -> &'static Method {
    let is_meant = |method: &&Method| {
        method.name() == name
            || (method.library().is_none()
                && MovementKind::named(name).is_some_and(|kind| kind.name() == method.name()))
    };
    Method::ALL.iter().find(is_meant).unwrap_or(&Method::ALL[0])
}

/// The path of the page of a method.
pub(crate) fn path(name: &str) -> String {
    // `T` and `t` are two methods.
    let attribute = if row_of(name).signature().contains('(') { "" } else { "-attribute" };
    format!("methods/{}{attribute}", address(name))
}

/// The pages of all methods.
///
/// # Errors
/// A line that cannot be read or done, as a sentence; a method without a line.
pub fn method_pages() -> Result<Vec<Page>, String> {
    let mut all = Vec::new();
    for name in method_names() {
        let calls: Vec<&Call> = CALLS.iter().filter(|call| call.method == name).collect();
        if calls.is_empty() {
            return Err(format!("there is no line that calls `{name}`: write one in `calls.rs`"));
        }
        let mut done = Vec::new();
        for call in calls {
            let arrays = call.arrays();
            let answers: Vec<_> = arrays.iter().map(|given| asked(&call.on(given))).collect();
            // An array in row-major order can be given to all of them.
            if let Err(why) = &answers[0] {
                return Err(format!("{}: {why}", call.on(&arrays[0])));
            }
            done.push(Done { call, arrays, answers });
        }
        all.push((name, done));
    }
    // Lines that do the same to the same array are each other's spellings.
    let mut alike: BTreeMap<String, Vec<(&str, &Done)>> = BTreeMap::new();
    for (name, done) in all.iter().flat_map(|(name, done)| done.iter().map(move |done| (*name, done))) {
        alike.entry(done.key()).or_default().push((name, done));
    }
    all.iter().map(|(name, done)| page(name, done, &alike)).collect()
}

/// A line, and what it does to each of its arrays.
struct Done {
    call: &'static Call,
    arrays: Vec<Given>,
    /// Why not, where that cannot be done or is not read.
    answers: Vec<Result<Asked, String>>,
}

impl Done {
    /// What tells lines apart that do not do the same to the same array.
    fn key(&self) -> String {
        self.answers[0].as_ref().map_or_else(String::clone, |asked| asked.layouts.clone())
    }

    /// The array for which something happens: the first one for which it is no view, else the first one.
    fn telling(&self) -> usize {
        let is_view = |asked: &Asked| {
            let meant = self.call.libraries();
            asked.libraries.iter().filter(|said| meant.contains(&said.library)).all(|said| said.does == Does::View)
        };
        self.answers.iter().position(|asked| asked.as_ref().is_ok_and(|asked| !is_view(asked))).unwrap_or(0)
    }
}

/// Two names, or more, in a sentence.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn page(name: &str, done: &[Done], alike: &BTreeMap<String, Vec<(&str, &Done)>>) -> Result<Page, String> {
    let method = row_of(name);
    let mut libraries: Vec<String> = Vec::new();
    let owners = method.library().map(|libraries| libraries.split(", ").map(str::to_owned).collect::<Vec<_>>());
    for library in owners
        .unwrap_or_default()
        .into_iter()
        .chain(done.iter().filter_map(|done| done.call.of).map(|of| of.to_string()))
    {
        if !libraries.contains(&library) {
            libraries.push(library);
        }
    }
    let place = if libraries.is_empty() {
        "as an operation on layouts".to_owned()
    } else {
        format!("in {}", listed(&libraries))
    };
    let title = format!("{name} {place}: strides, and when it copies");
    let says = method.says();
    let mut text = format!("# {title}\n\n{}: {says}\n\n", code(&method.signature().replacen(method.name(), name, 1)));
    let mut seen = Vec::new();
    for done in done {
        let Done { call, arrays, answers } = done;
        let heading =
            call.of.map_or_else(|| "As an operation on layouts".to_owned(), |library| format!("In {library}"));
        text += &format!("## {heading}\n\n{}", python(call.code));
        let shape = answers[0].as_ref().map_or("", |asked| &asked.after.shape);
        text += &format!(
            "The result has the shape {}. What its strides are, and whether it is a copy, depends on how `x` lies:\n\n{}",
            code(shape),
            python(
                &arrays.iter().map(|given| format!("{}  # {}", given.code, given.lies)).collect::<Vec<_>>().join("\n")
            ),
        );
        let does: Vec<String> = call.libraries().iter().map(|library| format!("what {library} does")).collect();
        let mut names = vec!["`x` lies", "strides of `x`", "strides after"];
        names.extend(does.iter().map(String::as_str));
        text += &head(&names);
        for (given, asked) in arrays.iter().zip(answers) {
            let asked = match asked {
                Ok(asked) => asked,
                Err(why) => {
                    let mut cells = vec![given.lies.to_owned()];
                    cells.resize(names.len() - 1, String::new());
                    cells.push(format!("not followed: {}", prose(why)));
                    text += &row(&cells);
                    continue;
                }
            };
            let before = asked.before.strides.as_deref().map_or_else(String::new, code);
            let mut cells = vec![given.lies.to_owned(), before, prose(&after(asked, call))];
            for library in call.libraries() {
                let said = asked.libraries.iter().find(|said| said.library == library);
                cells.push(said.map_or_else(String::new, |said| {
                    let instead = said.code.as_deref().filter(|code| !code.contains('\n'));
                    let instead = instead.map(|instead| format!(" Write {}.", code(instead)));
                    format!("{}{}", prose(&said.sentence), instead.unwrap_or_default())
                }));
            }
            text += &row(&cells);
        }
        text += "\n";
        let at = done.telling();
        let (given, asked) = (&arrays[at], answers[at].as_ref().map_err(String::clone)?);
        let values = asked.values(0).ok_or_else(|| format!("{}: there are no values to show it at", call.code))?;
        let line = asked.at(&values).ok_or_else(|| format!("{}: its values are too large", call.code))?;
        if !seen.contains(&asked.layouts) {
            seen.push(asked.layouts.clone());
            let (x, result) = trackers(&line)?;
            let last = line.lines().last().unwrap_or_default();
            let values = asked.values_in_words(&values);
            let label = format!("The addresses of x, and of {last}");
            let svg = figure(&[Cells::of("x", &x), Cells::of(last, &result)], &label);
            let masked = if result.addresses().any(|address| address.is_none()) {
                " A dash is an element of the padding."
            } else {
                ""
            };
            let values = if values.is_empty() { values } else { format!("With {values}, where") };
            let values = if values.is_empty() { "Where".to_owned() } else { values };
            let caption = format!(
                "{values} x lies {}: in each cell stands the place in memory of the element that is read.{masked}",
                given.lies
            );
            text += &shown(svg.as_deref(), &caption, &line, "flow");
        }
    }
    text += &exercise(&done[0])?;
    let mut others: Vec<String> = Vec::new();
    for done in done {
        for (other, theirs) in alike.get(&done.key()).into_iter().flatten() {
            let place = theirs.call.of.map_or_else(|| "on layouts".into(), |library| format!("in {library}"));
            let line = format!(
                "- [{}]({}.md) {place}",
                code(&theirs.call.code.replace('\n', " ")),
                path(other).trim_start_matches("methods/")
            );
            if *other != name && !others.contains(&line) {
                others.push(line);
            }
        }
    }
    if !others.is_empty() {
        text += &format!("## Other names for it\n\nThese lines give the same layout:\n\n{}\n\n", others.join("\n"));
    }
    Ok(Page {
        path: path(name),
        about: format!(
            "{says} Its strides before and after, and when {} {} a view or a copy.",
            listed(&libraries),
            if libraries.len() > 1 { "make" } else { "makes" }
        ),
        title,
        text,
    })
}

/// The strides after a line, as far as they are those of the library's own array.
fn after(asked: &Asked, call: &Call) -> String {
    if let Some(copy) = &asked.copy {
        let given = if copy.given.is_empty() { String::new() } else { format!(" with {}", copy.given) };
        return format!("{}{given}, in new memory", code(&copy.strides));
    }
    if asked.is_copied {
        return "a new array".to_owned();
    }
    let meant = |library: &ArrayLibrary| call.libraries().contains(library);
    let copies = asked.libraries.iter().any(|said| meant(&said.library) && said.does != Does::View);
    let Some(strides) = &asked.after.strides else {
        let is_open = !asked.sentence.starts_with("One view: ");
        let sentence = asked.sentence.split("; else").next().unwrap_or_default().trim_end_matches('.');
        return if is_open { sentence.to_owned() } else { "a new array".to_owned() };
    };
    let offset = asked.after.offset.as_ref().map(|offset| format!(", from {} on", code(offset))).unwrap_or_default();
    match copies {
        true => format!("a new array; a view would have {}{offset}", code(strides)),
        false => format!("{}{offset}", code(strides)),
    }
}

/// An exercise whose answer is the library's.
fn exercise(done: &Done) -> Result<String, String> {
    let Done { call, arrays, answers } = done;
    // Not the one that is drawn, where there is another.
    let at = (0..arrays.len()).rev().find(|at| *at != done.telling() && answers[*at].is_ok()).unwrap_or(0);
    let asked = answers[at].as_ref().map_err(String::clone)?;
    let values = asked.values(1).ok_or_else(|| format!("{}: there are no values for an exercise", call.code))?;
    let line = asked.at(&values).ok_or_else(|| format!("{}: its values are too large", call.code))?;
    let chain: Chain = line.parse().map_err(|err: shapetracker::ParseError| format!("{line}: {}", err.message()))?;
    let (_, result) = trackers(&line)?;
    let advice = chain.advice(None).map_err(|err| format!("{line}: {}", err.message()))?;
    let library = call.of.unwrap_or(ArrayLibrary::PyTorch);
    let said = advice.libraries.iter().find(|said| said.library == library);
    let index: Vec<i64> = result.shape().iter().map(|size| size - 1).collect();
    let place = match result.address(&index) {
        Some(address) => format!("reads place {address} of the memory of `x`"),
        None => "is one of the padding".to_owned(),
    };
    let shape = tuple(result.shape());
    let strides = result.as_view().map(|view| tuple(view.strides()));
    let layout = strides.map_or_else(
        || "no strides say where all elements are".to_owned(),
        |strides| format!("the strides over the memory of `x` are `{strides}`"),
    );
    Ok(format!(
        "## Exercise\n\n{}Which shape has it, which strides, and which place of the memory of `x` does its last element read? Is it a view?\n\n\
         <details>\n<summary>The answer</summary>\n<p>The shape is <code>{shape}</code>, {}. The last element {}. {}</p>\n</details>\n\n",
        python(&line),
        html(&layout),
        html(&place),
        html(&said.map(|said| said.sentence.clone()).unwrap_or_default()),
    ))
}

/// A sentence with code between backticks as HTML.
pub(crate) fn html(sentence: &str) -> String {
    let parts = crate::figure::escaped(sentence);
    let parts = parts.split('`').enumerate();
    parts.map(|(place, part)| if place % 2 == 1 { format!("<code>{part}</code>") } else { part.to_owned() }).collect()
}
