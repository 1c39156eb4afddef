"""Defects that hosts show which do not answer."""

from tests.sim.defects import defect

Defect = defect.Defect

DEFECTS = (
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
