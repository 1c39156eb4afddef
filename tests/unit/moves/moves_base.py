"""Steps of cold moves one by one, over a real cell and its hosts, without a bus."""

import types

import testtools

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite import saga
from nova_lite.clients import placement as placements
from nova_lite.db import rows
from nova_lite.db.api import cell_mappings
from nova_lite.db.api import host_mappings
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import request_specs
from nova_lite.db.api import sagas
from nova_lite.db.cell import migrations
from nova_lite.db.cell import moves
from nova_lite.db.cell import services
from nova_lite.lifecycle import intents
from nova_lite.moves import live_migrate
from nova_lite.moves import resize
from nova_lite.moves import revert
from nova_lite.objects import flavor as flavor_objects
from nova_lite.objects import request_spec
from nova_lite.states import transitions
from tests.fixtures import cell as cell_fixture
from tests.fixtures import database
from tests.fixtures import neighbours
from tests.fixtures import shares

SMALL = {**cell_fixture.FLAVOR, 'id': 2, 'flavorid': '2', 'name': 'small', 'memory_mb': 2048}
SOURCE, DEST, OTHER = 'host-1', 'host-2', 'host-3'


def until(made, name):
    """The steps of a saga before the one with this id. A step that is added moves no index."""
    steps = made.steps()
    return steps[: [step.id for step in steps].index(name)]


def since(made, name):
    """The steps of a saga from the one with this id on."""
    return made.steps()[len(until(made, name)) :]


def through(made, name):
    """The steps of a saga up to the one with this id, inclusive."""
    return made.steps()[: len(until(made, name)) + 1]


def after(made, name):
    """The steps of a saga after the one with this id."""
    return since(made, name)[1:]


class Placement(neighbours.Placement):
    """Also gives what one consumer holds to another, and claims in addition to that."""

    def claim(self, ctxt, consumer, request, **options):
        held = self.allocations.get(consumer.uuid, {})
        claimed = super().claim(ctxt, consumer, request, **options)
        self.allocations[consumer.uuid] = {**held, **self.allocations.get(consumer.uuid, {})}
        return claimed

    @neighbours.faulty
    def advance(self, ctxt, claims, generation):
        for consumer, _request in claims:
            if consumer.uuid not in self.allocations:
                raise exception.AllocationConflict(consumer=consumer.uuid)
            self.generations[consumer.uuid] = generation

    def candidates(self, ctxt, query):
        return {'allocation_requests': [], 'provider_summaries': {}}

    def trees(self, ctxt, nodes, *found):
        return set(nodes)

    @neighbours.faulty
    def write(self, ctxt, method, path, body):
        for uuid, entry in body.items():
            if self.holding(ctxt, uuid).generation != entry['consumer_generation']:
                return placements.Outcome.STALE
            if self.full & entry['allocations'].keys():
                return placements.Outcome.REFUSED
        for uuid, entry in body.items():
            self._hold(uuid, entry['allocations'])
        return placements.Outcome.DONE

    @neighbours.faulty
    def move_allocations(self, ctxt, source, target, *, new=False, once=False, keep=()):
        if source not in self.allocations or (once and target in self.allocations):
            return self.allocations.get(target, {})
        self.allocations[target] = self.allocations.pop(source)
        return self.allocations[target]


class World:
    """The services that steps use; the scheduler always chooses DEST, then OTHER."""

    def __init__(self, cell, api_db, placement):
        self._cell = cell
        self.conf, self.api_db, self.placement = cell.conf, api_db, placement
        self.network, self.volume, self.image = cell.network, cell.volume, cell.image
        self.share = shares.Shares()
        self.cells = types.SimpleNamespace(
            conf=cell.conf,
            get=lambda uuid: cell,
            of_host=lambda host: cell,
            of_instance=lambda uuid: cell,
        )
        self.scheduler = types.SimpleNamespace(select_destinations=self._select)

    def compute(self, cell):
        return self._cell.answers

    def wake(self, uuid):
        """No engine runs sagas here."""

    def _select(self, ctxt, *, spec, instance_uuids, alternates, beside, claims, fresh):
        chosen = [self._cell.selection(host) for host in (DEST, OTHER)]
        provider = chosen[0].compute_node_uuid
        if claims:
            self.placement.allocations[instance_uuids[0]] = {provider: {'VCPU': 1}}
        return [chosen]


def saga_record(kind, cell, server, *, order, arguments):
    """The journal's row of a saga that has just begun. server: its uuid"""
    return types.SimpleNamespace(
        kind=kind,
        uuid=runtime.new_uuid(),
        instance_uuid=server,
        epoch=1,
        arguments={'cell': cell.uuid, 'order': order.as_dict(), **arguments},
        data={},
        error=None,
    )


