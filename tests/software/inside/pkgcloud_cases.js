// pkgcloud's OpenStack client, as a user of one project. Each case is a line of JSON.
'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const timers = require('node:timers/promises');
const { createRequire } = require('node:module');

const settings = JSON.parse(fs.readFileSync(process.env.NOVA_LITE_SOFTWARE));
const pkgcloud = createRequire(`${settings.directory}/`)('pkgcloud');
const WAIT_MS = 120000;
const demo = settings.demo;
const options = {
  provider: 'openstack',
  username: demo.username,
  password: demo.password,
  authUrl: demo.auth_url.replace('/v3', ''),
  keystoneAuthVersion: 'v3',
  region: 'RegionOne',
  tenantName: demo.project_name,
  domainName: 'Default',
  projectDomainName: 'Default',
};
const client = pkgcloud.compute.createClient(options);

function call(method, ...words) {
  return new Promise((resolve, reject) => {
    client[method](...words, (error, found) => (error ? reject(error) : resolve(found)));
  });
}

async function named(method, name) {
  const found = (await call(method)).filter((each) => each.name === name);
  assert.equal(found.length, 1, `${method}: ${name}`);
  return found[0];
}

async function become(server, status) {
  const deadline = Date.now() + WAIT_MS;
  for (;;) {
    const shown = await call('getServer', server.id);
    if (shown.openstack.status === status && !shown.openstack['OS-EXT-STS:task_state']) {
      return shown;
    }
    assert.ok(Date.now() < deadline, `${status}: not after ${WAIT_MS} ms`);
    await timers.setTimeout(300);
  }
}

async function withServer(use) {
  const image = await named('getImages', settings.image);
  const flavor = await named('getFlavors', settings.flavor);
  const server = await call('createServer', {
    name: 'pkgcloud',
    image: image.id,
    flavor: flavor.id,
    networks: [{ uuid: settings.network_id }],
    metadata: { a: 'b' },
  });
  try {
    await become(server, 'ACTIVE');
    await use(server);
  } finally {
    await call('destroyServer', server.id);
  }
}

const cases = {
  test_life: () =>
    withServer(async (server) => {
      for (const [method, status] of [
        ['stopServer', 'SHUTOFF'],
        ['startServer', 'ACTIVE'],
      ]) {
        await call(method, server.id);
        await become(server, status);
      }
      for (const type of ['SOFT', 'HARD']) {
        await call('rebootServer', server.id, { type });
        await become(server, 'ACTIVE');
      }
      const addresses = await call('getServerAddresses', server.id);
      assert.ok(addresses[settings.network].length > 0);
    }),
  test_resize: () =>
    withServer(async (server) => {
      const larger = await named('getFlavors', settings.flavor_alt);
      for (const ends of ['revertServerResize', 'confirmServerResize']) {
        await call('resizeServer', server.id, larger.id);
        await become(server, 'VERIFY_RESIZE');
        await call(ends, server.id);
        await become(server, 'ACTIVE');
      }
    }),
  test_rebuild: () =>
    withServer(async (server) => {
      const image = await named('getImages', settings.image);
      await call('rebuildServer', server.id, { image: image.id, name: 'rebuilt' });
      await become(server, 'ACTIVE');
    }),
  test_limits_keys_and_groups: async () => {
    assert.ok((await call('getLimits')).absolute.maxTotalInstances > 0);
    await call('addKey', 'pkgcloud');
    assert.ok((await call('listKeys')).length > 0);
    await call('destroyKey', 'pkgcloud');
    assert.ok(Array.isArray(await call('listGroups')));
  },
  test_images: () =>
    withServer(async (server) => {
      const image = await call('createImage', { name: 'pkgcloud', server: server.id });
      await call('destroyImage', image.id);
    }),
};

async function main() {
  for (const [name, run] of Object.entries(cases)) {
    const line = { test: `Servers.${name}`, outcome: 'pass', reason: '' };
    try {
      await run();
    } catch (error) {
      console.log(name, error);
      line.outcome = 'fail';
      line.reason = String(error.message || error);
    }
    fs.appendFileSync(settings.results, `${JSON.stringify(line)}\n`);
  }
}

main();
