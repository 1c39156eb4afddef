"""A cloud that is stopped: its neighbours and placement are served here meanwhile.

Only clouds of `nova-lite up` are known to be stopped: by the lock of their state
directory, which is held while one looks, so that the cloud cannot be started.
"""

import contextlib

from nova_lite import conf as conf_module
from nova_lite.lab.launcher import daemon_config
from nova_lite.lab.launcher import layout
from nova_lite.lab.launcher import state_dir


@contextlib.contextmanager
def reachable(directory):
    """Return (configuration with which everything answers, whether the cloud is running)."""
    conf = state_dir.control_conf(directory)
    places = layout.Layout(_settings(directory, conf))
    try:
        places.prepare()
    except layout.InUse:
        yield conf, True
        return
    # Their services and placement take most of the time of an import. A cloud that runs has them.
    from nova_lite.lab.launcher import stand_ins

    served = stand_ins.StandIns(places)
    try:
        served.start()
        yield _pointing(conf, places, served.urls), False
    finally:
        served.stop()
        places.release()


def _settings(directory, conf):
    """Return what finds the databases. Tokens are checked: other users of the machine get none."""
    own = layout.Layout(layout.Settings(state_dir=directory))
    url = conf.api_database.connection
    server = url.removesuffix(f'/{own.database_name(layout.API)}')
    sqlite = url.startswith('sqlite')
    return layout.Settings(state_dir=directory, database=None if sqlite else server)


def _pointing(conf, places, urls):
    """Return the configuration, with these neighbours in the place of those that were."""
    path = places.write_config('verify', daemon_config.everyone(places, urls))
    return conf_module.make_conf(files=[*conf.config_file, path])
