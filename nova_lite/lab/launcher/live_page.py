"""The live page of a cloud: where its data is, and whether there is one."""

import functools

from nova_lite.lab.launcher import audits
from nova_lite.lab.launcher import layout
from nova_lite.lab.page import app
from nova_lite.lab.page import details
from nova_lite.lab.page import lab
from nova_lite.lab.page import reading


class LivePage:
    """The page in front of the services of a cloud, if the cloud has one.

    places: the Layout of the cloud; services: their WSGI application
    show_faults: function that returns the injected faults, as control.faults.Faults.show
    application: what is to be served: the services, with the page or without it
    """

    def __init__(self, places, services, show_faults):
        self._places, self._show_faults = places, show_faults
        self._page = app.Page(services) if places.has_page else None
        self.application = self._page or services

    def renew(self, conf):
        """Read the databases of the current incarnation from now on. conf: of a control daemon"""
        if self._page is not None:
            reader = reading.Reader(conf, self._places.database_url(layout.PLACEMENT))
            last_audit = functools.partial(audits.last, self._places.root)
            self._page.renew(details.Source(reader, self._show_faults, last_audit))

    def open_lab(self, control):
        """Give the page its switches, if the settings ask for them. control: the Endpoint"""
        if self._page is not None and self._places.settings.lab:
            self._page.lab = lab.Lab(control.answer, self._places.lab_secret)

    def end(self):
        """End all who look, and show nothing until `renew`. Return what closes connections."""
        return (lambda: None) if self._page is None else self._page.end()
