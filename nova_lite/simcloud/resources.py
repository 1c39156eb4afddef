"""Declarations of the services' nouns, and the requests that follow from them.

A Resource has the rules of one noun: schemas and plain functions that read and change rows. A
Style has what all nouns of one service share. Endpoint answers HTTP requests by both; a method
for which the resource has no rule gets 405.

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
    """Return the item unchanged."""
    return item


def _as_sent(value, _schema):
    return value


def _unguarded(_req, _table, _path, change):
    return change


def _as_read(_req, wanted):
    return wanted


def _no_options(_req):
    return {}


def permit_all(_caller, _action, _path):
    """Permit the action: functions that read and change rows check rights."""


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
    converted: (body, schema) -> the body with values of the types of the schema
    wrapped: requests and answers have an item under the name of its noun
    only_writers: readers may change nothing
    bulk: one request may create several items, all or none, under the name of a list
    """

    collection: Callable
    narrowed: Callable = as_it_is
    guarded: Callable = _unguarded
    converted: Callable = _as_sent
    wrapped: bool = True
    only_writers: bool = False
    bulk: bool = False
    update_method: str = 'put'
    created: str = falcon.HTTP_201
    deleted: str = falcon.HTTP_204


@dataclasses.dataclass(frozen=True, kw_only=True)
class Resource:
    """The rules of one noun.

    plural: the key of a list; without it `name` with an s
    listed: (conn, req, *parents) -> rows
    get: (conn, caller, *path) -> row, or raises NotFound
    views: (conn, req, rows) -> items
    brief: `views` of a list that has a detailed form beside it
    shown: `views` of the answer to a request for one item, if it differs
    changed: `views` of the answers to a creation and an update, if they differ
    create: ((conn, caller, *parents, wanted) -> row, validator of the body)
    update: ((conn, caller, *path, wanted) -> row, validator of the body)
    only_updated: row -> what no other answer than the one to an update shows
    delete: (conn, caller, *path, **options) -> the last row where `notify` needs it
    options: req -> keyword arguments of `delete`
    revisions: the table whose revision numbers `guarded` compares, if any
    permit: (caller, action, path) raises Forbidden before the body is read
    read: (req, validator, key) -> what the body holds, instead of an item under its name
    prepare: (req, wanted) -> values made outside of the transaction, such as a hash
    location: (req, row) -> URL of what was created, for the header
    notify: (db, caller, action, row) after a change, before the answer
    before_list: (db, req) makes what a list must show
    """

    name: str
    plural: str = ''
    style: Style
    listed: Callable
    get: Callable
    views: Callable
    brief: Callable | None = None
    shown: Callable | None = None
    changed: Callable | None = None
    create: tuple[Callable, Any] | None = None
    update: tuple[Callable, Any] | None = None
    only_updated: Callable | None = None
    delete: Callable | None = None
    options: Callable = _no_options
    revisions: Any = None
    permit: Callable = permit_all
    read: Callable | None = None
    prepare: Callable = _as_read
    location: Callable | None = None
    notify: Callable | None = None
    before_list: Callable | None = None

    @property
    def list_key(self):
        """Return the key of a list of the items."""
        return self.plural or f'{self.name}s'

    def collection(self, conn, req, rows, views=None):
        """Return the body of a list of these rows."""
        items = (views or self.views)(conn, req, rows)
        return self.style.collection(req, self.list_key, items)


