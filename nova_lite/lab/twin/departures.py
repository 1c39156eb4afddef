"""The servers of a copied cloud, and the ways in which each of them can leave its host.

The ways follow from the rules of the API and of the moves, which are called here as a request and
a move call them.
"""

from collections.abc import Callable
from collections.abc import Mapping
import dataclasses
import typing

from nova_lite import cells as deployment
from nova_lite import exception
from nova_lite.api import server_access
from nova_lite.api.servers import evacuate
from nova_lite.api.servers import live_migrate
from nova_lite.db import rows
from nova_lite.db.api import instance_mappings
from nova_lite.db.api import request_specs
from nova_lite.db.cell import instances
from nova_lite.db.cell import shares
from nova_lite.lab.maintenance import plan as plans
from nova_lite.moves.parts import live_checks
from nova_lite.objects import request_spec
from nova_lite.states import transitions


@dataclasses.dataclass(frozen=True)
class Server:
    """A server of the cloud. row: its record; spec: its stored request

    refusals: {LIVE, COLD or EVACUATE: why the server cannot leave its host so}, of the ways in
        which it cannot leave
    """

    row: rows.Row
    cell_uuid: str
    spec: request_spec.RequestSpec
    refusals: Mapping[plans.How, str]

    @property
    def uuid(self) -> str:
        return typing.cast(str, self.row.uuid)  # a row knows no types of its columns

    @property
    def name(self) -> str:
        return typing.cast(str, self.row.display_name)  # as in `uuid`

    @property
    def label(self) -> str:
        """Return the name in its metadata, which `import --names` writes, or else its own."""
        return str(self.row.metadata.get('name', self.name))

    @property
    def host(self) -> str:
        return typing.cast(str, self.row.host)  # as in `uuid`

    @property
    def memory_mb(self) -> int:
        return typing.cast(int, self.row.memory_mb)  # as in `uuid`

    @property
    def ways(self) -> list[plans.How]:
        """Return the ways in which it can leave a host that is up, the best one first."""
        return [how for how in (plans.How.LIVE, plans.How.COLD) if how not in self.refusals]

    @property
    def reason(self) -> str:
        """Return why it cannot be moved while it runs, '' if it can or does not run."""
        state = self.row.vm_state
        if state in plans.LIVE_STATES:
            return self.refusals.get(plans.How.LIVE, '')
        if plans.How.COLD not in self.refusals:
            return ''
        return plans.HINTS.get(state, self.refusals[plans.How.COLD])

    def described(self) -> str:
        """Return a text for people about the server."""
        return self.name if self.label == self.name else f'{self.label} ({self.name})'


@dataclasses.dataclass(frozen=True)
class Rule:
    """The rule of one way. guard: the states; check: raises if it refuses what the server has"""

    guard: transitions.Transition
    check: Callable[[server_access.Server], None] = lambda server: None


def _require_movable_live(server: server_access.Server) -> None:
    live_migrate.require_movable_guest(server)
    live_checks.require_running_guest(server.row)
    live_checks.require_movable_devices(server.row)


LIVE = Rule(transitions.LIVE_MIGRATE, _require_movable_live)
RULES = {
    plans.How.LIVE: LIVE,
    plans.How.COLD: Rule(transitions.MIGRATE),
    plans.How.EVACUATE: Rule(transitions.EVACUATE, evacuate.require_movable_guest),
}


def refusals(server: server_access.Server, *, has_shares: bool) -> dict[plans.How, str]:
    """Return {way: reason} of the ways in which a server cannot leave its host."""
    found = {}
    for how, rule in RULES.items():
        try:
            server_access.require_state(server, rule.guard)
            rule.check(server)
            if rule.guard.shareless and has_shares:
                raise exception.SharesAttached(instance_id=server.uuid)
        except exception.NovaLiteError as error:
            found[how] = error.message
    return found


def read(cells: deployment.Cells, cell_uuid: str, host: str) -> list[Server]:
    """Return the servers of a host, those with the most memory first."""
    cell = cells.get(cell_uuid)
    found = [row for row in cell.db.read(instances.on_host, host) if not row.hidden]
    uuids = [row.uuid for row in found]
    specs = cells.api_db.read(request_specs.stored, uuids)
    mappings = {row.instance_uuid: row for row in cells.api_db.read(instance_mappings.of, uuids)}
    shared = cell.db.read(shares.of, uuids)
    servers = []
    for row in found:
        server = server_access.Server(row, mapping=mappings[row.uuid], cell=cell)
        refused = refusals(server, has_shares=row.uuid in shared)
        spec = request_spec.RequestSpec.restore(specs[row.uuid])
        servers.append(Server(row, cell_uuid, spec, refused))
    return sorted(servers, key=lambda each: (-each.memory_mb, each.uuid))
