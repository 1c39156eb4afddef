"""The JSON schema of a drill's file."""

from nova_lite.api import schema as schemas
from nova_lite.api import schema_parts

VARIABLE = {'type': 'string', 'pattern': r'^[a-z][a-z_]*\Z'}
TEXT = {'type': 'string', 'minLength': 1, 'maxLength': 1000}
LABEL = {'type': 'string', 'minLength': 1, 'maxLength': 255}
PATH = {'type': 'string', 'pattern': '^/'}
METHOD = {'enum': ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']}
SECONDS = {'type': 'number', 'exclusiveMinimum': 0, 'maximum': 3600}
VERSION = {'type': 'string', 'pattern': r'^\d+\.\d+\Z'}
SERVICES = ('compute', 'placement', 'network', 'volume', 'image', 'identity')
STATUS = {'type': 'integer', 'minimum': 200, 'maximum': 599}

# Comparisons of a signal: functions of the found value and the argument of the condition.
CONDITIONS = ('is', 'is_not', 'any_of', 'contains', 'above')

REQUEST = schema_parts.whole(
    {
        'service': {'enum': list(SERVICES)},
        'as': {'enum': ['admin', 'demo']},
        'method': METHOD,
        'path': PATH,
        'body': {'type': 'object'},
        'version': VERSION,
        'status': STATUS,
        'keep': {'type': 'object', 'propertyNames': VARIABLE, 'additionalProperties': LABEL},
        # It may be sent without the change, and twice.
        'undo': schema_parts.whole(
            {'method': {'enum': ['PUT', 'DELETE']}, 'path': PATH, 'body': {'type': 'object'}},
            required=['method', 'path'],
        ),
    },
    required=['method', 'path'],
)
BOOT = schema_parts.whole(
    {
        'servers': {'type': 'array', 'items': VARIABLE, 'minItems': 1, 'uniqueItems': True},
        'host': LABEL,
        'flavor': LABEL,
        'network': {'const': True},
        'volume_gb': {'type': 'integer', 'minimum': 1, 'maximum': 100},
        'status': {'enum': ['ACTIVE', 'ERROR', 'BUILD']},
    },
    required=['servers'],
)
RACE = schema_parts.whole(
    {
        'servers': {'type': 'array', 'items': VARIABLE, 'minItems': 2, 'uniqueItems': True},
        'accepted': {'type': 'integer', 'minimum': 0},
        'refused': STATUS,
    },
    required=['servers', 'accepted', 'refused'],
)
CONTROL = schema_parts.whole(
    {'name': LABEL, 'arguments': {'type': 'object'}}, required=['name', 'arguments']
)
COMMAND = schema_parts.whole(
    {
        'words': {'type': 'array', 'items': LABEL, 'minItems': 1},
        'exit': {'type': 'integer', 'minimum': 0, 'maximum': 2},
        'background': VARIABLE,
        'within': SECONDS,
    },
    required=['words'],
)
ENDED = schema_parts.whole(
    {'command': VARIABLE, 'exit': {'type': 'integer'}, 'within': SECONDS},
    required=['command', 'exit'],
)
SIGNAL = {
    **schema_parts.whole(
        {
            'service': {'enum': [*SERVICES, 'control']},
            'get': PATH,
            'version': VERSION,
            'status': STATUS,
            'at': LABEL,
            'within': SECONDS,
            **dict.fromkeys(('is', 'is_not', 'contains'), {}),
            'any_of': {'type': 'array', 'minItems': 2},
            'above': {'type': 'number'},
        },
        required=['get'],
    ),
    'oneOf': [
        *({'required': ['at', each]} for each in CONDITIONS),
        {'required': ['status'], 'not': {'required': ['at']}},
    ],
}
# {name of an action: schema of its arguments}. A step has one action beside its text.
ACTIONS = {
    'boot': BOOT,
    'race': RACE,
    'request': REQUEST,
    'control': CONTROL,
    'command': COMMAND,
    'signal': SIGNAL,
    'ended': ENDED,
}
# Actions that only read.
SIGNALS = ('signal', 'ended')
STEP = {
    **schema_parts.whole({'text': TEXT, **ACTIONS}, required=['text']),
    'minProperties': 2,
    'maxProperties': 2,
}
EXAM = schema_parts.whole(
    {
        'after': TEXT,
        'symptom': TEXT,
        'task': TEXT,
        'solved': {'type': 'array', 'items': STEP, 'minItems': 1},
        'solution': {'type': 'array', 'items': STEP, 'minItems': 1},
    },
    required=['after', 'symptom', 'task', 'solved'],
)
TEXTS = {'type': 'array', 'items': TEXT, 'minItems': 1}
DRILL = schemas.Schema(
    schema_parts.whole(
        {
            'title': TEXT,
            'purpose': TEXT,
            'hosts': {
                'type': 'object',
                'propertyNames': VARIABLE,
                'additionalProperties': VARIABLE,
                'minProperties': 1,
            },
            'seconds': {'type': 'integer', 'minimum': 1, 'maximum': 600},
            'look_at': TEXTS,
            'steps': {'type': 'array', 'items': STEP, 'minItems': 2},
            'verify': {'enum': ['consistent']},
            'leaves': TEXT,
            'exam': EXAM,
        },
        required=['title', 'purpose', 'hosts', 'seconds', 'look_at', 'steps', 'verify', 'exam'],
    ),
    place='key',
)
