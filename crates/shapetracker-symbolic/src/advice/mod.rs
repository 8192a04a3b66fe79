//! What people ask of a chain whose sizes are names: is it still one view, for which values, and what do NumPy and PyTorch do
//! with it?
//!
//! The code that answers it for whole numbers answers it here, at values that remember what was asked of them
//! ([`traced`]); what it says is so for all values for which the same is asked and answered.

mod traced;

use std::rc::Rc;
use std::sync::Arc;

use shapetracker::advice::{ArrayNumber as _, Does, LibraryAdviceOf, Performed, library_advice};
use shapetracker::{ArrayLibrary, MovementOf};
use shapetracker_base::list::sort_short_by_key;

use crate::answer::{Answer, Formula};
use crate::ask::Ask;
use crate::equality::absorb;
use crate::literal::{Literal, Relation};
use crate::merge::tidy;
use crate::notation::{Chain, ChainError};
use crate::pair::shortened;
use crate::poly::{MOST_STEPS, Poly, within};
use crate::region::{Region, Truth};
use crate::scope::Scope;
use crate::tracker::ShapeTracker;
use crate::view::View;
use traced::{Asked, Names, Trace, Traced, traced};

/// At so many choices of values a library is followed, to find out for which of them it does the same.
const MOST_RUNS: usize = 128;

/// Whether a chain is one view, for which values of the names, and what array libraries do with it.
///
/// ```
/// use std::sync::Arc;
/// use shapetracker_symbolic::Question;
///
/// let mut question = Question::default();
/// let chain = question.chain("(B, T, C).transpose(1, 2).view(B, T*C)")?;
/// let advice = chain.advice(&Arc::new(question.scope()?))?;
/// assert_eq!(advice.sentence, "One view if and only if T == 1 or C == 1; else `.view(B, T*C)` needs a second one.");
/// let pytorch = &advice.libraries[0];
/// assert_eq!(
///     pytorch.sentence,
///     "Unless T == 1 or C == 1: `.view(B, T*C)` raises a RuntimeError; `.reshape(B, T*C)` copies all B*T*C elements.",
/// );
/// assert_eq!(pytorch.code.as_deref(), Some("x.transpose(1, 2).contiguous().view(B, T*C)"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Advice {
    /// The layout after the chain, over what it starts with: the copies on the way change no value. What it needs is taken for
    /// granted in all that is said.
    pub tracker: ShapeTracker,
    /// For which values that is one view.
    pub answer: Answer,
    /// The answer as a sentence, in which code stands between backticks.
    pub sentence: String,
    /// The first operation after which there is, for some values, more than one view until the end.
    pub step: Option<usize>,
    /// What PyTorch and NumPy do.
    pub libraries: Vec<LibraryAdvice>,
}

/// What a library does with a chain whose sizes are names.
///
/// ```
/// use std::sync::Arc;
/// use shapetracker_symbolic::{Question, formula_text};
///
/// let mut question = Question::default();
/// let chain = question.chain("(H, W).T.contiguous()")?;
/// let scope = Arc::new(question.scope()?);
/// let pytorch = &chain.advice(&scope)?.libraries[0];
/// assert_eq!(formula_text(&pytorch.unless, &scope), "W == 1 or H == 1");
/// assert_eq!(pytorch.does.name(), "copies");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LibraryAdvice {
    /// The library.
    pub library: ArrayLibrary,
    /// What it does, in a word.
    pub does: Does,
    /// The values for which it may do something else, as a disjunction; for all others it does this.
    pub unless: Formula,
    /// The operations that copy, each with the number of elements that it writes into new memory.
    pub copied: Vec<(usize, Poly)>,
    /// The same as sentences, in which code stands between backticks.
    pub sentence: String,
    /// What to write instead, in the names of the chain, where something may be: Python whose last line is an expression. It is
    /// right for all values.
    pub code: Option<String>,
}

impl LibraryAdvice {
    fn without_code(library: ArrayLibrary, does: Does, sentence: String) -> LibraryAdvice {
        LibraryAdvice { library, does, unless: Formula::new(), copied: Vec::new(), sentence, code: None }
    }
}

