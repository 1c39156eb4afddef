openstack server create --image cirros --flavor m1.tiny --network private \
    --availability-zone nova:cell1-host1 --property fail=spawn --wait unlucky
openstack server migrate --host cell2-host1 --wait unlucky
openstack server show unlucky -c OS-EXT-SRV-ATTR:host -c status
openstack server migration list --server unlucky -c Status -c 'Source Compute' \
    -c 'Dest Compute'
openstack server event list unlucky -c Action -c 'Request ID'
