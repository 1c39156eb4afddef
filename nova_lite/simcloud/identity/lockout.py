"""Passwords of users who may not log in for some time after failures, as Keystone's lockout_*.

Users with the role service are exempt: otherwise anyone could stop a cloud with wrong passwords of
its services. Operators of Keystone set ignore_lockout_failure_attempts of these users.
"""

import datetime

import sqlalchemy as sa

from nova_lite import runtime
from nova_lite.simcloud import caller as callers
from nova_lite.simcloud import database
from nova_lite.simcloud.identity import password_hashes
from nova_lite.simcloud.identity import tables


class Passwords:
    """Checks passwords of users, and counts failures.

    attempts: failures after which a user is locked, None for no limit
    duration_s: seconds after the last failure in which the user stays locked
    """

    def __init__(self, db: database.Database, attempts: int | None, duration_s: float) -> None:
        self._db, self._attempts = db, attempts
        self._duration = datetime.timedelta(seconds=duration_s)

    def match(self, user: database.Row | None, password: str) -> bool:
        """Return whether a user exists, is enabled and not locked, and has the password.

        A user who is locked is refused as for a wrong password, and in the same time.
        """
        known = user['password_hash'] if user is not None and user['enabled'] else None
        if user is None or self._attempts is None or self._is_exempt(user['id']):
            return password_hashes.matches(password, known)
        failures = self._failures(user['id'])
        if failures >= self._attempts:
            return password_hashes.matches(password, None)
        matches = password_hashes.matches(password, known)
        if not matches:
            self._db.change(_count, user['id'], self._duration)
        elif failures:
            self._db.change(forget, user['id'])
        return matches

    def _is_exempt(self, user_id: str) -> bool:
        with self._db.read() as conn:
            role = database.find(conn, tables.roles, name=callers.SERVICE)
            return role is not None and database.exists(
                conn, tables.assignments, user_id=user_id, role_id=role['id']
            )

    def _failures(self, user_id: str) -> int:
        """Return the number of a user's failures that still count."""
        with self._db.read() as conn:
            return _counting(
                database.find(conn, tables.failed_logins, user_id=user_id), self._duration
            )


def _counting(row: database.Row | None, duration: datetime.timedelta) -> int:
    """Return how many failures of a row still count."""
    if row is None or row['last_at'] + duration <= runtime.naive_now():
        return 0
    return int(row['failures'])


def _count(conn: sa.Connection, user_id: str, duration: datetime.timedelta) -> None:
    """Count one more failure. Several logins may fail at the same time."""
    row = database.find(conn, tables.failed_logins, user_id=user_id)
    now = runtime.naive_now()
    if row is None:
        database.insert(conn, tables.failed_logins, user_id=user_id, failures=1, last_at=now)
        return
    failures = _counting(row, duration) + 1
    database.save(conn, tables.failed_logins, row, failures=failures, last_at=now)


def forget(conn: sa.Connection, user_id: str) -> None:
    """Forget the failures of a user."""
    database.delete(conn, tables.failed_logins, user_id=user_id)
