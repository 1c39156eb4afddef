"""Bodies between the samples of nova-requests.yaml are accepted and refused as it says."""

import hypothesis
from hypothesis import strategies as st
import testscenarios
import testtools

from tests.fixtures import examples
from tests.fixtures import request_bodies

# A body takes some ten milliseconds, and there are hundreds of operations.
SETTINGS = examples.settings(20, most=100)


class Drawn:
    def test_wrong_bodies_are_refused_with_the_name(self):
        @SETTINGS
        @hypothesis.given(st.data())
        def send(data):
            minor = data.draw(st.sampled_from(self.minors))
            wrong = self.known.wrong(minor)
            if wrong is not None:
                self.check_wrong(minor, *data.draw(wrong))

        send()

    def test_right_bodies_reach_the_handler(self):
        @SETTINGS
        @hypothesis.given(st.data())
        def send(data):
            minor = data.draw(st.sampled_from(self.minors))
            self.check_right(minor, data.draw(self.known.right(minor)))

        send()


class TestBodies(Drawn, request_bodies.Bodies, testscenarios.WithScenarios, testtools.TestCase):
    pass


class TestBodiesOfProxies(
    Drawn, request_bodies.BodiesOfProxies, testscenarios.WithScenarios, testtools.TestCase
):
    pass
