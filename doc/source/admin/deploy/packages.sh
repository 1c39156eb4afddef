apt-get update
apt-get install --yes python3-venv git openssl rabbitmq-server mariadb-server
