//! `shapetracker apply` on real files: what it writes, and what it leaves alone.

mod common;

use std::fs;
use std::io::ErrorKind::NotFound;
#[cfg(unix)]
use std::process::Child;
use std::process::{Command, Output};

use shapetracker_testing::is_held;
use tempfile::TempDir;

/// Runs the command in a folder.
fn apply(folder: &TempDir, args: &[&str]) -> Output {
    common::output(Command::new(common::command()).current_dir(folder).arg("apply").args(args))
}

/// Runs the command, which must succeed.
fn applied(folder: &TempDir, args: &[&str]) {
    let output = apply(folder, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Runs the command, which must refuse; returns what it says.
fn refused(folder: &TempDir, args: &[&str]) -> String {
    let before = listing(folder);
    let output = apply(folder, args);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}");
    assert_eq!(listing(folder), before, "{args:?}");
    String::from_utf8(output.stderr).unwrap().trim_end().to_owned()
}

/// The names and the contents of all files of a folder; of a large file its length.
fn listing(folder: &TempDir) -> Vec<(String, Vec<u8>)> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<_> = files
        .map(|entry| {
            let length = entry.metadata().unwrap().len();
            let small = length < 1 << 20 && entry.path().is_file();
            let content = if small { fs::read(entry.path()).unwrap() } else { length.to_le_bytes().into() };
            (entry.file_name().into_string().unwrap(), content)
        })
        .collect();
    files.sort();
    files
}

/// A file .npy of bytes.
fn npy(shape: &str, data: &[u8]) -> Vec<u8> {
    npy_of("'|u1'", "False", shape, data)
}

fn npy_of(descr: &str, fortran_order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': {descr}, 'fortran_order': {fortran_order}, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data].concat()
}

fn safetensors(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat()
}

/// The data of a file .npy whose header is short.
fn data(folder: &TempDir, name: &str) -> Vec<u8> {
    let file = fs::read(folder.path().join(name)).unwrap();
    assert!(file.starts_with(b"\x93NUMPY\x01\x00"));
    file[10 + usize::from(u16::from_le_bytes([file[8], file[9]]))..].to_vec()
}

fn folder_with(files: &[(&str, Vec<u8>)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    folder
}

#[test]
fn numpy_and_safetensors_read_what_is_written() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/apply.py");
    let output = match common::try_fed(Command::new("python3").args([script, common::command()]), b"") {
        Ok(output) => output,
        Err(error) if error.kind() != NotFound => panic!("python3: {error}"),
        Err(_) => return eprintln!("skipped: there is no python3"),
    };
    let [said, complained] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{said}{complained}");
    eprint!("{said}");
}

#[test]
fn arrays_are_moved() {
    let matrix = [0, 1, 2, 3, 4, 5];
    let folder = folder_with(&[
        ("c.npy", npy("(3, 2)", &matrix)),
        ("f.npy", npy_of("'|u1'", "True", "(2, 3)", &matrix)),
        ("big.npy", npy_of("'>u2'", "False", "(3,)", &matrix)),
        ("scalar.npy", npy("()", &[9])),
        ("empty.npy", npy("(0, 3)", &[])),
        ("nothing.npy", npy_of("'|V0'", "False", "(9000000000000000000,)", &[])),
    ]);
    for (chain, input, fill, expected) in [
        ("permute(1, 0)", "c.npy", "0", &[0, 2, 4, 1, 3, 5][..]),
        ("(3, 2).permute(1, 0).reshape(3, 2)", "c.npy", "0", &[0, 2, 4, 1, 3, 5]),
        ("(2, 3)", "f.npy", "0", &[0, 2, 4, 1, 3, 5]),
        (".reshape(-1).step(-2)", "f.npy", "0", &[5, 1, 2]),
        // A copy changes no element.
        (".T.copy()", "c.npy", "0", &[0, 2, 4, 1, 3, 5]),
        (".T.contiguous().reshape(-1)[::2]", "c.npy", "0", &[0, 4, 3]),
        (".T.copy().T", "f.npy", "0", &[0, 2, 4, 1, 3, 5]),
        (".T.repeat_interleave(2, 1)", "f.npy", "0", &[0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]),
        ("pad((1, 0))", "big.npy", "258", &[1, 2, 0, 1, 2, 3, 4, 5]),
        ("reshape(1).expand(3)", "scalar.npy", "0", &[9, 9, 9]),
        ("pad((1, 0), (0, 0))", "empty.npy", "7", &[7, 7, 7]),
        ("flip(0)", "empty.npy", "0", &[]),
        ("flip(0)", "nothing.npy", "0", &[]),
    ] {
        applied(&folder, &[chain, input, "out.npy", "--fill", fill, "--force"]);
        assert_eq!(data(&folder, "out.npy"), expected, "{chain} of {input}");
    }
    let message = refused(&folder, &["pad((0, 9000000000000000000))", "big.npy", "refused.npy"]);
    assert_eq!(message, "error: the output would have more bytes than a file can have");
    let message = refused(&folder, &["pad((0, 1000000000000000000))", "big.npy", "refused.npy"]);
    assert!(message.starts_with("error: cannot write refused.npy: "), "{message}");
}

