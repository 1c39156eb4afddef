openstack optimize audit create --name drain --goal cluster_maintaining --strategy host_maintenance \
    --parameter maintenance_node=cell1-host1 --auto-trigger
audit=$(openstack optimize audit show drain -f value -c UUID)
openstack optimize actionplan list --audit "$audit"
openstack optimize action list --detail
