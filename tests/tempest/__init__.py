"""Tempest's compute tests against a cloud, compared with the result expected of each."""
