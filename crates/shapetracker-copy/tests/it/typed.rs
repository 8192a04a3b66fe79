//! Elements with a type, and the same plan used many times.

use bytemuck::{Pod, cast_slice, pod_read_unaligned};
use shapetracker_copy::{Error, Plan, Threads};
use shapetracker_testing::is_text_held;

use crate::memory::noise;
use crate::naive::{THREADS, Tensor};

/// As many elements without rhyme or reason.
fn elements<T: Pod>(len: usize, seed: u64) -> Vec<T> {
    let width = size_of::<T>();
    noise(len * width, seed).chunks_exact(width).map(pod_read_unaligned).collect()
}

/// Holds the functions that take types to the ones that take bytes.
fn check<T: Pod + PartialEq + std::fmt::Debug>(text: &str) {
    let tensor = Tensor::of(text);
    let width = size_of::<T>();
    let plan = tensor.plan(width).unwrap();
    for threads in &*THREADS {
        let buffer: Vec<T> = elements(plan.buffer_len(), 3);
        let fill = elements(1, 4)[0];
        let expected: Vec<T> =
            tensor.array.cells.iter().map(|cell| cell.map_or(fill, |at| buffer[at as usize])).collect();
        assert_eq!(plan.read(&buffer, fill, threads).unwrap(), expected, "{text}");
        let mut out = vec![T::zeroed(); expected.len()];
        plan.read_into(&buffer, &mut out, fill, threads).unwrap();
        assert_eq!(out, expected, "{text}");
        let mut bytes = vec![0; expected.len() * width];
        plan.read_bytes(cast_slice(&buffer), &mut bytes, bytemuck::bytes_of(&fill), threads).unwrap();
        assert_eq!(bytes, cast_slice::<T, u8>(&expected), "{text}");

        let mut over: Vec<T> = elements(expected.len(), 6);
        let mut expected = over.clone();
        for (element, cell) in expected.iter_mut().zip(&tensor.array.cells) {
            cell.iter().for_each(|at| *element = buffer[*at as usize]);
        }
        plan.read_over(&buffer, &mut over, threads).unwrap();
        assert_eq!(over, expected, "{text}");

        if !tensor.is_injective() {
            continue;
        }
        let mut written: Vec<T> = elements(plan.buffer_len(), 5);
        let mut expected = written.clone();
        for (element, cell) in out.iter().zip(&tensor.array.cells) {
            cell.iter().for_each(|at| expected[*at as usize] = *element);
        }
        plan.write(&out, &mut written, threads).unwrap();
        assert_eq!(written, expected, "{text}");
    }
}

/// Plans that are tuned while they run: with borders, several boxes, a stage, rows, and nothing to choose.
#[test]
fn tuned_plans_read_the_same() {
    for text in [
        "(1500, 1700).permute(1, 0).pad((3, 2), (1, 6))",
        "(1500, 1600).permute(1, 0).reshape(1200, 2000)",
        "(1490, 1480).permute(1, 0).reshape(1490, 1480).permute(1, 0)",
        "(2200000).flip(0)",
        "(7, 9).permute(1, 0)",
    ] {
        let is_held = |number: &usize| is_text_held(text, *number);
        if !(0..THREADS.len()).any(|number| is_held(&number)) {
            continue;
        }
        let tensor = Tensor::of(text);
        let plan = tensor.plan(4).unwrap();
        let buffer: Vec<u32> = elements(plan.buffer_len(), 1);
        let expected: Vec<u32> =
            tensor.array.cells.iter().map(|cell| cell.map_or(7, |at| buffer[at as usize])).collect();
        for (_, threads) in (0..).zip(&*THREADS).filter(|(number, _)| is_held(number)) {
            let mut out = vec![0; expected.len()];
            let tuned = plan.tuned(&buffer, &mut out, 7, threads).unwrap();
            // Where it chose among several ways, each has written all of it.
            assert!(out == expected || expected.len() == 63 && out.iter().all(|element| *element == 0), "{text}");
            out.fill(0);
            tuned.read_into(&buffer, &mut out, 7, threads).unwrap();
            assert!(out == expected, "{text}: {tuned:?}");
            assert_eq!(tuned.to_string(), plan.to_string());
            // Bytes need not be aligned.
            let (bytes, fill) = ([&[9], cast_slice::<u32, u8>(&buffer)].concat(), 7_u32.to_ne_bytes());
            let mut room = vec![0; 1 + 4 * expected.len()];
            let tuned = plan.tuned_bytes(&bytes[1..], &mut room[1..], &fill, threads).unwrap();
            room.fill(0);
            tuned.read_bytes(&bytes[1..], &mut room[1..], &fill, threads).unwrap();
            assert!(room[1..] == *cast_slice::<u32, u8>(&expected), "{text}: {tuned:?}");
        }
        let short = plan.tuned(&buffer, &mut [0; 3], 7, &Threads::one()).unwrap_err();
        assert!(matches!(short, Error::Length { len: 3, .. }), "{short}");
        let other = plan.tuned_bytes(cast_slice(&buffer), &mut vec![0; 4 * expected.len()], &[0; 3], &Threads::one());
        assert!(matches!(other, Err(Error::Fill { fill: 3, width: 4 })));
        assert!(matches!(plan.tuned(&[1_u8], &mut [0], 7, &Threads::one()), Err(Error::Type { .. })));
    }
}

