import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { ensureDashboard } from '../../cli/dashboard.ts';
import { addDays, dayOf, eachDay } from '../../server/domain/dates.ts';
import { hoursOf } from '../../server/domain/hours.ts';
import { facts, keyword, makeWorld, PROJECT, type Row, type Tables, WORKSPACE, type World } from '../world.ts';

/** Whatever is shown of a snapshot has it: as markup it would run, and show itself by a dialog or an element. */
export const ATTACK = `<img src=x onerror="alert(1)"><script>alert(2)</script>"'{{7*7}}`;

/** The dashboard shows days before now by the browser's clock, so the data of this world ends today. */
const TODAY = dayOf(Date.now());
const DAYS = eachDay(addDays(TODAY, -120), addDays(TODAY, -1));
const LAST = DAYS.at(-1)!;

function project(id: string, domain: string, more: Row = {}): Row {
  return {
    ...PROJECT,
    id,
    domain,
    last_synced_at: new Date(Date.now() - 3 * 3_600_000).toISOString(),
    synced_through: LAST,
    provisional_after: DAYS.at(-3),
    ...more,
  };
}

const wave = (index: number): number => Math.round(400 + 120 * Math.sin(index / 4) + index);

function tables(): Tables {
  const note = {
    project_id: 'Proj1',
    workspace_id: 'acme',
    client_visible: true,
    author: ATTACK,
    created_at: `${LAST}T00:00:00Z`,
    updated_at: `${LAST}T00:00:00Z`,
  };
  return {
    workspaces: [{ ...WORKSPACE, name: `Acme ${ATTACK}` }],
    projects: [
      project('Proj1', 'shop.example', { sync_status: 'ok' }),
      project('Empty', 'empty.example', {
        synced_through: null,
        last_synced_at: null,
        provisional_after: null,
        sync_status: 'ok',
      }),
      project('Sync1', 'syncing.example', {
        synced_through: null,
        last_synced_at: null,
        provisional_after: null,
        sync_status: 'pending',
        history_backfilling: true,
      }),
      project('Fail1', 'failing.example', { sync_status: 'failed' }),
      project('Evil1', `${ATTACK}.example`, { sync_status: 'warning' }),
    ],
    keywords: [keyword('Kw001', 'walking boots'), keyword('Kw002', ATTACK)],
    groups: [
      {
        id: 'Grp01',
        project_id: 'Proj1',
        name: ATTACK,
        kind: 'folder',
        parent_id: null,
        position: 0,
        pinned: false,
        rule: null,
      },
      {
        id: 'Grp02',
        project_id: 'Proj1',
        name: 'Boots',
        kind: 'manual',
        parent_id: 'Grp01',
        position: 1,
        pinned: false,
        rule: null,
      },
    ],
    group_members: [{ project_id: 'Proj1', group_id: 'Grp02', keyword_id: 'Kw002' }],
    site_daily: facts(
      'date device',
      ...DAYS.map((day, index) => [day, 'mobile', Math.round(wave(index) / 8), wave(index), 5 * wave(index)]),
    ),
    site_hourly: facts(
      'date hour',
      ...DAYS.slice(-12).flatMap((day) =>
        hoursOf(day).map((start, hour) => [day, new Date(start).toISOString(), 5 + (hour % 9), 60 + hour, 200]),
      ),
    ),
    site_daily_image: facts(
      'date device',
      ...DAYS.map((day, index) => [day, 'mobile', 20 + (index % 5), 900 + index, 9000]),
    ),
    country_daily_image: facts('date country', ...DAYS.map((day) => [day, 'gbr', 20, 900, 9000])),
    site_daily_discover: facts('date device', ...DAYS.map((day, index) => [day, 'unknown', 30 + (index % 3), 800, 0])),
    site_daily_bing: facts('date device', ...DAYS.map((day, index) => [day, 'unknown', 2 + (index % 2), 40, 0])),
    page_weekly_bing: facts(
      'url week_end',
      ...DAYS.filter((_, index) => index % 7 === 0).map((day) => ['https://shop.example/boots', day, 9, 100, 300]),
    ),
    query_weekly_bing: facts(
      'query week_end',
      ...DAYS.filter((_, index) => index % 7 === 0).map((day) => ['bing boots', day, 9, 100, 300]),
    ),
    keyword_daily: facts(
      'keyword_id date device',
      ...DAYS.flatMap((day, index) => ['Kw001', 'Kw002'].map((id) => [id, day, 'mobile', 3, 50, 100 + index])),
    ),
    keyword_page_daily: facts('keyword_id date url', [
      'Kw001',
      LAST,
      `https://shop.example/?q=${encodeURIComponent(ATTACK)}`,
      1,
      5,
      5,
    ]),
    country_daily: facts('date country', ...DAYS.map((day) => [day, 'gbr', 20, 200, 900])),
    appearance_daily: facts('date appearance', ...DAYS.map((day) => [day, 'PRODUCT_SNIPPETS', 10, 90, 300])),
    brand_daily: facts(
      'date segment',
      ...DAYS.flatMap((day) => [
        [day, 'brand', 8, 60, 10],
        [day, 'non_brand', 20, 200, 900],
      ]),
    ),
    query_daily: facts(
      'query date country',
      ...DAYS.flatMap((day) => [
        ['walking boots', day, 'gbr', 5, 60, 200],
        [ATTACK, day, 'gbr', 4, 40, 120],
        [`=1+1;${ATTACK.toLowerCase()}`, day, 'gbr', 1, 10, 20],
      ]),
    ),
    page_daily: facts(
      'url date country',
      ...DAYS.flatMap((day) => [
        ['https://shop.example/boots', day, 'gbr', 6, 70, 210],
        [`https://shop.example/${ATTACK.replaceAll(' ', '')}`, day, 'gbr', 3, 30, 90],
      ]),
    ),
    alerts: [
      {
        id: '00000000-0000-4000-8000-000000000001',
        project_id: 'Proj1',
        type: 'keyword_drop',
        kind: ATTACK,
        severity: 'warning',
        title: `Fell: ${ATTACK}`,
        body: `Body ${ATTACK}`,
        date: DAYS.at(-10),
        keyword_id: 'Kw002',
        url: 'javascript:alert(3)',
        created_at: `${DAYS.at(-9)}T00:00:00Z`,
        resolved_at: null,
      },
    ],
    notes: [
      {
        ...note,
        id: '00000000-0000-4000-8000-000000000011',
        scope: 'project',
        date: DAYS.at(-12),
        end_date: null,
        category: 'content',
        text: ATTACK,
      },
      {
        ...note,
        id: '00000000-0000-4000-8000-000000000012',
        scope: 'page',
        date: DAYS.at(-20),
        end_date: DAYS.at(-15),
        category: 'technical',
        text: `Moved ${ATTACK}`,
        page: `javascript:alert(4)//${ATTACK}`,
      },
    ],
  };
}

/** A server that listens on this machine, with a project in each state that screens must show. */
export async function startDashboard(t: Test): Promise<World & { readonly origin: string }> {
  await ensureDashboard();
  const world = await makeWorld(t, tables(), { now: Date.now });
  await world.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = world.app.server.address() as AddressInfo;
  return { ...world, origin: `http://127.0.0.1:${port}` };
}
