"""Cache images on the hosts of an aggregate before servers need them.

The hosts of all cells are asked one after the other. Progress is not stored: if the
super-conductor is killed, the rest is not cached, and hosts fetch images when needed.
Source: reference/nova/api-surface 2.5, reference/nova/cells-and-rpc 4.
"""

from collections.abc import Sequence
import typing

from oslo_config import cfg
from oslo_log import log

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.db.api import aggregates
from nova_lite.db.cell import services
from nova_lite.lifecycle import world as worlds
from nova_lite.notify import watch

LOG = log.getLogger(__name__)

# The status with which hosts report an image that is in their cache now.
CACHED = ('cached', 'existing')
# Timeout in seconds for one host.
HOST_TIMEOUT_S = 1800
EVENT = 'aggregate.cache_images'


class World(worlds.World, typing.Protocol):
    """Databases, clients, options and the receiver of notifications."""

    @property
    def conf(self) -> cfg.ConfigOpts: ...

    @property
    def notices(self) -> watch.Notices | None: ...


def run(
    world: World,
    ctxt: context.RequestContext,
    aggregate_id: int,
    image_ids: Sequence[str],
    stopping: runtime.Event,
) -> None:
    """Call the hosts of the aggregate, and notify of progress.

    stopping: Event that ends the work
    """
    try:
        aggregate = world.api_db.read(aggregates.get, aggregate_id)
        _ask_all(world, ctxt, aggregate, image_ids, stopping)
    except exception.NovaLiteError as error:
        LOG.warning('Cannot cache images %s: %s', image_ids, error)


def _ask_all(
    world: World,
    ctxt: context.RequestContext,
    aggregate: aggregates.Aggregate,
    image_ids: Sequence[str],
    stopping: runtime.Event,
) -> None:
    whole = {**vars(aggregate), 'hosts': list(aggregate.hosts)}
    _tell(world, ctxt, EVENT, values=whole, phase='start')
    for index, host in enumerate(aggregate.hosts, start=1):
        if stopping.is_set():
            return
        found = _ask(world, ctxt, host, image_ids, stopping)
        failed = [image_id for image_id in image_ids if found.get(image_id) not in CACHED]
        if failed:
            LOG.warning('Host %s did not cache images %s', host, failed)
        values = {
            **{name: whole[name] for name in ('id', 'uuid', 'name')},
            'host': host,
            'images_cached': [image_id for image_id in image_ids if image_id not in failed],
            'images_failed': failed,
            'index': index,
            'total': len(aggregate.hosts),
        }
        _tell(world, ctxt, f'{EVENT}.progress', values=values)
    _tell(world, ctxt, EVENT, values=whole, phase='end')


def _ask(
    world: World,
    ctxt: context.RequestContext,
    host: str,
    image_ids: Sequence[str],
    stopping: runtime.Event,
) -> dict[str, typing.Any]:
    """Return {image id: status that the host reports}, without images that it does not report."""
    found: dict[str, typing.Any] = {}
    missing = list(image_ids)
    deadline = runtime.monotonic() + HOST_TIMEOUT_S
    while missing and runtime.monotonic() < deadline:
        said = _ask_once(world, ctxt, host, missing)
        waits = {image_id: each for image_id, each in said.items() if isinstance(each, dict)}
        found |= {image_id: each for image_id, each in said.items() if image_id not in waits}
        missing = list(waits)
        if waits and runtime.wait(stopping, min(each['pending'] for each in waits.values())):
            break
    return found


def _ask_once(
    world: World, ctxt: context.RequestContext, host: str, image_ids: list[str]
) -> dict[str, typing.Any]:
    """Return the reply of the host; empty if the call fails."""
    try:
        cell = world.cells.of_host(host)
        service = cell.db.read(services.find, host)
        if service is None or not services.is_up(service, world.conf.service_down_time):
            raise exception.ServiceIsDown(binary=services.COMPUTE, host=host)
        return world.compute(cell).cache_images(ctxt, host=host, image_ids=image_ids)
    except exception.NovaLiteError as error:
        LOG.warning('Cannot request host %s to cache images: %s', host, error)
        return {}


def _tell(world: World, ctxt: context.RequestContext, what: str, **facts: typing.Any) -> None:
    if world.notices is not None:
        world.notices.tell(ctxt, what, **facts)
