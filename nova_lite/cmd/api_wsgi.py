"""The compute API as a plain WSGI `application`, for uWSGI, mod_wsgi and gunicorn.

Options come from the files that NOVA_LITE_CONFIG_FILES names, separated by
colons; without it from where nova-lite-api looks.
"""

import os

from nova_lite.conf import keystone_authtoken
from nova_lite.daemons import api
from nova_lite.daemons import process


def _argv():
    files = os.environ.get('NOVA_LITE_CONFIG_FILES', '').split(os.pathsep)
    return [word for name in files if name for word in ('--config-file', name)]


application = api.application(process.configure(_argv(), 'nova-lite-api', keystone_authtoken.check))
