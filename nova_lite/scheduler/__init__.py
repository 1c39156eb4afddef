"""The scheduler: selects the host of a server.

`manager` answers the calls. `candidates` (allocation candidates of placement), `host_states` (the
cells' records of their hosts) and `allocation_claims` have effects. `select` decides, as a pure
function, with `filters` and `weighers`.
Source: reference/nova/scheduling.
"""
