// Everything that the catalog holds: how it is made and changed, where it is seen, and what is true of it after a loss.
import assert from 'node:assert/strict';
import type { FastifyInstance } from 'fastify';
import {
  dismissFinding,
  findEvaluation,
  listDismissedFindings,
  putEvaluatedAlert,
  readRankingRecord,
  restoreFinding,
  storeRankingFeed,
} from '../../server/catalog/alerts.ts';
import { createOnce } from '../../server/catalog/audit.ts';
import type { OpenCatalog } from '../../server/catalog/catalog.ts';
import { disableChannel } from '../../server/catalog/channels.ts';
import { changePause, findPause } from '../../server/catalog/connections.ts';
import { announceDigest, listedVerdicts } from '../../server/catalog/deliveries.ts';
import { listLoadedTables } from '../../server/catalog/fact-files.ts';
import {
  eachInspectedPage,
  putInspections,
  putSitemaps,
  readCrawlDays,
  readInspectionSchedule,
  readSitemaps,
  storeCrawlDays,
} from '../../server/catalog/inspections.ts';
import { eachKeywordGap } from '../../server/catalog/keywords.ts';
import { listFavourites } from '../../server/catalog/projects.ts';
import { putLastBackup, readLastBackup } from '../../server/catalog/store.ts';
import {
  listFetchedKeywords,
  listSyncDays,
  putSyncDays,
  putSyncKeywords,
  readBulkExportDays,
} from '../../server/catalog/sync-days.ts';
import { readSyncProject } from '../../server/catalog/sync-projects.ts';
import type { Day } from '../../server/domain/dates.ts';
import { changeFacts } from '../../server/load/change-facts.ts';
import { publishFiles, recordOwners } from '../../server/load/publish.ts';
import type { Settings } from '../../server/settings/settings.ts';
import { syncDay } from '../sync-day.ts';
import { facts, keyword, PROJECT, type Row, type Tables, WORKSPACE } from '../world.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers are picked from
type Answer = any;

/** A catalog with its server and commands, before or after a loss. */
export interface Scene {
  readonly catalog: OpenCatalog;
  readonly settings: Settings;
  readonly app: FastifyInstance;
  /** A request of an owner below `/app/api`, with its body; throws unless it succeeds. */
  readonly ask: (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object) => Promise<Answer>;
  /** What a key of the scene is answered below `/api/v1`. */
  readonly read: (path: string) => Promise<Answer>;
  /** The status of a request to any address. */
  readonly status: (url: string, headers?: Record<string, string>, method?: 'GET' | 'POST') => Promise<number>;
  /** The rows of a table of the catalog that has no other reader. */
  readonly rows: (table: string) => Promise<Answer[]>;
  /** The output of a command as JSON; throws if it fails. */
  readonly run: (...words: string[]) => Promise<Answer>;
}

/** The scene in which all is made. */
export interface Making extends Scene {
  readonly load: (tables: Tables) => Promise<unknown>;
  /** Connects an account of Google; returns the id of its grant. */
  readonly connect: () => Promise<string>;
  /** The address of a receiver of webhooks. */
  readonly receiver: string;
  /** Runs the sync of a project. */
  readonly sync: (project: string) => Promise<void>;
}

/** Ids and secrets by name. */
export type Made = Record<string, string>;

/**
 * What is true after a loss:
 * - `comes back`: as it was last
 * - `as in the copy`: what was changed after the copy is undone
 * - `stays removed`: as in the copy, but without what was revoked or removed since
 * - `lost`: none is left
 * - `ended`: none is left, so that nobody is let in who was turned away since
 */
type Outcome = 'comes back' | 'as in the copy' | 'stays removed' | 'lost' | 'ended';

/** A noun of the catalog. */
interface Noun {
  readonly what: string;
  readonly tables: readonly string[];
  /** Makes one that stays, one that `later` removes, and one that `later` changes. */
  readonly begin: (making: Making, made: Made) => Promise<void>;
  /** After the copy: changes one, removes one, and makes one. */
  readonly later: (making: Making, made: Made) => Promise<void>;
  /** What is seen of those that were made. */
  readonly seen: (scene: Scene, made: Made) => Promise<unknown>;
  /** After `rebuild`, of what the last copy has. */
  readonly rebuilt: Outcome;
  /** After `rebuild`, of what was changed after the last copy. */
  readonly since: Outcome;
  /** After `restore` of a backup. */
  readonly restored: Outcome;
  /** What is seen where it `stays removed`: of what was in the copy, and what was last. */
  readonly removed?: (then: Answer, now: Answer) => unknown;
}

const tokenOf = (url: string): string => /ord_\w+|[\w-]{32,}/.exec(url)![0];
const named = <T extends { id: string }>(rows: readonly T[], ...ids: readonly (string | undefined)[]): T[] =>
  rows.filter(({ id }) => ids.includes(id)).sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
const without = (row: Answer, ...fields: string[]): Answer =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !fields.includes(name)));
/** What belongs to a removed project is gone with it. */
const isLasting = (project: string): boolean => project !== 'Gone1';
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const AT = Date.parse('2026-03-15T12:00:00Z') * 1000;
const PROPERTY = 'sc-domain:shop.example';
const writer = { workspace: 'acme', by: 'owner@acme.example', at: AT };

const finding = (row: string, clicks: number) => ({
  ...{ type: 'low_ctr', kind: 'query' as const, row, country: null, days: 28, through: '2026-03-07' as Day },
  ...{ clicks, low: 1, high: 9, pages: null },
});
const dismiss = (catalog: OpenCatalog, project: string, of: ReturnType<typeof finding>) =>
  catalog.transaction((tx) => dismissFinding(tx, project, of, writer));
