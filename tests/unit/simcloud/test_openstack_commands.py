"""Commands of the unmodified OpenStackClient against simcloud.

They run in this process: the start of another one would take most of their time.
"""

import contextlib
import functools
import io
import json
import logging
import warnings

import fixtures
from openstackclient import shell
from osc_lib import clientmanager
import testtools

from tests.fixtures import simcloud


def forget():
    """Make the client forget the connections and tokens of its last command in this process."""
    manager = clientmanager.ClientManager
    for name, value in list(vars(manager).items()):
        if isinstance(value, clientmanager.ClientCache):
            setattr(manager, name, clientmanager.ClientCache(value.factory))


class CommandsTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(simcloud.SimCloud())
        home = self.useFixture(fixtures.TempDir()).path
        self.useFixture(fixtures.EnvironmentVariable('HOME', home))
        # The client adds handlers to the root logger, and filters of warnings.
        root = logging.getLogger()
        self.addCleanup(root.setLevel, root.level)
        self.useFixture(fixtures.MonkeyPatch('logging.root.handlers', []))
        caught = warnings.catch_warnings()
        caught.__enter__()
        self.addCleanup(caught.__exit__)

    def openstack(self, words, username='demo', *, status=0):
        """Return what `openstack WORDS` prints for a user in the project of the same name."""
        login = self.cloud.login(username, username)
        options = [f'--os-{name.replace("_", "-")}={value}' for name, value in login.items()]
        forget()
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = shell.OpenStackShell().run(
                [*options, '--os-region-name=RegionOne', *words.split()]
            )
        self.assertEqual(status, code, f'{words}:\n{out.getvalue()}')
        return out.getvalue()

    def show(self, words, username='demo'):
        """Return what a command prints as JSON, decoded."""
        return json.loads(self.openstack(f'{words} -f json', username))

    def listed(self, words, username='demo', column='Name'):
        """One column of what a command lists."""
        return [row[column] for row in self.show(words, username)]

    def test_unified_limits(self):
        register = 'registered limit create --service nova --default-limit 5 servers'
        made = self.show(register, 'admin')
        self.assertEqual(5, made['default_limit'])
        limit = 'limit create --service nova --project demo --resource-limit 2 servers'
        self.assertEqual(2, self.show(limit, 'admin')['resource_limit'])
        columns = 'Resource Name'
        for noun in ('registered limit', 'limit'):
            self.assertEqual(['servers'], self.listed(f'{noun} list', column=columns))
        self.openstack(f'registered limit set --default-limit 7 {made["id"]}', 'admin')
        self.assertEqual(7, self.show(f'registered limit show {made["id"]}')['default_limit'])

    def test_metadata_definitions(self):
        run, show = 'image metadef', functools.partial(self.show, username='admin')
        for words in (
            'namespace create --public --display-name D n',
            'object create --namespace n o',
            'property create n --name p --title T --type integer --schema {"minimum":1}',
            'resource type association create n OS::Glance::Image',
        ):
            show(f'{run} {words}')
        self.openstack(f'{run} namespace set --description d --public --tag t n', 'admin')
        self.openstack(f'{run} property set n p --title U', 'admin')
        self.openstack(f'{run} object update --name q n o', 'admin')
        shown = self.show(f'{run} namespace show n')
        self.assertEqual(['OS::Glance::Image'], shown['resource_type_associations'])
        self.assertEqual('d', shown['description'])
        self.assertEqual('U', self.show(f'{run} property show n p')['title'])
        self.assertEqual('q', self.show(f'{run} object show n q')['name'])
        for words, column, name in (
            ('namespace list', 'namespace', 'n'),
            ('object list n', 'name', 'q'),
            ('property list n', 'name', 'p'),
            ('resource type list', 'Name', 'OS::Glance::Image'),
            ('resource type association list n', 'Name', 'OS::Glance::Image'),
        ):
            self.assertIn(name, self.listed(f'{run} {words}', column=column))
        for words in (
            'namespace unset --tag t n',
            'object delete n q',
            'property delete n',
            'resource type association delete n OS::Glance::Image',
            'namespace delete n',
        ):
            self.openstack(f'{run} {words}', 'admin')
        self.assertNotIn('n', self.listed(f'{run} namespace list', column='namespace'))
        self.openstack(f'{run} namespace create mine', status=1)

    def test_groups_of_users(self):
        admin = functools.partial(self.openstack, username='admin')
        admin('group create --description d team')
        admin('group set --name crew team')
        admin('group add user crew demo')
        self.assertIn('demo in group crew', admin('group contains user crew demo'))
        self.assertEqual(['crew'], self.listed('group list', 'admin'))
        self.assertEqual(['crew'], self.listed('group list --user demo', 'admin'))
        self.assertEqual(['demo'], self.listed('user list --group crew', 'admin'))
        admin('role add --group crew --project service member')
        listing = 'role assignment list --names'
        found = self.listed(f'{listing} --group crew', 'admin', 'Project')
        self.assertEqual(['service@Default'], found)
        found = self.listed(f'{listing} --effective --user demo --project service', 'admin', 'Role')
        self.assertEqual(['member', 'reader'], sorted(found))
        self.assertIn('service', self.listed('project list --my-projects'))
        admin('role remove --group crew --project service member')
        admin('group remove user crew demo')
        self.assertEqual([], self.listed('user list --group crew', 'admin'))
        admin('group delete crew')
        self.openstack('group list', status=1)

    def test_rbac_policies(self):
        rbac = 'network rbac'
        self.openstack('network create lent')
        self.openstack('security group create lent')
        # A member may not see projects by their names.
        project = self.show('project show service', 'admin')['id']
        grant = f'{rbac} create --action access_as_shared --target-project {project}'
        made = self.show(f'{grant} --type network lent')
        self.show(f'{grant} --type security_group lent')
        found = self.listed(f'{rbac} list --type network', column='Object ID')
        self.assertEqual([made['object_id']], found)
        shown = self.show(f'{rbac} show {made["id"]}')
        self.assertEqual(project, shown['target_project_id'])
        self.openstack(f'{rbac} set --target-project admin {made["id"]}', 'admin')
        for policy_id in self.listed(f'{rbac} list --long', column='ID'):
            self.openstack(f'{rbac} delete {policy_id}')
        everyone = '--action access_as_external --target-all-projects --type network lent'
        self.openstack(f'{rbac} create {everyone}', status=1)
        self.openstack(f'{rbac} create {everyone}', 'admin')
        self.assertIn('lent', self.listed('network list --external'))
        self.openstack('network delete lent')
        self.assertEqual([], self.show(f'{rbac} list', 'admin'))

    def test_routes(self):
        self.openstack('router create r')
        route = '--route destination=10.9.0.0/24,gateway=10.0.0.9 r'
        self.openstack(f'router add route {route}')
        (found,) = self.show('router show r')['routes']
        self.assertEqual({'destination': '10.9.0.0/24', 'nexthop': '10.0.0.9'}, found)
        self.openstack(f'router remove route {route}')
        self.assertEqual([], self.show('router show r')['routes'])

    def test_trunks(self):
        for name in ('parent', 'one', 'two'):
            self.openstack(f'port create --network private {name}')
        trunk, segment = 'network trunk', 'segmentation-type=vlan,segmentation-id'
        made = self.show(f'{trunk} create t --parent-port parent --subport port=one,{segment}=7')
        self.assertEqual([7], [one['segmentation_id'] for one in made['sub_ports']])
        self.openstack(f'{trunk} set --name u --subport port=two,{segment}=8 t')
        self.openstack(f'{trunk} unset --subport one u')
        self.openstack(f'{trunk} subport add u one --segmentation-type vlan --segmentation-id 9')
        ids = self.listed(f'{trunk} subport list u', column='Segmentation ID')
        self.assertEqual([8, 9], sorted(ids))
        details = self.show('port show parent')['trunk_details']
        self.assertEqual(made['id'], details['trunk_id'])
        self.openstack('port delete parent', status=1)
        self.openstack(f'{trunk} subport remove u one two')
        self.assertEqual(['u'], self.listed(f'{trunk} list'))
        self.openstack(f'{trunk} delete u')
        self.openstack('port delete parent one two')

    def test_qos_of_ports(self):
        admin = functools.partial(self.openstack, username='admin')
        admin('network qos policy create --share p')
        rule = 'network qos rule'
        limit = self.show(f'{rule} create --type bandwidth-limit --max-kbps 9 --egress p', 'admin')
        self.show(f'{rule} create --type dscp-marking --dscp-mark 46 p', 'admin')
        self.show(f'{rule} create --type minimum-bandwidth --min-kbps 3 --egress p', 'admin')
        admin(f'{rule} set --max-burst-kbits 4 p {limit["id"]}')
        self.assertEqual(4, self.show(f'{rule} show p {limit["id"]}', 'admin')['max_burst_kbps'])
        self.assertIn('dscp_marking', self.listed(f'{rule} list p', column='Type'))
        self.assertIn('dscp_marking', self.listed(f'{rule} type list', column='Type'))
        admin(f'{rule} delete p {limit["id"]}')
        self.assertEqual(2, len(self.show(f'{rule} list p')))
        admin('network qos policy delete p')

    def test_extensions(self):
        self.assertIn('TypesManage', self.listed('extension list --volume'))
        self.assertIn('Default Subnetpools', self.listed('extension list --network'))

    def test_qos_of_volumes(self):
        made = self.show(
            'volume qos create --consumer front-end --property iops=5 --property max=9 fast',
            'admin',
        )
        self.assertEqual({'iops': '5', 'max': '9'}, made['properties'])
        for words in (
            'set --property iops=7 fast',
            'unset --property max fast',
            'associate fast __DEFAULT__',
        ):
            self.openstack(f'volume qos {words}', 'admin')
        shown = self.show('volume qos show fast', 'admin')
        self.assertEqual({'iops': '7'}, shown['properties'])
        self.assertEqual(['__DEFAULT__'], shown['associations'])
        self.assertEqual(['fast'], self.listed('volume qos list', 'admin'))
        self.openstack('volume qos delete fast', 'admin', status=1)
        self.openstack('volume qos disassociate --all fast', 'admin')
        self.openstack('volume qos delete fast', 'admin')
        self.assertEqual([], self.show('volume qos list', 'admin'))
        self.openstack('volume qos list', status=1)

    def test_private_types_of_volumes(self):
        self.show('volume type create --private --project demo fast', 'admin')
        self.assertIn('fast', self.listed('volume type list'))
        shown = self.show('volume type show fast', 'admin')
        self.assertEqual(1, len(shown['access_project_ids']))
        self.openstack('volume type unset --project demo fast', 'admin')
        self.assertNotIn('fast', self.listed('volume type list'))
        self.openstack('volume type set --project demo fast', 'admin')
        self.show('volume create --size 1 --type fast v')

    def test_transfers_of_volumes(self):
        volume = self.show('volume create --size 1 given')
        request = 'volume transfer request'
        made = self.show(f'{request} create --name gift given')
        self.assertEqual('awaiting-transfer', self.show('volume show given')['status'])
        self.assertEqual(['gift'], self.listed(f'{request} list'))
        self.assertEqual([], self.listed(f'{request} list', 'admin'))
        self.assertEqual(volume['id'], self.show(f'{request} show gift')['volume_id'])
        key = f'--auth-key {made["auth_key"]}'
        self.show(f'{request} accept {key} {made["id"]}', 'admin')
        self.assertEqual([], self.listed('volume list'))
        shown = self.show(f'volume show {volume["id"]}', 'admin')
        self.assertEqual('available', shown['status'])
        made = self.show(f'{request} create {volume["id"]} --name back', 'admin')
        # The client does not look the name up.
        self.openstack(f'{request} delete {made["id"]}', 'admin')
        self.assertEqual([], self.listed(f'{request} list --all-projects', 'admin'))

    def test_backups_of_volumes(self):
        backup = 'volume backup'
        self.show('volume create --size 1 source')
        self.show(f'{backup} create --name first --property a=b source')
        self.show(f'{backup} create --name more --incremental --description d source')
        self.assertEqual(['more', 'first'], self.listed(f'{backup} list --volume source'))
        self.assertEqual([True, False], self.listed(f'{backup} list --long', column='Incremental'))
        self.openstack(f'{backup} set --name second --property c=d more')
        shown = self.show(f'{backup} show second')
        self.assertEqual((True, {'c': 'd'}), (shown['is_incremental'], shown['metadata']))
        self.openstack(f'{backup} delete first', status=1)
        restored = self.show(f'{backup} restore second copy')
        self.assertEqual('copy', restored['volume_name'])
        self.show(f'{backup} restore --force second source')
        self.show('volume create --backup first other')
        self.assertEqual(['copy', 'other', 'source'], sorted(self.listed('volume list')))
        self.openstack(f'{backup} set --state error {shown["id"]}', 'admin')
        self.openstack(f'{backup} delete --force {shown["id"]}', 'admin')
        (first,) = self.show(f'{backup} list --all-projects', 'admin')
        record = self.show(f'{backup} record export {first["ID"]}', 'admin')
        self.assertEqual('simcloud', record['backup_service'])
        self.openstack(f'{backup} delete first')
