"""A study: a trace with one or more settings, one after the other in the same cloud."""

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Sequence
import contextlib
import dataclasses
import os
import resource
import shutil
import sys
import typing

from nova_lite.clients import offers
from nova_lite.lab.launcher import clocks
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import verification
from nova_lite.lab.replay import booter
from nova_lite.lab.replay import cluster
from nova_lite.lab.replay import decider
from nova_lite.lab.replay import disturbances
from nova_lite.lab.replay import figures
from nova_lite.lab.replay import plan as plans
from nova_lite.lab.replay import results
from nova_lite.lab.replay import settings
from nova_lite.lab.replay import stream
from nova_lite.lab.replay import study_page
from nova_lite.scheduler import host_states
from nova_lite.scheduler import hosts
from nova_lite.terminal import progress_display

Json = dict[str, typing.Any]


class Interrupted(BaseException):
    """The study was interrupted, and its progress is kept."""


class Study:
    """Runs a plan in a directory.

    plan: as it was given, and then with the digests of its files set
    is_interrupted: asked after each arrival; the study ends early when it returns true
    """

    def __init__(
        self,
        directory: str,
        plan: plans.Plan,
        *,
        progress: Json | None = None,
        is_interrupted: Callable[[], bool] = lambda: False,
    ) -> None:
        """Check the plan, and read its trace.

        progress: of an interrupted study
        Raise ValueError and the errors of Plan.read, digests_of and flavors_of.
        """
        self._directory = directory
        self._settings = plan.settings()
        self._trace = plan.read()
        self._wanted = plan.cloud(directory)
        self.plan = dataclasses.replace(
            plan, digest=self._trace.digest, digests=plan.digests_of(self._wanted)
        )
        self._flavors = plan.flavors_of(self._trace)
        self._reference = plan.reference_of(self._flavors)
        self._is_interrupted = is_interrupted
        progress = progress or {}
        self._finished: list[Json] = progress.get('finished', [])
        self._current: Json | None = progress.get('current')

    def run(self) -> Json:
        """Run the rest of the study. Return the results, and write them into the directory.

        Raise Interrupted.
        """
        left = self._settings[len(self._finished) :]
        if self.plan.boots:
            for setting in left:
                self._finished.append(self._boot(setting))
                plans.keep(self._directory, self._finished)
        else:
            if self._current is None:
                # Placement of a study that was killed has the claims of its last run.
                self._remove_cloud()
            with cluster.started(self._wanted) as cloud:
                # From here on, the claims in placement are no longer those of the kept state.
                plans.keep(self._directory, self._finished)
                for setting in left:
                    self._finished.append(self._run(cloud, setting))
                    self._current = None
                    plans.keep(self._directory, self._finished)
        found = results.of(
            self.plan.describe(self._trace, self._flavors, self._wanted), self._finished
        )
        results.write(self._directory, found)
        study_page.write(self._directory, found)
        self._trace.close()
        self._clear()
        return found

    def _clear(self) -> None:
        """Remove the progress, and the cloud without which the progress is useless."""
        path = os.path.join(self._directory, plans.PROGRESS)
        if os.path.exists(path):
            os.unlink(path)
        self._remove_cloud()

    def _remove_cloud(self) -> None:
        """Remove the cloud. Raise InUse if it runs."""
        path = os.path.join(self._directory, plans.CLOUD)
        if os.path.exists(path):
            # Another process may continue the same study.
            places = layout.Layout(layout.Settings(state_dir=path))
            places.hold()
            try:
                shutil.rmtree(path)
            finally:
                places.release()

    def _run(self, cloud: cluster.Cluster, setting: settings.Setting) -> Json:
        deciding = decider.Decider(
            cloud.conf(setting.options),
            cloud.cells,
            cloud.states,
            aggregates=cloud.aggregates,
            seed=self.plan.seed,
            asks_always=self.plan.asks_always,
        )
        progress = None if self._current is None else _restored(self._current, deciding)
        with self._runner(setting, deciding, progress) as run:
            if self._current is not None:
                run.latencies.restore(self._current['latencies'])
            try:
                run.run()
            except Interrupted:
                self._keep(run.progress, _stored(run, deciding))
                raise
        run.remove_all()
        found = _result(setting, run)
        found['times']['candidate_queries'] = deciding.asked
        return found

    def _boot(self, setting: settings.Setting) -> Json:
        """Run the trace with whole boots, in a separate cloud."""
        self._remove_cloud()
        wanted = self.plan.cloud(self._directory, setting.options)
        with (
            clocks.installed(wanted.settings.state_dir) as clock,
            cluster.running(wanted, clock) as cloud,
        ):
            clock.freeze()
            booting = booter.Booter(cloud, clock, self._trace.began_s)
            disturbing = disturbances.Disturbances(booting, self.plan.seed)
            planned = disturbing.planned(
                self._trace, self.plan.migrations, lose=self.plan.lose_host
            )
            with self._runner(setting, booting, planned=planned) as run:
                try:
                    run.run()
                except Interrupted:
                    self._keep(run.progress, None)
                    raise
            clock.resume()
            verdict = verification.find(wanted.settings.state_dir)
        found = [' '.join(each) for each in (*verdict.findings, *verdict.unsettled)]
        return {**_result(setting, run), 'verify': found}

    @contextlib.contextmanager
    def _runner(
        self,
        setting: settings.Setting,
        cloud: stream.Cloud,
        progress: stream.Progress | None = None,
        planned: Sequence[stream.Planned] = (),
    ) -> Iterator[stream.Run]:
        """Yield a Run, and show its progress during the block."""
        left = self._trace.count - (progress.done if progress else 0)
        with progress_display.Count(setting.name, left, estimates=True) as count:

            def look(_progress: stream.Progress) -> None:
                count.add()
                if self._is_interrupted():
                    raise Interrupted

            yield stream.Run(
                stream.Work(self._trace, self._flavors, self._reference),
                cloud,
                progress=progress,
                planned=planned,
                look=look,
            )

    def _keep(self, progress: stream.Progress, current: Json | None) -> None:
        """Keep an interrupted study. current: of the run, None if the run has to begin again"""
        plans.keep(self._directory, self._finished, current)
        again = '' if current else ' It begins the run again.'
        print(
            f'Interrupted after {progress.done} of {self._trace.count} arrivals.\n'
            f'`nova-lite replay --continue {self._directory}` continues.{again}',
            file=sys.stderr,
        )


