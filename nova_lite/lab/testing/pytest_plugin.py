"""The pytest plugin: a cloud for each run, a project for each test, markers for failures.

pytest loads it in every run of an environment that has nova_lite. So it imports the rest of
nova_lite only when a test uses it.
"""

from collections.abc import Callable
from collections.abc import Iterator
import contextlib
import os
import tempfile
import typing
import warnings

import pytest

if typing.TYPE_CHECKING:
    from nova_lite.lab.testing import clouds
    from nova_lite.lab.testing import projects

MARKERS = (
    'nova_lite_profile(name): the cloud of nova_lite_project has this profile, a name or a path',
    'nova_lite_failure(verb, ...): this operation fails in the cloud of nova_lite_project; the '
    'arguments are the keys of a failure in a profile, or with service=... those of a fault of '
    'requests to a service, which begins once the project is made',
)
UP = 'nova_lite_up'
# What a worker of xdist is given: the directory of the clouds, and the process they end with.
WORKER = 'nova_lite'
PREFIX = 'nova-lite-pytest-'
_directory = pytest.StashKey[str]()

# The arguments of a marker: a failure, or a fault of requests to a service.
Entry: typing.TypeAlias = dict[str, typing.Any]


# ---- the run ---------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the setting with options of clouds."""
    text = 'options of `nova-lite up` for the clouds of tests, such as --cells 1'
    parser.addini(UP, text, type='args', default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers."""
    for each in MARKERS:
        config.addinivalue_line('markers', each)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: typing.Any) -> None:
    """Give a worker of xdist the directory of the run."""
    node.workerinput[WORKER] = (_directory_of(node.config), os.getpid())


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the clouds, after the last worker has ended."""
    directory = config.stash.get(_directory, None)
    if directory is None:
        return
    if not os.listdir(directory):
        os.rmdir(directory)
        return
    with _quietly():
        from nova_lite.lab.testing import clouds

    clouds.Clouds(directory, pid=os.getpid()).close()


def _directory_of(config: pytest.Config) -> str:
    """Return the directory of the run's clouds, made at first use."""
    if _directory not in config.stash:
        config.stash[_directory] = tempfile.mkdtemp(prefix=PREFIX)
    return config.stash[_directory]


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Import without warnings: libraries warn of themselves, and a run may make errors of that."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        yield


# ---- fixtures --------------------------------------------------------------


@pytest.fixture(scope='session')
def _nova_lite_clouds(pytestconfig: pytest.Config) -> 'clouds.Clouds':
    with _quietly():
        from nova_lite.lab.testing import clouds
        from nova_lite.lab.testing import projects  # noqa: F401 - imported where it is used

    given = getattr(pytestconfig, 'workerinput', {}).get(WORKER)
    directory, pid = given or (_directory_of(pytestconfig), os.getpid())
    return clouds.Clouds(directory, pid=pid, options=pytestconfig.getini(UP))


@pytest.fixture(scope='session')
def nova_cloud(_nova_lite_clouds: 'clouds.Clouds') -> 'clouds.Cloud':
    """Return the cloud that all tests of the run share, also those of other workers.

    It is the one that the variable NOVA_LITE_STATE names, if it is set; else it is started.
    """
    from nova_lite.lab.testing import clouds

    return clouds.existing() or _nova_lite_clouds.get()


@pytest.fixture
def nova_lite_project(
    request: pytest.FixtureRequest, _nova_lite_clouds: 'clouds.Clouds'
) -> Iterator['projects.Project']:
    """Yield a project for the test; afterwards delete it with all that it holds."""
    from nova_lite.lab.testing import projects

    with _cloud_of(request, _nova_lite_clouds) as (cloud, faults):
        with projects.project(cloud) as made, cloud.faults(faults):
            yield made


@pytest.fixture
def nova_lite_env(
    nova_lite_project: 'projects.Project', monkeypatch: pytest.MonkeyPatch
) -> 'projects.Project':
    """Return the test's project; its variables OS_* are in the environment."""
    from nova_lite.lab.launcher import openrc

    for name in openrc.UNSET:
        monkeypatch.delenv(name, raising=False)
    for name, value in nova_lite_project.environment.items():
        monkeypatch.setenv(name, value)
    return nova_lite_project


@pytest.fixture
def nova_lite_snapshot(
    _nova_lite_clouds: 'clouds.Clouds',
) -> Callable[[str], 'clouds.Cloud']:
    """Return a function from the path of a snapshot to a cloud that continues with it.

    The cloud is as it was when the snapshot was taken. No other process uses it.
    """
    return _nova_lite_clouds.continued


@pytest.fixture
def nova_lite_fresh_cloud(_nova_lite_clouds: 'clouds.Clouds') -> 'clouds.Cloud':
    """Return a cloud as it is when it is new. No other process uses it.

    A test may change its clock and its hosts: for the next one that asks for it, it is reset.
    """
    return _nova_lite_clouds.fresh()


@contextlib.contextmanager
def _cloud_of(
    request: pytest.FixtureRequest, pool: 'clouds.Clouds'
) -> Iterator[tuple['clouds.Cloud', list[Entry]]]:
    """Yield the cloud that the markers of a test ask for, and faults to inject later."""
    from nova_lite.lab.testing import profiles

    node: pytest.Item = request.node
    profile = node.get_closest_marker('nova_lite_profile')
    failures = [{**each.kwargs, **_verb(each)} for each in node.iter_markers('nova_lite_failure')]
    if profile is None and not failures:
        yield request.getfixturevalue('nova_cloud'), []
        return
    name = profile.args[0] if profile is not None else profiles.DEFAULT
    of_hosts = [each for each in failures if profiles.SERVICE not in each]
    of_services = [each for each in failures if profiles.SERVICE in each]
    with pool.lent(name, of_hosts, test=node.nodeid, alone=bool(of_services)) as cloud:
        yield cloud, of_services


def _verb(marker: pytest.Mark) -> dict[str, str]:
    """Return the verb of a marker that gives it without its name."""
    return {'verb': marker.args[0]} if marker.args else {}
