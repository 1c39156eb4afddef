"""The form of a commit message: `python -m tools.checks.commit_message FILE`."""

import pathlib
import sys

SUBJECT_COLUMNS = 60
BODY_COLUMNS = 72


def problems(message: str) -> list[str]:
    """Return the faults of a commit message, as a list of sentences."""
    lines = [line for line in message.splitlines() if not line.startswith('#')]
    subject, rest = (lines[0], lines[1:]) if lines else ('', [])
    found = []
    if not subject.strip():
        found.append('the subject is missing')
    if len(subject) > SUBJECT_COLUMNS:
        found.append('the subject has %d columns, more than %d' % (len(subject), SUBJECT_COLUMNS))
    if subject.endswith('.'):
        found.append('the subject ends with a full stop')
    if rest and rest[0].strip():
        found.append('the second line is not empty')
    found += [
        'line %d of the body has more than 72 columns' % number
        for number, line in enumerate(rest, 2)
        if len(line) > BODY_COLUMNS and '://' not in line
    ]
    return found


def main() -> int:
    found = problems(pathlib.Path(sys.argv[1]).read_text(encoding='utf-8'))
    for problem in found:
        print('commit message:', problem)
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
