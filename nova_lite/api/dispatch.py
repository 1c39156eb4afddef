"""Dispatch: the order in which requests are checked and handled.

version, route, schema, server, policy, precheck, lock, state, handler, view. It is nova's
order as a rule, so that the same wrong request gets the same code.
"""

from collections.abc import Iterable
from collections.abc import Sequence
import functools
import json
import re
import typing

import falcon

from nova_lite import context
from nova_lite import exception
from nova_lite.api import faults
from nova_lite.api import microversion
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import server_access

WITH_BODY = ('POST', 'PUT', 'PATCH')
# Nova's routes know no other ids of projects in paths.
PROJECT = re.compile('[0-9a-f-]+')

Operations: typing.TypeAlias = Sequence[operation.Operation]


class Endpoint:
    """All operations of one path: a falcon resource, of the application in the context.

    by_method: {HTTP method: operations}
    """

    def __init__(self, operations: Iterable[operation.Operation]) -> None:
        self.by_method: dict[str, list[operation.Operation]] = {}
        for each in operations:
            self.by_method.setdefault(each.method, []).append(each)
        for method in self.by_method:
            setattr(self, f'on_{method.lower()}', self.respond)

    def inherit(self, other: 'Endpoint', **args: str) -> None:
        """Take over the methods of another endpoint that this one lacks.

        args: the parts of the path which the operations of the other endpoint expect
        """
        for method in other.by_method.keys() - self.by_method.keys():
            setattr(self, f'on_{method.lower()}', functools.partial(other.respond, **args))

    def respond(self, http: falcon.Request, response: falcon.Response, /, **args: str) -> None:
        """Check a request, call the handler of its operation and set the response."""
        context = http.context
        req = request.Request(
            http, context.app, context.ctxt, context.version, legacy=context.legacy
        )
        if any('\x00' in value for value in args.values()):
            raise faults.NoSuchUrl()  # the character NUL, which no database stores in a text
        project_id = args.pop('project_id', None)
        req.args = args
        candidates = self.by_method[http.method]
        if http.method in WITH_BODY:
            req.body = request.read_body(http, req.app.conf.api.max_request_body_size)
        req.operation = _choose(candidates, req)
        context.operation = req.operation
        if project_id is not None:
            require_project(req.ctxt, project_id)
        _check_schemas(req, http)
        try:
            result = _run(req)
        finally:
            req.app.waiters.leave(req)
        _answer(response, req, result)


def require_project(ctxt: context.RequestContext, project_id: str) -> None:
    """Raise MalformedUrl or NoSuchUrl unless a URL has the project of its caller."""
    if project_id == ctxt.project_id:
        return
    if not PROJECT.fullmatch(project_id):
        raise faults.NoSuchUrl()
    raise faults.MalformedUrl(
        reason=f"URL's project_id '{project_id}' doesn't match Context's project_id "
        f"'{ctxt.project_id}'"
    )


def _choose(candidates: Operations, req: request.Request) -> operation.Operation:
    """Return the requested operation of a path and a method. Raise NotFound or Invalid."""
    if candidates[0].action is not None:
        candidates = _of_action(candidates, req.body)
    for each in candidates:
        if each.offered(req.version):
            return each
    raise faults.NotOffered(version=req.version)


def _of_action(candidates: Operations, body: object) -> Operations:
    if not isinstance(body, dict) or len(body) != 1:
        raise faults.MalformedBody(
            reason='it must be an object with one key, the name of the action'
        )
    action = next(iter(body))
    found = [each for each in candidates if each.action == action]
    if not found:
        raise faults.NoSuchAction(action=action[:255])
    return found


def _check_schemas(req: request.Request, http: falcon.Request) -> None:
    chosen = req.operation
    if chosen.body is not None:
        compiled = chosen.body.at(req.version)
        if compiled is not None:
            compiled.check(req.body, relaxed=req.legacy)
    params = request.decode_query(http)
    compiled = chosen.query.at(req.version)
    req.params = params if compiled is None else compiled.take(params)


def _run(req: request.Request) -> operation.Result:
    """Load the server, check policy, arguments, lock and state, and call the handler."""
    chosen: operation.Operation = req.operation
    server = None
    if chosen.load:
        server = server_access.load(
            req, req.args.pop('server_id'), deleted=chosen.load == 'deleted'
        )
    if chosen.policy is not None:
        rule = chosen.policy(req) if callable(chosen.policy) else chosen.policy
        req.authorize(rule, server.target if server else None)
    if server is None:
        return chosen.handler(req)
    if chosen.precheck is not None:
        chosen.precheck(req, server)
    if chosen.lock:
        server_access.require_unlocked(req, server)
    if chosen.guard is not None:
        guard = chosen.guard(req) if callable(chosen.guard) else chosen.guard
        server_access.require_state(server, guard)
    return chosen.handler(req, server)


def _answer(response: falcon.Response, req: request.Request, result: operation.Result) -> None:
    chosen = req.operation
    status = chosen.success
    if isinstance(result, operation.Answer):
        status = result.status or status
        for name, value in result.headers.items():
            response.set_header(name, value)
        result = result.body
    if chosen.view is not None:
        result = chosen.view(req, result)
    response.status = status
    if result is None:
        response.content_type = None
        response.data = b''
    else:
        response.content_type = falcon.MEDIA_JSON
        response.data = json.dumps(result, separators=(', ', ': ')).encode()


def version_headers(response: falcon.Response, version: microversion.Version) -> None:
    """Set the headers that name the microversion of a response."""
    response.set_header(microversion.HEADER, f'{microversion.SERVICE} {version}')
    response.set_header(microversion.LEGACY_HEADER, str(version))
    response.append_header('Vary', microversion.HEADER)
    response.append_header('Vary', microversion.LEGACY_HEADER)


def undeclared(chosen: operation.Operation | None, error: Exception, code: int) -> bool:
    """Return whether an operation does not declare the error code."""
    if chosen is None or code in faults.UNDECLARED or code in chosen.faults:
        return False
    return not (
        code == 404
        and isinstance(error, faults.NotOffered)
        or code == 400
        and isinstance(error, exception.Invalid)
    )
