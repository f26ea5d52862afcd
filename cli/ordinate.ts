#!/usr/bin/env node
import '../scripts/node-version.ts';
import './threads.ts';
import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// Only the owner may read stored files, whether SQLite, DuckDB or this process writes them.
process.umask(0o077);

// Secrets of settings are in the environment: a report that Node writes when it crashes leaves it out.
process.report.excludeEnv = true;

// Compiling takes half of the time of a short command. The data folder is the owner's alone: in a folder that others can
// write, a cache would let them run code. Where it cannot be written, modules are compiled as without it.
const data = process.env['ORDINATE_DATA'] || 'data';
if (existsSync(join(data, 'catalog.sqlite'))) enableCompileCache(join(data, 'compiled'));

const { ignoreClosedOutput, fail } = await import('./cli.ts');
const { programFor } = await import('./program.ts');
ignoreClosedOutput();
await (await programFor(process.argv.slice(2))).parseAsync().catch(fail);
