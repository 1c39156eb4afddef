cp doc/source/admin/deploy/*.conf doc/source/admin/deploy/*.yaml \
    doc/source/admin/deploy/*.sql /etc/nova-lite
mkdir -p -m 700 /etc/nova-lite/secrets
for name in bus database service admin demo metadata; do
    secret=/etc/nova-lite/secrets/$name
    # Another run keeps it.
    test -s $secret || openssl rand -hex 16 > $secret
    echo "s/@$name@/$(cat $secret)/"
done > /etc/nova-lite/secrets/sed
sed -i -f /etc/nova-lite/secrets/sed /etc/nova-lite/*.*
chgrp nova-lite /etc/nova-lite/*.conf /etc/nova-lite/policy.yaml
chmod 640 /etc/nova-lite/*.conf
chmod 600 /etc/nova-lite/clouds.yaml /etc/nova-lite/databases.sql
