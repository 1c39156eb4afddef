"""The settings with which the cloud of a state directory was last started, and its file.

If the file is given again, it may change the behaviour of the cloud. Objects are created only in a
new cloud, so a file with other objects is refused.
"""

from collections.abc import Iterator
import json
import os
import typing

from nova_lite import exception
from nova_lite.lab.launcher import host_names
from nova_lite.lab.launcher import kept_files
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import shape
from nova_lite.lab.launcher import state_dir
from nova_lite.lab.launcher.cloud_file import document as documents
from nova_lite.lab.launcher.cloud_file import hosts
from nova_lite.lab.launcher.cloud_file import schema as schemas
from nova_lite.lab.launcher.cloud_file import schema_errors
from nova_lite.terminal import plurals

Json: typing.TypeAlias = dict[str, typing.Any]
FILE = 'described.json'
# The settings that a file can have.
SETTINGS = ('cells', 'hosts', 'profile', 'speed', 'auth', 'options')
NOTHING: Json = {}
# {key of the record: types of its value}
KINDS = {
    'settings': dict,
    'done': bool,
    'file': str | None,
    'document': dict | None,
}


class OtherCloud(exception.Conflict):
    msg = (
        'The file %(file)s does not describe the cloud in %(directory)s, which was started %(before)s. '
        'Line %(line)s, %(place)s: %(found)s here, %(recorded)s there. Objects are created in a new cloud: '
        'start one with `%(fresh)s -f %(file)s`, which deletes that cloud, or choose another --state-dir '
        'or --name.'
    )


class NotDone(exception.Conflict):
    msg = (
        'The first start of the cloud in %(directory)s did not create all objects of %(file)s. Repeat it '
        'with `%(up)s -f %(file)s`, or start an empty cloud with `%(up)s --fresh`.'
    )


def read(directory: str) -> Json | None:
    """Return {file, document, done, settings} of the cloud in a state directory. Raise Spoiled."""
    path = os.path.join(directory, FILE)
    if not os.path.exists(path):
        return None
    found = kept_files.values(directory, path, ())
    for name, kinds in KINDS.items():
        if name not in found or not isinstance(found[name], kinds):
            raise kept_files.spoiled(directory, path, f'it has no valid {name}')
    return found


def write(settings: layout.Settings, document: documents.Document | None, *, done: bool) -> None:
    """Record the settings of a cloud that starts, and the file from which it was made.

    document: None to keep that of the first start; done: whether all objects of the file exist
    """
    directory = settings.state_dir
    before = read(directory) or {'file': None, 'document': None}
    found = {
        'file': before['file'] if document is None else os.path.abspath(document.path),
        'document': before['document'] if document is None else document.value,
        'done': done,
        'settings': {name: getattr(settings, name) for name in SETTINGS},
    }
    layout.write(os.path.join(directory, FILE), json.dumps(found, indent=2) + '\n')


def require_same(directory: str, document: documents.Document | None) -> bool:
    """Raise OtherCloud if a file does not describe the existing cloud, NotDone without a file.

    Return whether that cloud is to be deleted: its objects were not all created.
    """
    recorded = read(directory) if shape.recorded(directory) else None
    if recorded is not None and not recorded['done']:
        if document is None:
            up = state_dir.command('up', directory)
            raise NotDone(directory=os.path.abspath(directory), file=recorded['file'], up=up)
        return True
    if document is None or not shape.recorded(directory):
        return False
    before = (recorded or {}).get('document') or NOTHING
    for place, found, value in _differences(document, directory, before):
        file = (recorded or {}).get('file')
        raise OtherCloud(
            file=document.path,
            directory=os.path.abspath(directory),
            before=f'with {file}' if file else 'without a file',
            line=document.line(place),
            place=documents.written(place),
            found=_shown(found),
            recorded=_shown(value),
            fresh=state_dir.command('up', directory) + ' --fresh',
        )
    return False


def _differences(
    document: documents.Document, directory: str, before: Json
) -> Iterator[tuple[documents.Place, typing.Any, typing.Any]]:
    """Yield (place, value in the file, value of the cloud) of lost cells and other objects."""
    if 'cells' in document.value:
        shaped = shape.recorded(directory)
        counts = hosts.counts(document.value)
        known = host_names.counts(shaped['hosts'], shaped['cells'])
        if len(counts) < len(known):
            yield ('cells',), plurals.of(len(counts), 'cell'), plurals.of(len(known), 'cell')
        for index, (now, then) in enumerate(zip(counts, known, strict=False)):
            if now < then:
                yield ('cells', index, 'hosts'), plurals.of(now, 'host'), plurals.of(then, 'host')
    for name in schemas.OBJECTS:
        yield from _different(document.value.get(name), before.get(name), (name,))


def _different(
    now: typing.Any, then: typing.Any, place: documents.Place
) -> Iterator[tuple[documents.Place, typing.Any, typing.Any]]:
    if isinstance(now, dict) and isinstance(then, dict):
        for key in [*now, *(key for key in then if key not in now)]:
            yield from _different(now.get(key), then.get(key), (*place, key))
    elif isinstance(now, list) and isinstance(then, list):
        for index in range(max(len(now), len(then))):
            one, other = (each[index] if index < len(each) else None for each in (now, then))
            yield from _different(one, other, (*place, index))
    elif now != then:
        yield place, now, then


def _shown(value: typing.Any) -> str:
    if value is None:
        return 'nothing'
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= schema_errors.LONGEST_SHOWN else f'{text[:57]}...'
