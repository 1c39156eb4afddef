"""Extra specs of a flavor.

Source: reference/nova/api-surface 2.2.
"""

from collections.abc import Mapping

from nova_lite import exception
from nova_lite.api import flavors as flavors_api
from nova_lite.api import known_extra_specs
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import schema_parts
from nova_lite.api.policies import flavors as rules
from nova_lite.db.api import flavors

ALL = '/flavors/{flavor_id}/os-extra_specs'
ONE = '/flavors/{flavor_id}/os-extra_specs/{key}'
LENGTH = 255
# A number is stored as its text.
SPECS = {
    'type': 'object',
    'patternProperties': {
        schema_parts.METADATA_KEY: {'type': ['string', 'number'], 'maxLength': LENGTH}
    },
    'additionalProperties': False,
}
CREATE = schema_parts.body('extra_specs', SPECS)
UPDATE = {**SPECS, 'minProperties': 1, 'maxProperties': 1}


@operation.operation('GET', ALL, policy=rules.SPECS_LIST, faults=(403, 404))
def list_specs(req: request.Request) -> operation.Result:
    """List all extra specs of a flavor."""
    return {'extra_specs': flavors_api.visible(req).extra_specs}


@operation.operation('GET', ONE, policy=rules.SPECS_SHOW, faults=(403, 404))
def show_spec(req: request.Request) -> operation.Result:
    """Show one extra spec."""
    row, key = flavors_api.visible(req), req.args['key']
    if key not in row.extra_specs:
        raise exception.FlavorExtraSpecNotFound(flavor_id=row.flavorid, key=key)
    return {key: row.extra_specs[key]}


@operation.operation(
    'POST', ALL, policy=rules.SPECS_CREATE, body={'2.1': CREATE}, faults=(400, 403, 404, 409)
)
def create_specs(req: request.Request) -> operation.Result:
    """Add or replace extra specs, and keep all other extra specs."""
    _set(req, req.content)
    return {'extra_specs': req.content}


@operation.operation(
    'PUT', ONE, policy=rules.SPECS_UPDATE, body={'2.1': UPDATE}, faults=(400, 403, 404, 409)
)
def update_spec(req: request.Request) -> operation.Result:
    """Set one extra spec."""
    if req.args['key'] not in req.body:
        raise exception.Invalid('Request body and URI mismatch')
    specs: operation.Body = req.body
    _set(req, specs)
    return specs


@operation.operation('DELETE', ONE, policy=rules.SPECS_DELETE, faults=(403, 404))
def delete_spec(req: request.Request) -> None:
    """Remove one extra spec."""
    req.app.api_db.write(flavors.drop_extra_spec, req.args['flavor_id'], req.args['key'])


def _set(req: request.Request, given: Mapping[str, str]) -> None:
    specs = {name: str(value) for name, value in given.items()}
    if any(len(value) > LENGTH for value in specs.values()):
        raise exception.Invalid(f'An extra spec has more than {LENGTH} characters.')
    if req.minor >= 86:
        for name, value in specs.items():
            known_extra_specs.check(name, value)
    req.app.api_db.write(flavors.set_extra_specs, req.args['flavor_id'], specs)
