"""Databases that a test of this process has taken down, by URL."""

from nova_lite import exception

_down: frozenset[str] = frozenset()


def take_down(url: str) -> None:
    """Make new transactions on a database fail. Transactions in progress can end."""
    global _down
    _down |= {url}


def bring_up(url: str) -> None:
    """Make transactions on a database succeed again."""
    global _down
    _down -= {url}


def require_up(url: str) -> None:
    """Raise Unavailable for a database that was taken down."""
    if url in _down:
        raise exception.Unavailable(
            service='The database', reason='it was taken down by an injected fault'
        )
