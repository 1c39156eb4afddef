python3 -m venv /opt/nova-lite
/opt/nova-lite/bin/pip install -c constraints.txt . python-openstackclient osc-placement
cp -r /opt/nova-lite/etc/systemd/nova-lite* /etc/systemd/system
cp /opt/nova-lite/etc/systemd/sysusers.d/nova-lite.conf /etc/sysusers.d
cp /opt/nova-lite/etc/systemd/tmpfiles.d/nova-lite.conf /etc/tmpfiles.d
systemd-sysusers
systemd-tmpfiles --create
systemctl daemon-reload
