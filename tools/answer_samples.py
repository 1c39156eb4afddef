"""Write samples of answers of the API: python -m tools.answer_samples

Sends a request of each operation whose answer has a body to an API over databases of its own, at
the newest microversion of the operation, and writes the answers to
doc/source/reference/api-samples.json, from which the reference page is made. Ids, times, keys and
tokens are replaced.
"""

import json
import sys
import typing

from nova_lite.api import operation as operations
from tests.fixtures import answered
from tests.fixtures import run_values
from tests.fixtures import shown_api
from tests.fixtures import shown_requests

# Replacements of values that differ in each run.
TEMPLATES = {
    'time': r'2026-11-27\g<1>12:00:00\2',
    'token': r'\1token',
    'fingerprint': r'\1…',
    'host': r'\g<1>' + 56 * 'd',
    'password': r'\1password',
    'private key': r'\1…\\n\2',
    'public key': r'\1AAAA…',
}


def samples() -> dict[str, typing.Any]:
    """Return {key of an operation: body} of a new API."""
    with shown_api.ShownApi() as api:
        found = {answered.key(each): _ask(api, each) for each in answered.shown()}
    replacer = run_values.Replacer(TEMPLATES, _id)
    replaced: dict[str, typing.Any] = json.loads(replacer.replace(json.dumps(found)))
    return replaced


def _ask(api: shown_api.ShownApi, operation: operations.Operation) -> typing.Any:
    answer = shown_requests.send(api, operation, operation.until.minor)
    if answer.status_code >= 300:
        raise ValueError(f'{operation}: {answer.text}')
    return answer.json if answer.content else None


def _id(number: int, separator: str) -> str:
    """Return the id that replaces the id with this number."""
    return separator.join(('00000000', '0000', '4000', '8000', f'{number:012x}'))


def main() -> int:
    """Write the file."""
    text = json.dumps(samples(), indent=1, ensure_ascii=False, sort_keys=True)
    answered.FILE.write_text(text + '\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
