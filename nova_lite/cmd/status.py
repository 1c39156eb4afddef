"""nova-lite-status: `upgrade check` checks whether a deployment is ready for this release.

Exit codes: 0 ready; 1 ready, with warnings; 2 not ready; 255 after an unexpected error.
"""

import sys

from oslo_config import cfg
from oslo_upgradecheck import upgradecheck

from nova_lite import conf as conf_module
from nova_lite.manage import upgrade_checks


def main(argv: list[str] | None = None) -> int:
    """Run the checks. Return the exit code, 255 after an unexpected error."""
    conf = cfg.ConfigOpts()
    conf_module.register_all(conf)
    checks = upgrade_checks.Checks(conf)
    try:
        argv = sys.argv[1:] if argv is None else argv
        code: int = upgradecheck.main(conf, 'nova-lite', checks, argv=argv)
        return code
    finally:
        checks.close()


if __name__ == '__main__':
    sys.exit(main())
