"""Tests of whole clouds that run in the simulation.

A module whose tests are to run there has `load_tests = loading.load_tests`. Its tests are
then played by another interpreter, in which the kernel is applied before anything else.
"""
