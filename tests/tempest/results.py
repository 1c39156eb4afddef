"""Results of the tests of a run of Tempest, from the stream of stestr."""

import dataclasses
import re

import subunit
import testtools

PASS, FAIL, SKIP = 'pass', 'fail', 'skip'
STATUS = {'success': PASS, 'skip': SKIP, 'xfail': PASS}
# Characters of an error that are shown.
MESSAGE = 300
# unittest's names of what is done once for a class.
CLASS_FIXTURE = re.compile(r'^(?P<when>setUpClass|tearDownClass) \((?P<name>[^)]+)\)$')


@dataclasses.dataclass(frozen=True)
class Result:
    """outcome: PASS, FAIL or SKIP. reason: the error, or why it was skipped."""

    outcome: str
    reason: str = ''


def bare(test_id):
    """Return the name of a test without its tags: 'x.Class.test[id-…]' is 'x.Class.test'."""
    return test_id.partition('[')[0]


def read(stream, names):
    """Return {test: Result} of a subunit stream, a binary file.

    names: the tests that were to run. A class that cannot be set up, or is skipped, gives
    each of its tests its own result.
    """
    found = {}

    def one(test):
        name, result = test['id'], _result(test)
        fixture = CLASS_FIXTURE.match(name)
        if fixture is None:
            found[bare(name)] = result
        elif fixture['when'] == 'setUpClass':
            prefix = f'{fixture["name"]}.'
            found.update({each: result for each in names if each.startswith(prefix)})
        else:
            found[name] = result

    sink = testtools.StreamToDict(one)
    sink.startTestRun()
    subunit.ByteStreamToStreamResult(stream, non_subunit_name='stdout').run(sink)
    sink.stopTestRun()
    return found


def _result(test):
    details = {
        name: content.as_text().strip()
        for name, content in test['details'].items()
        if content.content_type.type == 'text'
    }
    outcome = STATUS.get(test['status'], FAIL)
    if outcome == FAIL:
        error = details.get('traceback') or next(iter(details.values()), 'it did not end')
        return Result(FAIL, _message(error))
    return Result(outcome, details.get('reason', '') if outcome == SKIP else '')


def _message(traceback):
    """Return the error of a traceback, shortened to one line."""
    lines = traceback.splitlines()
    frames = [at for at, line in enumerate(lines) if line.startswith('  File ')]
    tail = [line for line in lines[frames[-1] + 1 if frames else 0 :] if line[:1] not in ('', ' ')]
    return ' '.join(tail or lines)[:MESSAGE]
