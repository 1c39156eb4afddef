"""Kills while guests are copied: a live migration in each phase, and ones being aborted.

Copies here go on until somebody ends them, so nothing depends on how fast anything is.
"""

from nova_lite.moves import live_migrate
from tests.crash import cases
from tests.crash import cloud as cloud_module
from tests.crash import hooks
from tests.crash import killing
from tests.crash import points
from tests.fixtures import moving

ENTER_S = 90
# How a migration ends, by what became of its saga.
STATUSES = {killing.DONE: 'completed', killing.UNDONE: 'cancelled'}
STOPS = {
    cases.PREPARING: {'at': hooks.STEP, 'step': live_migrate.PREPARE, 'when': hooks.AFTER},
    cases.POST_MIGRATION: {'at': hooks.STEP, 'step': live_migrate.CLEAN, 'when': hooks.AFTER},
}


class PhaseKilling(killing.Killing):
    """As Killing, for the cases of PHASES and ABORT, also together.

    cloud: one that is `of_table`; leaving: how many may leave a host of it at a time
    """

    # Copies go on meanwhile, and one waits for others.
    bound_s = 2 * killing.BOUND_S

    def __init__(self, cloud, table, *, leaving=cloud_module.LEAVING):
        super().__init__(cloud, table)
        self._leaving = leaving
        # {server: its Stop}, {server: its migration}
        self._stops, self._copies = {}, {}
        # Migrations that were told to end, one way or the other.
        self._told_to_end = set()

    def _bring(self, batch):
        self.cloud.wait_for(self.cloud.answers, 'the API to answer', ENTER_S)
        self.cloud.wait_for(lambda: self.stage.seen() == {}, 'servers to be gone', ENTER_S)
        servers = [self._boot(case.step) for case in batch]
        if cases.QUEUED in [case.step for case in batch]:
            self._fill(self._leaving - len(batch) + 1)
        return [self.cloud.wait(server, 'ACTIVE') for server in servers]

    def _boot(self, name):
        zone = f'nova:{self.stage.home}'
        return self.stage.boot_full(name, wait=False, availability_zone=zone)

    def _fill(self, number):
        """Add leaving guests, so that the next one must wait."""
        for server in [self._boot('further') for _ in range(number)]:
            self.cloud.wait(server, 'ACTIVE')
            self._copy(server)
            self.stage.servers.append(server)

    # ---- entering a phase ----

    def _stop(self, case, server):
        if case.table == cases.ABORT:
            where = {'at': hooks.UNDO, 'step': case.step}
            if case.step in cases.ABORT_CALLS:
                where = {'at': hooks.METHOD, 'method': case.step}
            stop = self.cloud.points.stop_at(server.id, when=case.when, **where)
        elif case.step in STOPS:
            stop = self.cloud.points.stop_at(server.id, **STOPS[case.step])
        else:
            stop = points.Stop({})
        self._stops[server.id] = stop
        return stop

    def _ask(self, case, server):
        """Bring it so far that it keeps its turn; what does not last follows at last."""
        stop = self._stops[server.id]
        if case.step == cases.QUEUED:
            self._ask_for(server, cases.QUEUED)
            stop.reached.set()
        elif case.step in STOPS:
            self.stage.ask('live-migrate', server)
            # It has its turn before another may want it.
            self.cloud.wait_for(stop.reached.is_set, f'{case} to be reached', ENTER_S)
        else:
            self._copies[server.id] = self._copy(server)
            if case.step == cases.COPYING:
                stop.reached.set()

    def _wait_until_there(self, pairs, stops):
        for case, server in pairs:
            if case.table == cases.ABORT:
                self._must_end('DELETE', server)
        for case, server in pairs:
            if case.step == cases.POST_COPY:
                self._must_end('POST', server)
                self._wait_until_it_has_left(server)
                self._stops[server.id].reached.set()
        return super()._wait_until_there(pairs, stops)

    def _wait_until_it_has_left(self, server):
        away = [self.stage.away]
        self.cloud.wait_for(
            lambda: self.cloud.guests().get(server.id) == away, 'the guest to leave', ENTER_S
        )

    def _copy(self, server):
        """Start the copy of the server's memory. Return the migration."""
        return self._ask_for(server, cases.COPYING)

    def _ask_for(self, server, status):
        self.stage.ask('live-migrate', server)
        return self.cloud.wait_for(
            lambda: self._under_way(server, status), f'{server.id} to be {status}', ENTER_S
        )

    def _under_way(self, server, status):
        """The migration that goes on and has this status, or None."""
        path = f'/servers/{server.id}/migrations'
        answer = self.cloud.api('GET', path, version=moving.LATEST)
        found = answer.json()['migrations'] if answer.status_code == 200 else ()
        return next((each for each in found if each['status'] == status), None)

    def _end(self, method, server, migration):
        """DELETE: abort it; POST: force it to its end. The answer."""
        path = f'/servers/{server.id}/migrations/{migration["id"]}'
        options = {}
        if method == 'POST':
            path, options = f'{path}/action', {'json': {'force_complete': None}}
        answer = self.cloud.api(method, path, version=moving.LATEST, **options)
        if answer.status_code == 202:
            self._told_to_end.add(migration['id'])
        return answer

    def _must_end(self, method, server):
        answer = self._end(method, server, self._copies[server.id])
        if answer.status_code != 202:
            raise AssertionError(f'{method}: {answer.status_code} {answer.text}')

    # ---- afterwards ----

    def _is_over(self, case, server, seen):
        if super()._is_over(case, server, seen):
            return True
        migration = self._under_way(server, cases.COPYING)
        if migration is not None and migration['id'] not in self._told_to_end:
            self._end('POST', server, migration)
        return False

    def _judge(self, case, server, **found):
        wanted = killing.UNDONE if case.table == cases.ABORT else killing.DONE
        outcome = super()._judge(case, server, **found)
        self.stage.forget(server)
        for further in list(self.stage.servers):
            self.stage.forget(further)
        if outcome.survived and outcome.result != wanted:
            return outcome._replace(result=f'was {outcome.result}')
        return outcome

    def _wrong_place(self, move, server, outcome):
        status = self.stage.migration(server)['status']
        if status != STATUSES[outcome]:
            return f'{outcome}, and its migration is {status}'
        return super()._wrong_place(move, server, outcome)
