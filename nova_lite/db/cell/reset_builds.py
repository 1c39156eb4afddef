"""Builds of servers whose state an administrator has set with os-resetState.

Such a build continues, because otherwise the server would have that state without a guest. The
column `build` keeps its arguments until it ends, with a mark.
"""

import typing

from nova_lite import states
from nova_lite.db import rows

MARK = 'was_reset'


def arguments(row: rows.Row) -> dict[str, typing.Any] | None:
    """Return the column `build` of a server whose state is set; None unless it is being built."""
    return {**row.build, MARK: True} if row.build and is_building(row) else None


def unmarked(row: rows.Row) -> dict[str, typing.Any] | None:
    """Return the column `build` of a server whose build has failed on its host."""
    return row.build and {name: each for name, each in row.build.items() if name != MARK}


def is_building(row: rows.Row) -> bool:
    """Return whether a server is being built, or would be if no state had been set."""
    return bool(row.vm_state == states.VmState.BUILDING) or continues(row)


def continues(row: rows.Row) -> bool:
    """Return whether the build of a server continues although its state was set."""
    return not row.deleted and bool(row.build) and MARK in row.build
