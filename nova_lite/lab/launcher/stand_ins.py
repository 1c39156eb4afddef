"""The stand-ins for the neighbour services and placement, served by this process."""

from nova_lite.daemons import exposure
from nova_lite.lab import tuned_placement
from nova_lite.lab.control import request_faults
from nova_lite.lab.launcher import daemon_config
from nova_lite.lab.launcher import layout
from nova_lite.simcloud import app as simcloud
from nova_lite.virt.sim import profile
from nova_lite.wsgi import front
from nova_lite.wsgi import placement
from nova_lite.wsgi import server


class StandIns:
    """simcloud and placement, each on a port of its own.

    urls: {'simcloud': URL, 'placement': URL} once started
    simcloud, placement: the applications; that of simcloud is replaced by `renew`
    serve_simcloud, serve_placement: WSGI callables that stay the same
    """

    def __init__(self, places, faults=None):
        """faults: a request_faults.RequestFaults that may spoil requests, or None"""
        self._places = places
        faults = faults or request_faults.RequestFaults()
        self.serve_simcloud = faults.around(self._answer_simcloud)
        self.serve_placement = faults.around(self._answer_placement, request_faults.PLACEMENT)
        self._servers = []
        self.urls = {}
        self.simcloud = self.placement = None
        self._simcloud_options = {}

    def start(self):
        """Serve both; simcloud first, since it is also placement's Keystone."""
        places, auth = self._places, self._places.settings.auth
        rules = profile.port_rules_of(places.settings.profile, places.settings.speed)
        port = server.free_port()
        self._simcloud_options = {
            **places.secrets,
            'auth': auth,
            'compute_events': True,
            'port_rules': rules,
            'shared_cidr': places.settings.shared_cidr,
            'internal_url': f'http://127.0.0.1:{port}',
            'urls_by_request': places.is_everywhere,
        }
        self._make_simcloud()
        self._serve('simcloud', self.serve_simcloud, threads=16, port=port)
        self.placement = placement.make_app(
            places.database_url(layout.PLACEMENT),
            auth_strategy=auth,
            keystone=self._keystone(),
            tuning=tuned_placement.of(is_wanted=places.settings.tuned_placement),
        )
        self._serve('placement', front.Front({'/placement': self.serve_placement}), threads=8)

    def _make_simcloud(self, *, is_new=True):
        self.simcloud = simcloud.make_app(
            self._places.database_url(layout.SIMCLOUD),
            self._places.public_url,
            options=self._simcloud_options,
            is_new=is_new,
        )

    def _answer_simcloud(self, environ, start_response):
        return self.simcloud(environ, start_response)

    def _answer_placement(self, environ, start_response):
        return self.placement(environ, start_response)

    def end(self):
        """Finish what writes to the databases, and refuse all else until `renew`.

        Return the application of simcloud, which its caller closes.
        """
        self.simcloud.end()
        self.placement.end()
        return self.simcloud

    def renew(self):
        """Serve the databases, whose contents have changed."""
        self._make_simcloud(is_new=False)
        self.placement.renew()

    def _keystone(self):
        if self._places.settings.auth == 'noauth':
            return None
        return {
            **daemon_config.credentials(self._places, self.urls, 'placement'),
            'www_authenticate_uri': f'{self._places.public_url}/identity',
        }

    def _serve(self, name, application, *, threads, port=0):
        auth = self._places.settings.auth
        served = exposure.protected(application, {auth}, server.LOOPBACK)
        running = server.InProcess(served, threads=threads, port=port)
        running.start()
        self._servers.append(running)
        self.urls[name] = running.url

    def stop(self):
        """Serve no more."""
        for running in reversed(self._servers):
            running.stop()
        self._servers.clear()
        if self.simcloud is not None:
            self.simcloud.close()
