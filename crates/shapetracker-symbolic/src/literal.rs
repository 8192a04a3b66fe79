//! Conditions on named sizes: what answers and guards are made of.

use crate::poly::{Poly, Var, modulo};
use crate::scope::Scope;

/// How a polynomial of a [`Literal`] compares with 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// It is 0.
    Equal,
    /// It is at least 0.
    AtLeast,
    /// It is not 0.
    NotEqual,
}

impl Relation {
    /// As it is written: `>=`, `==` or `!=`.
    ///
    /// ```
    /// assert_eq!(shapetracker_symbolic::Relation::AtLeast.symbol(), ">=");
    /// ```
    pub fn symbol(self) -> &'static str {
        match self {
            Relation::Equal => "==",
            Relation::AtLeast => ">=",
            Relation::NotEqual => "!=",
        }
    }
}

/// A condition on named sizes: a polynomial compared with 0, perhaps modulo a number.
///
/// ```
/// use shapetracker_symbolic::{Literal, Poly, Scope};
/// let mut scope = Scope::new();
/// let n = Poly::from(scope.declare("n", Some(1), None).unwrap());
/// let literal = Literal::at_least(n.sub(&Poly::from(3))?);
/// assert_eq!(literal.text(&scope), "n >= 3");
/// # Ok::<(), shapetracker_symbolic::TooLarge>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Literal {
    /// What is compared with 0.
    pub poly: Poly,
    /// How it compares.
    pub relation: Relation,
    /// The number that it is compared modulo, at least 1; then the relation is [`Relation::Equal`] or
    /// [`Relation::NotEqual`].
    pub modulus: Option<i128>,
}

impl Literal {
    /// `poly >= 0`.
    ///
    /// ```
    /// use shapetracker_symbolic::{Literal, Poly, Scope};
    /// let mut scope = Scope::new();
    /// let n = Poly::from(scope.declare("n", Some(1), None).unwrap());
    /// assert_eq!(Literal::at_least(n).holds(&[-1]), Some(false));
    /// # Ok::<(), shapetracker_symbolic::TooLarge>(())
    /// ```
    pub fn at_least(poly: Poly) -> Literal {
        Literal { poly, relation: Relation::AtLeast, modulus: None }
    }

    /// `poly == 0`.
    ///
    /// ```
    /// use shapetracker_symbolic::{Literal, Poly, Scope};
    /// let mut scope = Scope::new();
    /// let n = Poly::from(scope.declare("n", Some(1), None).unwrap());
    /// assert_eq!(Literal::equal(n).holds(&[0]), Some(true));
    /// # Ok::<(), shapetracker_symbolic::TooLarge>(())
    /// ```
    pub fn equal(poly: Poly) -> Literal {
        Literal { poly, relation: Relation::Equal, modulus: None }
    }

    /// `poly != 0`.
    ///
    /// ```
    /// use shapetracker_symbolic::{Literal, Poly, Scope};
    /// let mut scope = Scope::new();
    /// let n = Poly::from(scope.declare("n", Some(1), None).unwrap());
    /// assert_eq!(Literal::not_equal(n).holds(&[0]), Some(false));
    /// # Ok::<(), shapetracker_symbolic::TooLarge>(())
    /// ```
    pub fn not_equal(poly: Poly) -> Literal {
        Literal { poly, relation: Relation::NotEqual, modulus: None }
    }

    /// `poly % modulus == 0`.
    ///
    /// ```
    /// use shapetracker_symbolic::{Literal, Poly, Scope};
    /// let mut scope = Scope::new();
    /// let n = Poly::from(scope.declare("n", Some(1), None).unwrap());
    /// assert_eq!(Literal::divisible(n, 4).text(&scope), "n % 4 == 0");
    /// # Ok::<(), shapetracker_symbolic::TooLarge>(())
    /// ```
    pub fn divisible(poly: Poly, modulus: i128) -> Literal {
        Literal { poly, relation: Relation::Equal, modulus: Some(modulus.max(1)) }
    }

    /// Whether it holds at a point; `None` where a value leaves 128 bits.
    ///
    /// ```
    /// use shapetracker_symbolic::{Literal, Poly, Scope};
    /// let mut scope = Scope::new();
    /// let n = Poly::from(scope.declare("n", Some(1), None).unwrap());
    /// assert_eq!(Literal::divisible(n, 4).holds(&[12]), Some(true));
    /// # Ok::<(), shapetracker_symbolic::TooLarge>(())
    /// ```
    pub fn holds(&self, point: &[i128]) -> Option<bool> {
        let value = self.poly.eval(point)?;
        let value = self.modulus.map_or(value, |modulus| modulo(value, modulus.max(1)));
        Some(match self.relation {
            Relation::Equal => value == 0,
            Relation::AtLeast => value >= 0,
            Relation::NotEqual => value != 0,
        })
    }

    /// The same condition on integers in the smallest numbers: `s <= 23` for `4*s <= 93`.
    pub(crate) fn smallest(self) -> Literal {
        let constant = self.poly.constant();
        let named = constant.checked_neg().and_then(|minus| self.poly.plus_number(minus).ok());
        let (None, Some(named)) = (self.modulus, named) else { return self };
        let factor = named.content();
        let rest = match self.relation {
            _ if factor < 2 => return self,
            Relation::AtLeast => constant.div_euclid(factor),
            _ if constant % factor == 0 => constant / factor,
            // Never, or always: there is nothing simpler to say it with.
            _ => return self,
        };
        match named.over_number(factor).plus_number(rest) {
            Ok(poly) => Literal { poly, ..self },
            Err(_) => self,
        }
    }

    /// The literal over other variables.
    pub(crate) fn renamed(&self, rename: impl Fn(Var) -> Var) -> Literal {
        Literal { poly: self.poly.renamed(rename), ..self.clone() }
    }

    /// As people write it, positive terms on both sides: `s1 == 2*s2 + 3*s3`, `T <= 1`, `p % 2 == 0`.
    ///
    /// ```
    /// use shapetracker_symbolic::{Literal, Poly, Scope};
    /// let mut scope = Scope::new();
    /// let n = Poly::from(scope.declare("n", Some(1), None).unwrap());
    /// assert_eq!(Literal::equal(n.mul(&n)?.sub(&n)?).text(&scope), "n**2 == n");
    /// # Ok::<(), shapetracker_symbolic::TooLarge>(())
    /// ```
    pub fn text(&self, scope: &Scope) -> String {
        let sides =
            |left: &Poly, symbol: &str, right: &Poly| format!("{} {symbol} {}", scope.text(left), scope.text(right));
        let (positive, negative) = self.poly.sides();
        if let Some(modulus) = self.modulus {
            let left = match (positive.terms().len(), negative.number()) {
                // `p - 1` modulo 2: p % 2 == 1.
                (_, Some(rest)) if rest >= 0 && rest < modulus => {
                    let text = scope.text(&positive);
                    let text =
                        if positive.terms().len() > 1 || text.contains('*') { format!("({text})") } else { text };
                    return format!("{text} % {modulus} {} {rest}", self.relation.symbol());
                }
                _ => scope.text(&self.poly),
            };
            return format!("({left}) % {modulus} {} 0", self.relation.symbol());
        }
        match self.relation {
            // The side without names stands on the right.
            Relation::AtLeast if positive.number().is_some() => sides(&negative, "<=", &positive),
            Relation::AtLeast => sides(&positive, ">=", &negative),
            _ if positive.number().is_some() => sides(&negative, self.relation.symbol(), &positive),
            _ => sides(&positive, self.relation.symbol(), &negative),
        }
    }
}
