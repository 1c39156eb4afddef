"""Faults of an embedded cloud on its control endpoint.

GET /control/faults; POST /control/faults/add, faults/clear, host, cell and bus. Each answers
with all faults, and the first POST with the id of the new one, too.
"""

from nova_lite.api import schema_parts

NAME = {'type': 'string', 'minLength': 1, 'maxLength': 255}
PARTS = ('database', 'bus')
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
            'items': {'enum': list(PARTS)},
            'minItems': 1,
            'uniqueItems': True,
        },
    },
    required=['name', 'state'],
)
BUS = schema_parts.whole(
    {'name': NAME, 'state': {'enum': ['cut', 'frozen', 'healed']}}, required=['state']
)


def add(endpoint, faults):
    """Make an Endpoint inject faults. faults: a launcher.injected_faults.Faults"""

    def answer(name, change, schema):
        def handle(arguments):
            change(**arguments)
            return faults.show()

        endpoint.add('POST', name, handle, schema=schema)

    endpoint.add('GET', 'faults', lambda _arguments: faults.show())

    def inject(entry):
        number = faults.add(entry)
        return {**faults.show(), 'added': number}

    # The reader of profiles checks it.
    endpoint.add('POST', 'faults/add', inject, schema={'type': 'object'})
    answer('faults/clear', lambda **given: faults.clear(given.get('id')), CLEAR)
    answer('host', lambda name, power: faults.switch_host(name, on=power == 'on'), HOST)
    answer(
        'cell',
        lambda name, state, parts=PARTS: faults.switch_cell(name, up=state == 'up', parts=parts),
        CELL,
    )
    answer('bus', faults.switch_bus, BUS)
