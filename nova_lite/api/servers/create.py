"""POST /servers.

Everything is checked and looked up first; then the servers are accepted in one
transaction, and one cast asks the super-conductor to build them.
Source: reference/nova/create-server.
"""

from collections.abc import Sequence
import typing

from oslo_log import log

from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import formats
from nova_lite.api import links
from nova_lite.api import operation
from nova_lite.api import quota
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api.policies import servers as rules
from nova_lite.api.servers import create_accept
from nova_lite.api.servers import create_bounds
from nova_lite.api.servers import create_content
from nova_lite.api.servers import create_devices
from nova_lite.api.servers import create_flavor
from nova_lite.api.servers import create_hints
from nova_lite.api.servers import create_host
from nova_lite.api.servers import create_names
from nova_lite.api.servers import create_networks
from nova_lite.api.servers import create_plan
from nova_lite.api.servers import create_properties
from nova_lite.api.servers import create_reserve
from nova_lite.api.servers import create_schema
from nova_lite.api.servers import create_volumes
from nova_lite.api.servers import unique_names
from nova_lite.clients import session
from nova_lite.db.api import build_requests

LOG = log.getLogger(__name__)
MOST = 10000  # servers of one request, since they are one transaction
# A property of images whose guests need a config drive.
DRIVE_PROPERTY, MANDATORY = 'img_config_drive', 'mandatory'


@operation.operation(
    'POST',
    '/servers',
    policy=rules.CREATE,
    body=create_schema.BODY,
    success=202,
    faults=(400, 403, 404, 409),
)
def create(req: request.Request) -> operation.Answer:
    """Accept one or several servers."""
    body = req.body['server']
    checked = _check(req, body, _ask(req, body))
    accepted = create_plan.Accepted(checked, _accept(req, checked))
    _cast_builds(req, accepted.uuids)
    return _answer(req, body, accepted)


def _ask(req: request.Request, body: operation.Body) -> create_plan.Asked:
    """Return the requested servers, checked in the order of nova."""
    least, most = _counts(body)
    if body.get('trusted_image_certificates') is not None:
        req.authorize(rules.TRUSTED_CERTS)
    place = create_host.choose(req, body)
    if body.get('block_device_mapping') or body.get('block_device_mapping_v2'):
        req.authorize(rules.ATTACH_VOLUME)
    networks = create_networks.parse(req, body.get('networks'), most)
    flavor = create_flavor.flavor_of(req, body['flavorRef'])
    hints = create_hints.parse(req.body)
    server_group = create_hints.group_of(req, hints)
    image_id = body.get('imageRef') or None
    image = create_flavor.image_of(req, image_id) if image_id else None
    devices = create_devices.parse(body, image)
    devices += create_devices.flavor_disks(devices, flavor)
    create_devices.check_local(devices, flavor, req.conf.max_local_block_devices)
    _check_certificates(body, create_devices.root_of(devices))
    return create_plan.Asked(
        name=body['name'].strip(),
        least=least,
        most=most,
        place=place,
        networks=networks,
        flavor=flavor,
        hints=hints,
        server_group=server_group,
        tags=sorted(set(body.get('tags', ()))),
        image=image,
        devices=devices,
    )


def _check(
    req: request.Request, body: operation.Body, asked: create_plan.Asked
) -> create_plan.Checked:
    """Check that the contents of the body agree and fit into quotas, in nova's order of checks."""
    sources = create_volumes.check(req, asked)
    flavor = create_flavor.with_devices(req, asked.flavor)
    if asked.boots_from_volume and asked.image is not None:
        # It is no image of the root disk, which `check` looks at.
        create_flavor.require_memory(flavor, asked.image)
    guest = create_flavor.check(
        req,
        flavor,
        sources.boot_image,
        boots_from_volume=asked.boots_from_volume,
    )
    create_flavor.require_sound(flavor, sources.boot_image)
    create_flavor.require_encryption(flavor, sources.boot_image)
    create_flavor.require_accelerators(flavor)
    create_content.check_quota(req, body.get('metadata', {}), body.get('personality', ()))
    password = create_content.password(req.conf, body.get('adminPass'))
    columns = _columns(req, body, asked, flavor=flavor, boot_image=sources.boot_image)
    create_bounds.check(columns, sources.devices)
    networks, most = create_networks.validate(req, asked)
    groups = create_networks.choose_groups(req, body.get('security_groups'))
    most = quota.rules(req).admit(
        flavor,
        guest,
        wanted=most,
        least=asked.least,
        boots_from_volume=asked.boots_from_volume,
        networks=networks,
    )
    most = _bound_count(req, asked, most, columns['image_properties'])
    unique_names.require(req, create_names.display_names(asked.name, most), req.project_id)
    return create_plan.Checked(
        asked=asked,
        uuids=[runtime.new_uuid() for _ in range(most)],
        zone=sources.zone,
        boot_image=sources.boot_image,
        devices=sources.devices,
        networks=networks,
        groups=groups,
        columns=columns,
        files=[[each['path'], each['contents']] for each in body.get('personality', ())],
        password=password,
    )


