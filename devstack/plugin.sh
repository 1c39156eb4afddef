#!/bin/bash
# nova_lite in devstack: called by stack.sh, unstack.sh and clean.sh with a phase.
#
# Every phase can be repeated: stacking again ends where the first time did.

_nova_lite_xtrace=$(set +o | grep xtrace)
set +o xtrace

NOVA_LITE_CONTROL_CONF=$NOVA_LITE_CONF_DIR/control.conf
NOVA_LITE_API_CONF=$NOVA_LITE_CONF_DIR/api.conf
NOVA_LITE_COMMON_CONF=$NOVA_LITE_CONF_DIR/common.conf
NOVA_LITE_METADATA_CONF=$NOVA_LITE_CONF_DIR/metadata.conf
NOVA_LITE_POLICY=$NOVA_LITE_CONF_DIR/policy.yaml

# Functions
# ---------

function nova_lite_bin {
    echo "$NOVA_LITE_VENV/bin/$1"
}

# nova-lite-manage with the files named first, up to --
function nova_lite_manage {
    local options=()
    while [[ "$1" != "--" ]]; do
        options+=(--config-file "$1")
        shift
    done
    shift
    "$(nova_lite_bin nova-lite-manage)" "${options[@]}" "$@"
}

function is_nova_lite_enabled {
    is_service_enabled nl-api nl-super nl-sch nl-meta nl-cells
}

# devstack's own environment has the versions of OpenStack's branch; nova_lite shares nothing
# with its services but their APIs, the broker and the database server.
function install_nova_lite {
    if [[ "${OFFLINE:-False}" == "True" ]]; then
        return
    fi
    "python${PYTHON3_VERSION:-3}" -m venv "$NOVA_LITE_VENV"
    # devstack has tokens cached in memcached.
    "$(nova_lite_bin pip)" install -c "$NOVA_LITE_DIR/constraints.txt" \
        -e "${NOVA_LITE_DIR}[memcached]"
}

function create_nova_lite_directories {
    local path
    for path in "$NOVA_LITE_CONF_DIR" "$NOVA_LITE_STATE_PATH"; do
        sudo install -d -o "$STACK_USER" -m 750 "$path"
    done
}

# Networks of servers: Neutron's other drivers bind no port on a host without an agent.
function is_nova_lite_ml2_enabled {
    [[ "$NOVA_LITE_ML2" == "True" && "${Q_PLUGIN:-ml2}" == "ml2" ]] \
        && is_service_enabled q-svc neutron-api
}

# Neutron runs in devstack's environment, whose libraries stay as they are.
function install_nova_lite_ml2 {
    pip_install --no-deps "$NOVA_LITE_DIR"
}

# It comes last, so that it binds only what the others do not.
function configure_nova_lite_ml2 {
    local drivers
    drivers=$(iniget "/$Q_PLUGIN_CONF_FILE" ml2 mechanism_drivers)
    if [[ ",$drivers," != *",nova_lite,"* ]]; then
        iniset "/$Q_PLUGIN_CONF_FILE" ml2 mechanism_drivers "${drivers:+$drivers,}nova_lite"
    fi
}

# Who we are to the other services, which are found in the catalog.
function configure_nova_lite_common {
    rm -f "$NOVA_LITE_COMMON_CONF"
    iniset "$NOVA_LITE_COMMON_CONF" DEFAULT debug "$ENABLE_DEBUG_LOG_LEVEL"
    iniset "$NOVA_LITE_COMMON_CONF" service_user auth_type password
    iniset "$NOVA_LITE_COMMON_CONF" service_user auth_url "$KEYSTONE_SERVICE_URI"
    iniset "$NOVA_LITE_COMMON_CONF" service_user username nova
    iniset "$NOVA_LITE_COMMON_CONF" service_user password "$SERVICE_PASSWORD"
    iniset "$NOVA_LITE_COMMON_CONF" service_user project_name "$SERVICE_PROJECT_NAME"
    iniset "$NOVA_LITE_COMMON_CONF" service_user user_domain_name "$SERVICE_DOMAIN_NAME"
    iniset "$NOVA_LITE_COMMON_CONF" service_user project_domain_name "$SERVICE_DOMAIN_NAME"
    if [[ "$NOVA_LITE_ML2" != "True" ]]; then
        # Simulated hosts have no agents that would report ports as plugged.
        iniset "$NOVA_LITE_COMMON_CONF" DEFAULT vif_plugging_timeout 0
    fi
    local service
    for service in placement glance neutron cinder keystone; do
        iniset "$NOVA_LITE_COMMON_CONF" $service region_name "$REGION_NAME"
        if is_service_enabled tls-proxy; then
            iniset "$NOVA_LITE_COMMON_CONF" $service cafile "$SSL_BUNDLE_FILE"
        fi
    done
}

