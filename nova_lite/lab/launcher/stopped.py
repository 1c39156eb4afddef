"""Services for reading a cloud that is stopped: simcloud and placement.

Only a cloud of `nova-lite up` can be known to be stopped, by the lock of its state directory. The
lock is held during the reading, so that the cloud cannot start.
"""

from collections.abc import Iterator
import contextlib

from oslo_config import cfg

from nova_lite import conf as conf_module
from nova_lite.lab.launcher import daemon_config
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import state_dir


@contextlib.contextmanager
def reachable(directory: str) -> Iterator[tuple[cfg.ConfigOpts, bool]]:
    """Yield (configuration with which all services answer, whether the cloud is running)."""
    conf = state_dir.control_conf(directory)
    places = layout.Layout(_settings(directory, conf))
    try:
        places.prepare()
    except layout.InUse:
        yield conf, True
        return
    # A running cloud has the services, whose imports take most of the time.
    from nova_lite.lab.launcher import stand_ins

    served = stand_ins.StandIns(places)
    try:
        served.start()
        yield _pointing(conf, places, served.urls), False
    finally:
        served.stop()
        places.release()


def _settings(directory: str, conf: cfg.ConfigOpts) -> layout.Settings:
    """Return settings with the databases of a cloud. Other users of the machine get no tokens."""
    own = layout.Layout(layout.Settings(state_dir=directory))
    url = conf.api_database.connection
    server = url.removesuffix(f'/{own.database_name(layout.API)}')
    sqlite = url.startswith('sqlite')
    return layout.Settings(state_dir=directory, database=None if sqlite else server)


def _pointing(
    conf: cfg.ConfigOpts, places: layout.Layout, urls: daemon_config.Urls
) -> cfg.ConfigOpts:
    """Return the configuration with the URLs of the services that run here."""
    path = places.write_config('verify', daemon_config.everyone(places, urls))
    return conf_module.make_conf(files=[*conf.config_file, path])