def _result(setting: settings.Setting, run: stream.Run) -> Json:
    progress, spent = run.progress, run.latencies
    return {
        'setting': setting.name,
        'options': setting.options,
        'summary': stream.summary(progress),
        'series': results.series(progress.samples),
        'times': {
            'wall_s': progress.wall_s,
            'cpu_s': progress.cpu_s,
            'decisions_per_s': progress.done / progress.wall_s if progress.wall_s else 0.0,
            'cpu_ms_per_decision': 1000 * progress.cpu_s / progress.done,
            'decision_p50_s': spent.percentile(0.5),
            'decision_p95_s': spent.percentile(0.95),
            'decision_p99_s': spent.percentile(0.99),
            'decisions_ms': spent.milliseconds(),
            'peak_memory_mib': resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        },
    }


# ---- to continue later ----


def _stored(run: stream.Run, deciding: decider.Decider) -> Json:
    """Return a run as plain values."""
    held = {}
    for name in run.progress.living:
        placed, claim = deciding.held(name)
        kept = dataclasses.asdict(placed)
        # The machines of traces request neither NUMA nodes nor devices.
        del kept['guest'], kept['given']
        held[name] = [kept, claim]
    return {
        'progress': dataclasses.asdict(run.progress),
        'latencies': run.latencies.stored(),
        'held': held,
    }


def _restored(current: Json, deciding: decider.Decider) -> stream.Progress:
    """Return the progress of an interrupted run, and put its machines on their hosts again."""
    for name, (placed, claim) in current['held'].items():
        size = hosts.Size(**placed.pop('size'))
        request = typing.cast(offers.AllocationRequest, claim)
        deciding.restore(name, host_states.Placed(size=size, **placed), request)
    values = dict(current['progress'])
    values['samples'] = [figures.Sample(**each) for each in values['samples']]
    values['departures'] = [
        (float(at_s), int(number), str(name)) for at_s, number, name in values['departures']
    ]
    return stream.Progress(**values)
