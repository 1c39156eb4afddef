"""Judge samples of requests by nova's schemas; run by the interpreter of nova's environment.

  python nova_schemas.py edges                  the microversions that change each schema
  python nova_schemas.py judge < samples.jsonl  the verdict of nova on each sample, a line of JSON

It calls the validators of an installed nova and imports nothing of nova_lite.
"""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
import json
import re
import sys
import typing

from nova import config
from nova import exception
from nova import objects
from nova import rpc
from nova.api.openstack import api_version_request
from nova.api.openstack.compute import routes
from nova.api.validation import validators
import nova.conf

KINDS = {'body': 'request_body_schemas', 'query': 'request_query_schemas'}
FIRST, LAST = 1, api_version_request.max_api_version().ver_minor


def start() -> None:
    """Configure nova as far as its controllers need it."""
    config.parse_args(['nova'], default_config_files=[])
    objects.register_all()
    nova.conf.CONF.set_override('transport_url', 'fake:/')
    rpc.init(nova.conf.CONF)


def functions() -> dict[str, typing.Any]:
    """Return {'METHOD path action': function} of all routes, parameters written {}."""
    found: dict[str, typing.Any] = {}
    for path, methods in routes.ROUTE_LIST:
        if isinstance(methods, str):
            continue  # a redirection
        for method, (factory, action) in methods.items():
            resource, prefix = factory(), f'{method} {re.sub(r"{[^}]*}", "{}", path)}'
            if action == 'action' and path.endswith('/action'):
                for name, function in resource.wsgi_actions.items():
                    found[f'{prefix} {name}'] = function
            else:
                found[f'{prefix} '] = getattr(resource.controller, action, None)
    return found


def schemas(function: object, kind: str) -> list[tuple[typing.Any, int, int]]:
    """Return [(schema, first minor version, last), ...] of the bodies or queries of a function."""
    return [
        (
            schema,
            FIRST if first.is_null() else first.ver_minor,
            LAST if last.is_null() else last.ver_minor,
        )
        for schema, first, last in getattr(getattr(function, KINDS[kind], None), '_schemas', ())
    ]


def edges() -> dict[str, dict[str, list[int]]]:
    """Return {operation: {kind: minor versions at which a schema begins, or has ended}}."""
    return {
        name: {
            kind: sorted(
                {minor for _, first, last in schemas(function, kind) for minor in (first, last + 1)}
            )
            for kind in KINDS
        }
        for name, function in functions().items()
    }


def judge(samples: Iterable[Mapping[str, typing.Any]]) -> Iterator[dict[str, bool | str | None]]:
    """Yield {'judged': bool, 'reason': text of nova's refusal or None} for each sample."""
    known = functions()
    made: dict[tuple[int, str], typing.Any] = {}
    for sample in samples:
        kind, minor = sample['kind'], sample['minor']
        found = schemas(known.get(sample['operation']), kind)
        schema = next((each for each, first, last in found if first <= minor <= last), None)
        if schema is None:
            yield {'judged': False, 'reason': None}
            continue
        key = id(schema), kind
        if key not in made:
            made[key] = validators._SchemaValidator(schema, False, kind == 'body')
        try:
            made[key].validate(sample['value'])
        except exception.NovaException as error:
            yield {'judged': True, 'reason': str(error)}
        except UnicodeError as error:
            yield {'judged': True, 'reason': f'fails: {error}'}  # its check of base64
        else:
            yield {'judged': True, 'reason': None}


if __name__ == '__main__':
    start()
    if sys.argv[1] == 'edges':
        print(json.dumps(edges()))
    else:
        for verdict in judge(map(json.loads, sys.stdin)):
            print(json.dumps(verdict))
