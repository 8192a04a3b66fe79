//! What the library says of a line: everything that a page claims. Lines whose sizes are numbers are asked of the integers, and
//! those with names of the names, as the front ends do it.

use std::fmt::Display;
use std::sync::Arc;

use shapetracker::advice::Does;
use shapetracker::{ArrayLibrary, BufferOf, Chain, ShapeTracker, Stored};
use shapetracker_symbolic::{Answer, Question, Scope};

/// What a library does with a line, in a word and in a sentence, and what to write instead.
#[derive(Clone, Debug)]
pub struct Library {
    /// The library.
    pub library: ArrayLibrary,
    /// What it does.
    pub does: Does,
    /// The same as sentences.
    pub sentence: String,
    /// What to write instead, where something may be.
    pub code: Option<String>,
}

/// How a tensor lies in its memory, as texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lies {
    /// Its shape.
    pub shape: String,
    /// Its strides, where it is one view without a mask for all values of the names.
    pub strides: Option<String>,
    /// Where its first element is, where that is not the beginning.
    pub offset: Option<String>,
}

/// How a tensor lies in the memory that a copy made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Its strides.
    pub strides: String,
    /// The values of the names for which these are its strides; empty where that are all.
    pub given: String,
}

/// What the last line of a text does, for all values of the names that are sizes.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The tensor that the lines before it make.
    pub before: Lies,
    /// The tensor after it, over the memory of what the text starts with.
    pub after: Lies,
    /// How the memory of a copy is read, where the line asks for one of the same elements.
    pub copy: Option<Copied>,
    /// Whether an operation asks for a copy.
    pub is_copied: bool,
    /// Both layouts, as a text that is the same for lines that do the same to the same tensor.
    pub layouts: String,
    /// Whether it is one view, as a sentence.
    pub sentence: String,
    /// What PyTorch and NumPy do.
    pub libraries: Vec<Library>,
    text: String,
    names: Option<Names>,
}

/// What is known of sizes that are names.
#[derive(Clone, Debug)]
struct Names {
    after: shapetracker_symbolic::ShapeTracker,
    answer: Answer,
    scope: Arc<Scope>,
    chain: shapetracker_symbolic::Chain,
}

/// The lines that make the array, without the last one.
fn first_lines(text: &str) -> &str {
    text.rsplit_once('\n').map_or("", |(first, _)| first)
}

/// Asks the library of a text.
///
/// ```
/// let asked = shapetracker_reference::asked("x = torch.zeros(B, T)\nx.t()")?;
/// assert_eq!(asked.before.strides.as_deref(), Some("(T, 1)"));
/// assert_eq!((&asked.after.shape[..], asked.after.strides.as_deref()), ("(T, B)", Some("(1, T)")));
/// assert_eq!(asked.libraries[0].sentence, "PyTorch makes a view: nothing is copied.");
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// What cannot be read or done, as a sentence.
pub fn asked(text: &str) -> Result<Asked, String> {
    match text.parse::<Chain>() {
        Ok(chain) => of_numbers(text, &chain),
        Err(_) => of_names(text),
    }
}

fn of_numbers(text: &str, chain: &Chain) -> Result<Asked, String> {
    let advice = chain.advice(None).map_err(|err| err.message())?;
    let last = chain.follow(None, |_, _| ()).map_err(|err| err.message())?;
    let (before, after) = trackers(text)?;
    let lies = |tracker: &ShapeTracker| {
        let view = tracker.as_view().filter(|view| view.mask().is_none());
        Lies {
            shape: tuple(tracker.shape()),
            strides: view.map(|view| tuple(view.strides())),
            offset: view.map(|view| view.offset()).filter(|offset| *offset != 0).map(|offset| offset.to_string()),
        }
    };
    let libraries = advice.libraries.into_iter().map(|said| Library {
        library: said.library,
        does: said.does,
        sentence: said.sentence,
        code: said.code,
    });
    Ok(Asked {
        before: lies(&before),
        after: lies(&after),
        copy: copied(&last).filter(|_| before == after).map(|strides| Copied { strides, given: String::new() }),
        is_copied: matches!(last.buffer(), BufferOf::Copy { .. }),
        layouts: format!("{before} {after}"),
        sentence: advice.sentence,
        libraries: libraries.collect(),
        text: text.to_owned(),
        names: None,
    })
}

