//! The boundary as the page uses it: room for a request, the call, the answer, and the answer's room given back.
//!
//! These tests are small enough for Miri (`cargo +nightly miri test -p shapetracker-wasm boundary`), which reports every
//! byte that is read before it is written, read outside of its allocation or after it was freed, and every allocation that
//! is freed with another length or not at all.

use crate::{alloc, answer, call, free};

/// What the engine answers, by way of the boundary.
fn ask(request: &[u8]) -> Vec<u8> {
    let pointer = alloc(request.len());
    // SAFETY: `alloc` gave room for as many bytes, which nothing else refers to.
    #[allow(unsafe_code)]
    let answer = unsafe {
        std::ptr::copy_nonoverlapping(request.as_ptr(), pointer, request.len());
        call(pointer, request.len())
    };
    // SAFETY: an answer begins with its length in four bytes, and has as many bytes, which nothing else refers to.
    #[allow(unsafe_code)]
    let bytes = unsafe {
        let length = u32::from_le_bytes(*answer.cast::<[u8; 4]>()) as usize;
        let bytes = std::slice::from_raw_parts(answer, length).to_vec();
        free(answer, length);
        bytes
    };
    assert_eq!(bytes, answer::answer(request), "the boundary changes nothing");
    bytes
}

/// The text of an answer, and how many bytes of numbers follow it.
fn text(answer: &[u8]) -> (&str, usize) {
    let length = u32::from_le_bytes(answer[4..8].try_into().unwrap()) as usize;
    (std::str::from_utf8(&answer[8..8 + length]).unwrap(), answer.len() - 8 - length)
}

#[test]
fn requests_are_answered() {
    let answer = ask(br#"{"op":"chain","text":"(3, 2).permute(1, 0).reshape(3, 2)"}"#);
    let (text, numbers) = text(&answer);
    assert!(text.contains(r#""views":["#) && numbers == 0, "{text}");
}

#[test]
fn numbers_stand_beside_the_text() {
    let request = br#"{"op":"tile","source":{"chain":"(3, 2).permute(1, 0)"},"rows":[0],"columns":[1],"fixed":[0,0],
        "row":{"begin":0,"end":2},"column":{"begin":0,"end":3}}"#;
    let answer = ask(request);
    let (text, numbers) = text(&answer);
    let addresses = answer[answer.len() - numbers..].chunks_exact(8);
    let addresses: Vec<f64> = addresses.map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap())).collect();
    assert_eq!(addresses, [0.0, 2.0, 4.0, 1.0, 3.0, 5.0], "{text}");
}

#[test]
fn what_is_no_request_is_answered_too() {
    for request in [&b""[..], b"{", b"\xff\xfe", b"{\"op\":\"nothing\"}", b"\0"] {
        let answer = ask(request);
        let (text, numbers) = text(&answer);
        assert!(text.starts_with(r#"{"error""#) && numbers == 0, "{text}");
    }
}

#[test]
fn room_is_zeroed_and_distinct() {
    let rooms: Vec<(*mut u8, usize)> = [0, 0, 1, 7, 4096].map(|length| (alloc(length), length)).into();
    for (at, (pointer, length)) in rooms.iter().enumerate() {
        assert!(!pointer.is_null() && rooms[..at].iter().all(|(other, _)| other != pointer));
        // SAFETY: there are as many bytes, which `alloc` has written.
        #[allow(unsafe_code)]
        let bytes = unsafe { std::slice::from_raw_parts(*pointer, *length) };
        assert!(bytes.iter().all(|byte| *byte == 0));
    }
    for (pointer, length) in rooms {
        // SAFETY: the pointer comes from `alloc` with this length.
        #[allow(unsafe_code)]
        unsafe {
            free(pointer, length)
        };
    }
}

#[test]
#[cfg(not(miri))]
fn a_request_that_is_too_long_is_given_back_unread() {
    let answer = ask(&vec![b' '; (1 << 20) + 1]);
    assert!(text(&answer).0.contains("more than the 1048576 read"));
}
