"""nova-lite demo: what this is, shown on a real cloud, in a minute.

Starts an embedded cloud of two cells with three hosts each in a temporary
directory, plays scenes through its HTTP API with openstacksdk, and ends with
`verify`. Exits 0 only when everything that was shown held.
"""

from nova_lite.demo import scenes
from nova_lite.demo import show


def add_parser(commands):
    """Add the subcommand."""
    parser = commands.add_parser('demo', help='show it on a temporary cloud', description=__doc__)
    parser.add_argument(
        '--scene',
        action='append',
        choices=sorted(scenes.SCENES),
        help='play only this scene; may be repeated',
    )
    parser.add_argument(
        '--html', metavar='FILE', help='write how servers changed cells as a page that stands alone'
    )
    parser.add_argument('--debug', action='store_true', help='log at level DEBUG')
    parser.set_defaults(run=run)


def run(args):
    """Play the scenes; returns the exit code."""
    return show.play(args.scene or scenes.SCENES, html=args.html, debug=args.debug)
