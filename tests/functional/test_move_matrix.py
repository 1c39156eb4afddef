"""Destinations of live migration and evacuation: who asks how, what the scheduler says.

Each row says what a request does at several microversions: the code of the answer,
the status with which the migration ends, and where the server is afterwards.
Source: reference/nova/moves 2.4 and 2.5. A sample is run; `tox -e faults` runs all rows.
"""

from nova_lite.api import microversion
from tests.fixtures import saga_faults
from tests.functional import own_cloud
from tests.sim.cases import loading
from tools import sample

load_tests = loading.load_tests

# What `force` says; absent: the request has no such key.
ABSENT = None
# Where the server ends: at its source, at the host asked for, on any other host.
SOURCE, ASKED, OTHER = 'source', 'asked', 'other'
NOTHING = None

NEWEST = str(microversion.MAXIMUM)
# versions, host named?, force, does the scheduler agree? -> code, status, place
LIVE_MIGRATION = (
    (('2.1', '2.24', '2.25', '2.29'), False, ABSENT, True, 202, 'completed', OTHER),
    (('2.1', '2.24', '2.25', '2.29'), False, ABSENT, False, 400, 'error', SOURCE),
    (('2.1', '2.24', '2.25', '2.29'), True, ABSENT, True, 202, 'completed', ASKED),
    (('2.1', '2.24', '2.25', '2.29'), True, ABSENT, False, 202, 'completed', ASKED),
    (('2.1', '2.24', '2.25', '2.29'), True, True, True, 400, NOTHING, SOURCE),
    (('2.30', '2.33'), False, ABSENT, True, 202, 'completed', OTHER),
    (('2.30', '2.33'), False, ABSENT, False, 400, 'error', SOURCE),
    (('2.30', '2.33'), False, False, True, 202, 'completed', OTHER),
    (('2.30', '2.33', '2.34', '2.67'), False, True, True, 400, NOTHING, SOURCE),
    (('2.30', '2.33'), True, ABSENT, True, 202, 'completed', ASKED),
    (('2.30', '2.33'), True, ABSENT, False, 400, 'error', SOURCE),
    (('2.30', '2.33'), True, False, True, 202, 'completed', ASKED),
    (('2.30', '2.33'), True, False, False, 400, 'error', SOURCE),
    (('2.30', '2.33', '2.34', '2.67'), True, True, True, 202, 'completed', ASKED),
    (('2.30', '2.33', '2.34', '2.67'), True, True, False, 202, 'completed', ASKED),
    (('2.34', '2.67', '2.68', NEWEST), False, ABSENT, True, 202, 'completed', OTHER),
    (('2.34', '2.67', '2.68', NEWEST), False, ABSENT, False, 202, 'error', SOURCE),
    (('2.34', '2.67', '2.68', NEWEST), True, ABSENT, True, 202, 'completed', ASKED),
    (('2.34', '2.67', '2.68', NEWEST), True, ABSENT, False, 202, 'error', SOURCE),
    (('2.34', '2.67'), True, False, True, 202, 'completed', ASKED),
    (('2.34', '2.67'), True, False, False, 202, 'error', SOURCE),
    (('2.68', NEWEST), True, False, True, 400, NOTHING, SOURCE),
    (('2.68', NEWEST), True, True, True, 400, NOTHING, SOURCE),
)
EVACUATION = (
    (('2.1', '2.13', '2.14', '2.28'), False, ABSENT, True, 200, 'done', OTHER),
    (('2.1', '2.13', '2.14', '2.28'), False, ABSENT, False, 200, 'error', SOURCE),
    (('2.1', '2.13', '2.14', '2.28'), True, ABSENT, True, 200, 'done', ASKED),
    (('2.1', '2.13', '2.14', '2.28'), True, ABSENT, False, 200, 'done', ASKED),
    (('2.1', '2.28'), True, True, True, 400, NOTHING, SOURCE),
    (('2.29', '2.67'), False, ABSENT, True, 200, 'done', OTHER),
    (('2.29', '2.67'), False, True, True, 400, NOTHING, SOURCE),
    (('2.29', '2.67'), True, ABSENT, True, 200, 'done', ASKED),
    (('2.29', '2.67'), True, ABSENT, False, 200, 'error', SOURCE),
    (('2.29', '2.67'), True, False, False, 200, 'error', SOURCE),
    (('2.29', '2.67'), True, True, False, 200, 'done', ASKED),
    (('2.68', '2.94', '2.95'), False, ABSENT, True, 200, 'done', OTHER),
    (('2.68', '2.94', '2.95'), True, ABSENT, True, 200, 'done', ASKED),
    (('2.68', '2.94', '2.95'), True, ABSENT, False, 200, 'error', SOURCE),
    (('2.68', '2.94', '2.95'), True, True, True, 400, NOTHING, SOURCE),
)