const rule = (value: string) => ({ match: 'all', conditions: [{ field: 'query', op: 'contains', value }] });
const pageRule = (value: string) => ({ match: 'all', conditions: [{ op: 'starts_with', value }] });
const siteRule = (value: number) => ({
  ...{ scope: 'site', metric: 'clicks', window: '1d', against: 'value', op: 'lt', value },
});
const inspected = (url: string, verdict: string, at: number) => ({
  ...{ url, at, clicks: 3, isWatched: false },
  inspection: {
    state: {
      ...{ verdict, coverageState: 'Submitted and indexed', robotsTxtState: null, indexingState: null },
      ...{ pageFetchState: null, googleCanonical: null, userCanonical: null, crawledAs: null },
    } as Answer,
    lastCrawlTime: null,
  },
});
const submission = (key: string) => ({ key, ...writer, method: 'POST', path: '/notes', body: '{}' });

/** Runs what a form creates; a form that is known gets its first result. */
async function submitted({ catalog }: Scene, key: string, result: string): Promise<string> {
  return catalog.transaction((tx) => createOnce(tx, submission(key), async () => result));
}

/** The rows that the world begins with. */
export const TABLES: Tables = {
  workspaces: [WORKSPACE, { ...WORKSPACE, id: 'other', name: 'Other' }],
  projects: [
    PROJECT,
    { ...PROJECT, id: 'Other', workspace_id: 'other' },
    ...['Kept1', 'Gone1'].map((id) => ({ ...PROJECT, id, domain: `${id}.example` })),
  ],
  keywords: [keyword('Kw001', 'shoes'), keyword('Kw002', 'boots')],
  site_daily: facts('date device', ['2026-03-01', 'mobile', 3, 100, 900], ['2026-03-02', 'mobile', 4, 100, 900]),
};

const alert = (id: string, more: Row = {}): Row => ({
  ...{ id: `0a1b2c3d-0000-4000-8000-00000000000${id}`, project_id: 'Proj1', type: 'keyword_drop', kind: 'Drop' },
  ...{ severity: 'warning', title: `Alert ${id}`, body: '', date: '2026-03-02', created_at: '2026-03-03T04:05:06Z' },
  ...more,
});

