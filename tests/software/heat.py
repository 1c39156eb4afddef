"""Heat's engine and API as processes, over a private RabbitMQ and MariaDB."""

import fixtures

from nova_lite.lab.launcher import client_connections
from tests.fixtures import mariadb
from tests.fixtures import ports
from tests.fixtures import processes
from tests.fixtures import rabbit
from tests.fixtures import servers
from tests.software import settings

READY_S, STOP_S = 180, 30
ENGINE_READY = 'Starting engine_worker'
USER, DOMAIN_ADMIN, PASSWORD = 'heat', 'heat_domain_admin', 'a-secret-of-tests'


class Heat(fixtures.Fixture):
    """Its daemons run when this is set up. found: settings of the cases, which get `endpoint`."""

    def __init__(self, installed, found):
        super().__init__()
        self._installed, self._found = installed, found

    def _setUp(self):
        broker, database = rabbit.Rabbit(), mariadb.MariaDB()
        servers.use_all(self, broker, database)
        port = self.useFixture(ports.Port()).number
        stacks, project = _make_users(self._found)
        sections = _sections(self._found, stacks, broker.url, database.create_database('heat'))
        paste = self._installed.directory / 'env' / 'etc' / 'heat' / 'api-paste.ini'
        sections['paste_deploy'] = {'api_paste_config': str(paste)}
        settings.configure(self._found, sections)
        self._found['endpoint'] = f'http://127.0.0.1:{port}/v1/{project}'
        configured = ('--config-file', self._found['configuration'])
        processes.run(self._installed.path('heat-manage'), *configured, 'db_sync')
        engine = self._start('heat-engine', *configured)
        where = ('--host', '127.0.0.1', '--port', port)
        api = self._start('heat-wsgi-api', *where, '--', *configured)
        api.wait_for(lambda: ports.listening(port), READY_S, 'listens')
        engine.wait_for(lambda: ENGINE_READY in engine.log_text(), READY_S, 'is ready')

    def _start(self, name, *words):
        daemon = processes.Daemon(
            [self._installed.path(name), *words], name=name, directory=self._found['directory']
        )
        self.useFixture(daemon)
        daemon.start()
        self.addCleanup(daemon.stop, STOP_S)
        return daemon


def _make_users(found):
    """Make what Heat's guide asks for; return ids of the domain of stacks and demo's project."""
    identity = client_connections.connect(f'{found["state_dir"]}/clouds.yaml').identity
    user = identity.create_user(name=USER, password=PASSWORD, domain_id='default')
    services = identity.find_project('service', ignore_missing=False)
    admin = identity.find_role('admin', ignore_missing=False)
    for role in (admin, identity.find_role('service', ignore_missing=False)):
        identity.assign_project_role_to_user(services, user, role)
    domain = identity.create_domain(name=USER, description='Users of stacks')
    owner = identity.create_user(name=DOMAIN_ADMIN, password=PASSWORD, domain_id=domain.id)
    identity.assign_domain_role_to_user(domain, owner, admin)
    identity.create_role(name='heat_stack_user')
    project = identity.find_project(found['demo']['project_name'], ignore_missing=False)
    return domain.id, project.id


def _sections(found, stacks, bus, database):
    """Return the sections of Heat's configuration; deferred authentication is by default."""
    ours = {**found['admin'], 'username': USER, 'password': PASSWORD, 'project_name': 'service'}
    login = settings.login(ours)
    projectless = {key: value for key, value in login.items() if 'project' not in key}
    return {
        'DEFAULT': {
            'transport_url': bus,
            'num_engine_workers': 1,
            'auth_encryption_key': '0123456789abcdef0123456789abcdef',
            'stack_user_domain_id': stacks,
            'stack_domain_admin': DOMAIN_ADMIN,
            'stack_domain_admin_password': PASSWORD,
        },
        'database': {'connection': database},
        'oslo_messaging_notifications': {'driver': 'noop'},
        'keystone_authtoken': {**login, 'www_authenticate_uri': login['auth_url']},
        'trustee': projectless,
        'clients_keystone': {'auth_uri': login['auth_url']},
    }
