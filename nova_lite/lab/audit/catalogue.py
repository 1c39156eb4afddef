"""The invariants of a nova, and the commands that restore them.

The first line of a check's docstring is its invariant; the other lines explain a violation.
Commands are printed, never run. Where nova has no command, a text describes the action.
"""

from collections.abc import Iterator
import inspect
import shlex
import typing

from nova_lite.lab.audit import allocations
from nova_lite.lab.audit import hosts
from nova_lite.lab.audit import observed
from nova_lite.lab.audit import ports
from nova_lite.lab.audit import records
from nova_lite.lab.audit import unfinished
from nova_lite.lab.audit import violation
from nova_lite.lab.audit import volumes
from nova_lite.verify import age_limits
from nova_lite.verify import findings


class Invariant(typing.NamedTuple):
    """An invariant. check: yields violations

    command: with {names} of a violation's values; '' where nova has none
    remark: advice for the use of the command, or an action where there is no command
    service: the one that the check needs besides the databases
    """

    check: violation.Check
    command: str = ''
    remark: str = ''
    service: str | None = None

    @property
    def id(self) -> str:
        """Return the name of the invariant in findings."""
        return self._parts()[0]

    @property
    def sentence(self) -> str:
        """Return the invariant as a sentence."""
        return self._parts()[1]

    @property
    def meaning(self) -> str:
        """Return the paragraphs about a violation."""
        return inspect.cleandoc(self.check.__doc__ or '').partition('\n')[2].strip()

    def _parts(self) -> tuple[str, str]:
        name, _colon, sentence = (self.check.__doc__ or '').partition('\n')[0].partition(': ')
        return name, sentence

    def remedy(self, seen: violation.Violation) -> str:
        """Return the command for a violation, or the remark if there is none."""
        values = {name: shlex.quote(value) for name, value in seen.values.items()}
        return self.command.format(**values) or self.remark


