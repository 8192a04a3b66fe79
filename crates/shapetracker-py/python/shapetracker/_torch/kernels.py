"""Which strides PyTorch's kernels on the CPU take without a copy of their own: a table, each row of which a test runs.

A rule says which strides an operand may have. The rows are what PyTorch's sources do, and the tests profile each kernel on
strides of all kinds and look whether it copied. A kernel that is in no row is unknown, and nothing is claimed about it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Shape: TypeAlias = Sequence[int]

__all__ = ["ROWS", "RANDOM", "Row", "Rule", "row_of", "takes"]


def is_dense(shape: Shape, strides: Shape, order: Sequence[int] | None = None) -> bool:
    """Are the elements one after the other, the last axis of `order` fastest? Strides of axes of one element do not count."""
    expected = 1
    for axis in reversed(order if order is not None else range(len(shape))):
        if shape[axis] != 1:
            if strides[axis] != expected:
                return False
            expected *= shape[axis]
    return True


def is_channels_last(shape: Shape, strides: Shape) -> bool:
    """`torch.channels_last` or `torch.channels_last_3d`."""
    rank = len(shape)
    return rank in (4, 5) and is_dense(shape, strides, (0, *range(2, rank), 1))


def _any(shape: Shape, strides: Shape) -> bool:
    return True


def _in_memory_format(shape: Shape, strides: Shape) -> bool:
    return is_dense(shape, strides) or is_channels_last(shape, strides)


def _matrix(shape: Shape, strides: Shape) -> bool:
    """BLAS has one stride for a matrix, the leading dimension, which is at least the length of a row; the other stride is 1."""
    (rows, columns), (down, right) = shape[-2:], strides[-2:]
    return (right == 1 and down >= max(1, columns)) or (down == 1 and right >= max(1, rows))


def _last_axis(shape: Shape, strides: Shape) -> bool:
    return strides[-1] == 1


def _last_axis_or_one(shape: Shape, strides: Shape) -> bool:
    return strides[-1] in (0, 1)


@dataclass(frozen=True)
class Rule:
    """Strides that a kernel takes: in words, in PyTorch's sources, and as a function of a shape and its strides."""

    says: str
    source: str
    takes: Callable[[Shape, Shape], bool]


ANY = Rule("any strides", "aten/src/ATen/TensorIterator.cpp", _any)
DENSE = Rule("its operand dense", "`input.contiguous()` in the kernel", is_dense)
FORMAT = Rule(
    "its operand dense, as contiguous or channels_last",
    "`input.contiguous(suggest_memory_format)` in the kernel",
    _in_memory_format,
)
TOGETHER = Rule(
    "its operands dense in one memory format, contiguous or channels_last",
    "aten/src/ATen/native/Convolution.cpp: determine_backend_memory_format; `suggest_memory_format` of an operand elsewhere",
    _in_memory_format,
)
MATRIX = Rule(
    "a stride of 1 along one axis of a matrix, and along the other at least its length",
    "aten/src/ATen/native/LinearAlgebra.cpp and Blas.cpp: the leading dimension of BLAS",
    _matrix,
)
ATTENTION = Rule("a stride of 1 along the last axis", "aten/src/ATen/native/transformers/attention.cpp", _last_axis)
ATTENTION_MASK = Rule(
    "a stride of 1 or 0 along the last axis", "aten/src/ATen/native/transformers/attention.cpp", _last_axis_or_one
)


