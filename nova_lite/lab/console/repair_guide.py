"""The guide to the repair of a server as text, for commands."""

import typing

from nova_lite.terminal import pipes


def show(found: dict[str, typing.Any]) -> None:
    """Print the guide, as `launcher.repairs` returns it."""
    terminal = pipes.Console(highlight=False, soft_wrap=True)
    task = f', task {found["task"]}' if found['task'] else ''
    place = f'on {found["host"]}' if found['host'] else 'on no host'
    for text in (
        f'Server {found["server"]}: {found["state"]}{task}, {place}',
        found['title'],
        *(f'  {number}. {command}' for number, command in enumerate(found['commands'], 1)),
    ):
        terminal.print(text, markup=False)
