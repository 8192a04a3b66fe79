//! Quasi-affine functions as plain data: linear forms over variables and floors, and the conditions that guard them.

use std::fmt;

use smallvec::SmallVec;

/// What a linear form is linear in. There will be no other kinds: whoever lowers a form may rely on these two.
///
/// ```
/// use indexpr::{Linear, Term};
/// assert_eq!(Linear::from(Term::Floor(2)).to_string(), "q2");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term {
    /// A variable, by its place: for an index expression the loop, outermost first.
    Variable(usize),
    /// A floor, by its place among [`QuasiAffine::floors`].
    Floor(usize),
}

/// A linear form: a sum of integer multiples of variables and floors, and a constant.
///
/// ```
/// use indexpr::{Linear, Term};
///
/// let form = Linear::new(7, [(Term::Variable(1), 3), (Term::Variable(0), 12), (Term::Variable(1), -3)]).unwrap();
/// assert_eq!(form.terms(), [(Term::Variable(0), 12)]);
/// assert_eq!(form.constant(), 7);
/// assert_eq!(form.to_string(), "i0*12 + 7");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Linear {
    constant: i64,
    /// In the order of their terms; no coefficient is 0.
    terms: SmallVec<[(Term, i64); 4]>,
}

/// `floor(numerator / divisor)`: a division that no rewriting could avoid. The numerator may have earlier floors in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Floor {
    /// What is divided.
    pub numerator: Linear,
    /// At least 2.
    pub divisor: i64,
}

/// The demand that a form lie between two bounds, both included; at least one of them is there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Condition {
    /// The form.
    pub form: Linear,
    /// The smallest value that it may have.
    pub least: Option<i64>,
    /// The largest value that it may have.
    pub most: Option<i64>,
}

/// A guarded quasi-affine function: a linear form over variables and floors, defined where all conditions hold.
///
/// ```
/// use indexpr::{Graph, Syntax, Term};
///
/// let mut graph = Graph::new();
/// graph.variable("i", 0..64)?;
/// graph.variable("j", 0..5)?;
/// let index = graph.parse("(i * 5 + j) // 3 * 4 + (j - 1)", Syntax::Python)?;
/// let valid = graph.parse("1 <= j and i < 60", Syntax::Python)?;
/// let form = graph.quasi_affine(index, valid)?.unwrap();
/// assert_eq!(form.floors().len(), 1);
/// assert_eq!(form.floors()[0].divisor, 3);
/// assert_eq!(form.conditions().len(), 2);
/// assert_eq!(form.evaluate(&[2, 3]), Some(13 / 3 * 4 + 2));
/// assert_eq!(form.evaluate(&[2, 0]), None); // the guard says no
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QuasiAffine {
    floors: Vec<Floor>,
    conditions: Vec<Condition>,
    value: Option<Linear>,
}

impl Linear {
    /// A constant and multiples of terms, in any order; `None` when a coefficient leaves `i64`.
    ///
    /// ```
    /// use indexpr::{Linear, Term};
    /// assert_eq!(Linear::new(1, [(Term::Variable(0), i64::MAX), (Term::Variable(0), 1)]), None);
    /// ```
    pub fn new(constant: i64, terms: impl IntoIterator<Item = (Term, i64)>) -> Option<Linear> {
        let mut form = Linear { constant, terms: SmallVec::new() };
        terms.into_iter().try_for_each(|(term, coefficient)| form.add(term, coefficient))?;
        Some(form)
    }

    fn add(&mut self, term: Term, coefficient: i64) -> Option<()> {
        match self.terms.binary_search_by_key(&term, |(term, _)| *term) {
            Ok(at) => {
                let sum = self.terms[at].1.checked_add(coefficient)?;
                if sum == 0 {
                    self.terms.remove(at);
                } else {
                    self.terms[at].1 = sum;
                }
            }
            Err(at) if coefficient != 0 => self.terms.insert(at, (term, coefficient)),
            Err(_) => {}
        }
        Some(())
    }

    /// `self + factor * other`, or `None` when a number leaves `i64`.
    ///
    /// ```
    /// use indexpr::{Linear, Term};
    ///
    /// let i = Linear::from(Term::Variable(0));
    /// assert_eq!(Linear::constant_form(5).plus(-2, &i).unwrap().to_string(), "-i0*2 + 5");
    /// ```
    pub fn plus(&self, factor: i64, other: &Linear) -> Option<Linear> {
        let mut sum = self.clone();
        sum.constant = sum.constant.checked_add(other.constant.checked_mul(factor)?)?;
        for &(term, coefficient) in &other.terms {
            sum.add(term, coefficient.checked_mul(factor)?)?;
        }
        Some(sum)
    }

    /// A number.
    ///
    /// ```
    /// use indexpr::{Linear, Term};
    /// assert_eq!(Linear::constant_form(5).to_string(), "5");
    /// ```
    pub fn constant_form(constant: i64) -> Linear {
        Linear { constant, terms: SmallVec::new() }
    }