export const NOUNS: readonly Noun[] = [
  {
    what: 'workspaces of projects',
    tables: ['workspaces'],
    begin: async ({ load, run }) => {
      await load({ workspaces: [{ ...WORKSPACE, name: 'Acme & Co' }] });
      await run('workspaces', 'create', '--id', 'gone', '--name', 'gone', '--plan', 'team');
    },
    later: async ({ load, run }) => {
      await load({ workspaces: [{ ...WORKSPACE, name: 'Acme Ltd', plan: 'agency' }] });
      await run('workspaces', 'remove', 'gone', '--confirm', 'gone');
    },
    seen: async ({ run }) =>
      named<Answer>(await run('workspaces', 'list'), 'acme', 'gone').map((row) =>
        without(row, 'requestsPerMinute', 'keepDays', 'projects'),
      ),
    ...{ rebuilt: 'comes back', since: 'comes back', restored: 'as in the copy' },
  },
  {
    what: 'workspaces without projects',
    tables: ['workspaces'],
    begin: async ({ run }) => {
      await run('workspaces', 'create', '--id', 'kept', '--name', 'kept', '--plan', 'team');
      await run('members', 'add', '--workspace', 'kept', '--email', 'kept@kept.example', '--role', 'owner');
    },
    later: async ({ run }) => {
      await run('workspaces', 'create', '--id', 'added', '--name', 'added', '--plan', 'team');
    },
    seen: async ({ run, rows }) => [
      named(await run('workspaces', 'list'), 'kept', 'added'),
      (await rows('members')).filter(({ workspace_id: workspace }) => workspace === 'kept'),
    ],
    ...{ rebuilt: 'comes back', since: 'as in the copy', restored: 'as in the copy' },
  },
  {
    what: 'limits and retention of workspaces',
    tables: ['workspaces'],
    begin: async ({ run }) => {
      await run('workspaces', 'set', 'acme', '--requests-per-minute', '7000', '--keep-days', '5000');
    },
    later: async ({ run }) => {
      await run('workspaces', 'set', 'acme', '--requests-per-minute', '8000', '--keep-days', '6000');
    },
    seen: async ({ run }) => {
      const { requestsPerMinute, keepDays } = named<Answer>(await run('workspaces', 'list'), 'acme')[0];
      return { requestsPerMinute, keepDays };
    },
    ...{ rebuilt: 'comes back', since: 'as in the copy', restored: 'as in the copy' },
  },
  {
    what: 'projects',
    tables: ['projects'],
    begin: async (making) => {
      await furnish(making, 'Gone1');
      await making.load({ projects: [{ ...PROJECT, id: 'Held1' }] });
    },
    later: async ({ run, load }) => {
      await run('projects', 'remove', 'Gone1', '--confirm', 'Gone1');
      await load({ projects: [{ ...PROJECT, id: 'Added' }] });
    },
    seen: async ({ run }) => named(await run('projects', 'list', '--workspace', 'acme'), 'Held1', 'Gone1', 'Added'),
    ...{ rebuilt: 'comes back', since: 'comes back', restored: 'as in the copy' },
  },
  {
    what: 'names and countries of projects',
    tables: ['projects'],
    begin: async ({ run }) => run('projects', 'set', '--project', 'Kept1', '--name', 'First', '--country', 'usa'),
    later: async ({ run }) => run('projects', 'set', '--project', 'Kept1', '--name', 'Second', '--country', 'deu'),
    seen: async ({ rows }) =>
      (await rows('projects')).filter(({ id }) => id === 'Kept1').map(({ domain, country }) => [domain, country]),
    ...{ rebuilt: 'comes back', since: 'as in the copy', restored: 'as in the copy' },
  },
  {
    what: 'brand terms',
    tables: ['projects'],
    begin: async ({ ask }) => ask('PUT', '/projects/Kept1/brand-terms', { terms: ['first'] }),
    later: async ({ ask }) =>
      ask('PUT', '/projects/Kept1/brand-terms', { terms: ['second', { text: 'third', match: 'word' }] }),
    seen: async ({ ask }) => (await ask('GET', '/projects/Kept1/brand-terms')).terms,
    ...{ rebuilt: 'comes back', since: 'as in the copy', restored: 'as in the copy' },
  },
  {
    what: 'keywords',
    tables: ['keywords'],
    begin: async ({ ask, run }, made) => {
      await ask('POST', '/projects/Proj1/keywords', { queries: ['kept', 'gone'], tags: ['first'] });
      for (const { id, query } of await run('keywords', 'list', '--project', 'Proj1')) made[`keyword ${query}`] = id;
    },
    later: async ({ ask }, made) => {
      const changes = { tags: ['second'], targetUrl: 'https://shop.example/kept' };
      await ask('PATCH', `/projects/Proj1/keywords/${made['keyword kept']}`, changes);
      await ask('PATCH', `/projects/Proj1/keywords/${made['keyword gone']}`, { archived: true });
      await ask('POST', '/projects/Proj1/keywords', { queries: ['added'] });
    },
    seen: async ({ run, ask }) => {
      const ours = ({ query }: Answer) => /^(?:kept|gone|added)$/.test(query);
      const listed = (await run('keywords', 'list', '--project', 'Proj1')).filter(ours);
      const shown = await Promise.all(listed.map(({ id }: Answer) => ask('GET', `/projects/Proj1/keywords/${id}`)));
      const { keywords } = await ask('GET', '/projects/Proj1/archived-keywords');
      return { listed, shown, archived: keywords.filter(ours) };
    },
    ...{ rebuilt: 'comes back', since: 'as in the copy', restored: 'as in the copy' },
  },
  {
    what: 'days on which a keyword was not tracked',
    tables: ['keyword_gaps'],
    begin: async ({ ask }) => ask('PATCH', '/projects/Proj1/keywords/Kw001', { archived: true }),
    later: async ({ ask }) => ask('PATCH', '/projects/Proj1/keywords/Kw002', { archived: true }),
    seen: async ({ catalog }) => (await Array.fromAsync(eachKeywordGap(catalog))).flat(),
    ...{ rebuilt: 'comes back', since: 'as in the copy', restored: 'as in the copy' },
  },
  {
    what: 'groups and their members',
    tables: ['groups', 'group_members'],
    begin: async ({ ask }, made) => {
      const make = async (body: object) => (await ask('POST', '/projects/Proj1/groups', body)).group.id;
      made['folder'] = await make({ name: 'Folder', kind: 'folder' });
      made['group kept'] = await make({ name: 'Kept', kind: 'manual', keywordIds: [made['keyword kept']] });
      made['group gone'] = await make({ name: 'Gone', kind: 'rule', rule: rule('shoes') });
    },
    later: async ({ ask }, made) => {
      const changes = { name: 'Changed', parentId: made['folder'], pinned: true };
      await ask('PATCH', `/projects/Proj1/groups/${made['group kept']}`, { ...changes, keywordIds: ['Kw002'] });
      await ask('DELETE', `/projects/Proj1/groups/${made['group gone']}`);
      await ask('POST', '/projects/Proj1/groups', { name: 'Added', kind: 'rule', rule: rule('boots') });
    },
    seen: async ({ read }) => (await read('/projects/Proj1/groups')).groups,
    ...{ rebuilt: 'comes back', since: 'as in the copy', restored: 'as in the copy' },
  },
  {
    what: 'page groups',
    tables: ['page_groups'],
    begin: async ({ ask }, made) => {
      for (const name of ['kept', 'gone']) {
        const body = { name, rule: pageRule(`/${name}`) };
        made[`page group ${name}`] = (await ask('POST', '/projects/Proj1/page-groups', body)).pageGroup.id;
      }
    },
    later: async ({ ask }, made) => {
      const changes = { name: 'changed', pinnedUrls: ['/pinned'] };
      await ask('PATCH', `/projects/Proj1/page-groups/${made['page group kept']}`, changes);
      await ask('DELETE', `/projects/Proj1/page-groups/${made['page group gone']}`);
      await ask('POST', '/projects/Proj1/page-groups', { name: 'added', rule: pageRule('/added') });
    },
    seen: async ({ read }) => (await read('/projects/Proj1/page-groups')).pageGroups,
    ...{ rebuilt: 'comes back', since: 'as in the copy', restored: 'as in the copy' },
  },
  {
    what: 'alert rules',
    tables: ['alert_rules'],
    begin: async ({ ask }, made) => {
      for (const name of ['kept', 'gone']) {
        const body = { name, rule: siteRule(5) };
        made[`rule ${name}`] = (await ask('POST', '/projects/Proj1/rules', body)).rule.id;
      }
    },
    later: async ({ ask }, made) => {
      await ask('PATCH', `/projects/Proj1/rules/${made['rule kept']}`, { name: 'changed', severity: 'critical' });
      await ask('DELETE', `/projects/Proj1/rules/${made['rule gone']}`);
      await ask('POST', '/projects/Proj1/rules', { name: 'added', rule: siteRule(9) });
    },
    seen: async ({ ask }) => (await ask('GET', '/projects/Proj1/rules')).rules,
    ...{ rebuilt: 'comes back', since: 'as in the copy', restored: 'as in the copy' },
  },
  {
    what: 'notes',
    tables: ['notes'],
    begin: async ({ ask, run }, made) => {
      const note = { date: '2026-03-01', category: 'launch' };
      for (const text of ['kept', 'gone']) {
        made[`note ${text}`] = (await ask('POST', '/projects/Proj1/notes', { ...note, text })).note.id;
      }
      await run('notes', 'add', '--workspace', 'acme', '--text', 'of all projects', '--date', '2026-03-01');
    },
    later: async ({ ask }, made) => {
      const changes = { text: 'changed', endDate: '2026-03-02', clientVisible: true };
      await ask('PATCH', `/projects/Proj1/notes/${made['note kept']}`, changes);
      await ask('DELETE', `/projects/Proj1/notes/${made['note gone']}`);
      await ask('POST', '/projects/Proj1/notes', { date: '2026-03-03', category: 'other', text: 'added' });
    },
    seen: async ({ read, run }) => [
      (await read('/projects/Proj1/notes?from=2026-03-01&to=2026-03-10')).notes,
      await run('notes', 'list', '--workspace', 'acme'),
    ],
    ...{ rebuilt: 'comes back', since: 'as in the copy', restored: 'as in the copy' },
  },
  {
    what: 'loaded alerts',
    tables: ['alerts'],
    begin: async ({ load }) => void (await load({ alerts: [alert('1'), alert('2')] })),
    later: async ({ load }) =>
      void (await load({ alerts: [alert('1', { resolved_at: '2026-03-04T00:00:00Z' }), alert('3')] })),
    seen: async ({ read }) =>
      (await read('/projects/Proj1/alerts?status=all')).alerts.filter(({ id }: Answer) => id.startsWith('0a1b2c3d')),
    ...{ rebuilt: 'comes back', since: 'as in the copy', restored: 'as in the copy' },
  },
  {
    what: 'dismissed findings',
    tables: ['dismissed_findings'],
    begin: async ({ catalog }, made) => {
      await dismiss(catalog, 'Proj1', finding('kept', 5));
      made['finding'] = (await dismiss(catalog, 'Proj1', finding('gone', 5))).id;
    },
    later: async ({ catalog }) => {
      const [gone] = (await listDismissedFindings(catalog, 'Proj1')).filter(({ row }) => row === 'gone');
      await dismiss(catalog, 'Proj1', finding('kept', 6));
      await catalog.transaction((tx) => restoreFinding(tx, gone!.id));
      await dismiss(catalog, 'Proj1', finding('added', 5));
    },
    seen: ({ catalog }) => listDismissedFindings(catalog, 'Proj1'),
    ...{ rebuilt: 'comes back', since: 'as in the copy', restored: 'as in the copy' },
  },
  {
    what: 'saved views',
    tables: ['saved_views'],
    begin: async ({ ask }, made) => {
      for (const name of ['kept', 'gone']) {
        made[`view ${name}`] = (await ask('POST', '/projects/Proj1/views', { name, address: '/queries' })).view.id;
      }
    },
    later: async ({ ask }, made) => {
      await ask('PATCH', `/projects/Proj1/views/${made['view kept']}`, { name: 'changed' });
      await ask('DELETE', `/projects/Proj1/views/${made['view gone']}`);
      await ask('POST', '/projects/Proj1/views', { name: 'added', address: '/pages' });
    },
    seen: async ({ ask }) => (await ask('GET', '/projects/Proj1/views')).views,
    ...{ rebuilt: 'comes back', since: 'as in the copy', restored: 'as in the copy' },
  },
  {
    what: 'tags of projects',
    tables: ['project_tags'],
    begin: async ({ ask }) => ask('PUT', '/projects/Proj1/tags', { tags: ['kept', 'gone'] }),
    later: async ({ ask }) => ask('PUT', '/projects/Proj1/tags', { tags: ['kept', 'added'] }),
    seen: async ({ ask }) => (await ask('GET', '/projects/Proj1/tags')).tags,
    ...{ rebuilt: 'comes back', since: 'as in the copy', restored: 'as in the copy' },
  },
  {
    what: 'favourites',
    tables: ['favourites'],
    begin: async ({ ask }) => {
      for (const id of ['Proj1', 'Kept1']) await ask('PUT', `/projects/${id}/favourite`);
    },
    later: async ({ ask }) => ask('DELETE', '/projects/Kept1/favourite'),
    seen: async ({ catalog }) => (await listFavourites(catalog, 'acme', 'owner@acme.example')).filter(isLasting),
    ...{ rebuilt: 'comes back', since: 'as in the copy', restored: 'as in the copy' },
  },
  {
    what: 'members',
    tables: ['members'],
    begin: async ({ run }) => {
      for (const name of ['kept', 'gone'])
        await run('members', 'add', '--workspace', 'acme', '--email', `${name}@acme.example`, '--role', 'member');
    },
    later: async ({ ask, run }) => {
      await ask('PATCH', '/members/kept@acme.example', { role: 'admin' });
      await ask('DELETE', '/members/gone@acme.example');
      await run('members', 'add', '--workspace', 'acme', '--email', 'added@acme.example', '--role', 'owner');
    },
    seen: async ({ run }) =>
      (await run('members', 'list', '--workspace', 'acme')).filter(({ email }: Answer) =>
        /^(?:kept|gone|added)@/.test(email),
      ),
    ...{ rebuilt: 'comes back', since: 'stays removed', restored: 'stays removed' },
    removed: (_then, now) => now.filter(({ email }: Answer) => !email.startsWith('added@')),
  },
  {
    what: 'invitations',
    tables: ['invitations'],
    begin: async ({ ask }, made) => {
      for (const name of ['kept', 'gone']) {
        const body = { email: `invited-${name}@acme.example`, role: 'member' };
        const { invitation, url } = await ask('POST', '/invitations', body);
        Object.assign(made, { [`invitation ${name}`]: invitation.id, [`invitation ${name} token`]: tokenOf(url) });
      }
    },
    later: async ({ ask }, made) => ask('DELETE', `/invitations/${made['invitation gone']}`),
    seen: async ({ ask, status }, made) => ({
      listed: (await ask('GET', '/invitations')).invitations,
      gone: await status('/app/session', bearer(made['invitation gone token']!), 'POST'),
      kept: await status('/app/session', bearer(made['invitation kept token']!), 'POST'),
    }),
    ...{ rebuilt: 'ended', since: 'ended', restored: 'ended' },
  },
  {
    what: 'sign-in links',
    tables: ['login_links'],
    begin: async ({ run }, made) => {
      const { url } = await run(
        'login',
        '--workspace',
        'acme',
        '--by',
        'owner@acme.example',
        '--url',
        'http://localhost',
      );
      made['link'] = tokenOf(url);
    },
    later: async ({ run, status }, made) => {
      const { url } = await run(
        'login',
        '--workspace',
        'acme',
        '--by',
        'owner@acme.example',
        '--url',
        'http://localhost',
      );
      made['later link'] = tokenOf(url);
      assert.equal(await status('/app/session', bearer(made['link']!), 'POST'), 200);
    },
    seen: async ({ status }, made) => [
      await status('/app/session', bearer(made['link']!), 'POST'),
      await status('/app/session', bearer(made['later link']!), 'POST'),
    ],
    ...{ rebuilt: 'ended', since: 'ended', restored: 'ended' },
  },
  {
    what: 'sessions',
    tables: ['sessions'],
    begin: async ({ run, app }, made) => {
      for (const name of ['kept', 'gone']) {
        const { url } = await run('login', '--workspace', 'acme', '--by', 'owner@acme.example', '--url', 'http://x');
        const headers = { ...bearer(tokenOf(url)), 'sec-fetch-site': 'same-origin', host: 'localhost' };
        const answer = await app.inject({ method: 'POST', url: '/app/session', headers });
        made[`session ${name}`] = String(answer.headers['set-cookie']).split(';')[0]!;
      }
    },
    later: async ({ app }, made) => {
      const headers = { cookie: made['session gone']!, 'sec-fetch-site': 'same-origin', host: 'localhost' };
      assert.equal((await app.inject({ method: 'DELETE', url: '/app/api/session', headers })).statusCode, 204);
    },
    seen: async ({ status }, made) => [
      await status('/app/api/session', { cookie: made['session kept']! }),
      await status('/app/api/session', { cookie: made['session gone']! }),
    ],
    ...{ rebuilt: 'ended', since: 'ended', restored: 'ended' },
  },
  {
    what: 'keys',
    tables: ['keys', 'key_projects'],
    begin: async ({ run }, made) => {
      for (const name of ['kept', 'gone', 'rotated']) {
        const limits = name === 'kept' ? ['--project', 'Proj1'] : [];
        const { id, key } = await run('keys', 'create', '--workspace', 'acme', '--name', name, ...limits);
        Object.assign(made, { [`key ${name}`]: id, [`key ${name} token`]: key });
      }
    },
    later: async ({ run, ask }, made) => {
      await ask('DELETE', `/keys/${made['key gone']}`);
      const { key, id } = await run('keys', 'rotate', made['key rotated']!, '--workspace', 'acme', '--overlap', '1h');
      Object.assign(made, { 'key new': id, 'key new token': key });
    },
    seen: async ({ run, status }, made) => {
      const names = ['kept', 'gone', 'rotated', 'new'];
      const listed = await run('keys', 'list', '--workspace', 'acme');
      const statuses: number[] = [];
      for (const name of names) statuses.push(await status('/api/v1/projects', bearer(made[`key ${name} token`]!)));
      return {
        statuses,
        listed: named<Answer>(listed, ...names.map((name) => made[`key ${name}`])).map((row) =>
          without(row, 'lastUsedAt'),
        ),
      };
    },
    ...{ rebuilt: 'comes back', since: 'stays removed', restored: 'stays removed' },
    removed: (_, now) => ({
      statuses: [...now.statuses.slice(0, 3), 401],
      listed: now.listed.slice(0, 3),
    }),
  },
  {
    what: 'feeds',
    tables: ['feeds'],
    begin: async ({ ask }, made) => {
      for (const name of ['kept', 'gone']) {
        const body = { keyId: made['key kept'], path: '/projects/Proj1/site.csv?from=2026-03-01&to=2026-03-02' };
        const { id, url } = await ask('POST', '/feeds', body);
        Object.assign(made, { [`feed ${name}`]: id, [`feed ${name} path`]: new URL(url).pathname });
      }
    },
    later: async ({ ask }, made) => ask('DELETE', `/feeds/${made['feed gone']}`),
    seen: async ({ ask, status }, made) => ({
      listed: named((await ask('GET', '/feeds')).feeds, made['feed kept'], made['feed gone']),
      statuses: [await status(made['feed kept path']!), await status(made['feed gone path']!)],
    }),
    ...{ rebuilt: 'comes back', since: 'comes back', restored: 'comes back' },
  },
  {
    what: 'shared links',
    tables: ['shares'],
    begin: async ({ ask }, made) => {
      for (const name of ['kept', 'gone']) {
        const { share, url } = await ask('POST', '/projects/Proj1/shares', { screens: ['overview'] });
        Object.assign(made, { [`share ${name}`]: share.id, [`share ${name} path`]: new URL(url).pathname });
      }
    },
    later: async ({ ask }, made) => ask('DELETE', `/projects/Proj1/shares/${made['share gone']}`),
    seen: async ({ ask, status }, made) => {
      const site = 'api/site?from=2026-03-01&to=2026-03-02';
      return {
        listed: named((await ask('GET', '/projects/Proj1/shares')).shares, made['share kept'], made['share gone']),
        statuses: [
          await status(`${made['share kept path']!}/${site}`),
          await status(`${made['share gone path']!}/${site}`),
        ],
      };
    },
    ...{ rebuilt: 'comes back', since: 'comes back', restored: 'comes back' },
  },
  {
    what: 'channels and their secrets',
    tables: ['channels'],
    begin: async ({ ask, catalog, receiver }, made) => {
      for (const name of ['kept', 'gone', 'silenced']) {
        const events = ['alert.opened', 'digest.weekly'];
        const { channel } = await ask('POST', '/channels', {
          kind: 'webhook',
          to: `${receiver}/${name}`,
          name,
          events,
        });
        made[`channel ${name}`] = channel.id;
      }
      const waiting = { ...digest(made, '2026-02-16'), channel: made['channel silenced']! };
      await announceDigest(catalog, waiting, digestBody('2026-02-16'), AT);
    },
    later: async ({ ask, catalog }, made) => {
      // As the link in a mail does.
      await disableChannel(catalog, made['channel silenced']!, 'unsubscribed', { by: 'recipient', at: AT });
      await ask('PATCH', `/channels/${made['channel kept']}`, { name: 'changed', minSeverity: 'critical' });
      await ask('DELETE', `/channels/${made['channel gone']}`);
    },
    seen: async ({ ask, rows }, made) => {
      const { channels } = await ask('GET', '/channels');
      const listed = named<Answer>(channels, made['channel kept'], made['channel gone']);
      const silenced = named<Answer>(channels, made['channel silenced']);
      const waiting = (await rows('deliveries')).filter((row) => row['channel_id'] === made['channel silenced']);
      // Sends to the address, signed by the secret.
      const tested = [];
      for (const { id } of listed) tested.push((await ask('POST', `/channels/${id}/test`)).delivery.state);
      return { listed, tested, silenced, waiting: waiting.map(({ state }) => state) };
    },
    ...{ rebuilt: 'comes back', since: 'stays removed', restored: 'stays removed' },
    removed: (then, { silenced, waiting }) => {
      return { listed: then.listed.slice(0, 1), tested: then.tested.slice(0, 1), silenced, waiting };
    },
  },
  {
    what: 'deliveries, sent or waiting',
    tables: ['deliveries'],
    begin: async ({ catalog }, made) => {
      await announceDigest(catalog, digest(made, '2026-02-23'), digestBody('2026-02-23'), AT);
    },
    later: async ({ catalog }, made) => {
      await announceDigest(catalog, digest(made, '2026-03-02'), digestBody('2026-03-02'), AT + 1);
    },
    seen: async ({ ask }, made) => {
      const { channels } = await ask('GET', '/channels');
      const [kept] = named<Answer>(channels, made['channel kept']);
      const { deliveries } =
        kept === undefined ? { deliveries: [] } : await ask('GET', `/channels/${kept.id}/deliveries`);
      return deliveries.filter(({ event }: Answer) => event === 'digest.weekly');
    },
    ...{ rebuilt: 'comes back', since: 'as in the copy', restored: 'as in the copy' },
  },
  {
    what: 'which effects digests have listed',
    tables: ['digest_verdicts'],
    begin: async () => {},
    later: async () => {},
    seen: async ({ catalog }, made) => [
      ...(await listedVerdicts(catalog, { channel: made['channel kept']!, event: 'digest.weekly' })),
    ],
    ...{ rebuilt: 'comes back', since: 'as in the copy', restored: 'as in the copy' },
  },
  {
    what: 'evaluated alerts',
    tables: ['evaluated_alerts', 'alert_evaluations'],
    begin: async ({ run }) => run('alerts', 'evaluate', '--project', 'Proj1'),
    later: async ({ run }) => run('alerts', 'evaluate', '--project', 'Proj1'),
    seen: async ({ catalog, read }) => [
      (await read('/projects/Proj1/alerts?status=all')).alerts.filter(({ type }: Answer) => type === 'rule'),
      (await findEvaluation(catalog, 'Proj1'))?.evaluatedThrough,
    ],
    ...{ rebuilt: 'comes back', since: 'as in the copy', restored: 'as in the copy' },
  },
  {
    what: 'connected accounts of Google',
    tables: ['grants'],
    begin: async ({ connect }, made) => {
      made['grant kept'] = await connect();
      made['grant gone'] = await connect();
    },
    later: async ({ ask, connect }, made) => {
      await ask('DELETE', `/connect/google/${made['grant gone']}`);
      made['grant added'] = await connect();
    },
    seen: async ({ ask }, made) => {
      const { grants } = await ask('GET', '/connect');
      return named<Answer>(grants, made['grant kept'], made['grant gone'], made['grant added']).map((grant) =>
        without(grant, 'projects'),
      );
    },
    ...{ rebuilt: 'comes back', since: 'stays removed', restored: 'stays removed' },
    removed: (then) => then.slice(0, 1),
  },
  {
    what: 'connections of projects',
    tables: ['connections'],
    begin: async ({ ask }, made) => {
      const body = { property: PROPERTY, project: 'Kept1', archive: 'none' };
      await ask('POST', `/connect/google/${made['grant kept']}/projects`, body);
      await ask('PUT', '/projects/Kept1/bing', { apiKey: BING_KEY });
    },
    later: async ({ ask }, made) => {
      await ask('DELETE', '/projects/Kept1/bing');
      const body = { property: PROPERTY, project: 'Proj1' };
      await ask('POST', `/connect/google/${made['grant kept']}/projects`, body);
    },
    seen: async ({ run }) => (await run('connections', 'list')).filter(({ project }: Answer) => isLasting(project)),
    ...{ rebuilt: 'comes back', since: 'stays removed', restored: 'stays removed' },
    removed: (then) => then.filter(({ kind }: Answer) => kind !== 'bing'),
  },
  {
    what: 'attempts to connect an account',
    tables: ['connect_attempts'],
    begin: async ({ ask }) => ask('POST', '/connect/google'),
    later: async ({ ask }) => ask('POST', '/connect/google'),
    seen: ({ rows }) => rows('connect_attempts'),
    ...{ rebuilt: 'ended', since: 'ended', restored: 'ended' },
  },
  {
    what: 'days and keywords that the sync has fetched',
    tables: ['sync_projects', 'sync_days', 'sync_keywords'],
    begin: ({ sync }) => sync('Kept1'),
    later: async ({ catalog }) => {
      await putSyncDays(catalog, 'Kept1', [syncDay('site_daily', '2026-03-09', { rows: 7 })]);
      await putSyncKeywords(catalog, 'Kept1', [{ id: 'Kw009', query: 'added', from: '2026-03-01', to: '2026-03-09' }]);
    },
    seen: async ({ catalog }) => [
      await listSyncDays(catalog, 'Kept1'),
      await listFetchedKeywords(catalog, 'Kept1'),
      await readSyncProject(catalog, 'Kept1'),
    ],
    ...{ rebuilt: 'comes back', since: 'as in the copy', restored: 'as in the copy' },
  },
  {
    what: 'pauses after a refusal of a provider',
    tables: ['provider_pauses'],
    begin: async ({ catalog }) => pause(catalog, 1),
    later: async ({ catalog }) => pause(catalog, 2),
    seen: ({ catalog }) => findPause(catalog, 'search-console', PROPERTY),
    ...{ rebuilt: 'comes back', since: 'as in the copy', restored: 'as in the copy' },
  },
  {
    what: 'index states of pages',
    tables: ['inspection_projects', 'inspected_pages', 'inspection_changes'],
    begin: async ({ catalog }) => inspect(catalog, 'Kept1', AT, inspected('/kept', 'PASS', AT)),
    later: async ({ catalog }) =>
      inspect(catalog, 'Kept1', AT + 1, inspected('/kept', 'NEUTRAL', AT + 1), inspected('/added', 'PASS', AT + 1)),
    seen: async ({ catalog, rows }) => [
      await Array.fromAsync(eachInspectedPage(catalog, 'Kept1')),
      (await rows('inspection_changes')).filter(({ project_id: project }) => isLasting(project)),
      await readInspectionSchedule(catalog, 'Kept1', PROPERTY),
    ],
    ...{ rebuilt: 'comes back', since: 'as in the copy', restored: 'as in the copy' },
  },
  {
    what: 'sitemaps',
    tables: ['sitemaps'],
    begin: async ({ catalog }) => putSitemaps(catalog, 'Kept1', PROPERTY, { ...SITEMAPS, reason: 'first' }),
    later: async ({ catalog }) => putSitemaps(catalog, 'Kept1', PROPERTY, { ...SITEMAPS, reason: 'second' }),
    seen: ({ catalog }) => readSitemaps(catalog, 'Kept1', PROPERTY),
    ...{ rebuilt: 'comes back', since: 'as in the copy', restored: 'as in the copy' },
  },
  {
    what: 'days of the crawler of Bing',
    tables: ['crawl_days'],
    begin: async ({ catalog }) => crawled(catalog, 'Kept1', '2026-03-01', 1),
    later: async ({ catalog }) => crawled(catalog, 'Kept1', '2026-03-02', 2),
    seen: ({ catalog }) => readCrawlDays(catalog, { project: 'Kept1', property: PROPERTY }),
    ...{ rebuilt: 'comes back', since: 'as in the copy', restored: 'as in the copy' },
  },
  {
    what: 'ranking updates of the search engine',
    tables: ['ranking_updates', 'ranking_feed'],
    begin: async ({ catalog }) => void (await storeRankingFeed(catalog, [ranking('first')], '2026-03-13')),
    later: async ({ catalog }) =>
      void (await storeRankingFeed(catalog, [ranking('first'), ranking('second')], '2026-03-14')),
    seen: ({ catalog }) => readRankingRecord(catalog),
    ...{ rebuilt: 'comes back', since: 'as in the copy', restored: 'as in the copy' },
  },
  {
    what: 'stored lists of pages and queries',
    tables: ['lists', 'list_totals', 'retired_lists'],
    begin: ({ read }) => read('/projects/Kept1/pages?from=2026-03-01&to=2026-03-02'),
    later: ({ read }) => read('/projects/Kept1/queries?from=2026-03-01&to=2026-03-02'),
    seen: async ({ run }) => (await run('lists', 'status')).kept.map((list: Answer) => without(list, 'hits')),
    ...{ rebuilt: 'lost', since: 'lost', restored: 'lost' },
  },
  {
    what: 'forms that were sent within a day',
    tables: ['submissions'],
    begin: async (making) => void (await submitted(making, FORMS[0], 'first')),
    later: async (making) => void (await submitted(making, FORMS[1], 'first')),
    seen: async (scene) => [await submitted(scene, FORMS[0], 'again'), await submitted(scene, FORMS[1], 'again')],
    ...{ rebuilt: 'comes back', since: 'as in the copy', restored: 'as in the copy' },
  },
  {
    what: 'audit trail',
    tables: ['audit'],
    begin: async () => {},
    later: async () => {},
    seen: async ({ run }) => run('audit', 'list', '--action', 'project.tagged'),
    ...{ rebuilt: 'comes back', since: 'as in the copy', restored: 'as in the copy' },
  },
  {
    what: 'facts, and which tables were loaded',
    tables: ['fact_files', 'loaded_tables'],
    begin: async ({ load }) => {
      const rows = [
        ['2026-03-02', 'mobile', 5, 100, 900],
        ['2026-03-03', 'mobile', 6, 100, 900],
      ] as const;
      await load({ site_daily: facts('date device', ...rows), country_daily: [] });
    },
    later: async ({ load }) => {
      await load({ site_daily: facts('date device', ['2026-03-03', 'mobile', 7, 100, 900]) });
      await load({ query_daily: facts('date query country', ['2026-03-03', 'shoes', 'usa', 7, 100, 900]) });
    },
    seen: async ({ read, catalog, rows }) => [
      await read('/projects/Proj1/site?from=2026-03-01&to=2026-03-10'),
      // In no order of its own.
      (await listLoadedTables(catalog))
        .filter(({ project }) => isLasting(project))
        .map(({ project, table }) => `${project} ${table}`)
        .sort(),
      (await rows('fact_files'))
        .filter(({ project_id: project }) => project === 'Proj1')
        .map((row) => without(row, 'revision')),
    ],
    ...{ rebuilt: 'comes back', since: 'comes back', restored: 'as in the copy' },
  },
  {
    what: 'which days came from a bulk export',
    tables: ['bulk_export_days'],
    begin: (making) => exported(making, '2026-03-01'),
    later: (making) => exported(making, '2026-03-05'),
    seen: async ({ catalog }) => [...(await readBulkExportDays(catalog, 'Proj1'))],
    ...{ rebuilt: 'comes back', since: 'comes back', restored: 'as in the copy' },
  },
  {
    what: 'the last backup, for metrics',
    tables: ['last_backup'],
    begin: async ({ catalog }) => putLastBackup(catalog, { ...BACKUP, target: 'first' }),
    later: async ({ catalog }) => putLastBackup(catalog, { ...BACKUP, target: 'second' }),
    seen: ({ catalog }) => readLastBackup(catalog),
    ...{ rebuilt: 'comes back', since: 'as in the copy', restored: 'as in the copy' },
  },
];

