openstack server create --image cirros --flavor m1.tiny --network private \
    --availability-zone nova:cell1-host1 --wait web
openstack server migrate --host cell2-host1 --wait web
openstack server show web -c OS-EXT-SRV-ATTR:host -c status
openstack server migration list --server web -c Type -c Status \
    -c 'Source Compute' -c 'Dest Compute'
openstack server resize confirm web
