"""Rules of quotas: whose limits count, and the words of a refusal.

The stored limits are, from strongest to weakest: the user's in the project, the project's, the
default class's, [quota]. -1 is no limit. With [quota]driver = nova.quota.UnifiedLimitsDriver the
limits are those of the identity service, see `keystone_quota`. With NoopQuotaDriver there are none.
"""

from collections.abc import Mapping
from collections.abc import Sequence
import typing

from oslo_config import cfg
import sqlalchemy as sa

from nova_lite import exception
from nova_lite.db.api import quotas
from nova_lite.lifecycle.guests import constraints

RESOURCES = (
    'instances',
    'cores',
    'ram',
    'metadata_items',
    'injected_files',
    'injected_file_content_bytes',
    'injected_file_path_length',
    'key_pairs',
    'server_groups',
    'server_group_members',
)
Limits: typing.TypeAlias = dict[str, int]
# Limits by resource, and the user whose own limits they are; None for those of the project.
Scope: typing.TypeAlias = tuple[Limits, str | None]
Flavor: typing.TypeAlias = Mapping[str, typing.Any]
Size: typing.TypeAlias = dict[str, int]
Guest: typing.TypeAlias = constraints.Constraints


class Excess(typing.NamedTuple):
    """A resource of which a request would use more than its limit."""

    resource: str
    requested: int
    used: int
    limit: int


class Rules:
    """The limits in the API database, above those of a configuration.

    asks_placement: whether resource classes have limits, whose usage placement counts
    """

    asks_placement = False

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self._conf = conf

    def defaults(self, connection: sa.Connection) -> Limits:
        """Return {resource: limit} for a project that has none of its own."""
        return self._over_options(quotas.of_class(connection, quotas.DEFAULT_CLASS))

    def _over_options(self, of_class: Mapping[str, int]) -> Limits:
        """Return the limits of the default class, above those of the configuration."""
        return {name: of_class.get(name, self._conf.quota[name]) for name in RESOURCES}

    def limits(
        self, connection: sa.Connection, project_id: str, user_id: str | None = None
    ) -> Limits:
        """Return {resource: limit} of a project, or of one user in it."""
        if user_id is not None:
            of_user, _user = self.scopes(connection, project_id, user_id)[-1]
            return of_user
        of_project = quotas.of_project(connection, project_id)
        return {**self.defaults(connection), **_known(of_project)}

    def scopes(self, connection: sa.Connection, project_id: str, user_id: str) -> list[Scope]:
        """Return the limits of the project, and those of the user in it if there are any."""
        of_class, of_project, of_user = quotas.of_class_project_and_user(
            connection, project_id, user_id
        )
        limit = {**self._over_options(of_class), **_known(of_project)}
        own = _known(of_user)
        return [(limit, None), ({**limit, **own}, user_id)] if own else [(limit, None)]

    def admit(
        self,
        flavor: Flavor,
        guest: Guest,
        *,
        wanted: int,
        least: int = 1,
        boots_from_volume: bool = False,
        networks: object = (),
    ) -> int:
        """Return for how many of `wanted` servers there is room besides what `quota` counts.

        boots_from_volume: whether the servers have no root disk
        networks: the requested ones of new servers, whose ports may ask for resources
        Raise OverQuota for less than `least`.
        """
        return wanted

    def size_of(self, flavor: Flavor, properties: Flavor) -> Size:
        """Return the amounts that a server counts for. properties: those of its image"""
        return {'vcpus': flavor['vcpus'], 'memory_mb': flavor['memory_mb']}

    def uncounted(self, connection: sa.Connection, project_id: str) -> int:
        """Return how many vCPUs of a project's servers do not count as cores."""
        return 0

    def uncounted_of(self, connection: sa.Connection, uuid: str) -> tuple[int, int]:
        """Return how many vCPUs of one server do not count: of its size, and of the larger size.

        The larger size is that which counts while the size changes.
        """
        return 0, 0

    def require_settable(self) -> None:
        """Raise Forbidden if limits cannot be set by requests of the compute API."""

    def refusal(self, excesses: Sequence[Excess]) -> exception.OverQuota:
        """Return the error of a request that would exceed limits."""
        resource, requested, used, limit = (
            ', '.join(map(str, column)) for column in zip(*excesses, strict=True)
        )
        return exception.OverQuota(resource=resource, requested=requested, used=used, limit=limit)

    def require(self, limits: Limits, resource: str, count: int) -> None:
        """Raise OverQuota when `count` of something is above its limit."""
        if 0 <= limits[resource] < count:
            raise self.refusal([Excess(resource, count, 0, limits[resource])])


class Unlimited(Rules):
    """No limits: [quota]driver = nova.quota.NoopQuotaDriver. Limits can be set without effect."""

    def defaults(self, connection: sa.Connection) -> Limits:
        return dict.fromkeys(RESOURCES, -1)

    def limits(
        self, connection: sa.Connection, project_id: str, user_id: str | None = None
    ) -> Limits:
        return self.defaults(connection)

    def scopes(self, connection: sa.Connection, project_id: str, user_id: str) -> list[Scope]:
        return [(self.defaults(connection), None)]


def _known(found: Mapping[str, int]) -> Limits:
    return {name: limit for name, limit in found.items() if name in RESOURCES}
