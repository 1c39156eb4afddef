"""The result of the last `nova-lite verify` of a cloud, kept in its state directory."""

from collections.abc import Iterable
import contextlib
import json
import os
import typing

from nova_lite import runtime
from nova_lite.lab.launcher import layout
from nova_lite.verify import findings
from nova_lite.verify import invariants
from nova_lite.verify import settling

FILE = 'verify.json'
# The number of findings that are kept. All findings are counted.
MOST = 100

Json: typing.TypeAlias = dict[str, typing.Any]


def record(directory: str, verdict: settling.Verdict) -> None:
    """Keep the verdict of `nova-lite verify` as the last verdict on a cloud."""
    found = {
        'at': runtime.now().isoformat(timespec='seconds'),
        'result': str(verdict.result),
        'invariants': _titles(),
        'broken': _names(verdict.findings),
        'uncertain': _names(verdict.unsettled),
        'violations': len(verdict.findings),
        'findings': [each._asdict() for each in verdict.findings[:MOST]],
        'unsettled': len(verdict.unsettled),
    }
    path = os.path.join(directory, 'run', FILE)
    # A cloud without the directory has never run.
    if os.path.isdir(os.path.dirname(path)):
        layout.write(path, json.dumps(found))


def last(directory: str) -> Json | None:
    """Return the last verdict on a cloud as JSON, None if there is none."""
    with contextlib.suppress(FileNotFoundError), open(os.path.join(directory, 'run', FILE)) as file:
        verdict: Json = json.load(file)
        return verdict
    return None


def forget(directory: str) -> None:
    """Remove the last verdict on a cloud whose state was replaced."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(directory, 'run', FILE))


def _names(found: Iterable[findings.Finding]) -> list[str]:
    """Return the names of the invariants that findings are about, sorted."""
    return sorted({each.invariant for each in found})


def _titles() -> list[tuple[str, str]]:
    """Return [(invariant, title), ...] with the title of the first check of each invariant."""
    titles: dict[str, str] = {}
    for check in invariants.every():
        name, _colon, title = (check.__doc__ or '').partition('\n')[0].partition(': ')
        titles.setdefault(name, title.rstrip('.'))
    return sorted(titles.items(), key=lambda item: (len(item[0]), item))