#[test]
fn tensors_are_chosen_by_name() {
    let header = r#"{"__metadata__":{"b":"1","a":"2"},
        "w":{"dtype":"U8","shape":[2,2],"data_offsets":[2,6]},"half":{"dtype":"F4","shape":[4],"data_offsets":[0,2]},
        "v":{"dtype":"BOOL","shape":[2],"data_offsets":[6,8]}}"#;
    let folder = folder_with(&[("in.safetensors", safetensors(header, &[0, 1, 2, 3, 4, 5, 1, 0]))]);
    applied(&folder, &["flip(0)", "in.safetensors", "out.safetensors", "--tensor", "w", "--tensor", "v"]);
    let written = fs::read(folder.path().join("out.safetensors")).unwrap();
    assert!(written[8..].starts_with(br#"{"__metadata__":{"b":"1","a":"2"},"half":{"dtype":"F4","shape":[4],"#));
    assert_eq!(written[written.len() - 8..], [0, 1, 4, 5, 2, 3, 0, 1]);
    for (args, message) in [
        (
            &["flip(0)"][..],
            "error: in.safetensors: tensor `half`: an element of F4 has 4 bits, and what is not a whole number of bytes cannot be moved; \
             --tensor NAME chooses the tensors that the chain is for",
        ),
        (&["flip(0)", "--tensor", "x"], "error: no tensor `x` in in.safetensors: there are half, w, v"),
        (
            &["flip(0)", "--tensor", "v", "--fill", "2"],
            "error: in.safetensors: tensor `v`: the fill value `2` is none of BOOL: expected true or false",
        ),
    ] {
        let args = [args, &["in.safetensors", "refused.safetensors"]].concat();
        assert_eq!(refused(&folder, &args), message);
    }
}

#[test]
fn an_output_of_several_blocks_is_whole() {
    let (rows, columns) = (9001, 9000);
    // At each place the rest of its number by 251. What is compared are slices: unoptimised, a walk over the elements takes 20 s.
    const REST: usize = 251;
    let mut matrix: Vec<u8> = (0..REST as u8).collect::<Vec<_>>().repeat(rows * columns / REST + 1);
    matrix.truncate(rows * columns);
    let folder = folder_with(&[("in.npy", npy("(9001, 9000)", &matrix))]);
    applied(&folder, &["permute(1, 0)", "in.npy", "out.npy"]);
    let column = |first: usize| (0..rows).map(|row| matrix[row * columns + first]).collect::<Vec<u8>>();
    // A column has the values of the one that is 251 to its left.
    let expected: Vec<Vec<u8>> = (0..REST).map(column).collect();
    let found = data(&folder, "out.npy");
    assert_eq!(found.len(), rows * columns);
    for (number, found) in found.chunks(rows).enumerate() {
        assert!(found == expected[number % REST], "column {number}");
    }
}

#[test]
fn the_output_is_a_file_like_any_other() {
    let folder = folder_with(&[("in.npy", npy("(2,)", &[1, 2])), ("other", vec![])]);
    applied(&folder, &["flip(0)", "in.npy", "out.npy"]);
    let permissions = |name| fs::metadata(folder.path().join(name)).unwrap().permissions();
    assert_eq!(permissions("out.npy"), permissions("other"));
    assert!(refused(&folder, &["flip(0)", "in.npy", "out.npy"]).ends_with("is there already; --force replaces it"));
    applied(&folder, &["flip(0).flip(0)", "in.npy", "out.npy", "--force"]);
    assert_eq!(data(&folder, "out.npy"), [1, 2]);
    applied(&folder, &["flip(0)", "in.npy", "dry.npy", "--dry-run"]);
    assert!(!folder.path().join("dry.npy").exists());
    assert_eq!(listing(&folder).len(), 3);
}

#[cfg(unix)]
#[test]
fn a_replaced_file_keeps_its_permissions() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    let folder = folder_with(&[("in.npy", npy("(2,)", &[1, 2]))]);
    let out = folder.path().join("out.npy");
    for mode in [0o600, 0o444, 0o400, 0o640, 0o666, 0o755] {
        fs::write(&out, "old").unwrap();
        fs::set_permissions(&out, PermissionsExt::from_mode(mode)).unwrap();
        applied(&folder, &["flip(0)", "in.npy", "out.npy", "--force"]);
        assert_eq!(data(&folder, "out.npy"), [2, 1]);
        assert_eq!(fs::metadata(&out).unwrap().mode() & 0o7777, mode, "{mode:o}");
        fs::remove_file(&out).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn the_input_is_never_written_to() {
    let folder = folder_with(&[("in.npy", npy("(2,)", &[1, 2])), ("target.npy", npy("(1,)", &[1]))]);
    let at = |name: &str| folder.path().join(name);
    fs::hard_link(at("in.npy"), at("hard.npy")).unwrap();
    std::os::unix::fs::symlink(at("in.npy"), at("soft.npy")).unwrap();
    std::os::unix::fs::symlink(at("target.npy"), at("link.npy")).unwrap();
    std::os::unix::fs::symlink(at("nowhere.npy"), at("dangling.npy")).unwrap();
    for output in ["in.npy", "./in.npy", "hard.npy", "soft.npy"] {
        let message = refused(&folder, &["flip(0)", "in.npy", output, "--force"]);
        assert_eq!(message, format!("error: {output} is the input, which is never written to"));
    }
    // A link goes on leading where it led.
    applied(&folder, &["flip(0)", "in.npy", "link.npy", "--force"]);
    assert!(at("link.npy").is_symlink());
    assert_eq!(data(&folder, "target.npy"), [2, 1]);
    for force in [&[][..], &["--force"]] {
        let message = refused(&folder, &[&["flip(0)", "in.npy", "dangling.npy"], force].concat());
        assert_eq!(message, "error: dangling.npy cannot be written: it is a link that leads nowhere");
    }
    refused(&folder, &["flip(0)", "in.npy", "/dev/null", "--force"]);
    refused(&folder, &["flip(0)", "/dev/zero", "out.npy"]);
}

#[test]
fn names_that_end_like_another_format_are_refused() {
    let folder = folder_with(&[("in.npy", npy("(2,)", &[1, 2]))]);
    for output in ["out.npz", "out.NPZ", "out.SafeTensors", "out.Pt"] {
        let message = refused(&folder, &["flip(0)", "in.npy", output]);
        let expected =
            format!("error: {output} would be in the format of the input, .npy: give it a name that ends so");
        assert_eq!(message, expected);
    }
    applied(&folder, &["flip(0)", "in.npy", "OUT.NPY"]);
}

#[test]
fn no_more_threads_are_started_than_have_work() {
    let folder = folder_with(&[("in.npy", npy("(3, 2)", &[0, 1, 2, 3, 4, 5])), ("large.npy", npy("(1,)", &[1]))]);
    applied(&folder, &["permute(1, 0)", "in.npy", "out.npy", "--threads", "1024"]);
    assert_eq!(data(&folder, "out.npy"), [0, 2, 4, 1, 3, 5]);
    applied(&folder, &["expand(1000000)", "large.npy", "out.npy", "--threads", "1024", "--force"]);
    assert_eq!(data(&folder, "out.npy"), [1; 1_000_000]);
    let message = refused(&folder, &["permute(1, 0)", "in.npy", "refused.npy", "--threads", "65535"]);
    assert!(
        message.starts_with("error: invalid value '65535' for '--threads <N>': 65535 is not in 0..=1024"),
        "{message}"
    );
}

#[test]
fn headers_that_readers_would_refuse_or_read_differently_are_refused() {
    let w = r#""w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}"#;
    let folder = folder_with(&[]);
    let at = folder.path().join("in.safetensors");
    for (entry, message) in [
        (r#""__metadata__":5"#, "__metadata__ must be an object of strings: expected an object, found 5"),
        (r#""__metadata__":["a"]"#, "__metadata__ must be an object of strings: expected an object, found a list"),
        (
            r#""__metadata__":{"a":{"b":"c"}}"#,
            "__metadata__ must be an object of strings: expected a string, found an object",
        ),
        (r#""__metadata__":{"a":"1","a":"2"}"#, "__metadata__ has two entries `a`"),
        (r#""__metadata__":{},"__metadata__":{}"#, "the header has two entries `__metadata__`"),
        (r#""\u0077":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}"#, "the header has two entries `w`"),
        (r#""v":{"dtype":"U8","dtype":"I8","shape":[0],"data_offsets":[0,0]}"#, "tensor `v`: duplicate field `dtype`"),
    ] {
        fs::write(&at, safetensors(&format!("{{{w},{entry}}}"), &[1])).unwrap();
        let said = refused(&folder, &["flip(0)", "in.safetensors", "out.safetensors"]);
        assert_eq!(said, format!("error: in.safetensors: {message}"), "{entry}");
    }
    for entry in [r#""__metadata__":null"#, r#""__metadata__":{}"#, r#""__metadata__":{"\n\"":""}"#] {
        fs::write(&at, safetensors(&format!("{{{w},{entry}}}"), &[1])).unwrap();
        applied(&folder, &["flip(0)", "in.safetensors", "out.safetensors", "--force"]);
    }
}

#[test]
fn what_cannot_be_planned_is_refused() {
    let folder = folder_with(&[("in.npy", npy("(1,)", &[1]))]);
    let chain = "expand(4000000000000000000)";
    let message = refused(&folder, &[chain, "in.npy", "out.npy"]);
    assert!(message.starts_with("error: ") && message.contains("shape (4000000000000000000,)"), "{message}");
    assert_eq!(refused(&folder, &[chain, "in.npy", "out.npy", "--dry-run"]), message);
    let plan = common::output(Command::new(common::command()).args(["plan", &format!("(1).{chain}"), "--width", "1"]));
    assert_eq!((plan.status.code(), String::from_utf8_lossy(&plan.stderr).trim_end()), (Some(2), &message[..]));
}

#[test]
fn damaged_files_are_refused() {
    let header = r#"{"w":{"dtype":"U8","shape":[2,2],"data_offsets":[0,4]}}"#;
    let folder = folder_with(&[]);
    let mut state = 7u32;
    let mut random = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    for (whole, name) in
        [(npy("(2, 2)", &[1, 2, 3, 4]), "in.npy"), (safetensors(header, &[1, 2, 3, 4]), "in.safetensors")]
    {
        let at = folder.path().join(name);
        for length in (0..whole.len()).filter(|length| is_held(*length as u64)) {
            fs::write(&at, &whole[..length]).unwrap();
            let message = refused(&folder, &["flip(0)", name, "out"]);
            assert!(message.starts_with(&format!("error: {name}: ")), "{length}: {message}");
        }
        for round in 0..300_u64 {
            let mut damaged = whole.clone();
            for _ in 0..1 + round % 3 {
                let end = damaged.len() - 4;
                let place = if round % 2 == 0 { random(end) } else { random(12) };
                damaged[place] = *[0, 255, b'9', b'(', b'[', b'\'', b'"', random(256) as u8].get(random(8)).unwrap();
            }
            if !is_held(round) {
                continue;
            }
            fs::write(&at, &damaged).unwrap();
            let output = apply(&folder, &["flip(0)", name, "out", "--force"]);
            // Some damage is none.
            assert!(matches!(output.status.code(), Some(0 | 2)), "{damaged:?}: {output:?}");
            assert_eq!(fs::read(&at).unwrap(), damaged);
        }
    }
    assert!(listing(&folder).len() <= 3);
}

/// The command under a limit of the shell.
#[cfg(unix)]
fn limited(folder: &TempDir, limit: &str, args: &[&str]) -> Output {
    let script = format!("ulimit {limit} && exec \"$0\" apply \"$@\"");
    common::output(Command::new("sh").current_dir(folder).args(["-c", &script, common::command()]).args(args))
}

#[cfg(unix)]
#[test]
fn a_file_that_finds_no_room_is_not_begun() {
    let folder = folder_with(&[("in.npy", npy("(1,)", &[1]))]);
    let output = limited(&folder, "-f 16", &["expand(100000)", "in.npy", "out.npy"]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "error: cannot write out.npy: File too large (os error 27)\n");
    assert_eq!((output.status.code(), listing(&folder).len()), (Some(2), 1));
}

/// A file system without room, where the machine lets us make one.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let folder = folder_with(&[("in.npy", npy("(1,)", &[1]))]);
    let script = "mkdir disk && mount -t tmpfs -o size=128k tmpfs disk || exit 99
        \"$0\" apply 'expand(1000000)' in.npy disk/out.npy; status=$?; ls -A disk; exit $status";
    let mut unshare = Command::new("unshare");
    let output = unshare
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script, common::command()])
        .current_dir(&folder);
    let output = match common::try_fed(output, b"") {
        Ok(output) if output.status.code() != Some(99) && !output.stderr.starts_with(b"unshare") => output,
        Ok(output) => return eprintln!("skipped: no small disk: {}", String::from_utf8_lossy(&output.stderr)),
        Err(error) if error.kind() != NotFound => panic!("unshare: {error}"),
        Err(_) => return eprintln!("skipped: there is no unshare"),
    };
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "error: cannot write disk/out.npy: No space left on device (os error 28)\n"
    );
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
}

/// The buffers are of a fixed size, and the input is mapped.
#[cfg(target_os = "linux")]
#[test]
fn files_may_be_larger_than_memory() {
    let folder = folder_with(&[("in.npy", npy("(300, 1000000)", &[]))]);
    let path = folder.path().join("in.npy");
    let begin = fs::metadata(&path).unwrap().len();
    // A file of 300 MB that takes no room.
    fs::File::options().write(true).open(&path).unwrap().set_len(begin + 300_000_000).unwrap();
    let output = limited(&folder, "-d 200000", &["flip(0)", "in.npy", "out.npy", "--threads", "1"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::metadata(folder.path().join("out.npy")).unwrap().len(), 300_000_128);
}

/// The signals that end a run.
#[cfg(unix)]
const ENDING: [i32; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

/// A run in a folder with one file, which has begun to write `out.npy` and will not end soon.
#[cfg(unix)]
fn begun(folder: &TempDir, args: &[&str], signals: &'static [i32], ignored: bool) -> Child {
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    let mut run = Command::new(common::command());
    run.current_dir(folder).arg("apply").args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut run = common::with_signals(&mut run, signals, ignored).spawn().unwrap();
    let begin = Instant::now();
    while fs::read_dir(folder).unwrap().count() < 2 {
        if begin.elapsed() > common::LONGEST || run.try_wait().unwrap().is_some() {
            let _ = run.kill();
            panic!("nothing is written: {:?}", common::finished(run));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let names: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert!(names.iter().any(|name| name.as_encoded_bytes().starts_with(b".out.npy.")), "{names:?}");
    run
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_nothing_behind() {
    use std::os::unix::process::ExitStatusExt;

    for (signal, json) in ENDING.into_iter().zip([&[][..], &["--json"], &[], &[]]) {
        let folder = folder_with(&[("in.npy", npy("(1,)", &[1]))]);
        let before = listing(&folder);
        let run = begun(&folder, &[&["expand(10000000000)", "in.npy", "out.npy"], json].concat(), &ENDING, false);
        common::send(&run, signal);
        let output = common::finished(run);
        // A shell that waits for it is told that it was interrupted, and not that it ended.
        assert_eq!(output.status.signal(), Some(signal), "{output:?}");
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(said.contains("interrupted: out.npy was not written"), "{said}");
        assert_eq!(said.starts_with('{'), !json.is_empty());
        assert_eq!(listing(&folder), before);
    }
}

/// As `nohup` and a shell's `&` start it.
#[cfg(unix)]
#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    use std::os::unix::process::ExitStatusExt;

    const IGNORED: [i32; 3] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT];
    let folder = folder_with(&[("in.npy", npy("(1,)", &[1]))]);
    let mut run = begun(&folder, &["expand(10000000000)", "in.npy", "out.npy"], &IGNORED, true);
    for signal in IGNORED {
        common::send(&run, signal);
    }
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert_eq!(run.try_wait().unwrap(), None);
    common::send(&run, libc::SIGTERM);
    assert_eq!(common::finished(run).status.signal(), Some(libc::SIGTERM));
    assert_eq!(listing(&folder).len(), 1);
}

#[cfg(unix)]
#[test]
fn found_by_an_audit_special_files_are_not_waited_for() {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    let folder = folder_with(&[("in.npy", npy("(2,)", &[1, 2]))]);
    let at = |name: &str| folder.path().join(name);
    assert!(common::output(Command::new("mkfifo").arg(at("fifo.npy"))).status.success());
    symlink("fifo.npy", at("link.npy")).unwrap();
    let _socket = UnixListener::bind(at("socket.npy")).unwrap();
    fs::create_dir(at("folder.npy")).unwrap();
    for (name, what) in [
        ("fifo.npy", "a FIFO"),
        ("link.npy", "a FIFO"),
        ("socket.npy", "a socket"),
        ("folder.npy", "a directory"),
        ("/dev/null", "a device"),
        ("/dev/zero", "a device"),
    ] {
        for more in [&[][..], &["--force"], &["--dry-run"], &["--dry-run", "--force"]] {
            let said = refused(&folder, &[&["flip(0)", "in.npy", name], more].concat());
            assert_eq!(said, format!("error: {name} cannot be written: it is {what}, and not a regular file"));
            let said = refused(&folder, &[&["flip(0)", name, "out.npy"], more].concat());
            assert_eq!(said, format!("error: cannot read {name}: it is {what}, and not a regular file"));
        }
        let batch = common::output(Command::new(common::command()).current_dir(&folder).args(["batch", name]));
        let said = String::from_utf8(batch.stderr).unwrap();
        assert_eq!(said, format!("error: cannot read {name}: it is {what}, and not a regular file\n"));
    }
    // What is no file on standard input is no file either; one that is, is.
    let script =
        "cat in.npy | \"$0\" apply 'flip(0)' /dev/stdin out.npy; \"$0\" apply 'flip(0)' /dev/stdin out.npy < in.npy";
    let output = common::output(Command::new("sh").current_dir(&folder).args(["-c", script, common::command()]));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said, "error: cannot read /dev/stdin: it is a FIFO, and not a regular file\n");
    assert_eq!(data(&folder, "out.npy"), [2, 1]);
}

#[cfg(unix)]
#[test]
fn found_by_an_audit_an_input_that_is_cut_short_ends_in_a_sentence() {
    for (json, threads) in [(&[][..], "1"), (&["--json"], "0"), (&[], "4")] {
        let folder = folder_with(&[("in.npy", npy("(100000, 100000)", &[]))]);
        let file = fs::File::options().write(true).open(folder.path().join("in.npy")).unwrap();
        let header = file.metadata().unwrap().len();
        // 10 GB that take no room.
        file.set_len(header + 10_000_000_000).unwrap();
        let args = [&["permute(1, 0)", "in.npy", "out.npy", "--threads", threads], json].concat();
        let run = begun(&folder, &args, &ENDING, false);
        file.set_len(header).unwrap();
        let output = common::finished(run);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let why = "cannot read in.npy: it was cut short while it was read, or its disk fails";
        let [said, nothing, expected] = match json {
            [] => [output.stderr, output.stdout, format!("error: {why}\n").into()],
            _ => {
                let error = format!("{{\"error\":{{\"kind\":\"io\",\"message\":\"{why}\"}}}}\n");
                [output.stdout, output.stderr, error.into()]
            }
        };
        assert_eq!((String::from_utf8(said), nothing), (String::from_utf8(expected), vec![]));
        assert_eq!(listing(&folder).len(), 1);
    }
}

#[test]
fn found_by_an_audit_an_array_may_be_followed_by_anything() {
    let two = [npy("(2, 2)", &[1, 2, 3, 4]), npy("(2,)", &[5, 6])].concat();
    let folder = folder_with(&[("two.npy", two)]);
    applied(&folder, &["permute(1, 0)", "two.npy", "out.npy"]);
    assert_eq!(data(&folder, "out.npy"), [1, 3, 2, 4]);
}

#[test]
fn found_by_an_audit_offsets_of_any_size_are_called_numbers() {
    let folder = folder_with(&[]);
    for offset in ["18446744073709551616", "100000000000000000000"] {
        let header = format!(r#"{{"w":{{"dtype":"U8","shape":[1],"data_offsets":[0,{offset}]}}}}"#);
        fs::write(folder.path().join("in.safetensors"), safetensors(&header, &[1])).unwrap();
        let expected =
            format!("error: in.safetensors: tensor `w`: expected an unsigned 64-bit integer, found {offset}");
        assert_eq!(refused(&folder, &["flip(0)", "in.safetensors", "out.safetensors"]), expected);
    }
}

#[cfg(not(feature = "zarr"))]
#[test]
fn what_takes_another_build_says_so() {
    let folder = folder_with(&[]);
    fs::create_dir(folder.path().join("in.zarr")).unwrap();
    let said = refused(&folder, &["flip(0)", "in.zarr", "out.zarr"]);
    let sentence = "error: cannot read in.zarr: arrays of Zarr take a command that was built with the feature zarr: ";
    assert!(said.starts_with(sentence), "{said}");
}
