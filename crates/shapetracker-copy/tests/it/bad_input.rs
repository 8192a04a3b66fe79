//! What a caller can get wrong: each is an error that names both numbers, nothing is touched, and nothing panics.

use std::mem::MaybeUninit;

use shapetracker::{ShapeTracker, View};
use shapetracker_copy::{Error, Plan, Threads};

use crate::naive::{How, Tensor, WIDTHS, check_read, check_write};

const ONE: Threads = Threads::one();

/// The error, after a look at its sentence.
fn error<T: std::fmt::Debug>(result: Result<T, Error>) -> Error {
    let error = result.unwrap_err();
    let text = error.to_string();
    assert!(text.len() > 20 && text.len() < 400 && !text.contains('\n'), "{text}");
    error
}

#[test]
fn elements_of_no_bytes() {
    let st = ShapeTracker::contiguous([2, 3]).unwrap();
    assert!(matches!(error(Plan::new(&st, 0)), Error::Width { width: 0, .. }));
    assert!(matches!(error(Plan::new(&st, usize::MAX)), Error::Width { width: usize::MAX, .. }));
    assert!(matches!(error(Plan::new(&st, isize::MAX as usize + 1)), Error::Width { .. }));
    let plan = Plan::new(&st, 4).unwrap();
    assert!(matches!(error(plan.read(&[(); 6], (), &ONE)), Error::Type { name: "()", size: 0, plan: 4 }));
    assert!(matches!(error(plan.read_into(&[(); 6], &mut [(); 6], (), &ONE)), Error::Type { size: 0, plan: 4, .. }));
    assert!(matches!(error(plan.write(&[(); 6], &mut [(); 6], &ONE)), Error::Type { size: 0, plan: 4, .. }));
}

#[test]
fn types_of_another_size() {
    let plan = Tensor::of("(2, 3).permute(1, 0)").plan(4).unwrap();
    let (buffer, mut out) = ([1u64; 6], [7u64; 6]);
    assert_eq!(error(plan.read(&buffer, 0, &ONE)), Error::Type { name: "u64", size: 8, plan: 4 });
    assert_eq!(error(plan.read_into(&buffer, &mut out, 0, &ONE)), Error::Type { name: "u64", size: 8, plan: 4 });
    assert_eq!(error(plan.write(&buffer, &mut out, &ONE)), Error::Type { name: "u64", size: 8, plan: 4 });
    assert_eq!(out, [7; 6]);
    // As many bytes as there must be, in elements of another size.
    assert!(matches!(error(plan.read(&[0u8; 24], 0, &ONE)), Error::Type { name: "u8", size: 1, plan: 4 }));
    assert!(matches!(error(plan.read_into(&[0u64; 3], &mut [0u64; 3], 0, &ONE)), Error::Type { .. }));
    assert!(matches!(error(plan.read_over(&[0u64; 3], &mut [0u64; 3], &ONE)), Error::Type { .. }));
}

#[test]
fn buffers_that_are_too_short() {
    for text in [
        "(1)",
        "(2, 3).permute(1, 0)",
        "(64, 65).permute(1, 0)",
        "(100).shrink((90, 95))",
        "(100).flip(0)",
        "(6, 10).permute(1, 0).reshape(4, 15).pad((1, 2), (0, 3)).reshape(18, 7)",
        "(1).expand(5)",
    ] {
        let tensor = Tensor::of(text);
        let (len, numel) = (tensor.array.buffer_len() as usize, tensor.array.cells.len());
        for width in WIDTHS {
            let plan = tensor.plan(width).unwrap();
            for short in [len - 1, len / 2, 0] {
                let expected = Error::Buffer { last: len as i64 - 1, len: short };
                let mut out = vec![9; numel * width];
                let read = plan.read_bytes(&vec![1; short * width], &mut out, &vec![0; width], &ONE);
                assert_eq!(error(read), expected, "{text}");
                assert!(out.iter().all(|byte| *byte == 9), "{text}: read in part");
                let read = plan.read_over_bytes(&vec![1; short * width], &mut out, &ONE);
                assert_eq!(error(read), expected, "{text}");
                assert!(out.iter().all(|byte| *byte == 9), "{text}: read over in part");
                let mut out = vec![MaybeUninit::new(9); numel * width];
                let read = plan.read_uninit(&vec![1; short * width], &mut out, &vec![0; width], &ONE);
                assert_eq!(error(read), expected, "{text}");
                if tensor.is_injective() {
                    let mut buffer = vec![9; short * width];
                    assert_eq!(error(plan.write_bytes(&vec![1; numel * width], &mut buffer, &ONE)), expected, "{text}");
                    assert!(buffer.iter().all(|byte| *byte == 9), "{text}: written in part");
                }
            }
        }
        let plan = tensor.plan(4).unwrap();
        assert_eq!(
            error(plan.read(&vec![0u32; len - 1], 0, &ONE)),
            Error::Buffer { last: len as i64 - 1, len: len - 1 }
        );
    }
}

