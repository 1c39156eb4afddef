"""Glance v2: images with their data, properties, tags and members."""
