"""Vendor data: objects that the operator adds to the documents of guests.

Static data are in a file. Dynamic data are the answers of HTTP services of the operator, which are
told of the server.
"""

from collections.abc import Iterator
import json

from keystoneauth1 import exceptions
from oslo_config import cfg
from oslo_log import log
import requests

from nova_lite import exception
from nova_lite import runtime
from nova_lite.clients import auth
from nova_lite.clients import connections
from nova_lite.objects import base

LOG = log.getLogger(__name__)

STATIC, DYNAMIC = 'StaticJSON', 'DynamicJSON'
AUTH = 'vendordata_dynamic_auth'
# Bytes of an answer that are read.
LIMIT, CHUNK = 1 << 20, 1 << 16


class VendorData:
    """The vendor data of one server. told: what services of dynamic data are told of it"""

    def __init__(self, conf: cfg.ConfigOpts, told: base.Data) -> None:
        self._conf, self._told = conf, told
        self._static: base.Data | None = None
        self._dynamic: base.Data | None = None

    def static(self) -> base.Data:
        """Return the object in the operator's file, {} without a file that can be used."""
        if STATIC not in self._conf.api.vendordata_providers:
            return {}
        if self._static is None:
            self._static = _in_file(self._conf.api.vendordata_jsonfile_path)
        return self._static

    def all(self) -> base.Data:
        """Return {name: object} of the static data and of each service, which this may ask.

        Raise Unavailable if a service fails and [api]vendordata_dynamic_failure_fatal is set.
        """
        providers = self._conf.api.vendordata_providers
        found = {'static': self.static()} if STATIC in providers else {}
        if DYNAMIC not in providers:
            return found
        if self._dynamic is None:
            self._dynamic = {name: self._ask(name, url) for name, url in self._targets()}
        return {**found, **self._dynamic}

    def _targets(self) -> Iterator[tuple[str, str]]:
        seen = {'static'}
        for target in self._conf.api.vendordata_dynamic_targets:
            name, at, url = target.partition('@')
            name, url = name.strip(), url.strip()
            if not (at and name and url) or name in seen:
                LOG.warning(
                    'Ignoring %r in [api]vendordata_dynamic_targets: it is not NAME@URL with a '
                    'name of its own',
                    target,
                )
                continue
            seen.add(name)
            yield name, url

    def _ask(self, name: str, url: str) -> object:
        options = self._conf.api
        try:
            answer = requests.post(
                url,
                json=self._told,
                headers=self._headers(),
                timeout=(
                    options.vendordata_dynamic_connect_timeout,
                    options.vendordata_dynamic_read_timeout,
                ),
                verify=options.vendordata_dynamic_ssl_certfile or True,
                allow_redirects=False,
                stream=True,
            )
            with answer:
                raw = self._body(answer)
            return json.loads(raw) if raw else {}
        except (
            requests.RequestException,
            exceptions.ClientException,
            exception.Unavailable,
            OSError,
            ValueError,
        ) as error:
            if options.vendordata_dynamic_failure_fatal:
                raise exception.Unavailable(service=f'vendor data {name}', reason=error) from error
            LOG.warning('Cannot get vendor data %s from %s: %s', name, url, error)
            return {}

    def _body(self, answer: requests.Response) -> bytes:
        """Return the body of an answer. Raise ValueError if it is an error, too large or slow."""
        if answer.status_code >= 300:
            raise ValueError(f'status {answer.status_code}')
        raw, timeout_s = b'', self._conf.api.vendordata_dynamic_read_timeout
        ends = runtime.monotonic() + timeout_s
        for chunk in answer.iter_content(CHUNK):
            raw += chunk
            if len(raw) > LIMIT:
                raise ValueError(f'the answer has more than {LIMIT} bytes')
            if runtime.monotonic() > ends:
                raise ValueError(f'the answer takes more than {timeout_s} s')
        return raw

    def _headers(self) -> dict[str, str]:
        """Return headers, with a token if the operator has configured credentials for this."""
        headers = {'Accept': 'application/json', 'User-Agent': 'nova-lite'}
        if not self._conf[AUTH].auth_type:
            return headers
        plugin = auth.Credentials(self._conf).of(AUTH)
        token = plugin.get_token(connections.open_session(self._conf[AUTH], plugin))
        return {**headers, 'X-Auth-Token': token or ''}


def _in_file(path: str | None) -> base.Data:
    if not path:
        return {}
    try:
        with open(path, encoding='utf-8') as file:
            found = json.load(file)
    except (OSError, ValueError) as error:
        LOG.warning('Cannot read the vendor data in %s: %s. Guests get none.', path, error)
        return {}
    if not isinstance(found, dict):
        LOG.warning('The vendor data in %s is not a JSON object. Guests get none.', path)
        return {}
    return found
