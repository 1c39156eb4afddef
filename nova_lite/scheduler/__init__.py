"""The scheduler: selects the host of a server.

`manager` answers the calls and holds what has effects: `candidates` (what
placement offers), `snapshot` (what the cells say of their hosts), `allocation_claims`.
`select` decides, as a pure function, with `filters` and `weighers`.
Source: reference/nova/scheduling.
"""
