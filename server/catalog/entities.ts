import type { AlertRule } from '../domain/alert-rules.ts';
import type { Day } from '../domain/dates.ts';
import { isoInstantOrNull, type Microseconds } from '../domain/instants.ts';
import { INTENTS } from '../domain/intent.ts';
import { type Rule, SOURCES, SYNC_STATES } from '../domain/rules.ts';

/** Fields with a fixed set of values. */
export const WORDS = {
  syncStatus: SYNC_STATES,
  source: SOURCES,
  intent: INTENTS,
  groupKind: ['folder', 'manual', 'rule'],
  severity: ['info', 'warning', 'critical'],
  noteScope: ['workspace', 'project', 'group', 'keyword', 'page'],
  noteCategory: ['launch', 'content', 'technical', 'migration', 'campaign', 'other'],
} as const;
type Words = typeof WORDS;

/** The types of all other fields in the program. `server/load/column-types.ts` says how a snapshot writes them. */
interface Values<Instant> {
  text: string;
  /** A text that is not blank. */
  words: string;
  shortId: string;
  uuid: string;
  country: string;
  language: string;
  url: string;
  order: number;
  historyDays: number;
  flag: boolean;
  day: Day;
  factDay: Day;
  instant: Instant;
  pastInstant: Instant;
  /** A JSON array where it is stored. */
  textList: readonly string[];
  /** JSON where it is stored. */
  groupRule: Rule;
  /** JSON where it is stored. */
  alertRule: AlertRule;
}
type FieldType = keyof Values<unknown> | keyof Words;

interface FieldRules {
  /** A `?` marks a field that may be null or left out, and `?=sql` gives its default. */
  readonly type: FieldType | `${FieldType}?` | `${FieldType}?=${string}`;
  /** For the reference of snapshots, for answers, and for what members send. */
  readonly help: string;
}

/** What people and loads change, as a table of the catalog and of snapshots. */
interface EntityRules {
  readonly about: string;
  readonly key: readonly string[];
  /** By their columns. Those of answers have the same names in camel case. */
  readonly fields: Readonly<Record<string, FieldRules>>;
  /** A row. The examples of all tables together are a loadable snapshot. */
  readonly example: Readonly<Record<string, unknown>>;
}

const PROJECT_ID = 'The project.';

