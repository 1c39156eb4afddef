"""RPC over oslo.messaging: one declaration of an interface for both its ends.

`interface` declares and binds, `transport` opens buses, `driver` lets one
listener serve many hosts, `embedded` is the bus inside one process.
"""

from oslo_service import backend

# Must run before any other import of oslo.service: it decides for native
# threads, and keeps eventlet out of the process.
if backend.get_backend_type() is None:
    backend.init_backend(backend.BackendType.THREADING)

from nova_lite.rpc.interface import Interface  # noqa: E402
from nova_lite.rpc.interface import call  # noqa: E402
from nova_lite.rpc.interface import cast  # noqa: E402

__all__ = ('Interface', 'call', 'cast')
