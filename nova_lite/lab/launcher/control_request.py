"""Commands that send one request to the control endpoint of a running cloud."""

import typing

from nova_lite.lab.console import output
from nova_lite.lab.launcher import control_client


class Request(typing.NamedTuple):
    """A request and how to print its answer.

    name: of the request; show: prints an answer as text; arguments: None to only read.
    Arguments that are None are not sent.
    """

    name: str
    show: typing.Callable
    arguments: dict | None = None


def run(args, request, *, timeout_s=control_client.TIMEOUT_S):
    """Send a request and print its answer."""
    client = control_client.Client(args.state_dir, timeout_s=timeout_s)
    if request.arguments is None:
        answer = client.get(request.name)
    else:
        given = {key: value for key, value in request.arguments.items() if value is not None}
        answer = client.post(request.name, **given)
    output.show(answer, request.show, as_json=args.json)
