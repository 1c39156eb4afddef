"""Entry points of daemons: read the configuration, set up logs, run until stopped."""

from collections.abc import Callable
from collections.abc import Sequence
import logging
import os
import sys
import typing

from oslo_config import cfg
from oslo_log import log

from nova_lite import conf as conf_module
from nova_lite.conf import known_options
from nova_lite.daemons import guru_meditation
from nova_lite.daemons import leash
from nova_lite.daemons import lifetime
from nova_lite.daemons import monitor
from nova_lite.daemons.monitoring import health
from nova_lite.rpc import pins

LOG = log.getLogger(__name__)

# Seconds that a daemon may take to close its connections after its work has ended.
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


def refuse(prog: str | None, reason: object) -> typing.NoReturn:
    """Exit because the configuration cannot work. The exit code prevents a restart."""
    print(f'{prog}: {reason}', file=sys.stderr)
    raise SystemExit(os.EX_CONFIG)


def configure(
    argv: Sequence[str] | None,
    prog: str,
    check: Callable[[cfg.ConfigOpts], object] = lambda _conf: None,
) -> cfg.ConfigOpts:
    """Parse `argv`, such as --config-file, and set up logging. Exit if the configuration is wrong.

    argv: None: the arguments of the process
    check: function that raises ValueError if the daemon cannot work with the configuration
    """
    leash.put_on()
    try:
        conf = conf_module.make_conf(sys.argv[1:] if argv is None else argv, prog=prog)
    except cfg.Error as error:
        refuse(prog, error)
    log.set_defaults(default_log_levels=[*log.get_default_log_levels(), *QUIET])
    log.setup(conf, 'nova_lite')
    ignored = known_options.without_effect(conf)
    if ignored:
        LOG.warning('Without effect: %s', ', '.join(map(str, ignored)))
    try:
        pins.check(conf)
        check(conf)
    except ValueError as error:
        refuse(prog, error)
    return conf


def argv_of_environment() -> list[str]:
    """Return an `argv` with the files in NOVA_LITE_CONFIG_FILES, for WSGI applications."""
    files = os.environ.get('NOVA_LITE_CONFIG_FILES', '').split(os.pathsep)
    return [word for name in files if name for word in ('--config-file', name)]


def run(
    argv: Sequence[str] | None, prog: str, make: Callable[[cfg.ConfigOpts], lifetime.Daemon[object]]
) -> None:
    """Run the daemon that `make(conf)` returns until SIGTERM, and exit."""
    conf = configure(argv, prog)
    daemon = make(conf)
    monitor.serve(conf, [daemon])
    guru_meditation.on_signal(conf, [health.Health(daemon.name, daemon.checks)])

    def reload() -> None:
        conf.reload_config_files()
        log.setup(conf, 'nova_lite')
        daemon.reload()

    limit_s = conf.graceful_shutdown_timeout + LEEWAY_S
    lifetime.run(daemon, reload, stop_limit_s=limit_s)
    leave()


def leave() -> typing.NoReturn:
    """Exit with code 0. The caller has released all resources.

    The interpreter does not shut down: that takes up to several seconds, and a thread that hangs
    in a dead connection would delay it.
    """
    logging.shutdown()
    sys.stdout.flush()
    os._exit(0)
