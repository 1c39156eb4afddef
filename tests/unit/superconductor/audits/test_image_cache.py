"""The hosts of an aggregate are asked to keep images at hand, in whatever cells they are."""

import types

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.api import aggregates
from nova_lite.db.cell import services
from nova_lite.rpc.methods import compute as compute_rpc
from nova_lite.superconductor.audits import image_cache
from tests.fixtures import compute_api
from tests.fixtures import servers_api
from tests.unit.api import base

IMAGES = ['image-1', 'image-2']


class Notices:
    """Keeps what is told."""

    def __init__(self):
        self.told = []

    def tell(self, ctxt, what, **facts):
        self.told.append((what, facts))


class CacheTest(base.ApiTest):
    """The world is made of the fixture's databases and recorded computes."""

    def make_api(self):
        return servers_api.ServersApi()

    def setUp(self):
        super().setUp()
        # An audit calls hosts in a thread of its own.
        self.api.compute = {
            name: compute_api.RpcRecorder(compute_rpc.ComputeAPI, lambda: True)
            for name in self.api.compute
        }
        self.world = types.SimpleNamespace(
            conf=self.api.conf,
            api_db=self.api.api_db,
            cells=self.api.cells,
            compute=lambda cell: self.api.compute[cell.name],
            notices=Notices(),
        )
        self.stopping = runtime.Event()

    def run_for(self, *hosts):
        """{host: facts of its progress}, as it is told for an aggregate of these hosts."""
        made = self.api.api_db.write(
            aggregates.create, uuid=runtime.new_uuid(), name='one', metadata={}
        )
        for host in hosts:
            self.api.api_db.write(aggregates.add_host, made.id, host)
        image_cache.run(self.world, context.admin(), made.id, IMAGES, self.stopping)
        first, *told, last = self.world.notices.told
        self.assertEqual([image_cache.EVENT] * 2, [first[0], last[0]])
        self.assertEqual(['start', 'end'], [first[1]['phase'], last[1]['phase']])
        self.assertEqual({f'{image_cache.EVENT}.progress'}, {what for what, _facts in told})
        return {facts['values']['host']: facts['values'] for _what, facts in told}

    def test_hosts_of_two_cells(self):
        found = {'image-1': 'cached', 'image-2': 'existing'}
        self.api.compute['cell1'].answers['cache_images'] = found
        self.api.compute['cell2'].answers['cache_images'] = {'image-1': 'error'}
        told = self.run_for('host1', 'host2')
        self.assertEqual(IMAGES, told['host1']['images_cached'])
        self.assertEqual([], told['host1']['images_failed'])
        self.assertEqual(IMAGES, told['host2']['images_failed'])
        self.assertEqual([(1, 2), (2, 2)], [(v['index'], v['total']) for v in told.values()])
        for cell, host in (('cell1', 'host1'), ('cell2', 'host2')):
            asked = {'host': host, 'image_ids': IMAGES}
            self.assertEqual([('cache_images', asked)], self.api.compute[cell].calls)

    def test_a_host_that_does_not_answer_holds_up_no_other(self):
        self.api.cell('cell2').db.write(
            lambda c: c.execute(services.TABLE.update().values(forced_down=True))
        )
        error = exception.MessagingTimeout(
            service='compute', reason='no reply', method='cache_images', topic='compute'
        )
        self.api.compute['cell1'].answers['cache_images'] = error
        told = self.run_for('host1', 'host2', 'unknown')
        self.assertEqual(['host1', 'host2', 'unknown'], list(told))
        self.assertEqual([IMAGES] * 3, [values['images_failed'] for values in told.values()])
        self.assertEqual([], self.api.compute['cell2'].calls)

    def test_a_host_that_takes_long(self):
        """It is asked again for what it has not got yet, unless who asks stops."""
        answers = iter(
            (
                {'image-1': {'pending': 0}, 'image-2': 'existing'},
                {'image-1': {'pending': 0}},
                {'image-1': 'cached'},
                {'image-1': {'pending': 600}, 'image-2': 'cached'},
            )
        )
        asked = []

        def cache_images(ctxt, host, image_ids):
            asked.append(image_ids)
            return next(answers)

        self.world.compute = lambda cell: types.SimpleNamespace(cache_images=cache_images)
        self.assertEqual(IMAGES, self.run_for('host1')['host1']['images_cached'])
        self.assertEqual([IMAGES, ['image-1'], ['image-1']], asked)
        self.stopping.set()
        found = image_cache._ask(self.world, context.admin(), 'host1', IMAGES, self.stopping)
        self.assertEqual({'image-2': 'cached'}, found)

    def test_an_aggregate_that_is_gone(self):
        image_cache.run(self.world, context.admin(), 4711, IMAGES, self.stopping)
        self.assertEqual([], self.world.notices.told)

    def test_who_stops_asks_no_more(self):
        self.stopping.set()
        made = self.api.api_db.write(
            aggregates.create, uuid=runtime.new_uuid(), name='one', metadata={}
        )
        self.api.api_db.write(aggregates.add_host, made.id, 'host1')
        image_cache.run(self.world, context.admin(), made.id, IMAGES, self.stopping)
        self.assertEqual([], self.api.compute['cell1'].calls)
