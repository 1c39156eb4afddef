"""Rules for each point of a history, and for its end."""
