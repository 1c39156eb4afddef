"""Configuration: one module per group, collected into a private ConfigOpts.

There is no global configuration: `make_conf` registers all options, parses, and returns an object
that callers pass on. The sample file is generated from `list_opts`.
"""

from collections.abc import Iterable
import importlib
import pkgutil
import types

from oslo_config import cfg
from oslo_log import log
from oslo_policy import opts as policy_options

from nova_lite.private_apis import messaging as messaging_api

# The module of this package that has no options.
TOOL = 'known_options'


def modules() -> list[types.ModuleType]:
    """Return the modules with options; each has `register(conf)` and `list_opts()`."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name != TOOL)
    return [importlib.import_module(f'{__name__}.{name}') for name in names]


def register_all(conf: cfg.ConfigOpts) -> None:
    """Register our options, and those that libraries read from our configuration."""
    for module in modules():
        module.register(conf)
    messaging_api.register_options(conf)
    log.register_options(conf)
    for group, opts in policy_options.list_opts():
        conf.register_opts(opts, group=group)


def make_conf(
    argv: Iterable[str] = (),
    *,
    files: list[str] | None = None,
    prog: str = 'nova-lite',
    version: str | None = None,
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
        version=version,
        default_config_files=files,
        default_config_dirs=None if files is None else [],
    )
    return conf


def list_opts() -> list[tuple[str, list[cfg.Opt]]]:
    """Return [(group, options)] of all groups, for oslo.config's sample generator."""
    found = []
    for module in modules():
        found.extend(module.list_opts())
    return found
