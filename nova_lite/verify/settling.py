"""Read pictures of a cloud until nothing is found, or what is found stays."""

from nova_lite import context
from nova_lite import runtime
from nova_lite.verify import invariants

# Seconds between two looks: the first, and the longest.
FIRST_PAUSE_S, LOOK_S = 0.05, 0.5


def look(reader, *, settle_s=10.0, bound_s=300.0, tell=lambda text: None):
    """What breaks an invariant in the cloud that `reader` shows.

    Looks again until nothing is found or `settle_s` seconds are over; then only
    findings of every picture count. tell: called with what is looked at
    """
    deadline = runtime.monotonic() + settle_s
    pause_s, lasting = FIRST_PAUSE_S, None
    while True:
        found = set(invariants.check(reader.read(context.admin()), bound_s))
        lasting = found if lasting is None else lasting & found
        left = deadline - runtime.monotonic()
        if not found or left <= 0:
            return sorted(lasting if found else ())
        tell(f'looking again for {left:.0f} s: {len(lasting)} findings may be work in progress')
        runtime.sleep(pause_s)
        pause_s = min(LOOK_S, pause_s * 2)
