//! Random statements as text with names, the same with values, and what they compute, walked element by element.

use std::fmt::Write;

use shapetracker::{Chain, ShapeTracker};
use shapetracker_testing::Rng;

/// What is said of the names of a statement.
pub(crate) const KNOWN: &str = "n=1..6, m=1..5";
pub(crate) const NAMES: [&str; 2] = ["n", "m"];

/// A sum of a name, or nothing, and a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sum(Option<usize>, i64);

impl Sum {
    pub(crate) fn text(self, point: Option<&[i64]>) -> String {
        match (self, point) {
            (Sum(None, number), _) => number.to_string(),
            (_, Some(point)) => self.at(point).to_string(),
            (Sum(Some(name), 0), _) => NAMES[name].to_owned(),
            (Sum(Some(name), number), _) if number < 0 => format!("({} - {})", NAMES[name], -number),
            (Sum(Some(name), number), _) => format!("({} + {number})", NAMES[name]),
        }
    }

    pub(crate) fn at(self, point: &[i64]) -> i64 {
        self.0.map_or(0, |name| point[name]) + self.1
    }

    fn plus(self, number: i64) -> Sum {
        Sum(self.0, self.1 + number)
    }

    /// The least value.
    fn least(self) -> i64 {
        self.at(&[1, 1])
    }
}

/// The size of a loop: a product of one or two sums.
type Size = Vec<Sum>;

pub(crate) fn text(size: &[Sum], point: Option<&[i64]>) -> String {
    size.iter().map(|sum| sum.text(point)).collect::<Vec<_>>().join("*")
}

pub(crate) fn value(size: &[Sum], point: &[i64]) -> i64 {
    size.iter().map(|sum| sum.at(point)).product()
}

/// An index: a sum of multiples of loops, and a number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Affine {
    terms: Vec<(usize, i64)>,
    constant: i64,
}

impl Affine {
    fn text(&self, loops: &[&str]) -> String {
        let mut text = String::new();
        for (at, by) in &self.terms {
            let joined = match (text.is_empty(), *by < 0) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            text += joined;
            text += &if by.abs() == 1 { loops[*at].to_owned() } else { format!("{}*{}", by.abs(), loops[*at]) };
        }
        match (text.is_empty(), self.constant) {
            (true, constant) => constant.to_string(),
            (_, 0) => text,
            (_, constant) if constant < 0 => format!("{text} - {}", -constant),
            (_, constant) => format!("{text} + {constant}"),
        }
    }

    fn at(&self, point: &[i64]) -> i64 {
        self.terms.iter().map(|(at, by)| point[*at] * by).sum::<i64>() + self.constant
    }
}

/// A layout, with the shape of the buffer that it was made of, and the index of the element.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) name: String,
    /// The text of the chain where names have values, or with the names.
    chain: Vec<Written>,
    axes: Vec<Affine>,
}

/// A piece of a chain.
#[derive(Clone, Debug)]
enum Written {
    Text(String),
    Size(Sum),
    Product(Size),
}

impl Tensor {
    pub(crate) fn chain(&self, point: Option<&[i64]>) -> String {
        let piece = |piece: &Written| match piece {
            Written::Text(text) => text.clone(),
            Written::Size(sum) => sum.text(point),
            Written::Product(size) => text(size, point),
        };
        self.chain.iter().map(piece).collect()
    }

    pub(crate) fn element(&self, loops: &[&str]) -> String {
        let axes: Vec<String> = self.axes.iter().map(|axis| axis.text(loops)).collect();
        format!("{}[{}]", self.name, axes.join(", "))
    }

    /// The tracker of the integer library for values of the names.
    pub(crate) fn tracker(&self, point: &[i64]) -> ShapeTracker {
        let text = self.chain(Some(point));
        let chain: Chain = text.parse().unwrap_or_else(|err| panic!("{text}: {err}"));
        chain.tracker().unwrap_or_else(|err| panic!("{text}: {err}"))
    }
}

/// What stands on the right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Right {
    /// `A[..] * B[..]`, or three times the first.
    Product,
    /// `A[..] + B[..] * 5`
    Sum,
    /// `7 - A[..]`, plus the loop that is outermost.
    Other,
}

/// When a statement runs.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    /// `0 <=` each of these.
    forms: Vec<Affine>,
    is_even: Option<Affine>,
}

impl Condition {
    fn text(&self, loops: &[&str]) -> String {
        let mut all: Vec<String> = self.forms.iter().map(|form| format!("{} >= 0", form.text(loops))).collect();
        all.extend(self.is_even.iter().map(|form| format!("({}) % 2 == 0", form.text(loops))));
        all.join(" and ")
    }

