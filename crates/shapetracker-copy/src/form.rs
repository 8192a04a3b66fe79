//! Addresses and conditions as sums, taken from the library's index expressions.

use std::collections::HashMap;
use std::ops::Range;

use shapetracker::ShapeTracker;
use shapetracker::expr::{Binary, Expr, Graph, IndexExpr, Node};
use smallvec::SmallVec;

/// A sum of multiples of axes and floors, and a number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) constant: i64,
    /// In the order of their atoms; no factor is 0.
    pub(crate) terms: SmallVec<[(Atom, i64); 4]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Atom {
    Axis(usize),
    Floor(usize),
}

/// The floor of a form by a positive number. It may have earlier floors in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Floor {
    pub(crate) form: Form,
    pub(crate) divisor: i64,
}

/// A form must lie in a range for an element to have data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Condition {
    pub(crate) form: Form,
    pub(crate) range: Range<i64>,
}

/// How a tracker is read: the address of an element, wherever all conditions hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) floors: Vec<Floor>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) address: Form,
}

impl Form {
    fn atom(atom: Atom) -> Form {
        Form { constant: 0, terms: SmallVec::from_elem((atom, 1), 1) }
    }

    pub(crate) fn factor(&self, atom: Atom) -> i64 {
        self.terms.iter().find(|(of, _)| *of == atom).map_or(0, |(_, factor)| *factor)
    }

    /// The axes in it, but not those in its floors.
    pub(crate) fn axes(&self) -> impl Iterator<Item = usize> {
        self.terms.iter().filter_map(|(atom, _)| match atom {
            Atom::Axis(axis) => Some(*axis),
            Atom::Floor(_) => None,
        })
    }

    pub(crate) fn has_floors(&self) -> bool {
        self.terms.iter().any(|(atom, _)| matches!(atom, Atom::Floor(_)))
    }

    fn plus(&self, factor: i64, other: &Form) -> Option<Form> {
        let constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        let mut sum = Form { constant, terms: self.terms.clone() };
        for (atom, more) in &other.terms {
            let more = more.checked_mul(factor)?;
            match sum.terms.iter().position(|(of, _)| of >= atom) {
                Some(at) if sum.terms[at].0 == *atom => sum.terms[at].1 = sum.terms[at].1.checked_add(more)?,
                Some(at) => sum.terms.insert(at, (*atom, more)),
                None => sum.terms.push((*atom, more)),
            }
        }
        sum.terms.retain(|(_, factor)| *factor != 0);
        Some(sum)
    }
}

impl Access {
    /// That of what has no data.
    pub(crate) fn nothing() -> Access {
        Access { conditions: vec![Condition { form: Form::default(), range: 1..1 }], ..Access::default() }
    }

    /// `None` where an expression is no sum, or its numbers leave `i64`.
    pub(crate) fn of(tracker: &ShapeTracker) -> Option<Access> {
        if let Some(view) = tracker.as_view() {
            if view.is_empty() {
                return Some(Access::nothing());
            }
            let mut access = Access::default();
            access.address.constant = view.offset();
            for (axis, stride) in view.strides().iter().enumerate().filter(|(_, stride)| **stride != 0) {
                access.address.terms.push((Atom::Axis(axis), *stride));
            }
            for (axis, (begin, end)) in view.mask().unwrap_or_default().iter().enumerate() {
                if (0, view.shape()[axis]) != (*begin, *end) {
                    access.conditions.push(Condition { form: Form::atom(Atom::Axis(axis)), range: *begin..*end });
                }
            }
            return Some(access);
        }
        let code = tracker.index_expr().ok()?;
        let mut reader = Reader { code: &code, forms: HashMap::new(), access: Access::default() };
        reader.access.address = reader.number(code.index())?;
        reader.condition(code.valid())?;
        Some(reader.access)
    }
}

