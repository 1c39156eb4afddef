"""Calls with tokens: of the user, of ourselves, and one vouching for the other."""

import fixtures
from keystoneauth1 import loading
from keystoneauth1 import session as ksa
import requests

from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import identity
from nova_lite.clients import image
from nova_lite.clients import network
from nova_lite.clients import placement
from nova_lite.clients import volume
from nova_lite.daemons.wsgi import placement as placement_app
from nova_lite.simcloud import seed
from tests.fixtures import clock
from tests.fixtures import http
from tests.fixtures import ready_volumes
from tests.fixtures import simcloud
from tests.unit.clients import base
from tests.unit.clients import neighbours
from tests.unit.clients import test_session

HOUR_S = 3600
SERVER = '11111111-2222-4333-8444-555555555555'


class TokenTestCase(base.ClientTestCase):
    """Simulated services that want tokens; our own credentials are in [service_user].

    demo: a context of the user demo, with a token
    """

    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(simcloud.SimCloud())
        self.configure('service_user', **self.cloud.login('nova', 'service'))
        self.demo = self.login('demo', 'demo')

    def configure(self, group, **options):
        for name, value in options.items():
            self.conf.set_override(name, value, group=group)

    def sent(self, path):
        return [method for method, each in self.cloud.requests if each.startswith(path)]

    def login(self, username, project):
        options = self.cloud.login(username, project)
        loader = loading.get_plugin_loader(options.pop('auth_type'))
        auth = loader.load_from_options(**options)
        access = auth.get_access(ksa.Session(auth=auth))
        return context.RequestContext(
            auth_token=access.auth_token,
            user_id=access.user_id,
            project_id=access.project_id,
            roles=access.role_names,
            overwrite=False,
        )


class NeighbourTest(TokenTestCase):
    """Services found in the catalog."""

    def test_in_the_user_s_name(self):
        made = image.Image(self.credentials).create(
            self.demo, {'name': 'mine', 'disk_format': 'raw', 'container_format': 'bare'}
        )
        self.assertEqual(self.demo.project_id, made['owner'])

    def test_by_ourselves(self):
        net = network.Network(self.credentials)
        wanted, _ = net.validate(
            self.demo,
            [
                {
                    'network_id': net.list(self.demo, 'networks', as_user=True, name='private')[0][
                        'id'
                    ]
                }
            ],
        )
        server = neighbours.Server(SERVER, self.demo.project_id)
        (vif,) = net.allocate(self.demo, server, wanted, host='cell1-host1')
        port = net.get_port(self.demo, vif['id'], as_user=True)
        self.assertEqual(self.demo.project_id, port['project_id'])

    def test_without_the_user_s_token(self):
        found = image.Image(self.credentials).list(context.admin())
        self.assertEqual(set(seed.IMAGES), {item['name'] for item in found})

    def test_a_volume_for_a_project_without_the_user_s_token(self):
        late = context.RequestContext(
            user_id=self.demo.user_id, project_id=self.demo.project_id, overwrite=False
        )
        volumes = volume.Volume(self.credentials)
        for _ in range(2):
            made = volumes.create(late, size=1)
            self.assertEqual(self.demo.project_id, volumes.get(self.demo, made['id'])['project_id'])

    def test_a_volume_for_a_project_in_which_we_have_no_role(self):
        self.configure('service_user', **self.cloud.login('demo', 'demo'))
        late = context.RequestContext(user_id='x', project_id=runtime.new_uuid(), overwrite=False)
        error = self.assertRaises(
            exception.Forbidden, volume.Volume(self.credentials).create, late, size=1
        )
        self.assertIn(late.project_id, error.message)

    def test_a_volume_s_whole_life(self):
        volumes = volume.Volume(self.credentials)
        made = volumes.create(self.demo, size=1)
        ready_volumes.wait(volumes, self.demo, made['id'])
        attachment = volumes.create_attachment(self.demo, made['id'], SERVER)
        volumes.update_attachment(context.admin(), attachment['id'], {'host': 'cell1-host1'})
        volumes.delete_attachment(context.admin(), attachment['id'])
        volumes.delete(self.demo, made['id'])

    def test_attachments_are_ended_with_a_service_token_alone(self):
        """As Cinder has it since CVE-2023-2088; [cinder]'s own credentials will do."""
        made = volume.Volume(self.credentials).create(self.demo, size=1)
        self.configure('cinder', **self.cloud.login('nova', 'service'))
        self.configure('service_user', auth_type=None)
        for sends in (False, True):
            self.configure('service_user', send_service_user_token=sends)
            volumes = volume.Volume(self.credentials)
            if not sends:
                attachment = volumes.create_attachment(context.admin(), made['id'], SERVER)
                volumes.update_attachment(context.admin(), attachment['id'], {'host': 'h'})
                self.assertRaises(
                    exception.Conflict, volumes.delete_attachment, context.admin(), attachment['id']
                )
            else:
                volumes.delete_attachment(context.admin(), attachment['id'])

    def test_a_token_that_is_not_one(self):
        self.demo.auth_token = 'nonsense'
        self.assertRaises(exception.NeighbourForbids, image.Image(self.credentials).list, self.demo)

    def test_a_wrong_password_of_ours(self):
        self.configure('service_user', password='wrong', send_service_user_token=False)
        error = self.assertRaises(
            exception.Unavailable, image.Image(self.credentials).list, context.admin()
        )
        self.assertIn('image', error.message)

    def test_services_that_are_down_and_come_back(self):
        """Identity among them, which is asked for our token before anything is sent."""
        for ctxt in (self.demo, context.admin()):
            images = image.Image(self.credentials)
            self.cloud.server.stop()
            patient = test_session.Impatient(then=self.cloud.server.start)
            with runtime.install(patient):
                self.assertTrue(images.list(ctxt))
            self.assertEqual(2, len(patient.pauses))

    def test_clients_of_one_daemon_log_in_once(self):
        """Groups with the same credentials, under their own names and as [service_user]."""
        self.configure('glance', **self.cloud.login('nova', 'service'))
        self.configure('cinder', auth_section='service_user')
        credentials = self.credentials
        self.cloud.requests.clear()
        for make in (image.Image, volume.Volume, network.Network):
            service = make(credentials).service
            service.call(context.admin(), 'GET', '/nowhere', errors={404: None})
        self.assertEqual(1, len(self.sent('/identity/v3/auth/tokens')))

    def test_other_credentials_are_other_tokens(self):
        self.configure('glance', **self.cloud.login('admin', 'admin'))
        credentials = self.credentials
        self.assertIsNot(credentials.of('glance'), credentials.of('cinder'))
        self.assertIsNot(credentials.of('cinder'), credentials.of('cinder', project_id='other'))

    def test_projects(self):
        known = identity.Identity(self.credentials)
        known.require_project(self.login('admin', 'admin'), self.demo.project_id)
        error = self.assertRaises(
            exception.Invalid, known.require_project, self.login('admin', 'admin'), 'nonsense'
        )
        self.assertIn('nonsense', error.message)
        known.require_project(self.demo, 'nonsense')  # demo may not know


