"""Scenarios that can be measured. Each leaves the cloud as it found it."""

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.console import durations
from nova_lite.terminal import progress_display


def boot(cloud, args, measured):
    """Create servers, `concurrency` requests at a time, until all are ACTIVE; delete them."""
    body = cloud.server_body('bench', args)
    began = {}

    def create(_number):
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


def _settled(cloud, args, measured, *, servers):
    """Yield (id, seconds of `monotonic`) of servers that become ACTIVE."""
    try:
        yield from cloud.settle(dict.fromkeys(servers, 'ACTIVE'), args.poll)
    except exception.NovaLiteError as error:
        measured.failures.append(str(error))


def _delete(cloud, servers):
    with progress_display.Count('deleted', len(servers)) as count:
        for uuid in servers:
            cloud.call('DELETE', f'/servers/{uuid}')
            count.add()


def list_(cloud, args, measured):
    """List all servers in detail, `concurrency` clients at a time; counts servers shown."""

    def ask():
        return len(cloud.call('GET', '/servers/detail?limit=1000')['servers'])

    with progress_display.Count('lists', args.count) as count:
        measured.begin()
        shown = _repeat(args, measured, ask, what='GET /servers/detail', count=count)
        measured.end(max(1, sum(shown)))


def show(cloud, args, measured):
    """Show one server, `concurrency` clients at a time, as clients do that poll it."""
    uuid = cloud.call('POST', '/servers', cloud.server_body('bench', args))['server']['id']
    for _server in cloud.settle({uuid: 'ACTIVE'}, args.poll):
        pass

    def ask():
        cloud.call('GET', f'/servers/{uuid}')

    with progress_display.Count('shown', args.count) as count:
        measured.begin()
        _repeat(args, measured, ask, what='GET /servers/ID', count=count)
        measured.end(args.count)
    cloud.call('DELETE', f'/servers/{uuid}')


def _repeat(args, measured, ask, *, what, count):
    """Return what `ask()` returns each time, timed as `what`: `concurrency` at a time."""

    def one(_number):
        start = runtime.monotonic()
        answer = ask()
        measured.add(what, runtime.monotonic() - start)
        count.add()
        return answer

    with runtime.executor(args.concurrency) as pool:
        return list(pool.map(one, range(args.count)))


SCENARIOS = {'boot': boot, 'list': list_, 'show': show}


def add_options(parser):
    """Add the options of all benchmarks."""
    parser.add_argument(
        '--count',
        type=int,
        default=50,
        metavar='N',
        help='operations to measure (default: %(default)s)',
    )
    parser.add_argument(
        '--concurrency',
        type=int,
        default=16,
        metavar='N',
        help='operations in progress at the same time (default: %(default)s)',
    )
    parser.add_argument('--flavor', default='m1.tiny', help='flavor (default: %(default)s)')
    parser.add_argument('--image', default='cirros', help='image (default: %(default)s)')
    parser.add_argument(
        '--poll',
        type=durations.option,
        default=0.02,
        metavar='SECONDS',
        help='interval of polling the status of a server (default: %(default)s)',
    )
