"""A cloud with Horizon: both start and stop together."""

from collections.abc import Callable
from collections.abc import Sequence
import subprocess
import sys
import typing

import requests

from nova_lite import exception
from nova_lite import runtime
from nova_lite.daemons.wsgi import server
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import make
from nova_lite.lab.launcher import supervisor
from nova_lite.lab.launcher.horizon import installation
from nova_lite.lab.testclock import control
from nova_lite.terminal import progress_display

ANSWER_S, LOOK_S = 120, 0.1
# Starts after which Horizon is given up at the start of the cloud.
STARTS = 2


def with_programs(cloud: make.Cloud) -> make.Cloud:
    """Return a cloud with the programs of its settings. Raise NotInstalled."""
    if layout.HORIZON in cloud.places.settings.programs:
        return Joined(cloud, install(cloud.places))
    return cloud


def install(places: layout.Layout) -> installation.Environment:
    """Return the environment of Horizon; create it if it is missing. Raise NotInstalled."""
    environment = installation.Environment(places)
    if not environment.is_current():
        title = f'Installing Horizon in {environment.root}: about 400 MB, a minute or more'
        with progress_display.Steps(title, stream=sys.stderr) as steps:
            environment.install(steps.begin)
    return environment


class Joined:
    """A cloud that also runs Horizon, on an address of loopback. Implements make.Cloud."""

    def __init__(self, cloud: make.Cloud, environment: installation.Environment) -> None:
        self._cloud, self._environment = cloud, environment
        self._supervisor = supervisor.Supervisor(self._launch)
        self._port = server.free_port()
        self._secret = runtime.new_secret()
        self.places, self.confs = cloud.places, cloud.confs

    @property
    def clock(self) -> control.Control | None:
        return self._cloud.clock

    @clock.setter
    def clock(self, clock: control.Control | None) -> None:
        self._cloud.clock = clock

    def start(
        self,
        *,
        fresh: bool = False,
        progress: Callable[[str], None] = lambda text: None,
        fill: Callable[[], None] | None = None,
    ) -> None:
        """Start the cloud, and then Horizon. Raise Unavailable if Horizon does not answer."""
        self._cloud.start(fresh=fresh, progress=progress, fill=fill)
        progress('Horizon')
        child = supervisor.Child(layout.HORIZON, '', places=self.places, stage=0)
        self._supervisor.add(child)
        self._wait(f'http://127.0.0.1:{self._port}/', child)

    def _launch(
        self, _module: str, _options: Sequence[str], output: typing.IO[bytes], end: int
    ) -> subprocess.Popen[bytes]:
        """Start Horizon as `supervisor.launch` starts a daemon. Return its process."""
        variables = self._environment.variables(
            port=self._port, auth_url=f'{self.places.public_url}/identity/v3', secret=self._secret
        )
        command = [self._environment.python, self._environment.script]
        return supervisor.spawn(command, output, end, variables=variables)

    def _wait(self, url: str, child: supervisor.Child) -> None:
        deadline = runtime.monotonic() + ANSWER_S
        while True:
            try:
                with requests.Session() as session:
                    session.trust_env = False
                    if session.get(f'{url}auth/login/', timeout=ANSWER_S).ok:
                        self.places.horizon_url = url
                        return
                reason = 'it answers with errors'
            except (requests.ConnectionError, requests.Timeout):
                reason = f'no answer in {ANSWER_S} s'
            if child.starts > STARTS:
                reason, deadline = 'it ends when it has started', 0.0
            if runtime.monotonic() > deadline:
                reason = f'{reason}; see {child.log_path}'
                raise exception.Unavailable(service='Horizon', reason=reason)
            runtime.sleep(LOOK_S)

    def reload(self) -> list[str]:
        """Make the daemons read their configuration again. Return messages of errors."""
        return self._cloud.reload()

    def stop(self) -> None:
        """Stop Horizon, and then the cloud."""
        self.places.horizon_url = None
        self._supervisor.stop()
        self._cloud.stop()
