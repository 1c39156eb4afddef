"""Names that the commands `nova-lite twin` get, checked before a copy of the cloud starts."""

from collections.abc import Collection
from collections.abc import Sequence
import shlex
import typing

from nova_lite import context
from nova_lite import exception
from nova_lite.clients import image as image_client
from nova_lite.db import rows
from nova_lite.db import transactions
from nova_lite.db.api import aggregates
from nova_lite.db.api import flavors
from nova_lite.db.api import host_mappings
from nova_lite.db.api import server_groups
from nova_lite.db.cell import services
from nova_lite.lab import server_names
from nova_lite.lab.launcher import client_config
from nova_lite.lab.launcher import client_connections
from nova_lite.lab.launcher import control_client
from nova_lite.lab.launcher import state_dir
from nova_lite.lab.launcher.cloud_file import api as apis
from nova_lite.lab.twin import names as names_
from nova_lite.objects import image as image_meta

Json: typing.TypeAlias = dict[str, typing.Any]
MOST_FLAVORS = 10_000


class UnknownName(exception.Invalid):
    msg = 'The cloud has no %(kind)s %(name)s. It has: %(known)s'


class Ambiguous(exception.Invalid):
    msg = 'Several projects have the name %(name)s: %(found)s. Use an id, or add --project-domain DOMAIN'


class HostDown(exception.Conflict):
    msg = (
        'Host %(host)s is down, so no server can be migrated from it. Use `%(survives)s` to see '
        'where its servers can be evacuated to.'
    )


def require(
    directory: str,
    *,
    flavor: str | None = None,
    hosts: Collection[str] = (),
    zones: Collection[str] = (),
) -> None:
    """Raise UnknownName unless the cloud in a state directory has a flavor, hosts and zones.

    flavor: name or id
    """
    conf = state_dir.control_conf(directory)
    database = transactions.Database(conf.api_database.connection)
    if flavor is not None:
        find_flavor(database, flavor)
    known = [row.host for row in database.read(host_mappings.every)]
    _require('host', hosts, known)
    if zones:
        zoned = database.read(aggregates.zones)
        default = conf.default_availability_zone
        _require('zone', zones, sorted({zoned.get(host, default) for host in known}))


def require_up(directory: str, host: str) -> None:
    """Raise HostDown if a known host of the running cloud is down, Unavailable if no cloud runs."""
    # All hosts of a stopped cloud are silent.
    control_client.Client(directory).require_running()
    conf = state_dir.control_conf(directory)
    with server_names.cells_of(conf) as cells:
        cell = cells.of_host(host)
        if not cell.db.read(services.is_host_up, host, conf.service_down_time):
            command = f'twin survives --host {shlex.quote(host)}'
            raise HostDown(host=host, survives=state_dir.command(command, directory))


def _require(kind: str, names: Collection[str], known: list[str]) -> None:
    for name in names:
        if name not in known:
            raise UnknownName(kind=kind, name=name, known=names_.listed(known))


def project_id(directory: str, name: str, domain: str | None = None) -> str:
    """Return the id of a project of the cloud that runs in a state directory.

    See `find_project`. Raise UnknownName, Ambiguous.
    """
    api = apis.connect(client_config.credentials(directory, client_connections.ADMIN))
    projects = api.list('identity', '/v3/projects', 'projects')
    domains = api.list('identity', '/v3/domains', 'domains')
    return find_project(projects, domains, name, domain)


def find_project(
    projects: Sequence[Json], domains: Sequence[Json], name: str, domain: str | None = None
) -> str:
    """Return the id of a project, which may be named by its id. Raise UnknownName, Ambiguous.

    projects, domains: as the identity API shows them
    name: also the id of the project in the cloud from which a twin was imported
    domain: name or id of the only domain that is allowed
    """
    named = {row['id']: str(row['name']) for row in domains}
    if domain is not None:
        found = {row_id for row_id, its in named.items() if domain in (row_id, its)}
        if not found:
            raise UnknownName(
                kind='domain', name=domain, known=names_.listed(sorted(named.values()))
            )
        projects = [row for row in projects if row['domain_id'] in found]
    wanted = name, names_.hidden('project', name)
    for matching in (
        [row for row in projects if row['id'] == name],
        [row for row in projects if row['name'] in wanted],
    ):
        if len(matching) == 1:
            return str(matching[0]['id'])
        if matching:
            listed = [f'{row["id"]} in domain {named[row["domain_id"]]}' for row in matching]
            raise Ambiguous(name=name, found=names_.listed(sorted(listed)))
    known = names_.listed(sorted({str(row['name']) for row in projects}))
    raise UnknownName(kind='project', name=name, known=known or 'none')


def find_image(images: image_client.Image, name: str) -> image_meta.ImageMeta:
    """Return an image by its name or id, as a request for a server has it. Raise UnknownName."""
    ctxt = context.admin()
    listed = images.list(ctxt)
    for row in listed:
        if name in (row['id'], row['name']):
            image = images.get(ctxt, row['id'])
            return image_meta.ImageMeta(
                **{key: image.get(key) for key in image_meta.ImageMeta.fields}
            )
    known = names_.listed([str(row['name']) for row in listed])
    raise UnknownName(kind='image', name=name, known=known or 'none')


def find_group(database: transactions.Database, name: str) -> rows.Row:
    """Return the row of a server group by its name or id. Raise UnknownName."""
    found = database.read(server_groups.page)
    for row in found:
        if name in (row.name, row.uuid):
            return row
    known = names_.listed([row.name for row in found])
    raise UnknownName(kind='server group', name=name, known=known or 'none')


def find_flavor(database: transactions.Database, name: str) -> rows.Row:
    """Return the row of a flavor by its name or id. Raise UnknownName."""
    found = database.read(flavors.page, (), limit=MOST_FLAVORS)
    for row in found:
        if name in (row.name, row.flavorid):
            return row
    raise UnknownName(kind='flavor', name=name, known=names_.listed([row.name for row in found]))
