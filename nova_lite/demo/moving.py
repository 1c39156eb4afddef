"""Scenes: resize and cold migration."""


def resize(stage):
    """Resize two servers; confirm one resize and revert the other."""
    stage.title('Resize to another host: one is confirmed, one reverted')
    compute = stage.admin.compute
    small = compute.find_flavor('m1.small')
    for end, flavor in (('confirm', 'm1.small'), ('revert', 'm1.tiny')):
        server = stage.wait(stage.boot(f'to-{end}'))
        source = server.compute_host
        compute.resize_server(server, small)
        resized = stage.wait(server, 'VERIFY_RESIZE')
        stage.say(f'{server.name}: {resized.status} on {stage.where(resized)}, from {source}')
        stage.check(resized.compute_host != source, 'it is on another host')
        getattr(compute, f'{end}_server_resize')(server)
        ended = stage.wait(server, 'ACTIVE')
        stage.say(f'{server.name}: {end}ed on {stage.where(ended)} as {ended.flavor.name}')
        stage.check(
            ended.flavor.name == flavor and (ended.compute_host == source) == (end == 'revert'),
            f'{end}ed: its flavor and its host are right',
        )
        _tell(stage, server, f'{end}Resize')
        stage.delete([server])


def named_host(stage):
    """Cold migrate to a named host, and to one that is disabled."""
    stage.title('Cold migration to a host that the operator names, and to a disabled one')
    compute = stage.admin.compute
    server = stage.wait(stage.boot('wanderer'))
    cell = server.compute_host.split('-')[0]
    others = sorted(
        node.name
        for node in compute.hypervisors()
        if node.name.startswith(f'{cell}-') and node.name != server.compute_host
    )
    named, closed = others[0], others[-1]
    compute.migrate_server(server, host=named)
    moved = stage.wait(server, 'VERIFY_RESIZE')
    stage.check(moved.compute_host == named, f'it is on {named}, as requested')
    compute.confirm_server_resize(server)
    stage.wait(server, 'ACTIVE')
    service = next(each for each in compute.services(binary='nova-compute') if each.host == closed)
    compute.disable_service(service)
    compute.migrate_server(server, host=closed)
    stage.wait_for(lambda: _status(stage, server) == 'error')
    after = stage.wait(server, 'ACTIVE')
    stage.check(after.compute_host == named, f'{closed} is disabled: the server has not moved')
    _tell(stage, server, 'migrate')
    compute.enable_service(service)
    stage.delete([server])


def _status(stage, server):
    """Return the status of the newest migration of a server."""
    found = stage.admin.compute.migrations(instance_uuid=server.id)
    return next(iter(found)).status


def _tell(stage, server, name):
    """Print the events of the newest action of that name."""
    compute = stage.admin.compute
    action = next(each for each in compute.server_actions(server) if each.action == name)
    told = compute.get_server_action(action.request_id, server)
    for event in reversed(told.events):
        details = f': {event["details"]}' if event.get('details') else ''
        stage.say(f'  {event["event"]}: {event["result"]}{details}')
