"""Layouts of CuTe from Python: against the definitions, value by value, with code of their own."""

import doctest
import pickle
import random
from itertools import product

import pytest

import shapetracker.cute
from shapetracker import ShapeTracker, View
from shapetracker.cute import (
    AccessPattern,
    AccessReport,
    ComposedLayout,
    Explained,
    Layout,
    LinearLayout,
    NoLayout,
    Phase,
    Swizzle,
    audit,
    blocked_product,
    coalesce,
    complement,
    composition,
    cosize,
    crd2crd,
    crd2idx,
    depth,
    flat_divide,
    flat_product,
    flatten,
    hier_unzip,
    idx2crd,
    left_inverse,
    logical_divide,
    logical_product,
    make_layout,
    raked_product,
    rank,
    right_inverse,
    size,
    slice_,
    slice_and_offset,
    tiled_divide,
    tiled_product,
    zipped_divide,
    zipped_product,
)

# The definitions: a layout is a list of leaves, the leftmost fastest, and its values are listed one by one.


def leaves(shape, stride):
    """Sizes and strides from left to right."""
    if isinstance(shape, tuple):
        return [leaf for s, d in zip(shape, stride) for leaf in leaves(s, d)]
    return [(shape, stride)]


def values(shape, stride):
    """The values at the numbers 0, 1, .."""
    modes = leaves(shape, stride)
    entries = product(*(range(size) for size, _ in reversed(modes)))
    return [sum(entry * d for entry, (_, d) in zip(reversed(each), modes)) for each in entries]


def extended(shape, stride, number):
    """The value at a number, where the last mode goes on for ever."""
    modes, value = leaves(shape, stride), 0
    for at, (size, d) in enumerate(modes):
        last = at + 1 == len(modes)
        value += (number if last else number % size) * d
        number //= size
    return value


def is_layout(line):
    """Whether a list of values, the first of them 0, is one that modes have: by trying every first mode."""
    n = len(line)
    if n <= 1:
        return True
    for first in range(2, n + 1):
        if n % first == 0 and all(line[i] == i * line[1] for i in range(first)):
            blocks = [line[at : at + first] for at in range(0, n, first)]
            if all(v - block[0] == line[i] for block in blocks for i, v in enumerate(block)) and is_layout(line[::first]):
                return True
    return False


def by_leaves(b, line):
    """The values along each leaf of a layout, the other entries of the coordinate 0."""
    weight, lines = 1, []
    for size, _ in leaves(*b):
        lines.append([line[i * weight] for i in range(size)])
        weight *= size
    return lines


def exists(b, line):
    """Whether values over the coordinates of a layout are a sum over its leaves, each of which has modes."""
    sums = [0]
    for along in by_leaves(b, line):
        if not is_layout(along):
            return False
        sums = [a + s for a in along for s in sums]
    return sums == line


def is_shown(why, b, line):
    """Whether the evidence that there is no composition with these values is evidence."""
    witness, lines = why.witness, by_leaves(b, line)

    def is_run(along, unit, run):
        return all(along[i * unit] == i * along[unit] for i in range(run))

    if why.kind == "length":
        along = lines[witness["leaf"]]
        unit, run, left = (witness[name] for name in ("unit", "run", "left"))
        ends = along[unit * run] != run * along[unit]
        return unit * left == len(along) and is_run(along, unit, run) and ends and left % run > 0
    if why.kind == "mode":
        along = lines[witness["leaf"]]
        unit, rest, total = 1, witness["number"], 0
        for at, run in enumerate(witness["runs"]):
            last = at + 1 == len(witness["runs"])
            if not is_run(along, unit, run) or not last and along[unit * run] == run * along[unit]:
                return False
            total += rest % run * along[unit]
            unit, rest = unit * run, rest // run
        return rest == 0 and along[witness["number"]] == witness["value"] != witness["sum"] == total
    coordinate = witness["coordinate"]
    entries, weight, number = [entry for entry, _ in leaves(coordinate, coordinate)], 1, 0
    for entry, along in zip(entries, lines):
        number, weight = number + entry * weight, weight * len(along)
    total = sum(along[entry] for entry, along in zip(entries, lines))
    assert why.kind == "interact" and crd2idx(coordinate, Layout(*b)) == values(*b)[number]
    return line[number] == witness["value"] != witness["sum"] == total


def drawn(rng, most=3, largest=6, nonnegative=True):
    strides = [0, 1, 1, 2, 3, 4, 6, 8, 12, 5] if nonnegative else [-3, -1, 0, 1, 2, 4, 6]
    modes = [(rng.randint(1, largest), rng.choice(strides)) for _ in range(rng.randint(1, most))]
    if len(modes) == 1:
        return modes[0]
    if len(modes) == 3 and rng.random() < 0.5:
        (a, d), (b, e), (c, f) = modes
        return ((a, b), c), ((d, e), f)
    return tuple(s for s, _ in modes), tuple(d for _, d in modes)


def of(layout):
    return layout.shape, layout.stride


