//! Chains with copies in them: a tracker reads the base through them, and what is said of the newest buffer is true of that
//! one.

use std::cell::Cell;

use shapetracker::{Buffer, Chain, ShapeTracker};

use crate::oracle::Array;
use crate::random::{Op, Tape, cases, check};

/// What a chain is written of.
#[derive(Debug)]
enum Piece {
    Op(Op),
    /// `contiguous()`, or `copy()` where it copies in any case.
    Copy {
        always: bool,
    },
    /// `repeat_interleave(repeats, axis)`.
    Interleave(i64, usize),
}

impl Piece {
    fn text(&self) -> String {
        match self {
            Piece::Op(op) => op.movement().to_string(),
            Piece::Copy { always: true } => "copy()".into(),
            Piece::Copy { always: false } => "contiguous()".into(),
            Piece::Interleave(repeats, axis) => format!("repeat_interleave({repeats}, {axis})"),
        }
    }

    /// What it leaves at each index, by the definition of the libraries.
    fn on_array(&self, array: &Array) -> Array {
        match self {
            Piece::Op(op) => op.on_array(array),
            Piece::Copy { .. } => array.clone(),
            Piece::Interleave(repeats, axis) => {
                let mut shape = array.shape.clone();
                shape[*axis] *= repeats;
                let mut cells = Vec::new();
                Array::contiguous(&shape).for_each_index(|index, _| {
                    let mut from = index.to_vec();
                    from[*axis] /= repeats;
                    cells.push(array.at(&from));
                });
                Array { shape, cells }
            }
        }
    }
}

/// A shape, and what is done to it one after the other.
fn written(tape: &mut Tape) -> (Vec<i64>, Vec<Piece>) {
    let base = tape.shape(3, 5);
    let (mut array, mut pieces) = (Array::contiguous(&base), Vec::new());
    for _ in 0..8 {
        let rank = array.shape.len() as i64;
        let piece = match tape.below(10) {
            0 => Piece::Copy { always: true },
            1 | 2 => Piece::Copy { always: false },
            3 if rank > 0 => Piece::Interleave(tape.within(1, 3), tape.below(rank) as usize),
            _ => Piece::Op(tape.operation(&array.shape)),
        };
        let next = piece.on_array(&array);
        if next.cells.len() <= 300 {
            array = next;
            pieces.push(piece);
        }
    }
    (base, pieces)
}

fn text(base: &[i64], pieces: &[Piece]) -> String {
    let calls: String = pieces.iter().map(|piece| format!(".{}", piece.text())).collect();
    format!("{}{calls}", shapetracker::text::tuple(base))
}

/// Checks that two lists of what elements read are the same.
fn same(what: &str, found: impl Iterator<Item = Option<i64>>, expected: &[Option<i64>]) -> Result<(), String> {
    let found: Vec<_> = found.collect();
    if found == expected { Ok(()) } else { Err(format!("{what}: {found:?}, but it is {expected:?}")) }
}

#[test]
pub(crate) fn a_tracker_reads_the_base_through_copies() {
    let copies = Cell::new([0u32; 3]);
    check(cases::COPIES, written, |(base, pieces)| {
        let text = text(base, pieces);
        let chain: Chain = text.parse().map_err(|error| format!("{text}: {error}"))?;
        // What each index reads of the base; where it lies in the newest buffer; and what that buffer holds.
        let mut array = Array::contiguous(base);
        let (mut placed, mut buffer, mut made_by) = (array.clone(), array.cells.clone(), None);
        let mut copied = 0;
        for piece in pieces {
            (array, placed) = (piece.on_array(&array), piece.on_array(&placed));
            let first = placed.cells.first().copied().flatten().unwrap_or(0);
            let in_order = (first..).zip(&placed.cells).all(|(address, cell)| *cell == Some(address));
            let copies = match piece {
                Piece::Op(_) => false,
                Piece::Copy { always } => *always || !in_order,
                Piece::Interleave(..) => true,
            };
            if copies {
                (placed, buffer) = (Array::contiguous(&array.shape), array.cells.clone());
                made_by = Some(piece.text());
                copied += 1;
            }
        }

        let st = chain.tracker().map_err(|error| error.to_string())?;
        same("the tracker reads", st.addresses(), &array.cells)?;
        let parsed: ShapeTracker = text.parse().map_err(|error| format!("{text}: {error}"))?;
        same("the text reads", parsed.addresses(), &array.cells)?;
        same("over its shape it reads", chain.tracker_from(base).unwrap().addresses(), &array.cells)?;

        let last = chain.steps().map_err(|error| error.to_string())?.pop().ok_or("there is no step")?;
        same("over the base", last.over_base().map_err(|error| error.to_string())?.addresses(), &array.cells)?;
        same("over the newest buffer", last.over_newest().addresses(), &placed.cells)?;
        let through = last.over_newest().addresses().map(|address| address.and_then(|at| buffer[at as usize]));
        same("through the newest buffer", through, &array.cells)?;
        let (named, elements) = match last.buffer() {
            Buffer::Copy { op, elements } => (Some(text[chain.span(op)].to_owned()), elements as usize),
            _ => (None, buffer.len()),
        };
        if (&named, elements) != (&made_by, buffer.len()) {
            let len = buffer.len();
            return Err(format!("{text}: {elements} elements of {named:?}, but it is {len} of {made_by:?}"));
        }
        let mut counts = copies.get();
        counts[copied.min(2)] += 1;
        copies.set(counts);
        Ok(())
    });
    let counts = copies.get();
    println!("chains with 0, 1, more copies: {counts:?}");
    assert!(counts[2] > counts[0] / 5 && counts[1] > counts[0] / 5, "copies are common");
}

