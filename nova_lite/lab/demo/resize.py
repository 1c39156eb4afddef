"""Scenes: resize and cold migration."""

from openstack.compute.v2 import server as server_module

from nova_lite.lab.demo import presenter as presenters


def resize(presenter: presenters.Presenter) -> None:
    """Resize two servers. Confirm one resize, and revert the other."""
    presenter.title('Resize to another host: one is confirmed, one reverted')
    compute = presenter.admin.compute
    small = compute.find_flavor('m1.small', ignore_missing=False)
    for end, flavor in (('confirm', 'm1.small'), ('revert', 'm1.tiny')):
        server = presenter.wait(presenter.boot(f'to-{end}'))
        source = server.compute_host
        compute.resize_server(server, small)
        resized = presenter.wait(server, 'VERIFY_RESIZE')
        presenter.say(
            f'{server.name}: {resized.status} on {presenter.where(resized)}, from {source}'
        )
        presenter.check(resized.compute_host != source, 'the server is on another host')
        getattr(compute, f'{end}_server_resize')(server)
        ended = presenter.wait(server, 'ACTIVE')
        presenter.say(f'{server.name}: {end}ed on {presenter.where(ended)} as {ended.flavor.name}')
        presenter.check(
            ended.flavor.name == flavor and (ended.compute_host == source) == (end == 'revert'),
            f'{end}ed: the server has the right flavor and host',
        )
        _tell(presenter, server, f'{end}Resize')
        presenter.delete([server])


def named_host(presenter: presenters.Presenter) -> None:
    """Cold migrate a server to a named host, and try a host that is disabled."""
    presenter.title('Cold migration to a host that the operator names, and to a disabled one')
    compute = presenter.admin.compute
    server = presenter.wait(presenter.boot('wanderer'))
    cell = server.compute_host.split('-')[0]
    others = sorted(
        node.name
        for node in compute.hypervisors()
        if node.name.startswith(f'{cell}-') and node.name != server.compute_host
    )
    named, closed = others[0], others[-1]
    compute.migrate_server(server, host=named)
    moved = presenter.wait(server, 'VERIFY_RESIZE')
    presenter.check(moved.compute_host == named, f'the server is on {named}, as requested')
    compute.confirm_server_resize(server)
    presenter.wait(server, 'ACTIVE')
    service = next(each for each in compute.services(binary='nova-compute') if each.host == closed)
    compute.disable_service(service)
    compute.migrate_server(server, host=closed)
    presenter.wait_for(lambda: presenter.migration_status(server) == 'error')
    after = presenter.wait(server, 'ACTIVE')
    presenter.check(after.compute_host == named, f'{closed} is disabled: the server has not moved')
    _tell(presenter, server, 'migrate')
    compute.enable_service(service)
    presenter.delete([server])


def _tell(presenter: presenters.Presenter, server: server_module.Server, name: str) -> None:
    """Print the events of the newest action with a name."""
    compute = presenter.admin.compute
    action = next(each for each in compute.server_actions(server) if each.action == name)
    shown = compute.get_server_action(action.request_id, server)
    for event in reversed(shown.events):
        details = f': {event["details"]}' if event.get('details') else ''
        presenter.say(f'  {event["event"]}: {event["result"]}{details}')
