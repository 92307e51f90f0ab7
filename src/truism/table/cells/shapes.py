"""Texts of one shape taken together: what a pattern says of one, it says of all with other digits.

A column of a million numbers such as ``12,345.67 kW`` has a handful of shapes, such as ``11,111.11 kW``.
Patterns are matched with these, and digits are taken from all texts of a shape at once.
"""

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

MAX_SHAPES = 2_000  # with more of them there is little to gain
_ZERO, _ONE = ord("0"), ord("1")

Bytes = NDArray[np.uint8]


class Shapes(msgspec.Struct, frozen=True, eq=False):
    """The shapes of texts.

    Parameters
    ----------
    texts
        One text for each shape, with 1 in place of every digit; zeros that a run of digits begins
        with stay where they matter.
    codes
        The shape of each text, by position.
    counts
        How many texts have each shape.
    content, starts
        The bytes of all texts, and where each begins.

    """

    texts: pa.Array
    codes: NDArray[np.int64]
    counts: NDArray[np.int64]
    content: Bytes
    starts: NDArray[np.int64]

    def digits(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Return for each shape its texts, by position, and where their digits are: texts × digits."""
        order = np.argsort(self.codes, kind="stable")
        ends = np.cumsum(self.counts)
        found = []
        for shape, end, n in zip(self.texts.to_pylist(), ends, self.counts, strict=True):
            rows = order[end - n : end]
            signs = np.frombuffer(shape.encode(), np.uint8)
            places = np.flatnonzero((signs == _ZERO) | (signs == _ONE))
            found.append((rows, self.starts[rows][:, None] + places))
        return found

    def fill(self, templates: pa.Array) -> pa.Array:
        """Return for each text the template of its shape, with the text's own digits, the first ones.

        >>> shapes = shapes_of(pa.array(["1,234 kW", "5,678 kW", "9 kW"]))
        >>> shapes.fill(pa.array(["1111", "1"])).to_pylist()
        ['1234', '5678', '9']
        """
        written = [each.encode() for each in templates.to_pylist()]
        lengths = np.array([len(each) for each in written], np.int64)[self.codes]
        begins = np.concatenate(([0], np.cumsum(lengths)))
        filled = np.zeros(int(begins[-1]), np.uint8)
        for (rows, places), template in zip(self.digits(), written, strict=True):
            signs = np.tile(np.frombuffer(template, np.uint8), (len(rows), 1))
            slots = np.flatnonzero((signs[0] == _ZERO) | (signs[0] == _ONE))
            signs[:, slots] = self.content[places[:, : len(slots)]]
            filled[begins[rows][:, None] + np.arange(len(template))] = signs
        offsets = pa.py_buffer(begins.astype(np.int32))
        return pa.StringArray.from_buffers(len(self.codes), offsets, pa.py_buffer(filled))


def shapes_of(texts: pa.Array, *, zeros: bool = False) -> Shapes | None:
    """Find the shapes of texts; None where there are too many.

    Parameters
    ----------
    texts
        Strings, none of them missing.
    zeros
        Whether it matters that a number begins with zeros.

    """
    if not len(texts):
        return None
    _, offsets, content = texts.buffers()
    bounds = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    first, last = int(bounds[0]), int(bounds[-1])
    signs = np.frombuffer(content, np.uint8)[first:last] if last > first else np.zeros(0, np.uint8)
    starts = (bounds[:-1] - first).astype(np.int64)
    plain = _without_digits(signs, starts, zeros)
    buffers = (pa.py_buffer((bounds - first).astype(np.int32)), pa.py_buffer(plain))
    encoded = pa.StringArray.from_buffers(len(texts), *buffers).dictionary_encode()
    if len(encoded.dictionary) > MAX_SHAPES:
        return None
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    counts = np.bincount(codes, minlength=len(encoded.dictionary))
    return Shapes(encoded.dictionary, codes, counts, signs, starts)


def _without_digits(signs: Bytes, starts: NDArray[np.int64], zeros: bool) -> Bytes:
    digits = (signs >= _ZERO) & (signs <= ord("9"))
    plain = np.where(digits, np.uint8(_ONE), signs)
    if not zeros:
        return plain
    # Later digits may be zeros, too; so a run of digits is followed as long as all are.
    after_digit = np.zeros(len(signs), bool)
    after_digit[1:] = digits[:-1]
    after_digit[starts[starts < len(signs)]] = False
    nought = signs == _ZERO
    leading = nought & ~after_digit
    plain[leading] = _ZERO
    while leading.any():
        follows = np.zeros(len(signs), bool)
        follows[1:] = leading[:-1]
        leading = nought & after_digit & follows
        plain[leading] = _ZERO
    return plain
