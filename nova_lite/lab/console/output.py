"""Output of commands, as JSON or for people."""

import json


def show(found, as_text, *, as_json):
    """Print what was found as JSON, or have `as_text(found)` print it for people."""
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        as_text(found)
