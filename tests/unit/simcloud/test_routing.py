"""The router that applications with the same URI templates share."""

import falcon
from falcon import testing
import testtools

from nova_lite.simcloud import routing


class Named:
    def __init__(self, name):
        self.name = name

    def on_get(self, _req, resp, thing=None):
        resp.text = f'{self.name} {thing}'

    def on_put_one(self, _req, resp, thing):
        resp.text = f'{thing} of {self.name}'


class RouterTest(testtools.TestCase):
    def client(self, name):
        self.router = routing.Router()
        app = falcon.App(router=self.router)
        routing.add_crud(app, '/things', Named(name), 'thing')
        return testing.TestClient(app)

    def test_each_application_has_its_own_resources(self):
        one, other = self.client('one'), self.client('other')
        self.assertEqual('one None', one.simulate_get('/things').text)
        self.assertEqual('other None', other.simulate_get('/things').text)
        self.assertEqual('5 of other', other.simulate_put('/things/5').text)
        self.assertEqual('5 of one', one.simulate_put('/things/5').text)

    def test_a_path_and_a_method_that_are_not_there(self):
        client = self.client('one')
        self.assertEqual(404, client.simulate_get('/others').status_code)
        answer = client.simulate_get('/things/5')
        self.assertEqual((405, 'PUT, OPTIONS'), (answer.status_code, answer.headers['allow']))

    def test_a_route_added_later_and_one_replaced(self):
        client = self.client('one')
        client.simulate_get('/things')
        client.app.add_route('/more', Named('more'))
        client.app.add_route('/things', Named('new'))
        self.assertEqual('more None', client.simulate_get('/more').text)
        self.assertEqual('new None', client.simulate_get('/things').text)

    def test_methods(self):
        self.client('one')
        self.assertEqual({'/things': ['GET'], '/things/{thing}': ['PUT']}, self.router.methods())
