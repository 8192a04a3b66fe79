//! For which values is a whole stack of views one view?

use shapetracker::Unmerged;

use crate::answer::{Answer, Counterexample, Formula, Leaf, Leaves, Reason, Verdict};
use crate::literal::Literal;
use crate::merge;
use crate::region::Region;
use crate::tracker::ShapeTracker;
use crate::view::View;

/// The most pairs of views that one question about a stack asks about.
const MOST_PAIRS: usize = 200;

impl ShapeTracker {
    /// For which values it is one view.
    ///
    /// Of two views that is what is known of the pair. A taller stack is one view where its pairs merge one after the other,
    /// from the last view down or from memory up, in each of the parts that the answers about the pairs have. A part in which
    /// no order of merging works is not decided, since views may be one together although no two of them are.
    ///
    /// ```
    /// use shapetracker_symbolic::{Answer, ShapeTracker, Sym};
    /// let st = ShapeTracker::contiguous([Sym::new("n", 1..), 4.into()])?.permute([1, 0])?;
    /// assert!(matches!(st.single_view(), Answer::Always { .. }));
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// Cost: that of [`merge`](crate::merge()) for each pair and part.
    pub fn single_view(&self) -> Answer {
        match self.views() {
            [view] => {
                let list = vec![Leaf { literals: Vec::new(), verdict: Verdict::View(view.clone()) }];
                Answer::Always { view: Some(view.clone()), leaves: Leaves { list, quotients: Vec::new() } }
            }
            [_, _] => self.boundary(0).cloned().unwrap_or_else(undecided),
            views => {
                let mut parts = Parts { tracker: self, leaves: Vec::new(), pairs: 0 };
                parts.split(views, &[]);
                self.answer(parts.leaves)
            }
        }
    }

    /// What leaves that cover all values come to.
    fn answer(&self, leaves: Vec<Leaf>) -> Answer {
        let mut formula = Formula::new();
        let (mut views, mut reason): (Vec<View>, _) = (Vec::new(), None);
        let (mut no, mut counterexample) = (false, None);
        for leaf in &leaves {
            match &leaf.verdict {
                Verdict::View(view) => {
                    formula.push(leaf.literals.clone());
                    views.push(view.clone());
                }
                Verdict::Undecided(why) => reason = reason.or(Some(*why)),
                Verdict::NotOne => {
                    no = true;
                    counterexample = counterexample.or_else(|| self.counterexample(&leaf.literals));
                }
            }
        }
        let leaves = Leaves { list: leaves, quotients: Vec::new() };
        let all_no = views.is_empty();
        let view = views.split_first().filter(|(first, rest)| rest.iter().all(|view| view == *first));
        let view = view.map(|(first, _)| first.clone());
        match (reason, no, counterexample) {
            (Some(reason), _, counterexample) => Answer::Undecided { reason, formula, leaves, counterexample },
            (None, false, _) => Answer::Always { view, leaves },
            (None, true, Some(counterexample)) if all_no => Answer::Never { leaves, counterexample },
            (None, true, Some(counterexample)) => Answer::When { formula, view, leaves, counterexample },
            (None, true, None) => {
                Answer::Undecided { reason: Reason::Existence, formula, leaves, counterexample: None }
            }
        }
    }

    /// Values that satisfy conditions besides those of the tracker and at which it is not one view, with the evidence.
    fn counterexample(&self, literals: &[Literal]) -> Option<Counterexample> {
        let needs: Vec<Literal> = self.needs().iter().chain(literals).cloned().collect();
        let values = Region::of(self.scope(), &needs)?.sample()?.to_vec();
        match self.at_point(&values).ok()?.single_view() {
            Err(Unmerged::Witness(witness)) => Some(Counterexample { values, witness }),
            _ => None,
        }
    }
}

fn undecided() -> Answer {
    let (formula, leaves) = (Formula::new(), Leaves::default());
    Answer::Undecided { reason: Reason::WorkLimit, formula, leaves, counterexample: None }
}

/// The parts of the values, as they are found.
struct Parts<'a> {
    tracker: &'a ShapeTracker,
    leaves: Vec<Leaf>,
    pairs: usize,
}

impl Parts<'_> {
    /// The parts of the values that satisfy conditions, and what a stack of views is there.
    fn split(&mut self, views: &[View], literals: &[Literal]) {
        let [rest @ .., earlier, later] = views else {
            if let [view] = views {
                self.leaf(literals, Verdict::View(view.clone()));
            }
            return;
        };
        let Some(answer) = self.merge(earlier, later, literals) else { return };
        for leaf in answer {
            let literals = [literals, &leaf.literals].concat();
            match (leaf.verdict, views) {
                (Verdict::View(view), _) => self.split(&[rest, &[view]].concat(), &literals),
                // From memory up: the first two views, and then what is left with that in their place.
                (_, [first, second, above @ ..]) if !rest.is_empty() => {
                    let Some(answer) = self.merge(first, second, &literals) else { return };
                    for leaf in answer {
                        let literals = [&literals[..], &leaf.literals].concat();
                        match leaf.verdict {
                            Verdict::View(view) => self.split(&[&[view], above].concat(), &literals),
                            Verdict::NotOne => self.leaf(&literals, Verdict::Undecided(Reason::Stack)),
                            undecided => self.leaf(&literals, undecided),
                        }
                    }
                }
                (verdict, _) => self.leaf(&literals, verdict),
            }
        }
    }

    fn leaf(&mut self, literals: &[Literal], verdict: Verdict) {
        self.leaves.push(Leaf { literals: literals.to_vec(), verdict });
    }

    /// The parts of a pair's answer; `None`, and a leaf that says so, where that was asked too often.
    fn merge(&mut self, earlier: &View, later: &View, literals: &[Literal]) -> Option<Vec<Leaf>> {
        self.pairs += 1;
        if self.pairs > MOST_PAIRS {
            self.leaf(literals, Verdict::Undecided(Reason::WorkLimit));
            return None;
        }
        let needs = [self.tracker.needs(), literals].concat();
        let answer = merge(self.tracker.scope(), &needs, earlier, later);
        // Parts in which quotients have names are not asked about further: each part has names of its own.
        let leaves = match answer.leaves() {
            leaves if leaves.quotients.is_empty() => leaves.to_vec(),
            _ => vec![Leaf { literals: Vec::new(), verdict: Verdict::Undecided(Reason::Quotient) }],
        };
        Some(leaves)
    }
}
