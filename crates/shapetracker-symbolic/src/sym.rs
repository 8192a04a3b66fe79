//! Sizes as values: names with ranges, and arithmetic on them.

use std::fmt;
use std::ops::{Add, Bound, Mul, Neg, RangeBounds, Sub};
use std::sync::Arc;

use indexpr::{Expr, Graph};
use shapetracker_base::list::sort_short_by_key;
use shapetracker_base::text::quoted;

use crate::error::{Error, Mistake};
use crate::literal::Literal;
use crate::notation::why_no_name;
use crate::poly::{MOST_STEPS, Poly, within};
use crate::region::Region;
use crate::region::divide::Division;
use crate::scope::Scope;

/// A size, stride or offset that may have names in it: a polynomial, together with the ranges of its names.
///
/// Arithmetic never panics. What goes wrong, such as an overflow or one name with two ranges, is carried along and is the
/// error of whatever uses the value.
///
/// ```
/// use shapetracker_symbolic::{ShapeTracker, Sym};
///
/// let n = Sym::new("n", 1..4097);
/// let size = n.clone() * 3 + 1;
/// assert_eq!(size.to_string(), "3*n + 1");
///
/// let st = ShapeTracker::contiguous([n.clone(), 32.into()])?.reshape([n * 4, 8.into()])?;
/// assert_eq!(st.numel().to_string(), "32*n");
/// # Ok::<(), shapetracker_symbolic::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Sym(Result<(Arc<Scope>, Poly), Error>);

const OP: &str = "size";

impl Sym {
    /// A name for the integers of a range: `1..4097`, or `1..` and `..` where there is no end.
    ///
    /// ```
    /// use shapetracker_symbolic::Sym;
    ///
    /// let stride = Sym::new("s1", ..); // any integer
    /// assert_eq!((stride * 2 - 1).to_string(), "2*s1 - 1");
    /// ```
    ///
    /// What is no name, or a range without values, is the error of whatever uses the value.
    pub fn new(name: &str, range: impl RangeBounds<i128>) -> Sym {
        Sym(named(name, &range))
    }

    /// A polynomial over the names of a scope.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::{Poly, Scope, Sym};
    ///
    /// let mut scope = Scope::new();
    /// let n = scope.declare("n", Some(1), None).unwrap();
    /// assert_eq!(Sym::of(&Arc::new(scope), Poly::from(n)).to_string(), "n");
    /// ```
    pub fn of(scope: &Arc<Scope>, poly: Poly) -> Sym {
        Sym(Ok((scope.clone(), poly)))
    }

    /// The polynomial, and the names that it is over.
    ///
    /// ```
    /// use shapetracker_symbolic::Sym;
    /// assert_eq!(Sym::from(7).parts()?.1.number(), Some(7));
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// What went wrong when the value was made.
    pub fn parts(&self) -> Result<(&Arc<Scope>, &Poly), Error> {
        match &self.0 {
            Ok((scope, poly)) => Ok((scope, poly)),
            Err(err) => Err(err.clone()),
        }
    }

    /// Values as polynomials over one scope, that of all their names.
    ///
    /// ```
    /// use shapetracker_symbolic::Sym;
    ///
    /// let (scope, polys) = Sym::united("sizes", [Sym::new("n", 1..), Sym::new("m", 1..) * 2])?;
    /// assert_eq!(scope.names().len(), 2);
    /// assert_eq!(scope.text(&polys[1]), "2*m");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// One name with two ranges, too many names, and what went wrong when the values were made; `op` is the operation that
    /// they are for.
    pub fn united(op: &'static str, values: impl IntoIterator<Item = Sym>) -> Result<(Arc<Scope>, Vec<Poly>), Error> {
        let mut scope = Arc::default();
        let poly = |value: Sym| value.parts().and_then(|(other, poly)| adopt(op, &mut scope, other, poly));
        let polys = values.into_iter().map(poly).collect::<Result<_, _>>()?;
        Ok((scope, polys))
    }

    /// The value as an expression of a graph, for the loops and indices of code: the names are the variables of their names there,
    /// and the graph gets those that it has not.
    ///
    /// ```
    /// use indexpr::{Nest, Syntax};
    /// use shapetracker_symbolic::Sym;
    ///
    /// let size = Sym::new("B", 1..65) * Sym::new("T", 1..4097);
    /// let mut nest = Nest::new(size.parts()?.0.graph()?);
    /// let rows = size.expr(nest.graph_mut())?;
    /// nest.each("row", rows)?;
    /// assert_eq!(nest.graph().text(nest.loops()[0].size, Syntax::Python)?, "B * T");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// What went wrong when the value was made; a name without two ends, or that the graph has with another range; values that leave
    /// 64 bits.
    pub fn expr(&self, graph: &mut Graph) -> Result<Expr, Error> {
        let (scope, poly) = self.parts()?;
        scope.written("expr", graph, poly)
    }

