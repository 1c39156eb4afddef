"""A run of a drill: its steps, the verdict of `verify`, and the return to the state before."""

from collections.abc import Callable

from nova_lite.lab.launcher import verification
from nova_lite.lab.scenarios import clients
from nova_lite.lab.scenarios import drill as drills
from nova_lite.lab.scenarios import places
from nova_lite.lab.scenarios import restoring
from nova_lite.lab.scenarios import stage as stages
from nova_lite.lab.scenarios import step_actions
from nova_lite.lab.scenarios import timeline as timelines

RESET = '`nova-lite reset` returns the cloud to its first state'


class Run:
    """One run of a drill. say: prints a line"""

    def __init__(
        self, drill: drills.Drill, cloud: clients.Cloud, say: Callable[[str], None]
    ) -> None:
        self.drill, self.cloud = drill, cloud
        self.timeline = timelines.Timeline(say)

    def play(self) -> timelines.Timeline:
        """Play the drill; return its timeline. Raise NoPlaces, InUse, Unavailable."""
        restoring.require_no_faults(self.cloud)
        values = places.choose(self.drill, self.cloud)
        stage = stages.Stage(self.cloud, values, [values[role] for role in self.drill.hosts])
        try:
            if self._steps(stage):
                self._verify()
        finally:
            self._restore(stage)
        return self.timeline

    def _steps(self, stage: stages.Stage) -> bool:
        """Do the steps, up to the first that fails. Return whether all were as expected."""
        for step in self.drill.steps:
            kind = timelines.SIGNAL if step.is_signal else timelines.DO
            try:
                given = stage.arguments(step.given)
                if not step.is_signal:
                    self.timeline.add(kind, self._text(stage, step))
                step_actions.ACTIONS[step.action](stage, given)
            except stages.NotAsExpected as error:
                self.timeline.add(kind, self._text(stage, step), ok=False, detail=str(error))
                return False
            if step.is_signal:
                self.timeline.add(kind, self._text(stage, step))
        return True

    def _text(self, stage: stages.Stage, step: drills.Step) -> str:
        return stage.described(step.text, self.drill.servers)

    def _verify(self) -> None:
        verdict = verification.find(self.cloud.directory)
        found = [' '.join(each) for each in (*verdict.findings, *verdict.unsettled)]
        ok = str(verdict.result) == self.drill.verify
        self.timeline.add(
            timelines.VERIFY, f'The cloud is {verdict.result}', ok=ok, detail='; '.join(found)
        )

    def _restore(self, stage: stages.Stage) -> None:
        for text, failure in restoring.restore(stage):
            text = text if not failure else f'{text}. {RESET}'
            self.timeline.add(timelines.UNDO, text, ok=not failure, detail=failure)
