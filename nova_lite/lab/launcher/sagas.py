"""The sagas of a cloud, from its API database."""

from oslo_config import cfg

from nova_lite.db import transactions
from nova_lite.lab.timeline import listing
from nova_lite.lab.timeline import page
from nova_lite.lab.timeline import story


def show(conf: cfg.ConfigOpts, *, active: bool, server: str | None, as_json: bool) -> None:
    """Print the sagas of a cloud, newest first.

    conf: of a control daemon; active, server: see `listing.show`
    """
    listing.show(_database(conf), active=active, server=server, as_json=as_json)


def show_one(conf: cfg.ConfigOpts, uuid: str, *, html: str | None, as_json: bool) -> None:
    """Print a saga and its events, or write its timeline to a file. Raise SagaNotFound.

    html: path of the file, or None
    """
    database = _database(conf)
    if html:
        found = database.read(story.read, uuid)
        page.write(html, found.title, [found])
    else:
        listing.show_one(database, uuid, as_json=as_json)


def _database(conf: cfg.ConfigOpts) -> transactions.Database:
    return transactions.Database(conf.api_database.connection)
