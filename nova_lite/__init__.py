"""nova_lite: a Nova-compatible compute control plane over simulated hosts."""

import sys

# Libraries import eventlet when it happens to be installed, only to look at it.
# We run on native threads; without it each process is 17 MB smaller.
sys.modules.setdefault('eventlet', None)
