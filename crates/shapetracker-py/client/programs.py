"""The programs of the comparison: small ones that are run, and three graphs of kernels that are only lowered.

A program returns its results by name. Their inputs are drawn from a fixed seed, and where a program does nothing but move
and add, they are small whole numbers, whose sums are exact in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from layouts import odd_layouts
from models import GPT, ResNet
from tinygrad import Device, Tensor, TinyJit, Variable, dtypes, nn
from tinygrad.nn.optim import SGD, AdamW, Optimizer
from tinygrad.nn.state import get_parameters, get_state_dict

Results = Iterator[tuple[str, Tensor | np.ndarray]]


class Inputs:
    """Tensors with values from a fixed seed, realized."""

    def __init__(self, seed: int = 17):
        self.generator = np.random.default_rng(seed)

    def normal(self, *shape: int) -> Tensor:
        return Tensor(self.generator.standard_normal(shape).astype(np.float32)).realize()

    def whole(self, *shape: int) -> Tensor:
        return Tensor(self.generator.integers(-4, 5, shape).astype(np.float32)).realize()

    def below(self, end: int, *shape: int) -> Tensor:
        return Tensor(self.generator.integers(0, end, shape).astype(np.int32)).realize()

    def fill(self, model: Any) -> None:
        """Gives the parameters of a model values, and leaves its counters and running statistics as they are."""
        for name, tensor in get_state_dict(model).items():
            if tensor.requires_grad is not False and "running" not in name and "num_batches" not in name:
                scale = 1 if tensor.ndim < 2 else (tensor.numel() / tensor.shape[0]) ** -0.5
                tensor.replace((self.normal(*tensor.shape) * scale).realize())


def both_ways(name: str, output: Tensor, loss: Tensor, **inputs: Tensor) -> Results:
    """What comes of a function forward and backward."""
    loss.backward()
    results = {"output": output, "loss": loss, **{f"gradient of {i}": tensor.grad for i, tensor in inputs.items()}}
    Tensor.realize(*results.values())
    yield from ((f"{name}: {part}", tensor) for part, tensor in results.items())


def convolutions() -> Results:
    """Forward and backward: padded, strided, dilated, in groups, along one axis and three, transposed."""
    inputs = Inputs()
    cases = {
        "plain": ((2, 3, 9, 9), (4, 3, 3, 3), {}),
        "padded": ((2, 3, 8, 8), (4, 3, 3, 3), {"padding": 1}),
        "one sided": ((1, 2, 7, 6), (3, 2, 3, 2), {"padding": (1, 0, 2, 1)}),
        "strided": ((2, 4, 11, 11), (4, 4, 3, 3), {"padding": 1, "stride": 2}),
        "uneven stride": ((1, 2, 13, 10), (3, 2, 5, 3), {"padding": 2, "stride": (3, 2)}),
        "dilated": ((1, 3, 12, 12), (2, 3, 3, 3), {"padding": 2, "dilation": 2}),
        "depthwise": ((2, 6, 8, 8), (6, 1, 3, 3), {"padding": 1, "groups": 6}),
        "grouped": ((1, 6, 7, 7), (4, 3, 3, 3), {"padding": 1, "groups": 2, "stride": 2}),
        "pointwise": ((2, 5, 6, 6), (7, 5, 1, 1), {}),
        "weight as large as the image": ((1, 1, 5, 5), (1, 1, 5, 5), {}),
        "one axis": ((2, 3, 17), (4, 3, 5), {"padding": 2, "stride": 2}),
        "three axes": ((1, 2, 5, 6, 7), (3, 2, 2, 3, 3), {"padding": 1}),
    }
    for name, (image, kernel, options) in cases.items():
        x, w, b = inputs.normal(*image), inputs.normal(*kernel), inputs.normal(kernel[0])
        for tensor in (x, w, b):
            tensor.requires_grad = True
        y = x.conv2d(w, b, **options)
        yield from both_ways(name, y, (y * y).mean(), x=x, w=w, b=b)
    x, w = inputs.normal(2, 4, 5, 6), inputs.normal(4, 3, 3, 3)
    x.requires_grad = w.requires_grad = True
    y = x.conv_transpose2d(w, stride=2, padding=1, output_padding=1, dilation=(1, 2))
    yield from both_ways("transposed", y, (y * y).mean(), x=x, w=w)


def pooling() -> Results:
    """Pools with margins, strides and dilation, forward and backward, and images in other sizes."""
    inputs = Inputs()
    cases = {
        "max": lambda x: x.max_pool2d(2),
        "max that overlaps": lambda x: x.pad((1, 1, 1, 1)).max_pool2d(3, 2),
        "max with a margin": lambda x: x.max_pool2d((3, 2), stride=2, padding=1),
        "max, dilated": lambda x: x.max_pool2d(2, stride=1, dilation=3),
        "mean": lambda x: x.avg_pool2d(3, 2, padding=1),
        "mean without the margin": lambda x: x.avg_pool2d((2, 3), 2, padding=1, count_include_pad=False),
        "mean, rounded up": lambda x: x.avg_pool2d(2, 2, ceil_mode=True),
        "enlarged": lambda x: x.interpolate((17, 15), mode="linear"),
        "nearest": lambda x: x.interpolate((22, 27), mode="nearest"),
        "over everything": lambda x: x.mean((2, 3)),
    }
    for name, pool in cases.items():
        x = inputs.whole(2, 3, 11, 9)
        x.requires_grad = True
        y = pool(x)
        yield from both_ways(name, y, (y * inputs.whole(*y.shape)).sum(), x=x)


def attention() -> Results:
    """A GPT that predicts a token at a time under the JIT, its cache as long as what it has read: a symbolic size."""
    inputs = Inputs()
    model = GPT(layers=2, dim=24, heads=3, vocabulary=31, context=12)
    inputs.fill(model)
    Tensor.realize(*get_parameters(model))
    tokens = inputs.below(31, 1, 12)
    step = TinyJit(lambda token, start: model(token, start).realize())
    for i in range(11):
        start = Variable("start", 1, 11).bind(i) if i > 0 else 0
        token = tokens[:, i : i + 1].contiguous().realize()
        yield f"logits of token {i}", (step(token, start) if i > 0 else model(token, 0)).numpy()
    yield "logits of all tokens at once", model(tokens)


def trainable(model: GPT) -> list[Tensor]:
    """The parameters without the caches, which are part of the model's state too."""
    caches = {id(cache) for layer in model.layers for cache in (layer.attention.keys, layer.attention.values)}
    return [tensor for tensor in get_parameters(model) if id(tensor) not in caches]


