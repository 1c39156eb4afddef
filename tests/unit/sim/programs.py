"""Small programs that the kernel's tests run as histories.

python -m tests.unit.sim.programs NAME SEEDS CHOOSERS OPTIONS
python -m tests.unit.sim.programs command_line NAME ARGUMENT ...
python -m tests.unit.sim.programs serve DESCRIPTOR

The last form forks for each of the lines that it reads, which have the arguments of one of
the others, and writes the exit status to the descriptor.
"""

from tests.sim.kernel import patch

patch.reexecute()
patch.apply()

import concurrent.futures  # noqa: E402
import contextlib  # noqa: E402
import dataclasses  # noqa: E402
import datetime  # noqa: E402
import json  # noqa: E402
import logging  # noqa: E402
import os  # noqa: E402
import queue  # noqa: E402
import random  # noqa: E402
import secrets  # noqa: E402
import sys  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402
import uuid  # noqa: E402

from tests.sim import command  # noqa: E402
from tests.sim import kernel  # noqa: E402
from tests.unit.sim import buses  # noqa: E402
from tests.unit.sim import disks  # noqa: E402
from tests.unit.sim import owners  # noqa: E402
from tests.unit.sim import starts  # noqa: E402

together = starts.together
lost_bus, frozen_bus = buses.lost_bus, buses.frozen_bus
writers, scripts = disks.writers, disks.scripts
owners_in_order, late_call = owners.owners_in_order, owners.late_call
late_change = owners.late_change
begun, one_kept, reopened, endless = starts.BEGUN, starts.ONE_KEPT, starts.REOPENED, starts.ENDLESS
grown, unbegun = starts.GROWN, starts.UNBEGUN


def lost_update():
    """Two threads add one, with a point between reading and writing."""
    now = kernel.current()
    account = {'balance': 0}

    def add():
        read = account['balance']
        now.point('read', read)
        account['balance'] = read + 1

    together(add, add)
    if account['balance'] != 2:
        now.fail('lost update')


def dying_thread():
    """A thread ends with an error, and no other thread waits for it."""
    threading.Thread(target=lambda: {}['nothing'], name='dying').start()
    time.sleep(1)


def deadlock():
    """Two threads take two locks in different orders."""
    first, second = threading.Lock(), threading.Lock()

    def take(one, other):
        with one, other:
            pass

    for _ in range(20):
        together(lambda: take(first, second), lambda: take(second, first))


def library():
    """Log what the standard library answers."""
    log = kernel.current().log
    log('slept', _slept(24 * 3600))
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        futures = [pool.submit(lambda n: time.sleep(n % 4) or n * n, n) for n in range(10)]
        done = concurrent.futures.wait(futures, timeout=2).done
        log('done in time', sorted(future.result() for future in done))
        log('squares', [future.result() for future in futures])
    log('queue', _queued())
    timer = threading.Timer(3, log, ['timer', 'rang'])
    timer.start()
    timer.join()
    barrier = threading.Barrier(3)
    together(barrier.wait, barrier.wait, barrier.wait)
    _log_conditions(log)
    _log_locals(log)
    log('threads', threading.active_count())


def _slept(seconds):
    start = time.time(), time.monotonic(), datetime.datetime.now(datetime.UTC)
    time.sleep(seconds)
    end = datetime.datetime.now(datetime.UTC)
    return time.time() - start[0], round(time.monotonic() - start[1]), str(end - start[2])


def _queued():
    messages, received = queue.Queue(2), []
    taker = threading.Thread(target=lambda: received.extend(messages.get() for _ in range(6)))
    taker.start()
    for number in range(6):
        messages.put(number)
    taker.join()
    try:
        messages.get(timeout=5)
    except queue.Empty:
        received.append('empty')
    simple = queue.SimpleQueue()
    threading.Timer(1, simple.put, ['simple']).start()
    received.append(simple.get())
    return received


def _log_conditions(log):
    condition, event = threading.Condition(), threading.Event()
    with condition:
        log('notified', condition.wait(1.5))
        threading.Timer(1, event.set).start()
        log('set', (event.wait(0.5), event.wait(1)))

    def notify():
        with condition:
            condition.notify_all()

    with condition:
        threading.Timer(1, notify).start()
        log('notified', condition.wait_for(event.is_set, 9))
        log('notified', condition.wait(9))
    semaphore = threading.BoundedSemaphore(1)
    with semaphore:
        log('acquired', semaphore.acquire(timeout=1))
    again = threading.RLock()
    with again, again:
        threading.Thread(target=lambda: log('taken', again.acquire(blocking=False))).start()


def _log_locals(log):
    here = threading.local()
    here.name = 'first'

    def other():
        log('local', getattr(here, 'name', None))
        here.name = 'second'

    together(other)
    log('local', here.name)


def pools():
    """Submit to pools from threads that are switched while they start workers."""

    def submit():
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for future in [pool.submit(time.sleep, 1) for _ in range(6)]:
                future.result()

    together(*[submit] * 5)


def chance():
    """Log identifiers and random numbers."""
    log = kernel.current().log
    log('uuids', (uuid.uuid4(), uuid.uuid1()))
    log('random', (random.random(), random.Random().random(), secrets.token_hex(8)))
    log('time', (time.time_ns(), time.strftime('%FT%T'), datetime.datetime.now()))
    running = [threading.Thread(target=log, args=('thread', n)) for n in range(20)]
    for thread in running:
        thread.start()
    for thread in set(running):
        thread.join()


