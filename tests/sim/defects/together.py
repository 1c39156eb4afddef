"""Defects of calls, transactions and messages that several servers share."""

from tests.sim.defects import defect

Defect = defect.Defect

DEFECTS = (
    Defect(
        'joint-answers-out-of-order',
        'a server is built on the host that is claimed for another one, if both are chosen at once',
        'crowds',
        (
            (
                'scheduler/manager.py',
                'return [decision.result() for decision in decisions]',
                'return [decision.result() for decision in reversed(decisions)]',
            ),
        ),
    ),
    Defect(
        'joint-deletions-with-others-devices',
        'a host that deletes several servers at once gets the devices and ports of another one',
        'crowds',
        (
            (
                'conductor/delete_reports.py',
                'for uuid in (report.instance_uuid for report in reports)',
                'for uuid in (report.instance_uuid for report in reversed(reports))',
            ),
        ),
    ),
)
