"""Watchers of the chaos test: lists that must be complete, guests that must run once."""

from nova_lite import runtime
from tests.chaos import caller

PAGE = 7
PAUSE_S = 0.5
# A guest is seen twice when it moves while the files are read one after the other.
LOOKS, BETWEEN_S = 3, 0.3


class Lister:
    """Lists all servers page by page and whole; each must be there once."""

    def __init__(self, cloud, ledger, stop):
        self._ledger, self._stop = ledger, stop
        self._caller = caller.Caller(cloud, ledger, 'lister')
        self.rounds = 0

    def run(self):
        """List until the event is set."""
        while not runtime.wait(self._stop, PAUSE_S):
            for read in (self._pages, self._whole):
                self._look(read)

    def _look(self, read):
        before, began = self._ledger.standing(), self._ledger.at()
        found = read()
        if found is None:
            return
        self.rounds += 1
        twice = sorted({uuid for uuid in found if found.count(uuid) > 1})
        if twice:
            self._ledger.violation('doubly listed server', f'{read.__name__}: {twice}')
        missing = (before & self._ledger.standing()) - {*found}
        # A cell that does not answer is left out of a list.
        if missing and not self._ledger.explained(began):
            self._ledger.violation('server missing from a list', f'{read.__name__}: {missing}')

    def _whole(self):
        code, found = self._caller.send('list', 'GET', '/servers/detail')
        return [each['id'] for each in found['servers']] if code == 200 else None

    def _pages(self):
        listed, path = [], f'/servers?limit={PAGE}'
        while True:
            code, found = self._caller.send('list', 'GET', path)
            if code != 200:
                # The marker may have been deleted.
                return None
            page = [each['id'] for each in found['servers']]
            listed += page
            if len(page) < PAGE:
                return listed
            path = f'/servers?limit={PAGE}&marker={page[-1]}'


class Census:
    """Reads the files of the simulated hosts; no guest may run on two of them."""

    def __init__(self, cloud, ledger, stop):
        self._cloud, self._ledger, self._stop = cloud, ledger, stop
        self._told = set()
        self.rounds = 0

    def run(self):
        """Look until the event is set."""
        while not runtime.wait(self._stop, PAUSE_S):
            self.rounds += 1
            for uuid, nodes in self._twice().items():
                if uuid not in self._told:
                    self._told.add(uuid)
                    self._ledger.violation('double run', f'{uuid} runs on {nodes}')

    def _twice(self):
        """Return {server: nodes} of the guests that run twice in all of some looks."""
        lasting = None
        for _look in range(LOOKS):
            found = {uuid: nodes for uuid, nodes in self._cloud.guests().items() if len(nodes) > 1}
            lasting = found if lasting is None else {u: n for u, n in found.items() if u in lasting}
            if not lasting:
                return {}
            runtime.sleep(BETWEEN_S)
        return lasting
