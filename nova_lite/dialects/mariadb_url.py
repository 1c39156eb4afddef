"""The URL of a MariaDB database as oslo.db should see it: ours and placement's."""

import sqlalchemy as sa

OPTIONS = {
    # oslo.db asks for a charset without the characters beyond 65535 where none is named.
    'charset': 'utf8mb4',
}


def completed(url: sa.URL, **more: str) -> sa.URL:
    """Return a SQLAlchemy URL with OPTIONS and `more`, unless it names others.

    Also with the name of MySQL's dialect, which suits both servers: oslo.db translates
    errors of the dialect of this name alone. URLs of other servers stay as they are.
    """
    if url.get_backend_name() not in ('mysql', 'mariadb'):
        return url
    driver = url.drivername.replace('mariadb', 'mysql', 1)
    return url.set(drivername=driver, query={**OPTIONS, **more, **url.query})
