"""Scene: servers move between cells that share neither bus nor database."""

import os

from nova_lite import conf as conf_module
from nova_lite import runtime
from nova_lite.daemons import super_conductor
from nova_lite.db.api import sagas
from nova_lite.demo import stage as stage_module
from nova_lite.saga import journal
from nova_lite.timeline import story as story_module
from nova_lite.timeline import terminal

CONDUCTOR, SECOND = 'super-conductor', 'super-conductor-2'
SOURCE, DEST = 'cell1', 'cell2'
MOVE, REVERT = 'cross-cell-migrate', 'cross-cell-revert'
# The third move's super-conductor is killed after this step, while it is at the next.
BEFORE = 'create snapshot image'
LOOK_S = 0.005


def moves(stage):
    """Confirm one move, revert one, and kill the super-conductor during a third one."""
    stage.title('Cross-cell resize: the disk as an image, with ports and volumes')
    _confirmed(stage)
    _reverted(stage)
    stage.title('A super-conductor is killed during a move, and another one takes over')
    _killed(stage)


def _confirmed(stage):
    server = _boot(stage, 'emigrant')
    before = _addresses(server)
    moved = _move(stage, server)
    stage.check(_addresses(moved) == before, f'it has the same addresses: {", ".join(before)}')
    stage.check(len(moved.attached_volumes) == 1, 'it has its volume')
    _tell(stage, server, MOVE, f'{server.name} moves from {SOURCE} to {DEST}')
    stage.admin.compute.confirm_server_resize(server)
    ended = stage.wait(server)
    stage.check(ended.compute_host == moved.compute_host, f'confirmed on {stage.where(ended)}')
    stage.delete([server])


def _reverted(stage):
    server = _boot(stage, 'visitor')
    before = _addresses(server)
    _move(stage, server)
    stage.admin.compute.revert_server_resize(server)
    ended = stage.wait(server)
    stage.check(
        ended.compute_host == server.compute_host and _addresses(ended) == before,
        f'reverted: it is on {stage.where(ended)} again',
    )
    _tell(stage, server, REVERT, f'{server.name} returns to {SOURCE}')
    stage.delete([server])


# ---- the kill ----


def _killed(stage):
    server = _boot(stage, 'survivor')
    _start_second(stage)
    api_db = _api_db(stage)
    stage.admin.compute.migrate_server(server, host=f'{DEST}-host1')
    row = _wait_until_under_way(api_db, server)
    daemon = SECOND if row.owner == _second_name(stage) else CONDUCTOR
    killed_at = _kill(stage, daemon)
    row = _saga(api_db, server, MOVE)
    stage.say(
        f'{row.owner} is dead. State of the saga in the journal: {row.state}, after "{row.step}"'
    )
    stage.check(row.state == journal.RUNNING, 'it was killed before it could release its lease')
    stage.say('the saga waits until the lease of the dead super-conductor expires ...')
    _arrived(stage, server)
    told = _tell(
        stage,
        server,
        MOVE,
        f'{server.name}: its super-conductor is killed on the way to {DEST}',
        killed_at=killed_at,
    )
    stage.check(len(told.owners) == 2, f'it was run by {", then by ".join(told.owners)}')
    stage.admin.compute.confirm_server_resize(server)
    stage.wait(server)
    stage.delete([server])
    if daemon == CONDUCTOR:
        stage.cloud.start_daemon(CONDUCTOR, super_conductor.make, 'control')
        stage.cloud.stop_daemon(SECOND)


def _start_second(stage):
    """Another super-conductor beside the first one."""
    path = os.path.join(stage.cloud.places.root, 'etc', 'control.conf')
    conf = conf_module.make_conf(files=[path])
    conf.set_override('host', _second_name(stage))
    stage.cloud.confs[SECOND] = conf
    stage.cloud.start_daemon(SECOND, super_conductor.make)
    stage.say(f'{_second_name(stage)} joins {stage.cloud.confs["control"].host}')


def _second_name(stage):
    return f'{stage.cloud.confs["control"].host}-2'


def _wait_until_under_way(api_db, server):
    """The saga's row once it is at the step in which its owner shall die."""
    deadline = runtime.monotonic() + stage_module.WAIT_S
    while True:
        row = _saga(api_db, server, MOVE)
        reached = {event.step for event in api_db.read(sagas.events, row.uuid)}
        if BEFORE in reached and row.state != journal.PARKED or runtime.monotonic() > deadline:
            return row
        runtime.sleep(LOOK_S)


def _kill(stage, daemon):
    """End a super-conductor as kill -9 does: it notes nothing more, its leases stay. When."""
    stage.cloud.daemons[daemon].manager.engine.abandon()
    killed_at = runtime.naive_now()
    stage.cloud.stop_daemon(daemon)
    return killed_at


# ---- what all have in common ----


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


def _api_db(stage):
    """The API database, as a super-conductor that lives has it."""
    name = CONDUCTOR if CONDUCTOR in stage.cloud.daemons else SECOND
    return stage.cloud.daemons[name].manager.world.api_db


def _saga(api_db, server, kind):
    """The journal's row of a move of a server."""
    found = api_db.read(sagas.every, instance_uuid=server.id)
    return next(row for row in found if row.kind == kind)


def _tell(stage, server, kind, title, *, killed_at=None):
    """Draw a saga that has ended, and keep its story for the page."""
    api_db = _api_db(stage)
    stage.wait_for(lambda: _saga(api_db, server, kind).active_for is None)
    uuid = _saga(api_db, server, kind).uuid
    told = api_db.read(story_module.read, uuid, title=title, killed_at=killed_at)
    stage.console.print(terminal.draw(told, stage.console.width))
    stage.stories.append(told)
    return told
