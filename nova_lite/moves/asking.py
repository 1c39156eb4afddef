"""How the steps of a saga call hosts, which may be silent or fenced."""

from nova_lite import exception
from nova_lite import saga
from nova_lite.db.cell import services

# A host is asked again after at most so long, to notice what the user does meanwhile.
LONGEST_POLL_S = 5.0


def answer(reply):
    """Return the result of a step from the reply of a compute's move method."""
    if 'pending' in reply:
        return saga.Pending(wake_in=min(reply['pending'], LONGEST_POLL_S))
    return {name: value for name, value in reply.items() if name != 'done'} or None


def ask(move, method, arguments, more):
    """Call a method of a compute for a step; a Pending, or what it answers.

    Raises Unavailable while the host is silent. An undo asks it all the same, but raises
    ServiceIsDown for a host that was fenced, and for one that does not answer and is
    down: nothing is won by waiting, its audit clears it when it is back.
    """
    host = arguments['host']
    lost = exception.ServiceIsDown(binary=services.COMPUTE, host=host)
    if not move.undoing:
        require_heard(move, host)
    elif _is_fenced(move, host):
        raise lost
    try:
        return answer(method(move.ctxt, **arguments, **more))
    except exception.Unavailable as error:
        if move.undoing and not _is_heard(move, host):
            raise lost from error
        raise


def require_heard(move, host):
    """Raise Unavailable while a host of any cell is silent, instead of calling it.

    A call to a host that hangs would hold a thread until it times out.
    """
    if not _is_heard(move, host):
        raise exception.Unavailable(service=services.COMPUTE, reason=f'{host} is not up')


def require_up(move, host):
    """As `require_heard`; raise ServiceIsDown for a host that is forced down.

    A silent one may be heard of again in a moment, after its conductor, for example.
    """
    if _is_fenced(move, host):
        raise exception.ServiceIsDown(binary=services.COMPUTE, host=host)
    require_heard(move, host)


def _service(move, host):
    """The compute service of a host of any cell, or None; raises HostMappingNotFound."""
    found = move.read(services.find, host)
    return found or move.world.cells.of_host(host).db.read(services.find, host)


def _is_fenced(move, host):
    service = _service(move, host)
    return service is None or service.forced_down


def _is_heard(move, host):
    service = _service(move, host)
    down_s = move.world.conf.service_down_time
    return service is not None and services.is_up(service, down_s)
