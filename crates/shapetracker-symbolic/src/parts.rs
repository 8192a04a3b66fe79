//! A tracker as plain data, to be kept in a file and made again.

use std::sync::Arc;

use crate::error::{Error, Mistake, no_name};
use crate::literal::{Literal, Relation};
use crate::notation::Question;
use crate::poly::Poly;
use crate::scope::Scope;
use crate::tracker::ShapeTracker;
use crate::view::View;

/// A condition: a polynomial, how it compares with 0 (`>=`, `==` or `!=`), and the number that it is compared modulo.
///
/// ```
/// let even: shapetracker_symbolic::LiteralParts = ("n".into(), "==".into(), Some(2));
/// assert_eq!(even.2, Some(2));
/// ```
pub type LiteralParts = (String, String, Option<i128>);

/// A view: the shape, the strides, the offset, and perhaps the mask, of polynomials as texts.
///
/// ```
/// let rows: shapetracker_symbolic::ViewParts = (vec!["n".into(), "4".into()], vec!["4".into(), "1".into()], "0".into(), None);
/// assert_eq!(rows.0.len(), rows.1.len());
/// ```
pub type ViewParts = (Vec<String>, Vec<String>, String, Option<Vec<(String, String)>>);

/// All that a [`ShapeTracker`] is, as names, numbers and texts: what is written to a file, and read again. With the feature
/// `serde` it is what a tracker is written as, a map of these fields.
///
/// ```
/// use shapetracker_symbolic::{ShapeTracker, Sym};
///
/// let n = Sym::new("n", 1..4097);
/// let tracker = ShapeTracker::contiguous([n.clone(), 4.into()])?.shrink([(2.into(), n), (0.into(), 4.into())])?;
/// let parts = tracker.parts();
/// assert_eq!(parts.names, [("n".to_owned(), Some(1), Some(4096))]);
/// assert_eq!(parts.needs, [("n - 2".to_owned(), ">=".to_owned(), None)]);
/// assert_eq!(ShapeTracker::from_parts(&parts)?, tracker);
/// # Ok::<(), shapetracker_symbolic::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename = "ShapeTracker", deny_unknown_fields))]
pub struct Parts {
    /// The names, each with the least and the greatest value that it may have.
    pub names: Vec<(String, Option<i128>, Option<i128>)>,
    /// Names that stand for polynomials of the others.
    #[cfg_attr(feature = "serde", serde(default))]
    pub definitions: Vec<(String, String)>,
    /// What is known to hold.
    #[cfg_attr(feature = "serde", serde(default))]
    pub given: Vec<LiteralParts>,
    /// What operations needed.
    #[cfg_attr(feature = "serde", serde(default))]
    pub needs: Vec<LiteralParts>,
    /// The views, the first next to memory.
    pub views: Vec<ViewParts>,
}

impl Parts {
    /// The parts of views over names, and of what is needed of the names.
    ///
    /// ```
    /// use shapetracker_symbolic::{Parts, ShapeTracker, Sym};
    ///
    /// let tracker = ShapeTracker::contiguous([Sym::new("n", 1..), 4.into()])?;
    /// assert_eq!(Parts::of(tracker.scope(), tracker.needs(), tracker.views()), tracker.parts());
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn of(scope: &Scope, needs: &[Literal], views: &[View]) -> Parts {
        let text = |poly: &Poly| scope.text(poly);
        let literal = |literal: &Literal| (text(&literal.poly), literal.relation.symbol().to_owned(), literal.modulus);
        let view = |view: &View| {
            let pair = |(begin, end): &(Poly, Poly)| (text(begin), text(end));
            let mask = view.mask.as_ref().map(|mask| mask.iter().map(pair).collect());
            let [shape, strides] = [&view.shape, &view.strides].map(|list| list.iter().map(text).collect());
            (shape, strides, text(&view.offset), mask)
        };
        let named = &scope.names()[..scope.names().len() - scope.quotients().len()];
        Parts {
            names: named.iter().map(|name| (name.name.to_string(), name.lo, name.hi)).collect(),
            definitions: scope.definitions().iter().map(|(name, poly)| (name.to_string(), text(poly))).collect(),
            given: scope.given().iter().map(literal).collect(),
            needs: needs.iter().map(literal).collect(),
            views: views.iter().map(view).collect(),
        }
    }
}

