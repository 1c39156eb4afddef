"""Faults of an embedded cloud on its control endpoint.

GET /control/faults and POST /control/faults/add, faults/clear, host, cell and bus answer with all
faults. The answer to faults/add also has the id of the added fault.
"""

from collections.abc import Callable

from nova_lite.api import schema as schemas
from nova_lite.api import schema_parts
from nova_lite.lab.control import endpoint as endpoint_module
from nova_lite.lab.control import faults as faults_module

NAME = {'type': 'string', 'minLength': 1, 'maxLength': 255}
CLEAR = schema_parts.whole({'id': {'type': 'integer'}})
HOST = schema_parts.whole(
    {'name': NAME, 'power': {'enum': ['on', 'off']}}, required=['name', 'power']
)
CELL = schema_parts.whole(
    {
        'name': NAME,
        'state': {'enum': ['up', 'down']},
        'parts': {
            'type': 'array',
            'items': {'enum': list(faults_module.PARTS)},
            'minItems': 1,
            'uniqueItems': True,
        },
    },
    required=['name', 'state'],
)
BUS = schema_parts.whole(
    {'name': NAME, 'state': {'enum': ['cut', 'frozen', 'healed']}}, required=['state']
)


def add(endpoint: endpoint_module.Endpoint, faults: faults_module.Faults) -> None:
    """Add the requests that show, inject and remove faults to a control endpoint."""

    def answer(name: str, change: Callable[..., None], schema: schemas.Source) -> None:
        def handle(arguments: endpoint_module.Json) -> endpoint_module.Json:
            change(**arguments)
            return faults.show()

        endpoint.add('POST', name, handle, schema=schema)

    endpoint.add('GET', 'faults', lambda _arguments: faults.show())

    def inject(entry: endpoint_module.Json) -> endpoint_module.Json:
        number = faults.add(entry)
        return {**faults.show(), 'added': number}

    # `faults.add` checks the entry.
    endpoint.add('POST', 'faults/add', inject, schema={'type': 'object'})
    answer('faults/clear', lambda **given: faults.clear(given.get('id')), CLEAR)
    answer('host', lambda name, power: faults.switch_host(name, on=power == 'on'), HOST)
    answer(
        'cell',
        lambda name, state, **given: faults.switch_cell(name, up=state == 'up', **given),
        CELL,
    )
    answer('bus', faults.switch_bus, BUS)
