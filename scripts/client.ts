// Writes the generated files of client/ from the OpenAPI document. The generator needs an older TypeScript than the
// project's, so it is installed in a separate folder.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { operationsSource, withoutExamples } from './client-sources.ts';
import { openapiDocument } from './openapi-document.ts';

const ROOT = join(import.meta.dirname, '..');
const TOOL = join(ROOT, 'node_modules/.cache/openapi-typescript');
const PACKAGES = ['openapi-typescript@7.13.0', 'typescript@5.9.3'];

function run(command: string, ...words: string[]): void {
  execFileSync(command, words, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
}

const document = withoutExamples(await openapiDocument());
mkdirSync(TOOL, { recursive: true });
writeFileSync(join(TOOL, 'package.json'), '{"private":true}\n');
run('npm', 'install', '--prefix', TOOL, '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error', ...PACKAGES);
const source = join(TOOL, 'openapi.json');
writeFileSync(source, JSON.stringify(document));
run(join(TOOL, 'node_modules/.bin/openapi-typescript'), source, '--immutable', '--output', 'client/openapi.ts');
writeFileSync(join(ROOT, 'client/operations.ts'), operationsSource(document));
run('biome', 'check', '--write', 'client');
