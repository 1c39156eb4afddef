"""Drills by name: real requests and faults in a running embedded cloud, judged by signals.

A drill is a YAML file in `drills`: requests, faults, the signals that must be seen, and the
findings that `verify` must report. `nova-lite scenario` lists, shows and runs drills.
"""
