"""The sagas of a cloud, from its API database."""

from collections.abc import Collection
import functools

from oslo_config import cfg

from nova_lite import cells as cells_module
from nova_lite.db import transactions
from nova_lite.db.api import sagas as saga_rows
from nova_lite.db.cell import instances
from nova_lite.lab import server_names
from nova_lite.lab.timeline import listing
from nova_lite.lab.timeline import page
from nova_lite.lab.timeline import story


def show(conf: cfg.ConfigOpts, *, active: bool, server: str | None, as_json: bool) -> None:
    """Print the sagas of a cloud, newest first. Raise NoServer for a server without sagas.

    conf: of a control daemon; active: see `listing.show`; server: name or uuid, None for all
    """
    if server is not None:
        server = server_names.find(lambda: conf, server)
        # A server that was deleted may have some.
        if not _database(conf).read(saga_rows.every, instance_uuid=server):
            server_names.find(lambda: conf, server, required=True)
    names = functools.partial(_names, conf)
    listing.show(_database(conf), active=active, server=server, names=names, as_json=as_json)


def show_one(conf: cfg.ConfigOpts, uuid: str, *, html: str | None, as_json: bool) -> None:
    """Print a saga and its events, or write its timeline to a file. Raise SagaNotFound.

    html: path of the file, or None
    """
    database = _database(conf)
    uuid = listing.find(database, uuid)
    if html:
        found = database.read(story.read, uuid)
        page.write(html, found.title, [found])
    else:
        names = functools.partial(_names, conf)
        listing.show_one(database, uuid, names=names, as_json=as_json)


def _names(conf: cfg.ConfigOpts, uuids: Collection[str]) -> dict[str, str]:
    """Return {uuid: name} of servers. Those of a cell that does not answer are not known."""
    with server_names.cells_of(conf) as cells:
        answers, _silent = cells_module.split(cells.scatter(instances.of, list(uuids)))
    return {row.uuid: row.display_name for rows in answers.values() for row in rows}


def _database(conf: cfg.ConfigOpts) -> transactions.Database:
    return transactions.Database(conf.api_database.connection)
