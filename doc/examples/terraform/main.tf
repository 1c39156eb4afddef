# A server in a cloud of nova_lite. The variables of `nova-lite env --cloud nova-lite-demo` name the
# file clouds.yaml.
terraform {
  required_providers {
    openstack = {
      source = "terraform-provider-openstack/openstack"
    }
  }
}

provider "openstack" {
  cloud = "nova-lite-demo"
}

resource "openstack_compute_instance_v2" "web" {
  name        = "web"
  image_name  = "cirros"
  flavor_name = "m1.tiny"

  network {
    name = "private"
  }
}

output "address" {
  value = openstack_compute_instance_v2.web.access_ip_v4
}