#[test]
fn contiguous_sides_of_another_length() {
    let tensor = Tensor::of("(7, 9).permute(1, 0)");
    let plan = tensor.plan(4).unwrap();
    for len in [0, 1, 62, 64, 630] {
        let expected = Error::Length { numel: 63, len };
        let mut out = vec![9u32; len];
        assert_eq!(error(plan.read_into(&[1; 63], &mut out, 0, &ONE)), expected);
        assert!(out.iter().all(|element| *element == 9), "read in part");
        let mut out = vec![9; len * 4];
        assert_eq!(error(plan.read_bytes(&[1; 252], &mut out, &[0; 4], &ONE)), expected);
        assert_eq!(error(plan.read_over_bytes(&[1; 252], &mut out, &ONE)), expected);
        let mut out = vec![MaybeUninit::new(9); len * 4];
        assert_eq!(error(plan.read_uninit(&[1; 252], &mut out, &[0; 4], &ONE)), expected);
        let mut buffer = [9; 252];
        assert_eq!(error(plan.write_bytes(&vec![1; len * 4], &mut buffer, &ONE)), expected);
        assert_eq!(buffer, [9; 252]);
        assert_eq!(error(plan.write(&vec![1u32; len], &mut [9; 63], &ONE)), expected);
    }
    // A shape without elements has no room either.
    let plan = Tensor::of("(0, 9).permute(1, 0)").plan(4).unwrap();
    assert_eq!(error(plan.read_into(&[1u32; 3], &mut [0; 1], 0, &ONE)), Error::Length { numel: 0, len: 1 });
}

#[test]
fn bytes_that_are_no_elements() {
    let tensor = Tensor::of("(7, 9).permute(1, 0)");
    let plan = tensor.plan(4).unwrap();
    for extra in 1..4 {
        let buffer = vec![1; 252 + extra];
        let mut out = vec![9; 252 + extra];
        let ragged = Error::Ragged { bytes: 252 + extra, width: 4 };
        assert_eq!(error(plan.read_bytes(&buffer, &mut out[..252], &[0; 4], &ONE)), ragged);
        assert_eq!(error(plan.read_bytes(&buffer[..252], &mut out, &[0; 4], &ONE)), ragged);
        assert_eq!(error(plan.read_over_bytes(&buffer[..252], &mut out, &ONE)), ragged);
        let mut uninit = vec![MaybeUninit::new(9); 252 + extra];
        assert_eq!(error(plan.read_uninit(&buffer[..252], &mut uninit, &[0; 4], &ONE)), ragged);
        assert_eq!(error(plan.write_bytes(&buffer, &mut out[..252], &ONE)), ragged);
        assert_eq!(error(plan.write_bytes(&buffer[..252], &mut out, &ONE)), ragged);
        assert!(out.iter().all(|byte| *byte == 9));
    }
}

#[test]
fn fills_of_another_width() {
    for text in ["(7, 9).permute(1, 0)", "(7).pad((1, 1))", "(0)"] {
        let tensor = Tensor::of(text);
        let plan = tensor.plan(4).unwrap();
        let buffer = vec![1; plan.buffer_len() * 4];
        let mut out = vec![9; tensor.array.cells.len() * 4];
        let mut uninit = vec![MaybeUninit::new(9); tensor.array.cells.len() * 4];
        for fill in [0, 1, 3, 5, 8] {
            let expected = Error::Fill { fill, width: 4 };
            assert_eq!(error(plan.read_bytes(&buffer, &mut out, &vec![0; fill], &ONE)), expected, "{text}");
            assert_eq!(error(plan.read_uninit(&buffer, &mut uninit, &vec![0; fill], &ONE)), expected, "{text}");
        }
        assert!(out.iter().all(|byte| *byte == 9));
    }
}

/// A tracker of views as they are given.
fn views<const N: usize>(views: [View; N]) -> ShapeTracker {
    ShapeTracker::from_views(views).unwrap()
}

