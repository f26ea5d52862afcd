import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto';
import { lstatSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { link, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { FileLock } from './file-lock.ts';

/** Where the keys are that encrypt secrets; the settings have both. */
export interface KeyFile {
  readonly secretsKeyFile: string;
  /** Keys are never below it, because backups and copies of it would have secrets and keys together. */
  readonly dataFolder: string;
}

/** A secret cannot be encrypted or decrypted; the message says why and contains nothing of it. */
export class SecretsFailure extends Error {}

interface Key {
  readonly id: string;
  readonly bytes: Buffer;
}

const HEADER =
  '# Keys of the secrets of Ordinate, the current one first. Without them the secrets cannot be read: keep a copy.';
const LINE = /^([0-9a-f]{16}) ([A-Za-z0-9_-]{43})$/;
const SEALED = /^v1:([0-9a-f]{16}):([A-Za-z0-9_-]+)$/;
const NONCE = 12;
const TAG = 16;
/** Unfinished files of killed processes. */
const UNFINISHED = /^\.secrets-[0-9a-f-]{36}$/;

/** The keys of each file, and all that were in it: a reader may still have a text of a forgotten one. */
const KNOWN = new Map<string, { stamp: string; keys: readonly Key[]; seen: Map<string, Buffer> }>();

/**
 * Encrypts a text by AES-256-GCM. Makes the file of keys if there is none. To be called in the transaction that stores
 * the result, so that a rotation in between cannot forget its key. Throws `SecretsFailure`.
 * @param label where the text is stored; it can be decrypted only with the same label
 */
export async function sealText(keyFile: KeyFile, text: string, label: string): Promise<string> {
  if (!hasKeys(keyFile)) await makeKeys(keyFile);
  const { id, bytes } = readKeys(keyFile)[0]!;
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv('aes-256-gcm', bytes, nonce).setAAD(Buffer.from(label));
  const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `v1:${id}:${sealed.toString('base64url')}`;
}

/** Decrypts what `sealText` has returned. Throws `SecretsFailure`. */
export function openSealed(keyFile: KeyFile, sealed: string, label: string): string {
  const [, id = '', text = ''] = SEALED.exec(sealed) ?? [];
  if (!hasKeys(keyFile)) refuse(keyFile, 'is missing');
  const found = readKeys(keyFile).find((one) => one.id === id);
  const key = found?.bytes ?? KNOWN.get(keyFile.secretsKeyFile)?.seen.get(id);
  if (key === undefined) refuse(keyFile, 'lacks the key of this secret');
  const bytes = Buffer.from(text, 'base64url');
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE), { authTagLength: TAG });
    decipher.setAAD(Buffer.from(label)).setAuthTag(bytes.subarray(-TAG));
    return Buffer.concat([decipher.update(bytes.subarray(NONCE, -TAG)), decipher.final()]).toString('utf8');
  } catch {
    throw new SecretsFailure(`A secret was changed, or belongs elsewhere (${label}).`);
  }
}

/** Whether there is a file of keys. Throws `SecretsFailure` for a location or rights that would expose it. */
export function hasKeys(keyFile: KeyFile): boolean {
  const path = locate(keyFile);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return false;
  if (!stats.isFile()) refuse(keyFile, 'is not a file');
  if ((stats.mode & 0o077) !== 0) {
    const mode = (stats.mode & 0o777).toString(8).padStart(4, '0');
    refuse(keyFile, `can be read by others (mode ${mode}); allow only its owner: chmod 600`);
  }
  return true;
}

/** Checks the file of keys where there is one, or its path was chosen. Throws `SecretsFailure`. */
export function checkKeyFile(keyFile: KeyFile, isChosen: boolean): void {
  const isThere = lstatSync(keyFile.secretsKeyFile, { throwIfNoEntry: false }) !== undefined;
  if ((isChosen || isThere) && hasKeys(keyFile)) readKeys(keyFile);
}

/** Runs `work` while no other process changes the file of keys. Throws `SecretsFailure` if one does. */
export async function withKeyFile<T>(keyFile: KeyFile, work: () => Promise<T>): Promise<T> {
  const path = locate(keyFile);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  using lock = FileLock.take(`${path}.lock`);
  if (lock === undefined) refuse(keyFile, 'is being changed by another process');
  return await work();
}

/** Adds a new current key to the file, which is replaced atomically. */
export async function addKey(keyFile: KeyFile): Promise<void> {
  const keys = hasKeys(keyFile) ? readKeys(keyFile) : [];
  await writeKeys(keyFile, [newKey(), ...keys], { replace: true });
}

