"""Settings of gunicorn for the compute API.

    gunicorn -c gunicorn.conf.py nova_lite.cmd.api_wsgi:application

nova-lite-api does the same with [api]workers and [api]threads; use this where
a deployment runs all its APIs under one gunicorn set-up.
"""

bind = '127.0.0.1:8774'
worker_class = 'gthread'
workers = 2
threads = 16
keepalive = 65
timeout = 120
# The time a stopping worker has for requests it has begun.
graceful_timeout = 30
# Databases and buses are connected per worker, never before the fork.
preload_app = False
control_socket_disable = True
# What nova-lite-api.service names.
files = [f'/etc/nova-lite/{name}.conf' for name in ('common', 'control', 'api')]
raw_env = [f'NOVA_LITE_CONFIG_FILES={":".join(files)}']
