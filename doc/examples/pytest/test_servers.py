"""Tests of a client, each in a project of its own. Run them with `pytest -n 2`.

NOVA_LITE_SERVERS is how many tests boot a server.
"""

import os

import pytest

COUNT = int(os.environ.get('NOVA_LITE_SERVERS', '4'))


def boot(compute, name, **options):
    options.setdefault('networks', 'auto')
    flavor = compute.find_flavor('m1.tiny', ignore_missing=False)
    (image,) = (each for each in compute.images() if each.name == 'cirros')
    server = compute.create_server(name=name, flavor_id=flavor.id, image_id=image.id, **options)
    return compute.wait_for_server(server, interval=0.05)


@pytest.mark.parametrize('number', range(COUNT))
def test_own_project(nova_lite_project, number):
    """Other tests boot servers of the same name at the same time."""
    cloud = nova_lite_project.connect()
    server = boot(cloud.compute, 'web')
    assert server.status == 'ACTIVE'
    assert list(server.addresses) == ['private']
    assert [each.id for each in cloud.compute.servers()] == [server.id]


def test_environment(nova_lite_env):
    """Programs that the test starts use the project, too."""
    assert os.environ['OS_PROJECT_NAME'] == nova_lite_env.name


def test_failure_by_metadata(nova_lite_project):
    """A server names the operation that fails."""
    compute = nova_lite_project.connect().compute
    server = boot(compute, 'web', metadata={'nova-lite-fail': 'pause'})
    compute.pause_server(server)
    compute.wait_for_server(server, interval=0.05)


@pytest.mark.nova_lite_failure('spawn', first=1, error='NoCapacity', reschedule=True)
def test_failure(nova_lite_project):
    """The first host has no room, and the server boots on another."""
    server = boot(nova_lite_project.connect().compute, 'web')
    assert server.status == 'ACTIVE'


@pytest.mark.nova_lite_failure(service='placement', request='PUT /allocations*', lost=True, first=1)
def test_lost_answer(nova_lite_project):
    """Nova does not learn that placement has claimed the host for the server, and asks again."""
    server = boot(nova_lite_project.connect().compute, 'web')
    assert server.status == 'ACTIVE'


@pytest.mark.nova_lite_profile('jittery')
def test_profile(nova_lite_project):
    """Operations take up to 3 s."""
    assert boot(nova_lite_project.connect().compute, 'web').status == 'ACTIVE'


def test_lost_host(nova_lite_fresh_cloud):
    """Two minutes pass at once. The next test that asks for the cloud finds it as it was."""
    control, compute = nova_lite_fresh_cloud.control, nova_lite_fresh_cloud.admin.compute
    control.post('host', name='cell1-host1', power='off')
    control.post('clock', action='advance', seconds=120)
    states = {each.name: each.state for each in compute.hypervisors(details=True)}
    assert [name for name, state in states.items() if state == 'down'] == ['cell1-host1']


@pytest.mark.parametrize('name', ['web', 'db'])
def test_fresh(nova_lite_fresh_cloud, name):
    """Objects of the test before are gone."""
    compute = nova_lite_fresh_cloud.admin.compute
    assert list(compute.servers(all_projects=True)) == []
    assert {each.state for each in compute.hypervisors(details=True)} == {'up'}
    assert nova_lite_fresh_cloud.control.get('clock')['frozen'] is False
    boot(compute, name, networks='none')
    nova_lite_fresh_cloud.control.post('clock', action='freeze')


def test_administrator(nova_cloud):
    """Administrators see fields that members do not."""
    assert len(list(nova_cloud.admin.compute.hypervisors())) == 6
