"""The file of a snapshot: a ZIP archive of `manifest.json` and of other files.

The manifest says what the cloud is, when the snapshot was taken, and the size and digest of
each other file. A reader asks for files by names of its own, never by those in the archive.
"""

import contextlib
import dataclasses
import hashlib
import json
import os
import tempfile
import zipfile
import zlib

from nova_lite import exception
from nova_lite.api import schema as schemas
from nova_lite.api import schema_parts
from nova_lite.lab.launcher import layout

FORMAT = 1
MANIFEST = 'manifest.json'
# The end of the name of a file that is not whole yet.
UNFINISHED = '.new'
MOST_MANIFEST, CHUNK = 1 << 20, 1 << 20
# Databases shrink to a tenth or less. So much is written however small a snapshot is.
MOST_RATIO, LEAST_LIMIT = 200, 64 << 20
# Fast: a snapshot is mostly read on the machine that took it.
LEVEL = 1
# The end of the year 9999, the last that a clock can show.
LAST = 253402300799

TEXT = {'type': 'string', 'minLength': 1}
# A line of a configuration file, as `layout.options_of` accepts it.
LINE = {'pattern': rf'^{layout.LINE.pattern}\Z'}
OPTIONS = {
    'type': 'object',
    'propertyNames': LINE,
    # Lists come from programs that start a cloud.
    'additionalProperties': {
        'type': ['string', 'number', 'boolean', 'array'],
        'items': {'type': ['string', 'number'], **LINE},
        **LINE,
    },
}
SETTINGS = {
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
PROPERTIES = {
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


@dataclasses.dataclass(frozen=True, kw_only=True)
class Manifest:
    """The description that a snapshot contains.

    release: of nova-lite; schemas: {database: version}
    taken_at: seconds since the epoch by the clock of the cloud
    settings: by the names in SETTINGS, as in layout.Settings. profile: None for a file of the
        snapshot
    files: {name: {'size': bytes, 'sha256': digest}}
    """

    format: int = FORMAT
    release: str
    schemas: dict
    taken_at: float
    settings: dict
    files: dict


def write(path, manifest, files):
    """Write a snapshot that only its owner can read. files: {name: path of its content}

    The manifest gets the files' sizes and digests. Return it. A former file is replaced once the
    new one is whole.
    """
    directory, name = os.path.split(os.path.abspath(path))
    # Perhaps others may write to the directory.
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
        os.replace(draft, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(draft)
        raise
    return whole


def _add(archive, name, source):
    """Add a file; return its size and digest. Its time, which ZIP may not know, is not kept."""
    digest, size = hashlib.sha256(), 0
    with open(source, 'rb') as file, archive.open(name, 'w', force_zip64=True) as written:
        while chunk := file.read(CHUNK):
            size += len(chunk)
            digest.update(chunk)
            written.write(chunk)
    return {'size': size, 'sha256': digest.hexdigest()}


def read(path):
    """Return the Manifest of a snapshot. Raise Unusable, Damaged, OtherFormat."""
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


def _require_size(path, files):
    """Raise Damaged if files are larger than those of a cloud can be in so small a snapshot."""
    size = sum(each['size'] for each in files.values())
    if size > max(MOST_RATIO * os.path.getsize(path), LEAST_LIMIT):
        raise Damaged(file=path, reason=f'its files would have {size} bytes')


def _refuse(constant):
    """Raise ValueError: no field may be NaN or infinite, which a schema does not find."""
    raise ValueError(constant)


def extract(path, manifest, targets):
    """Write files of a snapshot. targets: {name: path}. Raise Unusable, Damaged, NotUnpacked.

    A file that is there is replaced once the new one is whole.
    """
    with _opened(path) as archive:
        _require(archive, path, manifest, targets)
        for name, target in targets.items():
            try:
                is_same = _extract(archive, name, target, **manifest.files[name])
            except OSError as error:
                # Of a library that decompresses, for which the snapshot is to blame.
                if error.errno is None:
                    raise
                raise NotUnpacked(file=path, target=target, cause=error) from error
            if not is_same:
                raise _changed(path, name)


def _require(archive, path, manifest, names):
    known = set(archive.namelist()).intersection(manifest.files)
    missing = sorted(set(names) - known)
    if missing:
        raise Damaged(file=path, reason=f'it lacks {", ".join(missing)}')


def _changed(path, name):
    return Damaged(file=path, reason=f'{name} has another content than when it was taken')


def _extract(archive, name, target, **expected):
    """Write a file if it is as expected; return whether it is."""
    draft = f'{target}{UNFINISHED}'
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, 'wb') as written:
        is_same = _copy(archive, name, written, **expected)
    if is_same:
        os.replace(draft, target)
    else:
        os.unlink(draft)
    return is_same


def _copy(archive, name, written, *, size, sha256):
    """Write a file of the archive to an open one; return whether it has that size and digest."""
    digest, left = hashlib.sha256(), size
    with archive.open(name) as source:
        while left >= 0 and (chunk := source.read(CHUNK)):
            left -= len(chunk)
            digest.update(chunk)
            written.write(chunk)
    return not left and digest.hexdigest() == sha256


@contextlib.contextmanager
def _opened(path):
    """Yield the archive. Raise Unusable, Damaged for what goes wrong as it is read."""
    try:
        if not zipfile.is_zipfile(path) and os.path.exists(path):
            raise Unusable(file=path, reason='it is no snapshot, or not whole')
        with zipfile.ZipFile(path) as archive:
            yield archive
    except OSError as error:
        raise Unusable(file=path, reason=error.strerror or error) from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise Damaged(file=path, reason=error) from error
