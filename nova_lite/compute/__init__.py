"""The compute daemon's logic: guests and capacity of one or many hosts.

It holds no database: records travel by the cell conductor. `manager` answers
RPC; each theme has its module.
"""
