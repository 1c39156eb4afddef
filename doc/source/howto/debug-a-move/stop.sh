openstack server create --flavor m1.tiny --image cirros --network private \
    --availability-zone nova:cell1-host1 --wait traveller -c status
nova-lite saga break traveller --before switch-mapping-to-destination-cell
openstack --os-compute-api-version 2.56 server migrate --host cell2-host1 traveller
nova-lite saga wait traveller
openstack server show traveller -c status -c OS-EXT-SRV-ATTR:host
