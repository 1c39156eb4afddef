"""Checks of the settings and of the machine before the start of a cloud.

Wrong settings raise ValueError, and a machine or server that cannot be used raises NovaLiteError.
Messages do not contain passwords.
"""

from collections.abc import Callable
from collections.abc import Mapping
import math
import os
import shlex
import socket
import ssl
import typing

import amqp
from oslo_config import cfg
import oslo_messaging
from oslo_utils import strutils
import sqlalchemy as sa

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.console import messages
from nova_lite.lab.launcher import host_names
from nova_lite.lab.launcher import lacking
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import lock
from nova_lite.terminal import plurals
from nova_lite.virt.sim import profile

DATABASES = ('mysql+pymysql', 'mariadb+pymysql', 'postgresql+psycopg')
DATABASE_EXAMPLE = (
    'write it as mysql+pymysql://user:password@host:port or '
    'postgresql+psycopg://user:password@host:port'
)
BUS_EXAMPLE = 'write it as rabbit://user:password@host:port/virtual-host'
PORTS = (1, 65535)
AMQP_PORT = 5672
CONNECT_S = 5
LOOK_S = 1
# {argument of py-amqp: option of oslo.messaging}
TLS = {'ca_certs': 'ssl_ca_file', 'certfile': 'ssl_cert_file', 'keyfile': 'ssl_key_file'}
# The argument ssl of a connection of py-amqp.
Tls: typing.TypeAlias = bool | dict[str, typing.Any]


class RejectedUser(lacking.Lacking):
    """A broker rejects a user or its password."""

    def __init__(self, place: str, user: str) -> None:
        super().__init__(
            f'--bus: the broker at {place} rejects user {user} or its password',
            'Correct the URL, or create the user with',
            [f'rabbitmqctl add_user {shlex.quote(user)}'],
        )


class NoVirtualHost(lacking.Lacking):
    """A broker has no virtual host of this name that the user may use."""

    def __init__(self, place: str, user: str, name: str) -> None:
        quoted = shlex.quote(name)
        super().__init__(
            f'--bus: the broker at {place} has no virtual host {name} that user {user} may use',
            'Create it with',
            [
                f'rabbitmqctl add_vhost {quoted}',
                f"rabbitmqctl set_permissions -p {quoted} {shlex.quote(user)} '.*' '.*' '.*'",
            ],
        )


def check(settings: layout.Settings, conf: cfg.ConfigOpts) -> None:
    """Raise ValueError for settings, besides the profile, that cannot be used. Ask no server.

    conf: any configuration, to parse the URLs of buses
    """
    if settings.cells < 1:
        raise ValueError(f'--cells must be 1 or more, not {settings.cells}')
    for count in host_names.counts(settings.hosts, settings.cells):
        if count < 1:
            raise ValueError(f'--hosts must be 1 or more, not {count}')
    if not 0 < settings.speed < math.inf:
        raise ValueError(f'--speed must be a number greater than 0, not {settings.speed:g}')
    if settings.database is not None:
        check_database(settings.database)
    for url in settings.bus:
        brokers(url.replace('{cell}', 'top'), conf)


def check_profile(settings: layout.Settings) -> None:
    """Raise ValueError unless the profile can be used and each name in it has a host."""
    source = settings.profile
    try:
        names = profile.load(source).names
    except (profile.ProfileError, OSError, UnicodeError) as error:
        raise ValueError(f'cannot use --profile {source}: {messages.cause(error)}') from error
    counts = host_names.counts(settings.hosts, settings.cells)
    known = {host_names.cell_name(number): count for number, count in enumerate(counts, start=1)}
    for cell, named in names.items():
        if len(named) > known.get(cell, 0):
            raise ValueError(
                f'--profile {source} names {plurals.of(len(named), "host")} of {cell}, and the cloud has '
                f'{known.get(cell, 0)} there: correct names in the profile, --cells or --hosts'
            )


def check_outside(path: str, directory: str) -> None:
    """Raise ValueError if a file is in the state directory, whose files --fresh deletes."""
    root = os.path.realpath(directory)
    if os.path.commonpath([root, os.path.realpath(path)]) == root:
        raise ValueError(
            f'{path} lies in the state directory {directory}, whose files --fresh deletes. '
            'Move it to another directory'
        )


def check_own(directory: str) -> None:
    """Raise ValueError if --fresh would delete files that no cloud has written."""
    if not os.path.isdir(directory) or os.path.exists(os.path.join(directory, lock.LOCK)):
        return
    if os.listdir(directory):
        raise ValueError(
            f'--fresh deletes all files of the state directory, and {directory} has files of '
            'others: no cloud was started there. Choose another directory'
        )


