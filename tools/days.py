"""python -m tools.days [--servers N]: time a day of the clock with many resized servers.

Starts a cloud in a process of its own that confirms resizes after an hour, resizes servers, and
advances its clock by 24 hours. Prints how long the advance took. Exits with 1 if a resize is not
confirmed, or if the advance took longer than --most-s.
"""

import argparse
import math
import sys
import typing

from nova_lite import runtime
from nova_lite.lab.launcher import client_connections
from nova_lite.lab.launcher import control_client
from tools import detached_cloud

WAIT_S, ADVANCE_S = 600, 3600
DAY_S = 24 * 3600
SIZE = ('--hosts', '12', '--profile', 'instant')
OPTIONS = ('DEFAULT.resize_confirm_window=3600', 'quota.instances=-1', 'quota.cores=-1')
LOOK_S = 0.2


def wait(compute: typing.Any, count: int, status: str) -> None:
    """Wait until `count` servers have this status. compute: the proxy of openstacksdk"""
    deadline = runtime.monotonic() + WAIT_S
    while (found := len(list(compute.servers(details=False, status=status)))) < count:
        if runtime.monotonic() > deadline:
            raise SystemExit(f'{found} of {count} servers are {status} after {WAIT_S} s')
        runtime.sleep(LOOK_S)


def measure(directory: str, count: int, most_s: float) -> bool:
    """Resize servers and let a day pass. Return whether all are confirmed in time."""
    compute = client_connections.connect(detached_cloud.services(directory).clouds_yaml).compute
    flavors = {each.name: each.id for each in compute.flavors()}
    image = next(each for each in compute.images() if each.name == 'cirros')
    servers = [
        compute.create_server(
            name=f'server-{number}',
            flavor_id=flavors['m1.nano'],
            image_id=image.id,
            networks='none',
        )
        for number in range(count)
    ]
    wait(compute, count, 'ACTIVE')
    for server in servers:
        compute.resize_server(server, flavors['m1.micro'])
    wait(compute, count, 'VERIFY_RESIZE')
    began = runtime.monotonic()
    control_client.Client(directory, timeout_s=ADVANCE_S).post(
        'clock', action='advance', seconds=DAY_S
    )
    lasted = runtime.monotonic() - began
    confirmed = len(list(compute.servers(details=False, status='ACTIVE')))
    print(f'a day with {count} servers in VERIFY_RESIZE: {lasted:.1f} s, {confirmed} confirmed')
    return confirmed == count and lasted <= most_s


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--servers', type=int, default=200)
    parser.add_argument('--most-s', type=float, default=math.inf, help='the most seconds')
    args = parser.parse_args()
    options = [part for option in OPTIONS for part in ('--set', option)]
    with detached_cloud.started(*SIZE, *options) as directory:
        return 0 if measure(directory, args.servers, args.most_s) else 1


if __name__ == '__main__':
    sys.exit(main())
