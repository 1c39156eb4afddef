"""Resources that the suites need in a cloud in addition to those of `nova-lite up`."""

import pathlib

import yaml

from nova_lite.lab.launcher import client_connections

# As in devstack, whose flavors and only image the suites know by name.
IMAGE = 'cirros-0.6.2-x86_64-disk'
FLAVORS = {'42': ('m1.nano', 192), '84': ('m1.micro', 256)}
ALT = {'name': 'alt', 'password': 'alt-of-the-clients'}
FOREIGN_IMAGES = ('debian', 'cirros')


def make(state_dir):
    """Make what is missing in the cloud of a state directory."""
    cloud = client_connections.connect(f'{state_dir}/clouds.yaml')
    for flavor_id, (name, ram) in FLAVORS.items():
        if cloud.compute.find_flavor(flavor_id) is None:
            cloud.compute.create_flavor(id=flavor_id, name=name, ram=ram, disk=1, vcpus=1)
    for name in FOREIGN_IMAGES:
        cloud.image.delete_image(cloud.image.find_image(name, ignore_missing=False))
    _make_alt(cloud)


def _make_alt(cloud):
    """Make another user with a project of its own, as devstack does."""
    project = cloud.identity.create_project(name=ALT['name'], domain_id='default')
    user = cloud.identity.create_user(**ALT, domain_id='default', default_project_id=project.id)
    role = cloud.identity.find_role('member', ignore_missing=False)
    cloud.identity.assign_project_role_to_user(project, user, role)


def write_clouds(state_dir, home):
    """Write clouds.yaml into a home directory, with devstack's names of clouds; return its path."""
    found = yaml.safe_load(pathlib.Path(state_dir, 'clouds.yaml').read_text())['clouds']
    admin, demo = found['nova-lite'], found['nova-lite-demo']
    auth = {
        **demo['auth'],
        **dict.fromkeys(('username', 'project_name'), ALT['name']),
        'password': ALT['password'],
    }
    system = {key: value for key, value in admin['auth'].items() if 'project' not in key}
    content = {
        'clouds': {
            'functional_admin': admin,
            'devstack-admin': admin,
            'devstack': demo,
            'devstack-alt': {**demo, 'auth': auth},
            'devstack-system-admin': {**admin, 'auth': {**system, 'system_scope': 'all'}},
        },
        'functional': {'image_name': IMAGE, 'flavor_name': 'm1.nano'},
    }
    path = clouds_path(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(content))
    return path


def clouds_path(home):
    """Return where clients look for clouds.yaml in a home directory."""
    return pathlib.Path(home, '.config', 'openstack', 'clouds.yaml')
