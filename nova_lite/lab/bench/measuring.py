"""One measurement of `nova-lite bench`: a scenario, and the figures that are printed."""

import argparse

from nova_lite.lab.bench import client
from nova_lite.lab.bench import cpu_profile
from nova_lite.lab.bench import idle
from nova_lite.lab.bench import moves
from nova_lite.lab.bench import results
from nova_lite.lab.bench import scenarios


def run(args: argparse.Namespace) -> int:
    """Measure a scenario, and print the figures. Return the exit code. args: of the command"""
    with cpu_profile.prepared(args):
        moves.check(args)
        if args.scenario in moves.SCENARIOS:
            return moves.run(args)
        if args.scenario == 'idle':
            figures = idle.measure(args.state_dir, args.also, args.seconds)
            idle.show(figures, as_json=args.json)
            return 0
        cloud = client.Client(args.state_dir)
        measured = results.Measured(args.scenario, args.state_dir, args.also, sampler=args.sampler)
        scenarios.SCENARIOS[args.scenario](cloud, args, measured)
        measured.print(as_json=args.json)
        return 1 if measured.failures else 0
