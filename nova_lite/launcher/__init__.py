"""A whole cloud from one command: its files, its configuration, its processes, its verdict."""
