"""nova-lite demo: show the main features on a temporary cloud.

It starts an embedded cloud of two cells with three hosts each in a temporary
directory, plays scenes through its HTTP API with openstacksdk, and ends with
`verify`. The exit code is 0 if each check of the scenes and `verify` succeeded.

Example: nova-lite demo --scene cross-cell --html moves.html
"""

import argparse

from nova_lite.lab.demo import demo
from nova_lite.lab.demo import scenes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments and options."""
    parser.add_argument(
        '--scene',
        action='append',
        choices=sorted(scenes.SCENES),
        help='play only this scene; may be repeated',
    )
    parser.add_argument(
        '--html', metavar='FILE', help='write the timelines of the cross-cell moves to this file'
    )
    parser.add_argument('--debug', action='store_true', help='log at level DEBUG')


def run(args: argparse.Namespace) -> int:
    """Play the scenes and return the exit code."""
    return demo.play(args.scene or scenes.SCENES, html=args.html, debug=args.debug)
