//! `shapetracker apply` on arrays of Zarr: what it writes, and what it leaves alone.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Runs the command in a folder.
fn apply(folder: &TempDir, args: &[&str]) -> Output {
    common::output(Command::new(common::command()).current_dir(folder).arg("apply").args(args))
}

/// Runs the command, which must refuse and leave everything as it was; returns what it says.
fn refused(folder: &TempDir, args: &[&str]) -> String {
    let before = listing(folder.path());
    let output = apply(folder, args);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}: {said}");
    assert_eq!(listing(folder.path()), before, "{args:?}");
    said.trim_end().to_owned()
}

/// The paths and contents of all files in a folder and the folders in it.
fn listing(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            all.push((format!("{name}/"), Vec::new()));
            all.extend(listing(&entry.path()).into_iter().map(|(path, content)| (format!("{name}/{path}"), content)));
        } else {
            all.push((name, fs::read(entry.path()).unwrap()));
        }
    }
    all.sort();
    all
}

fn list(numbers: &[usize]) -> String {
    format!("[{}]", numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(", "))
}

/// An array of bytes whose chunks are not encoded: its metadata.
fn metadata(shape: &[usize], chunk: &[usize], data_type: &str, codecs: &str) -> String {
    format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": {}, "data_type": "{data_type}", "fill_value": 7,
        "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": {}}}}},
        "chunk_key_encoding": {{"name": "default", "configuration": {{"separator": "/"}}}},
        "codecs": [{codecs}], "attributes": {{"of": "bytes"}}}}"#,
        list(shape),
        list(chunk),
    )
}

/// Every index of a shape, in row-major order.
fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    shape.iter().fold(vec![Vec::new()], |indices, &size| {
        indices.into_iter().flat_map(|index| (0..size).map(move |i| [&index[..], &[i]].concat())).collect()
    })
}

fn position(index: &[usize], shape: &[usize]) -> usize {
    index.iter().zip(shape).fold(0, |position, (&i, &size)| position * size + i)
}

fn file_of(chunk: &[usize]) -> String {
    std::iter::once("c".to_owned()).chain(chunk.iter().map(usize::to_string)).collect::<Vec<_>>().join("/")
}

/// Writes an array of bytes, by a loop over its elements; chunks for which `missing` says so are not stored.
fn write(folder: &Path, shape: &[usize], chunk: &[usize], data: &[u8], missing: impl Fn(&[usize]) -> bool) {
    let counts: Vec<usize> = shape.iter().zip(chunk).map(|(size, chunk)| size.div_ceil(*chunk)).collect();
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("zarr.json"), metadata(shape, chunk, "uint8", r#"{"name": "bytes"}"#)).unwrap();
    for number in indices(&counts).iter().filter(|number| !missing(number)) {
        let element = |inside: &Vec<usize>| {
            let index: Vec<usize> = (0..shape.len()).map(|axis| number[axis] * chunk[axis] + inside[axis]).collect();
            // What is beyond the edge is anything.
            if index.iter().zip(shape).all(|(i, size)| i < size) { data[position(&index, shape)] } else { 99 }
        };
        let path = folder.join(file_of(number));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, indices(chunk).iter().map(element).collect::<Vec<u8>>()).unwrap();
    }
}

/// Reads an array of bytes that is not encoded, by a loop over its elements.
fn read(folder: &Path) -> (Vec<usize>, Vec<u8>) {
    let metadata: serde_json::Value = serde_json::from_slice(&fs::read(folder.join("zarr.json")).unwrap()).unwrap();
    let sizes = |value: &serde_json::Value| -> Vec<usize> {
        value.as_array().unwrap().iter().map(|size| size.as_u64().unwrap() as usize).collect()
    };
    assert_eq!(metadata["attributes"]["of"], "bytes");
    let (shape, chunk) = (sizes(&metadata["shape"]), sizes(&metadata["chunk_grid"]["configuration"]["chunk_shape"]));
    let element = |index: Vec<usize>| {
        let number: Vec<usize> = index.iter().zip(&chunk).map(|(i, size)| i / size).collect();
        let inside: Vec<usize> = index.iter().zip(&chunk).map(|(i, size)| i % size).collect();
        match fs::read(folder.join(file_of(&number))) {
            Ok(bytes) => {
                assert_eq!(bytes.len(), chunk.iter().product::<usize>());
                bytes[position(&inside, &chunk)]
            }
            Err(_) => 7,
        }
    };
    let data = indices(&shape).into_iter().map(element).collect();
    (shape, data)
}

