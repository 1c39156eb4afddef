"""Scenes: servers are created on hosts of several cells, used and deleted."""


def boot(stage):
    """Boot servers, which the scheduler distributes over hosts and cells."""
    stage.title('Servers boot: the scheduler selects from the hosts of all cells')
    asked = [stage.boot(f'web-{number}') for number in range(4)]
    servers = [stage.wait(server) for server in asked]
    for server in servers:
        stage.say(f'{server.name}: {server.status} on {stage.where(server)}')
    stage.check(all(server.status == 'ACTIVE' for server in servers), 'all are ACTIVE')
    cells = {stage.where(server).split()[-1] for server in servers}
    stage.check(len(cells) > 1, f'they are in {", ".join(sorted(cells))}')
    listed = {server.id for server in stage.admin.compute.servers()}
    stage.check(listed >= {server.id for server in servers}, 'one list shows all of them')
    stage.check(not list(stage.demo.compute.servers()), 'another project sees none of them')
    _delete(stage, servers)


def lifecycle(stage):
    """Stop, start and reboot a server, and list its actions."""
    stage.title('Life of a server: stop, start, reboot')
    compute = stage.admin.compute
    server = stage.wait(stage.boot('worker'))
    compute.stop_server(server)
    stage.check(stage.wait(server, 'SHUTOFF').status == 'SHUTOFF', 'stopped')
    compute.start_server(server)
    stage.check(stage.wait(server, 'ACTIVE').status == 'ACTIVE', 'started')
    compute.reboot_server(server, 'HARD')
    stage.check(stage.wait(server, 'ACTIVE').status == 'ACTIVE', 'rebooted')
    actions = [action.action for action in compute.server_actions(server)]
    stage.say(f'its actions, newest first: {", ".join(actions)}')
    stage.check(
        {'create', 'stop', 'start', 'reboot'} <= set(actions), 'all four actions are recorded'
    )
    _delete(stage, [server])


def no_valid_host(stage):
    """Boot a server that fits on no host: it ends in ERROR with a reason, in cell0."""
    stage.title('A server that fits on no host')
    flavor = stage.admin.compute.create_flavor(name='demo.giant', vcpus=1, ram=64, disk=100000)
    server = stage.wait(stage.boot('giant', flavor='demo.giant'), 'ERROR')
    stage.say(f'{server.name}: {server.status}: {server.fault and server.fault["message"]}')
    stage.check(server.status == 'ERROR', 'it is in ERROR, and its fault says why')
    _delete(stage, [server])
    stage.admin.compute.delete_flavor(flavor)


def multi_create(stage):
    """Boot three servers with one request."""
    stage.title('Three servers with one request')
    stage.boot('trio', min_count=3, max_count=3)
    named = [server for server in stage.admin.compute.servers() if server.name.startswith('trio')]
    servers = [stage.wait(server) for server in named]
    for server in servers:
        stage.say(f'{server.name}: {server.status} on {stage.where(server)}')
    stage.check(
        sorted(server.name for server in servers if server.status == 'ACTIVE')
        == ['trio-1', 'trio-2', 'trio-3'],
        'all three are ACTIVE',
    )
    _delete(stage, servers)


def _delete(stage, servers):
    for server in servers:
        stage.admin.compute.delete_server(server)
    gone = [stage.wait_gone(server) for server in servers]
    stage.check(all(gone), 'the servers are deleted')
