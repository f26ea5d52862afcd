import type { ComponentChildren } from 'preact';
import { OTHER_ENGINES, SURFACES } from '../../../model/surfaces.ts';
import { formatDate } from '../lib/dates.ts';
import { describeCondition, parseFilter, writeFilter } from '../lib/filter.ts';
import { countryName, DEVICE_NAMES } from '../lib/format.ts';
import { surfaceParameters, useView } from '../lib/view.ts';
import { Icon } from './icons.tsx';

/** The search types, as the search engine's own pages call them, and other engines. */
export const TYPE_NAMES: Readonly<Record<string, string>> = {
  web: 'Web',
  image: 'Image',
  video: 'Video',
  news: 'News tab',
  discover: 'Discover',
  googleNews: 'Google News',
  ...Object.fromEntries(OTHER_ENGINES.map((engine) => [engine, SURFACES[engine].label])),
};

/** What a screen may be filtered by, besides numbers of its rows. */
export type Filtered = 'day' | 'country' | 'device' | 'type' | 'query' | 'url' | 'domain';
const FILTERED: ReadonlySet<string> = new Set<Filtered>(['day', 'country', 'device', 'type', 'query', 'url', 'domain']);

interface ViewChipsProps {
  /** Filters that count on this screen; others stay in the address, for other screens. */
  readonly by: readonly Filtered[];
}

/** All filters of the view; each is removed by a click. */
export function ViewChips({ by }: ViewChipsProps) {
  return (
    <>
      <SliceChips by={by} />
      <ConditionChips by={by} />
    </>
  );
}

/** The filters that are no conditions on rows: a day, a country, a device. */
function SliceChips({ by }: ViewChipsProps) {
  const view = useView();
  const change = (changes: Readonly<Record<string, string | null>>): void => view.change({ ...changes, offset: null });
  return (
    <>
      {view.from !== null && view.from === view.to && (
        <Chip isIdle={isIdle('day', by)} onRemove={() => change({ from: null, to: null })}>
          {`only ${formatDate(view.from)}`}
        </Chip>
      )}
      {view.country !== '' && (
        <Chip isIdle={isIdle('country', by)} onRemove={() => change({ country: null })}>
          {countryName(view.country)}
        </Chip>
      )}
      {view.device !== 'all' && (
        <Chip isIdle={isIdle('device', by)} onRemove={() => change({ device: null })}>
          {DEVICE_NAMES[view.device]!}
        </Chip>
      )}
      {view.type !== 'web' && (
        <Chip isIdle={isIdle('type', by)} onRemove={() => change(surfaceParameters('web'))}>
          {TYPE_NAMES[view.type]!}
        </Chip>
      )}
    </>
  );
}

/** The conditions on texts and numbers of rows. */
export function ConditionChips({ by }: ViewChipsProps) {
  const view = useView();
  const filter = view.get('filter');
  const conditions = parseFilter(filter);
  const put = (next: string): void => view.change({ filter: next || null, offset: null });
  return (
    <>
      {filter.trimStart().startsWith('{') && (
        <Chip onRemove={() => put('')}>
          <code>{filter}</code>
        </Chip>
      )}
      {conditions.map((condition, index) => (
        <Chip
          key={describeCondition(condition)}
          isIdle={isIdle(condition.field, by)}
          onRemove={() => put(writeFilter(conditions.filter((_, at) => at !== index)))}
        >
          {describeCondition(condition)}
        </Chip>
      ))}
    </>
  );
}

function isIdle(name: string, by: readonly Filtered[]): boolean {
  return FILTERED.has(name) && !by.some((counted) => counted === name);
}

interface ChipProps {
  readonly isIdle?: boolean;
  readonly onRemove: () => void;
  readonly children: ComponentChildren;
}

export function Chip({ isIdle = false, onRemove, children }: ChipProps) {
  return (
    <button
      type="button"
      class={`chip ${isIdle ? 'is-idle' : ''}`}
      title={isIdle ? 'These numbers are not filtered by it' : undefined}
      onClick={onRemove}
    >
      <span dir="auto">{children}</span> <Icon name="close" size={12} />
      <span class="sr-only">{isIdle ? 'does not count here: remove this filter' : 'remove this filter'}</span>
    </button>
  );
}

interface ChipBarProps extends ViewChipsProps {
  /** Whether conditions on rows are shown elsewhere. */
  readonly isSliceOnly?: boolean;
}

/** The filters of a view without a search; nothing where there are none. */
export function ChipBar({ by, isSliceOnly = false }: ChipBarProps) {
  const view = useView();
  const isOneDay = view.from !== null && view.from === view.to;
  const hasConditions = !isSliceOnly && view.get('filter') !== '';
  const isWhole = view.country === '' && view.device === 'all' && view.type === 'web';
  if (!isOneDay && isWhole && !hasConditions) return null;
  return <div class="filter-bar">{isSliceOnly ? <SliceChips by={by} /> : <ViewChips by={by} />}</div>;
}
