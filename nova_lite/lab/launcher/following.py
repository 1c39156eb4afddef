"""Read the notifications of a running cloud as they arrive, and format them for people."""

from collections.abc import Generator
import contextlib
import json
import sys
import typing

from oslo_config import cfg
from oslo_log import log
import oslo_messaging

from nova_lite import cells as cells_module
from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import transactions
from nova_lite.lab.launcher import events_endpoint
from nova_lite.lab.launcher import tap
from nova_lite.notify import outlets
from nova_lite.rpc import buses
from nova_lite.rpc import transport

LOG = log.getLogger(__name__)

LOOK_S = 1.0
AGAIN_S = 2.0

Messages: typing.TypeAlias = Generator[tap.Notification, None, None]


class NotSent(exception.Invalid):
    msg = (
        'The daemons send no notifications. To use this command, set [oslo_messaging_notifications]driver = messagingv2 in a '
        'file that all of them read, and restart them.'
    )


def follow(conf: cfg.ConfigOpts) -> Messages:
    """Yield the notifications of all buses, and {'dropped': number} where some were lost.

    Raise NotSent if the daemons send no notifications.
    """
    if conf.transport_url.startswith(transport.EMBEDDED):
        return _of_embedded(conf)
    if not outlets.drivers(conf):
        raise NotSent()
    return _of_buses(conf)


def show(conf: cfg.ConfigOpts, *, server: str | None, count: int | None, as_json: bool) -> None:
    """Print notifications as they arrive, one in each line, until an interrupt.

    server: uuid; print only notifications about this server
    count: number of notifications after which to end, or None
    """
    found = follow(conf)
    shown = 0
    try:
        for message in found:
            if 'dropped' in message:
                print(f'{message["dropped"]} notifications were lost', file=sys.stderr)
                continue
            if server and server_of(message) != server:
                continue
            print(json.dumps(message) if as_json else line_of(message), flush=True)
            shown += 1
            if shown == count:
                break
    except KeyboardInterrupt:
        print(file=sys.stderr)
    finally:
        found.close()


def _listening(count: object) -> None:
    print(f'Following the notifications of {count} buses', file=sys.stderr, flush=True)


def _of_embedded(conf: cfg.ConfigOpts) -> Messages:
    is_listening = False
    for message in events_endpoint.follow(conf.state_path):
        if not is_listening:
            # The first line is empty, and comes when the cloud has begun to collect them.
            is_listening = True
            _listening('all')
        if message is not None:
            yield message


def _of_buses(conf: cfg.ConfigOpts) -> Messages:
    """Yield the messages of all buses as they arrive. Reconnect to a bus after a failure."""
    stopping = runtime.Event()
    arrived: runtime.Queue[tap.Notification] = runtime.Queue()
    urls = _urls(conf)
    ready = [runtime.Event() for _url in urls]
    threads = [
        runtime.spawn(_follow, conf, url, arrived, stopping=stopping, began=began)
        for url, began in zip(urls, ready, strict=True)
    ]
    try:
        for began in ready:
            runtime.wait(began)
        _listening(len(urls))
        while True:
            yield arrived.get()
    finally:
        stopping.set()
        for thread in threads:
            thread.join()


def _urls(conf: cfg.ConfigOpts) -> list[str]:
    only = conf.oslo_messaging_notifications.transport_url
    if only:
        return [only]
    api_db = transactions.Database(conf.api_database.connection)
    cells = cells_module.Cells(conf, api_db)
    try:
        urls = [conf.transport_url, *(cell.bus_url for cell in cells.every(cell0=False))]
    finally:
        cells.close()
        api_db.dispose()
    # Several cells may share a bus.
    return list(dict.fromkeys(urls))


def _follow(
    conf: cfg.ConfigOpts,
    url: str,
    arrived: runtime.Queue[tap.Notification],
    *,
    stopping: runtime.Event,
    began: runtime.Event,
) -> None:
    """Put the messages of one bus into `arrived`, in a thread.

    began: set when the bus is connected, and after the first failure to connect
    """
    name = transport.name_of(url)
    while not stopping.is_set():
        try:
            topics = conf.notifications.versioned_notifications_topics
            with_queue = tap.opened(conf, url, topics)
        except (oslo_messaging.MessagingException, *buses.LOST) as error:
            LOG.warning('Cannot reach bus %s: %s. Retrying in %s s.', name, error, AGAIN_S)
            began.set()
            runtime.wait(stopping, AGAIN_S)
            continue
        began.set()
        try:
            with contextlib.closing(with_queue):
                while not stopping.is_set():
                    for message in with_queue.take(LOOK_S):
                        arrived.put({'bus': name, **message})
        except with_queue.errors as error:
            LOG.warning('Lost the connection to bus %s: %s. Reconnecting.', name, error)


def server_of(message: tap.Notification) -> str | None:
    """Return the uuid of the server that a notification is about, or None."""
    data: dict[str, typing.Any] = message['payload'].get('nova_object.data', {})
    if message['event_type'].startswith('instance.'):
        return data.get('uuid')
    return data.get('instance_uuid')


def line_of(message: tap.Notification) -> str:
    """Return a notification as one line for people."""
    data = message['payload'].get('nova_object.data', {})
    fault = data.get('fault') or data.get('reason')
    texts = [
        message['timestamp'][11:23],
        f'{message["bus"]:<10}',
        f'{message["publisher_id"]:<28}',
        f'{message["event_type"]:<44}',
        server_of(message) or data.get('name') or data.get('host') or '',
        data.get('state') or '',
        fault['nova_object.data']['exception_message'] if fault else '',
        data.get('exception_message', ''),
    ]
    return ' '.join(text for text in texts if text).rstrip()