impl Chain {
    /// For which values the chain is one view, where it stops being one, and what NumPy and PyTorch do with it.
    ///
    /// What the libraries do is derived as [`shapetracker::Chain::advice`] derives it, at a choice of values that is as
    /// ordinary as there is: no size is 1, and none that may differ are the same. For which other values they do the same is
    /// found out by what was asked of these.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::Question;
    ///
    /// let mut question = Question::default();
    /// let chain = question.chain("(B, T, H*D).reshape(B, T, H, D).transpose(1, 2)")?;
    /// let advice = chain.advice(&Arc::new(question.scope()?))?;
    /// assert_eq!(advice.sentence, "One view: shape (B, H, T, D), strides (T*H*D, D, H*D, 1).");
    /// assert_eq!(advice.libraries[0].sentence, "PyTorch makes a view: nothing is copied.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Chain::tracker`].
    ///
    /// # Cost
    /// That of the chain some dozens of times, and of a decision for each reshape.
    pub fn advice(&self, scope: &Arc<Scope>) -> Result<Advice, ChainError> {
        let trackers = self.trackers(scope)?;
        Ok(self.advice_knowing(scope, &trackers))
    }

    /// As [`Chain::advice`], where the trackers before any operation and after each are known already, all over what the chain
    /// starts with.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::Question;
    ///
    /// let mut question = Question::default();
    /// let (chain, mut trackers) = (question.chain("(B, T).T.flatten()")?, Vec::new());
    /// let scope = Arc::new(question.scope()?);
    /// chain.follow(&scope, |tensor, _| trackers.push(tensor.over_newest().clone()))?; // it copies nothing in between
    /// assert_eq!(chain.advice_knowing(&scope, &trackers).sentence, chain.advice(&scope)?.sentence);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// Without a tracker.
    pub fn advice_knowing(&self, scope: &Arc<Scope>, trackers: &[ShapeTracker]) -> Advice {
        let last = &trackers[trackers.len() - 1];
        let answer = last.single_view();
        let is_several = !matches!(answer, Answer::Always { .. });
        let step = trackers.iter().rposition(|tracker| tracker.views().len() == 1).filter(|_| is_several);
        let step = step.filter(|&step| step + 1 < trackers.len());
        let sentence = self.sentence(&answer, step, last);
        let sentence = match self.read().unit() {
            Some(unit) => format!("{sentence} Strides and addresses count elements of {unit}."),
            None => sentence,
        };
        let advised = |&library: &ArrayLibrary| {
            within(MOST_STEPS, || match self.read_by(library) {
                None => self.advised(library, trackers, &answer),
                // Where a library means something else by the text, it does that.
                Some(own) => match own.trackers(scope) {
                    Ok(trackers) => own.advised(library, &trackers, &trackers[trackers.len() - 1].single_view()),
                    Err(err) => {
                        let call = err.op().map_or_else(|| "this".into(), |op| format!("`{}`", own.written_call(op)));
                        let sentence = format!("{call} raises an error in {library}: {}.", err.message());
                        LibraryAdvice::without_code(library, Does::Raises, sentence)
                    }
                },
            })
        };
        let libraries = [ArrayLibrary::PyTorch, ArrayLibrary::NumPy].iter().map(advised).collect();
        Advice { tracker: last.clone(), answer, sentence, step, libraries }
    }

    fn sentence(&self, answer: &Answer, step: Option<usize>, last: &ShapeTracker) -> String {
        let scope = last.scope();
        let tuple = |list: &[Poly]| last.tuple(list);
        let needs_another = match step {
            Some(step) => format!("`{}` needs a second one", self.written_call(step)),
            None => "there are several".into(),
        };
        match answer {
            Answer::Always { view: Some(view), .. } => {
                let View { shape, strides, offset, mask } = view;
                let mut text = format!("One view: shape {}, strides {}", tuple(shape), tuple(strides));
                if !offset.is_zero() {
                    text += &format!(", offset {}", scope.text(offset));
                }
                if let Some(mask) = mask {
                    let pair = |(begin, end): &(Poly, Poly)| format!("({}, {})", scope.text(begin), scope.text(end));
                    let comma = if mask.len() == 1 { "," } else { "" };
                    let pairs = mask.iter().map(pair).collect::<Vec<_>>().join(", ");
                    text += &format!(", mask ({pairs}{comma})");
                }
                text + "."
            }
            Answer::Always { .. } => "One view for all values, in other terms for some than for others.".into(),
            Answer::When { .. } => {
                let sentence = answer.sentence(scope);
                format!("O{}; else {needs_another}.", &sentence[1..])
            }
            Answer::Never { .. } => format!("Not one view: {needs_another}."),
            Answer::Undecided { .. } => {
                let sentence = answer.sentence(scope);
                format!("{}{}.", sentence[..1].to_uppercase(), &sentence[1..])
            }
        }
    }

