export OS_CLIENT_CONFIG_FILE=/etc/nova-lite/clouds.yaml OS_CLOUD=nova-lite
export OS_COMPUTE_API_VERSION=2.90
PATH=/opt/nova-lite/bin:$PATH
openstack compute service list
openstack flavor create --vcpus 1 --ram 512 --disk 1 small
openstack flavor create --vcpus 2 --ram 1024 --disk 1 large
openstack server create --image cirros --flavor small --network private \
    --availability-zone nova:cell1-host1 --wait first
# No other host of cell1 takes it, so the resize goes to cell2.
openstack compute service set --disable cell1-host2 nova-compute
openstack server resize --flavor large --wait first
openstack server resize confirm first
openstack compute service set --enable cell1-host2 nova-compute
