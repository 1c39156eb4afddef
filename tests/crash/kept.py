"""Results of the kill tables: a JSON file, and the page made from it."""

import collections
import json
import pathlib
import re

from tests.crash import cases
from tests.crash import killing

DIRECTORY = pathlib.Path(__file__).parents[2] / 'doc' / 'source' / 'reference'
UUID = re.compile(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}')
HEAD = """\
.. Written by ``python -m tests.crash.table``. Do not edit.

===========
Kill tables
===========

Daemons are processes over RabbitMQ servers, one for the top and one for each cell, and
a database server. A move is stopped at a step, before or after its effect; then one daemon
is killed by ``kill -9`` and started again. A case has survived if, at most 30 seconds
after the restart and without intervention, the move is done or undone, ``nova-lite
verify`` finds nothing, the guest runs exactly once, and an undone move can be requested
again. Up to 20 moves, each stopped at another point, meet the same fault.

Steps come from the code. ``tox -e crash`` runs all cases over MariaDB; with ``--
--database postgresql`` over PostgreSQL. The tables below have the last result of each
case. It may be another one since the code has changed. Database servers that are not named
below were not tested.

cross-cell
    Moves between cells: each daemon that takes part is killed at each step.
same-cell
    Moves within a cell.
other faults
    A broker is restarted; the destination cell's database does not answer for 20 seconds; a
    super-conductor is paused until another has finished its moves, and its further
    calls are refused.
calls
    The daemon that is called over the bus is killed before or after it carries out the
    request; or it carries it out, or replies, after the caller has timed out.
accept
    The API is killed before it responds.
undo
    The last step before the pivot fails, and a daemon is killed while the others are undone.
devices
    Volumes and ports are attached, detached and swapped. Afterwards the record, the
    hypervisor and the volume and network services agree on what the server has.
actions
    Builds, deletions and power actions, which are no sagas: the daemon that is called over the
    bus is killed before or after it carries out the request. The API is killed before or after
    it stores the requested servers. Each request is carried out, or was never accepted.
live phases
    A daemon is killed while live migrations wait for their turn, prepare, copy, have switched
    to post-copy or clean up. A copy continues until it is ended by a request, so a migration
    must still be in progress afterwards, and must be able to end within 60 seconds.
live abort
    A daemon is killed while the copy of a live migration is aborted: before or after the host
    receives the request, and at every step that is undone. The migration ends as cancelled,
    its guest runs on the source, and the next migration succeeds.
"""
SUMS = ('Table', 'Move', 'Database', 'Cases', 'Run', 'Survived', 'Did not survive')


class Results:
    """{database: {case: result}}, as they were last."""

    def __init__(self, directory=DIRECTORY):
        self._json = directory / 'crash-table.json'
        self._page = directory / 'crash-table.rst'
        self._found = json.loads(self._json.read_text()) if self._json.exists() else {}

    def add(self, database, outcome):
        """Keep an outcome instead of a former one of the same case."""
        # Ids of servers say nothing to a reader, and change each time.
        result = UUID.sub('UUID', outcome.result)
        self._found.setdefault(database, {})['|'.join(outcome.case)] = result

    def result(self, database, case):
        """The last result of a case; None if it was never run."""
        return self._found.get(database, {}).get('|'.join(case))

    def save(self):
        """Write both files."""
        self._json.write_text(json.dumps(self._found, indent=1, sort_keys=True) + '\n')
        self._page.write_text(self.page())

    # ---- showing ----

    def sums(self):
        """Lines that tell how many cases there are, and how many survived."""
        rows = [SUMS, *([str(value) for value in row] for row in self._counted())]
        widths = [max(len(row[column]) for row in rows) for column in range(len(SUMS))]
        for row in rows:
            yield '  '.join(text.ljust(width) for text, width in zip(row, widths, strict=True))

    def _counted(self):
        for database in self._found:
            for (table, name), found in self._by_move(database).items():
                ran = [result for result in found.values() if result is not None]
                survived = sum(result in killing.SURVIVED for result in ran)
                yield table, name, database, len(found), len(ran), survived, len(ran) - survived

    def _by_move(self, database):
        """{(table, move): {case: result}} of what there is to run."""
        found = collections.defaultdict(dict)
        for case in cases.every():
            found[case.table, case.name][case] = self.result(database, case)
        return found

    def page(self):
        """The page of the documentation."""
        lines = [HEAD, *_listed(SUMS, self._counted()), '']
        for database in self._found:
            for (table, name), found in self._by_move(database).items():
                if set(found.values()) != {None}:
                    title = f'{table} {name}, {database}'
                    lines += [title, '=' * len(title), '', *_matrix(found), '']
        lines += self._lost()
        return '\n'.join(lines).rstrip('\n') + '\n'

    def _lost(self):
        found = [
            f'* {database}: {key.replace("|", ", ")}: {result}'
            for database, results in self._found.items()
            for key, result in results.items()
            if result not in killing.SURVIVED
        ]
        return ['Not survived', '============', '', *(found or ['None.'])]


def _matrix(found):
    """A row for each point, a column for each who dies there."""
    roles = [role for role in cases.EVERYONE if any(case.role == role for case in found)]
    points = collections.defaultdict(dict)
    for case, result in found.items():
        points[case.step, case.when][case.role] = _short(result)
    rows = [(*point, *(by_role[role] for role in roles)) for point, by_role in points.items()]
    return _listed(('Step', 'When', *roles), rows)


def _short(result):
    if result is None:
        return 'not run'
    return result if result in killing.SURVIVED else 'LOST'


def _listed(head, rows):
    lines = ['.. csv-table::', f'   :header: {_quoted(head)}', '']
    return lines + [f'   {_quoted(row)}' for row in rows]


def _quoted(values):
    return ', '.join(f'"{value}"' for value in values)
