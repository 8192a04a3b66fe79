//! The first page of the documentation.

use shapetracker_cute::{AccessPattern, Layout, audit};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The composition is a layout, though neither sizes nor strides divide each other.
    let a: Layout = "(6,10):(16,8)".parse()?;
    let b: Layout = "(9,10):(8,12)".parse()?;
    assert_eq!(a.compose(&b)?.to_string(), "((3,3),10):((40,32),16)");

    // Here there is none, for a reason that three values show; and what a tool printed all the same is wrong at 2.
    let a: Layout = "(4,6,8):(2,3,5)".parse()?;
    let b: Layout = "6:3".parse()?;
    assert_eq!(
        a.compose(&b).unwrap_err().to_string(),
        "along leaf 0, in steps of 2, the values rise evenly for 2 numbers: number 2 has 9, not 14. A mode must end there, but \
         2 does not divide 3",
    );
    let mismatch = audit(&a, &b, &"(2,3):(6,3)".parse()?)?;
    assert_eq!(
        mismatch.map(|at| at.to_string()).as_deref(),
        Some("at coordinate 2 the composition is 7, but the claimed layout is 3")
    );

    // A column of a row-major tile: 32 threads want one bank, until the tile is swizzled.
    let column: Layout = "(32,32):(32,1)".parse()?;
    let pattern = AccessPattern::new(column, 4)?;
    assert_eq!(pattern.bank_conflicts()?.most, 32);
    assert_eq!(
        AccessPattern::conflict_free_swizzle(&[pattern])?.map(|swizzle| swizzle.to_string()).as_deref(),
        Some("Sw<5,0,5>")
    );
    Ok(())
}
