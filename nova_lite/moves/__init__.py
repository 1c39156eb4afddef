"""Sagas: one module for each operation of many steps, and shared modules."""