def test_compositions_are_found_exactly_where_there_are_some():
    rng, counts, kinds = random.Random(1), [0, 0], set()
    for _ in range(4000):
        a, b = drawn(rng), drawn(rng)
        expected = [extended(*a, x) for x in values(*b)]
        found = composition(Layout(*a), Layout(*b), explain=True)
        assert bool(found) == exists(b, expected), (a, b)
        counts[bool(found)] += 1
        if found:
            assert values(*of(found.layout)) == expected
            assert composition(Layout(*a), Layout(*b)) == found.layout
            assert audit(Layout(*a), Layout(*b), found.layout) is None
            continue
        with pytest.raises(NoLayout) as raised:
            composition(Layout(*a), Layout(*b))
        why = raised.value.explained
        assert (why.kind, why.reason, why.witness) == (found.kind, str(raised.value), found.witness)
        assert found.layout is None and is_shown(found, b, expected), (a, b, found)
        kinds.add(found.kind)
    assert min(counts) > 100 and kinds == {"length", "mode", "interact"}


def test_compositions_under_a_swizzle_are_those_without_it():
    rng, counts = random.Random(7), {}
    for _ in range(3000):
        a, b, strict = drawn(rng), drawn(rng), rng.random() < 0.5
        if rng.random() < 0.2:
            b = rng.randint(0, 9), 1
        swizzle, offset = Swizzle(rng.randint(0, 3), rng.randint(0, 3), rng.choice([-4, -3, 3, 4])), rng.randint(0, 9)
        composed, other = ComposedLayout(swizzle, offset, Layout(*a)), b[0] if b[1] == 1 else Layout(*b)
        expected = [extended(*a, x) for x in values(*b)]
        past = strict and max(values(*b), default=-1) >= len(values(*a))
        found = composition(composed, other, strict=strict, explain=True)
        assert isinstance(found, Explained) and bool(found) == (not past and exists(b, expected)), (a, b, strict)
        counts[strict, found.kind] = counts.get((strict, found.kind), 0) + 1
        if found:
            assert [found.layout(x) for x in range(len(expected))] == [swizzle(offset + v) for v in expected]
            assert found.layout.size() == len(expected)
            assert composition(composed, other, strict=strict) == found.layout
        else:
            with pytest.raises(NoLayout) as raised:
                composition(composed, other, strict=strict)
            assert raised.value.explained.witness == found.witness
            if past:
                assert found.kind == "outside" and values(*b)[found.coordinate] == found.witness["value"] >= len(values(*a))
            else:
                assert is_shown(found, b, expected)
        swizzled = composition(swizzle, other, strict=strict, explain=True)
        assert swizzled and swizzled.layout == composition(swizzle, other)
        assert [swizzled.layout(x) for x in range(len(expected))] == [swizzle(v) for v in values(*b)]
    assert min(counts[key] for key in [(True, None), (False, None), (True, "outside"), (True, "length")]) > 20, counts


def test_tuples_are_composed_mode_by_mode_under_a_swizzle_too():
    rng, done = random.Random(8), 0
    for _ in range(1000):
        sizes, strides = (rng.randint(1, 8), rng.randint(1, 8)), (rng.choice([1, 8, 16]), rng.choice([1, 3, 8]))
        tiler = tuple(rng.choice([rng.randint(1, 4), Layout(*drawn(rng, most=1))]) for _ in range(rng.randint(1, 2)))
        composed = ComposedLayout(Swizzle(2, 0, 3), 5, Layout(sizes, strides))
        found = composition(composed, tiler, explain=True)
        modes = [(tile, 1) if isinstance(tile, int) else of(tile) for tile in tiler]
        modes += [(size, 1) for size in sizes[len(modes) :]]
        along = [[d * x for x in values(*mode)] for d, mode in zip(strides, modes)]
        assert found and found.layout == composition(composed, tiler) == composed.compose(tiler)
        assert [mode.size() for mode in found.layout.layout] == [len(line) for line in along]
        expected = [composed.swizzle(5 + x + y) for y in along[1] for x in along[0]]
        assert [found.layout(x) for x in range(found.layout.size())] == expected
        done += 1
    assert done == 1000
    why = composition(ComposedLayout("Sw<1,0,1> o 0 o ((4,6,8),2):((2,3,5),1)"), ("6:3",), explain=True)
    length = {"leaf": 0, "unit": 2, "run": 2, "left": 3, "coordinate": 4, "value": 9, "expected": 14}
    assert (why.kind, why.witness) == ("length", length)


def test_what_somebody_claims_is_audited():
    rng, wrong = random.Random(2), 0
    for _ in range(2000):
        a, b, claim = drawn(rng), drawn(rng), drawn(rng)
        expected, claimed = [extended(*a, x) for x in values(*b)], values(*claim)
        at = next((x for x in range(max(len(expected), len(claimed))) if expected[x : x + 1] != claimed[x : x + 1]), None)
        found = audit(Layout(*a), Layout(*b), Layout(*claim))
        assert (found and found.coordinate) == at, (a, b, claim)
        if found is not None:
            wrong += 1
            assert [found.expected] == (expected[at : at + 1] or [None])
            assert [found.found] == (claimed[at : at + 1] or [None])
    assert wrong > 100


