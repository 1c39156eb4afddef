"""Readers of the records that the real services have of the servers of a RealCloud."""

DETAILED = '/attachments/detail?all_tenants=1'
ATTACHMENTS = '3.44'


class Looking:
    """cloud: a started fixtures.real_cloud.RealCloud. It asks as the administrator."""

    def __init__(self, cloud):
        self.cloud = cloud

    def host(self, server):
        """The name of the host of a server."""
        return self.cloud.admin.compute.get_server(server.id).compute_host

    # ---- Neutron ----

    def ports(self, server):
        """The ports of a server."""
        return list(self.cloud.admin.network.ports(device_id=server.id))

    def bindings(self, port):
        """{host: (status, type of the VIF)} of a port; none of one that is gone."""
        answer = self.cloud.admin.network.get(f'/ports/{port.id}/bindings')
        if answer.status_code == 404:
            return {}
        answer.raise_for_status()
        return {
            each['host']: (each['status'], each['vif_type']) for each in answer.json()['bindings']
        }

    def plugged(self, server):
        """[(port's status, its bindings)] of a server."""
        return [(port.status, self.bindings(port)) for port in self.ports(server)]

    # ---- Cinder ----

    def attachments(self, server=None):
        """The attachments of all servers, or of one."""
        answer = self.cloud.admin.block_storage.get(DETAILED, microversion=ATTACHMENTS)
        answer.raise_for_status()
        found = answer.json()['attachments']
        return [each for each in found if server is None or each['instance'] == server.id]

    def connected(self, server):
        """[(volume's status, attachment's status, host)] of a server."""
        volumes = self.volumes()
        return sorted(
            (volumes[each['volume_id']].status, each['status'], self._host(each, volumes))
            for each in self.attachments(server)
        )

    @staticmethod
    def _host(attachment, volumes):
        """The host to which Cinder says an attachment connects, None for none."""
        for each in volumes[attachment['volume_id']].attachments:
            if each['attachment_id'] == attachment['id']:
                return each['host_name']
        return None

    def volumes(self):
        """{id: volume} of all projects."""
        return {each.id: each for each in self.cloud.admin.block_storage.volumes(all_projects=True)}

    def statuses(self):
        """{id: status} of the volumes of all projects."""
        return {each.id: each.status for each in self.volumes().values()}

    def volume_snapshots(self):
        """The snapshots of volumes of all projects."""
        return list(self.cloud.admin.block_storage.snapshots(all_projects=True))

    # ---- Glance ----

    def images(self):
        """{name: image} of those that the administrator sees, which are all."""
        return {each.name: each for each in self.cloud.admin.image.images()}
