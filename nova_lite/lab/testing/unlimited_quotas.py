"""No quotas for the projects of tests."""

import typing

from nova_lite.lab.testing import admin_requests

UNLIMITED = -1
SERVERS = ('instances', 'cores', 'ram', 'key_pairs', 'server_groups', 'server_group_members')
VOLUMES = ('volumes', 'snapshots', 'gigabytes')
NETWORKS = ('network', 'subnet', 'port', 'router', 'floatingip', 'security_group')
# What has defaults that can be changed: (service, limits).
WITH_DEFAULTS = (('compute', SERVERS), (admin_requests.VOLUME, VOLUMES))


def lift_defaults(admin: admin_requests.Services) -> None:
    """Limit no project of a cloud in the services that have defaults."""
    for service, names in WITH_DEFAULTS:
        body = {'quota_class_set': _lifted(names)}
        admin.call(service, 'PUT', '/os-quota-class-sets/default', body)


def lift(admin: admin_requests.Services, project_id: str, *, defaults: bool) -> None:
    """Do not limit a project. defaults: whether `lift_defaults` was called for its cloud"""
    if not defaults:
        for service, names in WITH_DEFAULTS:
            admin.call(
                service, 'PUT', f'/os-quota-sets/{project_id}', {'quota_set': _lifted(names)}
            )
    admin.call('network', 'PUT', f'/quotas/{project_id}', {'quota': _lifted(NETWORKS)})


def forget(admin: admin_requests.Services, project_id: str, *, defaults: bool) -> None:
    """Delete the quotas that `lift` has written for a project."""
    if not defaults:
        for service, _names in WITH_DEFAULTS:
            admin.delete(service, f'/os-quota-sets/{project_id}')
    admin.delete('network', f'/quotas/{project_id}')


def _lifted(names: typing.Iterable[str]) -> dict[str, int]:
    return dict.fromkeys(names, UNLIMITED)