def test_complements_tile_and_inverses_undo():
    rng, seen = random.Random(3), [0] * 4
    for _ in range(3000):
        a = drawn(rng)
        line, cotarget = values(*a), rng.randint(1, 60)
        rest = complement(Layout(*a), cotarget, explain=True)
        distinct = {v for v in line}
        if rest:
            seen[0] += 1
            together = sorted(x + y for x in distinct for y in values(*of(rest.layout)))
            assert together == list(range(len(together))) and len(together) >= cotarget, a
        else:
            seen[1] += 1
            assert rest.kind in ("overlap", "negative") and rest.reason
        right = right_inverse(Layout(*a), explain=True)
        assert [line[x] for x in values(*of(right.layout))] == list(range(right.layout.size()))
        if right.is_longest and right.layout.size() > 0:
            assert right.layout.size() not in line
        left = left_inverse(Layout(*a), explain=True)
        if left:
            seen[2] += 1
            assert [extended(*of(left.layout), v) for v in line] == list(range(len(line)))
        elif left.kind == "collision":
            seen[3] += 1
            x, y = left.coordinate
            assert x != y and line[x] == line[y] == left.witness["value"]
        else:
            assert left.kind == "open" and len(distinct) == len(line)
        assert Layout(*a).is_injective() == (len(distinct) == len(line))
        assert Layout(*a).is_bijective() == (sorted(line) == list(range(len(line))))
    assert min(seen) > 50, seen


def test_injective_and_bijective_or_the_reason_why_not():
    rng, seen = random.Random(9), {}
    for _ in range(3000):
        a = drawn(rng, nonnegative=rng.random() < 0.7)
        line = values(*a)
        for why, so in [
            (Layout(*a).is_injective(explain=True), len(set(line)) == len(line)),
            (Layout(*a).is_bijective(explain=True), sorted(line) == list(range(len(line)))),
        ]:
            assert isinstance(why, Explained) and bool(why) == so, a
            seen[why.kind] = seen.get(why.kind, 0) + 1
            if so:
                assert why.layout == Layout(*a) and why.witness == {} and why.reason is None
                continue
            value = why.witness["value"]
            assert why.layout is None and str(value) in why.reason
            if why.kind == "collision":
                x, y = why.coordinate
                assert x != y and line[x] == line[y] == value
            elif why.kind == "negative":
                assert line[why.coordinate] == value < 0
            else:
                assert why.kind == "gap" and value not in line and 0 <= value < len(line) and why.coordinate is None
    assert seen.keys() == {None, "collision", "negative", "gap"} and min(seen.values()) > 100
    assert str(Layout((2, 2), (1, 0)).is_injective(explain=True)) == "coordinates 0 and 2 both have value 0"


def coordinates(shape):
    """The coordinates of a shape, the leftmost mode the fastest."""
    if isinstance(shape, tuple):
        entries = product(*(coordinates(mode) for mode in reversed(shape)))
        return [tuple(reversed(each)) for each in entries]
    return list(range(shape))


def flat(tree):
    return [leaf for leaf, _ in leaves(tree, tree)]


def test_numbers_and_coordinates_in_other_shapes():
    rng = random.Random(10)
    for _ in range(500):
        shape, other = drawn(rng)[0], drawn(rng)[0]
        whole = coordinates(shape)
        for number, coordinate in enumerate(whole):
            assert crd2crd(number, shape) == crd2crd(coordinate, shape) == idx2crd(number, shape) == coordinate
            assert crd2crd(coordinate, len(whole), shape) == number
            if isinstance(shape, tuple):
                # Each entry as the number that it is.
                numbers = tuple(coordinates(mode).index(entry) for mode, entry in zip(shape, coordinate))
                sizes = tuple(len(coordinates(mode)) for mode in shape)
                assert crd2crd(numbers, shape) == coordinate
                assert crd2crd(list(coordinate), sizes, shape) == numbers
        for number in range(len(coordinates(other))):
            if number < len(whole):
                assert crd2crd(number, shape) == whole[number]
        with pytest.raises(IndexError):
            crd2crd(len(whole), shape)


def sliced(rng, shape):
    """A coordinate with None for some of it."""
    if rng.random() < 0.4:
        return None
    if isinstance(shape, tuple) and rng.random() < 0.7:
        return tuple(sliced(rng, mode) for mode in shape)
    return rng.randrange(len(coordinates(shape)))


def kept(coordinate, shape, stride):
    """The modes at None, side by side, and the coordinates that are left."""
    if coordinate is None:
        return [(shape, stride)]
    if isinstance(coordinate, tuple):
        return [mode for each in zip(coordinate, shape, stride) for mode in kept(*each)]
    return []


def agrees(coordinate, whole, shape):
    """Whether a coordinate of the whole shape is at one that has None for some of it."""
    if coordinate is None:
        return True
    if isinstance(coordinate, tuple):
        return all(agrees(*each) for each in zip(coordinate, whole, shape))
    return coordinates(shape)[coordinate] == whole


