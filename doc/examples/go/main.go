// Boot a server in a cloud of nova_lite, migrate it, and delete it, with gophercloud.
//
// The variables of `nova-lite env --openrc --cloud nova-lite` name the cloud; OS_DOMAIN_ID must be
// set as well: export OS_DOMAIN_ID=default
package main

import (
	"fmt"
	"log"

	"github.com/gophercloud/gophercloud"
	"github.com/gophercloud/gophercloud/openstack"
	"github.com/gophercloud/gophercloud/openstack/compute/v2/extensions/migrate"
	"github.com/gophercloud/gophercloud/openstack/compute/v2/flavors"
	"github.com/gophercloud/gophercloud/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/openstack/imageservice/v2/images"
	"github.com/gophercloud/gophercloud/openstack/networking/v2/networks"
)

const waitSeconds = 60

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	auth, err := openstack.AuthOptionsFromEnv()
	if err != nil {
		return err
	}
	provider, err := openstack.AuthenticatedClient(auth)
	if err != nil {
		return err
	}
	endpoint := gophercloud.EndpointOpts{}
	compute, err := openstack.NewComputeV2(provider, endpoint)
	if err != nil {
		return err
	}
	image, err := imageID(provider, endpoint, "cirros")
	if err != nil {
		return err
	}
	network, err := networkID(provider, endpoint, "private")
	if err != nil {
		return err
	}
	flavor, err := flavorID(compute, "m1.tiny")
	if err != nil {
		return err
	}
	server, err := servers.Create(compute, servers.CreateOpts{
		Name:      "from-go",
		ImageRef:  image,
		FlavorRef: flavor,
		Networks:  []servers.Network{{UUID: network}},
	}).Extract()
	if err != nil {
		return err
	}
	if err := show(compute, server.ID, "ACTIVE"); err != nil {
		return err
	}
	if err := migrate.Migrate(compute, server.ID).ExtractErr(); err != nil {
		return err
	}
	if err := show(compute, server.ID, "VERIFY_RESIZE"); err != nil {
		return err
	}
	if err := servers.ConfirmResize(compute, server.ID).ExtractErr(); err != nil {
		return err
	}
	if err := show(compute, server.ID, "ACTIVE"); err != nil {
		return err
	}
	return servers.Delete(compute, server.ID).ExtractErr()
}

// show waits until a server has a status, and prints it with the host.
func show(compute *gophercloud.ServiceClient, id, status string) error {
	if err := servers.WaitForStatus(compute, id, status, waitSeconds); err != nil {
		return fmt.Errorf("waiting for %s: %w", status, err)
	}
	var server struct {
		Status string `json:"status"`
		Host   string `json:"OS-EXT-SRV-ATTR:host"`
	}
	if err := servers.Get(compute, id).ExtractInto(&server); err != nil {
		return err
	}
	fmt.Println(server.Status, server.Host)
	return nil
}

func imageID(provider *gophercloud.ProviderClient, endpoint gophercloud.EndpointOpts, name string) (string, error) {
	client, err := openstack.NewImageServiceV2(provider, endpoint)
	if err != nil {
		return "", err
	}
	pages, err := images.List(client, images.ListOpts{Name: name}).AllPages()
	if err != nil {
		return "", err
	}
	found, err := images.ExtractImages(pages)
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("no image %s: %v", name, err)
	}
	return found[0].ID, nil
}

func networkID(provider *gophercloud.ProviderClient, endpoint gophercloud.EndpointOpts, name string) (string, error) {
	client, err := openstack.NewNetworkV2(provider, endpoint)
	if err != nil {
		return "", err
	}
	pages, err := networks.List(client, networks.ListOpts{Name: name}).AllPages()
	if err != nil {
		return "", err
	}
	found, err := networks.ExtractNetworks(pages)
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("no network %s: %v", name, err)
	}
	return found[0].ID, nil
}

func flavorID(compute *gophercloud.ServiceClient, name string) (string, error) {
	pages, err := flavors.ListDetail(compute, flavors.ListOpts{}).AllPages()
	if err != nil {
		return "", err
	}
	found, err := flavors.ExtractFlavors(pages)
	if err != nil {
		return "", err
	}
	for _, flavor := range found {
		if flavor.Name == name {
			return flavor.ID, nil
		}
	}
	return "", fmt.Errorf("no flavor %s", name)
}
