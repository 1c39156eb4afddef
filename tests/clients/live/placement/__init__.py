"""Stands for the package placement in the environment of osc-placement's tests.

They start a placement in their own process; with this they ask that of the cloud.
"""
