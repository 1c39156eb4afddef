"""Check whether a deployment is ready for this release."""

from collections.abc import Sequence
import datetime

import microversion_parse
from oslo_config import cfg
from oslo_upgradecheck import common_checks
from oslo_upgradecheck import upgradecheck

from nova_lite import cells as cells_module
from nova_lite import context
from nova_lite import exception
from nova_lite import runtime
from nova_lite import versions
from nova_lite.clients import auth
from nova_lite.clients import bindings
from nova_lite.clients import network
from nova_lite.clients import session
from nova_lite.db import rows
from nova_lite.db import transactions
from nova_lite.db.api import host_mappings
from nova_lite.db.api import sagas
from nova_lite.db.cell import compute_nodes
from nova_lite.db.cell import services
from nova_lite.manage import command

PLACEMENT_VERSION = '1.36'
CINDER_VERSION = '3.54'
STUCK = datetime.timedelta(minutes=10)


def success(details: str | None = None) -> upgradecheck.Result:
    """Return the result of a check without findings."""
    return upgradecheck.Result(upgradecheck.Code.SUCCESS, details)


def warning(details: str) -> upgradecheck.Result:
    """Return the result of a check that found something to inspect."""
    return upgradecheck.Result(upgradecheck.Code.WARNING, details)


def failure(details: str) -> upgradecheck.Result:
    """Return the result of a check that found something to repair before the upgrade."""
    return upgradecheck.Result(upgradecheck.Code.FAILURE, details)


def _number(version: str) -> tuple[int, int]:
    found: tuple[int, int] = microversion_parse.parse_version_string(version or '0.0')
    return found


