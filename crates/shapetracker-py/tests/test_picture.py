"""Pictures: small whatever they show, true to `address`, readable, and still when nobody looks."""

import pickle
import random
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from shapetracker import NotABox, ShapeTracker, Sym, UnevenStep, Unmerged, View

MOST_BYTES = 40_000
SVG = "{http://www.w3.org/2000/svg}"

TRANSPOSED = ShapeTracker.contiguous(3, 2).permute(1, 0).reshape(3, 2)
PADDED = ShapeTracker.contiguous(4, 6).pad((1, 1), (1, 2)).flip(1)
BROADCAST = ShapeTracker.contiguous(1, 4).expand(3, 4)
WINDOWS = ShapeTracker.contiguous(4, 4).as_strided((3, 3, 2, 2), (4, 1, 4, 1))
NOT_A_BOX = ShapeTracker.contiguous(6).pad((0, 2)).reshape(2, 4).permute(1, 0)
OVER_BLOCKS = ShapeTracker.contiguous(100, 300, 4, 5).permute(1, 0, 2, 3).reshape(30000, 4, 5)


def many_views(count: int) -> ShapeTracker:
    """A tracker of so many views, which do not join: sizes without common factors, in ever new orders."""
    rng = random.Random(0)
    sizes = [2, 3, 5, 7, 11, 13]
    st = ShapeTracker.contiguous(*sizes)
    while len(st.views) < count:
        rng.shuffle(sizes)
        st = st.reshape(*sizes).permute(*rng.sample(range(6), 6))
    return st


def crafted() -> ShapeTracker:
    """Views for which it is hard to say whether they are one."""
    earlier = View((386591551, 1024, 999983, 2), (0, -4, -8, 9))
    return ShapeTracker([earlier, View((409497372,), (170663765,))])


EXTREME = {
    "rank 0": ShapeTracker.contiguous(),
    "rank 0, masked": ShapeTracker([View((), (), 0, ())]),
    "size 0": ShapeTracker.contiguous(3, 0, 2),
    "size 0 of many large axes": ShapeTracker.contiguous(*[2**62] * 63, 0),
    "nothing valid": ShapeTracker([View((3, 3), (1, 1), 0, ((0, 0), (0, 0)))]),
    "nothing valid of 64 axes": ShapeTracker([View((1,) * 62 + (2**31,) * 2, (0,) * 64, 0, ((0, 0),) * 64)]),
    "64 axes": ShapeTracker.contiguous(*[1] * 2, *[2] * 62),
    "64 axes, reversed, as rows": ShapeTracker.contiguous(*[2] * 62).permute(*range(61, -1, -1)).reshape(2**31, 2**31),
    "64 axes over rows": ShapeTracker.contiguous(2**31, 2**31).permute(1, 0).reshape(*[1] * 2, *[2] * 62),
    "64 padded axes": ShapeTracker.contiguous(*[1] * 64).pad(*[(0, 1)] * 62, (0, 0), (0, 0)),
    "2^60 elements in rows": ShapeTracker.contiguous(2**30, 2**30).permute(1, 0),
    "2^62 elements in a line": ShapeTracker.contiguous(2**31, 2**31).permute(1, 0).reshape(2**62),
    "2^60 elements in blocks": ShapeTracker.contiguous(2**20, 2**20, 2**20).permute(2, 1, 0).flip(0, 1, 2),
    "steps between far blocks": OVER_BLOCKS,
    "addresses near the end of 64 bits": ShapeTracker([View((20, 20), (-1, 20), 2**63 - 1 - 380)]),
    "addresses near the other end": ShapeTracker([View((20, 20), (1, -20), 380 - 2**63)]),
    "addresses near both": ShapeTracker([View((2, 40), (2**63 - 1, -(2**57)), 0)]),
    "everything at one address": ShapeTracker.contiguous(1, 1, 1).expand(2**20, 2**20, 2**20),
    "a large pad": ShapeTracker.contiguous(4, 4).pad((0, 2**40), (0, 2**20)),
    "a line with a hole a step": ShapeTracker.contiguous(10**6).step(2),
    "ten views": many_views(10),
    "256 views": many_views(256),
    "hard to decide": crafted(),
}


