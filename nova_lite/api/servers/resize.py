"""resize: give a server another flavor. The order of the checks is that of nova.

The scheduler decides later: the migration and the record of actions have its result.
Source: reference/nova/moves 2.2.
"""

from collections.abc import Callable
from collections.abc import Iterator
import contextlib

from nova_lite import exception
from nova_lite.api import operation
from nova_lite.api import quota
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api import server_access
from nova_lite.api.policies import cold_moves as rules
from nova_lite.api.servers import create_flavor
from nova_lite.api.servers import cross_cell
from nova_lite.api.servers import moves
from nova_lite.api.servers import source_host
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.db.api import request_specs
from nova_lite.states import transitions

FLAVOR_REF = {'type': ['string', 'integer'], 'minLength': 1}
BODY = {
    '2.1': schema_parts.whole(
        {
            'flavorRef': FLAVOR_REF,
            'OS-DCF:diskConfig': {'type': 'string', 'enum': ['AUTO', 'MANUAL']},
        },
        required=['flavorRef'],
    )
}


class SameFlavor(exception.Invalid):
    msg = 'When resizing, instances must change flavor!'


class ZeroDisk(exception.Invalid):
    msg = 'Resize to zero disk flavor is not allowed.'


@operation.server_action(
    'resize',
    policy=rules.RESIZE,
    guard=transitions.RESIZE,
    body=BODY,
    success=202,
    faults=(400, 401, 403, 404, 409),
)
def resize(req: request.Request, server: server_access.Server) -> None:
    """Begin a resize."""
    source_host.require_up(req, server)
    row, asked = server.row, req.content
    changes = {'progress': 0}
    if 'OS-DCF:diskConfig' in asked:
        changes['auto_disk_config'] = create_flavor.disk_config(
            asked['OS-DCF:diskConfig'], row.image_properties or {}
        )
    flavor = create_flavor.flavor_of(req, asked['flavorRef'])
    if (flavor.extra_specs or {}).get(create_flavor.DEVICE_PROFILE):
        raise exception.Invalid('Feature not supported with instances that have accelerators.')
    spec = req.app.api_db.read(request_specs.stored, [server.uuid]).get(server.uuid, {})
    _check_flavor(row, flavor, spec)
    # The quota is decided when the saga is recorded.
    rules_of_owner = quota.rules(req, row.project_id)
    size = rules_of_owner.size_of(create_flavor.as_dict(flavor), row.image_properties or {})
    with _quota_first(lambda: req.app.api_db.read(quota.admit_growth, rules_of_owner, row, size)):
        wanted = create_flavor.with_devices(req, flavor, row.flavor)
        boots_from_volume = bool(spec.get('is_bfv'))
        image = spec.get('image') or None
        guest = create_flavor.check(req, wanted, image, boots_from_volume=boots_from_volume)
        # The host of the former size keeps its resources until the resize is confirmed.
        rules_of_owner.admit(wanted, guest, wanted=1, boots_from_volume=boots_from_volume)
        create_flavor.require_kept_tpm(row.flavor, wanted, image)
        moves.begin(
            req,
            server,
            kind=cross_cell.kind('resize', cross_cell.is_allowed(req, server)),
            guard=transitions.RESIZE,
            action='resize',
            changes=changes,
            flavor=wanted,
            arguments={
                'flavor': wanted,
                'ignore_hosts': [] if req.conf.allow_resize_to_same_host else [row.host],
            },
        )


@contextlib.contextmanager
def _quota_first(admit: Callable[[], object]) -> Iterator[None]:
    """Raise the OverQuota of `admit` in place of a refusal that nova checks later."""
    try:
        yield
    except exception.OverQuota:
        raise
    except exception.NovaLiteError as error:
        # After a transient error the saga may be on record.
        if not error.transient:
            admit()
        raise


def _check_flavor(row: rows.Row, flavor: rows.Row, spec: session.Json) -> None:
    if flavor.id == row.flavor['id']:
        raise SameFlavor()
    if not flavor.root_gb and row.flavor['root_gb'] and not spec.get('is_bfv'):
        raise ZeroDisk()