@dataclass(frozen=True)
class Row:
    """Operators under one rule. `operands` are the positions of those arguments that it is about, -1 for those that go by a name;
    None: all of them. `beside` are those positions whose tensors have to be in the same memory format, and `axis` says for which
    axis of an operator with one, its second argument, the row is: for axis 1 or for all others. A row is about the CPU, but for
    those that are so `everywhere`."""

    rule: Rule
    names: tuple[str, ...]
    operands: tuple[int, ...] | None = None
    beside: tuple[int, ...] = ()
    axis: bool | None = None
    everywhere: bool = False


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ROWS = (
    Row(
        ANY,
        _names(
            """abs add add_ addcmul addcdiv bitwise_and bitwise_not bitwise_or ceil clamp clamp_min clamp_max cos div div_ elu eq erf exp floor
            ge gelu gelu_backward gt hardtanh isnan le leaky_relu log log1p logical_and logical_not logical_or lt masked_fill maximum
            minimum mul mul_ ne neg pow reciprocal relu relu_ remainder rsqrt rsub sigmoid sigmoid_backward sign silu silu_backward sin
            softplus sqrt square sub sub_ tanh tanh_backward threshold_backward where _to_copy hardswish hardsigmoid
            glu logsumexp"""
        ),
        everywhere=True,
    ),
    Row(
        ANY,
        _names("all amax amin any argmax argmin cumsum max mean min prod std sum var var_mean linalg_vector_norm"),
        everywhere=True,
    ),
    # Those that take the shape and the type of a tensor, and none of its elements.
    Row(
        ANY,
        _names(
            """empty_like zeros_like ones_like full_like new_empty new_empty_strided new_zeros new_ones new_full is_same_size
            _has_same_storage_numel"""
        ),
        (0,),
        everywhere=True,
    ),
    Row(ANY, _names("gather index cat stack embedding take topk sort nonzero scatter index_put masked_scatter"), (0,)),
    Row(ANY, _names("copy_"), (1,)),
    Row(ANY, _names("scatter_add"), (2,)),
    Row(ANY, _names("grid_sampler_2d native_batch_norm_backward"), (0, 1)),
    Row(
        ANY,
        _names("upsample_nearest1d upsample_linear1d upsample_nearest2d upsample_bilinear2d upsample_bicubic2d"),
        (0,),
    ),
    Row(ANY, _names("_upsample_nearest_exact2d _upsample_bilinear2d_aa"), (0,)),
    Row(DENSE, _names("index_select"), (0,), axis=True),
    Row(ANY, _names("index_select"), (0,), axis=False),
    Row(DENSE, _names("_softmax _log_softmax nll_loss_forward embedding_dense_backward col2im _cdist_forward"), (0,)),
    Row(DENSE, _names("embedding"), (1,)),
    Row(DENSE, _names("_softmax_backward_data _log_softmax_backward_data"), (0, 1)),
    Row(DENSE, _names("native_layer_norm"), (0,)),
    Row(DENSE, _names("native_layer_norm_backward"), (0, 1)),
    Row(FORMAT, _names("native_group_norm native_batch_norm _native_batch_norm_legit_no_training"), (0,)),
    Row(FORMAT, _names("max_pool2d_with_indices avg_pool2d _adaptive_avg_pool2d"), (0,)),
    Row(FORMAT, _names("upsample_nearest2d_backward upsample_bilinear2d_backward reflection_pad2d replication_pad2d"), (0,)),
    Row(TOGETHER, _names("max_pool2d_with_indices_backward avg_pool2d_backward _adaptive_avg_pool2d_backward"), (0,), (1,)),
    Row(TOGETHER, _names("native_group_norm_backward"), (0, 1), (0, 1)),
    Row(TOGETHER, _names("convolution"), (0, 1), (0, 1)),
    Row(TOGETHER, _names("convolution_backward"), (0, 1, 2), (0, 1, 2)),
    Row(MATRIX, _names("mm bmm"), (0, 1)),
    Row(MATRIX, _names("addmm baddbmm"), (1, 2)),
    Row(MATRIX, _names("mv"), (0,)),
    Row(ATTENTION, _names("_scaled_dot_product_flash_attention_for_cpu"), (0, 1, 2)),
    Row(ANY, _names("_scaled_dot_product_flash_attention_for_cpu_backward"), (0,)),
    Row(ATTENTION, _names("_scaled_dot_product_flash_attention_for_cpu_backward"), (1, 2, 3)),
    # The mask, which goes by its name.
    Row(ATTENTION_MASK, _names("_scaled_dot_product_flash_attention_for_cpu"), (-1,)),
)

_BY_NAME: dict[str, list[Row]] = {}
for _row in ROWS:
    for _name in _row.names:
        _BY_NAME.setdefault(_name, []).append(_row)


# Those that draw random numbers in the order of memory: with other strides each element would be given another one.
RANDOM = frozenset(
    _names("bernoulli bernoulli_ native_dropout rand_like randn_like randint_like uniform_ normal_ exponential_ random_")
)


def row_of(name: str, position: int, arguments: Sequence[object] = (), rank: int = 0) -> Row | None:
    """The row about an argument of an operator, by its name in `torch.ops.aten`; None where nothing is known."""
    for row in _BY_NAME.get(name, ()):
        if row.operands is None or position in row.operands:
            axis = arguments[1] if len(arguments) > 1 else None
            if row.axis is None or (isinstance(axis, int) and rank and (axis % rank == 1) == row.axis):
                return row
    return None


def takes(row: Row, shape: Shape, strides: Shape, beside: Sequence[tuple[Shape, Shape]]) -> bool:
    """Does a kernel take these strides, beside operands of these shapes and strides that its row speaks of?"""
    if not row.rule.takes(shape, strides):
        return False
    if not row.beside:
        return True
    # Where one is in channels_last, a kernel for this format is chosen.
    return all(is_dense(*each) for each in ((shape, strides), *beside)) or all(
        is_channels_last(*each) for each in ((shape, strides), *beside)
    )
