openstack server create --flavor m1.tiny --image cirros --network private \
    --wait elsewhere -c status -c OS-EXT-SRV-ATTR:host
