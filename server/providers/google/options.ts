import type { ConnectionOption } from '../provider.ts';

/** The options of all connections to Google. */
export const GOOGLE_OPTIONS: readonly ConnectionOption[] = [
  {
    name: 'credentials',
    flags: '--credentials <file>',
    help: "one of Google's JSON files (service_account or authorized_user)",
  },
  { name: 'endpoint', flags: '--endpoint <url>', help: "address of the API, instead of Google's" },
  {
    name: 'tokenEndpoint',
    flags: '--token-endpoint <url>',
    help: "address of the token endpoint, instead of Google's",
  },
];

export const GOOGLE_NOTE = "Without --credentials the environment's default credentials are used.";
