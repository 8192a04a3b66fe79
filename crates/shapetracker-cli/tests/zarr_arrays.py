"""Whether arrays that `shapetracker apply` writes are what zarr-python reads, and the other way round.

The arguments are the command, and perhaps how many arrays and the seed of the random ones. Prints how many arrays were compared, or what is wrong with the first that is; or why nothing
can be compared.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
    import zarr
    import zarr.codecs as codecs
except ImportError as error:
    sys.exit(print(f"skipped: {error}"))

COMMAND = sys.argv[1]
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 40
RANDOM = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 18)
DTYPES = ["bool", "i1", "u1", "<i2", ">u2", "<i4", ">i4", "<u8", "<f2", "<f4", ">f4", "<f8", "<c8", "<c16"]
DTYPES += ["<U3", ">U2", "S5", "S1", "V4", "V3", "<M8[s]", ">M8[D]", "<m8[10ms]", ">m8[ns]", [("a", "<i2"), ("b", "S3")]]
FILLS = {"b": "True", "i": "-2", "u": "3", "f": "-1.5", "c": "1.5-2j", "U": "0", "S": "0", "V": "0", "M": "-7", "m": "NaT"}
warnings.simplefilter("ignore")


def run(*arguments, status=0):
    """Runs the command; returns its answer."""
    command = [COMMAND, "apply", "--json", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != status or done.stderr:
        sys.exit(f"{arguments} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def factored(size):
    """A shape of so many elements."""
    shape = []
    while size > 1 and len(shape) < 3:
        factor = RANDOM.choice([f for f in range(1, size + 1) if size % f == 0])
        shape.append(factor)
        size //= factor
    return (*shape, size) if RANDOM.random() < 0.8 or size > 1 else tuple(shape)


def chain_of(array):
    """A random chain of operations as text, and what it makes of an array, and of the places that it fills."""
    text = []
    filled = np.zeros(array.shape, bool)
    for _ in range(RANDOM.randint(1, 4)):
        shape = array.shape
        rank = len(shape)
        operation = RANDOM.choice(["reshape", "permute", "pad", "shrink", "flip", "step", "expand"])
        if operation == "reshape":
            new = factored(array.size) if array.size else shape
            text.append(f"reshape({', '.join(map(str, new))})")
            change = lambda a, _: a.reshape(new)
        elif rank == 0:
            continue
        elif operation == "permute":
            axes = RANDOM.sample(range(rank), rank)
            text.append(f"permute({', '.join(map(str, axes))})")
            change = lambda a, _: a.transpose(axes)
        elif operation == "pad":
            pads = [(RANDOM.randint(0, 2), RANDOM.randint(0, 2)) for _ in shape]
            text.append(f"pad({', '.join(map(str, pads))})")
            change = lambda a, with_: np.pad(a, pads, constant_values=with_)
        elif operation == "shrink":
            begins = [RANDOM.randint(0, max(0, size - 1)) for size in shape]
            ranges = [(b, RANDOM.randint(min(b + 1, size), size)) for b, size in zip(begins, shape)]
            text.append(f"shrink({', '.join(map(str, ranges))})")
            change = lambda a, _: a[tuple(slice(b, e) for b, e in ranges)]
        elif operation == "flip":
            axis = RANDOM.randrange(rank)
            text.append(f"flip({axis})")
            change = lambda a, _: np.flip(a, axis)
        elif operation == "step":
            steps = [RANDOM.choice([1, 2, -1]) for _ in shape]
            text.append(f"step({', '.join(map(str, steps))})")
            change = lambda a, _: a[tuple(slice(None, None, s) for s in steps)]
        else:
            if 1 not in shape or array.size > 5000:
                continue
            new = [3 if size == 1 and RANDOM.random() < 0.7 else size for size in shape]
            text.append(f"expand({', '.join(map(str, new))})")
            change = lambda a, _: np.broadcast_to(a, new)
        if change(array, 0).size > 50_000:
            text.pop()
            continue
        array, filled = change(array, 0), change(filled, True)
    return ".".join(text) or "flip()", array, filled


def values(numbers, dtype):
    """An array of a type whose elements are made of small numbers."""
    numbers = np.asarray(numbers)
    if dtype.names:
        made = np.zeros(numbers.shape, dtype)
        for name in dtype.names:
            made[name] = numbers
        return made
    if dtype.kind == "V":
        return np.frombuffer(b"".join(int(n).to_bytes(dtype.itemsize, "big") for n in numbers.flat), dtype).reshape(numbers.shape)
    return numbers.astype("i8").astype(dtype) if dtype.kind in "Mm" else numbers.astype(dtype)


def written(path, array, version):
    """Writes an array in random chunks with random codecs, some of its chunks missing; returns what it holds then."""
    chunks = tuple(RANDOM.randint(1, size + 1) if size else 1 for size in array.shape)
    fill = values([RANDOM.choice([0, 1])], array.dtype)[0]
    options = {"shape": array.shape, "chunks": chunks, "dtype": array.dtype, "fill_value": fill}
    if version == 2:
        import numcodecs

        compressor = RANDOM.choice([None, numcodecs.Zstd(), numcodecs.GZip(), numcodecs.Zlib(), numcodecs.Blosc(), numcodecs.BZ2()])
        store = zarr.create_array(path, zarr_format=2, order=RANDOM.choice("CF"), compressors=compressor, **options)
    else:
        endian = "little" if array.dtype.byteorder != ">" else "big"
        serializer = codecs.BytesCodec(endian=None if array.dtype.itemsize == 1 or array.dtype.kind in "SV" else endian)
        compressors = RANDOM.choice([None, codecs.ZstdCodec(), codecs.GzipCodec(), codecs.BloscCodec(), codecs.Crc32cCodec()])
        filters = None
        if array.ndim > 1 and RANDOM.random() < 0.4:
            order = RANDOM.choice([tuple(reversed(range(array.ndim))), RANDOM.sample(range(array.ndim), array.ndim)])
            filters = [codecs.TransposeCodec(order=order)]
        # zarr-python reads and writes no shards whose fill value has no hash, as those of raw bytes and structures.
        if array.ndim and array.dtype.kind != "V" and RANDOM.random() < 0.4:
            options["shards"] = tuple(c * RANDOM.randint(1, 3) for c in chunks)
        store = zarr.create_array(
            path, zarr_format=3, filters=filters, serializer=serializer, compressors=compressors, attributes={"a": [1, None]}, **options
        )
    held = np.full(array.shape, fill, array.dtype)
    # Whole chunks are missing where nothing is written.
    part = tuple(slice(RANDOM.randint(0, size // 2), None) for size in array.shape) if RANDOM.random() < 0.3 else ...
    held[part] = array[part]
    if array.size:
        store[part] = array[part]
    return held


def compare(folder, number):
    """Compares what the command and NumPy make of a random array; returns whether."""
    dtype = np.dtype(RANDOM.choice(DTYPES))
    shape = tuple(RANDOM.randint(1, RANDOM.choice([3, 12, 40])) for _ in range(RANDOM.randint(0, 3)))
    if RANDOM.random() < 0.03:
        shape += (0,)
    array = np.frombuffer(RANDOM.randbytes(int(np.prod(shape)) * 8), "<i8").reshape(shape)
    array = values(array % 100, dtype)
    inside, outside = os.path.join(folder, f"in{number}.zarr"), os.path.join(folder, f"out{number}.zarr")
    array = written(inside, array, RANDOM.choice([2, 3, 3]))
    chain, expected, filled = chain_of(array)
    fill = FILLS[dtype.kind]
    expected = expected.copy() if expected.ndim else np.array(expected, dtype)
    if dtype.kind in "USV":
        expected[filled] = np.zeros(1, dtype)[0]
    elif dtype.kind in "Mm":
        expected[filled] = np.array(np.iinfo("i8").min if fill == "NaT" else int(fill)).astype(dtype)
    else:
        expected[filled] = complex(fill) if dtype.kind == "c" else {"True": True}.get(fill) or float(fill)
    arguments = ["--fill", fill, "--threads", RANDOM.choice([1, 2, 5]), "--memory", RANDOM.choice(["1GiB", "40KB", "2MB"])]
    if RANDOM.random() < 0.5:
        chunks = [RANDOM.randint(1, size + 1) for size in expected.shape]
        arguments += ["--chunks", "(" + ", ".join(map(str, chunks)) + ")"]
        if dtype.kind != "V" and RANDOM.random() < 0.4:
            arguments += ["--shards", "(" + ", ".join(str(c * RANDOM.randint(1, 3)) for c in chunks) + ")"]
    command = [COMMAND, "apply", "--json", chain, inside, outside, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode == 2 and json.loads(done.stdout)["error"]["kind"] == "memory":
        assert "40KB" in arguments, (command, done.stdout)
        assert not os.path.exists(outside)
        return False
    if done.returncode != 0 or done.stderr:
        sys.exit(f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")
    answer = json.loads(done.stdout)
    output = zarr.open_array(outside, mode="r")
    found = output[...] if output.ndim else np.asarray(output[()])
    if not output.ndim:
        found = found.astype(dtype)
    if found.dtype.newbyteorder("=") != dtype.newbyteorder("=") or found.shape != expected.shape:
        sys.exit(f"{command}: {found.dtype} {found.shape} instead of {dtype} {expected.shape}")
    if not np.array_equal(found, expected, equal_nan=dtype.kind in "Mm"):
        sys.exit(f"{command}: {found} instead of {expected}")
    counts = answer["chunks"]
    assert counts["needed"] <= counts["count_from"] and counts["needed"] <= counts["reads"], answer
    if "a" in zarr.open_array(inside, mode="r").attrs:
        assert output.attrs["a"] == [1, None]
    assert sorted(os.listdir(folder)) == sorted({f"{way}{n}.zarr" for n in range(number + 1) for way in ("in", "out")} & set(os.listdir(folder)))
    return True


with tempfile.TemporaryDirectory() as folder:
    print(sum(compare(folder, number) for number in range(ROUNDS)), "arrays of Zarr compared")