class Endpoint:
    """Answers the requests for one Resource, see routing.add_resource."""

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
        self._list(req, resp, path, self._resource.brief or self._resource.views)

    def on_get_detail(self, req, resp, **path):
        self._list(req, resp, path, self._resource.views)

    def _list(self, req, resp, path, views):
        resource = self._resource
        resource.permit(req.context.caller, LIST, path)
        if resource.before_list:
            resource.before_list(self._db, req)
        with self._db.read() as conn:
            rows = resource.listed(conn, req, *path.values())
            resp.media = resource.collection(conn, req, rows, views)

    def _shown(self, conn, req, row, views=None):
        (item,) = (views or self._resource.views)(conn, req, [row])
        return self._resource.style.narrowed(req, item)

    def _answer(self, resp, item):
        resp.media = {self._resource.name: item} if self._resource.style.wrapped else item

    def on_get_one(self, req, resp, **path):
        caller = req.context.caller
        self._resource.permit(caller, SHOW, path)
        with self._db.read() as conn:
            row = self._resource.get(conn, caller, *path.values())
            self._answer(resp, self._shown(conn, req, row, self._resource.shown))

    def _changed(self, req, path, action, function, **kwargs):
        """Run `function` as one change, and return the row that it returns."""
        resource, caller = self._resource, req.context.caller
        if resource.style.only_writers:
            caller.require_writer()
        row = self._db.change(function, caller, *path.values(), **kwargs)
        if resource.notify:
            resource.notify(self._db, caller, action, row)
        return row

    def _wanted(self, req, path, action, validator):
        """Return the values of the body that the caller may set."""
        resource = self._resource
        resource.permit(req.context.caller, action, path)
        key = resource.name if resource.style.wrapped else None
        if resource.read:
            return resource.prepare(req, resource.read(req, validator, key))
        body = self._checked(bodies.parsed(req), validator)
        return resource.prepare(req, body[key] if key else body)

    def _checked(self, body, validator):
        body = self._resource.style.converted(body, validator.schema)
        bodies.check(body, validator)
        return body

    def _guarded(self, req, path, change):
        return self._resource.style.guarded(req, self._resource.revisions, path, change)

    def _one_or_several(self, req, path):
        """Return the values of the item to create, or a list of several."""
        resource = self._resource
        _function, validator = resource.create
        if not resource.style.bulk:
            return self._wanted(req, path, CREATE, validator)
        resource.permit(req.context.caller, CREATE, path)
        body, key = bodies.parsed(req), resource.list_key
        if not isinstance(body, dict) or not isinstance(body.get(key), list) or len(body) != 1:
            return resource.prepare(req, self._checked(body, validator)[resource.name])
        items = [self._checked({resource.name: item}, validator) for item in body[key]]
        return [resource.prepare(req, item[resource.name]) for item in items]

    def _create_several(self, req, resp, path, several):
        resource, caller = self._resource, req.context.caller
        function, _validator = resource.create
        if resource.style.only_writers:
            caller.require_writer()

        def every(conn):
            return [function(conn, caller, *path.values(), wanted=one) for one in several]

        rows = self._db.change(every)
        for row in rows if resource.notify else ():
            resource.notify(self._db, caller, CREATE, row)
        with self._db.read() as conn:
            items = resource.views(conn, req, rows)
        resp.media = {resource.list_key: items}
        resp.status = resource.style.created

    def _create(self, req, resp, **path):
        resource = self._resource
        function, _validator = resource.create
        wanted = self._one_or_several(req, path)
        if isinstance(wanted, list):
            self._create_several(req, resp, path, wanted)
            return
        row = self._changed(req, path, CREATE, function, wanted=wanted)
        with self._db.read() as conn:
            self._answer(resp, self._shown(conn, req, row, resource.changed))
        resp.status = resource.style.created
        if resource.location:
            resp.location = resource.location(req, row)

    def _update(self, req, resp, **path):
        resource = self._resource
        function, validator = resource.update
        wanted = self._wanted(req, path, UPDATE, validator)
        function = self._guarded(req, path, function)
        row = self._changed(req, path, UPDATE, function, wanted=wanted)
        with self._db.read() as conn:
            item = self._shown(conn, req, row, resource.changed)
        more = resource.only_updated(row) if resource.only_updated else {}
        self._answer(resp, item | more)

    def _delete(self, req, resp, **path):
        resource = self._resource
        resource.permit(req.context.caller, DELETE, path)
        function = self._guarded(req, path, resource.delete)
        self._changed(req, path, DELETE, function, **resource.options(req))
        resp.status = resource.style.deleted
