"""[metadata]: the process of the metadata service."""

from oslo_config import cfg

GROUP = 'metadata'
OPTS = [
    cfg.StrOpt(
        'listen',
        deprecated_name='metadata_listen',
        deprecated_group='DEFAULT',
        default='127.0.0.1',
        help='Address on which the metadata service listens.',
    ),
    cfg.PortOpt(
        'port',
        deprecated_name='metadata_listen_port',
        deprecated_group='DEFAULT',
        default=8775,
        help='Port on which the metadata service listens.',
    ),
    cfg.IntOpt(
        'workers',
        deprecated_name='metadata_workers',
        deprecated_group='DEFAULT',
        default=1,
        min=1,
        help='Number of processes of the metadata service.',
    ),
    cfg.IntOpt(
        'threads', default=8, min=1, help='Number of threads in each process of the service.'
    ),
]
