"""RPC interfaces of the daemons, used by clients and servers."""
