"""The log files of a cloud: the records that match a filter, in the order of their times."""

from collections.abc import Callable
from collections.abc import Iterator
import dataclasses
import glob
import heapq
import os
import typing

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.console import log_records
from nova_lite.lab.launcher import deployed_files
from nova_lite.lab.launcher import state_dir
from nova_lite.lab.launcher import which_cloud

LOOK_S = 0.2
# The log of a cloud in one process.
ALL = 'nova-lite'


class NoLogs(exception.Invalid):
    msg = '%(reason)s'


@dataclasses.dataclass(frozen=True)
class Wanted:
    """A filter of log records.

    daemon: name, or None for all; request, server: texts that a record must contain, or None
    """

    daemon: str | None = None
    request: str | None = None
    server: str | None = None

    def includes(self, record: log_records.Record) -> bool:
        """Return whether a record is wanted."""
        if self.daemon is not None and record.file == ALL and not record.is_of(self.daemon):
            return False
        return all(text is None or record.has(text) for text in (self.request, self.server))


def paths(cloud: which_cloud.Cloud, wanted: Wanted) -> list[str]:
    """Return the log files with wanted records. Raise NoCloud, NoLogs."""
    if cloud.deployed:
        patterns = deployed_files.logs(cloud.directory, cloud.conf())
        if not patterns:
            raise NoLogs(reason=_journal(cloud, wanted))
    else:
        place = state_dir.existing(cloud.directory, 'log')
        patterns = (os.path.join(glob.escape(place), '*.log'),)
    found = sorted(path for pattern in patterns for path in glob.glob(pattern))
    if not found:
        raise NoLogs(reason=f'No log file matches {", ".join(patterns)}. Start the cloud first')
    return found if wanted.daemon is None else _of_daemon(found, wanted.daemon)


def _of_daemon(found: list[str], daemon: str) -> list[str]:
    """Return the log files of a daemon, or the common log of a cloud in one process."""
    names = {name_of(path): path for path in found}
    if ALL in names and daemon in log_records.PACKAGES:
        return [names[ALL]]
    chosen = [path for name, path in names.items() if daemon in (name, name.partition('.')[0])]
    if not chosen:
        known = sorted(log_records.PACKAGES if ALL in names else names)
        raise NoLogs(reason=f'There is no daemon {daemon}. Use one of: {", ".join(known)}')
    return chosen


def _journal(cloud: which_cloud.Cloud, wanted: Wanted) -> str:
    unit = f'nova-lite-{wanted.daemon}' if wanted.daemon else "'nova-lite-*'"
    text = wanted.request or wanted.server
    command = f'journalctl -u {unit}' + (f' -g {text}' if text else '')
    return (
        f'The daemons of {cloud.directory} have neither log_dir nor log_file: they log to the '
        f'journal of their machines. Use `{command}` there, with -f to follow it'
    )


def name_of(path: str) -> str:
    """Return the name of a log file, which is the name of a daemon or ALL."""
    return os.path.basename(path).removesuffix('.log')


def written(files: list[str]) -> Iterator[log_records.Record]:
    """Yield the records in files, in the order of their times. Raise NoLogs."""
    each = [log_records.parse(name_of(path), _lines(path)) for path in files]
    yield from heapq.merge(*each, key=lambda record: record.at)


def _lines(path: str) -> Iterator[str]:
    try:
        with open(path, encoding='utf-8', errors='replace') as file:
            yield from file
    except OSError as error:
        raise NoLogs(reason=f'{path} cannot be read: {error.strerror}') from error


class Follower:
    """Reads lines that are appended to files. find: returns the files; called for each reading"""

    def __init__(self, find: Callable[[], list[str]]) -> None:
        self._find = find
        self._ends = {path: os.path.getsize(path) for path in find()}

    def records(self, wanted: Wanted) -> Iterator[log_records.Record]:
        """Yield wanted records as they are appended, without an end.

        Later lines of a record are wanted if the record is.
        """
        shown: dict[str, bool] = {}
        while True:
            for path in self._find():
                for record in log_records.parse(name_of(path), self._appended(path)):
                    if record.at or path not in shown:
                        shown[path] = wanted.includes(record)
                    if shown[path]:
                        yield record
            runtime.sleep(LOOK_S)

    def _appended(self, path: str) -> list[str]:
        """Return the whole lines that were appended to a file since the last call."""
        begin = self._ends.get(path, 0)
        try:
            with open(path, 'rb') as file:
                # A file that has become shorter was replaced.
                file.seek(begin if begin <= os.fstat(file.fileno()).st_size else 0)
                content = file.read()
                whole = content.rfind(b'\n') + 1
                self._ends[path] = file.tell() - len(content) + whole
        except FileNotFoundError:
            return []
        return content[:whole].decode(errors='replace').splitlines()


def show(
    cloud: which_cloud.Cloud,
    wanted: Wanted,
    *,
    last: int | None,
    follow: bool,
    show_one: typing.Callable[[log_records.Record, bool], None],
) -> None:
    """Show the wanted records.

    last: number of records to show, None for all; follow: continue until an interrupt
    show_one: called with each record, and with whether there are several files
    """
    files = paths(cloud, wanted)
    follower = Follower(lambda: paths(cloud, wanted)) if follow else None
    found = [record for record in written(files) if wanted.includes(record)]
    for record in found if last is None else found[len(found) - min(last, len(found)) :]:
        show_one(record, len(files) > 1)
    if follower is not None:
        for record in follower.records(wanted):
            show_one(record, len(files) > 1)