    fn advised(&self, library: ArrayLibrary, trackers: &[ShapeTracker], answer: &Answer) -> LibraryAdvice {
        let last = &trackers[trackers.len() - 1];
        let other = |does: Does, sentence: String| LibraryAdvice::without_code(library, does, sentence);
        let undecided =
            |why: &str| other(Does::Undecided, format!("What {library} does is not followed for all values: {why}."));
        let cannot = |what: &str, unless: Formula| LibraryAdvice {
            unless: unless.clone(),
            ..other(Does::Cannot, except(&unless, format!("{library} has no {what}."), last.scope()))
        };
        let start = match trackers[0].views() {
            [start] => start,
            // For some values they may be one.
            _ => match trackers[0].single_view() {
                Answer::Undecided { reason, .. } => return undecided(&reason.to_string()),
                Answer::Always { .. } => return undecided("the views are one in other terms for some than for others"),
                answer => return cannot("arrays that are several views", answer.formula()),
            },
        };
        if let Some(mask) = &start.mask {
            match unmasked(last, start, mask) {
                Ok(unless) if unless.iter().any(Vec::is_empty) => {}
                Ok(unless) => return cannot("arrays with masked elements", unless),
                Err(why) => return undecided(&why),
            }
        }
        let view = match answer {
            Answer::Always { view: Some(view), .. } if view.mask.is_none() => Some(view),
            _ => None,
        };
        let names = Rc::new(Names::new(last.clone()));
        let all = All { library, chain: self, trackers, answer, start, view, names };
        match all.found() {
            Ok(found) => found,
            Err(why) => undecided(&why),
        }
    }
}

/// What is followed at choices of values.
struct All<'a> {
    library: ArrayLibrary,
    chain: &'a Chain,
    trackers: &'a [ShapeTracker],
    answer: &'a Answer,
    start: &'a View,
    view: Option<&'a View>,
    names: Rc<Names>,
}

/// What a library does at some values, and what was asked to find that out.
struct Run {
    advice: LibraryAdviceOf<Poly>,
    asked: Vec<Asked>,
}

