"""Files of the live page, which its server sends as they are."""
