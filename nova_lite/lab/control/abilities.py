"""Abilities of a cloud that not every kind of cloud has. Drills ask for them before they begin."""

CLOCK, DEBUGGER = 'a clock that can be changed', 'the debugger'
REQUESTS, BUSES = 'faults of requests to services', 'faults of buses'
DATABASES = 'faults of databases'
