openstack server create --flavor four-gpus --image cirros --nic none more
until openstack server show more -c status -f value | grep ERROR; do sleep 1; done
nova-lite why more
openstack server delete --wait more
