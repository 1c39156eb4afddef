nova-lite replay trace.csv --cells 2 --hosts 6 --seed 7 --output study \
    --vary ram_weight_multiplier=1,-1
