# fog-openstack, as a user of one project. Each case is a line of JSON.
require 'json'
require 'fog/openstack'

SETTINGS = JSON.parse(File.read(ENV.fetch('NOVA_LITE_SOFTWARE')))
DEMO = SETTINGS.fetch('demo')
OPTIONS = {
  openstack_auth_url: DEMO.fetch('auth_url').delete_suffix('/v3'),
  openstack_username: DEMO.fetch('username'),
  openstack_api_key: DEMO.fetch('password'),
  openstack_project_name: DEMO.fetch('project_name'),
  openstack_domain_id: 'default',
  openstack_region: 'RegionOne'
}.freeze
COMPUTE = Fog::OpenStack::Compute.new(OPTIONS)
WAIT_S = 120

def check(condition, what)
  raise "not so: #{what}" unless condition
end

def named(found, name)
  found.find { |each| each.name == name } or raise "no #{name}"
end

def become(server, state)
  server.wait_for(WAIT_S, 0.3) { self.state == state && os_ext_sts_task_state.nil? }
end

def with_server
  server = COMPUTE.servers.create(
    name: 'fog',
    image_ref: named(COMPUTE.images, SETTINGS.fetch('image')).id,
    flavor_ref: named(COMPUTE.flavors, SETTINGS.fetch('flavor')).id,
    nics: [{ net_id: SETTINGS.fetch('network_id') }]
  )
  become(server, 'ACTIVE')
  yield server
ensure
  server&.destroy
end

CASES = {
  test_power: lambda {
    with_server do |server|
      server.stop
      become(server, 'SHUTOFF')
      server.start
      become(server, 'ACTIVE')
      %w[SOFT HARD].each do |type|
        server.reboot(type)
        become(server, 'ACTIVE')
      end
      check(server.console.body.key?('output'), 'console')
    end
  },
  test_resize: lambda {
    with_server do |server|
      larger = named(COMPUTE.flavors, SETTINGS.fetch('flavor_alt'))
      %i[revert_resize confirm_resize].each do |ends|
        server.resize(larger.id)
        become(server, 'VERIFY_RESIZE')
        server.public_send(ends)
        become(server, 'ACTIVE')
      end
    end
  },
  test_limits: lambda {
    limits = COMPUTE.get_limits.body.fetch('limits')
    check(limits.fetch('absolute').fetch('maxTotalInstances').positive?, 'limits')
  },
  test_quotas: lambda {
    project = COMPUTE.current_tenant['id']
    [COMPUTE.get_quota(project), COMPUTE.get_quota_defaults(project)].each do |answer|
      check(answer.body.fetch('quota_set').key?('instances'), 'quota')
    end
  },
  test_metadata: lambda {
    with_server do |server|
      server.metadata.update('a' => 'b')
      check(server.metadata.get('a').value == 'b', 'metadata')
      check(server.metadata.all.to_hash == { 'a' => 'b' }, 'all metadata')
      server.metadata.get('a').destroy
      check(server.metadata.all.to_hash.empty?, 'no metadata')
    end
  },
  test_interfaces: lambda {
    with_server do |server|
      made = COMPUTE.create_os_interface(server.id, net_id: SETTINGS.fetch('network_id'))
      port = made.body.fetch('interfaceAttachment').fetch('port_id')
      check(COMPUTE.list_os_interfaces(server.id).body['interfaceAttachments'].size == 2, 'two')
      COMPUTE.delete_os_interface(server.id, port)
    end
  },
  test_image: lambda {
    with_server do |server|
      server.create_image('fog')
      become(server, 'ACTIVE')
      image = named(COMPUTE.images, 'fog')
      image.wait_for(WAIT_S, 0.3) { status == 'ACTIVE' }
      image.destroy
    end
  },
  test_volume_service: lambda {
    Fog::OpenStack::Volume.new(OPTIONS).volumes.all
  }
}.freeze

CASES.each do |name, run|
  line = { test: "Servers.#{name}", outcome: 'pass', reason: '' }
  begin
    run.call
  rescue StandardError => e
    warn "#{name}: #{e.full_message}"
    line.update(outcome: 'fail', reason: "#{e.class}: #{e.message}"[0, 300])
  end
  File.write(SETTINGS.fetch('results'), "#{JSON.generate(line)}\n", mode: 'a')
end
