"""JSON of clients that any database can store."""

import itertools
import json
import math
import typing


def decode(raw: bytes, *, levels: int) -> typing.Any:
    """Return the value of JSON in UTF-8. Raise ValueError with the mistake.

    levels: how many lists and objects may be in each other
    """
    try:
        # As bytes it might be UTF-16, or name lone surrogates without an escape.
        value = json.loads(raw.decode(), parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise ValueError(f'it has more than {levels} levels') from None
    # What can just be parsed may be too deep for the encoder where it is stored or sent.
    if raw.count(b'[') + raw.count(b'{') > levels and _is_deeper(value, levels):
        raise ValueError(f'it has more than {levels} levels')
    if b'\\u' in raw:
        _require_text(value)
    return value


def _refuse(name: str) -> typing.NoReturn:
    raise ValueError(f'{name} is not JSON')


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f'{text} is too large')
    return number


def _is_deeper(value: typing.Any, levels: int) -> bool:
    found = [value]
    for _level in range(levels):
        found = list(itertools.chain.from_iterable(map(_items, found)))
    return any(isinstance(each, dict | list) for each in found)


def _items(value: typing.Any) -> typing.Iterable[typing.Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _require_text(value: typing.Any) -> None:
    """Refuse lone surrogates and NUL, which are legal JSON that no database stores as text."""
    text = json.dumps(value, ensure_ascii=False)
    text.encode()
    # dumps writes NUL as an escape again; an escaped backslash comes in pairs.
    if '\\u0000' in text.replace('\\\\', ''):
        raise ValueError('a string contains the character NUL')
