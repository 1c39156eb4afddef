"""[compute]provider_config_location: inventories and traits that operators add to providers.

The files have nova's format (provider.yaml). An entry names a resource provider, or all nodes of
this process by $COMPUTE_NODE. Only resource classes and traits of operators (CUSTOM_) can be added.
"""

import dataclasses
import pathlib
import typing

from oslo_log import log
import yaml

from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import nested
from nova_lite.clients import providers
from nova_lite.clients import registration

LOG = log.getLogger(__name__)

ALL_NODES = '$COMPUTE_NODE'
_OWN = '^CUSTOM_[A-Z0-9_]{1,248}$'
# The largest amount in placement.
MOST = 0x7FFFFFFF
_AMOUNT = {'type': 'integer', 'minimum': 1, 'maximum': MOST}
_INVENTORY = {
    'type': 'object',
    'additionalProperties': False,
    'required': ['total'],
    'properties': {
        'total': _AMOUNT,
        'reserved': {'type': 'integer', 'minimum': 0, 'maximum': MOST},
        'min_unit': _AMOUNT,
        'max_unit': _AMOUNT,
        'step_size': _AMOUNT,
        'allocation_ratio': {'type': 'number', 'exclusiveMinimum': 0},
    },
}
_NAMED = {'type': 'string', 'minLength': 1, 'maxLength': 200}
_UUID = '^([0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}|[$]COMPUTE_NODE)$'
_ENTRY = {
    'type': 'object',
    'required': ['identification'],
    'properties': {
        'identification': {
            'type': 'object',
            'minProperties': 1,
            'maxProperties': 1,
            'additionalProperties': False,
            'properties': {'name': _NAMED, 'uuid': {'type': 'string', 'pattern': _UUID}},
        },
        'inventories': {
            'type': 'object',
            'properties': {
                'additional': {
                    'type': 'array',
                    'items': {
                        'type': 'object',
                        'minProperties': 1,
                        'maxProperties': 1,
                        'additionalProperties': False,
                        'patternProperties': {_OWN: _INVENTORY},
                    },
                }
            },
        },
        'traits': {
            'type': 'object',
            'properties': {
                'additional': {'type': 'array', 'items': {'type': 'string', 'pattern': _OWN}}
            },
        },
    },
}
SCHEMA: dict[str, typing.Any] = {
    'type': 'object',
    'required': ['meta', 'providers'],
    'properties': {
        'meta': {
            'type': 'object',
            'required': ['schema_version'],
            'properties': {
                'schema_version': {'type': 'string', 'pattern': r'^1\.([0-9]|[1-9][0-9]+)$'}
            },
        },
        'providers': {'type': 'array', 'minItems': 1, 'items': _ENTRY},
    },
}


class ProviderConfigException(exception.Invalid):
    msg = '[compute]provider_config_location: %(reason)s'


class Extra(typing.NamedTuple):
    """Inventories and traits to add to a provider."""

    inventories: providers.Inventories
    traits: frozenset[str]


NOTHING = Extra({}, frozenset())


@dataclasses.dataclass(frozen=True)
class ProviderConfigs:
    """The entries of all files.

    named: {uuid or name of a provider: Extra}; of_nodes: those of nodes that have no entry
    """

    named: dict[str, Extra] = dataclasses.field(default_factory=dict)
    of_nodes: Extra = NOTHING

    def add_to(self, node: registration.Node) -> registration.Node:
        """Return a node with what was added to its provider and to those below it."""
        if self == NONE:
            return node
        extra = self._extra(node.uuid, node.name) or self.of_nodes
        return dataclasses.replace(
            node,
            inventories=_joined(node.name, node.inventories, extra),
            traits=node.traits | extra.traits,
            children=tuple(self._with_extra(node, child) for child in node.children),
        )

    def _with_extra(self, node: registration.Node, child: nested.Nested) -> nested.Nested:
        name = child.full_name(node.name)
        extra = self._extra(runtime.uuid_of(node.uuid, child.name), name)
        if extra is None:
            return child
        return dataclasses.replace(
            child,
            inventories=_joined(name, child.inventories, extra),
            traits=child.traits | extra.traits,
        )

    def _extra(self, uuid: str, name: str) -> Extra | None:
        return self.named.get(uuid) or self.named.get(name)


NONE = ProviderConfigs()


def read(directory: str) -> ProviderConfigs:
    """Return the entries of the files in a directory; '' means none.

    Raise ProviderConfigException.
    """
    if not directory:
        return NONE
    named: dict[str, Extra] = {}
    paths = sorted(pathlib.Path(directory).glob('*.yaml'))
    if not paths:
        LOG.warning(
            '[compute]provider_config_location: %s has no file with a name that ends with .yaml. '
            'Resource providers get no further inventories and traits.',
            directory,
        )
    for path in paths:
        for entry in _document(path)['providers']:
            (identity,) = entry['identification'].values()
            extra = _extra_of(path, entry)
            if extra == NOTHING:
                LOG.warning('%s: provider %s gets no inventory and no trait.', path, identity)
                continue
            if identity in named:
                raise ProviderConfigException(reason=f'{path}: {identity} is named twice')
            named[identity] = extra
    of_nodes = named.pop(ALL_NODES, NOTHING)
    return ProviderConfigs(named, of_nodes) if named or of_nodes != NOTHING else NONE


def _document(path: pathlib.Path) -> dict[str, typing.Any]:
    # Most compute processes read no such file, and save the memory of the library.
    import jsonschema

    try:
        found: dict[str, typing.Any] = yaml.safe_load(path.read_bytes())
        jsonschema.Draft202012Validator(SCHEMA).validate(found)
    except (OSError, yaml.YAMLError) as error:
        raise ProviderConfigException(reason=f'{path}: {error}') from error
    except jsonschema.ValidationError as error:
        place = '.'.join(map(str, error.absolute_path)) or '(document)'
        raise ProviderConfigException(reason=f'{path}: {place}: {error.message}') from None
    return found


def _extra_of(path: pathlib.Path, entry: dict[str, typing.Any]) -> Extra:
    inventories: providers.Inventories = {}
    for each in (entry.get('inventories') or {}).get('additional') or ():
        ((name, values),) = each.items()
        if name in inventories:
            raise ProviderConfigException(reason=f'{path}: {name} is added twice to a provider')
        if values.get('reserved', 0) > values['total']:
            raise ProviderConfigException(reason=f'{path}: {name}: reserved is more than total')
        inventories[name] = {'max_unit': values['total'], **values}
    return Extra(inventories, frozenset((entry.get('traits') or {}).get('additional') or ()))


def _joined(provider: str, known: providers.Inventories, extra: Extra) -> providers.Inventories:
    """Return the inventories of a provider. Those that the host itself reports stay."""
    for name in sorted(known.keys() & extra.inventories.keys()):
        LOG.error(
            'Resource provider %s has an inventory of %s already. Ignoring that of '
            '[compute]provider_config_location.',
            provider,
            name,
        )
    return {**extra.inventories, **known}
