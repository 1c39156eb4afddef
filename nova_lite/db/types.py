"""Column types and mix-ins that both databases use."""

import datetime
import json
import typing

import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.dialects import mysql

from nova_lite import runtime

# MariaDB's TEXT ends at 64 KiB; user data and network information may be longer.
LongText = sa.Text().with_variant(mysql.MEDIUMTEXT(), 'mysql', 'mariadb')


class Json(sa.types.TypeDecorator[typing.Any]):
    """A JSON value in a text column, the same on all three databases."""

    impl = LongText
    cache_ok = True

    def __init__(self) -> None:
        super().__init__()

    def process_bind_param(self, value: typing.Any, dialect: sa.Dialect) -> str | None:
        return None if value is None else dumps(value)

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> typing.Any:
        return None if value is None else loads(value)


class Time(sa.types.TypeDecorator[typing.Any]):
    """A UTC time to the microsecond, without a zone."""

    impl = sa.DateTime
    cache_ok = True

    def load_dialect_impl(self, dialect: sa.Dialect) -> sa.types.TypeEngine[typing.Any]:
        if dialect.name in ('mysql', 'mariadb'):
            return dialect.type_descriptor(mysql.DATETIME(fsp=6))
        return dialect.type_descriptor(sa.DateTime())


class Timestamps:
    """created_at and updated_at, set by the models."""

    created_at: orm.Mapped[datetime.datetime] = orm.mapped_column(Time, default=runtime.naive_now)
    updated_at: orm.Mapped[datetime.datetime | None] = orm.mapped_column(
        Time, onupdate=runtime.naive_now
    )


# JSON text without spaces. Made once: json.dumps makes an encoder each time.
dumps = json.JSONEncoder(separators=(',', ':')).encode
_first = json.JSONDecoder().raw_decode


def loads(text: str) -> typing.Any:
    """Return the value of a JSON text. Raise ValueError.

    json.loads would first look for blanks, which `dumps` does not write, but people may.
    """
    try:
        value, end = _first(text)
    except ValueError:
        return json.loads(text)
    return value if end == len(text) else json.loads(text)
