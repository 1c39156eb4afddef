"""Requests of the chaos test: each is timed, counted and judged."""

import requests

# The newest version that all operations of the clients are sent at.
VERSION = '2.96'
# No answer may take longer, whatever is broken: [api] device_timeout is a minute, and the
# request does a little before and after that.
BOUND_S = 90
LOST = 'no answer'


class Caller:
    """Sends requests for one client. who: its name in the ledger"""

    def __init__(self, cloud, ledger, who):
        self.cloud, self.ledger, self.who = cloud, ledger, who
        self._session = requests.Session()
        self._token = cloud.admin.auth_token

    def send(self, what, method, path, body=None):
        """Send a compute request; (code, decoded answer). The code is `LOST` without one."""
        return self._send(what, method, f'{self.cloud.cloud.url}/compute/v2.1{path}', body)

    def volume(self, what, method, path, body=None):
        """Send a request to the volume service; as `send`."""
        project = self.cloud.admin.current_project_id
        url = f'{self.cloud.cloud.url}/volume/v3/{project}{path}'
        return self._send(what, method, url, body)

    def _send(self, what, method, url, body):
        began = self.ledger.at()
        headers = {'X-Auth-Token': self._token, 'OpenStack-API-Version': f'compute {VERSION}'}
        try:
            answer = self._session.request(method, url, json=body, headers=headers, timeout=BOUND_S)
        except requests.Timeout as error:
            self.ledger.violation('late answer', f'{self.who} {what}: {method} {url}: {error}')
            code, found, text = LOST, {}, str(error)
        except requests.RequestException as error:
            code, found, text = LOST, {}, str(error)
        else:
            code, text = answer.status_code, answer.text
            found = _decoded(answer)
        took = self.ledger.at() - began
        self.ledger.count(what, code)
        about = {} if code != LOST and code < 400 else {'said': text[:300]}
        self.ledger.note(
            who=self.who, what=what, method=method, url=url, body=body, code=code,
            took=round(took, 3), **about,
        )  # fmt: skip
        if (code == LOST or code >= 500) and not self.ledger.explained(began):
            self.ledger.violation(
                'unexplained failure', f'{self.who} {what}: {method} {url}: {code} {text[:300]}'
            )
        return code, found


def _decoded(answer):
    try:
        return answer.json()
    except ValueError:
        return {}