def test_slices_are_the_values_at_the_coordinates_left():
    rng, parts = random.Random(11), set()
    for _ in range(1000):
        shape, stride = drawn(rng)
        coordinate = sliced(rng, shape)
        modes = kept(coordinate, shape, stride)
        parts.add(len(modes))
        assert slice_(coordinate, shape) == tuple(size for size, _ in modes)
        assert slice_(coordinate, stride) == tuple(d for _, d in modes)
        every = values(shape, stride)
        expected = [value for value, whole in zip(every, coordinates(shape)) if agrees(coordinate, whole, shape)]
        part, offset = slice_and_offset(coordinate, Layout(shape, stride))
        assert [offset + value for value in values(*of(part))] == expected, (shape, stride, coordinate)
        swizzle, base = Swizzle(2, 1, rng.choice([-3, 2])), rng.randint(0, 5)
        inside, outside = slice_and_offset(coordinate, ComposedLayout(swizzle, base, Layout(shape, stride)))
        assert outside == 0 and [inside(x) for x in range(inside.size())] == [swizzle(base + value) for value in expected]
        assert flatten(shape) == tuple(flat(shape)) and of(flatten(Layout(shape, stride)))[0] in (tuple(flat(shape)), shape)
    assert parts == {0, 1, 2, 3}
    assert slice_and_offset((None, 1), "(0,3):(1,2)") == (Layout((0,), (1,)), 2)
    assert flatten("(2,(3,4)):(12,(4,1))") == Layout((2, 3, 4), (12, 4, 1)) and flatten("4:2") == Layout(4, 2)
    assert flatten([1, [True, ()]]) == (1, 1)