fn of_names(text: &str) -> Result<Asked, String> {
    let read = |text: &str| -> Result<_, String> {
        let mut question = Question::default();
        let chain = question.chain(text).map_err(|err| err.message().to_owned())?;
        let scope = Arc::new(question.scope().map_err(|err| err.message().to_owned())?);
        Ok((chain, scope))
    };
    let (chain, scope) = read(text)?;
    let advice = chain.advice(&scope).map_err(|err| err.message())?;
    let last = chain.follow(&scope, |_, _| ()).map_err(|err| err.message())?;
    let (made, names) = read(first_lines(text))?;
    let before = made.tracker(&names).map_err(|err| err.message())?;
    let lies = |tracker: &shapetracker_symbolic::ShapeTracker| {
        let scope = tracker.scope();
        let view = tracker.as_view();
        let texts =
            |list: &[shapetracker_symbolic::Poly]| tuple(&list.iter().map(|poly| scope.text(poly)).collect::<Vec<_>>());
        Lies {
            shape: texts(tracker.shape()),
            strides: view.filter(|view| view.mask.is_none()).map(|view| texts(&view.strides)),
            offset: view
                .filter(|view| !view.offset.is_zero() && view.mask.is_none())
                .map(|view| scope.text(&view.offset)),
        }
    };
    let libraries = advice.libraries.into_iter().map(|said| Library {
        library: said.library,
        does: said.does,
        sentence: said.sentence,
        code: said.code,
    });
    let mut asked = Asked {
        before: lies(&before),
        after: lies(&advice.tracker),
        copy: None,
        is_copied: matches!(last.buffer(), BufferOf::Copy { .. }),
        layouts: format!("{before} {}", advice.tracker),
        sentence: advice.sentence,
        libraries: libraries.collect(),
        text: text.to_owned(),
        names: Some(Names { after: advice.tracker, answer: advice.answer, scope, chain }),
    };
    // How a copy lies is asked with numbers, too: with names it is said where both agree.
    // Of other elements libraries make new arrays in orders of their own.
    if let (true, Some(values), true) = (asked.is_copied, asked.values(0), asked.before == asked.after) {
        let numbers = asked.at(&values).ok_or("the values are too large")?;
        let numbers: Chain = numbers.parse().map_err(|err: shapetracker::ParseError| err.message().to_owned())?;
        let numbers = copied(&numbers.follow(None, |_, _| ()).map_err(|err| err.message())?);
        let point: Vec<i128> = values.iter().map(|&value| value.into()).collect();
        let newest = last.over_newest();
        let same = newest.at_point(&point).ok().as_ref().and_then(strides);
        asked.copy = match (lies(newest).strides, numbers) {
            (Some(names), Some(numbers)) if same.as_ref() == Some(&numbers) => {
                Some(Copied { strides: names, given: String::new() })
            }
            (_, Some(numbers)) => Some(Copied { strides: numbers, given: asked.values_in_words(&values) }),
            _ => None,
        };
    }
    Ok(asked)
}

/// The strides of a tensor over the memory that a copy made.
fn copied(tensor: &Stored) -> Option<String> {
    matches!(tensor.buffer(), BufferOf::Copy { .. }).then(|| strides(tensor.over_newest())).flatten()
}

fn strides(tracker: &ShapeTracker) -> Option<String> {
    tracker.as_view().map(|view| tuple(view.strides()))
}

impl Asked {
    /// Small values of the names, at which a picture shows what happens; `more` than these for an exercise, where that is allowed.
    /// `None` where there are none.
    pub fn values(&self, more: i64) -> Option<Vec<i64>> {
        let Some(names) = &self.names else { return Some(Vec::new()) };
        let values = names.after.example(&names.answer, &[])?;
        let larger: Vec<i64> = values.iter().map(|value| value + more).collect();
        let point: Vec<i128> = larger.iter().map(|&value| value.into()).collect();
        Some(if names.after.at_point(&point).is_ok() { larger } else { values })
    }

    /// The values of the names in words, `B = 2, T = 3`; empty where there are no names.
    pub fn values_in_words(&self, values: &[i64]) -> String {
        let names = self.names.iter().flat_map(|names| names.scope.names()).zip(values);
        names.map(|(name, value)| format!("{} = {value}", name.name)).collect::<Vec<_>>().join(", ")
    }

    /// The text at values of the names.
    pub fn at(&self, values: &[i64]) -> Option<String> {
        match &self.names {
            Some(names) => names.chain.at(&values.iter().map(|&value| value.into()).collect::<Vec<i128>>()),
            None => Some(self.text.clone()),
        }
    }
}

/// The layout that all lines but the last make, and that of the whole text, over one memory.
///
/// # Errors
/// What cannot be read or done, as a sentence.
pub fn trackers(text: &str) -> Result<(ShapeTracker, ShapeTracker), String> {
    let [x, result] = [first_lines(text), text].map(|text| {
        let chain: Chain =
            text.parse().map_err(|err: shapetracker::ParseError| format!("{text}: {}", err.message()))?;
        let last = chain.follow(None, |_, _| ()).map_err(|err| format!("{text}: {}", err.message()))?;
        last.over_base().map_err(|err| format!("{text}: {}", err.reason()))
    });
    Ok((x?, result?))
}

/// What stands in a list as a tuple of Python.
pub(crate) fn tuple<T: Display>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    format!("({}{})", items.join(", "), if items.len() == 1 { "," } else { "" })
}
