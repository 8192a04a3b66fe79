"""Whether files that `shapetracker apply` writes are what NumPy and the safetensors package read and write.

The argument is the command. Prints how many files were compared, or what is wrong with the first that is; or why nothing
can be compared.
"""

import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
except ImportError as error:
    sys.exit(print(f"skipped: {error}"))

COMMAND = sys.argv[1]
RANDOM = random.Random(4)
# Values as the command reads them, and as NumPy does.
FILLS = {"b": ("True", True), "i": ("-2", -2), "u": ("3", 3), "f": ("-1.5", -1.5), "c": ("1.5-2j", 1.5 - 2j), "M": ("7", 7)}
FILLS["m"] = "NaT", -(2**63)


def run(*arguments, status=0):
    """Runs the command; returns its answer."""
    done = subprocess.run([COMMAND, "apply", "--json", *arguments], capture_output=True, text=True, timeout=300)
    if done.returncode != status or done.stderr:
        sys.exit(f"{arguments} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def content(path):
    with open(path, "rb") as file:
        return file.read()


def elements(array):
    """The array with elements that are nothing but bytes, so that copies of structures take along what is between fields."""
    return array.view(np.dtype(("V", array.dtype.itemsize))) if array.dtype.itemsize else array


def padded(array, pads, fill):
    """The array with elements around it."""
    result = np.empty([before + size + after for (before, after), size in zip(pads, array.shape)], array.dtype)
    result[...] = fill
    result[tuple(slice(before, before + size) for (before, after), size in zip(pads, array.shape))] = array
    return result


def filling(dtype):
    """A value of a type as the command reads it, and as an array of no axes."""
    text, value = FILLS.get(dtype.kind, ("0", 0))
    # The longest floats have no common format.
    if dtype.names or dtype.kind in "SUV" or dtype.char in "gG":
        return "0", np.zeros((), dtype)
    integers = np.dtype(f"{dtype.byteorder}i8")
    return text, np.array(value, integers).view(dtype) if dtype.kind in "mM" else np.array(value, dtype)


def chain_for(array, fill):
    """A random chain, and the array that comes of it."""
    operations, result = [f"permute({', '.join(map(str, range(array.ndim)))})"], array
    for _ in range(RANDOM.randint(0, 4)):
        rank = result.ndim
        kind = RANDOM.choice(["permute", "reshape", "flip", "step", "pad", "shrink", "expand", "copy", "repeat_interleave"])
        if kind == "permute":
            arguments = RANDOM.sample(range(rank), rank)
            result = result.transpose(arguments)
        elif kind == "reshape":
            arguments = [result.size] if RANDOM.random() < 0.5 else [1, *result.shape[::-1]]
            result = result.reshape(arguments)
        elif kind == "flip":
            arguments = RANDOM.sample(range(rank), RANDOM.randint(0, rank))
            result = np.flip(result, arguments)
        elif kind == "step":
            arguments = [RANDOM.choice([1, 2, -1, -3]) for _ in range(rank)]
            result = result[tuple(slice(None, None, step) for step in arguments)]
        elif kind == "copy":
            kind, arguments = RANDOM.choice(["copy", "contiguous"]), []
        elif kind == "repeat_interleave":
            if rank == 0 or result.size > 10_000:
                continue
            arguments = [RANDOM.randint(1, 2), RANDOM.randrange(rank)]
            result = np.repeat(result, *arguments)
        elif kind == "pad":
            arguments = [(RANDOM.randint(0, 2), RANDOM.randint(0, 2)) for _ in range(rank)]
            result = padded(result, arguments, fill)
        elif kind == "shrink":
            arguments = [(size // 3, size) for size in result.shape]
            result = result[tuple(slice(*range) for range in arguments)]
        else:
            arguments = [RANDOM.randint(0, 3) if size == 1 else size for size in result.shape]
            result = np.broadcast_to(result, arguments)
        operations.append(f"{kind}({', '.join(map(str, arguments))})")
    return ".".join(operations), result


def numpy_types():
    """Every kind of type that NumPy writes."""
    for order, letters in itertools.product("<>", "i2 i4 i8 u2 u4 u8 f2 f4 f8 c8 c16 U3 M8[ns] M8[25s] m8[D] m8".split()):
        yield np.dtype(order + letters)
    for letters in "? i1 u1 g G S1 S7 V1 V5 V16 V33".split():
        yield np.dtype(letters)
    yield np.dtype([("a", "<i4"), ("b", "|S3")])
    yield np.dtype([("a", "<i2"), ("b", "<f8"), ("c", "u1")], align=True)
    yield np.dtype([(("title", "a"), ">u2"), ("nested", [("x", "<f4", (2, 3)), ("y", "<M8[us]")])])
    yield np.dtype([("\u03b1", "<f4"), ("it's \\ \"", "?")])


def numpy_arrays():
    shapes = [(), (1,), (7,), (0,), (3, 2), (2, 0, 3), (3, 4, 5), (2, 1, 3, 1, 2)]
    for dtype in numpy_types():
        for order in "CF":
            for shape in RANDOM.sample(shapes, 3):
                count = int(np.prod(shape))
                raw = bytes(RANDOM.randrange(2 if dtype == bool else 256) for _ in range(count * dtype.itemsize))
                array = np.frombuffer(raw, dtype, count).reshape(shape)
                yield elements(array).copy(order).view(dtype)


def compare_numpy():
    warnings.simplefilter("ignore")
    compared = 0
    for array in numpy_arrays():
        fill, value = filling(array.dtype)
        chain, expected = chain_for(elements(array), elements(value))
        expected = np.array(expected, order="C", copy=True).view(array.dtype)
        latin = all(ord(c) < 256 for c in str(array.dtype))
        version = RANDOM.choice([None, (1, 0), (2, 0), (3, 0)]) if latin else (3, 0)
        with open("in.npy", "wb") as file:
            np.lib.format.write_array(file, array, version)
        before = content("in.npy")
        answer = run(chain, "in.npy", "out.npy", "--force", f"--fill={fill}", f"--threads={RANDOM.randint(0, 3)}")
        np.save("expected.npy", expected)
        if content("out.npy") != content("expected.npy"):
            sys.exit(f"{chain} of {array.dtype} {array.shape}: other bytes than numpy.save writes")
        loaded = np.load("out.npy", mmap_mode="r" if expected.size else None)
        if (loaded.shape, loaded.dtype) != (expected.shape, array.dtype) or content("in.npy") != before:
            sys.exit(f"{chain} of {array.dtype} {array.shape}: {loaded.shape} {loaded.dtype}")
        if answer["bytes_written"] != expected.nbytes:
            sys.exit(f"{chain} of {array.dtype} {array.shape}: {answer}")
        compared += 1
    return compared


def compare_refusals():
    """What has no fixed size, and what is damaged, is refused."""
    objects = np.array([1, "a", None], dtype=object)
    structure = np.zeros(2, [("a", "<i4"), ("b", object)])
    for array in objects, structure:
        np.save("in.npy", array, allow_pickle=True)
        message = run("flip(0)", "in.npy", "refused.npy", status=2)["error"]["message"]
        if "Python objects" not in message:
            sys.exit(f"{array.dtype}: {message}")
    np.savez("in.npz", objects.astype(str))
    if "ZIP" not in run("flip(0)", "in.npz", "refused.npy", status=2)["error"]["message"]:
        sys.exit("an archive is no array")
    if os.path.exists("refused.npy"):
        sys.exit("what is refused is written all the same")


def compare_what_follows():
    """NumPy reads the first array of a file, whatever comes after it, and so does the command."""
    for array in np.arange(10), np.array(7), np.zeros((0, 3)), np.asfortranarray(np.arange(6).reshape(2, 3)):
        for more in b"\n", b"\x93NUMPY", content("in.npy"):
            np.save("in.npy", array)
            with open("in.npy", "ab") as file:
                file.write(more)
            run("reshape(-1).flip(0)", "in.npy", "out.npy", "--force")
            if not np.array_equal(np.load("out.npy"), np.load("in.npy").reshape(-1)[::-1]):
                sys.exit(f"{array!r} and {len(more)} bytes more")


def compare_code():
    """Lines of NumPy are read as NumPy means them, also where that depends on the shape."""
    lines = "x.T", "x[::-1].T", "x[..., 0]", "np.moveaxis(x, 0, -1)", "x.swapaxes(0, -1)[None]", "np.flip(x, -1)", "x.ravel()[::-2]"
    for x in np.arange(12).reshape(3, 4), np.asfortranarray(np.arange(24).reshape(2, 3, 4)):
        np.save("in.npy", x)
        for line in lines:
            run(line, "in.npy", "out.npy", "--force")
            if not np.array_equal(np.load("out.npy"), eval(line)):
                sys.exit(f"{line} of {x.shape}: {np.load('out.npy')}")


def compare_safetensors():
    try:
        import safetensors
        from safetensors.numpy import load_file, save_file
    except ImportError as error:
        print(f"skipped: {error}")
        return 0
    types = "bool u1 i1 u2 i2 f2 u4 i4 f4 u8 i8 f8 c8".split()
    tensors = {}
    for number, dtype in enumerate(types):
        shape = RANDOM.choice([(2, 3), (4, 1), (3, 5)])
        tensors[f"layer.{number}.{dtype}"] = np.array(
            [RANDOM.randrange(2) for _ in range(int(np.prod(shape)))], dtype
        ).reshape(shape)
    tensors["scalar"] = np.array(3.5, "<f4")
    tensors["empty"] = np.zeros((0, 3), "<i8")
    metadata = {"format": "pt", "note": "\u00e9 \u03b1"}
    save_file(tensors, "in.safetensors", metadata)
    two = [name for name, tensor in tensors.items() if tensor.ndim == 2]
    chosen = itertools.chain.from_iterable(("--tensor", name) for name in two)
    answer = run("permute(1, 0).pad((1, 0), (0, 2))", "in.safetensors", "out.safetensors", "--fill", "1", *chosen)
    if answer["unchanged"] != 1:
        sys.exit(f"one tensor is not chosen: {answer}")
    loaded = load_file("out.safetensors")
    if loaded.keys() != tensors.keys():
        sys.exit(f"other tensors: {loaded.keys()}")
    for name, tensor in tensors.items():
        expected = padded(tensor.T, [(1, 0), (0, 2)], 1) if name in two else tensor
        if loaded[name].dtype != tensor.dtype or not np.array_equal(loaded[name], expected):
            sys.exit(f"{name}: {loaded[name]} and not {expected}")
    with safetensors.safe_open("out.safetensors", "np") as file:
        if file.metadata() != metadata:
            sys.exit(f"other metadata: {file.metadata()}")
    # Of the same shapes, it is the same file.
    run("flip(0).flip(0)", "in.safetensors", "same.safetensors", "--tensor", two[0])
    with open("in.safetensors", "rb") as one, open("same.safetensors", "rb") as other:
        lengths = [int.from_bytes(file.read(8), "little") for file in (one, other)]
        headers = [json.loads(file.read(length)) for file, length in zip((one, other), lengths)]
        if headers[0] != headers[1] or one.read() != other.read():
            sys.exit("the same tensors give another file")
    return len(tensors)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    arrays = compare_numpy()
    compare_refusals()
    compare_what_follows()
    compare_code()
    tensors = compare_safetensors()
    left = [name for name in os.listdir() if name.endswith(".unfinished")]
    if left:
        sys.exit(f"left behind: {left}")
    os.chdir("/")
print(f"{arrays} files are as numpy.save writes them, {tensors} tensors as safetensors reads them")
