"""Tokens: issued, validated, revoked.

A token is an opaque secret of which only the digest is stored. Its user, scope, roles and
catalog are computed at its first use and cached until the identity tables change. Each process
learns of changes from the generation counter.
"""

import dataclasses
import datetime
import hashlib
import json
import typing

import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.simcloud import bodies
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud.identity import access_rules
from nova_lite.simcloud.identity import catalog as catalogs
from nova_lite.simcloud.identity import delegations
from nova_lite.simcloud.identity import tables
from nova_lite.simcloud.identity import trusts

# {id of a domain: the domain as tokens name it}
Domains: typing.TypeAlias = dict[str, dict[str, str]]

CACHED_TOKENS = 20000
PURGE_INTERVAL_S = 600
# As in Keystone, no token starts with a dash: programs would read it as an option.
FIRST = 'g'


@dataclasses.dataclass(frozen=True, slots=True)
class Token:
    """The user, scope and roles of a valid token.

    body: the JSON of GET /v3/auth/tokens
    access_rules: requests to which the token is limited; empty: it is not limited
    """

    row: database.Row
    caller: callers.Caller
    project: bodies.Json | None
    body: bytes
    body_without_catalog: bytes
    access_rules: tuple[access_rules.Rule, ...]
    expires_at: datetime.datetime


def digest_of(secret: str) -> str:
    """Return the digest of a token's secret, which is stored in place of the secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def stamp(moment: datetime.datetime) -> str:
    """Return a time in Keystone's form, with microseconds."""
    return moment.isoformat(timespec='microseconds') + 'Z'


def _domains(conn: sa.Connection) -> Domains:
    """Return the domains that are enabled."""
    return {
        domain['id']: {'id': domain['id'], 'name': domain['name']}
        for domain in database.find_all(conn, tables.domains, enabled=True)
    }


def _unscoped(row: database.Row, user: database.Row, domains: Domains) -> bodies.Json:
    """Return the attributes of the token of a row that do not depend on its scope."""
    return {
        'methods': row['methods'],
        'audit_ids': row['audit_ids'],
        'issued_at': stamp(row['issued_at']),
        'expires_at': stamp(row['expires_at']),
        'user': {
            'id': user['id'],
            'name': user['name'],
            'password_expires_at': None,
            'domain': domains[user['domain_id']],
        },
    }


def _user(
    conn: sa.Connection,
    row: database.Row,
    granted: delegations.Granted,
    domains: Domains,
) -> database.Row | None:
    """Return the user whom the token of a row names, or None if the token is void.

    The user who logged in and, for a trust, the trustor must be enabled and must not have changed
    the password since the token was issued.
    """
    for user_id in dict.fromkeys((row['user_id'], granted.user_id)):
        user = database.find(conn, tables.users, id=user_id)
        if user is None or not user['enabled'] or user['password_changed_at'] > row['issued_at']:
            return None
        if user['domain_id'] not in domains:
            return None
    return database.find(conn, tables.users, id=granted.shown_user_id)


