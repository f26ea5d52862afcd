import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Command, InvalidArgumentError } from 'commander';
import { SETTINGS } from '../../server/settings/table.ts';
import { print } from '../cli.ts';
import { examples } from '../help.ts';
import { type Host, thisHost } from '../service/host.ts';
import { planInstallation } from '../service/install.ts';
import { ENVIRONMENT_FILE, type Service, UNIT_FILE, unitText } from '../service/unit.ts';

interface Options {
  readonly user: string;
  readonly data: string;
  readonly port: number;
  readonly dryRun?: boolean;
}

export function addInstallService(program: Command): void {
  program
    .command('install-service')
    .description('install the server as a systemd service that starts with the machine; again after an upgrade')
    .option('--user <name>', 'user of the operating system that it runs as; created if missing', 'ordinate')
    .option('--data <folder>', 'its data folder', '/var/lib/ordinate')
    .option('--port <port>', 'port to listen on', readPort, Number(SETTINGS.port.fallback))
    .option('--dry-run', 'print the unit and what would be done, and change nothing')
    .addHelpText(
      'after',
      `${examples('install-service --dry-run', 'install-service --data /srv/ordinate --port 8080')}

It writes ${UNIT_FILE}, and once ${ENVIRONMENT_FILE} for other settings.`,
    )
    .action(({ user, data, port, dryRun = false }: Options) => {
      const node = realpathSync(process.execPath);
      const program = fileURLToPath(new URL('../ordinate.ts', import.meta.url));
      const service = { user, dataFolder: data, port, node, program };
      print((dryRun ? describeInstallation : installService)(service, thisHost()).join('\n'));
    });
}

/** Lines that describe the steps of an installation and its problems. */
function describeInstallation(service: Service, host: Host): string[] {
  const { steps, problems } = planInstallation(service, host);
  return [
    `${UNIT_FILE}:\n\n${unitText(service)}`,
    steps.length === 0 ? 'It would change nothing.' : 'It would:',
    ...steps.map(({ what }) => `  - ${what}`),
    ...problems.map((problem) => `It would refuse: ${problem}`),
  ];
}

/** Installs a service; returns lines about what was done and what is next. Throws if machine or options forbid it. */
export function installService(service: Service, host: Host): string[] {
  const { steps, problems } = planInstallation(service, host);
  if (problems.length > 0) throw new Error(`Nothing was installed.\n${problems.join('\n')}`);
  for (const { take } of steps) take();
  return [
    ...(steps.length === 0 ? ['Nothing has changed.'] : steps.map(({ what }) => `Done: ${what}`)),
    '',
    `Settings: ${ENVIRONMENT_FILE}`,
    'Start it, now and with the machine: systemctl enable --now ordinate',
    'After a change of its settings:     systemctl restart ordinate',
    'Its log:                            journalctl --unit ordinate',
    `Commands: sudo -u ${service.user} env ORDINATE_DATA=${service.dataFolder} ordinate projects list`,
  ];
}

function readPort(text: string): number {
  const port = SETTINGS.port.read(text);
  if (port === undefined || port === 0) throw new InvalidArgumentError('It must be a whole number from 1 to 65535.');
  return port;
}
