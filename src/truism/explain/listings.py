"""Lists whose members cost something: each is made when it is looked at, and kept."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TypeVar, overload

AT_ONCE = 64  # members that are made together


class Shown(Protocol):
    """What has a text for people, and one for notebooks."""

    def _repr_html_(self) -> str: ...


Member = TypeVar("Member", bound=Shown)


class Listing(Sequence[Member]):
    """A list that makes its members when they are looked at."""

    n_shown: int  # how many are printed, and shown in notebooks

    def __init__(self) -> None:
        self._known: dict[int, Member] = {}

    @abstractmethod
    def _make(self, positions: Sequence[int]) -> Iterable[Member]:
        """Make the members at ascending positions, in that order."""

    @overload
    def __getitem__(self, position: int) -> Member: ...
    @overload
    def __getitem__(self, position: slice) -> tuple[Member, ...]: ...
    def __getitem__(self, position: int | slice) -> Member | tuple[Member, ...]:
        if isinstance(position, slice):
            some = range(*position.indices(len(self)))
            for at in range(0, len(some), AT_ONCE):
                self._look_at(some[at : at + AT_ONCE])
            return tuple(self._known[each] for each in some)
        position = range(len(self))[position]
        self._look_at(range(position, position + 1))
        return self._known[position]

    def __iter__(self) -> Iterator[Member]:
        for start in range(0, len(self), AT_ONCE):
            yield from self[start : start + AT_ONCE]

    def _look_at(self, positions: range) -> None:
        """Make those members that were not made before."""
        new = [each for each in sorted(positions) if each not in self._known]
        if new:
            self._known |= dict(zip(new, self._make(new), strict=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self):,}>"

    def __str__(self) -> str:
        return "\n\n".join([*map(str, self[: self.n_shown]), *self._more()]) or "none"

    def _repr_html_(self) -> str:
        shown = [each._repr_html_() for each in self[: self.n_shown]]
        return "".join([*shown, *(f"<p>{each}</p>" for each in self._more())]) or "<p>none</p>"

    def _more(self) -> list[str]:
        n_more = len(self) - self.n_shown
        return [f"… and {n_more:,} more"] if n_more > 0 else []
