"""Lists of objects of the network service: ports, networks, security groups and so on."""

from collections.abc import Mapping
import typing

from nova_lite.clients import session

# Servers take addresses of 4 KiB or so.
MOST_IDS = 50


def read(
    service: session.Neighbour,
    ctxt: session.Ctxt,
    kind: str,
    filters: Mapping[str, object],
    **options: typing.Any,
) -> session.Jsons:
    """Return all objects of a kind ('ports', 'networks', …) that match the filters.

    A filter with many ids is sent in several requests.

    options: of each request, see `session.Neighbour.call`
    """
    for name, ids in filters.items():
        if isinstance(ids, list) and len(ids) > MOST_IDS:
            parts = (ids[at : at + MOST_IDS] for at in range(0, len(ids), MOST_IDS))
            return [
                each
                for part in parts
                for each in read(service, ctxt, kind, {**filters, name: part}, **options)
            ]
    body = service.get(ctxt, f'/{kind}', params=filters, **options)
    found: session.Jsons = body[kind.replace('-', '_')]
    return found
