"""What each daemon answers over RPC; used by both ends, and all they share."""
