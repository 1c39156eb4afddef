"""Replays of traces: which hosts the scheduler chooses for recorded requests.

`readers` read traces of virtual machines, and `trace` puts them in the order of time. `decider`
passes each request to the scheduler's own `decide.Decision` and claims in the real placement;
no server is created: `tracked_hosts` and `tracked_candidates` keep the values that records of
servers and placement's answers would have. `figures` measures the hosts. `study` does all of this
for one or more settings.
"""
