"""Outlets: one bus each, with a thread and a bounded queue of its own.

An outlet handles every error of its bus. It drops a notification that it cannot send, and logs
the error. During the pause that follows it drops further notifications without trying; then it
tries to send the next one. Only the outlet's own thread waits for a broker.
"""

import dataclasses
import typing

from oslo_config import cfg
from oslo_log import log
import oslo_messaging

from nova_lite import runtime
from nova_lite.private_apis import messaging
from nova_lite.rpc import buses
from nova_lite.rpc import transport
from nova_lite.runtime import workers

LOG = log.getLogger(__name__)

Json: typing.TypeAlias = dict[str, typing.Any]

MESSAGING = {'messaging': 1.0, 'messagingv2': 2.0}
SILENT = ('noop',)
CLOSE_S = 2.0


def drivers(conf: cfg.ConfigOpts) -> list[str]:
    """Return the names of the configured drivers, without those that send nothing."""
    found = conf.oslo_messaging_notifications.driver
    return [name for name in found if name not in SILENT]


@dataclasses.dataclass(frozen=True, slots=True)
class Message:
    """One notification, ready to be sent."""

    body: Json
    legacy: Json | None
    context: Json

    @property
    def priority(self) -> str:
        priority: str = self.body['priority']
        return priority

    @property
    def publisher_id(self) -> str:
        publisher_id: str = self.body['publisher_id']
        return publisher_id

    def bodies(self, conf: cfg.ConfigOpts) -> list[tuple[list[str], Json]]:
        """Return [(topics, body), ...] in the configured formats."""
        wanted = conf.notifications.notification_format
        found = []
        if wanted != 'unversioned':
            found.append((conf.notifications.versioned_notifications_topics, self.body))
        if wanted != 'versioned' and self.legacy is not None:
            found.append((conf.oslo_messaging_notifications.topics, self.legacy))
        return found


class Outlet:
    """Sends to the bus at `url`. name: name of the bus, for logs and listeners"""

    def __init__(self, conf: cfg.ConfigOpts, name: str, url: str) -> None:
        self.name = name
        self._conf, self._url = conf, conf.oslo_messaging_notifications.transport_url or url
        self._drivers = drivers(conf)
        self._line = workers.Line(conf.notifications.queue_size)
        self._bus: oslo_messaging.Transport | None = None
        self._dropped = 0
        self._again_at = 0.0

    def send(self, message: Message) -> None:
        """Queue a message and return at once."""
        if not self._line.put(self._send, message):
            self._dropped += 1

    def close(self) -> None:
        """Send the waiting messages, for a moment at most, and close the bus."""
        self._line.finish(self._give_back, CLOSE_S)

    # ---- the thread ----

    def _give_back(self) -> None:
        if self._bus is not None:
            self._bus.cleanup()

    def _send(self, message: Message) -> None:
        if runtime.monotonic() < self._again_at:
            self._dropped += 1
            return
        try:
            self._deliver(message)
        except Exception as error:
            # No error of a broker, TLS or a driver may end the thread.
            self._again_at = runtime.monotonic() + self._conf.notifications.pause_s
            self._dropped += 1
            LOG.warning(
                'Cannot send notifications to bus %s: %s: %s. Dropping them for %s s.',
                self.name,
                type(error).__name__,
                error,
                self._conf.notifications.pause_s,
            )
            return
        if self._dropped:
            LOG.warning('Bus %s answers again. Dropped %s notifications.', self.name, self._dropped)
            self._dropped = 0

    def _deliver(self, message: Message) -> None:
        if self._bus is None:
            self._bus = transport.open_notifications(self._conf, self._url)
        for topics, body in message.bodies(self._conf):
            for driver in self._drivers:
                if driver in MESSAGING and buses.of(self._bus).shares:
                    self._publish(topics, message, body, MESSAGING[driver])
                else:
                    self._by_driver(driver, topics, message, body)

    def _publish(self, topics: list[str], message: Message, body: Json, version: float) -> None:
        # oslo.messaging's Notifier is not used: it would hide that a broker does not answer.
        for topic in topics:
            messaging.send_notification(
                self._bus,
                oslo_messaging.Target(topic=f'{topic}.{message.priority.lower()}'),
                message.context,
                body,
                version=version,
                retry=self._conf.oslo_messaging_notifications.retry,
            )

    def _by_driver(self, driver: str, topics: list[str], message: Message, body: Json) -> None:
        notifier = oslo_messaging.Notifier(
            self._bus, message.publisher_id, driver=driver, topics=topics
        )
        send = getattr(notifier, message.priority.lower())
        send({}, body['event_type'], body['payload'])
