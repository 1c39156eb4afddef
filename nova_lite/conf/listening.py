"""Options of each neighbour service that is part of nova-lite."""

from oslo_config import cfg


def options(port: int, more: str = '') -> list[cfg.Opt]:
    """Return the options of a service with a port and a database of its own."""
    return [
        cfg.StrOpt('listen', default='127.0.0.1', help='Address to listen on.'),
        cfg.PortOpt('port', default=port, help='Port to listen on.'),
        cfg.IntOpt('threads', default=16, min=1, help=f'Number of threads in each process.{more}'),
        cfg.StrOpt(
            'connection', secret=True, help='SQLAlchemy URL of the database of this service.'
        ),
        cfg.StrOpt(
            'auth_strategy',
            default='keystone',
            choices=('keystone', 'noauth'),
            help='How requests are authenticated; see [api]auth_strategy.',
        ),
    ]
