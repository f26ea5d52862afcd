// Each fact, question, field, endpoint and provider has one home, and what still stands elsewhere only becomes less.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { DIMENSION_NAMES, FACT_TABLES, MEASURES, ROLLUPS } from '../server/model/tables.ts';

const ROOT = join(import.meta.dirname, '..');

/** Files of a folder by their names without an ending: what still breaks a rule. */
type Listed = Readonly<Record<string, string>>;
/** Finds what breaks a rule in the text of a file; undefined if nothing does. */
type Offence = (text: string, file: string) => string | undefined;

const texts = new Map<string, string>();
function textOf(file: string): string {
  const text = texts.get(file) ?? readFileSync(join(ROOT, file), 'utf8');
  texts.set(file, text);
  return text;
}

const SERVER = globSync('server/**/*.{ts,tsx}', { cwd: ROOT, exclude: ['server/dashboard/dist/**'] }).toSorted();
const MODEL = 'server/model/';
/** Code without comments: rules are about what runs. */
const codeOf = (text: string): string => text.replaceAll(/^\s*(?:\/\*\*?|\*|\/\/).*$/gm, '');

/** The list as it would have to be: print it with PRINT_HOUSE=1. */
function shown(files: readonly string[]): string {
  const byFolder = Map.groupBy(files, dirname);
  const nameOf = (file: string): string => file.slice(dirname(file).length + 1).replace(/\.\w+$/, '');
  return [...byFolder].map(([folder, of]) => `  '${folder}': '${of.map(nameOf).join(' ')}',`).join('\n');
}

/** Fails for a file that breaks a rule and is not listed, and for one that is listed and keeps it. */
function ratchet(rule: string, files: readonly string[], offence: Offence, listed: Listed): void {
  t.test(rule, (t) => {
    const found = new Map<string, string>();
    for (const file of files) {
      const what = offence(textOf(file), file);
      if (what !== undefined) found.set(file, what);
    }
    if (process.env['PRINT_HOUSE'] === '1') t.comment(`${rule}\n${shown([...found.keys()])}`);
    const known = new Set(
      Object.entries(listed).flatMap(([folder, names]) => names.split(' ').map((name) => `${folder}/${name}`)),
    );
    const placeOf = (file: string): string => file.replace(/\.\w+$/, '');
    const fresh = [...found].filter(([file]) => !known.has(placeOf(file))).map(([file, what]) => `${file}: ${what}`);
    t.strictSame(fresh, [], 'no other file breaks it');
    const places = new Set([...found.keys()].map(placeOf));
    t.strictSame(
      [...known].filter((file) => !places.has(file)),
      [],
      'each listed file breaks it still: remove others',
    );
    t.end();
  });
}

/** A text with one of some words between quotes. */
const quoted = (words: readonly string[]): RegExp => new RegExp(`'(?:${words.join('|')})'`);
const first =
  (pattern: RegExp): Offence =>
  (text) =>
    pattern.exec(codeOf(text))?.[0];

