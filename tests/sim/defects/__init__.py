"""Defects that were mended once and can be put back: what the simulation must find."""
