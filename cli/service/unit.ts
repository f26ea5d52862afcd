import { relative } from 'node:path';
import { SETTINGS } from '../../server/settings/table.ts';

/** Options of a systemd service. All paths are absolute. */
export interface Service {
  /** The user of the operating system that it runs as. */
  readonly user: string;
  readonly dataFolder: string;
  readonly port: number;
  /** The Node that runs it. */
  readonly node: string;
  /** The program of the command line. */
  readonly program: string;
}

export const UNIT_FILE = '/etc/systemd/system/ordinate.service';
/** Settings of the service, for its administrator to edit. */
export const ENVIRONMENT_FILE = '/etc/ordinate/ordinate.env';

/** The first line of the unit. A file without it was written by someone else. */
export const WRITTEN_BY =
  '# Written by `ordinate install-service`, which replaces it: make changes with `systemctl edit ordinate`.';

/** systemd creates, owns and protects folders below this one. */
const STATE = '/var/lib';
/** The folder of keys below it. */
const SECRETS = 'ordinate-secrets';
const KEY_FILE = `${STATE}/${SECRETS}/secrets.key`;
/** Ports below this one need a capability. */
const FIRST_FREE_PORT = 1024;

/** Whether systemd makes the data folder. */
export function isState(dataFolder: string): boolean {
  return dataFolder.startsWith(`${STATE}/`);
}

export function unitText({ user, dataFolder, port, node, program }: Service): string {
  // The folder of keys is not in the data folder.
  const states = [...(isState(dataFolder) ? [relative(STATE, dataFolder)] : []), SECRETS];
  const others = isState(dataFolder) ? '' : `\nReadWritePaths=${dataFolder}`;
  const capabilities = port > 0 && port < FIRST_FREE_PORT ? 'CAP_NET_BIND_SERVICE' : '';
  return `${WRITTEN_BY}
[Unit]
Description=Ordinate, search-analytics reporting
Documentation=http://127.0.0.1:${port}/docs/guide/operate
Wants=network-online.target
After=network-online.target
# A server that cannot start, for example because of a wrong setting, is given up and shown as failed.
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=exec
# The option and MALLOC_ARENA_MAX as in bin/ordinate.
ExecStart=${node} --max-semi-space-size=8 ${program} serve
User=${user}
WorkingDirectory=${dataFolder}
Environment=ORDINATE_DATA=${dataFolder} PORT=${port}
Environment=ORDINATE_SECRETS_KEY_FILE=${KEY_FILE}
Environment=MALLOC_ARENA_MAX=2
EnvironmentFile=-${ENVIRONMENT_FILE}
Restart=on-failure
RestartSec=5
# The server stops its process of background jobs, and waits 20 seconds for running requests.
KillMode=mixed
TimeoutStopSec=30
# If the system kills the process of background jobs, the server starts it again.
OOMPolicy=continue

# It writes its data folder and its file of keys, and nothing else.
StateDirectory=${states.join(' ')}
StateDirectoryMode=0700${others}
UMask=0077
# A dump of the memory would hold secrets.
LimitCORE=0
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
ProtectProc=invisible
RemoveIPC=yes

# It gets no rights, and cannot gain any.
NoNewPrivileges=yes
CapabilityBoundingSet=${capabilities}
AmbientCapabilities=${capabilities}
RestrictSUIDSGID=yes
RestrictNamespaces=yes
RestrictRealtime=yes
LockPersonality=yes
# AF_NETLINK: Node reads the addresses of the machine through it.
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM
# V8 compiles JavaScript to machine code while it runs, so it needs memory that is written and then executed.
MemoryDenyWriteExecute=no

[Install]
WantedBy=multi-user.target
`;
}

/** The template of the environment file: every setting with its default, commented out. */
export function environmentText(): string {
  const inUnit: readonly string[] = [SETTINGS.dataFolder.name, SETTINGS.port.name, SETTINGS.secretsKeyFile.name];
  const settings = Object.values(SETTINGS)
    .filter(({ name }) => !inUnit.includes(name))
    .map(({ name, help, fallback }) => `# ${help}\n#${name}=${fallback}\n`);
  return `# Settings of the service ordinate. Remove the # before a setting to change it, then: systemctl restart ordinate
# ${inUnit.join(', ')} are in the unit: ordinate install-service --data FOLDER --port PORT

${settings.join('\n')}`;
}
