"""Expected results of tests, read from a file, and differences of a run from them.

The file lists the tests that do not pass, by reason; all others must pass::

    tempest: 47.0.0
    tests: 605
    not_passing:
      - result: skip
        reason: The guests have no operating system that could be logged in to.
        tests: [tempest.api.compute.…]
"""

import dataclasses
import pathlib

import yaml

from tests.tempest import results

PATH = pathlib.Path('doc', 'source', 'reference', 'tempest.yaml')
OUTCOMES = (results.FAIL, results.SKIP)


@dataclasses.dataclass(frozen=True)
class Exceptional:
    """A test that is not expected to pass."""

    outcome: str
    reason: str


@dataclasses.dataclass(frozen=True)
class Expected:
    """version: of the tests; count: of all of them. not_passing: {test: Exceptional}."""

    version: str
    count: int
    not_passing: dict


def load(text):
    """Return the Expected of a file's text. Raises ValueError for a file that is wrong."""
    content = yaml.safe_load(text)
    found = not_passing(content['not_passing'])
    return Expected(str(content['tempest']), content['tests'], found)


def not_passing(groups):
    """Return {test: Exceptional} of groups with a result, a reason and tests each."""
    found = {}
    for group in groups:
        if group['result'] not in OUTCOMES:
            raise ValueError(f'result is {group["result"]!r}, not one of {OUTCOMES}')
        if not group['reason'].strip():
            raise ValueError(f'No reason is given for {group["tests"]}')
        for name in group['tests']:
            if name in found:
                raise ValueError(f'{name} is listed twice')
            found[name] = Exceptional(group['result'], group['reason'].strip())
    return found


def differences(expected, names, found, *, whole):
    """Return a line for each test that did not come out as expected.

    names: the tests that were to run; found: {test: results.Result}
    whole: whether these are all tests, so that those that Tempest no longer has count too
    """
    lines = []
    if whole and len(names) != expected.count:
        lines.append(f'COUNT {len(names)} tests, expected {expected.count}')
    if whole:
        lines += [
            f'GONE {name}: listed, but Tempest has no such test'
            for name in sorted(set(expected.not_passing) - set(names))
        ]
    for name in sorted(set(names) | set(found)):
        lines += _difference(name, expected.not_passing.get(name), found.get(name))
    return lines


def _difference(name, exceptional, result):
    wanted = exceptional.outcome if exceptional else results.PASS
    if result is None:
        return [f'MISSING {name}: no result, expected {wanted}']
    if result.outcome == wanted:
        return []
    reason = f' ({exceptional.reason})' if exceptional else ''
    line = f'{result.outcome.upper()} {name}: expected {wanted}{reason}'
    return [line, *([f'    {result.reason}'] if result.reason else [])]


def summary(found):
    """Return one line with the numbers of a run."""
    outcomes = [result.outcome for result in found.values()]
    return ', '.join(
        f'{outcomes.count(each)} {each}' for each in (results.PASS, results.FAIL, results.SKIP)
    )
