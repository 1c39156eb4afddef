"""The buses: messages may come late or twice or not, and those of the dead come back."""

from nova_lite.rpc import embedded
from tests.sim import kernel

LOST, TWICE, LATE = 'lost', 'twice', 'late'
REPLY = 'reply_'
DELAYS_S = (0.1, 2, 15, 60)


class Broker(embedded.Broker):
    """One bus. faults: a faults.Faults; kinds are 'call' and 'reply'"""

    def __init__(self, name, faults):
        super().__init__()
        self.name, self.faults = name, faults
        self._channels = {}

    def put(self, name, message):
        kind = 'reply' if name.startswith(REPLY) else 'call'
        kernel.current().point('bus: put', f'{self.name} {kind_of(name)}')
        fate = self.faults.draw(kind, kind_of(name), self.name, message)
        if fate == LOST:
            return
        if fate == LATE:
            seconds = kernel.current().stream('bus').choice(DELAYS_S)
            self.faults.injected[-1].end += seconds
            kernel.current().world.spawn(self._put_later, name, message, seconds, name='bus')
            return
        super().put(name, message)
        if fate == TWICE:
            super().put(name, message)

    def _put_later(self, name, message, seconds):
        kernel.current().sleep(seconds)
        super().put(name, message)

    def get(self, name):
        message = super().get(name)
        kernel.current().log('bus: get', f'{self.name} {kind_of(name)}')
        return message

    def consume(self, name, channel):
        process = kernel.current().here
        known = self._channels.get(process)
        if known is None:
            known = self._channels[process] = {}
            process.on_kill(lambda: self._killed(process))
        known[id(channel)] = channel
        super().consume(name, channel)

    def _killed(self, process):
        """Give what a process's consumers had not acknowledged to others."""
        for channel in self._channels.pop(process, {}).values():
            with self.lock:
                for name in [n for n, found in self.consumers.items() if channel in found]:
                    self.cancel(name, channel)
            for message in list(channel.qos._delivered.values()):
                channel._restore(message)


def kind_of(name):
    """The name of a queue without what differs from run to run."""
    return REPLY if name.startswith(REPLY) else name


def install(names, faults):
    """Make the buses of these names ours."""
    for name in names:
        embedded._brokers[name] = Broker(name.rpartition('-')[2], faults)