impl All<'_> {
    /// What the library does at values.
    fn run(&self, point: &[i128]) -> Result<Run, String> {
        let trace = Trace::new(self.names.clone(), point);
        let start = traced(&trace, self.start);
        let number = |poly: &Poly| Some(Traced::new(&trace, poly));
        let ops = self.chain.ops().iter().map(|op| op.try_map(number)).collect::<Option<Vec<MovementOf<Traced>>>>();
        let shapes = self.trackers.iter().map(|tracker| Traced::list(&trace, tracker.shape())).collect();
        let ops = ops.ok_or("an operation has no values")?;
        let view = self.view.map(|view| traced(&trace, view));
        // No array reads before the beginning of its memory.
        let mut least = start.offset.clone();
        for (size, stride) in start.shape.iter().zip(&start.strides) {
            if *stride < Traced::from(0) {
                least = least.plus(&size.plus(&Traced::from(-1)).times(stride));
            }
        }
        if least < Traced::from(0) && !start.shape.iter().any(|size| size.is(0)) {
            let scope = self.names.needs.scope();
            return Err(format!("the first view reads from address {} on", scope.text(least.poly())));
        }
        let performed = Performed { start, ops, shapes, view };
        let advice = library_advice(self.library, self.chain.read(), &performed);
        let asked = trace.taken()?;
        let advice = advice.try_map(|elements| Some(elements.poly().clone())).ok_or("numbers have no values")?;
        Ok(Run { advice, asked })
    }

    /// What the library does at values that are as ordinary as there are, and for which others it may do something else.
    fn found(&self) -> Result<LibraryAdvice, String> {
        let needs = &self.names.needs;
        let scope = needs.scope();
        let contradiction = || String::from("no values of the names satisfy what is given");
        let mut region = Region::of(scope, needs.needs()).ok_or_else(contradiction)?;
        let root = region.clone();
        let point = ordinary(scope, needs, &region).ok_or_else(contradiction)?;
        let Run { mut advice, asked } = self.run(&point)?;
        // Code is written for values at which nothing is equal by chance, so that it is right for those at which it is.
        let is_special = |asked: &Asked| match asked {
            Asked::Literal(literal) => literal.relation == Relation::Equal && root.truth(literal) != Truth::Always,
            Asked::Formula(_, is_so) => *is_so,
        };
        advice.code = advice.code.filter(|_| !asked.iter().any(is_special));
        // What tells most apart first.
        let (formulas, literals): (Vec<Asked>, Vec<Asked>) =
            asked.into_iter().partition(|asked| matches!(asked, Asked::Formula(..)));
        let mut runs = MOST_RUNS;
        // Where what was asked has another answer, the library may do the same all the same.
        let mut unless = Formula::new();
        for asked in formulas.iter().chain(&literals) {
            let kept: Vec<Vec<Literal>> = negated(asked)?
                .into_iter()
                .filter(|others| match assumed(&region, others) {
                    Ok(None) => false,
                    Ok(Some(other)) => !self.does_as(&advice, &other, &unless, &mut runs),
                    Err(_) => true,
                })
                .collect();
            // A condition of one part is taken for granted from here on.
            for others in &kept {
                if let [one] = &others[..]
                    && let Ok(Some(smaller)) = assumed(&region, &[opposite(one)?])
                {
                    region = smaller;
                }
            }
            unless.extend(kept);
        }
        unless.iter_mut().for_each(|part| tidy(&root, part));
        absorb(&mut unless);
        // What was told apart before something else was may be the same but for that.
        let mut place = 0;
        while place < unless.len() {
            let mut others = unless.clone();
            let part = others.remove(place);
            let single =
                others.iter().filter_map(|other| if let [one] = &other[..] { opposite(one).ok() } else { None });
            let literals: Vec<Literal> = single.chain(part).collect();
            let is_same = match assumed(&root, &literals) {
                Ok(None) => true,
                Ok(Some(region)) => self.does_as(&advice, &region, &others, &mut runs),
                Err(_) => false,
            };
            if is_same {
                unless = others;
            } else {
                place += 1;
            }
        }
        // In the order of the answer, which often says the same.
        let formula = self.answer.formula();
        let place = |part: &Vec<Literal>| formula.iter().position(|other| other == part).unwrap_or(formula.len());
        sort_short_by_key(&mut unless, place);
        let LibraryAdviceOf { library, does, copied, sentence, code, .. } = advice;
        let sentence = except(&unless, sentence, scope);
        Ok(LibraryAdvice { library, does, unless, copied, sentence, code })
    }

    /// Whether the library is known to do the same for all values of a region but those that are told apart already.
    fn does_as(&self, advice: &LibraryAdviceOf<Poly>, region: &Region, unless: &Formula, runs: &mut usize) -> bool {
        let mut region = region.clone();
        if region.samples().is_empty() {
            region.search();
        }
        let named = self.names.needs.scope().names().len();
        let Some(point) = region.samples().first().map(|point| point[..named].to_vec()) else { return false };
        if *runs == 0 {
            return false;
        }
        *runs -= 1;
        let mut does_as = |region: &Region, others: &[Literal]| match assumed(region, others) {
            Ok(None) => true,
            Ok(Some(other)) => self.does_as(advice, &other, unless, runs),
            Err(_) => false,
        };
        let holds = |part: &&Vec<Literal>| part.iter().all(|literal| literal.holds(&point) == Some(true));
        if let Some(part) = unless.iter().find(holds) {
            // The rest of the region: where the first condition of the part does not hold, or only a later one.
            for literal in part {
                let Ok(other) = opposite(literal) else { return false };
                if !does_as(&region, &[other]) {
                    return false;
                }
                match assumed(&region, std::slice::from_ref(literal)) {
                    Ok(Some(smaller)) => region = smaller,
                    Ok(None) => return true,
                    Err(_) => return false,
                }
            }
            return true;
        }
        let Ok(run) = self.run(&point) else { return false };
        let equal = |a: &Poly, b: &Poly| {
            let difference = a.sub(b).and_then(|difference| region.reduce(&difference));
            difference.is_ok_and(|difference| region.known_eq(&difference) == Some(true))
        };
        let mut elements = advice.copied.iter().zip(&run.advice.copied);
        if !run.advice.does_as(advice) || !elements.all(|((_, a), (_, b))| equal(a, b)) {
            return false;
        }
        for asked in &run.asked {
            let Ok(others) = negated(asked) else { return false };
            for others in &others {
                if !does_as(&region, others) {
                    return false;
                }
            }
            // What was asked holds from here on.
            let holds = match asked {
                Asked::Literal(literal) => vec![literal.clone()],
                Asked::Formula(..) => {
                    let Ok(others) = negated(asked) else { return false };
                    let single = others.iter().filter_map(|others| match &others[..] {
                        [one] => opposite(one).ok(),
                        _ => None,
                    });
                    single.collect()
                }
            };
            match assumed(&region, &holds) {
                Ok(Some(smaller)) => region = smaller,
                _ => return false,
            }
        }
        true
    }
}

/// A sentence that is so but for some values.
fn except(unless: &Formula, sentence: String, scope: &Scope) -> String {
    if unless.is_empty() { sentence } else { format!("Unless {}: {sentence}", shortened(unless, scope)) }
}