def training(optimizer: Optimizer, loss: Callable[[], Tensor], steps: int) -> Results:
    for i in range(steps):
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        yield f"loss {i}", value.numpy()


def resnet() -> Results:
    """A training step of a small ResNet, batch normalisation and momentum included."""
    yield from trained_resnet(ResNet([1, 1], width=6, classes=5), size=20, steps=1)


def resnet18() -> Results:
    """Two training steps of ResNet-18, and what it predicts then."""
    model = ResNet([2, 2, 2, 2], width=64, classes=10)
    yield from trained_resnet(model, size=32, steps=2)
    yield "prediction", model(Inputs(18).normal(2, 3, 32, 32))


def trained_resnet(model: ResNet, size: int, steps: int) -> Results:
    inputs = Inputs()
    inputs.fill(model)
    images, labels = inputs.normal(3, 3, size, size), inputs.below(5, 3)
    optimizer = SGD(get_parameters(model), lr=0.01, momentum=0.9, weight_decay=5e-4)
    with Tensor.train():
        yield from training(optimizer, lambda: model(images).sparse_categorical_crossentropy(labels), steps)
    for name, tensor in get_state_dict(model).items():
        yield name, tensor


def transformer() -> Results:
    """A training step of a GPT: embeddings, causal attention, layer normalisation, AdamW."""
    inputs = Inputs()
    model = GPT(layers=1, dim=16, heads=2, vocabulary=19, context=9)
    inputs.fill(model)
    tokens, next_tokens = inputs.below(19, 2, 9), inputs.below(19, 2, 9)
    optimizer = AdamW(trainable(model), lr=0.01)
    with Tensor.train():
        yield from training(optimizer, lambda: model(tokens).sparse_categorical_crossentropy(next_tokens), 1)
    for name, tensor in get_state_dict(model).items():
        yield name, tensor


