"""nova-lite demo: what this is, shown on a real cloud, in a minute.

Starts an embedded cloud of two cells with three hosts each in a temporary
directory, plays scenes through its HTTP API with openstacksdk, and ends with
`verify`. Exits 0 only when everything that was shown held.
"""

import tempfile

from nova_lite import runtime
from nova_lite.cmd import progress
from nova_lite.cmd import up
from nova_lite.cmd import verify
from nova_lite.cmd.cloud import layout
from nova_lite.cmd.demo import live
from nova_lite.cmd.demo import scenes
from nova_lite.cmd.demo import stage as stage_module
from nova_lite.cmd.timeline import page
from nova_lite.wsgi import server

TITLE = 'How servers changed cells'


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
    if args.html:
        # Nobody wants to learn at the end that it cannot be written.
        page.write(args.html, TITLE, [])
    with tempfile.TemporaryDirectory(prefix='nova-lite-demo-') as directory:
        cloud = up.make_cloud(
            layout.Settings(
                state_dir=directory,
                cells=2,
                hosts=3,
                port=server.free_port(),
                profile=live.write_profile(directory),
                options={
                    'DEFAULT': {'resize_confirm_window': 0, 'report_interval': 1},
                    # Nobody wants to wait until it is sure that a super-conductor is dead.
                    'conductor': {'lease_s': 3, 'sweep_interval_s': 0.5},
                    'scheduler': {'enable_isolated_aggregate_filtering': True},
                },
            )
        )
        cloud.places.prepare()
        up.log_to_file(cloud.places.path('log', 'nova-lite.log'), args.debug)
        stage = stage_module.Stage(cloud)
        began = runtime.monotonic()
        with progress.Steps('Starting a cloud: 2 cells, 3 simulated hosts in each') as steps:
            cloud.start(progress=steps.begin)
        try:
            stage.say(f'{cloud.url}/compute/v2.1 answers after {runtime.monotonic() - began:.1f} s')
            for name in args.scene or scenes.SCENES:
                scenes.SCENES[name](stage)
            if args.html:
                page.write(args.html, TITLE, stage.stories)
                stage.say(f'{args.html} shows how {len(stage.stories)} moves went')
            stage.title('Is everything consistent? (nova-lite verify)')
            with stage.waiting('reading everything'):
                verdict = verify.find(directory)
            found = [*verdict.findings, *verdict.unsettled]
            for finding in found:
                stage.check(False, ' '.join(finding))
            stage.check(not found, 'nothing breaks an invariant')
        finally:
            cloud.stop()
            up.stop_logging()
        return stage.curtain()
