"""The super-conductor: multi-step operations over all cells; on the top bus."""

from collections.abc import Sequence

from nova_lite import context
from nova_lite import rpc


class SuperConductorAPI(rpc.Interface):
    """Runs builds and sagas. A cast may be lost, because the intent is a row that a sweep finds."""

    topic, version = 'super-conductor', '1.0'

    @rpc.cast(since='1.0')
    def build_servers(self, ctxt: context.RequestContext, uuids: Sequence[str]) -> None:
        """Build the servers whose build requests were just accepted together."""

    @rpc.cast(since='1.0')
    def run_saga(self, ctxt: context.RequestContext, saga_uuid: str) -> None:
        """Run a saga whose row was just created, or that may continue now."""

    @rpc.cast(since='1.0')
    def cache_images(
        self, ctxt: context.RequestContext, aggregate_id: int, image_ids: Sequence[str]
    ) -> None:
        """Cache images on the hosts of an aggregate."""
