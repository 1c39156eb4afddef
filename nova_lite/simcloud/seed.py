"""The contents of a new simulated cloud.

They are created in one transaction when the database is empty and never changed again, so
changes and deletions by users survive a restart.
"""

import typing

import sqlalchemy as sa

from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import options as settings_module
from nova_lite.simcloud.identity import domains
from nova_lite.simcloud.identity import grants
from nova_lite.simcloud.identity import password_hashes
from nova_lite.simcloud.identity import projects
from nova_lite.simcloud.identity import roles
from nova_lite.simcloud.identity import tables as identity
from nova_lite.simcloud.identity import users
from nova_lite.simcloud.image import content
from nova_lite.simcloud.image import first_metadefs
from nova_lite.simcloud.image import metadefs
from nova_lite.simcloud.image import qcow2
from nova_lite.simcloud.image import records as images
from nova_lite.simcloud.network import networks
from nova_lite.simcloud.network import router_interfaces
from nova_lite.simcloud.network import routers
from nova_lite.simcloud.network import subnets
from nova_lite.simcloud.volume import volume_types

# Each role implies the next one.
ROLE_CHAIN = ('admin', 'manager', 'member', 'reader')
PROJECTS = {'admin': 'Administrators', 'demo': 'A project of users', 'service': 'Services'}
# user: (option that holds the password, project, roles)
USERS = {
    'admin': ('admin_password', 'admin', ('admin',)),
    'demo': ('demo_password', 'demo', ('member', 'reader')),
    **dict.fromkeys(
        ('nova', 'placement', 'glance', 'neutron', 'cinder'),
        ('service_password', 'service', ('service', 'admin')),
    ),
}
MIB, GIB = 2**20, 2**30
# {name: (distribution, bytes of the disk, version, attributes)}. The disks are empty.
IMAGES = {
    'debian': (
        'debian',
        2 * GIB,
        '12',
        {
            'min_disk': 2,
            'min_ram': 256,
            'hw_disk_bus': 'virtio',
            'hw_vif_model': 'virtio',
            'hw_qemu_guest_agent': 'yes',
        },
    ),
    # The name of devstack's image, which tests of clients expect.
    'cirros-0.6.2-x86_64-disk': ('cirros', 112 * MIB, '0.6.2', {}),
    # The newest image, which lists show first: clients choose it, and every flavor can boot it.
    'cirros': ('cirros', 112 * MIB, '0.6.2', {}),
}
EVERY_IMAGE = {
    'visibility': 'public',
    'disk_format': 'qcow2',
    'container_format': 'bare',
    'os_type': 'linux',
    'hw_rng_model': 'virtio',
}


def _roles(conn: sa.Connection) -> dict[str, database.Row]:
    """Return {name: row} of the roles, each implying the next of the chain."""
    made = {
        name: roles.create(conn, None, {'name': name}) for name in (*ROLE_CHAIN, callers.SERVICE)
    }
    for prior, implied in zip(ROLE_CHAIN, ROLE_CHAIN[1:], strict=False):
        roles.imply(conn, made[prior]['id'], made[implied]['id'])
    return made


def _identity(conn: sa.Connection, hashes: dict[str, str]) -> dict[str, str]:
    """Create the domain, projects and users with their roles. Return {project name: id}."""
    wanted = {'id': domains.DEFAULT_ID, 'name': 'Default', 'description': 'The default domain'}
    domains.create(conn, None, wanted)
    role = _roles(conn)
    project = {
        name: projects.create(conn, None, {'name': name, 'description': description})['id']
        for name, description in PROJECTS.items()
    }
    for name, (option, home, role_names) in USERS.items():
        user = users.create(conn, None, {'name': name, 'password_hash': hashes[option]})
        for role_name in role_names:
            grants.grant(
                conn,
                user['id'],
                role[role_name]['id'],
                kind=identity.PROJECT,
                target_id=project[home],
            )
    # As in devstack. The pages of domains in Horizon need this role.
    grants.grant(
        conn,
        database.get(conn, identity.users, name='admin')['id'],
        role['admin']['id'],
        kind=identity.DOMAIN,
        target_id=domains.DEFAULT_ID,
    )
    # So that nova can create volumes of a user without the user's token.
    nova = database.get(conn, identity.users, name='nova')
    grants.grant(
        conn,
        nova['id'],
        role['member']['id'],
        kind=identity.INHERITED,
        target_id=domains.DEFAULT_ID,
    )
    return project


