"""Entry points of daemons: read the configuration, set up logs, run until stopped."""

import logging
import os
import sys

from oslo_config import cfg
from oslo_log import log

from nova_lite import conf as conf_module
from nova_lite import service
from nova_lite.daemons import guru_meditation
from nova_lite.daemons import leash
from nova_lite.daemons import monitor
from nova_lite.monitoring import health
from nova_lite.rpc import pins

# Seconds in which a daemon may close its connections after its work has ended.
LEEWAY_S = 10
QUIET = (
    'amqp=WARN',
    'kombu=WARN',
    'oslo.messaging=WARN',
    'oslo_messaging=WARN',
    'sqlalchemy=WARN',
    'urllib3=WARN',
    'keystoneauth=WARN',
    'keystonemiddleware=WARN',
    'stevedore=WARN',
    'futurist=WARN',
    'oslo_policy=WARN',
    'alembic=WARN',
)


def refuse(prog, reason):
    """Exit because the configuration cannot work, with the code that prevents a restart."""
    print(f'{prog}: {reason}', file=sys.stderr)
    raise SystemExit(os.EX_CONFIG)


def configure(argv, prog, check=lambda conf: None):
    """Parse `argv` (--config-file and friends) and set up logging.

    check: function that raises ValueError if the daemon cannot work with the configuration
    """
    leash.put_on()
    try:
        conf = conf_module.make_conf(argv, prog=prog)
    except cfg.Error as error:
        refuse(prog, error)
    log.set_defaults(default_log_levels=[*log.get_default_log_levels(), *QUIET])
    log.setup(conf, 'nova_lite')
    try:
        pins.check(conf)
        check(conf)
    except ValueError as error:
        refuse(prog, error)
    return conf


def argv_of_environment():
    """Return options that name the files in NOVA_LITE_CONFIG_FILES, for WSGI applications."""
    files = os.environ.get('NOVA_LITE_CONFIG_FILES', '').split(os.pathsep)
    return [word for name in files if name for word in ('--config-file', name)]


def run(argv, prog, make):
    """Run the daemon that `make(conf)` wires until SIGTERM."""
    conf = configure(argv, prog)
    daemon = make(conf)
    monitor.serve(conf, [daemon])
    guru_meditation.on_signal(conf, [health.Health(daemon.name, daemon.checks)])

    def reload():
        conf.reload_config_files()
        log.setup(conf, 'nova_lite')
        daemon.reload()

    limit_s = conf.graceful_shutdown_timeout + LEEWAY_S
    service.run(daemon, reload, stop_limit_s=limit_s)
    leave()


def leave():
    """Exit with code 0, after all resources were released.

    A thread that hangs in a dead connection must not delay the exit, and a regular shutdown of the
    interpreter takes up to several seconds.
    """
    logging.shutdown()
    sys.stdout.flush()
    os._exit(0)
