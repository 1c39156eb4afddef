"""Names of limits in the API, and which of them each microversion has.

Limits of networks come from when compute had networks: they can be set and
shown, and mean nothing. Source: reference/nova/api-surface 2.5 and 4.
"""

from collections.abc import Iterable
from collections.abc import Mapping
import typing

from nova_lite.api import schema as schemas
from nova_lite.api import schema_parts

# API name -> name of the limit
_INJECTED = {
    'injected_files': 'injected_files',
    'injected_file_content_bytes': 'injected_file_content_bytes',
    'injected_file_path_bytes': 'injected_file_path_length',
}
_NETWORK = {
    name: name for name in ('fixed_ips', 'floating_ips', 'security_groups', 'security_group_rules')
}
_GROUPS = {name: name for name in ('server_groups', 'server_group_members')}
_ALWAYS = {name: name for name in ('instances', 'cores', 'ram', 'metadata_items', 'key_pairs')}

LIMIT = {**schema_parts.OR_MINUS_ONE, 'format': 'int32', 'maximum': 0x7FFFFFFF}


def of_sets(minor: int) -> dict[str, str]:
    """Return {API name: limit} in quota sets."""
    return {
        **_ALWAYS,
        **_GROUPS,
        **(_NETWORK if minor < 36 else {}),
        **(_INJECTED if minor < 57 else {}),
    }


def of_classes(minor: int) -> dict[str, str]:
    """Return {API name: limit} in quota class sets."""
    return {
        **_ALWAYS,
        **(_GROUPS if minor >= 50 else _NETWORK),
        **(_INJECTED if minor < 57 else {}),
    }


def settable(minor: int) -> dict[str, str]:
    """Return {API name: limit} that a class can be given; below 2.50 it does not show all."""
    return {**of_classes(minor), **_GROUPS}


def schema(names: Iterable[str], **more: schemas.Source) -> schemas.Source:
    """Return the schema of limits with these names."""
    return schema_parts.whole({**dict.fromkeys(names, LIMIT), **more})


def shown(names: Mapping[str, str], limits: Mapping[str, int]) -> dict[str, int]:
    """Return the limits under their names in the API; those that mean nothing are unlimited."""
    return {name: limits.get(known, -1) for name, known in names.items()}


def given(names: Mapping[str, str], content: Mapping[str, typing.Any]) -> dict[str, int]:
    """Return {limit: number} from the body of a request."""
    return {known: int(content[name]) for name, known in names.items() if name in content}
