//! What the command needs for long texts: memory in proportion to the text, and a sentence for what is too long.
#![cfg(target_os = "linux")]

mod common;

use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use shapetracker::text::LONGEST_TEXT;
use shapetracker_testing::is_entry_held;

/// The command with a text on standard input, in a process that may have so many KiB of address space and ten minutes of a
/// processor, which only what never ends would take; and the most KiB of memory that it was seen to have. Of that the last instant before its end may be missing.
fn within(kibibytes: usize, arguments: &[&str], text: &str) -> (Output, usize) {
    let limited = format!("ulimit -v {kibibytes}; ulimit -t 600; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh")
        .args(["-c", &limited, common::command()])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("there is a shell");
    let mut stdin = command.stdin.take().expect("it is piped");
    let status = format!("/proc/{}/status", command.id());
    let (ended, peak) = (AtomicBool::new(false), AtomicUsize::new(0));
    let output = std::thread::scope(|scope| {
        // A command that ends early does not read all.
        scope.spawn(move || stdin.write_all(text.as_bytes()));
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                let now = std::fs::read_to_string(&status).unwrap_or_default();
                let line = now.lines().find_map(|line| line.strip_prefix("VmHWM:"));
                let memory = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
                peak.fetch_max(memory.unwrap_or(0), Ordering::Relaxed);
                std::thread::sleep(Duration::from_micros(500));
            }
        });
        let output = command.wait_with_output().expect("it ends");
        ended.store(true, Ordering::Relaxed);
        output
    });
    (output, peak.into_inner())
}

/// As many copies of a text between two others as are read.
fn repeated(before: &str, text: &str, after: &str, length: usize) -> String {
    let times = (length - before.len() - after.len()) / text.len();
    format!("{before}{}{after}", text.repeat(times))
}

fn nested(before: &str, inside: &str, after: &str, length: usize) -> String {
    let times = (length - inside.len()) / (before.len() + after.len());
    format!("{}{inside}{}", before.repeat(times), after.repeat(times))
}

#[test]
fn found_by_an_audit_a_text_takes_at_most_200_bytes_of_memory_for_each_of_its_bytes() {
    // What the command takes with hardly any text: its code, above all.
    let starts = |kibibytes: &usize| within(*kibibytes, &["explain", "-"], "(2)").0.status.success();
    let base = (1..64).map(|step| step * 8192).find(starts).expect("half a gibibyte suffices");
    // And what of that is in memory, which is more where the command has more features.
    let code = (0..3).map(|_| within(base, &["explain", "-"], "(2)").1).max().unwrap_or(0);
    let mut worst = 0;
    let chains = |length| {
        [
            repeated("(3, 4)", "[::-1]", "", length),
            repeated("(2, 3)", ".T", "", length),
            repeated("(2)", ".flip(0)", "", length),
            repeated("(2, 3)", ".T.reshape(6).reshape(3, 2).T", "", length),
            repeated("(2, 3)", "[None].squeeze()", "", length),
            repeated("(2)", ".as_strided((2,), (1,))", "", length),
            repeated("():()", " over ():()", "", length),
            repeated("", "(", "", length),
            repeated("(2)", "[", "", length),
            repeated("(", "1, ", "", length),
            nested("(", "2", ")", length),
        ]
    };
    let expressions = |length| {
        [
            ("x=0..10", repeated("", "-", "x", length)),
            ("x=0..10", repeated("", "+", "x", length)),
            ("x=0..10", repeated("", "- +", "x", length)),
            ("x=0..10", repeated("x", "+x", "", length)),
            ("x=0..10, y=0..9", nested("min(y,", "x", "+1)", length)),
            ("x=0..10", repeated("", "not ", "x < 3", length)),
            ("x=0..10, y=0..9", repeated("x < 3", " and x < y", "", length)),
            ("x=0..10", repeated("x", "<x", "", length)),
            ("x=0..10, y=0..9", repeated("", "y if x < 3 else ", "x", length)),
            ("x=0..10", nested("(", "x", ")", length)),
            ("x=0..10", repeated("", "(", "", length)),
        ]
    };
    let mut number = 0;
    // A quarter of the longest text and all of it: what grew faster than the text would show at one of them.
    for length in [LONGEST_TEXT / 4, LONGEST_TEXT] {
        let mut check = |arguments: &[&str], text: &str| {
            number += 1;
            if !is_entry_held(number) {
                return;
            }
            // Vectors that grow take up to twice the address space that they need memory.
            let (output, peak) = within(base + length * 400 / 1024, arguments, text);
            let start = &text[..text.len().min(30)];
            let each = peak.saturating_sub(code) * 1024 / text.len();
            println!("{arguments:?} {start}: {each} bytes for each of {length}");
            worst = worst.max(each);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(matches!(output.status.code(), Some(0 | 2)), "{arguments:?} {start}: {} {said}", output.status);
            assert!(said.len() < 1000, "{arguments:?} {start}: {said}");
        };
        for text in chains(length) {
            check(&["explain", "-"], &text);
            check(&["explain", "--json", "-"], &text);
        }
        for (ranges, text) in expressions(length) {
            check(&["simplify", "-", "--where", ranges], &text);
        }
    }
    println!("{code} KiB of code");
    assert!(worst <= 200, "{worst} bytes of memory for a byte of text");
}

