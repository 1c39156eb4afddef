openstack server migrate --host cell1-host1 --wait web
openstack server resize revert web
