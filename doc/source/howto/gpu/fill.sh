openstack flavor create --vcpus 4 --ram 8192 --disk 20 four-gpus \
    --property hw:numa_nodes=1 --property hw:pci_numa_affinity_policy=required \
    --property pci_passthrough:alias=gpu:4
openstack server create --flavor four-gpus --image cirros --nic none \
    --min 4 --max 4 --wait train -c status
# The command has waited for one of the four.
while openstack server list --status BUILD -f value -c ID | grep -q .; do sleep 1; done
openstack server list --long -c Name -c Status -c Host
