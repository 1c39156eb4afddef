cp doc/source/admin/deploy/*.conf doc/source/admin/deploy/*.yaml \
    doc/source/admin/deploy/*.sql /etc/nova-lite
mkdir -m 700 /etc/nova-lite/secrets
for name in bus database service admin demo metadata; do
    openssl rand -hex 16 > /etc/nova-lite/secrets/$name
    echo "s/@$name@/$(cat /etc/nova-lite/secrets/$name)/" >> /etc/nova-lite/secrets/sed
done
sed -i -f /etc/nova-lite/secrets/sed /etc/nova-lite/*.*
chgrp nova-lite /etc/nova-lite/*.conf /etc/nova-lite/policy.yaml
chmod 640 /etc/nova-lite/*.conf
chmod 600 /etc/nova-lite/clouds.yaml /etc/nova-lite/databases.sql
