"""How fast a running cloud is and what it costs, measured through its API."""
