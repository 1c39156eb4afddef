"""Kills: a batch of moves, each held at a point of its own; then one daemon dies.

One kill serves many cases: each move of the batch stands at another point, and each
is judged by itself.
"""

import typing

from oslo_log import log
import requests

from nova_lite import runtime
from nova_lite.moves.parts import cross_cell
from nova_lite.verify import findings
from tests.crash import cases
from tests.crash import faults
from tests.crash import hooks
from tests.crash import stage as stage_module
from tests.fixtures import boots

LOG = log.getLogger(__name__)

REACH_S = 120
# Longer than anyone waits for an answer.
LATE_S = 8
# From the restart on: within BOUND_S all is well; after PATIENCE_S the test stops waiting.
BOUND_S = 30
PATIENCE_S = 120
AGAIN_S = 90
# Of the statuses that moves end in, those with a guest that runs.
RUNNING = ('ACTIVE', 'VERIFY_RESIZE')
DONE, UNDONE = SURVIVED = ('done', 'undone')


class Outcome(typing.NamedTuple):
    """The result of a case. result: 'done', 'undone', or what was wrong afterwards.

    seconds: from the restart of who was killed to the end of the move
    """

    case: cases.Case
    result: str
    seconds: float

    @property
    def survived(self):
        return self.result in SURVIVED