/// For which values the mask of a view hides nothing: it is as long as every axis, or there is nothing to hide.
fn unmasked(last: &ShapeTracker, view: &View, mask: &[(Poly, Poly)]) -> Result<Formula, String> {
    let mut ask = Ask::new("advice", last.scope(), last.needs().to_vec());
    // The mask of a scalar hides its one element.
    let mut parts = if mask.is_empty() { Vec::new() } else { vec![Vec::new()] };
    for ((begin, end), size) in mask.iter().zip(&view.shape) {
        // A mask is cut off at the ends of the axis.
        let behind = end.sub(size).map_err(|err| err.to_string())?;
        let before = begin.neg().map_err(|err| err.to_string())?;
        parts[0].extend([Literal::at_least(before), Literal::at_least(behind)]);
        parts.push(vec![Literal::equal(size.clone())]);
    }
    let mut unless = Formula::new();
    for part in parts {
        let mut open = Some(Vec::new());
        for literal in part {
            match ask.known(&literal).map_err(|err| err.to_string())? {
                Some(true) => {}
                Some(false) => open = None,
                None => open = open.map(|all| [all, vec![literal]].concat()),
            }
        }
        unless.extend(open);
    }
    absorb(&mut unless);
    Ok(unless)
}

/// The part of a region where all of some conditions hold; nothing where that is empty, or an error where it is not known.
fn assumed(region: &Region, literals: &[Literal]) -> Result<Option<Region>, String> {
    let mut region = region.clone();
    for literal in literals {
        match region.assume(literal) {
            Ok(Some(smaller)) => region = smaller,
            Ok(None) => return Ok(None),
            Err(_) => return Err("the conditions are not decided".into()),
        }
    }
    Ok(Some(region))
}

/// Where what was asked has another answer: one of these.
fn negated(asked: &Asked) -> Result<Formula, String> {
    match asked {
        Asked::Literal(literal) => Ok(vec![vec![opposite(literal)?]]),
        Asked::Formula(formula, false) => Ok(formula.clone()),
        Asked::Formula(formula, true) => {
            // In each part something does not hold.
            let mut all: Formula = vec![Vec::new()];
            for part in formula {
                let opposites = part.iter().map(opposite).collect::<Result<Vec<_>, _>>()?;
                let with = |before: &Vec<Literal>, one: &Literal| [&before[..], std::slice::from_ref(one)].concat();
                if all.len() * opposites.len() > MOST_RUNS {
                    return Err("there are more cases than are told apart".into());
                }
                all = all.iter().flat_map(|before| opposites.iter().map(|one| with(before, one))).collect();
            }
            Ok(all)
        }
    }
}

/// What holds where a condition does not.
fn opposite(literal: &Literal) -> Result<Literal, String> {
    let Literal { poly, relation, .. } = literal;
    let too_large = |err: crate::poly::TooLarge| err.to_string();
    Ok(match relation {
        Relation::AtLeast => Literal::at_least(poly.neg().and_then(|poly| poly.plus_number(-1)).map_err(too_large)?),
        Relation::Equal => Literal { relation: Relation::NotEqual, ..literal.clone() },
        Relation::NotEqual => Literal { relation: Relation::Equal, ..literal.clone() },
    })
}

/// Values of the names as nobody would call special: no two the same, none 0 or 1, where that may be.
fn ordinary(scope: &Scope, needs: &ShapeTracker, region: &Region) -> Option<Vec<i128>> {
    const PRIMES: [i128; 16] = [7, 11, 5, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61];
    let named = scope.names().len();
    for factor in [1, 2, 4, 12] {
        let value = |place: usize| PRIMES[place % PRIMES.len()] * factor * (1 + (place / PRIMES.len()) as i128);
        let point: Vec<i128> = (0..named).map(value).collect();
        if scope.check_point("advice", needs.needs(), &point).is_ok() {
            return Some(point);
        }
    }
    let mut region = region.clone();
    let mut narrow = |literal: Literal| {
        if let Ok(Some(mut smaller)) = region.assume(&literal) {
            if smaller.samples().is_empty() {
                smaller.search();
            }
            if !smaller.samples().is_empty() {
                region = smaller;
            }
        }
    };
    let var = |place: usize| Poly::from(crate::poly::Var(place as u8));
    for place in 0..named {
        if let Ok(poly) = var(place).plus_number(-2) {
            narrow(Literal::at_least(poly));
        }
    }
    for second in 0..named {
        for first in 0..second {
            if let Ok(poly) = var(first).sub(&var(second)) {
                narrow(Literal::not_equal(poly));
            }
        }
    }
    if region.samples().is_empty() {
        region.search();
    }
    Some(region.samples().first()?[..named].to_vec())
}
