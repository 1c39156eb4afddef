"""Conventions that the services' route tables share."""

from nova_lite.simcloud import resources


def add_crud(app, path, responder, field):
    """The collection at `path`, one member below it (suffix 'one')."""
    app.add_route(path, responder)
    app.add_route(f'{path}/{{{field}}}', responder, suffix='one')


def add_resource(app, db, path, *, field, resource):
    """The routes of a declared noun, with a detailed list where it has a brief one."""
    endpoint = resources.Endpoint(db, resource)
    add_crud(app, path, endpoint, field)
    if resource.brief:
        app.add_route(f'{path}/detail', endpoint, suffix='detail')


class Document:
    """Answers GET with a document: an object, or a function of the request that makes it.

    reserved: what it is to read it, where only administrators may
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
