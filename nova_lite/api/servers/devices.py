"""How handlers attach and detach devices: a saga, of which they await the beginning.

What the answer tells must have come about by then; the rest follows by itself.
"""

from nova_lite import exception
from nova_lite import runtime
from nova_lite.api.servers import acting
from nova_lite.api.servers import moves
from nova_lite.db.api import sagas
from nova_lite.saga import journal

LOOK_S = 0.02
# From here on servers that are shelved can be given volumes and lose them.
SHELVED_SINCE = 20
SHELVED = ('shelved', 'shelved_offloaded')
SAGAS = (
    'attach-volume',
    'detach-volume',
    'swap-volume',
    'attach-interface',
    'detach-interface',
)
# What means another thing here than where it is raised.
TYPES = {'NoMoreFixedIps': exception.Invalid, 'FixedIpInUse': exception.Conflict}
KINDS = {
    'invalid': exception.Invalid,
    'forbidden': exception.Forbidden,
    'not_found': exception.NotFound,
    'conflict': exception.Conflict,
    'unavailable': exception.Unavailable,
}


def begin(req, server, *, kind, guard, arguments, **options):
    """Begin a saga about a device; returns its uuid.

    guard: its verb is the name in the record of actions; options: as moves.begin
    Clients ask for several devices at once: each waits for its turn.
    """
    return moves.begin(
        req,
        server,
        kind=kind,
        guard=guard,
        action=guard.verb,
        arguments=arguments,
        hostless=True,
        patience_s=req.conf.api.device_timeout,
        **options,
    )


def wait(req, uuid, is_told):
    """Wait until `is_told(data)` of the saga's data, and return that; raise why it failed.

    What has been told stays so, also where the saga fails after it and has ended before
    this looks: whether that is seen in time must not change the answer. A saga that failed
    before has been undone by then, so that the same may be asked for again.
    """
    deadline = runtime.monotonic() + req.conf.api.device_timeout
    while True:
        row = req.app.api_db.read(sagas.get, uuid)
        if is_told(row.data) or row.state == journal.DONE:
            return row.data
        if row.state == journal.UNDONE:
            raise _refusal(row.error)
        if runtime.monotonic() >= deadline:
            raise exception.MessagingTimeout(
                service='conductor', reason='no reply', method=row.kind, topic='conductor'
            )
        runtime.sleep(LOOK_S)


def is_changing(req, server):
    """Whether a device of the server is being attached or detached."""
    saga = req.app.api_db.read(sagas.find_active, server.uuid)
    return saga is not None and saga.kind in SAGAS


def _refusal(error):
    kind = TYPES.get(error['type']) or KINDS.get(error['kind'], exception.NovaLiteError)
    return kind(error['message'])


def require_shelvable(req, server, guard):
    """Raise for a shelved server before the microversion that allows that."""
    if req.minor < SHELVED_SINCE and server.row.vm_state in SHELVED:
        raise exception.InstanceInvalidState(
            action=guard.verb,
            instance_id=server.uuid,
            attr='vm_state',
            state=server.row.vm_state,
        )
    acting.require_cell(server)
