"""States of servers as a history (I9): each recorded change is one of `states.TRANSITIONS`.

A state is (vm_state, task_state), as words. An action begins in a state of its row, may
pass through further task states, and ends where its row says, where it began, or in ERROR.
"""

from nova_lite import states

# A hidden copy, of a server in another cell, is replaced when the server moves there.
RECORDED = 'SELECT uuid, vm_state, task_state FROM instances WHERE NOT deleted AND NOT hidden'
OFF = states.VmState.STOPPED
ENDING = (states.TaskState.DELETING, states.TaskState.SOFT_DELETING)


class States:
    """A rule for a watching.Watch of the databases of the cells."""

    def __init__(self):
        self._seen = {}

    def __call__(self, cells):
        """Compare with what was there at the last commit; return what is wrong, or None."""
        seen, wrong = {}, None
        for name, connection in cells.items():
            for uuid, *state in connection.execute(RECORDED):
                key, state = (name, uuid), tuple(state)
                seen[key] = state
                before = self._seen.get(key, state)
                if before != state and not is_allowed(before, state):
                    wrong = f'{uuid} in {name} went from {_text(before)} to {_text(state)}'
        self._seen = seen
        return wrong


def is_allowed(before, after):
    """Whether a server may go from one state to the other in one transaction."""
    return any(_is_part(row, before, after) for row in states.TRANSITIONS) or _has_gone_off(
        before, after
    )


def _is_part(row, before, after):
    return _begins(row, before, after) or _goes_on(row, before, after) or _ends(row, before, after)


def _begins(row, before, after):
    (vm_state, task), (then, during) = before, after
    allowed = (row.vm_states is None or vm_state in row.vm_states) and (
        row.task_states is None or task in row.task_states
    )
    return row.during is not None and allowed and (then, during) == (vm_state, row.during)


def _goes_on(row, before, after):
    (vm_state, task), (then, during) = before, after
    tasks = _tasks(row)
    return task in tasks and during in tasks and then in (vm_state, *_results(row))


def _ends(row, before, after):
    """Whether an action ends well, fails, or is over at once."""
    (vm_state, task), (then, during) = before, after
    if row.during is None:
        # A deletion may have been accepted while it was under way.
        begun = row.vm_states is not None and vm_state in row.vm_states
        return begun and task in (None, *ENDING) and during == task and then in _results(row)
    over = task in _tasks(row) and during is None
    return over and then in (vm_state, states.VmState.ERROR, *_results(row))


def _tasks(row):
    return () if row.during is None else (row.during, *row.through)


def _results(row):
    """Where a server is when the action succeeded."""
    if row.after is None:
        return ()
    return (row.after, OFF) if row.or_off else (row.after,)


def _has_gone_off(before, after):
    """Whether an audit found that the guest of a server at rest is off."""
    (vm_state, task), (then, during) = before, after
    return task is during is None and then == OFF and vm_state in states.POWERED


def _text(state):
    return ' and '.join(map(str, state))
