"""A run of a drill: its steps, the verdict of `verify`, and the return to the state before."""

from collections.abc import Callable
from collections.abc import Sequence
import typing

from nova_lite import exception
from nova_lite.lab.launcher import verification
from nova_lite.lab.scenarios import clients
from nova_lite.lab.scenarios import drill as drills
from nova_lite.lab.scenarios import kept
from nova_lite.lab.scenarios import needs
from nova_lite.lab.scenarios import places
from nova_lite.lab.scenarios import restoring
from nova_lite.lab.scenarios import stage as stages
from nova_lite.lab.scenarios import step_actions
from nova_lite.lab.scenarios import timeline as timelines
from nova_lite.lab.scenarios import undoing

# A function of (symptom, task, stage) that returns whether to judge the task.
HandOver: typing.TypeAlias = Callable[[str, str, stages.Stage], bool]


class Run:
    """One run of a drill. say: prints a line"""

    def __init__(
        self, drill: drills.Drill, cloud: clients.Cloud, say: Callable[[str], None]
    ) -> None:
        self.drill, self.cloud = drill, cloud
        self._say, self.timeline = say, timelines.Timeline(say)

    def play(self, hand_over: HandOver | None = None) -> timelines.Timeline:
        """Play the drill; return its timeline. Raise NotAble, Busy, NoPlaces, InUse, NotWritten,
        Unreadable, Remaining, Unavailable.

        hand_over: for an exam, tells a person the symptom and the task, and returns when that
            person is done; it returns whether to judge the task. The other steps are not played.
        """
        needs.require(self.drill, self.cloud)
        with kept.locked(self.cloud.directory) as lock:
            if undoing.undo_former(self.cloud, lock, self._say) is not None:
                # That is no part of this drill.
                self.timeline = timelines.Timeline(self._say)
            return self._play(lock, hand_over)

    def _play(self, lock: int, hand_over: HandOver | None) -> timelines.Timeline:
        steps = self.drill.steps if hand_over is None else self._before_exam()
        restoring.require_no_faults(self.cloud)
        restoring.require_none_of_drills(self.cloud)
        values = places.choose(self.drill, self.cloud)
        record = kept.Record(
            kept.path_of(self.cloud.directory),
            self.drill.name,
            [values[role] for role in self.drill.hosts],
        )
        record.write()
        stage = stages.Stage(self.cloud, values, record, lock)
        try:
            if self._steps(stage, steps) and (hand_over is None or self._examine(stage, hand_over)):
                self._verify()
        finally:
            undoing.undo(stage, self.timeline)
        return self.timeline

    def solve(self, stage: stages.Stage) -> bool:
        """Solve the exam of the drill. Return whether each step of the solution succeeded."""
        return self._steps(stage, self.drill.exam.solution)

    def _before_exam(self) -> Sequence[drills.Step]:
        exam = self.drill.exam
        last = [step.text for step in self.drill.steps].index(exam.after)
        return self.drill.steps[: last + 1]

    def _examine(self, stage: stages.Stage, hand_over: HandOver) -> bool:
        """Hand over, and wait for the signals of a solved task. Return whether all came."""
        told = (self.drill.exam.symptom, self.drill.exam.task)
        symptom, task = (stage.described(text, self.drill.servers) for text in told)
        if not hand_over(symptom, task, stage):
            self.timeline.add(timelines.SIGNAL, 'The task is done', ok=False, detail='given up')
            return False
        return self._steps(stage, self.drill.exam.solved)

    def _steps(self, stage: stages.Stage, steps: Sequence[drills.Step]) -> bool:
        """Do the steps up to the first step that fails. Return whether none has failed."""
        for step in steps:
            kind = timelines.SIGNAL if step.is_signal else timelines.DO
            try:
                given = stage.filled(step.given)
                if not step.is_signal:
                    self.timeline.add(kind, self._text(stage, step))
                step_actions.ACTIONS[step.action](stage, given)
            except (stages.NotAsExpected, exception.Unavailable) as error:
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