    /// The same value over a scope of nothing but its own names, in alphabetical order: it is the same for values that are
    /// the same polynomial in the same names, however they were computed.
    ///
    /// ```
    /// use shapetracker_symbolic::Sym;
    ///
    /// let (n, m) = (Sym::new("n", 1..), Sym::new("m", 1..));
    /// assert_eq!((&n * &m).canonical(), (&m * &n + &m - &m).canonical());
    /// ```
    pub fn canonical(&self) -> Sym {
        let own = |(scope, poly): &(Arc<Scope>, Poly)| {
            let mut vars = poly.vars();
            sort_short_by_key(&mut vars, |var| &scope.names()[usize::from(var.0)].name);
            let mut own = Scope::new();
            for var in &vars {
                let name = &scope.names()[usize::from(var.0)];
                own.declare(&name.name, name.lo, name.hi);
            }
            let place = |var: crate::Var| vars.iter().position(|known| *known == var).unwrap_or_default();
            (Arc::new(own), poly.renamed(|var| crate::Var(place(var) as u8)))
        };
        Sym(self.0.as_ref().map(own).map_err(Clone::clone))
    }

    /// The condition that this is at least another value.
    ///
    /// ```
    /// use shapetracker_symbolic::Sym;
    /// let (n, m) = (Sym::new("n", 1..), Sym::new("m", 1..));
    /// assert_eq!(n.at_least(m + 1).to_string(), "n >= m + 1");
    /// ```
    pub fn at_least(&self, other: impl Into<Sym>) -> Condition {
        Condition::of(self.clone() - other, Literal::at_least)
    }

    /// The condition that this is at most another value.
    ///
    /// ```
    /// use shapetracker_symbolic::Sym;
    /// assert_eq!(Sym::new("n", 1..).at_most(4).to_string(), "n <= 4");
    /// ```
    pub fn at_most(&self, other: impl Into<Sym>) -> Condition {
        Condition::of(other.into() - self.clone(), Literal::at_least)
    }

    /// The condition that this equals another value.
    ///
    /// ```
    /// use shapetracker_symbolic::Sym;
    /// assert_eq!(Sym::new("n", 1..).equals(4).to_string(), "n == 4");
    /// ```
    pub fn equals(&self, other: impl Into<Sym>) -> Condition {
        Condition::of(self.clone() - other, Literal::equal)
    }

    /// The condition that this differs from another value.
    ///
    /// ```
    /// use shapetracker_symbolic::Sym;
    /// assert_eq!(Sym::new("n", 1..).differs(4).to_string(), "n != 4");
    /// ```
    pub fn differs(&self, other: impl Into<Sym>) -> Condition {
        Condition::of(self.clone() - other, Literal::not_equal)
    }

    /// The condition that this is a multiple of a number.
    ///
    /// ```
    /// use shapetracker_symbolic::Sym;
    /// assert_eq!(Sym::new("n", 1..).divisible(4).to_string(), "n % 4 == 0");
    /// ```
    pub fn divisible(&self, by: u32) -> Condition {
        match by {
            // Modulo 0 and 1 there is no residue: a multiple of 0 is 0, and of 1 everything is one.
            0 => Condition::of(self.clone(), Literal::equal),
            1 => Condition::of(self.clone() - self, Literal::equal),
            _ => Condition::of(self.clone(), |poly| Literal::divisible(poly, by.into())),
        }
    }

    /// The quotient by a value that divides this one as a polynomial.
    ///
    /// ```
    /// use shapetracker_symbolic::Sym;
    ///
    /// let n = Sym::new("n", 1..);
    /// assert_eq!((&n * &n + &n * 2).div_exact(&n).to_string(), "n + 2");
    /// assert!(n.div_exact(2).parts().is_err());
    /// ```
    ///
    /// A remainder, or a division by 0, is the error of whatever uses the value.
    pub fn div_exact(&self, by: impl Into<Sym>) -> Sym {
        let quotient = |(scope, polys): (Arc<Scope>, Vec<Poly>)| {
            let uneven = || Error::new(OP, Mistake::Uneven { whole: scope.text(&polys[0]), by: scope.text(&polys[1]) });
            if polys[1].is_zero() {
                return Err(uneven());
            }
            let quotient = polys[0].div_exact(&polys[1]).map_err(|err| Error::new(OP, err))?;
            quotient.map(|quotient| (scope.clone(), quotient)).ok_or_else(uneven)
        };
        Sym(Sym::united(OP, [self.clone(), by.into()]).and_then(quotient))
    }