/// Texts with copies as they are written elsewhere, with the elements of `arange` that NumPy and PyTorch answer.
#[test]
fn what_is_copied_are_the_elements_that_were_there() {
    for (text, elements) in [
        ("(3, 2).T.copy()", &[0, 2, 4, 1, 3, 5][..]),
        ("torch.arange(6).view(3, 2).t().contiguous()", &[0, 2, 4, 1, 3, 5]),
        ("torch.arange(6).view(3, 2).clone().t()", &[0, 2, 4, 1, 3, 5]),
        ("np.arange(6).reshape(3, 2).T.copy().reshape(3, 2).T", &[0, 4, 3, 2, 1, 5]),
        ("np.ascontiguousarray(np.arange(6).reshape(2, 3).T)[1:]", &[1, 4, 2, 5]),
        ("np.repeat(np.arange(4).reshape(2, 2).T, 2, axis=1)", &[0, 0, 2, 2, 1, 1, 3, 3]),
        ("np.repeat(np.arange(4).reshape(2, 2).T, 2)", &[0, 0, 2, 2, 1, 1, 3, 3]),
        ("torch.arange(4).view(2, 2).t().repeat_interleave(2, 0)", &[0, 2, 0, 2, 1, 3, 1, 3]),
        ("np.tile(np.arange(3)[::-1], 2)", &[2, 1, 0, 2, 1, 0]),
        ("torch.arange(3).flip(0).repeat(2, 1)", &[2, 1, 0, 2, 1, 0]),
        ("torch.arange(6).view(2, 3).clone().as_strided((3,), (2,), 1)", &[1, 3, 5]),
    ] {
        let st: ShapeTracker = text.parse().unwrap_or_else(|error| panic!("{text}\n{error}"));
        assert!(st.addresses().eq(elements.iter().copied().map(Some)), "{text}: {st}");
    }
}

/// Copies keep a layout over the newest buffer short that has more views over the base than a tracker may have.
#[test]
fn a_base_that_is_too_deep_is_of_no_consequence_to_the_copy() {
    let most = shapetracker::MAX_VIEWS;
    let text = format!("(2, 3){}", ".permute(1, 0).reshape(2, 3).flip(0).contiguous()".repeat(most));
    let chain: Chain = text.parse().unwrap();
    let last = chain.steps().unwrap().pop().unwrap();
    assert_eq!(last.over_newest().to_string(), "(2, 3):(3, 1)");
    assert_eq!(last.buffer(), Buffer::Copy { op: 4 * most - 1, elements: 6 });
    // Either there is a tracker that reads the base, and it is right, or the reason why there is none.
    match (last.over_base(), chain.tracker()) {
        (Ok(base), Ok(tracker)) => assert!(base.addresses().eq(tracker.addresses())),
        (base, tracker) => {
            assert!(base.unwrap_err().to_string().contains("views that cannot be merged"));
            assert!(tracker.unwrap_err().to_string().contains("views that cannot be merged"));
        }
    }
}
