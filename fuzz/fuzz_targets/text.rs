//! Any text is a chain or a complaint that points into it, and what reads prints as something that reads equal.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shapetracker::{Chain, ChainStart, ShapeTracker, View};

fuzz_target!(|text: &str| {
    match text.parse::<View>() {
        Ok(view) => {
            assert_eq!(view.to_string().parse::<View>().as_ref(), Ok(&view));
            assert_eq!(format!("{view:?}").parse::<View>().as_ref(), Ok(&view));
        }
        Err(err) => assert!(text.get(err.span()).is_some() && !err.to_string().is_empty()),
    }
    let chain = match text.parse::<Chain>() {
        Ok(chain) => chain,
        Err(err) => {
            assert!(text.get(err.span()).is_some() && err.to_string().len() < 2000, "{err}");
            return;
        }
    };
    let printed = chain.to_string();
    assert_eq!(printed.parse::<Chain>().as_ref(), Ok(&chain), "{printed}");
    for (i, op) in chain.ops().iter().enumerate() {
        // Others have operations without parentheses, and indices.
        let ends = [")", "]", "T"].into_iter().any(|end| text[chain.span(i)].ends_with(end));
        assert!(ends && printed.contains(&op.to_string()));
    }
    // Long chains and tall stacks are work, not news.
    let views = if let ChainStart::Views(views) = chain.start() { views.len() } else { 1 };
    if chain.ops().len() > 16 || views > 4 {
        return;
    }
    match chain.tracker() {
        Ok(tracker) => {
            assert_eq!(tracker.to_string().parse::<ShapeTracker>().as_ref(), Ok(&tracker));
            assert_eq!(format!("{tracker:?}").parse::<ShapeTracker>().as_ref(), Ok(&tracker));
        }
        Err(err) => assert!(text.get(err.span()).is_some() && !err.to_string().is_empty()),
    }
    let _ = chain.tracker_from(&[2, 3]);
});
