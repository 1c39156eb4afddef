"""The compute daemon. It imports nothing that uses a database."""

from collections.abc import Iterable

from oslo_config import cfg

from nova_lite.clients import neighbours as neighbours_module
from nova_lite.compute import hardware
from nova_lite.compute import manager as compute_manager
from nova_lite.daemons import lifetime
from nova_lite.daemons import process
from nova_lite.daemons.monitoring import checks
from nova_lite.daemons.monitoring import exporters
from nova_lite.rpc import transport
from nova_lite.rpc.methods import compute as compute_rpc
from nova_lite.rpc.methods import conductor as conductor_rpc
from nova_lite.virt import drivers


def refuse_databases(conf: cfg.ConfigOpts, prog: str) -> None:
    """Exit if `conf` names a database: an attacker on a host must not find its credentials."""
    for group in ('database', 'api_database'):
        if conf[group].connection:
            place = conf.get_location('connection', group=group)
            process.refuse(
                prog,
                f'[{group}]connection is set ({place and place.detail}). '
                'Computes have no access to databases: they report to the conductor of '
                'their cell. Remove it from the files that this daemon reads.',
            )


def make(
    conf: cfg.ConfigOpts, *, reported: bool = False
) -> lifetime.Daemon[compute_manager.ComputeManager]:
    """Return the daemon of a compute process with all its hosts. reported: see ComputeManager"""
    hosts = expand(conf.compute.hosts) or [conf.host]
    try:
        driver = drivers.load(conf, hosts)
        divided = hardware.Hardware(driver, conf)
        for node in driver.list_nodes():
            divided.check(node)
    except (ValueError, *hardware.INVALID) as error:
        process.refuse(conf.prog, error)
    bus = transport.open_bus(conf, conf.transport_url)
    neighbours = neighbours_module.clients(conf)
    manager = compute_manager.ComputeManager(
        conf,
        hosts=hosts,
        driver=driver,
        conductor=conductor_rpc.ConductorAPI(bus),
        neighbours=neighbours,
        reported=reported,
    )
    return lifetime.Daemon(
        f'compute {conf.host}',
        manager,
        threads=conf.rpc_threads,
        closing=[driver.close, bus.cleanup],
        reloading=[lambda: driver.reload(conf)],
        servers=[compute_rpc.ComputeAPI.server(bus, hosts, manager)],
    ).watch(
        {
            'bus': checks.bus(compute_rpc.ComputeAPI(bus), hosts[0]),
            'conductor': checks.bus(conductor_rpc.ConductorAPI(bus)),
            'placement': checks.placement(neighbours.placement),
        },
        exporters={node: exporters.Exporters(driver, node) for node in driver.list_nodes()},
    )


def expand(patterns: Iterable[str]) -> list[str]:
    """Return host names. NAME[1-20] in `patterns` stands for NAME1 to NAME20."""
    names: list[str] = []
    for pattern in patterns:
        if not pattern.endswith(']') or '[' not in pattern:
            names.append(pattern)
            continue
        stem, _, numbers = pattern[:-1].partition('[')
        first, _, last = numbers.partition('-')
        names.extend(f'{stem}{number}' for number in range(int(first), int(last) + 1))
    return names
