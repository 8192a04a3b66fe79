//! The command as its users meet it.
//!
//! `tests/cmd` holds sessions: commands and what they print. `TRYCMD=overwrite cargo test -p shapetracker-cli` writes
//! down what they print now.

mod common;

use std::io::ErrorKind::NotFound;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;

fn shapetracker(args: &[&str]) -> Command {
    let mut command = Command::new(common::command());
    command.args(args);
    command
}

/// Runs the command on a text for its standard input.
fn fed(args: &[&str], input: &[u8]) -> Output {
    common::fed(&mut shapetracker(args), input)
}

/// Runs the command.
fn run(args: &[&str]) -> Output {
    common::output(&mut shapetracker(args))
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

#[test]
fn sessions() {
    let cases = trycmd::TestCases::new();
    cases.register_bin("shapetracker", Path::new(common::command()));
    cases.timeout(common::LONGEST).case("tests/cmd/*.trycmd");
}

#[test]
fn a_chain_is_read_from_standard_input() {
    let chain = "(3, 2)\n  .permute(1, 0)\n  .reshape(3, 2)\n";
    let output = fed(&["explain", "-"], chain.as_bytes());
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout, run(&["explain", chain]).stdout);
    let output = fed(&["explain", "-"], b"(3\xff)");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "error: standard input is not text: byte 2 is not UTF-8\n");
}

