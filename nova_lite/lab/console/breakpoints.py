"""Breakpoints and stopped sagas as people read them, for commands."""

from nova_lite.terminal import text_tables


def number(text):
    """Return the number of a breakpoint, or `all`. Raise ValueError."""
    return text if text == 'all' else int(text)


def show(shown):
    """Print the breakpoints of a cloud, and the sagas that are stopped."""
    text_tables.show(
        ('Id', 'Server', 'Kind', 'Before step'),
        [
            (each['id'], each['server'] or 'any', each['kind'] or 'any', each['step'])
            for each in shown['breakpoints']
        ],
    )
    for line in lines(shown):
        print(line)


def lines(shown):
    """Return a line for each saga that is stopped."""
    return [line(each) for each in shown['stopped']]


def line(saga):
    """Return where a saga stands."""
    if saga['before'] is not None:
        return f'{_name(saga)} is stopped before {"undo of " * saga["undo"]}{saga["before"]}'
    return f'{_name(saga)} is {saga["state"]}; last step: {saga["step"] or "none"}'


def _name(saga):
    return f'{saga["kind"]} of server {saga["server"]} (saga {saga["uuid"]})'


def show_saga(saga):
    """Print where a saga stands."""
    print(line(saga))


def show_going(saga):
    """Print that a saga goes on."""
    print(f'{_name(saga)} goes on')


def show_lost(saga):
    """Print that a super-conductor has lost a saga, and what happens next."""
    print(
        f'Super-conductor {saga["lost_by"]} has lost the saga {saga["uuid"]} of server '
        f'{saga["server"]}. Another one takes it over within {saga["lease_s"]} s, when the lease '
        'has expired.'
    )
