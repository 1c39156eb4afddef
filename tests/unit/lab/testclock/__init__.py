"""Tests of the clock that a test freezes and advances."""
