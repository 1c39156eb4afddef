"""Scene: servers move between cells that share neither bus nor database."""

import datetime
import os

from openstack.compute.v2 import server as server_module

from nova_lite import conf as conf_module
from nova_lite import runtime
from nova_lite.daemons import super_conductor
from nova_lite.db import rows
from nova_lite.db import transactions
from nova_lite.db.api import sagas
from nova_lite.lab.demo import presenter as presenters
from nova_lite.lab.timeline import story as story_module
from nova_lite.lab.timeline import terminal
from nova_lite.saga import journal
from nova_lite.superconductor import manager as super_module

CONDUCTOR, SECOND = 'super-conductor', 'super-conductor-2'
SOURCE, DEST = 'cell1', 'cell2'
MOVE, REVERT = 'cross-cell-migrate', 'cross-cell-revert'
# The super-conductor of the third move is killed during the step after this one.
BEFORE = 'create-snapshot-image'
LOOK_S = 0.005


def moves(presenter: presenters.Presenter) -> None:
    """Confirm one move, revert another, and kill the super-conductor during a third move."""
    presenter.title('Cross-cell resize: the disk as an image, with ports and volumes')
    _confirmed(presenter)
    _reverted(presenter)
    presenter.title('A super-conductor is killed during a move, and another one takes over')
    _killed(presenter)


def _confirmed(presenter: presenters.Presenter) -> None:
    server = _boot(presenter, 'emigrant')
    before = _addresses(server)
    moved = _move(presenter, server)
    presenter.check(
        _addresses(moved) == before, f'the server has the same addresses: {", ".join(before)}'
    )
    presenter.check(len(moved.attached_volumes) == 1, 'the server has its volume')
    _tell(presenter, server, MOVE, f'{server.name} moves from {SOURCE} to {DEST}')
    presenter.admin.compute.confirm_server_resize(server)
    ended = presenter.wait(server)
    presenter.check(
        ended.compute_host == moved.compute_host, f'confirmed on {presenter.where(ended)}'
    )
    presenter.delete([server])


def _reverted(presenter: presenters.Presenter) -> None:
    server = _boot(presenter, 'visitor')
    before = _addresses(server)
    _move(presenter, server)
    presenter.admin.compute.revert_server_resize(server)
    ended = presenter.wait(server)
    presenter.check(
        ended.compute_host == server.compute_host and _addresses(ended) == before,
        f'reverted: the server is on {presenter.where(ended)} again',
    )
    _tell(presenter, server, REVERT, f'{server.name} returns to {SOURCE}')
    presenter.delete([server])


# ---- the kill ----


def _killed(presenter: presenters.Presenter) -> None:
    server = _boot(presenter, 'survivor')
    _start_second(presenter)
    api_db = _api_db(presenter)
    presenter.admin.compute.migrate_server(server, host=f'{DEST}-host1')
    row = _wait_until_under_way(api_db, server)
    daemon = SECOND if row.owner == _second_name(presenter) else CONDUCTOR
    killed_at = _kill(presenter, daemon, row.owner)
    row = _saga(api_db, server, MOVE)
    presenter.say(
        f'{row.owner} is dead. State of the saga in the journal: {row.state}, after "{row.step}"'
    )
    presenter.check(row.state == journal.RUNNING, 'it was killed before it could release its lease')
    presenter.say('the saga waits until the lease of the dead super-conductor expires ...')
    _arrived(presenter, server)
    story = _tell(
        presenter,
        server,
        MOVE,
        f'{server.name}: its super-conductor is killed on the way to {DEST}',
        killed_at=killed_at,
    )
    presenter.check(
        len(story.owners) == 2, f'the saga was run by {", then by ".join(story.owners)}'
    )
    presenter.admin.compute.confirm_server_resize(server)
    presenter.wait(server)
    presenter.delete([server])
    if daemon == CONDUCTOR:
        presenter.cloud.start_daemon(CONDUCTOR, super_conductor.make, 'control')
        presenter.cloud.stop_daemon(SECOND)


