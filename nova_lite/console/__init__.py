"""Progress and tables of commands, on a terminal and elsewhere."""
