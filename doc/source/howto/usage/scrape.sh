openstack server create --flavor m1.tiny --image cirros --network private --wait busy-1
openstack server create --flavor m1.tiny --image cirros --network private --wait idle-1
nova-lite clock advance 30m
url=$(nova-lite status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["metrics_urls"]["all"])')
for host in cell1-host1 cell1-host2; do
    curl -s "${url%/metrics}/libvirt?host=$host" | grep -E '^libvirt_domain_(openstack_info|info_cpu_time)'
done
openstack --os-compute-api-version 2.48 server show --diagnostics busy-1
