//! Any JSON is a view, a tracker or an operation, or a complaint, and what reads is written as something that reads
//! equal.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::{from_slice, from_str, to_string};
use shapetracker::{Chain, MAX_RANK, Movement, ShapeTracker, View};

fuzz_target!(|json: &[u8]| {
    if let Ok(view) = from_slice::<View>(json) {
        assert_eq!(from_str::<View>(&to_string(&view).unwrap()).unwrap(), view);
    }
    // Tall stacks are work, not news.
    if json.len() < 500
        && let Ok(tracker) = from_slice::<ShapeTracker>(json)
    {
        assert_eq!(from_str::<ShapeTracker>(&to_string(&tracker).unwrap()).unwrap(), tracker);
    }
    if let Ok(op) = from_slice::<Movement>(json) {
        assert_eq!(from_str::<Movement>(&to_string(&op).unwrap()).unwrap(), op);
        // An operation for more axes than a view may have is refused by the text form, and later by the tracker.
        let text = op.to_string();
        match text.parse::<Chain>() {
            Ok(chain) => assert_eq!(chain.ops(), [op]),
            Err(err) => assert!(text.len() > MAX_RANK, "{err}"),
        }
    }
});
