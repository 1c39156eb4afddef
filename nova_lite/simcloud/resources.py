"""Declarations of the services' resources, and the requests that follow from them.

A Resource has the rules of one noun of an API: schemas, and plain functions that read and change
rows. A Style has the conventions of all nouns of one service. An Endpoint answers HTTP requests
by both. A method for which the resource has no rule is answered with 405.

`path` is the ids in the URL, outermost first: (policy id, rule id).
"""

from collections.abc import Callable
from collections.abc import Collection
import dataclasses
import functools
import typing

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import web

# The ids in the URL by the names that the route gives them.
Path: typing.TypeAlias = dict[str, str]
Get: typing.TypeAlias = Callable[..., database.Row]
# Of a collection at the top, where the path to the member is only its id.
GetById: typing.TypeAlias = Callable[[sa.Connection, callers.Caller, str], database.Row]
Listed: typing.TypeAlias = Callable[..., list[database.Row]]
# A function that changes rows in a transaction: (connection, caller, *ids, ...) -> row
Change: typing.TypeAlias = Callable[..., typing.Any]
Permit: typing.TypeAlias = Callable[[callers.Caller, str, Path], None]
View: typing.TypeAlias = Callable[[web.Request, database.Row], bodies.Json]
Views: typing.TypeAlias = Callable[
    [sa.Connection, web.Request, list[database.Row]], list[bodies.Json]
]
Notify: typing.TypeAlias = Callable[[database.Database, callers.Caller, str, database.Row], None]

LIST, CREATE, SHOW, UPDATE, DELETE = 'listing', 'creating', 'showing', 'changing', 'deleting'
CHANGES = (CREATE, UPDATE, DELETE)
ALL_BUT_SHOW = (LIST, *CHANGES)


def as_it_is(_req: web.Request, item: bodies.Json) -> bodies.Json:
    """Return `item` unchanged."""
    return item


def _as_sent(value: typing.Any, _schema: bodies.Schema) -> typing.Any:
    return value


def _unguarded(_req: web.Request, _table: sa.Table | None, _path: Path, change: Change) -> Change:
    return change


def _as_read(_req: web.Request, wanted: typing.Any) -> typing.Any:
    return wanted


def _no_options(_req: web.Request) -> bodies.Json:
    return {}


def permit_all(_caller: callers.Caller, _action: str, _path: Path) -> None:
    """Permit every action. The functions that read and change rows check the rights."""


def admins(
    title: str, plural: str | None = None, actions: Collection[str] = (SHOW, *ALL_BUT_SHOW)
) -> Permit:
    """Return a `permit` of a Resource that reserves `actions` for administrators."""

    def permit(caller: callers.Caller, action: str, _path: Path) -> None:
        if action in actions:
            what = plural or f'{title}s' if action == LIST else f'a {title}'
            caller.require_admin(f'{action} {what}')

    return permit


def each(view: Callable[[database.Row], bodies.Json]) -> Views:
    """Return `views` of a Resource that apply view(row) to each row."""
    return lambda _conn, _req, found: [view(row) for row in found]


