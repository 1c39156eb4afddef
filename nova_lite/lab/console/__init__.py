"""Words and tables of the commands of `nova-lite`."""
