"""The metadata service over HTTP: who may read what."""

from http import client
import urllib.parse

from falcon import testing

from nova_lite.daemons import metadata
from nova_lite.daemons.wsgi import server
from nova_lite.db.api import instance_mappings
from nova_lite.db.cell import instances
from nova_lite.metadata.service import app
from nova_lite.metadata.service import callers
from nova_lite.metadata.service import servers
from tests.fixtures import guest_facts
from tests.unit.metadata.service import base


class PagesTest(base.Case):
    def test_versions_of_ec2_need_no_headers(self):
        answer = self.client.simulate_get('/')
        self.assertEqual(200, answer.status_code)
        self.assertEqual(['1.0', '2007-01-19'], answer.text.split('\n')[:2])
        self.assertEqual(['2009-04-04', 'latest'], answer.text.split('\n')[-2:])

    def test_versions_of_openstack(self):
        for path in ('/openstack', '/openstack/', '//openstack//'):
            lines = self.ask(path).text.split('\n')
            self.assertEqual(('2012-08-10', 'latest'), (lines[0], lines[-1]))

    def test_lists_of_documents(self):
        for version, names in (
            ('2012-08-10', ['meta_data.json', 'user_data']),
            ('2013-04-04', ['meta_data.json', 'user_data', 'password']),
            ('2015-10-15', ['meta_data.json', 'user_data', 'password', 'vendor_data.json',
                            'network_data.json']),
            ('latest', ['meta_data.json', 'user_data', 'password', 'vendor_data.json',
                        'network_data.json', 'vendor_data2.json']),
        ):  # fmt: skip
            self.assertEqual(names, self.ask(f'/openstack/{version}').text.split('\n'))

    def test_documents(self):
        for name, kind in (
            ('meta_data.json', 'application/json'),
            ('network_data.json', 'application/json'),
            ('vendor_data.json', 'application/json'),
            ('vendor_data2.json', 'application/json'),
            ('user_data', 'text/plain; charset=UTF-8'),
            ('password', 'text/plain; charset=UTF-8'),
        ):
            answer = self.ask(f'/openstack/latest/{name}')
            self.assertEqual(kind, answer.headers['content-type'])
        self.assertEqual(self.uuid, self.ask(base.META_DATA).json['uuid'])
        self.assertEqual(base.DATA, self.ask('/openstack/latest/user_data').content)
        self.assertEqual(1, len(self.ask('/openstack/latest/network_data.json').json['links']))

    def test_ec2(self):
        for path, text in (
            ('/latest', 'meta-data/\nuser-data'),
            ('/latest/meta-data/public-keys', '0=mykey'),
            ('/latest/meta-data/public-keys/0', 'openssh-key'),
            ('/latest/meta-data/public-keys/0/openssh-key', guest_facts.KEY),
            ('/2009-04-04/meta-data/placement/', 'availability-zone'),
            ('/2009-04-04/meta-data/placement/availability-zone', 'nova'),
            ('/1.0/meta-data/instance-id', f'i-{self.uuid[:8]}'),
        ):
            answer = self.ask(path)
            self.assertEqual(text, answer.text)
            self.assertEqual('text/plain; charset=UTF-8', answer.headers['content-type'])
        self.assertEqual(base.DATA, self.ask('/2009-04-04/user-data').content)
        listed = self.ask('/latest/meta-data/').text.split('\n')
        self.assertEqual(sorted(listed), listed)
        self.assertEqual({'placement/', 'public-keys/', 'local-ipv4'}, {
            'placement/', 'public-keys/', 'local-ipv4'} & set(listed))  # fmt: skip

    def test_nothing_there(self):
        for path in (
            '/openstack/2012-08-11',
            '/openstack/2012-08-10/password',
            '/openstack/2013-10-17/network_data.json',
            '/openstack/latest/content',
            '/openstack/content/0000',
            '/openstack/latest/meta_data.json/more',
            '/latest/meta-data/nothing',
            '/latest/meta-data/hostname/more',
            '/latest/meta-data/public-keys/0/_name',
            '/1.0/meta-data/instance-type',
            '/2010-01-01/meta-data',
            '/latest/dynamic',
        ):
            self.assertIn(path.rstrip('/'), self.ask(path, status=404).text)

    def test_without_user_data(self):
        uuid = self.add_server(user_data=None)
        self.ask('/openstack/latest/user_data', status=404, uuid=uuid)
        self.ask('/latest/user-data', status=404, uuid=uuid)
        self.assertEqual('meta-data/', self.ask('/latest', uuid=uuid).text)

    def test_address_from_the_proxy(self):
        ports = [
            guest_facts.vif(guest_facts.subnet()),
            guest_facts.vif(guest_facts.subnet('10.1.0.0/24', '10.1.0.5')),
        ]
        uuid = self.add_server(network_info=ports)
        path = '/latest/meta-data/local-ipv4'
        for address, expected in ((None, '10.0.0.2'), ('10.1.0.5', '10.1.0.5')):
            self.assertEqual(expected, self.ask(path, uuid=uuid, X_Forwarded_For=address).text)

    def test_head(self):
        whole = self.ask(base.META_DATA)
        head = self.ask(base.META_DATA, 'HEAD')
        self.assertEqual(b'', head.content)
        for name in ('content-type', 'content-length'):
            self.assertEqual(whole.headers[name], head.headers[name])

    def test_other_methods(self):
        for method, path in (
            ('PUT', base.META_DATA),
            ('DELETE', base.PASSWORD),
            ('POST', base.META_DATA),
            ('POST', '/'),
            ('POST', '/openstack/2012-08-10/password'),
        ):
            answer = self.ask(path, method, status=405)
            self.assertIn('GET, HEAD', answer.headers['allow'])
        self.assertEqual(
            'GET, HEAD, POST', self.ask(base.PASSWORD, 'PUT', status=405).headers['allow']
        )


