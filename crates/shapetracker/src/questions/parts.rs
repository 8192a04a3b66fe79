//! Axes that have to do with each other, and axes that have not.

use indexpr::{Condition, Floor, Linear, QuasiAffine, Term};

use crate::{Access, Dims, Ranges, ShapeTracker};

/// Up to so many elements a tracker is looked at as a whole: finding its parts would cost as much.
const FEW: i64 = 1 << 11;
/// The same for stacks of so many views that their access mixes all axes.
const MANY_VIEWS: usize = 6;

/// The axes of a tracker in groups: the address is a sum of one function of each group, and the conditions are some for
/// each group, by the tracker's [`Access`]. What is true of a group at one valid index of the others is true at all.
pub(super) struct Parts<'a> {
    st: &'a ShapeTracker,
    access: Option<(Access, Apart)>,
    /// The group of each axis.
    groups: Vec<usize>,
    count: usize,
}

impl<'a> Parts<'a> {
    /// All axes in one group.
    pub(super) fn whole(st: &'a ShapeTracker) -> Parts<'a> {
        Parts { st, access: None, groups: vec![0; st.rank()], count: 1 }
    }

    /// The smallest groups that the access shows, where it is worth while to find them.
    pub(super) fn of(st: &'a ShapeTracker) -> Parts<'a> {
        let few = st.numel() <= FEW || (st.views().len() > MANY_VIEWS && st.numel() <= super::table::MOST as i64);
        let found = (!few).then(|| {
            let access = Access::at_once(st)?;
            let apart = Apart::of(&access)?;
            Some((access, apart))
        });
        let Some((access, apart)) = found.flatten() else { return Parts::whole(st) };
        let groups = apart.groups(access.shape());
        let mut parts = Parts { st, access: Some((access, apart)), groups, count: 0 };
        parts.number();
        parts
    }

    /// Groups that are made of groups of both, for two trackers of one shape.
    pub(super) fn joined(mut self, other: &Parts<'_>) -> Parts<'a> {
        for axis in 0..self.groups.len() {
            if let Some(first) = (0..axis).find(|&first| other.groups[first] == other.groups[axis]) {
                join(&mut self.groups, first, axis);
            }
        }
        self.access = None;
        self.number();
        self
    }

    /// Numbers the groups from 0.
    fn number(&mut self) {
        let mut first: Vec<usize> = Vec::new();
        for group in &mut self.groups {
            *group = first.iter().position(|known| known == group).unwrap_or_else(|| {
                first.push(*group);
                first.len() - 1
            });
        }
        self.count = first.len();
    }

    /// The access, where it was worth while to find it.
    pub(super) fn access(&self) -> Option<&Access> {
        self.access.as_ref().map(|(access, _)| access)
    }

    /// How many groups there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The group of an axis.
    pub(super) fn part(&self, axis: usize) -> usize {
        self.groups[axis]
    }

    /// The elements of a group: all indices of its axes, and those of an index on the others.
    pub(super) fn elements(&self, part: usize, point: &Dims) -> Ranges {
        let range = |axis: usize| {
            if self.groups[axis] == part { (0, self.st.shape()[axis]) } else { (point[axis], point[axis] + 1) }
        };
        (0..self.groups.len()).map(range).collect()
    }

    /// The stride of an axis, wherever two valid indices differ in it alone, if the access shows it: its coefficient in
    /// the address, if no floor of that depends on the axis.
    pub(super) fn stride(&self, axis: usize) -> Option<i64> {
        let (_, Apart { forms }) = self.access.as_ref()?;
        let address = forms.value()?;
        (!forms.floors_depend_on(address, axis)).then(|| address.coefficient(Term::Variable(axis)))
    }

    /// Whether the access shows that no condition depends on an axis.
    pub(super) fn is_unguarded(&self, axis: usize) -> bool {
        self.access.as_ref().is_some_and(|(access, _)| !access.is_guarded(axis))
    }
}

/// An access whose floors have nothing in them that they could do without: the multiples of a divisor stand outside of its
/// floor, as `floor((4*i + j) / 2) = 2*i + floor(j / 2)`. The cheapest expression may have them inside, where it can use a
/// sum twice; here they would tie axes together.
struct Apart {
    forms: QuasiAffine,
}

impl Apart {
    /// `None` where a number leaves `i64`.
    fn of(access: &Access) -> Option<Apart> {
        let forms = access.forms();
        let mut floors: Vec<Floor> = Vec::new();
        // What each of the old floors is in terms of the new ones.
        let mut values: Vec<Linear> = Vec::new();
        for floor in forms.floors() {
            let numerator = rewritten(&floor.numerator, &values)?;
            let d = floor.divisor;
            let outside = numerator.terms().iter().map(|&(term, by)| (term, by.div_euclid(d), by.rem_euclid(d)));
            let outside: Vec<_> = outside.filter(|(.., rest)| *rest == 0).collect();
            let inside = numerator.terms().iter().filter(|(_, by)| by % d != 0).copied();
            floors.push(Floor::new(Linear::new(numerator.constant().rem_euclid(d), inside)?, d));
            let terms = outside.into_iter().map(|(term, by, _)| (term, by));
            let terms = terms.chain([(Term::Floor(floors.len() - 1), 1)]);
            values.push(Linear::new(numerator.constant().div_euclid(d), terms)?);
        }
        let conditions = forms.conditions().iter().map(|Condition { form, least, most, .. }| {
            let form = rewritten(form, &values)?;
            Some(Condition::new(form, *least, *most))
        });
        let conditions = conditions.collect::<Option<Vec<_>>>()?;
        let value = rewritten(access.address()?, &values)?;
        Some(Apart { forms: QuasiAffine::new(floors, conditions, Some(value)) })
    }

    /// A group for each axis: what a floor or a condition has in it together is in one group. The address is a sum.
    fn groups(&self, sizes: &[i64]) -> Vec<usize> {
        let mut groups: Vec<usize> = (0..sizes.len()).collect();
        let axes = |form: &Linear| -> Vec<usize> {
            (0..sizes.len()).filter(|&axis| self.forms.depends_on(form, axis)).collect()
        };
        let tie = |groups: &mut Vec<usize>, axes: &[usize]| axes.iter().for_each(|&axis| join(groups, axes[0], axis));
        for floor in self.forms.floors() {
            tie(&mut groups, &axes(&floor.numerator));
        }
        for condition in self.forms.conditions() {
            // The terms of each group.
            let mut sums: Vec<(usize, Linear)> = Vec::new();
            for &(term, by) in condition.form.terms() {
                let form = Linear::from(term);
                let Some(&axis) = axes(&form).first() else { continue };
                let place = sums.iter().position(|(group, _)| *group == groups[axis]).unwrap_or_else(|| {
                    sums.push((groups[axis], Linear::default()));
                    sums.len() - 1
                });
                match sums[place].1.plus(by, &form) {
                    Some(sum) => sums[place].1 = sum,
                    None => return vec![0; sizes.len()],
                }
            }
            if sums.len() > 1 && !self.is_extreme(condition, &sums, sizes) {
                tie(&mut groups, &axes(&condition.form));
            }
        }
        groups
    }

    /// Whether a condition demands that a sum be as large, or as small, as it can be: so must be then each of its terms,
    /// whatever the others are.
    fn is_extreme(&self, condition: &Condition, sums: &[(usize, Linear)], sizes: &[i64]) -> bool {
        let constant = i128::from(condition.form.constant());
        let bounds = sums.iter().map(|(_, sum)| self.bounds(sum, sizes));
        let Some(bounds) = bounds.collect::<Option<Vec<_>>>() else { return false };
        let (low, high) = bounds.iter().fold((constant, constant), |sum, bound| (sum.0 + bound.0, sum.1 + bound.1));
        condition.least.is_some_and(|least| high <= least.into())
            || condition.most.is_some_and(|most| low >= most.into())
    }

    /// Bounds of a form. A multiple of `r - d * floor(r / d)` is one of a remainder.
    fn bounds(&self, form: &Linear, sizes: &[i64]) -> Option<(i128, i128)> {
        let mut rest = form.clone();
        let (mut low, mut high) = (0i128, 0i128);
        let mut add = |by: i64, (least, most): (i128, i128)| {
            let (a, b) = (i128::from(by) * least, i128::from(by) * most);
            (low, high) = (low + a.min(b), high + a.max(b));
        };
        for (at, Floor { numerator, divisor, .. }) in self.forms.floors().iter().enumerate().rev() {
            let by = rest.coefficient(Term::Floor(at));
            if by == 0 {
                continue;
            }
            let (times, without) = (by / divisor, rest.clone().without(Term::Floor(at)));
            let remainder = without.plus(times, numerator)?;
            let is_remainder =
                by % divisor == 0 && numerator.terms().iter().all(|&(term, _)| remainder.coefficient(term) == 0);
            if is_remainder {
                rest = remainder;
                add(-times, (0, i128::from(*divisor) - 1));
            } else {
                rest = without;
                let (least, most) = self.bounds(numerator, sizes)?;
                add(by, (least.div_euclid((*divisor).into()), most.div_euclid((*divisor).into())));
            }
        }
        for axis in rest.variables() {
            add(rest.coefficient(Term::Variable(axis)), (0, i128::from(sizes[axis]) - 1));
        }
        add(rest.constant(), (1, 1));
        Some((low, high))
    }
}

/// A form in terms of other floors.
fn rewritten(form: &Linear, values: &[Linear]) -> Option<Linear> {
    form.terms().iter().try_fold(Linear::constant_form(form.constant()), |sum, &(term, by)| match term {
        Term::Floor(at) => sum.plus(by, &values[at]),
        Term::Variable(_) => sum.plus(by, &term.into()),
    })
}

/// Makes one group of those of two axes.
fn join(groups: &mut [usize], a: usize, b: usize) {
    let (to, from) = (groups[a], groups[b]);
    groups.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
}
