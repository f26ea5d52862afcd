// Exports and API pulls of Search Console are imported exactly, or rejected by name with nothing stored.
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { zipSync } from 'fflate';
import t, { type Test } from 'tap';
import { putSyncDays } from '../../server/catalog/sync-days.ts';
import { command } from '../command.ts';
import { type Answer, facts, keyword, type LazyWorld, makeLazyWorld, type Row, temporaryFolder } from '../world.ts';

const encoded = (text: string): Buffer => Buffer.from(text);

/** Files of an export; their texts stand as the search engine writes them. */
type Files = Readonly<Record<string, string>>;

function folderWith(t: Test, files: Readonly<Record<string, string | Buffer>>): string {
  const folder = temporaryFolder(t);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

function zipOf(files: Files): Buffer {
  return Buffer.from(zipSync(Object.fromEntries(Object.entries(files).map(([file, text]) => [file, encoded(text)]))));
}

function zipWith(t: Test, name: string, files: Files): string {
  const path = join(temporaryFolder(t), name);
  writeFileSync(path, zipOf(files));
  return path;
}

/** Bytes of zip files: entries of the directory at its end begin with these, the end of the directory with others. */
const [ENTRY, END] = ['PK\x01\x02', 'PK\x05\x06'];

/** Changes a number of each entry in the directory of an archive. @param at 16: checksum; 24: size when unpacked; 42: where its data is */
function changeEntries(zip: Buffer, at: 16 | 24 | 42, change: (value: number) => number): Buffer {
  for (let entry = zip.indexOf(ENTRY); entry !== -1; entry = zip.indexOf(ENTRY, entry + 1))
    zip.writeUInt32LE(change(zip.readUInt32LE(entry + at)) >>> 0, entry + at);
  return zip;
}

interface Imported {
  readonly code: number | null;
  readonly stderr: string;
  // biome-ignore lint/suspicious/noExplicitAny: summaries are matched
  readonly summary: any;
}

const PROPERTY = 'sc-domain:shop.example';

async function imported(world: LazyWorld, paths: readonly string[], ...options: readonly string[]): Promise<Imported> {
  const words = ['search-console', ...paths, '--workspace', 'acme', '--property', PROPERTY, '--json', ...options];
  const { code, stdout, stderr } = await command({ ORDINATE_DATA: world.dataFolder }, 'import', ...words);
  return { code, stderr, summary: stdout === '' ? undefined : JSON.parse(stdout) };
}

/** Five tables of three days, in English. */
const ENGLISH: Files = {
  'Chart.csv':
    'Date,Clicks,Impressions,CTR,Position\n2026-03-01,10,100,10%,5.4\n2026-03-02,0,0,0%,0\n2026-03-03,"1,200",24000,5%,12.25\n',
  'Queries.csv': 'Top queries,Clicks,Impressions,CTR,Position\n"shoes, red",7,70,10%,3.5\nboots,3,30,10%,1\n',
  'Pages.csv':
    'Top pages,Clicks,Impressions,CTR,Position\nhttps://shop.example/a,9,90,10%,4\nhttps://m.shop.example/b,1,10,10%,2\n',
  'Countries.csv': 'Country,Clicks,Impressions,CTR,Position\nUnited States,6,60,10%,4\nTürkiye,4,40,10%,4\n',
  'Devices.csv': 'Device,Clicks,Impressions,CTR,Position\nMobile,6,60,10%,4\nDesktop,4,40,10%,4\n',
  'Search appearance.csv': 'Search Appearance,Clicks,Impressions,CTR,Position\n',
  'Filters.csv': 'Filter,Value\nSearch type,Web\nDate,Last 7 days\n',
};

/** The same in other languages, with their separators and numbers. */
const LANGUAGES: Readonly<Record<string, Files>> = {
  English: ENGLISH,
  German: {
    'Diagramm.csv':
      'Datum;Klicks;Impressionen;CTR;Position\n2026-03-01;10;100;10 %;5,4\n2026-03-02;0;0;0 %;0\n2026-03-03;1.200;24.000;5 %;12,25\n',
    'Suchanfragen.csv':
      'Häufigste Suchanfragen;Klicks;Impressionen;CTR;Position\nshoes, red;7;70;10 %;3,5\nboots;3;30;10 %;1\n',
    'Seiten.csv':
      'Die häufigsten Seiten;Klicks;Impressionen;CTR;Position\nhttps://shop.example/a;9;90;10 %;4\nhttps://m.shop.example/b;1;10;10 %;2\n',
    'Länder.csv': 'Land;Klicks;Impressionen;CTR;Position\nVereinigte Staaten;6;60;10 %;4\n',
    'Geräte.csv': 'Gerät;Klicks;Impressionen;CTR;Position\nMobil;6;60;10 %;4\n',
    'Darstellung in der Suche.csv': 'Darstellung in der Suche;Klicks;Impressionen;CTR;Position\n',
    'Filter.csv': 'Filter;Wert\nSuchtyp;Web\nDatum;Letzte 7 Tage\n',
  },
  French: {
    'Graphique.csv':
      '\uFEFFDate,Clics,Impressions,CTR,Position\r\n2026-03-01,10,100,"10 %","5,4"\r\n2026-03-02,0,0,"0 %",0\r\n2026-03-03,"1\u202f200","24\u00a0000","5 %","12,25"\r\n',
    'Requêtes.csv':
      'Requêtes les plus fréquentes,Clics,Impressions,CTR,Position\n"shoes, red",7,70,"10 %","3,5"\nboots,3,30,"10 %",1\n',
    'Pages.csv':
      'Pages les plus populaires,Clics,Impressions,CTR,Position\nhttps://shop.example/a,9,90,"10 %",4\nhttps://m.shop.example/b,1,10,"10 %",2\n',
    'Pays.csv': 'Pays,Clics,Impressions,CTR,Position\nÉtats-Unis,6,60,"10 %",4\n',
    'Appareils.csv': 'Appareil,Clics,Impressions,CTR,Position\nMobile,6,60,"10 %",4\n',
    'Apparence dans les résultats de recherche.csv':
      'Apparence dans les résultats de recherche,Clics,Impressions,CTR,Position\n',
    'Filtres.csv': 'Filtre,Valeur\nType de recherche,Web\nDate,7 derniers jours\n',
  },
  Spanish: {
    'Gráfico.csv':
      'Fecha;Clics;Impresiones;CTR;Posición\n2026-03-01;10;100;10 %;5,4\n2026-03-02;0;0;0 %;0\n2026-03-03;1200;24000;5 %;12,25\n',
    'Consultas.csv':
      'Consultas principales;Clics;Impresiones;CTR;Posición\nshoes, red;7;70;10 %;3,5\nboots;3;30;10 %;1\n',
    'Páginas.csv':
      'Páginas principales;Clics;Impresiones;CTR;Posición\nhttps://shop.example/a;9;90;10 %;4\nhttps://m.shop.example/b;1;10;10 %;2\n',
    'Países.csv': 'País;Clics;Impresiones;CTR;Posición\nEstados Unidos;6;60;10 %;4\n',
    'Dispositivos.csv': 'Dispositivo;Clics;Impresiones;CTR;Posición\nMóvil;6;60;10 %;4\n',
    'Apariencia en búsquedas.csv':
      'Apariencia en búsquedas;Clics;Impresiones;CTR;Posición\nFragmentos de productos;1;10;10 %;5,4\n',
    'Filtros.csv': 'Filtro;Valor\nTipo de búsqueda;Web\nFecha;Últimos 7 días\n',
  },
  'a language that nobody told': {
    'a.csv': 'Pvm,Klik,Näyt,%,Sij\n2026-03-01,10,100,10%,5.4\n2026-03-02,0,0,0%,0\n2026-03-03,1200,24000,5%,12.25\n',
    'Queries.csv': 'Haut,Klik,Näyt,%,Sij\n"shoes, red",7,70,10%,3.5\nboots,3,30,10%,1\n',
    'b.csv': 'Sivut,Klik,Näyt,%,Sij\nhttps://shop.example/a,9,90,10%,4\nhttps://m.shop.example/b,1,10,10%,2\n',
  },
};

const RANGE = 'from=2026-03-01&to=2026-03-03';
const DAYS = ['2026-03-01', '2026-03-02', '2026-03-03'];

for (const [language, files] of Object.entries(LANGUAGES)) {
  t.test(`an export of the user interface in ${language}`, async (t) => {
    const world = await makeLazyWorld(t, { projects: [] });
    const zip = zipWith(t, 'shop.example-Performance-on-Search-2026-03-05.zip', files);
    const { code, stderr, summary } = await imported(world, [language === 'German' ? folderWith(t, files) : zip]);
    t.match({ code, stderr }, { code: 0, stderr: '' });
    t.match(summary.tables, { site_daily: { rows: 3 }, query_period: { rows: 2 }, page_period: { rows: 2 } });
    t.strictSame(Object.keys(summary.tables).sort(), ['page_period', 'projects', 'query_period', 'site_daily']);
    const { id } = summary.project;
    const ask = async (path: string) => world.get(`/projects/${id}/${path}`);
    t.match((await ask(`site?${RANGE}`)).body, {
      range: { provisionalAfter: '2026-02-28' },
      totals: { clicks: 1210, impressions: 24_100 },
      daily: [
        { date: '2026-03-01', clicks: 10, impressions: 100, position: 5.4 },
        { date: '2026-03-02', clicks: 0, impressions: 0, position: null },
        { date: '2026-03-03', clicks: 1200, impressions: 24_000, position: 12.3 },
      ],
    });
    t.match((await ask(`queries?${RANGE}`)).body, {
      source: { kind: 'gsc' },
      queries: [
        { query: 'shoes, red', clicks: 7, impressions: 70, position: 3.5 },
        { query: 'boots', clicks: 3, impressions: 30, position: 1 },
      ],
    });
    t.match((await ask(`pages?${RANGE}`)).body, {
      pages: [{ url: 'https://shop.example/a' }, { url: 'https://m.shop.example/b' }],
    });

    // Nothing is claimed that the files do not say.
    t.equal((await ask('queries?from=2026-03-01&to=2026-03-02')).status, 400);
    t.equal((await ask(`site?${RANGE}&device=mobile`)).status, 400);
    t.equal((await ask(`site?${RANGE}&country=usa`)).status, 400);
    t.match((await ask(`breakdowns?${RANGE}`)).body, { countries: [], devices: [], appearances: [], brand: null });
  });
}

t.test('a header alone says what rows are, also with accents as some editors write them', async (t) => {
  const world = await makeLazyWorld(t, { projects: [] });
  for (const [header, dimension] of [
    ['Requêtes les plus fréquentes', 'query'],
    ['Häufigste Suchanfragen', 'query'],
    ['Apparence dans les résultats de recherche', 'appearance'],
  ] as const) {
    for (const form of ['NFC', 'NFD']) {
      const rows = `${header.normalize(form)},Clicks,Impressions,CTR,Position\nx,1,10,10%,1\n`;
      const { summary } = await imported(world, [folderWith(t, { 'a.csv': rows })], '--dry-run');
      t.match(summary, { files: [{ dimensions: [dimension] }] }, `${header} ${form}`);
    }
  }
});

t.test('a dry run says what is there, how it fits and what cannot be known', async (t) => {
  const world = await makeLazyWorld(t, { projects: [] });
  const folder = folderWith(t, ENGLISH);
  const { summary } = await imported(world, [folder], '--dry-run');
  t.match(summary, { loaded: false, project: { property: PROPERTY, created: true } });
  const files = Object.fromEntries((summary.files as { file: string }[]).map((file) => [file.file, file]));
  t.match(files, {
    'Chart.csv': {
      dimensions: ['date'],
      rows: 3,
      from: '2026-03-01',
      to: '2026-03-03',
      storedAs: ['site_daily'],
      remarks: [/devices of these days are not known/],
    },
    'Queries.csv': {
      dimensions: ['query'],
      storedAs: ['query_period'],
      from: '2026-03-01',
      to: '2026-03-03',
      remarks: [/single days are not known.*exactly 2026-03-01 to 2026-03-03/],
    },
    'Countries.csv': {
      dimensions: ['country'],
      rows: 2,
      storedAs: [],
      remarks: [/totals of a range without its days/],
    },
    'Devices.csv': { storedAs: [], remarks: [/not stored/] },
    'Filters.csv': { dimensions: [], remarks: [/filters/] },
  });
  t.strictSame((await world.get('/projects')).body.projects, [], 'nothing was stored');

  const words = ['--workspace', 'acme', '--property', PROPERTY, '--dry-run'];
  const { stdout } = await command({ ORDINATE_DATA: world.dataFolder }, 'import', 'search-console', folder, ...words);
  t.match(stdout, /^Queries\.csv +query +2 +2026-03-01 +2026-03-03 +query_period$/m);
  t.match(stdout, /^Countries\.csv: not stored: totals of a range without its days\.$/m);
  t.match(stdout, /would be created/);

  const nowhere = join(temporaryFolder(t), 'data');
  t.match(await command({ ORDINATE_DATA: nowhere }, 'import', 'search-console', folder, ...words), {
    code: 1,
    stderr: /There is no workspace 'acme'/,
  });
});

/** A chart of the user interface. Each row is a day and what is after it. */
const chart = (header: string, ...rows: readonly string[]): string =>
  `${header},Clicks,Impressions,CTR,Position\n${rows.map((row) => `${row}\n`).join('')}`;
const WEEKS = ['2026-02-01', '2026-02-08', '2026-02-15', '2026-02-22'].map((day) => `${day},70,700,10%,5.4`);
const MONTHS = ['2025-12-01', '2026-01-01', '2026-02-01'].map((day) => `${day},70,700,10%,5.4`);

t.test('charts by week and month are not taken for days', async (t) => {
  const world = await makeLazyWorld(t, { projects: [] });
  const queries = ENGLISH['Queries.csv']!;
  const charts: readonly (readonly [string, RegExp])[] = [
    [chart('Week', ...WEEKS), /its rows are weeks/],
    [chart('Date', ...WEEKS), /its rows are weeks/],
    [chart('Näyttö', ...WEEKS), /its rows are weeks/],
    [chart('Date', '2026-01-28,1,10,10%,1', ...WEEKS.slice(0, 3)), /its rows are weeks/],
    [chart('Monat', ...MONTHS), /its rows are months/],
    [chart('Date', ...MONTHS), /its rows are months/],
    [chart('Week', WEEKS[0]!), /its rows are weeks/],
    [chart('Month', '2026-02,70,700,10%,5.4'), /its rows are months/],
  ];
  for (const [text, reason] of charts) {
    const folder = folderWith(t, { 'Chart.csv': text, 'Queries.csv': queries });
    const name = text.slice(0, 20);
    const { code, stderr } = await imported(world, [folder]);
    t.equal(code, 1, name);
    t.match(stderr, reason, name);
    t.match(
      stderr,
      /Queries\.csv: the range of this list is not in the export/,
      'the last week ends nobody knows when',
    );
    t.match((await imported(world, [folder], '--dry-run')).summary.files, [{ storedAs: [], remarks: [reason] }]);
  }
  t.strictSame((await world.get('/projects')).body.projects, []);
  const folder = folderWith(t, { 'Chart.csv': chart('Week', ...WEEKS), 'Queries.csv': queries });
  const { summary } = await imported(world, [folder], '--from', '2026-02-01', '--to', '2026-02-28');
  t.strictSame(Object.keys(summary.tables).sort(), ['projects', 'query_period']);
});

t.test('a day without data is no error, and missing days are named', async (t) => {
  const world = await makeLazyWorld(t, { projects: [] });
  const days = ['2026-03-01,10,100,10%,5.4', '2026-03-02,,,,', '2026-03-04,10,100,10%,5.4', '2026-03-05,"","","",""'];
  const folder = folderWith(t, { 'Chart.csv': chart('Date', ...days), 'Queries.csv': ENGLISH['Queries.csv']! });
  const named = /3 days of the range have no data and are not stored: 2026-03-02, 2026-03-03, 2026-03-05/;
  const words = ['--workspace', 'acme', '--property', PROPERTY, '--dry-run'];
  const { stdout } = await command({ ORDINATE_DATA: world.dataFolder }, 'import', 'search-console', folder, ...words);
  t.match(stdout, named);
  const { code, summary } = await imported(world, [folder]);
  t.equal(code, 0);
  t.match(summary.files[0], { rows: 2, from: '2026-03-01', to: '2026-03-05', remarks: [/devices/, /brand/, named] });
  const site = (await world.get(`/projects/${summary.project.id}/site?from=2026-03-01&to=2026-03-05&quality=1`)).body;
  t.match(site, { totals: { clicks: 20 }, quality: { daysStored: 2 } });
  const lists = await world.get(`/projects/${summary.project.id}/queries?from=2026-03-01&to=2026-03-05`);
  t.equal(lists.status, 200, 'the range of the lists has all days of the chart');
  const none = folderWith(t, { 'Chart.csv': chart('Date', '2026-03-02,,,,') });
  t.match(await imported(world, [none]), { code: 1, stderr: /Chart\.csv: no rows/ });
});

t.test('the brand split is computed of rows by date and query, or unknown', async (t) => {
  const world = await makeLazyWorld(t, { projects: [] });
  const site = pull('date,device', '2026-03-01,MOBILE,9,90,0.1,2', '2026-03-02,MOBILE,5,50,0.1,2');
  const rows = ['2026-03-01,ACME boots,MOBILE,2,4,0.5,1.5', '2026-03-01,boots,MOBILE,1,5,0.2,9'];
  const first = await imported(world, [folderWith(t, { 'site.csv': site })]);
  const { id } = first.summary.project;
  const ask = async (day: string, more = ''): Promise<Answer['body']> => {
    const { body } = await world.get(`/projects/${id}/breakdowns?from=2026-03-01&to=${day}&quality=1${more}`);
    return body;
  };
  const unknown = { brand: null, quality: { anonymousClicksShare: null, queryCoverage: { clicks: null } } };
  t.match(await ask('2026-03-01'), { devices: [{ clicks: 9 }], ...unknown });
  const both = folderWith(t, { 'site.csv': site, 'queries.csv': pull('date,query,device', ...rows) });
  t.match(await imported(world, [both], '--brand-term', 'acme'), { code: 0, stderr: '' });
  t.match(await ask('2026-03-01'), {
    brand: { brand: { clicks: 2, impressions: 4 }, nonBrand: { clicks: 1 }, anonymous: { clicks: 6, impressions: 81 } },
    quality: { queryCoverage: { clicks: 0.3333 } },
  });
  t.match(await ask('2026-03-02'), unknown, 'a day without queries');
  const portfolio = (await world.get('/portfolio?from=2026-03-01&to=2026-03-02&quality=1')).body.projects[0];
  t.match(portfolio.quality, unknown.quality);
  const compared = await ask('2026-03-01', '&compare=2026-03-02..2026-03-02');
  t.match(compared.brand.brand, { unsafe: { clicks: ['low_base', 'provisional', 'missing_days'] } });
  const url = `/api/v1/projects/${id}/breakdowns.csv?from=2026-03-02&to=2026-03-02`;
  const { body } = await (await world.served()).inject({ url, headers: { authorization: `Bearer ${world.key}` } });
  t.match(body, /^kind,value,.*\r\ndevice,mobile,5,[^\r]*\r\n$/, 'no row of a segment');
  // The chart says less of a day than what is stored.
  const dates = folderWith(t, { 'Chart.csv': chart('Date', '2026-03-01,9,90,10%,2', '2026-03-02,5,50,10%,2') });
  t.match(await imported(world, [dates]), { code: 1, stderr: /Nothing in these files can be stored/ });
  t.match(await ask('2026-03-01'), { brand: { brand: { clicks: 2 } } });
  // Nor of a day whose devices are unknown, and whose split is not.
  const chartOf = (clicks: number): string => chart('Date', `2026-03-03,${clicks},90,${clicks / 90},2`);
  const queries = pull('date,query', '2026-03-03,ACME boots,2,4,0.5,1.5', '2026-03-03,boots,1,5,0.2,9');
  for (const files of [{ 'Chart.csv': chartOf(9), 'queries.csv': queries }, { 'Chart.csv': chartOf(18) }]) {
    t.match(await imported(world, [folderWith(t, files)]), { code: 0, stderr: '' });
  }
  const { brand } = (await world.get(`/projects/${id}/breakdowns?from=2026-03-03&to=2026-03-03`)).body;
  t.match(brand, { brand: { clicks: 2 }, nonBrand: { clicks: 1 }, anonymous: { clicks: 15 } });
});

t.test('tracked queries of rows by date, query and device', async (t) => {
  const world = await makeLazyWorld(t, { projects: [] });
  const rows = pull('date,query,device', '2026-03-01,red,MOBILE,2,4,0.5,1.5', '2026-03-02,red,DESKTOP,1,5,0.2,9');
  const { code, stderr, summary } = await imported(world, [folderWith(t, { 'a.csv': rows })], '--track-top', '1');
  t.match({ code, stderr }, { code: 0, stderr: '' });
  t.match(summary.tables, { keyword_daily: { rows: 2 }, query_period: { rows: 1 }, keywords: { rows: 1 } });
  const asked = `/projects/${summary.project.id}/keywords?from=2026-03-01&to=2026-03-02&device=mobile&daily=1`;
  t.match((await world.get(asked)).body.keywords, [{ query: 'red', daily: [{ date: '2026-03-01', clicks: 2 }] }]);
});

t.test('rows of all dimensions are stored for tracked queries, or refused', async (t) => {
  const world = await makeLazyWorld(t, { projects: [] });
  const all = 'date,page,query,country,device';
  const rows = pull(all, '2026-03-01,https://shop.example/a,red,usa,MOBILE,2,4,0.5,1.5');
  const folder = folderWith(t, { 'all.csv': rows });
  const refused = { code: 1, stderr: /Nothing in these files can be stored.*all\.csv: only tracked.*--track-top/s };
  t.match(await imported(world, [folder]), refused);
  t.match((await imported(world, [folder], '--dry-run')).summary, { loaded: false, project: null });
  t.strictSame((await world.get('/projects')).body.projects, [], 'no empty project');
  const { summary } = await imported(world, [folder], '--track-top', '1');
  t.match(summary.tables, { keyword_page_daily: { rows: 1 } });
});

t.test('a list as long as the user interface writes at most is cut', async (t) => {
  const world = await makeLazyWorld(t, { projects: [] });
  const rows = Array.from({ length: 1000 }, (_, index) => `query ${index},1,10,10%,1`);
  const folder = folderWith(t, { 'Queries.csv': chart('Top queries', ...rows) });
  const { summary } = await imported(world, [folder], '--from', '2026-02-01', '--to', '2026-02-28');
  t.match(summary.files, [{ remarks: [/exactly/, /1000 rows.*others are probably missing/] }]);
  const path = `/projects/${summary.project.id}/queries?from=2026-02-01&to=2026-02-28&limit=1`;
  t.match((await world.get(path)).body.source, { truncated: true, capped: true });
});

t.test('totals of a range alone need its name', async (t) => {
  const world = await makeLazyWorld(t, { projects: [] });
  const lists = folderWith(t, { 'Queries.csv': ENGLISH['Queries.csv']! });
  t.match(await imported(world, [lists]), {
    code: 1,
    stderr: /Nothing in these files can be stored\.\n {2}Queries\.csv: the range of this list is not in the export/,
  });
  const named = await imported(world, [lists], '--from', '2026-01-01', '--to', '2026-01-31');
  t.match(named.summary, { tables: { query_period: { rows: 2, firstDay: '2026-01-01', lastDay: '2026-01-31' } } });
  const { id } = named.summary.project;
  t.match((await world.get(`/projects/${id}/queries?from=2026-01-01&to=2026-01-31`)).body, { paging: { total: 2 } });
  t.equal((await world.get(`/projects/${id}/pages?from=2026-01-01&to=2026-01-31`)).status, 503, 'pages are unknown');
  const totals = folderWith(t, { 'Countries.csv': ENGLISH['Countries.csv']!, 'Devices.csv': ENGLISH['Devices.csv']! });
  t.match(await imported(world, [totals], '--from', '2026-01-01', '--to', '2026-01-31'), {
    code: 1,
    stderr: /Nothing in these files can be stored/,
  });
  t.match(await imported(world, [lists], '--from', '2026-01-01'), { code: 1, stderr: /both --from and --to/ });
  t.match(await imported(world, [lists], '--from', '2024-01-01', '--to', '2026-01-31'), {
    code: 1,
    stderr: /more than 486 days/,
  });
});

/** An API pull: rows of the given columns. */
const pull = (columns: string, ...rows: readonly string[]): string =>
  `${columns},clicks,impressions,ctr,position\n${rows.map((row) => `${row}\n`).join('')}`;

t.test('pulls of the API, with any dimensions', async (t) => {
  const world = await makeLazyWorld(t, { keywords: [keyword('kwOne', 'Red Shoes')] });
  const folder = folderWith(t, {
    'site.csv': pull(
      'date,device',
      '2026-03-01,MOBILE,3,10,0.3,2.5',
      '2026-03-01,DESKTOP,1,20,0.05,1.0',
      '2026-03-02,MOBILE,0,4,0.0,7',
    ),
    'countries.csv': pull('date,country', '2026-03-01,usa,3,10,0.3,2.5', '2026-03-01,DEU,1,20,0.05,1'),
    'queries.csv': pull(
      'date,query,country,device',
      '2026-03-01,red shoes,usa,MOBILE,2,4,0.5,1.5',
      '2026-03-01,red shoes,usa,DESKTOP,1,1,1,1',
      '2026-03-01,other,deu,MOBILE,0,5,0,9',
    ),
    'pages.csv': pull('date,page,country', '2026-03-01,https://shop.example/a,usa,3,10,0.3,2.5'),
    'keyword-pages.csv': pull('date,query,page', '2026-03-01,red shoes,https://shop.example/a,2,4,0.5,1.5'),
    'appearance.csv': pull('date,searchAppearance', '2026-03-01,VIDEO,1,2,0.5,3'),
  });
  const { code, stderr, summary } = await imported(world, [folder]);
  t.match({ code, stderr }, { code: 0, stderr: '' });
  t.match(summary.tables, {
    site_daily: { rows: 3 },
    country_daily: { rows: 2 },
    query_daily: { rows: 2 },
    keyword_daily: { rows: 2 },
    page_daily: { rows: 1 },
    keyword_page_daily: { rows: 1 },
    appearance_daily: { rows: 1 },
  });
  t.equal(summary.project.created, false);
  const range = 'from=2026-03-01&to=2026-03-02';
  t.match((await world.ask(`/site?${range}&device=mobile`)).body, {
    daily: [{ clicks: 3, impressions: 10, position: 2.5 }, { impressions: 4 }],
  });
  t.match((await world.ask(`/queries?${range}&country=usa`)).body, {
    queries: [{ query: 'red shoes', clicks: 3, impressions: 5, position: 1.4, trackedKeywordId: 'kwOne' }],
  });
  t.match((await world.ask(`/keywords?${range}`)).body, {
    keywords: [{ id: 'kwOne', metrics: { clicks: 3, impressions: 5 } }],
  });
  t.match((await world.ask(`/breakdowns?${range}`)).body, {
    countries: [{ country: 'usa' }, { country: 'deu' }],
    appearances: [{ appearance: 'VIDEO', impressions: 2 }],
  });
  t.match(
    (await world.get('/projects')).body.projects,
    [{ syncedThrough: '2026-03-10', syncStatus: 'ok' }],
    'what is synced further stays',
  );
});

t.test('a byte order mark is part of a text, and none of a file', async (t) => {
  const world = await makeLazyWorld(t);
  const text = '\uFEFFshoes that are longer than twelve bytes';
  const row = (query: string) => `2026-03-01,${query},usa,MOBILE,2,4,0.5,1.5`;
  const folder = folderWith(t, {
    'a.csv': `\uFEFF${pull('date,query,country,device', row(text), row('\uFEFFx'), row('x'), row('a\uFEFFb'))}`,
  });
  t.match(await imported(world, [folder], '--track-top', '4'), { code: 0, stderr: '' });
  const range = 'from=2026-03-01&to=2026-03-01';
  const queriesOf = ({ body }: Answer, name: string): string[] =>
    (body[name] as { query: string }[]).map(({ query }) => query).sort();
  const texts = ['a\uFEFFb', 'x', '\uFEFFx', text].sort();
  t.strictSame(queriesOf(await world.ask(`/queries?${range}`), 'queries'), texts);
  const keywords = await world.ask(`/keywords?${range}`);
  t.strictSame(queriesOf(keywords, 'keywords'), texts);
  for (const { query, metrics } of keywords.body.keywords) t.equal(metrics.clicks, 2, query);
});

t.test('pulls that lack countries or devices become what they can be', async (t) => {
  const world = await makeLazyWorld(t);
  const folder = folderWith(t, {
    'a.csv': pull('date,query', '2026-02-01,red,1,2,0.5,1', '2026-02-03,red,2,4,0.5,2.25', '2026-02-02,blue,1,1,1,1'),
    'b.csv': pull('date', '2026-02-01,3,10,0.3,2.5', '2026-02-02,3,10,0.3,2.5'),
    'c.csv': pull('date,country,device', '2026-02-02,usa,MOBILE,1,2,0.5,3', '2026-02-02,deu,MOBILE,1,2,0.5,1'),
    'd.csv': pull('query,page', 'red,https://shop.example/a,1,2,0.5,1'),
  });
  const { summary, stderr } = await imported(world, [folder]);
  t.equal(stderr, '');
  t.match(summary.tables, { query_period: { rows: 2 }, site_daily: { rows: 2 }, country_daily: { rows: 2 } });
  t.match((await world.ask('/queries?from=2026-02-01&to=2026-02-03')).body, {
    queries: [{ query: 'red', clicks: 3, impressions: 6, position: 1.8 }, { query: 'blue' }],
  });
  t.match(
    (await world.ask('/site?from=2026-02-01&to=2026-02-02')).body,
    { daily: [{ clicks: 3 }, { clicks: 2 }] },
    'devices go before their lack',
  );
  t.equal((await world.ask('/site?from=2026-02-02&to=2026-02-02&device=mobile')).status, 200);
  t.equal((await world.ask('/site?from=2026-02-01&to=2026-02-02&device=mobile')).status, 400);
});

t.test('a row that two files have is refused, and of two tables of a day one is stored', async (t) => {
  const world = await makeLazyWorld(t);
  const overlapping = folderWith(t, {
    'a.csv': pull('date,device', '2026-02-01,MOBILE,3,10,0.3,2.5', '2026-02-02,MOBILE,3,10,0.3,2.5'),
    'b.csv': pull('date,device', '2026-02-02,MOBILE,3,10,0.3,2.5', '2026-02-03,MOBILE,3,10,0.3,2.5'),
  });
  t.match(await imported(world, [overlapping]), {
    code: 1,
    stderr: /2026-02-02.*MOBILE.* is in 2 of the files 'a.csv', 'b.csv'/i,
  });
  const twice = folderWith(t, {
    'a.csv': pull('date,query,country', '2026-02-01,red,usa,1,2,0.5,1'),
    'b.csv': pull('date,query,country,device', '2026-02-01,red,usa,MOBILE,1,2,0.5,1'),
    'c.csv': pull('query', 'red,1,2,0.5,1'),
    'd.csv': pull('query,device', 'red,MOBILE,1,2,0.5,1'),
  });
  t.match(await imported(world, [twice], '--from', '2026-01-01', '--to', '2026-01-31'), { code: 0 });
  t.match((await world.ask('/queries?from=2026-02-01&to=2026-02-01')).body, {
    queries: [{ clicks: 1, impressions: 2 }],
  });
  t.match((await world.ask('/queries?from=2026-01-01&to=2026-01-31')).body, {
    queries: [{ clicks: 1, impressions: 2 }],
  });
});

t.test('what an import changes of a day, by what is known of it', async (t) => {
  const day = (number: number): string => `2026-03-0${number}`;
  const world = await makeLazyWorld(t, {
    site_daily: facts(
      'date device',
      ...[2, 6].map((number) => [day(number), 'mobile', 1, 2, 0]),
      ...[3, 5].map((number) => [day(number), 'unknown', 1, 2, 0]),
    ),
    brand_daily: facts('date segment', ...[4, 5, 9].map((number) => [day(number), 'brand', 1, 2, 0])),
  });
  const fetched = (table: 'site_daily' | 'brand_daily', number: number, state: 'done' | 'empty' | 'failed') => ({
    ...{ table, state, day: day(number), final: true, cutOff: false, rows: 1, clicks: 1, impressions: 2, digest: '' },
    ...{ compared: 0, fetchedAt: 0, attempts: 0, reason: null, nextTry: null },
  });
  await putSyncDays(world.catalog, 'Proj1', [
    fetched('site_daily', 6, 'done'),
    fetched('site_daily', 7, 'empty'),
    fetched('site_daily', 8, 'failed'),
    fetched('brand_daily', 9, 'done'),
  ]);
  /** By day, the clicks by device and by segment. */
  const stored = async () => {
    const out = join(temporaryFolder(t), 'out');
    const words = ['--project', 'Proj1', '--out', out, '--format', 'csv'];
    t.equal((await command({ ORDINATE_DATA: world.dataFolder }, 'export', ...words)).code, 0);
    const clicksOf = (table: string): Record<string, string> => {
      const [header = '', ...lines] = readFileSync(join(out, table, 'project_id=Proj1', 'all.csv'), 'utf8')
        .trim()
        .split('\n');
      const [date, name, clicks] = ['date', table === 'site_daily' ? 'device' : 'segment', 'clicks'].map((column) =>
        header.split(',').indexOf(column),
      ) as [number, number, number];
      const rows = lines
        .map((line) => line.split(','))
        .map((row) => [row[date]!, `${row[name]} ${row[clicks]}`] as const);
      return Object.fromEntries(
        [...Map.groupBy(rows, ([of]) => of)].map(([of, all]) => [
          of,
          all
            .map(([, text]) => text)
            .sort()
            .join(),
        ]),
      );
    };
    const [site, brand] = [clicksOf('site_daily'), clicksOf('brand_daily')];
    const days = [...new Set([...Object.keys(site), ...Object.keys(brand)])].sort();
    return days.map((of) => `${of}: ${site[of] ?? '-'} | ${brand[of] ?? '-'}`);
  };
  const days = [4, 9, 1, 7, 3, 8, 2, 6, 5].map(day);
  const chart = folderWith(t, { 'Chart.csv': pull('date', ...days.map((of) => `${of},9,90,0.1,1`)) });
  t.match(await imported(world, [chart]), { code: 0, stderr: '' });
  t.strictSame(
    await stored(),
    [
      '2026-03-01: unknown 9 | unknown 9',
      '2026-03-02: mobile 1 | -',
      '2026-03-03: unknown 9 | unknown 9',
      '2026-03-04: unknown 9 | brand 1',
      '2026-03-05: unknown 9 | brand 1',
      '2026-03-06: mobile 1 | -',
      '2026-03-08: unknown 9 | unknown 9',
      '2026-03-09: unknown 9 | brand 1',
    ],
    'totals replace unknown devices and failed days alone',
  );
  const devices = folderWith(t, { 'a.csv': pull('date,device', ...days.map((of) => `${of},MOBILE,8,80,0.1,1`)) });
  t.match(await imported(world, [devices]), { code: 0, stderr: '' });
  t.strictSame(
    await stored(),
    [
      '2026-03-01: mobile 8 | unknown 8',
      '2026-03-02: mobile 8 | -',
      '2026-03-03: mobile 8 | unknown 8',
      '2026-03-04: mobile 8 | brand 1',
      '2026-03-05: mobile 8 | brand 1',
      '2026-03-06: mobile 1 | -',
      '2026-03-08: mobile 8 | unknown 8',
      '2026-03-09: mobile 8 | brand 1',
    ],
    'devices replace all that the sync has not fetched',
  );
  const queries = days.flatMap((of) => [`${of},ACME boots,2,20,0.1,1`, `${of},boots,1,10,0.1,1`]);
  const split = folderWith(t, { 'a.csv': pull('date,query', ...queries) });
  t.match(await imported(world, [split], '--brand-term', 'acme'), { code: 0, stderr: '' });
  t.strictSame(
    await stored(),
    [
      '2026-03-01: mobile 8 | brand 2,non_brand 1',
      '2026-03-02: mobile 8 | brand 2,non_brand 1',
      '2026-03-03: mobile 8 | brand 2,non_brand 1',
      '2026-03-04: mobile 8 | brand 2,non_brand 1',
      '2026-03-05: mobile 8 | brand 2,non_brand 1',
      '2026-03-06: mobile 1 | brand 2,non_brand 1',
      '2026-03-07: - | brand 2,non_brand 1',
      '2026-03-08: mobile 8 | brand 2,non_brand 1',
      '2026-03-09: mobile 8 | brand 1',
    ],
    'queries bring the split of all days whose split the sync has not fetched',
  );
});

t.test('--track-top tracks the queries with most clicks', async (t) => {
  const world = await makeLazyWorld(t, { projects: [] });
  const { summary } = await imported(world, [folderWith(t, ENGLISH)], '--track-top', '1', '--brand-term', 'boots');
  t.match(summary, { keywordsAdded: 1 });
  t.match((await world.get(`/projects/${summary.project.id}/queries?${RANGE}`)).body.queries, [
    { query: 'shoes, red', trackedKeywordId: /^\w{5}$/, branded: false },
    { query: 'boots', trackedKeywordId: null, branded: true },
  ]);
});

/** Exports with a query's clicks but not its days by keyword. */
const WITHOUT_KEYWORD_DAYS: Readonly<Record<string, { files: Files; options?: readonly string[] }>> = {
  'a list and a chart of days': { files: ENGLISH },
  'a list alone': {
    files: { 'Queries.csv': ENGLISH['Queries.csv']! },
    options: ['--from', '2026-03-01', '--to', '2026-03-03'],
  },
  'rows by date and query, days with devices and brand terms': {
    files: {
      'queries.csv': pull('date,query', ...DAYS.map((day) => `${day},red,2,4,0.5,1.5`)),
      'devices.csv': pull('date,device', ...DAYS.map((day) => `${day},MOBILE,9,90,0.1,2`)),
    },
    options: ['--brand-term', 'acme'],
  },
};

for (const [name, { files, options = [] }] of Object.entries(WITHOUT_KEYWORD_DAYS)) {
  t.test(`keywords whose days are unknown have no zeros: ${name}`, async (t) => {
    const world = await makeLazyWorld(t, { projects: [] });
    const { code, summary } = await imported(world, [folderWith(t, files)], '--track-top', '1', ...options);
    t.equal(code, 0);
    const ask = (path: string) => world.get(`/projects/${summary.project.id}/${path}`);
    const [{ clicks, trackedKeywordId: id }] = (await ask(`queries?${RANGE}`)).body.queries;
    t.match({ clicks, id }, { clicks: Number, id: /^\w{5}$/ });
    const unknown = {
      status: 400,
      body: { error: { message: /clicks of keywords of 3 days \(2026-03-01 to 2026-03-03\) are unknown/ } },
    };
    for (const path of ['keywords?', 'keywords.csv?', 'keywords?daily=1&', 'keywords?device=mobile&']) {
      t.match(await ask(`${path}${RANGE}`), unknown, path);
    }
    for (const dimensions of [['keyword'], ['date', 'keyword'], ['group']]) {
      const q = JSON.stringify({ range: { from: '2026-03-01', to: '2026-03-03' }, metrics: ['clicks'], dimensions });
      const asked = await ask(`query?q=${encodeURIComponent(q)}`);
      t.match(asked, { status: 400, body: { error: { message: /^range: / } } }, dimensions.join());
    }
    const explained = (await ask(`explain?${RANGE}&by=keyword`)).body;
    t.strictSame(explained.rows, []);
    const ofRows = explained.unsafe.filter(({ what }: { what: string }) => what === 'rows');
    t.strictSame(ofRows, [{ what: 'rows', reason: 'missing_days' }]);
  });
}

t.test('keywords of days that an import knows as a whole are unknown beside days with keywords', async (t) => {
  const tables = {
    keywords: [keyword('kwOne', 'red')],
    site_daily: facts('date device', ['2026-03-05', 'mobile', 9, 90, 0]),
    keyword_daily: facts(
      'date keyword_id device',
      ['2026-02-20', 'kwOne', 'mobile', 1, 4, 2],
      ['2026-03-05', 'kwOne', 'mobile', 2, 4, 2],
    ),
  };
  const world = await makeLazyWorld(t, tables);
  const { code } = await imported(world, [folderWith(t, { 'Chart.csv': ENGLISH['Chart.csv']! })]);
  t.equal(code, 0);
  t.match((await world.ask('/keywords?from=2026-03-05&to=2026-03-05')).body, {
    keywords: [{ metrics: { clicks: 2 } }],
  });
  t.match(await world.ask('/keywords?from=2026-03-03&to=2026-03-05'), {
    status: 400,
    body: { error: { message: /keywords of 2026-03-03 are unknown/ } },
  });
  const compared = await world.ask('/keywords?from=2026-03-05&to=2026-03-05&compare=2026-03-03..2026-03-03');
  t.ok(compared.body.keywords[0].unsafe.clicks.includes('missing_days'));
});

t.test('what does not fit is refused by name, and nothing is stored', async (t) => {
  const world = await makeLazyWorld(t, { projects: [] });
  const dates = ENGLISH['Chart.csv']!;
  const header = 'Top queries,Clicks,Impressions,CTR,Position';
  const refused: readonly (readonly [Files, RegExp])[] = [
    [{ 'Chart.csv': dates, 'Filters.csv': 'Filter,Value\nSearch type,Image\n' }, /filtered \('Search type: Image'\)/],
    [{ 'Chart.csv': dates, 'Filters.csv': 'Filter,Value\nSearch type,Web\nCountry,Germany\n' }, /'Country: Germany'/],
    [
      { 'Queries.csv': `${header}\nx,a,1,1%,1\n`, 'Chart.csv': dates },
      /'Queries.csv' has 1 rows with a wrong value in 'Clicks', the first 'a'/,
    ],
    [
      { 'Queries.csv': `${header}\nx,1,10,10%,0.5\n`, 'Chart.csv': dates },
      /'Position', the first '0.5'; it must be an average position of at least 1/,
    ],
    [
      { 'Queries.csv': `${header}\nx,1,10,10%,2\nx,1,10,10%,2\n`, 'Chart.csv': dates },
      /'Queries.csv' has 2 rows of .*"x"/,
    ],
    [
      { 'Queries.csv': `${header}\nx,10,1,10%,2\ny,20,2,10%,2\n`, 'Chart.csv': dates },
      /CTR is not clicks by impressions/,
    ],
    [
      { 'Chart.csv': 'Date,Clicks,Impressions,CTR,Position\n3/1/26,1,1,100%,1\n' },
      /'Date', the first '3\/1\/26'; it must be a day written YYYY-MM-DD/,
    ],
    [
      {
        'Pages.csv':
          'Top pages,Clicks,Impressions,CTR,Position\nhttps://m.shop.example/,1,1,100%,1\nhttps://notshop.example/,1,1,100%,1\n',
        'Chart.csv': dates,
      },
      /pages that are not of 'sc-domain:shop.example', such as 'https:\/\/notshop.example\/'/,
    ],
    [
      {
        'Pages.csv': 'Top pages,Clicks,Impressions,CTR,Position\nhttps://notshop.example/,1,1,100%,1\n',
        'Chart.csv': dates,
      },
      /1 rows of pages that are not of 'sc-domain:shop.example', such as 'https:\/\/notshop.example\/'/,
    ],
    [
      { 'Queries.csv': 'Top queries,Last 7 days Clicks,Previous Clicks,A,B,C,D,E,F\nx,1,1,1,1,1,1,1,1\n' },
      /comparison of two ranges/,
    ],
    [{ 'Queries.csv': '\uFEFF\u0000T\u0000o' }, /UTF-16 or no text/],
    [{ 'Queries.csv': '' }, /has no header/],
    [{ 'notes.csv': 'a,b\n1,2\n' }, /notes.csv: not a table of queries/],
    [{ 'readme.txt': 'x' }, /has no CSV or zip file/],
  ];
  for (const [files, message] of refused) {
    t.match(
      await imported(world, [folderWith(t, files)]),
      { code: 1, stderr: message, summary: undefined },
      String(message),
    );
  }
  const zip = zipWith(t, 'other.example-Performance-on-Search-2026-03-05.zip', ENGLISH);
  t.match(await imported(world, [zip]), {
    code: 1,
    stderr: /is an export of 'other.example', not of 'sc-domain:shop.example'/,
  });
  t.match(await imported(world, [join(dirname(zip), 'none.zip')]), { code: 1, stderr: /There is no file or folder/ });
  writeFileSync(zip, 'not a zip');
  t.match(await imported(world, [zip], '--force'), { code: 1, stderr: /damaged or cut off, or not a zip file/ });
  const [chart] = [ENGLISH['Chart.csv']!];
  const renamed = Buffer.from(
    zipOf({ 'Read me.txt': 'Charts', 'Chart.csv': chart, 'Charu.csv': chart })
      .toString('latin1')
      .replaceAll('Charu.csv', 'Chart.csv'),
    'latin1',
  );
  const archives: readonly [Buffer, RegExp][] = [
    [
      zipOf({ 'a/Chart.csv': chart, 'b/Chart.csv': chart }),
      /of the files 'a\/Chart\.csv', 'b\/Chart\.csv'; import each/,
    ],
    [
      renamed,
      /of the files 'Chart\.csv \(CSV file 1 of the archive\)', 'Chart\.csv \(CSV file 2 of the archive\)'; import each/,
    ],
    [
      zipOf({ '../../Chart.csv': ENGLISH['Chart.csv']! }),
      /\.zip' is damaged or cut off, or not a zip file: invalid relative path/,
    ],
    [changeEntries(zipOf(ENGLISH), 24, () => 2_000_000_001), /larger than 2 GB when unpacked/],
    [
      changeEntries(zipOf(ENGLISH), 24, (size) => size + 1),
      /\.zip' is damaged or cut off, or not a zip file: not enough bytes/,
    ],
    [
      changeEntries(zipOf(ENGLISH), 24, (size) => size - 1),
      /\.zip' is damaged or cut off, or not a zip file: too many bytes/,
    ],
  ];
  for (const [bytes, message] of archives) {
    writeFileSync(zip, bytes);
    t.match(await imported(world, [zip], '--force'), { code: 1, stderr: message }, String(message));
  }
  t.strictSame((await world.get('/projects')).body.projects, []);
});

t.test('tables of connectors: search types go to their own tables', async (t) => {
  const world = await makeLazyWorld(t, { site_daily: facts('date device', ['2026-03-01', 'mobile', 34, 100, 0]) });
  const range = 'from=2026-03-01&to=2026-03-01';
  const site = async (type = ''): Promise<unknown> => (await world.ask(`/site?${range}${type}`)).body.totals as unknown;
  const web = await site();
  const images = pull('date,search_type', '2026-03-01,image,7,70,0.1,1.5');
  const { code, stderr, summary } = await imported(world, [folderWith(t, { 'a.csv': images })]);
  t.match({ code, stderr }, { code: 0, stderr: '' });
  t.match(summary.files, [{ searchType: 'image', dimensions: ['date'], storedAs: ['site_daily_image'] }]);
  t.strictSame(await site(), web, 'image searches replace no web searches');
  t.match(await site('&type=image'), { clicks: 7, impressions: 70, position: 1.5 });

  // All in one table, without positions where there are none.
  const rows = [
    'date,country,search_type,clicks,impressions,ctr,position,siteUrl',
    `2026-03-01,usa,WEB,3,10,0.3,2,${PROPERTY}`,
    `2026-03-01,deu,WEB,1,10,0.1,2,${PROPERTY}`,
    `2026-03-01,usa,image,5,50,0.1,3,${PROPERTY}`,
    `2026-03-01,usa,DISCOVER,9,90,0.1,,${PROPERTY}`,
    `2026-03-01,usa,google_news,2,20,0.1,,${PROPERTY}`,
  ];
  const { summary: all } = await imported(world, [folderWith(t, { 'b.csv': `${rows.join('\n')}\n` })]);
  t.strictSame(
    (all.files as Row[]).map(({ searchType, rows: number, storedAs }) => [searchType, number, storedAs]),
    [
      ['web', 2, ['country_daily']],
      ['image', 1, ['country_daily_image']],
      ['discover', 1, ['country_daily_discover']],
      ['googleNews', 1, ['country_daily_google_news']],
    ],
  );
  t.match(await site('&country=usa'), { clicks: 3, impressions: 10 });

  const byDevice = 'date,device,type,clicks,impressions\n2026-03-01,MOBILE,discover,11,110\n';
  const discover = await imported(world, [folderWith(t, { 'c.csv': byDevice })]);
  t.match(discover.summary.files, [{ searchType: 'discover', storedAs: ['site_daily_discover'] }]);
  t.match(await site('&type=discover'), { clicks: 11, impressions: 110, position: null });
  t.match(await site('&country=usa&type=discover'), { clicks: 9, impressions: 90, position: null });
  const words = ['--workspace', 'acme', '--property', PROPERTY, '--dry-run'];
  const folder = folderWith(t, { 'a.csv': images });
  const { stdout } = await command({ ORDINATE_DATA: world.dataFolder }, 'import', 'search-console', folder, ...words);
  t.match(stdout, /^a\.csv +date \(image\) +1 /m);
});

t.test('tables of connectors: each column is read, named as ignored, or refuses the file', async (t) => {
  const world = await makeLazyWorld(t, { site_daily: facts('date device', ['2026-03-01', 'mobile', 34, 100, 0]) });
  const before = (await world.ask('/site?from=2026-03-01&to=2026-03-01')).body as unknown;
  const row = (columns: string, values: string): Files => ({
    'a.csv': `date,${columns},clicks,impressions,ctr,position\n2026-03-03,${values},7,70,0.1,1.5\n`,
  });
  const queries = `date,query,search_type,clicks,impressions,ctr,position\n2026-03-01,x,image,7,70,0.1,1.5\n`;
  const many = (device: string): string =>
    pull(
      'date,device',
      ...Array.from({ length: 28 }, (_, day) => `2026-02-${day + 1 < 10 ? 0 : ''}${day + 1},${device},1,2,0.5,1`),
    );
  const refused: readonly (readonly [Files, RegExp])[] = [
    [{ 'a.csv': queries }, /'a\.csv' has rows of the search type image by date, query; of search types besides web/],
    [row('search_type', 'shopping'), /1 rows with 'shopping' in 'search_type', which is no search type/],
    [
      row('site_url', 'https://other.example/'),
      /1 rows of 'https:\/\/other\.example\/' in 'site_url', not of 'sc-domain:shop/,
    ],
    [row('Property', 'https://shop.example/'), /in 'Property', not of 'sc-domain:shop\.example'/],
    [row('aggregationType', 'byPage'), /with 'byPage' in 'aggregationType'; numbers without pages are counted by prop/],
    [
      row('filters', 'country==deu'),
      /has the column 'filters' \(such as 'country==deu'\), which is not known.*--ignore-column 'filters'/,
    ],
    [row('branded', 'true'), /has the column 'branded' \(such as 'true'\), which is not known/],
    [row('keyword', 'red'), /has the column 'keyword' \(such as 'red'\)/],
    [row('', 'red'), /has column 2, which has no name, \(such as 'red'\)/],
    [{ 'a.csv': many('MOBILE') }, /'a\.csv': all rows are of the device 'mobile', as after a filter.*--unfiltered/],
    [{ 'a.csv': 'date,search_type,clicks,impressions\n2026-03-01,web,7,70\n' }, /search type web without positions/],
    [
      { 'a.csv': pull('date', '2026-03-01,1,2,0.5,1', '2026-03-01,1,2,0.5,1') },
      /has 2 rows of \{"date":"2026-03-01"\}/,
    ],
    [
      { 'a.csv': pull('date', '2026-03-01,1,2,0.5,1'), 'b.csv': pull('date', '2026-03-01,1,2,0.5,1') },
      /\{"date":"2026-03-01"\} is in 2 of the files 'a\.csv', 'b\.csv'/,
    ],
  ];
  for (const [files, message] of refused) {
    t.match(await imported(world, [folderWith(t, files)]), { code: 1, stderr: message }, String(message));
  }
  t.strictSame((await world.ask('/site?from=2026-03-01&to=2026-03-01')).body, before, 'nothing was stored');

  const ignored = row('site,week,_airbyte_ab_id,fetched_at,note,empty', `shop.example,9,x,2026-03-05,y,`);
  const { code, stderr, summary } = await imported(world, [folderWith(t, ignored)], '--ignore-column', 'note');
  t.match({ code, stderr }, { code: 0, stderr: '' });
  t.match(summary.files, [
    {
      remarks: [/devices/, /brand/, /not change the numbers, not read: week, _airbyte_ab_id, fetched_at, note, empty$/],
    },
  ]);
  const other = row('site_url', 'https://shop.example/');
  t.match(await imported(world, [folderWith(t, other)], '--force'), { code: 0 });
  t.match(await imported(world, [folderWith(t, { 'a.csv': many('MOBILE') })], '--unfiltered'), { code: 0 });
  const both = `${many('MOBILE')}2026-02-01,DESKTOP,1,2,0.5,1\n`;
  t.match(await imported(world, [folderWith(t, { 'a.csv': both })]), { code: 0 });
  const one = (await imported(world, [folderWith(t, { 'a.csv': pull('date,device', '2026-02-01,MOBILE,1,2,0.5,1') })]))
    .summary;
  t.match(one.files, [{ remarks: [/brand/, /all rows are of the device 'mobile'; if that was a filter/] }]);
});

t.test('files that are not what they seem are said to be what they are', async (t) => {
  const world = await makeLazyWorld(t, { projects: [] });
  const spanish = LANGUAGES['Spanish']!;
  const dry = (await imported(world, [folderWith(t, spanish)], '--dry-run')).summary;
  t.match(
    (dry.files as Row[]).find(({ file }) => file === 'Apariencia en búsquedas.csv'),
    { dimensions: ['appearance'], remarks: [/totals of appearances need their days/] },
  );
  for (const text of [
    spanish['Gráfico.csv']!,
    spanish['Consultas.csv']!,
    `Query,Clicks,Impressions,CTR,Position\n${'a,1,2,50%,1\n'.repeat(9000)}é,1,2,50%,1\n`,
  ]) {
    const old = folderWith(t, { 'Consultas.csv': Buffer.from(text.replace('boots', 'niño'), 'latin1') });
    t.match(await imported(world, [old], '--from', '2026-01-01', '--to', '2026-01-31'), {
      code: 1,
      stderr: /^'Consultas\.csv' is not UTF-8, but Windows-1252 or another old encoding; save it as UTF-8\.\n$/,
    });
  }
  const discover = folderWith(t, { 'Chart.csv': 'Date,Clicks,Impressions,CTR\n2026-03-01,1,10,10%\n' });
  const none = /Chart\.csv: not stored: it has no positions, as exports of Discover and Google News/;
  t.match(await imported(world, [discover]), { code: 1, stderr: none });
  const nothing = await imported(world, [discover], '--dry-run');
  t.match(nothing, { code: 1, summary: { loaded: false, project: null, files: [{ remarks: [/no positions/] }] } });

  const archives = ['March', 'April'].map((month) =>
    zipWith(t, `${month}.zip`, { 'Chart.csv': ENGLISH['Chart.csv']! }),
  );
  t.match(await imported(world, archives), {
    code: 1,
    stderr: /is in 2 of the files 'March\.zip\/Chart\.csv', 'April\.zip\/Chart\.csv'/,
  });
  const same = [1, 2].map(() => zipWith(t, 'export.zip', { 'Chart.csv': ENGLISH['Chart.csv']! }));
  const { stderr } = await imported(world, same);
  for (const path of same)
    t.ok(stderr.includes(`'${path}/Chart.csv'`), 'archives of the same name, with their folders');
  const wrong = zipWith(t, 'wrong.zip', { 'Chart.csv': 'Date,Clicks,Impressions,CTR,Position\n2026-03-01,x,1,1%,1\n' });
  t.match(await imported(world, [wrong, archives[0]!]), {
    code: 1,
    stderr: /'wrong\.zip\/Chart\.csv' has 1 rows with a wrong/,
  });
});

t.test('our own CSV comes back without the apostrophes before texts that look like formulas', async (t) => {
  const texts = ['=1+1', '-sale', '+more', '@home', "'tis", 'plain', "'=x"];
  const rows = texts.map((text, index) => ['2026-03-01', text, 'usa', 9 - index, 20, 0] as const);
  const world = await makeLazyWorld(t, { query_daily: facts('date query country', ...rows.slice(0, 6)) });
  const range = 'from=2026-03-01&to=2026-03-01';
  const url = `/api/v1/projects/Proj1/queries.csv?${range}`;
  const { body } = await (await world.served()).inject({ url, headers: { authorization: `Bearer ${world.key}` } });
  t.match(body, /^'=1\+1,9,20,.*^'-sale,8/ms);
  const other = await makeLazyWorld(t, { projects: [] });
  const queriesOf = async (folder: string): Promise<string[]> => {
    const { stderr, summary } = await imported(other, [folder], '--from', '2026-03-01', '--to', '2026-03-01');
    t.equal(stderr, '');
    const { body: list } = await other.get(`/projects/${summary.project.id}/queries?${range}`);
    return (list.queries as { query: string }[]).map(({ query }) => query);
  };
  t.strictSame(await queriesOf(folderWith(t, { 'queries.csv': body })), texts.slice(0, 6));
  // A file that has formulas as they are is not guarded.
  const pulled = pull('query', ...texts.map((text, index) => `${text},${9 - index},20,${(9 - index) / 20},1`));
  t.strictSame(await queriesOf(folderWith(t, { 'queries.csv': pulled })), texts);
});

t.test('an archive whose content is not what was packed is refused, and so are long last lines', async (t) => {
  const world = await makeLazyWorld(t, { projects: [] });
  const path = join(temporaryFolder(t), 'export.zip');
  const refused = async (bytes: Buffer, message: RegExp, what: string): Promise<void> => {
    writeFileSync(path, bytes);
    t.match(await imported(world, [path]), { code: 1, stderr: message }, what);
  };
  const entries = Object.fromEntries(Object.entries(ENGLISH).map(([file, text]) => [file, encoded(text)]));
  const stored = Buffer.from(zipSync(entries, { level: 0 }));
  const digit = stored.indexOf('24000');
  const changed = Buffer.from(stored);
  changed.write('9', digit);
  await refused(changed, /export\.zip' is damaged or cut off.* 'Chart\.csv' does not match its checksum/, 'a digit');
  const packed = zipOf(ENGLISH);
  const sums = changeEntries(zipOf(ENGLISH), 16, (sum) => sum ^ 1);
  await refused(sums, /export\.zip' is damaged or cut off.* 'Chart\.csv' does not match its checksum/, 'a checksum');
  for (const zip of [stored, packed]) {
    await refused(zip.subarray(0, Math.floor(zip.length / 2)), /export\.zip' is damaged or cut off/, 'cut');
    await refused(zip.subarray(0, -1), /export\.zip' is damaged or cut off/, 'the last byte');
  }
  const long = `${ENGLISH['Chart.csv']}2026-03-04,${'1'.repeat(33_000_000)}`;
  const unpacked = Buffer.from(zipSync({ 'Chart.csv': encoded(long) }, { level: 0 }));
  await refused(unpacked, /Chart\.csv', line 5: the line is longer than 2 MB/, 'a long last line');
  t.strictSame((await world.get('/projects')).body.projects, []);
  writeFileSync(path, stored);
  t.match(await imported(world, [path]), { code: 0, summary: { tables: { site_daily: { rows: 3 } } } });
});

t.test('an archive is read from the disk as far as it is needed', async (t) => {
  const world = await makeLazyWorld(t, { projects: [] });
  const path = join(temporaryFolder(t), 'large.zip');
  const zip = zipOf(ENGLISH);
  // Nothing is written there: the file is longer than memory may be, and takes no space.
  const hole = 3_000_000_000;
  changeEntries(zip, 42, (offset) => offset + hole);
  const end = zip.lastIndexOf(END);
  zip.writeUInt32LE(zip.readUInt32LE(end + 16) + hole, end + 16);
  const file = openSync(path, 'w');
  writeSync(file, zip, 0, zip.length, hole);
  closeSync(file);
  t.match(await imported(world, [path], '--force'), { code: 0, summary: { tables: { site_daily: { rows: 3 } } } });
});

t.test('an import can be repeated, exported and loaded again', async (t) => {
  const world = await makeLazyWorld(t, { projects: [] });
  const folder = folderWith(t, ENGLISH);
  const first = await imported(world, [folder]);
  const again = await imported(world, [folder]);
  t.equal(again.summary.project.id, first.summary.project.id);
  t.equal(again.summary.project.created, false);
  const { id } = first.summary.project;
  t.match((await world.get(`/projects/${id}/site?${RANGE}`)).body, { totals: { clicks: 1210 } });
  const out = join(temporaryFolder(t), 'out');
  t.match(await command({ ORDINATE_DATA: world.dataFolder }, 'export', '--project', id, '--out', out), { code: 0 });
  const other = await makeLazyWorld(t, { projects: [] });
  t.match(await command({ ORDINATE_DATA: other.dataFolder }, 'load', out), { code: 0 });
  for (const path of ['queries', 'pages', 'site']) {
    const [a, b] = [
      await world.get(`/projects/${id}/${path}?${RANGE}`),
      await other.get(`/projects/${id}/${path}?${RANGE}`),
    ];
    t.strictSame({ ...b.body, source: null }, { ...a.body, source: null }, path);
  }
});