const DECLARED = {
  workspaces: {
    about: 'Owners of projects, members and API keys.',
    key: ['id'],
    fields: {
      id: { type: 'words', help: 'Its id, chosen freely.' },
      name: { type: 'words', help: 'Display name.' },
      plan: { type: 'words', help: '`free` has no API access; any other name is a paid plan.' },
      keyword_history_days: { type: 'historyDays', help: 'Days of keyword data that the plan can read.' },
    },
    example: { id: 'shop', name: 'The shop', plan: 'team', keyword_history_days: 486 },
  },
  projects: {
    about:
      'A property of the search engine, with its settings and synchronisation state. Ids are unique over all workspaces.',
    key: ['id'],
    fields: {
      id: { type: 'shortId', help: 'Its id.' },
      workspace_id: { type: 'words', help: 'The workspace that owns it.' },
      domain: { type: 'words', help: 'Display domain.' },
      property: { type: 'words', help: "The property's name: `sc-domain:example.com` or `https://example.com/`." },
      country: { type: 'country?', help: 'Its lists are filtered by this country.' },
      language: { type: 'language?', help: 'Its language.' },
      brand_terms: { type: "textList?='[]'", help: 'A query that contains one of these texts is a brand query.' },
      brand_words: {
        type: 'textList?',
        help: 'A query that has one of these texts as whole words, in any case and with or without accents, is one too.',
      },
      sync_status: {
        type: 'syncStatus?',
        help: 'State of its synchronisation. Default: `ok` if synced_through is set, else `pending`.',
      },
      last_synced_at: { type: 'pastInstant?', help: 'When its data was last updated.' },
      synced_through: { type: 'factDay?', help: 'The last day with data. Without it no facts are served.' },
      provisional_after: { type: 'factDay?', help: 'Days after this one may still change.' },
      history_backfilling: { type: 'flag?=false', help: 'Whether older days are still being loaded.' },
      setup_finished: { type: 'flag?=true', help: 'Unfinished projects are not served.' },
      created_at: { type: 'instant', help: 'When it was created; projects are listed in this order.' },
    },
    example: {
      id: 'Shop1',
      workspace_id: 'shop',
      domain: 'shop.example',
      property: 'sc-domain:shop.example',
      brand_terms: ['shop'],
      synced_through: '2026-03-02',
      created_at: '2026-01-01T00:00:00Z',
    },
  },
  keywords: {
    about: 'Tracked queries of a project.',
    key: ['project_id', 'id'],
    fields: {
      project_id: { type: 'shortId', help: PROJECT_ID },
      id: { type: 'shortId', help: 'Its id, unique in its project.' },
      query: { type: 'words', help: "The query; unique among the project's keywords that are not archived." },
      source: { type: "source?='import'", help: 'How it was added.' },
      tracked_since: { type: 'instant', help: 'When tracking started.' },
      intent: { type: 'intent?', help: 'Search intent; estimated from the query by default.' },
      archived: { type: 'flag?=false', help: 'Archived keywords are not served.' },
      target_url: { type: 'url?', help: 'The page that should rank for it; an alert opens when another page does.' },
      tags: { type: 'textList?', help: 'Words that it can be found by.' },
    },
    example: { project_id: 'Shop1', id: 'Kw001', query: 'red shoes', tracked_since: '2026-01-01T00:00:00Z' },
  },
  groups: {
    about: 'Groups of keywords: folders, groups with members, and groups by rule.',
    key: ['project_id', 'id'],
    fields: {
      project_id: { type: 'shortId', help: PROJECT_ID },
      id: { type: 'shortId', help: 'Its id, unique in its project.' },
      name: { type: 'words', help: 'Its name.' },
      kind: { type: 'groupKind', help: 'A folder of groups, a group with members, or a group by rule.' },
      parent_id: { type: 'shortId?', help: 'The folder that contains it.' },
      position: { type: 'order', help: 'Its place among the groups of the same parent.' },
      pinned: { type: 'flag?=false', help: 'Whether it is listed first.' },
      rule: { type: 'groupRule?', help: 'Which keywords belong to it; for groups of kind `rule` and only for them.' },
    },
    example: { project_id: 'Shop1', id: 'Gr001', name: 'Shoes', kind: 'manual', position: 1 },
  },
  group_members: {
    about: 'Which keywords belong to a group of kind `manual`.',
    key: ['project_id', 'group_id', 'keyword_id'],
    fields: {
      project_id: { type: 'shortId', help: PROJECT_ID },
      group_id: { type: 'shortId', help: 'The group.' },
      keyword_id: { type: 'shortId', help: 'The keyword.' },
    },
    example: { project_id: 'Shop1', group_id: 'Gr001', keyword_id: 'Kw001' },
  },
  page_groups: {
    about: 'Groups of pages, by rule.',
    key: ['project_id', 'id'],
    fields: {
      project_id: { type: 'shortId', help: PROJECT_ID },
      id: { type: 'shortId', help: 'Its id, unique in its project.' },
      name: { type: 'words', help: 'Its name.' },
      position: { type: 'order', help: 'Its place.' },
      rule: { type: 'groupRule', help: 'Which pages belong to it.' },
      pinned_urls: {
        type: "textList?='[]'",
        help: 'URL paths of pages that belong to it regardless of the rule, such as `/blog/best`.',
      },
    },
    example: {
      project_id: 'Shop1',
      id: 'Pg001',
      name: 'Blog',
      position: 1,
      rule: { match: 'any', conditions: [{ op: 'starts_with', value: '/blog' }] },
    },
  },
  alerts: {
    about: 'Events that need attention.',
    key: ['id'],
    fields: {
      id: { type: 'uuid', help: 'Its id, unique over all projects.' },
      project_id: { type: 'shortId', help: PROJECT_ID },
      type: { type: 'words', help: 'Machine name of the check, such as keyword_drop or traffic_drop.' },
      kind: { type: 'text', help: 'Label of the check.' },
      severity: { type: 'severity', help: 'Its severity.' },
      title: { type: 'text', help: 'Its title.' },
      body: { type: 'text', help: 'What happened.' },
      date: { type: 'day?', help: 'The day that it concerns, if any.' },
      keyword_id: { type: 'shortId?', help: 'The keyword that it is about.' },
      url: { type: 'text?', help: 'A link to what it is about.' },
      created_at: { type: 'instant', help: 'When it was raised.' },
      resolved_at: { type: 'instant?', help: 'When it was resolved; null while it is open.' },
    },
    example: {
      id: '0a1b2c3d-0000-4000-8000-000000000001',
      project_id: 'Shop1',
      type: 'keyword_drop',
      kind: 'Keyword drop',
      severity: 'warning',
      title: 'red shoes fell by 3',
      body: 'From 4.0 to 7.0.',
      date: '2026-03-02',
      keyword_id: 'Kw001',
      created_at: '2026-03-03T04:05:06Z',
    },
  },
  alert_rules: {
    about:
      'Custom rules, evaluated on each final day: an alert opens when the condition holds, and resolves when it does not. Ids are unique over all projects.',
    key: ['id'],
    fields: {
      id: { type: 'uuid', help: 'Its id.' },
      project_id: { type: 'shortId', help: PROJECT_ID },
      name: { type: 'words', help: 'Its name, shown in alerts.' },
      rule: {
        type: 'alertRule',
        help: 'JSON: `{scope: site|group|keyword|page_group, id?, metric: clicks|impressions|ctr|position, window: "7d", against: value|previous|year, op: lt|gt|falls_by|rises_by, value, unit: percent|absolute, min_impressions?, for?, resolve_at?}`. `lt` and `gt` go with `against: value`, `falls_by` and `rises_by` with the window before (`previous`) or 364 days earlier (`year`).',
      },
      severity: { type: "severity?='warning'", help: 'Severity of its alerts.' },
      enabled: { type: 'flag?=true', help: 'Whether it is evaluated; by default it is.' },
    },
    example: {
      id: '7d9f0c52-3a11-4b7e-9c55-0d4e9e1f2a10',
      project_id: 'Shop1',
      name: 'Clicks fall',
      rule: {
        scope: 'site',
        metric: 'clicks',
        window: '7d',
        against: 'previous',
        op: 'falls_by',
        value: 30,
        unit: 'percent',
      },
    },
  },
  notes: {
    about: 'Notes about a day or a range of days.',
    key: ['id'],
    fields: {
      id: { type: 'uuid', help: 'Its id, unique over all workspaces.' },
      workspace_id: { type: 'words', help: 'The workspace.' },
      project_id: { type: 'shortId?', help: 'The project; omitted only for notes with workspace scope.' },
      scope: { type: 'noteScope', help: 'What it is about.' },
      date: { type: 'day', help: 'Its first day.' },
      end_date: { type: 'day?', help: 'The last day of a range, not before the first; null for a single day.' },
      category: { type: 'noteCategory', help: 'The kind of change.' },
      text: { type: 'text', help: 'What was changed.' },
      client_visible: { type: 'flag?=false', help: 'Whether clients see it in reports and shared links.' },
      author: { type: 'text', help: 'Who wrote it.' },
      group_id: { type: 'shortId?', help: 'The group that it is about.' },
      keyword_id: { type: 'shortId?', help: 'The keyword that it is about.' },
      page: { type: 'text?', help: 'The page that it is about.' },
      created_at: { type: 'instant', help: 'When it was written.' },
      updated_at: { type: 'instant', help: 'When it was last changed.' },
    },
    example: {
      id: '0a1b2c3d-0000-4000-8000-000000000002',
      workspace_id: 'shop',
      project_id: 'Shop1',
      scope: 'project',
      date: '2026-03-01',
      category: 'launch',
      text: 'New shop front',
      author: 'Marketing',
      created_at: '2026-03-01T10:00:00Z',
      updated_at: '2026-03-01T10:00:00Z',
    },
  },
} as const satisfies Readonly<Record<string, EntityRules>>;

