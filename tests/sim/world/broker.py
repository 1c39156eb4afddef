"""The buses: messages may come late or twice or not, and those of the dead come back.

A process may lose its connections to a bus. What it has not acknowledged comes back to the
queues, and for a while the bus refuses new connections. A bus may be frozen: it accepts what is
sent, and answers and delivers nothing until it is healed.
"""

import amqp

from nova_lite.lab import memory_broker
from tests.sim import kernel

LOST, TWICE = 'lost', 'twice'
REPLY = 'reply_'
# In place of a queue's name: the connection on which this arrives is lost.
CLOSED = object()
# Seconds by which messages come later: 'late' ones not before who sent them gave up.
DELAYS_S = {'late': (0.1, 2, 15, 60), 'slow': (0.3, 1, 3)}


class Broker(memory_broker.Broker):
    """One bus. faults: a faults.Faults; kinds are 'call' and 'reply'"""

    def __init__(self, name, faults):
        super().__init__()
        self.name, self.faults = name, faults
        self._channels, self._refused_until = {}, {}

    def put(self, name, message):
        self.require_connection()
        kind = 'reply' if name.startswith(REPLY) else 'call'
        kernel.current().point('bus: put', f'{self.name} {kind_of(name)}')
        fate = self.faults.draw(kind, kind_of(name), self.name, message)
        if fate == LOST:
            return
        if fate in DELAYS_S:
            seconds = kernel.current().stream('bus').choice(DELAYS_S[fate])
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
        if name is CLOSED:
            raise _lost('closed')
        message = super().get(name)
        kernel.current().log('bus: get', f'{self.name} {kind_of(name)}')
        return message

    def consume(self, name, channel):
        self.require_connection()
        process = kernel.current().here
        known = self._channels.get(process)
        if known is None:
            known = self._channels[process] = {}
            process.on_kill(lambda: self._killed(process))
        known[id(channel)] = channel
        super().consume(name, channel)

    def lose(self, process, seconds):
        """Close the connections of a process, and refuse it new ones for so many seconds."""
        known = self._channels.get(process, {})
        channels = list(known.values())
        self._give_back(channels)
        known.clear()
        self._refused_until[process] = kernel.current().time() + seconds
        for channel in channels:
            channel.tell(CLOSED)

    def require_connection(self, since=None):
        """Raise an error of the library if the process may not use the bus at this time."""
        super().require_connection(since)
        now = kernel.current()
        if now.time() < self._refused_until.get(now.here, 0):
            raise _lost('refused')

    def _killed(self, process):
        self._give_back(self._channels.pop(process, {}).values())

    def _give_back(self, channels):
        """Give what consumers had not acknowledged to others."""
        for channel in channels:
            with self.lock:
                for name in [n for n, found in self.consumers.items() if channel in found]:
                    self.cancel(name, channel)
            unacknowledged = list(channel.qos._delivered.values())
            channel.qos._delivered.clear()
            for message in unacknowledged:
                channel._restore(message)


def _lost(how):
    return amqp.RecoverableConnectionError(f'the connection is {how}')


def kind_of(name):
    """The name of a queue without what differs from run to run."""
    return REPLY if name.startswith(REPLY) else name


def install(names, faults):
    """Make the buses of these names ours; {the last word of a name: Broker}."""
    memory_broker.install()
    for name in names:
        memory_broker._brokers[name] = Broker(name.rpartition('-')[2], faults)
    return {memory_broker._brokers[name].name: memory_broker._brokers[name] for name in names}