def each_as_asked(view: View) -> Views:
    """Return `views` of a Resource that apply view(req, row) to each row."""
    return lambda _conn, req, found: [view(req, row) for row in found]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Style:
    """The conventions of one service.

    collection: (req, plural, items) -> body of a list
    narrowed: (req, item) -> the item with only the fields that the request asks for
    guarded: (req, table, path, change) -> `change` with the preconditions of the request
    converted: (body, schema) -> the body with its values converted to the types of the schema
    wrapped: whether requests and answers hold an item under the name of its noun
    only_writers: whether users with only the role `reader` may change nothing
    bulk: whether one request may create several items, all or none, under the plural of the noun
    """

    collection: Callable[[web.Request, str, list[bodies.Json]], bodies.Json]
    narrowed: Callable[[web.Request, bodies.Json], bodies.Json] = as_it_is
    guarded: Callable[[web.Request, sa.Table | None, Path, Change], Change] = _unguarded
    converted: Callable[[typing.Any, bodies.Schema], typing.Any] = _as_sent
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
    only_updated: row -> fields that only the answer to an update shows
    delete: (conn, caller, *path, **options) -> the deleted row, if there is a `notify`
    options: req -> keyword arguments of `delete`
    revisions: the table whose revision numbers `guarded` compares, if any
    permit: (caller, action, path): raises Forbidden before the body is read
    read: (req, validator, key) -> contents of the body, if that is no item under its name
    prepare: (req, wanted) -> values computed outside of the transaction, such as a hash
    location: (req, row) -> URL of the created item, for the header
    notify: (db, caller, action, row): called after a change, before the answer
    before_list: (db, req): creates rows that the list must show
    """

    name: str
    plural: str = ''
    style: Style
    listed: Listed
    get: Get
    views: Views
    brief: Views | None = None
    shown: Views | None = None
    changed: Views | None = None
    create: tuple[Change, bodies.Validator] | None = None
    update: tuple[Change, bodies.Validator] | None = None
    only_updated: Callable[[database.Row], bodies.Json] | None = None
    delete: Change | None = None
    options: Callable[[web.Request], bodies.Json] = _no_options
    revisions: sa.Table | None = None
    permit: Permit = permit_all
    read: Callable[[web.Request, bodies.Validator, str | None], typing.Any] | None = None
    prepare: Callable[[web.Request, typing.Any], typing.Any] = _as_read
    location: Callable[[web.Request, database.Row], str] | None = None
    notify: Notify | None = None
    before_list: Callable[[database.Database, web.Request], object] | None = None

    @property
    def list_key(self) -> str:
        """Return the key of a list of the items."""
        return self.plural or f'{self.name}s'

    def collection(
        self,
        conn: sa.Connection,
        req: web.Request,
        rows: list[database.Row],
        views: Views | None = None,
    ) -> bodies.Json:
        """Return the body of a list of `rows`."""
        items = (views or self.views)(conn, req, rows)
        return self.style.collection(req, self.list_key, items)


class Endpoint:
    """Answers the HTTP requests for one Resource. routing.add_resource adds its routes."""

    def __init__(self, db: database.Database, resource: Resource) -> None:
        self._db = db
        self._resource = resource
        # Falcon looks for the methods of a route by name.
        if resource.create:
            self.on_post = functools.partial(self._create, *resource.create)
        if resource.update:
            update = functools.partial(self._update, *resource.update)
            setattr(self, f'on_{resource.style.update_method}_one', update)
        if resource.delete:
            self.on_delete_one = functools.partial(self._delete, resource.delete)

    def on_get(self, req: web.Request, resp: falcon.Response, **path: str) -> None:
        self._list(req, resp, path, self._resource.brief or self._resource.views)

    def on_get_detail(self, req: web.Request, resp: falcon.Response, **path: str) -> None:
        self._list(req, resp, path, self._resource.views)

    def _list(self, req: web.Request, resp: falcon.Response, path: Path, views: Views) -> None:
        resource = self._resource
        resource.permit(req.context.caller, LIST, path)
        if resource.before_list:
            resource.before_list(self._db, req)
        with self._db.read() as conn:
            rows = resource.listed(conn, req, *path.values())
            resp.media = resource.collection(conn, req, rows, views)

    def _shown(
        self,
        conn: sa.Connection,
        req: web.Request,
        row: database.Row,
        views: Views | None = None,
    ) -> bodies.Json:
        (item,) = (views or self._resource.views)(conn, req, [row])
        return self._resource.style.narrowed(req, item)

    def _answer(self, resp: falcon.Response, item: bodies.Json) -> None:
        resp.media = {self._resource.name: item} if self._resource.style.wrapped else item

    def on_get_one(self, req: web.Request, resp: falcon.Response, **path: str) -> None:
        caller = req.context.caller
        self._resource.permit(caller, SHOW, path)
        with self._db.read() as conn:
            row = self._resource.get(conn, caller, *path.values())
            self._answer(resp, self._shown(conn, req, row, self._resource.shown))

    def _changed(
        self,
        req: web.Request,
        path: Path,
        action: str,
        function: Change,
        **kwargs: typing.Any,
    ) -> typing.Any:
        """Run `function` as one change. Return the row that `function` returns."""
        resource, caller = self._resource, req.context.caller
        if resource.style.only_writers:
            caller.require_writer()
        row = self._db.change(function, caller, *path.values(), **kwargs)
        if resource.notify:
            resource.notify(self._db, caller, action, row)
        return row

    def _wanted(
        self, req: web.Request, path: Path, action: str, validator: bodies.Validator
    ) -> typing.Any:
        """Return the checked values of the body. Raise Forbidden or BadRequest."""
        resource = self._resource
        resource.permit(req.context.caller, action, path)
        key = resource.name if resource.style.wrapped else None
        if resource.read:
            return resource.prepare(req, resource.read(req, validator, key))
        body = self._checked(bodies.parsed(req), validator)
        return resource.prepare(req, body[key] if key else body)

    def _checked(self, body: typing.Any, validator: bodies.Validator) -> typing.Any:
        body = self._resource.style.converted(body, validator.schema)
        bodies.check(body, validator)
        return body

    def _guarded(self, req: web.Request, path: Path, change: Change) -> Change:
        return self._resource.style.guarded(req, self._resource.revisions, path, change)

    def _one_or_several(
        self, req: web.Request, path: Path, validator: bodies.Validator
    ) -> typing.Any:
        """Return the values of the item to create, or a list of several."""
        resource = self._resource
        if not resource.style.bulk:
            return self._wanted(req, path, CREATE, validator)
        resource.permit(req.context.caller, CREATE, path)
        body, key = bodies.parsed(req), resource.list_key
        if not isinstance(body, dict) or not isinstance(body.get(key), list) or len(body) != 1:
            return resource.prepare(req, self._checked(body, validator)[resource.name])
        items = [self._checked({resource.name: item}, validator) for item in body[key]]
        return [resource.prepare(req, item[resource.name]) for item in items]

    def _create_several(
        self,
        function: Change,
        several: list[typing.Any],
        req: web.Request,
        resp: falcon.Response,
        path: Path,
    ) -> None:
        resource, caller = self._resource, req.context.caller
        if resource.style.only_writers:
            caller.require_writer()

        def every(conn: sa.Connection) -> list[database.Row]:
            return [function(conn, caller, *path.values(), wanted=one) for one in several]

        rows = self._db.change(every)
        if resource.notify:
            for row in rows:
                resource.notify(self._db, caller, CREATE, row)
        with self._db.read() as conn:
            items = resource.views(conn, req, rows)
        resp.media = {resource.list_key: items}
        resp.status = resource.style.created

    def _create(
        self,
        function: Change,
        validator: bodies.Validator,
        req: web.Request,
        resp: falcon.Response,
        **path: str,
    ) -> None:
        resource = self._resource
        wanted = self._one_or_several(req, path, validator)
        if isinstance(wanted, list):
            self._create_several(function, wanted, req, resp, path)
            return
        row = self._changed(req, path, CREATE, function, wanted=wanted)
        with self._db.read() as conn:
            self._answer(resp, self._shown(conn, req, row, resource.changed))
        resp.status = resource.style.created
        if resource.location:
            resp.location = resource.location(req, row)

    def _update(
        self,
        function: Change,
        validator: bodies.Validator,
        req: web.Request,
        resp: falcon.Response,
        **path: str,
    ) -> None:
        resource = self._resource
        wanted = self._wanted(req, path, UPDATE, validator)
        guarded = self._guarded(req, path, function)
        row = self._changed(req, path, UPDATE, guarded, wanted=wanted)
        with self._db.read() as conn:
            item = self._shown(conn, req, row, resource.changed)
        more = resource.only_updated(row) if resource.only_updated else {}
        self._answer(resp, item | more)

    def _delete(
        self, function: Change, req: web.Request, resp: falcon.Response, **path: str
    ) -> None:
        resource = self._resource
        resource.permit(req.context.caller, DELETE, path)
        guarded = self._guarded(req, path, function)
        self._changed(req, path, DELETE, guarded, **resource.options(req))
        resp.status = resource.style.deleted
