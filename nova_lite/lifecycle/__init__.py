"""What several daemons do to a server: how a move begins, what goes with a server."""