/// What planning or, after it, reading and writing say about a tracker whose addresses no buffer has.
fn no_buffer_will_do(st: &ShapeTracker) -> [Error; 2] {
    let numel = st.numel() as usize;
    let read = Plan::new(st, 1).and_then(|plan| plan.read_bytes(&[1; 100], &mut vec![9; numel], &[0], &ONE));
    let write = Plan::new(st, 1).and_then(|plan| plan.write_bytes(&vec![1; numel], &mut [9; 100], &ONE));
    [error(read), error(write)]
}

/// Indices under strides of 0 share an address, and addresses near the ends of `i64` may be too large to plan with:
/// whatever is found first is said.
fn is_wrong_too(error: &Error, address: i64, strides: [i64; 2]) -> bool {
    match error {
        Error::NotInjective { .. } => strides == [0, 0],
        Error::TooLarge { .. } => address.unsigned_abs() > 1 << 61,
        _ => false,
    }
}

#[test]
fn addresses_below_the_buffer() {
    for (offset, strides) in [(-1, [3, 1]), (0, [-3, 1]), (0, [3, -1]), (i64::MIN, [0, 0]), (i64::MIN + 9, [-3, 1])] {
        let st = views([View::new([2, 3], strides, offset, None).unwrap()]);
        let first = st.address_range().unwrap().unwrap().0;
        assert!(first < 0);
        for error in no_buffer_will_do(&st) {
            let other = is_wrong_too(&error, first, strides);
            assert!(other || error == Error::BeforeBuffer { first }, "{error}");
        }
    }
    // Below the buffer only where it is masked: an ordinary tracker.
    let st = views([View::new([5], [1], -2, Some(&[(2, 5)])).unwrap()]);
    let plan = Plan::new(&st, 1).unwrap();
    assert_eq!(plan.read(&[1u8, 2, 3], 0, &ONE).unwrap(), [0, 0, 1, 2, 3]);
}

#[test]
fn addresses_beyond_any_buffer() {
    for (offset, strides) in [(i64::MAX, [0, 0]), (i64::MAX - 5, [3, 1]), (0, [i64::MAX / 2, 1]), (1 << 40, [3, 1])] {
        let st = views([View::new([2, 3], strides, offset, None).unwrap()]);
        let last = st.address_range().unwrap().unwrap().1;
        for error in no_buffer_will_do(&st) {
            let other = is_wrong_too(&error, last, strides);
            assert!(other || error == Error::Buffer { last, len: 100 }, "{error}");
        }
        // Elements so wide that no byte count fits.
        for width in [16, 1 << 40, isize::MAX as usize] {
            if let Ok(plan) = Plan::new(&st, width) {
                error(plan.read_bytes(&[], &mut [], &[], &ONE).map(|()| "moved"));
            }
        }
    }
}

#[test]
fn more_bytes_than_memory_has() {
    for (size, width) in [(i64::MAX, 1), (i64::MAX, 16), (1 << 60, 16), (1 << 59, 16), (1 << 46, 1), (1 << 40, 16)] {
        let st = ShapeTracker::contiguous([1]).unwrap().expand([size]).unwrap();
        let masked = ShapeTracker::contiguous([0]).unwrap().pad([(size, 0)]).unwrap();
        for (st, buffer) in [(&st, &[1u8; 16][..]), (&masked, &[])] {
            let Ok(plan) = Plan::new(st, width) else { continue };
            let buffer = &buffer[..buffer.len().min(width)];
            error(plan.read_bytes(buffer, &mut [0; 16], &vec![0; width], &ONE).map(|()| "moved"));
            error(plan.write_bytes(&[0; 16], &mut [0; 16], &ONE).map(|()| "moved"));
            if width == 1 {
                error(plan.read(buffer, 0, &ONE).map(|read| read.len()));
            } else {
                let buffer: &[u128] = if buffer.is_empty() { &[] } else { &[1] };
                error(plan.read(buffer, 0, &ONE).map(|read| read.len()));
            }
        }
    }
}

