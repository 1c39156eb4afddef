"""The abilities of a cloud that a drill needs, which follow from its steps."""

from collections.abc import Iterator
from collections.abc import Mapping
import http

from nova_lite import exception
from nova_lite.lab.control import abilities
from nova_lite.lab.control import faults
from nova_lite.lab.control import request_faults
from nova_lite.lab.launcher import control_client
from nova_lite.lab.launcher import state_dir
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

# Answers to a request that the release of the cloud does not have.
UNKNOWN = (http.HTTPStatus.NOT_FOUND, http.HTTPStatus.NOT_IMPLEMENTED)


class NotAble(exception.Conflict):
    msg = 'Scenario %(name)s needs %(needs)s. %(reason)s'


class EarlierRelease(exception.Conflict):
    msg = (
        'The cloud runs an earlier release, which does not say what it lacks. '
        'Restart it with `%(stop)s` and `%(up)s`'
    )


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
    """Raise NotAble if the cloud lacks an ability that the drill needs.

    Raise EarlierRelease, Unavailable.
    """
    lacking = _lacking(cloud)
    missing = [each for each in of(drill) if each in lacking]
    if missing:
        reasons = dict.fromkeys(lacking[each] for each in missing)
        raise NotAble(name=drill.name, needs=' and '.join(missing), reason='. '.join(reasons))


def _lacking(cloud: clients.Cloud) -> Mapping[str, str]:
    """Return {ability: why the cloud lacks it}."""
    try:
        found: Mapping[str, str] = cloud.control.get('abilities')['lacking']
    except control_client.Refused as error:
        if error.status not in UNKNOWN:
            raise
        verbs = {verb: state_dir.command(verb, cloud.directory) for verb in ('stop', 'up')}
        raise EarlierRelease(**verbs) from error
    return found
