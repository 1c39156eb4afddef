"""python -m nova_lite.cmd.manage."""

import sys

from nova_lite.cmd import manage

sys.exit(manage.main())
