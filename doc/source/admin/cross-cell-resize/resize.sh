# The scheduler prefers hosts of the server's own cell: no other may be left there.
openstack compute service set --disable cell2-host2 nova-compute
openstack compute service set --disable cell2-host3 nova-compute
openstack server resize --flavor m1.small --wait web
openstack server resize confirm web
openstack compute service set --enable cell2-host2 nova-compute
openstack compute service set --enable cell2-host3 nova-compute
