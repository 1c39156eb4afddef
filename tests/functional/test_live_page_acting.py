"""Actions that the live page requests with the secret of its owner, and refuses without it."""

import json

import requests

from nova_lite.lab.page import lab
from tests.fixtures import browser as browser_fixture
from tests.fixtures import live_moving
from tests.functional import live_page
from tools import sample

UNKNOWN = '00000000-0000-4000-8000-000000000000'
PHONE = 390, 844
# Requests that would change the cloud if they were accepted.
CHANGES = {
    'servers/boot': {'name': 'foreign', 'flavor': 'm1.tiny', 'image': 'cirros'},
    'host': {'name': 'cell1-host1', 'power': 'off'},
    'save': {'state': 'foreign'},
    'breakpoints/add': {'kind': 'live-migration', 'step': 'copy'},
    'faults/add': {'verb': 'spawn'},
}


@sample.in_turns(2)
class LivePageActingTest(live_page.LivePageTestCase):
    settings = {'cells': 1, 'hosts': 3, 'lab': True}

    def post(self, name, values=None, status=200, **headers):
        """The answer of a switch, as the page requests it."""
        given = {
            'Origin': self.url,
            lab.SECRET_HEADER: self.cloud.cloud.places.lab_secret,
            **headers,
        }
        answer = requests.post(
            f'{self.url}/page/lab/{name}', json=values or {}, headers=given, timeout=60
        )
        self.assertEqual(status, answer.status_code, answer.text)
        self.seen += answer.text + str(answer.headers)
        return answer.json()

    def act(self, action, server, status=200, **values):
        return self.post('servers/act', {'action': action, 'server': server.id, **values}, status)

    seen = ''

    def boot(self, name, **values):
        self.post('servers/boot', {'name': name, 'flavor': 'm1.tiny', 'image': 'cirros', **values})
        [server] = self.cloud.admin.compute.servers(name=name)
        return self.cloud.wait(server)

    def test_actions_on_servers(self):
        self.assertIn('m1.tiny', self.post('servers/choices')['flavors'])
        web = self.boot('web', host='cell1-host1')
        self.assertEqual(('cell1-host1', 'admin'), (web.compute_host, self.project_of(web)))
        request_id = self.act('live-migrate', web, host='cell1-host2')['request_id']
        self.assertEqual('cell1-host2', self.cloud.wait(web, 'ACTIVE').compute_host)
        actions = self.api('GET', f'/servers/{web.id}/os-instance-actions')['instanceActions']
        self.assertEqual(request_id, actions[0]['request_id'])
        for end, host in (('revert', 'cell1-host2'), ('confirm', 'cell1-host3')):
            self.act('migrate', web, host='cell1-host3')
            self.cloud.wait(web, 'VERIFY_RESIZE')
            self.act(end, web)
            self.assertEqual(host, self.cloud.wait(web, 'ACTIVE').compute_host)
        for action in ('reboot', 'hard-reboot'):
            self.act(action, web)
            self.cloud.wait(web, 'ACTIVE')
        self.end_live_migrations(web)
        self.lose_host(web)
        self.act('delete', web)
        self.cloud.wait_gone(web)

    def end_live_migrations(self, server):
        """Abort a live migration, and force another one to complete."""
        self.assertIn('No live migration', self.act('abort', server, 409)['error'])
        self.moving.behave(live_moving.ENDLESS)
        here = self.cloud.wait(server, 'ACTIVE').compute_host
        for action, stays in (('abort', True), ('force-complete', False)):
            self.act('live-migrate', server)
            self.moving.watched(server, 'running')
            self.act(action, server)
            self.moving.ended(server)
            self.assertEqual(stays, self.cloud.wait(server, 'ACTIVE').compute_host == here)

    def lose_host(self, server):
        """Evacuate the server from a host without power."""
        host = self.cloud.wait(server, 'ACTIVE').compute_host
        self.post('host', {'name': host, 'power': 'off'})
        self.assertIn('is up', self.act('evacuate', server, 400)['error'])
        self.moving.change_service(host, forced_down=True)
        self.act('evacuate', server)
        self.assertNotEqual(host, self.cloud.wait(server, 'ACTIVE').compute_host)
        self.post('host', {'name': host, 'power': 'on'})
        self.moving.come_back(host)

    def project_of(self, server):
        return requests.get(f'{self.url}/page/servers/{server.id}', timeout=60).json()['project']

    def test_requests_that_are_refused(self):
        missing = {'name': 'x', 'flavor': 'none', 'image': 'cirros'}
        self.assertIn('No flavor', self.post('servers/boot', missing, 400)['error'])
        server = self.boot('web')
        self.assertIn('Cannot', self.act('confirm', server, 409)['error'])
        self.act('fly', server, 400)
        gone = {'action': 'delete', 'server': UNKNOWN}
        self.assertIn(UNKNOWN, self.post('servers/act', gone, 404)['error'])
        for name, values in {**CHANGES, 'servers/act': {**gone, 'server': server.id}}.items():
            for headers in (
                {lab.SECRET_HEADER: ''},
                {lab.SECRET_HEADER: self.cloud.admin.auth_token},
                {'Origin': 'http://evil.example'},
                {'Origin': 'null'},
                {'Sec-Fetch-Site': 'cross-site'},
            ):
                self.post(name, values, 403, **headers)
        self.assertEqual(['web'], [each.name for each in self.cloud.admin.compute.servers()])
        self.assertEqual([], self.cloud.cloud.faults.show()['hosts_off'])
        self.assertEqual([], self.cloud.cloud.faults.show()['failures'])
        self.assertEqual([], self.post('breakpoints')['breakpoints'])
        self.assertEqual([], self.post('states')['states'])
        # The page gets no credentials of the cloud.
        places = self.cloud.cloud.places
        for secret in (*places.secrets.values(), 'X-Auth-Token', 'gAAAA', places.lab_secret):
            self.assertNotIn(secret, self.seen)

    def test_acting_in_a_browser(self):
        browser = self.useFixture(browser_fixture.Browser())
        browser.driver.get(self.cloud.cloud.places.page_url)
        browser.wait_for("!document.getElementById('lab').hidden", 'the switches')
        browser.run("document.querySelectorAll('#lab details').forEach((each) => each.open = true)")
        browser.wait_for("document.querySelector('#lab-flavors option')", 'the flavors')
        browser.driver.find_element('css selector', '#lab [name="name"]').send_keys('web')
        self.press(browser, '#lab', 'Boot')
        chip = "document.querySelector('[data-server]')"
        browser.wait_for(f"{chip}?.title === 'web: active'", 'the server')
        self.assertEqual([], browser.violations())
        [server] = self.cloud.admin.compute.servers(name='web')
        host = server.compute_host
        browser.run(f'{chip}.click()')
        browser.wait_for("document.querySelector('#details .acts')", 'the actions')
        self.assertEqual([], browser.violations())
        browser.driver.find_element('css selector', '#details [name="step"]').send_keys('copy')
        self.press(browser, '#details', 'Stop before it')
        self.said(browser, 'Done')
        self.press(browser, '#details', 'Live migrate')
        self.said(browser, 'Accepted: req-')
        self.wait_for_button(browser, 'Go')
        self.assertEqual([], browser.violations())
        browser.take_picture('live-page-lab')
        self.press(browser, '#details', 'Go')
        browser.wait_for(f"{chip}?.dataset.host !== '{host}'", 'the end of the move')
        browser.resize(*PHONE)
        self.wait_for_button(browser, 'Reboot')
        self.assertLessEqual(browser.run('return document.documentElement.scrollWidth'), PHONE[0])
        self.assertEqual([], browser.violations())
        self.press(browser, '#details', 'Delete')
        self.press(browser, '#details', 'Delete: sure?')
        browser.wait_for(f'!{chip}', 'no server')
        # The details of the deleted server do not exist.
        self.assertEqual([], browser.console(besides=['network']))
        self.cloud.wait_gone(server)
        self.cloud.cloud.debugger.remove()

    def press(self, browser, within, text):
        self.wait_for_button(browser, text, within)
        browser.run(f'{self.button(text, within)}.click()')

    def button(self, text, within):
        listed = f"[...document.querySelectorAll('{within} button')]"
        return f'{listed}.find((each) => each.innerText === {json.dumps(text)})'

    def wait_for_button(self, browser, text, within='#details'):
        browser.wait_for(self.button(text, within), text)

    def said(self, browser, text):
        said = "document.querySelector('#details .said').innerText"
        browser.wait_for(f'{said}.startsWith({json.dumps(text)})', text)
