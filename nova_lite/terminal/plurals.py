"""Numbers with a noun in texts for people."""


def of(count: int, noun: str) -> str:
    """Return a number and a noun whose plural ends with s, such as `1 cell` or `2 cells`."""
    return f'{count} {noun}' if count == 1 else f'{count} {noun}s'
