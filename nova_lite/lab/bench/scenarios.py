"""Scenarios of benchmarks. Each scenario deletes the servers that it creates."""

import argparse
from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
import typing

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.bench import client
from nova_lite.lab.bench import results
from nova_lite.lab.console import durations
from nova_lite.terminal import progress_display

T = typing.TypeVar('T')


def boot(cloud: client.Client, args: argparse.Namespace, measured: results.Measured) -> None:
    """Create servers, `concurrency` at a time, wait until all are ACTIVE, and delete them."""
    body = _body(cloud, args)
    began: dict[str, float] = {}

    def create(_number: int) -> None:
        start = runtime.monotonic()
        server = cloud.call('POST', '/servers', body)['server']
        measured.add('POST', runtime.monotonic() - start)
        began[server['id']] = start

    with cloud.without_quotas():
        try:
            with progress_display.Count('ACTIVE', args.count) as count:
                measured.begin()
                with runtime.executor(args.concurrency) as pool:
                    list(pool.map(create, range(args.count)))
                for uuid, now in _settled(cloud, args, measured, servers=began):
                    measured.add('POST to ACTIVE', now - began[uuid])
                    count.add()
                measured.end(args.count)
        finally:
            _delete(cloud, began)


def _body(cloud: client.Client, args: argparse.Namespace) -> client.Json:
    return cloud.server_body('bench', image=args.image, flavor=args.flavor)


def _settled(
    cloud: client.Client,
    args: argparse.Namespace,
    measured: results.Measured,
    *,
    servers: Iterable[str],
) -> Iterator[tuple[str, float]]:
    """Yield (server id, time of `monotonic`) as servers become ACTIVE; record a failure."""
    try:
        yield from cloud.settle(dict.fromkeys(servers, 'ACTIVE'), args.poll)
    except exception.NovaLiteError as error:
        measured.failures.append(str(error))


def _delete(cloud: client.Client, servers: Collection[str]) -> None:
    with progress_display.Count('deleted', len(servers)) as count:
        for uuid in servers:
            cloud.call('DELETE', f'/servers/{uuid}')
            count.add()


def delete(cloud: client.Client, args: argparse.Namespace, measured: results.Measured) -> None:
    """Boot servers, unmeasured. Delete them, `concurrency` at a time, until no list shows them."""
    body = _body(cloud, args)
    servers: list[str] = []

    def create(_number: int) -> None:
        servers.append(cloud.call('POST', '/servers', body)['server']['id'])

    def ask(uuid: str) -> None:
        start = runtime.monotonic()
        cloud.call('DELETE', f'/servers/{uuid}')
        measured.add('DELETE', runtime.monotonic() - start)

    with cloud.without_quotas():
        try:
            # The end of this pool waits for creations that are still in progress after Ctrl-C.
            with runtime.executor(args.concurrency) as pool:
                list(pool.map(create, range(args.count)))
            for _server in _settled(cloud, args, measured, servers=servers):
                pass
        finally:
            with (
                progress_display.Count('deleted', len(servers)) as count,
                runtime.executor(args.concurrency) as pool,
            ):
                measured.begin()
                list(pool.map(ask, servers))
                for _gone in cloud.gone(servers, args.poll):
                    count.add()
                measured.end(len(servers))


def list_(cloud: client.Client, args: argparse.Namespace, measured: results.Measured) -> None:
    """List all servers in detail, `concurrency` lists at a time. Count the shown servers."""

    def ask() -> int:
        return len(cloud.call('GET', '/servers/detail?limit=1000')['servers'])

    with progress_display.Count('lists', args.count) as count:
        measured.begin()
        shown = _repeat(args, measured, ask, what='GET /servers/detail', count=count)
        measured.end(max(1, sum(shown)))


def show(cloud: client.Client, args: argparse.Namespace, measured: results.Measured) -> None:
    """Show one server, `concurrency` requests at a time, as polling clients do."""
    uuid = cloud.call('POST', '/servers', _body(cloud, args))['server']['id']

    def ask() -> None:
        cloud.call('GET', f'/servers/{uuid}')

    try:
        for _server in cloud.settle({uuid: 'ACTIVE'}, args.poll):
            pass
        with progress_display.Count('shown', args.count) as count:
            measured.begin()
            _repeat(args, measured, ask, what='GET /servers/ID', count=count)
            measured.end(args.count)
    finally:
        cloud.call('DELETE', f'/servers/{uuid}')


def _repeat(
    args: argparse.Namespace,
    measured: results.Measured,
    ask: Callable[[], T],
    *,
    what: str,
    count: progress_display.Count,
) -> list[T]:
    """Call `ask` for each operation, `concurrency` at a time. Return the results."""

    def one(_number: int) -> T:
        start = runtime.monotonic()
        answer = ask()
        measured.add(what, runtime.monotonic() - start)
        count.add()
        return answer

    with runtime.executor(args.concurrency) as pool:
        return list(pool.map(one, range(args.count)))


SCENARIOS = {'boot': boot, 'delete': delete, 'list': list_, 'show': show}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of all benchmarks."""
    parser.add_argument(
        '--count',
        type=int,
        default=50,
        metavar='N',
        help='number of operations to measure (default: %(default)s)',
    )
    parser.add_argument(
        '--concurrency',
        type=int,
        default=16,
        metavar='N',
        help='number of operations in progress at the same time (default: %(default)s)',
    )
    parser.add_argument(
        '--flavor', default='m1.tiny', help='flavor of the servers (default: %(default)s)'
    )
    parser.add_argument(
        '--image', default='cirros', help='image of the servers (default: %(default)s)'
    )
    parser.add_argument(
        '--poll',
        type=durations.option,
        default=0.02,
        metavar='SECONDS',
        help='seconds between two polls of the status of servers (default: %(default)s)',
    )