def kill():
    """Kill a process that holds locks, while it waits, and at a point of its own."""
    now = kernel.current()
    shared, gate = threading.Lock(), threading.Semaphore()
    victim = now.process('victim')

    def hold():
        try:
            with shared, gate:
                time.sleep(10)
                now.point('victim: point')
                now.log('survived')
        finally:
            now.log('cleaned up')

    for when in (5, None):
        victim = now.process('victim')
        victim.on_kill(lambda: now.log('connections closed'))
        victim.spawn(hold, name='holder')
        if when:
            now.later(when, victim.kill)
        else:
            _kill_at('victim: point', victim)
        now.sleep(60)
        now.log('free', shared.acquire(timeout=1) and gate.acquire(timeout=1))
        shared.release()
        gate.release()


def _kill_at(point, victim):
    def kill_once(_number, what, _detail):
        if what == point:
            cancel()
            victim.kill()

    cancel = kernel.current().at_points(kill_once)


def freeze():
    """Freeze a process and thaw it."""
    now = kernel.current()
    process = now.process('frozen')

    def tick():
        for _ in range(3):
            time.sleep(10)
            now.log('tick', round(time.monotonic()) % 10)

    thread = process.spawn(tick)
    now.sleep(15)
    process.freeze()
    now.sleep(100)
    process.thaw()
    thread.join()
    logging.getLogger('x').warning('locks of logging work')


def clocks():
    """Log the clocks of two processes."""
    now = kernel.current()

    def tell():
        begin = time.time()
        time.sleep(100)
        now.log('clock', (begin - 1_800_000_000, round(time.time() - begin, 3)))

    for thread in (
        now.process('ahead', offset=3600).spawn(tell),
        now.process('fast', drift=0.01).spawn(tell),
    ):
        thread.join()
    late, began = now.process('late', drift=0.5), now.time()
    with late.entered():
        since = time.monotonic()
        time.sleep(150)
        late.set_clock(offset=7)
        time.sleep(100)
        gained = time.monotonic() - since - (now.time() - began)
        now.log('late', (round(gained), round(time.time() - 1_800_000_000 - now.time())))


def blocks():
    """Block for real, unseen by the kernel."""
    import ctypes

    time.sleep(5)
    ctypes.CDLL(None).sleep(60)


def connects():
    """Block for real in a way the kernel knows."""
    import socket

    try:
        socket.create_connection(('127.0.0.1', 9))
    except OSError:
        kernel.current().log('caught')


def faults():
    """Fail when two of many faults happen together."""
    now = kernel.current()
    stream = now.stream('faults')
    happened = {number for number in range(50) if stream.happens(0.5, 'fault %d' % number)}
    if {3, 31} <= happened:
        now.fail('3 and 31')


def addresses():
    """Log in the order of a set of objects that have no hash of their own."""
    objects = [type('Item%d' % number, (), {})() for number in range(50)]
    kernel.current().log('order', [type(item).__name__ for item in set(objects)])


def until():
    """Wait for a model, with and without success."""
    now = kernel.current()
    model = {'free': False}
    now.later(5, model.update, {'free': True})
    now.log('free', now.block_until(lambda: model['free'], 'model', timeout=3))
    now.log('free', now.block_until(lambda: model['free'], 'model', timeout=3))


def spin():
    """Loop without end."""
    lock = threading.Lock()
    while True:
        with lock:
            pass


def busy():
    """Take and release locks in four threads: what a point costs."""
    lock = threading.Lock()

    def work():
        for _ in range(50_000):
            with lock:
                pass

    together(work, work, work, work)


def main(name, seeds, choosers, options):
    """Print the outcomes of a program's histories as JSON."""
    first, _, last = seeds.partition('-')
    body = globals()[name]
    found = [
        dataclasses.asdict(kernel.run(seed, body, chooser=chooser, **json.loads(options)))
        for chooser in choosers.split(',')
        for seed in range(int(first), int(last or first) + 1)
    ]
    _close(body)
    print(json.dumps(found))


def _close(body):
    if isinstance(body, kernel.Zygotes):
        body.close()


def command_line(name, *arguments):
    """Run the simulation's command line with a program for a history."""

    @contextlib.contextmanager
    def prepared(_seeds, _database):
        try:
            yield globals()[name]
        finally:
            _close(globals()[name])

    return command.main(prepared, arguments)


def run(arguments):
    """Do what the command line says; return the exit status."""
    if arguments[0] == 'command_line':
        return command_line(*arguments[1:])
    return main(*arguments)


def serve(descriptor):
    """Fork for each line, until there are no more; return the exit status in each child."""
    for line in sys.stdin:
        arguments, *files = json.loads(line)
        child = os.fork()
        if not child:
            os.close(descriptor)
            for number, path in enumerate((os.devnull, *files)):
                opened = os.open(path, os.O_RDWR)
                os.dup2(opened, number)
                os.close(opened)
            return run(arguments)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.write(descriptor, b'%d\n' % status)
    return 0


if __name__ == '__main__':
    if sys.argv[1] == 'serve':
        sys.exit(serve(int(sys.argv[2])))
    sys.exit(run(sys.argv[1:]))
