"""Profiles of hosts that take their time or refuse, and how the faults of the refused begin."""

_SLOW = """
extends: default
seed: {seed}
hosts:
  - match: '*'
    delays: {{'*': {{uniform: {{low: {low}, high: {high}}}}}{more}}}
"""
# How the faults begin of servers that hosts have refused.
NO_HOST = ('Exceeded maximum number of retries', 'No valid host')
# How those begin of servers whose host or cell was not mapped any more.
UNMAPPED = ("Host '", 'Cell ')
REFUSED = ('Exceeded maximum number of retries', 'Build of instance', 'No valid host')
# In the details of an action in which a host has refused to work at a guest.
INJECTED = 'injected failure of'
# What a host says of a move that it refuses each time.
UNREACHED = 'it cannot connect to volume'
# What one says that lacks resources, and the check of live migrations of servers with devices.
OCCUPIED = 'Insufficient compute resources', 'non-VIF related PCI'
# The message of a host that has no device for a port.
NO_DEVICE = 'Failed to claim PCI device'
# What one says that refuses to copy a disk.
UNCOPIED = 'injected failure of snapshot'
# The last step of a live migration, and how the fault begins of a server whose host refuses it.
ARRIVAL = 'post_live_migration'
UNSTARTED = f'{ARRIVAL} of guest'


def slow(seed, high, *, low=0, more=''):
    """Each effect takes between so many seconds. more: other delays, as YAML"""
    return _SLOW.format(seed=seed, low=low, high=high, more=more)


def refusing(seed, high, share, rules=(('spawn', 'during'), ('finish_migration', 'before'))):
    """As `slow`; a share of the guests is refused for no lasting reason. rules: (verb, when)"""
    failures = ''.join(
        f'  - {{verb: {verb}, probability: {share}, when: {when}, reschedule: true}}\n'
        for verb, when in rules
    )
    return f'{slow(seed, high)}failures:\n{failures}'


def slow_or_refusing(rng, high, share):
    """One of both, drawn."""
    refuses = rng.choice((False, True))
    seed = rng.randrange(1000)
    return refusing(seed, high, share) if refuses else slow(seed, high)