class Checks(upgradecheck.UpgradeCommands):
    """The checks, in the order of `_upgrade_checks`."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        self.conf = conf
        self._cells: cells_module.Cells | None = None

    @property
    def cells(self) -> cells_module.Cells:
        """Return the cells of the deployment. Raise Invalid without an API database."""
        if self._cells is None:
            url = self.conf.api_database.connection
            if not url:
                raise command.NoApiDatabase.of(self.conf)
            self._cells = cells_module.Cells(self.conf, transactions.Database(url))
        return self._cells

    def close(self) -> None:
        """Close the connections to databases."""
        if self._cells is not None:
            self._cells.close()
            self._cells.api_db.dispose()

    def check_cells(self) -> upgradecheck.Result:
        """Check that cell0, another cell and the existing hosts are mapped."""
        try:
            found = self.cells.every()
        except exception.NovaLiteError as error:
            return failure(f'Cannot read the API database: {error}')
        if not any(cell.is_cell0 for cell in found):
            return failure('cell0 is not mapped. Run nova-lite-manage cell_v2 map_cell0.')
        if len(found) < 2:
            return failure('Only cell0 is mapped. Run nova-lite-manage cell_v2 create_cell.')
        hosts = self.cells.api_db.read(host_mappings.every)
        nodes = self._every_cell(compute_nodes.every)
        if not hosts and nodes:
            return failure(
                'No host mappings found but there are compute nodes. Run nova-lite-manage '
                'cell_v2 discover_hosts.'
            )
        if not hosts:
            return success('No host mappings or compute nodes were found.')
        return success()

    def check_placement(self) -> upgradecheck.Result:
        """Check that placement answers and supports the microversion that is needed."""
        try:
            newest = self._newest('placement')
        except exception.NovaLiteError as error:
            return failure(f'Cannot reach placement: {error}')
        if _number(newest) < _number(PLACEMENT_VERSION):
            return failure(
                f'Placement supports {newest}, and {PLACEMENT_VERSION} is needed. Upgrade placement.'
            )
        return success()

    def check_cinder(self) -> upgradecheck.Result:
        """Check that the volume service, if any, supports the microversion that is needed."""
        if not (self.conf.cinder.auth_type or self.conf.service_user.auth_type):
            return success('No volume service is configured.')
        try:
            newest = self._newest('cinder')
        except exception.NovaLiteError as error:
            return warning(f'Cannot reach the volume service: {error}')
        if _number(newest) < _number(CINDER_VERSION):
            return failure(
                f'Cinder supports {newest}, and {CINDER_VERSION} is needed. Upgrade Cinder.'
            )
        return success()

    def check_neutron(self) -> upgradecheck.Result:
        """Check that the network service, if any, has the extension for moves between cells."""
        if not (self.conf.neutron.auth_type or self.conf.service_user.auth_type):
            return success('No network service is configured.')
        try:
            if network.Network(auth.Credentials(self.conf)).bindings.are_supported(context.admin()):
                return success()
        except (exception.NovaLiteError, KeyError, TypeError) as error:
            return warning(f'Cannot reach the network service: {error}')
        return warning(
            f'Neutron does not have the extension {bindings.EXTENSION}. Servers with ports '
            'cannot be resized or migrated between cells. Upgrade Neutron.'
        )

    def check_service_user(self) -> upgradecheck.Result:
        """Check that long operations can continue after the user's token has expired."""
        options = self.conf.service_user
        if not options.auth_type:
            return failure('[service_user]auth_type is not set. Configure credentials there.')
        if not options.send_service_user_token:
            return failure(
                '[service_user]send_service_user_token is false. Set it to true: without it volumes '
                "cannot be detached, and long operations fail when the user's token expires."
            )
        return success()

    def _newest(self, group: str) -> str:
        """Return the newest microversion of a neighbour. Raise a NovaLiteError."""
        service = session.Neighbour(auth.Credentials(self.conf), group, title=group)
        try:
            offered = service.get(context.admin(), '/')['versions']
            found = [each.get('max_version') or each['version'] for each in offered]
            newest: str = max(found, key=_number)
            return newest
        except (ValueError, KeyError, TypeError) as error:
            raise exception.Unavailable(
                service=group, reason=f'cannot read its versions: {error}'
            ) from error

    def check_policy(self) -> upgradecheck.Result:
        """Check that the policy file is YAML."""
        return common_checks.check_policy_json(self, self.conf)

    def check_services(self) -> upgradecheck.Result:
        """Check that no compute is older than the oldest release that this release supports."""
        try:
            found = self._every_cell(services.every, binary=services.COMPUTE)
        except exception.NovaLiteError as error:
            return failure(f'Cannot read the cells: {error}')
        oldest = min(release['service'] for release in versions.RELEASES.values())
        old = sorted(row.host for row in found if 0 < row.version < oldest)
        if old:
            return failure(
                f'{len(old)} computes are too old for this release, for example {old[0]}. '
                'Upgrade them first.'
            )
        return success()

    def check_sagas(self) -> upgradecheck.Result:
        """Check that super-conductors pick up sagas."""
        try:
            found = self.cells.api_db.read(sagas.every, active=True)
        except exception.NovaLiteError as error:
            return failure(f'Cannot read the API database: {error}')
        limit = runtime.naive_now() - STUCK
        stuck = [row for row in found if max(row.wake_at, row.lease_until or row.wake_at) < limit]
        if stuck:
            return warning(
                f'No super-conductor has picked up {len(stuck)} sagas, for example '
                f'{stuck[0].uuid}. Check that a super-conductor runs; see nova-lite saga list.'
            )
        return success()

    def _every_cell(
        self, function: transactions.Function[..., Sequence[rows.Row]], **where: str
    ) -> list[rows.Row]:
        """Return the rows of all cells. Raise Unavailable if a cell does not answer."""
        return [row for cell in self.cells.every() for row in cell.db.read(function, **where)]

    _upgrade_checks = (
        ('Cells v2', check_cells),
        ('Placement API', check_placement),
        ('Cinder API', check_cinder),
        ('Neutron API', check_neutron),
        ('Service User Token Configuration', check_service_user),
        ('Policy File JSON to YAML Migration', check_policy),
        ('Older than N-1 computes', check_services),
        ('Stuck sagas', check_sagas),
    )
