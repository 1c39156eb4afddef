"""The live page of a cloud: whether it has one, and the data that the page shows."""

from collections.abc import Callable
import functools
import urllib.parse
from wsgiref import types as wsgi

from oslo_config import cfg

from nova_lite.daemons.wsgi import server
from nova_lite.lab.control import endpoint
from nova_lite.lab.control import faults
from nova_lite.lab.launcher import audits
from nova_lite.lab.launcher import client_config
from nova_lite.lab.launcher import console_logs
from nova_lite.lab.launcher import decisions
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import page_requests
from nova_lite.lab.launcher import serial_consoles
from nova_lite.lab.launcher import server_actions
from nova_lite.lab.page import app
from nova_lite.lab.page import console
from nova_lite.lab.page import details
from nova_lite.lab.page import lab
from nova_lite.lab.page import reading


class LivePage:
    """The page in front of the services of a cloud, if the cloud has a page; and its consoles.

    show_faults: function that returns the injected faults, as control.faults.Faults.show
    application: the services, with consoles and the page, if there is one, in front
    """

    def __init__(
        self,
        places: layout.Layout,
        services: wsgi.WSGIApplication,
        show_faults: Callable[[], faults.Shown],
    ) -> None:
        self._places, self._show_faults = places, show_faults
        self._page = app.Page(services) if places.has_page else None
        self._requests = page_requests.PageRequests(client_config.path(places.root))
        logs = console_logs.ConsoleLogs(self._requests)
        # In front of the services: they are asked for the log.
        self.application: wsgi.WSGIApplication = console.Console(self._page or services, logs.read)
        self._serial = serial_consoles.SerialConsoles(logs.read, places.settings.listen)

    def open_consoles(self) -> dict[str, str]:
        """Open serial consoles. Return {'serial': their URL, for the configuration of the API}."""
        host = urllib.parse.urlsplit(self._places.public_url).hostname or ''
        return {'serial': f'ws://{server.authority(host, self._serial.start())}/'}

    def renew(self, conf: cfg.ConfigOpts) -> None:
        """Show the databases of the current incarnation from now on. conf: of a control daemon"""
        if self._page is not None:
            urls = map(self._places.database_url, (layout.PLACEMENT, layout.SIMCLOUD))
            reader = reading.Reader(conf, *urls)
            last_audit = functools.partial(audits.last, self._places.root)
            why = functools.partial(decisions.find, conf)
            self._page.renew(details.Source(reader, self._show_faults, last_audit, why))

    def open_lab(self, control: endpoint.Endpoint) -> None:
        """Add the switches to the page, if the settings request them. control: not open yet"""
        if self._page is not None and self._places.lab_secret is not None:
            server_actions.ServerActions(self._requests).add(control)
            self._page.lab = lab.Lab(control.answer, self._places.lab_secret)

    def close(self) -> Callable[[], None]:
        """Close the serial consoles, and do as `end`."""
        self._serial.stop()
        return self.end()

    def end(self) -> Callable[[], None]:
        """End all viewers, and show nothing until `renew`.

        Return a function that closes the connections to the databases.
        """
        return (lambda: None) if self._page is None else self._page.end()
