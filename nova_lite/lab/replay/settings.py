"""Settings of the scheduler that a study compares: combinations of values of options."""

from collections.abc import Iterable
import dataclasses
import itertools

from oslo_config import cfg

from nova_lite import conf as conf_module
from nova_lite import exception
from nova_lite.lab.console import arguments
from nova_lite.lab.console import messages
from nova_lite.scheduler import manager

# Options of other groups change hosts or daemons, which a study starts only once.
GROUPS = ('filter_scheduler', 'metrics', 'scheduler')
MOST = 16


@dataclasses.dataclass(frozen=True)
class Setting:
    """One setting. options: {group: {option: value}}, in addition to the options of the cloud"""

    name: str
    options: dict[str, dict[str, str]]


def of(varied: Iterable[str]) -> list[Setting]:
    """Return the settings of texts like [GROUP.]OPTION=VALUE,VALUE. Raise ValueError.

    Each value of an option is combined with each value of the other options. Values that contain
    commas are separated by semicolons.
    """
    axes = [_axis(text) for text in varied]
    names = [(group, option) for group, option, _values in axes]
    if len(set(names)) < len(names):
        raise ValueError('--vary: an option is given twice; write all of its values in one')
    found = []
    for values in itertools.product(*(values for _group, _option, values in axes)):
        options: dict[str, dict[str, str]] = {}
        for (group, option), value in zip(names, values, strict=True):
            options.setdefault(group, {})[option] = value
        name = ' '.join(
            f'{option}={value}' for (_group, option), value in zip(names, values, strict=True)
        )
        found.append(Setting(name or 'default', options))
    if len(found) > MOST:
        raise ValueError(f'--vary: {len(found)} settings are too many; use at most {MOST}')
    for setting in found:
        _check(setting)
    return found


def _axis(text: str) -> tuple[str, str, list[str]]:
    name, equals, given = text.partition('=')
    group, _, option = name.rpartition('.')
    group = group or GROUPS[0]
    values = [value.strip() for value in given.split(';' if ';' in given else ',')]
    if not equals or not option or not all(values):
        raise ValueError(f'--vary must be [GROUP.]OPTION=VALUE,VALUE, not {text}')
    if len(set(values)) < len(values):
        raise ValueError(f'--vary {name}: a value is given twice')
    if group not in GROUPS:
        raise ValueError(f'--vary {name}: only options of {", ".join(GROUPS)} can be varied')
    return group, option, values


def _check(setting: Setting) -> None:
    conf = conf_module.make_conf(files=[])
    for group, options in setting.options.items():
        for option, value in options.items():
            if option not in conf[group]:
                like = arguments.like(option, conf[group])
                raise ValueError(f'--vary: group {group} has no option {option}.{like}')
            try:
                conf.set_override(option, value, group=group)
            except (ValueError, cfg.Error) as error:
                raise ValueError(
                    f'--vary {option} does not take the value {value}: {messages.cause(error)}'
                ) from error
    try:
        manager.rules(conf)
    except (ValueError, exception.Invalid) as error:
        raise ValueError(f'--vary: {messages.of(error)}') from error
