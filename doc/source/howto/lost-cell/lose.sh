lost=$(openstack server create --flavor m1.tiny --image cirros --network private \
    --availability-zone nova:cell2-host1 --wait stays-behind -f value -c id)
nova-lite cell down cell2
openstack server show "$lost" -c id -c status
openstack server stop "$lost" 2>&1 | cut -d, -f2
openstack compute service list --service nova-compute -c Host -c State
