id=$(openstack server create --flavor m1.tiny --image cirros --network private \
    --availability-zone nova:cell2-host1 --wait db -f value -c id)
nova-lite cell down cell2
openstack server show "$id" -c id -c status
nova-lite fault list
nova-lite cell up cell2
openstack server list -c ID -c Name -c Status
