"""Exams of drills: JSON documents, one in each line, on standard input and output."""

import io
import json
import sys
import typing

from nova_lite import exception
from nova_lite.lab.console import messages
from nova_lite.lab.scenarios import command
from nova_lite.lab.scenarios import stage as stages

DONE = 'done'
ANSWER = '{"done": true} or {"done": false}'
NOT_BEGUN, COULD_NOT_BEGIN = 2, 'could not begin'


class Exam:
    """One exam. began: whether the examinee was told the symptom and the task"""

    def __init__(self) -> None:
        self.began = False

    def hand_over(self, symptom: str, task: str, _stage: stages.Stage) -> bool:
        """Print the symptom, and wait for {"done": true}. Return False if the examinee gives up.

        The end of the input gives up, too.
        """
        self.began = True
        _tell(symptom=symptom, task=task, then=ANSWER)
        if isinstance(sys.stdin, io.TextIOWrapper):
            # Bytes that are not UTF-8 are an answer that is not JSON.
            sys.stdin.reconfigure(errors='replace')
        for line in sys.stdin:
            is_done = done(line)
            if is_done is not None:
                return is_done
            _tell(error=f'The answer must be {ANSWER}')
        return False


def done(line: str) -> bool | None:
    """Return the value in an answer, None for a line that is no answer."""
    try:
        answer = json.loads(line)
    # Thousands of brackets cause RecursionError.
    except (ValueError, RecursionError):
        return None
    found = answer.get(DONE) if isinstance(answer, dict) and len(answer) == 1 else None
    # In Python, 1 equals True.
    return found if isinstance(found, bool) else None


def examine(name: str, directory: str) -> int:
    """Run the exam of a drill. Return the exit code.

    The steps before the exam are not printed while it goes on, because they name the cause.
    """
    exam, has_passed = Exam(), False
    told: dict[str, typing.Any] = {}
    try:
        timeline = command.play(name, directory, lambda _line: None, exam.hand_over)
    except exception.NovaLiteError as error:
        told['error'] = messages.of(error)
    else:
        told['timeline'], has_passed = timeline.as_json(), timeline.is_as_expected
    if not exam.began:
        _tell(scenario=name, result=COULD_NOT_BEGIN, **told)
        return NOT_BEGUN
    _tell(scenario=name, result=command.RESULTS[has_passed], **told)
    return command.PASSED if has_passed else command.NOT_AS_EXPECTED


def _tell(**document: typing.Any) -> None:
    print(json.dumps(document), flush=True)
