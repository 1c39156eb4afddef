"""Undocumented names of kombu that we use."""

import typing

from kombu import transport
from kombu.transport import virtual

from nova_lite.private_apis import guard

LIBRARY = guard.Library('kombu', lowest='5.5.3', newest='5.7.0')

with LIBRARY.declared():
    LIBRARY.has(transport, 'TRANSPORT_ALIASES')
    # Overridden by lab.memory_broker, or called there.
    LIBRARY.takes(virtual.Channel, '_lookup', 'exchange', 'routing_key', 'default')
    LIBRARY.takes(virtual.Channel, '_inplace_augment_message', 'message', 'exchange', 'routing_key')
    LIBRARY.takes(virtual.Channel, '_put', 'queue', 'message')
    LIBRARY.takes(virtual.Channel, '_get', 'queue', 'timeout')
    for _name in ('_new_queue', '_has_queue', '_size', '_purge'):
        LIBRARY.takes(virtual.Channel, _name, 'queue')
    LIBRARY.has(virtual.Channel, '_reset_cycle', 'after_reply_message_received')
    LIBRARY.keeps(virtual.Channel, '_tag_to_queue')
    LIBRARY.has(virtual.Transport, '_deliver')


def use_transport(scheme: str, path: str) -> None:
    """Make kombu use the class at `path` (module:class) for a URL's scheme in this process."""
    transport.TRANSPORT_ALIASES[scheme] = path


def deliver(connection: virtual.Transport) -> typing.Callable[[dict[str, typing.Any], str], None]:
    """Return the function f(message, queue) that hands a message to the consumers of a queue."""
    found: typing.Callable[[dict[str, typing.Any], str], None] = connection._deliver
    return found
