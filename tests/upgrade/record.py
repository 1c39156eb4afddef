"""Record the answers to the gabbi cases: python record.py TREE CASES FILE

Plays the cases of the directory CASES, of whatever commit, against the code of TREE, and writes a
line of JSON to FILE for each request. Run by its path: the modules of the tree are used.
"""

import json
import sys
import unittest

from gabbi import httpclient


def record(file):
    """Patch gabbi's clients to write requests and answers to a file."""
    plain = httpclient.Http.request

    def request(self, url, **call):
        answer, content = plain(self, url, **call)
        body, headers = call['body'], call['headers']
        sent = body.decode() if isinstance(body, bytes) else body
        asked = {name: value for name, value in headers.items() if 'version' in name.lower()}
        line = {
            'request': [call['method'], url, asked, sent],
            'headers': dict(answer),
            'body': content.decode(),
        }
        print(json.dumps(line), file=file)
        return answer, content

    httpclient.Http.request = request


def main(tree, cases, path):
    """Play them; the exit code."""
    sys.path[0] = tree
    with open(path, 'w') as file:
        record(file)
        from tests.gabbits import test_api

        test_api.CASES = cases
        tests = unittest.defaultTestLoader.loadTestsFromModule(test_api)
        played = unittest.TextTestRunner(stream=sys.stderr).run(tests)
    # A test that fails is due to an answer that differs.
    return 0 if played.testsRun else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
