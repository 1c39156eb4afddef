"""Requests to the services of a cloud as its administrator, with a session of keystoneauth1."""

from collections.abc import Mapping
import http
import typing

from keystoneauth1 import adapter
from keystoneauth1 import session as sessions
from keystoneauth1.identity import v3
import requests

from nova_lite import exception

Json: typing.TypeAlias = dict[str, typing.Any]

# {service: its type in the catalog}
TYPES = {
    'identity': 'identity',
    'compute': 'compute',
    'image': 'image',
    'network': 'network',
    'volume': 'block-storage',
    'placement': 'placement',
}
MICROVERSION = '2.96'
MICROVERSIONS = {'compute': MICROVERSION, 'placement': '1.37'}
# Longest time to wait for an answer.
ANSWER_S = 60


class Refused(exception.NovaLiteError):
    """status: the code of the answer"""

    msg = 'The %(service)s API refused %(request)s with %(status)s: %(reason)s'


def connect(credentials: Json, project: str | None = None) -> 'Api':
    """Return the Api of a user. credentials: of `auth` in clouds.yaml; project: None for theirs"""
    given = credentials if project is None else {**credentials, 'project_name': project}
    plain = requests.Session()
    # The environment may have a proxy, and passwords for hosts.
    plain.trust_env = False
    session = sessions.Session(auth=v3.Password(**given), session=plain, timeout=ANSWER_S)
    return Api(
        {
            service: adapter.Adapter(session, service_type=kind, interface='public')
            for service, kind in TYPES.items()
        }
    )


class Api:
    """Sends requests to services. adapters: {service of TYPES: its adapter}"""

    def __init__(self, adapters: Mapping[str, adapter.Adapter]) -> None:
        self._adapters = adapters
        self._ids: dict[tuple[str, str], dict[str, str]] = {}
        self.microversions = dict(MICROVERSIONS)

    def newest(self, service: str) -> tuple[int, int]:
        """Return the newest microversion of a service, (0, 0) without any."""
        data = self._adapters[service].get_endpoint_data()
        major, minor = (data and data.max_microversion) or (0, 0)
        return int(major), int(minor)

    def call(
        self, service: str, method: str, path: str, body: Json | None = None, **options: typing.Any
    ) -> typing.Any:
        """Return the body of the answer, None if it is empty. Raise Refused."""
        options.setdefault('microversion', self.microversions.get(service))
        if body is not None:
            options['json'] = body
        answer = self._adapters[service].request(path, method, raise_exc=False, **options)
        if not answer.ok:
            raise Refused(
                service=service,
                request=f'{method} {path}',
                status=answer.status_code,
                reason=_reason(answer),
            )
        return answer.json() if answer.content else None

    def create(self, service: str, path: str, body: Json) -> Json:
        """Create a resource by POST. Return it. body: {kind: values}"""
        found = self.call(service, 'POST', path, body)
        return typing.cast(Json, found.get(next(iter(body)), found))

    def list(
        self,
        service: str,
        path: str,
        key: str,
        *,
        microversion: str | None = None,
        **filters: typing.Any,
    ) -> list[Json]:
        """Return all resources of a collection, of all its pages. key: of the list in a page

        microversion: None for that of the service
        """
        found: list[Json] = []
        options: Json = {} if microversion is None else {'microversion': microversion}
        while True:
            page = self.call(service, 'GET', path, params=filters, **options)
            found += page[key]
            has_next = page.get(f'{key}_links') or page.get('next')
            if not (has_next and page[key]):
                return found
            filters['marker'] = page[key][-1]['id']

    def id_of(self, service: str, path: str, key: str, name: str, **filters: typing.Any) -> str:
        """Return the id of a resource with a name. Raise Refused if there is none."""
        known = self._ids.setdefault((service, path), {})
        if name not in known:
            known |= {each['name']: each['id'] for each in self.list(service, path, key, **filters)}
        if name not in known:
            raise Refused(
                service=service,
                request=f'GET {path}',
                status=http.HTTPStatus.NOT_FOUND.value,
                reason=f'no {key} is called {name}',
            )
        return known[name]

    def project_id(self, name: str) -> str:
        """Return the id of a project."""
        return self.id_of('identity', '/v3/projects', 'projects', name)


def _reason(answer: requests.Response) -> str:
    """Return the message in the body of an answer."""
    try:
        body = answer.json()
    except ValueError:
        return answer.text[:200] or answer.reason
    inner = next(iter(body.values())) if isinstance(body, dict) and body else body
    if isinstance(inner, dict):
        inner = inner.get('message', inner)
    return ' '.join(str(inner).split())
