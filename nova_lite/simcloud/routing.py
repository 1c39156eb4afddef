"""Shared parts of the services' route tables, and the router that looks them up."""

import functools

from falcon import routing

from nova_lite.simcloud import resources


class Router:
    """A router of falcon for an application that is made many times in a process.

    All applications with the same URI templates share one compiled search. Which HTTP
    methods a resource has is found out when the first request comes for it.
    """

    def __init__(self):
        self._resources = {}
        self._routes = {}
        self._search = None

    def add_route(self, uri_template, resource, *, suffix=None, **_options):
        """Add a route, or replace the one with this URI template."""
        self._resources[uri_template] = (resource, suffix)
        self._routes.pop(uri_template, None)
        self._search = None

    def find(self, uri, req=None):
        """Return (resource, {HTTP method: responder}, fields of the path, URI template).

        None if there is no such route.
        """
        if self._search is None:
            self._search = _search(tuple(self._resources))
        found = self._search.find(uri, req)
        if found is None:
            return None
        _resource, _methods, fields, uri_template = found
        return *self._route(uri_template), fields, uri_template

    def methods(self):
        """Return {URI template: the HTTP methods that its resource has}."""
        return {
            template: sorted(routing.map_http_methods(resource, suffix=suffix))
            for template, (resource, suffix) in self._resources.items()
        }

    def _route(self, uri_template):
        route = self._routes.get(uri_template)
        if route is None:
            resource, suffix = self._resources[uri_template]
            methods = routing.map_http_methods(resource, suffix=suffix)
            routing.set_default_responders(methods)
            route = self._routes[uri_template] = (resource, methods)
        return route


@functools.cache
def _search(uri_templates):
    """Return a router with these URI templates, whose resources answer nothing."""
    router = routing.CompiledRouter()
    for each in uri_templates:
        router.add_route(each, object())
    return router


def add_crud(app, path, responder, field):
    """Add the routes of a collection at `path` and its members (responders with suffix 'one')."""
    app.add_route(path, responder)
    app.add_route(f'{path}/{{{field}}}', responder, suffix='one')


def add_resource(app, db, path, *, field, resource):
    """Add the routes of a Resource, with a detailed list if it has a brief one."""
    endpoint = resources.Endpoint(db, resource)
    add_crud(app, path, endpoint, field)
    if resource.brief:
        app.add_route(f'{path}/detail', endpoint, suffix='detail')


class Document:
    """Answers GET with a document: an object, or a function of the request that makes it.

    reserved: name of the document in the message for users who are not administrators
    """

    def __init__(self, document, *, status=200, reserved=None):
        self._document = document
        self._status = status
        self._reserved = reserved

    def on_get(self, req, resp):
        if self._reserved:
            req.context.caller.require_admin(self._reserved)
        resp.status = self._status
        document = self._document
        resp.media = document(req) if callable(document) else document
