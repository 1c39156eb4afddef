nova-lite saga step traveller
openstack server show traveller -c status -c OS-EXT-SRV-ATTR:host
nova-lite saga break traveller --before save-request-spec
nova-lite saga kill-here traveller
nova-lite clock advance 30s
nova-lite saga wait traveller
nova-lite saga break --remove all
nova-lite saga go traveller
