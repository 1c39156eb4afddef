"""HTTP without sockets: a request is answered by the application served at its address.

Whatever is sent by `requests` arrives here. The application runs in a thread of its
server's process, which may die apart from the client's.
"""

import io
import sys
import urllib.parse

import requests
from requests import adapters
from urllib3 import exceptions as urllib3_exceptions

from nova_lite import runtime
from nova_lite.daemons.wsgi import server as http_server
from tests.sim import kernel

# What befalls a request, and whether the application is called then.
REFUSED, UNSENT, UNANSWERED, BUSY = 'refused', 'lost request', 'lost answer', 'answers 503'
# Changes there can have faults of their own.
PLACEMENT = 'placement.sim'
# It arrives that many seconds later, whether or not who sent it still waits or lives.
LATE, LATE_S = 'late', (1, 40)


class Server:
    """An application, and the simulated process that serves it. open: exchanges under way"""

    def __init__(self, process, application):
        self.process, self.application = process, application
        self.open = {}

    def answer(self, exchange):
        """Call the application in a thread of its process."""
        self.open[exchange] = True
        self.process.spawn(self._run, exchange, name='http')

    def _run(self, exchange):
        exchange.run(self.application)
        self.open.pop(exchange, None)

    def died(self):
        """Its process was killed: no caller gets an answer."""
        # An exchange that ends during this loop removes itself.
        for exchange in list(self.open):
            exchange.over.set()


class Network:
    """Servers by address ('host:port' or 'host'). faults: a faults.Faults

    denials: [denials.Denial, ...] of now; stalls: [stalls.Stall, ...]
    """

    def __init__(self, faults):
        self.faults = faults
        self.servers, self.denials, self.stalls = {}, [], []

    def serve(self, address, process, application):
        """Answer requests to an address until the process is killed."""
        server = Server(process, application)
        self.servers[address] = server

        def closed():
            server.died()
            if self.servers.get(address) is server:
                del self.servers[address]

        process.on_kill(closed)

    def exchange(self, method, url, headers, *, body, timeout_s):
        """Send a request and wait for the answer: an Exchange that is over.

        Raises the errors of `requests`.
        """
        parts = urllib.parse.urlsplit(url)
        what = f'{method} {parts.path}'
        kernel.current().point('http: send', what)
        server = self.servers.get(parts.netloc)
        fate = self.faults.draw(self._kind(method, parts.netloc), what, parts.netloc)
        if server is None or fate == REFUSED:
            raise refused(url)
        if fate == UNSENT:
            raise _lost()
        if fate == BUSY:
            return Exchange.answered(503)
        for stall in self.stalls:
            if stall.meets(parts, kernel.current().here.name):
                return self._stall(stall, f'{parts.netloc} {what}', timeout_s)
        for denial in self.denials:
            if denial.refuses(method, parts, kernel.current().here.name):
                self.faults.deny(denial.fate, f'{parts.netloc} {what}')
                return Exchange.answered(denial.status)
        exchange = Exchange(environ_of(method, parts, headers, body))
        if fate == LATE:
            self._answer_later(parts.netloc, exchange)
        else:
            server.answer(exchange)
        if not runtime.wait(exchange.over, timeout_s):
            raise requests.ReadTimeout(f'no answer from {parts.netloc} in {timeout_s} s')
        kernel.current().point('http: answer', f'{what} {exchange.status}')
        if exchange.status is None or fate == UNANSWERED:
            raise _lost()
        return exchange

    def _stall(self, stall, where, timeout_s):
        """Answer 503 to a request of a daemon, or raise ReadTimeout when it has waited."""
        self.faults.deny(stall.fate, where)
        if stall.silent:
            kernel.current().sleep(timeout_s)
            raise requests.ReadTimeout(f'no answer in {timeout_s} s: {where}')
        return Exchange.answered(503)

    def _kind(self, method, address):
        """Return the kind of the faults that a request meets."""
        changes = address == PLACEMENT and method != 'GET'
        return 'placement' if changes and 'placement' in self.faults.rates else 'http'

    def _answer_later(self, address, exchange):
        now = kernel.current()
        seconds = now.stream('network').uniform(*LATE_S)
        self.faults.injected[-1].end += seconds

        def arrive():
            now.sleep(seconds)
            server = self.servers.get(address)
            if server is None:
                exchange.over.set()
            else:
                server.answer(exchange)

        now.world.spawn(arrive, name='network')


