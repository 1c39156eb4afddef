"""The options that names in configuration files and on command lines set.

oslo.config ignores names that are not registered, so a mistyped option, or one of another
program, would be ignored in silence.
"""

import collections
from collections.abc import Iterable
from collections.abc import Mapping
import glob
import importlib.metadata
import os
import typing

from keystoneauth1 import exceptions
from keystoneauth1 import loading
from oslo_config import cfg

from nova_lite import conf as conf_module
from nova_lite.conf import devices

DEFAULT = 'DEFAULT'
# The option of a section that names the section with its credentials.
SECTION = 'auth_section'
PLUGIN = 'auth_type'
USUAL_PLUGIN = 'password'
# Names of the libraries whose options our files may set, as their entry points have them.
LIBRARIES = ('keystonemiddleware.auth_token', 'oslo.log', 'oslo.messaging', 'oslo.policy')
# Options of a message bus that nova_lite does not have.
OTHER_BUS = 'oslo_messaging_kafka'

Name: typing.TypeAlias = tuple[str, str]  # (group, option)
Sections: typing.TypeAlias = Mapping[str, Mapping[str, object]]


class Setting(typing.NamedTuple):
    """A line of a configuration file: `name` in section `group` of the file `path`."""

    path: str
    group: str
    name: str

    def __str__(self) -> str:
        return f'[{self.group}]{self.name} in {self.path}'


def group_of(section: str) -> str:
    """Return the group of options that a section sets, as oslo.config reads its name."""
    return section if section == DEFAULT else section.lower()


def read(path: str) -> dict[str, dict[str, list[str]]]:
    """Return {group: {option: values}} of a configuration file.

    Raises cfg.ConfigFileParseError for a file with wrong syntax or without text, OSError for a file
    that cannot be read.
    """
    sections: dict[str, dict[str, list[str]]] = {}
    try:
        _require_section(path)
        cfg.ConfigParser(path, sections).parse()
    except (cfg.ParseError, UnicodeDecodeError) as error:
        raise cfg.ConfigFileParseError(path, str(error)) from error
    merged: dict[str, dict[str, list[str]]] = collections.defaultdict(dict)
    for section, values in sections.items():
        merged[group_of(section)] |= {_dest(name): found for name, found in values.items()}
    return dict(merged)


def _require_section(path: str) -> None:
    """Raise ParseError for a setting before the first section: oslo.config names a later line."""
    with open(path) as file:
        for number, line in enumerate(file, 1):
            if line.startswith('['):
                return
            if line.strip() and not line.startswith(('#', ';', ' ', '\t')):
                reason = 'A section such as [DEFAULT] must begin before the first setting'
                raise cfg.ParseError(reason, number, line.strip(), path)


def without_effect(conf: cfg.ConfigOpts) -> list[Setting]:
    """Return the settings in the files of a parsed configuration that no daemon reads."""
    files = {path: read(path) for path in _files(conf)}
    known = Known(plugins_of(files.values()))
    return [
        Setting(path, group, name)
        for path, sections in files.items()
        for group, values in sections.items()
        for name in values
        if known.option(group, name) is None
    ]


def _files(conf: cfg.ConfigOpts) -> list[str]:
    """Return the files that a configuration was read from: those named, and those in directories.

    oslo.config sorts the files of a directory by name and reads those that end with ".conf".
    """
    directories = conf.config_dirs or conf.config_dir or ()
    patterns = [os.path.join(os.path.expanduser(path), '*.conf') for path in directories]
    inside = [path for pattern in patterns for path in sorted(glob.glob(pattern))]
    return [*map(os.path.expanduser, conf.config_file or ()), *inside]


def plugins_of(files: Iterable[Sections]) -> dict[str, str]:
    """Return {section: name of the authentication plugin whose options the section may have}."""
    values: dict[str, dict[str, str]] = collections.defaultdict(dict)
    for sections in files:
        for group, options in sections.items():
            for name in (PLUGIN, SECTION):
                found = options.get(name)
                if found:
                    values[group][name] = found[-1] if isinstance(found, list) else str(found)
    plugins = {group: found[PLUGIN] for group, found in values.items() if PLUGIN in found}
    for found in values.values():
        section = found.get(SECTION)
        if section and section not in plugins:
            plugins[section] = USUAL_PLUGIN
    return plugins


class Known:
    """The options that the daemons read.

    plugins: {section: name of an authentication plugin}, as `plugins_of` returns it. The
        options of that plugin are known in the section, those of a plugin that is not installed
        are not
    """

    def __init__(self, plugins: Mapping[str, str]) -> None:
        self._names: dict[Name, Name] = {}
        self._options: dict[Name, cfg.Opt] = {}
        for section, options in (*conf_module.list_opts(), *_of_libraries()):
            self._add(section, options)
        for section, plugin in plugins.items():
            self._add(section, _of_credentials(plugin))

    def option(self, group: str, name: str) -> Name | None:
        """Return (group, name) of the option that a name in a file sets, or None.

        The result differs from the arguments where the option has another name in nova.
        """
        section = group_of(group)
        for prefix in (devices.MDEV, devices.VGPU):
            kind = section.removeprefix(prefix)
            if kind != section and (devices.MDEV + kind) not in self.groups():
                self._add(devices.MDEV + kind, devices.type_options(kind))
        return self._names.get((section, _dest(name)))

    def parse(self, group: str, name: str, value: str) -> object:
        """Return the value of an option that is known. Raise ValueError if it is not allowed."""
        return self._options[self._names[group_of(group), _dest(name)]].type(value)

    def groups(self) -> set[str]:
        """Return the names of groups with options."""
        return {group for group, _name in self._names}

    def options(self, group: str) -> set[str]:
        """Return the names of options in a group, those of nova too."""
        return {name for section, name in self._names if section == group_of(group)}

    def _add(self, section: str, options: Iterable[cfg.Opt]) -> None:
        for option in options:
            for former in option.deprecated_opts:
                alias = former.group or section, _dest(former.name or option.name)
                self._names.setdefault(alias, (section, option.dest))
        for option in options:
            self._names[section, option.dest] = (section, option.dest)
            self._options[section, option.dest] = option


def _dest(name: str) -> str:
    return name.replace('-', '_')


def _of_libraries() -> list[tuple[str, list[cfg.Opt]]]:
    """Return [(group, options)] that libraries read from our configuration."""
    offered = importlib.metadata.entry_points(group='oslo.config.opts')
    return [
        (str(group or DEFAULT), list(options))
        for name in LIBRARIES
        for point in offered.select(name=name)
        for group, options in point.load()()
        if group != OTHER_BUS
    ]


def _of_credentials(plugin: str) -> list[cfg.Opt]:
    """Return the options of a section with credentials, without those of an unknown plugin."""
    options = [*loading.get_session_conf_options(), *loading.get_auth_common_conf_options()]
    try:
        return [*options, *loading.get_auth_plugin_conf_options(plugin)]
    except exceptions.NoMatchingPlugin:
        return options
