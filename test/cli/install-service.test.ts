// `ordinate install-service` sets up a hardened systemd service, can be repeated, and keeps an administrator's changes.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { installService } from '../../cli/commands/install-service.ts';
import type { Host } from '../../cli/service/host.ts';
import { planInstallation } from '../../cli/service/install.ts';
import { ENVIRONMENT_FILE, environmentText, type Service, UNIT_FILE, unitText } from '../../cli/service/unit.ts';
import { readSettings } from '../../server/settings/settings.ts';
import { command } from '../command.ts';
import { temporaryFolder } from '../world.ts';

const SERVICE: Service = {
  user: 'ordinate',
  dataFolder: '/var/lib/ordinate',
  port: 3000,
  node: '/usr/lib/node',
  program: '/usr/lib/ordinate/ordinate.js',
};

/** A folder that stands for a machine, and the programs that were run on it. */
function machine(t: Test, { isRoot = true, hasSystemd = true }: { isRoot?: boolean; hasSystemd?: boolean } = {}) {
  const root = temporaryFolder(t);
  for (const path of [SERVICE.node, SERVICE.program]) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), '');
  }
  const ran: string[] = [];
  let user: number | undefined;
  const host: Host = {
    isRoot,
    hasSystemd,
    at: (path) => join(root, path),
    userId: () => user,
    run: (program, ...words) => {
      ran.push([program, ...words].join(' ').replaceAll(root, ''));
      // The user gets the number of this one, so that it owns what the test creates.
      if (program === 'useradd') user = process.geteuid!();
    },
  };
  return {
    host,
    ran,
    read: (path: string) => readFileSync(host.at(path), 'utf8'),
    mode: (path: string) => statSync(host.at(path)).mode & 0o777,
  };
}

t.test('it creates the user, the environment file and the unit, and then nothing more', (t) => {
  const { host, ran, read, mode } = machine(t);
  // As the program has it.
  const umask = process.umask(0o077);
  t.teardown(() => process.umask(umask));
  installService(SERVICE, host);
  t.strictSame(ran, [
    'useradd --system --user-group --home-dir /var/lib/ordinate --no-create-home --shell /usr/sbin/nologin ordinate',
    'systemctl daemon-reload',
  ]);
  t.equal(read(UNIT_FILE), unitText(SERVICE));
  t.equal(read(ENVIRONMENT_FILE), environmentText());
  t.strictSame([mode(UNIT_FILE), mode(ENVIRONMENT_FILE)], [0o644, 0o600]);
  t.equal(mode('/etc/ordinate'), 0o755, 'the service may read credentials there');
  t.notOk(existsSync(host.at('/var/lib/ordinate')), 'systemd creates it');
  t.equal(installService(SERVICE, host)[0], 'Nothing has changed.');
  t.equal(ran.length, 2);
  t.end();
});

t.test('again with other options: a new unit; what the administrator has set stays', (t) => {
  const { host, ran, read, mode } = machine(t);
  const umask = process.umask(0o077);
  t.teardown(() => process.umask(umask));
  installService(SERVICE, host);
  writeFileSync(host.at(ENVIRONMENT_FILE), 'ORDINATE_FEEDS=on\n');
  chmodSync(host.at(ENVIRONMENT_FILE), 0o644);
  installService({ ...SERVICE, dataFolder: '/srv/data/ordinate', port: 80 }, host);
  t.equal(read(ENVIRONMENT_FILE), 'ORDINATE_FEEDS=on\n');
  t.equal(mode(ENVIRONMENT_FILE), 0o600, 'its rights are corrected');
  t.match(read(UNIT_FILE), /^Environment=ORDINATE_DATA=\/srv\/data\/ordinate PORT=80$/m);
  t.match(read(UNIT_FILE), /^ReadWritePaths=\/srv\/data\/ordinate$/m);
  t.match(read(UNIT_FILE), /^AmbientCapabilities=CAP_NET_BIND_SERVICE$/m, 'a low port needs it');
  t.match(read(UNIT_FILE), /^StateDirectory=ordinate-secrets$/m);
  t.strictSame([mode('/srv/data'), mode('/srv/data/ordinate')], [0o755, 0o700]);
  t.strictSame(ran.slice(2), ['chown --recursive ordinate: /srv/data/ordinate', 'systemctl daemon-reload']);
  installService({ ...SERVICE, dataFolder: '/srv/data/ordinate', port: 80 }, host);
  t.equal(ran.length, 4, 'nothing more');
  t.end();
});

