"""Defects that hosts and cells show which are not mapped, or do not answer."""

from tests.sim.defects import defect

Defect = defect.Defect

DEFECTS = (
    Defect(
        'builds-on-unmapped-hosts',
        'a server is built on a host whose mapping is deleted meanwhile',
        'mappings',
        (
            (
                'superconductor/build_writes.py',
                'host_mappings.hold(connection, list(hosts), cell_id)',
                'pass',
            ),
        ),
    ),
    Defect(
        'servers-of-deleted-cells',
        'a server is mapped to a cell whose mapping is deleted meanwhile, and lost',
        'mappings',
        (
            ('db/api/instance_mappings.py', 'cell_mappings.hold(connection, cell_id)', 'pass'),
            # The mappings of the hosts of the cell are missed as well.
            (
                'superconductor/build_writes.py',
                'host_mappings.hold(connection, list(hosts), cell_id)',
                'known = host_mappings.cell_mappings.every(connection)\n'
                '            if any(each.id == cell_id for each in known):\n'
                '                host_mappings.hold(connection, list(hosts), cell_id)',
            ),
        ),
    ),
    Defect(
        'moves-do-not-hold-their-destination',
        'a server moves to a host whose mapping is deleted meanwhile',
        'mappings',
        (
            (
                'moves/parts/choice.py',
                'host_mappings.hold(connection, [dest.host], dest.cell.cell.id)',
                'del connection',
            ),
        ),
    ),
    Defect(
        'devices-need-hosts-that-answer',
        'an accepted attachment is taken back when its host does not answer for a while',
        'unheard',
        (
            (
                'moves/parts/guest_devices.py',
                'if ACCEPTED in self.scope.results and row.task_state is None and not '
                'self.scope.undoing:',
                'if False:',
            ),
        ),
    ),
)
