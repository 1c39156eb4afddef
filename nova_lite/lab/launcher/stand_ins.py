"""simcloud and placement, served by this process."""

from collections.abc import Iterable
from wsgiref import types as wsgi

from nova_lite import conf as conf_module
from nova_lite.daemons import exposure
from nova_lite.daemons import simcloud as simcloud_daemon
from nova_lite.daemons.wsgi import front
from nova_lite.daemons.wsgi import placement as placement_app
from nova_lite.daemons.wsgi import server
from nova_lite.lab import tuned_placement
from nova_lite.lab.control import request_faults
from nova_lite.lab.launcher import daemon_config
from nova_lite.lab.launcher import layout
from nova_lite.simcloud import app as simcloud_app


class StandIns:
    """simcloud and placement, each on a separate port.

    urls: {'simcloud': URL, 'placement': URL}, after `start`
    simcloud, placement: the applications, after `start`; `renew` replaces that of simcloud
    serve_simcloud, serve_placement: WSGI callables that stay the same
    """

    simcloud: simcloud_app.Application
    placement: placement_app.Application

    def __init__(
        self, places: layout.Layout, faults: request_faults.RequestFaults | None = None
    ) -> None:
        """Prepare to serve. faults: the faults of requests, None for none"""
        self._places = places
        faults = faults or request_faults.RequestFaults()
        self.serve_simcloud = faults.around(self._answer_simcloud)
        self.serve_placement = faults.around(self._answer_placement, request_faults.PLACEMENT)
        self._servers: list[server.InProcess] = []
        self.urls: dict[str, str] = {}
        self._simcloud_options: layout.Options = {}

    def start(self) -> None:
        """Serve simcloud, and then placement, which needs the Keystone of simcloud."""
        places, auth = self._places, self._places.settings.auth
        port = server.free_port()
        urls = {'simcloud': f'http://127.0.0.1:{port}'}
        path = places.write_config('simcloud', daemon_config.simcloud(places, urls, port))
        self._simcloud_options = {
            **simcloud_daemon.options_of(conf_module.make_conf(files=[path])),
            'shared_cidr': places.settings.shared_cidr,
        }
        self._make_simcloud()
        self._serve('simcloud', self.serve_simcloud, threads=16, port=port)
        self.placement = placement_app.make_app(
            places.database_url(layout.PLACEMENT),
            auth_strategy=auth,
            keystone=self._keystone(),
            tuning=tuned_placement.of(is_wanted=places.settings.tuned_placement),
        )
        self._serve('placement', front.Front({'/placement': self.serve_placement}), threads=8)

    def _make_simcloud(self, *, is_new: bool = True) -> None:
        self.simcloud = simcloud_app.make_app(
            self._places.database_url(layout.SIMCLOUD),
            self._places.public_url,
            options=self._simcloud_options,
            is_new=is_new,
        )

    def _answer_simcloud(
        self, environ: wsgi.WSGIEnvironment, start_response: wsgi.StartResponse
    ) -> Iterable[bytes]:
        return self.simcloud(environ, start_response)

    def _answer_placement(
        self, environ: wsgi.WSGIEnvironment, start_response: wsgi.StartResponse
    ) -> Iterable[bytes]:
        return self.placement(environ, start_response)

    def end(self) -> simcloud_app.Application:
        """Finish the transactions in progress, and refuse others until `renew`.

        Return the application of simcloud. The caller must close it.
        """
        self.simcloud.end()
        self.placement.end()
        return self.simcloud

    def renew(self) -> None:
        """Serve the new contents of the databases."""
        self._make_simcloud(is_new=False)
        self.placement.renew()

    def _keystone(self) -> layout.Options | None:
        if self._places.settings.auth == 'noauth':
            return None
        return {
            **daemon_config.credentials(self._places, self.urls, 'placement'),
            'www_authenticate_uri': f'{self._places.public_url}/identity',
        }

    def _serve(
        self, name: str, application: wsgi.WSGIApplication, *, threads: int, port: int = 0
    ) -> None:
        auth = self._places.settings.auth
        served = exposure.protected(application, {auth}, server.LOOPBACK)
        running = server.InProcess(served, threads=threads, port=port)
        running.start()
        self._servers.append(running)
        self.urls[name] = running.url

    def stop(self) -> None:
        """Stop serving."""
        for running in reversed(self._servers):
            running.stop()
        self._servers.clear()
        if hasattr(self, 'simcloud'):
            self.simcloud.close()