def _start_second(presenter: presenters.Presenter) -> None:
    """Start a second super-conductor."""
    path = os.path.join(presenter.cloud.places.root, 'etc', 'control.conf')
    conf = conf_module.make_conf(files=[path])
    conf.set_override('host', _second_name(presenter))
    presenter.cloud.confs[SECOND] = conf
    presenter.cloud.start_daemon(SECOND, super_conductor.make)
    presenter.say(f'{_second_name(presenter)} joins {presenter.cloud.confs["control"].host}')


def _second_name(presenter: presenters.Presenter) -> str:
    return f'{presenter.cloud.confs["control"].host}-2'


def _wait_until_under_way(api_db: transactions.Database, server: server_module.Server) -> rows.Row:
    """Wait until the saga is in the step in which its owner is to be killed. Return its row."""
    deadline = runtime.monotonic() + presenters.WAIT_S
    while True:
        row = _saga(api_db, server, MOVE)
        reached = {event.step for event in api_db.read(sagas.events, row.uuid)}
        if BEFORE in reached and row.state != journal.PARKED or runtime.monotonic() > deadline:
            return row
        runtime.sleep(LOOK_S)


def _kill(presenter: presenters.Presenter, daemon: str, owner: str) -> datetime.datetime:
    """End a super-conductor as kill -9 does: nothing is recorded, and its leases stay.

    owner: the name of the super-conductor in the journal. Return the time.
    """
    for each in presenter.cloud.managers(super_module.SuperConductor):
        if each.engine.owner == owner:
            each.engine.abandon()
    killed_at = runtime.naive_now()
    presenter.cloud.stop_daemon(daemon)
    return killed_at


# ---- common parts ----


def _boot(presenter: presenters.Presenter, name: str) -> server_module.Server:
    """Boot a server with a port and a volume in the first cell. Return the server."""
    network = next(iter(presenter.admin.network.networks(is_router_external=False)))
    image = presenter.admin.image.find_image('cirros', ignore_missing=False)
    disk = {'source_type': 'image', 'destination_type': 'local', 'uuid': image.id}
    volume = {'source_type': 'blank', 'destination_type': 'volume', 'volume_size': 1}
    server = presenter.wait(
        presenter.boot(
            name,
            networks=[{'uuid': network.id}],
            availability_zone=f'nova:{SOURCE}-host1',
            block_device_mapping=[
                {**disk, 'boot_index': 0},
                {**volume, 'boot_index': -1, 'delete_on_termination': True},
            ],
        )
    )
    presenter.say(f'{server.name}: {server.status} on {presenter.where(server)}')
    return server


def _move(presenter: presenters.Presenter, server: server_module.Server) -> server_module.Server:
    presenter.admin.compute.migrate_server(server, host=f'{DEST}-host1')
    return _arrived(presenter, server)


def _arrived(presenter: presenters.Presenter, server: server_module.Server) -> server_module.Server:
    moved = presenter.wait(server, 'VERIFY_RESIZE')
    presenter.check(
        moved.status == 'VERIFY_RESIZE' and moved.compute_host == f'{DEST}-host1',
        f'{server.name}: {moved.status} on {presenter.where(moved)}, the same uuid',
    )
    return moved


def _addresses(server: server_module.Server) -> list[str]:
    return [each['addr'] for found in server.addresses.values() for each in found]


def _api_db(presenter: presenters.Presenter) -> transactions.Database:
    """Return the API database of a running super-conductor."""
    return presenter.cloud.managers(super_module.SuperConductor)[0].world.api_db


def _saga(api_db: transactions.Database, server: server_module.Server, kind: str) -> rows.Row:
    """Return the row of a saga of a server in the journal."""
    found = api_db.read(sagas.every, instance_uuid=server.id)
    return next(row for row in found if row.kind == kind)


def _tell(
    presenter: presenters.Presenter,
    server: server_module.Server,
    kind: str,
    title: str,
    *,
    killed_at: datetime.datetime | None = None,
) -> story_module.Story:
    """Print the timeline of a saga once it has ended, and keep it for the page. Return it."""
    api_db = _api_db(presenter)
    presenter.wait_for(lambda: _saga(api_db, server, kind).active_for is None)
    uuid = _saga(api_db, server, kind).uuid
    story = api_db.read(story_module.read, uuid, title=title, killed_at=killed_at)
    presenter.console.print(terminal.draw(story, presenter.console.width))
    presenter.stories.append(story)
    return story
