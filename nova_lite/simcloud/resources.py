"""One declaration per noun of the services, and the requests that follow from it.

A Resource has the rules of one noun: schemas and plain functions that read and
change rows. A Style has what all nouns of one service share. Endpoint answers
HTTP by both; a method that the resource has no rule for is answered with 405.

`path` below are the ids in the URL, outermost first: (policy id, rule id).
"""

from collections.abc import Callable
import dataclasses
from typing import Any

import falcon

from nova_lite.simcloud import bodies

LIST, CREATE, SHOW, UPDATE, DELETE = 'listing', 'creating', 'showing', 'changing', 'deleting'
CHANGES = (CREATE, UPDATE, DELETE)
ALL_BUT_SHOW = (LIST, *CHANGES)


def as_it_is(_req, item):
    """Show all of an item."""
    return item


def _unguarded(_req, _table, _path, change):
    return change


def permit_all(_caller, _action, _path):
    """Leave the rights to the functions that read and change rows."""


def admins(title, plural=None, actions=(SHOW, *ALL_BUT_SHOW)):
    """Return a `permit` that reserves `actions` for administrators."""

    def permit(caller, action, _path):
        if action in actions:
            what = plural or f'{title}s' if action == LIST else f'a {title}'
            caller.require_admin(f'{action} {what}')

    return permit


def each(view):
    """Return a `views` that applies view(row) to each row."""
    return lambda _conn, _req, found: [view(row) for row in found]


def each_as_asked(view):
    """Return a `views` that applies view(req, row) to each row."""
    return lambda _conn, req, found: [view(req, row) for row in found]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Style:
    """The conventions of one service.

    collection: (req, plural, items) -> body of a list
    narrowed: (req, item) -> the item as the request wants it
    guarded: (req, table, path, change) -> change with the request's preconditions
    """

    collection: Callable
    narrowed: Callable = as_it_is
    guarded: Callable = _unguarded
    update_method: str = 'put'
    created: str = falcon.HTTP_201
    deleted: str = falcon.HTTP_204


@dataclasses.dataclass(frozen=True, kw_only=True)
class Resource:
    """The rules of one noun.

    listed: (conn, req, *parents) -> rows
    get: (conn, caller, *path) -> row, or raises NotFound
    views: (conn, req, rows) -> items
    create: (conn, caller, *parents, wanted) -> row
    update: (conn, caller, *path, wanted) -> row
    only_updated: row -> what no other answer than the one to an update shows
    delete: (conn, caller, *path) -> the last row where `notify` needs it
    revisions: the table whose revision numbers `guarded` compares, if any
    permit: (caller, action, path) raises Forbidden before the body is read
    prepare: wanted -> values made outside of the transaction, such as a hash
    notify: (db, caller, action, row) after a change, before the answer
    before_list: (db, req) makes what a list must show
    """

    name: str
    plural: str
    style: Style
    listed: Callable
    get: Callable
    views: Callable
    create: Callable | None = None
    create_body: Any = None
    update: Callable | None = None
    update_body: Any = None
    only_updated: Callable | None = None
    delete: Callable | None = None
    revisions: Any = None
    permit: Callable = permit_all
    prepare: Callable = dict
    notify: Callable | None = None
    before_list: Callable | None = None


class Endpoint:
    """Answers the requests for one Resource; see routing.add_crud."""

    def __init__(self, db, resource):
        self._db = db
        self._resource = resource
        # Falcon looks for the methods of a route by name.
        if resource.create:
            self.on_post = self._create
        if resource.update:
            setattr(self, f'on_{resource.style.update_method}_one', self._update)
        if resource.delete:
            self.on_delete_one = self._delete

    def on_get(self, req, resp, **path):
        resource = self._resource
        resource.permit(req.context.caller, LIST, path)
        if resource.before_list:
            resource.before_list(self._db, req)
        with self._db.read() as conn:
            found = resource.listed(conn, req, *path.values())
            items = resource.views(conn, req, found)
        resp.media = resource.style.collection(req, resource.plural, items)

    def _shown(self, conn, req, row):
        (item,) = self._resource.views(conn, req, [row])
        return {self._resource.name: self._resource.style.narrowed(req, item)}

    def on_get_one(self, req, resp, **path):
        caller = req.context.caller
        self._resource.permit(caller, SHOW, path)
        with self._db.read() as conn:
            row = self._resource.get(conn, caller, *path.values())
            resp.media = self._shown(conn, req, row)

    def _write(self, req, resp, path, *, action, body, function):
        """Run `function` with the checked body and answer with the row that it returns."""
        resource, caller = self._resource, req.context.caller
        resource.permit(caller, action, path)
        wanted = resource.prepare(bodies.read(req, body, resource.name))
        if action == UPDATE:
            function = resource.style.guarded(req, resource.revisions, path, function)
        row = self._db.change(function, caller, *path.values(), wanted=wanted)
        self._notified(caller, action, row)
        with self._db.read() as conn:
            resp.media = self._shown(conn, req, row)
        if action == UPDATE and resource.only_updated:
            resp.media[resource.name].update(resource.only_updated(row))

    def _notified(self, caller, action, row):
        if self._resource.notify:
            self._resource.notify(self._db, caller, action, row)

    def _create(self, req, resp, **path):
        create, body = self._resource.create, self._resource.create_body
        self._write(req, resp, path, action=CREATE, body=body, function=create)
        resp.status = self._resource.style.created

    def _update(self, req, resp, **path):
        update, body = self._resource.update, self._resource.update_body
        self._write(req, resp, path, action=UPDATE, body=body, function=update)

    def _delete(self, req, resp, **path):
        resource, caller = self._resource, req.context.caller
        resource.permit(caller, DELETE, path)
        change = resource.style.guarded(req, resource.revisions, path, resource.delete)
        self._notified(caller, DELETE, self._db.change(change, caller, *path.values()))
        resp.status = resource.style.deleted
