import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { ROOT } from '../runners/files.ts';

/** How a run of tests ended. */
export interface Ended {
  readonly passes: boolean;
  /** The file that failed first, with the first line that says so. */
  readonly failed?: { readonly test: string; readonly line: string };
}

/** Tests wait for hundreds of fsyncs each, which take nothing in memory. */
const TEMPORARY = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const COMPILED = join(ROOT, 'node_modules/.cache/compiled');
const DASHBOARD = 'server/dashboard/dist';
/** Tests that do not end have noticed something too. */
const MAX_MINUTES = 15;

/** A copy of the checkout with what is not committed, in which tests run while nobody edits it. */
export class Workspace {
  readonly folder: string;

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'ordinate-mutants-'));
    process.once('exit', () => this.remove());
    const git = (...words: string[]): string => {
      const { status, stdout, stderr } = spawnSync('git', words, { cwd: this.folder, encoding: 'utf8' });
      if (status !== 0) throw new Error(`git ${words.join(' ')}: ${stderr}`);
      return stdout;
    };
    git('clone', '--quiet', '--shared', '--no-checkout', ROOT, '.');
    git('reset', '--quiet');
    const listed = git('-C', ROOT, 'ls-files', '--cached', '--others', '--exclude-standard', '-z').split('\0');
    for (const file of listed.filter((one) => one !== '' && existsSync(join(ROOT, one)))) {
      mkdirSync(dirname(join(this.folder, file)), { recursive: true });
      cpSync(join(ROOT, file), join(this.folder, file));
    }
    // Some tests serve the dashboard, which is built and not committed.
    if (!existsSync(join(ROOT, DASHBOARD))) throw new Error('The dashboard has not been built: run `npm run build`.');
    cpSync(join(ROOT, DASHBOARD), join(this.folder, DASHBOARD), { recursive: true });
    // Hard links: the process of SQL statements may read its own packages only, wherever a symbolic link leads.
    const packages = join(this.folder, 'node_modules');
    const { status } = spawnSync('cp', ['-al', join(ROOT, 'node_modules'), packages]);
    if (status !== 0) cpSync(join(ROOT, 'node_modules'), packages, { recursive: true, verbatimSymlinks: true });
  }

  read(file: string): string {
    return readFileSync(join(this.folder, file), 'utf8');
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.folder, file), text);
  }

  /** Runs test files in one process until one fails. @param files paths of tests, or `browser/NAME` for a part of those */
  async run(files: readonly string[], settings: NodeJS.ProcessEnv = {}): Promise<Ended> {
    const temporary = mkdtempSync(join(TEMPORARY, 'ordinate-mutant-'));
    const isBrowser = files[0]!.startsWith('browser/');
    const words = isBrowser
      ? ['test/browser/dashboard.ts', ...files.map((file) => file.slice('browser/'.length))]
      : files.length === 1
        ? [files[0]!]
        : ['test/runners/1.ts'];
    const child = spawn(process.execPath, words, {
      cwd: this.folder,
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
      env: {
        ...process.env,
        NODE_COMPILE_CACHE: COMPILED,
        TMPDIR: temporary,
        TAP_BAIL: '1',
        TAP_TIMEOUT: String(MAX_MINUTES * 60),
        TEST_FILES: JSON.stringify(files),
        ...settings,
      },
    });
    const stop = (): void => {
      try {
        process.kill(-child.pid!, 'SIGKILL');
      } catch {
        // It has ended.
      }
      rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
    };
    process.once('exit', stop);
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      stop();
    }, MAX_MINUTES * 60_000);
    const exited = new Promise<number>((done) => child.once('exit', (code) => done(code ?? 1)));
    let test = files[0]!;
    let line: string | undefined;
    for await (const printed of createInterface({ input: child.stdout })) {
      test = /^ *# file: (\S+)$/.exec(printed)?.[1] ?? test;
      if (/^ *not ok /.test(printed) && !/ # (?:SKIP|TODO)\b/.test(printed)) line ??= printed.trim();
    }
    const code = await exited;
    clearTimeout(timer);
    process.removeListener('exit', stop);
    // Processes that the tests have started.
    stop();
    if (code === 0 && line === undefined) return { passes: true };
    return { passes: false, failed: { test, line: late ? 'it does not end' : (line ?? `it ends with ${code}`) } };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
