"""Checks of the files in the state directory of a cloud, before the cloud uses them.

The files may have been truncated, replaced or written by a newer release since the last start.
"""

from collections.abc import Iterable
import json
import os
import typing

from nova_lite import exception
from nova_lite.lab.launcher import state_dir

# The file format of SQLite: the first bytes, and the positions of the sizes in the header.
MAGIC = b'SQLite format 3\0'
HEADER_BYTES = 100
PAGE_BYTES, PAGES = slice(16, 18), slice(28, 32)
LARGEST_PAGE = 65536


class Spoiled(exception.NovaLiteError):
    msg = (
        'The file %(file)s cannot be used: %(reason)s. Restore it, or delete the cloud and start '
        'an empty one with `%(fresh)s`.'
    )


def spoiled(directory: str, path: str, reason: str | None) -> Spoiled:
    """Return the error to raise for a file of the cloud in a state directory."""
    fresh = state_dir.command('up', directory) + ' --fresh'
    return Spoiled(file=path, reason=reason, fresh=fresh)


def text(directory: str, path: str) -> str:
    """Return the text of a file. Raise Spoiled, also if the file is empty."""
    try:
        with open(path, encoding='utf-8') as file:
            found = file.read().strip()
    except OSError as error:
        raise spoiled(directory, path, error.strerror) from error
    except ValueError:
        raise spoiled(directory, path, 'it is not text') from None
    if not found:
        raise spoiled(directory, path, 'it is empty')
    return found


def values(directory: str, path: str, names: Iterable[str]) -> dict[str, typing.Any]:
    """Return the JSON object in a file. Raise Spoiled.

    names: keys whose values must be texts that are not empty
    """
    found = text(directory, path)
    try:
        read = json.loads(found)
    # Thousands of brackets cause a RecursionError.
    except (ValueError, RecursionError):
        raise spoiled(directory, path, 'it is not JSON') from None
    if not isinstance(read, dict):
        raise spoiled(directory, path, 'it is not a JSON object')
    for name in names:
        if not isinstance(read.get(name), str) or not read[name]:
            raise spoiled(directory, path, f'it has no text for {name}')
    return read


def require_database(directory: str, path: str) -> None:
    """Raise Spoiled unless a file is a whole SQLite database, empty or missing."""
    try:
        with open(path, 'rb') as file:
            header = file.read(HEADER_BYTES)
            size = os.fstat(file.fileno()).st_size
        # SQLite also writes the log beside the file.
        is_writable = os.access(path, os.W_OK) and os.access(os.path.dirname(path), os.W_OK)
    except FileNotFoundError:
        return
    except OSError as error:
        raise spoiled(directory, path, error.strerror) from error
    if not is_writable:
        raise spoiled(directory, path, 'it cannot be written')
    if not header:
        return
    if len(header) < HEADER_BYTES or not header.startswith(MAGIC):
        raise spoiled(directory, path, 'it is not an SQLite database')
    page = int.from_bytes(header[PAGE_BYTES], 'big')
    wanted = int.from_bytes(header[PAGES], 'big') * (LARGEST_PAGE if page == 1 else page)
    if size < wanted:
        raise spoiled(directory, path, f'it has {size} of {wanted} bytes')
