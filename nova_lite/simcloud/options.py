"""Options of the simulated services."""

from collections.abc import Mapping
import dataclasses
import typing

from nova_lite.simcloud.identity import password_hashes
from nova_lite.simcloud.network import plugging

KEYSTONE = 'keystone'
NOAUTH = 'noauth'


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options:
    """Settings of one simcloud.

    admin_password, demo_password, service_password: passwords of the first users; needed only
        for a database without users
    auth: 'noauth' also believes X-User-Id, X-Project-Id and X-Roles as sent
        (benchmarks on loopback only)
    internal_url: scheme, host and port at which the cloud's own services reach simcloud;
        None: they use the public URL
    urls_by_request: whether links and the catalog have the host and port that the request names,
        for a cloud that is reached at several addresses
    compute_events: whether to notify the compute service of the catalog when users change ports,
        floating addresses and volumes of its servers
    password_cost: scrypt's N for new passwords; tests that log in often use a low one
    lockout_failure_attempts: failed logins after which a user may not log in for
        lockout_duration_s; None: no limit
    port_rules: rules for plugging; None: ports are ACTIVE as soon as they are bound
    shared_cidr: addresses of a network that every project may use; None: there is no such
        network, so the project demo has one network and its servers need not name it
    endpoints: {service type: URL} of services elsewhere; a URL may contain {project_id}
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
    lockout_failure_attempts: int | None = None
    lockout_duration_s: float = 1800
    endpoints: dict[str, str] = dataclasses.field(default_factory=dict)
    private_cidr: str = '10.0.0.0/16'
    shared_cidr: str | None = None
    public_cidr: str = '172.24.0.0/16'

    def __post_init__(self) -> None:
        if self.auth not in (KEYSTONE, NOAUTH):
            raise ValueError(f"auth must be '{KEYSTONE}' or '{NOAUTH}', not {self.auth!r}")


def make(options: Options | Mapping[str, typing.Any] | None) -> Options:
    """Return Options from Options, from a mapping of their fields, or with the defaults."""
    if isinstance(options, Options):
        return options
    return Options(**(options or {}))