# Where clients find the API; with tls-proxy it listens on another port itself.
function nova_lite_url {
    echo "$SERVICE_PROTOCOL://$SERVICE_HOST:$NOVA_LITE_PORT"
}

function configure_nova_lite_api_port {
    local port=$NOVA_LITE_PORT
    if is_service_enabled tls-proxy; then
        port=$NOVA_LITE_PORT_INT
        iniset "$NOVA_LITE_API_CONF" api compute_link_prefix "$(nova_lite_url)"
    fi
    iniset "$NOVA_LITE_API_CONF" api listen "$SERVICE_LISTEN_ADDRESS"
    iniset "$NOVA_LITE_API_CONF" api port "$port"
}

function configure_nova_lite_control {
    rm -f "$NOVA_LITE_CONTROL_CONF" "$NOVA_LITE_API_CONF"
    iniset "$NOVA_LITE_CONTROL_CONF" DEFAULT transport_url "$(get_transport_url nova_lite_top)"
    iniset "$NOVA_LITE_CONTROL_CONF" DEFAULT state_path "$NOVA_LITE_STATE_PATH"
    iniset "$NOVA_LITE_CONTROL_CONF" api_database connection \
        "$(database_connection_url nova_lite_api)"
    configure_nova_lite_api_port
    iniset "$NOVA_LITE_API_CONF" oslo_policy policy_file "$NOVA_LITE_POLICY"
    configure_keystone_authtoken_middleware "$NOVA_LITE_API_CONF" nova
    local rule='!'
    if [[ "$NOVA_LITE_CROSS_CELL" == "True" ]]; then
        rule='rule:context_is_admin'
    fi
    echo "\"compute:servers:resize:cross_cell\": \"$rule\"" > "$NOVA_LITE_POLICY"
}

# The databases alone: it calls no other service.
function configure_nova_lite_metadata {
    rm -f "$NOVA_LITE_METADATA_CONF"
    iniset "$NOVA_LITE_METADATA_CONF" DEFAULT debug "$ENABLE_DEBUG_LOG_LEVEL"
    iniset "$NOVA_LITE_METADATA_CONF" api_database connection \
        "$(database_connection_url nova_lite_api)"
    iniset "$NOVA_LITE_METADATA_CONF" metadata listen "$SERVICE_LISTEN_ADDRESS"
    iniset "$NOVA_LITE_METADATA_CONF" metadata port "$NOVA_LITE_METADATA_PORT"
    iniset "$NOVA_LITE_METADATA_CONF" neutron service_metadata_proxy True
    iniset "$NOVA_LITE_METADATA_CONF" neutron metadata_proxy_shared_secret \
        "$NOVA_LITE_METADATA_SECRET"
}

function configure_nova_lite_cell {
    local cell=$1
    local conductor=$NOVA_LITE_CONF_DIR/conductor-$cell.conf
    local compute=$NOVA_LITE_CONF_DIR/compute-$cell.conf
    rm -f "$conductor" "$compute"
    iniset "$conductor" DEFAULT host "$cell-conductor"
    iniset "$conductor" DEFAULT transport_url "$(get_transport_url "nova_lite_$cell")"
    iniset "$conductor" database connection "$(database_connection_url "nova_lite_$cell")"
    iniset "$compute" DEFAULT host "$cell-compute"
    iniset "$compute" DEFAULT state_path "$NOVA_LITE_STATE_PATH/$cell"
    iniset "$compute" DEFAULT transport_url "$(get_transport_url "nova_lite_$cell")"
    iniset "$compute" compute hosts "$cell-host[1-$NOVA_LITE_HOSTS_PER_CELL]"
    iniset "$compute" compute profile "$NOVA_LITE_PROFILE"
}

