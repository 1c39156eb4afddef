"""Reduce the choices of a failing history to those it needs."""

import re

# What differs between two histories that found the same.
VARIABLE = re.compile(r'[0-9a-f]{8}-[0-9a-f-]{27}|\d+')


def headline(failure):
    """Return the first line of a failure without numbers and ids: what makes it the same."""
    return VARIABLE.sub('#', failure.partition('\n')[0])


def reduced(run, outcome, most_runs=200):
    """Suppress choices while the same failure is found; return the last failing outcome.

    run(suppressed): lives through the history without these choices, (stream, number) each
    outcome: of the history with all of them

    Return (outcome, suppressed). A choice that is suppressed may change all that come after,
    so that the remaining ones are always those of the last failing run.
    """
    wanted = headline(outcome.failure)
    suppressed = []
    size = max(1, len(outcome.choices) // 2)
    at = 0
    for _ in range(most_runs):
        choices = [(stream, number) for stream, number, _what in outcome.choices]
        if at >= len(choices):
            if size == 1:
                break
            size, at = size // 2, 0
            continue
        without = suppressed + choices[at : at + size]
        found = run(without)
        if not found.ok and headline(found.failure) == wanted:
            outcome, suppressed = found, without
        else:
            at += size
    return outcome, suppressed
