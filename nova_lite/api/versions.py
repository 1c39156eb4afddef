"""GET /versions/{id}: the document of a version, for clients that have a token.

`version_documents` returns these documents to clients that have no token yet.
"""

from nova_lite.api import faults
from nova_lite.api import operation
from nova_lite.api import request
from nova_lite.api import version_documents


@operation.operation('GET', '/versions/{id}', query=operation.ANY_QUERY, faults=(404,))
def show(req: request.Request) -> operation.Result:
    """Show one version."""
    found = version_documents.find(req.args['id'], req.root)
    if found is None:
        raise faults.NoSuchUrl()
    return found
