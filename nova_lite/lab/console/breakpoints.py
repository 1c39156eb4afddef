"""Breakpoints and stopped sagas as text, for commands."""

import typing

from nova_lite.terminal import text_tables

# An answer of the control endpoint.
Json: typing.TypeAlias = dict[str, typing.Any]


def number(text: str) -> int | str:
    """Return the number of a breakpoint, or `all`. Raise ValueError."""
    return text if text == 'all' else int(text)


def show(shown: Json) -> None:
    """Print the breakpoints and the stopped sagas of a cloud."""
    text_tables.show(
        ('Id', 'Server', 'Kind', 'Before step'),
        [
            (each['id'], each['server'] or 'any', each['kind'] or 'any', each['step'])
            for each in shown['breakpoints']
        ],
    )
    for line in lines(shown):
        print(line)


def lines(shown: Json) -> list[str]:
    """Return one line for each stopped saga."""
    return [line(each) for each in shown['stopped']]


def line(saga: Json) -> str:
    """Return a text that says at which step a saga is."""
    if saga['before'] is not None:
        return f'{_name(saga)} is stopped before {"undo of " * saga["undo"]}{saga["before"]}'
    return f'{_name(saga)} is {saga["state"]}; last step: {saga["step"] or "none"}'


def _name(saga: Json) -> str:
    return f'{saga["kind"]} of server {saga["server"]} (saga {saga["uuid"]})'


def show_saga(saga: Json) -> None:
    """Print at which step a saga is."""
    print(line(saga))


def show_going(saga: Json) -> None:
    """Print that a saga continues."""
    print(f'{_name(saga)} goes on')


def show_lost(saga: Json) -> None:
    """Print that a super-conductor has lost a saga, and when another will take it over."""
    print(
        f'Super-conductor {saga["lost_by"]} has lost the saga {saga["uuid"]} of server '
        f'{saga["server"]}. Another one takes it over within {saga["lease_s"]} s, when the lease '
        'has expired.'
    )