class Tokens:
    """The tokens of one simcloud."""

    def __init__(
        self,
        db: database.Database,
        catalog: catalogs.Catalog,
        *,
        lifetime_s: int,
        expired_window_s: int,
    ) -> None:
        self._db = db
        self._catalog = catalog
        self._lifetime = datetime.timedelta(seconds=lifetime_s)
        self._window = datetime.timedelta(seconds=expired_window_s)
        self._known: dict[str, tuple[int, Token]] = {}
        self._purged_at = runtime.monotonic()

    def issue(
        self,
        conn: sa.Connection,
        user_id: str,
        *,
        methods: list[str],
        scope: tuple[str, str] | None,
        parent: database.Row | None = None,
    ) -> tuple[str, Token | None]:
        """Store a new token. Return (secret, Token), or (secret, None) if it is not valid.

        scope: (kind, id), None for a token without a scope
        parent: the row of the token that is exchanged; the new token expires with that one
        """
        secret = FIRST + runtime.new_secret(48)
        now = runtime.naive_now()
        kind, scope_id = scope or (None, None)
        row: database.Row = {
            'digest': digest_of(secret),
            'user_id': user_id,
            'methods': methods,
            'audit_ids': [runtime.new_secret(12), *(parent['audit_ids'][-1:] if parent else ())],
            'scope_kind': kind,
            'scope_id': scope_id,
            'issued_at': now,
            'expires_at': parent['expires_at'] if parent else now + self._lifetime,
        }
        database.insert(conn, tables.tokens, **row)
        self._purge(conn, now)
        if scope and kind == tables.TRUST:
            trusts.use(conn, scope[1])
        return secret, self._meaning(conn, row)

    def headers_of(self, user_name: str, project_name: str) -> dict[str, str]:
        """Return headers with a new token of a user in a project; {} if one of them is deleted."""
        with self._db.read() as conn:
            user = database.find(conn, tables.users, name=user_name)
            project = database.find(conn, tables.projects, name=project_name)
        if user is None or project is None:
            return {}
        scope = (tables.PROJECT, project['id'])
        secret, _ = self._db.change(self.issue, user['id'], methods=['password'], scope=scope)
        return {'X-Auth-Token': secret, 'X-User-Id': user['id'], 'X-Project-Id': project['id']}

    def _purge(self, conn: sa.Connection, now: datetime.datetime) -> None:
        if runtime.monotonic() - self._purged_at >= PURGE_INTERVAL_S:
            self._purged_at = runtime.monotonic()
            database.delete(conn, tables.tokens, tables.tokens.c.expires_at < now - self._window)

    def validate(self, secret: str, *, allow_expired: bool = False) -> Token | None:
        """Return the Token of a secret; None if the token is unknown, revoked, void or expired."""
        digest = digest_of(secret)
        with self._db.read() as conn:
            generation = tables.current_generation(conn)
            seen, token = self._known.get(digest, (0, None))
            if token is None or seen != generation:
                row = database.find(conn, tables.tokens, digest=digest)
                token = self._meaning(conn, row) if row else None
                self._remember(digest, generation, token)
        if token is None:
            return None
        late = runtime.naive_now() - token.expires_at
        grace = self._window if allow_expired else datetime.timedelta(0)
        return token if late < grace else None

    def _remember(self, digest: str, generation: int, token: Token | None) -> None:
        if token is None:
            self._known.pop(digest, None)
            return
        if len(self._known) >= CACHED_TOKENS:
            self._known = {}
        self._known[digest] = generation, token

    def revoke(self, conn: sa.Connection, secret: str) -> None:
        """Delete a token, in all processes."""
        database.delete(conn, tables.tokens, digest=digest_of(secret))
        tables.touch(conn)

    def _meaning(self, conn: sa.Connection, row: database.Row) -> Token | None:
        """Return the Token of a stored row, or None if its user or scope is no longer valid."""
        domains = _domains(conn)
        granted = delegations.of(conn, row)
        user = _user(conn, row, granted, domains) if granted else None
        if granted is None or user is None:
            return None
        expires_at = min(row['expires_at'], granted.expires_at or row['expires_at'])
        body = _unscoped(row, user, domains) | {'expires_at': stamp(expires_at)} | granted.shown
        project: bodies.Json | None = None
        if granted.kind is not None:
            scope = self._scope(conn, granted, domains)
            if scope is None or not granted.roles:
                return None
            body |= scope | {'roles': granted.roles}
            project = scope.get('project')
        project_id = project['id'] if project else None
        plain = json.dumps({'token': body}).encode()
        if granted.kind is not None:
            body['catalog'] = self._catalog.for_token(conn, user['id'], project_id)
        return Token(
            row=row,
            project=project,
            access_rules=granted.access_rules,
            expires_at=expires_at,
            body_without_catalog=plain,
            body=json.dumps({'token': body}).encode(),
            caller=callers.Caller(
                user_id=user['id'],
                project_id=project_id,
                roles=frozenset(role['name'] for role in granted.roles),
                restricted=granted.restricted,
                trust_id=granted.trust_id,
            ),
        )

    @staticmethod
    def _scope(
        conn: sa.Connection, granted: delegations.Granted, domains: Domains
    ) -> bodies.Json | None:
        if granted.kind == tables.DOMAIN:
            domain = domains.get(granted.target_id or '')
            return {'domain': domain} if domain else None
        project = database.find(conn, tables.projects, id=granted.target_id)
        if project is None or not project['enabled'] or project['domain_id'] not in domains:
            return None
        return {
            'is_domain': False,
            'project': {
                'id': project['id'],
                'name': project['name'],
                'domain': domains[project['domain_id']],
            },
        }
