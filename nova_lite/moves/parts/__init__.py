"""What moves are made of: parts that offer steps, each about one thing and with its own undo."""
