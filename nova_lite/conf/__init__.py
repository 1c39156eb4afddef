"""Configuration: one module per group, collected into a private ConfigOpts.

The module of a group has the name of the group, `GROUP`, and its options, `OPTS`. There is no
global configuration: `make_conf` registers all options, parses, and returns an object that callers
pass on. The sample file is generated from `list_opts`.
"""

from collections.abc import Iterable
import importlib
import pkgutil
import types

from oslo_config import cfg
from oslo_log import log
from oslo_policy import opts as policy_options

from nova_lite.conf import messaging


def modules() -> list[types.ModuleType]:
    """Return the modules that have a group of options."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__))
    found = [importlib.import_module(f'{__name__}.{name}') for name in names]
    return [module for module in found if hasattr(module, 'OPTS')]


def register_all(conf: cfg.ConfigOpts) -> None:
    """Register our options, and those that libraries read from our configuration."""
    for name, options in list_opts():
        conf.register_opts(options, group=None if name == 'DEFAULT' else name)
    messaging.register(conf)
    log.register_options(conf)
    for group, opts in policy_options.list_opts():
        conf.register_opts(opts, group=group)


def make_conf(
    argv: Iterable[str] = (),
    *,
    files: list[str] | None = None,
    prog: str = 'nova-lite',
) -> cfg.ConfigOpts:
    """Parse `argv` and the configuration files into a private ConfigOpts.

    files: paths to read; None: search the usual directories for PROG.conf and PROG.conf.d
    """
    conf = cfg.ConfigOpts()
    register_all(conf)
    conf(
        list(argv),
        project='nova-lite',
        prog=prog,
        default_config_files=files,
        default_config_dirs=None if files is None else [],
    )
    return conf


def list_opts() -> list[tuple[str, list[cfg.Opt]]]:
    """Return [(group, options)] of all groups, for oslo.config's sample generator."""
    return [(module.GROUP, module.OPTS) for module in modules()]
