nova-lite cell up cell2
openstack server list -c Name -c Status
openstack server stop stays-behind
