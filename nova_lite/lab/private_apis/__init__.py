"""Undocumented names of libraries that only the lab uses, as `nova_lite.private_apis` has them."""
