"""Migrations of volumes between the back ends of simcloud."""

from nova_lite import runtime
from tests.fixtures import http
from tests.unit.simcloud import base

V3 = '/volume/v3'
SIM, OTHER = 'simcloud@sim#sim', 'simcloud@other#other'
OWNER = 'os-vol-tenant-attr:tenant_id'
SERVER = '11111111-1111-4111-8111-111111111111'


class Compute:
    """Answers requests for swaps with the codes that it is given, the last one for good.

    meanwhile: called before each answer
    """

    def __init__(self):
        self.codes, self.asked, self.arrived = [202], [], runtime.Condition()
        self.meanwhile = lambda: None

    def __call__(self, environ, start_response):
        self.meanwhile()
        code = self.codes.pop(0) if self.codes[1:] else self.codes[0]
        start_response(f'{code} X', [('Content-Length', '0')])
        with self.arrived:
            self.asked.append((environ['REQUEST_METHOD'], environ['PATH_INFO']))
            self.arrived.notify()
        return []

    def wait_for(self, count):
        with self.arrived:
            self.arrived.wait_for(lambda: len(self.asked) >= count, 60)


class MigrationsTestCase(base.SimCloudTestCase):
    def setUp(self):
        self.compute = Compute()
        super().setUp()
        self.nova = self.believed('nova', 'service', 'admin', 'service')
        self.nova.headers['OpenStack-API-Version'] = 'volume 3.44'

    def open(self, **options):
        url = self.useFixture(http.Http({'/': self.compute})).url
        return super().open(compute_events=True, endpoints={'compute': url}, **options)

    def volume(self, **values):
        body = {'volume': {'size': 1, 'name': 'data', **values}}
        return self.demo.post(f'{V3}/volumes', body, expect=202)['volume']['id']

    def attached(self):
        """The id of a volume that SERVER has."""
        volume = self.volume()
        self.attach(volume)
        return volume

    def attach(self, volume):
        wanted = {'volume_uuid': volume, 'instance_uuid': SERVER, 'connector': {'host': 'h'}}
        made = self.nova.post(f'{V3}/attachments', {'attachment': wanted}, expect=200)
        path = f'{V3}/attachments/{made["attachment"]["id"]}'
        self.nova.post(f'{path}/action', {'os-complete': {}}, expect=204)
        return path

    def act(self, volume, action, wanted, *, expect=202, client=None):
        path = f'{V3}/volumes/{volume}/action'
        return (client or self.admin).post(path, {action: wanted}, expect=expect)

    def migrate(self, volume, host=OTHER, **options):
        self.act(volume, 'os-migrate_volume', {'host': host}, **options)

    def complete(self, volume, new, expect=200, **values):
        wanted = {'new_volume': new, **values}
        return self.act(volume, 'os-migrate_volume_completion', wanted, expect=expect)

    def look(self, volume):
        """(status, status of the migration, back end, servers) of a volume."""
        found = self.admin.get(f'{V3}/volumes/{volume}')['volume']
        servers = [each['server_id'] for each in found['attachments']]
        host = found['os-vol-host-attr:host']
        return found['status'], found['migration_status'], host, servers

    def listed(self, client):
        found = client.get(f'{V3}/volumes/detail?all_tenants=1')['volumes']
        return {each['id'] for each in found}

    def begun(self):
        """(a volume in use that migrates, its target)."""
        volume = self.attached()
        before = self.listed(self.admin)
        self.migrate(volume)
        self.compute.wait_for(1)
        (target,) = self.listed(self.admin) - before
        return volume, target

    def wait_until(self, wanted, volume):
        """Wait until the thread that asks the compute service has looked at the answer."""
        for thread in self.wsgi.app._events._swaps:
            thread.join(60)
        self.assertEqual(wanted, self.look(volume))

    def test_volume_that_no_server_uses(self):
        volume = self.volume()
        self.migrate(volume, client=self.demo, expect=403)
        self.migrate(volume, 'simcloud@third#third', expect=400)
        self.migrate(volume, SIM, expect=400)
        self.migrate(volume)
        self.assertEqual(('available', 'success', OTHER, []), self.look(volume))
        self.migrate(volume, SIM)
        self.assertEqual(('available', 'success', SIM, []), self.look(volume))
        self.assertEqual([], self.compute.asked)

    def test_volume_with_snapshots(self):
        volume = self.volume()
        self.demo.post(f'{V3}/snapshots', {'snapshot': {'volume_id': volume}}, expect=202)
        self.migrate(volume, expect=400)

    def test_volume_in_use(self):
        volume, target = self.begun()
        swap = ('PUT', f'/servers/{SERVER}/os-volume_attachments/{volume}')
        self.assertEqual([swap], self.compute.asked)
        self.assertEqual(('in-use', 'migrating', SIM, [SERVER]), self.look(volume))
        self.assertEqual(('available', f'target:{volume}', OTHER, []), self.look(target))
        self.assertEqual({volume}, self.listed(self.demo))
        self.act(volume, 'os-begin_detaching', {}, client=self.nova)
        self.attach(target)
        self.assertEqual({'save_volume_id': volume}, self.complete(volume, target))
        self.assertEqual(('in-use', 'success', OTHER, [SERVER]), self.look(volume))
        self.assertEqual({volume}, self.listed(self.admin))
        self.complete(volume, target, expect=404)

    def test_quotas_do_not_count_targets(self):
        self.nova.headers['OpenStack-API-Version'] = 'volume 3.65'
        volume, target = self.begun()
        project_id = self.nova.get(f'{V3}/volumes/{volume}')['volume'][OWNER]
        for each, counts in ((volume, True), (target, False)):
            shown = self.nova.get(f'{V3}/volumes/{each}')['volume']
            self.assertIs(counts, shown['consumes_quota'])
        used = self.admin.get(f'{V3}/os-quota-sets/{project_id}?usage=true')['quota_set']
        self.assertEqual((1, 1), (used['volumes']['in_use'], used['gigabytes']['in_use']))
        absolute = self.demo.get(f'{V3}/limits')['limits']['absolute']
        found = absolute['totalVolumesUsed'], absolute['totalGigabytesUsed']
        self.assertEqual((1, 1), found)
        # It counts as a volume, as in Cinder.
        summary = self.demo.get(f'{V3}/volumes/summary')['volume-summary']
        self.assertEqual(2, summary['total_count'])
        self.admin.put(f'{V3}/os-quota-sets/{project_id}', {'quota_set': {'volumes': 2}})
        self.volume()
        body = {'volume': {'size': 1}}
        self.demo.post(f'{V3}/volumes', body, expect=413)

    def test_what_a_volume_that_migrates_refuses(self):
        volume, target = self.begun()
        self.migrate(volume, expect=400)
        self.act(volume, 'os-retype', {'new_type': 'multiattach'}, expect=400)
        body = {'snapshot': {'volume_id': volume, 'force': True}}
        self.demo.post(f'{V3}/snapshots', body, expect=400)
        self.act(volume, 'os-force_delete', {}, expect=400)
        self.admin.delete(f'{V3}/volumes/{target}', expect=400)

    def test_loss_of_the_last_attachment_is_not_seen(self):
        volume = self.volume()
        path = self.attach(volume)
        self.act(volume, 'os-reset_status', {'migration_status': 'migrating'})
        self.nova.headers['X-Service-Roles'] = 'service'
        self.nova.delete(path, expect=200)
        self.assertEqual(('in-use', 'migrating', SIM, []), self.look(volume))
        self.act(volume, 'os-reset_status', {'migration_status': 'none', 'status': 'available'})
        self.admin.delete(f'{V3}/volumes/{volume}', expect=202)

    def test_refused_by_the_compute_service(self):
        self.compute.codes = [409]
        volume = self.attached()
        self.migrate(volume)
        self.wait_until(('in-use', 'error', SIM, [SERVER]), volume)
        self.assertEqual({volume}, self.listed(self.admin))

    def test_answer_that_is_lost(self):
        """The compute service has accepted the swap all the same."""
        volume = self.attached()

        def accept():
            (target,) = self.listed(self.admin) - {volume}
            self.attach(target)
            self.compute.meanwhile = lambda: None

        self.compute.codes, self.compute.meanwhile = [503, 409], accept
        self.migrate(volume)
        self.wait_until(('in-use', 'migrating', SIM, [SERVER]), volume)
        (target,) = self.listed(self.admin) - {volume}
        self.complete(volume, target)
        self.assertEqual(('in-use', 'success', OTHER, [SERVER]), self.look(volume))

    def test_failed_on_the_host(self):
        volume, target = self.begun()
        self.assertEqual({'save_volume_id': volume}, self.complete(volume, target, error=True))
        self.assertEqual(('in-use', 'error', SIM, [SERVER]), self.look(volume))
        self.assertEqual({volume}, self.listed(self.admin))
        self.migrate(volume)

    def test_completions_of_no_migration(self):
        volume, other = self.attached(), self.volume()
        self.act(
            volume,
            'os-migrate_volume_completion',
            {'new_volume': other},
            expect=403,
            client=self.demo,
        )
        for status in ('migrating', 'error'):
            self.act(volume, 'os-reset_status', {'migration_status': status})
            self.complete(volume, other, expect=400)
        self.act(volume, 'os-reset_status', {'migration_status': 'none'})
        _other, target = self.begun()
        self.complete(volume, target, expect=400)
        self.act(volume, 'os-reset_status', {'migration_status': 'migrating'})
        self.complete(volume, target, expect=400)
        self.act(volume, 'os-reset_status', {'migration_status': 'none'})
        self.assertEqual({'save_volume_id': other}, self.complete(volume, other))
        self.assertEqual(('available', None, SIM, []), self.look(volume))
        self.assertEqual(('in-use', None, SIM, [SERVER]), self.look(other))
