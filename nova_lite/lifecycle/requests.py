"""Build requests as records and as messages.

Shared by the build, the burial in cell0, and the cell conductor's audit, which repeats the
message of a build if it was lost.
"""

import datetime
import typing

from nova_lite import context
from nova_lite.db import rows
from nova_lite.objects import block_device
from nova_lite.objects import instance as instance_objects
from nova_lite.objects import selection as selections
from nova_lite.rpc.methods import compute as compute_rpc

TIMES = ('created_at', 'updated_at')


def context_of(request: rows.Row) -> context.RequestContext:
    """Return the context of a build request's user, for work after the request was answered."""
    return context.RequestContext(
        user_id=request.instance['user_id'],
        project_id=request.project_id,
        request_id=request.request_id,
        overwrite=False,
    )


def record_of(request: rows.Row, **more: typing.Any) -> dict[str, typing.Any]:
    """Return {column: value} of the new server's record, updated with `more`."""
    values = dict(request.instance)
    for name in TIMES:
        if values.get(name):
            values[name] = datetime.datetime.fromisoformat(values[name])
    return {**values, **more}


def build_arguments(
    ctxt: context.RequestContext, request: rows.Row, choice: list[selections.Selection]
) -> dict[str, typing.Any]:
    """Return the column `build` of a new server. choice: [selected host, *alternates]"""
    values = ctxt.to_wire()
    values.pop('auth_token')
    return {
        'context': values,
        'image': request.arguments.get('image'),
        'selection': choice[0].as_dict(),
        'alternates': [alternate.as_dict() for alternate in choice[1:]],
        'requested_networks': request.arguments.get('requested_networks'),
        'options': request.arguments.get('options', {}),
    }


def send(
    compute: compute_rpc.ComputeAPI,
    ctxt: context.RequestContext,
    row: rows.Row,
    *,
    devices: list[block_device.BlockDevice],
    selection: selections.Selection,
) -> None:
    """Request the selected host to build a server, with the arguments in its row's `build`."""
    compute.build_instance(
        ctxt,
        host=selection.service_host,
        instance=instance_objects.Instance.from_row(row),
        selection=selection,
        block_devices=devices,
        requested_networks=row.build.get('requested_networks'),
        options=row.build['options'],
    )
