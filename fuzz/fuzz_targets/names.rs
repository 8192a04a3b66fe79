//! Any text with names is a chain or a complaint that points into it, whatever is said of the names; what is answered is the
//! same twice, and at small values of the names it is what the integers say: the view, what libraries do, elements at one address.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use shapetracker::advice::Does;
use shapetracker_symbolic::{Literal, Question, ShapeTracker};

fuzz_target!(|text: &str| {
    // What is said of the names, and behind a line break the chain.
    let (given, text) = text.split_once('\n').unwrap_or(("", text));
    let mut question = match Question::new([given]) {
        Ok(question) => question,
        Err(err) => {
            assert!(given.get(err.span()).is_some() && !err.to_string().is_empty());
            return;
        }
    };
    if let Err(err) = question.clone().statement(text) {
        assert!(text.get(err.span()).is_some() && err.to_string().len() < 2000, "{err}");
    }
    let chain = match question.chain(text) {
        Ok(chain) => chain,
        Err(err) => {
            assert!(text.get(err.span()).is_some() && err.to_string().len() < 2000, "{err}");
            return;
        }
    };
    // Long chains are work, not news.
    let Ok(scope) = question.scope() else { return };
    if chain.len() > 6 || scope.names().len() > 6 {
        return;
    }
    let scope = Arc::new(scope);
    let Ok(tracker) = chain.tracker(&scope) else { return };
    if tracker.rank() > 6 || tracker.views().len() > 3 {
        return;
    }
    let answer = tracker.single_view();
    assert_eq!(answer, tracker.single_view());
    assert_eq!(ShapeTracker::from_parts(&tracker.parts()).as_ref(), Ok(&tracker), "{text} where {given}");
    let (advice, collision) = (chain.advice(&scope), tracker.collision());
    let names = answer.scope(&scope);
    for by in 0..3 {
        let point: Vec<i128> = scope.names().iter().map(|name| name.lo.or(name.hi).unwrap_or(0) + by).collect();
        let Ok(integers) = tracker.at_point(&point) else { continue };
        let Some(all) = names.complete(&point) else { continue };
        let says = answer.formula().iter().any(|all_of| all_of.iter().all(|literal| literal.holds(&all) == Some(true)));
        let of_numbers = chain.at(&point).and_then(|text| text.parse::<shapetracker::Chain>().ok()?.advice(None).ok());
        if let (Ok(advice), Some(of_numbers)) = (&advice, of_numbers) {
            for (names, numbers) in advice.libraries.iter().zip(&of_numbers.libraries) {
                let is_apart = |all: &Vec<_>| all.iter().all(|literal: &Literal| literal.holds(&point) == Some(true));
                if names.does != Does::Undecided && !names.unless.iter().any(is_apart) {
                    let elements = names.copied.iter().map(|(_, elements)| elements.eval(&point));
                    let really = numbers.copied.iter().map(|(_, elements)| Some(i128::from(*elements)));
                    let is_so = names.does == numbers.does && elements.eq(really);
                    assert!(is_so, "{text} where {given} at {point:?}: {names:?}, really {numbers:?}");
                }
            }
        }
        if collision == Ok(None) {
            assert!(!matches!(integers.collision(), Ok(Some(_))), "{text} where {given} at {point:?}");
        }
        match integers.single_view() {
            Ok(_) => assert!(says || answer.kind() == "undecided", "{text} where {given} at {point:?}"),
            Err(shapetracker::Unmerged::Witness(_)) => assert!(!says, "{text} where {given} at {point:?}"),
            Err(_) => {}
        }
    }
});