    /// The quotient, rounded down, where that is a polynomial for all values of the names.
    ///
    /// ```
    /// use shapetracker_symbolic::Sym;
    ///
    /// let n = Sym::new("n", 1..);
    /// assert_eq!((&n * 2 + 1).floor_div(2).to_string(), "n");
    /// assert_eq!((&n * 2 + 1).floor_div(-2).to_string(), "-n - 1");
    /// assert_eq!(Sym::new("r", 0..8).floor_div(8).to_string(), "0");
    /// assert!(n.floor_div(2).parts().is_err()); // with `n = 2*k` it is `k`
    /// ```
    ///
    /// A quotient that is not known, or a divisor whose sign is not known, is the error of whatever uses the value.
    pub fn floor_div(&self, by: impl Into<Sym>) -> Sym {
        self.divided(by.into(), |division| division.quotient)
    }

    /// What is left of a division, with the sign of the divisor, where that is a polynomial for all values of the names.
    ///
    /// ```
    /// use shapetracker_symbolic::Sym;
    ///
    /// let n = Sym::new("n", 1..);
    /// assert_eq!((&n * 2 + 1).modulo(2).to_string(), "1");
    /// ```
    ///
    /// Errors are those of [`Sym::floor_div`].
    pub fn modulo(&self, by: impl Into<Sym>) -> Sym {
        self.divided(by.into(), |division| division.remainder)
    }

    fn divided(&self, by: Sym, part: fn(Division) -> Poly) -> Sym {
        let divided = |(scope, polys): (Arc<Scope>, Vec<Poly>)| {
            let whole = || scope.text(&polys[0]);
            if polys[1].is_zero() {
                return Err(Error::new(OP, Mistake::ByZero { whole: whole() }));
            }
            let division = within(MOST_STEPS, || {
                // What divides exactly does so whatever the sign of the divisor is.
                if let Some(quotient) = polys[0].div_exact(&polys[1])? {
                    return Ok(Some(Division { quotient, remainder: Poly::zero() }));
                }
                let region = Region::of(&scope, &[]);
                region.map_or(Ok(None), |region| region.floor_division(&polys[0], &polys[1]))
            });
            let division = division.map_err(|err| Error::new(OP, err))?;
            let unknown = || Error::new(OP, Mistake::Uneven { whole: whole(), by: scope.text(&polys[1]) });
            Ok((scope.clone(), part(division.ok_or_else(unknown)?)))
        };
        Sym(Sym::united(OP, [self.clone(), by]).and_then(divided))
    }

    /// Two values in one scope, and what is made of them.
    fn with(self, other: Sym, op: impl FnOnce(&Poly, &Poly) -> Result<Poly, crate::TooLarge>) -> Sym {
        let both = |a: (Arc<Scope>, Poly), b: (Arc<Scope>, Poly)| {
            let mut scope = a.0;
            let b = adopt(OP, &mut scope, &b.0, &b.1)?;
            let made = op(&a.1, &b).map_err(|err| Error::new(OP, err))?;
            Ok((scope, made))
        };
        Sym(self.0.and_then(|a| both(a, other.0?)))
    }
}

fn named(name: &str, range: &impl RangeBounds<i128>) -> Result<(Arc<Scope>, Poly), Error> {
    if let Some(why) = why_no_name(name) {
        return Err(Error::new(OP, Mistake::Name { name: quoted(name).to_string(), why }));
    }
    let empty = |least, greatest| Error::new(OP, Mistake::EmptyRange { name: name.into(), least, greatest });
    let lo = match range.start_bound() {
        Bound::Included(&lo) => Some(lo),
        Bound::Excluded(&lo) => Some(lo.checked_add(1).ok_or_else(|| empty(lo, i128::MIN))?),
        Bound::Unbounded => None,
    };
    let hi = match range.end_bound() {
        Bound::Included(&hi) => Some(hi),
        Bound::Excluded(&hi) => Some(hi.checked_sub(1).ok_or_else(|| empty(i128::MAX, hi))?),
        Bound::Unbounded => None,
    };
    if let Some((lo, hi)) = lo.zip(hi).filter(|(lo, hi)| lo > hi) {
        return Err(empty(lo, hi));
    }
    let mut scope = Scope::new();
    let var = scope.declare(name, lo, hi).ok_or_else(|| Error::new(OP, Mistake::TooManyNames))?;
    Ok((Arc::new(scope), Poly::from(var)))
}

