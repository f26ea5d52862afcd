import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { basename, dirname } from 'node:path';

type Manifest = Readonly<Record<'dependencies' | 'peerDependencies', Readonly<Record<string, string>>>>;

/** A package that only some servers need is not installed. The message has the command that installs it. */
export class PackageMissing extends Error {}

/**
 * Imports a module that needs packages which not every install has: `peerDependencies` of package.json.
 * @param user what needs them, such as the name of a setting
 * @param packages the names of all that it needs
 * @throws PackageMissing if one of them is not installed
 */
export async function importOptional<T>(user: string, packages: RegExp, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const [, missing = ''] = /^Cannot find package '([^']+)'/.exec(message) ?? [];
    // A missing dependency of the package itself is a broken install.
    if (code !== 'ERR_MODULE_NOT_FOUND' || !packages.test(missing)) throw cause;
    const says = `${user} needs the package ${missing}, which is not installed`;
    throw new PackageMissing(`${says}: run \`${installCommand(packages)}\``, { cause });
  }
}

/** The command that installs packages where Ordinate is installed, in the versions that it is tested with. */
function installCommand(packages: RegExp): string {
  const path = findPackageJSON(import.meta.url)!;
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
  const found = Object.entries({ ...dependencies, ...peerDependencies }).filter(([name]) => packages.test(name));
  const folder = dirname(dirname(path));
  const isCheckout = basename(folder) !== 'node_modules';
  const isGlobal = basename(dirname(folder)) === 'lib';
  // In a checkout they are development dependencies, which a production install omits.
  const options = isCheckout ? ' --save-prod --omit=dev' : isGlobal ? ' --global' : '';
  return `npm install${options} ${found.map((one) => one.join('@')).join(' ')}`;
}
