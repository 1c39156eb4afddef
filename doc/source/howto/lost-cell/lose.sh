openstack server create --flavor m1.tiny --image cirros --network private \
    --availability-zone nova:cell2-host1 --wait stays-behind -c status
nova-lite cell down cell2
openstack server list -c Name -c Status
openstack compute service list --service nova-compute -c Host -c State
