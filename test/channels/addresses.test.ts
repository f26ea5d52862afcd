// Channels send to public addresses only, however an address is spelled and wherever its name leads.
import t from 'tap';
import { parseAddress, resolveAddress } from '../../server/channels/addresses.ts';

const closed = { loopback: false };
const open = { loopback: true };

t.test('addresses that are not public are refused in every spelling', (t) => {
  const hosts = [
    ...['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '0', '0.0.0.0', '10.1.2.3', '100.64.0.1'],
    ...['169.254.169.254', '172.16.0.1', '172.31.255.255', '192.168.1.1', '192.168.257', '192.0.0.8', '198.18.0.1'],
    ...['198.19.255.255', '224.0.0.1', '239.1.1.1', '240.0.0.1', '255.255.255.255', '[::]', '[::1]', '[fc00::1]'],
    ...['[fd12::1]', '[fe80::1]', '[febf::1]', '[ff02::1]', '[::ffff:127.0.0.1]', '[::ffff:a9fe:a9fe]', '[::10.0.0.1]'],
    ...['[::7f00:1]', '[64:ff9b::10.0.0.1]', '[64:ff9b:1::1]', '[2002:7f00:1::]', '[2001:db8::1]'],
    ...['168.63.129.16', '0xa83f8110', '161.26.0.7', '166.9.1.1', '199.36.153.4', '199.36.153.11', '100.100.100.200'],
    ...['192.0.0.192', '[64:ff9b::168.63.129.16]', '[::ffff:168.63.129.16]', '[2002:a83f:8110::1]'],
    ...['[2600:2d00:2:2000::1]', '[fd00:ec2::254]', '[fd20:ce::254]'],
    ...['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'metadata.google.internal', 'metadata.google.internal.'],
    ...['１２７.0.0.1', '127。0。0。1'],
  ];
  for (const host of hosts) t.throws(() => parseAddress(`https://${host}/x`, closed), { message: /^must not/ }, host);
  t.end();
});

t.test('so is everything but https without a user', (t) => {
  const wrong = [
    ...['http://hooks.example.com/', 'ftp://hooks.example.com/', 'https://u@hooks.example.com/', 'hooks.example.com'],
    ...['https://u:p@hooks.example.com/', 'https:/hooks.example.com', 'https://', 'javascript:alert(1)', ''],
  ];
  for (const address of wrong) t.throws(() => parseAddress(address, closed), { message: /^must/ }, address);
  for (const host of [
    '8.8.8.8',
    '168.63.129.15',
    '168.63.129.17',
    '199.36.153.12',
    'hooks.example.com:8443',
    '[2606:4700::1111]',
    '[64:ff9b::8.8.8.8]',
  ]) {
    t.equal(parseAddress(`https://${host}/x`, closed).pathname, '/x', host);
  }
  t.end();
});

t.test('with the setting, this machine is allowed and nothing else beside', (t) => {
  for (const address of ['http://127.0.0.1:1/x', 'https://127.9.9.9/', 'http://[::1]:8080/', 'http://localhost:1/']) {
    t.ok(parseAddress(address, open), address);
  }
  for (const address of [
    'http://10.0.0.1/',
    'http://hooks.example.com/',
    'https://169.254.169.254/',
    'http://0.0.0.0/',
  ]) {
    t.throws(() => parseAddress(address, open), { message: /^must/ }, address);
  }
  t.throws(() => parseAddress('http://[::ffff:127.0.0.1]/', open), { message: /^must/ });
  t.end();
});

t.test('a name is refused if one of its addresses is not public', async (t) => {
  const url = new URL('https://hooks.example.com/x');
  const named = (...addresses: string[]) => ({
    resolve: async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  });
  const both = named('8.8.8.8', '2606:4700::1111');
  t.strictSame((await resolveAddress(url, { ...closed, ...both })).length, 2);
  for (const bad of ['10.0.0.1', '127.0.0.1', '::1', 'fe80::1%eth0', '::ffff:10.0.0.1', '64:ff9b::7f00:1']) {
    const mixed = named('8.8.8.8', bad);
    await t.rejects(resolveAddress(url, { ...closed, ...mixed }), { message: /^must not lead to/ }, bad);
  }
  const local = named('127.0.0.1');
  t.ok(await resolveAddress(url, { ...open, ...local }));
  const plain = named('8.8.8.8');
  await t.rejects(resolveAddress(new URL('http://localhost/x'), { ...open, ...plain }), { message: /^must not lead/ });
});
