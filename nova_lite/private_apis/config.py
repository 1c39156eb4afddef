"""Undocumented names of oslo.config that we use: a copy of what is registered."""

import collections
import copy
import typing

from oslo_config import cfg

from nova_lite.private_apis import guard

LIBRARY = guard.Library('oslo.config', lowest='10.0', newest='10.7.0')

LIBRARY.keeps(cfg.ConfigOpts, '_opts', '_groups', '_deprecated_opts', '_cli_opts')
LIBRARY.keeps(cfg.OptGroup, '_opts')


def copy_registered(conf: cfg.ConfigOpts) -> cfg.ConfigOpts:
    """Return a ConfigOpts with the options of `conf`, which was not called yet.

    Both share the options. What is set for an option in one is not seen in the other.
    """
    made = cfg.ConfigOpts()
    groups = {name: _copy_of_group(group) for name, group in conf._groups.items()}

    def moved(info: typing.Any) -> typing.Any:
        group = info['group']
        return {**info, 'group': group and groups[group.name]}

    made._groups = groups
    made._opts = _copy_of_all(conf._opts)
    made._cli_opts = collections.deque(moved(info) for info in conf._cli_opts)
    made._deprecated_opts = {
        name: {dest: moved(info) for dest, info in infos.items()}
        for name, infos in conf._deprecated_opts.items()
    }
    return made


def _copy_of_group(group: cfg.OptGroup) -> cfg.OptGroup:
    made = copy.copy(group)
    made._opts = _copy_of_all(group._opts)
    return made


def _copy_of_all(opts: typing.Any) -> dict[str, typing.Any]:
    return {dest: dict(info) for dest, info in opts.items()}
