mariadb < /etc/nova-lite/databases.sql
rm /etc/nova-lite/databases.sql