#[test]
fn trackers_that_read_nothing() {
    for text in [
        "()",
        "(0)",
        "(3, 0, 2).permute(2, 1, 0)",
        "(0, 5).pad((3, 0), (1, 1))",
        "(0).pad((40, 60)).reshape(10, 10).permute(1, 0)",
        "(4, 4).shrink((2, 2), (0, 4)).pad((1, 1), (0, 3))",
        "(5).pad((7, 0)).shrink((0, 6))",
        "(5, 5).pad((7, 0), (0, 0)).shrink((0, 6), (1, 4)).permute(1, 0).reshape(6, 3)",
        "(1).pad((1, 0)).shrink((0, 1)).reshape()",
        "(1, 1, 1).permute(2, 1, 0).reshape()",
        "(0, 9223372036854775807).permute(1, 0)",
    ] {
        let tensor = Tensor::of(text);
        for width in WIDTHS {
            for threads in 0..4 {
                check_read(&tensor, How::plain(width).on(threads)).unwrap();
                check_write(&tensor, How::plain(width).on(threads)).unwrap();
            }
        }
        // Whatever lies there is of no concern.
        check_read(&tensor, How { spare: 9, ..How::plain(4) }).unwrap();
        check_write(&tensor, How { spare: 9, ..How::plain(4) }).unwrap();
    }
    let scalar = views([View::new([], [], 2, None).unwrap()]);
    assert_eq!(Plan::new(&scalar, 1).unwrap().read(&[1u8, 2, 3], 0, &ONE).unwrap(), [3]);
}

#[test]
fn elements_larger_than_the_rest() {
    for width in [255, 256, 257, 4096, 70_001] {
        for text in [
            "(2, 3).permute(1, 0)",
            "(3).flip(0)",
            "(2).pad((1, 2))",
            "(1).expand(3)",
            "(4, 3).permute(1, 0).reshape(6, 2)",
        ] {
            let tensor = Tensor::of(text);
            check_read(&tensor, How::drawn(width, 3)).unwrap();
            check_write(&tensor, How::drawn(width, 4)).unwrap();
        }
    }
}

#[test]
fn writing_where_indices_share_an_address() {
    for text in [
        "(1).expand(2)",
        "(5, 1).expand(5, 3)",
        "(1, 5).expand(3, 5).permute(1, 0)",
        "(1).expand(100000)",
        "(4).as_strided((3, 2), (1, 1), 0)",
        "(100).as_strided((10, 10), (9, 1), 0)",
        "(1, 8).expand(3, 8).reshape(4, 6).permute(1, 0)",
        "(1, 4).expand(2, 4).pad((0, 0), (1, 0)).reshape(10).shrink((1, 7))",
    ] {
        let tensor = Tensor::of(text);
        assert!(!tensor.is_injective(), "{text}");
        for width in [1, 4, 33] {
            check_write(&tensor, How::drawn(width, 5)).unwrap();
        }
        let plan = tensor.plan(4).unwrap();
        let written = plan.write(&vec![1u32; tensor.array.cells.len()], &mut vec![0; plan.buffer_len()], &ONE);
        assert!(matches!(error(written), Error::NotInjective { .. }), "{text}");
    }
    // Strides that interleave without meeting, and repetition of which only one place is valid.
    for text in [
        "(8).as_strided((2, 3), (3, 2), 0)",
        "(1).expand(5).pad((0, 3)).shrink((4, 8))",
        "(4).as_strided((2, 2), (2, 1), 0).shrink((0, 1), (0, 2))",
        "(1, 6).expand(2, 6).reshape(12).shrink((3, 9)).permute(0)",
    ] {
        let tensor = Tensor::of(text);
        let injective = tensor.is_injective();
        check_write(&tensor, How::plain(4)).unwrap_or_else(|why| panic!("{text}, injective: {injective}: {why}"));
        assert!(injective, "{text}");
    }
}

/// Ranks up to the most that a view may have.
#[test]
fn sixty_four_axes() {
    let ones = ShapeTracker::contiguous([1; 64]).unwrap();
    assert_eq!(Plan::new(&ones, 4).unwrap().read(&[5u32], 0, &ONE).unwrap(), [5]);
    let mut shape = [1; 64];
    shape.iter_mut().step_by(5).for_each(|size| *size = 2);
    let axes: Vec<i64> = (0..64).rev().collect();
    let st = ShapeTracker::contiguous(shape).unwrap().permute(&axes).unwrap();
    let buffer: Vec<u32> = (0..st.numel() as u32).collect();
    let expected: Vec<u32> = st.addresses().map(|at| at.unwrap() as u32).collect();
    let plan = Plan::new(&st, 4).unwrap();
    assert_eq!(plan.read(&buffer, 0, &ONE).unwrap(), expected);
    let mut written = vec![0; buffer.len()];
    plan.write(&expected, &mut written, &ONE).unwrap();
    assert_eq!(written, buffer);
}
