"""The file of a snapshot: a ZIP archive of `manifest.json` and of other files.

The manifest contains the settings of the cloud, the time of the snapshot, and the size and digest
of each other file. A reader writes only files whose names it knows, to paths that it chooses.
"""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import contextlib
import dataclasses
import hashlib
import json
import os
import tempfile
import typing
import zipfile
import zlib

from nova_lite import exception
from nova_lite.api import schema as schemas
from nova_lite.api import schema_parts
from nova_lite.lab.launcher import durable
from nova_lite.lab.launcher import layout

FORMAT = 1
MANIFEST = 'manifest.json'
# The end of the name of a file that is still being written.
UNFINISHED = '.new'
MOST_MANIFEST, CHUNK = 1 << 20, 1 << 20
# The largest ratio of the files to the snapshot (databases shrink to a tenth or less), and the size
# of the files up to which the ratio is not checked.
MOST_RATIO, LEAST_LIMIT = 200, 64 << 20
# A fast level: most snapshots are read on the machine that took them.
LEVEL = 1
# The end of the year 9999, the last year that a clock can show.
LAST = 253402300799

TEXT = {'type': 'string', 'minLength': 1}
# A line of a configuration file, as `given_options.parse` accepts it.
LINE = {'pattern': rf'^{layout.LINE.pattern}\Z'}
OPTIONS = {
    'type': 'object',
    'propertyNames': LINE,
    # Only programs that start a cloud set lists.
    'additionalProperties': {
        'type': ['string', 'number', 'boolean', 'array'],
        'items': {'type': ['string', 'number'], **LINE},
        **LINE,
    },
}
SETTINGS: dict[str, schemas.Source] = {
    'cells': {'type': 'integer', 'minimum': 1, 'maximum': 1000},
    # One number for each cell if these differ.
    'hosts': {
        'type': ['integer', 'array'],
        'minimum': 1,
        'maximum': 100_000,
        'minItems': 2,
        'items': {'type': 'integer', 'minimum': 1, 'maximum': 100_000},
    },
    'auth': {'enum': ['keystone', 'noauth']},
    'profile': {'type': ['string', 'null']},
    'speed': {'type': 'number', 'exclusiveMinimum': 0},
    'shared_cidr': {'type': ['string', 'null']},
    'options': {'type': 'object', 'propertyNames': LINE, 'additionalProperties': OPTIONS},
}
DIGEST = schema_parts.whole(
    {'size': {'type': 'integer', 'minimum': 0}, 'sha256': TEXT}, required=['size', 'sha256']
)
PROPERTIES: dict[str, schemas.Source] = {
    'format': {'const': FORMAT},
    'release': TEXT,
    'schemas': {'type': 'object'},
    'taken_at': {'type': 'number', 'minimum': 0, 'maximum': LAST},
    'settings': schema_parts.whole(SETTINGS, required=list(SETTINGS)),
    'files': {'type': 'object', 'additionalProperties': DIGEST},
}
SCHEMA = schemas.Schema(schema_parts.whole(PROPERTIES, required=list(PROPERTIES)), place='manifest')


class Unusable(exception.Invalid):
    msg = (
        '%(file)s cannot be used as a snapshot: %(reason)s. '
        'Use a file that `nova-lite snapshot save` has written.'
    )


class Damaged(exception.Invalid):
    msg = 'The snapshot %(file)s is damaged: %(reason)s. Copy it again, or take a new one.'


class NotUnpacked(exception.Unavailable):
    msg = (
        'The snapshot %(file)s could not be unpacked to %(target)s: %(cause)s. '
        'Correct that, for example by freeing space, and repeat the command.'
    )


class OtherFormat(exception.Invalid):
    msg = (
        'The snapshot %(file)s has format %(found)s; this release reads format %(known)s. Use '
        'nova-lite %(release)s, or take the snapshot again with this release.'
    )


# What `read` and `extract` raise.
ERRORS = (Unusable, Damaged, NotUnpacked, OtherFormat)


class Digest(typing.TypedDict):
    """The size of a file in bytes, and its SHA-256 digest."""

    size: int
    sha256: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class Manifest:
    """The description that a snapshot contains.

    release: of nova-lite; schemas: {kind of database: version}
    taken_at: seconds since the epoch by the clock of the cloud
    settings: the values of layout.Settings with the names in SETTINGS. The profile is None if the
        snapshot contains its file
    files: {name: size and digest}
    """

    format: int = FORMAT
    release: str
    schemas: dict[str, typing.Any]
    taken_at: float
    settings: dict[str, typing.Any]
    files: dict[str, Digest]


