"""The settings of a cloud from a file that describes it, beside the options of `nova-lite up`."""

from collections.abc import Mapping
import itertools
import os
import typing

import yaml

from nova_lite.lab.launcher import cloud_snapshots
from nova_lite.lab.launcher import host_names
from nova_lite.lab.launcher.cloud_file import checks
from nova_lite.lab.launcher.cloud_file import document as documents
from nova_lite.lab.launcher.cloud_file import hosts
from nova_lite.lab.launcher.cloud_file import schema_errors
from nova_lite.virt.sim import profile

Json: typing.TypeAlias = dict[str, typing.Any]
# Places of the keys that only the file of a cloud in one process may have.
IN_ONE_PROCESS = ('faults', 'clock')


class Described(typing.NamedTuple):
    """A cloud as its file describes it.

    settings: fields of layout.Settings in the file; profile: the text of a profile that is written
    into the state directory, None if there is none
    """

    document: documents.Document
    settings: Json
    profile: str | None


def read(path: str, state_dir: str) -> Described:
    """Return the description in a file of the cloud in a state directory. Raise NotRead, Wrong."""
    return described(documents.read(path), state_dir)


def described(document: documents.Document, state_dir: str) -> Described:
    """Return the description in a document of the cloud in a state directory. Raise Wrong."""
    schema_errors.require(document)
    checks.require(document)
    value = document.value
    found: Json = {}
    if 'cells' in value:
        counts = hosts.counts(value)
        found |= {'cells': len(counts), 'hosts': counts}
    found |= {name: value[name] for name in ('auth',) if name in value}
    if 'speed' in value:
        found['speed'] = float(value['speed'])
    if 'options' in value:
        found['options'] = {
            group: {option: checks.text_of(given) for option, given in options.items()}
            for group, options in value['options'].items()
        }
    source, text = _profile(document)
    if text is not None:
        source = os.path.join(os.path.abspath(state_dir), cloud_snapshots.PROFILE)
    if source is not None:
        found['profile'] = source
    return Described(document, found, text)


def _profile(document: documents.Document) -> tuple[str | None, str | None]:
    """Return (name or path of the profile, its text if it is written). Raise Wrong."""
    given = document.value.get('profile')
    rules = _rules(document)
    names = hosts.named(document.value)
    if isinstance(given, str):
        path = given
        if given not in profile.bundled():
            path = os.path.join(os.path.dirname(os.path.abspath(document.path)), given)
        _load(document, path)
        if not rules and not names:
            return path, None
        given = {'extends': given} if given in profile.bundled() else _document_in(path)
    if given is None and not rules and not names:
        return None, None
    whole = dict(given or {})
    _parse(document, ('profile',), whole)
    for index, each in rules.items():
        # Errors in the profile are errors of the settings of a cell.
        place = ('cells', index, 'settings')
        _parse(document, place, {'hosts': each[:1]}, below=('hosts', 0))
    whole['hosts'] = [*(whole.get('hosts') or ()), *itertools.chain(*rules.values())]
    if names:
        _parse(document, ('cells',), {'names': names}, below=('names',))
        whole['names'] = names
    return None, yaml.safe_dump(whole, sort_keys=False)


def _rules(document: documents.Document) -> dict[int, list[Json]]:
    """Return {index of a cell: entries of `hosts` in a profile} of the settings of cells."""
    named = hosts.named(document.value)
    return {
        index: [{**cell['settings'], 'match': match} for match in named.get(name, [f'{name}-*'])]
        for index, cell in enumerate(document.value.get('cells', ()))
        if cell.get('settings')
        for name in (host_names.cell_name(index + 1),)
    }


def _load(document: documents.Document, path: str) -> None:
    try:
        profile.load(path)
    except profile.ProfileError as error:
        raise document.wrong(('profile',), str(error)) from error
    except (OSError, UnicodeError) as error:
        raise document.wrong(('profile',), f'{path} cannot be read: {error}') from error


def _document_in(path: str) -> Json:
    with open(path, encoding='utf-8') as file:
        return yaml.safe_load(file) or {}


def _parse(
    document: documents.Document,
    place: documents.Place,
    value: Json,
    *,
    below: documents.Place = (),
) -> None:
    """Raise Wrong unless a value is a profile. below: the path in it that stands for `place`"""
    try:
        profile.parse(yaml.safe_dump(value, sort_keys=False), 'of the file')
    except profile.ProfileError as error:
        path = error.kwargs['path']
        inner = () if path.startswith('(') else documents.place_of(path)
        if inner[: len(below)] == below:
            inner = inner[len(below) :]
        raise document.wrong((*place, *inner), f'{error.kwargs["reason"]}.') from error


def merged(described: Described, given: Mapping[str, typing.Any], *, has_bus: bool) -> Json:
    """Return settings of a file and of options. Raise Wrong if they contradict each other.

    given: the settings from options of the command; has_bus: whether --bus is given
    """
    document, found = described.document, dict(described.settings)
    for name in ('cells', 'hosts', 'profile', 'speed', 'auth'):
        if name in given:
            _require_same(described, name, given[name])
    options = {group: dict(values) for group, values in found.get('options', {}).items()}
    for group, values in given.get('options', {}).items():
        for option, value in values.items():
            before = options.setdefault(group, {}).setdefault(option, value)
            if before != value:
                raise _contradiction(
                    document, ('options', group, option), f'--set {group}.{option}={value}', before
                )
    for key in IN_ONE_PROCESS:
        if has_bus and key in document.value:
            text = 'a cloud with --bus has no clock or faults of its own. Omit one of them.'
            raise document.wrong((key,), text)
    chosen = {**given, **found}
    return chosen | ({'options': options} if options else {})


def _require_same(described: Described, name: str, value: typing.Any) -> None:
    """Raise Wrong if an option and the file have different values."""
    found = described.settings.get(name)
    if found is None or found == value:
        return
    if name == 'hosts' and hosts.is_each(found, value):
        return
    key = 'cells' if name == 'hosts' else name
    shown = found
    if name == 'profile':
        if isinstance(found, str) and os.path.abspath(found) == os.path.abspath(value):
            return
        shown = described.document.value.get('profile', 'settings of cells')
    raise _contradiction(
        described.document,
        (key,),
        f'--{name} {value}',
        f'{shown}' if key == name else f'{shown} hosts',
    )


def _contradiction(
    document: documents.Document, place: documents.Place, option: str, value: typing.Any
) -> documents.Wrong:
    shown = value if len(str(value)) <= schema_errors.LONGEST_SHOWN else 'another value'
    return document.wrong(place, f'it is {shown}, and the command has {option}. Omit one of them.')
