"""The state of a drill that runs: its values, its processes, and the changes to undo."""

from collections.abc import Callable
from collections.abc import Iterable
import string
import typing

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.scenarios import clients
from nova_lite.lab.scenarios import kept
from nova_lite.lab.scenarios import processes

Json: typing.TypeAlias = dict[str, typing.Any]
T = typing.TypeVar('T')

LOOK_S = 0.1
PREFIX = 'drill-'


class NotAsExpected(exception.Conflict):
    """The cloud does not behave as the drill expects. The drill ends, the command goes on."""

    msg = '%(reason)s'


class Stage:
    """The state of one run. values: {name in the texts and arguments: value}

    record: the record of the drill, whose hosts are those of its roles
    lock: descriptor of the lock on drills
    servers: {name: uuid}
    """

    def __init__(
        self, cloud: clients.Cloud, values: dict[str, str], record: kept.Record, lock: int
    ) -> None:
        self.cloud, self.values, self.record = cloud, values, record
        self.servers: dict[str, str] = {}
        self.processes = processes.Processes(cloud.directory, lock)

    def filled(self, value: typing.Any) -> typing.Any:
        """Return a value of the drill's file with the values of its variables."""
        return _filled(value, {**self.values, **self.servers})

    def described(self, text: str, servers: Iterable[str]) -> str:
        """Return a text for people. servers: variables that are replaced by the names of servers"""
        names = {name: f'{PREFIX}{name}' for name in servers}
        return str(_filled(text, {**self.values, **names}))

    @staticmethod
    def wait(look: Callable[[], T], is_so: Callable[[T], bool], within_s: float) -> T:
        """Call `look` until its result is right, at most for `within_s`. Return the last result."""
        deadline = runtime.monotonic() + within_s
        while not is_so(found := look()) and runtime.monotonic() < deadline:
            runtime.sleep(LOOK_S)
        return found


def _filled(value: typing.Any, values: dict[str, str]) -> typing.Any:
    if isinstance(value, str):
        return string.Template(value).substitute(values)
    if isinstance(value, list):
        return [_filled(each, values) for each in value]
    if isinstance(value, dict):
        return {key: _filled(each, values) for key, each in value.items()}
    return value
