//! Answers about named sizes as documents of JSON: the one place that knows their fields.
//!
//! A polynomial without names is a number, and any other one a text in the syntax of Python, over the names and perhaps
//! floors and remainders such as `(n//2)`.
//!
//! | from | fields |
//! |---|---|
//! | [`View`] | `shape`, `strides`, `offset`, `mask` (a list of half-open ranges, or null) |
//! | [`Literal`] | `poly`, a text, `op` (`>=`, `==` or `!=`) and perhaps `mod`: the polynomial, modulo that number, compares so with 0 |
//! | [`Scope`] | `names`, each with `name` and `range`, half-open, null where there is no end; `definitions`, each with `name` and `value`; `given`, literals that hold |
//! | [`Answer`] | `kind` (`all`, `formula`, `never` or `undecided`), `formula`, of which one list of literals must hold (where `undecided`: where it is known to be one view), `text`, `view` (one that serves wherever there is one, or null), `leaves`, each with `literals`, `view` (or null) and `verdict` (`view`, `not_one` or `undecided`), `witness` (values, and the fields of [`shapetracker::json`] without `next` and `moved`; null where there is none), `reason` (why it is undecided, or null) |
//! | [`Pair`] | `earlier`, `later`, `scope`, `needs` (literals), and the fields of an answer |
//! | [`Description`](crate::Description) | `shape`, `bytes`, `orders` (`name`, `when`), `range`, `holes`, `injective`, `collision` (a sentence), `matrix` (`operation`, `leading`, `when`), `tensor_map`, `formats` (`library`, `name`), `vector`, `strides`, `lines` (`topic`, `text`); what holds for some values has `kind` (`all`, `formula`, `never` or `undecided`), and with a formula `text` and `formula` |
//! | [`ShapeTracker`] | `scope`, `shape`, `views`, `needs` (literals), and the fields of the answer whether all views are one view |

use shapetracker::json::Value;

use crate::answer::{Answer, Counterexample, Leaf, Verdict};
use crate::literal::Literal;
use crate::pair::Pair;
use crate::poly::Poly;
use crate::scope::Scope;
use crate::tracker::ShapeTracker;
use crate::view::View;

/// A polynomial: a number where it has no names and fits, and otherwise a text.
///
/// ```
/// use shapetracker::json::Value;
/// use shapetracker_symbolic::{Poly, Scope, json};
/// assert_eq!(json::poly(&Poly::from(3), &Scope::new()), Value::Int(3));
/// ```
pub fn poly(poly: &Poly, scope: &Scope) -> Value {
    poly.number().map_or_else(|| Value::from(scope.text(poly)), Value::from)
}

/// Polynomials in order: numbers, and texts where they have names.
///
/// ```
/// use shapetracker_symbolic::{Poly, Scope, json};
///
/// let mut scope = Scope::new();
/// let n = Poly::from(scope.declare("n", Some(1), None).unwrap());
/// assert_eq!(json::polys(&[n, Poly::from(2_i64)], &scope).to_string(), r#"["n",2]"#);
/// ```
pub fn polys(list: &[Poly], scope: &Scope) -> Value {
    list.iter().map(|item| poly(item, scope)).collect()
}

/// A view over the names of a scope.
///
/// ```
/// use shapetracker_symbolic::{Poly, Scope, View, json};
///
/// let mut scope = Scope::new();
/// let n = Poly::from(scope.declare("n", Some(1), None).unwrap());
/// let view = View { shape: vec![n.clone(), Poly::from(2_i64)], strides: vec![Poly::from(2_i64), n], offset: Poly::default(), mask: None };
/// assert_eq!(json::view(&view, &scope).to_string(), r#"{"shape":["n",2],"strides":[2,"n"],"offset":0,"mask":null}"#);
/// ```
pub fn view(view: &View, scope: &Scope) -> Value {
    let range = |(begin, end): &(Poly, Poly)| Value::List(vec![poly(begin, scope), poly(end, scope)]);
    Value::Null
        .with("shape", polys(&view.shape, scope))
        .with("strides", polys(&view.strides, scope))
        .with("offset", poly(&view.offset, scope))
        .with("mask", view.mask.as_ref().map(|mask| mask.iter().map(range).collect::<Value>()))
}

/// A condition over the names of a scope.
///
/// ```
/// use shapetracker_symbolic::{Literal, Poly, Scope, json};
///
/// let mut scope = Scope::new();
/// let p = Poly::from(scope.declare("p", Some(1), None).unwrap());
/// assert_eq!(json::literal(&Literal::divisible(p, 2), &scope).to_string(), r#"{"poly":"p","op":"==","mod":2}"#);
/// ```
pub fn literal(literal: &Literal, scope: &Scope) -> Value {
    let value = Value::Null.with("poly", scope.text(&literal.poly)).with("op", literal.relation.symbol());
    match literal.modulus {
        Some(modulus) => value.with("mod", modulus),
        None => value,
    }
}