impl Access {
    /// After how many steps of an axis every floor has moved by a whole number, and how many times floors change on the
    /// way along all of it; if that is before it ends.
    pub(crate) fn period(&self, axis: usize, count: i64) -> Option<(i64, i64)> {
        let mut period = 1i64;
        'longer: while period < count {
            let mut moves: Vec<i64> = Vec::new();
            for floor in &self.floors {
                let of_axis = floor.form.factor(Atom::Axis(axis)).checked_mul(period)?;
                let of_floors = |sum: i64, (atom, factor): &(Atom, i64)| match atom {
                    Atom::Floor(of) => sum.checked_add(factor.checked_mul(moves[*of])?),
                    Atom::Axis(_) => Some(sum),
                };
                let by = floor.form.terms.iter().try_fold(of_axis, of_floors)?;
                if by % floor.divisor != 0 {
                    period = period.checked_mul(floor.divisor / gcd(by.checked_abs()?, floor.divisor))?;
                    continue 'longer;
                }
                moves.push(by / floor.divisor);
            }
            let most = moves.iter().map(|by| i128::from(*by).abs()).max()? * i128::from(count) / i128::from(period);
            return Some((period, most.min(count.into()) as i64));
        }
        None
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

struct Reader<'a> {
    code: &'a IndexExpr,
    forms: HashMap<Expr, Form>,
    access: Access,
}

impl Reader<'_> {
    fn graph(&self) -> &Graph {
        self.code.graph()
    }

    fn number(&mut self, expr: Expr) -> Option<Form> {
        for part in self.graph().parts(&[expr]) {
            if !self.forms.contains_key(&part) {
                let form = self.form(part)?;
                self.forms.insert(part, form);
            }
        }
        self.forms.get(&expr).cloned()
    }

    /// The form of a number whose parts have theirs.
    fn form(&mut self, expr: Expr) -> Option<Form> {
        match self.graph().node(expr) {
            Node::Int(constant) => Some(Form { constant, terms: SmallVec::new() }),
            Node::Variable(variable) => {
                let axis = self.graph().variables()[variable].name.strip_prefix("idx")?.parse().ok()?;
                Some(Form::atom(Atom::Axis(axis)))
            }
            Node::Binary(op, a, b) => {
                let (a, b) = (self.forms[&a].clone(), self.forms[&b].clone());
                match op {
                    Binary::Add => a.plus(1, &b),
                    Binary::Sub => a.plus(-1, &b),
                    Binary::Mul if b.terms.is_empty() => Form::default().plus(b.constant, &a),
                    Binary::Mul if a.terms.is_empty() => Form::default().plus(a.constant, &b),
                    Binary::Div | Binary::Mod if b.terms.is_empty() && b.constant > 0 => {
                        let floor = Floor { form: a.clone(), divisor: b.constant };
                        let floors = &mut self.access.floors;
                        let at = floors.iter().position(|known| *known == floor).unwrap_or_else(|| {
                            floors.push(floor);
                            floors.len() - 1
                        });
                        let floor = Form::atom(Atom::Floor(at));
                        if op == Binary::Div { Some(floor) } else { a.plus(-b.constant, &floor) }
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Adds a condition, taken apart where it is several.
    fn condition(&mut self, expr: Expr) -> Option<()> {
        let mut open = vec![expr];
        while let Some(expr) = open.pop() {
            match self.graph().node(expr) {
                Node::Bool(true) => {}
                Node::Bool(false) => self.access.conditions.push(Condition { form: Form::default(), range: 1..1 }),
                Node::Binary(Binary::And, a, b) => open.extend([a, b]),
                Node::Within(a, begin, end) => {
                    let form = self.number(a)?;
                    self.access.conditions.push(Condition { form, range: begin..end });
                }
                Node::Binary(op, a, b) => {
                    let form = self.number(a)?.plus(-1, &self.number(b)?)?;
                    let (a, b) = (self.graph().range(a), self.graph().range(b));
                    let range = match op {
                        Binary::Lt => i64::MIN..0,
                        Binary::Le => i64::MIN..1,
                        Binary::Gt => 1..i64::MAX,
                        Binary::Ge => 0..i64::MAX,
                        Binary::Eq => 0..1,
                        Binary::Ne if a.0 >= b.1 => 1..i64::MAX,
                        Binary::Ne if a.1 <= b.0 => i64::MIN..0,
                        _ => return None,
                    };
                    self.access.conditions.push(Condition { form, range });
                }
                _ => return None,
            }
        }
        Some(())
    }
}
