"""The verification of a cloud of `nova-lite up`, running or stopped, or of a deployment."""

from collections.abc import Callable
import contextlib
import functools
import glob

from nova_lite.lab.launcher import audits
from nova_lite.lab.launcher import deployed_files
from nova_lite.lab.launcher import deployment
from nova_lite.lab.launcher import stopped
from nova_lite.verify import age_limits
from nova_lite.verify import files
from nova_lite.verify import invariants
from nova_lite.verify import reader as reader_module
from nova_lite.verify import settling

# The number of hosts that a message names.
MOST_HOSTS = 5


def find(
    directory: str,
    *,
    settle_s: float = 10.0,
    ages: age_limits.AgeLimits | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> settling.Verdict:
    """Verify the cloud of a state directory. Return the verdict, and record it.

    settle_s, ages, say: see settling.look; a stopped cloud is read once
    """
    with stopped.reachable(directory) as (conf, running):
        places = files.of_state_directory(directory)
        opened = reader_module.Reader(conf, places, running=running, say=say)
        with contextlib.closing(opened) as reader:
            if running:
                verdict = settling.look(reader, settle_s=settle_s, ages=ages, say=say)
            else:
                ages = (ages or age_limits.AgeLimits()).of_stopped()
                verdict = settling.look(reader, settle_s=0, ages=ages)
    audits.record(directory, verdict)
    return verdict


def find_deployed(
    directory: str,
    *,
    settle_s: float,
    ages: age_limits.AgeLimits | None,
    say: Callable[[str], None],
) -> tuple[settling.Verdict, str]:
    """Verify a running deployment. Return the verdict, and a text about unread parts.

    directory: directory of the configuration; settle_s, ages, say: see settling.look
    Guests are read if the files of all hosts are on this machine.
    """
    conf = deployment.Deployment(directory).conf
    computes = deployed_files.computes(directory)
    places = files.Places(
        guests=tuple(glob.escape(each.guests) for each in computes),
        logs=deployed_files.logs(directory, conf),
    )
    with contextlib.closing(reader_module.Reader(conf, places, say=say)) as reader:
        hosts = deployed_files.hosts_of(reader.cells)
        unread = hosts.difference(*(each.hosts for each in computes if each.is_readable()))
        check = functools.partial(invariants.check, with_guests=not unread)
        verdict = settling.look(reader, settle_s=settle_s, ages=ages, say=say, check=check)
    return verdict, _unread(unread, places)


def _unread(hosts: set[str], places: files.Places) -> str:
    """Return a text about the parts of a deployment that could not be read, or ''."""
    texts = []
    if hosts:
        names = ', '.join(sorted(hosts)[:MOST_HOSTS]) + (' …' if len(hosts) > MOST_HOSTS else '')
        texts.append(
            f'Guests were not checked: the files of the hosts {names} cannot be read on this machine'
        )
    if not places.logs:
        texts.append('Logs were not checked for errors of the API: they are not in files')
    return '. '.join(texts)
