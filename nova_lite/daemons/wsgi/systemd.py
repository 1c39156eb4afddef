"""Messages to the service manager that started this process."""

import os
import socket

from oslo_log import log

LOG = log.getLogger(__name__)


def tell(*lines: str, address: str | None = None) -> None:
    """Send lines such as READY=1 to the service manager that started this process, if any.

    address: the manager's socket, if the environment no longer has it
    """
    address = address or os.environ.get('NOTIFY_SOCKET')
    if not address:
        return
    if address.startswith('@'):
        address = '\0' + address[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        try:
            notify.sendto('\n'.join(lines).encode(), address)
        except OSError as error:
            LOG.warning('Cannot notify the service manager of %s: %s', lines, error)
