//! The heads of an attention, with a sequence of any length.

use shapetracker_symbolic::{Answer, ShapeTracker, Sym, formula_text};

fn main() -> Result<(), shapetracker_symbolic::Error> {
    let [b, t, h, d] = ["B", "T", "H", "D"].map(|name| Sym::new(name, 1..));

    // Heads before time, and the two joined: a copy, but not always.
    let heads = ShapeTracker::contiguous([b.clone(), t.clone(), h.clone(), d.clone()])?.permute([0, 2, 1, 3])?;
    let joined = heads.reshape([b.clone(), h.clone() * t.clone(), d.clone()])?;
    let Answer::When { formula, .. } = joined.single_view() else { unreachable!() };
    assert_eq!(formula_text(&formula, joined.scope()), "T == 1 or H == 1");

    // At values of the names it is the integer tracker, which is one view where the formula says so.
    let at = joined.at([("B", 8), ("T", 1), ("H", 12), ("D", 64)])?;
    assert_eq!(at.views().len(), 1);

    // There and back again is one view for all values.
    let back = joined.reshape([b, h, t, d])?;
    assert_eq!(back.views(), heads.views());
    Ok(())
}
