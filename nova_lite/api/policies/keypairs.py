"""Key pairs: their owner, and administrators."""

from nova_lite.api.policies import base

_OWNER = f'({base.ADMIN}) or user_id:%(user_id)s'

LIST = base.rule('os_compute_api:os-keypairs:index', _OWNER, 'List key pairs.', 'GET /os-keypairs')
SHOW = base.rule(
    'os_compute_api:os-keypairs:show', _OWNER, 'Show a key pair.', 'GET /os-keypairs/{keypair_name}'
)
CREATE = base.rule(
    'os_compute_api:os-keypairs:create', _OWNER, 'Create a key pair.', 'POST /os-keypairs'
)
DELETE = base.rule(
    'os_compute_api:os-keypairs:delete',
    _OWNER,
    'Delete a key pair.',
    'DELETE /os-keypairs/{keypair_name}',
)
