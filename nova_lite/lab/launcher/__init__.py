"""The cloud of `nova-lite up`: its files, configuration, processes and verification."""
