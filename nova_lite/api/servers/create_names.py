"""Names of new servers: display names and hostnames.

Source: reference/nova/create-server 3.
"""

from collections.abc import Mapping
import re
import typing

LONGEST = 63
LONGEST_NAME = 255


def stripped(columns: Mapping[str, typing.Any]) -> dict[str, typing.Any]:
    """Return columns of a server, with names without a final line break, as nova does."""
    names = ('display_name', 'hostname')
    return {name: value.strip() if name in names else value for name, value in columns.items()}


def display_names(name: str, count: int) -> list[str]:
    """Return the names of `count` servers, numbered from 1 if there are several."""
    if count == 1:
        return [name]
    suffixes = [f'-{number}' for number in range(1, count + 1)]
    return [name[: LONGEST_NAME - len(suffix)] + suffix for suffix in suffixes]


def hostname(name: str, uuid: str) -> str:
    """Return the hostname that nova derives from a display name: letters of Latin-1 stay."""
    found = name.encode('latin-1', 'ignore').decode('latin-1')[:LONGEST]
    found = re.sub(r'[^\w-]', '', re.sub(r'[ _.]', '-', found)).lower().strip('-')
    return found or f'Server-{uuid}'
