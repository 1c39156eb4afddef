"""Options of oslo.messaging: our defaults for some, and their registration.

The sample file has these options, with the library's defaults, from oslo.messaging's own list.
"""

from collections.abc import Mapping
import functools
import typing

from oslo_config import cfg
import oslo_messaging.opts

EXCHANGE = 'nova_lite'
DEFAULTS: Mapping[str, Mapping[str, object]] = {
    # A restarted broker is found soon, and the reply queue of a killed process is deleted soon.
    'oslo_messaging_rabbit': {'rabbit_interval_max': 5, 'rabbit_transient_queues_ttl': 300},
    # oslo.messaging's own default is to retry without limit.
    'oslo_messaging_notifications': {'retry': 1},
}
# oslo.messaging registers these groups on the global configuration only, then reads them from the
# one it was given.
GLOBAL = ('oslo_messaging_metrics', 'oslo_messaging_tracing')
KINDS: Mapping[type, type[cfg.Opt]] = {bool: cfg.BoolOpt, int: cfg.IntOpt}

Group: typing.TypeAlias = tuple[str | None, list[cfg.Opt]]


@functools.cache
def _groups() -> tuple[Group, ...]:
    """Return (group, options) of the options that each configuration needs."""
    oslo_messaging.set_transport_defaults(EXCHANGE)
    listed = dict(oslo_messaging.opts.list_opts())
    wanted: list[Group] = [(name, listed[name]) for name in (None, *DEFAULTS)]
    for name in GLOBAL:
        # Formerly there were no metrics, and no tracing.
        if name in cfg.CONF:
            values = cfg.CONF[name]
            wanted.append((name, [_option(each, values[each]) for each in values]))
    return tuple(wanted)


def _option(name: str, default: object) -> cfg.Opt:
    return KINDS.get(type(default), cfg.StrOpt)(name, default=default)


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options before a bus is opened, and set our defaults."""
    for group, options in _groups():
        conf.register_opts(options, group=group)
    for group, values in DEFAULTS.items():
        for name, value in values.items():
            conf.set_default(name, value, group=group)
