"""Vendor data: objects that the operator adds to the documents of guests.

Static data are in a file. Dynamic data are the answers of HTTP services of the operator, which
receive facts of the server.
"""

from collections.abc import Iterator
import json

from oslo_config import cfg
from oslo_log import log

from nova_lite import exception
from nova_lite.metadata import vendor_services
from nova_lite.objects import base

LOG = log.getLogger(__name__)

STATIC, DYNAMIC = 'StaticJSON', 'DynamicJSON'


class VendorData:
    """The vendor data of one server. told: the facts of the server that services receive"""

    def __init__(
        self, conf: cfg.ConfigOpts, services: vendor_services.Services, told: base.Data
    ) -> None:
        self._conf, self._services, self._told = conf, services, told
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

        Raise Unavailable if a service fails and [api]vendordata_dynamic_failure_fatal is set, or
        if too many requests wait for services.
        """
        providers = self._conf.api.vendordata_providers
        found = {'static': self.static()} if STATIC in providers else {}
        if DYNAMIC not in providers:
            return found
        if self._dynamic is None:
            with self._services.place():
                self._dynamic = {name: self._ask(name, url) for name, url in self._targets()}
        return {**found, **self._dynamic}

    def _targets(self) -> Iterator[tuple[str, vendor_services.Url]]:
        seen = {'static'}
        for number, target in enumerate(self._conf.api.vendordata_dynamic_targets, 1):
            name, _, text = target.partition('@')
            name, url = name.strip(), vendor_services.Url.parse(text.strip())
            if not name or url is None or name in seen:
                # The URL may contain a password.
                LOG.warning(
                    'Ignoring target %d of [api]vendordata_dynamic_targets: it is not NAME@URL '
                    'with an HTTP URL and a name of its own',
                    number,
                )
                continue
            seen.add(name)
            yield name, url

    def _ask(self, name: str, url: vendor_services.Url) -> object:
        try:
            return self._services.ask(name, url, self._told)
        except exception.Unavailable as error:
            if self._conf.api.vendordata_dynamic_failure_fatal:
                raise
            LOG.warning('Cannot get vendor data %s: %s', name, error.kwargs['reason'])
            return {}


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
