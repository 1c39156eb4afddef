"""The method of all RPC servers besides their interfaces: it says that the server answers."""

import oslo_messaging

from nova_lite import context

NAME, WAIT_S = 'nova_lite_ping', 4


class Endpoint:
    """Answers a ping."""

    @oslo_messaging.expose  # type: ignore[untyped-decorator]  # is not typed
    def nova_lite_ping(self, ctxt: context.RequestContext) -> str:
        return 'pong'