#[test]
fn colours_are_for_terminals_unless_asked_for() {
    let coloured = |args: &[&str], no_color| {
        let mut command = shapetracker(args);
        if no_color {
            command.env("NO_COLOR", "1");
        }
        stdout(&common::output(&mut command)).contains('\x1b')
    };
    assert!(!coloured(&["explain", "(3).pad((1, 1))"], false));
    assert!(!coloured(&["explain", "(3).pad((1, 1))"], true));
    assert!(!coloured(&["explain", "(3).pad((1, 1))", "--color", "never"], false));
    assert!(coloured(&["explain", "(3).pad((1, 1))", "--color", "always"], true));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_fault() {
    let mut command = shapetracker(&["batch"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // Both end at the latest when the command does.
    thread::spawn(move || while stdin.write_all(b"{\"id\":1,\"base\":[2,3]}\n").is_ok() {});
    let mut out = child.stdout.take().unwrap();
    let (seen, enough) = mpsc::channel();
    thread::spawn(move || seen.send(out.read_exact(&mut [0; 10])));
    enough.recv_timeout(common::LONGEST).unwrap().unwrap();
    let output = common::finished(child);
    assert_eq!((output.status.code(), &output.stderr[..]), (Some(0), &b""[..]));
}

#[test]
fn noise_is_answered_line_by_line() {
    let mut state = 7u32;
    let mut noise: Vec<u8> = (0..100_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect();
    noise.extend(b"\n{\"id\":\"last\",\"base\":[2]}\n");
    let lines = noise.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count();
    let output = fed(&["batch", "--crc32"], &noise);
    assert_eq!(output.status.code(), Some(1));
    let answers: Vec<serde_json::Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), lines);
    let (last, others) = answers.split_last().unwrap();
    assert!(others.iter().all(|answer| answer["id"].is_null() && answer["error"]["message"].is_string()));
    assert_eq!(last["id"], "last");
}

#[test]
fn a_line_without_end_is_refused_and_the_run_goes_on() {
    let mut noise = vec![b'1'; 150 << 20];
    noise.extend(b"\n{\"id\":\"last\",\"base\":[2]}\n");
    let output = fed(&["batch"], &noise);
    assert_eq!(output.status.code(), Some(1));
    let lines: Vec<String> = stdout(&output).lines().map(String::from).collect();
    assert_eq!(
        lines[0],
        r#"{"id":null,"error":{"kind":"too_long","message":"the line is longer than 67108864 bytes"}}"#
    );
    assert!(lines.len() == 2 && lines[1].starts_with(r#"{"id":"last","shape":[2]"#), "{lines:?}");
}

#[test]
fn deep_and_long_input_is_an_error_on_its_line() {
    let deep = "[".repeat(200_000);
    let many = format!("{{\"id\":2,\"base\":[{}1]}}", "1,".repeat(200_000));
    let output = fed(&["batch"], format!("{deep}\n{{\"id\":1,\"ops\":{deep}}}\n{many}\n").as_bytes());
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stdout(&output).matches("\"error\"").count(), 3);
    let output = run(&["explain", &"(".repeat(100_000)]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn expressions_may_be_deep_and_long() {
    let simplified = |text: &str| fed(&["simplify", "-", "--where", "x=0..3"], text.as_bytes());
    for (text, position) in [
        ("(".repeat(10_000) + "x", 9_999),
        ("(".repeat(10_000) + "x" + &")".repeat(10_001), 20_001),
        ("-(".repeat(10_000), 20_000),
        ("min(x, ".repeat(10_000) + "x", 69_993),
        ("x if x < 1 else ".repeat(10_000), 159_999),
        ("x + ".repeat(10_000) + "y", 40_000),
    ] {
        let output = simplified(&text);
        assert_eq!(output.status.code(), Some(2), "{}", &text[..40]);
        assert!(output.stdout.is_empty());
        let output = fed(&["simplify", "-", "--where", "x=0..3", "--json"], text.as_bytes());
        let answer: serde_json::Value = serde_json::from_str(stdout(&output)).unwrap();
        assert_eq!(answer["error"]["span"][0], position, "{}: {answer}", &text[..40]);
    }
    for text in [
        "(".repeat(10_000) + "x" + &")".repeat(10_000),
        "-(".repeat(10_000) + "x" + &")".repeat(10_000),
        "min(x, ".repeat(10_000) + "x" + &")".repeat(10_000),
        "x if x < 1 else ".repeat(10_000) + "x",
        "x".to_owned() + &" + x".repeat(10_000),
    ] {
        assert_eq!(simplified(&text).status.code(), Some(0), "{}", &text[..40]);
    }
}

#[test]
fn code_is_in_the_json_answer() {
    let args = ["index", "(4, 6).pad((1, 1), (0, 2))", "--lang", "c", "--json"];
    let output = run(&args);
    let answer: serde_json::Value = serde_json::from_str(stdout(&output)).unwrap();
    let expected = serde_json::json!({
        "chain": "(4, 6).pad((1, 1), (0, 2))",
        "shape": [6, 8],
        "language": "c",
        "code": "const int valid = (1 <= idx0) & (idx0 < 5) & (idx1 < 6);\nconst int index = idx0 * 6 + idx1 - 6;\n",
        "index": "idx0 * 6 + idx1 - 6",
        "valid": "1 <= idx0 < 5 and idx1 < 6",
        "cost": {"ops": 7, "divmods": 0, "weight": 7},
        "index_range": [0, 23],
        "index_range_exact": true,
        "value_range": [-6, 37],
        "bits": 32,
    });
    assert_eq!(answer, expected);
}

#[test]
fn an_expression_that_is_too_long_to_explain_is_left_to_index() {
    let round =
        ".permute(1, 0).reshape(10, 21).pad((1, 0), (0, 1)).shrink((0, 10), (1, 22)).permute(1, 0).reshape(6, 35)";
    let chain = "(6, 35)".to_owned() + &round.repeat(12);
    let explained = run(&["explain", &chain]);
    assert!(stdout(&explained).contains(" lines, which `shapetracker index` prints: "), "{}", stdout(&explained));
    let index = run(&["index", &chain]);
    assert!(stdout(&index).lines().count() > 24, "{}", stdout(&index));
}

#[test]
fn remarks_are_comments() {
    for (language, mark) in [("python", "#"), ("c", "//"), ("wgsl", "//"), ("mlir", "//"), ("latex", "%")] {
        let output = run(&["index", "(4, 4).pad((1, 1), (0, 0))", "--lang", language]);
        let remarks = stdout(&output).lines().take_while(|line| line.starts_with(&format!("{mark} "))).count();
        assert_eq!(remarks, 3, "{language}: {}", stdout(&output));
        assert!(output.stderr.is_empty());
    }
}

#[test]
fn found_by_an_audit_a_line_with_an_unknown_field_is_refused() {
    let lines = r#"{"id":1,"base":[2,3],"op":[["permute",[1,0]]]}
{"id":2,"base":[2,3],"ops":[["permute",[1,0]]],"source":"resnet","crc32":"75a8bcba"}
{"operations":[["permute",[1,0]]],"base":[2,3],"id":3}
"#;
    let output = fed(&["batch"], lines.as_bytes());
    assert_eq!(output.status.code(), Some(1));
    let lines: Vec<serde_json::Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let message = |field: &str| {
        format!("the line has a field `{field}`, which is none of `id`, `base`, `views`, `ops`, `where` and `command`")
    };
    assert_eq!((&lines[0]["id"], &lines[0]["error"]["message"]), (&1.into(), &message("op").into()));
    assert_eq!(lines[1]["shape"], serde_json::json!([3, 2]));
    assert_eq!((&lines[2]["id"], &lines[2]["error"]["message"]), (&3.into(), &message("operations").into()));
}

#[test]
fn answers_can_be_asked_about_again() {
    let question = br#"{"id":"c1","base":[2,3],"ops":[["permute",[1,0]],["reshape",[6]]]}"#;
    let first = fed(&["batch", "--crc32", "--expr"], question);
    let again = fed(&["batch", "--crc32", "--expr"], &first.stdout);
    assert_eq!(stdout(&again), stdout(&first));
}

#[test]
fn found_by_an_audit_the_empty_mask_masks_a_scalar() {
    let line =
        |mask| format!("{{\"id\":null,\"views\":[{{\"shape\":[],\"strides\":[],\"offset\":0,\"mask\":{mask}}}]}}\n");
    for (mask, valid) in [("[]", "False"), ("null", "True")] {
        let output = fed(&["batch", "--expr"], line(mask).as_bytes());
        let answer: serde_json::Value = serde_json::from_str(stdout(&output)).unwrap();
        assert_eq!((&answer["valid"], &answer["views"][0]["mask"].to_string()[..]), (&valid.into(), mask));
    }
}

/// As a shell's `<(..)` gives one.
#[cfg(unix)]
#[test]
fn a_batch_may_come_from_an_open_pipe() {
    for path in ["/dev/stdin", "/dev/fd/0"] {
        let output = fed(&["batch", path], b"{\"base\":[2]}");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(stdout(&output).contains("\"shape\":[2]"));
    }
}

/// Chains with copies, what NumPy and PyTorch make of `arange`, and how many elements are copied last.
const COPIES: [(&str, &[i64], i64); 7] = [
    ("(3, 2).T.copy()", &[0, 2, 4, 1, 3, 5], 6),
    ("(3, 2).permute(1, 0).contiguous().reshape(6).flip(0)", &[5, 3, 1, 4, 2, 0], 6),
    ("np.arange(6).reshape(3, 2).T.copy().reshape(3, 2).T", &[0, 4, 3, 2, 1, 5], 6),
    ("np.ascontiguousarray(np.arange(6).reshape(2, 3).T)[1:]", &[1, 4, 2, 5], 6),
    ("np.repeat(np.arange(4).reshape(2, 2).T, 2, axis=1)", &[0, 0, 2, 2, 1, 1, 3, 3], 8),
    ("torch.arange(4).view(2, 2).t().repeat_interleave(2, 0)", &[0, 2, 0, 2, 1, 3, 1, 3], 8),
    ("np.tile(np.arange(3)[::-1], 2).copy()", &[2, 1, 0, 2, 1, 0], 6),
];

#[test]
fn an_index_is_that_of_the_base_whatever_is_copied() {
    for (chain, elements, copied) in COPIES {
        let copy = format!("the buffer of {copied} that `");
        let index = run(&["index", chain]);
        assert!(stdout(&index).starts_with(&format!("# addresses of the base, not of {copy}")), "{}", stdout(&index));
        let json =
            |command| -> serde_json::Value { serde_json::from_str(stdout(&run(&[command, chain, "--json"]))).unwrap() };
        let range = serde_json::json!([elements.iter().min(), elements.iter().max()]);
        assert_eq!(json("index")["index_range"], range, "{chain}");
        // What is explained is the newest buffer, by its name.
        let explained = run(&["explain", chain]);
        // Long lines are wrapped.
        let explained = stdout(&explained).split_whitespace().collect::<Vec<_>>().join(" ");
        for said in [format!("over {copy}"), format!("Index expression into {copy}")] {
            assert!(explained.contains(&said), "{chain}: {explained}");
        }
        assert_eq!(json("explain")["buffer"]["elements"], copied, "{chain}");
    }
    // Where nothing is copied, nothing is said of copies.
    let chain = "(3, 2).contiguous().reshape(6)";
    assert!(!stdout(&run(&["index", chain])).contains("addresses of the base"));
    assert!(stdout(&run(&["explain", chain])).contains("over a buffer of 6\n"));
    assert!(stdout(&run(&["explain", chain, "--json"])).contains("\"buffer\":null"));
}

#[test]
fn a_kernel_reads_the_base_through_copies() {
    let folder = tempfile::tempdir().unwrap();
    for (number, (chain, elements, _)) in COPIES.into_iter().enumerate() {
        let kernel = run(&["index", chain, "--lang", "c", "--kernel"]);
        let main = format!(
            "#include <stdio.h>\nint main(void) {{ float in[16], out[16]; for (int i = 0; i < 16; ++i) in[i] = i; \
             gather(in, out); for (int i = 0; i < {}; ++i) printf(\"%d \", (int)out[i]); return 0; }}\n",
            elements.len()
        );
        let [source, program] = [format!("{number}.c"), format!("{number}")].map(|name| folder.path().join(name));
        std::fs::write(&source, format!("{}{main}", stdout(&kernel))).unwrap();
        match common::try_fed(Command::new("cc").arg("-o").args([&program, &source]), b"") {
            Ok(output) => assert!(output.status.success(), "{chain}: {}", String::from_utf8_lossy(&output.stderr)),
            Err(error) if error.kind() != NotFound => panic!("cc: {error}"),
            Err(_) => return eprintln!("skipped: there is no cc"),
        }
        let printed = common::output(&mut Command::new(&program));
        let printed: Vec<i64> = stdout(&printed).split_whitespace().map(|word| word.parse().unwrap()).collect();
        assert_eq!(printed, elements, "{chain}");
    }
}

/// The text of one session of the golden files would be another for every improvement: these are evaluated.
#[test]
fn expressions_of_recorded_layouts_give_their_addresses() {
    let path = |name: &str| format!("{}/{name}", env!("CARGO_MANIFEST_DIR"));
    let corpus = ["chains", "indexed"].map(|name| path(&format!("../shapetracker/tests/corpus/{name}.jsonl.gz")));
    let counter = path("../shapetracker/tests/it/index_cost.py");
    let mut python = Command::new("python3");
    python.args([&path("tests/batch_expr.py"), common::command(), &counter]).args(corpus);
    let output = match common::try_fed(&mut python, b"") {
        Ok(output) => output,
        Err(error) if error.kind() != NotFound => panic!("python3: {error}"),
        Err(_) => return eprintln!("skipped: there is no python3"),
    };
    assert!(output.status.success(), "{}{}", stdout(&output), String::from_utf8_lossy(&output.stderr));
    eprint!("{}", stdout(&output));
}

#[cfg(unix)]
#[test]
fn arguments_that_are_not_text_are_refused() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let output = common::output(shapetracker(&["explain"]).arg(OsStr::from_bytes(b"(3\xff)")));
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("invalid UTF-8"));
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = run(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0));
        assert!(stdout(&output).contains("conditions"), "{shell}");
    }
}

/// Completions and manual pages are made of the same table as the help, and must not lose any of it.
#[test]
fn every_option_of_the_help_is_completed_and_in_the_manual() {
    let bash = run(&["completions", "bash"]);
    let help = run(&["--help"]);
    let names = commands(stdout(&help));
    assert!(names.len() > 10, "{names:?}");
    let manual = run(&["man"]);
    for name in &names {
        assert!(stdout(&manual).contains(&format!("shapetracker\\-{name}(1)")), "{name}");
    }
    let questions = run(&["layout", "--help"]);
    let questions = commands(stdout(&questions));
    assert!(questions.len() > 5, "{questions:?}");
    let nested = questions.iter().map(|question| vec!["layout", *question]);
    for name in std::iter::once(vec![]).chain(names.iter().map(|name| vec![*name])).chain(nested) {
        let help = run(&[&name[..], &["--help"]].concat());
        let page = run(&[&["man"], &name[..]].concat());
        let page = stdout(&page).replace('\\', "");
        let path: String = name.iter().map(|name| format!("__subcmd__{name}")).collect();
        let case = format!("        shapetracker{path})\n");
        let (_, script) = stdout(&bash).split_once(&case).unwrap_or_else(|| panic!("no {case}"));
        let completed = script.lines().find_map(|line| line.trim().strip_prefix("opts=\"")).unwrap();
        let completed: Vec<&str> = completed.trim_end_matches('"').split(' ').collect();
        let options = options(stdout(&help));
        assert!(options.contains(&"--help") && options.contains(&"--json"), "{name:?}: {options:?}");
        for option in options {
            assert!(completed.contains(&option), "{name:?}: {option} is not among {completed:?}");
            assert!(page.contains(&format!("fB{option}fR")), "{name:?}: {option} is not in the manual");
        }
    }
}

/// The commands that a help text lists, but for `help`.
fn commands(help: &str) -> Vec<&str> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect()
}

