top='/opt/nova-lite/bin/nova-lite-manage --config-file /etc/nova-lite/control.conf'
$top api_db sync
$top --config-file /etc/nova-lite/cell0.conf cell_v2 map_cell0
for cell in cell1 cell2; do
    $top --config-file /etc/nova-lite/conductor-$cell.conf db sync
    $top --config-file /etc/nova-lite/conductor-$cell.conf cell_v2 create_cell --name $cell
done
