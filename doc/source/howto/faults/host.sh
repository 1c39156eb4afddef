openstack server create --flavor m1.tiny --image cirros --network private \
    --availability-zone nova:cell1-host1 --wait web
nova-lite host off cell1-host1
nova-lite clock advance 2m
openstack compute service list --service nova-compute -c Host -c State
openstack server evacuate web
until openstack server show web -c OS-EXT-SRV-ATTR:host -f value | grep -v cell1-host1; do sleep 1; done
nova-lite host on cell1-host1
