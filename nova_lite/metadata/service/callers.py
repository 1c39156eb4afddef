"""Callers: the server that a request is about, by the headers of Neutron's metadata proxy.

The proxy signs the id of the server from whose port a request came. Anyone who knows the
secret can ask for the documents of any server.
"""

import hashlib
import hmac
import typing

from oslo_config import cfg
from oslo_log import log

from nova_lite import exception

LOG = log.getLogger(__name__)

INSTANCE, PROJECT, SIGNATURE = 'X-Instance-ID', 'X-Tenant-ID', 'X-Instance-ID-Signature'
ADDRESS = 'X-Forwarded-For'


class Caller(typing.NamedTuple):
    """A server that requests its documents. address: the guest's, as the proxy saw it"""

    instance_id: str
    project_id: str
    address: str | None


def check(conf: cfg.ConfigOpts) -> None:
    """Raise ValueError if the configuration has no secret for the signatures."""
    options = conf.neutron
    if options.service_metadata_proxy and not options.metadata_proxy_shared_secret:
        raise ValueError(
            '[neutron]service_metadata_proxy requires [neutron]metadata_proxy_shared_secret'
        )


def identify(conf: cfg.ConfigOpts, environ: dict[str, typing.Any]) -> Caller:
    """Return the caller of a request.

    Raise Invalid for missing headers, Forbidden for a wrong signature, and NotFound if
    [neutron]service_metadata_proxy is false.
    """
    if not conf.neutron.service_metadata_proxy:
        LOG.warning(
            'Answering a request for metadata with 404: [neutron]service_metadata_proxy is false'
        )
        raise exception.NotFound()
    instance_id = _required(environ, INSTANCE)
    project_id = _required(environ, PROJECT)
    expected = signature(conf.neutron.metadata_proxy_shared_secret, instance_id)
    given = _header(environ, SIGNATURE) or ''
    # The HTTP server has decoded the headers as Latin-1.
    if not hmac.compare_digest(expected.encode(), given.encode()):
        LOG.warning(
            'Rejecting a request for the metadata of server %s: header %s is missing or wrong',
            instance_id,
            SIGNATURE,
        )
        raise exception.Forbidden('Invalid proxy request signature.')
    return Caller(instance_id, project_id, _header(environ, ADDRESS))


def signature(secret: str, instance_id: str) -> str:
    """Return the signature of a server's id."""
    return hmac.new(secret.encode(), instance_id.encode(), hashlib.sha256).hexdigest()


def _required(environ: dict[str, typing.Any], name: str) -> str:
    value = _header(environ, name)
    if not value:
        raise exception.Invalid(f'{name} header is missing from request.')
    if ',' in value:
        raise exception.Invalid(f'Multiple {name} headers found within request.')
    return value


def _header(environ: dict[str, typing.Any], name: str) -> str | None:
    found: str | None = environ.get(f'HTTP_{name.upper().replace("-", "_")}')
    return found
