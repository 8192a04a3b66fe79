"""The networks of the comparison, written with tinygrad's own layers."""

from __future__ import annotations

from typing import Any

from tinygrad import Tensor, nn


class Block:
    """Two convolutions with a way around them."""

    def __init__(self, channels: int, out: int, stride: int):
        self.conv1 = nn.Conv2d(channels, out, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        same = stride == 1 and channels == out
        self.around = [] if same else [nn.Conv2d(channels, out, 1, stride=stride, bias=False), nn.BatchNorm2d(out)]

    def __call__(self, x: Tensor) -> Tensor:
        inner = self.bn2(self.conv2(self.bn1(self.conv1(x)).relu()))
        return (inner + x.sequential(self.around)).relu()


class ResNet:
    """The network of He et al. 2015: [2, 2, 2, 2] with a width of 64 is ResNet-18."""

    def __init__(self, blocks: list[int], width: int, classes: int):
        self.conv1 = nn.Conv2d(3, width, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.blocks, channels = [], width
        for stage, count in enumerate(blocks):
            for i in range(count):
                out = width << stage
                self.blocks.append(Block(channels, out, 2 if stage > 0 and i == 0 else 1))
                channels = out
        self.fc = nn.Linear(channels, classes)

    def __call__(self, x: Tensor) -> Tensor:
        x = self.bn1(self.conv1(x)).relu().pad((1, 1, 1, 1)).max_pool2d(3, 2)
        return self.fc(x.sequential(self.blocks).mean((2, 3)))


class Attention:
    """Causal attention with several heads; from `start` on, with a cache of keys and values before it."""

    def __init__(self, dim: int, heads: int, context: int):
        self.heads = heads
        self.keys, self.values = (Tensor.zeros(1, context, heads, dim // heads).contiguous() for _ in range(2))
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def __call__(self, x: Tensor, start: Any = None) -> Tensor:
        batch, length, dim = x.shape
        qkv = self.qkv(x).reshape(batch, length, 3, self.heads, dim // self.heads)
        q, k, v = (qkv[:, :, i] for i in range(3))
        if start is None:
            q, k, v = (t.transpose(1, 2) for t in (q, k, v))
            out = q.scaled_dot_product_attention(k, v, is_causal=True)
        else:
            for cache, new in ((self.keys, k), (self.values, v)):
                cache.shrink((None, (start, start + length), None, None)).assign(new).realize()
            k, v = (cache.shrink((None, (0, start + length), None, None)) for cache in (self.keys, self.values))
            q, k, v = (t.transpose(1, 2) for t in (q, k, v))
            out = q.scaled_dot_product_attention(k, v)
        return self.out(out.transpose(1, 2).reshape(batch, length, dim))


class Layer:
    """A layer of a transformer, normalised before its parts."""

    def __init__(self, dim: int, heads: int, context: int):
        self.attention = Attention(dim, heads, context)
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.up, self.down = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def __call__(self, x: Tensor, start: Any = None) -> Tensor:
        x = x + self.attention(self.norm1(x), start)
        return x + self.down(self.up(self.norm2(x)).gelu())


class GPT:
    """A transformer that predicts the next token."""

    def __init__(self, layers: int, dim: int, heads: int, vocabulary: int, context: int):
        self.tokens, self.places = nn.Embedding(vocabulary, dim), nn.Embedding(context, dim)
        self.layers = [Layer(dim, heads, context) for _ in range(layers)]
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, vocabulary, bias=False)
        self.context = context

    def __call__(self, tokens: Tensor, start: Any = None) -> Tensor:
        length = tokens.shape[1]
        places = Tensor.arange(self.context).reshape(1, self.context)
        places = places[:, :length] if start is None else places.shrink((None, (start, start + length)))
        x = self.tokens(tokens) + self.places(places)
        for layer in self.layers:
            x = layer(x, start)
        return self.head(self.norm(x))