def _images(conn: sa.Connection, caller: callers.Caller) -> None:
    for name, (distribution, disk_bytes, version, attributes) in IMAGES.items():
        system = {
            'os_distro': distribution,
            'os_version': version,
            'os_admin_user': distribution,
        }
        wanted = {'name': name, **EVERY_IMAGE, **system, **attributes}
        row = images.create(conn, caller, wanted)
        row = content.store(conn, row, qcow2.empty_disk(disk_bytes))
        images.save(conn, row, virtual_size=disk_bytes)


def _network(
    conn: sa.Connection, caller: callers.Caller, name: str, cidr: str, **attributes: typing.Any
) -> tuple[database.Row, database.Row]:
    """Return (network, subnet) of a new network."""
    row = networks.create(conn, caller, {'name': name, **attributes})
    subnet = subnets.create(
        conn,
        caller,
        {
            'network_id': row['id'],
            'name': f'{name}-subnet',
            'cidr': cidr,
            'ip_version': 4,
            'enable_dhcp': not row['external'],
        },
    )
    return row, subnet


def _networks(
    conn: sa.Connection, settings: settings_module.Options, by: dict[str, callers.Caller]
) -> None:
    """Create the networks public (external) and private (demo's, with a router)."""
    public, _ = _network(
        conn,
        by['service'],
        'public',
        settings.public_cidr,
        **{'router:external': True, 'is_default': True},
    )
    if settings.shared_cidr is not None:
        _network(conn, by['service'], 'shared', settings.shared_cidr, shared=True)
    _, subnet = _network(conn, by['demo'], 'private', settings.private_cidr)
    router = routers.create(
        conn, by['demo'], {'name': 'router1', 'external_gateway_info': {'network_id': public['id']}}
    )
    router_interfaces.add_interface(conn, by['demo'], router['id'], {'subnet_id': subnet['id']})


def _is_seeded(conn: sa.Connection) -> bool:
    return database.find(conn, identity.domains, id=domains.DEFAULT_ID) is not None


def _first_contents(
    conn: sa.Connection, settings: settings_module.Options, hashes: dict[str, str]
) -> None:
    if _is_seeded(conn):
        return
    project = _identity(conn, hashes)
    by = {
        name: callers.Caller(
            user_id='seed', project_id=project_id, roles=frozenset((callers.ADMIN,))
        )
        for name, project_id in project.items()
    }
    _images(conn, by['admin'])
    for namespace in first_metadefs.NAMESPACES:
        metadefs.create(conn, by['admin'], {**namespace, 'visibility': 'public'})
    _networks(conn, settings, by)
    volume_types.create(conn, None, {'name': volume_types.DEFAULT_NAME})
    volume_types.create(
        conn,
        None,
        {'name': 'multiattach', 'extra_specs': {'multiattach': volume_types.MULTIATTACH}},
    )


def _hashes(settings: settings_module.Options) -> dict[str, str]:
    """Return {option: hash of the password in it}. Raise ValueError when one is missing."""
    found = {}
    for option in sorted({option for option, _, _ in USERS.values()}):
        password = getattr(settings, option)
        if not password:
            raise ValueError(f'option {option} is needed to make the first users')
        found[option] = password_hashes.hashed(password, settings.password_cost)
    return found


def seed(db: database.Database, settings: settings_module.Options) -> None:
    """Fill an empty database. Raise ValueError when a password is missing."""
    with db.read() as conn:
        if _is_seeded(conn):
            return
    db.change(_first_contents, settings, _hashes(settings))
