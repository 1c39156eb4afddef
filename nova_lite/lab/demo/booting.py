"""Scenes: servers are created on hosts of several cells, used and deleted."""

from nova_lite.lab.demo import presenter as presenters


def boot(presenter: presenters.Presenter) -> None:
    """Boot servers, which the scheduler distributes over hosts and cells."""
    presenter.title('Servers boot: the scheduler selects from the hosts of all cells')
    asked = [presenter.boot(f'web-{number}') for number in range(4)]
    servers = [presenter.wait(server) for server in asked]
    for server in servers:
        presenter.say(f'{server.name}: {server.status} on {presenter.where(server)}')
    presenter.check(all(server.status == 'ACTIVE' for server in servers), 'all are ACTIVE')
    cells = {presenter.where(server).split()[-1] for server in servers}
    presenter.check(len(cells) > 1, f'the servers are in {", ".join(sorted(cells))}')
    listed = {server.id for server in presenter.admin.compute.servers()}
    presenter.check(listed >= {server.id for server in servers}, 'one list shows all of them')
    presenter.check(not list(presenter.demo.compute.servers()), 'another project sees none of them')
    presenter.delete(servers)


def lifecycle(presenter: presenters.Presenter) -> None:
    """Stop, start and reboot a server, and list its actions."""
    presenter.title('Life of a server: stop, start, reboot')
    compute = presenter.admin.compute
    server = presenter.wait(presenter.boot('worker'))
    compute.stop_server(server)
    presenter.check(presenter.wait(server, 'SHUTOFF').status == 'SHUTOFF', 'stopped')
    compute.start_server(server)
    presenter.check(presenter.wait(server, 'ACTIVE').status == 'ACTIVE', 'started')
    compute.reboot_server(server, 'HARD')
    presenter.check(presenter.wait(server, 'ACTIVE').status == 'ACTIVE', 'rebooted')
    actions = [action.action for action in compute.server_actions(server)]
    presenter.say(f'its actions, newest first: {", ".join(actions)}')
    presenter.check(
        {'create', 'stop', 'start', 'reboot'} <= set(actions), 'all four actions are recorded'
    )
    presenter.delete([server])


def no_valid_host(presenter: presenters.Presenter) -> None:
    """Boot a server that fits on no host, and show the reason in its fault."""
    presenter.title('A server that fits on no host')
    flavor = presenter.admin.compute.create_flavor(name='demo.giant', vcpus=1, ram=64, disk=100000)
    server = presenter.wait(presenter.boot('giant', flavor='demo.giant'), 'ERROR')
    presenter.say(f'{server.name}: {server.status}: {server.fault and server.fault["message"]}')
    presenter.check(
        server.status == 'ERROR', 'the server is in ERROR, and its fault has the reason'
    )
    presenter.delete([server])
    presenter.admin.compute.delete_flavor(flavor)


def multi_create(presenter: presenters.Presenter) -> None:
    """Boot three servers with one request."""
    presenter.title('Three servers with one request')
    presenter.boot('trio', min_count=3, max_count=3)
    named = [
        server for server in presenter.admin.compute.servers() if server.name.startswith('trio')
    ]
    servers = [presenter.wait(server) for server in named]
    for server in servers:
        presenter.say(f'{server.name}: {server.status} on {presenter.where(server)}')
    presenter.check(
        sorted(server.name for server in servers if server.status == 'ACTIVE')
        == ['trio-1', 'trio-2', 'trio-3'],
        'all three are ACTIVE',
    )
    presenter.delete(servers)
