"""nova_lite: a Nova-compatible compute control plane over simulated hosts."""

import sys

# Libraries import eventlet when it happens to be installed, only to look at it.
# We run on native threads; without it each process is 17 MB smaller.
sys.modules.setdefault('eventlet', None)  # type: ignore[arg-type]  # None stops the import
# Mako, of Alembic, would import pygments with the lexers of many languages, 5 MB, to color errors
# of templates.
sys.modules.setdefault('mako.ext.pygmentplugin', None)  # type: ignore[arg-type]  # as above

from oslo_service import backend  # noqa: E402

# oslo.service falls back to eventlet unless someone chose before its first use, and
# oslo.messaging uses it when imported. A hook and no more: the sample generator may
# have loaded another package's options, and with them eventlet, before it comes here.
backend.register_backend_default_hook(lambda: backend.BackendType.THREADING)
