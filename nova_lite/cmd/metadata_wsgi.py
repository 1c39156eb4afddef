"""The metadata service as a plain WSGI `application`; see `api_wsgi` for its configuration."""

from nova_lite.daemons import metadata
from nova_lite.daemons import process
from nova_lite.daemons.wsgi import paths

_CONF = process.configure(process.argv_of_environment(), 'nova-lite-metadata', metadata.check)
application = paths.Decoded(metadata.application(_CONF))
