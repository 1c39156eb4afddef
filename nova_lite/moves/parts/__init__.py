"""Parts of moves. Each offers the steps about one thing, with their undo."""