class CallersTest(base.Case):
    def test_missing_headers(self):
        for name in (callers.INSTANCE, callers.PROJECT):
            answer = self.ask(base.META_DATA, status=400, **{name: None})
            self.assertIn(f'{name} header is missing', answer.text)

    def test_several_headers(self):
        for name in (callers.INSTANCE, callers.PROJECT):
            answer = self.ask(base.META_DATA, status=400, **{name: f'{self.uuid},{self.uuid}'})
            self.assertIn(f'Multiple {name}', answer.text)

    def test_repeated_headers(self):
        """The server of our own process gives the application all values, as gunicorn does."""
        application = app.Application(self.conf, self.make_servers())
        served = server.InProcess(application, threads=1)
        served.start()
        self.addCleanup(served.stop)
        address = urllib.parse.urlsplit(served.url)
        for repeated, status in (
            (None, 200),
            (callers.INSTANCE, 400),
            (callers.PROJECT, 400),
            (callers.SIGNATURE, 403),
        ):
            connection = client.HTTPConnection(address.hostname, address.port, timeout=60)
            self.addCleanup(connection.close)
            connection.putrequest('GET', base.META_DATA)
            for name, value in self.headers().items():
                if name == repeated:
                    connection.putheader(name, 'other')
                connection.putheader(name, value)
            connection.endheaders()
            self.assertEqual(status, connection.getresponse().status, repeated)

    def test_wrong_signatures(self):
        other = self.add_server()
        right = callers.signature(base.SECRET, self.uuid)
        for value in (
            None,
            '',
            'x',
            'ü',
            right.upper(),
            right[:-1],
            callers.signature('', self.uuid),
            callers.signature(base.SECRET, other),
        ):
            answer = self.ask(base.META_DATA, status=403, **{callers.SIGNATURE: value})
            self.assertEqual('Invalid proxy request signature.', answer.text)
        self.assertIn(f'metadata of server {self.uuid}', self.log.output)
        self.assertNotIn(right, self.log.output)

    def test_signature(self):
        """As `openssl dgst -sha256 -hmac base.SECRET` makes it."""
        self.assertEqual(
            '6bcbe3885ae7efc49cef35b438efe29c95501f4a720a0c53ed000d8fcf04a605',
            callers.signature('deadbeef2eb84d8d', '32d0524b-314d-4594-b3a3-607e3f2354f8'),
        )

    def test_server_of_another_project(self):
        uuid = self.add_server(project_id='beta')
        self.ask(base.META_DATA, status=404, uuid=uuid)
        self.assertEqual(uuid, self.ask(base.META_DATA, uuid=uuid, X_Tenant_ID='beta').json['uuid'])

    def test_no_such_server(self):
        gone = self.add_server()
        self.api.cell('cell1').db.write(instances.update, gone, {'deleted': True})
        hidden = self.add_server(hidden=True)
        for uuid in (guest_facts.UUID, 'x', "' OR 1=1", gone, hidden):
            self.ask(base.META_DATA, status=404, uuid=uuid)

    def test_not_scheduled_yet(self):
        mapping = {'instance_uuid': guest_facts.UUID, 'project_id': 'alpha', 'user_id': 'alice'}
        self.api.api_db.write(instance_mappings.create, [{**mapping, 'vcpus': 1, 'memory_mb': 1}])
        self.ask(base.META_DATA, status=404, uuid=guest_facts.UUID)

    def test_without_a_proxy(self):
        self.conf.set_override('service_metadata_proxy', False, 'neutron')
        self.ask(base.META_DATA, status=404)
        self.assertIn('service_metadata_proxy is false', self.log.output)
        self.assertEqual(200, self.client.simulate_get('/').status_code)

    def test_a_proxy_needs_a_secret(self):
        self.conf.set_override('connection', 'sqlite://', 'api_database')
        metadata.check(self.conf)
        self.conf.set_override('metadata_proxy_shared_secret', '', 'neutron')
        self.assertRaises(ValueError, metadata.check, self.conf)
        self.conf.set_override('service_metadata_proxy', False, 'neutron')
        metadata.check(self.conf)