/** Tables that keep the books of others, and what they are after a loss. */
export const BOOKS: Readonly<Record<string, string>> = {
  publication: 'as it was last, above all that was before',
  revision: 'above all that were served before, or begun anew where nothing was',
  edits: 'as in the copy: only a load that runs compares it',
  removed_parts: 'begun anew: clients that follow the snapshot get all files once',
  retired_files: 'as in the copy, with those that were replaced since',
  store_identity: 'as in the copy; made anew by a restore',
  sqlite_sequence: "SQLite's own",
};

/** The nouns by what is true of them, for the page about a lost catalog. */
export function nounsMarkdown(): string {
  const groups = [...Map.groupBy(NOUNS, ({ rebuilt, since, restored }) => `${rebuilt} | ${since} | ${restored}`)];
  const rows = groups.map(([outcome, nouns]) => `| ${nouns.map(({ what }) => what).join('; ')} | ${outcome} |`);
  return `| what | what the last copy has | what was changed after it | \`restore\` |\n| --- | --- | --- | --- |\n${rows.join('\n')}`;
}

const digest = (made: Made, subject: string) =>
  ({ channel: made['channel kept']!, event: 'digest.weekly', subject }) as const;
const digestBody = (subject: string): Answer => ({
  ...{ type: 'digest.weekly', timestamp: '2026-03-15T12:00:00.000Z' },
  data: {
    workspace: { id: 'acme', name: 'Acme' },
    ...{ period: 'week', link: null },
    projects: [{ verdicts: [{ note: { id: `note of ${subject}` } }] }],
  },
});

