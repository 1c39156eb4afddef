"""RPC over oslo.messaging: one declaration of an interface for its client and its server.

`interface` declares and binds, `transport` opens buses, `driver` lets one listener serve many
hosts.
"""

from nova_lite.rpc.interface import call
from nova_lite.rpc.interface import cast
from nova_lite.rpc.interface import Interface

__all__ = ('Interface', 'call', 'cast')
