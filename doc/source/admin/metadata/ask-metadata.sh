#!/bin/sh -eu
# ask-metadata.sh SERVER PROJECT PATH: print what the guest of a server finds at PATH
secret=$(cat "${STATE_DIR:-$HOME/.local/state/nova-lite}/metadata-secret")
signature=$(printf %s "$1" | openssl dgst -sha256 -hmac "$secret" | sed 's/.* //')
curl --silent --show-error --fail \
    --header "X-Instance-ID: $1" \
    --header "X-Tenant-ID: $2" \
    --header "X-Instance-ID-Signature: $signature" \
    "${METADATA_URL:-http://127.0.0.1:8774/metadata}/$3"
