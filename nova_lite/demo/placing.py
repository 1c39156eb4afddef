"""Scenes: hosts reserved for licensed servers, and hosts requested by name."""

from nova_lite import context
from nova_lite.clients import placement

LICENSED = 'CUSTOM_WINDOWS_LICENSED'


def licensed_aggregate(stage):
    """Reserve a host for images that require its trait."""
    stage.title('Licensed hosts accept only licensed images')
    compute = stage.admin.compute
    host = _hosts(stage)[0]
    aggregate = compute.create_aggregate(name='windows')
    compute.add_host_to_aggregate(aggregate, host)
    compute.set_aggregate_metadata(aggregate, {f'trait:{LICENSED}': 'required'})
    _license(stage, host)
    image = stage.admin.image.create_image(
        'windows',
        data=b'windows',
        disk_format='raw',
        container_format='bare',
        **{f'trait:{LICENSED}': 'required'},
    )
    stage.say(f'aggregate windows with {host} requires {LICENSED}; so does the image windows')
    server = _place(stage, 'linux', 'cirros', host=host)
    stage.say(f'cirros on {host}: {server.status}: {_reason(server)}')
    stage.check(server.status == 'ERROR', 'the host refuses the ordinary image')
    inside = _place(stage, 'windows-1', 'windows')
    stage.say(f'windows on any host: {inside.status} on {stage.where(inside)}')
    stage.check(inside.compute_host == host, 'the licensed image runs on the licensed host')
    _delete(stage, [server, inside])
    stage.admin.image.delete_image(image)
    compute.remove_host_from_aggregate(aggregate, host)
    compute.delete_aggregate(aggregate)


def requested_host(stage):
    """Boot on a named host, which the scheduler checks."""
    stage.title('A host requested by name is checked, not forced')
    compute = stage.admin.compute
    host = _hosts(stage)[-1]
    fits = _place(stage, 'here', 'cirros', host=host)
    stage.say(f'm1.tiny on {host}: {fits.status} on {stage.where(fits)}')
    stage.check(fits.compute_host == host, 'it is on the requested host')
    flavor = compute.create_flavor(name='demo.too-big', vcpus=1, ram=64, disk=100000)
    refused = _place(stage, 'too-big', 'cirros', flavor=flavor.name, host=host)
    stage.say(f'{flavor.name} on {host}: {refused.status}: {_reason(refused)}')
    stage.check(refused.status == 'ERROR', 'a server that does not fit is not built elsewhere')
    _delete(stage, [fits, refused])
    compute.delete_flavor(flavor)


def _hosts(stage):
    return sorted(node.name for node in stage.admin.compute.hypervisors())


def _license(stage, host):
    """Add the trait, as `openstack resource provider trait set` does."""
    providers = placement.Placement(stage.cloud.confs['control']).providers
    provider = providers.find_by_name(context.admin(), host)
    providers.change_traits(context.admin(), provider.uuid, add=[LICENSED])


def _place(stage, name, image, *, flavor='m1.tiny', host=None):
    """Boot a server with microversion 2.74, and return it when it is built or has failed."""
    compute = stage.admin.compute
    body = {
        'name': name,
        'imageRef': stage.admin.image.find_image(image).id,
        'flavorRef': compute.find_flavor(flavor).id,
        'networks': 'none',
        **({'host': host} if host else {}),
    }
    answer = compute.post('/servers', json={'server': body}, microversion='2.74')
    answer.raise_for_status()
    return stage.wait(compute.get_server(answer.json()['server']['id']))


def _reason(server):
    return server.fault['message'] if server.fault else 'no reason'


def _delete(stage, servers):
    for server in servers:
        stage.admin.compute.delete_server(server)
    gone = [stage.wait_gone(server) for server in servers]
    stage.check(all(gone), 'the servers are deleted')