export type EntityName = keyof typeof DECLARED;
/** The tables of entities; each refers only to earlier ones. */
export const ENTITY_NAMES = Object.keys(DECLARED) as EntityName[];
export const ENTITY_RULES: Readonly<Record<EntityName, EntityRules>> = DECLARED;

type Fields<Name extends EntityName> = (typeof DECLARED)[Name]['fields'];

type Camel<Column extends string> = Column extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Column;

type ValueOf<Type extends string, Instant> = Type extends keyof Values<Instant>
  ? Values<Instant>[Type]
  : Type extends keyof Words
    ? Words[Type][number]
    : Type extends `${infer Kept}?=${string}`
      ? ValueOf<Kept, Instant>
      : Type extends `${infer Kept}?`
        ? ValueOf<Kept, Instant> | null
        : never;

/** The type of a column as it is declared. */
type Declared<Name extends EntityName, Column extends keyof Fields<Name>> = Fields<Name>[Column] extends {
  readonly type: infer Type extends string;
}
  ? Type
  : never;

/** An entity in the program. @template Instant what its instants are; texts in answers */
export type Entity<Name extends EntityName, Instant = Microseconds> = {
  readonly [Column in keyof Fields<Name> & string as Camel<Column>]: ValueOf<Declared<Name, Column>, Instant>;
};

