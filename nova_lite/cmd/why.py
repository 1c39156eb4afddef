"""nova-lite why: explain the last scheduling decision about a server, host by host.

The command asks all schedulers over RPC. A scheduler keeps its latest decisions in memory.
An embedded cloud is asked over a local HTTP connection, since its buses are private.
"""

import json

from rich import console

from nova_lite import context
from nova_lite import exception
from nova_lite.console import tables
from nova_lite.daemons import door
from nova_lite.db.cell import services
from nova_lite.launcher import server_names
from nova_lite.launcher import state_dir
from nova_lite.rpc import transport
from nova_lite.rpcapi import scheduler

BINARY = 'nova-scheduler'


def add_parser(commands):
    """Add the subcommand."""
    parser = commands.add_parser(
        'why', help='explain the last scheduling decision', description=__doc__
    )
    state_dir.add_option(parser)
    parser.add_argument('server', metavar='SERVER', help='uuid or name of the server')
    parser.add_argument('host', metavar='HOST', nargs='?', help='explain only this host')
    parser.add_argument('--json', action='store_true', help='print JSON')
    parser.set_defaults(run=run)


def find(directory, server, host=None):
    """Return what SchedulerAPI.why returns, the newest if several schedulers have a decision.

    Raise InstanceNotFound or NoUniqueMatch for a name; DecisionNotFound or Invalid if no
    scheduler has a decision.
    """
    conf = state_dir.control_conf(directory)
    with server_names.cells_of(conf) as cells:
        uuid = server_names.uuid_of(cells, server)
        if conf.transport_url.startswith(transport.EMBEDDED):
            return door.ask(conf.state_path, uuid, host)
        return _ask_all(conf, cells, uuid, host)


def _ask_all(conf, cells, uuid, host):
    """Ask every scheduler: only the one that decided has the decision in memory."""
    rows = cells.cell0.db.read(services.every, binary=BINARY)
    names = [row.host for row in rows if services.is_up(row, conf.service_down_time)]
    bus = transport.open_bus(conf, conf.transport_url)
    answers, silent = [], []
    try:
        caller = scheduler.SchedulerAPI(bus)
        for name in names:
            try:
                answers.append(caller.why(context.admin(), uuid, host, scheduler=name))
            except exception.DecisionNotFound:
                continue  # another one's
            except exception.Unavailable:
                silent.append(name)
    finally:
        bus.cleanup()
    if not answers and silent:
        raise exception.Unavailable(service=f'Scheduler {", ".join(silent)}', reason='no answer')
    if not answers:
        raise exception.DecisionNotFound(uuid=uuid)
    return max(answers, key=lambda answer: answer['at'])


def run(args):
    """Print the answer and return 0."""
    found = find(args.state_dir, args.server, args.host)
    if args.json:
        print(json.dumps(found, indent=2))
    else:
        _print(found)
    return 0


def _print(found):
    terminal = console.Console(highlight=False, soft_wrap=True)

    def say(text):
        terminal.print(text, markup=False)

    say(f'Server {found["instance_uuid"]}, decided {found["at"]} for {found["request_id"]}')
    say(f'chosen: {found["chosen"] or "none"}')
    if found['error']:
        say(found['error'])
    for name, what in found['request_filters']:
        say(f'request filter {name}: {what}')
    for query in found['queries']:
        say(f'placement query: {query}')
    columns = ('host', 'stage', 'reason')
    tables.show(columns, [[entry[name] for name in columns] for entry in found['hosts']])
    if found['more']:
        say(f'and {found["more"]} more hosts; add HOST to the command to see one of them')