class MoveTestCase(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cell = self.useFixture(cell_fixture.Cell())
        self.cell.uuid = cell_fixture.CELL_UUID
        self.cell.placement = Placement()
        self.api_db = self.useFixture(database.ApiDatabase()).database
        self.cell.id = self.api_db.write(self._map_cell)
        self.api_db.write(host_mappings.create_missing, self.cell.id, self.cell.hosts)
        self.world = World(self.cell, self.api_db, self.cell.placement)
        self.cell.db.write(services.beat, self.cell.hosts, services.COMPUTE, 'compute')
        self.server = self.boot()
        provider = self.cell.provider(SOURCE)
        self.cell.placement.allocations[self.server] = {provider: {'VCPU': 1}}
        self.api_db.write(self._record)

    @staticmethod
    def _map_cell(connection):
        urls = {'transport_url': 'none:///', 'database_connection': 'none:///'}
        values = {'uuid': cell_fixture.CELL_UUID, 'name': 'cell', 'disabled': False, **urls}
        return cell_mappings.create(connection, values)

    def boot(self):
        """The server that moves, on SOURCE; its uuid."""
        return self.cell.boot()

    def _record(self, connection):
        spec = request_spec.RequestSpec(
            instance_uuid=self.server,
            project_id='project',
            user_id='user',
            flavor=flavor_objects.Flavor(**cell_fixture.FLAVOR),
        )
        request_specs.create(connection, [spec])
        mapping = {'instance_uuid': self.server, 'project_id': 'project', 'user_id': 'user'}
        instance_mappings.create(connection, {**mapping, 'vcpus': 1, 'memory_mb': 512})

    def make(self, kind, guard, action, *, migration=None, status=None, **arguments):
        """A saga whose first transaction the API has made."""
        claims = None
        if migration:
            claims = {'uuid': migration, 'from': ['finished'], 'to': status}
            arguments['migration_uuid'] = migration
        order = intents.order(guard, action, claims=claims)
        ctxt = context.RequestContext(user_id='user', project_id='project', overwrite=False)
        record = saga_record(kind.kind, self.cell, self.server, order=order, arguments=arguments)
        self.api_db.write(self._own, record, ctxt)
        made = kind(self.world, record, ctxt)
        self.cell.db.write(moves.begin, made.ctxt, self.server, order)
        return made

    def _own(self, connection, record, ctxt):
        """The saga is ours; it does not keep the server from being in the next one."""
        sagas.create(
            connection,
            ctxt,
            uuid=record.uuid,
            kind='any',
            instance_uuid=record.instance_uuid,
            arguments={},
        )
        values = {'epoch': record.epoch, 'active_for': None}
        rows.change(connection, sagas.TABLE, values, uuid=record.uuid)

    def resize(self, **arguments):
        arguments |= {'flavor': SMALL, 'ignore_hosts': [SOURCE]}
        return self.make(resize.Resize, transitions.RESIZE, 'resize', **arguments)

    def again(self, made, data):
        """The same saga as who takes it over makes it. data: what the journal has"""
        record = types.SimpleNamespace(
            kind=made.kind,
            uuid=made.uuid,
            instance_uuid=self.server,
            epoch=2,
            arguments=made.plain_arguments,
            data=data,
            error=None,
        )
        return type(made)(self.world, record, made.ctxt)

    def live_migration(self):
        made = self.make(
            live_migrate.LiveMigration,
            transitions.LIVE_MIGRATE,
            'live-migration',
            synchronous=False,
            forced=False,
            block_migration=None,
        )
        values = {'migration_type': 'live-migration', 'status': 'accepted', 'data': {}}
        values |= {'source_compute': SOURCE, 'source_node': SOURCE}
        values |= {'uuid': made.uuid, 'instance_uuid': self.server}
        self.cell.db.write(migrations.create, values)
        return made

    def resized(self):
        """The uuid of a migration that waits for its end."""
        made = self.resize()
        self.do(made, made.steps())
        return made.uuid

    def revert(self):
        return self.make(
            revert.RevertResize,
            transitions.REVERT_RESIZE,
            'revertResize',
            migration=self.resized(),
            status='reverting',
        )

    def do(self, made, steps, *, times=1):
        for step in steps:
            for _time in range(times):
                made.repeated = times > 1
                result = step.do()
                if step.transaction:
                    result = self.api_db.write(step.transaction)
                if result is not None and not isinstance(result, saga.Skipped):
                    made.results.keep(step.id, result)

    def undo(self, made, steps):
        made.error = {'type': 'X', 'message': 'because', 'kind': 'internal', 'traceback': 't'}
        for step in reversed(steps):
            for _time in range(2):
                if step.undo is not None:
                    step.undo()

    def before_pivot(self, steps):
        return steps[: next(i for i, step in enumerate(steps) if step.pivot)]

    def status(self, uuid):
        return self.cell.db.read(migrations.get, uuid).status
