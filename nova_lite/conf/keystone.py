"""[keystone]: access to the identity service, for checks of projects."""

from nova_lite.conf import service_user

GROUP = 'keystone'
OPTS = [*service_user.neighbour('identity')]
