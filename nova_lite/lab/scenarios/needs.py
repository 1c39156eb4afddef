"""The abilities of a cloud that a drill needs, which follow from its steps."""

from collections.abc import Iterator

from nova_lite import exception
from nova_lite.lab.control import abilities
from nova_lite.lab.control import faults
from nova_lite.lab.control import request_faults
from nova_lite.lab.scenarios import clients
from nova_lite.lab.scenarios import drill as drills

CONTROL = 'control'
# {first part of the name of a control request: ability}
OF_REQUESTS = {
    'clock': abilities.CLOCK,
    'breakpoints': abilities.DEBUGGER,
    'saga': abilities.DEBUGGER,
    'bus': abilities.BUSES,
}
OF_PARTS = {faults.BUS: abilities.BUSES, faults.DATABASE: abilities.DATABASES}


class NotAble(exception.Conflict):
    msg = 'Scenario %(name)s needs %(needs)s. %(reason)s'


def of(drill: drills.Drill) -> list[str]:
    """Return the abilities that a drill needs, sorted."""
    return sorted({each for step in drill.steps for each in _of_step(step)})


def _of_step(step: drills.Step) -> Iterator[str]:
    if step.action != CONTROL:
        return
    name, given = step.given['name'], step.given['arguments']
    kind = name.partition('/')[0]
    if kind in OF_REQUESTS:
        yield OF_REQUESTS[kind]
    if kind == 'cell':
        yield from (OF_PARTS[part] for part in given.get('parts', faults.PARTS))
    if request_faults.SERVICE in given:
        yield abilities.REQUESTS


def require(drill: drills.Drill, cloud: clients.Cloud) -> None:
    """Raise NotAble if the cloud lacks an ability that the drill needs. Raise Unavailable."""
    lacking = cloud.control.get('abilities')['lacking']
    missing = [each for each in of(drill) if each in lacking]
    if missing:
        reasons = dict.fromkeys(lacking[each] for each in missing)
        raise NotAble(name=drill.name, needs=' and '.join(missing), reason='. '.join(reasons))
