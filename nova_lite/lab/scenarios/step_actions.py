"""The actions of steps. Each raises NotAsExpected if the cloud does not behave as expected."""

from collections.abc import Callable
import functools
import json
import typing

from nova_lite import runtime
from nova_lite.lab.launcher import control_client
from nova_lite.lab.scenarios import kept
from nova_lite.lab.scenarios import stage as stages

Json: typing.TypeAlias = dict[str, typing.Any]

WITHIN_S = 60.0
MOST_SHOWN = 300
SYNCHRONOUS = 'command'


def boot(stage: stages.Stage, given: Json) -> None:
    """Boot servers, on a host if one is given, and wait for their status."""
    names = given['servers']
    for name in names:
        answer = stage.cloud.request(
            'POST', '/servers', _server(stage, name, given), version='2.90'
        )
        _expect(answer, 202)
        stage.servers[name] = answer.json()['server']['id']
    for name in names:
        wanted = given.get('status', 'ACTIVE')
        found = stage.wait(
            functools.partial(_status_of, stage, stage.servers[name]),
            functools.partial(str.__eq__, wanted),
            WITHIN_S,
        )
        if found != wanted:
            raise stages.NotAsExpected(reason=f'{stages.PREFIX}{name} is {found}, not {wanted}')


def race(stage: stages.Stage, given: Json) -> None:
    """Boot servers at the same time. Some of the requests must be refused."""
    names = given['servers']
    bodies = [_server(stage, name, given) for name in names]

    def send(body: Json) -> typing.Any:
        return stage.cloud.request('POST', '/servers', body, version='2.90')

    with runtime.executor(len(names)) as executor:
        answers = list(executor.map(send, bodies))
    for name, answer in zip(names, answers, strict=True):
        if answer.status_code == 202:
            stage.servers[name] = answer.json()['server']['id']
    wanted = [202] * given['accepted'] + [given['refused']] * (len(names) - given['accepted'])
    found = sorted(answer.status_code for answer in answers)
    if found != wanted:
        raise stages.NotAsExpected(reason=f'the answers are {found}, not {wanted}')


def _server(stage: stages.Stage, name: str, given: Json) -> Json:
    flavors = stage.cloud.read('/flavors')
    flavor = given.get('flavor', 'm1.tiny')
    image = _first(stage, 'image', '/images?status=active', 'images')
    server: Json = {
        'name': f'{stages.PREFIX}{name}',
        'flavorRef': next(
            (each['id'] for each in flavors['flavors'] if each['name'] == flavor), flavor
        ),
        'imageRef': image,
        'networks': 'none',
        'block_device_mapping_v2': [
            {'uuid': image, 'source_type': 'image', 'destination_type': 'local', 'boot_index': 0}
        ],
    }
    if given.get('network'):
        path = '/networks?router:external=false'
        server['networks'] = [{'uuid': _first(stage, 'network', path, 'networks')}]
    if 'host' in given:
        server['host'] = given['host']
    if 'volume_gb' in given:
        volume = {'source_type': 'blank', 'destination_type': 'volume', 'boot_index': -1}
        volume |= {'volume_size': given['volume_gb'], 'delete_on_termination': True}
        server['block_device_mapping_v2'].append(volume)
    return {'server': server}


def _first(stage: stages.Stage, service: str, path: str, key: str) -> str:
    """Return the id of the first resource of a collection. Raise NotAsExpected without one."""
    found = stage.cloud.read(path, service=service)[key]
    if not found:
        raise stages.NotAsExpected(reason=f'the cloud has no {key}: GET {path} finds none')
    return str(found[0]['id'])


def _status_of(stage: stages.Stage, uuid: str) -> str:
    found = stage.cloud.read(f'/servers/{uuid}')
    return str(found['server']['status'])


def request(stage: stages.Stage, given: Json) -> None:
    """Send a request, check its status, and keep values of the answer.

    The record of the drill has the undo before: the process may be killed after the request.
    """
    options: Json = {name: given[name] for name in ('service', 'version') if name in given}
    options['user'] = given.get('as', 'admin')
    if 'undo' in given:
        change = given['undo']
        method, path, body = change['method'], change['path'], change.get('body')
        stage.record.add(kept.Undo(method=method, path=path, body=body, options=options))
    answer = stage.cloud.request(given['method'], given['path'], given.get('body'), **options)
    _expect(answer, given.get('status'))
    for name, place in given.get('keep', {}).items():
        stage.values[name] = str(find(answer.json(), place))