def symbolic() -> Results:
    """Sizes that are variables: cut, padded, reshaped, reduced, multiplied, under the JIT with other values each time."""
    inputs = Inputs()
    x, y, z = inputs.whole(10, 6), inputs.whole(6, 10), inputs.normal(4, 10, 5)

    def first(tensor: Tensor, axis: int, n: Any) -> Tensor:
        return tensor.shrink(tuple((0, n) if a == axis else None for a in range(tensor.ndim)))

    functions = {
        "sum of the first": lambda n: first(x, 0, n).sum(0),
        "elements of the first": lambda n: (first(x, 0, n) * 2).pad(((0, 10 - n), (0, 0))),
        "product": lambda n: first(y, 1, n) @ first(x, 0, n),
        "mean and deviation": lambda n: first(z, 1, n).mean(1) + first(z, 1, n).std(1),
        "softmax": lambda n: first(z, 1, n).softmax(1).sum(0)[0],
        "flat": lambda n: first(x, 0, n).reshape(n * 6).sum(),
        "in groups": lambda n: first(x, 0, n).reshape(n, 2, 3).permute(1, 0, 2).reshape(2, n * 3).sum(1),
        "from the middle": lambda n: x.shrink(((n, n + 2), None)).contiguous(),
        "one element": lambda n: x.shrink(((n, n + 1), (3, 4))).reshape(1) + 1,
        "expanded": lambda n: (x[0:1, 0:1].expand(n, 4) * 3).sum(),
        "attention": lambda n: first(z.permute(0, 2, 1), 2, n).softmax(-1) @ first(z, 1, n),
    }
    for name, function in functions.items():
        jitted = TinyJit(lambda n, function=function: function(n).contiguous().realize())
        for value in (1, 2, 3, 5, 8):
            n = Variable("n", 1, 8).bind(value)
            yield f"{name}, {value}", jitted(n).numpy()


def indexing() -> Results:
    """What is made of comparisons with ranges and of reductions: sorting, gathering, scattering, cumulative sums."""
    inputs = Inputs()
    x, index = inputs.whole(7, 11), inputs.below(7, 5, 11)
    yield "cumulative sum", x.cumsum(1)
    yield "cumulative maximum", x.cummax(0)[0] if isinstance(x.cummax(0), tuple) else x.cummax(0)
    yield "upper triangle", x.triu(1) + x.tril(-2)
    yield "gathered", x.gather(0, index)
    yield "scattered", Tensor.zeros(7, 11).scatter(0, index, inputs.whole(5, 11))
    yield "rows by number", x[inputs.below(7, 4)]
    yield "elements by number", x[inputs.below(7, 4), inputs.below(11, 4)]
    yield "every other column backwards", x[::2, ::-3]
    yield "sorted", x.sort(1)[0]
    yield "places when sorted", x.sort(1, descending=True)[1]
    yield "largest", x.topk(3, 0)[0]
    yield "one-hot", inputs.below(5, 9).one_hot(5)
    yield "range", Tensor.arange(3, 50, 7)
    yield "line", Tensor.linspace(-1, 1, 9)
    yield "chessboard", (Tensor.arange(6).reshape(6, 1) + Tensor.arange(6)) % 2
    yield "argmax", x.argmax(1)
    buffer = inputs.whole(6, 8).contiguous().realize()
    buffer[1:3, ::1].assign(inputs.whole(2, 8)).realize()
    buffer[4:, 2:5] = inputs.whole(2, 3)
    yield "assigned in parts", buffer
    bits = Tensor(np.arange(24, dtype=np.uint8)).realize()
    yield "bytes as words", bits.bitcast(dtypes.uint32)
    yield "halves", bits.reshape(4, 6).cast(dtypes.float16).transpose(0, 1).reshape(3, 8).contiguous()