/** The fields of an entity that may be left out, with their defaults. */
export type Defaults<Name extends EntityName> = {
  readonly [Column in keyof Fields<Name> & string as Declared<Name, Column> extends `${string}?${string}`
    ? Camel<Column>
    : never]: ValueOf<Declared<Name, Column>, Microseconds>;
};

/** What an entity has where nothing is said. Those that a load derives from other fields are null. */
export function defaultsOf<Name extends EntityName>(entity: Name): Defaults<Name> {
  const optional = FIELDS[entity].filter(({ isOptional }) => isOptional);
  return Object.fromEntries(optional.map(({ name, fallback }) => [name, valueOfSql(fallback)])) as Defaults<Name>;
}

function valueOfSql(fallback: string | undefined): unknown {
  if (fallback === undefined) return null;
  const text = /^'(.*)'$/.exec(fallback)?.[1];
  return text === undefined || text === '[]' ? JSON.parse(text ?? fallback) : text;
}

/** The names of the flags of an entity. */
export type FlagName<Name extends EntityName> = {
  [Column in keyof Fields<Name> & string]: Declared<Name, Column> extends `flag${string}` ? Camel<Column> : never;
}[keyof Fields<Name> & string];

/** Whether something is so of an entity: fields that people send as they are. */
export function flagsOf<Name extends EntityName>(entity: Name): readonly (Field & { readonly name: FlagName<Name> })[] {
  return FIELDS[entity].filter((field): field is Field & { readonly name: FlagName<Name> } => field.type === 'flag');
}

/** The same with its instants as texts, as answers have them; or a part of an entity, with more. */
export function withTexts<Name extends EntityName, Part extends object>(
  entity: Name,
  part: Part,
): { readonly [Key in keyof Part]: Key extends keyof Entity<Name> ? Entity<Name, string>[Key] : Part[Key] } {
  const instants = FIELDS[entity].filter(({ name, type }) => name in part && /instant$/i.test(type));
  const values = part as Readonly<Record<string, Microseconds | null>>;
  return Object.assign(
    { ...part },
    Object.fromEntries(instants.map(({ name }) => [name, isoInstantOrNull(values[name] ?? null)])),
  ) as never;
}

export interface Field {
  /** In the program and in answers. */
  readonly name: string;
  readonly column: string;
  readonly type: FieldType;
  readonly isOptional: boolean;
  /** SQL of its default: a word or a quoted text. */
  readonly fallback: string | undefined;
  readonly help: string;
}

/** The fields of each entity in their order. */
export const FIELDS = Object.fromEntries(
  ENTITY_NAMES.map((entity) => [entity, fieldsOf(entity)]),
) as unknown as Readonly<Record<EntityName, readonly Field[]>>;

function fieldsOf(entity: EntityName): Field[] {
  return Object.entries(ENTITY_RULES[entity].fields).map(([column, { type, help }]) => {
    const [name = '', fallback] = type.split('?');
    return {
      name: column.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
      column,
      type: name as FieldType,
      isOptional: fallback !== undefined,
      fallback: fallback ? fallback.slice(1) : undefined,
      help,
    };
  });
}
