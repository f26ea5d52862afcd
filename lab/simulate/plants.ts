/** A fault that is put into the code, to see whether the simulation finds it. */
export interface Plant {
  readonly name: string;
  readonly file: string;
  /** Text of the file, which must stand there. */
  readonly find: string;
  readonly replace: string;
  /** The world that can show it. */
  readonly world: string;
  /** Only where the catalog is in PostgreSQL. */
  readonly isOfPostgres?: boolean;
  /** It was in the product, and must be found. */
  readonly isRequired?: boolean;
}

/** Faults that were in the product, and others of the same kind across its modules. */
export const PLANTS: readonly Plant[] = [
  {
    name: 'appends of two batches at once',
    file: 'server/sync/day-files.ts',
    find: `await this.#append(() => appendFile(this.#path(table, day), \`\${lines.join('\\n')}\\n\`, { mode: 0o600 }));`,
    replace: `await appendFile(this.#path(table, day), \`\${lines.join('\\n')}\\n\`, { mode: 0o600 });`,
    world: 'sync',
    isRequired: true,
  },
  {
    name: 'a lease that throws ends its worker',
    file: 'server/sync/due.ts',
    find: "'a project could not be synced');\n    } finally {",
    replace: "'a project could not be synced');\n      throw error;\n    }\n    {",
    world: 'sync',
    isRequired: true,
  },
  {
    name: 'progress after the end of a run',
    file: 'server/jobs/job-runner.ts',
    find: 'void states.writeProgress(running, progress);',
    replace: 'void states.write({ ...running, progress });',
    world: 'jobs',
    isRequired: true,
  },
  {
    name: 'coverage of keywords without a revision',
    file: 'server/sync/publish.ts',
    find: '|| keywords.length > 0 ||',
    replace: '||',
    world: 'sync',
    isRequired: true,
  },
  {
    name: 'a removed folder is not made again',
    file: 'server/storage/s3/file-cache.ts',
    find: 'const made = this.#folder.makeAgain(this.#options.within);',
    replace: 'const made = { own: false, index: false };',
    world: 'storage',
    isRequired: true,
  },
  {
    name: 'an idle connection that was ended is a failure',
    file: 'server/catalog/postgres/version-connection.ts',
    find: 'if (!hasEnded(error)) throw error;',
    replace: 'throw error;',
    world: 'versions',
    isRequired: true,
  },
  {
    name: 'a first read whose connection ends is a failure',
    file: 'server/catalog/postgres/version-connection.ts',
    find: 'const client = this.#client ?? (await this.#connect());',
    replace: 'const client = this.#client;\n    if (client === undefined) return this.#ask(await this.#connect());',
    world: 'versions',
    isRequired: true,
  },
  {
    name: 'an answer that ends before it is read',
    file: 'server/storage/s3/s3-files.ts',
    find: "body.once('error', () => {});",
    replace: '',
    world: 'storage',
    isRequired: true,
  },
  {
    name: 'the state of a job is not read again with its lease',
    file: 'server/jobs/job-runner.ts',
    find: '} else if (dueAt(state, clock.now()) <= clock.now()) {',
    replace: '} else {',
    world: 'jobs',
  },
  {
    name: 'a lost lease is not noticed',
    file: 'server/catalog/leases.ts',
    find: 'if (await lease.isHeld().catch(() => false)) continue;',
    replace: 'if (await lease.isHeld().catch(() => false) || true) continue;',
    world: 'jobs',
  },
  {
    name: 'lists are fetched without their lock',
    file: 'server/lists/fetch-once.ts',
    find: 'if (lock !== undefined) return await work();',
    replace: 'return await work();',
    world: 'lists',
  },
  {
    name: 'a page is of the newest list',
    file: 'server/lists/list-pages.ts',
    find: 'const isThere = begun !== undefined && store.has(begun.list);',
    replace: 'const isThere = false && begun !== undefined;',
    world: 'lists',
  },
  {
    name: 'a project that was read before a commit is kept',
    file: 'server/catalog/catalog-cache.ts',
    find: 'if (after !== version) return value;',
    replace: '',
    world: 'facts',
  },
  {
    name: 'a query is planned with the project of another revision',
    file: 'server/reports/report.ts',
    find: "if (!hasRevisions(query, kind.revisionsOf(subject))) throw new OutdatedQuery('A load was published meanwhile.');",
    replace: '',
    world: 'facts',
  },
  {
    name: 'two loads at once',
    file: 'server/catalog/file-locks.ts',
    find: "const lock = FileLock.take(join(this.#dataFolder, 'load.lock'));",
    replace: `const lock = FileLock.take(join(this.#dataFolder, \`load-\${Math.random()}.lock\`));`,
    world: 'facts',
  },
  {
    name: 'replaced files are removed at once',
    file: 'server/load/sweep.ts',
    find: 'const before = toMicroseconds(now - GRACE_MS);',
    replace: 'const before = toMicroseconds(now);',
    world: 'facts',
  },
  {
    name: 'all evaluated days are settled',
    file: 'server/alerts/evaluate.ts',
    find: 'settledThrough: replay.settled,',
    replace: 'settledThrough: range.to,',
    world: 'facts',
  },
  {
    name: 'a file is let go while somebody reads it',
    file: 'server/storage/s3/held-links.ts',
    find: 'if (held.readers > 0) return;',
    replace: '',
    world: 'storage',
  },
  {
    name: 'a stored file is not waited for',
    file: 'server/storage/s3/s3-store.ts',
    find: 'await this.#remote.put(stored, path);',
    replace: 'void this.#remote.put(stored, path).catch(() => {});',
    world: 'storage',
  },
  {
    name: 'a read of the version that was sent before counts',
    file: 'server/catalog/postgres/version.ts',
    find: 'if (this.#sent === undefined) return this.#send();',
    replace: 'return this.#sent ?? this.#send();',
    world: 'versions',
  },
  {
    name: 'a table that failed is published in part',
    file: 'server/sync/fetch.ts',
    find: 'for (const table of failures.keys()) await files.drop(table);',
    replace: 'failures.clear();',
    world: 'sync',
  },
  {
    name: 'two processes migrate at once',
    file: 'server/catalog/postgres/migrations.ts',
    find: 'select pg_advisory_xact_lock(',
    replace: 'select concat(',
    world: 'jobs',
    isOfPostgres: true,
  },
  {
    name: 'a snapshot reads several instants',
    file: 'server/catalog/postgres/postgres-catalog.ts',
    find: 'begin isolation level repeatable read read only',
    replace: 'begin read only',
    world: 'facts',
    isOfPostgres: true,
  },
];
