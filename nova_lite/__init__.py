"""nova_lite: a Nova-compatible compute control plane over simulated hosts."""

import sys

# Libraries import eventlet when it happens to be installed, only to look at it.
# We run on native threads; without it each process is 17 MB smaller.
sys.modules.setdefault('eventlet', None)

from oslo_service import backend  # noqa: E402

# oslo.service falls back to eventlet unless someone chose before its first use, and
# oslo.messaging uses it when imported. A hook and no more: the sample generator may
# have loaded another package's options, and with them eventlet, before it comes here.
backend.register_backend_default_hook(lambda: backend.BackendType.THREADING)
