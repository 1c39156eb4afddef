"""Check what `nova-lite up --set` gives: oslo.config would ignore options that it does not know.

It would also read a value only where it is used, after the start.
"""

import difflib

from oslo_config import cfg

from nova_lite import conf as conf_module
from nova_lite.lab.console import messages

# oslo.messaging registers its options when a transport is made.
MESSAGING = 'oslo_messaging_'
REFERENCE = 'doc/source/reference/config.rst lists options'


def check(given):
    """Return the configuration. Raise ValueError for an unknown option or a wrong value.

    given: {group: {option: value}}, as texts
    """
    conf = conf_module.make_conf(files=[])
    for section, options in given.items():
        # As oslo.config reads the names of sections.
        group = section if section == 'DEFAULT' else section.lower()
        for name, value in options.items():
            if _is_known(conf, group, name):
                _check_value(conf, group, name, value)
    return conf


def _is_known(conf, group, name):
    """Return whether an option's values can be checked. Raise ValueError if there is none."""
    names = _names(conf, group)
    if name in names:
        return True
    if group.startswith(MESSAGING) or 'auth_type' in names:
        # The options of a plugin of keystoneauth1 depend on its name.
        return False
    if name in _former_names(group) | (_of_messaging() if group == 'DEFAULT' else set()):
        return False
    if not names:
        raise ValueError(
            f'--set {group}.{name}: there is no group of options {group}{_like(group, _groups(conf))}'
        )
    raise ValueError(
        f'--set {group}.{name}: group {group} has no option {name}{_like(name, names)}'
    )


def _names(conf, group):
    if group == 'DEFAULT':
        return {name for name in conf if not isinstance(conf[name], cfg.ConfigOpts.GroupAttr)}
    return set(conf[group]) if group in _groups(conf) else set()


def _groups(conf):
    return {name for name in conf if isinstance(conf[name], cfg.ConfigOpts.GroupAttr)}


def _former_names(group):
    """Return the names that options of a group had in former releases."""
    return {
        former.name
        for section, found in conf_module.list_opts()
        for option in found
        for former in option.deprecated_opts
        if (former.group or section) == group
    }


def _of_messaging():
    """Return the names of the options of oslo.messaging in DEFAULT."""
    # It takes a tenth of a second, which only a name that is in doubt needs.
    from oslo_messaging import opts

    return {option.dest for group, found in opts.list_opts() if group is None for option in found}


def _like(word, known):
    """Return the end of a message about a word that is not known."""
    found = difflib.get_close_matches(word, known, n=1)
    return f'. Did you mean {found[0]}?' if found else f'. {REFERENCE}'


def _check_value(conf, group, name, value):
    if not value:
        # It removes the option.
        return
    try:
        conf.set_override(name, value, group=None if group == 'DEFAULT' else group)
    except ValueError as error:
        raise ValueError(
            f'--set {group}.{name} does not take the value {value}: {messages.cause(error)}'
        ) from error
