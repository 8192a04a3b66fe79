//! Small values of the names, for whoever wants to look at a tensor.

use crate::answer::Answer;
use crate::nest::StatementNest;
use crate::poly::Poly;
use crate::scope::Name;
use crate::tracker::ShapeTracker;

/// How many choices of values are looked at for one that is allowed.
const MOST_CHOICES: usize = 1 << 9;
/// A tensor to look at has no more elements, where the names allow it.
const MOST_ELEMENTS: i64 = 1 << 12;

impl ShapeTracker {
    /// Values of the names, in their order, at which the tracker can be looked at: small ones, different from each other; where it
    /// is one view for some values only, such for which it is not, if they can be chosen. A place of `fixed` that has a value keeps
    /// it; those behind the end of `fixed` have none. `None` where no values were found that the ranges and conditions allow.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    ///
    /// let (h, t) = (Sym::new("H", 1..), Sym::new("T", 1..4097));
    /// let tracker = ShapeTracker::contiguous([t.clone(), h.clone()])?.permute([1, 0])?.reshape([h * t])?;
    /// let answer = tracker.single_view();
    /// let values = tracker.example(&answer, &[]).unwrap();
    /// assert_eq!(values, [3, 2]); // H == 1 or T == 1 would be one view
    /// assert_eq!(tracker.example(&answer, &[None, Some(5)]).unwrap()[1], 5);
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Cost
    /// At most some hundred choices of values are tried, each of them by making the tracker of numbers.
    pub fn example(&self, answer: &Answer, fixed: &[Option<i64>]) -> Option<Vec<i64>> {
        let scope = self.scope();
        let named = &scope.names()[..scope.names().len() - scope.quotients().len()];
        let witness = answer.counterexample().and_then(|found| {
            let values = found.values.iter().take(named.len()).map(|&value| i64::try_from(value).ok());
            let agree =
                |values: &Vec<i64>| values.iter().zip(fixed).all(|(value, fixed)| fixed.is_none_or(|at| at == *value));
            values.collect::<Option<Vec<i64>>>().filter(|values| agree(values) && self.at_example(values).is_some())
        });
        choose(named, fixed, witness, |values| {
            let tracker = self.at_example(values)?;
            Some(match tracker.numel() {
                1..=MOST_ELEMENTS if answer.kind() != "formula" || tracker.single_view().is_err() => Sight::Good,
                1..=MOST_ELEMENTS => Sight::Plain,
                _ => Sight::Poor,
            })
        })
    }

    /// The tracker at values, one for each name, where they are allowed.
    fn at_example(&self, values: &[i64]) -> Option<shapetracker::ShapeTracker> {
        self.at(self.scope().names().iter().zip(values).map(|(name, &value)| (&*name.name, value))).ok()
    }
}

impl StatementNest {
    /// Values of the names, in the order of the [scope](StatementNest::scope), at which the loops can be looked at: small ones,
    /// different from each other. A place of `fixed` that has a value keeps it; those behind the end of `fixed` have none. `None`
    /// where no values were found that the ranges and conditions allow.
    ///
    /// ```
    /// use shapetracker_symbolic::Question;
    ///
    /// let mut question = Question::new(["K % 8 == 0"])?;
    /// let statement = question.statement("C[i, j] += A[i, k] * B[k, j]; A = (M, K); B = (K, 5); C = (M, 5)")?;
    /// let nest = statement.nest(&question.scope()?)?;
    /// assert_eq!(nest.example(&[]), Some(vec![3, 8])); // M and K, in the order of the text
    /// assert_eq!(nest.example(&[Some(7)]), Some(vec![7, 8]));
    /// assert_eq!(nest.example(&[None, Some(9)]), None);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    ///
    /// # Cost
    /// At most some hundred choices of values are tried.
    pub fn example(&self, fixed: &[Option<i64>]) -> Option<Vec<i64>> {
        let scope = self.scope();
        choose(self.asked.own_names(), fixed, None, |values| {
            let point: Vec<i128> = values.iter().map(|&value| value.into()).collect();
            scope.check_point("example", self.needs(), &point).ok()?;
            let numel =
                |shape: &Vec<Poly>| shape.iter().try_fold(1_i128, |numel, size| numel.checked_mul(size.eval(&point)?));
            let is_seen = |numel: Option<i128>| numel.is_some_and(|numel| (1..=MOST_ELEMENTS.into()).contains(&numel));
            let are_seen = self.lowered.accesses.iter().all(|access| is_seen(numel(&access.shape)));
            Some(if are_seen { Sight::Good } else { Sight::Poor })
        })
    }
}

