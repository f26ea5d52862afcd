import { type Command, InvalidArgumentError } from 'commander';
import { createLink, signInAddress } from '../../server/catalog/sessions.ts';
import { isoInstant, toMicroseconds } from '../../server/domain/instants.ts';
import { runningServers } from '../../server/runtime/running-servers.ts';
import type { Settings } from '../../server/settings/settings.ts';
import { print, printJson, withStores } from '../cli.ts';
import { examples } from '../help.ts';

interface Options {
  readonly workspace: string;
  readonly by: string;
  readonly url?: string;
  readonly json?: boolean;
}

export function addLogin(program: Command): void {
  program
    .command('login')
    .description('print a link that signs a member in to the dashboard; it works once, within 10 minutes')
    .requiredOption('--workspace <id>', 'the workspace')
    .requiredOption('--by <email>', 'the member who signs in')
    .option(
      '--url <url>',
      'address of the server as the browser sees it (default: ORDINATE_PUBLIC_URL, or where a server of the data folder listens)',
      readUrl,
    )
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      examples(
        'login --workspace acme --by owner@acme.example',
        'login --workspace acme --by owner@acme.example --url https://reports.acme.example',
      ),
    )
    .action(async ({ workspace, by, url, json }: Options) => {
      const at = toMicroseconds(Date.now());
      const made = await withStores(async ({ catalog, settings }) => ({
        ...(await createLink(catalog, { workspace, who: { keyId: null, email: by }, at })),
        server: url ?? settings.publicUrl ?? serverOf(settings),
      }));
      const link = signInAddress(made.server, made.token);
      if (json) printJson({ url: link, expiresAt: isoInstant(made.expiresAt) });
      else print(`This link signs '${by}' in once, within 10 minutes:\n  ${link}`);
    });
}

/** The server that runs on the data folder, or the one that would run with these settings. */
export function serverOf({ dataFolder, host, port }: Settings): string {
  const running = URL.parse(runningServers(dataFolder)[0] ?? '');
  return `http://${browserHost(running?.hostname ?? host)}:${running?.port ?? port}`;
}

/** A server that listens on all addresses is opened at `localhost`. */
function browserHost(host: string): string {
  if (['0.0.0.0', '::', '[::]'].includes(host)) return 'localhost';
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

function readUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new InvalidArgumentError('It must be an address such as https://reports.acme.example.');
  }
  return url.origin;
}