const NAMES = quoted([...FACT_TABLES, ...ROLLUPS, ...Object.keys(MEASURES).filter((name) => name.includes('_'))]);
const DIMENSION = `'(?:${DIMENSION_NAMES.join('|')})'`;
ratchet(
  'tables and measures of facts are named in the model',
  SERVER.filter((file) => !file.startsWith(MODEL)),
  first(NAMES),
  /* tables */ {
    'server/alerts': 'evaluate hours rules',
    'server/catalog': 'alerts fact-files keywords',
    'server/dashboard': 'alert-chart archived-days data-state keyword line-days share-resources tracker',
    'server/dashboard/client/parts': 'question-chart',
    'server/dashboard/client/screens': 'keyword overview report shared',
    'server/export': 'export',
    'server/facts': 'days stored-facts',
    'server/formats': 'table',
    'server/import': 'ai-table facts plan read-table search-console',
    'server/lists': 'sources',
    'server/load': 'bulk-export-files bulk-export fact-checks load plausibility reference rollups',
    'server/presets': 'effect-answer effect-clicks explain findings-plan hours lists portfolio-plan surfaces',
    'server/projects': 'known-queries',
    'server/providers/bing': 'provider',
    'server/query': 'known-days question-answer question-days question-plan',
    'server/sync': [
      'compare fetch inspections new-days plan prepare project-state publish questions requests run',
      'tables',
    ].join(' '),
  },
);
ratchet(
  'dimensions are listed in the model',
  SERVER.filter((file) => !file.startsWith(MODEL)),
  first(new RegExp(`\\[\\s*(?:${DIMENSION},\\s*){2,}${DIMENSION}`)),
  /* dimensions */ {
    'server/dashboard/client/lib': 'question',
    'server/dashboard/client/parts': 'question-filters',
    'server/dashboard/client/screens': 'effect',
    'server/import': 'words',
    'server/presets': 'effects explain-rows explain',
  },
);
ratchet(
  'questions become SQL over facts in one place',
  globSync('sql/{alerts,effects,facts,findings,lists,presets,projects,reports,sync}/**/*.sql', {
    cwd: ROOT,
  }).toSorted(),
  (text) => /read_parquet\(\$files\)/.exec(text)?.[0],
  /* statements */ {
    'sql/alerts': [
      'keyword_cumulative_days keyword_impressions keyword_page_names keyword_pages page_urls table_days',
    ].join(' '),
    'sql/facts': [
      'click_days keyword_cumulative keyword_days keyword_running keyword_top_pages keyword_totals',
      'page_weights row_names row_sums site_daily sums',
    ].join(' '),
    'sql/lists': 'day_rows pair_rows period_rows week_rows',
    'sql/projects': 'known_queries',
    'sql/sync': 'country_rows_stored kept_keyword_rows',
  },
);
ratchet(
  'no statement over files is written in the code of answers',
  SERVER.filter((file) => !/^server\/(?:load|import|sandbox|facts)\//.test(file)),
  first(/read_parquet\(/),
  {},
);

/** Fields of JSON: properties of schemas. */
const FIELDS = new Set(
  globSync('server/presets/*.ts', { cwd: ROOT }).flatMap((file) =>
    [
      ...textOf(file).matchAll(
        /^\s+(\w+): (?:nullable\(|Type\.|openWords\(|oneOf\(|integer\(|count\(|whole\(|words\()/gm,
      ),
    ].map(([, name]) => name!),
  ),
);
const COLUMN = /(?:\[|name: )'(\w+)', (?:type: )?'(?:text|count|ratio|share|day|instant|boolean|ids)'/g;
ratchet(
  'a field of an answer is declared once',
  SERVER,
  (text) => [...codeOf(text).matchAll(COLUMN)].find(([, name]) => FIELDS.has(name!))?.[0],
  /* fields */ {
    'server/formats': 'table',
    'server/presets': 'keywords pages-and-queries surfaces',
  },
);

ratchet(
  'the schema of an answer stands in its preset',
  SERVER.filter((file) => !file.startsWith('server/presets/')),
  first(/\bobject\(\s*'\w+Answer'/),
  /* schemas */ { 'server/api': 'sql' },
);

const OPERATIONS = SERVER.flatMap((file) =>
  [...textOf(file).matchAll(/\boperation: '(\w+)'/g)].map(([, name]) => name!),
);
ratchet(
  'endpoints are listed once',
  SERVER.filter((file) => !file.startsWith('server/dashboard/client/')),
  (text) => quoted(OPERATIONS).exec(codeOf(text).replaceAll(/operation: '\w+'/g, ''))?.[0],
  /* endpoints */ {},
);

ratchet(
  'Bing is a folder of providers and rows of the model',
  SERVER.filter((file) => !file.startsWith(MODEL) && !file.startsWith('server/providers/bing/')),
  first(/\b[bB]ing\b|Bing(?![a-z])|\bbing(?=[A-Z_])|BING/),
  /* bing */ {
    'server/api/plugins': 'guide',
    'server/channels': 'message',
    'server/dashboard/client/parts': 'crawl states surfaces',
    'server/dashboard/client/screens': 'connect-bing connect data',
    'server/dashboard': 'connect-actions',
    'server/domain': 'errors',
    'server/import': 'ai-table',
    'server/lists': 'crawls',
    'server/mcp/tools': 'ai-answers index-state',
    'server/projects': 'bing',
    'server/providers': 'registry',
    'server/presets': 'ai index-state schemas',
    'server/settings': 'connect',
  },
);
