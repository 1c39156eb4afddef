rabbitmqctl add_user nova < /etc/nova-lite/secrets/bus
for vhost in top cell1 cell2; do
    rabbitmqctl add_vhost $vhost
    rabbitmqctl set_permissions --vhost $vhost nova '.*' '.*' '.*'
done
