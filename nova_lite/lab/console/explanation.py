"""A scheduling decision as text, for commands."""

import typing

from nova_lite.terminal import pipes
from nova_lite.terminal import text_tables


def show(found: dict[str, typing.Any]) -> None:
    """Print a scheduling decision, as SchedulerAPI.why returns it."""
    terminal = pipes.Console(highlight=False, soft_wrap=True)

    def say(text: str) -> None:
        terminal.print(text, markup=False)

    say(f'Server {found["instance_uuid"]}, decided {found["at"]} for {found["request_id"]}')
    say(f'chosen: {found["chosen"] or "none"}')
    if found['error']:
        say(found['error'])
    for name, what in found['request_filters']:
        say(f'request filter {name}: {what}')
    for query in found['queries']:
        say(f'placement query: {query}')
    text_tables.show(('host', 'stage', 'weight', 'reason'), map(_row, found['hosts']))
    if found['more']:
        say(f'and {found["more"]} more hosts; add HOST to the command to see one of them')


def _row(entry: dict[str, typing.Any]) -> tuple[str, str, str, str]:
    reason = entry['reason']
    if entry['weights']:
        parts = [f'{name} {weight:+.3f}' for name, weight in entry['weights'].items()]
        reason = '; '.join([reason, *parts]) if reason else '; '.join(parts)
    weight = entry['weight']
    return entry['host'], entry['stage'], '' if weight is None else f'{weight:.3f}', reason
