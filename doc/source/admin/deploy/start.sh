systemctl enable --now nova-lite-simcloud nova-lite-placement
systemctl enable --now nova-lite-super-conductor nova-lite-scheduler nova-lite-api \
    nova-lite-metadata
for cell in cell1 cell2; do
    systemctl enable --now nova-lite-conductor@$cell nova-lite-compute@$cell
done
systemctl enable --now nova-lite.target
/opt/nova-lite/bin/nova-lite-manage --config-file /etc/nova-lite/control.conf \
    cell_v2 discover_hosts --verbose
/opt/nova-lite/bin/nova-lite-status \
    --config-file /etc/nova-lite/common.conf --config-file /etc/nova-lite/control.conf \
    --config-file /etc/nova-lite/api.conf upgrade check