class Killing:
    """Runs cases of one table. cloud: a CrashCloud with the two hosts that it needs."""

    def __init__(self, cloud, table):
        self.cloud = cloud
        self.stage = stage_module.Stage(cloud, table)
        self.faults = faults.Faults(cloud, self.stage)
        # What `verify` found before is not found once more.
        self._known = set()

    def run(self, batch):
        """Run cases of one role that begin alike; their outcomes."""
        servers = self._bring(batch)
        pairs = list(zip(batch, servers, strict=True))
        stops = [self._stop(case, server) for case, server in pairs]
        former = {server.id: self._saga_uuid(server) for server in servers}
        for case, server in pairs:
            self._ask(case, server)
        missed = self._wait_until_there(pairs, stops)
        with self.faults.of(batch[0].role, stops) as since:
            ended = self._watch(pairs, since)
        found = self._findings()
        return [
            self._judge(
                case,
                server,
                problem=missed.get(server.id) or self._problem(server, ended, found),
                former=former[server.id],
                seconds=ended.get(server.id, (None, PATIENCE_S))[1],
            )
            for case, server in pairs
        ]

    def _bring(self, batch):
        """A server for each case, of which its move may be asked."""
        return self.stage.bring(batch[0], len(batch))

    def _stop(self, case, server):
        hold_s = LATE_S if case.role == cases.LATE else None
        if case.table == cases.CALLS:
            where = {'at': hooks.METHOD, 'method': case.step}
        elif case.table == cases.ACCEPT:
            where = {'at': hooks.ACCEPT, 'kind': case.move.kind, 'step': case.step}
        else:
            at = hooks.UNDO if case.table == cases.UNDO else hooks.STEP
            where = {'at': at, 'kind': case.move.kind, 'step': case.step}
        if case.table == cases.UNDO:
            last = {**where, 'at': hooks.STEP, 'step': cases.last(case.move)}
            self.cloud.points.stop_at(server.id, answer=hooks.FAIL, when=hooks.BEFORE, **last)
        return self.cloud.points.stop_at(server.id, hold_s=hold_s, when=case.when, **where)

    def _ask(self, case, server):
        if case.table == cases.ACCEPT:
            runtime.spawn(self._ask_in_vain, case, server, name='asking')
        else:
            self._ask_plainly(case, server)

    def _ask_plainly(self, case, server):
        self.stage.ask(case.name, server)

    def _ask_in_vain(self, case, server):
        """Ask the API, which will die before it answers."""
        try:
            self._ask_plainly(case, server)
        except (requests.ConnectionError, *boots.NO_ANSWER) as error:
            LOG.info('%s: %s', case, error)

    def _saga_uuid(self, server):
        found = self.stage.saga(server)
        return found and found.uuid

    def _wait_until_there(self, pairs, stops):
        """{server id: what is wrong} of moves that never came to their point."""
        deadline = runtime.monotonic() + REACH_S
        missed = {}
        for (case, server), stop in zip(pairs, stops, strict=True):
            if not runtime.wait(stop.reached, max(0.0, deadline - runtime.monotonic())):
                missed[server.id] = f'did not reach {case.when} "{case.step}"'
        return missed

    # ---- afterwards ----

    def _watch(self, pairs, since):
        """{server id: (problem or None, seconds)} of moves that ended."""
        ended, twice = {}, {}
        while len(ended) < len(pairs) and runtime.monotonic() < since + PATIENCE_S:
            for uuid, nodes in self.cloud.guests().items():
                if len(nodes) > 1:
                    twice[uuid] = f'its guest ran on {nodes}'
            seen = self.stage.seen()
            for case, server in pairs:
                if seen is None or server.id in ended or not self._is_over(case, server, seen):
                    continue
                seconds = runtime.monotonic() - since
                late = f'took {seconds:.0f} s' if seconds > BOUND_S else None
                ended[server.id] = (twice.get(server.id, late), seconds)
            runtime.sleep(0.1)
        return ended

    def _is_over(self, case, server, seen):
        if not self.stage.idle(server):
            return False
        found = seen.get(server.id)
        if found is None:
            return case.move.done is None
        # The API may have died before the deletion was on record.
        stays = case.move.done is not None or case.table == cases.ACCEPT
        return stays and found['OS-EXT-STS:task_state'] is None

    def _findings(self):
        found = [*self.cloud.findings(), *self._images()]
        found = [each for each in found if each not in self._known]
        self._known.update(found)
        return found

    def _images(self):
        """No image that carries a disk is left when no server moves."""
        suffix = cross_cell.IMAGE_NAME % ''
        for image in self.cloud.admin.image.images():
            if image.name.endswith(suffix):
                owner = image.instance_uuid
                yield findings.Finding('I5', f'image {image.id}', f'of server {owner} is left')

    def _problem(self, server, ended, found):
        if server.id not in ended:
            return f'had not ended after {PATIENCE_S} s'
        if ended[server.id][0]:
            return ended[server.id][0]
        # What names no server of the batch may be anyone's.
        mine = [each for each in found if server.id in str(each) or not _names(each, ended)]
        return f'verify: {mine}' if mine else None

    def _judge(self, case, server, *, problem, former, seconds):
        move = case.move
        outcome = None
        if problem is None:
            saga = self.stage.saga(server)
            # Of what was never recorded nothing can be left.
            outcome = UNDONE if saga is None or saga.uuid == former else saga.state
            problem = self._wrong_place(move, server, outcome)
        if problem is None and outcome == UNDONE:
            problem = self._asked_again(case, move, server)
        if problem is not None or move.done is None:
            self.stage.forget(server)
        return Outcome(case, problem or outcome, seconds)

    def _wrong_place(self, move, server, outcome):
        """Return what is wrong with the server's status or its guest; None when nothing is."""
        status = move.done if outcome == DONE else move.undone
        nodes = self.cloud.guests().get(server.id, [])
        if status is None:
            return f'its guest runs on {nodes}' if nodes else None
        found = self.stage.seen()[server.id]
        if found['status'] != status:
            return f'{outcome}, and is {found["status"]}'
        host = found['OS-EXT-SRV-ATTR:host']
        wanted = [host] if status in RUNNING else []
        return None if nodes == wanted else f'is on {host}, its guest runs on {nodes}'

    def _asked_again(self, case, move, server):
        """Ask for a move that was undone once more; what goes wrong then."""
        self._ask_plainly(case, server)
        deadline = runtime.monotonic() + AGAIN_S
        while runtime.monotonic() < deadline:
            seen = self.stage.seen()
            if seen is not None and self._is_over(case, server, seen):
                found = seen.get(server.id)
                status = found and found['status']
                return None if status == move.done else f'asked again it is {status}'
            runtime.sleep(0.1)
        return f'asked again it had not ended after {AGAIN_S} s'


def _names(finding, ended):
    """Return whether a finding names a server of the batch."""
    return any(uuid in str(finding) for uuid in ended)
