openstack server create --flavor m1.tiny --image cirros --network private --wait web
openstack server resize --flavor m1.small --wait web
nova-lite clock advance 24h
openstack server show web -c status -c flavor
openstack server event list web -c Action -c 'Start Time'
