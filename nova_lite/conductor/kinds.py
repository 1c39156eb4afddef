"""Which saga class runs which kind of journal row."""

from nova_lite.conductor import confirm
from nova_lite.conductor import resize
from nova_lite.conductor import revert

SAGAS = (resize.Resize, resize.Migrate, confirm.ConfirmResize, revert.RevertResize)
KINDS = {saga.kind: saga for saga in SAGAS}
