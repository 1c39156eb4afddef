"""Scenes: hosts that are reserved for licensed servers, and hosts requested by name."""

import typing

from openstack.compute.v2 import server as server_module

from nova_lite import context
from nova_lite.clients import auth
from nova_lite.clients import placement
from nova_lite.lab.demo import presenter as presenters

LICENSED = 'CUSTOM_WINDOWS_LICENSED'


def licensed_aggregate(presenter: presenters.Presenter) -> None:
    """Reserve a host for servers whose images require a trait of the host."""
    presenter.title('Licensed hosts accept only licensed images')
    compute = presenter.admin.compute
    host = _hosts(presenter)[0]
    aggregate = compute.create_aggregate(name='windows')
    compute.add_host_to_aggregate(aggregate, host)
    compute.set_aggregate_metadata(aggregate, {f'trait:{LICENSED}': 'required'})
    _license(presenter, host)
    properties: dict[str, typing.Any] = {f'trait:{LICENSED}': 'required'}
    image = presenter.admin.image.create_image(
        'windows',
        data=b'windows',
        disk_format='raw',
        container_format='bare',
        **properties,
    )
    presenter.say(f'aggregate windows with {host} requires {LICENSED}; so does the image windows')
    server = _place(presenter, 'linux', 'cirros', host=host)
    presenter.say(f'cirros on {host}: {server.status}: {_reason(server)}')
    presenter.check(server.status == 'ERROR', 'the host refuses the ordinary image')
    inside = _place(presenter, 'windows-1', 'windows')
    presenter.say(f'windows on any host: {inside.status} on {presenter.where(inside)}')
    presenter.check(inside.compute_host == host, 'the licensed image runs on the licensed host')
    presenter.delete([server, inside])
    presenter.admin.image.delete_image(image.id)
    compute.remove_host_from_aggregate(aggregate, host)
    compute.delete_aggregate(aggregate)


def requested_host(presenter: presenters.Presenter) -> None:
    """Boot servers on a host that the request names, and that the scheduler checks."""
    presenter.title('A host requested by name is checked, not forced')
    compute = presenter.admin.compute
    host = _hosts(presenter)[-1]
    fits = _place(presenter, 'here', 'cirros', host=host)
    presenter.say(f'm1.tiny on {host}: {fits.status} on {presenter.where(fits)}')
    presenter.check(fits.compute_host == host, 'the server is on the requested host')
    flavor = compute.create_flavor(name='demo.too-big', vcpus=1, ram=64, disk=100000)
    refused = _place(presenter, 'too-big', 'cirros', flavor=flavor.name, host=host)
    presenter.say(f'{flavor.name} on {host}: {refused.status}: {_reason(refused)}')
    presenter.check(refused.status == 'ERROR', 'a server that does not fit is not built elsewhere')
    presenter.delete([fits, refused])
    compute.delete_flavor(flavor)


def _hosts(presenter: presenters.Presenter) -> list[str]:
    return sorted(node.name for node in presenter.admin.compute.hypervisors())


def _license(presenter: presenters.Presenter, host: str) -> None:
    """Add the trait LICENSED to a host, as `openstack resource provider trait set` does."""
    providers = placement.Placement(auth.Credentials(presenter.cloud.confs['control'])).providers
    (provider,) = providers.list(context.admin(), name=host)
    providers.change_traits(context.admin(), provider.uuid, add=[LICENSED])


def _place(
    presenter: presenters.Presenter,
    name: str,
    image: str,
    *,
    flavor: str = 'm1.tiny',
    host: str | None = None,
) -> server_module.Server:
    """Boot a server with microversion 2.74. Return the server once it is built or has failed."""
    compute = presenter.admin.compute
    body = {
        'name': name,
        'imageRef': presenter.admin.image.find_image(image, ignore_missing=False).id,
        'flavorRef': compute.find_flavor(flavor, ignore_missing=False).id,
        'networks': 'none',
        **({'host': host} if host else {}),
    }
    answer = compute.post('/servers', json={'server': body}, microversion='2.74')
    answer.raise_for_status()
    return presenter.wait(compute.get_server(answer.json()['server']['id']))


def _reason(server: server_module.Server) -> str:
    return server.fault['message'] if server.fault else 'no reason'
