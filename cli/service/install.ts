import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { Host } from './host.ts';
import { ENVIRONMENT_FILE, environmentText, isState, type Service, UNIT_FILE, unitText, WRITTEN_BY } from './unit.ts';

/** A change to the machine. */
interface Step {
  readonly what: string;
  readonly take: () => void;
}

/** What an installation would change, and what prevents it. */
export interface Plan {
  readonly steps: readonly Step[];
  /** Sentences; if there are any, nothing may be changed. */
  readonly problems: readonly string[];
}

/** Folders that the unit hides from the service or protects. */
const HIDDEN = ['/home', '/root', '/run', '/tmp', '/var/tmp', '/dev', '/proc', '/sys'];
/** Other characters are special in systemd. */
const PLAIN_PATH = /^(\/[\w@+.-]+)+$/;
const USER = /^[a-z_][a-z0-9_-]{0,30}$/;
/** What an existing data folder contains. */
const OWN = ['catalog.sqlite', 'facts'];

/** Plans the installation of a service. Changes nothing. */
export function planInstallation(service: Service, host: Host): Plan {
  return {
    problems: [...hostProblems(host), ...serviceProblems(service, host)],
    steps: [...userSteps(service, host), ...folderSteps(service, host), ...fileSteps(service, host)],
  };
}

function hostProblems({ isRoot, hasSystemd }: Host): string[] {
  return [
    ...(hasSystemd ? [] : ['systemd does not manage the services of this machine.']),
    ...(isRoot ? [] : ['Only root may install a service: run it with sudo.']),
  ];
}

function serviceProblems({ user, dataFolder, node, program }: Service, host: Host): string[] {
  const problems: string[] = [];
  if (!USER.test(user)) problems.push(`--user is '${user}'; it must be a name such as ordinate.`);
  if (user === 'root') problems.push('--user must not be root.');
  problems.push(...folderProblems(dataFolder, host));
  if (program.endsWith('.ts')) {
    problems.push('This is a checkout, which builds its dashboard in place: run `npm pack` and install the package.');
  } else for (const path of [node, program]) problems.push(...codeProblems(path, host));
  if (existsSync(host.at(UNIT_FILE)) && !readFileSync(host.at(UNIT_FILE), 'utf8').startsWith(WRITTEN_BY)) {
    problems.push(`${UNIT_FILE} was not written by this command: move it away.`);
  }
  return problems;
}

function folderProblems(path: string, host: Host): string[] {
  const shown = `--data is '${path}'`;
  if (!PLAIN_PATH.test(path) || path.split('/').some((part) => part === '.' || part === '..')) {
    return [`${shown}; it must be an absolute path of letters, digits and . _ - @ +.`];
  }
  if (isHidden(path)) return [`${shown}; the service cannot use folders of ${HIDDEN.join(', ')}.`];
  const folder = host.at(path);
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder);
  if (files.length === 0 || OWN.some((name) => files.includes(name))) return [];
  return [`${shown}; it must be new, empty or a data folder of Ordinate.`];
}

/** The service runs as another user, in a file system without home folders. */
function codeProblems(path: string, host: Host): string[] {
  if (!PLAIN_PATH.test(path)) return [`The path '${path}' must have only letters, digits and . _ - @ +.`];
  if (isHidden(path) || !isReadableByAll(path, host)) {
    return [
      `The service cannot read '${path}': install the package for all users, with \`sudo npm install --global\` and a prefix such as /usr/local.`,
    ];
  }
  return [];
}

function isHidden(path: string): boolean {
  return HIDDEN.some((folder) => path === folder || path.startsWith(`${folder}/`));
}

function isReadableByAll(path: string, { at }: Host): boolean {
  if ((statSync(at(path)).mode & 0o004) === 0) return false;
  for (let folder = dirname(path); folder !== '/'; folder = dirname(folder)) {
    if ((statSync(at(folder)).mode & 0o001) === 0) return false;
  }
  return true;
}

function userSteps({ user, dataFolder }: Service, host: Host): Step[] {
  if (host.userId(user) !== undefined) return [];
  const words = ['--system', '--user-group', '--home-dir', dataFolder, '--no-create-home'];
  return [
    {
      what: `create the user ${user}, who cannot sign in`,
      take: () => host.run('useradd', ...words, '--shell', '/usr/sbin/nologin', user),
    },
  ];
}

/** systemd creates the folders of `/var/lib` itself, and gives them to the user. */
function folderSteps({ user, dataFolder }: Service, host: Host): Step[] {
  const folder = host.at(dataFolder);
  if (isState(dataFolder) || isOwnedBy(folder, host.userId(user))) return [];
  return [
    {
      what: `give ${dataFolder} to ${user}, readable by no one else`,
      take: () => {
        makeFolders(folder);
        chmodSync(folder, 0o700);
        host.run('chown', '--recursive', `${user}:`, folder);
      },
    },
  ];
}

function isOwnedBy(folder: string, user: number | undefined): boolean {
  return existsSync(folder) && statSync(folder).uid === user && (statSync(folder).mode & 0o077) === 0;
}

function fileSteps(service: Service, host: Host): Step[] {
  const unit = host.at(UNIT_FILE);
  const environment = host.at(ENVIRONMENT_FILE);
  const text = unitText(service);
  const steps: Step[] = [];
  if (!existsSync(environment)) {
    // 0600: settings may name proxies and collectors with passwords.
    steps.push({
      what: `write ${ENVIRONMENT_FILE}, readable by root only, with the default of each setting`,
      take: () => write(environment, environmentText(), 0o600),
    });
  } else if ((statSync(environment).mode & 0o777) !== 0o600) {
    steps.push({
      what: `make ${ENVIRONMENT_FILE} readable by root only`,
      take: () => chmodSync(environment, 0o600),
    });
  }
  if (existsSync(unit) && readFileSync(unit, 'utf8') === text) return steps;
  steps.push(
    { what: `write ${UNIT_FILE}`, take: () => write(unit, text, 0o644) },
    { what: 'make systemd read it (systemctl daemon-reload)', take: () => host.run('systemctl', 'daemon-reload') },
  );
  return steps;
}

/** Atomic: systemd never reads an incomplete file. */
function write(file: string, text: string, mode: number): void {
  makeFolders(dirname(file));
  const unfinished = `${file}.partial`;
  writeFileSync(unfinished, text, { mode });
  // The umask of the program removes rights from it.
  chmodSync(unfinished, mode);
  renameSync(unfinished, file);
}

/** Creates missing folders that all may enter, which the umask of the program would prevent. */
function makeFolders(path: string): void {
  if (existsSync(path)) return;
  makeFolders(dirname(path));
  mkdirSync(path);
  chmodSync(path, 0o755);
}
