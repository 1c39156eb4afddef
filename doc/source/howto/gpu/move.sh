openstack server delete --wait train-4
openstack server migrate --wait train-1
openstack server migration confirm train-1
openstack server list --long -c Name -c Status -c Host
