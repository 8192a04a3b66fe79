//! Trackers whose code is written, and what they read at values of their names.

use indexpr::IndexExpr;
use shapetracker_symbolic::{ShapeTracker, Sym};

use crate::random::{names, points, tracker};
use shapetracker_testing::{Rng, is_text_held};

pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) code: IndexExpr,
    pub(crate) runs: Vec<Run>,
}

/// One choice of values.
pub(crate) struct Run {
    /// The arguments of the kernel.
    pub(crate) arguments: Vec<i64>,
    pub(crate) shape: Vec<i64>,
    /// What each element reads, in row-major order.
    pub(crate) addresses: Vec<Option<i64>>,
}

impl Run {
    /// How long a buffer must be for every address to lie in it.
    pub(crate) fn buffer_len(&self) -> i64 {
        self.addresses.iter().flatten().map(|address| address + 1).max().unwrap_or(0)
    }

    /// What a kernel makes of a buffer that holds 1, 2, 3 and so on.
    pub(crate) fn gathered(&self) -> impl Iterator<Item = i64> {
        self.addresses.iter().map(|address| address.map_or(0, |address| address + 1))
    }
}

impl Case {
    /// A tracker at points, values in the order of its names; those are left out that it does not allow.
    fn new(name: &str, tracker: &ShapeTracker, points: &[Vec<i128>]) -> Case {
        let code = tracker.index_expr().unwrap_or_else(|err| panic!("{name}: {err}"));
        let mut runs = Vec::new();
        for point in points {
            let Ok(at) = tracker.at_point(point) else { continue };
            let value = |name: &str| {
                let known = tracker.scope().names();
                let place = known.iter().position(|known| &*known.name == name).expect("a name");
                i64::try_from(point[place]).expect("small")
            };
            let arguments = code.parameters().iter().map(|parameter| value(&parameter.name)).collect();
            if at.numel() <= 2000 {
                runs.push(Run { arguments, shape: at.shape().to_vec(), addresses: at.addresses().collect() });
            }
        }
        Case { name: name.into(), code, runs }
    }
}

fn size(name: &str) -> Sym {
    Sym::new(name, 1..1025)
}

/// The cases whose code is kept in files.
pub(crate) fn golden() -> Vec<Case> {
    let (b, t, h, d) = (Sym::new("B", 1..17), size("T"), Sym::new("H", 1..33), Sym::new("D", 1..129));
    let (zero, one) = (|| Sym::from(0), || Sym::from(1));
    let qkv = || {
        let qkv = ShapeTracker::contiguous([b.clone(), t.clone(), h.clone() * &d * 3])?;
        let split = qkv.reshape([b.clone(), t.clone(), 3.into(), h.clone(), d.clone()])?.permute([2, 0, 3, 1, 4])?;
        let all = |size: &Sym| (zero(), size.clone());
        split.shrink([(one(), 2.into()), all(&b), all(&h), all(&t), all(&d)])?.squeeze([0])
    };
    let cache = || {
        let (n, s, l) = (size("N"), Sym::new("s", 0..1024), size("L"));
        let whole = ShapeTracker::contiguous([b.clone(), n, 64.into()])?;
        let cut = whole.shrink([(zero(), b.clone()), (s.clone(), s + &l), (zero(), 64.into())])?;
        cut.reshape([b.clone() * l, 64.into()])
    };
    let padded = || {
        let p = Sym::new("p", 0..9);
        ShapeTracker::contiguous([b.clone(), t.clone()])?
            .pad([(zero(), zero()), (p.clone(), p.clone())])?
            .reshape([b.clone() * (t.clone() + p * 2)])
    };
    let transposed = || ShapeTracker::contiguous([h.clone(), t.clone()])?.permute([1, 0])?.reshape([h.clone() * &t]);
    let halved = || {
        let k = Sym::new("k", 1..);
        ShapeTracker::contiguous([k * 2 + 1, 3.into()])?.step([-2, 1])
    };
    let points = |ends: &[i128]| -> Vec<Vec<i128>> {
        let count: usize = ends.iter().map(|end| *end as usize).product();
        let point = |mut place: usize| {
            let digit = |end: &i128| {
                let digit = place as i128 % end;
                place /= *end as usize;
                digit
            };
            ends.iter().map(digit).collect()
        };
        (0..count).map(point).collect()
    };
    let made = |name: &str, tracker: Result<ShapeTracker, shapetracker_symbolic::Error>, ends: &[i128]| {
        Case::new(name, &tracker.unwrap_or_else(|err| panic!("{name}: {err}")), &points(ends))
    };
    vec![
        made("qkv", qkv(), &[3, 3, 4, 3]),
        made("cache", cache(), &[3, 6, 3, 4]),
        made("padded", padded(), &[3, 4, 3]),
        made("transposed", transposed(), &[5, 5]),
        made("halved", halved(), &[5]),
    ]
}

/// The golden cases, others that are hard to write, and random ones: those that this run holds. Code is written alike in both forms of
/// the tests, which share them.
pub(crate) fn all() -> Vec<Case> {
    let mut cases = golden();
    let (n, stride) = (Sym::new("double", 0..5), Sym::new("out", -3..4));
    let zero = || Sym::from(0);
    let any_stride = || {
        // The addresses of a broadcast axis are moved by a stride of any sign.
        let line = ShapeTracker::contiguous([64])?;
        line.shrink([(stride.clone() + 20, stride.clone() + 20 + &n)])?.pad([(zero(), 2.into())])?.flip([0])
    };
    let points = (0..5).flat_map(|n| (-3..4).map(move |stride| vec![stride, n])).collect::<Vec<_>>();
    cases.push(Case::new("names_of_c", &any_stride().expect("it can be done"), &points));
    let nothing =
        ShapeTracker::contiguous([n.clone()]).and_then(|line| line.pad([(1, 1)].map(|(a, b)| (a.into(), b.into()))));
    let nothing = nothing.and_then(|line| line.shrink([(0.into(), 1.into())])).and_then(|line| line.unsqueeze(0));
    let nothing = nothing.and_then(|line| line.expand([n, 1.into()])).expect("it can be done");
    cases.push(Case::new("nothing_valid", &nothing, &(0..5).map(|n| vec![n]).collect::<Vec<_>>()));
    for seed in 0..60 {
        let rng = &mut Rng(1 << 50 | seed);
        let names = names(rng);
        let tracker = tracker(rng, &names);
        let points: Vec<_> = points_of(rng, &names);
        cases.push(Case::new(&format!("random_{seed}"), &tracker, &points));
    }
    cases.retain(|case| is_text_held(&case.name, 0));
    cases
}

fn points_of(rng: &mut Rng, names: &crate::random::Names) -> Vec<Vec<i128>> {
    points(rng, names).into_iter().step_by(9).collect()
}