#[test]
fn types_of_every_size() {
    for text in [
        "()",
        "(0)",
        "(3, 0, 2).permute(2, 1, 0)",
        "(1)",
        "(5, 7).permute(1, 0)",
        "(40, 50).permute(1, 0).pad((1, 2), (3, 0))",
        "(6, 10).permute(1, 0).reshape(4, 15).pad((1, 2), (0, 3)).reshape(18, 7)",
        "(1, 33).expand(9, 33)",
        "(17, 33).flip(0, 1)",
    ] {
        check::<u8>(text);
        check::<i16>(text);
        check::<u32>(text);
        check::<i64>(text);
        check::<u128>(text);
        check::<[u8; 3]>(text);
        check::<[u16; 3]>(text);
        check::<[u32; 3]>(text);
        check::<[u64; 3]>(text);
        check::<[u8; 7]>(text);
    }
}

/// Bits survive that arithmetic would not keep: signalling NaNs, negative zeros, denormal numbers.
#[test]
fn floats_are_only_bits() {
    let bits = [0x7f80_0001, 0x8000_0000, 0x0000_0001, 0xffbf_ffff, 0x7fc0_0000, 0xff80_0001];
    let buffer = bits.map(f32::from_bits);
    let plan = Tensor::of("(2, 3).permute(1, 0)").plan(4).unwrap();
    let read = plan.read(&buffer, 0.0, &Threads::one()).unwrap();
    assert_eq!(read.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), [0, 3, 1, 4, 2, 5].map(|at: usize| bits[at]));
    let plan = Tensor::of("(6).pad((0, 70))").plan(4).unwrap();
    let read = plan.read(&buffer, f32::from_bits(0x7f80_0001), &Threads::one()).unwrap();
    assert!(read[6..].iter().all(|x| x.to_bits() == 0x7f80_0001));
}

#[test]
fn one_plan_serves_many_threads_at_once() {
    let tensor = Tensor::of("(67, 45, 31).permute(2, 0, 1)");
    let plan = tensor.plan(4).unwrap();
    let buffer: Vec<u32> = (0..plan.buffer_len() as u32).collect();
    let expected: Vec<u32> = tensor.array.cells.iter().map(|cell| cell.unwrap() as u32).collect();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (plan, buffer, expected) = (&plan, &buffer, &expected);
            scope.spawn(move || {
                for _ in 0..5 {
                    assert_eq!(&plan.read(buffer, 0, &THREADS[number % 4]).unwrap(), expected);
                }
            });
        }
    });
}

/// Threads that are used inside other threads' work: nothing waits for itself.
#[test]
fn threads_within_threads() {
    let plan = Tensor::of("(300, 200).permute(1, 0)").plan(4).unwrap();
    let buffer: Vec<u32> = (0..60_000).collect();
    let alone = plan.read(&buffer, 0, &Threads::one()).unwrap();
    let outer = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    outer.scope(|scope| {
        for threads in &*THREADS {
            scope.spawn(|_| assert_eq!(plan.read(&buffer, 0, threads).unwrap(), alone));
        }
    });
}

#[test]
fn plans_are_values() {
    fn is_shared<T: Send + Sync + Clone + std::fmt::Debug>(_: &T) {}
    let plan = Tensor::of("(2, 3).permute(1, 0)").plan(4).unwrap();
    is_shared(&plan);
    assert_eq!(plan.clone().to_string(), plan.to_string());
    fn is_error<T: std::error::Error + Send + Sync + 'static>() {}
    is_error::<Error>();
    fn is_sync<T: Send + Sync>() {}
    is_sync::<Threads>();
    is_sync::<Plan>();
}
