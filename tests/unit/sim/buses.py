"""Programs that use a bus of the simulation, as kombu does for the daemons."""

import amqp
import kombu

from tests.sim import kernel
from tests.sim.world import broker
from tests.sim.world import faults

AWAY_S = 5
CONFIRM_S, FROZEN_S = 2, 100


def lost_bus():
    """A consumer loses its connection before it acknowledges, and connects again."""
    now = kernel.current()
    bus = broker.install(['top'], faults.Faults())['top']
    daemon = now.process('daemon')
    daemon.spawn(_consume, bus, daemon).join()
    now.log('left', len(bus.queues['work']))


def _consume(bus, daemon):
    now = kernel.current()
    connection = kombu.Connection('memory://top')
    queue = kombu.Queue('work', kombu.Exchange('work', channel=connection), channel=connection)
    queue.declare()
    connection.Producer().publish('a message', routing_key='work')
    received = []

    def take(body, message):
        now.log('take', body)
        received.append(body)
        if len(received) == 1:
            bus.lose(daemon, AWAY_S)
        else:
            message.ack()

    while len(received) < 2:
        try:
            with connection.Consumer([queue], callbacks=[take]):
                while len(received) < 2:
                    connection.drain_events(timeout=60)
        except amqp.RecoverableConnectionError as error:
            now.log('error', error)
            connection.close()
            connection = connection.clone()
            connection.ensure_connection(interval_start=1, interval_step=0, interval_max=1)
            now.log('connected', now.time())
            queue = queue.bind(connection)


def frozen_bus():
    """A bus that is frozen accepts a message without confirming it, and delivers it later."""
    now = kernel.current()
    bus = broker.install(['top'], faults.Faults())['top']
    consumer = now.process('consumer').spawn(_take_one)
    now.process('sender').spawn(_send_one, bus).join()
    now.sleep(FROZEN_S)
    bus.heal()
    consumer.join()


def _take_one():
    kernel.current().log('take', _queue().get().payload)
    kernel.current().log('taken', kernel.current().time())


def _send_one(bus):
    queue = _queue()
    queue.channel.connection.sock.settimeout(CONFIRM_S)
    bus.freeze()
    try:
        queue.put('a message')
    except TimeoutError as error:
        kernel.current().log('error', error)


def _queue():
    return kombu.Connection('memory://top').SimpleQueue('work')