def random_view(rng: random.Random, most: int, size: int) -> View:
    """A view of up to `size` elements whose addresses lie below `most`."""
    shape: list[int] = []
    strides: list[int] = []
    offset = rng.randrange(most)
    low, high = offset, offset
    for _ in range(rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 4, 6, 20, 64])):
        entry = min(size, rng.choice([1, 1, 2, 2, 3, 4, 7, 20, 1000, 2**31]))
        size //= max(entry, 1)
        stride = rng.choice([0, 1, -1, 2, 5, 64, 2**30])
        end = (low if stride < 0 else high) + stride * (entry - 1)
        if not 0 <= end < most:
            stride = 0
        low, high = low + min(0, stride * (entry - 1)), high + max(0, stride * (entry - 1))
        shape.append(entry)
        strides.append(stride)
    mask = None
    if rng.random() < 0.3:
        mask = [(rng.randint(0, (size - 1) // 2), rng.randint(size // 2, size)) for size in shape]
    return View(shape, strides, offset, mask)


def random_tracker(rng: random.Random) -> ShapeTracker:
    """A chain of operations, or a pile of views."""
    if rng.random() < 0.4:
        views = [random_view(rng, 2**62, 2**60)]
        for _ in range(rng.choice([0, 1, 1, 2, 3])):
            if views[-1].numel == 0:
                break
            views.append(random_view(rng, views[-1].numel, 2**60))
        return ShapeTracker(views)
    sizes = [rng.choice([1, 2, 3, 4, 5, 8, 30, 1000]) for _ in range(rng.choice([0, 1, 2, 2, 3, 3, 4, 5]))]
    st = ShapeTracker.contiguous(*sizes)
    for _ in range(rng.randrange(6)):
        axes = list(range(st.ndim))
        match rng.randrange(6):
            case 0:
                rng.shuffle(axes)
                st = st.permute(*axes)
            case 1:
                st = st.flip(*rng.sample(axes, rng.randint(0, st.ndim)))
            case 2:
                st = st.pad(*[(rng.randrange(3), rng.randrange(3)) for _ in axes])
            case 3 if st.numel < 2**40:
                st = st.expand(*[rng.choice([1, 5]) if size == 1 else -1 for size in st.shape])
            case 4:
                sizes = [1]
                rest = st.numel
                for factor in (2, 3, 5, 7, 2, 3):
                    if rest > 0 and rest % factor == 0 and rng.random() < 0.6:
                        rest //= factor
                        sizes.append(factor)
                sizes.append(rest)
                rng.shuffle(sizes)
                st = st.reshape(*sizes)
            case _:
                st = st.step(*[rng.choice([1, 1, 2, -1]) for _ in axes])
    return st


def trackers() -> Iterator[tuple[str, ShapeTracker]]:
    """The trackers of this file, and hundreds of random ones."""
    named = {
        "transposed": TRANSPOSED,
        "padded": PADDED,
        "broadcast": BROADCAST,
        "windows": WINDOWS,
        "not a box": NOT_A_BOX,
        **EXTREME,
    }
    yield from named.items()
    for rank in range(1, 7):
        for axis in range(rank):
            sizes = [0 if at == axis else 3 for at in range(rank)]
            yield f"size 0, axis {axis} of {rank}", ShapeTracker.contiguous(*sizes)
    rng = random.Random(5)
    for number in range(400):
        yield f"random {number}", random_tracker(rng)


class Cell:
    """A cell of a picture: a line from its left to its right end, as wide as the cell is high."""

    def __init__(self, line: tuple[str, str, str], colour: str, title: str) -> None:
        self.x, self.y, self.width = map(int, line)
        self.colour = colour
        self.title = title

    def holds(self, x: int, y: int) -> bool:
        return self.x <= x <= self.x + self.width and abs(y - self.y) <= 13


class Picture:
    """What there is in a picture, read back from its text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.root = ElementTree.fromstring(text)
        svg = self.root if self.root.tag == f"{SVG}svg" else self.root.find(f"{SVG}svg")
        assert svg is not None
        self.svg = svg
        self.cells: list[Cell] = []
        for group in svg.iter(f"{SVG}g"):
            for path in group.findall(f"{SVG}path"):
                lines = re.findall(r"M(-?\d+) (-?\d+)h(\d+)(?![v\d])", path.attrib["d"])
                title = path.findtext(f"{SVG}title") or ""
                self.cells += [Cell(line, group.attrib["stroke"], title) for line in lines]

    def elements(self) -> dict[tuple[int, ...], tuple[Cell, int | None]]:
        """The cells of the grid: the index of each, and the address that it says to read."""
        found = {}
        for cell in self.cells:
            title = re.fullmatch(r"\[(.*)\]: (?:masked|(-?\d+))", cell.title)
            if title:
                index = tuple(int(entry) for entry in title[1].split(", ") if entry)
                assert index not in found
                found[index] = (cell, None if title[2] is None else int(title[2]))
        return found

    def addresses(self) -> list[Cell]:
        """The cells of the memory that are read."""
        return [cell for cell in self.cells if not cell.title.startswith("[")]

    def path(self, name: str) -> str:
        """The lines that are drawn in one style."""
        found = self.svg.find(f".//{SVG}path[@class='{name}']")
        return "" if found is None else found.attrib["d"]

    def written(self) -> str:
        """Everything that is to be read, apart from tool tips and the description."""
        hidden = {"style", *(f"{SVG}{tag}" for tag in ("title", "desc", "style"))}

        def texts(element: ElementTree.Element) -> Iterator[str]:
            if element.tag not in hidden:
                yield element.text or ""
                for child in element:
                    yield from texts(child)
                    yield child.tail or ""

        return " ".join(" ".join(texts(self.root)).split())


@pytest.fixture(scope="module")
def pictures() -> list[tuple[str, ShapeTracker, list[Picture]]]:
    return [(name, st, [Picture(st.svg()), Picture(st._repr_html_())]) for name, st in trackers()]


Pictures = list[tuple[str, ShapeTracker, list[Picture]]]


def test_every_picture_is_well_formed_and_small(pictures: Pictures) -> None:
    for name, _, drawn in pictures:
        for picture in drawn:
            assert len(picture.text.encode()) < MOST_BYTES, name


def test_every_drawn_element_is_as_address_says(pictures: Pictures) -> None:
    for name, st, drawn in pictures:
        for picture in drawn:
            elements = picture.elements()
            assert (len(elements) > 0) == (st.numel > 0), name
            for index, (_, address) in elements.items():
                assert len(index) == st.ndim
                assert all(0 <= entry < size for entry, size in zip(index, st.shape))
                assert address == st.address(*index), (name, index)


def test_the_numbers_in_the_cells_are_the_addresses(pictures: Pictures) -> None:
    for name, _, drawn in pictures:
        picture = drawn[0]
        texts = {(int(text.attrib["x"]), int(text.attrib["y"])): text.text for text in picture.svg.iter(f"{SVG}text")}
        for cell, address in picture.elements().values():
            shown = texts.get((cell.x + cell.width // 2, cell.y + 4))
            if address is None:
                assert shown is None, name
            else:
                head, _, tail = (shown or "?").partition("…")
                assert str(address).startswith(head) and str(address).endswith(tail or head), (name, address, shown)


def test_masked_elements_are_hatched_and_no_others(pictures: Pictures) -> None:
    for name, _, drawn in pictures:
        for picture in drawn:
            elements = picture.elements().values()
            masked = {(cell.x, cell.y) for cell, address in elements if address is None}
            hatched = re.findall(r"M(-?\d+) (-?\d+)l", picture.path("hatch"))
            assert {(int(x), int(y)) for x, y in hatched} == masked, name


def test_cells_of_one_address_have_one_colour_and_the_strip_goes_through_all(pictures: Pictures) -> None:
    for name, _, drawn in pictures:
        picture = drawn[0]
        colours: dict[int, str] = {}
        for cell, address in picture.elements().values():
            if address is not None:
                assert colours.setdefault(address, cell.colour) == cell.colour, name
        # Cells are kept by colour, which goes from low to high addresses: each colour as often as in the grid.
        strip = Counter(cell.colour for cell in picture.addresses())
        assert strip == Counter(colours.values()), name


def test_how_often_an_address_is_read_is_said() -> None:
    assert {cell.title for cell in Picture(BROADCAST.svg()).addresses()} == {f"{at}, read 3 times" for at in range(4)}
    titles = Counter(cell.title for cell in Picture(WINDOWS.svg()).addresses())
    readers = Counter(WINDOWS.addresses())
    assert titles == Counter("" if n == 1 else f"{address}, read {n} times" for address, n in readers.items())
    assert "×4" in WINDOWS.svg()
    assert "read" not in {cell.title for cell in Picture(TRANSPOSED.svg()).addresses()}


def test_addresses_that_nobody_reads_are_empty() -> None:
    picture = Picture(ShapeTracker.contiguous(9).step(3).svg())
    assert len(picture.addresses()) == 3
    holes = re.findall(r"M(\d+) (\d+)H(\d+)V(\d+)H(\d+)z", picture.path("hole"))
    first, second, _ = sorted(cell.x for cell in picture.addresses())
    step = (second - first) // 3
    lefts = [first + step, first + 2 * step, second + step, second + 2 * step]
    assert [int(left) for left, *_ in holes] == [left + 1 for left in lefts]
    assert all(int(right) - int(left) == step - 4 and left == back for left, _, right, _, back in holes)
    assert all(int(bottom) - int(top) == 24 for _, top, _, bottom, _ in holes)
    assert "empty: never read" in picture.written()
    assert "empty" not in Picture(TRANSPOSED.svg()).written()


def test_what_is_left_out_is_said_exactly_when_something_is(pictures: Pictures) -> None:
    for name, st, drawn in pictures:
        for picture in drawn:
            elements = picture.elements()
            written = picture.written()
            said = re.search(r"(rows?|columns?|elements?) \d[^.]*not drawn|of \d+ blocks( are|,| and)", written, re.I)
            assert bool(said) == (len(elements) < st.numel), name
            assert ("not listed" in written) == (len(st.views) > 8), name


def test_what_is_left_out_is_said_in_plain_words() -> None:
    def note(st: ShapeTracker) -> str:
        found = re.search(r"<p[^>]*>([^<]*not drawn\.)</p>", st._repr_html_())
        return found[1] if found else ""

    assert note(ShapeTracker.contiguous(1024, 4)) == "Rows 16 to 1023 are not drawn."
    assert note(ShapeTracker.contiguous(17, 4)) == "Row 16 is not drawn."
    assert note(ShapeTracker.contiguous(64, 2, 2)) == "52 of 64 blocks are not drawn."
    assert note(ShapeTracker.contiguous(1000)) == "Elements 128 to 999 are not drawn."
    assert note(ShapeTracker.contiguous(16, 16)) == ""


def test_a_tensor_of_256_elements_is_drawn_whole() -> None:
    for shape in [(16, 16), (4, 8, 8), (3, 3, 5, 5), (128,), (2, 2, 2, 2, 2)]:
        st = ShapeTracker.contiguous(*shape)
        for picture in (Picture(st.svg()), Picture(st._repr_html_())):
            assert len(picture.elements()) == st.numel, shape


def test_the_witness_is_marked_and_said(pictures: Pictures) -> None:
    kinds: Counter[type] = Counter()
    for name, st, drawn in pictures:
        for picture in drawn:
            badges = [
                (int(text.attrib["x"]), int(text.attrib["y"]), text.text)
                for text in picture.svg.findall(f".//{SVG}text[@class='paper']")
            ]
            try:
                st.single_view()
            except Unmerged as err:
                witness = err.witness
                kinds[type(witness)] += 1
                if isinstance(witness, UnevenStep):
                    points = [step.index for step in witness.steps]
                    ends = [i[: witness.axis] + (i[witness.axis] + 1,) + i[witness.axis + 1 :] for i in points]
                else:
                    assert isinstance(witness, NotABox)
                    points, ends = [*witness.valid, witness.invalid], []
                if picture is drawn[1]:
                    assert str(witness) in picture.written(), name
                else:
                    assert str(witness)[:200] in picture.written(), name
            else:
                points, ends = [], []
            elements = picture.elements()
            for number, index in enumerate(points, 1):
                cell, _ = elements[index]
                assert (cell.x - 1, cell.y - 10, str(number)) in badges, (name, number)
            assert all(index in elements for index in ends), name
            assert len([badge for badge in badges if not (badge[2] or "").startswith("→")]) == len(points), name
    assert kinds[UnevenStep] > 50 and kinds[NotABox] > 10


def test_the_views_are_listed_from_memory_upwards() -> None:
    rows = ElementTree.fromstring(PADDED.reshape(3, 18)._repr_html_()).findall("./table/tr")
    listed = [["".join(cell.itertext()) for cell in row] for row in rows]
    first, second = PADDED.reshape(3, 18).views
    assert listed[0] == ["view", "shape", "strides", "offset", "mask"]
    assert listed[1] == ["view 0, next to memory", str(first.shape), str(first.strides), "1", str(first.mask)]
    assert listed[2] == ["view 1", str(second.shape), str(second.strides), "0", "none"]


def test_a_view_has_a_picture_like_its_tracker() -> None:
    view = View((4, 3), (1, 4), 2, ((0, 4), (1, 3)))
    st = ShapeTracker([view])
    for mine, other in ((view.svg(), st.svg()), (view._repr_html_(), st._repr_html_())):
        assert mine == other.replace("<title>ShapeTracker of", "<title>View of")
        elements = Picture(mine).elements()
        assert {index: address for index, (_, address) in elements.items()} == {
            (row, column): view.address(row, column) for row in range(4) for column in range(3)
        }


def test_pictures_are_the_same_every_time(pictures: Pictures) -> None:
    for name, st, drawn in pictures[:100]:
        copy = pickle.loads(pickle.dumps(st))
        assert [copy.svg(), copy._repr_html_()] == [picture.text for picture in drawn], name


def test_pictures_run_nothing_load_nothing_and_name_nothing(pictures: Pictures) -> None:
    for name, _, drawn in pictures:
        for picture in drawn:
            text = picture.text.replace("http://www.w3.org/2000/svg", "")
            for word in ("<script", "javascript", "http", "href", "url(", "@import", " id=", "<foreignObject"):
                assert word not in text, (name, word)
            for element in picture.root.iter():
                assert not any(attribute.startswith("on") for attribute in element.attrib), name


def test_every_rule_of_the_style_sheets_is_scoped() -> None:
    sheets = Picture(PADDED._repr_html_()).root.iter()
    rules = "".join(element.text or "" for element in sheets if element.tag.endswith("style"))
    rules = rules.replace("@media(prefers-color-scheme:dark){", "").replace("}}", "}")
    selectors = [selector for rule in re.findall(r"([^{}]+)\{[^{}]*\}", rules) for selector in rule.split(",")]
    assert len(selectors) > 12
    assert all(".shapetracker" in selector for selector in selectors)


def test_a_picture_says_what_it_is_to_those_who_cannot_see_it() -> None:
    svg = Picture(TRANSPOSED.svg()).svg
    assert svg.attrib["role"] == "img"
    assert [child.tag for child in svg][:2] == [f"{SVG}title", f"{SVG}desc"]
    assert svg.findtext(f"{SVG}title") == "ShapeTracker of shape (3, 2), 2 views"
    assert svg.findtext(f"{SVG}desc") == str(TRANSPOSED)


def test_pictures_scale(pictures: Pictures) -> None:
    for name, _, drawn in pictures:
        for picture in drawn:
            x, y, width, height = map(int, picture.svg.attrib["viewBox"].split())
            assert (x, y) == (0, 0) and "max-width:100%" in picture.svg.attrib["style"]
            assert width <= 800, (name, width)
            for cell in picture.cells:
                assert 0 < cell.x and cell.x + cell.width < width, name
                assert 14 <= cell.y <= height - 14, name


def luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    darker, lighter = sorted(luminance(colour if len(colour) == 7 else "#ffffff") for colour in (first, second))
    return (lighter + 0.05) / (darker + 0.05)


def test_addresses_can_be_read_on_every_colour(pictures: Pictures) -> None:
    seen: set[str] = set()
    for name, _, drawn in pictures[:200]:
        picture = drawn[0]
        for group in picture.svg.iter(f"{SVG}g"):
            if group.attrib.get("fill") not in ("#ffffff", "#000000"):
                continue
            for text in group:
                x, y = int(text.attrib["x"]), int(text.attrib["y"])
                under = [cell for cell in picture.cells if cell.holds(x, y)]
                assert len(under) == 1, (name, text.text)
                assert contrast(group.attrib["fill"], under[0].colour) >= 4.5, under[0].colour
                # A character of a monospaced font of size 11 is less than 6.7 wide.
                assert 6.7 * len(text.text or "") <= under[0].width, (name, text.text)
                seen.add(under[0].colour)
    assert len(seen) == 24


def test_all_other_text_can_be_read_in_the_light_and_in_the_dark() -> None:
    style = Picture(PADDED.svg()).svg.findtext(f"{SVG}style") or ""
    themes = [dict(re.findall(r"--(\w):(#\w+)", rule)) for rule in re.findall(r"\{(--[^}]*)\}", style)]
    assert len(themes) == 4 and themes[0]["p"] != themes[1]["p"]
    for theme in themes:
        for text in "idm":
            assert contrast(theme[text], theme["p"]) >= 4.5, theme
        # What is no text is to be seen: hatching on masked cells, outlines of holes.
        assert contrast(theme["d"], theme["b"]) >= 3, theme
        assert contrast(theme["l"], theme["p"]) >= 1.5, theme
    # Without the style sheet, the picture is as in the light.
    svg = Picture(NOT_A_BOX.svg()).svg
    for name, key in (("paper", "p"), ("ink", "i"), ("dim", "d"), ("badge halo", "m")):
        found = svg.findall(f".//*[@class='{name}']")
        assert found and all(element.attrib["fill"] == themes[0][key] for element in found), name


def test_the_pictures_of_the_pages_are_these() -> None:
    for name, st in (("transposed", TRANSPOSED), ("padded", PADDED), ("broadcast", BROADCAST)):
        page = Path(__file__).parent.parent / "docs" / f"{name}.svg"
        assert page.read_text(encoding="utf-8") == st.svg() + "\n", f"{page} is to be written again: st.svg()"
        assert page.stat().st_size < 25_000


def test_cost_does_not_depend_on_sizes(pictures: Pictures) -> None:
    # Elements of these are more than anybody could walk over: that all pictures are there is the test.
    assert max(st.numel for _, st, _ in pictures) > 2**60


def test_names_are_drawn_at_small_values_which_the_picture_says() -> None:
    h, t = Sym("H"), Sym("T", 1, 4097)
    for named in (ShapeTracker.contiguous(t, h).permute(1, 0).reshape(h * t), View((h, t), (1, h))):
        for text, draw in ((named.svg(), "svg"), (named._repr_html_(), "_repr_html_")):
            picture = Picture(text)
            said = " ".join("".join(picture.root.itertext()).split())
            found = re.search(r"drawn at (\w) = (\d), (\w) = (\d)\.", said)
            assert found is not None and len(text) < 40_000
            values = {found[1]: int(found[2]), found[3]: int(found[4])}
            assert values.keys() == {"H", "T"} and min(values.values()) > 1
            expected = Picture(getattr(named.at(**values), draw)())
            assert [cell.title for cell in picture.addresses()] == [cell.title for cell in expected.addresses()]
            assert "drawn at" not in "".join(expected.root.itertext())
    turned = ShapeTracker.contiguous(t, h).permute(1, 0).reshape(h * t)
    assert "One view if and only if T == 1 or H == 1." in " ".join(turned._repr_html_().split())
    # Of two names of which one is a hundred thousand times the other no values are found.
    wide = ShapeTracker.parse("(n, m)", where="n=1.., m == 100000*n")
    with pytest.raises(ValueError, match="svg: no values of the names were found for an example: say some"):
        wide.svg()
    assert wide._repr_html_().startswith("<pre>(n, m)")
