openstack server create --flavor m1.tiny --image cirros --network private \
    --min 3 --max 3 --wait probe -c status
openstack server list --long -c Name -c Host
nova-lite why probe-3
