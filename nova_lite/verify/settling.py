"""Read snapshots of a cloud until there are no findings, or until the findings stay.

A cloud at work changes while it is read, so records that belong together are read at different
times. A finding counts only if each snapshot within a certain time has it.
"""

import collections
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Sequence
import enum
import typing

from nova_lite import context
from nova_lite import runtime
from nova_lite.verify import age_limits
from nova_lite.verify import explanations
from nova_lite.verify import findings as findings_module
from nova_lite.verify import invariants

# Seconds between two snapshots: the first pause, and the longest.
FIRST_PAUSE_S, PAUSE_S = 0.05, 0.5
Findings: typing.TypeAlias = Iterable[findings_module.Finding]
# A single finding counts, because guests are read in a way that excludes moving guests.
# The invariant and the object of a finding.
Thing: typing.TypeAlias = tuple[str, str]
Found: typing.TypeAlias = dict[Thing, list[findings_module.Finding]]
AT_ONCE = frozenset(('I3',))


class Result(enum.StrEnum):
    """The result of verifying a cloud."""

    CONSISTENT = 'consistent'
    INCONSISTENT = 'inconsistent'
    UNSETTLED = 'unsettled'


class Reader(typing.Protocol):
    """Reads snapshots: see reader.Reader."""

    def read(self, ctxt: context.RequestContext) -> object: ...


class Verdict(typing.NamedTuple):
    """Lists of Finding.

    findings: violations of invariants
    unsettled: violations in some snapshots only, including the last one
    explained: violations in the last snapshot that stopped sagas or failures left as in nova
        explain
    """

    findings: list[findings_module.Finding]
    unsettled: list[findings_module.Finding]
    explained: Sequence[findings_module.Finding] = ()

    @property
    def result(self) -> Result:
        """Return the Result: unsettled only where nothing is certain."""
        if self.findings:
            return Result.INCONSISTENT
        return Result.UNSETTLED if self.unsettled else Result.CONSISTENT


def look(
    reader: Reader,
    *,
    settle_s: float = 10.0,
    ages: age_limits.AgeLimits | None = None,
    say: Callable[[str], None] = lambda text: None,
    check: Callable[[typing.Any, age_limits.AgeLimits], Findings] = invariants.check,
    explain: Callable[[typing.Any, Findings], tuple[Findings, Findings]] = explanations.explain,
) -> Verdict:
    """Return the Verdict on the cloud that `reader` reads.

    Read again until a snapshot has no findings or `settle_s` seconds have passed. Findings of two
    snapshots are equal if their invariant and their object are; the details may differ.
    ages: age_limits.AgeLimits; say: function that is called with a text about the current reading
    check: function that yields a snapshot's findings
    explain: function that returns (findings, explained) of a snapshot's findings
    """
    ages = ages or age_limits.AgeLimits()
    deadline = runtime.monotonic() + settle_s
    pause_s, certain = FIRST_PAUSE_S, Found()
    lasting: Collection[Thing] | None = None
    while True:
        snapshot = reader.read(context.admin())
        wrong, explained = explain(snapshot, check(snapshot, ages))
        found = _by_thing(wrong)
        certain.update((thing, each) for thing, each in found.items() if thing[0] in AT_ONCE)
        lasting = found.keys() if lasting is None else lasting & found.keys()
        remaining_s = deadline - runtime.monotonic()
        if not found or remaining_s <= 0:
            return Verdict(*_settled(found, lasting, certain), sorted(explained))
        say(f'again for {remaining_s:.0f} s: {len(found)} findings may be work in progress')
        runtime.sleep(min(pause_s, remaining_s))
        pause_s = min(PAUSE_S, pause_s * 2)


def _by_thing(found: Findings) -> Found:
    """Return {(invariant, what): [Finding, ...]}"""
    grouped = collections.defaultdict(list)
    for finding in sorted(set(found)):
        grouped[finding.invariant, finding.what].append(finding)
    return dict(grouped)


def _settled(
    found: Found, lasting: Collection[Thing], certain: Found
) -> tuple[list[findings_module.Finding], list[findings_module.Finding]]:
    """Return (findings, unsettled).

    found: the last snapshot's; lasting: keys of what every snapshot showed
    """
    settled = {**certain, **{thing: found[thing] for thing in lasting if thing in found}}
    return (
        sorted(each for several in settled.values() for each in several),
        sorted(
            each for thing, several in found.items() if thing not in settled for each in several
        ),
    )
