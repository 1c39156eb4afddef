openstack server create --flavor m1.tiny --image cirros --network private \
    --wait elsewhere -c status -c OS-EXT-SRV-ATTR:host
lost=$(openstack server list -f value -c ID -c Status | sed -n 's/ UNKNOWN$//p')
openstack server stop "$lost" 2>&1 | cut -d, -f2
