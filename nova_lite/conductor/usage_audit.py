"""Usage audits: instance.exists of the servers of each host, once for each period that is over.

Source: [DEFAULT]instance_usage_audit.
"""

from oslo_config import cfg
from oslo_log import log

from nova_lite import runtime
from nova_lite.conf import audit_periods
from nova_lite.db import transactions
from nova_lite.db.cell import services
from nova_lite.db.cell import task_log

LOG = log.getLogger(__name__)


class UsageAudit:
    """The periodic search for hosts of a cell whose last period was not audited."""

    def __init__(self, conf: cfg.ConfigOpts, db: transactions.Database) -> None:
        self._conf, self._db = conf, db

    def run(self) -> None:
        """Audit the hosts, each in a transaction of its own."""
        setting = self._conf.instance_usage_audit_period
        period = audit_periods.last(setting, runtime.naive_now())
        done = {row.host for row in self._db.read(task_log.of_period, period)}
        found = self._db.read(services.every, binary=services.COMPUTE)
        for host in sorted({row.host for row in found} - done):
            try:
                count = self._db.write(task_log.audit, host, period)
            except task_log.AlreadyAudited:
                continue
            LOG.info('Usage audit of host %s: %s servers existed since %s', host, count, period[0])
