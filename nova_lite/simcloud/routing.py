"""Shared parts of the services' route tables."""

from nova_lite.simcloud import resources


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