/** Gives a project one of all that an older catalog is asked for: it must not come back without its project. */
async function furnish({ ask, run, catalog, receiver }: Making, project: string): Promise<void> {
  await ask('PUT', `/projects/${project}/tags`, { tags: ['gone'] });
  await ask('PUT', `/projects/${project}/favourite`);
  await ask('POST', `/projects/${project}/views`, { name: 'gone', address: '/queries' });
  await ask('POST', `/projects/${project}/shares`, { screens: ['overview'] });
  await ask('PUT', `/projects/${project}/bing`, { apiKey: BING_KEY });
  const { id: keyId } = await run(
    'keys',
    'create',
    '--workspace',
    'acme',
    '--name',
    'of a project',
    '--project',
    project,
  );
  await ask('POST', '/feeds', { keyId, path: `/projects/${project}/site.csv?from=2026-03-01&to=2026-03-02` });
  const events = ['digest.weekly'];
  const { channel } = await ask('POST', '/channels', { kind: 'webhook', to: `${receiver}/of`, project, events });
  await announceDigest(catalog, digest({ 'channel kept': channel.id }, '2026-02-23'), digestBody('2026-02-23'), AT);
  await dismiss(catalog, project, finding('gone', 5));
  await inspect(catalog, project, AT, inspected('/gone', 'PASS', AT));
  await crawled(catalog, project, '2026-03-01', 1);
  const opened = { ...{ type: 'rule', subject: '', basis: '', kind: 'Rule', severity: 'info', title: '', body: '' } };
  const alerts = { id: '0a1b2c3d-0000-4000-8000-00000000000a', date: '2026-03-02', keywordId: null, url: null };
  await putEvaluatedAlert(catalog, project, { ...opened, ...alerts, createdAt: AT, resolvedAt: null } as Answer);
  await run('alerts', 'evaluate', '--project', project);
}