#[test]
fn found_by_an_audit_what_is_not_linear_takes_no_more_memory_than_its_work_limit_allows() {
    for (step, length) in [LONGEST_TEXT / 4, LONGEST_TEXT].into_iter().enumerate() {
        for (number, (arguments, text)) in [
            (&["simplify", "-", "--where", "x=0..10, y=0..9"][..], nested("(", "x", "%7+y)", length)),
            (&["simplify", "-", "--where", "x=0..2"], repeated("x", "*x", "", length)),
            (&["simplify", "-", "--c", "--where", "x=-100..100"], repeated("x", "%9", "", length)),
            (&["simplify", "-", "--c", "--where", "x=-100..100"], nested("(", "x", "+1)%9", length)),
        ]
        .into_iter()
        .enumerate()
        {
            if !is_entry_held(number + 4 * step) {
                continue;
            }
            let (output, peak) = within(2 << 20, arguments, &text);
            let said = String::from_utf8_lossy(&output.stderr);
            // The text of C's remainders is longer than a text may be.
            assert!(matches!(output.status.code(), Some(0 | 2)) && said.len() < 1000, "{arguments:?}: {said}");
            println!("{arguments:?}: {peak} KiB for {length} bytes");
            assert!(peak <= 8192 + length * 200 / 1024 + (192 << 10), "{arguments:?}: {peak} KiB for {length} bytes");
        }
    }
}

#[test]
fn found_by_an_audit_a_text_that_is_too_long_is_refused_with_a_sentence() {
    let sentence = "error: the text has 10000001 bytes, more than the 1048576 that are read\n";
    for (command, before, repeated) in [
        ("explain", "(3,4)", "[::-1]"),
        ("explain", "", "("),
        ("simplify", "", "-"),
        ("simplify", "", "("),
        ("simplify", "x", "%7+y"),
    ] {
        let mut text = before.to_owned() + &repeated.repeat(10_000_001 / repeated.len() + 1);
        text.truncate(10_000_001);
        let arguments = [command, "-"];
        let (output, _) = within(1 << 19, &arguments, &text);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.starts_with(sentence) && said.len() < 1000, "{said}");
    }
}

#[test]
fn found_by_looking_for_quadratic_passes_many_variables_are_declared_at_once() {
    let names = 60_000;
    let ranges: Vec<String> = (0..names).map(|number| format!("v{number}=0..9")).collect();
    let text: Vec<String> = (0..names).map(|number| format!("v{number}")).collect();
    // A single argument has at most 128 KiB.
    let mut arguments = vec!["simplify", "-"];
    let chunks: Vec<String> = ranges.chunks(8000).map(|some| some.join(",")).collect();
    arguments.extend(chunks.iter().flat_map(|some| ["--where", some]));
    let (output, _) = within(1 << 20, &arguments, &text.join(" + "));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
