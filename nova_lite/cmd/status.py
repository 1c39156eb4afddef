"""nova-lite-status: `upgrade check` tells whether a deployment is ready for this release.

Exits 0 when it is, 1 with warnings, 2 when something must be mended first.
Source: reference/nova/cells-and-rpc 5.
"""

import sys

from oslo_config import cfg
from oslo_upgradecheck import upgradecheck

from nova_lite import conf as conf_module
from nova_lite.manage import upgrade_checks


def main(argv=None):
    """Run the checks; returns the exit code, 255 when something unforeseen failed."""
    conf = cfg.ConfigOpts()
    conf_module.register_all(conf)
    checks = upgrade_checks.Checks(conf)
    try:
        return upgradecheck.main(
            conf, 'nova-lite', checks, argv=sys.argv[1:] if argv is None else argv
        )
    finally:
        checks.close()


if __name__ == '__main__':
    sys.exit(main())
