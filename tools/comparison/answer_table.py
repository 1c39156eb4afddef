"""The differences of answers, by cause, and what is printed of them."""

from collections.abc import Sequence
import dataclasses
import json
import typing

from nova_lite import runtime
from tools.comparison import answer_reasons
from tools.comparison import answer_shapes

# (request, field, what nova has, what we have).
Cause: typing.TypeAlias = tuple[str, str, str, str]
STATES_SHOWN = 12


@dataclasses.dataclass
class _Found:
    states: set[str]
    texts: Sequence[str]


class Table:
    """The differences; filled by many threads. path: of a file that gets each at once"""

    def __init__(self, path: str | None = None) -> None:
        self._path = path
        self._lock = runtime.Lock()
        self._found: dict[Cause, _Found] = {}
        self._failures: dict[str, list[str]] = {}

    def add(
        self,
        state: str,
        request: str,
        differences: Sequence[answer_shapes.Difference],
        *,
        prefix: str = '',
        texts: Sequence[answer_shapes.Answer] = (),
    ) -> None:
        """Add the differences of one case. texts: the answers of both, for the reader"""
        with self._lock:
            for field, nova, ours in differences:
                cause = request, f'{prefix}{field}', nova, ours
                shown = [answer.text for answer in texts]
                self._write({'state': state, 'cause': cause, 'texts': shown})
                self._found.setdefault(cause, _Found(set(), shown)).states.add(state)

    def fail(self, state: str, reason: str) -> None:
        """Add a case that could not be sent."""
        with self._lock:
            self._failures.setdefault(state, []).append(reason)
            self._write({'state': state, 'failure': reason})

    def _write(self, found: dict[str, object]) -> None:
        if self._path:
            with open(self._path, 'a') as file:
                file.write(f'{json.dumps(found)}\n')

    def rows(self) -> list[tuple[Cause, str, str | None]]:
        """Return (cause, state, reason or None) of each difference."""
        return [
            (cause, state, answer_reasons.of(state, *cause[:2], nova=cause[2], ours=cause[3]))
            for cause, found in self._found.items()
            for state in found.states
        ]

    def report(self, sent: int) -> int:
        """Print the differences; return 1 if one of them has no reason, or a case failed."""
        causes: dict[tuple[Cause, str | None], list[str]] = {}
        for cause, state, reason in self.rows():
            causes.setdefault((cause, reason), []).append(state)
        new = {key: states for key, states in causes.items() if key[1] is None}
        for (cause, _none), states in sorted(new.items()):
            request, field, nova, ours = cause
            names = ', '.join(sorted(states)[:STATES_SHOWN])
            print(f'{request}: {field}: nova {nova}, here {ours}: {len(states)} x {names}')
            if field == 'status':
                for text in self._found[cause].texts:
                    print(f'    {text}')
        self._report_explained(causes)
        for state, reasons in self._failures.items():
            print(f'{len(reasons)} x not sent in {state}: {reasons[0]}')
        differences = sum(map(len, causes.values()))
        unexplained = sum(map(len, new.values()))
        print(
            f'{sent} cases, {differences} differences of {len(causes)} causes; '
            f'{unexplained} of {len(new)} causes without a reason'
        )
        return 1 if new or self._failures else 0

    @staticmethod
    def _report_explained(causes: dict[tuple[Cause, str | None], list[str]]) -> None:
        counts: dict[str, int] = {}
        for (_cause, reason), states in causes.items():
            if reason is not None:
                counts[reason] = counts.get(reason, 0) + len(states)
        for reason, count in sorted(counts.items()):
            print(f'{count} x kept: {reason}')
