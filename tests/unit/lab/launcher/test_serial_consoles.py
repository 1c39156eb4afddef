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
        head = b'Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'
        head += b'Sec-WebSocket-Version: 13\r\n'
        key = b'Sec-WebSocket-Key: x\r\n'
        good = b'GET /?token=right HTTP/1.1\r\n' + head + key
        for text, reason in (
            (b'GET / HTTP/1.1\r\nHost: x\r\n', b"'Connection: Upgrade'"),
            (good.replace(b'GET', b'POST'), b'GET'),
            (good.replace(key, b''), b"'Sec-WebSocket-Key'"),
            (good.replace(b'Connection: Upgrade\r\n', b''), b"'Connection: Upgrade'"),
            (good.replace(b': websocket', b': h2c'), b"'Upgrade: "),
            (b'nonsense\r\n', b'Bad HTTP message'),
            (good.replace(b'/?token', b'//[/?token'), b'Invalid IPv6 URL'),
            (good.replace(b'Host: x', b'Host: \xff'), b''),
            (good + b'Sec-WebSocket-Protocol: \xff\r\n', b''),
        ):
            answer = self.ask(text + b'\r\n')
            self.assertTrue(answer.startswith(b'HTTP/1.1 400 '), (text, answer))
            self.assertIn(reason, answer, text)
        answer = self.ask(good.replace(b'13', b'8') + b'\r\n')
        self.assertTrue(answer.startswith(b'HTTP/1.1 426 '), answer)
        self.assertIn(b'\r\nSec-WebSocket-Version: 13\r\n', answer)
        answer = self.ask(b'GET /' + b'x' * (1 << 18) + b' HTTP/1.1\r\n\r\n')
        self.assertIn(answer[:13], (b'', b'HTTP/1.1 431 '))
        # A head without an end.
        self.assertNotIn(b'101', self.ask(b'GET / HTTP/1.1\r\n' + b'x' * 100_000))
        self.connect().recv()

    def test_a_frame_that_no_client_sends(self):
        """Frames without a mask end the connection, with the reason in the last frame."""
        opened = self.connect()
        opened.recv()
        opened.sock.sendall(b'\x81\x01x')
        kind, data = opened.recv_data(control_frame=True)
        self.assertEqual(websocket.ABNF.OPCODE_CLOSE, kind)
        self.assertIn(b'unmasked', data)

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
