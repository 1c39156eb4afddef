"""[vendordata_dynamic_auth]: credentials for requests to services of dynamic vendor data."""

from nova_lite.conf import service_user

GROUP = 'vendordata_dynamic_auth'
OPTS = service_user.neighbour('identity')
