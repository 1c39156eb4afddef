"""Changes of a port that depend on its attributes, without losing changes of other requests."""

from collections.abc import Callable
import typing

from nova_lite import exception
from nova_lite.clients import items
from nova_lite.clients import session

# Maximum number of tries. Each failure is a concurrent change of the port, which is rare.
ATTEMPTS = 5

# A function of the port that returns the attributes to set, or None for no change.
Change: typing.TypeAlias = Callable[[session.Json], session.Json | None]


class PortChanged(exception.Conflict):
    msg = 'Port %(port_id)s was changed by another request. Send the request again.'


def change(
    service: session.Neighbour,
    ctxt: session.Ctxt,
    port: session.Json,
    values_of: Change,
    **options: typing.Any,
) -> None:
    """Change a port. Compute the change again if another request has changed the port.

    port: as it was read; options: as_user and errors, see Neighbour.call
    Raises PortNotFound, or PortChanged if other requests keep changing the port.
    """
    ports = items.Items(service, '/ports', missing=(exception.PortNotFound, 'port_id'))
    changed = session.raising(PortChanged, port_id=port['id'])
    errors = {412: changed, **options.pop('errors', {})}
    for attempt in range(ATTEMPTS):
        values = values_of(port)
        if values is None:
            return
        revision = port.get('revision_number')
        headers = {} if revision is None else {'If-Match': f'revision_number={revision}'}
        body = {'port': values}
        try:
            ports.call(
                ctxt, 'PUT', port['id'], json=body, headers=headers, errors=errors, **options
            )
            return
        except PortChanged:
            if attempt + 1 == ATTEMPTS:
                raise
        port = ports.call(ctxt, 'GET', port['id']).json()['port']
