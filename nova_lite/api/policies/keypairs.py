"""Key pairs: their owner, and administrators."""

from nova_lite.api.policies import base

LIST = 'os_compute_api:os-keypairs:index'
SHOW = 'os_compute_api:os-keypairs:show'
CREATE = 'os_compute_api:os-keypairs:create'
DELETE = 'os_compute_api:os-keypairs:delete'

_OWNER = f'({base.ADMIN}) or user_id:%(user_id)s'


def list_rules() -> base.Rules:
    """Return the defaults of the rules."""
    return [
        base.rule(LIST, _OWNER, 'List key pairs.', 'GET /os-keypairs'),
        base.rule(SHOW, _OWNER, 'Show a key pair.', 'GET /os-keypairs/{keypair_name}'),
        base.rule(CREATE, _OWNER, 'Create a key pair.', 'POST /os-keypairs'),
        base.rule(DELETE, _OWNER, 'Delete a key pair.', 'DELETE /os-keypairs/{keypair_name}'),
    ]
