"""The demo: start a temporary cloud, play scenes, and verify the cloud."""

from collections.abc import Iterable
import tempfile

from nova_lite import runtime
from nova_lite.daemons.wsgi import server
from nova_lite.lab.demo import live_migration
from nova_lite.lab.demo import presenter as presenters
from nova_lite.lab.demo import scenes
from nova_lite.lab.launcher import embedded
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import make
from nova_lite.lab.launcher import verification
from nova_lite.lab.timeline import page
from nova_lite.terminal import plurals
from nova_lite.terminal import progress_display

TITLE = 'How servers changed cells'


def play(names: Iterable[str], *, html: str | None = None, debug: bool = False) -> int:
    """Play scenes. Return the exit code, which is 1 if a check has failed.

    html: path of a page to write, with the timelines of the moves between cells; or None
    debug: log at level DEBUG
    """
    if html:
        # Fail before the start, and not at the end, if the file cannot be written.
        page.write(html, TITLE, [])
    with tempfile.TemporaryDirectory(prefix='nova-lite-demo-') as directory:
        cloud = embedded.EmbeddedCloud(
            layout.Settings(
                state_dir=directory,
                cells=2,
                hosts=3,
                port=server.free_port(),
                profile=live_migration.write_profile(directory),
                options={
                    'DEFAULT': {'resize_confirm_window': 0, 'report_interval': 1},
                    # A scene waits until the lease of a killed super-conductor expires.
                    'conductor': {'lease_s': 3, 'sweep_interval_s': 0.5},
                    'scheduler': {'enable_isolated_aggregate_filtering': True},
                },
            )
        )
        cloud.places.prepare()
        make.log_to_file(cloud.places.path('log', 'nova-lite.log'), debug)
        presenter = presenters.Presenter(cloud)
        began = runtime.monotonic()
        with progress_display.Steps(
            'Starting a cloud: 2 cells, 3 simulated hosts in each'
        ) as steps:
            cloud.start(progress=steps.begin)
        try:
            presenter.say(
                f'{cloud.url}/compute/v2.1 answers after {runtime.monotonic() - began:.1f} s'
            )
            for name in names:
                scenes.SCENES[name](presenter)
            if html:
                page.write(html, TITLE, presenter.stories)
                moves = plurals.of(len(presenter.stories), 'move')
                presenter.say(f'{html} shows the timelines of {moves}')
            _verify(presenter, directory)
        finally:
            cloud.stop()
            make.stop_logging()
        return presenter.curtain()


def _verify(presenter: presenters.Presenter, directory: str) -> None:
    presenter.title('Is the cloud consistent? (nova-lite verify)')
    with presenter.waiting('reading all records'):
        verdict = verification.find(directory)
    found = [*verdict.findings, *verdict.unsettled]
    for finding in found:
        presenter.check(False, ' '.join(finding))
    presenter.check(not found, 'no invariant is violated')
