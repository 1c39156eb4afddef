"""Former owners of sagas: they write nothing after another owner has taken over.

The fences of hosts and cells refuse such calls. Most would find their effect done already, or
ended by the next owner, so that nothing else shows whether they are refused.
"""

import functools
import os

from oslo_context import context
from oslo_messaging.rpc import dispatcher

from tests.sim import kernel
from tests.sim import totals
from tests.sim.world import shortcuts


class Overtaken:
    """cells: {name: database}; hosts: files of guests; counts: {text: number} of the history

    A database of a cell has seen an epoch when a transaction of it was committed there, a
    process with hosts when that has changed a guest for it. A call that arrived before may end.
    """

    def __init__(self, cells, hosts, counts):
        # A server of databases names them where files have paths.
        self._cells = {name: name for name in cells}
        self._cells |= {os.path.realpath(path): name for name, path in cells.items()}
        self._hosts = [os.path.realpath(path) for path in hosts]
        self._counts = counts
        # {(name of a cell or process, saga): its newest epoch}
        self._seen = {}
        # {thread: that its call came from a former owner}
        self._late = {}

    def listen(self):
        """Hear of each call that is dispatched from now on, until the process ends."""
        shortcuts.replace(dispatcher.RPCDispatcher, '_do_dispatch', self._judging)

    def _judging(self, dispatch):
        @functools.wraps(dispatch)
        def judging(server, endpoint, method, ctxt, args):
            thread = kernel.current().running
            self.began(thread, ctxt, method)
            try:
                return dispatch(server, endpoint, method, ctxt, args)
            finally:
                self._late.pop(thread, None)

        return judging

    def began(self, thread, ctxt, method):
        """Note whether a call comes from a former owner. ctxt: as it was sent"""
        saga, epoch = ctxt.get('saga'), ctxt.get('epoch')
        if saga is None:
            return
        kind, _, rest = thread.process.name.partition('-')
        place = thread.process.name if kind == 'compute' else rest.partition('-')[0]
        if epoch < self._seen.get((place, saga), epoch):
            self._late[thread] = True
            self._counts[f'{totals.LATE}{kind}'] += 1
            kernel.current().log(f'late call of epoch {epoch}', f'{method} for saga {saga}')

    def committed(self, path):
        """Fail if what was committed comes from a former owner."""
        work = context.get_current()
        if getattr(work, 'saga', None) is None:
            return
        now = kernel.current()
        if path in self._cells:
            self._note(self._cells[path], work)
        elif path in self._hosts:
            name = now.running.home.name
            if now.running in self._late:
                now.fail(f'{name} carries out a call of epoch {work.epoch} of saga {work.saga}')
            self._seen[name, work.saga] = max(work.epoch, self._seen.get((name, work.saga), 0))

    def _note(self, cell, work):
        newest = self._seen.get((cell, work.saga), 0)
        if work.epoch < newest:
            kernel.current().fail(
                f'{cell} has a change of epoch {work.epoch} of saga {work.saga}, which is at {newest}'
            )
        self._seen[cell, work.saga] = work.epoch