t.test('it refuses, with all reasons, and changes nothing', (t) => {
  const { host, ran } = machine(t, { isRoot: false, hasSystemd: false });
  t.throws(() => installService(SERVICE, host), {
    message:
      'Nothing was installed.\nsystemd does not manage the services of this machine.\nOnly root may install a service: run it with sudo.',
  });
  t.notOk(existsSync(host.at('/etc')));
  t.strictSame(ran, []);
  t.end();
});

t.test('it refuses options that cannot work', (t) => {
  const { host } = machine(t);
  const home = host.at('/srv/full');
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'letter.txt'), 'mine');
  for (const [change, message] of [
    [{ user: 'Mr X' }, /--user is 'Mr X'; it must be a name such as ordinate/],
    [{ user: 'root' }, /--user must not be root/],
    [{ dataFolder: './data' }, /--data is '\.\/data'; it must be an absolute path/],
    [{ dataFolder: '/srv/../etc' }, /absolute path/],
    [{ dataFolder: '/srv/100%' }, /absolute path/],
    [{ dataFolder: '/home/me/data' }, /--data is '\/home\/me\/data'; the service cannot use folders of \/home/],
    [{ dataFolder: '/srv/full' }, /must be new, empty or a data folder/],
    [{ program: '/opt/ordinate/cli/ordinate.ts' }, /This is a checkout/],
    [
      { node: '/home/me/.nvm/node' },
      /The service cannot read '\/home\/me\/\.nvm\/node': install the package for all users/,
    ],
    [{ node: '/usr/lib/my node' }, /The path '\/usr\/lib\/my node' must have only letters/],
  ] satisfies [Partial<Service>, RegExp][]) {
    t.match(planInstallation({ ...SERVICE, ...change }, host).problems, [message], JSON.stringify(change));
  }
  mkdirSync(dirname(host.at(UNIT_FILE)), { recursive: true });
  writeFileSync(host.at(UNIT_FILE), '[Service]\nExecStart=/bin/true\n');
  t.match(planInstallation(SERVICE, host).problems, [/ordinate\.service was not written by this command/]);
  const other = machine(t).host;
  t.strictSame(planInstallation(SERVICE, other).problems, []);
  for (const path of [SERVICE.program, dirname(SERVICE.program)]) {
    chmodSync(other.at(path), 0o700);
    t.match(planInstallation(SERVICE, other).problems, [/The service cannot read '.*ordinate\.js'/], path);
    chmodSync(other.at(path), 0o755);
  }
  t.end();
});

t.test('the command: --dry-run prints the unit and the steps, and what would be refused', async (t) => {
  const { code, stdout } = await command(
    {},
    'install-service',
    '--dry-run',
    '--port',
    '8080',
    '--data',
    '/srv/ordinate',
  );
  t.equal(code, 0);
  t.match(stdout, 'Environment=ORDINATE_DATA=/srv/ordinate PORT=8080\n');
  t.match(stdout, /ExecStart=\/\S+\/node --max-semi-space-size=8 \/\S+\/cli\/ordinate\.ts serve\n/);
  t.match(stdout, /It would:\n {2}- create the user ordinate[\s\S]*It would refuse: This is a checkout/);
  const refused = await command({}, 'install-service', '--port', '0');
  t.match(refused, { code: 1, stderr: /It must be a whole number from 1 to 65535/ });
});

t.test('each setting of the environment file is one, with a valid value', (t) => {
  const lines = environmentText().match(/(?<=^#)[A-Z_]+=.*$/gm)!;
  t.ok(lines.length > 20);
  const values = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]));
  t.strictSame(readSettings(values), readSettings({}), 'the defaults');
  t.end();
});

const hasAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0;

t.test('systemd takes the unit, and finds it hardened', { skip: hasAnalyze ? false : 'needs systemd-analyze' }, (t) => {
  for (const [dataFolder, port] of [
    ['/var/lib/ordinate', 3000],
    ['/srv/ordinate', 80],
  ] as const) {
    const file = join(temporaryFolder(t), 'ordinate.service');
    // systemd looks for the program.
    writeFileSync(file, unitText({ ...SERVICE, dataFolder, port, node: '/bin/sh' }));
    const verified = spawnSync('systemd-analyze', ['verify', '--man=no', '--recursive-errors=no', file], {
      encoding: 'utf8',
    });
    t.strictSame([verified.status, verified.stderr], [0, ''], dataFolder);
    // 10 is exposed; a unit without any of these lines has 9.6.
    execFileSync('systemd-analyze', ['security', '--offline=yes', '--threshold=25', file], { stdio: 'ignore' });
  }
  t.end();
});
