"""Pages: the paths of the metadata service, and their content for one server."""

from collections.abc import Iterable
import typing

from nova_lite import exception
from nova_lite.metadata import document_versions
from nova_lite.metadata import ec2
from nova_lite.metadata import instance_metadata
from nova_lite.metadata import openstack

TEXT, JSON = 'text/plain; charset=UTF-8', 'application/json'
OPENSTACK = 'openstack'
# The order of the list of documents.
DOCUMENTS = (
    openstack.META_DATA,
    openstack.USER_DATA,
    openstack.PASSWORD,
    openstack.VENDOR_DATA,
    openstack.NETWORK_DATA,
    openstack.VENDOR_DATA_2,
)


class NoSuchPage(exception.NotFound):
    msg = 'There is no metadata at %(path)s'


class Page(typing.NamedTuple):
    """The body of an answer and its content type."""

    body: bytes
    kind: str = TEXT


def split(path: str) -> list[str]:
    """Return the parts of a path, without empty ones."""
    return [part for part in path.split('/') if part]


def root() -> Page:
    """Return the list of EC2's versions, which is the same for all servers."""
    return _listing((*ec2.VERSIONS, document_versions.LATEST))


def is_password(parts: list[str]) -> bool:
    """Return whether a path is that of the password."""
    if len(parts) != 3 or (parts[0], parts[2]) != (OPENSTACK, openstack.PASSWORD):
        return False
    version = document_versions.resolve(parts[1], openstack.VERSIONS)
    return version is not None and version >= openstack.SINCE[openstack.PASSWORD]


def find(
    parts: list[str], facts: instance_metadata.Facts, password: str, *, address: str | None
) -> Page:
    """Return the page at a path. Raise NoSuchPage.

    password: the encrypted one that the guest has reported, '' if none; address: see ec2.meta_data
    """
    if parts == [OPENSTACK]:
        return _listing((*openstack.VERSIONS, document_versions.LATEST))
    if is_password(parts):
        return Page(password.encode())
    if parts[0] == OPENSTACK:
        found = _openstack(parts[1:], facts)
    else:
        found = _ec2(parts, facts, address)
    if found is None:
        raise NoSuchPage(path='/' + '/'.join(parts))
    return found


def _openstack(parts: list[str], facts: instance_metadata.Facts) -> Page | None:
    version = document_versions.resolve(parts[0], openstack.VERSIONS)
    if version is None or len(parts) > 2:
        return None
    if len(parts) == 2:
        content = openstack.document(facts, version, parts[1])
        kind = JSON if parts[1].endswith('.json') else TEXT
        return None if content is None else Page(content, kind)
    documents = openstack.names(facts, version)
    has_password = version >= openstack.SINCE[openstack.PASSWORD]
    return _listing(
        name
        for name in DOCUMENTS
        if name in documents or (name == openstack.PASSWORD and has_password)
    )


def _ec2(parts: list[str], facts: instance_metadata.Facts, address: str | None) -> Page | None:
    version = document_versions.resolve(parts[0], ec2.VERSIONS)
    if version is None:
        return None
    if parts[1:] == [ec2.USER_DATA]:
        return None if facts.user_data is None else Page(facts.user_data)
    tree: ec2.Directory = {ec2.META_DATA: ec2.meta_data(facts, version, address)}
    node: ec2.Node | None = tree
    for part in parts[1:]:
        node = node.get(part) if isinstance(node, dict) and part != ec2.NAME else None
    if isinstance(node, dict):
        more = [ec2.USER_DATA] if node is tree and facts.user_data is not None else []
        return _listing([*_names(node), *more])
    return None if node is None else Page(node.encode())


def _names(directory: ec2.Directory) -> list[str]:
    """Return the names in a directory. A subdirectory ends with a slash unless it has a label."""
    found = []
    for name in sorted(directory.keys() - {ec2.NAME}):
        node = directory[name]
        if isinstance(node, dict):
            own = node.get(ec2.NAME)
            name = own if isinstance(own, str) else f'{name}/'
        found.append(name)
    return found


def _listing(names: Iterable[str]) -> Page:
    return Page('\n'.join(names).encode())
