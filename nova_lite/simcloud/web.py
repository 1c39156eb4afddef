"""The request that the services answer, with the context that the middleware gives it."""

import falcon
from falcon.util import structures

from nova_lite.simcloud import caller as callers


class Context(structures.Context):
    """The caller of a request, and the facts that follow from its address and headers.

    service: first part of the path, such as 'volume'
    public_url: scheme, host and port for links
    minor: minor microversion that the request asks for, in services that have microversions
    count: total number of rows of a list, if the request asks for the number
    """

    request_id: str
    service: str
    public_url: str
    caller: callers.Caller
    minor: int
    count: int | None


class Request(falcon.Request):
    """A request whose context is a Context."""

    context: Context
    context_type = Context
