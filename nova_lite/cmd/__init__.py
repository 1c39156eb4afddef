"""Commands and daemons' entry points: they parse arguments and call a library."""
