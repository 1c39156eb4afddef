"""The sagas of a cloud, from its API database."""

from nova_lite.db import transactions
from nova_lite.lab.timeline import listing
from nova_lite.lab.timeline import page
from nova_lite.lab.timeline import story


def show(conf, *, active, server, as_json):
    """Print the sagas of a cloud, newest first.

    conf: of a control daemon; active, server: as of `listing.show`
    """
    listing.show(_database(conf), active=active, server=server, as_json=as_json)


def show_one(conf, uuid, *, html, as_json):
    """Print a saga and its events. Raise SagaNotFound.

    html: file to which its timeline is written instead, or None
    """
    database = _database(conf)
    if html:
        found = database.read(story.read, uuid)
        page.write(html, found.title, [found])
    else:
        listing.show_one(database, uuid, as_json=as_json)


def _database(conf):
    return transactions.Database(conf.api_database.connection)
