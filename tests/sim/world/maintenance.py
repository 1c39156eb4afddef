"""Programs that an administrator runs beside the daemons, and that may be killed."""

import argparse

from nova_lite import conf as conf_module
from nova_lite.manage import archive as archive_module
from nova_lite.manage import command
from tests.sim import kernel

# Seconds after which a program is killed that did not get as far as it should be killed.
LIMIT_S = 60
ARGUMENTS = argparse.Namespace(
    max_rows=1000,
    before=None,
    all_cells=True,
    until_complete=True,
    purge=True,
    verbose=False,
    json=False,
    sleep=0,
)


def archive(cloud, commits=None):
    """Archive and purge all deleted servers. commits: after how many the program is killed"""
    now = kernel.current()
    program, ended = now.process('manage'), []

    def run():
        path = cloud.places.path('etc', 'scheduler.conf')
        with command.Deployment(conf_module.make_conf(files=[path])) as deployment:
            archive_module.archive_deleted_rows(deployment, ARGUMENTS)
        ended.append(True)

    def kill(_number, what, _detail):
        nonlocal commits
        if now.running.home is program and what == 'db: committed':
            commits -= 1
            if commits == 0:
                program.kill()
                ended.append(True)

    cancel = now.at_points(kill) if commits else lambda: None
    program.spawn(run, name='archive')
    now.block_until(lambda: bool(ended), 'archive', LIMIT_S)
    cancel()
    program.kill()
