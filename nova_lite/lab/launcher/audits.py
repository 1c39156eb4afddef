"""The result of the last `nova-lite verify` of a cloud, kept in its state directory."""

import contextlib
import json
import os

from nova_lite import runtime
from nova_lite.lab.launcher import layout
from nova_lite.verify import invariants

FILE = 'verify.json'
# Findings that are kept; all are counted.
MOST = 100


def record(directory, verdict):
    """Keep a settling.Verdict as the last one."""
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
    # Without the directory the cloud has never run.
    if os.path.isdir(os.path.dirname(path)):
        layout.write(path, json.dumps(found))


def last(directory):
    """Return the last verdict as plain values, None before the first."""
    with contextlib.suppress(FileNotFoundError), open(os.path.join(directory, 'run', FILE)) as file:
        return json.load(file)
    return None


def forget(directory):
    """Remove the last verdict: the cloud has another state since."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(directory, 'run', FILE))


def _names(findings):
    """Return the invariants that findings are about, of all and not only of those kept."""
    return sorted({each.invariant for each in findings})


def _titles():
    """Return [[invariant, title], ...], the first title of each."""
    titles = {}
    for check in invariants.every():
        name, _colon, title = check.__doc__.partition('\n')[0].partition(': ')
        titles.setdefault(name, title.rstrip('.'))
    return sorted(titles.items(), key=lambda item: (len(item[0]), item))
