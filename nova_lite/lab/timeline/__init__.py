"""Timelines of sagas from the journal, on a terminal or as an HTML page."""
