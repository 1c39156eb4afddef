"""Check the options of `nova-lite up --set`, before the start.

oslo.config would ignore unknown options, and report a wrong value only when a daemon reads it.
"""

from collections.abc import Iterable
import difflib

from oslo_config import cfg

from nova_lite import conf as conf_module
from nova_lite.conf import known_options
from nova_lite.lab.console import messages
from nova_lite.lab.launcher import layout
from nova_lite.scheduler import enabled as scheduler

REFERENCE = 'doc/source/reference/config.rst lists options'


def parse(assignments: Iterable[str]) -> dict[str, layout.Options]:
    """Return {group: {option: value}} from texts GROUP.OPTION=VALUE. Raise ValueError."""
    options: dict[str, layout.Options] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition('=')
        group, dot, option = name.rpartition('.')
        if not (equals and dot):
            raise ValueError(f'--set must be GROUP.OPTION=VALUE, not {assignment}')
        if not layout.LINE.fullmatch(assignment):
            raise ValueError(f'--set {name!r} has a line break or another control character')
        before = options.setdefault(group, {}).setdefault(option, value)
        if before != value:
            raise ValueError(f'--set {name} has two values, {before} and {value}. Give one')
    return options


def check(given: layout.GivenOptions) -> cfg.ConfigOpts:
    """Return the configuration with options. Raise ValueError if an option or a value is wrong."""
    conf = conf_module.make_conf(files=[])
    plugins = known_options.plugins_of([given])
    known = known_options.Known(plugins)
    for section, options in given.items():
        for name, value in options.items():
            option = known.option(section, name)
            if option is not None:
                _check_value(conf, known, (section, name), value)
            # The files of the cloud say which plugin a section uses, unless --set does.
            elif known.option(section, known_options.PLUGIN) is None or section in plugins:
                raise ValueError(f'--set {section}.{name}: {_unknown(known, section, name)}')
    return conf


def _unknown(known: known_options.Known, section: str, name: str) -> str:
    group = known_options.group_of(section)
    names = known.options(group)
    if not names:
        return f'there is no group of options {group}{_like(group, known.groups())}'
    return f'group {group} has no option {name}{_like(name, names)}'


def _like(word: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown word: a known word like it, if any."""
    found = difflib.get_close_matches(word, known, n=1)
    return f'. Did you mean {found[0]}?' if found else f'. {REFERENCE}'


def _check_value(
    conf: cfg.ConfigOpts, known: known_options.Known, given: known_options.Name, value: str
) -> None:
    group, name = known.option(*given) or given
    if not value:
        # An empty value removes the option.
        return
    try:
        known.parse(group, name, value)
        conf.set_override(name, value, group=None if group == 'DEFAULT' else group)
        scheduler.require_names(conf, group, name)
    except (cfg.NoSuchGroupError, cfg.NoSuchOptError):
        # A library registers it when it is used.
        return
    except ValueError as error:
        raise ValueError(
            '--set %s.%s does not take the value ' % given + f'{value}: {messages.cause(error)}'
        ) from error