/// A file .npy of bytes.
fn npy(shape: &[usize], data: &[u8]) -> Vec<u8> {
    let sizes: String = shape.iter().map(|size| format!("{size}, ")).collect();
    let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({sizes}), }}\n").replace("(, )", "()");
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data].concat()
}

/// The data of a file .npy.
fn data(path: &Path) -> Vec<u8> {
    let file = fs::read(path).unwrap();
    file[10 + usize::from(u16::from_le_bytes([file[8], file[9]]))..].to_vec()
}

fn as_strings<'a>(args: &[&'a str], more: &'a [String]) -> Vec<&'a str> {
    args.iter().copied().chain(more.iter().map(String::as_str)).collect()
}

/// Numbers that look random and are the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % end
    }
}

#[test]
fn chunks_are_moved_as_a_file_is() {
    let chains: [(&[usize], &str); 9] = [
        (&[6, 10], "permute(1, 0)"),
        (&[6, 10], "reshape(4, 15).permute(1, 0).reshape(-1)"),
        (&[6, 10], "pad((2, 1), (0, 3)).flip(0).reshape(9, 13).step(2, -3)"),
        (&[24], "reshape(2, 3, 4).permute(2, 0, 1).reshape(6, 4)"),
        (&[5, 1, 7], "expand(5, 3, 7).permute(2, 1, 0).shrink((1, 6), (0, 3), (2, 5))"),
        (&[3, 4, 5], "pad((0, 9), (0, 0), (0, 0))"),
        (&[], "reshape(1, 1).expand(3, 4).pad((1, 0), (0, 1))"),
        (&[4], "shrink((1, 2)).reshape()"),
        (&[0, 3], "pad((2, 0), (0, 0))"),
    ];
    let mut numbers = Numbers(18);
    let mut refused = 0;
    for (shape, chain) in chains {
        for turn in 0..6 {
            let folder = tempfile::tempdir().unwrap();
            let at = |name: &str| folder.path().join(name);
            let chunk: Vec<usize> = shape.iter().map(|size| 1 + numbers.below(size + 2)).collect();
            let counts: Vec<usize> = shape.iter().zip(&chunk).map(|(size, chunk)| size.div_ceil(*chunk)).collect();
            let without = if turn < 2 { None } else { Some(numbers.below(counts.iter().product::<usize>().max(1))) };
            let missing = |number: &[usize]| Some(position(number, &counts)) == without;
            let mut elements: Vec<u8> = (0..shape.iter().product::<usize>()).map(|i| i as u8 + 10).collect();
            write(&at("in.zarr"), shape, &chunk, &elements, missing);
            for index in indices(shape) {
                let number: Vec<usize> = index.iter().zip(&chunk).map(|(i, size)| i / size).collect();
                if missing(&number) {
                    elements[position(&index, shape)] = 7;
                }
            }
            fs::write(at("in.npy"), npy(shape, &elements)).unwrap();
            let output = apply(&folder, &[chain, "in.npy", "out.npy", "--fill", "5"]);
            assert!(output.status.success(), "{output:?}");
            let json = apply(&folder, &[chain, "in.npy", "more.npy", "--dry-run", "--json"]).stdout;
            let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
            let to = json["tensors"][0]["to"].as_array().unwrap();
            let to: Vec<usize> = to.iter().map(|size| size.as_u64().unwrap() as usize).collect();
            let mut more: Vec<String> = vec![format!("--threads={}", 1 + numbers.below(3))];
            if turn % 2 == 1 {
                let chunks: Vec<usize> = to.iter().map(|size| 1 + numbers.below(size + 1)).collect();
                more.push(format!("--chunks={}", list(&chunks)));
            }
            if turn == 4 {
                more.push("--memory=400".into());
            }
            let output = apply(&folder, &as_strings(&[chain, "in.zarr", "out.zarr", "--fill", "5"], &more));
            let said = String::from_utf8_lossy(&output.stderr);
            if turn == 4 && said.starts_with("error: --memory is too little") {
                refused += 1;
                continue;
            }
            assert!(output.status.success(), "{chain} {more:?}: {said}");
            let (found, elements) = read(&at("out.zarr"));
            assert_eq!((found, elements), (to, data(&at("out.npy"))), "{chain} {more:?}");
        }
    }
    assert!(refused < 9, "some of the arrays fit");
}

