"""What can be known to be wrong with a cloud before anything of it is started.

Raises ValueError for what was asked wrongly, NovaLiteError for what is in the way.
No message holds a password.
"""

import socket
import ssl

import amqp
import oslo_messaging
from oslo_utils import strutils
import sqlalchemy as sa

from nova_lite import exception
from nova_lite import runtime
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
# What py-amqp calls the options of oslo.messaging.
TLS = {'ca_certs': 'ssl_ca_file', 'certfile': 'ssl_cert_file', 'keyfile': 'ssl_key_file'}


def check(settings, conf):
    """All that needs no server. conf: any, for the form of transport URLs."""
    for name in ('cells', 'hosts'):
        if getattr(settings, name) < 1:
            raise ValueError(f'--{name} must be 1 or more, not {getattr(settings, name)}')
    if settings.speed <= 0:
        raise ValueError(f'--speed must be more than 0, not {settings.speed:g}')
    if settings.database is not None:
        check_database(settings.database)
    for url in settings.bus:
        brokers(url.replace('{cell}', 'top'), conf)
    try:
        profile.load(settings.profile)
    except (profile.ProfileError, OSError, UnicodeError) as error:
        raise ValueError(f'--profile cannot be used: {error}') from error


def check_database(url):
    """Whether the URL of a database server is one that we can use."""
    try:
        found = sa.make_url(url)
    except (sa.exc.ArgumentError, ValueError):
        raise ValueError(f'--db is not the URL of a database server; {DATABASE_EXAMPLE}') from None
    if found.drivername not in DATABASES:
        raise ValueError(f'--db cannot be of the kind {found.drivername}; {DATABASE_EXAMPLE}')
    if not found.host:
        raise ValueError(f'--db names no host; {DATABASE_EXAMPLE}')
    if found.database:
        raise ValueError(
            f'--db names the database {found.database}, but each cell gets one of its own: '
            'omit the name'
        )


def brokers(url, conf):
    """The parsed transport URL of a bus; raises ValueError unless it is RabbitMQ's."""
    try:
        found = oslo_messaging.TransportURL.parse(conf, url)
    except (oslo_messaging.InvalidTransportURL, ValueError):
        raise ValueError(f'--bus is not the URL of a broker; {BUS_EXAMPLE}') from None
    if found.transport != 'rabbit':
        raise ValueError(f'--bus cannot be of the kind {found.transport}; {BUS_EXAMPLE}')
    if not any(host.hostname for host in found.hosts):
        raise ValueError(f'--bus names no host; {BUS_EXAMPLE}')
    return found


def check_port(settings):
    """Raise ValueError or Unavailable unless the port can be listened on."""
    if not PORTS[0] <= settings.port <= PORTS[1]:
        raise ValueError(f'--port must be from {PORTS[0]} to {PORTS[1]}, not {settings.port}')
    try:
        family, kind, _protocol, _name, address = socket.getaddrinfo(
            settings.listen, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind) as probe:
            # As the servers do: connections of one that ended are no obstacle.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise port_in_use(settings, error) from error


def port_in_use(settings, error):
    """The error to raise when the cloud's port cannot be listened on."""
    return exception.Unavailable(
        service=f'Port {settings.port} of {settings.listen}',
        reason=f'{error.strerror or error}; choose another with --port (or --listen)',
    )


def wait_for_broker(url, conf, seconds, progress, *, options=None):
    """Wait until a broker lets us in; raises ValueError when it refuses us, Unavailable.

    options: {option: value} of [oslo_messaging_rabbit]; the URL's query is in addition
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


def _tls(options):
    """What a connection is to be made with for TLS; False for none."""
    if not strutils.bool_from_string(options.get('ssl', False)):
        return False
    found = {name: options[option] for name, option in TLS.items() if options.get(option)}
    if 'ca_certs' in found:
        found['cert_reqs'] = ssl.CERT_REQUIRED
    return found or True


def _refusal(host, virtual_host, tls):
    """Why this broker cannot be used now; None when it can. Raises ValueError for ever."""
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
        raise ValueError(
            f'--bus: the broker at {place} refuses user {host.username} or the password'
        ) from None
    except amqp.exceptions.NotAllowed:
        raise ValueError(
            f'--bus: the broker at {place} has no virtual host {virtual_host or "/"} '
            f'for user {host.username}; make it with `rabbitmqctl add_vhost` and '
            '`rabbitmqctl set_permissions`'
        ) from None
    except (OSError, amqp.exceptions.AMQPError) as error:
        return f'{place}: {error}'
    connection.close()
    return None
