"""Replays of traces: which hosts the scheduler chooses for recorded requests.

`readers` read traces of virtual machines, and `trace` puts them in the order of time. `decider`
passes each request to the scheduler's own `decide.Decision` and claims in the real placement;
there are no servers: `tracked_hosts` and `tracked_candidates` keep what their records and
placement's answers would say. `figures` measures the hosts, and `study` does all that for one or
more settings.
"""
