"""WSGI applications that servers load by name: wiring, no behaviour of their own."""