def test_modes_are_split_and_gathered():
    rng, made = random.Random(12), 0
    for _ in range(1000):
        layout = make_layout(*(Layout(*drawn(rng, most=2)) for _ in range(rng.randint(1, 3))))
        tiler = tuple(rng.choice([rng.randint(1, 4), Layout(*drawn(rng, most=1))]) for _ in range(rng.randint(1, len(layout))))
        for splitter, zipped in ((logical_divide, zipped_divide), (logical_product, zipped_product)):
            for each in (tiler, tiler[0]):
                expected = zipped(layout, each, explain=True)
                if expected:
                    made += 1
                    assert hier_unzip(splitter, layout, each) == expected.layout
                else:
                    with pytest.raises(NoLayout):
                        hier_unzip(splitter, layout, each)
    assert made > 200
    # By hand: of two modes the first is halved by a function of our own, the second stays, and a third has no entry.
    def halves(mode, entry):
        return Layout((entry, mode.shape // entry), (mode.stride, mode.stride * entry))

    assert str(hier_unzip(halves, "(4,5,6):(1,10,100)", [2, None])) == "((2,1),(2,5,6)):((1,0),(2,10,100))"
    assert str(hier_unzip(halves, "((4,6),5):((1,10),100)", ((2, 3),))) == "(((2,3)),((2,2),5)):(((1,10)),((2,30),100))"
    assert str(hier_unzip(halves, "6:2", None)) == "(1,6):(0,2)"
    assert hier_unzip(logical_divide, "8:1", "2:4") == logical_divide("8:1", "2:4")


def test_tiles_and_repeats():
    rng, done = random.Random(4), 0
    for _ in range(1500):
        a, tile = drawn(rng), (rng.randint(1, 4), rng.randint(1, 3))
        found = logical_divide(Layout(*a), Layout(*tile), explain=True)
        if found:
            done += 1
            first = values(*of(found.layout[0]))
            assert first == [extended(*a, x) for x in values(*tile)]
        layout = make_layout(Layout(rng.randint(1, 6), 1), Layout(rng.randint(1, 6), rng.randint(6, 9)))
        tiler = (rng.randint(1, 4), rng.randint(1, 4))
        zipped = zipped_divide(layout, tiler, explain=True)
        if not zipped:
            continue
        (tiles, rests), logical = zipped.layout, logical_divide(layout, tiler)
        assert [mode[0] for mode in logical] == list(tiles) and [mode[1] for mode in logical] == list(rests)
        assert tiled_divide(layout, tiler) == Layout.concat(tiles, *rests)
        assert flat_divide(layout, tiler) == Layout.concat(*tiles, *rests)
    assert done > 300
    block, grid = Layout((2, 5), (5, 1)), Layout((3, 4), (1, 3))
    assert str(blocked_product(block, grid)) == "((2,3),(5,4)):((5,10),(1,30))"
    assert str(raked_product(block, grid)) == "((3,2),(4,5)):((10,5),(30,1))"
    assert str(logical_product("(2,2):(4,1)", "6:1")) == "((2,2),(2,3)):((4,1),(2,8))"
    assert str(zipped_product(block, (3, 4))) == "((2,5),(3,4)):((5,1),(1,5))"
    assert str(tiled_product("(2,2):(4,1)", "(3,2):(2,1)")) == "((2,2),3,2):((4,1),8,2)"
    assert str(flat_product(block, (3, 4))) == "(2,5,3,4):(5,1,1,5)"
    assert not logical_product("(2,3):(1,3)", 4, explain=True)


def conflicts(addresses, element_bytes, vector):
    """The most words of one bank that the lanes of a phase want: `addresses` has the values of each thread."""
    worst, bytes_at_once = 0, vector * element_bytes
    lanes = 32 * 4 // max(bytes_at_once, 4)
    for warp in range(0, len(addresses), 32):
        for value in range(0, len(addresses[0]), vector):
            at = [thread[value] * element_bytes for thread in addresses[warp : warp + 32]]
            for phase in range(0, len(at), lanes):
                words = {(a + i) // 4 for a in at[phase : phase + lanes] for i in range(bytes_at_once)}
                banks = [word % 32 for word in words]
                worst = max([worst, *(banks.count(bank) for bank in set(banks))])
    return worst


def test_bank_conflicts_are_those_of_all_warps():
    rng, worse = random.Random(5), 0
    for _ in range(300):
        threads, each = rng.choice([32, 48, 64, 96]), rng.choice([1, 2, 4, 8])
        layout = Layout((threads, each), (rng.choice([1, 2, 4, 8, 12, 32, 33]), rng.choice([1, 1, 3, 64])))
        element_bytes = rng.choice([1, 2, 4, 8])
        pattern = AccessPattern(layout, element_bytes)
        addresses = [[layout(t, v) for v in range(each)] for t in range(threads)]
        most = conflicts(addresses, element_bytes, pattern.vector)
        assert pattern.bank_conflicts().most == most, (layout, element_bytes)
        assert pattern.vector == pattern.widest_vector()
        worse += most > 1
        swizzle = AccessPattern.conflict_free_swizzle(pattern)
        if swizzle is not None:
            swizzled = composition(swizzle, layout)
            moved = [[swizzled(t, v) for v in range(each)] for t in range(threads)]
            assert conflicts(moved, element_bytes, pattern.vector) == 1
            assert moved == [[swizzle(a) for a in thread] for thread in addresses]
    assert worse > 50
    census = AccessPattern("((48,100)):((1,64))", 4).bank_conflicts()
    assert (census.most, census.warp, census.value, census.counts, census.total) == (2, 1, 0, {1: 100, 2: 50}, 200)
    assert AccessPattern("(64,8):(1,65)", 4, vector=1).sectors().counts == {4: 2, 5: 14}


def served(addresses, element_bytes, vector, warp, value):
    """The phases of an instruction: the byte of each thread, and the threads that access each word."""
    bytes_at_once, first = vector * element_bytes, 32 * warp
    lanes = {thread: addresses[thread][value] * element_bytes for thread in range(first, min(first + 32, len(addresses)))}
    together = 32 * 4 // max(bytes_at_once, 4)
    phases = []
    for start in range(first, first + len(lanes), together):
        phase = {thread: at for thread, at in lanes.items() if start <= thread < start + together}
        words = {(at + i) // 4 for at in phase.values() for i in range(bytes_at_once)}
        threads = {word: tuple(t for t, at in phase.items() if at // 4 <= word <= (at + bytes_at_once - 1) // 4) for word in words}
        phases.append((phase, threads))
    return phases


def test_instructions_word_by_word():
    rng = random.Random(13)
    for _ in range(200):
        threads, each = rng.choice([4, 32, 48, 64]), rng.choice([1, 2, 4, 8])
        layout = Layout((threads, each), (rng.choice([0, 1, 2, 4, 8, 12, 32, 33]), rng.choice([1, 1, 3, 64])))
        pattern = AccessPattern(composition(Swizzle(2, 3, 3), layout), rng.choice([1, 2, 4, 8]))
        assert (pattern.threads, pattern.values) == (threads, each)
        addresses = [[pattern.layout(t, v) for v in range(each)] for t in range(threads)]
        assert [[pattern.address(t, v) for v in range(each)] for t in range(threads)] == addresses
        degrees = []
        for warp in range((threads + 31) // 32):
            for value in range(0, each, pattern.vector):
                instruction = pattern.instruction(warp, value)
                expected = served(addresses, pattern.element_bytes, pattern.vector, warp, value)
                assert [(phase.lanes, phase.words) for phase in instruction.phases] == expected
                for phase in instruction.phases:
                    assert list(phase.words) == sorted(phase.words) and list(phase.banks) == sorted(phase.banks)
                    banks = {bank: tuple(w for w in phase.words if w % 32 == bank) for bank in {w % 32 for w in phase.words}}
                    assert phase.banks == banks and phase.degree == max(map(len, banks.values()))
                degrees.append(max(phase.degree for phase in instruction.phases))
                assert all(pattern.word(t, value) in phase.words for phase in instruction.phases for t in phase.lanes)
        assert max(degrees) == pattern.bank_conflicts().most
    assert AccessPattern("32:1", 4).instruction() == AccessPattern("32:1", 4).instruction(0, 0)
    assert Phase.bank(33) == 1 and Phase.bank(-1) == 31
    assert repr(AccessPattern("(4,32):(32,1)", 4, vector=1).instruction(0, 1)) == "<Instruction: phases of degree 4>"
    assert repr(AccessPattern("(4,32):(32,1)", 4, vector=1).instruction(0, 1).phases[0]) == "<Phase: 4 lanes, 4 words, degree 4>"


def test_one_report_on_all_accesses_to_a_tile():
    rng, kinds = random.Random(14), set()
    for _ in range(150):
        given = []
        for _ in range(rng.randint(1, 2)):
            strides = rng.choice([1, 2, 8, 12, 32, 33]), rng.choice([1, 1, 3, 64, -1])
            layout = Layout((rng.choice([32, 64]), rng.choice([1, 2, 4])), strides)
            swizzled = min(values(*of(layout))) >= 0 and rng.random() < 0.2
            given.append(AccessPattern(composition(Swizzle(1, 4, 3), layout) if swizzled else layout, 4, vector=1))
        report = AccessReport(*given)
        assert [access.pattern for access in report.accesses] == given
        for access, pattern in zip(report.accesses, given):
            assert (access.widest, access.banks) == (pattern.widest_vector(), pattern.bank_conflicts())
            assert access.sectors == pattern.sectors()
        most = [conflicts([[p.layout(t, v) for v in range(p.values)] for t in range(p.threads)], 4, 1) for p in given]
        assert [access.banks.most for access in report.accesses] == most and report.worst == max(most)
        swizzled = any(p.layout.swizzle != Swizzle(0, 0, 0) for p in given)
        negative = any(min(values(*of(p.layout.layout))) < 0 for p in given)
        if report.swizzle is None:
            assert all(access.swizzled is None for access in report.accesses) and report.elements is None
            kind = report.no_swizzle.kind
            assert (kind == "no_conflict") == (max(most) <= 1)
            if kind != "no_conflict":
                assert kind in {"swizzled", "negative"} if swizzled or negative else kind in {"unremoved", "undecided"}
            kinds.add(kind)
            continue
        kinds.add("found")
        assert max(most) > 1 and not swizzled and not negative and report.no_swizzle is None
        before = {p.layout(t, v) for p in given for t in range(p.threads) for v in range(p.values)}
        assert report.elements == (max(before) + 1, max(map(report.swizzle, before)) + 1)
        for access, p in zip(report.accesses, given):
            assert access.swizzled == composition(report.swizzle, p.layout.layout)
            moved = [[report.swizzle(p.layout(t, v)) for v in range(p.values)] for t in range(p.threads)]
            assert conflicts(moved, 4, 1) == 1
    assert kinds >= {"found", "no_conflict", "swizzled", "negative", "unremoved"}
    empty = AccessReport()
    assert (empty.accesses, empty.swizzle, empty.no_swizzle.kind, empty.worst) == ((), None, "no_conflict", 0)
    column = AccessReport(AccessPattern("(32,32):(32,1)", 4, vector=1))
    assert repr(column.accesses[0]) == "<Access: (32,32):(32,1), banks at most 32>"
    with pytest.raises(AttributeError):
        column.swizzle = None


def test_a_tile_that_is_written_by_rows_and_read_by_columns():
    write, read = AccessPattern("((8,32),8):((8,64),1)", 2), AccessPattern("((64,8),8):((64,8),1)", 2)
    assert (write.vector, write.bank_conflicts().most, read.bank_conflicts().most) == (8, 1, 8)
    swizzle = AccessPattern.conflict_free_swizzle(write, read)
    assert repr(swizzle) == "Swizzle(3, 3, 3)"
    assert AccessPattern(composition(swizzle, read.layout.layout), 2).bank_conflicts().most == 1


def test_linear_layouts():
    linear = Layout(((2, 2), 4), ((1, 8), 2)).to_linear(["lane", "register"])
    assert linear.inputs == {"lane": [[1], [8]], "register": [[2], [4]]} and linear.outputs == {"offset": 16}
    assert linear(3, 2) == (13,) and linear.to_layout()(3, 2) == 13
    assert linear == LinearLayout(linear.inputs, linear.outputs) == LinearLayout(str(linear))
    tile = ComposedLayout("Sw<1,0,2> o 0 o (4,4):(1,4)")
    assert tile.to_linear(["column", "row"]).to_layout() == tile
    why = Layout(4, 3).to_linear(["lane"], explain=True)
    assert (why.kind, why.coordinate, why.witness["value"], why.witness["xor"]) == ("carry", (1, 2), 9, 5)
    assert not LinearLayout({"lane": [[1], [1]]}, {"offset": 2}).to_layout(explain=True)


def test_views_and_trackers_are_layouts():
    view = View((4, 3), (-3, 1), 9)
    layout, offset = Layout.from_view(view, "column_major")
    assert (layout, offset) == (Layout((4, 3), (-3, 1)), 9) and layout.to_view("column_major", offset) == view
    tracker = ShapeTracker.contiguous(4, 6).permute(1, 0).reshape(24)
    layout, offset = Layout.from_view(tracker)
    assert (str(layout), offset) == ("((4,6)):((6,1))", 0)
    assert [layout(x) for x in range(24)] == [tracker.address(x) for x in range(24)]
    assert list(layout.to_tracker().shape) == [24]
    why = Layout.from_view(ShapeTracker.contiguous(3, 2).permute(1, 0).reshape(3, 2), explain=True)
    length = {"axis": 0, "unit": 1, "run": 2, "left": 3, "index": (2, 0), "address": 3, "expected": 8}
    assert (why.kind, why.layout, why.witness) == ("length", None, length)
    with pytest.raises(NoLayout, match="is masked"):
        Layout.from_view(View.contiguous(3).pad((1, 0)))


def test_code_has_the_values_of_the_layout():
    rng = random.Random(6)
    for _ in range(300):
        layout = Layout(*drawn(rng))
        composed = ComposedLayout(Swizzle(rng.randint(0, 3), rng.randint(0, 3), rng.randint(3, 4)), rng.randint(0, 5), layout)
        for thing in (layout, composed):
            code = thing.index_expr()
            names = {}
            for index in product(*(range(mode.size()) for mode in layout)):
                exec(code.code("python"), names | {f"idx{axis}": i for axis, i in enumerate(index)}, names)
                assert names["index"] == thing(*index) == code.address(*index)
            assert pickle.loads(pickle.dumps(code)) == code and hash(code) == hash(thing.index_expr())
    code = ComposedLayout("Sw<3,3,3> o 0 o (64,64):(64,1)").index_expr()
    assert str(code.index) == "idx0 * 64 + idx1 ^ idx0 % 8 * 8" and "(idx0 & 7) * 8" in code.code("cuda")
    assert code.cost.ops == 5


def test_swizzles():
    for b, m, s in product(range(1, 4), range(3), (-4, -3, 3, 4)):
        swizzle = Swizzle(b, m, s)
        source, target = m + max(s, 0), m - min(s, 0)
        for x in range(512):
            y = x
            for bit in range(b):
                y ^= (x >> (source + bit) & 1) << (target + bit)
            assert swizzle(x) == y
    composed = ComposedLayout("Sw<2,0,2> o 0 o (4,4):(4,16)")
    assert composed.plain() == (Layout((4, 4), (5, 16)), 0) and composed(1, 2) == 37
    assert not ComposedLayout("Sw<2,0,2> o 0 o (4,4):(4,1)").plain(explain=True)
    assert str(composition(composed, "(2,2):(1,4)")) == "Sw<2,0,2> o 0 o (2,2):(4,16)"


def test_objects_print_compare_and_pickle():
    things = [
        Layout(((2, 2), 4), ((1, 8), 2)),
        Layout((), ()),
        Layout(0, 3),
        Swizzle(3, 4, -3),
        ComposedLayout(Swizzle(1, 0, 1), 4, Layout(8)),
        LinearLayout({"lane": [[1], [2]], "warp": []}, {"offset": 4}),
        AccessPattern("(32,8):(8,1)", 2),
        AccessReport(),
        AccessReport(AccessPattern("(32,8):(8,1)", 2), AccessPattern("(32,32):(32,1)", 4)),
    ]
    for thing in things:
        assert eval(repr(thing)) == thing and pickle.loads(pickle.dumps(thing)) == thing
    assert len({Layout(4, 1), Layout("4:1"), Layout("_4:_1"), Layout((4,), (1,))}) == 2
    layout = things[0]
    assert (layout.shape, layout.stride, layout.rank, layout.depth) == (((2, 2), 4), ((1, 8), 2), 2, 2)
    assert (size(layout), cosize(layout), rank(layout), depth(layout), len(layout)) == (16, 16, 2, 2, 2)
    assert str(layout) == "((2,2),4):((1,8),2)" and layout.static_text == "((_2,_2),_4):((_1,_8),_2)"
    assert layout[0] == layout[-2] == Layout((2, 2), (1, 8)) and layout.flatten() == Layout((2, 2, 4), (1, 8, 2))
    assert layout(14) == layout(2, 3) == layout((0, 1), 3) == layout(((0, 1), 3)) == 14
    assert layout.coordinate(14) == idx2crd(14, ((2, 2), 4)) == ((0, 1), 3)
    assert coalesce("(2,(1,6)):(1,(6,2))") == Layout(12, 1)
    assert coalesce("(2,(1,6)):(1,(6,2))", (1, 1)) == Layout((2, 6), (1, 2))
    assert shapetracker.cute.filter("(2,4,(8,2)):(1,0,(2,0))") == Layout(16, 1)
    assert repr(composition("4:1", "2:2", explain=True)) == "<Explained: 2:2>"
    composed, swizzle = things[4], things[3]
    assert [thing for thing in [*things, "4:1", (4, 1), 4] if shapetracker.cute.is_layout(thing)] == [*things[:3], composed]
    assert repr(composition(swizzle, "2:2", explain=True)) == "<Explained: Sw<3,4,-3> o 0 o 2:2>"
    assert str(audit("(4,6,8):(2,3,5)", "6:3", "(2,3):(6,3)")).startswith("at coordinate 2 the composition is 7")


SWIZZLED = ComposedLayout("Sw<1,0,1> o 0 o (4,4):(4,1)")


def nest(deep):
    value = 1
    for _ in range(deep):
        value = (value,)
    return value


@pytest.mark.parametrize(
    "wrong, kind, sentence",
    [
        (lambda: Layout((2, 3), (1, (2, 6))), ValueError, "different parentheses"),
        (lambda: Layout(-1, 1), ValueError, "cannot be negative"),
        (lambda: Layout(2.5, 1), TypeError, "whole number"),
        (lambda: Layout("(2,3"), ValueError, "expected"),
        (lambda: Layout("4:1", 2), TypeError, "whole number"),
        (lambda: Layout(nest(10_000)), ValueError, "nest deeper"),
        (lambda: Layout(1 << 70), OverflowError, "64-bit"),
        (lambda: Layout((1 << 40, 1 << 40)), ValueError, "64-bit"),
        (lambda: Layout((2,) * 65), ValueError, "64"),
        (lambda: Layout((2, 3))(6), IndexError, "no coordinate 6"),
        (lambda: Layout((2, 3))(1, 3), IndexError, r"no coordinate \(1,3\)"),
        (lambda: Layout((2, 3))[2], IndexError, "no mode 2"),
        (lambda: Layout((2, 3)).coordinate(6), IndexError, "no coordinate 6"),
        (lambda: composition("4:1", 3.5), TypeError, "takes a Layout"),
        (lambda: composition("4:1", (2, 2)), ValueError, "the tiler has 2 modes, but the layout has 1"),
        (lambda: composition("(2,2):(1,2)", (2, 3), strict=True), NoLayout, "has only 2 coordinates"),
        (lambda: composition("(4,1):(1,7)", "8:1", strict=True), NoLayout, "coordinate 7"),
        (lambda: composition(Swizzle(1, 0, 1), Layout(4, -1)), ValueError, "not negative"),
        (lambda: composition(Swizzle(1, 0, 1), Layout(4, -1), explain=True), ValueError, "not negative"),
        (lambda: composition(Swizzle(1, 0, 1), (2, 2)), ValueError, "has no modes"),
        (lambda: composition(Swizzle(1, 0, 1), 3.5), TypeError, "takes a Layout"),
        (lambda: composition(SWIZZLED, (2, 2, 2)), ValueError, "the tiler has 3 modes"),
        (lambda: composition(SWIZZLED, SWIZZLED), TypeError, "takes a Layout"),
        (lambda: composition(SWIZZLED, "17:1", strict=True), NoLayout, "coordinate 16"),
        (lambda: complement("(2,3):(1,3)", 24), NoLayout, "reached twice"),
        (lambda: left_inverse("(2,2):(1,0)"), NoLayout, "could not tell them apart"),
        (lambda: make_layout(1, 2, 3), TypeError, "make_layout"),
        (lambda: Swizzle(3, 3, 2), ValueError, "shift"),
        (lambda: Layout(4, 1).to_linear([]), ValueError, "0 names are given for 1 mode"),
        (lambda: LinearLayout({"lane": [[4]]}, {"offset": 3}), ValueError, "power of two"),
        (lambda: LinearLayout({"lane": 3}, {"offset": 4}), TypeError, "basis vectors"),
        (lambda: LinearLayout("{lane = [[1"), ValueError, "expected"),
        (lambda: LinearLayout({"lane": [[1]]}, {"offset": 2})(2), IndexError, "no numbers"),
        (lambda: AccessPattern("(32,8):(8,1)", 3), ValueError, "3 bytes"),
        (lambda: AccessPattern("(32,8):(8,1)", 4, vector=16), ValueError, "cannot move 16 elements of 4 bytes"),
        (lambda: AccessPattern.conflict_free_swizzle(4), TypeError, "AccessPattern"),
        (lambda: AccessReport("32:1"), TypeError, "AccessReport: takes AccessPatterns"),
        (lambda: AccessPattern("32:1", 4).instruction(1), IndexError, "in warp 1: 32 threads have 1 values each"),
        (lambda: AccessPattern("(32,4):(4,1)", 4).instruction(0, 2), IndexError, "no instruction moves value 2 first"),
        (lambda: AccessPattern("32:1", 4).address(32, 0), IndexError, "no value 0 of thread 32"),
        (lambda: AccessPattern("32:1", 4).word(0, 1), IndexError, "no value 1 of thread 0"),
        (lambda: crd2crd((2, 3), 16), ValueError, "the shape that"),
        (lambda: crd2crd((2, 3), (4, 4, 4)), ValueError, "2 and 3 entries"),
        (lambda: crd2crd((2, 3), 10, (4, 4)), IndexError, "no coordinate 14"),
        (lambda: slice_((None, 1), 4), ValueError, "different parentheses"),
        (lambda: slice_and_offset((None, 3), "(2,3):(1,2)"), IndexError, "no coordinate 3"),
        (lambda: slice_and_offset((None, 1, 1), "(2,3):(1,2)"), IndexError, r"no coordinate \(None, 1, 1\)"),
        (lambda: slice_and_offset((None, 1.5), "(2,3):(1,2)"), TypeError, "whole number"),
        (lambda: flatten((1, 2.5)), TypeError, "float"),
        (lambda: hier_unzip(logical_divide, "(2,3):(1,2)", (1, 1, 1)), ValueError, "3 entries are given for 2 modes"),
        (lambda: hier_unzip(lambda mode, tile: mode, "(2,3):(1,2)", (2,)), ValueError, "a layout of two modes of 2:1"),
        (lambda: Layout.from_view((2, 3)), TypeError, "View or a ShapeTracker"),
        (lambda: Layout.from_view(View.contiguous(3), "c"), ValueError, "row_major"),
        (lambda: audit("4:1", "2:-1", "2:-1"), ValueError, "which is negative"),
    ],
)
def test_mistakes_are_sentences(wrong, kind, sentence):
    with pytest.raises(kind, match=sentence):
        wrong()


def test_what_the_module_says_of_itself_is_so():
    assert doctest.testmod(shapetracker.cute).failed == 0
    for name in shapetracker.cute.__all__:
        assert getattr(shapetracker.cute, name).__doc__, name
    assert isinstance(composition("4:1", "2:1", explain=True), Explained)
