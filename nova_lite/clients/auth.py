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
# Options of a plugin that say what a token is for.
SCOPE = (
    'project_id',
    'project_name',
    'project_domain_id',
    'project_domain_name',
    'domain_id',
    'domain_name',
    'system_scope',
)


def credentials(conf: cfg.ConfigOpts, group: str, **scope: str | None) -> plugin.BaseAuthPlugin:
    """Return the authentication plugin of a group, else of our own groups.

    scope: options that replace those of SCOPE
    Raises Unavailable when none is configured or a needed option is missing.
    """
    for name in (group, *OWN_GROUPS):
        if name not in conf or not conf[name].auth_type:
            continue
        return _load(conf, conf[name].auth_section or name, scope)
    raise exception.Unavailable(
        service=group, reason=f'neither [{group}] nor [service_user] has an auth_type'
    )


def _load(
    conf: cfg.ConfigOpts, section: str, scope: Mapping[str, str | None] | None = None
) -> plugin.BaseAuthPlugin:
    """Return the plugin that a section's auth_type names; register options of rarer plugins."""

    def value(option: loading.Opt) -> typing.Any:
        if scope and option.dest in SCOPE:
            return scope.get(option.dest)
        return conf[section][option.dest]

    kind = conf[section].auth_type
    for option in _options(kind):
        if option.dest not in conf[section]:
            conf.register_opt(option, group=section)
    try:
        return loading.get_plugin_loader(kind).load_from_options_getter(value)
    except exceptions.MissingRequiredOptions as error:
        raise exception.Unavailable(service=f'[{section}]', reason=error) from error


@functools.cache
def _options(kind: str) -> list[typing.Any]:
    """Return the options of a plugin. keystoneauth1 makes them by copying, many times a daemon."""
    return list(loading.get_auth_plugin_conf_options(kind))


def vouching(conf: cfg.ConfigOpts) -> plugin.BaseAuthPlugin | None:
    """Return the plugin of [service_user] for service tokens, or None without one."""
    if not sends_service_tokens(conf):
        return None
    return _load(conf, 'service_user') if conf.service_user.auth_type else None


def sends_service_tokens(conf: cfg.ConfigOpts) -> bool:
    """Return whether requests in a user's name carry a service token too."""
    return 'service_user' in conf and conf.service_user.send_service_user_token
