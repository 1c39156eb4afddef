"""Options of the simulated services."""

import dataclasses

from nova_lite.simcloud.identity import password_hashes
from nova_lite.simcloud.network import plugging

KEYSTONE = 'keystone'
NOAUTH = 'noauth'


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options:
    """Settings of one simcloud; unknown names are refused by the constructor.

    admin_password, demo_password, service_password: used once, when the users
        are first made; a database that has the users needs none
    auth: 'noauth' also believes X-User-Id, X-Project-Id and X-Roles as sent
        (benchmarks on loopback only)
    internal_url: scheme, host and port at which the cloud's own services reach us;
        without it they use the public ones
    urls_by_request: whether links and the catalog have the host and port that a request names, for
        a cloud that is reached at several
    compute_events: tell the compute service of the catalog what users change at its
        servers' ports, floating addresses and volumes
    password_cost: scrypt's N for new passwords; tests that log in often take a low one
    port_rules: a network.plugging.Rules; None: ports are ACTIVE as soon as they are bound
    shared_cidr: of a network that every project may use; without it a member of demo has one
        network, so that a server needs none named
    endpoints: {service type: URL} for services that live elsewhere; a URL may
        hold {project_id}
    """

    admin_password: str | None = None
    demo_password: str | None = None
    service_password: str | None = None
    auth: str = KEYSTONE
    internal_url: str | None = None
    urls_by_request: bool = False
    compute_events: bool = False
    port_rules: plugging.Rules | None = None
    region: str = 'RegionOne'
    token_lifetime_s: int = 6 * 3600
    expired_window_s: int = 48 * 3600
    password_cost: int = password_hashes.COST
    endpoints: dict = dataclasses.field(default_factory=dict)
    private_cidr: str = '10.0.0.0/16'
    shared_cidr: str | None = None
    public_cidr: str = '172.24.0.0/16'

    def __post_init__(self):
        if self.auth not in (KEYSTONE, NOAUTH):
            raise ValueError(f"auth must be '{KEYSTONE}' or '{NOAUTH}', not {self.auth!r}")


def make(options):
    """Options from None, a dict or Options."""
    if isinstance(options, Options):
        return options
    return Options(**(options or {}))
