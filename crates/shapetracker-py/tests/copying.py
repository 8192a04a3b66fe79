"""Small models in plain torch.nn whose layouts move: those of `test_torch_copies.py`, with random weights."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import nn


class Norms(nn.Module):
    """A residual block with parts in channels_last, as diffusion models have them, and a ConvNeXt block."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.conv, self.short = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 32, 3, padding=1), nn.Conv2d(16, 32, 1)
        self.norm, self.deep, self.last = nn.GroupNorm(4, 16), nn.Conv2d(32, 32, 7, padding=3, groups=32), nn.LayerNorm(32)
        self.a, self.b, self.head = nn.Linear(32, 64), nn.Linear(64, 32), nn.Linear(32 * 4, 10)

    def forward(self, x: Any) -> Any:
        x = self.stem(x.to(memory_format=torch.channels_last))
        x = self.conv(F.silu(self.norm(x))) + self.short(x.contiguous())
        y = self.deep(x).permute(0, 2, 3, 1).contiguous()
        y = self.b(F.gelu(self.a(self.last(y))))
        x = x + y.permute(0, 3, 1, 2).contiguous()
        return self.head(F.adaptive_avg_pool2d(x, 2).flatten(1))


class Attention(nn.Module):
    def __init__(self, width: int, heads: int, fused: bool) -> None:
        super().__init__()
        self.heads, self.fused = heads, fused
        self.norm, self.qkv, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Any) -> Any:
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.qkv(self.norm(x)).split(width, dim=2)
        )
        if self.fused:
            y = F.scaled_dot_product_attention(q, k, v)
        else:
            y = ((q @ k.transpose(-2, -1)) * 0.25).softmax(-1) @ v
        return x + self.out(y.transpose(1, 2).contiguous().view(batch, length, width))


class Text(nn.Module):
    """A GPT: attention by matmul, or fused."""

    def __init__(self, fused: bool) -> None:
        super().__init__()
        self.words, self.blocks = nn.Embedding(50, 32), nn.ModuleList(Attention(32, 4, fused) for _ in range(2))

    def forward(self, words: Any) -> Any:
        x = self.words(words)
        for block in self.blocks:
            x = block(x)
        return F.linear(x, self.words.weight)


def windows(x: Any, size: int) -> Any:
    b, h, w, c = x.shape
    x = x.view(b, h // size, size, w // size, size, c)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, size, size, c)


def unwindows(x: Any, size: int, h: int, w: int) -> Any:
    x = x.view(-1, h // size, w // size, size, size, x.shape[-1])
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(x.shape[0], h, w, -1)


class Swin(nn.Module):
    """Windows that are shifted, with a `pad` by nothing in each block, as transformers has it."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.norm = nn.Conv2d(3, 24, 4, 4), nn.LayerNorm(24)
        self.blocks = nn.ModuleList(Attention(24, 2, False) for _ in range(2))
        self.table = nn.Parameter(torch.randn(5, 24))
        self.register_buffer("index", torch.arange(16) % 5)
        self.merge = nn.Linear(96, 48)

    def forward(self, x: Any) -> Any:
        x = self.embed(x)
        h, w = x.shape[-2:]
        x = self.norm(x.flatten(2).transpose(1, 2))
        for shift, block in enumerate(self.blocks):
            y = F.pad(x.view(x.shape[0], h, w, -1), (0, 0, 0, 0, 0, 0))
            if shift:
                y = torch.roll(y, (-2, -2), (1, 2))
            y = windows(y, 4).view(-1, 16, 24)
            bias = self.table[self.index].t().contiguous()
            y = unwindows(block(y + bias.t()).view(-1, 4, 4, 24), 4, h, w)
            if shift:
                y = torch.roll(y, (2, 2), (1, 2))
            x = x + y.view(x.shape)
        x = x.view(x.shape[0], h, w, -1)
        x = torch.cat([x[:, 0::2, 0::2], x[:, 1::2, 0::2], x[:, 0::2, 1::2], x[:, 1::2, 1::2]], -1)
        return self.merge(x.view(x.shape[0], -1, 96))


class Patches(nn.Module):
    """A ViT with patches by reshape and a class token."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.token, self.block = nn.Linear(48, 24), nn.Parameter(torch.randn(1, 1, 24)), Attention(24, 2, True)

    def forward(self, x: Any) -> Any:
        b, c, h, w = x.shape
        x = x.reshape(b, c, h // 4, 4, w // 4, 4).permute(0, 2, 4, 3, 5, 1).reshape(b, -1, 16 * c)
        x = torch.cat([self.token.expand(b, -1, -1), self.embed(x)], 1)
        return self.block(x)[:, 0]


class Larger(nn.Module):
    """Super-resolution: pixels into channels and back, images with channels last outside."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Conv2d(12, 16, 3, padding=1), nn.Conv2d(16, 48, 3, padding=1)

    def forward(self, image: Any) -> Any:
        x = F.pixel_unshuffle(image.permute(0, 3, 1, 2).contiguous(), 2)
        x = F.relu(self.a(x))
        n, c, h, w = x.shape
        x = x.view(n, 4, c // 4, h, w).transpose(1, 2).contiguous().view(n, c, h, w)
        return F.pixel_shuffle(self.b(x), 4).permute(0, 2, 3, 1).contiguous()


def models() -> dict[str, tuple[Any, Any]]:
    torch.manual_seed(0)
    return {
        "channels_last": (Norms().to(memory_format=torch.channels_last), torch.randn(2, 3, 16, 16)),
        "text": (Text(False), torch.randint(0, 50, (2, 16))),
        "text, fused": (Text(True), torch.randint(0, 50, (2, 16))),
        "Swin": (Swin(), torch.randn(2, 3, 32, 32)),
        "ViT": (Patches(), torch.randn(2, 3, 16, 16)),
        "super-resolution": (Larger(), torch.randn(1, 16, 16, 3)),
    }