def check_database(url: str) -> None:
    """Raise ValueError unless the URL of the database server can be used."""
    try:
        found = sa.make_url(url)
    except (sa.exc.ArgumentError, ValueError):
        raise ValueError(f'--db is not the URL of a database server; {DATABASE_EXAMPLE}') from None
    if found.drivername not in DATABASES:
        raise ValueError(f'--db does not support {found.drivername}; {DATABASE_EXAMPLE}')
    if not found.host:
        raise ValueError(f'--db names no host; {DATABASE_EXAMPLE}')
    if found.database:
        raise ValueError(
            f'--db must not name a database ({found.database}): each cell gets its own'
        )


def brokers(url: str, conf: cfg.ConfigOpts) -> oslo_messaging.TransportURL:
    """Return the parsed transport URL of a bus. Raise ValueError unless it is RabbitMQ's."""
    try:
        found = oslo_messaging.TransportURL.parse(conf, url)
    except (oslo_messaging.InvalidTransportURL, ValueError):
        raise ValueError(f'--bus is not the URL of a broker; {BUS_EXAMPLE}') from None
    if found.transport != 'rabbit':
        raise ValueError(f'--bus does not support {found.transport}; {BUS_EXAMPLE}')
    if not any(host.hostname for host in found.hosts):
        raise ValueError(f'--bus names no host; {BUS_EXAMPLE}')
    return found


def check_port(settings: layout.Settings) -> None:
    """Raise ValueError or Unavailable unless a server can listen on the port."""
    if not PORTS[0] <= settings.port <= PORTS[1]:
        raise ValueError(f'--port must be from {PORTS[0]} to {PORTS[1]}, not {settings.port}')
    try:
        family, kind, _protocol, _name, address = socket.getaddrinfo(
            settings.listen, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind) as probe:
            # As the servers do, ignore connections of a former server.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise port_in_use(settings, error) from error


def port_in_use(settings: layout.Settings, error: OSError) -> exception.Unavailable:
    """Return the error to raise when a server cannot listen on the cloud's port."""
    return exception.Unavailable(
        service=f'Port {settings.port} of {settings.listen}',
        reason=f'{error.strerror or error}. Choose another with --port or --listen',
    )


def wait_for_broker(
    url: str,
    conf: cfg.ConfigOpts,
    seconds: float,
    progress: Callable[[str], None],
    *,
    options: Mapping[str, typing.Any] | None = None,
) -> None:
    """Wait until a broker accepts a connection. Raise ValueError if it refuses, Unavailable.

    seconds: time to wait; progress: called once with the reason of the wait
    options: {option: value} of [oslo_messaging_rabbit]; the query of the URL overrides them
    """
    parsed = brokers(url, conf)
    tls = _tls({**(options or {}), **parsed.query})
    deadline = runtime.monotonic() + seconds
    said = False
    while True:
        reasons = []
        for host in parsed.hosts:
            reason = _refusal(host, parsed.virtual_host, tls)
            if reason is None:
                return
            reasons.append(reason)
        error = exception.Unavailable(service='The broker', reason='; '.join(reasons))
        if runtime.monotonic() > deadline:
            raise error
        if not said:
            progress(f'waiting: {error}')
        said = True
        runtime.sleep(LOOK_S)


def _tls(options: Mapping[str, typing.Any]) -> Tls:
    """Return the TLS arguments of a connection, False without TLS."""
    if not strutils.bool_from_string(options.get('ssl', False)):
        return False
    found: dict[str, typing.Any] = {
        name: options[option] for name, option in TLS.items() if options.get(option)
    }
    if 'ca_certs' in found:
        found['cert_reqs'] = ssl.CERT_REQUIRED
    return found or True


def _refusal(host: oslo_messaging.TransportHost, virtual_host: str | None, tls: Tls) -> str | None:
    """Return why a broker cannot be used now, or None. Raise ValueError if a retry cannot help."""
    place = f'{host.hostname}:{host.port or AMQP_PORT}'
    connection = amqp.Connection(
        place,
        userid=host.username or 'guest',
        password=host.password or '',
        virtual_host=virtual_host or '/',
        connect_timeout=CONNECT_S,
        ssl=tls,
    )
    try:
        connection.connect()
    except amqp.exceptions.AccessRefused:
        raise RejectedUser(place, str(host.username)) from None
    except amqp.exceptions.NotAllowed:
        raise NoVirtualHost(place, str(host.username), virtual_host or '/') from None
    except (OSError, amqp.exceptions.AMQPError) as error:
        return f'{place}: {error}'
    connection.close()
    return None
