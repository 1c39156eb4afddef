"""Consoles: opened whatever is done to a server, but not while it migrates or is deleted."""

from tests.sim.oracle import effects
from tests.sim.oracle import refusals
from tests.sim.workload import codes

# The tasks during which nova refuses a console (Launchpad bug 1968618).
REFUSED = ('migrating', 'deleting')
VNC = {'remote_console': {'protocol': 'vnc', 'type': 'novnc'}}


def ask(caller, ledger, server):
    """Ask for a console; a violation if it is opened when it should be refused.

    caller: a caller.Caller; ledger: a ledger.Ledger; server: as it was just shown
    """
    path = f'/servers/{server["id"]}'
    code, _found = caller.send('console', 'POST', f'{path}/remote-consoles', VNC)
    if code in codes.DONE and server.get(effects.TASK) in REFUSED:
        code, found = caller.send('show again', 'GET', path)
        if code == 200 and must_be_refused(server, found['server']):
            ledger.violation(f'console of {server["id"]} opened: it is {server[effects.TASK]}')


def must_be_refused(before, after):
    """Return whether a server had a task of `REFUSED` all the time between two looks at it."""
    same = all(before.get(key) == after.get(key) for key in refusals.SHOWN)
    return same and before.get(effects.TASK) in REFUSED