    /// The constant.
    ///
    /// ```
    /// use indexpr::{Linear, Term};
    /// assert_eq!(Linear::from(Term::Variable(0)).constant(), 0);
    /// ```
    pub fn constant(&self) -> i64 {
        self.constant
    }

    /// The terms and their coefficients, none of which is 0: variables in order, then floors in order.
    ///
    /// ```
    /// use indexpr::{Linear, Term};
    /// assert_eq!(Linear::from(Term::Variable(3)).terms(), [(Term::Variable(3), 1)]);
    /// ```
    pub fn terms(&self) -> &[(Term, i64)] {
        &self.terms
    }

    /// By what a term is multiplied; 0 when it is not there.
    ///
    /// ```
    /// use indexpr::{Linear, Term};
    /// assert_eq!(Linear::from(Term::Variable(3)).coefficient(Term::Variable(0)), 0);
    /// ```
    pub fn coefficient(&self, term: Term) -> i64 {
        self.terms.binary_search_by_key(&term, |(term, _)| *term).map_or(0, |at| self.terms[at].1)
    }

    /// The variables in it, but not those in its floors.
    ///
    /// ```
    /// use indexpr::{Linear, Term};
    /// assert!(Linear::from(Term::Variable(3)).variables().eq([3]));
    /// ```
    pub fn variables(&self) -> impl Iterator<Item = usize> + '_ {
        self.terms.iter().filter_map(|(term, _)| if let Term::Variable(at) = term { Some(*at) } else { None })
    }

    /// The same form with another constant.
    ///
    /// ```
    /// use indexpr::{Linear, Term};
    /// assert_eq!(Linear::from(Term::Variable(0)).with_constant(-4).to_string(), "i0 - 4");
    /// ```
    #[must_use]
    pub fn with_constant(mut self, constant: i64) -> Linear {
        self.constant = constant;
        self
    }

    /// The same form without a term.
    ///
    /// ```
    /// use indexpr::{Linear, Term};
    /// assert_eq!(Linear::from(Term::Variable(0)).without(Term::Variable(0)), Linear::default());
    /// ```
    #[must_use]
    pub fn without(mut self, term: Term) -> Linear {
        self.terms.retain(|(other, _)| *other != term);
        self
    }

    /// Whether it has no floors in it: it is affine.
    ///
    /// ```
    /// use indexpr::{Linear, Term};
    /// assert!(!Linear::from(Term::Floor(0)).is_affine());
    /// ```
    pub fn is_affine(&self) -> bool {
        // Floors come last.
        !matches!(self.terms.last(), Some((Term::Floor(_), _)))
    }

    fn evaluate(&self, point: &[i64], floors: &[i128]) -> i128 {
        let value = |term: &Term| match term {
            Term::Variable(at) => point[*at].into(),
            Term::Floor(at) => floors[*at],
        };
        self.terms.iter().map(|(term, by)| value(term) * i128::from(*by)).sum::<i128>() + i128::from(self.constant)
    }
}

impl From<Term> for Linear {
    fn from(term: Term) -> Linear {
        Linear { constant: 0, terms: SmallVec::from_elem((term, 1), 1) }
    }
}

/// Writes `i0*12 + q1 - 3`: `i` for variables, `q` for floors.
impl fmt::Display for Linear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for (term, coefficient) in &self.terms {
            f.write_str(match (first, *coefficient < 0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            })?;
            first = false;
            match term {
                Term::Variable(at) => write!(f, "i{at}")?,
                Term::Floor(at) => write!(f, "q{at}")?,
            }
            if coefficient.unsigned_abs() != 1 {
                write!(f, "*{}", coefficient.unsigned_abs())?;
            }
        }
        match (first, self.constant) {
            (true, constant) => write!(f, "{constant}"),
            (false, 0) => Ok(()),
            (false, constant) => write!(f, " {} {}", if constant < 0 { "-" } else { "+" }, constant.unsigned_abs()),
        }
    }
}

impl Floor {
    /// `floor(numerator / divisor)`, for a divisor of at least 2.
    ///
    /// ```
    /// use indexpr::{Floor, Term};
    /// assert_eq!(Floor::new(Term::Variable(0).into(), 4).divisor, 4);
    /// ```
    pub fn new(numerator: Linear, divisor: i64) -> Floor {
        Floor { numerator, divisor }
    }
}

impl Condition {
    /// The demand that a form lie between two bounds, both included.
    ///
    /// ```
    /// use indexpr::{Condition, Term};
    /// assert_eq!(Condition::new(Term::Variable(0).into(), Some(1), None).most, None);
    /// ```
    pub fn new(form: Linear, least: Option<i64>, most: Option<i64>) -> Condition {
        Condition { form, least, most }
    }

    /// Whether a value of the form is within the bounds.
    ///
    /// ```
    /// use indexpr::{Condition, Linear, Term};
    /// assert!(!Condition::new(Linear::from(Term::Variable(0)), Some(3), None).allows(2));
    /// ```
    pub fn allows(&self, value: i128) -> bool {
        self.least.is_none_or(|least| i128::from(least) <= value)
            && self.most.is_none_or(|most| value <= i128::from(most))
    }
}

