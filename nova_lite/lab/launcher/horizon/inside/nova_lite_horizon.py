"""Settings of Horizon for a cloud of `nova-lite up`, from JSON in the variable NOVA_LITE_HORIZON.

port: of Horizon; auth_url: of the identity service; secret: signs cookies; static: directory
"""

import json
import os

from openstack_dashboard.settings import *  # noqa: F403

_GIVEN = json.loads(os.environ['NOVA_LITE_HORIZON'])

DEBUG = False
ALLOWED_HOSTS = ['127.0.0.1', 'localhost']
SECRET_KEY = _GIVEN['secret']
OPENSTACK_KEYSTONE_URL = _GIVEN['auth_url']
OPENSTACK_KEYSTONE_DEFAULT_DOMAIN = 'Default'
OPENSTACK_CINDER_FEATURES = {'enable_backup': True}
# Browsers send cookies to all ports of an address, so two clouds need two names.
SESSION_COOKIE_NAME = f'nova-lite-{_GIVEN["port"]}'
CSRF_COOKIE_NAME = f'nova-lite-csrf-{_GIVEN["port"]}'
# Horizon's scripts read only a cookie csrftoken. With this, pages of scripts contain the token.
CSRF_COOKIE_HTTPONLY = True
# Sessions have tokens, and stay in the memory of the process.
SESSION_ENGINE = 'django.contrib.sessions.backends.cache'
CACHES = {'default': {'BACKEND': 'django.core.cache.backends.locmem.LocMemCache'}}
AVAILABLE_THEMES = [('default', 'Default', 'themes/default')]
STATIC_ROOT = _GIVEN['static']
COMPRESS_OFFLINE = True
TIME_ZONE = 'UTC'
# The lines are as those of oslo.log, which `nova-lite logs` sorts.
LOGGING = {
    'version': 1,
    'disable_existing_loggers': False,
    'formatters': {
        'line': {
            'format': '%(asctime)s.%(msecs)03d %(process)d %(levelname)s %(name)s [-] %(message)s',
            'datefmt': '%Y-%m-%d %H:%M:%S',
        }
    },
    'handlers': {'output': {'class': 'logging.StreamHandler', 'formatter': 'line'}},
    'root': {'handlers': ['output'], 'level': 'INFO'},
    'loggers': {'django.server': {'handlers': ['output'], 'level': 'INFO', 'propagate': False}},
}