def cases(table):
    """(version, host named?, force, agreed?, (code, status, place)) of every row."""
    for versions, named, force, agreed, *expected in table:
        for version in versions:
            yield version, named, force, agreed, tuple(expected)


def _minor(version):
    return int(version.partition('.')[2])


class MatrixTest(own_cloud.OwnCloudTest):
    settings = {'cells': 1, 'hosts': 3}

    def play(self, table, act):
        wrong = []
        for version, named, force, agreed, expected in saga_faults.sample(cases(table)):
            found = act(version, named, force, agreed)
            if found != expected:
                wrong.append((version, named, force, agreed, expected, found))
        self.assertEqual([], wrong, sample.replay())

    def refused(self, source, asked, agreed):
        """Make the scheduler refuse the host asked for, or all but the source."""
        hosts = [] if agreed else [asked] if asked else self.moving.others(source)
        for host in hosts:
            self.moving.change_service(host, status='disabled')
        return hosts

    def outcome(self, server, answer, asked):
        """(code, status, place) of a request."""
        if answer.status_code >= 300 and not self.moving.migrations(server):
            return answer.status_code, NOTHING, SOURCE
        status = self.moving.ended(server)['status']
        host = self.cloud.admin.compute.get_server(server.id).compute_host
        place = SOURCE if host == server.compute_host else ASKED if host == asked else OTHER
        return answer.status_code, status, place

    def ask(self, server, action, content, *, version, force):
        if force is not ABSENT:
            content['force'] = force
        return self.cloud.api(
            'POST', f'/servers/{server.id}/action', version=version, json={action: content}
        )

    def test_live_migration(self):
        self.play(LIVE_MIGRATION, self.live_migrate)

    def live_migrate(self, version, named, force, agreed):
        server = self.cloud.boot()
        asked = self.moving.others(server.compute_host)[0] if named else None
        disabled = self.refused(server.compute_host, asked, agreed)
        content = {'block_migration': True, 'host': asked}
        if _minor(version) < 25:
            content['disk_over_commit'] = False
        answer = self.ask(server, 'os-migrateLive', content, version=version, force=force)
        found = self.outcome(server, answer, asked)
        for host in disabled:
            self.moving.change_service(host, status='enabled')
        self.cloud.admin.compute.delete_server(server)
        return found

    def test_evacuation(self):
        self.play(EVACUATION, self.evacuate)

    def evacuate(self, version, named, force, agreed):
        server = self.cloud.boot()
        asked = self.moving.others(server.compute_host)[0] if named else None
        disabled = self.refused(server.compute_host, asked, agreed)
        self.moving.fail(server.compute_host)
        content = {'host': asked} if named else {}
        if _minor(version) < 14:
            content['onSharedStorage'] = False
        answer = self.ask(server, 'evacuate', content, version=version, force=force)
        found = self.outcome(server, answer, asked)
        for host in disabled:
            self.moving.change_service(host, status='enabled')
        self.moving.come_back(server.compute_host)
        self.cloud.admin.compute.delete_server(server)
        return found