impl ShapeTracker {
    /// The tracker as plain data.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    ///
    /// let parts = ShapeTracker::contiguous([Sym::new("n", 1..), 4.into()])?.parts();
    /// let texts = |list: &[&str]| list.iter().map(|text| text.to_string()).collect::<Vec<_>>();
    /// assert_eq!(parts.views, [(texts(&["n", "4"]), texts(&["4", "1"]), "0".into(), None)]);
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn parts(&self) -> Parts {
        Parts::of(self.scope(), self.needs(), self.views())
    }

    /// The tracker that plain data says.
    ///
    /// What is refuted is refused. What is neither refuted nor proved, such as that a view reads inside the one under it, is taken
    /// as it is said: the operations that made the tracker knew.
    ///
    /// ```
    /// use shapetracker_symbolic::{Parts, ShapeTracker};
    ///
    /// let mut parts = ShapeTracker::contiguous([2, 3])?.parts();
    /// parts.views[0].0[1] = "T".into();
    /// let err = ShapeTracker::from_parts(&parts).unwrap_err();
    /// assert_eq!(err.to_string(), "parts: there is no name `T`, as there are no names");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// A text that is no polynomial of the names, a name twice, and those of [`ShapeTracker::from_views`].
    pub fn from_parts(parts: &Parts) -> Result<ShapeTracker, Error> {
        const OP: &str = "parts";
        let wrong = |message: String| Error::new(OP, Mistake::Parts(message));
        let twice = |name: &str| wrong(format!("`{name}` is given twice"));
        let mut scope = Scope::new();
        for (name, lo, hi) in &parts.names {
            if let Some(why) = crate::why_no_name(name) {
                return Err(wrong(format!("`{name}` cannot be the name of a size: {why}")));
            }
            if scope.declare(name, *lo, *hi).is_none() {
                let is_there = scope.find(name).is_some();
                return Err(if is_there { twice(name) } else { Error::new(OP, Mistake::TooManyNames) });
            }
        }
        let mut reading = Question::over(scope.clone());
        let mut poly = |text: &str| {
            let read = reading.number(text).map_err(|err| wrong(format!("{}, in `{text}`", err.message())))?;
            match reading.names().nth(parts.names.len()) {
                None => Ok(read),
                Some(name) => {
                    let known: Vec<String> = parts.names.iter().map(|(known, ..)| format!("`{known}`")).collect();
                    Err(wrong(no_name(&format!("`{name}`"), &known)))
                }
            }
        };
        for (name, text) in &parts.definitions {
            let value = poly(text)?;
            if !scope.define(name, value) {
                return Err(twice(name));
            }
        }
        let mut literal = |(text, symbol, modulus): &LiteralParts| {
            let relation = match &symbol[..] {
                "==" => Relation::Equal,
                ">=" => Relation::AtLeast,
                "!=" => Relation::NotEqual,
                _ => return Err(wrong(format!("`{symbol}` is none of `==`, `>=` and `!=`"))),
            };
            if let Some(modulus) = modulus.filter(|&modulus| modulus < 1 || relation == Relation::AtLeast) {
                return Err(wrong(format!(
                    "`{text}` is compared by `{symbol}` modulo {modulus}: modulo a number, which is 1 or more, there is only `==` \
                     and `!=`"
                )));
            }
            Ok(Literal { poly: poly(text)?, relation, modulus: *modulus })
        };
        for known in &parts.given {
            scope.require(literal(known)?);
        }
        let needs = parts.needs.iter().map(&mut literal).collect::<Result<Vec<_>, _>>()?;
        let view = |(shape, strides, offset, mask): &ViewParts| {
            let mut polys = |list: &[String]| list.iter().map(|text| poly(text)).collect::<Result<Vec<_>, _>>();
            let (shape, strides) = (polys(shape)?, polys(strides)?);
            let mask = mask.as_ref().map(|mask| {
                mask.iter().map(|(begin, end)| Ok((poly(begin)?, poly(end)?))).collect::<Result<Vec<_>, Error>>()
            });
            Ok(View { shape, strides, offset: poly(offset)?, mask: mask.transpose()? })
        };
        let views = parts.views.iter().map(view).collect::<Result<Vec<_>, Error>>()?;
        ShapeTracker::made_before(OP, Arc::new(scope), needs, views)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for ShapeTracker {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.parts().serialize(serializer)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for ShapeTracker {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ShapeTracker::from_parts(&Parts::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}
