"""The comparison of answers with those of a former commit."""

import json

import testtools

from tests.upgrade import answers

SERVER = '0f0e0d0c-0b0a-0908-0706-050403020100'
OTHER = 'ffeeddcc-bbaa-9988-7766-554433221100'


def line(url, body, **headers):
    """Return what is recorded of a GET."""
    return json.dumps({'request': ['GET', url, {}, None], 'headers': headers, 'body': body})


class AnswersTestCase(testtools.TestCase):
    """Differences that count, and those that do not."""

    def differences(self, former, current):
        made = map(answers.exchanges, (former, current))
        return [lines for _request, lines in answers.differences(*made)]

    def test_what_each_run_makes_anew(self):
        """Ids are the same where they stand at the same places."""
        former, current = (
            [
                line(f'http://127.0.0.1:{port}/servers/{server}', body, date=date)
                for body in (
                    f'{{"id": "{server}", "adminPass": "{secret}", "hostId": "{secret}"}}',
                    f'{{"updated": "{date}", "uptime": " {date} up 0 days"}}',
                )
            ]
            for port, server, secret, date in (
                (8774, SERVER, 'aaaa', '2026-11-27T19:00:00Z'),
                (9999, OTHER, 'bbbb', '2026-11-28T20:00:00Z'),
            )
        )
        self.assertEqual([], self.differences(former, current))

    def test_another_status_header_or_body(self):
        url = 'http://127.0.0.1:1/flavors'
        plain = line(url, '{"a": 1}', status='200')
        for other in (line(url, '{"a": 1}', status='202'), line(url, '{"a": 2}', status='200')):
            [[_place, removed, added]] = self.differences([plain], [other])
            self.assertEqual(('-', '+'), (removed[0], added[0]))
        self.assertEqual(1, len(self.differences([plain], [line(url, '{"a":1}', status='200')])))

    def test_an_id_at_the_place_of_another(self):
        url = 'http://127.0.0.1:1/servers'
        first = line(url, f'["{SERVER}", "{OTHER}", "{SERVER}"]')
        second = line(url, f'["{SERVER}", "{OTHER}", "{OTHER}"]')
        self.assertEqual(1, len(self.differences([first], [second])))

    def test_a_request_that_is_repeated(self):
        """The number of a client's polls does not count."""
        url = 'http://127.0.0.1:1/servers/1'
        waiting, ready = line(url, 'BUILD'), line(url, 'ACTIVE')
        self.assertEqual([], self.differences([waiting, waiting, ready], [waiting, ready]))

    def test_other_requests(self):
        one, two = (line(f'http://127.0.0.1:1/{name}', '') for name in ('one', 'two'))
        self.assertRaises(ValueError, self.differences, [one], [two])
        self.assertRaises(ValueError, self.differences, [one, two], [one])
