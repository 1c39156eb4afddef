"""The timeline of a drill: its events are printed when they happen, and kept for JSON."""

from collections.abc import Callable
import dataclasses
import typing

from nova_lite import runtime

DO, SIGNAL, UNDO, VERIFY = 'do', 'signal', 'undo', 'verify'


@dataclasses.dataclass(frozen=True)
class Event:
    """at_s: seconds since the drill began; detail: the value found instead, '' if it is right"""

    at_s: float
    kind: str
    text: str
    ok: bool = True
    detail: str = ''

    def __str__(self) -> str:
        mark = {True: '', False: 'FAILED: '}[self.ok]
        if self.ok and self.kind in (SIGNAL, VERIFY):
            mark = 'ok: '
        detail = f': {self.detail}' if self.detail else ''
        return f'{self.at_s:7.1f} s  {self.kind:<7}{mark}{self.text}{detail}'


class Timeline:
    """Records events. say: prints a line"""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say
        self._began = runtime.monotonic()
        self.events: list[Event] = []

    def add(self, kind: str, text: str, *, ok: bool = True, detail: str = '') -> None:
        """Record an event, and print it."""
        at_s = round(runtime.monotonic() - self._began, 3)
        event = Event(at_s, kind, text, ok, detail)
        self.events.append(event)
        self.say(str(event))

    @property
    def is_as_expected(self) -> bool:
        """Return whether no event is a failure."""
        return all(event.ok for event in self.events)

    def as_json(self) -> list[dict[str, typing.Any]]:
        """Return the events as JSON."""
        return [dataclasses.asdict(event) for event in self.events]
