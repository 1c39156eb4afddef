"""Errors about flavors, their extra specs and access rules."""

from nova_lite.exception import base


class FlavorNotUsable(base.Invalid):
    msg = 'Flavor %(flavor_id)s could not be found.'


class FlavorNotFound(base.NotFound):
    msg = 'Flavor %(flavor_id)s could not be found.'


class FlavorExtraSpecNotFound(base.NotFound):
    msg = 'Flavor %(flavor_id)s has no extra specs with key %(key)s.'


class FlavorAccessNotFound(base.NotFound):
    msg = 'Flavor access not found for %(flavor_id)s / %(project_id)s combination.'
