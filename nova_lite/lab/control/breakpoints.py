"""The debugger of a cloud on its control endpoint.

GET /control/breakpoints and POST /control/breakpoints/add and breakpoints/remove answer with all
breakpoints and all stopped sagas. GET /control/saga and POST /control/saga/go, saga/step and
saga/kill-here answer with one saga.
"""

from collections.abc import Callable
import typing

from nova_lite import exception
from nova_lite.api import schema as schemas
from nova_lite.api import schema_parts
from nova_lite.lab.control import endpoint as endpoint_module
from nova_lite.lab.control import stopping
from nova_lite.saga import breakpoints

NAME = {'type': 'string', 'minLength': 1, 'maxLength': 255}
ADD = schema_parts.whole({'server': NAME, 'kind': NAME, 'step': NAME}, required=['step'])
REMOVE = schema_parts.whole({'id': {'type': 'integer'}})
SERVER = schema_parts.whole({'server': NAME}, required=['server'])
SAGA = schema_parts.whole({'server': NAME, 'uuid': NAME})


def add(endpoint: endpoint_module.Endpoint, debugger: stopping.Stopping) -> None:
    """Add the requests that stop and continue sagas to a control endpoint."""

    def change(name: str, do: Callable[..., None], schema: schemas.Source) -> None:
        def handle(arguments: endpoint_module.Json) -> endpoint_module.Json:
            do(**arguments)
            return debugger.show()

        endpoint.add('POST', f'breakpoints/{name}', handle, schema=schema)

    def ask(
        method: str, name: str, find: Callable[..., endpoint_module.Json], schema: schemas.Source
    ) -> None:
        endpoint.add(method, name, lambda arguments: find(**arguments), schema=schema)

    endpoint.add('GET', 'breakpoints', lambda _arguments: debugger.show())
    change('add', debugger.add, ADD)
    change('remove', lambda id=None: debugger.remove(id), REMOVE)

    def show(**wanted: str) -> endpoint_module.Json:
        if len(wanted) != 1:
            raise exception.Invalid(reason='give either the argument server or the argument uuid')
        return debugger.show_saga(**wanted)

    ask('GET', 'saga', show, SAGA)
    ask('POST', 'saga/go', lambda server: debugger.go_on(server, breakpoints.GO), SERVER)
    ask('POST', 'saga/step', lambda server: debugger.go_on(server, breakpoints.STEP), SERVER)
    ask('POST', 'saga/kill-here', debugger.kill_here, SERVER)


def refuse(endpoint: endpoint_module.Endpoint, reason: str) -> None:
    """Refuse the requests to stop and continue sagas: the cloud has no debugger."""

    def handle(_arguments: endpoint_module.Json) -> typing.NoReturn:
        raise exception.NotImplementedHere(reason=reason)

    # Others may look at them: there are none.
    endpoint.add('GET', 'breakpoints', lambda _arguments: {'breakpoints': [], 'stopped': []})
    endpoint.add('GET', 'saga', handle, schema=SAGA)
    for name, schema in (('breakpoints/add', ADD), ('breakpoints/remove', REMOVE)):
        endpoint.add('POST', name, handle, schema=schema)
    for name in ('go', 'step', 'kill-here'):
        endpoint.add('POST', f'saga/{name}', handle, schema=SERVER)
