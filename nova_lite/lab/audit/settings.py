"""The settings of a nova: URLs of its databases, and clients of the services around it."""

from collections.abc import Collection
from collections.abc import Iterator
import contextlib
import dataclasses
import re
import typing

from keystoneauth1 import adapter as adapters
from keystoneauth1 import exceptions as auth_exceptions
from keystoneauth1 import loading
from keystoneauth1 import session as sessions
from oslo_config import cfg

from nova_lite import exception
from nova_lite.clients import auth
from nova_lite.lab.audit import observed
from nova_lite.lab.audit import services as services_module

TYPES = {
    observed.PLACEMENT: 'placement',
    observed.NEUTRON: 'network',
    observed.CINDER: 'block-storage',
}
# In errors of oslo.config: the number of a line, and where a value is from.
LINE = re.compile(r':(\d+), ')
ORIGIN = re.compile(r' from LocationInfo\(.*\)(?= is not valid)')
# Longest time to wait for an answer.
ANSWER_S = 60
CONNECTION = cfg.StrOpt('connection', secret=True)
# Nova's own options of Cinder.
CINDER = (
    cfg.StrOpt('catalog_info', default=''),
    cfg.StrOpt('endpoint_template'),
    cfg.StrOpt('os_region_name'),
)


class BadFile(exception.Invalid):
    msg = '%(path)s %(reason)s'


@dataclasses.dataclass
class Settings:
    """api_url, main_url: of the databases; main_url may be ''

    services: {name: client}; not_checked: {name: why the service is not asked}
    """

    api_url: str
    main_url: str
    services: dict[str, services_module.Service] = dataclasses.field(default_factory=dict)
    not_checked: dict[str, str] = dataclasses.field(default_factory=dict)


def read(
    path: str,
    *,
    skipped: Collection[str] = (),
    of_cloud: typing.Callable[[str], adapters.Adapter] | None = None,
) -> Settings:
    """Return the settings of a nova.conf. Raise BadFile, Unavailable.

    The variables OS_GROUP__OPTION of oslo.config, such as OS_API_DATABASE__CONNECTION, take
    precedence over the file.
    skipped: services not to ask
    of_cloud: function that returns an adapter for a type of service, for --os-cloud; else the
        sections of the file are used
    """
    with _refused(path):
        conf = _conf(path)
        return _read(conf, path, skipped, of_cloud)


def _read(
    conf: cfg.ConfigOpts,
    path: str,
    skipped: Collection[str],
    of_cloud: typing.Callable[[str], adapters.Adapter] | None,
) -> Settings:
    api_url = conf.api_database.connection
    if not api_url:
        reason = (
            'has no [api_database]connection. Name the nova.conf of nova-api, or set '
            'OS_API_DATABASE__CONNECTION'
        )
        raise BadFile(path=path, reason=reason)
    found = Settings(api_url, conf.database.connection or '')
    # Services with the same user share its token.
    credentials = auth.Credentials(conf)
    for name, kind in TYPES.items():
        if name in skipped:
            found.not_checked[name] = 'skipped by --skip'
            continue
        adapter = of_cloud(kind) if of_cloud else _adapter(credentials, name, kind)
        if adapter is None:
            users = ', '.join(f'[{group}]' for group in (name, *auth.OWN_GROUPS))
            found.not_checked[name] = f'none of {users} has an auth_type'
            continue
        service = services_module.Service(name, adapter)
        if service.endpoint() is None:
            found.not_checked[name] = f'the service catalog has no {kind}'
        else:
            found.services[name] = service
    return found


def _conf(path: str) -> cfg.ConfigOpts:
    conf = cfg.ConfigOpts()
    for group in ('api_database', 'database'):
        conf.register_opt(CONNECTION, group=group)
    for group in (*TYPES, *auth.OWN_GROUPS):
        loading.register_session_conf_options(conf, group)
        loading.register_auth_conf_options(conf, group)
    for name in TYPES:
        loading.register_adapter_conf_options(conf, name)
        conf.set_default('timeout', ANSWER_S, group=name)
    conf.register_opts(CINDER, group=observed.CINDER)
    try:
        conf(args=[], project='nova', default_config_files=[path], default_config_dirs=[])
    except (cfg.ConfigFilesNotFoundError, OSError) as error:
        raise BadFile(path=path or "''", reason='cannot be read. Name a nova.conf') from error
    return conf


@contextlib.contextmanager
def _refused(path: str) -> Iterator[None]:
    """Raise BadFile in place of the errors of a file."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise BadFile(
            path=path, reason='cannot be used: it is not text. Name a nova.conf'
        ) from error
    except cfg.ConfigFileParseError as error:
        # The text of the error has the line, which may have a password.
        number = LINE.search(str(error))
        where = f'line {number[1]}' if number else 'a line'
        reason = f'cannot be used: {where} is neither a [section] nor an option = value'
        raise BadFile(path=path, reason=reason) from error
    except cfg.Error as error:
        text = ORIGIN.sub('', str(error))
        reason = f'cannot be used: {text}. Correct the option; a $ in a value is written $$'
        raise BadFile(path=path, reason=reason) from error


def _adapter(credentials: auth.Credentials, name: str, kind: str) -> adapters.Adapter | None:
    """Return the adapter of a service, as its section says; None without credentials."""
    conf = credentials.conf
    user = next((group for group in (name, *auth.OWN_GROUPS) if conf[group].auth_type), None)
    if user is None:
        return None
    try:
        plugin = credentials.of(user)
    except (auth_exceptions.ClientException, cfg.Error) as error:
        raise exception.Unavailable(service=f'[{user}]', reason=error) from error
    session = loading.load_session_from_conf_options(conf, name, auth=plugin)
    options: dict[str, typing.Any] = {'service_type': kind}
    section = conf[name]
    if name == observed.CINDER:
        names = section.catalog_info.split(':')
        if len(names) == 3:
            options['interface'] = names[2]
        options['region_name'] = section.os_region_name or section.region_name
        if section.endpoint_template:
            options['endpoint_override'] = _filled(section.endpoint_template, session)
    else:
        options['interface'] = section.valid_interfaces or ['internal', 'public']
        options['region_name'] = section.region_name
    options.setdefault('endpoint_override', section.endpoint_override)
    return adapters.Adapter(session, **options)


def _filled(template: str, session: sessions.Session) -> str:
    """Return [cinder]endpoint_template with the project of a session."""
    try:
        return template % {'project_id': session.get_project_id() or ''}
    except (auth_exceptions.ClientException, OSError) as error:
        raise exception.Unavailable(service='[cinder]', reason=error) from error
    except (KeyError, TypeError, ValueError) as error:
        reason = '%(project_id)s is the one variable that it may have'
        raise BadFile(path='[cinder]endpoint_template', reason=f'is malformed: {reason}') from error