ARCHIVE = 'nova-manage db archive_deleted_rows --all-cells --until-complete'
BY_HAND = 'nova has no command for this: delete the row in the database, after a backup'
AUDIT = 'nova-manage placement audit --resource_provider {provider} --delete'
HEAL = 'nova-manage placement heal_allocations --instance {server}'
STATE = 'openstack server set --state error {server}'
_P, _N, _C = observed.PLACEMENT, observed.NEUTRON, observed.CINDER
I = Invariant  # noqa: E741  # the table is easier to read
RECORDS = (
    I(records.mapped_but_deleted, ARCHIVE, 'Archiving removes mappings of deleted servers.'),
    I(records.mapped_but_absent, remark=BY_HAND + ' (instance_mappings, request_specs)'),
    I(
        records.mapped_elsewhere,
        'nova-manage cell_v2 verify_instance --uuid {server}',
        'The command only shows the mapping. Correct its cell_id in the database, after a backup.',
    ),
    I(records.unmapped, 'nova-manage cell_v2 map_instances --cell_uuid {cell} --reset'),
    I(
        records.in_two_cells,
        'nova-manage cell_v2 verify_instance --uuid {server}',
        'The command shows the cell that the API reads. Compare it with the host that runs the guest.',
    ),
    I(records.hidden, remark=BY_HAND + ' (the hidden record)'),
    I(records.built_twice, remark=BY_HAND + ' (build_requests)'),
    I(records.forgotten, remark=BY_HAND + ' (instance_mappings, request_specs)'),
    I(records.unbuilt, 'openstack server delete {server}'),
    I(
        records.without_spec,
        remark='nova has no command for this: a backup has the row, or the user creates a new server',
    ),
    I(records.spec_left, remark=BY_HAND + ' (request_specs)'),
    I(records.device_left, ARCHIVE, 'If the row is not archived, delete it by hand.'),
)
HOSTS = (
    I(hosts.mapping_left, 'nova-manage cell_v2 delete_host --cell_uuid {cell} --host {host}'),
    I(
        hosts.mapped_elsewhere,
        'nova-manage cell_v2 delete_host --cell_uuid {wrong} --host {host} && '
        'nova-manage cell_v2 discover_hosts --by-service --cell_uuid {cell}',
    ),
    I(hosts.unmapped, 'nova-manage cell_v2 discover_hosts --by-service --cell_uuid {cell}'),
    I(
        hosts.in_two_cells,
        'openstack compute service list --service nova-compute --host {host}',
        'Delete the service that is down, with `openstack compute service delete`.',
    ),
    I(
        hosts.node_left,
        remark='Start nova-compute on the host, then delete its service: that deletes the node',
    ),
    I(hosts.without_node, remark="Read the host's log of nova-compute, and restart it"),
    I(
        hosts.servers_nowhere,
        'openstack server show {server}',
        'Give the host its old name, or start its service, and then move or delete the server.',
    ),
    # nova answers `openstack aggregate remove host` with 404.
    I(hosts.members_absent, remark=BY_HAND + ' (aggregate_hosts)'),
    I(
        hosts.without_provider,
        remark="Read the host's log of nova-compute, and restart it",
        service=_P,
    ),
    I(
        hosts.provider_left,
        'openstack resource provider delete {provider}',
        'The provider must have no allocations: see P5.',
        service=_P,
    ),
    I(hosts.not_in_placement, 'nova-manage placement sync_aggregates', service=_P),
    I(
        hosts.only_in_placement,
        'openstack resource provider aggregate list {provider}',
        'Set the list without the aggregate by `openstack resource provider aggregate set`.',
        service=_P,
    ),
)
ALLOCATIONS = (
    I(allocations.missing, HEAL, service=_P),
    I(allocations.wrong_size, HEAL + ' --force', 'Add --dry-run first.', service=_P),
    I(
        allocations.wrong_host,
        'openstack resource provider allocation unset --provider {provider} {server}',
        service=_P,
    ),
    I(
        allocations.on_no_host,
        'openstack resource provider allocation delete {server}',
        service=_P,
    ),
    I(allocations.orphaned, AUDIT, 'Without --delete the command only shows.', service=_P),
    I(
        allocations.migration_over,
        AUDIT,
        'Without --delete the command only shows.',
        service=_P,
    ),
)
VOLUMES = (
    I(
        volumes.attachment_missing,
        'nova-manage volume_attachment refresh {server} {volume} CONNECTOR_FILE',
        'Stop the server first. `nova-manage volume_attachment get_connector` on its host writes '
        'the file.',
        service=_C,
    ),
    I(
        volumes.attachment_unused,
        'openstack volume attachment delete {attachment}',
        service=_C,
    ),
    I(
        volumes.attachment_orphaned,
        'openstack volume attachment delete {attachment}',
        service=_C,
    ),
    # nova answers `openstack server remove volume` with 404.
    I(volumes.volume_missing, remark=BY_HAND + ' (block_device_mapping)', service=_C),
    I(volumes.volume_lost, 'openstack volume set --state in-use {volume}', service=_C),
)
PORTS = (
    I(ports.orphaned, 'openstack port unset --device --device-owner {port}', service=_N),
    I(ports.bound_elsewhere, 'openstack port set --host {host} {port}', service=_N),
)
UNFINISHED = (
    I(unfinished.tasks, STATE, 'With --state active, if the guest runs as recorded.'),
    I(unfinished.builds, 'openstack server delete {server}'),
    I(
        unfinished.migrations,
        STATE,
        'Restart nova-compute on the source first: it ends what it finds unfinished.',
    ),
    I(unfinished.finished, remark=BY_HAND + ' (set the status of the migration to error)'),
    I(unfinished.resized, 'openstack server set --state active {server}'),
)
PARTS: dict[str, tuple[Invariant, ...]] = {
    'Servers in the databases': RECORDS,
    'Hosts, services and aggregates': HOSTS,
    'Allocations in placement': ALLOCATIONS,
    'Volumes and attachments in Cinder': VOLUMES,
    'Ports in Neutron': PORTS,
    'Work in progress': UNFINISHED,
}
SERVICES: dict[str, str] = {_P: 'placement', _N: 'Neutron', _C: 'Cinder'}


def every() -> Iterator[Invariant]:
    """Yield all invariants."""
    for part in PARTS.values():
        yield from part


class Checker:
    """Checks snapshots. remedies: {finding: command or advice}, of all snapshots"""

    def __init__(self) -> None:
        self.remedies: dict[findings.Finding, str] = {}

    def check(
        self, snapshot: observed.Snapshot, ages: age_limits.AgeLimits
    ) -> Iterator[findings.Finding]:
        """Yield every violation of the invariants whose service was asked."""
        for invariant in every():
            if invariant.service is not None and invariant.service not in snapshot.asked:
                continue
            for seen in invariant.check(snapshot, ages):
                finding = findings.Finding(invariant.id, seen.what, seen.detail)
                self.remedies[finding] = invariant.remedy(seen)
                yield finding
