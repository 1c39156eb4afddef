"""CPU that a call over RabbitMQ takes of its caller, its server and the broker.

    python -m tools.message_costs --calls 500 --pause 0.02

Starts a private RabbitMQ and a process that answers calls. Each call carries an Instance and
returns it. Pauses between the calls matter: a process that waits for messages may poll more
often after a message, and caches of the processor are cold after a pause. Figures are milliseconds
of CPU for each call.
"""

import argparse
from collections.abc import Mapping
from collections.abc import Sequence
import os
import subprocess
import sys

from nova_lite import conf
from nova_lite import context
from nova_lite import rpc
from nova_lite import runtime
from nova_lite.lab.bench import results
from nova_lite.objects import flavor
from nova_lite.objects import instance
from nova_lite.rpc import transport
from tests.fixtures import rabbit

UUID = '6ddb1ba3-4bf2-4ae6-a6a8-0b6a2c1a4f60'
HOST = 'host-1'
FLAVOR = {'name': 'm1.small', 'flavorid': '2', 'memory_mb': 2048, 'vcpus': 1, 'extra_specs': {}}
START_S = 60


class EchoAPI(rpc.Interface):
    """Returns what it was sent."""

    topic, version = 'echo', '1.0'
    server_argument = 'host'

    @rpc.call(since='1.0', timeout=60)
    def echo(  # type: ignore[empty-body]  # a declaration
        self, ctxt: context.RequestContext, host: str, instance: instance.Instance
    ) -> instance.Instance:
        """Return the Instance."""


class Echo:
    """The manager of EchoAPI."""

    def echo(
        self, ctxt: context.RequestContext, host: str, instance: instance.Instance
    ) -> instance.Instance:
        return instance


def serve(url: str) -> None:
    """Answer calls until the input ends."""
    server = EchoAPI.server(transport.open_bus(conf.make_conf(files=[]), url), HOST, Echo())
    server.start(override_pool_size=4)
    print('ready', flush=True)
    sys.stdin.read()
    server.stop()
    server.wait()


def payload() -> instance.Instance:
    """Return an Instance such as calls to computes carry."""
    return instance.Instance(
        id=1,
        uuid=UUID,
        project_id='project',
        user_id='user',
        display_name='server',
        host=HOST,
        node=HOST,
        vm_state='active',
        task_state='migrating',
        flavor=flavor.Flavor(**FLAVOR),
        metadata={'key': 'value'},
        system_metadata={'image_min_ram': '0', 'image_min_disk': '0'},
        security_groups=['default'],
        network_info=[],
    )


def measure(client: EchoAPI, pids: Mapping[str, int], calls: int, pause: float) -> dict[str, float]:
    """Return {name: milliseconds of CPU for each call}. pids: {name: process id}"""
    ctxt, carried = context.admin(), payload()
    before = {name: results.cpu_seconds(pid) for name, pid in pids.items()}
    for _turn in range(calls):
        client.echo(ctxt, host=HOST, instance=carried)
        runtime.sleep(pause)
    after = {name: results.cpu_seconds(pid) for name, pid in pids.items()}
    return {name: 1000 * (after[name] - before[name]) / calls for name in pids}


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--calls', type=int, default=500)
    parser.add_argument('--pause', type=float, default=0.02, help='seconds between calls')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--serve', metavar='URL', help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.serve:
        serve(args.serve)
        return
    with rabbit.Rabbit() as broker:
        command = [sys.executable, '-m', 'tools.message_costs', '--serve', broker.url]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            assert server.stdin is not None and server.stdout is not None
            server.stdout.readline()
            bus = transport.open_bus(conf.make_conf(files=[]), broker.url)
            client = EchoAPI(bus)
            pids = {'caller': os.getpid(), 'server': server.pid, 'broker': broker.daemon.pid}
            for _round in range(args.rounds):
                found = measure(client, pids, args.calls, args.pause)
                parts = ', '.join(f'{who} {ms:.2f}' for who, ms in found.items())
                print(f'{sum(found.values()):.2f} ms of CPU a call: {parts}', flush=True)
            bus.cleanup()
            server.stdin.close()


if __name__ == '__main__':
    main()
