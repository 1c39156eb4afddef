"""Keystone v3: domains, projects, users, roles, tokens and the catalog."""
