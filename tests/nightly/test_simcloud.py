"""simcloud over MariaDB and PostgreSQL: the cases not in functional_rabbit."""

from tests.fixtures import on_servers
from tests.functional_rabbit import test_simcloud as there

globals().update(on_servers.classes(there.others(), there.OnServer, module=__name__))
globals().update(
    on_servers.classes(there.races(), there.OnServer, module=__name__, on=there.RACES_AT_NIGHT)
)
