"""WSGI applications, the HTTP servers that run them, and the proxy to other processes."""
