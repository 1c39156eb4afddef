"""Measure nova and nova_lite side by side; see tools/compare_with_nova.py."""