def _counts(server: operation.Body) -> tuple[int, int]:
    least = int(server.get('min_count', 1))
    most = int(server.get('max_count', least))
    if least > most:
        raise exception.Invalid('min_count must be <= max_count')
    if most > 1 and server.get('hostname'):
        raise exception.Invalid('Unable to allocate a single hostname to multiple servers')
    return least, most


def _bound_count(
    req: request.Request, asked: create_plan.Asked, most: int, properties: session.Json
) -> int:
    """Return how many of at most `most` servers quotas permit and one transaction can hold.

    Raise OverQuota or Invalid if min_count is more. The quotas are checked again when the
    servers are accepted.
    """
    if most > MOST:
        most = req.app.api_db.read(
            create_accept.admitted, req, asked, most=most, properties=properties
        )
    if asked.least > MOST:
        raise exception.Invalid(f'min_count must be at most {MOST}')
    return min(most, MOST)


def _check_certificates(server: operation.Body, root: create_devices.Device) -> None:
    if server.get('trusted_image_certificates') is None:
        return
    if root['source_type'] in ('volume', 'snapshot'):
        raise exception.Invalid(
            'Image certificate validation is not supported when booting from volume'
        )


def _columns(
    req: request.Request,
    body: operation.Body,
    asked: create_plan.Asked,
    *,
    flavor: create_flavor.Flavor,
    boot_image: session.Json | None,
) -> dict[str, typing.Any]:
    """Return the columns that the records of all servers have in common."""
    properties = (boot_image or {}).get('properties') or {}
    key_name = body.get('key_name')
    drive = _has_config_drive(req, body, properties)
    return {
        **create_flavor.columns(flavor, asked.image, properties),
        'image_properties': create_properties.of(boot_image),
        'reservation_id': 'r-' + runtime.new_uuid()[:8],
        'display_description': body.get('description'),
        'hostname': body.get('hostname', '').strip(),
        'metadata': body.get('metadata', {}),
        'key_name': key_name,
        'key_data': create_content.public_key(req, key_name),
        'user_data': body.get('user_data'),
        'access_ip_v4': body.get('accessIPv4'),
        'access_ip_v6': formats.shortest_ipv6(body.get('accessIPv6')),
        'auto_disk_config': create_flavor.disk_config(body.get('OS-DCF:diskConfig'), properties),
        'config_drive': 'True' if drive else '',
        'trusted_certs': body.get('trusted_image_certificates'),
    }


def _has_config_drive(
    req: request.Request, server: operation.Body, properties: session.Json
) -> bool:
    if req.conf.force_config_drive or properties.get(DRIVE_PROPERTY) == MANDATORY:
        return True
    return schema_parts.is_true(server.get('config_drive', False))


def _accept(req: request.Request, checked: create_plan.Checked) -> Sequence[str]:
    """Reserve the volumes and store the servers. Return the uuids of the accepted servers.

    Release reservations of rejected servers.
    """
    reservation = create_reserve.Reservation(req, checked)
    devices = reservation.make()
    accepted: Sequence[str] = ()
    try:
        accepted = create_accept.accept(req, checked, devices)
    except exception.Unavailable:
        # The connection may have been lost after the transaction had been committed.
        try:
            accepted = reservation.accepted()
        except exception.Unavailable:
            accepted = checked.uuids
            LOG.error(
                'Lost the connection to the database; whether servers %s were accepted is unknown. '
                'The super-conductor will check.',
                checked.uuids,
            )
            raise
        if not accepted:
            raise
    finally:
        reservation.give_back(but=accepted)
    return accepted


def _cast_builds(req: request.Request, uuids: Sequence[str]) -> None:
    """Cast the builds to a super-conductor. If the cast is lost, the sweep finds the requests."""
    try:
        req.app.super_conductor.build_servers(req.ctxt, uuids=uuids)
    except exception.Unavailable as error:
        LOG.warning('Cannot start the build of %s now: %s. The sweep will start it.', uuids, error)
        req.app.api_db.write(build_requests.expire, dict.fromkeys(uuids, 0))


def _answer(
    req: request.Request, body: operation.Body, accepted: create_plan.Accepted
) -> operation.Answer:
    """Return the body of the answer: the first server, or on request the reservation id."""
    checked, uuid = accepted.checked, accepted.uuids[0]
    if schema_parts.is_true(body.get('return_reservation_id', False)):
        return operation.Answer({'reservation_id': checked.columns['reservation_id']})
    own = links.resource(req, 'servers', uuid)
    shown = {
        'id': uuid,
        'links': own,
        'OS-DCF:diskConfig': 'AUTO' if checked.columns['auto_disk_config'] else 'MANUAL',
        # As they were requested, also without a name or twice.
        'security_groups': body.get('security_groups', [{'name': create_networks.DEFAULT_GROUP}]),
    }
    if req.conf.api.enable_instance_password:
        shown['adminPass'] = checked.password
    return operation.Answer({'server': shown}, headers={'Location': own[0]['href']})
