nova-lite fault add --service placement --status 503 --first 2
openstack server create --flavor m1.tiny --image cirros --network private --wait patient
nova-lite fault add --service placement --request 'PUT /allocations*' --lost --first 1
openstack server migrate --wait patient
openstack server migration confirm patient
until openstack server show patient -c status -f value | grep ACTIVE; do sleep 1; done
nova-lite fault clear
