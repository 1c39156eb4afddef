"""Servers that wait for their users, or for a time to pass: a restore ends no wait."""

from tests.sim import kernel

STATUSES = ('VERIFY_RESIZE', 'SHELVED', 'SOFT_DELETED')
# Seconds after the last request by which nothing is under way, and after a restore by which
# each search for what is due has run.
REST_S, SEARCHED_S = 30, 40


def judge(caller, ledger, restore):
    """Restore a state of the cloud; a violation names a server that does not wait any more."""
    kernel.current().sleep(REST_S)
    before = _waiting(caller, ledger)
    restore()
    kernel.current().sleep(SEARCHED_S)
    for status in before.values():
        ledger.count(f'restored {status}')
    for wrong in ended(before, _waiting(caller, ledger)):
        ledger.violation(wrong)


def ended(before, after):
    """Yield waits that a restore has ended. before, after: {id of a server that waits: status}"""
    for uuid, status in before.items():
        if after.get(uuid) != status:
            yield f'{uuid} was {status} when its cloud was saved, and is not any more'


def _waiting(caller, ledger):
    """Return {id: status} of the servers that wait."""
    found = {}
    for uuid in dict.fromkeys((*ledger.standing(), *ledger.deletions.kept())):
        code, shown = caller.send('show', 'GET', f'/servers/{uuid}')
        if code == 200 and shown['server']['status'] in STATUSES:
            found[uuid] = shown['server']['status']
    return found