/** What Bing takes for a key. */
export const BING_KEY = 'first-key-of-the-tests-0123456789';
const SITEMAPS = { sitemaps: null, fetchedAt: AT, dueAt: AT };
const BACKUP = { startedAt: AT, finishedAt: AT, files: 1, bytes: 1, copiedBytes: 1 };
const FORMS = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'] as const;

const pause = (catalog: OpenCatalog, until: number): Promise<void> =>
  changePause(catalog, 'search-console', PROPERTY, () => ({ until, reason: 'rate-limit', loadRefusedOn: null }));
const inspect = (
  catalog: OpenCatalog,
  id: string,
  dueAt: number,
  ...pages: ReturnType<typeof inspected>[]
): Promise<void> => putInspections(catalog, { id, property: PROPERTY }, pages, { dueAt, reason: null });
const crawled = (catalog: OpenCatalog, project: string, date: Day, pages: number): Promise<void> => {
  const day = { date, crawled: pages } as Answer;
  return storeCrawlDays(catalog, { project, property: PROPERTY }, [day], { keptFrom: null, now: AT });
};
const ranking = (id: string) => ({
  ...{ id, title: id, from: '2026-03-01' as Day, to: null, source: `https://status.example/${id}` },
});

/** Records that the days of a table until one came from a bulk export. */
async function exported({ settings, catalog }: Making, to: Day): Promise<void> {
  const days = { project: 'Proj1', table: 'query_daily' as const, ranges: [{ from: '2026-03-01' as Day, to }] };
  await changeFacts({ settings, catalog }, { projects: ['Proj1'] }, (change) =>
    publishFiles({ catalog, ...change }, { changes: [], bulkExportDays: [days] }, async ({ tx, record }) => {
      await recordOwners(tx, record, ['Proj1']);
    }),
  );
}
