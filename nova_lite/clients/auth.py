"""Credentials of our own, as the groups of the configuration name them."""

from collections.abc import Mapping
import functools
import typing

from keystoneauth1 import exceptions
from keystoneauth1 import loading
from keystoneauth1 import plugin
from oslo_config import cfg

from nova_lite import exception

OWN_GROUPS = ('service_user', 'keystone_authtoken')
# Options of a plugin for the scope of a token.
SCOPE = (
    'project_id',
    'project_name',
    'project_domain_id',
    'project_domain_name',
    'domain_id',
    'domain_name',
    'system_scope',
)


class Credentials:
    """Our own credentials in a configuration, as the clients of one daemon use them.

    Groups with equal options share one plugin, and so one token, which a daemon gets once.
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self.conf = conf
        self._plugins: dict[tuple[str, str], plugin.BaseAuthPlugin] = {}

    def of(self, group: str, **scope: str | None) -> plugin.BaseAuthPlugin:
        """Return the authentication plugin of a group, or that of [service_user] if it has none.

        scope: options that replace those of SCOPE; such a plugin is not shared
        Raises Unavailable if no plugin is configured or a required option is missing.
        """
        for name in (group, *OWN_GROUPS):
            if name not in self.conf or not self.conf[name].auth_type:
                continue
            section = self.conf[name].auth_section or name
            return self._scoped(section, scope) if scope else self._shared(section)
        raise exception.Unavailable(
            service=group, reason=f'neither [{group}] nor [service_user] has an auth_type'
        )

    def vouching(self) -> plugin.BaseAuthPlugin | None:
        """Return the plugin of [service_user] for service tokens, or None if there is none."""
        if not self.sends_service_tokens():
            return None
        return self._shared('service_user') if self.conf.service_user.auth_type else None

    def sends_service_tokens(self) -> bool:
        """Return whether requests in a user's name also have a service token."""
        conf = self.conf
        return 'service_user' in conf and conf.service_user.send_service_user_token

    def _scoped(self, section: str, scope: Mapping[str, str | None]) -> plugin.BaseAuthPlugin:
        values = _values(self.conf, section)
        replaced = {name: scope.get(name) for name in SCOPE if name in values}
        return _load(section, self.conf[section].auth_type, {**values, **replaced})

    def _shared(self, section: str) -> plugin.BaseAuthPlugin:
        kind, values = self.conf[section].auth_type, _values(self.conf, section)
        key = (kind, repr(values))
        if key not in self._plugins:
            self._plugins[key] = _load(section, kind, values)
        return self._plugins[key]


def _values(conf: cfg.ConfigOpts, section: str) -> dict[str, typing.Any]:
    """Return the options of the plugin that a section's auth_type names, registered if need be."""
    values = {}
    for option in _options(conf[section].auth_type):
        if option.dest not in conf[section]:
            conf.register_opt(option, group=section)
        values[option.dest] = conf[section][option.dest]
    return values


def _load(section: str, kind: str, values: dict[str, typing.Any]) -> plugin.BaseAuthPlugin:
    """Return a plugin. section: names it in errors"""
    try:
        found: plugin.BaseAuthPlugin = loading.get_plugin_loader(kind).load_from_options_getter(
            lambda option: values[option.dest]
        )
    except exceptions.MissingRequiredOptions as error:
        raise exception.Unavailable(service=f'[{section}]', reason=error) from error
    return found


@functools.cache
def _options(kind: str) -> list[typing.Any]:
    """Return the options of a plugin, cached, because keystoneauth1 copies them at each call."""
    return list(loading.get_auth_plugin_conf_options(kind))
