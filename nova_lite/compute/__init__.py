"""The compute daemon: guests and resources of one or more hosts.

It holds no database: records travel by the cell conductor. `manager` answers
RPC; each theme has its module.
"""