function configure_nova_lite {
    create_nova_lite_directories
    configure_nova_lite_common
    configure_nova_lite_control
    configure_nova_lite_metadata
    # nova-lite-manage adds _cell0 to the name of this database.
    rm -f "$NOVA_LITE_CONF_DIR/cell0.conf"
    iniset "$NOVA_LITE_CONF_DIR/cell0.conf" database connection \
        "$(database_connection_url nova_lite)"
    local cell
    for cell in $(nova_lite_cells); do
        configure_nova_lite_cell "$cell"
    done
    # They hold passwords.
    chmod 640 "$NOVA_LITE_CONF_DIR"/*.conf
}

function create_nova_lite_accounts {
    create_service_user nova admin
    local url
    url="$(nova_lite_url)/v2.1"
    get_or_create_service nova-lite "$NOVA_LITE_SERVICE_TYPE" "nova_lite compute service"
    get_or_create_endpoint "$NOVA_LITE_SERVICE_TYPE" "$REGION_NAME" "$url"
}

# Empty databases and buses, with the cells in them.
function init_nova_lite {
    local cell conductor name
    for name in api cell0 $(nova_lite_cells); do
        recreate_database "nova_lite_$name"
    done
    for name in top $(nova_lite_cells); do
        rpc_backend_add_vhost "nova_lite_$name"
    done
    rm -rf "${NOVA_LITE_STATE_PATH:?}"/*
    nova_lite_manage "$NOVA_LITE_CONTROL_CONF" -- api_db sync
    nova_lite_manage "$NOVA_LITE_CONTROL_CONF" "$NOVA_LITE_CONF_DIR/cell0.conf" \
        -- cell_v2 map_cell0
    for cell in $(nova_lite_cells); do
        conductor=$NOVA_LITE_CONF_DIR/conductor-$cell.conf
        nova_lite_manage "$NOVA_LITE_CONTROL_CONF" "$conductor" -- db sync
        nova_lite_manage "$NOVA_LITE_CONTROL_CONF" "$conductor" \
            -- cell_v2 create_cell --name "$cell"
    done
}

# nova_lite_run SERVICE PROGRAM FILE...: a unit of devstack's, with these files
function nova_lite_run {
    local service=$1 command file
    command=$(nova_lite_bin "$2")
    shift 2
    for file in "$@"; do
        command+=" --config-file $file"
    done
    run_process "$service" "$command"
}

function start_nova_lite {
    local cell
    nova_lite_run nl-super "nova-lite-conductor --super" \
        "$NOVA_LITE_COMMON_CONF" "$NOVA_LITE_CONTROL_CONF"
    nova_lite_run nl-sch nova-lite-scheduler "$NOVA_LITE_COMMON_CONF" "$NOVA_LITE_CONTROL_CONF"
    nova_lite_run nl-api nova-lite-api \
        "$NOVA_LITE_COMMON_CONF" "$NOVA_LITE_CONTROL_CONF" "$NOVA_LITE_API_CONF"
    nova_lite_run nl-meta nova-lite-metadata "$NOVA_LITE_METADATA_CONF"
    for cell in $(nova_lite_cells); do
        nova_lite_run "nl-cond-$cell" nova-lite-conductor \
            "$NOVA_LITE_COMMON_CONF" "$NOVA_LITE_CONF_DIR/conductor-$cell.conf"
        nova_lite_run "nl-cpu-$cell" nova-lite-compute \
            "$NOVA_LITE_COMMON_CONF" "$NOVA_LITE_CONF_DIR/compute-$cell.conf"
    done
    if is_service_enabled nl-api && is_service_enabled tls-proxy; then
        start_tls_proxy nova-lite '*' "$NOVA_LITE_PORT" "$SERVICE_HOST" "$NOVA_LITE_PORT_INT"
    fi
}

# Wait until every host has reported itself, then map them all.
function discover_nova_lite_hosts {
    local hosts deadline found
    hosts=$((NOVA_LITE_CELLS * NOVA_LITE_HOSTS_PER_CELL))
    deadline=$((SECONDS + SERVICE_TIMEOUT + hosts))
    while true; do
        nova_lite_manage "$NOVA_LITE_CONTROL_CONF" -- cell_v2 discover_hosts
        found=$(nova_lite_manage "$NOVA_LITE_CONTROL_CONF" -- cell_v2 list_hosts \
            | grep -c -- '-host' || true)
        if [[ "$found" -ge "$hosts" ]]; then
            return
        fi
        if [[ "$SECONDS" -ge "$deadline" ]]; then
            die $LINENO "nova_lite: only $found of $hosts hosts have reported themselves"
        fi
        sleep 1
    done
}

# name, id, MiB, GiB, vCPUs: nova's usual ones, for tests and for people
function create_nova_lite_flavors {
    local client known name id ram disk vcpus
    client="openstack --os-cloud devstack-admin"
    client+=" --os-compute-endpoint-override $(nova_lite_url)/v2.1"
    known=$($client flavor list --all -c Name -f value)
    while read -r name id ram disk vcpus; do
        if ! grep -qx "$name" <<< "$known"; then
            $client flavor create --id "$id" --ram "$ram" --disk "$disk" --vcpus "$vcpus" "$name"
        fi
    done < "$NOVA_LITE_DIR/devstack/files/flavors"
}

# devstack says of a cloud without n-* services that it has no compute service.
function configure_nova_lite_tempest {
    iniset "$TEMPEST_CONFIG" service_available nova True
    iniset "$TEMPEST_CONFIG" compute flavor_ref 42
    iniset "$TEMPEST_CONFIG" compute flavor_ref_alt 84
    iniset "$TEMPEST_CONFIG" compute min_compute_nodes \
        $((NOVA_LITE_CELLS * NOVA_LITE_HOSTS_PER_CELL))
    iniset "$TEMPEST_CONFIG" compute-feature-enabled resize True
    iniset "$TEMPEST_CONFIG" compute-feature-enabled cold_migration True
    iniset "$TEMPEST_CONFIG" compute-feature-enabled live_migration True
    # Simulated guests have no operating system. Disable the tests that log in or read output.
    iniset "$TEMPEST_CONFIG" compute-feature-enabled console_output False
    iniset "$TEMPEST_CONFIG" compute-feature-enabled vnc_console False
    iniset "$TEMPEST_CONFIG" validation run_validation False
}

function stop_nova_lite {
    local cell
    stop_process nl-api
    stop_process nl-meta
    for cell in $(nova_lite_cells); do
        stop_process "nl-cpu-$cell"
    done
    stop_process nl-super
    stop_process nl-sch
    for cell in $(nova_lite_cells); do
        stop_process "nl-cond-$cell"
    done
}

function cleanup_nova_lite {
    sudo rm -rf "${NOVA_LITE_CONF_DIR:?}" "${NOVA_LITE_STATE_PATH:?}" "${NOVA_LITE_VENV:?}"
}

# Phases
# ------

if is_nova_lite_enabled; then
    case "$1 ${2:-}" in
    "stack pre-install")
        # All that is needed comes with devstack's own packages.
        ;;
    "stack install")
        echo_summary "Installing nova_lite"
        install_nova_lite
        if is_nova_lite_ml2_enabled; then
            install_nova_lite_ml2
        fi
        ;;
    "stack post-config")
        echo_summary "Configuring nova_lite"
        configure_nova_lite
        if is_nova_lite_ml2_enabled; then
            configure_nova_lite_ml2
        fi
        if is_service_enabled nl-api; then
            create_nova_lite_accounts
            init_nova_lite
        fi
        ;;
    "stack extra")
        echo_summary "Starting nova_lite"
        start_nova_lite
        if is_service_enabled nl-api; then
            wait_for_service "$SERVICE_TIMEOUT" "$(nova_lite_url)"
            discover_nova_lite_hosts
            create_nova_lite_flavors
        fi
        ;;
    "stack test-config")
        if is_service_enabled tempest && [[ "$NOVA_LITE_MODE" == "replace" ]]; then
            configure_nova_lite_tempest
        fi
        ;;
    "unstack ")
        stop_nova_lite
        ;;
    "clean ")
        cleanup_nova_lite
        ;;
    esac
fi

$_nova_lite_xtrace
unset _nova_lite_xtrace
