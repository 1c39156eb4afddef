"""Tables and progress of commands, on a terminal and in a file."""
