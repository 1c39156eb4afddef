openstack server create --flavor m1.tiny --image cirros --network private --wait web
nova-lite reset --save with-web
openstack server delete --wait web
nova-lite reset with-web
openstack server show web -c status
nova-lite reset
openstack server list
