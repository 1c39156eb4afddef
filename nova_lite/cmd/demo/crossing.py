"""Scene: servers move between cells that share no bus, no database and no path."""

from rich import box
from rich import table

from nova_lite.cmd import wiring
from nova_lite.db.api import sagas

CONDUCTOR = 'super-conductor'
SOURCE, DEST = 'cell1', 'cell2'
# The third move is interrupted once it has come so far.
MIDDLE = 'stop and snapshot at source'


def cross_cell(stage):
    """One move confirmed, one reverted, one whose super-conductor stops in the middle."""
    stage.title('From cell to cell: by image, the ports and volumes with it')
    _confirmed(stage)
    _reverted(stage)
    stage.title('The super-conductor stops in the middle of a move, and starts again')
    _interrupted(stage)


def _confirmed(stage):
    server = _boot(stage, 'emigrant')
    before = _addresses(server)
    moved = _move(stage, server)
    stage.check(_addresses(moved) == before, f'with its addresses: {", ".join(before)}')
    stage.check(len(moved.attached_volumes) == 1, 'with its volume')
    stage.admin.compute.confirm_server_resize(server)
    ended = stage.wait(server)
    stage.check(ended.compute_host == moved.compute_host, f'confirmed on {stage.where(ended)}')
    _timeline(stage, server)
    stage.delete([server])


def _reverted(stage):
    server = _boot(stage, 'visitor')
    before = _addresses(server)
    _move(stage, server)
    stage.admin.compute.revert_server_resize(server)
    ended = stage.wait(server)
    stage.check(
        ended.compute_host == server.compute_host and _addresses(ended) == before,
        f'reverted: it is on {stage.where(ended)} as before',
    )
    stage.delete([server])


def _interrupted(stage):
    server = _boot(stage, 'survivor')
    stage.admin.compute.migrate_server(server, host=f'{DEST}-host1')
    journal = _api_db(stage)
    stage.wait_for(lambda: MIDDLE in _reached(journal, server))
    stage.cloud.stop_daemon(CONDUCTOR)
    row = _saga(journal, server)
    stage.say(f'stopped; the journal says: after "{row.step}", {row.state}')
    stage.cloud.start_daemon(CONDUCTOR, wiring.super_conductor, 'control')
    _arrived(stage, server)
    _timeline(stage, server)
    stage.admin.compute.confirm_server_resize(server)
    stage.wait(server)
    stage.delete([server])


def _boot(stage, name):
    """A server with a port and a volume in the first cell."""
    network = next(iter(stage.admin.network.networks(is_router_external=False)))
    image = stage.admin.image.find_image('cirros')
    disk = {'source_type': 'image', 'destination_type': 'local', 'uuid': image.id}
    volume = {'source_type': 'blank', 'destination_type': 'volume', 'volume_size': 1}
    server = stage.wait(
        stage.boot(
            name,
            networks=[{'uuid': network.id}],
            availability_zone=f'nova:{SOURCE}-host1',
            block_device_mapping=[
                {**disk, 'boot_index': 0},
                {**volume, 'boot_index': -1, 'delete_on_termination': True},
            ],
        )
    )
    stage.say(f'{server.name}: {server.status} on {stage.where(server)}')
    return server


def _move(stage, server):
    stage.admin.compute.migrate_server(server, host=f'{DEST}-host1')
    return _arrived(stage, server)


def _arrived(stage, server):
    moved = stage.wait(server, 'VERIFY_RESIZE')
    stage.check(
        moved.status == 'VERIFY_RESIZE' and moved.compute_host == f'{DEST}-host1',
        f'{server.name}: {moved.status} on {stage.where(moved)}, the same uuid',
    )
    return moved


def _addresses(server):
    return [each['addr'] for found in server.addresses.values() for each in found]


# ---- the journal ----


def _api_db(stage):
    return stage.cloud.daemons[CONDUCTOR].manager.world.api_db


def _saga(api_db, server):
    """The journal's row of the move between cells of a server."""
    found = api_db.read(sagas.every, instance_uuid=server.id)
    return next(row for row in found if row.kind == 'cross-cell-migrate')


def _reached(api_db, server):
    """Names of the steps that were at least begun."""
    return {event.step for event in api_db.read(sagas.events, _saga(api_db, server).uuid)}


def _timeline(stage, server):
    """What the journal tells of the move, with the seconds since it was asked for."""
    api_db = _api_db(stage)
    row = _saga(api_db, server)
    shown = table.Table('s', 'step', '', 'epoch', box=box.SIMPLE_HEAD)
    for event in api_db.read(sagas.events, row.uuid):
        seconds = (event.at - row.created_at).total_seconds()
        shown.add_row(f'{seconds:.2f}', event.step or '', event.what, str(event.epoch))
    stage.console.print(shown)