/// Conditions in order.
///
/// ```
/// use shapetracker_symbolic::{Literal, Poly, Scope, json};
/// let zero = Literal::equal(Poly::default());
/// assert_eq!(json::literals(&[zero], &Scope::new()).to_string(), r#"[{"poly":"0","op":"=="}]"#);
/// ```
pub fn literals(list: &[Literal], scope: &Scope) -> Value {
    list.iter().map(|item| literal(item, scope)).collect()
}

/// The names of a scope, and what is known of them.
///
/// ```
/// use shapetracker_symbolic::{Scope, json};
///
/// let mut scope = Scope::new();
/// scope.declare("T", Some(1), Some(4096));
/// assert_eq!(
///     json::scope(&scope).to_string(),
///     r#"{"names":[{"name":"T","range":[1,4097]}],"definitions":[],"given":[]}"#,
/// );
/// ```
pub fn scope(scope: &Scope) -> Value {
    let named = scope.names().len() - scope.quotients().len();
    let names = scope.names()[..named].iter().map(|name| {
        // The end of a range of 128 bits may be one more than that has.
        let end = name.hi.map(|hi| hi.checked_add(1).map_or_else(|| "2**127".into(), Value::from));
        let range = Value::List(vec![name.lo.into(), end.into()]);
        Value::Null.with("name", &*name.name).with("range", range)
    });
    let definitions = scope
        .definitions()
        .iter()
        .map(|(name, value)| Value::Null.with("name", &**name).with("value", poly(value, scope)));
    Value::Null
        .with("names", names.collect::<Value>())
        .with("definitions", definitions.collect::<Value>())
        .with("given", literals(scope.given(), scope))
}

/// An answer to a question over the names of a scope: the fields after those of the question.
///
/// ```
/// use shapetracker_symbolic::{ShapeTracker, Sym, json};
///
/// let (h, t) = (Sym::new("H", 1..), Sym::new("T", 1..));
/// let flat = ShapeTracker::contiguous([t, h])?.permute([1, 0])?.reshape([-1])?;
/// let answer = json::answer(flat.boundary(0).unwrap(), flat.scope());
/// assert_eq!(
///     answer.get("formula").unwrap().to_string(),
///     r#"[[{"poly":"T - 1","op":"=="}],[{"poly":"H - 1","op":"=="}]]"#,
/// );
/// # Ok::<(), shapetracker_symbolic::Error>(())
/// ```
pub fn answer(answer: &Answer, asked: &Scope) -> Value {
    let scope = &answer.scope(asked);
    let formula: Value = answer.formula().iter().map(|conjunction| literals(conjunction, scope)).collect();
    let leaf = |leaf: &Leaf| {
        let (verdict, found) = match &leaf.verdict {
            Verdict::View(found) => ("view", Some(view(found, scope))),
            Verdict::NotOne => ("not_one", None),
            Verdict::Undecided(_) => ("undecided", None),
        };
        let value = Value::Null.with("literals", literals(&leaf.literals, scope));
        value.with("view", found).with("verdict", verdict)
    };
    let reason = match answer {
        Answer::Undecided { reason, .. } => Some(reason.to_string()),
        _ => None,
    };
    Value::Null
        .with("kind", answer.kind())
        .with("formula", formula)
        .with("text", answer.sentence(asked))
        .with("view", answer.view().map(|found| view(found, scope)))
        .with("leaves", answer.leaves().iter().map(leaf).collect::<Value>())
        .with("witness", answer.counterexample().map(|found| counterexample(found, scope)))
        .with("reason", reason)
}

/// The values at which it is not one view, and the evidence there.
fn counterexample(found: &Counterexample, scope: &Scope) -> Value {
    let names = scope.names().iter().zip(&found.values);
    let values = names.map(|(name, &value)| (name.name.to_string(), Value::from(value))).collect();
    let mut fields = vec![("values".to_owned(), Value::Object(values))];
    if let Value::Object(witness) = Value::from(&found.witness).without(&["next", "moved"]) {
        fields.extend(witness);
    }
    Value::Object(fields)
}

/// One document with the fields of two, none of which both have.
fn joined(first: Value, second: Value) -> Value {
    match (first, second) {
        (Value::Object(mut fields), Value::Object(more)) => {
            fields.extend(more);
            Value::Object(fields)
        }
        (first, _) => first,
    }
}

impl From<&Pair> for Value {
    fn from(pair: &Pair) -> Value {
        let names = pair.scope();
        let [earlier, later] = pair.views();
        let question = Value::Null
            .with("earlier", view(earlier, names))
            .with("later", view(later, names))
            .with("scope", scope(names))
            .with("needs", literals(pair.needs(), names));
        joined(question, answer(pair.answer(), names))
    }
}

impl From<&ShapeTracker> for Value {
    fn from(tracker: &ShapeTracker) -> Value {
        let names = tracker.scope();
        let value = Value::Null
            .with("scope", scope(names))
            .with("shape", polys(tracker.shape(), names))
            .with("views", tracker.views().iter().map(|item| view(item, names)).collect::<Value>())
            .with("needs", literals(tracker.needs(), names));
        joined(value, answer(&tracker.single_view(), names))
    }
}
