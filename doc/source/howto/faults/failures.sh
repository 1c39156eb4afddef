nova-lite fault add --verb spawn --host 'cell1-*' --first 1 --message 'no space left'
openstack server create --flavor m1.tiny --image cirros --network private \
    --availability-zone nova:cell1-host1 unlucky
nova-lite fault list
until openstack server show unlucky -c status -f value | grep ERROR; do sleep 1; done
nova-lite fault clear
