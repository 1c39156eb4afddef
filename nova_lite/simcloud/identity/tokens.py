"""Tokens: issued, validated, revoked.

A token is an opaque secret of which only the digest is stored. Its user, scope, roles and
catalog are computed when it is first used, and kept until the identity tables change, which
each process learns from the generation counter.
"""

import dataclasses
import datetime
import hashlib
import json

from nova_lite import runtime
from nova_lite.simcloud import caller
from nova_lite.simcloud import database
from nova_lite.simcloud.identity import delegations
from nova_lite.simcloud.identity import tables
from nova_lite.simcloud.identity import trusts

CACHED_TOKENS = 20000
PURGE_INTERVAL_S = 600
# As with Keystone's, no token starts with a dash: programs would take it for an option.
FIRST = 'g'


@dataclasses.dataclass(frozen=True, slots=True)
class Token:
    """The user, scope and roles of a valid token.

    body: the JSON of GET /v3/auth/tokens
    access_rules: what the token is limited to, if it is
    """

    row: dict
    caller: caller.Caller
    project: dict | None
    body: bytes
    body_without_catalog: bytes
    access_rules: tuple
    expires_at: datetime.datetime


def digest_of(secret):
    """Return the stored form of a token's secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def stamp(moment):
    """Return a time as Keystone writes it, with microseconds."""
    return moment.isoformat(timespec='microseconds') + 'Z'


def _domains(conn):
    """Return {id: domain as tokens name it} of those enabled."""
    return {
        domain['id']: {'id': domain['id'], 'name': domain['name']}
        for domain in database.find_all(conn, tables.domains, enabled=True)
    }


def _unscoped(row, user, domains):
    """Return what the token of a row shows, whatever its scope."""
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


def _user(conn, row, granted, domains):
    """Return the user whom the token of a row stands for, or None if it is void.

    The user who logged in and, with a trust, the trustor must be enabled and have the passwords
    that they had when it was issued.
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

    def __init__(self, db, catalog, *, lifetime_s, expired_window_s):
        self._db = db
        self._catalog = catalog
        self._lifetime = datetime.timedelta(seconds=lifetime_s)
        self._window = datetime.timedelta(seconds=expired_window_s)
        self._known = {}
        self._purged_at = runtime.monotonic()

    def issue(self, conn, user_id, *, methods, scope, parent=None):
        """Store a new token and return (secret, Token).

        scope: (kind, id) or None. parent: the row of the token that was
        exchanged; the new one expires with it.
        """
        secret = FIRST + runtime.new_secret(48)
        now = runtime.naive_now()
        kind, scope_id = scope or (None, None)
        row = {
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
        if kind == tables.TRUST:
            trusts.use(conn, scope_id)
        return secret, self._meaning(conn, row)

    def _purge(self, conn, now):
        if runtime.monotonic() - self._purged_at >= PURGE_INTERVAL_S:
            self._purged_at = runtime.monotonic()
            database.delete(conn, tables.tokens, tables.tokens.c.expires_at < now - self._window)

    def validate(self, secret, *, allow_expired=False):
        """Return the Token, or None when it is unknown, revoked, void or expired."""
        digest = digest_of(secret)
        with self._db.read() as conn:
            generation = tables.current_generation(conn)
            seen, token = self._known.get(digest, (None, None))
            if token is None or seen != generation:
                row = database.find(conn, tables.tokens, digest=digest)
                token = self._meaning(conn, row) if row else None
                self._remember(digest, generation, token)
        if token is None:
            return None
        late = runtime.naive_now() - token.expires_at
        grace = self._window if allow_expired else datetime.timedelta(0)
        return token if late < grace else None

    def _remember(self, digest, generation, token):
        if token is None:
            self._known.pop(digest, None)
            return
        if len(self._known) >= CACHED_TOKENS:
            self._known = {}
        self._known[digest] = generation, token

    def revoke(self, conn, secret):
        """Delete a token. Other processes learn of it."""
        database.delete(conn, tables.tokens, digest=digest_of(secret))
        tables.touch(conn)

    def _meaning(self, conn, row):
        """Return the Token of a stored row, or None when the user or scope no longer allows it."""
        domains = _domains(conn)
        granted = delegations.of(conn, row)
        user = granted and _user(conn, row, granted, domains)
        if user is None:
            return None
        expires_at = min(row['expires_at'], granted.expires_at or row['expires_at'])
        body = _unscoped(row, user, domains) | {'expires_at': stamp(expires_at)} | granted.shown
        project, roles = None, []
        if granted.kind is not None:
            scope = self._scope(conn, granted, domains)
            roles = scope and granted.roles
            if not roles:
                return None
            body |= scope | {'roles': roles}
            project = scope.get('project')
        plain = json.dumps({'token': body}).encode()
        if granted.kind is not None:
            body['catalog'] = self._catalog.for_token(conn, user['id'], project and project['id'])
        return Token(
            row=row,
            project=project,
            access_rules=granted.access_rules,
            expires_at=expires_at,
            body_without_catalog=plain,
            body=json.dumps({'token': body}).encode(),
            caller=caller.Caller(
                user_id=user['id'],
                project_id=project and project['id'],
                roles=frozenset(role['name'] for role in roles),
                restricted=granted.restricted,
                trust_id=granted.trust_id,
            ),
        )

    @staticmethod
    def _scope(conn, granted, domains):
        if granted.kind == tables.DOMAIN:
            domain = domains.get(granted.target_id)
            return domain and {'domain': domain}
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
