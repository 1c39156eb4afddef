"""No project has more servers than its quota: asked after each commit that could add one."""

from nova_lite.lab.launcher import layout

IN_CELL = 'SELECT uuid FROM instances WHERE NOT deleted'
ACCEPTED = 'SELECT instance_uuid FROM build_requests WHERE NOT withdrawn'
# Their deletion was accepted, so they count no longer.
LEAVING = """
    SELECT instance_uuid FROM instance_mappings WHERE queued_for_delete
    UNION SELECT instance_uuid FROM build_requests WHERE withdrawn
"""


def servers(most):
    """A rule: there are at most so many, of the one project that the workload has."""

    def look(databases):
        found = set()
        for name, connection in databases.items():
            statement = ACCEPTED if name == layout.API else IN_CELL
            found.update(uuid for (uuid,) in connection.execute(statement))
        found.difference_update(uuid for (uuid,) in databases[layout.API].execute(LEAVING))
        return f'{len(found)} servers with a quota of {most}' if len(found) > most else None

    return look
