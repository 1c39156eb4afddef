"""Fixtures for tests with testtools and stestr, which need the package fixtures."""

from collections.abc import Iterable
from collections.abc import Mapping
import contextlib
import typing

import fixtures

from nova_lite import runtime
from nova_lite.lab.launcher import openrc
from nova_lite.lab.testing import clouds
from nova_lite.lab.testing import profiles
from nova_lite.lab.testing import projects


class NovaCloud(fixtures.Fixture):
    """A cloud of this process, which tests with the same arguments share.

    The first test starts it, and it stops with the process. Without arguments it is the
    cloud that the variable NOVA_LITE_STATE names, if it is set.

    profile: the name of a bundled profile, or a path
    failures: as in the document of a profile. With a probability, the test has a cloud of its own
    fresh: whether it is as it was when it was new, and for one test at a time, without a profile or
        failures. The test may change its clock and its hosts
    snapshot: path of a snapshot, without a profile or failures; the cloud is as it was when that
        was taken
    cloud: the testing.clouds.Cloud, once set up
    """

    def __init__(
        self,
        profile: str = profiles.DEFAULT,
        failures: Iterable[Mapping[str, typing.Any]] = (),
        *,
        fresh: bool = False,
        snapshot: str | None = None,
    ) -> None:
        super().__init__()
        self._profile, self._failures = profile, list(failures)
        chosen = profile != profiles.DEFAULT or self._failures
        if snapshot is not None and (chosen or fresh):
            raise ValueError(
                'a cloud with a snapshot has its profile: omit profile and failures, and fresh'
            )
        if fresh and chosen:
            raise ValueError(
                'a fresh cloud has the profile of the plugin: omit profile and failures'
            )
        if any(profiles.SERVICE in each for each in self._failures):
            raise ValueError('a fault of a service is a fixture of its own: Fault')
        self._snapshot, self._fresh = snapshot, fresh
        self.cloud: clouds.Cloud

    def _setUp(self) -> None:
        found = None
        if self._snapshot is not None:
            self.cloud = clouds.of_process().continued(self._snapshot)
            return
        if self._fresh:
            self.cloud = clouds.of_process().fresh()
            return
        if self._profile == profiles.DEFAULT and not self._failures:
            found = clouds.existing()
        if found is None:
            kept = contextlib.ExitStack()
            self.addCleanup(kept.close)
            found = kept.enter_context(
                clouds.of_process().lent(self._profile, self._failures, test=runtime.new_uuid())
            )
        self.cloud = found


class Fault(fixtures.Fixture):
    """A fault of operations or of requests to a service, from its setup to its cleanup.

    It is for all who use the cloud.

    cloud: a NovaCloud that is set up
    entry: as `POST /control/faults/add` takes it, such as service='placement', status=503
    """

    def __init__(self, cloud: NovaCloud, **entry: typing.Any) -> None:
        super().__init__()
        self._cloud, self._entry = cloud, entry

    def _setUp(self) -> None:
        kept = contextlib.ExitStack()
        self.addCleanup(kept.close)
        kept.enter_context(self._cloud.cloud.faults([self._entry]))


class Project(fixtures.Fixture):
    """A project in a cloud, removed afterwards with all that it holds.

    cloud: a NovaCloud that is set up
    export: whether the environment of this process has the variables OS_* of its user
    project: the testing.projects.Project, once set up
    """

    def __init__(self, cloud: NovaCloud, *, export: bool = False) -> None:
        super().__init__()
        self._cloud, self._export = cloud, export
        self.project: projects.Project

    def _setUp(self) -> None:
        kept = contextlib.ExitStack()
        self.addCleanup(kept.close)
        self.project = kept.enter_context(projects.project(self._cloud.cloud))
        if self._export:
            variables = {**dict.fromkeys(openrc.UNSET), **self.project.environment}
            for name, value in variables.items():
                self.useFixture(fixtures.EnvironmentVariable(name, value))
