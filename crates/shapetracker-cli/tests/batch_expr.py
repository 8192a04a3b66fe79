"""Whether the expressions of `shapetracker batch --expr` give the recorded addresses, by Python's own reading of them.

The arguments are the command, the script that counts operations, and files of recorded layouts (JSON Lines, gzip).
Prints how many lines were checked, or what is wrong with the first that is.
"""

import gzip
import itertools
import json
import math
import struct
import subprocess
import sys
import zlib

# Python takes a microsecond or so for an element.
MOST_ELEMENTS_A_LINE = 5_000
MOST_ELEMENTS = 1_000_000


def crc32(shape, index, valid):
    """The CRC-32 of the addresses of all elements in row-major order, -1 where there is none."""
    names = ", ".join(f"idx{axis}" for axis in range(len(shape)))
    address = eval(f"lambda {names}: ({index}) if ({valid}) else -1")
    addresses = [address(*indices) for indices in itertools.product(*map(range, shape))]
    return f"{zlib.crc32(struct.pack(f'<{len(addresses)}q', *addresses)):08x}"


def chosen(files):
    """The lines of all files that are checked, with the addresses that they should have."""
    left = MOST_ELEMENTS
    records = itertools.chain.from_iterable(zip(*(map(json.loads, gzip.open(file, "rt")) for file in files)))
    for record in filter(lambda record: record.get("crc32"), records):
        size = math.prod(record["views"][-1]["shape"]) if "views" in record else record["numel"]
        if size <= min(left, MOST_ELEMENTS_A_LINE):
            left -= size
            yield record


command, counter, *files = sys.argv[1:]
records = list(chosen(files))
lines = "".join(json.dumps(record) + "\n" for record in records)
limited = dict(capture_output=True, text=True, check=True, timeout=300)
run = subprocess.run([command, "batch", "--crc32", "--expr"], input=lines, **limited)
answers = list(map(json.loads, run.stdout.splitlines()))
if len(answers) != len(records):
    sys.exit(f"{len(answers)} answers to {len(records)} lines")
for record, answer in zip(records, answers):
    found = crc32(answer["shape"], answer["index"], answer["valid"])
    if [answer["id"], answer["crc32"], found] != [record["id"], record["crc32"], record["crc32"]]:
        sys.exit(f"{record['id']}: the expressions give {found}, and it should be {record['crc32']}: {answer}")
pairs = "".join(f"{answer['index']}\t{answer['valid']}\n" for answer in answers)
run = subprocess.run([sys.executable, counter], input=pairs, **limited)
for answer, counted in zip(answers, run.stdout.splitlines(), strict=True):
    if f"{answer['cost']['ops']} {answer['cost']['divmods']}" != counted:
        sys.exit(f"{answer['id']}: counted are {counted} operations and divisions: {answer}")
print(f"{len(records)} lines have the recorded addresses, and cost what they say")
