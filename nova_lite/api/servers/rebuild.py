"""rebuild: give a server a new guest where it is, from its own or from another image.

The saga continues with the further steps (moves.rebuild). Source: reference/nova/api-surface 2.4
and 6.
"""

from collections.abc import Iterator
import contextlib
import dataclasses
import typing

from nova_lite import exception
from nova_lite.api import formats
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api.policies import servers as rules
from nova_lite.api.servers import acting
from nova_lite.api.servers import create_bounds
from nova_lite.api.servers import create_content
from nova_lite.api.servers import create_names
from nova_lite.api.servers import create_schema
from nova_lite.api.servers import left_guest
from nova_lite.api.servers import moves
from nova_lite.api.servers import rebuild_image
from nova_lite.api.servers import show
from nova_lite.api.servers import unique_names
from nova_lite.states import transitions

ACTION = 'rebuild'
_V1 = schema_parts.whole(
    {
        'imageRef': schema_parts.UUID,
        'name': schema_parts.STRIPPED_NAME,
        'adminPass': create_schema.PASSWORD,
        'metadata': schema_parts.METADATA,
        'preserve_ephemeral': schema_parts.BOOLEAN,
        'OS-DCF:diskConfig': create_schema.DISK_CONFIG,
        'accessIPv4': schema_parts.IPV4,
        'accessIPv6': schema_parts.IPV6,
        'personality': create_schema.PERSONALITY,
    },
    required=['imageRef'],
)
_V19 = schema.extended(_V1, description=schema_parts.DESCRIPTION)
_V54 = schema.extended(_V19, key_name=schema_parts.null_or(create_schema.KEY_NAME))
_V57 = schema.extended(
    _V54, personality=None, user_data=schema_parts.null_or(create_schema.USER_DATA)
)
_V63 = schema.extended(_V57, trusted_image_certificates=create_schema.CERTIFICATES)
_V90 = schema.extended(_V63, hostname=schema_parts.HOSTNAME)
_V94 = schema.extended(_V90, hostname=schema_parts.HOST)
BODY = {
    '2.1': _V1,
    '2.19': _V19,
    '2.54': _V54,
    '2.57': _V57,
    '2.63': _V63,
    '2.90': _V90,
    '2.94': _V94,
}
# The microversion from which the answer has the name of the key pair, or the user data.
KEY_NAME, USER_DATA = 54, 57
# Fields of the body that are columns of the record with the same values.
COLUMNS = {
    'name': 'display_name',
    'description': 'display_description',
    'metadata': 'metadata',
    'accessIPv4': 'access_ip_v4',
    'accessIPv6': 'access_ip_v6',
    'key_name': 'key_name',
    'user_data': 'user_data',
    'trusted_image_certificates': 'trusted_certs',
    'hostname': 'hostname',
}


class CertificatesOfVolume(exception.Invalid):
    msg = 'Image certificate validation is not supported when booting from volume'


@operation.server_action(
    ACTION,
    policy=rules.REBUILD,
    guard=transitions.REBUILD,
    precheck=lambda req, server: _require_rebuildable(req, server),
    body=BODY,
    success=202,
    faults=(400, 403, 404, 409),
)
def rebuild(req: request.Request, server: server_access.Server) -> operation.Result:
    """Begin a rebuild. Answer with the changed server and its new password."""
    asked = req.content
    acting.require_host(server)
    plan = rebuild_image.plan(req, server, asked['imageRef'], asked.get('OS-DCF:diskConfig'))
    if plan.boots_from_volume and asked.get('trusted_image_certificates'):
        raise CertificatesOfVolume()
    create_content.check_quota(req, asked.get('metadata', {}), asked.get('personality', ()))
    changes = {**_changes(req, asked), **plan.columns, 'progress': 0}
    create_bounds.check(changes)
    left_guest.remove(req, server)
    with _named(req, server, changes.get('display_name')):
        moves.begin(
            req,
            server,
            kind='rebuild',
            guard=transitions.REBUILD,
            action=ACTION,
            changes=changes,
            same=plan.former,
            arguments={'image': plan.image, 'former': plan.former, 'reimage': plan.reimage},
        )
    return _answer(req, server, asked.get('adminPass'))


def _require_rebuildable(req: request.Request, server: server_access.Server) -> None:
    """Raise Forbidden if the caller may not set certificates, or Invalid for a virtual TPM."""
    if 'trusted_image_certificates' in req.content:
        req.authorize(rules.REBUILD_TRUSTED_CERTS, server.target)
    acting.require_no_tpm(server, ACTION)


def _changes(req: request.Request, asked: operation.Body) -> dict[str, typing.Any]:
    """Return the columns of the record that the body changes."""
    columns = {COLUMNS[name]: value for name, value in asked.items() if name in COLUMNS}
    changes = create_names.stripped(columns)
    if 'accessIPv6' in asked:
        changes['access_ip_v6'] = formats.shortest_ipv6(asked['accessIPv6'])
    if 'key_name' in asked:
        changes['key_data'] = create_content.public_key(req, asked['key_name'])
    return changes


@contextlib.contextmanager
def _named(req: request.Request, server: server_access.Server, name: str | None) -> Iterator[None]:
    """Set the name first, under the lock of names, if names are unique.

    If the rebuild is refused, the server has its former name again.
    """
    former = server.row.display_name
    if name is None or name == former or not unique_names.are_unique(req):
        yield
        return
    states_only = dataclasses.replace(transitions.REBUILD, during=None)

    def give(name: str) -> None:
        acting.swap(req, server, states_only, {'display_name': name})

    unique_names.rename(req, server, name, lambda: give(name))
    try:
        yield
    except exception.NovaLiteError:
        unique_names.rename(req, server, former, lambda: give(former))
        raise


def _answer(
    req: request.Request, server: server_access.Server, password: str | None
) -> operation.Answer:
    fresh = server_access.load(req, server.uuid)
    shown = show.represent(req, fresh, full=False)
    if req.minor >= KEY_NAME:
        shown['key_name'] = fresh.row.key_name
    if req.minor >= USER_DATA:
        # It replaces a field that other answers show to administrators.
        shown.pop('OS-EXT-SRV-ATTR:user_data', None)
        shown['user_data'] = fresh.row.user_data
    if req.conf.api.enable_instance_password:
        shown['adminPass'] = create_content.password(req.conf, password)
    return operation.Answer({'server': shown}, headers={'Location': shown['links'][0]['href']})
