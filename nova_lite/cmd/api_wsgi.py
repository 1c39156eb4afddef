"""The compute API as a plain WSGI `application`, for uWSGI, mod_wsgi and gunicorn.

The environment variable NOVA_LITE_CONFIG_FILES names the configuration files, separated by colons.
Default: the files that nova-lite-api reads.
"""

from nova_lite.conf import keystone_authtoken
from nova_lite.daemons import api
from nova_lite.daemons import exposure
from nova_lite.daemons import process

_CONF = process.configure(process.argv_of_environment(), 'nova-lite-api', keystone_authtoken.check)
application = exposure.plain(api.application(_CONF), _CONF.api)
