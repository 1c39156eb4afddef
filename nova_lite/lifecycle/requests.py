"""Build requests as records and as messages.

Shared by the build, the burial in cell0, and the cell conductor's audit, which repeats the
message of a build if it was lost.
"""

from collections.abc import Sequence
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


class Order(typing.NamedTuple):
    """A recorded server that the selected host is to build."""

    ctxt: context.RequestContext
    row: rows.Row
    devices: list[block_device.BlockDevice]
    selection: selections.Selection

    def arguments(self) -> dict[str, typing.Any]:
        """Return arguments of ComputeAPI.build_instance, with those in the row's `build`."""
        return {
            'instance': instance_objects.Instance.from_row(self.row),
            'selection': self.selection,
            'block_devices': self.devices,
            'requested_networks': self.row.build.get('requested_networks'),
            'options': self.row.build['options'],
        }


def send(compute: compute_rpc.ComputeAPI, orders: Sequence[Order]) -> None:
    """Request the selected hosts to build servers: one message for each host."""
    of_host: dict[str, list[Order]] = {}
    for each in orders:
        of_host.setdefault(each.selection.service_host, []).append(each)
    for host, found in of_host.items():
        first = found[0]
        if len(found) == 1:
            compute.build_instance(first.ctxt, host=host, **first.arguments())
            continue
        builds = [{'context': each.ctxt.to_wire(), **each.arguments()} for each in found]
        compute.build_instances(first.ctxt, host=host, builds=builds)