/** Removes all keys but the current one and those with the ids. Returns how many were removed. */
export async function forgetKeys(keyFile: KeyFile, needed: ReadonlySet<string>): Promise<number> {
  const keys = readKeys(keyFile);
  const kept = keys.filter(({ id }, index) => index === 0 || needed.has(id));
  if (kept.length < keys.length) await writeKeys(keyFile, kept, { replace: true });
  return keys.length - kept.length;
}

/** The id of the key of an encrypted text. */
export function keyIdOf(sealed: string): string {
  return SEALED.exec(sealed)?.[1] ?? '';
}

function newKey(): Key {
  return { id: randomBytes(8).toString('hex'), bytes: randomBytes(32) };
}

/** Several processes may do so at the same time: the first file stays. */
async function makeKeys(keyFile: KeyFile): Promise<void> {
  await mkdir(dirname(locate(keyFile)), { recursive: true, mode: 0o700 });
  await writeKeys(keyFile, [newKey()], { replace: false });
}

async function writeKeys(keyFile: KeyFile, keys: readonly Key[], { replace }: { replace: boolean }): Promise<void> {
  const path = locate(keyFile);
  const folder = dirname(path);
  for (const name of await readdir(folder)) {
    // Those of running processes are not older than a moment.
    const stats = UNFINISHED.test(name) ? statSync(join(folder, name), { throwIfNoEntry: false }) : undefined;
    if (stats !== undefined && stats.mtimeMs < Date.now() - 60_000) await rm(join(folder, name), { force: true });
  }
  const unfinished = join(folder, `.secrets-${randomUUID()}`);
  try {
    {
      await using file = await open(unfinished, 'wx', 0o600);
      await file.writeFile(
        `${[HEADER, ...keys.map(({ id, bytes }) => `${id} ${bytes.toString('base64url')}`)].join('\n')}\n`,
      );
      await file.sync();
    }
    if (replace) await rename(unfinished, path);
    else await link(unfinished, path).catch(ignoreExisting);
  } finally {
    await rm(unfinished, { force: true });
  }
  await using handle = await open(folder, 'r');
  await handle.sync();
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

/** The keys of an existing file, the current one first; from memory until the file is replaced. */
function readKeys(keyFile: KeyFile): readonly Key[] {
  const path = locate(keyFile);
  const { ino, mtimeNs, size } = statSync(path, { bigint: true });
  const stamp = `${ino} ${mtimeNs} ${size}`;
  const before = KNOWN.get(keyFile.secretsKeyFile);
  if (before?.stamp === stamp) return before.keys;
  const lines = readText(keyFile, path).split('\n');
  const keys = lines
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line): Key => {
      const [, id, text] = LINE.exec(line.trim()) ?? [];
      if (id === undefined || text === undefined) return refuse(keyFile, 'is not a file of keys');
      return { id, bytes: Buffer.from(text, 'base64url') };
    });
  if (keys.length === 0) refuse(keyFile, 'has no key');
  const seen = new Map([...(before?.seen ?? []), ...keys.map(({ id, bytes }) => [id, bytes] as const)]);
  KNOWN.set(keyFile.secretsKeyFile, { stamp, keys, seen });
  return keys;
}

function readText(keyFile: KeyFile, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return refuse(keyFile, `cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** The path of the file with all links resolved. Throws `SecretsFailure` if it is in the data folder. */
function locate(keyFile: KeyFile): string {
  const path = resolveLinks(keyFile.secretsKeyFile);
  const folder = resolveLinks(keyFile.dataFolder);
  if (path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`)) {
    refuse(keyFile, `is inside the data folder '${keyFile.dataFolder}'; choose a path outside of it`);
  }
  return path;
}

/** Like `realpath`, also for a path whose last parts do not exist. */
function resolveLinks(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink() && !statSync(path, { throwIfNoEntry: false })) {
    return resolveLinks(resolve(dirname(path), readlinkSync(path)));
  }
  if (stats !== undefined || dirname(path) === path) return realpathSync(path);
  return join(resolveLinks(dirname(path)), basename(path));
}

function refuse({ secretsKeyFile }: KeyFile, why: string): never {
  throw new SecretsFailure(`The file of keys '${secretsKeyFile}' (ORDINATE_SECRETS_KEY_FILE) ${why}.`);
}
