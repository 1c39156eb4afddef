"""Rate of requests and latency of answers of a cloud when many clients ask at once.

Each client asks for one thing after the other. An answer of 503 with Retry-After is no failure:
the client asks again after that time.
"""

import dataclasses
import statistics
import typing

from nova_lite import exception
from nova_lite import runtime
from tools.comparison import table
from tools.comparison import workload
from tools.proof import page

CLIENTS = (1, 4, 16, 32, 64, 128, 256)
# At least so many boots, and so many of each client, so that all are busy for some time.
LEAST_BOOTS, BOOTS_EACH = 24, 2
MIXES_EACH = 2
BUSY, RETRY_AFTER = 503, 'Retry-After'
DELETING = 8


class Patient:
    """A client of a cloud that waits where the cloud asks for it. cloud: a bench.client.Client

    longest_s: the longest time to an answer; refused: the answers that asked to wait
    """

    def __init__(self, cloud):
        self._cloud = cloud
        self.longest_s, self.refused = 0.0, 0
        self.flavor_id, self.server_body = cloud.flavor_id, cloud.server_body
        self._lock = runtime.Lock()

    def call(self, method, path, body=None):
        """Send a request, again while the answer asks to wait; as Client.call."""
        while True:
            began = runtime.monotonic()
            response = self._cloud.send(method, path, body)
            asked_s = response.headers.get(RETRY_AFTER) if response.status_code == BUSY else None
            with self._lock:
                self.longest_s = max(self.longest_s, runtime.monotonic() - began)
                self.refused += asked_s is not None
            if asked_s is None:
                return self._cloud.content(method, path, response)
            runtime.sleep(float(asked_s))

    def begin(self):
        """Forget what was measured."""
        self.longest_s, self.refused = 0.0, 0


@dataclasses.dataclass(frozen=True)
class Kind:
    """A load. play: called with a Workload and the number of clients

    rate, waited: what the rate counts, and for what clients wait
    """

    rate: str
    waited: str
    play: typing.Callable


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


def scenarios(kind, numbers, cloud, directory, **options):
    """Yield (name, function that plays it and returns its figures).

    kind: of KINDS; numbers: of clients; options: of the Workload
    """
    patient = Patient(cloud)
    work = workload.Workload(patient, directory, **options)
    for number in numbers:
        yield name_of(kind, number), lambda number=number: _figures(patient, work, kind, number)


def name_of(kind, clients):
    """Return the name of a scenario."""
    return f'{kind}-of-{clients}'


def _figures(patient, work, kind, clients):
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


def rst(results, kind):
    """Return the table of a kind of load as reStructuredText, with its conditions."""
    what = KINDS[kind]
    header = ['clients']
    for side in (table.NOVA, table.OURS):
        header += [f'{side}: {what.rate}', 'longest answer, s', f'{what.waited}: p95/p50']
    rounds, lines = results['rounds'], []
    for number in CLIENTS:
        found = [played for played in rounds if name_of(kind, number) in played[table.OURS]]
        if found:
            lines.append((number, *_line(found, kind, number)))
    made = page.table(header, lines, '10 15 15 15 15 15 15')
    return f'{made}\n{_remarks(rounds, kind)}{table.conditions(results)}\n'


def _line(rounds, kind, number):
    """Return the cells of both sides: medians of the rate and of how even it is, the longest."""
    cells = []
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


def _remarks(rounds, kind):
    """Return paragraphs: what failed, and how many answers asked to wait."""
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
