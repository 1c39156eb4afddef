"""Check what `nova-lite up --set` gives: oslo.config would ignore options that it does not know.

It would also read a value only where it is used, after the start.
"""

from collections.abc import Iterable
from collections.abc import Mapping
import difflib

from oslo_config import cfg

from nova_lite import conf as conf_module
from nova_lite.conf import known_options
from nova_lite.lab.console import messages

REFERENCE = 'doc/source/reference/config.rst lists options'


def check(given: Mapping[str, Mapping[str, str]]) -> cfg.ConfigOpts:
    """Return the configuration. Raise ValueError for an unknown option or a wrong value.

    given: {group: {option: value}}, as texts
    """
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
    """Return the end of a message about a word that is not known."""
    found = difflib.get_close_matches(word, known, n=1)
    return f'. Did you mean {found[0]}?' if found else f'. {REFERENCE}'


def _check_value(
    conf: cfg.ConfigOpts, known: known_options.Known, given: known_options.Name, value: str
) -> None:
    group, name = known.option(*given) or given
    if not value:
        # It removes the option.
        return
    try:
        known.parse(group, name, value)
        conf.set_override(name, value, group=None if group == 'DEFAULT' else group)
    except (cfg.NoSuchGroupError, cfg.NoSuchOptError):
        # A library registers it when it is used.
        return
    except ValueError as error:
        raise ValueError(
            '--set %s.%s does not take the value ' % given + f'{value}: {messages.cause(error)}'
        ) from error
