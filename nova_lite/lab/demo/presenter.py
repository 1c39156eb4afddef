"""The presenter of the demo: clients of the cloud, and the terminal."""

import contextlib

from rich import console
from rich import text as rich_text

from nova_lite import runtime
from nova_lite.lab.launcher import client_connections

WAIT_S = 60
# Between two looks at what is waited for: the client takes 10 ms of CPU for each.
LOOK_S = 0.2


class Presenter:
    """Prints what happens, and counts checks and failures.

    admin, demo: openstacksdk connections of the two clouds in clouds.yaml
    stories: of sagas, for the page at the end
    """

    def __init__(self, cloud, *, stream=None):
        self.cloud = cloud
        self.console = console.Console(file=stream, highlight=False, soft_wrap=True)
        self.failed = 0
        self.checked = 0
        self.stories = []
        self._connections = {}

    def _connect(self, name):
        if name not in self._connections:
            self._connections[name] = client_connections.connect(
                self.cloud.places.path('clouds.yaml'), name
            )
        return self._connections[name]

    @property
    def admin(self):
        return self._connect('nova-lite')

    @property
    def demo(self):
        return self._connect('nova-lite-demo')

    # ---- telling ----

    def title(self, text):
        """Begin a scene."""
        self.console.print(f'\n[bold]{text}[/bold]')

    def say(self, text):
        """Print one line."""
        self.console.print(f'  {text}', markup=False)

    def check(self, holds, text):
        """Print a condition and whether it holds, and count it."""
        self.checked += 1
        self.failed += not holds
        mark = ('ok', 'green') if holds else ('FAILED', 'red')
        self.console.print(rich_text.Text.assemble('  ', mark, ' ', text))

    def curtain(self):
        """Print the number of checks and return the exit code."""
        held = self.checked - self.failed
        self.title(f'{held} of {self.checked} checks succeeded')
        return 1 if self.failed else 0

    def waiting(self, text):
        """Return a context in which a terminal shows a spinner."""
        if not self.console.is_terminal:
            return contextlib.nullcontext()
        return self.console.status(rich_text.Text(text))

    # ---- acting ----

    def boot(self, name, **options):
        """Ask for a server; `flavor` and `image` by name, no network unless asked for."""
        compute = self.admin.compute
        image = self.admin.image.find_image(options.pop('image', 'cirros'))
        flavor = compute.find_flavor(options.pop('flavor', 'm1.tiny'))
        options.setdefault('networks', 'none')
        return compute.create_server(name=name, image_id=image.id, flavor_id=flavor.id, **options)

    def wait(self, server, status='ACTIVE'):
        """Wait for a status and return the server."""
        deadline = runtime.monotonic() + WAIT_S
        with self.waiting(f'waiting for {server.name} to be {status}'):
            while True:
                server = self.admin.compute.get_server(server.id)
                if server.status == status or runtime.monotonic() > deadline:
                    return server
                if server.status == 'ERROR':
                    return server
                runtime.sleep(LOOK_S)

    def wait_for(self, condition):
        """Wait until `condition()` is true, and return its value."""
        deadline = runtime.monotonic() + WAIT_S
        with self.waiting('waiting'):
            while True:
                found = condition()
                if found or runtime.monotonic() > deadline:
                    return found
                runtime.sleep(LOOK_S)

    def delete(self, servers):
        """Delete servers, and check that they go."""
        for server in servers:
            self.admin.compute.delete_server(server)
        with self.waiting('waiting until they are deleted'):
            gone = [self.wait_gone(server) for server in servers]
        self.check(all(gone), 'the servers are deleted')

    def wait_gone(self, server):
        """Wait until the server is no longer found. Return False after WAIT_S."""
        deadline = runtime.monotonic() + WAIT_S
        while runtime.monotonic() < deadline:
            if self.admin.compute.find_server(server.id, ignore_missing=True) is None:
                return True
            runtime.sleep(LOOK_S)
        return False

    def where(self, server):
        """Return 'HOST in CELL' of a server."""
        host = server.compute_host or server.hypervisor_hostname or '(nowhere)'
        return f'{host} in {host.split("-")[0]}'
