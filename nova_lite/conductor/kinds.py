"""Which saga class runs which kind of journal row."""

KINDS = {}
