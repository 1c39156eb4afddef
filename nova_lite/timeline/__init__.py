"""Sagas as they went, drawn on a terminal or as a page, from what the journal tells."""