/// The long options that a help text lists.
fn options(help: &str) -> Vec<&str> {
    let lines = help.lines().skip_while(|line| *line != "Options:").skip(1).take_while(|line| !line.is_empty());
    let first_words = lines.filter(|line| line.trim_start().starts_with('-') && !line.starts_with("         "));
    first_words.filter_map(|line| line.split([' ', ',']).find(|word| word.starts_with("--"))).collect()
}

#[test]
fn manual_pages_are_of_commands_that_exist() {
    let output = run(&["man", "explian"]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(2), ""));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.starts_with("error: there is no command `explian`; the commands are explain, merge, "), "{said}");
    let output = run(&["man", "explain"]);
    // Examples are to be copied: hyphens and apostrophes are those of the shell.
    assert!(stdout(&output).contains("| shapetracker explain \\-\n"), "{}", stdout(&output));
    assert!(stdout(&output).contains("explain \\*(Aq(3, 2)"), "{}", stdout(&output));
}

#[test]
fn every_json_answer_is_one_line() {
    for (args, status) in [
        (&["explain", "(2, 3)"][..], 0),
        (&["merge", "(2, 3)", "(6)"], 0),
        (&["merge", "(2, 3):(1, 2)", "(6)"], 1),
        (&["check", "--shape", "2,3", "--to", "6"], 0),
        (&["check", "--shape", "2,3", "--strides", "1,2", "--to", "6"], 1),
        (&["conditions", "--shape", "2,3", "--later", "(6)"], 0),
        (&["describe", "(2, 3)", "(6)"], 0),
        (&["describe", "(2, 3"], 2),
        (&["index", "(2, 3)"], 0),
        (&["index", "(2, 3)", "--lang", "latex", "--kernel"], 1),
        (&["simplify", "x // 4", "--where", "x=0..9"], 0),
        (&["simplify", "x * x", "--where", "x=0..9", "--lang", "mlir"], 1),
        (&["map", "(i) -> (i // 4, i % 4)", "--where", "i=0..8"], 0),
        (&["map", "(i) -> (i // 4)", "--where", "i=0..8"], 1),
        (&["map", "(i) -> (i, k)", "--where", "i=0..8"], 2),
        (&["plan", "(2, 3)"], 0),
        (&["completions", "bash"], 0),
        (&["man", "explain"], 0),
        (&["explain", "(2, 3"], 2),
        (&["merge", "(2, 3)", "(7)"], 2),
        (&["check", "--shape", "2,3"], 2),
        (&["index", "(2, 3)", "--lang", "rost"], 2),
        (&["simplify", "x"], 2),
        (&["simplify", "x", "--where", "x=3..3"], 2),
        (&["plan", "flip(0)"], 2),
        (&["apply", "flip(0)", "no.npy", "out.npy"], 2),
        (&["man", "frobnicate"], 2),
        (&["frobnicate"], 2),
    ] {
        let output = common::output(shapetracker(args).arg("--json"));
        assert_eq!(output.status.code(), Some(status), "{args:?}");
        assert_eq!(stdout(&output).lines().count(), 1, "{args:?}");
        let answer: serde_json::Value = serde_json::from_str(stdout(&output)).unwrap();
        // What cannot be done is an error, too, unlike the answer no.
        let failed = status == 2 || args.contains(&"--lang");
        assert_eq!(answer["error"]["message"].is_string(), failed, "{args:?}: {answer}");
        assert!(output.stderr.is_empty(), "{args:?}");
    }
}