    fn holds(&self, point: &[i64]) -> bool {
        self.forms.iter().all(|form| form.at(point) >= 0)
            && self.is_even.as_ref().is_none_or(|form| form.at(point).rem_euclid(2) == 0)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Plain {
    pub(crate) loops: Vec<&'static str>,
    pub(crate) sizes: Vec<Size>,
    /// The loops whose sizes are said.
    pub(crate) said: Vec<usize>,
    pub(crate) target: Tensor,
    pub(crate) inputs: Vec<Tensor>,
    pub(crate) operator: &'static str,
    pub(crate) right: Right,
    pub(crate) condition: Option<Condition>,
    /// What is done in the layouts.
    pub(crate) has_padding: bool,
    pub(crate) has_names: bool,
    pub(crate) is_joined: bool,
}

fn sum(rng: &mut Rng) -> Sum {
    match rng.below(5) {
        0 | 1 => Sum(Some(rng.index(2)), rng.int(3)),
        _ => Sum(None, 1 + rng.int(5)),
    }
}

pub(crate) fn statement(rng: &mut Rng) -> Plain {
    let loops = ["i", "j", "k"];
    let count = 1 + rng.index(3);
    let mut sizes: Vec<Size> = Vec::new();
    for _ in 0..count {
        let mut size = vec![sum(rng)];
        if rng.one_in(3) {
            size.push(Sum(None, 2 + rng.int(2)));
            size.rotate_left(rng.index(2));
        }
        sizes.push(size);
    }
    let operator = *rng.pick(&["=", "=", "+=", "+=", "+=", "-=", "*=", "|=", "&=", "^="]);
    let outer = if operator == "=" { count } else { rng.index(count + 1) };
    let mut plain = Plain {
        loops: loops[..count].to_vec(),
        said: Vec::new(),
        target: Tensor { name: "C".into(), chain: Vec::new(), axes: Vec::new() },
        inputs: Vec::new(),
        operator,
        right: *rng.pick(&[Right::Product, Right::Product, Right::Sum, Right::Other]),
        condition: None,
        has_padding: false,
        has_names: sizes.iter().flatten().any(|sum| sum.0.is_some()),
        is_joined: false,
        sizes,
    };
    let alone = |at: usize| Affine { terms: vec![(at, 1)], constant: 0 };
    let mut target: Vec<(Affine, Size)> = (0..outer).map(|at| (alone(at), plain.sizes[at].clone())).collect();
    if rng.one_in(3) {
        target.reverse();
    }
    plain.target = tensor(rng, &mut plain, "C", target, true);
    for name in &["A", "B"][..1 + rng.index(2)] {
        // Each loop is the index of an axis, but now and then for one, or two together are.
        let mut axes: Vec<(Affine, Size)> = Vec::new();
        let mut at = 0;
        while at < count {
            let is_number = plain.sizes[at].len() == 1;
            if at + 1 < count && rng.one_in(4) && is_number && plain.sizes[at + 1].len() == 1 {
                let (one, other) = (plain.sizes[at][0], plain.sizes[at + 1][0]);
                if other.0.is_none() {
                    // A window: the axis is as long as both together, or longer.
                    let constant = rng.int(2);
                    let size = vec![one.plus(other.1 - 1 + constant + rng.int(2))];
                    axes.push((Affine { terms: vec![(at, 1), (at + 1, 1)], constant }, size));
                    at += 2;
                    continue;
                }
            }
            if !rng.one_in(4) {
                let size = plain.sizes[at].clone();
                match rng.below(6) {
                    // From the last element on backwards, for numbers.
                    0 if size.len() == 1 && size[0].0.is_none() => {
                        axes.push((Affine { terms: vec![(at, -1)], constant: size[0].1 - 1 }, size));
                    }
                    _ => axes.push((alone(at), size)),
                }
            }
            at += 1;
        }
        if rng.one_in(3) {
            axes.reverse();
        }
        let tensor = tensor(rng, &mut plain, name, axes, false);
        plain.inputs.push(tensor);
    }
    if rng.one_in(3) {
        let (first, last) = (0, count - 1);
        let difference =
            Affine { terms: if first == last { vec![(0, 1)] } else { vec![(first, 1), (last, -1)] }, constant: 0 };
        let other =
            Affine { terms: difference.terms.iter().map(|(at, by)| (*at, -by)).collect(), constant: 1 + rng.int(2) };
        plain.condition = Some(match rng.below(3) {
            0 => Condition { forms: vec![difference], is_even: None },
            1 => Condition { forms: vec![difference, other], is_even: None },
            _ => Condition { forms: Vec::new(), is_even: Some(other) },
        });
    }
    for at in 0..count {
        if !plain.occurs(at) {
            continue;
        }
        let is_alone = |tensor: &Tensor| plain.is_used(tensor) && tensor.axes.contains(&alone(at));
        if !plain.tensors().any(is_alone) {
            plain.said.push(at);
        }
    }
    plain
}

/// A layout of some axes: movement operations that end in a tensor of their sizes.
fn tensor(rng: &mut Rng, plain: &mut Plain, name: &str, axes: Vec<(Affine, Size)>, is_target: bool) -> Tensor {
    /// A dimension before what joins some: its size in the buffer, and the call's arguments along it.
    struct Dim {
        base: Written,
        pad: (i64, i64),
        shrink: Option<(i64, Sum)>,
        size: Sum,
        flip: bool,
    }
    let mut dims: Vec<Dim> = Vec::new();
    for sum in axes.iter().flat_map(|(_, size)| size) {
        let mut dim = Dim { base: Written::Size(*sum), pad: (0, 0), shrink: None, size: *sum, flip: rng.one_in(4) };
        match rng.below(6) {
            0 | 1 if sum.least() > 1 => {
                let before = rng.int(2);
                let after = if before == 0 || sum.least() > 2 && rng.one_in(2) { 1 } else { 0 };
                dim.pad = (before, after);
                dim.base = Written::Size(sum.plus(-before - after));
                plain.has_padding = true;
            }
            2 => {
                let (before, after) = (rng.int(3), rng.int(2));
                dim.base = Written::Size(sum.plus(before + after));
                dim.shrink = Some((before, sum.plus(before)));
            }
            3 if !is_target && rng.one_in(2) => dim.base = Written::Text("1".into()),
            _ => {}
        }
        dims.push(dim);
    }
    let mut order: Vec<usize> = (0..dims.len()).collect();
    for at in (1..order.len()).rev() {
        order.swap(at, rng.index(at + 1));
    }
    let mut chain: Vec<Written> = Vec::new();
    let text = |chain: &mut Vec<Written>, text: &str| chain.push(Written::Text(text.into()));
    let list = |chain: &mut Vec<Written>, items: Vec<Vec<Written>>| {
        for (at, item) in items.into_iter().enumerate() {
            text(chain, if at == 0 { "(" } else { ", " });
            chain.extend(item);
        }
        text(chain, ")");
    };
    let number = |number: i64| Written::Text(number.to_string());
    if dims.is_empty() {
        text(&mut chain, "()");
    } else {
        list(&mut chain, order.iter().map(|at| vec![dims[*at].base.clone()]).collect());
        // The axis of each dimension in the buffer.
        let places = (0..dims.len()).map(|dim| order.iter().position(|at| *at == dim).unwrap_or(0) as i64);
        text(&mut chain, ".permute");
        list(&mut chain, places.map(|place| vec![number(place)]).collect());
        if dims.iter().any(|dim| dim.shrink.is_some()) {
            text(&mut chain, ".shrink");
            let range = |dim: &Dim| {
                let (begin, end) = match (dim.shrink, &dim.base) {
                    (Some((begin, end)), _) => (begin, Written::Size(end)),
                    (None, base) => (0, base.clone()),
                };
                vec![Written::Text(format!("({begin}, ")), end, Written::Text(")".into())]
            };
            list(&mut chain, dims.iter().map(range).collect());
        }
        if dims.iter().any(|dim| dim.pad != (0, 0)) {
            text(&mut chain, ".pad");
            list(
                &mut chain,
                dims.iter().map(|dim| vec![Written::Text(format!("({}, {})", dim.pad.0, dim.pad.1))]).collect(),
            );
        }
        if dims.iter().any(|dim| matches!(dim.base, Written::Text(_))) {
            text(&mut chain, ".expand");
            list(&mut chain, dims.iter().map(|dim| vec![Written::Size(dim.size)]).collect());
        }
        for (at, _) in dims.iter().enumerate().filter(|(_, dim)| dim.flip) {
            text(&mut chain, &format!(".flip({at})"));
        }
        if axes.iter().any(|(_, size)| size.len() > 1) {
            plain.is_joined = true;
            text(&mut chain, ".reshape");
            list(&mut chain, axes.iter().map(|(_, size)| vec![Written::Product(size.clone())]).collect());
            if rng.one_in(4) {
                text(&mut chain, &format!(".flip({})", rng.index(axes.len())));
            }
        }
    }
    Tensor { name: name.into(), chain, axes: axes.into_iter().map(|(affine, _)| affine).collect() }
}

impl Plain {
    /// The right side.
    fn right(&self) -> String {
        let elements: Vec<String> = self.inputs.iter().map(|input| input.element(&self.loops)).collect();
        match (self.right, &elements[..]) {
            (Right::Product, [one]) => format!("3 * {one}"),
            (Right::Product, all) => all.join(" * "),
            (Right::Sum, [one]) => format!("{one} + 5"),
            (Right::Sum, all) => all.join(" + 5 * "),
            (Right::Other, all) => format!("7 - {} + {}", all[all.len() - 1], self.loops[0]),
        }
    }

    /// The whole text, with its lines in one order or another.
    pub(crate) fn text(&self, rng: &mut Rng) -> String {
        let mut statement = format!("{} {} {}", self.target.element(&self.loops), self.operator, self.right());
        if let Some(condition) = &self.condition {
            let _ = write!(statement, " if {}", condition.text(&self.loops));
        }
        let mut lines = vec![statement];
        lines.extend(self.tensors().map(|tensor| format!("{} = {}", tensor.name, tensor.chain(None))));
        lines.extend(self.said.iter().map(|at| format!("{} = 0..{}", self.loops[*at], text(&self.sizes[*at], None))));
        let first = rng.index(lines.len());
        lines.rotate_left(first);
        lines.join(if rng.one_in(2) { "\n" } else { "; " })
    }

    pub(crate) fn tensors(&self) -> impl Iterator<Item = &Tensor> {
        [&self.target].into_iter().chain(&self.inputs)
    }

    /// Which of the loops the statement has at all.
    fn occurs(&self, at: usize) -> bool {
        let is_there = |tensor: &Tensor| tensor.axes.iter().any(|axis| axis.terms.iter().any(|term| term.0 == at));
        let in_condition = self.condition.as_ref().is_some_and(|condition| {
            let forms = condition.forms.iter().chain(&condition.is_even);
            forms.flat_map(|form| &form.terms).any(|term| term.0 == at)
        });
        self.tensors().filter(|tensor| self.is_used(tensor)).any(is_there)
            || in_condition
            || self.right == Right::Other && at == 0
    }

    fn is_used(&self, tensor: &Tensor) -> bool {
        self.right != Right::Other || tensor.name == "C" || tensor.name == self.inputs[self.inputs.len() - 1].name
    }

    /// What is in the buffer that is written, of so many elements, after all loops, which are walked as they stand
    /// here.
    pub(crate) fn run(&self, point: &[i64], length: usize) -> Vec<u64> {
        let target = self.target.tracker(point);
        let inputs: Vec<ShapeTracker> = self.inputs.iter().map(|input| input.tracker(point)).collect();
        let mut out: Vec<u64> = (0..length as u64).map(|at| filled(0, at)).collect();
        let sizes = (0..self.sizes.len()).map(|at| if self.occurs(at) { value(&self.sizes[at], point) } else { 1 });
        let sizes: Vec<i64> = sizes.collect();
        let all: i64 = sizes.iter().product();
        for number in 0..all {
            let mut rest = number;
            let mut loops = vec![0; sizes.len()];
            for (at, size) in sizes.iter().enumerate().rev() {
                (loops[at], rest) = (rest % size, rest / size);
            }
            if self.condition.as_ref().is_some_and(|condition| !condition.holds(&loops)) {
                continue;
            }
            let address = |tensor: &Tensor, tracker: &ShapeTracker| {
                let index: Vec<i64> = tensor.axes.iter().map(|axis| axis.at(&loops)).collect();
                tracker.address(&index)
            };
            let Some(at) = address(&self.target, &target) else { continue };
            let values = self.inputs.iter().zip(&inputs).enumerate();
            let values = values.map(|(number, (input, tracker))| {
                address(input, tracker).map_or(0, |at| filled(number as u64 + 1, at as u64))
            });
            let values: Vec<u64> = values.collect();
            let right = match (self.right, &values[..]) {
                (Right::Product, [one]) => one.wrapping_mul(3),
                (Right::Product, all) => all.iter().copied().fold(1, u64::wrapping_mul),
                (Right::Sum, [one]) => one.wrapping_add(5),
                (Right::Sum, all) => all[0].wrapping_add(all[1].wrapping_mul(5)),
                (Right::Other, all) => 7_u64.wrapping_sub(all[all.len() - 1]).wrapping_add(loops[0] as u64),
            };
            let element = &mut out[at as usize];
            *element = match self.operator {
                "=" => right,
                "+=" => element.wrapping_add(right),
                "-=" => element.wrapping_sub(right),
                "*=" => element.wrapping_mul(right),
                "|=" => *element | right,
                "&=" => *element & right,
                "^=" => *element ^ right,
                other => panic!("{other}"),
            };
        }
        out
    }
}

/// What a buffer has at an address. The program in C has the same function.
pub(crate) fn filled(seed: u64, at: u64) -> u64 {
    (at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(seed.wrapping_mul(0xbf58_476d_1ce4_e5b9)).rotate_left(17)
        | 1
}
