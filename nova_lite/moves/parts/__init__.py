"""Parts of moves. Each has the steps about one subject, such as ports, with their undo."""
