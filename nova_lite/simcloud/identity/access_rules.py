"""/v3/users/{user_id}/access_rules: requests that an application credential permits.

Access rules are created with a credential and remain when the credential is deleted. The
middleware checks them at each request, as keystonemiddleware does for other services.
"""

from collections.abc import Iterable
from collections.abc import Iterator
import re
import typing

import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud import faults
from nova_lite.simcloud import resources
from nova_lite.simcloud import web
from nova_lite.simcloud.identity import catalog
from nova_lite.simcloud.identity import tables
from nova_lite.simcloud.identity import views

# A request that is permitted: its service, path and method, and the id of the rule.
Rule: typing.TypeAlias = dict[str, str]

RULES, USES = tables.access_rules, tables.credential_rules
WHOLE = ('service', 'path', 'method')
_WORD = {**bodies.ID, 'pattern': '^[a-zA-Z0-9-]+$'}
_METHODS = bodies.words('DELETE GET HEAD PATCH POST PUT')
SCHEMA = {
    **bodies.record(
        {
            'id': _WORD,
            'service': _WORD,
            'path': {'type': 'string', 'maxLength': 225, 'pattern': '^/'},
            'method': {'enum': list(_METHODS)},
        }
    ),
    'anyOf': [{'required': ['id']}, {'required': list(WHOLE)}],
}
# A name in braces or * stands for one part of a path, ** for any number of them.
_WILD = re.compile(r'(?P<some>\*\*)|(?P<one>\{[^}]*\}|\*)|(?P<same>.)', re.DOTALL)
HEADER = 'OpenStack-Identity-Access-Rules'
VERSION = 1.0


def view(row: database.Row) -> Rule:
    """Return one rule as tokens and credentials show it."""
    return {name: row[name] for name in ('id', *WHOLE)}


def keep(conn: sa.Connection, user_id: str, credential_id: str, wanted: Iterable[Rule]) -> None:
    """Store the rules of a new credential. Rules that the user already has are shared."""
    for rule_id in dict.fromkeys(_kept(conn, user_id, asked) for asked in wanted):
        database.insert(conn, USES, credential_id=credential_id, rule_id=rule_id)


def _kept(conn: sa.Connection, user_id: str, asked: Rule) -> str:
    """Return the id of a rule that a new credential names, created if needed. Raise NotFound."""
    known = database.find(conn, RULES, id=asked['id']) if 'id' in asked else None
    if known and known['user_id'] == user_id:
        return asked['id']
    if known or any(name not in asked for name in WHOLE):
        raise _not_found(asked['id'])
    rule = {'user_id': user_id, **{name: asked[name] for name in WHOLE}}
    same = database.find(conn, RULES, **rule)
    if same is None:
        same = database.insert(conn, RULES, **rule, id=asked.get('id') or tables.new_id())
    found: str = same['id']
    return found


def of(conn: sa.Connection, credential_id: str) -> list[database.Row]:
    """Return the rules of a credential."""
    ids = [row['rule_id'] for row in database.find_all(conn, USES, credential_id=credential_id)]
    return database.find_all(conn, RULES, RULES.c.id.in_(ids), order=['id']) if ids else []


def forget(conn: sa.Connection, user_id: str) -> None:
    """Delete the access rules of a user who is being deleted."""
    for row in database.find_all(conn, RULES, user_id=user_id):
        database.delete(conn, USES, rule_id=row['id'])
    database.delete(conn, RULES, user_id=user_id)


# ---- enforcement ----


def understood(req: web.Request) -> bool:
    """Return whether the service that validates a token enforces its access rules."""
    try:
        return float(req.get_header(HEADER) or 0) >= VERSION
    except ValueError:
        return False


def permit(rules: Iterable[Rule], req: web.Request) -> bool:
    """Return whether rules permit a request to one of our services."""
    if req.path == '/identity/v3/auth/tokens' and req.method == 'GET':
        return True
    service = req.context.service
    kinds = [kind for kind, _, path in catalog.SERVICES if path.split('/')[1] == service]
    return any(
        rule['service'] in kinds
        and rule['method'] == req.method
        and _matches(rule['path'], req.path)
        for rule in rules
    )


def _matches(rule: str, path: str) -> bool:
    """Return whether the path of a rule matches the path of a request.

    Users choose the rules. So the time is bounded by the product of the two lengths, unlike
    that of a regular expression.
    """
    places = {0}
    for part in _WILD.finditer(rule):
        if part['same']:
            places = {place + 1 for place in places if path.startswith(part['same'], place)}
        elif part['some']:
            places = set(range(min(places), len(path) + 1))
        else:
            places = set(_ends(path, places))
        if not places:
            return False
    return len(path) in places


def _ends(path: str, places: set[int]) -> Iterator[int]:
    """Yield the positions at which a part of a segment may end that begins at one of `places`."""
    done = 0
    for place in sorted(places):
        if place >= done:
            end = path.find('/', place)
            done = len(path) if end < 0 else end
            yield from range(place + 1, done + 1)


# ---- requests ----


def _not_found(rule_id: str) -> faults.NotFound:
    return faults.NotFound(f'Could not find Access Rule: {rule_id[:64]}.')


def _permit(caller: callers.Caller, _action: str, path: resources.Path) -> None:
    """Raise Forbidden unless the caller owns the access rules."""
    if path['user_id'] != caller.user_id:
        raise faults.Forbidden(callers.NOT_ALLOWED)


def _get(conn: sa.Connection, _caller: callers.Caller, user_id: str, rule_id: str) -> database.Row:
    row = database.find(conn, RULES, id=rule_id, user_id=user_id)
    if row is None:
        raise _not_found(rule_id)
    return row


def _delete(conn: sa.Connection, caller: callers.Caller, user_id: str, rule_id: str) -> None:
    """Delete a rule. Raise Forbidden if a credential uses it."""
    _get(conn, caller, user_id, rule_id)
    if database.exists(conn, USES, rule_id=rule_id):
        raise faults.Forbidden('May not delete access rule in use')
    database.delete(conn, RULES, id=rule_id)


def _listed(conn: sa.Connection, req: web.Request, user_id: str) -> list[database.Row]:
    wanted = {name: value for name in WHOLE if (value := req.get_param(name))}
    return database.find_all(conn, RULES, user_id=user_id, **wanted, order=['id'])


def _view(req: web.Request, row: database.Row) -> bodies.Json:
    # As Keystone's, which lead nowhere.
    return {**view(row), 'links': views.links(req, f'access_rules/{row["id"]}')}


RESOURCE = resources.Resource(
    name='access_rule',
    style=views.STYLE,
    permit=_permit,
    listed=_listed,
    get=_get,
    views=resources.each_as_asked(_view),
    delete=_delete,
)
