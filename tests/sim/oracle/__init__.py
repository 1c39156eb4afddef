"""What must hold at each point of a history, and at its end."""
