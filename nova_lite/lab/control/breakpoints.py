"""The debugger of an embedded cloud on its control endpoint.

GET /control/breakpoints; POST /control/breakpoints/add and breakpoints/remove: each answers with
all breakpoints and the sagas that are stopped. GET /control/saga; POST /control/saga/go,
saga/step and saga/kill-here: each answers with one saga.
"""

from nova_lite import exception
from nova_lite.api import schema_parts
from nova_lite.saga import breakpoints

NAME = {'type': 'string', 'minLength': 1, 'maxLength': 255}
ADD = schema_parts.whole({'server': NAME, 'kind': NAME, 'step': NAME}, required=['step'])
REMOVE = schema_parts.whole({'id': {'type': 'integer'}})
SERVER = schema_parts.whole({'server': NAME}, required=['server'])
SAGA = schema_parts.whole({'server': NAME, 'uuid': NAME})


def add(endpoint, debugger):
    """Make an Endpoint stop sagas. debugger: a launcher.debugger.Debugger"""

    def change(name, do, schema):
        def handle(arguments):
            do(**arguments)
            return debugger.show()

        endpoint.add('POST', f'breakpoints/{name}', handle, schema=schema)

    def ask(method, name, find, schema):
        endpoint.add(method, name, lambda arguments: find(**arguments), schema=schema)

    endpoint.add('GET', 'breakpoints', lambda _arguments: debugger.show())
    change('add', debugger.add, ADD)
    change('remove', lambda id=None: debugger.remove(id), REMOVE)

    def show(**wanted):
        if len(wanted) != 1:
            raise exception.Invalid(reason='give either the argument server or the argument uuid')
        return debugger.show_saga(**wanted)

    ask('GET', 'saga', show, SAGA)
    ask('POST', 'saga/go', lambda server: debugger.go_on(server, breakpoints.GO), SERVER)
    ask('POST', 'saga/step', lambda server: debugger.go_on(server, breakpoints.STEP), SERVER)
    ask('POST', 'saga/kill-here', debugger.kill_here, SERVER)
