"""Rights of a token: those of the user, or what an application credential or a trust delegates."""

import dataclasses
import datetime

import sqlalchemy as sa

from nova_lite.simcloud import bodies
from nova_lite.simcloud import database
from nova_lite.simcloud.identity import access_rules as rules
from nova_lite.simcloud.identity import grants
from nova_lite.simcloud.identity import tables
from nova_lite.simcloud.identity import trusts


@dataclasses.dataclass(frozen=True, kw_only=True)
class Granted:
    """The rights of one token.

    user_id: the user whose roles count; shown_user_id: the user whom the token names
    kind, target_id: scope of the token; None for an unscoped token
    expires_at: expiry of the credential or trust; None if it does not expire
    shown: attributes with which the token shows the credential or trust
    """

    user_id: str
    shown_user_id: str
    kind: str | None
    target_id: str | None
    roles: list[grants.Role]
    expires_at: datetime.datetime | None = None
    shown: bodies.Json = dataclasses.field(default_factory=dict)
    access_rules: tuple[rules.Rule, ...] = ()
    restricted: bool = False
    trust_id: str | None = None


def of(conn: sa.Connection, row: database.Row) -> Granted | None:
    """Return the rights of the token of a row; None if its credential or trust is deleted."""
    if row['scope_kind'] == tables.CREDENTIAL:
        return _of_credential(conn, row)
    if row['scope_kind'] == tables.TRUST:
        return _of_trust(conn, row)
    user_id, kind, target_id = row['user_id'], row['scope_kind'], row['scope_id']
    return Granted(
        user_id=user_id,
        shown_user_id=user_id,
        kind=kind,
        target_id=target_id,
        roles=grants.effective(conn, user_id, kind, target_id) if kind else [],
    )


def _of_credential(conn: sa.Connection, row: database.Row) -> Granted | None:
    found = database.find(conn, tables.application_credentials, id=row['scope_id'])
    if found is None:
        return None
    user_id, project_id = row['user_id'], found['project_id']
    held = grants.effective(conn, user_id, tables.PROJECT, project_id)
    limits = tuple(rules.view(one) for one in rules.of(conn, found['id']))
    shown = {'id': found['id'], 'name': found['name'], 'restricted': not found['unrestricted']}
    if limits:
        shown['access_rules'] = limits
    return Granted(
        user_id=user_id,
        shown_user_id=user_id,
        kind=tables.PROJECT,
        target_id=project_id,
        roles=[role for role in held if role['id'] in found['roles']],
        expires_at=found['expires_at'],
        shown={'application_credential': shown},
        access_rules=limits,
        restricted=not found['unrestricted'],
    )


def _of_trust(conn: sa.Connection, row: database.Row) -> Granted | None:
    found = database.find(conn, tables.trusts, id=row['scope_id'])
    if found is None:
        return None
    trustor, trustee = found['trustor_user_id'], found['trustee_user_id']
    shown = {
        'id': found['id'],
        'trustor_user': {'id': trustor},
        'trustee_user': {'id': trustee},
        'impersonation': found['impersonation'],
    }
    return Granted(
        user_id=trustor,
        shown_user_id=trustor if found['impersonation'] else trustee,
        kind=tables.PROJECT,
        target_id=found['project_id'],
        roles=trusts.roles_of(conn, found),
        expires_at=found['expires_at'],
        shown={'OS-TRUST:trust': shown},
        trust_id=found['id'],
    )
