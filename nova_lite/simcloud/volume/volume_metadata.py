"""/v3/{volumes|snapshots}/{id}/metadata and the specs of types: keys with values."""

from collections.abc import Callable
import typing

import falcon
import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud import web

Values: typing.TypeAlias = dict[str, str]

METADATA = bodies.mapping(bodies.STRING)
SPECS = bodies.mapping(bodies.OPTIONAL_STRING)
_ONE = {'minProperties': 1, 'maxProperties': 1}
WRITE_ALL = bodies.compiled(bodies.record({'metadata': METADATA}, ['metadata']))
WRITE_ONE = bodies.compiled(bodies.record({'meta': {**METADATA, **_ONE}}, ['meta']))
WRITE_SPEC = bodies.compiled({**SPECS, **_ONE})


class _Keys:
    """Reads and changes a column that holds {key: value}."""

    def __init__(
        self, db: database.Database, column: sa.Column[typing.Any], get: resources.GetById
    ) -> None:
        self._db = db
        self._column = column
        self._get = get

    def _row(self, conn: sa.Connection, req: web.Request, target: resources.Path) -> database.Row:
        (row_id,) = target.values()
        return self._get(conn, req.context.caller, row_id)

    def _all(self, req: web.Request, target: resources.Path) -> Values:
        with self._db.read() as conn:
            values: Values = self._row(conn, req, target)[self._column.name]
            return values

    def _value(self, values: Values, key: str) -> str:
        if key not in values:
            raise faults.NotFound(f'There is no {self._column.name} with key {key[:255]}.')
        return values[key]

    def _change(
        self, req: web.Request, target: resources.Path, changed: Callable[[Values], Values]
    ) -> database.Row:
        """Replace the values of a row by changed(values). Return {column name: new values}."""

        def change(conn: sa.Connection) -> database.Row:
            row = self._row(conn, req, target)
            values = {self._column.name: changed(row[self._column.name])}
            database.save(conn, self._column.table, row, **values)
            return values

        return self._db.change(change)

    def _put(self, req: web.Request, target: resources.Path, key: str, wanted: bodies.Json) -> None:
        if key not in wanted:
            raise faults.BadRequest('Request body and URI mismatch')
        self._change(req, target, lambda known: known | wanted)

    def _remove(self, req: web.Request, target: resources.Path, key: str) -> None:
        def without(values: Values) -> Values:
            self._value(values, key)
            return {name: value for name, value in values.items() if name != key}

        self._change(req, target, without)


class MetadataResource(_Keys):
    """Answers requests for metadata that users may change."""

    def _change(
        self, req: web.Request, target: resources.Path, changed: Callable[[Values], Values]
    ) -> database.Row:
        req.context.caller.require_writer()
        return super()._change(req, target, changed)

    def on_get(self, req: web.Request, resp: falcon.Response, **target: str) -> None:
        resp.media = {'metadata': self._all(req, target)}

    def on_post(self, req: web.Request, resp: falcon.Response, **target: str) -> None:
        wanted = bodies.read(req, WRITE_ALL, 'metadata')
        resp.media = self._change(req, target, lambda known: known | wanted)

    def on_put(self, req: web.Request, resp: falcon.Response, **target: str) -> None:
        wanted = bodies.read(req, WRITE_ALL, 'metadata')
        resp.media = self._change(req, target, lambda _: wanted)

    def on_get_one(self, req: web.Request, resp: falcon.Response, key: str, **target: str) -> None:
        resp.media = {'meta': {key: self._value(self._all(req, target), key)}}

    def on_put_one(self, req: web.Request, resp: falcon.Response, key: str, **target: str) -> None:
        wanted = bodies.read(req, WRITE_ONE, 'meta')
        self._put(req, target, key, wanted)
        resp.media = {'meta': wanted}

    def on_delete_one(
        self, req: web.Request, resp: falcon.Response, key: str, **target: str
    ) -> None:
        self._remove(req, target, key)


class SpecResource(_Keys):
    """Answers requests for specs of types, which only administrators may change.

    shown: (specs, caller) -> the specs that the caller may see; raises Forbidden
    """

    def __init__(
        self,
        db: database.Database,
        column: sa.Column[typing.Any],
        get: resources.GetById,
        shown: Callable[[Values, callers.Caller], Values],
    ) -> None:
        super().__init__(db, column, get)
        self._shown = shown
        self._body = bodies.wrapped(column.name, {}, extra=SPECS['additionalProperties'])

    def _change(
        self, req: web.Request, target: resources.Path, changed: Callable[[Values], Values]
    ) -> database.Row:
        req.context.caller.require_admin(f'changing {self._column.name}')
        return super()._change(req, target, changed)

    def on_get(self, req: web.Request, resp: falcon.Response, **target: str) -> None:
        specs = self._all(req, target)
        resp.media = {self._column.name: self._shown(specs, req.context.caller)}

    def on_post(self, req: web.Request, resp: falcon.Response, **target: str) -> None:
        added = bodies.read(req, self._body, self._column.name)
        self._change(req, target, lambda specs: specs | added)
        resp.media = {self._column.name: added}

    def on_get_one(self, req: web.Request, resp: falcon.Response, key: str, **target: str) -> None:
        specs = self._shown(self._all(req, target), req.context.caller)
        resp.media = {key: self._value(specs, key)}

    def on_put_one(self, req: web.Request, resp: falcon.Response, key: str, **target: str) -> None:
        wanted = bodies.read(req, WRITE_SPEC)
        self._put(req, target, key, wanted)
        resp.media = wanted

    def on_delete_one(
        self, req: web.Request, resp: falcon.Response, key: str, **target: str
    ) -> None:
        self._remove(req, target, key)
        resp.status = falcon.HTTP_202


def shown_specs(specs: Values, caller: callers.Caller) -> Values:
    """Return the extra specs of a type that the caller may see."""
    if caller.is_privileged:
        return specs
    return {name: value for name, value in specs.items() if name == 'multiattach'}