class Exchange:
    """One request and its answer. over: an Event, set when there is an answer, or none to come

    status: None when the server died before its answer, or has cut the connection
    """

    def __init__(self, environ):
        self.environ = environ
        self.over = runtime.Event()
        self.status, self.reason, self.headers, self.body = None, '', [], b''

    @classmethod
    def answered(cls, status):
        made = cls(None)
        made.status = status
        return made

    def run(self, application):
        """Call the application."""
        started = []

        def start_response(status, headers, exc_info=None):
            started[:] = [status, headers]
            return chunks.append

        chunks, cuts = [], []
        self.environ[http_server.CUT] = lambda: cuts.append(True)
        found = application(self.environ, start_response)
        try:
            chunks.extend(found)
        finally:
            close = getattr(found, 'close', None)
            if close is not None:
                close()
        code, _, self.reason = started[0].partition(' ')
        self.body, self.headers = b''.join(chunks), started[1]
        self.status = None if cuts else int(code)
        self.over.set()


def environ_of(method, parts, headers, body):
    """The WSGI environment of a request. parts: of its URL, split"""
    if body is None:
        body = b''
    elif isinstance(body, str):
        body = body.encode()
    elif not isinstance(body, bytes):
        body = body.read() if hasattr(body, 'read') else b''.join(body)
    environ = {
        'REQUEST_METHOD': method,
        'SCRIPT_NAME': '',
        'PATH_INFO': urllib.parse.unquote_to_bytes(parts.path).decode('latin-1'),
        'QUERY_STRING': parts.query,
        'SERVER_NAME': parts.hostname,
        'SERVER_PORT': str(parts.port or 80),
        'SERVER_PROTOCOL': 'HTTP/1.1',
        'REMOTE_ADDR': '127.0.0.1',
        'CONTENT_LENGTH': str(len(body)),
        'wsgi.version': (1, 0),
        'wsgi.url_scheme': 'http',
        'wsgi.input': io.BytesIO(body),
        'wsgi.errors': sys.stderr,
        'wsgi.multithread': True,
        'wsgi.multiprocess': False,
        'wsgi.run_once': False,
        'HTTP_HOST': parts.netloc,
    }
    for name, value in headers.items():
        value = value.decode('latin-1') if isinstance(value, bytes) else str(value)
        name = name.upper().replace('-', '_')
        if name in ('CONTENT_TYPE', 'CONTENT_LENGTH'):
            environ[name] = value
        else:
            environ[f'HTTP_{name}'] = value
    return environ


def refused(url):
    """Return the error of `requests` for an address at which no process listens."""
    # In the form in which `requests` hands on what urllib3 raised.
    nobody = urllib3_exceptions.NewConnectionError(None, 'Connection refused')
    return requests.ConnectionError(urllib3_exceptions.MaxRetryError(None, url, nobody))


def _lost():
    error = urllib3_exceptions.ProtocolError('Connection aborted.', ConnectionResetError())
    return requests.ConnectionError(error)


def install(network):
    """Send all requests of `requests` in this process through `network`."""

    def send(adapter, request, stream=False, timeout=None, **_options):
        read_s = timeout[1] if isinstance(timeout, tuple) else timeout
        exchange = network.exchange(
            request.method, request.url, request.headers, body=request.body, timeout_s=read_s
        )
        return response(adapter, request, exchange)

    adapters.HTTPAdapter.send = send


def response(adapter, request, exchange):
    """Return the response of `requests` that an exchange was given."""
    response = requests.Response()
    response.status_code, response.reason = exchange.status, exchange.reason
    for name, value in exchange.headers:
        response.headers[name] = value
    response.encoding = requests.utils.get_encoding_from_headers(response.headers)
    response.raw = io.BytesIO(exchange.body)
    response._content, response._content_consumed = exchange.body, True
    response.url, response.request, response.connection = request.url, request, adapter
    return response
