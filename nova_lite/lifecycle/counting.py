"""Counting: servers that count in quotas, by their mappings in the API database."""

from collections.abc import Sequence

from oslo_log import log

from nova_lite import exception
from nova_lite.db import transactions
from nova_lite.db.api import instance_mappings

LOG = log.getLogger(__name__)


def stop(api_db: transactions.Database, uuids: Sequence[str]) -> None:
    """Stop counting servers whose deletion is recorded, as `follow`."""
    _set(api_db, uuids, counts=False)


def follow(api_db: transactions.Database, uuid: str, *, counts: bool) -> None:
    """Make the mapping of a server follow the server's record, which has been changed.

    The change has taken place. So an API database that does not answer is logged only: the
    super-conductor will correct the mapping (`superconductor.audits.disposals`).
    """
    _set(api_db, [uuid], counts=counts)


def _set(api_db: transactions.Database, uuids: Sequence[str], *, counts: bool) -> None:
    try:
        api_db.write(instance_mappings.set_queued_for_delete, uuids, not counts)
    except exception.Unavailable as error:
        LOG.warning(
            'Cannot record whether servers %s count in quotas: %s. The super-conductor will '
            'record it.',
            uuids,
            error,
        )
