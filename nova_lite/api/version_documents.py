"""The version documents, which clients read before they have a token.

Source: reference/nova/api-surface 1.
"""

from collections.abc import Mapping
import json
from wsgiref import types as wsgi

import falcon
from oslo_config import cfg

from nova_lite.api import dispatch
from nova_lite.api import microversion
from nova_lite.api import operation

_MEDIA = 'application/vnd.openstack.compute+json;version=%s'
_KNOWN = {
    'v2.0': {
        'path': '/v2/',
        'status': 'DEPRECATED',
        'version': '',
        'min_version': '',
        'updated': '2025-07-04T12:00:00Z',
        'media': '2',
    },
    'v2.1': {
        'path': '/v2.1/',
        'status': 'CURRENT',
        'version': str(microversion.MAXIMUM),
        'min_version': str(microversion.MINIMUM),
        'updated': '2013-07-23T11:33:21Z',
        'media': '2.1',
    },
}
# Of the documents, below the mount point.
PATHS = frozenset(
    ('', '/', *(path for known in _KNOWN.values() for path in (known['path'], known['path'][:-1])))
)


def is_open(environ: wsgi.WSGIEnvironment) -> bool:
    """Return whether a request needs no token: its path is not below that of a version."""
    path = environ.get('PATH_INFO', '')
    return path in PATHS or not path.startswith(tuple(known['path'] for known in _KNOWN.values()))


class Document:
    """`/`: all versions; `/v2.1/` and `/v2.1`: one. The method does not matter, as in nova.

    name: of the version, or None
    """

    def __init__(self, name: str | None = None) -> None:
        self._name = name
        for method in falcon.HTTP_METHODS:
            setattr(self, f'on_{method.lower()}', self._respond)

    def _respond(self, http: falcon.Request, response: falcon.Response) -> None:
        root = _root(http.context.app.conf, http)
        if self._name is None:
            _answer(response, {'versions': [_short(name, root) for name in _KNOWN]})
        else:
            _answer(response, find(self._name, root))


class ProjectDocument:
    """`/v2.1/{project_id}/`: the document of a version, for callers with a token.

    name: of the version
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def on_get(self, http: falcon.Request, response: falcon.Response, project_id: str) -> None:
        """Respond to GET. Raise MalformedUrl for another project than the caller's."""
        dispatch.require_project(http.context.ctxt, project_id)
        _answer(response, find(self._name, _root(http.context.app.conf, http)))


def find(name: str, root: str) -> operation.Body | None:
    """Return the document of a version, or None; root: scheme, host and mount point."""
    known = _KNOWN.get(name)
    if known is None:
        return None
    found = _short(name, root)
    found['links'].append(
        {'rel': 'describedby', 'type': 'text/html', 'href': 'http://docs.openstack.org/'}
    )
    found['media-types'] = _media_types(known)
    return {'version': found}


def choices(conf: cfg.ConfigOpts, http: falcon.Request, response: falcon.Response) -> None:
    """Answer a URL that names no version this API has."""
    root = _root(conf, http)
    response.status = falcon.HTTP_300
    _answer(
        response,
        {
            'choices': [
                {
                    'id': name,
                    'status': known['status'],
                    'media-types': _media_types(known),
                    'links': [
                        {'rel': 'self', 'href': root + known['path'].rstrip('/') + http.path}
                    ],
                }
                for name, known in _KNOWN.items()
            ]
        },
    )


def _root(conf: cfg.ConfigOpts, http: falcon.Request) -> str:
    return conf.api.compute_link_prefix or http.prefix


def _short(name: str, root: str) -> operation.Body:
    known = _KNOWN[name]
    return {
        'id': name,
        'status': known['status'],
        'version': known['version'],
        'min_version': known['min_version'],
        'updated': known['updated'],
        'links': [{'rel': 'self', 'href': root + known['path']}],
    }


def _media_types(known: Mapping[str, str]) -> list[dict[str, str]]:
    return [{'base': 'application/json', 'type': _MEDIA % known['media']}]


def _answer(response: falcon.Response, value: object) -> None:
    response.content_type = falcon.MEDIA_JSON
    response.data = json.dumps(value).encode()
