"""/v2/types: the only share type."""

import falcon

from nova_lite.simcloud import faults
from nova_lite.simcloud import web

_SPECS = {'driver_handles_share_servers': 'False'}
TYPE = {
    'id': '3f0a2c6e-8f0d-4d0c-9a3e-5f1c7f6f7c11',
    'name': 'default',
    'description': None,
    'is_default': True,
    'share_type_access:is_public': True,
    'required_extra_specs': _SPECS,
    'extra_specs': _SPECS,
}
NAMES = (TYPE['id'], TYPE['name'])


class TypeResource:
    """Answers requests for the list of types and for one type."""

    def on_get(self, req: web.Request, resp: falcon.Response) -> None:
        resp.media = {'share_types': [TYPE], 'volume_types': [TYPE]}

    def on_get_one(self, req: web.Request, resp: falcon.Response, type_id: str) -> None:
        if type_id not in NAMES:
            raise faults.NotFound(f'Share type {type_id[:64]} could not be found.')
        resp.media = {'share_type': TYPE, 'volume_type': TYPE}
