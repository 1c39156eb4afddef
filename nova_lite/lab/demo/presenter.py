"""The presenter of the demo: clients of the cloud, and the terminal."""

from collections.abc import Callable
from collections.abc import Iterable
import contextlib
import typing

from openstack import connection
from openstack.compute.v2 import server as server_module
from rich import text as rich_text

from nova_lite import runtime
from nova_lite.lab.launcher import client_connections
from nova_lite.lab.launcher import embedded
from nova_lite.lab.timeline import story
from nova_lite.terminal import pipes

WAIT_S = 60
# Seconds between two requests while waiting: the client takes 10 ms of CPU for each request.
LOOK_S = 0.2

T = typing.TypeVar('T')


class Presenter:
    """Prints the scenes of a cloud, and counts checks and failed checks.

    admin, demo: connections of openstacksdk as the two users in clouds.yaml
    stories: the timelines for the page at the end
    """

    def __init__(
        self, cloud: embedded.EmbeddedCloud, *, stream: typing.TextIO | None = None
    ) -> None:
        self.cloud = cloud
        self.console = pipes.Console(file=stream, highlight=False, soft_wrap=True)
        self.failed = 0
        self.checked = 0
        self.stories: list[story.Story] = []
        self._connections: dict[str, connection.Connection] = {}

    def _connect(self, name: str) -> connection.Connection:
        if name not in self._connections:
            self._connections[name] = client_connections.connect(
                self.cloud.places.path('clouds.yaml'), name
            )
        return self._connections[name]

    @property
    def admin(self) -> connection.Connection:
        return self._connect('nova-lite')

    @property
    def demo(self) -> connection.Connection:
        return self._connect('nova-lite-demo')

    # ---- output ----

    def title(self, text: str) -> None:
        """Begin a scene."""
        self.console.print(f'\n[bold]{text}[/bold]')

    def say(self, text: str) -> None:
        """Print one line."""
        self.console.print(f'  {text}', markup=False)

    def check(self, holds: object, text: str) -> None:
        """Print a check and whether it holds, and count the check."""
        self.checked += 1
        self.failed += 0 if holds else 1
        mark = ('ok', 'green') if holds else ('FAILED', 'red')
        self.console.print(rich_text.Text.assemble('  ', mark, ' ', text))

    def curtain(self) -> int:
        """Print the number of checks. Return the exit code."""
        held = self.checked - self.failed
        self.title(f'{held} of {self.checked} checks succeeded')
        return 1 if self.failed else 0

    def waiting(self, text: str) -> contextlib.AbstractContextManager[object]:
        """Return a context in which a terminal shows a spinner."""
        if not self.console.is_terminal:
            return contextlib.nullcontext()
        return self.console.status(rich_text.Text(text))

    # ---- requests ----

    def boot(self, name: str, **options: typing.Any) -> server_module.Server:
        """Request a server. options: flavor and image by name, and arguments of create_server"""
        compute = self.admin.compute
        image = self.admin.image.find_image(options.pop('image', 'cirros'), ignore_missing=False)
        flavor = compute.find_flavor(options.pop('flavor', 'm1.tiny'), ignore_missing=False)
        options.setdefault('networks', 'none')
        return compute.create_server(name=name, image_id=image.id, flavor_id=flavor.id, **options)

    def wait(self, server: server_module.Server, status: str = 'ACTIVE') -> server_module.Server:
        """Wait until a server has a status or is in ERROR, at most WAIT_S. Return the server."""
        deadline = runtime.monotonic() + WAIT_S
        with self.waiting(f'waiting for {server.name} to be {status}'):
            while True:
                server = self.admin.compute.get_server(server.id)
                if server.status == status or runtime.monotonic() > deadline:
                    return server
                if server.status == 'ERROR':
                    return server
                runtime.sleep(LOOK_S)

    def wait_for(self, condition: Callable[[], T]) -> T:
        """Wait until `condition()` is true, at most WAIT_S. Return its last value."""
        deadline = runtime.monotonic() + WAIT_S
        with self.waiting('waiting'):
            while True:
                found = condition()
                if found or runtime.monotonic() > deadline:
                    return found
                runtime.sleep(LOOK_S)

    def delete(self, servers: Iterable[server_module.Server]) -> None:
        """Delete servers, and check that they are deleted."""
        for server in servers:
            self.admin.compute.delete_server(server)
        with self.waiting('waiting until they are deleted'):
            gone = [self.wait_gone(server) for server in servers]
        self.check(all(gone), 'the servers are deleted')

    def wait_gone(self, server: server_module.Server) -> bool:
        """Wait until a server is no longer found. Return False after WAIT_S."""
        deadline = runtime.monotonic() + WAIT_S
        while runtime.monotonic() < deadline:
            if self.admin.compute.find_server(server.id, ignore_missing=True) is None:
                return True
            runtime.sleep(LOOK_S)
        return False

    def migration_status(self, server: server_module.Server) -> str:
        """Return the status of the newest migration of a server."""
        status: str = next(iter(self.admin.compute.migrations(instance_uuid=server.id))).status
        return status

    def where(self, server: server_module.Server) -> str:
        """Return 'HOST in CELL', where a server runs."""
        host = server.compute_host or server.hypervisor_hostname or '(nowhere)'
        return f'{host} in {host.split("-")[0]}'
