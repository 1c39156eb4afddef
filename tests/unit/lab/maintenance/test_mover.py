"""Moves of one server from a host, and the reasons when it does not leave."""

import testtools

from nova_lite import exception
from nova_lite.lab.maintenance import client
from nova_lite.lab.maintenance import mover
from nova_lite.lab.maintenance import plan

How, What = plan.How, mover.What


def server(host='h1', task=None, status='ACTIVE', **more):
    return {
        'status': status,
        'OS-EXT-STS:task_state': task,
        'OS-EXT-SRV-ATTR:host': host,
        **more,
    }


MOVING, MOVED = server(task='migrating'), server('h2')
WAITING = server('h2', status='VERIFY_RESIZE')


class Cloud:
    """Answers from lists; the last look is repeated. An answer that is an error is raised."""

    def __init__(self, looks, acts=(), migrations=(), failure=None):
        self.looks, self.acts = list(looks), list(acts)
        self.migrations, self.told = list(migrations), failure
        self.asked = []

    def server(self, _uuid):
        return self._answer(self.looks)

    def act(self, _uuid, action, content, *, version):
        self.asked.append((action, content, version))
        return self._answer(self.acts) if self.acts else 'req-1'

    def failure(self, _uuid, request_id):
        return self.told if request_id == 'req-1' else None

    def last_migration(self, _uuid):
        return self._answer(self.migrations) if self.migrations else None

    @staticmethod
    def _answer(answers):
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(found, Exception):
            raise found
        return found


class MoverTest(testtools.TestCase):
    def move(self, cloud, how=How.LIVE, *, cold_instead=True, leaving=False, **options):
        """(how, what, host, reason) of the Outcome; `told` is what was said."""
        self.told = []
        one = mover.Mover(cloud, 'h1', mover.Options(poll_s=0, **options))
        if leaving:
            one.leaving.set()
        entry = plan.Entry('u', 's', 'ACTIVE', how, cold_instead=cold_instead)
        found = one.move(entry, lambda _entry, text: self.told.append(text))
        return found.how, found.what, found.host, found.reason

    def test_moved(self):
        for how, action in (
            (How.LIVE, ('os-migrateLive', {'host': 'h2', 'block_migration': 'auto'}, '2.30')),
            (How.COLD, ('migrate', {'host': 'h2'}, client.VERSION)),
            (How.EVACUATE, ('evacuate', {'host': 'h2'}, client.VERSION)),
        ):
            cloud = Cloud([MOVING, MOVED])
            self.assertEqual((how, What.MOVED, 'h2', ''), self.move(cloud, how, target='h2'))
            self.assertEqual(([action], []), (cloud.asked, self.told))

    def test_followed(self):
        cloud = Cloud([MOVING, MOVED])
        self.assertEqual((How.FOLLOW, What.MOVED, 'h2', ''), self.move(cloud, How.FOLLOW))
        self.assertEqual([], cloud.asked)

    def test_refused_live(self):
        refusal = client.Refused(400, 'no host')
        cloud = Cloud([MOVING, MOVED], [refusal, 'req-1'])
        self.assertEqual((How.COLD, What.MOVED, 'h2', ''), self.move(cloud))
        self.assertEqual(['os-migrateLive', 'migrate'], [asked[0] for asked in cloud.asked])
        self.assertEqual(['live migration was refused, using cold migration: no host'], self.told)
        found = self.move(Cloud([MOVING], [refusal]), cold_instead=False)
        self.assertEqual((How.LIVE, What.LEFT, None, 'no host'), found)
        # Whoever may not migrate live need not try to do it cold.
        found = self.move(Cloud([MOVING], [client.Refused(403, 'no right')]))
        self.assertEqual((How.LIVE, What.LEFT, None, 'no right'), found)

    def test_stayed(self):
        found = self.move(Cloud([MOVING, server()], failure='it broke'))
        self.assertEqual((How.LIVE, What.LEFT, 'h1', 'it broke'), found)
        found = self.move(Cloud([server()]), How.FOLLOW)
        self.assertEqual((How.FOLLOW, What.LEFT, 'h1', 'it did not move'), found)
        broken = server(status='ERROR', fault={'message': 'no disk'})
        found = self.move(Cloud([broken]), How.EVACUATE)
        self.assertEqual((How.EVACUATE, What.LEFT, 'h1', 'in ERROR: no disk'), found)

    def test_gone(self):
        for cloud in (Cloud([None]), Cloud([MOVED], [client.Refused(404, 'gone')])):
            self.assertEqual(What.GONE, self.move(cloud)[1])

    def test_answers_that_are_not_clear(self):
        down = exception.Unavailable(service='Compute API', reason='lost')
        for unclear in (down, client.Refused(504, 'late')):
            cloud = Cloud([unclear, unclear, MOVING, MOVED], [unclear])
            self.assertEqual((How.LIVE, What.MOVED, 'h2', ''), self.move(cloud))
            # Asked once: nothing is known of what became of it.
            self.assertEqual((1, 2), (len(cloud.asked), len(self.told)), self.told)

    def test_the_last_question_fails(self):
        down = exception.Unavailable(service='Compute API', reason='lost')
        found = self.move(Cloud([WAITING], migrations=[down]), How.FOLLOW, confirm=True)
        self.assertEqual((How.FOLLOW, What.LEFT, None, str(down)), found)

    def test_not_for_ever(self):
        expected = (How.LIVE, What.LEFT, None, 'still in progress: migrating')
        self.assertEqual(expected, self.move(Cloud([MOVING]), timeout_s=-1))
        self.assertEqual(expected, self.move(Cloud([MOVING]), leaving=True))

    def test_confirmed_on_request(self):
        waits = (How.COLD, What.WAITS, 'h2', 'waits for confirm or revert')
        self.assertEqual(waits, self.move(Cloud([WAITING]), How.COLD))
        cloud = Cloud([WAITING, WAITING, MOVED])
        found = self.move(cloud, How.COLD, confirm=True)
        self.assertEqual((How.COLD, What.MOVED, 'h2', ''), found)
        self.assertEqual(['migrate', 'confirmResize'], [asked[0] for asked in cloud.asked])

    def test_a_resize_is_not_ours_to_confirm(self):
        cloud = Cloud([WAITING], migrations=[{'migration_type': 'resize'}])
        self.assertEqual(What.WAITS, self.move(cloud, How.FOLLOW, confirm=True)[1])
        self.assertEqual([], cloud.asked)

    def test_a_confirmation_that_fails(self):
        failed = [{'migration_type': 'migration', 'status': 'error'}]
        found = self.move(Cloud([WAITING], migrations=failed), How.CONFIRM)
        self.assertEqual(What.LEFT, found[1])
        found = self.move(Cloud([WAITING], [client.Refused(409, 'busy')]), How.CONFIRM)
        self.assertEqual((How.CONFIRM, What.LEFT, None, 'busy'), found)
        found = self.move(Cloud([WAITING]), How.CONFIRM, timeout_s=-1)
        self.assertEqual((How.CONFIRM, What.WAITS, 'h2', 'confirm is still in progress'), found)