class UnreachableTest(base.Case):
    def cut(self, database):
        database.dispose()
        database.url, database._engine = 'sqlite:////nonexistent/directory/x.sqlite', None

    def test_cell(self):
        other = self.add_server('cell2')
        self.cut(self.api.cell('cell2').db)
        answer = self.ask(base.META_DATA, status=503, uuid=other)
        self.assertIn('Cell cell2 is not available', answer.text)
        self.assertNotIn('nonexistent', answer.text)
        self.ask(base.META_DATA)

    def test_api_database(self):
        self.cut(self.api.api_db)
        self.ask(base.META_DATA, status=503)


class LogTest(base.Case):
    def test_a_request_is_one_line(self):
        self.ask('/x%0aforged "GET', status=404)
        self.assertEqual([], [line for line in self.log.output.split('\n') if line[:1] == 'f'])
        self.assertIn('"GET /x%0Aforged%20%22GET" for server', self.log.output)


class DefectTest(base.Case):
    class Broken:
        def get(self, uuid, project_id):
            raise ZeroDivisionError('a defect')

    def make_servers(self):
        return self.Broken()

    def test_is_logged_and_left_to_the_http_server(self):
        self.assertRaises(ZeroDivisionError, self.ask, base.META_DATA)
        self.assertIn('a defect', self.log.output)


class OneCellTest(base.Case):
    """The service of cell1, which knows no other cell."""

    def make_servers(self):
        return servers.CellServers(self.api.cell('cell1').db)

    def test_its_own_servers(self):
        self.assertEqual(self.uuid, self.ask(base.META_DATA).json['uuid'])
        self.ask(base.META_DATA, status=404, X_Tenant_ID='beta')
        self.ask(base.META_DATA, status=404, uuid='x')
        self.ask(base.META_DATA, status=404, uuid=self.add_server('cell2'))
        self.ask(base.META_DATA, status=404, uuid=self.add_server(hidden=True))

    def test_password(self):
        self.ask(base.PASSWORD, 'POST', body='secret')
        self.assertEqual('secret', self.ask(base.PASSWORD).text)
        self.ask(base.PASSWORD, 'POST', body='secret', status=409)
        self.api.cell('cell1').db.write(instances.update, self.uuid, {'sealed': True})
        self.ask(base.PASSWORD, 'POST', body='secret', status=503)

    def test_the_database_does_not_answer(self):
        database = self.api.cell('cell1').db
        database.dispose()
        database.url, database._engine = 'sqlite:////nonexistent/directory/x.sqlite', None
        self.ask(base.META_DATA, status=503)


class DaemonTest(base.Case):
    """Answers of the daemon by its configuration."""

    def daemon(self, **options):
        for name, value in options.items():
            self.conf.set_override(name, value, 'api')
        made = metadata.Metadata(self.conf)
        self.addCleanup(made.close)
        self.client = testing.TestClient(made)
        self.assertIsNone(made.checks['database']())

    def test_all_cells(self):
        self.conf.set_override('connection', self.api.api_db.url, 'api_database')
        self.daemon()
        for cell in ('cell1', 'cell2'):
            self.ask(base.META_DATA, uuid=self.add_server(cell))

    def test_a_database_is_required(self):
        for per_cell, group in ((False, 'api_database'), (True, 'database')):
            self.conf.set_override('local_metadata_per_cell', per_cell, 'api')
            self.conf.set_override('connection', None, group)
            error = self.assertRaises(ValueError, metadata.check, self.conf)
            self.assertEqual(f'[{group}]connection is not set', str(error))
            self.conf.set_override('connection', 'sqlite://', group)
            metadata.check(self.conf)

    def test_one_cell(self):
        self.conf.set_override('connection', self.api.cell('cell2').db.url, 'database')
        self.daemon(local_metadata_per_cell=True)
        self.ask(base.META_DATA, uuid=self.add_server('cell2'))
        self.ask(base.META_DATA, status=404)
