"""Shared parts of the services' route tables, and the router that looks them up."""

from collections.abc import Callable
from collections.abc import Mapping
import functools
import typing

import falcon
from falcon import routing

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import resources
from nova_lite.simcloud import web

# In quotes: the class of falcon 4.1.0 takes no types.
App: typing.TypeAlias = 'falcon.App[web.Request, falcon.Response]'
# {HTTP method: responder}
Methods: typing.TypeAlias = Mapping[str, object]


class Router:
    """A router of falcon for an application that is made many times in a process.

    All applications with the same URI templates share one compiled search. The HTTP methods of
    a resource are looked up at the first request for it.
    """

    def __init__(self) -> None:
        self._resources: dict[str, tuple[object, str | None]] = {}
        self._routes: dict[str, tuple[object, Methods]] = {}
        self._search: routing.CompiledRouter | None = None

    def add_route(
        self, uri_template: str, resource: object, *, suffix: str | None = None, **_options: object
    ) -> None:
        """Add a route, or replace the one with this URI template."""
        self._resources[uri_template] = (resource, suffix)
        self._routes.pop(uri_template, None)
        self._search = None

    def find(
        self, uri: str, req: falcon.Request | None = None
    ) -> tuple[object, Methods, dict[str, typing.Any], str | None] | None:
        """Return (resource, {HTTP method: responder}, fields of the path, URI template).

        Return None if there is no route for the URI.
        """
        if self._search is None:
            self._search = _search(tuple(self._resources))
        found = self._search.find(uri, req)
        if found is None:
            return None
        _resource, _methods, fields, uri_template = found
        return *self._route(uri_template or uri), fields, uri_template

    def methods(self) -> dict[str, list[str]]:
        """Return {URI template: the HTTP methods that its resource has}."""
        return {
            template: sorted(routing.map_http_methods(resource, suffix=suffix))
            for template, (resource, suffix) in self._resources.items()
        }

    def _route(self, uri_template: str) -> tuple[object, Methods]:
        route = self._routes.get(uri_template)
        if route is None:
            resource, suffix = self._resources[uri_template]
            methods = routing.map_http_methods(resource, suffix=suffix)
            routing.set_default_responders(methods)
            route = self._routes[uri_template] = (resource, methods)
        return route


@functools.cache
def _search(uri_templates: tuple[str, ...]) -> routing.CompiledRouter:
    """Return a router that finds these URI templates. Its resources have no responders."""
    router = routing.CompiledRouter()
    for each in uri_templates:
        router.add_route(each, object())
    return router


def add_crud(app: App, path: str, responder: object, field: str) -> None:
    """Add the routes of a collection at `path` and its members (responders with suffix 'one')."""
    app.add_route(path, responder)
    app.add_route(f'{path}/{{{field}}}', responder, suffix='one')


def add_resource(
    app: App, db: database.Database, path: str, *, field: str, resource: resources.Resource
) -> None:
    """Add the routes of a Resource, with a detailed list if it has a brief one."""
    endpoint = resources.Endpoint(db, resource)
    add_crud(app, path, endpoint, field)
    if resource.brief:
        app.add_route(f'{path}/detail', endpoint, suffix='detail')


class Document:
    """Answers GET with a document: an object, or a function that makes it from the request.

    reserved: name of the document in the message for users who are not administrators
    """

    def __init__(
        self,
        document: bodies.Json | Callable[[web.Request], bodies.Json],
        *,
        status: int = 200,
        reserved: str | None = None,
    ) -> None:
        self._document = document
        self._status = status
        self._reserved = reserved

    def on_get(self, req: web.Request, resp: falcon.Response) -> None:
        if self._reserved:
            req.context.caller.require_admin(self._reserved)
        resp.status = self._status
        document = self._document
        resp.media = document(req) if callable(document) else document
