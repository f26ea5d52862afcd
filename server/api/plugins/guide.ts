import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { notFound } from '../../domain/errors.ts';
import { lazy } from '../../runtime/promises.ts';
import { header, ICON_FILE } from './docs-assets.ts';
import { GUIDE_STYLE } from './guide-style.ts';
import { type GuidePage, renderMarkdown } from './markdown.ts';
import { addStaticFiles } from './static-files.ts';

/** The Markdown files of the guide in `docs/`, in the order of its navigation. */
export const GUIDE_PAGES = [
  'index',
  'spreadsheets',
  'notebooks',
  'bi',
  'programs',
  'agents',
  'questions',
  'sql',
  'dashboard',
  'connect-google',
  'connect-bing',
  'channels',
  'roles',
  'changes',
  'load',
  'snapshot',
  'operate',
  'cluster',
  'commands',
  'settings',
  'limits',
] as const;
type Name = (typeof GUIDE_PAGES)[number];

const FOLDER = new URL('../../../docs/', import.meta.url);

/** The pages have no scripts, and load only their style sheet and icon. */
const SECURITY_HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** Adds the guide at `/docs/guide`. */
export async function addGuide(app: FastifyInstance): Promise<void> {
  const getPages = lazy(readPages);
  await app.register(async (guide) => {
    guide.addHook('onRequest', (_request, reply, done) => {
      reply.headers(SECURITY_HEADERS);
      done();
    });
    const filesAt = addStaticFiles(guide, '/docs/guide/static', () => [
      ICON_FILE,
      ['guide.css', 'text/css; charset=utf-8', Buffer.from(GUIDE_STYLE)],
    ]);
    guide.get<{ Params: { name?: string } }>(
      '/docs/guide/:name?',
      { schema: { hide: true } },
      async (request, reply) => {
        const { name = '' } = request.params;
        const all = await getPages();
        const page = name === 'index' ? undefined : all.get(name === '' ? 'index' : name);
        if (page === undefined) throw notFound('The guide has no such page; it begins at /docs/guide.');
        reply.header('cache-control', 'no-cache').type('text/html; charset=utf-8');
        return html(await filesAt(), page, all);
      },
    );
  });
}

/** Reads the files on the first visit. */
async function readPages(): Promise<ReadonlyMap<string, GuidePage>> {
  return new Map(
    await Promise.all(
      GUIDE_PAGES.map(
        async (name): Promise<[Name, GuidePage]> => [
          name,
          await renderMarkdown(await readFile(new URL(`${name}.md`, FOLDER), 'utf8'), addressOf),
        ],
      ),
    ),
  );
}

/** The address of a page of the guide by the name of its file. */
function addressOf(name: string): string {
  return name === 'index' ? '/docs/guide' : `/docs/guide/${name}`;
}

function html(root: string, page: GuidePage, all: ReadonlyMap<string, GuidePage>): string {
  const links = [...all].map(
    ([name, { title }]) =>
      `<li><a href="${addressOf(name)}"${all.get(name) === page ? ' aria-current="page"' : ''}>${title}</a></li>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${page.title} – Ordinate</title>
<link rel="icon" type="image/svg+xml" href="${root}/icon.svg">
<link rel="stylesheet" href="${root}/guide.css">
</head>
<body>
${header(root, '/docs/guide')}
<div class="guide">
<nav aria-label="Guide"><ul>${links.join('')}</ul></nav>
<main>
${page.body}</main>
</div>
</body>
</html>
`;
}
