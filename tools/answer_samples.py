"""Write samples of what the API answers: python -m tools.answer_samples

Asks an API over databases of its own for an answer of each operation that has a body, at the
operation's newest microversion, and writes them to doc/source/reference/api-samples.json, from
which the reference page is made. Ids, times, keys and tokens are replaced.
"""

import collections
import json
import re
import sys

from tests.fixtures import answered
from tests.fixtures import shown_api
from tests.fixtures import shown_requests

# Ids with and without hyphens, and those of keys and hosts.
ID = re.compile(r'\b[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}')
# What else each run makes anew, and what stands for it.
ANEW = (
    (re.compile(r'\d{4}-\d\d-\d\d([T ])\d\d:\d\d:\d\d(\.\d+)?'), r'2026-11-27\g<1>12:00:00'),
    (re.compile(r'(token(?:%3D|=))[\w-]+'), r'\1token'),
    (re.compile(r'("fingerprint": ")[^"]+'), r'\1…'),
    (re.compile(r'("hostId": ")\w+'), r'\g<1>' + 56 * 'd'),
    (re.compile(r'("adminPass": ")[^"]+'), r'\1password'),
    (re.compile(r'(PRIVATE KEY-----\\n)[^"]+(-----END)'), r'\1…\\n\2'),
    (re.compile(r'("public_key": "\S+ )[^ "]+'), r'\1AAAA…'),
)


def samples():
    """Return {key of an operation: body} of a new API."""
    with shown_api.ShownApi() as api:
        found = {answered.key(each): _ask(api, each) for each in answered.shown()}
    numbers = collections.defaultdict(lambda: len(numbers) + 1)
    text = json.dumps(found)
    for pattern, stands in ANEW:
        text = pattern.sub(stands, text)
    return json.loads(ID.sub(lambda met: _id(met, numbers), text))


def _ask(api, operation):
    answer = shown_requests.send(api, operation, operation.until.minor)
    if answer.status_code >= 300:
        raise ValueError(f'{operation}: {answer.text}')
    return answer.json if answer.content else None


def _id(met, numbers):
    """Return the id that stands for one that was met."""
    number = numbers[met[0].replace('-', '')]
    return met[1].join(('00000000', '0000', '4000', '8000', f'{number:012x}'))


def main():
    """Write the file."""
    text = json.dumps(samples(), indent=1, ensure_ascii=False, sort_keys=True)
    answered.FILE.write_text(text + '\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
