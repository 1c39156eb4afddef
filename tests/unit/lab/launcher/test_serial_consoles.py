"""Serial consoles, as a client of WebSocket whose code is not ours sees them."""

import socket

import testtools
import websocket

from nova_lite import exception
from nova_lite import runtime
from nova_lite.lab.launcher import serial_consoles
from nova_lite.lab.launcher import websockets

TIMEOUT_S = 30


class SerialConsolesTest(testtools.TestCase):
    def setUp(self):
        super().setUp()
        self.patch(serial_consoles, 'AGAIN_S', 0.01)
        self.output = 'booted\nlogin: '
        self.consoles = serial_consoles.SerialConsoles(self.read, '127.0.0.1')
        self.port = self.consoles.start()
        self.addCleanup(self.consoles.stop)

    def read(self, token):
        if token != 'right':
            raise exception.NotFound('The token is wrong')
        return {'server': 'uuid', 'output': self.output}

    def connect(self, query='?token=right', **options):
        url = f'ws://127.0.0.1:{self.port}/{query}'
        opened = websocket.create_connection(url, timeout=TIMEOUT_S, **options)
        self.addCleanup(opened.close)
        return opened

    def test_the_log_and_what_is_added(self):
        opened = self.connect(subprotocols=['binary'])
        self.assertEqual('binary', opened.getsubprotocol())
        self.assertEqual(b'booted\r\nlogin: ', opened.recv())
        self.output += 'x' * 100_000
        self.assertEqual(b'x' * 100_000, opened.recv())
        # The guest was started again.
        self.output = 'again'
        self.assertEqual(b'\r\nagain', opened.recv())

    def test_input_and_pings(self):
        opened = self.connect()
        opened.recv()
        opened.send('root\n')
        opened.ping('are you there')
        self.assertEqual(
            (websocket.ABNF.OPCODE_PONG, b'are you there'), opened.recv_data(control_frame=True)
        )
        self.output += ' prompt'
        self.assertEqual(b' prompt', opened.recv())
        opened.close()
        self.connect().recv()

    def test_a_client_that_never_pauses(self):
        """It gets what is added, and its token is checked again, as with other clients."""
        self.patch(serial_consoles, 'AGAIN_S', 0.2)
        opened = self.connect()
        opened.recv()
        self.output += ' prompt'
        kind, until = None, runtime.monotonic() + 2
        while kind != websocket.ABNF.OPCODE_BINARY and runtime.monotonic() < until:
            opened.ping()
            kind, data = opened.recv_data(control_frame=True)
        self.assertEqual(b' prompt', data)

    def test_without_a_token(self):
        for query in ('', '?token=', '?token=wrong', '?other=right'):
            opened = self.connect(query)
            kind, data = opened.recv_data(control_frame=True)
            self.assertEqual(websocket.ABNF.OPCODE_CLOSE, kind)
            self.assertEqual(websockets.VIOLATION, int.from_bytes(data[:2], 'big'))
            self.assertIn(b'The token is wrong', data)

    def test_the_token_expires(self):
        opened = self.connect()
        opened.recv()
        self.read = None
        self.consoles._read = self.refuse
        kind, _data = opened.recv_data(control_frame=True)
        self.assertEqual(websocket.ABNF.OPCODE_CLOSE, kind)

    def refuse(self, _token):
        raise exception.NotFound('The token has expired')

    def ask(self, text):
        """Send bytes that no client of WebSocket sends; return the answer, b'' without one."""
        with socket.create_connection(('127.0.0.1', self.port), TIMEOUT_S) as connection:
            try:
                connection.sendall(text)
                return b''.join(iter(lambda: connection.recv(1 << 16), b''))
            except ConnectionError:
                # The server has closed it before it had read all.
                return b''

    def test_other_clients(self):
        head = b'Host: x\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n'
        for text in (
            b'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
            b'POST /?token=right HTTP/1.1\r\n' + head + b'Sec-WebSocket-Key: x\r\n\r\n',
            b'GET /?token=right HTTP/1.1\r\n' + head + b'\r\n',
            b'nonsense\r\n\r\n',
            b'GET //[/?token=right HTTP/1.1\r\n' + head + b'Sec-WebSocket-Key: x\r\n\r\n',
            b'GET / HTTP/1.1\r\n' + head.replace(b'13', b'8') + b'Sec-WebSocket-Key: x\r\n\r\n',
        ):
            self.assertTrue(self.ask(text).startswith(b'HTTP/1.1 400 '), text)
        # A head without an end, and a frame that is not masked.
        self.assertEqual(b'', self.ask(b'GET / HTTP/1.1\r\n' + b'x' * 100_000))
        good = b'GET /?token=right HTTP/1.1\r\n' + head + b'Sec-WebSocket-Key: x\r\n\r\n'
        self.assertIn(b'101 Switching Protocols', self.ask(good + b'\x81\x01x'))
        self.connect().recv()

    def test_a_slow_client(self):
        """A client that sends a byte from time to time does not keep its place."""
        self.patch(serial_consoles, 'HANDSHAKE_S', 0.1)
        with socket.create_connection(('127.0.0.1', self.port), TIMEOUT_S) as connection:
            connection.settimeout(0.02)
            while True:
                try:
                    connection.sendall(b'G')
                    if connection.recv(1) == b'':
                        break
                except TimeoutError:
                    continue
                except ConnectionError:
                    break

    def test_slow_clients_keep_no_place_from_another(self):
        slow = [
            socket.create_connection(('127.0.0.1', self.port), TIMEOUT_S)
            for _number in range(2 * serial_consoles.CONSOLES)
        ]
        for each in slow:
            self.addCleanup(each.close)
        self.assertEqual(b'booted\r\nlogin: ', self.connect().recv())

    def test_many(self):
        opened = [self.connect() for _number in range(serial_consoles.CONSOLES)]
        for each in opened:
            each.recv()
        self.assertEqual(b'', self.ask(b'GET / HTTP/1.1\r\n\r\n'))
        opened[0].close()
        while True:
            try:
                return self.connect().recv()
            except (websocket.WebSocketException, OSError):
                # The place of the one that was closed is not free yet.
                continue

    def test_stop_ends_all(self):
        opened = self.connect()
        opened.recv()
        self.consoles.stop()
        self.assertRaises(websocket.WebSocketConnectionClosedException, opened.recv)
        self.assertRaises(OSError, socket.create_connection, ('127.0.0.1', self.port), TIMEOUT_S)
