import { SETTINGS } from './table.ts';
import type { Setting } from './values.ts';

type Table = typeof SETTINGS;
export type Settings = { readonly [Key in keyof Table]: NonNullable<ReturnType<Table[Key]['read']>> };

/** A setting is unknown or malformed; the message names it and the valid values. */
class SettingsError extends Error {}

/**
 * Settings from the environment. Throws `SettingsError` for a malformed or unknown one, all of them in one message.
 * @param warn called with a sentence for each setting with a former name
 */
export function readSettings(environment: NodeJS.ProcessEnv, warn = warnOnce): Settings {
  const known = Object.values<AnySetting>(SETTINGS);
  const names = known.map(({ name }) => name);
  const formerNames = known.map(({ formerly }) => formerly);
  const problems = Object.keys(environment)
    .filter((name) => name.startsWith('ORDINATE_') && !names.includes(name) && !formerNames.includes(name))
    .map((name) => unknownSetting(name, names));
  const values = Object.entries<AnySetting>(SETTINGS).map(([key, setting]) => {
    const { name, text } = findValue(setting, environment, warn);
    const value = setting.read(text);
    const found = setting.isSecret ? 'something else' : `'${text}'`;
    if (value === undefined) problems.push(`${name} must be ${setting.wanted}, not ${found}.`);
    return [key, value] as const;
  });
  if (problems.length > 0) throw new SettingsError(problems.join('\n'));
  return Object.fromEntries(values) as Settings;
}

type AnySetting = Setting<unknown>;

/** Some settings have no prefix, such as PORT. */
function unknownSetting(name: string, names: readonly string[]): string {
  const short = name.replace('ORDINATE_', '');
  const others = names.includes(short) ? `write ${short}` : `the settings are ${names.join(', ')}`;
  return `${name} is not a setting of Ordinate; ${others}.`;
}

/** The text of a setting, and the name under which it was found. */
function findValue(
  { name, formerly, fallback }: AnySetting,
  environment: NodeJS.ProcessEnv,
  warn: (sentence: string) => void,
): { name: string; text: string } {
  // An empty variable is how shells and compose files write "not set".
  const text = environment[name];
  const former = formerly === undefined ? undefined : environment[formerly];
  if (formerly === undefined || !former) return { name, text: text || fallback };
  if (text) {
    warn(`${formerly} is ignored, because ${name} is set; it is the former name of the same setting.`);
    return { name, text };
  }
  warn(`${formerly} is now called ${name}; the former name will not be accepted by the next version.`);
  return { name: formerly, text: former };
}

const warned = new Set<string>();

/** Settings are read more than once in some commands. */
function warnOnce(sentence: string): void {
  if (warned.has(sentence)) return;
  warned.add(sentence);
  process.stderr.write(`Warning: ${sentence}\n`);
}
