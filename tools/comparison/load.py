"""Rate of requests and latency of answers of a cloud when many clients ask at once.

Each client sends one request after the other. An answer of 503 with Retry-After is no failure: the
client repeats the request after that time.
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
import dataclasses
import functools
import statistics

from nova_lite import exception
from nova_lite.lab.bench import client
from tools.comparison import patient as patients
from tools.comparison import table
from tools.comparison import workload
from tools.proof import page

CLIENTS = (1, 4, 16, 32, 64, 128, 256)
# Least number of boots, and of boots by each client, so that all clients are busy for some time.
LEAST_BOOTS, BOOTS_EACH = 24, 2
MIXES_EACH = 2
DELETING = 8


@dataclasses.dataclass(frozen=True)
class Kind:
    """A load. play: called with a Workload and the number of clients

    rate: unit of the rate; waited: name of the time for which clients wait
    """

    rate: str
    waited: str
    play: Callable[[workload.Workload, int], table.Figures]


KINDS = {
    'boots': Kind(
        'ACTIVE/s',
        'to ACTIVE',
        lambda work, clients: work.boot(max(LEAST_BOOTS, BOOTS_EACH * clients), clients),
    ),
    'mix': Kind(
        'reads/s',
        'to its status',
        lambda work, clients: work.mix(MIXES_EACH, clients),
    ),
}


def scenarios(
    kind: str, numbers: Iterable[int], cloud: client.Client, directory: str, *, poll_s: float
) -> Iterator[workload.Scenario]:
    """Yield (name, function that plays it and returns its figures).

    kind: of KINDS; numbers: of clients; poll_s: see Workload
    """
    patient = patients.Patient(cloud)
    work = workload.Workload(patient, directory, poll_s=poll_s)
    for number in numbers:
        yield name_of(kind, number), functools.partial(_figures, patient, work, kind, number)


def name_of(kind: str, clients: object) -> str:
    """Return the name of a scenario."""
    return f'{kind}-of-{clients}'


def _figures(
    patient: patients.Patient, work: workload.Workload, kind: str, clients: int
) -> table.Figures:
    """Return the figures of the load and delete its servers; or {'failure': text}."""
    patient.begin()
    try:
        found = KINDS[kind].play(work, clients)
        found |= {'longest_s': patient.longest_s, 'refused': patient.refused}
    except exception.NovaLiteError as error:
        found = {'failure': str(error)}
    work.adopt()
    work.delete(DELETING)
    return found


def rst(results: table.Results, kind: str) -> str:
    """Return the table of a kind of load as reStructuredText, with its conditions."""
    what = KINDS[kind]
    header = ['clients']
    for side in (table.NOVA, table.OURS):
        header += [f'{side}: {what.rate}', 'longest answer, s', f'{what.waited}: p95/p50']
    rounds = results['rounds']
    lines: list[page.Line] = []
    for number in CLIENTS:
        found = [played for played in rounds if name_of(kind, number) in played[table.OURS]]
        if found:
            lines.append((number, *_line(found, kind, number)))
    made = page.table(header, lines, '10 15 15 15 15 15 15')
    return f'{made}\n{_remarks(rounds, kind)}{table.conditions(results)}\n'


def _line(rounds: list[table.Round], kind: str, number: int) -> list[str]:
    """Return the cells of both sides: rate, longest answer, how even the times are."""
    cells: list[str] = []
    for side in (table.NOVA, table.OURS):
        found = [played[side][name_of(kind, number)] for played in rounds]
        done = [each for each in found if 'failure' not in each]
        if len(done) < len(found):
            cells += ['failed'] * 3
            continue
        waits = [each['milliseconds'][KINDS[kind].waited] for each in done]
        cells += [
            f'{statistics.median(map(table.per_second, done)):.1f}',
            f'{max(each["longest_s"] for each in done):.2f}',
            f'{statistics.median(wait["p95"] / wait["p50"] for wait in waits):.1f}',
        ]
    return cells


def _remarks(rounds: list[table.Round], kind: str) -> str:
    """Return paragraphs: the failures, and the number of answers that asked to wait."""
    lines = []
    for side in (table.NOVA, table.OURS):
        found = [(name, each) for played in rounds for name, each in played[side].items()]
        refused = sum(each.get('refused', 0) for _name, each in found)
        lines.append(f'{side} asked {refused} times to wait (503 with Retry-After).')
        for name, each in found:
            if 'failure' in each:
                clients = name.removeprefix(name_of(kind, ''))
                lines.append(f'{side} failed with {clients} clients: ``{each["failure"]}``.')
    return ''.join(f'{line}\n\n' for line in lines)
