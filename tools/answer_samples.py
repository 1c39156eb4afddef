"""Write samples of what the API answers: python -m tools.answer_samples

Asks an API over databases of its own for an answer of each operation that has a body, at the
operation's newest microversion, and writes them to doc/source/reference/api-samples.json, from
which the reference page is made. Ids, times, keys and tokens are replaced.
"""

import json
import sys

from tests.fixtures import answered
from tests.fixtures import run_values
from tests.fixtures import shown_api
from tests.fixtures import shown_requests

# What stands for what differs in each run.
TEMPLATES = {
    'time': r'2026-11-27\g<1>12:00:00\2',
    'token': r'\1token',
    'fingerprint': r'\1…',
    'host': r'\g<1>' + 56 * 'd',
    'password': r'\1password',
    'private key': r'\1…\\n\2',
    'public key': r'\1AAAA…',
}


def samples():
    """Return {key of an operation: body} of a new API."""
    with shown_api.ShownApi() as api:
        found = {answered.key(each): _ask(api, each) for each in answered.shown()}
    replacer = run_values.Replacer(TEMPLATES, _id)
    return json.loads(replacer.replace(json.dumps(found)))


def _ask(api, operation):
    answer = shown_requests.send(api, operation, operation.until.minor)
    if answer.status_code >= 300:
        raise ValueError(f'{operation}: {answer.text}')
    return answer.json if answer.content else None


def _id(number, separator):
    """Return the id that stands for another."""
    return separator.join(('00000000', '0000', '4000', '8000', f'{number:012x}'))


def main():
    """Write the file."""
    text = json.dumps(samples(), indent=1, ensure_ascii=False, sort_keys=True)
    answered.FILE.write_text(text + '\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