impl QuasiAffine {
    /// A linear form under conditions. Floors may have earlier ones in them; `None` as the value says that the function
    /// is defined nowhere.
    ///
    /// ```
    /// use indexpr::{Floor, Linear, QuasiAffine, Term};
    ///
    /// // i // 4 * 8, without conditions.
    /// let floors = vec![Floor::new(Term::Variable(0).into(), 4)];
    /// let function = QuasiAffine::new(floors, Vec::new(), Linear::new(0, [(Term::Floor(0), 8)]));
    /// assert_eq!(function.evaluate(&[9]), Some(16));
    /// ```
    ///
    /// # Panics
    /// A form with a floor that does not exist, a floor with itself or a later one in it, a divisor below 2.
    pub fn new(floors: Vec<Floor>, conditions: Vec<Condition>, value: Option<Linear>) -> QuasiAffine {
        let known = |form: &Linear, count: usize| {
            form.terms.iter().all(|(term, _)| !matches!(term, Term::Floor(at) if *at >= count))
        };
        for (at, floor) in floors.iter().enumerate() {
            assert!(known(&floor.numerator, at) && floor.divisor >= 2, "floor {at} is not made of earlier ones");
        }
        assert!(conditions.iter().map(|condition| &condition.form).chain(&value).all(|form| known(form, floors.len())));
        QuasiAffine { floors, conditions, value }
    }

    /// The floors, each before those that are made of it; see the example of [`QuasiAffine`].
    pub fn floors(&self) -> &[Floor] {
        &self.floors
    }

    /// The conditions that must all hold. They are in no need of each other: none follows from the others as far as
    /// their ranges tell.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// The value wherever all conditions hold; `None` when they never do.
    ///
    /// ```
    /// assert!(indexpr::QuasiAffine::new(Vec::new(), Vec::new(), None).value().is_none());
    /// ```
    pub fn value(&self) -> Option<&Linear> {
        self.value.as_ref()
    }

    /// Whether a form of this function, such as its value or that of a condition, depends on a variable, be it inside of
    /// its floors.
    ///
    /// ```
    /// use indexpr::{Graph, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// graph.variable("i", 0..64)?;
    /// graph.variable("j", 0..5)?;
    /// let (index, always) = (graph.parse("i // 3", Syntax::Python)?, graph.bool(true));
    /// let form = graph.quasi_affine(index, always)?.unwrap();
    /// let value = form.value().unwrap();
    /// assert!(form.depends_on(value, 0) && !form.depends_on(value, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn depends_on(&self, form: &Linear, variable: usize) -> bool {
        form.coefficient(Term::Variable(variable)) != 0 || self.floors_depend_on(form, variable)
    }

    /// Whether one of the floors in a form of this function, or in these floors, depends on a variable.
    ///
    /// ```
    /// use indexpr::{Floor, Linear, QuasiAffine, Term};
    ///
    /// // i // 4 + j: the floor depends on i alone.
    /// let floors = vec![Floor::new(Term::Variable(0).into(), 4)];
    /// let value = Linear::new(0, [(Term::Floor(0), 1), (Term::Variable(1), 1)]).unwrap();
    /// let function = QuasiAffine::new(floors, Vec::new(), Some(value.clone()));
    /// assert!(function.floors_depend_on(&value, 0) && !function.floors_depend_on(&value, 1));
    /// ```
    pub fn floors_depend_on(&self, form: &Linear, variable: usize) -> bool {
        let mut pending: Vec<&Linear> = vec![form];
        let mut seen = vec![false; self.floors.len()];
        while let Some(form) = pending.pop() {
            for (term, _) in &form.terms {
                if let Term::Floor(at) = term
                    && !std::mem::replace(&mut seen[*at], true)
                {
                    let numerator = &self.floors[*at].numerator;
                    if numerator.coefficient(Term::Variable(variable)) != 0 {
                        return true;
                    }
                    pending.push(numerator);
                }
            }
        }
        false
    }

    /// The value at a point, one number per variable; `None` where a condition does not hold. In `i128`: a form may leave
    /// `i64` at a point outside of the ranges that it was found for.
    ///
    /// ```
    /// use indexpr::{QuasiAffine, Term};
    /// let function = QuasiAffine::new(Vec::new(), Vec::new(), Some(Term::Variable(0).into()));
    /// assert_eq!(function.evaluate(&[7]), Some(7));
    /// ```
    ///
    /// # Panics
    /// A point of fewer numbers than there are variables.
    // No rule: this is what a floor is.
    pub fn evaluate(&self, point: &[i64]) -> Option<i128> {
        let mut floors: Vec<i128> = Vec::with_capacity(self.floors.len());
        for floor in &self.floors {
            floors.push(floor.numerator.evaluate(point, &floors).div_euclid(floor.divisor.into()));
        }
        let holds = |condition: &Condition| condition.allows(condition.form.evaluate(point, &floors));
        let value = self.value.as_ref()?;
        self.conditions.iter().all(holds).then(|| value.evaluate(point, &floors))
    }
}
