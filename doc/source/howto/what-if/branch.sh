nova-lite snapshot save before.snapshot
nova-lite up --detach --port 0 --from before.snapshot --state-dir ./packed \
    --set filter_scheduler.num_instances_weight_multiplier=10