def write(path: str, manifest: Manifest, files: Mapping[str, str]) -> Manifest:
    """Write a snapshot that only its owner can read. Return the manifest with `files`.

    files: {name in the snapshot: path}. The new file replaces a former one when it is complete.
    """
    directory, name = os.path.split(os.path.abspath(path))
    # Other users may be able to write to the directory.
    descriptor, draft = tempfile.mkstemp(prefix=f'{name}.', suffix=UNFINISHED, dir=directory)
    try:
        with (
            open(descriptor, 'w+b') as file,
            zipfile.ZipFile(file, 'w', zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive,
        ):
            digests = {name: _add(archive, name, source) for name, source in files.items()}
            whole = dataclasses.replace(manifest, files=digests)
            with archive.open(MANIFEST, 'w') as written:
                written.write(json.dumps(dataclasses.asdict(whole), indent=2).encode())
        durable.replace(draft, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(draft)
        raise
    return whole


def _add(archive: zipfile.ZipFile, name: str, source: str) -> Digest:
    """Add a file without its time, which ZIP may not support. Return its size and digest."""
    digest, size = hashlib.sha256(), 0
    with open(source, 'rb') as file, archive.open(name, 'w', force_zip64=True) as written:
        while chunk := file.read(CHUNK):
            size += len(chunk)
            digest.update(chunk)
            written.write(chunk)
    return {'size': size, 'sha256': digest.hexdigest()}


def read(path: str) -> Manifest:
    """Return the manifest of a snapshot. Raise Unusable, Damaged, OtherFormat."""
    with _opened(path) as archive:
        if MANIFEST not in archive.namelist():
            raise Unusable(file=path, reason=f'it has no {MANIFEST}')
        with archive.open(MANIFEST) as file:
            text = file.read(MOST_MANIFEST)
    try:
        values = json.loads(text, parse_constant=_refuse)
        found = values['format']
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Damaged(file=path, reason=f'its {MANIFEST} cannot be read') from error
    if found != FORMAT:
        release = values.get('release', 'of another release')
        raise OtherFormat(file=path, found=found, known=FORMAT, release=release)
    try:
        SCHEMA.check(values)
    except exception.Invalid as error:
        raise Damaged(file=path, reason=f'its {MANIFEST} is wrong: {error}') from error
    _require_size(path, values['files'])
    return Manifest(**values)


def _require_size(path: str, files: Mapping[str, Digest]) -> None:
    """Raise Damaged if the files are too large for the size of their snapshot."""
    size = sum(each['size'] for each in files.values())
    if size > max(MOST_RATIO * os.path.getsize(path), LEAST_LIMIT):
        raise Damaged(file=path, reason=f'its files would have {size} bytes')


def _refuse(constant: str) -> typing.NoReturn:
    """Raise ValueError. A schema would accept NaN and infinite numbers."""
    raise ValueError(constant)


def extract(path: str, manifest: Manifest, targets: Mapping[str, str]) -> None:
    """Write files of a snapshot. Raise Unusable, Damaged, NotUnpacked.

    targets: {name in the snapshot: path}. A new file replaces a former one when it is complete.
    """
    with _opened(path) as archive:
        _require(archive, path, manifest, targets)
        for name, target in targets.items():
            try:
                is_same = _extract(archive, name, target, manifest.files[name])
            except OSError as error:
                # An error without a number is from decompression: the snapshot is damaged.
                if error.errno is None:
                    raise
                raise NotUnpacked(file=path, target=target, cause=error) from error
            if not is_same:
                raise _changed(path, name)


def _require(archive: zipfile.ZipFile, path: str, manifest: Manifest, names: Iterable[str]) -> None:
    known = set(archive.namelist()).intersection(manifest.files)
    missing = sorted(set(names) - known)
    if missing:
        raise Damaged(file=path, reason=f'it lacks {", ".join(missing)}')


def _changed(path: str, name: str) -> Damaged:
    return Damaged(file=path, reason=f'{name} has another content than when it was taken')


def _extract(archive: zipfile.ZipFile, name: str, target: str, expected: Digest) -> bool:
    """Write a file if it has the expected size and digest. Return whether it has."""
    draft = f'{target}{UNFINISHED}'
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, 'wb') as written:
        is_same = _copy(archive, name, written, expected)
    if is_same:
        os.replace(draft, target)
    else:
        os.unlink(draft)
    return is_same


def _copy(archive: zipfile.ZipFile, name: str, written: typing.IO[bytes], expected: Digest) -> bool:
    """Write a file of the archive to an open file. Return whether it is as expected."""
    digest, left = hashlib.sha256(), expected['size']
    with archive.open(name) as source:
        while left >= 0 and (chunk := source.read(CHUNK)):
            left -= len(chunk)
            digest.update(chunk)
            written.write(chunk)
    return not left and digest.hexdigest() == expected['sha256']


@contextlib.contextmanager
def _opened(path: str) -> Iterator[zipfile.ZipFile]:
    """Yield the archive. Raise Unusable, Damaged for errors inside the block."""
    try:
        if not zipfile.is_zipfile(path) and os.path.exists(path):
            raise Unusable(file=path, reason='it is no snapshot, or not whole')
        with zipfile.ZipFile(path) as archive:
            yield archive
    except OSError as error:
        raise Unusable(file=path, reason=error.strerror or error) from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise Damaged(file=path, reason=error) from error
