"""A scheduling decision as text, for people."""

from rich import console

from nova_lite.console import tables


def show(found):
    """Print what SchedulerAPI.why returns."""
    terminal = console.Console(highlight=False, soft_wrap=True)

    def say(text):
        terminal.print(text, markup=False)

    say(f'Server {found["instance_uuid"]}, decided {found["at"]} for {found["request_id"]}')
    say(f'chosen: {found["chosen"] or "none"}')
    if found['error']:
        say(found['error'])
    for name, what in found['request_filters']:
        say(f'request filter {name}: {what}')
    for query in found['queries']:
        say(f'placement query: {query}')
    columns = ('host', 'stage', 'reason')
    tables.show(columns, [[entry[name] for name in columns] for entry in found['hosts']])
    if found['more']:
        say(f'and {found["more"]} more hosts; add HOST to the command to see one of them')
