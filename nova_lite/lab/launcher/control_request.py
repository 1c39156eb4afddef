"""Commands that send one request to the control endpoint of a running cloud."""

import argparse
from collections.abc import Callable
import typing

from nova_lite.lab.console import output
from nova_lite.lab.control import endpoint
from nova_lite.lab.launcher import control_client


class Request(typing.NamedTuple):
    """A request and the function that prints its answer as text.

    name: as in /control/NAME
    arguments: of a POST, where those that are None are not sent; None for a GET
    """

    name: str
    show: Callable[[endpoint.Json], None]
    arguments: endpoint.Json | None = None


def run(
    args: argparse.Namespace, request: Request, *, timeout_s: float = control_client.TIMEOUT_S
) -> None:
    """Send a request and print its answer."""
    client = control_client.Client(args.state_dir, timeout_s=timeout_s)
    if request.arguments is None:
        answer = client.get(request.name)
    else:
        given = {key: value for key, value in request.arguments.items() if value is not None}
        answer = client.post(request.name, **given)
    output.show(answer, request.show, as_json=args.json)
