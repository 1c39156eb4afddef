"""/v3/{volumes|snapshots}/{id}/metadata and the specs of types: keys with values."""

import falcon

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud import faults

METADATA = bodies.mapping(bodies.STRING)
SPECS = bodies.mapping(bodies.OPTIONAL_STRING)
_ONE = {'minProperties': 1, 'maxProperties': 1}
WRITE_ALL = bodies.compiled(bodies.record({'metadata': METADATA}, ['metadata']))
WRITE_ONE = bodies.compiled(bodies.record({'meta': {**METADATA, **_ONE}}, ['meta']))
WRITE_SPEC = bodies.compiled({**SPECS, **_ONE})


class _Keys:
    """A column with a dictionary. target: name of the row's id in the route

    get(conn, caller, id) returns the row. Raise NotFound.
    """

    def __init__(self, db, column, get):
        self._db = db
        self._column = column
        self._get = get

    def _row(self, conn, req, target):
        (row_id,) = target.values()
        return self._get(conn, req.context.caller, row_id)

    def _all(self, req, target):
        with self._db.read() as conn:
            return self._row(conn, req, target)[self._column.name]

    def _value(self, values, key):
        if key not in values:
            raise faults.NotFound(f'There is no {self._column.name} with key {key[:255]}.')
        return values[key]

    def _change(self, req, target, changed):
        """Replace the dictionary by changed(dictionary) and return it."""

        def change(conn):
            row = self._row(conn, req, target)
            values = {self._column.name: changed(row[self._column.name])}
            database.save(conn, self._column.table, row, **values)
            return values

        return self._db.change(change)

    def _put(self, req, target, key, wanted):
        if key not in wanted:
            raise faults.BadRequest('Request body and URI mismatch')
        self._change(req, target, lambda known: known | wanted)

    def _remove(self, req, target, key):
        def without(values):
            self._value(values, key)
            return {name: value for name, value in values.items() if name != key}

        self._change(req, target, without)


class MetadataResource(_Keys):
    """Metadata that users may change."""

    def _change(self, req, target, changed):
        req.context.caller.require_writer()
        return super()._change(req, target, changed)

    def on_get(self, req, resp, **target):
        resp.media = {'metadata': self._all(req, target)}

    def on_post(self, req, resp, **target):
        wanted = bodies.read(req, WRITE_ALL, 'metadata')
        resp.media = self._change(req, target, lambda known: known | wanted)

    def on_put(self, req, resp, **target):
        wanted = bodies.read(req, WRITE_ALL, 'metadata')
        resp.media = self._change(req, target, lambda _: wanted)

    def on_get_one(self, req, resp, key, **target):
        resp.media = {'meta': {key: self._value(self._all(req, target), key)}}

    def on_put_one(self, req, resp, key, **target):
        wanted = bodies.read(req, WRITE_ONE, 'meta')
        self._put(req, target, key, wanted)
        resp.media = {'meta': wanted}

    def on_delete_one(self, req, resp, key, **target):
        self._remove(req, target, key)


class SpecResource(_Keys):
    """Specs of types, which only administrators may change.

    shown: (specs, caller) -> those that the caller may see. Raise Forbidden
    """

    def __init__(self, db, column, get, shown):
        super().__init__(db, column, get)
        self._shown = shown
        self._body = bodies.wrapped(column.name, {}, extra=SPECS['additionalProperties'])

    def _change(self, req, target, changed):
        req.context.caller.require_admin(f'changing {self._column.name}')
        return super()._change(req, target, changed)

    def on_get(self, req, resp, **target):
        specs = self._all(req, target)
        resp.media = {self._column.name: self._shown(specs, req.context.caller)}

    def on_post(self, req, resp, **target):
        added = bodies.read(req, self._body, self._column.name)
        self._change(req, target, lambda specs: specs | added)
        resp.media = {self._column.name: added}

    def on_get_one(self, req, resp, key, **target):
        specs = self._shown(self._all(req, target), req.context.caller)
        resp.media = {key: self._value(specs, key)}

    def on_put_one(self, req, resp, key, **target):
        wanted = bodies.read(req, WRITE_SPEC)
        self._put(req, target, key, wanted)
        resp.media = wanted

    def on_delete_one(self, req, resp, key, **target):
        self._remove(req, target, key)
        resp.status = falcon.HTTP_202


def shown_specs(specs, caller):
    """Return the extra specs that users may see."""
    if caller.is_privileged:
        return specs
    return {name: value for name, value in specs.items() if name == 'multiattach'}
