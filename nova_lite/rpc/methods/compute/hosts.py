"""Signatures about a host as a whole."""

from nova_lite import rpc
from nova_lite.rpc.methods.compute import arguments


class Hosts:
    """Methods that concern no single guest."""

    @rpc.call(since='1.0', timeout=arguments.MOVE, silence=arguments.SILENCE)
    def guest_ports(self, ctxt: arguments.Ctxt, host: str) -> dict[str, list[str]]:
        """Return {uuid: ids of the ports} of the guests of the host, without those that move."""

    @rpc.call(since='1.0')
    def set_host_enabled(self, ctxt: arguments.Ctxt, host: str, enabled: bool) -> None:
        """Set or remove the trait COMPUTE_STATUS_DISABLED of the host's providers."""

    @rpc.call(since='1.0')
    def host_uptime(self, ctxt: arguments.Ctxt, host: str) -> str:
        """Return the hypervisor's `uptime` line."""

    @rpc.call(since='1.0', timeout=arguments.UPLOAD)
    def cache_images(self, ctxt: arguments.Ctxt, host: str, image_ids: list[str]) -> arguments.Json:
        """Cache images on the host. Replies {image id: 'cached', 'existing' or 'error'}.

        The value is {'pending': seconds} for an image whose result must be polled.
        """