#[test]
fn zarr_python_reads_what_is_written() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/zarr_arrays.py");
    let output = match common::try_fed(Command::new("python3").args([script, common::command()]), b"") {
        Ok(output) => output,
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => panic!("python3: {error}"),
        Err(_) => return eprintln!("skipped: there is no python3"),
    };
    let [said, complained] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{said}{complained}");
    eprint!("{said}");
}

/// A folder with an array of 6 by 4 bytes in chunks of 2 by 3.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let elements: Vec<u8> = (10..34).collect();
    write(&folder.path().join("in.zarr"), &[6, 4], &[2, 3], &elements, |_| false);
    folder
}

#[test]
fn what_cannot_be_is_refused_with_a_sentence() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let make = |name: &str, metadata: &str| {
        fs::create_dir(at(name)).unwrap();
        fs::write(at(name).join("zarr.json"), metadata).unwrap();
    };
    fs::create_dir(at("nothing.zarr")).unwrap();
    make("group.zarr", r#"{"zarr_format": 3, "node_type": "group"}"#);
    make("cut.zarr", &metadata(&[2], &[2], "uint8", "")[..60]);
    make("text.zarr", &metadata(&[2], &[2], "string", r#"{"name": "vlen-utf8"}"#).replace(": 7", r#": """#));
    make("codec.zarr", &metadata(&[2], &[2], "uint8", r#"{"name": "bytes"}, {"name": "brotli"}"#));
    make("type.zarr", &metadata(&[2], &[2], "float128", r#"{"name": "bytes"}"#));
    make("rank.zarr", &metadata(&[2, 2], &[2], "uint8", r#"{"name": "bytes"}"#));
    make("zero.zarr", &metadata(&[2], &[0], "uint8", r#"{"name": "bytes"}"#));
    make("large.zarr", &metadata(&[1 << 40, 1 << 40], &[2, 2], "uint8", r#"{"name": "bytes"}"#));
    make("many.zarr", &metadata(&[1 << 40], &[2], "uint8", r#"{"name": "bytes"}"#));
    make("there.zarr", &metadata(&[2], &[2], "uint8", r#"{"name": "bytes"}"#));
    fs::create_dir(at("folder")).unwrap();
    fs::write(at("folder/file"), "kept").unwrap();
    fs::write(at("file.npy"), npy(&[2], &[1, 2])).unwrap();
    for (args, message) in [
        (
            &["flip(0)", "nothing.zarr", "out.zarr"][..],
            "nothing.zarr: the folder is no array of Zarr: it has neither a zarr.json nor a .zarray",
        ),
        (
            &["flip(0)", "group.zarr", "out.zarr"],
            "group.zarr: this is a group of arrays, and not an array: name one of the arrays in it",
        ),
        (&["flip(0)", "cut.zarr", "out.zarr"], "cut.zarr: "),
        (
            &["flip(0)", "text.zarr", "out.zarr"],
            "text.zarr: elements of type string differ in length, and cannot be moved",
        ),
        (&["flip(0)", "codec.zarr", "out.zarr"], "codec.zarr: codec brotli is not supported"),
        (&["flip(0)", "type.zarr", "out.zarr"], "type.zarr: data type float128 is not supported"),
        (&["flip(0)", "rank.zarr", "out.zarr"], "rank.zarr: "),
        (&["flip(0)", "zero.zarr", "out.zarr"], "zero.zarr: "),
        (&["flip(0)", "large.zarr", "out.zarr"], "large.zarr: "),
        (&["flip(0)", "many.zarr", "out.zarr"], "many.zarr: axis 0 has more than 16777216 chunks"),
        (&["flip(2)", "in.zarr", "out.zarr"], "flip: axis 2 does not exist: the tensor has 2 axes"),
        (&["flip(0)", "in.zarr", "there.zarr"], "there.zarr is there already; --force replaces it"),
        (&["flip(0)", "in.zarr", "in.zarr", "--force"], "in.zarr is the input, which is never written to"),
        (
            &["flip(0)", "in.zarr", "in.zarr/c/out.zarr"],
            "in.zarr/c/out.zarr lies in the input, which is never written to",
        ),
        (&["flip(0)", "in.zarr", "folder", "--force"], "folder is no array of Zarr, and nothing else is replaced"),
        (
            &["flip(0)", "in.zarr", "group.zarr", "--force"],
            "group.zarr is no array of Zarr, and nothing else is replaced",
        ),
        (&["flip(0)", "in.zarr", "file.npy", "--force"], "file.npy cannot be replaced by a folder: it is none"),
        (&["flip(0)", "in.zarr", "no/out.zarr"], "no/out.zarr cannot be written: there is no folder no"),
        (
            &["flip(0)", "in.zarr", "out.npy"],
            "out.npy would be in the format of the input, a folder of Zarr: give it a name that ends in .zarr",
        ),
        (
            &["flip(0)", "file.npy", "out.zarr"],
            "out.zarr would be in the format of the input, .npy: give it a name that ends so",
        ),
        (&["flip(0)", "in.zarr", "out.zarr", "--tensor", "x"], "an array of Zarr has no name: leave --tensor away"),
        (
            &["flip(0)", "in.zarr", "out.zarr", "--fill", "256"],
            "the fill value 256 is outside 0 to 255, the range of uint8",
        ),
        (
            &["flip(0)", "in.zarr", "out.zarr", "--chunks", "2"],
            "--chunks takes one size per axis: the output has shape (6, 4), not (2,)",
        ),
        (
            &["flip(0)", "in.zarr", "out.zarr", "--chunks", "2,0"],
            "--chunks (2, 0): the size along axis 1 is 0, and must be 1 or more",
        ),
        (
            &["flip(0)", "in.zarr", "out.zarr", "--memory", "10B"],
            "--memory is too little: a chunk that is read and one that is written take ",
        ),
        (
            &["flip(0)", "file.npy", "out.npy", "--chunks", "2"],
            "--chunks is for arrays of Zarr, which are folders, and file.npy is none",
        ),
    ] {
        let said = refused(&folder, args);
        assert!(said.starts_with(&format!("error: {message}")), "{args:?}: {said}");
    }
    let said = refused(&folder, &["flip(0)", "in.zarr", "out.zarr", "--memory", "lots"]);
    assert!(said.contains("expected a number of bytes such as 128MiB"), "{said}");
}

#[test]
fn broken_metadata_are_named_for_what_they_are() {
    let folder = folder();
    let v3 = metadata(&[2], &[2], "uint8", r#"{"name": "bytes"}"#);
    let v2 = r#"{"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "|u1", "compressor": null, "fill_value": 0,
        "order": "C", "filters": null}"#;
    let python = "shapetracker.zarr.apply";
    let cases = [
        ("zarr.json", String::new(), "zarr.json is empty"),
        ("zarr.json", "no JSON".into(), "zarr.json is not JSON: expected ident at line 1 column 2"),
        ("zarr.json", v3[..60].into(), "zarr.json is not JSON: EOF while parsing"),
        (
            "zarr.json",
            v3.replace(r#""node_type":"#, r#""node_type""#),
            "zarr.json is not JSON: expected `:` at line 1 column",
        ),
        ("zarr.json", "[1, 2]".into(), "zarr.json is JSON, but [1,2] is no object, and describes no array"),
        ("zarr.json", "{}".into(), "zarr.json has no `node_type`, which is to be \"array\""),
        (
            "zarr.json",
            v3.replace("\"array\"", "\"tensor\""),
            "`node_type` in zarr.json is tensor, and is to be \"array\"",
        ),
        (
            "zarr.json",
            v3.replace("\"zarr_format\": 3", "\"zarr_format\": 4"),
            "`zarr_format` in zarr.json is 4, and is to be 3",
        ),
        (
            "zarr.json",
            v3.replace("\"codecs\"", "\"codec\""),
            "zarr.json has no `codecs`, which is to be a list of codecs",
        ),
        (
            "zarr.json",
            v3.replace("\"shape\": [2]", "\"shape\": [-2]"),
            "`shape` in zarr.json is [-2], and is to be a list of whole",
        ),
        (
            "zarr.json",
            v3.replace("[{\"name\": \"bytes\"}]", "[7]"),
            "`codecs` in zarr.json is [7], and is to be a list of codecs",
        ),
        (
            "zarr.json",
            v3.replace("\"uint8\"", "8"),
            "`data_type` in zarr.json is 8, and is to be a name or an object with a name",
        ),
        (
            "zarr.json",
            v3.replace("\"chunk_shape\": [2]", "\"chunk_shape\": [0]"),
            "`chunk_shape` in zarr.json is [0], and is to be one whole number from 1 on for each axis of shape [2]",
        ),
        (
            "zarr.json",
            metadata(&[2, 2], &[2], "uint8", "{\"name\": \"bytes\"}"),
            "`chunk_shape` in zarr.json is [2], and is to be",
        ),
        (
            "zarr.json",
            v3.replace("\"uint8\"", "\"quaternion\""),
            "data type quaternion is not supported by this command",
        ),
        (
            "zarr.json",
            v3.replace("\"bytes\"}", "\"numcodecs.lz4\"}"),
            "codec numcodecs.lz4 is not supported by this command",
        ),
        (".zarray", "{".into(), ".zarray is not JSON: EOF while parsing an object at line 1 column 1"),
        (".zarray", v2.replace("\"|u1\"", "[[\"a\", \">i4\"]]"), "the field \"a\" has big-endian elements (>i4)"),
        (
            ".zarray",
            v2.replace("\"|u1\"", "[[\"a\", \"<i4\", [2]]]"),
            "the field [\"a\",\"<i4\",[2]] of a structure is not read",
        ),
        (
            ".zarray",
            v2.replace("\"|u1\"", "\"|O\""),
            "elements of type |O are objects of Python, which differ in length",
        ),
        (".zarray", v2.replace("\"|u1\"", "\"<f16\""), "elements of type <f16 are not supported by this command"),
        (".zarray", v2.replace("\"|u1\"", "\"float\""), "the dtype \"float\" is no type of NumPy"),
        (
            ".zarray",
            v2.replace("\"|u1\"", "{\"a\": 1}"),
            "`dtype` in .zarray is {\"a\":1}, and is to be a type of NumPy",
        ),
        (
            ".zarray",
            v2.replace("\"chunks\": [2]", "\"chunks\": [2, 2]"),
            "`chunks` in .zarray is [2,2], and is to be one whole",
        ),
        (
            ".zarray",
            v2.replace("\"order\": \"C\"", "\"order\": \"K\""),
            "`order` in .zarray is \"K\", and is to be \"C\" or \"F\"",
        ),
        (
            ".zarray",
            v2.replace("\"compressor\": null", "\"compressor\": \"zlib\""),
            "`compressor` in .zarray is \"zlib\", and is to be",
        ),
        (
            ".zarray",
            v2.replace("null, \"fill_value\"", "{\"id\": \"lzma\"}, \"fill_value\""),
            "codec lzma is not supported",
        ),
        (
            ".zarray",
            v2.replace("\"fill_value\": 0,", ""),
            ".zarray has no `fill_value`, which is to be a value of the type",
        ),
    ];
    for (number, (name, text, message)) in cases.iter().enumerate() {
        let array = format!("{number}.zarr");
        fs::create_dir(folder.path().join(&array)).unwrap();
        fs::write(folder.path().join(&array).join(name), text).unwrap();
        let said = refused(&folder, &["flip(0)", &array, "out.zarr"]);
        assert!(said.starts_with(&format!("error: {array}: {message}")), "{text}: {said}");
        // Nobody is spoken to in the words of a library, and what would work is said where something would.
        assert!(
            !["untagged", "variant", "missing field", "invalid type"].iter().any(|word| said.contains(word)),
            "{said}"
        );
        assert_eq!(said.contains("not supported"), said.contains(python), "{said}");
    }
}

#[test]
fn damaged_chunks_leave_nothing_behind() {
    let folder = folder();
    let chunk = folder.path().join("in.zarr/c/1/0");
    let whole = fs::read(&chunk).unwrap();
    for bytes in [&whole[..5], &[], &[&whole[..], &[0]].concat()] {
        fs::write(&chunk, bytes).unwrap();
        let said = refused(&folder, &["permute(1, 0)", "in.zarr", "out.zarr"]);
        assert!(said.starts_with("error: in.zarr: chunk (1, 0) cannot be read: "), "{said}");
    }
    fs::remove_file(&chunk).unwrap();
    fs::create_dir(&chunk).unwrap();
    let said = refused(&folder, &["permute(1, 0)", "in.zarr", "out.zarr"]);
    assert!(said.starts_with("error: in.zarr: chunk (1, 0) cannot be read: "), "{said}");
    // Encoded chunks, with every byte wrong in turn and cut anywhere: an array, or a sentence.
    for codecs in [
        r#"{"name": "bytes"}, {"name": "zstd", "configuration": {"level": 0, "checksum": false}}"#,
        r#"{"name": "bytes"}, {"name": "gzip", "configuration": {"level": 1}}"#,
        r#"{"name": "bytes"}, {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 1, "blocksize": 0}}"#,
        r#"{"name": "bytes"}, {"name": "crc32c"}"#,
        r#"{"name": "sharding_indexed", "configuration": {"chunk_shape": [8, 4], "codecs": [{"name": "bytes"}, {"name": "crc32c"}],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "index_location": "end"}}"#,
    ] {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let elements: Vec<u8> = (0..256).map(|i| (i / 3) as u8).collect();
        write(&at("plain.zarr"), &[16, 16], &[16, 16], &elements, |_| false);
        // Its codecs are those of the input: the metadata are exchanged after a run that encodes.
        write(&at("in.zarr"), &[16, 16], &[16, 16], &elements, |_| true);
        fs::write(at("in.zarr/zarr.json"), metadata(&[16, 16], &[16, 16], "uint8", codecs)).unwrap();
        assert!(
            apply(&folder, &["pad((0, 0), (0, 0))", "in.zarr", "empty.zarr", "--chunks", "16,16"]).status.success()
        );
        let encoded = apply(
            &folder,
            &["shrink((0, 0), (0, 16)).pad((8, 8), (0, 0))", "in.zarr", "out.zarr", "--fill", "3", "--chunks", "16,16"],
        );
        assert!(encoded.status.success(), "{}", String::from_utf8_lossy(&encoded.stderr));
        let path = at("out.zarr/c/0/0");
        let whole = fs::read(&path).unwrap();
        let step = (whole.len() / 60).max(1);
        let flipped =
            |at: usize| whole.iter().enumerate().map(|(i, &b)| if i == at { b ^ 0xff } else { b }).collect::<Vec<u8>>();
        for place in (0..whole.len()).step_by(step) {
            for bytes in [whole[..place].to_vec(), flipped(place)] {
                fs::write(&path, bytes).unwrap();
                let output = apply(&folder, &["permute(1, 0)", "out.zarr", "again.zarr"]);
                let said = String::from_utf8_lossy(&output.stderr);
                if output.status.success() {
                    fs::remove_dir_all(at("again.zarr")).unwrap();
                } else {
                    assert_eq!(output.status.code(), Some(2), "{codecs} {place}: {output:?}");
                    assert!(
                        said.starts_with("error: out.zarr: chunk (0, 0) cannot be read: "),
                        "{codecs} {place}: {said}"
                    );
                    assert!(!said.contains("panicked"), "{said}");
                }
                let names = fs::read_dir(&folder).unwrap().count();
                assert_eq!(names, 4, "{:?}", listing(folder.path()));
            }
        }
    }
}

#[test]
fn an_array_is_replaced_where_that_is_asked_for() {
    let folder = folder();
    assert!(apply(&folder, &["permute(1, 0)", "in.zarr", "out.zarr"]).status.success());
    fs::write(folder.path().join("out.zarr/more"), "of the old one").unwrap();
    let output = apply(&folder, &["reshape(24)", "in.zarr", "out.zarr", "--force"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (shape, elements) = read(&folder.path().join("out.zarr"));
    assert_eq!((shape, elements), (vec![24], (10..34).collect()));
    assert!(!folder.path().join("out.zarr/more").exists());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
}

#[test]
fn nothing_is_written_where_only_a_plan_is_asked_for() {
    let folder = folder();
    let before = listing(folder.path());
    let output = apply(&folder, &["permute(1, 0)", "in.zarr", "out.zarr", "--dry-run"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    assert!(said.starts_with("out.zarr would be written\n  uint8  (6, 4) to (4, 6)\n"), "{said}");
    assert_eq!(listing(folder.path()), before);
}

#[cfg(unix)]
#[test]
fn what_may_not_be_written_to_is_left_alone() {
    use std::os::unix::fs::PermissionsExt;

    let folder = folder();
    let place = folder.path().join("locked");
    fs::create_dir(&place).unwrap();
    fs::set_permissions(&place, fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(place.join("probe"), "").is_ok() {
        return eprintln!("skipped: whoever runs the tests may write anywhere");
    }
    let said = refused(&folder, &["flip(0)", "in.zarr", "locked/out.zarr"]);
    assert!(said.starts_with("error: cannot write locked/out.zarr: Permission denied"), "{said}");
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_no_array() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;
    use std::time::{Duration, Instant};

    const ENDING: [i32; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];
    for (signal, json) in ENDING.into_iter().zip([&[][..], &["--json"], &[], &[]]) {
        let folder = folder();
        let before = listing(folder.path());
        let mut run = Command::new(common::command());
        let args = [
            "apply",
            "reshape(1, 24).expand(1000000, 24)",
            "in.zarr",
            "out.zarr",
            "--chunks",
            "8,24",
            "--threads",
            "3",
        ];
        run.current_dir(&folder).args(args).args(json).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut run = common::with_signals(&mut run, &ENDING, false).spawn().unwrap();
        let begin = Instant::now();
        // It has begun when there are chunks of the output.
        let unfinished =
            || fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.join("c/8").exists());
        while unfinished().is_none() {
            if begin.elapsed() > common::LONGEST || run.try_wait().unwrap().is_some() {
                let _ = run.kill();
                panic!("nothing is written: {:?}", common::finished(run));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(!unfinished().unwrap().join("zarr.json").exists(), "what is not finished is no array");
        common::send(&run, signal);
        let output = common::finished(run);
        assert_eq!(output.status.signal(), Some(signal), "{output:?}");
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(said.contains("interrupted: out.zarr was not written"), "{said}");
        assert_eq!(said.starts_with('{'), !json.is_empty());
        assert_eq!(listing(folder.path()), before);
    }
}
