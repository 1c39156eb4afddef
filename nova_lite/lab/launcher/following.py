"""Read the notifications of a running cloud as they arrive, and format them for people."""

import json
import sys

from oslo_log import log
import oslo_messaging

from nova_lite import cells as cells_module
from nova_lite import exception
from nova_lite import runtime
from nova_lite.db import transactions
from nova_lite.lab.launcher import events_endpoint
from nova_lite.lab.launcher import tap
from nova_lite.notify import outlets
from nova_lite.rpc import transport

LOG = log.getLogger(__name__)

LOOK_S = 1.0
AGAIN_S = 2.0


class NotSent(exception.Invalid):
    msg = (
        'The daemons send no notifications. To use this command, set [oslo_messaging_notifications]driver = messagingv2 in a '
        'file that all of them read, and restart them.'
    )


def follow(conf):
    """Yield the notifications of every bus, and {'dropped': number} where some were lost.

    Raise NotSent if none is sent.
    """
    if conf.transport_url.startswith(transport.EMBEDDED):
        return _of_embedded(conf)
    if not outlets.drivers(conf):
        raise NotSent()
    return _of_buses(conf)


def show(conf, *, server, count, as_json):
    """Print notifications as they arrive, each in a line, until an interrupt.

    server: uuid of the only one of interest, or None; count: after how many to end, or None
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


def _listening(count):
    print(f'Following the notifications of {count} buses', file=sys.stderr, flush=True)


def _of_embedded(conf):
    found = events_endpoint.follow(conf.state_path)
    next(found)
    _listening('all')
    yield from (message for message in found if message is not None)


def _of_buses(conf):
    """Yield messages of every bus as they arrive. Reconnect to a bus that was lost."""
    stopping, arrived = runtime.Event(), runtime.Queue()
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


def _urls(conf):
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


def _follow(conf, url, arrived, *, stopping, began):
    """Run in a thread: put the messages of one bus into `arrived`.

    began: set when the bus is connected, and after the first failure to connect
    """
    name = transport.name_of(url)
    while not stopping.is_set():
        try:
            with_queue = tap.Tap(conf, url, conf.notifications.versioned_notifications_topics)
        except oslo_messaging.MessagingException as error:
            LOG.warning('Cannot reach bus %s: %s. Retrying in %s s.', name, error, AGAIN_S)
            began.set()
            runtime.wait(stopping, AGAIN_S)
            continue
        began.set()
        try:
            while not stopping.is_set():
                for message in with_queue.take(LOOK_S):
                    arrived.put({'bus': name, **message})
        except with_queue.errors as error:
            LOG.warning('Lost the connection to bus %s: %s. Reconnecting.', name, error)
        finally:
            with_queue.close()


def server_of(message):
    """Return the uuid of the server a notification is about, or None."""
    data = message['payload'].get('nova_object.data', {})
    if message['event_type'].startswith('instance.'):
        return data.get('uuid')
    return data.get('instance_uuid')


def line_of(message):
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
