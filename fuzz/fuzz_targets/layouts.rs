//! Any text is a layout of CuTe, or a tiler, a swizzle, a linear map, or a complaint that points into it; what reads prints as
//! something that reads equal, and of two layouts the composition has the values that they have one after the other.
#![no_main]

use std::fmt::{Debug, Display};
use std::str::FromStr;

use libfuzzer_sys::fuzz_target;
use shapetracker_cute::{
    ComposedLayout, IntTuple, Layout, LinearLayout, NoComposition, Order, ParseError, Swizzle, Tiler, audit,
};

/// What a text is read as, if it can be.
fn read<T: FromStr<Err = ParseError> + Display + PartialEq + Debug>(text: &str) -> Option<T> {
    match text.parse::<T>() {
        Ok(value) => {
            assert_eq!(value.to_string().parse::<T>().as_ref(), Ok(&value), "{value}");
            Some(value)
        }
        Err(err) => {
            assert!(text.get(err.span()).is_some() && err.to_string().len() < 2000, "{err}");
            None
        }
    }
}

/// The values of a function at some numbers below an end, the last ones among them.
fn places(end: i64) -> impl Iterator<Item = i64> {
    (0..end.min(40)).chain((1..9).filter_map(move |back| end.checked_sub(back).filter(|&x| x >= 0)))
}

fuzz_target!(|text: &str| {
    // Two layouts, with a line break between them.
    let (first, second) = text.split_once('\n').unwrap_or((text, "(4,2):(2,1)"));
    read::<IntTuple>(first);
    read::<Swizzle>(first);
    read::<Tiler>(first);
    if let Some(composed) = read::<ComposedLayout>(first) {
        if let Ok((plain, offset)) = composed.plain() {
            assert!(
                places(plain.size()).all(|x| plain.at(x).map(|value| value + offset) == composed.at(x)),
                "{composed}"
            );
        }
        if let Ok(cosize) = composed.cosize() {
            // One more than the largest number is past `i64`.
            let is_below = |at: i64| at < cosize || at == i64::MAX;
            assert!(places(composed.layout().size()).all(|x| composed.at(x).is_some_and(is_below)), "{composed}");
        }
    }
    if let Some(linear) = read::<LinearLayout>(first)
        && let Ok(composed) = linear.to_layout(Order::RowMajor)
    {
        let size = linear.inputs().iter().fold(1i64, |size, (_, bases)| size << bases.len());
        for x in places(size) {
            // The inputs have the bits of the number, the first one the lowest; of the outputs the last one has.
            let mut rest = x;
            let inputs = linear.inputs().iter().map(|(_, bases)| {
                let input = rest & ((1 << bases.len()) - 1);
                rest >>= bases.len();
                input
            });
            let outputs = linear.at(&inputs.collect::<Vec<_>>()).unwrap();
            let number = outputs.iter().zip(linear.outputs()).fold(0, |number, (at, (_, size))| number * size + at);
            assert_eq!(composed.at(x), Some(number), "{linear} at {x}");
        }
    }
    let (Some(a), Some(b)) = (read::<Layout>(first), read::<Layout>(second)) else { return };
    let value = |x: i64| b.at(x).and_then(|x| a.at_extended(x));
    match a.compose(&b) {
        Ok(composed) => {
            assert_eq!(composed.size(), b.size());
            assert!(places(b.size()).all(|x| composed.at(x) == value(x)), "{a} o {b}");
            assert_eq!(audit(&a, &b, &composed), Ok(None), "{a} o {b}");
        }
        Err(NoComposition::Outside { coordinate, value, size }) => {
            assert_eq!((b.at(coordinate), size), (Some(value), a.size()), "{a} o {b}");
            assert!(a.at_extended(value).is_none(), "{a} o {b}");
        }
        Err(NoComposition::Interact { coordinate, value, sum }) => {
            let x = b.at_coordinate(&coordinate).and_then(|x| a.at_extended(x));
            assert!(x == Some(value) && i128::from(value) != sum, "{a} o {b}");
        }
        Err(NoComposition::Length { coordinate, value, expected, .. }) => {
            let x = b.at_coordinate(&coordinate).and_then(|x| a.at_extended(x));
            assert!(x == Some(value) && i128::from(value) != expected, "{a} o {b}");
        }
        Err(_) => {}
    }
    if let Ok(rest) = a.complement(b.size()) {
        // Together they have each of the first numbers once, where modes of stride 0 do not repeat them.
        let both = Layout::concat([&a, &rest]);
        if let Ok(both) = both.map(|both| both.coalesce())
            && both.leaves().all(|(_, stride)| stride > 0)
            && both.size() > 0
        {
            assert_eq!(both.bijective(), Ok(()), "{a} and {rest}");
        }
    }
    if let Ok(inverse) = a.left_inverse() {
        assert!(places(a.size()).all(|x| a.at(x).and_then(|value| inverse.at_extended(value)) == Some(x)), "{a}");
    }
    if let Ok(inverse) = a.right_inverse() {
        let inverse = inverse.layout;
        assert!(places(inverse.size()).all(|x| inverse.at(x).and_then(|value| a.at(value)) == Some(x)), "{a}");
    }
});
