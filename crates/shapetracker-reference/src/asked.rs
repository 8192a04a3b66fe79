//! What the library says of a line: everything that a page claims.

use std::sync::Arc;

use shapetracker::advice::Does;
use shapetracker::{ArrayLibrary, BufferOf, Chain};
use shapetracker_symbolic::{Answer, Question, Scope, ShapeTracker};

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

/// What the last line of a text does, for all values of the names that are sizes.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The layout that the lines before it make.
    pub before: ShapeTracker,
    /// The layout after it, over the memory of what the text starts with.
    pub after: ShapeTracker,
    /// The same over the newest memory, where an operation asks for a copy.
    pub copy: Option<ShapeTracker>,
    /// Whether that is one view.
    pub answer: Answer,
    /// The answer as a sentence.
    pub sentence: String,
    /// What PyTorch and NumPy do.
    pub libraries: Vec<Library>,
    /// The names.
    pub scope: Arc<Scope>,
    /// The text.
    chain: shapetracker_symbolic::Chain,
}

/// Asks the library of a text.
///
/// # Errors
/// What cannot be read or done, as a sentence.
pub fn asked(text: &str) -> Result<Asked, String> {
    let mut question = Question::default();
    let chain = question.chain(text).map_err(|err| format!("{text}: {}", err.message()))?;
    let scope = Arc::new(question.scope().map_err(|err| format!("{text}: {}", err.message()))?);
    let advice = chain.advice(&scope).map_err(|err| format!("{text}: {}", err.message()))?;
    let newest = chain.follow(&scope, |_, _| ()).map_err(|err| format!("{text}: {}", err.message()))?;
    let is_copy = matches!(newest.buffer(), BufferOf::Copy { .. });
    // What stands in front of the last line makes the array.
    let first = text.rsplit_once('\n').map_or("", |(first, _)| first);
    let mut question = Question::default();
    let made = question.chain(first).map_err(|err| format!("{first}: {}", err.message()))?;
    let names = Arc::new(question.scope().map_err(|err| format!("{first}: {}", err.message()))?);
    let before = made.tracker(&names).map_err(|err| format!("{first}: {}", err.message()))?;
    let libraries = advice.libraries.into_iter().map(|said| Library {
        library: said.library,
        does: said.does,
        sentence: said.sentence,
        code: said.code,
    });
    Ok(Asked {
        before,
        after: advice.tracker,
        copy: is_copy.then(|| newest.over_newest().clone()),
        answer: advice.answer,
        sentence: advice.sentence,
        libraries: libraries.collect(),
        scope,
        chain,
    })
}

impl Asked {
    /// Small values of the names, at which a picture shows what happens; with `more` others, for an exercise.
    pub fn values(&self, more: i64) -> Option<Vec<i64>> {
        let values = self.after.example(&self.answer, &[])?;
        let more: Vec<i64> = values.iter().map(|value| value + more).collect();
        let fits = self.after.at_point(&more.iter().map(|&value| value.into()).collect::<Vec<i128>>()).is_ok();
        Some(if fits { more } else { values })
    }

    /// The values of the names in words, `B = 2, T = 3`.
    pub fn values_in_words(&self, values: &[i64]) -> String {
        let names = self.scope.names().iter().zip(values);
        names.map(|(name, value)| format!("{} = {value}", name.name)).collect::<Vec<_>>().join(", ")
    }

    /// The text at values of the names.
    pub fn at(&self, values: &[i64]) -> Option<String> {
        self.chain.at(&values.iter().map(|&value| value.into()).collect::<Vec<i128>>())
    }

    /// The text of the strides of a layout of several names; `None` where it is not one view for all values.
    pub fn strides(tracker: &ShapeTracker) -> Option<String> {
        let view = tracker.as_view()?;
        Some(tuple(view.strides.iter().map(|stride| tracker.scope().text(stride))))
    }

    /// The text of the shape of a layout.
    pub fn shape(tracker: &ShapeTracker) -> String {
        tuple(tracker.shape().iter().map(|size| tracker.scope().text(size)))
    }
}

/// A text of numbers, read.
///
/// # Errors
/// What cannot be read, as a sentence.
pub fn numbers(text: &str) -> Result<Chain, String> {
    text.parse().map_err(|err: shapetracker::ParseError| format!("{text}: {}", err.message()))
}

fn tuple(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    format!("({}{})", items.join(", "), if items.len() == 1 { "," } else { "" })
}
