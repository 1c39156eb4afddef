"""POST /servers.

Everything is checked and looked up first; then the servers are accepted in one
transaction, and one cast asks the super-conductor to build them.
Source: reference/nova/create-server.
"""

from oslo_log import log

from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import formats
from nova_lite.api import links
from nova_lite.api import operation
from nova_lite.api import schema_parts
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
from nova_lite.db.api import build_requests
from nova_lite.policies import servers as rules

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
def create(req):
    """Accept one or several servers."""
    server = req.body['server']
    plan = _plan(req, server)
    boot_image = create_volumes.check(req, plan)
    create_flavor.check(req, plan, boot_image)
    _fill_columns(req, server, plan, boot_image)
    create_bounds.check(plan)
    create_networks.validate(req, plan)
    create_networks.choose_groups(req, server.get('security_groups'), plan)
    _bound_count(req, plan)
    _check_names(req, plan)
    plan.uuids = [runtime.new_uuid() for _ in range(plan.most)]
    accepted = _accept(req, plan, boot_image)
    _nudge(req, accepted)
    return _answer(req, server, plan, accepted[0])


def _plan(req, server):
    """Return what the body asks for, in nova's order of checks."""
    least, most = _counts(server)
    plan = create_plan.Plan(name=server['name'].strip(), least=least, most=most)
    if server.get('trusted_image_certificates') is not None:
        req.authorize(rules.TRUSTED_CERTS)
    create_host.choose(req, server, plan)
    if server.get('block_device_mapping') or server.get('block_device_mapping_v2'):
        req.authorize(rules.ATTACH_VOLUME)
    create_networks.parse(req, server.get('networks'), plan)
    plan.flavor = create_flavor.flavor_of(req, server['flavorRef'])
    create_hints.parse(req, plan)
    plan.tags = sorted(set(server.get('tags', ())))
    image_id = server.get('imageRef') or None
    if image_id:
        plan.image = create_flavor.image_of(req, image_id)
    plan.devices = create_devices.parse(server, plan.image)
    create_devices.add_flavor_disks(plan.devices, plan.flavor)
    create_devices.check_local(plan.devices, plan.flavor, req.conf.max_local_block_devices)
    root = create_devices.root_of(plan.devices)
    plan.boots_from_volume = root['destination_type'] == create_devices.VOLUME
    _check_certificates(server, root)
    return plan


def _counts(server):
    least = int(server.get('min_count', 1))
    most = int(server.get('max_count', least))
    if least > most:
        raise exception.Invalid('min_count must be <= max_count')
    if most > 1 and server.get('hostname'):
        raise exception.Invalid('Unable to allocate a single hostname to multiple servers')
    return least, most


def _bound_count(req, plan):
    """Reduce a large max_count to what quotas permit, and one transaction can hold.

    Raise OverQuota or Invalid if min_count is more. The quotas are checked again when the
    servers are accepted.
    """
    if plan.most > MOST:
        plan.most = req.app.api_db.read(create_accept.admitted, req, plan)
    if plan.least > MOST:
        raise exception.Invalid(f'min_count must be at most {MOST}')
    plan.most = min(plan.most, MOST)


def _check_certificates(server, root):
    if server.get('trusted_image_certificates') is None:
        return
    if root['source_type'] in ('volume', 'snapshot'):
        raise exception.Invalid(
            'Image certificate validation is not supported when booting from volume'
        )


def _fill_columns(req, server, plan, boot_image):
    """Fill the columns that all of the servers have in common."""
    properties = (boot_image or {}).get('properties') or {}
    metadata = server.get('metadata', {})
    create_content.check_quota(req, metadata, server.get('personality', ()))
    plan.files = [[each['path'], each['contents']] for each in server.get('personality', ())]
    key_name = server.get('key_name')
    drive = _has_config_drive(req, server, properties)
    plan.password = server.get('adminPass') or create_content.password()
    plan.columns = {
        **create_flavor.columns(plan, properties),
        'image_properties': create_properties.of(boot_image),
        'reservation_id': 'r-' + runtime.new_uuid()[:8],
        'display_description': server.get('description'),
        'hostname': server.get('hostname', '').strip(),
        'metadata': metadata,
        'key_name': key_name,
        'key_data': create_content.public_key(req, key_name),
        'user_data': server.get('user_data'),
        'access_ip_v4': server.get('accessIPv4'),
        'access_ip_v6': formats.shortest_ipv6(server.get('accessIPv6')),
        'auto_disk_config': create_flavor.disk_config(server.get('OS-DCF:diskConfig'), properties),
        'config_drive': 'True' if drive else '',
        'trusted_certs': server.get('trusted_image_certificates'),
    }


def _has_config_drive(req, server, properties):
    if req.conf.force_config_drive or properties.get(DRIVE_PROPERTY) == MANDATORY:
        return True
    return schema_parts.is_true(server.get('config_drive', False))


def _check_names(req, plan):
    names = create_names.display_names(plan.name, plan.most)
    unique_names.require(req, names, req.ctxt.project_id)


def _accept(req, plan, boot_image):
    """Reserve volumes and store the servers. Release reservations of rejected servers."""
    reservation = create_reserve.Reservation(req, plan)
    devices = reservation.make()
    accepted = ()
    try:
        accepted = create_accept.accept(req, plan, devices, boot_image)
    except exception.Unavailable:
        # The connection may have been lost after the transaction had been committed.
        try:
            accepted = reservation.accepted()
        except exception.Unavailable:
            accepted = plan.uuids
            LOG.error(
                'Lost the database: unknown whether servers %s were accepted. The super-conductor finds out.',
                plan.uuids,
            )
            raise
        if not accepted:
            raise
    finally:
        reservation.give_back(but=accepted)
    return accepted


def _nudge(req, uuids):
    """Ask for the build; if the bus does not take it, the sweep finds the requests."""
    try:
        req.app.super_conductor.build_servers(req.ctxt, uuids=uuids)
    except exception.Unavailable as error:
        LOG.warning('Cannot start the build of %s now: %s. The sweep will start it.', uuids, error)
        req.app.api_db.write(build_requests.expire, dict.fromkeys(uuids, 0))


def _answer(req, server, plan, uuid):
    if schema_parts.is_true(server.get('return_reservation_id', False)):
        return operation.Answer({'reservation_id': plan.columns['reservation_id']})
    shown = {
        'id': uuid,
        'links': links.resource(req, 'servers', uuid),
        'OS-DCF:diskConfig': 'AUTO' if plan.columns['auto_disk_config'] else 'MANUAL',
        'security_groups': [{'name': name} for name in plan.groups],
    }
    if req.conf.api.enable_instance_password:
        shown['adminPass'] = plan.password
    return operation.Answer({'server': shown}, headers={'Location': shown['links'][0]['href']})