/// A polynomial over another scope as one over this scope, which gets the names and conditions that it has not.
pub(crate) fn adopt(op: &'static str, scope: &mut Arc<Scope>, other: &Arc<Scope>, poly: &Poly) -> Result<Poly, Error> {
    if Arc::ptr_eq(scope, other) || **other == Scope::default() {
        return Ok(poly.clone());
    }
    let (union, renamed) = united(op, scope, other)?;
    let poly = poly.renamed(|var| renamed[usize::from(var.0)]);
    if union != **scope {
        *scope = Arc::new(union);
    }
    Ok(poly)
}

/// The names and conditions of two scopes, and which variable each of the second one's is there.
pub(crate) fn united(op: &'static str, a: &Scope, b: &Scope) -> Result<(Scope, Vec<crate::Var>), Error> {
    a.union(b).ok_or_else(|| {
        let ranges = b.names().iter().filter(|name| a.find(&name.name).is_some() && !a.names().contains(name));
        let meanings = b.definitions().iter().filter(|(name, _)| a.find(name).is_some());
        let name = ranges.map(|name| &name.name).chain(meanings.map(|(name, _)| name)).next();
        Error::new(op, name.map_or(Mistake::TooManyNames, |name| Mistake::NameTwice { name: name.to_string() }))
    })
}

macro_rules! from_numbers {
    ($($number:ty)*) => { $(
        impl From<$number> for Sym {
            fn from(number: $number) -> Sym {
                Sym(Ok((Arc::default(), Poly::from(number as i128))))
            }
        }
    )* };
}

from_numbers! { i32 u32 i64 u64 isize usize i128 }

impl From<&Sym> for Sym {
    fn from(value: &Sym) -> Sym {
        value.clone()
    }
}

macro_rules! operators {
    ($($operator:ident $method:ident $poly:ident)*) => { $(
        impl<T: Into<Sym>> $operator<T> for Sym {
            type Output = Sym;

            fn $method(self, other: T) -> Sym {
                self.with(other.into(), Poly::$poly)
            }
        }

        impl<T: Into<Sym>> $operator<T> for &Sym {
            type Output = Sym;

            fn $method(self, other: T) -> Sym {
                self.clone().with(other.into(), Poly::$poly)
            }
        }
    )* };
}

operators! { Add add add Sub sub sub Mul mul mul }

impl Neg for Sym {
    type Output = Sym;

    fn neg(self) -> Sym {
        Sym::from(0) - self
    }
}

/// The polynomial in the syntax of Python, or the sentence of the error that it carries.
impl fmt::Display for Sym {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Ok((scope, poly)) => f.write_str(&scope.text(poly)),
            Err(err) => write!(f, "{err}"),
        }
    }
}

impl fmt::Debug for Sym {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A condition on named sizes, made by comparing two [`Sym`] values.
///
/// ```
/// use shapetracker_symbolic::{ShapeTracker, Sym};
///
/// let (n, s, l) = (Sym::new("N", 1..), Sym::new("s", 0..), Sym::new("L", 1..));
/// let known = ShapeTracker::contiguous([n.clone(), 64.into()])?.given(&n.at_least(&s + &l))?;
/// assert_eq!(known.scope().given().len(), 1);
/// # Ok::<(), shapetracker_symbolic::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Condition(Result<(Arc<Scope>, Literal), Error>);

impl Condition {
    fn of(value: Sym, literal: impl FnOnce(Poly) -> Literal) -> Condition {
        Condition(value.0.map(|(scope, poly)| (scope, literal(poly))))
    }

    /// A literal over the names of a scope.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::{Condition, Literal, Poly, Scope};
    ///
    /// let mut scope = Scope::new();
    /// let n = Poly::from(scope.declare("n", Some(1), None).unwrap());
    /// assert_eq!(Condition::over(&Arc::new(scope), Literal::divisible(n, 4)).to_string(), "n % 4 == 0");
    /// ```
    pub fn over(scope: &Arc<Scope>, literal: Literal) -> Condition {
        Condition(Ok((scope.clone(), literal)))
    }

    /// The literal, and the names that it is over.
    ///
    /// ```
    /// use shapetracker_symbolic::{Relation, Sym};
    /// assert_eq!(Sym::new("n", 1..).equals(4).parts()?.1.relation, Relation::Equal);
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// What went wrong when the values were made.
    pub fn parts(&self) -> Result<(&Arc<Scope>, &Literal), Error> {
        match &self.0 {
            Ok((scope, literal)) => Ok((scope, literal)),
            Err(err) => Err(err.clone()),
        }
    }
}

/// The condition in the syntax of Python, or the sentence of the error that it carries.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Ok((scope, literal)) => f.write_str(&literal.text(scope)),
            Err(err) => write!(f, "{err}"),
        }
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