class ExpiryTest(TokenTestCase):
    """A user's token that has expired while we worked."""

    def setUp(self):
        clock_ = self.useFixture(clock.ManualClock())
        super().setUp()
        clock_.advance(7 * HOUR_S)

    def test_vouched_for(self):
        self.assertEqual(len(seed.IMAGES), len(image.Image(self.credentials).list(self.demo)))

    def test_not_vouched_for(self):
        self.configure('service_user', send_service_user_token=False)
        self.assertRaises(exception.NeighbourForbids, image.Image(self.credentials).list, self.demo)


class RevokedTest(TokenTestCase):
    """Our own tokens, which are kept, are revoked while we run."""

    def revoke(self, plugin):
        token = plugin.get_token(ksa.Session(auth=plugin))
        url = f'{self.cloud.url}/identity/v3/auth/tokens'
        headers = {'X-Auth-Token': token, 'X-Subject-Token': token}
        self.assertEqual(204, requests.delete(url, headers=headers, timeout=60).status_code)
        self.cloud.requests.clear()

    def test_that_vouches_for_a_user(self):
        images = image.Image(self.credentials)
        images.list(self.demo)
        self.revoke(images.service.voucher)
        self.assertEqual(len(seed.IMAGES), len(images.list(self.demo)))
        images.list(self.demo)
        self.assertEqual(1, len(self.sent('/identity/v3/auth/tokens')))

    def test_that_vouches_for_ourselves(self):
        """It is the one of [service_user], or of [cinder] itself where that has none."""
        for own in (False, True):
            if own:
                self.configure('cinder', **self.cloud.login('nova', 'service'))
                self.configure('service_user', auth_type=None)
            volumes = volume.Volume(self.credentials)
            made = volumes.create(self.demo, size=1)
            attachment = volumes.create_attachment(context.admin(), made['id'], SERVER)
            volumes.update_attachment(context.admin(), attachment['id'], {'host': 'h'})
            self.revoke(volumes.service.own_voucher)
            volumes.delete_attachment(context.admin(), attachment['id'])

    def test_for_the_project_of_a_user_without_a_token(self):
        late = context.RequestContext(
            user_id=self.demo.user_id, project_id=self.demo.project_id, overwrite=False
        )
        volumes = volume.Volume(self.credentials)
        volumes.create(late, size=1)
        self.revoke(volumes.service._in_project(late.project_id))
        volumes.create(late, size=1)

    def test_once(self):
        """The user's token is no better with another one of ours."""
        images = image.Image(self.credentials)
        images.list(self.demo)
        self.cloud.requests.clear()
        self.demo.auth_token = 'nonsense'
        self.assertRaises(exception.NeighbourForbids, images.list, self.demo)
        self.assertEqual(2, len(self.sent('/image/v2/images')))


class PlacementTest(TokenTestCase):
    """Placement that checks tokens, in one server with the Keystone it asks."""

    def test_tokens(self):
        directory = self.useFixture(fixtures.TempDir()).path
        login = self.cloud.login('placement', 'service')
        app = placement_app.make_app(
            f'sqlite:///{directory}/placement.sqlite',
            auth_strategy='keystone',
            keystone={**login, 'www_authenticate_uri': self.cloud.url + '/identity'},
        )
        server = self.useFixture(http.Http({'/placement': app}))
        self.configure('placement', endpoint_override=server.url + '/placement')
        service = placement.Placement(self.credentials)
        uuid = SERVER
        service.providers.ensure(self.demo, uuid, 'host')
        self.assertEqual('host', service.providers.get(self.demo, uuid).name)
        self.assertRaises(
            exception.NeighbourForbids,
            service.service.get,
            self.demo,
            '/resource_providers',
            as_user=True,
        )
