"""Plain requests to the services of a cloud, as its administrator.

openstacksdk would take several times the CPU, and its warnings would be errors in a test run
that makes errors of warnings.
"""

import http
import typing

import requests
import yaml

from nova_lite import exception
from nova_lite.lab.launcher import client_connections

Json: typing.TypeAlias = dict[str, typing.Any]

TIMEOUT_S = 60
# Types in the catalog, and what their URLs may lack.
VERSIONS = {'compute': '', 'volumev3': '', 'sharev2': '', 'image': '/v2', 'network': '/v2.0'}
VOLUME, SHARE = 'volumev3', 'sharev2'


class Refused(exception.NovaLiteError):
    """status: the code of the answer"""

    msg = '%(method)s %(url)s: %(status)s %(text)s'


class Services:
    """Send requests. service: identity, or a type in VERSIONS

    clouds_yaml: the path of the file with the administrator's credentials
    """

    def __init__(self, clouds_yaml: str) -> None:
        with open(clouds_yaml) as file:
            self._auth = yaml.safe_load(file)['clouds'][client_connections.ADMIN]['auth']
        self._session = requests.Session()
        self._session.trust_env = False
        self._urls = {'identity': self._auth['auth_url']}

    def call(
        self, service: str, method: str, path: str, body: typing.Any = None, **options: typing.Any
    ) -> typing.Any:
        """Return the body of the answer, None if it is empty. Raise Refused."""
        if len(self._urls) == 1:
            self._sign_in()
        answer = self._send(method, f'{self._urls[service]}{path}', body, **options)
        if answer.status_code == http.HTTPStatus.UNAUTHORIZED:
            self._sign_in()
            answer = self._send(method, f'{self._urls[service]}{path}', body, **options)
        return _body(answer)

    def create(self, service: str, path: str, body: Json) -> Json:
        """Create a resource by POST. Return it."""
        (found,) = self.call(service, 'POST', path, body).values()
        return typing.cast(Json, found)

    def list(self, service: str, path: str, **filters: typing.Any) -> list[Json]:
        """Return the resources of a collection; it must fit on one page."""
        found = self.call(service, 'GET', path, params=filters)
        return next(each for each in found.values() if isinstance(each, list))

    def delete(self, service: str, path: str, **options: typing.Any) -> None:
        """Delete a resource, unless it is gone."""
        try:
            self.call(service, 'DELETE', path, **options)
        except Refused as error:
            if error.kwargs['status'] != http.HTTPStatus.NOT_FOUND:
                raise

    def _sign_in(self) -> None:
        """Get a token, and the URLs of the services from its catalog."""
        auth = self._auth
        user = {
            'name': auth['username'],
            'domain': {'id': auth['user_domain_id']},
            'password': auth['password'],
        }
        project = {'name': auth['project_name'], 'domain': {'id': auth['project_domain_id']}}
        identity = {'methods': ['password'], 'password': {'user': user}}
        body = {'auth': {'identity': identity, 'scope': {'project': project}}}
        answer = self._send('POST', f'{auth["auth_url"]}/auth/tokens', body)
        found = _body(answer)['token']['catalog']
        for service in found:
            if service['type'] in VERSIONS:
                (url,) = (
                    each['url'] for each in service['endpoints'] if each['interface'] == 'public'
                )
                version = VERSIONS[service['type']]
                self._urls[service['type']] = url.rstrip('/').removesuffix(version) + version
        self._session.headers['X-Auth-Token'] = answer.headers['X-Subject-Token']

    def _send(
        self, method: str, url: str, body: typing.Any, **options: typing.Any
    ) -> requests.Response:
        return self._session.request(method, url, json=body, timeout=TIMEOUT_S, **options)


def _body(answer: requests.Response) -> typing.Any:
    if not answer.ok:
        raise Refused(
            method=answer.request.method,
            url=answer.url,
            status=answer.status_code,
            text=answer.text[:500],
        )
    return answer.json() if answer.content else None
