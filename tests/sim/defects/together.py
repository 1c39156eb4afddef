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
)