def jit() -> Results:
    """A training step under the JIT, with other data each time."""
    inputs = Inputs()

    class Model:
        def __init__(self) -> None:
            self.conv, self.linear = nn.Conv2d(1, 4, 3, padding=1), nn.Linear(4 * 9, 3)

        def __call__(self, x: Tensor) -> Tensor:
            return self.linear(self.conv(x).relu().max_pool2d(2).flatten(1))

    model = Model()
    inputs.fill(model)
    optimizer = SGD(get_parameters(model), lr=0.1, momentum=0.5)

    @TinyJit
    def step(x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = model(x).sparse_categorical_crossentropy(y)
        loss.backward()
        return loss.realize(*optimizer.schedule_step())

    with Tensor.train():
        for i in range(4):
            yield f"loss {i}", step(inputs.normal(5, 1, 6, 6), inputs.below(3, 5)).numpy()
    for name, tensor in get_state_dict(model).items():
        yield name, tensor


def devices() -> Results:
    """Tensors in parts on two devices: elementwise, reduced, multiplied, with gradients."""
    inputs = Inputs()
    both = ("CPU:0", "CPU:1")
    x, w = inputs.whole(6, 8), inputs.whole(8, 4)
    by_rows, whole, by_columns = x.shard(both, 0), w.shard(both, None), x.shard(both, 1)
    yield "by rows", by_rows * 2 + 1
    yield "sum over rows", by_rows.sum(0)
    yield "sum over columns", by_rows.sum(1)
    yield "product", by_rows @ whole
    yield "product over the divided axis", by_columns @ w.shard(both, 0)
    yield "transposed", by_columns.transpose(0, 1).flip(1).contiguous()
    yield "reshaped", by_rows.reshape(2, 3, 8).permute(0, 2, 1).sum(2)
    weights = inputs.whole(8, 4).shard(both, None)
    weights.requires_grad = True
    product = (by_rows @ weights).relu()
    yield from both_ways("product with gradients", product, product.sum(), weights=weights)


def wide() -> Results:
    """Addresses past 32 bits: elements at the end of a buffer of three gigabytes, of which only they are touched."""
    rows, columns = 3, 2**30 + 7
    x = Tensor.empty(rows, columns, dtype=dtypes.uint8)
    x[:, -5:].assign(Tensor(np.arange(15, dtype=np.uint8).reshape(3, 5)).realize()).realize()
    x[:, :3].assign(Tensor(np.arange(30, 39, dtype=np.uint8).reshape(3, 3)).realize()).realize()
    yield "the end of each row", x[:, -5:].transpose(0, 1).contiguous()
    yield "the end, backwards", x.flip(0, 1)[:, :5].reshape(15).contiguous()
    yield "around the ends of rows", x.reshape(-1)[columns - 4 : columns + 3].pad((1, 2)).reshape(2, 5).contiguous()
    yield "every other one", x.reshape(-1)[2 * columns - 4 : 2 * columns + 2].reshape(3, 2)[:, 1].contiguous()
    yield "the last one", x[2, columns - 1 :] + 1


def odd() -> Results:
    """Odd layouts, a round of them."""
    yield from odd_layouts(1, 5, Inputs().whole)


def many_odd() -> Results:
    """Four rounds of odd layouts, those of the graph."""
    yield from odd_layouts(4, 0, Inputs().whole)


#: What is run and compared: always, and in the long comparison.
SHORT = [convolutions, pooling, attention, resnet, transformer, symbolic, indexing, jit, devices, wide, odd]
LONG = [resnet18, many_odd]


def without_values(model: Any) -> None:
    for tensor in get_state_dict(model).values():
        tensor.replace(Tensor.empty(*tensor.shape, dtype=tensor.dtype))


def optimized(optimizer: type[Optimizer], parameters: Iterable[Tensor], **options: Any) -> Optimizer:
    made = optimizer(list(parameters), **options)
    without_values(made)
    return made


def resnet_graph() -> None:
    """A training step of ResNet-18 on two images of 64 x 64."""
    model = ResNet([2, 2, 2, 2], width=64, classes=10)
    without_values(model)
    optimizer = optimized(SGD, get_parameters(model), lr=0.01, momentum=0.9, weight_decay=5e-4)
    with Tensor.train():
        loss = model(Tensor.empty(2, 3, 64, 64)).sparse_categorical_crossentropy(Tensor.empty(2, dtype=dtypes.int))
        loss.backward()
        loss.realize(*optimizer.schedule_step())


def gpt_graph() -> None:
    """A GPT of four layers: a token with a symbolic cache, a prompt, and a training step."""
    model = GPT(layers=4, dim=128, heads=4, vocabulary=1000, context=64)
    without_values(model)
    model(Tensor.empty(1, 1, dtype=dtypes.int), Variable("start", 1, 63).bind(3)).realize()
    model(Tensor.empty(1, 17, dtype=dtypes.int), 0).realize()
    optimizer = optimized(AdamW, trainable(model), lr=0.01)
    with Tensor.train():
        tokens, next_tokens = (Tensor.empty(2, 32, dtype=dtypes.int) for _ in range(2))
        loss = model(tokens).sparse_categorical_crossentropy(next_tokens)
        loss.backward()
        loss.realize(*optimizer.schedule_step())


def odd_graph() -> None:
    """Four rounds of odd layouts, each realized by itself."""
    for _, tensor in odd_layouts(4, 0, lambda *shape: Tensor.empty(*shape)):
        tensor.realize()


#: What is scheduled and lowered, and not run: its index code is counted, and the time is taken.
GRAPHS = [resnet_graph, gpt_graph, odd_graph]
