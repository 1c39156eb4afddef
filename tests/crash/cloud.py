"""A cloud whose daemons stop where a test says, with a compute process per host."""

import contextlib
import glob
import os

from nova_lite.lab.launcher import daemon_config
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import processes
from nova_lite.lab.launcher import supervisor
from tests.crash import cases
from tests.crash import points
from tests.fixtures import forking
from tests.fixtures import process_cloud
from tests.fixtures import running_guests

HOOKED = ('conductor', 'compute', 'scheduler', 'api')
STOP_S = 10
# The cell whose database may have a server of its own.
FAR = 'cell2'
# A dead one's saga is taken over soon, and a call to one that is dead soon missed.
CRASH = {
    'DEFAULT': {
        'rpc_response_timeout': 5,
        'max_concurrent_live_migrations': 0,
        'shelved_offload_time': -1,
    },
    'conductor': {'lease_s': 4, 'sweep_interval_s': 1, 'saga_threads': 32},
    # No process waits for the answer of a request whose saga meets a fault.
    'api': {'device_timeout': 0},
    'compute': {'audit_interval': 5, 'stray_grace': 5, 'late_requests_s': 0},
    'filter_scheduler': {'cross_cell_move_weight_multiplier': -1000000.0},
}


# Where copies go on until somebody ends them.
ENDLESS = os.path.join(os.path.dirname(__file__), 'endless.yaml')
# So many leave a host at a time where phases are looked at: one of them must wait.
LEAVING = len(cases.ALL_PHASES) - 1
# An audit ceases to count what an API accepted to delete when it was killed.
AUDITED = {'conductor': {'audit_interval': 2, 'audit_idle_s': 5}}


def of_table(table, database, **settings):
    """The cloud in which the cases of a table are run."""
    if table in (cases.PHASES, cases.ABORT):
        settings.setdefault('profile', ENDLESS)
    if table == cases.PHASES:
        settings.setdefault('options', leaving(LEAVING))
    if table == cases.ACCEPT:
        settings.setdefault('options', AUDITED)
    if table == cases.OTHER:
        settings.setdefault('own_brokers', (layout.TOP, 'cell1', FAR))
    if table in cases.IN_A_CELL:
        return CrashCloud(database, cells=1, hosts=2, **settings)
    far = type(database)() if table == cases.OTHER else None
    return CrashCloud(database, cells=2, hosts=1, far_database=far, **settings)


def leaving(number):
    """The options of a cloud whose hosts let so many guests go at a time."""
    return {'DEFAULT': {'max_concurrent_live_migrations': number}}


class Layout(layout.Layout):
    """The places of a cloud whose second cell has a database server of its own."""

    def __init__(self, settings, far_database):
        super().__init__(settings)
        self._far = far_database

    def database_url(self, name):
        if name != FAR:
            return super().database_url(name)
        return self._far.url(FAR)


class Processes(processes.ProcessCloud):
    """Daemons with the hooks of the tests, and a compute process for each host."""

    def _child(self, kind, name, module, config, *, workers=1):
        package = 'tests.crash.daemons' if module in HOOKED else 'nova_lite.cmd'
        stage = processes.STAGES.index(kind) if kind in processes.STAGES else 0
        return self.supervisor.add(
            supervisor.Child(
                f'{kind}.{name}',
                f'{package}.{module}',
                config,
                self._monitored(f'{kind}.{name}', workers),
                places=self.places,
                stage=stage,
            )
        )

    def _start_cell(self, cell):
        places = self.places
        config = daemon_config.cell_conductor(places, self.urls, cell)
        self._child('conductor', cell, 'conductor', self._write(f'conductor-{cell}', config))
        for host in places.hosts(cell):
            config = daemon_config.compute(places, self.urls, cell)
            config['DEFAULT'] |= {'host': host, 'state_path': places.path('guests', host, '')}
            config['compute']['hosts'] = [host]
            self._child('compute', host, 'compute', self._write(f'compute-{host}', config))

    @contextlib.contextmanager
    def second_super_conductor(self):
        """Another super-conductor, which takes over what the first one lets go."""
        config = daemon_config.control(self.places, self.urls)
        config['DEFAULT']['host'] = 'second'
        child = self._child('super-conductor', 'second', 'conductor', self._write('second', config))
        yield child
        self.supervisor.children.remove(child)
        child.stop(STOP_S)


class CrashCloud(process_cloud.ProcessCloud):
    """As ProcessCloud; `points` says where its daemons stop.

    far_database: a server for the database of the second cell alone
    """

    def __init__(self, database, *, far_database=None, profile='instant', options=None, **settings):
        super().__init__(
            database,
            profile=profile,
            options=process_cloud.merged(CRASH, options or {}),
            **settings,
        )

        self.far_database = far_database

    def _setUp(self):
        self.points = self.useFixture(points.Points())
        if self.far_database is not None:
            self.useFixture(self.far_database).create_database(FAR)
        super()._setUp()
        self.api_db = self.open_api_database()
        self.addCleanup(self.api_db.dispose)

    def processes(self, settings):
        made = Processes(settings, launch=forking.launch)
        if self.far_database is not None:
            made.places = Layout(settings, self.far_database)
        return made

    def guests(self):
        return running_guests.nodes(
            glob.glob(os.path.join(self.state_dir, 'guests', '*', 'guests.sqlite'))
        )
