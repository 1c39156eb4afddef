"""Content that users give to servers: key pair, metadata, files, password.

The content of new servers and of rebuilt servers. Source: reference/nova/create-server 1.1.
"""

from collections.abc import Mapping
from collections.abc import Sequence

from oslo_config import cfg

from nova_lite import exception
from nova_lite import runtime
from nova_lite.api import quota
from nova_lite.api import request
from nova_lite.db.api import keypairs


def public_key(req: request.Request, name: str | None) -> str | None:
    """Return the public key of a key pair of the caller, or None. Raise KeypairNotUsable."""
    if name is None:
        return None
    try:
        found: str = req.app.api_db.read(keypairs.get, req.user_id, name).public_key
    except exception.KeypairNotFound:
        raise exception.KeypairNotUsable() from None
    return found


def check_quota(
    req: request.Request, metadata: Mapping[str, str], files: Sequence[Mapping[str, str]]
) -> None:
    """Check the limits of a single server. Raise OverQuota."""
    if not metadata and not files:
        return
    limits, rules = quota.own_limits(req), quota.rules(req)
    rules.require(limits, 'metadata_items', len(metadata))
    rules.require(limits, 'injected_files', len(files))
    for each in files:
        length = len(each['path'])
        rules.require(limits, 'injected_file_path_length', length)
        size = len(each['contents']) * 3 // 4
        rules.require(limits, 'injected_file_content_bytes', size)


def password(conf: cfg.ConfigOpts, wanted: str | None = None) -> str:
    """Return the password of a server's administrator: the wanted one, also if it is empty.

    A new one has [DEFAULT]password_length characters.
    """
    if wanted is not None:
        return wanted
    length: int = conf.password_length
    # A secret has more characters than bytes.
    return runtime.new_secret(max(length, 1)).replace('-', 'x').replace('_', 'y')[:length]
