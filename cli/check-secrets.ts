import { readClientSecret } from '../server/providers/google/oauth.ts';
import { checkKeyFile } from '../server/runtime/secrets.ts';
import type { Settings } from '../server/settings/settings.ts';
import { SETTINGS } from '../server/settings/table.ts';

/**
 * Refuses to start a server with a file of keys that others could read, or a client's secret that cannot be read. A file
 * of keys that is not there may never be needed.
 */
export function checkSecrets(settings: Settings): void {
  if (settings.googleClientSecretFile !== '') readClientSecret(settings);
  checkKeyFile(settings, Boolean(process.env[SETTINGS.secretsKeyFile.name]));
}
