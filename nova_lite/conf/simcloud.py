"""[simcloud]: the simulated neighbour services."""

from oslo_config import cfg

from nova_lite.conf import listening

GROUP = 'simcloud'
OPTS = [
    *listening.options(8779),
    cfg.IntOpt(
        'workers',
        default=1,
        min=1,
        help='Number of processes. More than one requires MariaDB or PostgreSQL.',
    ),
    cfg.StrOpt(
        'public_url',
        default='http://127.0.0.1:8774',
        help='Scheme, host and port at which clients reach all services.',
    ),
    cfg.BoolOpt(
        'urls_by_request',
        default=False,
        help='In links and in the catalog, replace the scheme, host and port of public_url by those that '
        'a request of a client names. For a cloud that clients reach at several addresses.',
    ),
    cfg.StrOpt(
        'internal_url',
        help='Scheme, host and port at which services of the cloud reach each other. Unset: '
        'public_url.',
    ),
    cfg.StrOpt(
        'profile',
        default='default',
        help='Behaviour profile of the simulated hosts, of which the network service uses the rules '
        'for ports; see [compute]profile.',
    ),
    cfg.FloatOpt(
        'speed',
        default=1.0,
        min=0.001,
        help='Factor by which ports are plugged faster than the profile says. Values below 1 slow it '
        'down.',
    ),
    cfg.IntOpt(
        'lockout_failure_attempts',
        min=1,
        help='Number of wrong passwords after which a user may not log in for lockout_duration '
        'seconds, as [security_compliance]lockout_failure_attempts of Keystone. Users with the role '
        'service are exempt. Unset: no limit.',
    ),
    cfg.IntOpt(
        'lockout_duration',
        default=1800,
        min=1,
        help='Seconds after the last wrong password in which the user is locked. Enabling the user '
        'ends the lock earlier.',
    ),
    cfg.StrOpt(
        'admin_password',
        secret=True,
        help='Password of the user admin, set when the user is created.',
    ),
    cfg.StrOpt(
        'demo_password',
        secret=True,
        help='Password of the user demo, set when the user is created.',
    ),
    cfg.StrOpt(
        'service_password',
        secret=True,
        help='Password of the service users, set when they are created.',
    ),
]
