"""The audit of a real nova: its databases and the services around it, read only.

`schema` knows nova's tables, `databases` opens them, `services` asks placement, Neutron and Cinder,
and `reading` makes snapshots of both. `catalogue` has the invariants with the commands that restore
them; each is a plain function of a snapshot. `command` is `nova-lite verify --nova`.
"""
