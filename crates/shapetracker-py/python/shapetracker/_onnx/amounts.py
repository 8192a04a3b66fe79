"""Numbers of bytes that depend on named dimensions."""

from __future__ import annotations

from collections import Counter

from .layouts import Shape, size_of


class Bytes:
    """A number of bytes for each value of the names: a polynomial whose coefficients are not negative."""

    def __init__(self, terms: dict[tuple[str, ...], int] | None = None):
        self.terms = {names: number for names, number in (terms or {}).items() if number}

    @staticmethod
    def of(shape: Shape, width: int) -> Bytes:
        size = size_of(shape)
        return Bytes({size.names: size.number * width})

    def __add__(self, other: Bytes) -> Bytes:
        sums = Counter(self.terms)
        sums.update(other.terms)
        return Bytes(dict(sums))

    def at_most(self, other: Bytes) -> bool:
        """Is it at most the other for all values?"""
        return all(number <= other.terms.get(names, 0) for names, number in self.terms.items())

    def at(self, value: int) -> int:
        """With this value for each name."""
        return sum(number * value ** len(names) for names, number in self.terms.items())

    def __str__(self) -> str:
        parts = ["*".join([str(number), *names]) for names, number in sorted(self.terms.items(), reverse=True)]
        return " + ".join(parts) or "0"

    @property
    def text(self) -> str:
        """In units for people where it is one number."""
        if set(self.terms) <= {()}:
            number = self.at(1)
            return f"{number / 2**20:.2f} MiB" if number >= 2**20 // 10 else f"{number} bytes"
        return f"{self} bytes"
