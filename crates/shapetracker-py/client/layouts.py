"""Odd layouts: small kernels that read tensors through chains of movement operations, drawn from a seed.

Each function is one way in which programs arrive at a layout that is no plain transpose: windows, dilation, skewed
matrices, interleaving, and so on. It draws its sizes, takes its inputs from `source`, and returns what is to be computed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from tinygrad import Tensor

Source = Callable[..., Tensor]

#: Sizes that share no factor with most others.
PRIMES = [2, 3, 5, 7, 11, 13]


def prime(draw: random.Random) -> int:
    return draw.choice(PRIMES)


def factors(n: int, draw: random.Random) -> tuple[int, ...]:
    """A shape of n elements, its factors grouped and ordered by chance."""
    found = []
    for p in range(2, n + 1):
        while n % p == 0:
            found.append(p)
            n //= p
    draw.shuffle(found)
    shape: list[int] = []
    for p in found:
        if shape and draw.random() < 0.4:
            shape[-1] *= p
        else:
            shape.append(p)
    return tuple(shape) or (1,)


def shuffled(x: Tensor, draw: random.Random) -> Tensor:
    axes = list(range(x.ndim))
    draw.shuffle(axes)
    return x.permute(*axes)


def unfold(x: Tensor, axis: int, size: int, step: int) -> Tensor:
    """Windows along an axis, their elements on a new last axis."""
    if hasattr(x, "unfold"):
        return x.unfold(axis, size, step)
    # tinygrad 0.10.3
    return x.transpose(axis, -1)._pool((size,), step).transpose(axis, -2) if axis != x.ndim - 1 else x._pool((size,), step)


def transposed(draw: random.Random, source: Source) -> Tensor:
    """A transpose seen under another shape, and that transposed again."""
    x = shuffled(source(prime(draw), draw.randint(2, 6), prime(draw)), draw)
    return shuffled(x.reshape(factors(x.numel(), draw)), draw).contiguous()


def padded(draw: random.Random, source: Source) -> Tensor:
    """A margin, whose elements a reshape strews over the rows."""
    x = source(prime(draw), draw.randint(2, 9)).pad(((draw.randint(0, 2), draw.randint(1, 3)), (1, draw.randint(0, 2))))
    return x.reshape(factors(x.numel(), draw)) + 1


def reversed_strides(draw: random.Random, source: Source) -> Tensor:
    """Axes backwards and in steps, then flat."""
    x = source(draw.randint(5, 12), draw.randint(5, 12), prime(draw))
    x = x[:: -draw.randint(1, 3), draw.randint(0, 2) :: draw.randint(1, 3), ::-1]
    return x.reshape(-1).contiguous()


def windows(draw: random.Random, source: Source) -> Tensor:
    """Windows that overlap, and what each contains as a row."""
    size, step, n = draw.randint(2, 4), draw.randint(1, 3), draw.randint(9, 17)
    x = unfold(source(prime(draw), n), 1, size, step)
    return x.permute(1, 0, 2).reshape(x.shape[1], -1).sum(1)


def patches(draw: random.Random, source: Source) -> Tensor:
    """The columns of a convolution, weighted."""
    size, channels, n = draw.choice([2, 3]), draw.randint(1, 3), draw.randint(6, 9)
    x = source(channels, n, n).pad((1, 1, 1, 1))
    x = unfold(unfold(x, 1, size, draw.randint(1, 2)), 2, size, 1)
    columns = x.permute(1, 2, 0, 3, 4).reshape(x.shape[1] * x.shape[2], -1)
    return (columns * source(columns.shape[1])).sum(1)


def dilated(draw: random.Random, source: Source) -> Tensor:
    """Zeros between the elements, and a window over them: what a strided convolution does backwards."""
    n, gap, size = draw.randint(4, 9), draw.randint(2, 4), draw.randint(2, 4)
    x = source(prime(draw), n).reshape(-1, n, 1).pad((0, gap - 1)).reshape(-1, n * gap)[:, : (n - 1) * gap + 1]
    x = unfold(x.pad((size - 1, size - 1)).flip(1), 1, size, 1)
    return (x * source(size)).sum(2)


def rolled(draw: random.Random, source: Source) -> Tensor:
    """Both axes rolled, in another shape."""
    x = source(prime(draw) + 2, draw.randint(4, 9))
    x = x.roll((draw.randint(1, x.shape[0] - 1), draw.randint(-3, -1)), (0, 1))
    return x.reshape(factors(x.numel(), draw)).contiguous()


def shuffled_pixels(draw: random.Random, source: Source) -> Tensor:
    """Channels that become pixels, or the other way round, beside a border."""
    r, channels, h, w = draw.randint(2, 3), draw.randint(1, 3), draw.randint(3, 5), prime(draw)
    if draw.random() < 0.5:
        x = source(2, channels * r * r, h, w).reshape(2, channels, r, r, h, w).permute(0, 1, 4, 2, 5, 3)
        x = x.reshape(2, channels, h * r, w * r)
    else:
        x = source(2, channels, h * r, w * r).reshape(2, channels, h, r, w, r).permute(0, 1, 3, 5, 2, 4)
        x = x.reshape(2, channels * r * r, h, w)
    return x.pad((1, 0, 0, 1)).flip(3) * 2


def blocks_on_a_diagonal(draw: random.Random, source: Source) -> Tensor:
    """A matrix that has blocks on its diagonal and zeros elsewhere, multiplied."""
    count, rows, columns = draw.randint(2, 5), prime(draw), draw.randint(2, 5)
    # The block of each row begins one block further right than that of the block before it: rows that are one block longer,
    # read as if they were not.
    x = source(count, rows, columns).permute(1, 0, 2).pad((0, count * columns)).reshape(rows, -1)
    x = x[:, : count * count * columns].reshape(rows, count, count * columns)
    x = x.permute(1, 0, 2).reshape(count * rows, count * columns)
    return x @ source(count * columns, 3)


def sparse_blocks(draw: random.Random, source: Source) -> Tensor:
    """Every second block of a matrix, the blocks in rows."""
    b, rows, columns = draw.randint(2, 4), draw.randint(2, 5), prime(draw)
    x = source(rows * b, 2 * columns * b).reshape(rows, b, columns, 2, b)[:, :, :, draw.randint(0, 1)]
    return x.permute(0, 2, 1, 3).reshape(rows * columns, b * b).max(1)


def diagonals(draw: random.Random, source: Source) -> Tensor:
    """A diagonal, or a matrix that has one."""
    n = draw.randint(4, 13)
    if draw.random() < 0.5:
        x = source(n, n).reshape(-1).pad((0, n)).reshape(n, n + 1)[:, 0]
        return x + source(n).flip(0)
    x = source(n).reshape(n, 1).pad((0, n)).reshape(-1)[: n * n].reshape(n, n)
    return x + source(n, n).transpose(0, 1)


def interleaved(draw: random.Random, source: Source) -> Tensor:
    """Tensors that take turns."""
    count, n = draw.randint(2, 3), draw.randint(5, 11)
    x = Tensor.stack(*(source(n, 2).flip(draw.randint(0, 1)) for _ in range(count)), dim=draw.randint(0, 2))
    return shuffled(x, draw).reshape(-1).contiguous()


def skewed(draw: random.Random, source: Source) -> Tensor:
    """Relative positions as Transformer-XL has them: each row one further left than the one above it."""
    heads, n, m = draw.randint(1, 3), draw.randint(3, 9), draw.randint(3, 9)
    x = source(heads, n, m).pad((1, 0)).reshape(heads, m + 1, n)[:, 1:].reshape(heads, n, m)
    return x + source(heads, m, n).transpose(1, 2)


def tiled(draw: random.Random, source: Source) -> Tensor:
    """Repetitions as a whole and of each element, cut."""
    x = source(prime(draw), draw.randint(2, 5)).repeat(draw.randint(2, 3), 2)
    x = x.repeat_interleave(draw.randint(2, 3), 1)
    return x[1:, draw.randint(1, 3) : -1].flip(0).reshape(-1).contiguous()


def reflected(draw: random.Random, source: Source) -> Tensor:
    """Margins that continue the tensor, backwards or from its other end."""
    x = source(2, draw.randint(4, 9), draw.randint(4, 9))
    margins = tuple(draw.randint(1, 3) for _ in range(4))
    return x.reshape(1, *x.shape).pad(margins, mode=draw.choice(["reflect", "circular", "replicate"])).sum(2)


def reordered(draw: random.Random, source: Source) -> Tensor:
    """Parts of a tensor in another order, with another one between them."""
    n = draw.randint(6, 13)
    x, cut = source(3, n), draw.randint(2, n - 2)
    return Tensor.cat(x[:, cut:], source(3, 2).flip(1), x[:, :cut].flip(1), dim=1).transpose(0, 1).contiguous()


def wavefront(draw: random.Random, source: Source) -> Tensor:
    """A matrix by its antidiagonals, as dynamic programming goes over it."""
    n, m = draw.randint(3, 9), draw.randint(3, 9)
    x = source(n, m).pad((0, n)).reshape(-1)[: n * (n + m - 1)].reshape(n, n + m - 1)
    return x.transpose(0, 1).sum(1)


def shifted_windows(draw: random.Random, source: Source) -> Tensor:
    """The windows of a Swin transformer, shifted by half of one."""
    size, h, w, channels = draw.choice([2, 4]), draw.randint(2, 3), draw.randint(2, 3), prime(draw)
    x = source(1, h * size, w * size, channels).roll((-(size // 2), -(size // 2)), (1, 2))
    x = x.reshape(1, h, size, w, size, channels).permute(0, 1, 3, 2, 4, 5)
    return x.reshape(h * w, size * size, channels).sum(1)


def upsampled(draw: random.Random, source: Source) -> Tensor:
    """Each element several times, then every other one, then windows of them."""
    n, by, step = draw.randint(5, 11), draw.randint(2, 4), draw.randint(2, 3)
    x = source(prime(draw), n, 1).expand(-1, n, by).reshape(-1, n * by)[:, ::step]
    return unfold(x.pad((1, 1)), 1, 3, 1).max(2)


def rotated(draw: random.Random, source: Source) -> Tensor:
    """Halves of a head that change places, one negative, as rotary embeddings have it, interleaved or not."""
    n, heads, half = draw.randint(3, 7), draw.randint(1, 3), prime(draw)
    x = source(n, heads, 2 * half)
    pairs = x.reshape(n, heads, half, 2) if draw.random() < 0.5 else x.reshape(n, heads, 2, half).transpose(2, 3)
    turned = Tensor.stack(-pairs[..., 1], pairs[..., 0], dim=3).reshape(n, heads, 2 * half)
    return x * source(n, 1, 2 * half) + turned * source(n, 1, 2 * half)


def wandering(draw: random.Random, source: Source) -> Tensor:
    """Movement operations as they come."""
    x = source(prime(draw), draw.randint(2, 6), draw.randint(2, 6))
    for _ in range(draw.randint(4, 9)):
        kind = draw.randrange(5)
        axis = draw.randrange(x.ndim)
        if kind == 0:
            x = shuffled(x, draw)
        elif kind == 1:
            x = x.reshape(factors(x.numel(), draw))
        elif kind == 2 and x.numel() < 400:
            x = x.pad(tuple((draw.randint(0, 2), draw.randint(0, 2)) if a == axis else None for a in range(x.ndim)))
        elif kind == 3:
            x = x.flip(axis)
        elif x.shape[axis] > 2:
            begin, end = draw.randint(0, 1), x.shape[axis] - draw.randint(0, 1)
            x = x.shrink(tuple((begin, end) if a == axis else None for a in range(x.ndim)))
    return x.sum(draw.randrange(x.ndim)) if draw.random() < 0.5 else x.contiguous()


FAMILIES = [
    transposed,
    padded,
    reversed_strides,
    windows,
    patches,
    dilated,
    rolled,
    shuffled_pixels,
    blocks_on_a_diagonal,
    sparse_blocks,
    diagonals,
    interleaved,
    skewed,
    tiled,
    reflected,
    reordered,
    wavefront,
    shifted_windows,
    upsampled,
    rotated,
    wandering,
]


def margin(x: Tensor, draw: random.Random) -> Tensor:
    return x.pad(tuple((draw.randint(0, 2), draw.randint(0, 2)) for _ in range(x.ndim)))


def backwards(x: Tensor, draw: random.Random) -> Tensor:
    return x.flip(draw.randrange(x.ndim))


def every_other(x: Tensor, draw: random.Random) -> Tensor:
    axis, step = draw.randrange(x.ndim), draw.randint(2, 3)
    return x[tuple(slice(draw.randint(0, 1), None, step) if a == axis else slice(None) for a in range(x.ndim))]


def transposed_axes(x: Tensor, draw: random.Random) -> Tensor:
    return x.transpose(draw.randrange(x.ndim), -1)


def flattened(x: Tensor, draw: random.Random) -> Tensor:
    """Two neighbouring axes as one."""
    axis = draw.randrange(x.ndim - 1) if x.ndim > 1 else 0
    return x.flatten(axis, axis + 1) if x.ndim > 1 else x


def divided(x: Tensor, draw: random.Random) -> Tensor:
    """An axis in pieces of two or three, after zeros at its end where it does not divide."""
    axis, size = draw.randrange(x.ndim), draw.randint(2, 3)
    x = x.pad(tuple((0, -x.shape[a] % size) if a == axis else (0, 0) for a in range(x.ndim)))
    return x.reshape(*x.shape[:axis], x.shape[axis] // size, size, *x.shape[axis + 1 :])


def windows_of_three(x: Tensor, draw: random.Random) -> Tensor:
    axis = draw.randrange(x.ndim)
    return unfold(x, axis, 3, draw.randint(1, 2)) if x.shape[axis] >= 3 else x


def with_zeros_between(x: Tensor, draw: random.Random) -> Tensor:
    axis, gap = draw.randrange(x.ndim), draw.randint(2, 3)
    shape = x.shape
    x = x.reshape(*shape[: axis + 1], 1, *shape[axis + 1 :])
    x = x.pad(tuple((0, gap - 1) if a == axis + 1 else (0, 0) for a in range(x.ndim)))
    return x.reshape(*shape[:axis], shape[axis] * gap, *shape[axis + 1 :])


def repeated(x: Tensor, draw: random.Random) -> Tensor:
    return x.repeat_interleave(2, draw.randrange(x.ndim))


def skewed_rows(x: Tensor, draw: random.Random) -> Tensor:
    """Each row one further right than the one above it."""
    if x.ndim < 2:
        return x
    *others, n, m = x.shape
    x = x.pad((0, n)).reshape(*others, n * (m + n))[..., : n * (m + n - 1)]
    return x.reshape(*others, n, m + n - 1)


def cut(x: Tensor, draw: random.Random) -> Tensor:
    """Without its first or its last elements along an axis."""
    axis = draw.randrange(x.ndim)
    if x.shape[axis] < 3:
        return x
    begin, end = draw.choice([(1, x.shape[axis]), (0, x.shape[axis] - 1), (1, x.shape[axis] - 1)])
    return x.shrink(tuple((begin, end) if a == axis else None for a in range(x.ndim)))


STEPS = [
    margin,
    backwards,
    every_other,
    transposed_axes,
    flattened,
    divided,
    windows_of_three,
    with_zeros_between,
    repeated,
    skewed_rows,
    cut,
]


def chained(draw: random.Random, source: Source) -> Tensor:
    """Several of the steps above one after the other, and what is computed of that."""
    x = source(*(draw.choice([3, 4, 5, 6, 7, 8]) for _ in range(draw.randint(2, 3))))
    for _ in range(draw.randint(4, 8)):
        larger = draw.choice(STEPS)(x, draw)
        if larger.numel() <= 5000 and larger.ndim <= 6 and 0 not in larger.shape:
            x = larger
    return x.sum(draw.randrange(x.ndim)) if draw.random() < 0.3 else x + 1


def odd_layouts(rounds: int, seed: int, source: Source) -> Iterator[tuple[str, Tensor]]:
    """In so many rounds, what each family makes, and then as many chains of steps."""
    draw = random.Random(seed)
    for i in range(rounds):
        for make in FAMILIES:
            yield f"{make.__name__} {i + 1}", make(draw, source)
        for j in range(len(FAMILIES)):
            yield f"chain {i + 1}.{j + 1}", chained(draw, source)