def undo(stage: stages.Stage, change: kept.Undo) -> None:
    """Send the request that undoes a change. Raise NotAsExpected, Unavailable."""
    answer = stage.cloud.request(
        change['method'], change['path'], change['body'], **change['options']
    )
    # What a drill has made may be gone since, for example after `nova-lite reset`.
    if not (change['method'] == 'DELETE' and answer.status_code == 404):
        _expect(answer, None)


def _expect(answer: typing.Any, status: int | None) -> None:
    """Raise NotAsExpected unless an answer has a status, or succeeds if that is None."""
    is_so = answer.status_code < 400 if status is None else answer.status_code == status
    if not is_so:
        wanted = f', not {status}' if status else ''
        text = ' '.join(answer.text.split())[:MOST_SHOWN]
        raise stages.NotAsExpected(reason=f'the answer is {answer.status_code}{wanted}: {text}')


def control(stage: stages.Stage, given: Json) -> None:
    """Change faults, hosts, buses, breakpoints or the clock. The end of the drill restores all."""
    try:
        stage.cloud.control.post(given['name'], **given['arguments'])
    except control_client.Refused as error:
        raise stages.NotAsExpected(reason=str(error)) from error


def command(stage: stages.Stage, given: Json) -> None:
    """Run a command of nova-lite and check its exit code, or start it in the background."""
    name = given.get('background', SYNCHRONOUS)
    stage.processes.start(name, given['words'])
    if 'background' not in given:
        ended(stage, {'command': name, 'exit': 0, **given})


def ended(stage: stages.Stage, given: Json) -> None:
    """Wait for the end of a command, and check its exit code."""
    name = given['command']
    code = stage.processes.wait(name, given.get('within', WITHIN_S))
    if code != given['exit']:
        what = 'it still runs' if code is None else f'its exit code is {code}, not {given["exit"]}'
        raise stages.NotAsExpected(reason=f'{what}: {stage.processes.last_line(name)}')


def signal(stage: stages.Stage, given: Json) -> None:
    """Wait until a resource has the value that is expected."""
    options = {name: given[name] for name in ('service', 'version') if name in given}
    status, content = stage.wait(
        lambda: stage.cloud.look(given['get'], **options),
        lambda found: holds(given, *found),
        given.get('within', WITHIN_S),
    )
    if holds(given, status, content):
        return
    if 'at' not in given or status >= 400:
        raise stages.NotAsExpected(reason=f'the answer is {status}: {_short(content)}')
    raise stages.NotAsExpected(reason=f'{given["at"]} is {_short(find(content, given["at"]))}')


def holds(given: Json, status: int, content: typing.Any) -> bool:
    """Return whether an answer fulfils the condition of a signal."""
    if 'at' not in given:
        return status == int(given['status'])
    if status != given.get('status', 200):
        return False
    found = find(content, given['at'])
    if 'is' in given:
        return bool(found == given['is'])
    if 'is_not' in given:
        return bool(found != given['is_not'])
    if 'any_of' in given:
        return found in given['any_of']
    if 'above' in given:
        return isinstance(found, int | float) and found > given['above']
    return given['contains'] in (found if isinstance(found, list) else str(found))


def find(content: typing.Any, place: str) -> typing.Any:
    """Return the value at a place such as `servers.0.status`, None if the place does not exist.

    `*` stands for all items of a list, `#` for their number.
    """
    name, _dot, rest = place.partition('.')
    if name == '#':
        return len(content) if isinstance(content, list) else None
    if name == '*':
        items = content if isinstance(content, list) else []
        return [find(each, rest) if rest else each for each in items]
    found: typing.Any = None
    if isinstance(content, dict):
        found = content.get(name)
    elif isinstance(content, list) and name.isdecimal() and int(name) < len(content):
        found = content[int(name)]
    return find(found, rest) if rest and found is not None else found


def _short(value: typing.Any) -> str:
    return json.dumps(value)[:MOST_SHOWN]


ACTIONS: dict[str, Callable[[stages.Stage, Json], None]] = {
    'boot': boot,
    'race': race,
    'request': request,
    'control': control,
    'command': command,
    'signal': signal,
    'ended': ended,
}
