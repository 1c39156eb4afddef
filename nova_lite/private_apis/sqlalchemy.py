"""What we use of SQLAlchemy that it does not document."""

from sqlalchemy import engine
from sqlalchemy import util

from nova_lite.private_apis import guard

LIBRARY = guard.Library('SQLAlchemy', lowest='2.0.43', newest='2.1.9')

LIBRARY.takes(util.LRUCache, '__init__', 'capacity')

LRUCache = util.LRUCache


def backslash_escapes(dialect: engine.Dialect) -> bool | None:
    """Whether a backslash in a literal escapes; None where no setting of a server says so."""
    if dialect.name == 'sqlite':
        return None
    LIBRARY.has(type(dialect), '_backslash_escapes')
    found: bool = dialect._backslash_escapes  # type: ignore[attr-defined]
    return found
