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

Each case stops a move at a step, before or after the effect of the step, kills one daemon with
``kill -9``, and starts the daemon again. The daemons are processes over a database server and over
RabbitMQ servers, one for the top and one for each cell. A case has survived if within 30 seconds
after the restart, without intervention:

* the move is done or undone,
* ``nova-lite verify`` reports nothing,
* the guest runs exactly once, and
* a move that was undone can be requested again.

Up to 20 moves, each of them stopped at another point, meet the same fault at the same time.

The steps are read from the code. ``tox -e crash`` runs all cases over MariaDB; with
``-- --database postgresql`` it runs them over PostgreSQL. This page shows the last result of each
case; the code may have changed after that run. Other database servers were not tested.

cross-cell
    Moves between cells. Each daemon that takes part in the move is killed at each step.
same-cell
    Moves within a cell.
other faults
    A broker is restarted; the database of the destination cell does not answer for 20 seconds; or a
    super-conductor is paused until another super-conductor has finished its moves, after which its
    calls must be refused.
calls
    The daemon that is called over the bus is killed before or after it carries out the request; or
    the caller times out before the daemon carries out the request or before it replies.
accept
    The API is killed before it responds.
undo
    The last step before the pivot fails, and a daemon is killed while the other steps are undone.
devices
    Volumes and ports are attached, detached and swapped. Afterwards the record of the server, the
    hypervisor, the volume service and the network service must agree about its devices.
actions
    Builds, deletions and power actions, which are not sagas. The daemon that is called over the bus
    is killed before or after it carries out the request; the API is killed before or after it stores
    the requested servers. Each request must be carried out, unless it was never accepted.
live phases
    A daemon is killed while live migrations wait for their turn, prepare, copy, have switched to
    post-copy, or clean up. A copy continues until a request ends it. So the migration must still be
    in progress after the fault, and must be able to end within 60 seconds.
live abort
    A daemon is killed while the copy of a live migration is aborted: before or after the host
    receives the request, and at every step that is undone. The migration must end as cancelled with
    its guest on the source, and the next migration must succeed.

Cases that survived, of all cases
=================================
"""
POINTS = """
Results at each point
=====================

A row is a step or a call, and a column is the daemon that fails. One word means that all cases of
the field, before and after the effect and over every database server, had this result.
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
        lines = [HEAD, *_listed(('Table', 'Move', *self._found), self._survivors()), POINTS]
        for (table, name), found in self._of_all_databases().items():
            title = f'{table} {name}'
            lines += [title, '-' * len(title), '', *_matrix(found), '']
        lines += self._lost()
        return '\n'.join(lines).rstrip('\n') + '\n'

    def _survivors(self):
        shares = collections.defaultdict(dict)
        for table, name, database, count, _ran, survived, _lost in self._counted():
            shares[table, name][database] = f'{survived} of {count}'
        return [(*move, *by_database.values()) for move, by_database in shares.items()]

    def _of_all_databases(self):
        """{(table, move): {(database, case): result}} of moves with a result."""
        found = collections.defaultdict(dict)
        for database in self._found:
            for move, results in self._by_move(database).items():
                found[move] |= {(database, case): result for case, result in results.items()}
        return {move: each for move, each in found.items() if set(each.values()) != {None}}

    def _lost(self):
        found = [
            f'* {database}: {key.replace("|", ", ")}: {result}'
            for database, results in self._found.items()
            for key, result in results.items()
            if result not in killing.SURVIVED
        ]
        return ['Not survived', '============', '', *(found or ['None.'])]


def _matrix(found):
    """A row for each step, a column for each daemon that fails there."""
    roles = [role for role in cases.EVERYONE if any(case.role == role for _db, case in found)]
    fields = collections.defaultdict(dict)
    for (database, case), result in found.items():
        fields[case.step, case.role][database, case.when] = _short(result)
    steps = dict.fromkeys(case.step for _db, case in found)
    rows = [(step, *(_together(fields[step, role]) for role in roles)) for step in steps]
    return _listed(('Step', *roles), rows)


def _together(results):
    """One word if all cases of a field had that result; else each result with its cases."""
    if len(set(results.values())) <= 1:
        return next(iter(results.values()), '')
    for part, names in enumerate(zip(*results, strict=True)):
        by_name = {
            name: {result for key, result in results.items() if key[part] == name} for name in names
        }
        if all(len(every) == 1 for every in by_name.values()):
            return '; '.join(f'{name}: {every.pop()}' for name, every in by_name.items())
    return '; '.join(f'{database} {when}: {result}' for (database, when), result in results.items())


def _short(result):
    if result is None:
        return 'not run'
    return result if result in killing.SURVIVED else 'LOST'


def _listed(head, rows):
    lines = ['.. csv-table::', f'   :header: {_quoted(head)}', '']
    return lines + [f'   {_quoted(row)}' for row in rows]


def _quoted(values):
    return ', '.join(f'"{value}"' for value in values)
