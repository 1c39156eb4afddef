"""Other people's programs, unmodified, against a cloud: what they do must succeed."""
