"""The daemons of a cloud of processes on its control endpoint.

GET /control/daemons, and POST /control/daemons/kill, stop and start with a name, answer with all
daemons.
"""

from collections.abc import Callable
import typing

from nova_lite import exception
from nova_lite.api import schema_parts
from nova_lite.lab.control import endpoint as endpoint_module

SHARED = (
    'All daemons of this cloud share one process. `nova-lite up --bus` starts a process for each '
    'daemon; here, `nova-lite host`, `cell` and `bus` take parts of the cloud down'
)
NAMED = schema_parts.whole(
    {'name': {'type': 'string', 'minLength': 1, 'maxLength': 255}}, required=['name']
)


class Daemons(typing.Protocol):
    """Processes by name. Each method raises NotFound or Conflict."""

    def kill(self, name: str) -> None:
        """Kill a process, which is then started again."""

    def hold(self, name: str) -> None:
        """Stop a process, and do not start it again."""

    def release(self, name: str) -> None:
        """Start a process that is held."""


def refuse(endpoint: endpoint_module.Endpoint) -> None:
    """Refuse the requests: the daemons of the cloud share one process."""

    def handle(_arguments: endpoint_module.Json) -> typing.NoReturn:
        raise exception.NotImplementedHere(reason=SHARED)

    endpoint.add('GET', 'daemons', handle)
    for name in ('kill', 'stop', 'start'):
        endpoint.add('POST', f'daemons/{name}', handle, schema=NAMED)


def add(
    endpoint: endpoint_module.Endpoint,
    daemons: Daemons,
    show: Callable[[], list[endpoint_module.Json]],
) -> None:
    """Add the requests to a control endpoint. show: returns all daemons, as JSON"""

    def change(name: str, method: Callable[[str], None]) -> None:
        def handle(arguments: endpoint_module.Json) -> endpoint_module.Json:
            method(arguments['name'])
            return {'daemons': show()}

        endpoint.add('POST', f'daemons/{name}', handle, schema=NAMED)

    endpoint.add('GET', 'daemons', lambda _arguments: {'daemons': show()})
    change('kill', daemons.kill)
    change('stop', daemons.hold)
    change('start', daemons.release)
