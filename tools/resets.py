"""python -m tools.resets [--resets N] [--clients N]: time resets of a cloud under load.

Starts a cloud in a process of its own, boots servers in it as fast as possible and resets the cloud
meanwhile. Prints the times of the resets, and the resources of the process. Both halves of the
resets are followed by a rest without the load: under load, pools of threads and connections grow
and shrink. Exits with 1 if a server from before the last reset is found, if the median is above
--most-ms, or if the second half has left behind a thread or file for each twentieth reset, or a
tenth of the memory.
"""

import argparse
import dataclasses
import math
import os
import statistics
import sys

import keystoneauth1.exceptions
import openstack

from nova_lite import runtime
from nova_lite.lab.launcher import client_connections
from nova_lite.lab.launcher import control_client
from tools import detached_cloud

# Seconds that old daemons need to stop.
REST_S = 5
LOOK_S = 0.05
# Threads and files by which two looks at rest may differ. One of LEAK resets may leave a thread or
# file behind without being noticed.
NOISE, LEAK = 20, 20
LEVEL = 1.1


@dataclasses.dataclass(frozen=True)
class Held:
    """Resources of a process. memory_mb: resident"""

    threads: int
    files: int
    memory_mb: int

    @classmethod
    def of(cls, pid: int) -> 'Held':
        """Return the resources of a process now."""
        with open(f'/proc/{pid}/status') as file:
            facts = dict(line.split(':', 1) for line in file)
        files = len(os.listdir(f'/proc/{pid}/fd'))
        return cls(int(facts['Threads']), files, int(facts['VmRSS'].split()[0]) // 1024)

    def exceeds(self, before: 'Held', resets: int) -> list[str]:
        """Return the names of resources that resets left behind. before, self: at rest"""
        few = max(NOISE, resets // LEAK)
        limits = {
            'threads': before.threads + few,
            'files': before.files + few,
            'memory_mb': LEVEL * before.memory_mb,
        }
        return [name for name, most in limits.items() if getattr(self, name) > most]


def boot(path: str, ended: runtime.Event, counts: dict[str, int]) -> None:
    """Boot servers until `ended` is set. counts: of clients, accepted and refused servers"""
    compute = client_connections.connect(path, 'nova-lite-demo', compute_api_version='2.1').compute
    flavor = next(each for each in compute.flavors() if each.name == 'm1.tiny')
    image = next(iter(compute.get('/images', microversion='2.1').json()['images']))
    counts['clients'] += 1
    while not ended.is_set():
        try:
            compute.create_server(name='loaded', flavor_id=flavor.id, image_id=image['id'])
            counts['accepted'] += 1
        except (openstack.exceptions.SDKException, keystoneauth1.exceptions.ClientException):
            counts['refused'] += 1


def reset_under_load(directory: str, resets: int, clients: int) -> list[float]:
    """Reset the cloud while clients boot servers, and once after them. Return the seconds."""
    found, control = detached_cloud.services(directory), control_client.Client(directory)
    ended, counts = runtime.Event(), {'clients': 0, 'accepted': 0, 'refused': 0}
    threads = [runtime.spawn(boot, found.clouds_yaml, ended, counts) for _client in range(clients)]
    while counts['clients'] < clients:
        runtime.sleep(LOOK_S)
    times = [control.post('reset')['seconds'] for _reset in range(resets)]
    print(f'after {resets} resets under load: {Held.of(found.pid)}', flush=True)
    ended.set()
    for thread in threads:
        thread.join()
    print(f'servers {counts}')
    return [*times, control.post('reset')['seconds']]


def measure(directory: str, resets: int, clients: int, most_ms: float) -> bool:
    """Run the load and the resets. Return whether no server and no resource is left behind."""
    found = detached_cloud.services(directory)
    times: list[float] = []
    rests: list[Held] = []
    for number in (resets // 2, resets - resets // 2):
        times += reset_under_load(directory, number, clients)
        runtime.sleep(REST_S)
        rests.append(Held.of(found.pid))
        print(f'at rest: {rests[-1]}', flush=True)
    median_ms = statistics.median(times) * 1000
    print(f'reset: median {median_ms:.0f} ms, longest {max(times) * 1000:.0f} ms')
    left = list(client_connections.connect(found.clouds_yaml).compute.servers(all_projects=True))
    print(f'{len(left)} servers are left')
    middle, last = rests
    behind = last.exceeds(middle, resets - resets // 2)
    print(f'left behind by the second half: {", ".join(behind) or "nothing"}')
    return not left and not behind and median_ms <= most_ms


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--resets', type=int, default=100)
    parser.add_argument('--clients', type=int, default=2)
    parser.add_argument('--most-ms', type=float, default=math.inf, help='the most for the median')
    args = parser.parse_args()
    with detached_cloud.started() as directory:
        return 0 if measure(directory, args.resets, args.clients, args.most_ms) else 1


if __name__ == '__main__':
    sys.exit(main())