/// What there is to see at values.
enum Sight {
    Good,
    /// Not what the answer is about.
    Plain,
    /// Nothing, or too much.
    Poor,
}

/// Small values of names, those of `fixed` where it has them: the first at which the sight is good, or else the best there is.
/// `look` says what is to be seen at values, nothing where they are not allowed.
fn choose(
    named: &[Name],
    fixed: &[Option<i64>],
    mut fallback: Option<Vec<i64>>,
    mut look: impl FnMut(&[i64]) -> Option<Sight>,
) -> Option<Vec<i64>> {
    const OFFSETS: [[i128; 6]; 6] = [
        [2, 1, 3, 0, 4, 5],
        [1, 2, 0, 3, 5, 4],
        [3, 1, 2, 5, 0, 4],
        [1, 3, 5, 2, 0, 4],
        [2, 3, 1, 0, 4, 5],
        [3, 2, 4, 1, 0, 5],
    ];
    let candidates = |(place, name): (usize, &Name)| {
        if let Some(&Some(value)) = fixed.get(place) {
            return vec![value];
        }
        let offsets = OFFSETS[place % OFFSETS.len()].into_iter().chain(6..12);
        let values = offsets.filter_map(|by| match (name.lo, name.hi) {
            (Some(lo), hi) => Some(lo + by).filter(|value| hi.is_none_or(|hi| *value <= hi)),
            (None, Some(hi)) => Some(hi - by),
            (None, None) => Some(by),
        });
        values.filter_map(|value| i64::try_from(value).ok()).collect::<Vec<i64>>()
    };
    let candidates: Vec<Vec<i64>> = named.iter().enumerate().map(candidates).collect();
    // Choices in the order of how far they are from the first one: the sum of the places among the candidates.
    let (mut looked, mut first) = (0, None);
    for sum in 0..=candidates.iter().map(|list| list.len().saturating_sub(1)).sum::<usize>() {
        let mut places = vec![0; candidates.len()];
        let mut found = None;
        spread(&candidates, 0, sum, &mut places, &mut |places| {
            looked += 1;
            let values: Vec<i64> = places.iter().zip(&candidates).map(|(&place, list)| list[place]).collect();
            match look(&values) {
                Some(Sight::Good) => {
                    found = Some(values);
                    return true;
                }
                Some(Sight::Plain) => {
                    first.get_or_insert(values);
                }
                Some(Sight::Poor) => {
                    fallback.get_or_insert(values);
                }
                None => {}
            }
            looked >= MOST_CHOICES
        });
        if found.is_some() {
            return found;
        }
        if looked >= MOST_CHOICES {
            break;
        }
    }
    first.or(fallback)
}

/// Calls `each` with all places whose sum is given, until it answers true.
fn spread(
    candidates: &[Vec<i64>],
    at: usize,
    left: usize,
    places: &mut Vec<usize>,
    each: &mut impl FnMut(&[usize]) -> bool,
) -> bool {
    if at == candidates.len() {
        return left == 0 && each(places);
    }
    (0..=left.min(candidates[at].len().saturating_sub(1))).any(|place| {
        places[at] = place;
        spread(candidates, at + 1, left - place, places, each)
    })
}
