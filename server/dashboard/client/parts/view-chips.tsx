import type { ComponentChildren } from 'preact';
import { formatDate } from '../lib/dates.ts';
import { describeCondition, parseFilter, writeFilter } from '../lib/filter.ts';
import { countryName } from '../lib/format.ts';
import { useView } from '../lib/view.ts';
import { Icon } from './icons.tsx';

export const DEVICE_NAMES: Readonly<Record<string, string>> = {
  desktop: 'Desktop',
  mobile: 'Mobile',
  tablet: 'Tablet',
};

/** What a screen may be filtered by, besides numbers of its rows. */
export type Filtered = 'day' | 'country' | 'device' | 'query' | 'url' | 'domain';
const FILTERED: ReadonlySet<string> = new Set<Filtered>(['day', 'country', 'device', 'query', 'url', 'domain']);

interface ViewChipsProps {
  /** Filters that count on this screen; others stay in the address, for other screens. */
  readonly by: readonly Filtered[];
}

/** All filters of the view; each is removed by a click. */
export function ViewChips({ by }: ViewChipsProps) {
  const view = useView();
  const filter = view.get('filter');
  const isJson = filter.trimStart().startsWith('{');
  const conditions = parseFilter(filter);
  const idle = (name: string): boolean => FILTERED.has(name) && !by.some((counted) => counted === name);
  const change = (changes: Readonly<Record<string, string | null>>): void => view.change({ ...changes, offset: null });
  return (
    <>
      {view.from !== null && view.from === view.to && (
        <Chip isIdle={idle('day')} onRemove={() => change({ from: null, to: null })}>
          {`only ${formatDate(view.from)}`}
        </Chip>
      )}
      {view.country !== '' && (
        <Chip isIdle={idle('country')} onRemove={() => change({ country: null })}>
          {countryName(view.country)}
        </Chip>
      )}
      {view.device !== 'all' && (
        <Chip isIdle={idle('device')} onRemove={() => change({ device: null })}>
          {DEVICE_NAMES[view.device]!}
        </Chip>
      )}
      {isJson && (
        <Chip onRemove={() => change({ filter: null })}>
          <code>{filter}</code>
        </Chip>
      )}
      {conditions.map((condition, index) => (
        <Chip
          key={describeCondition(condition)}
          isIdle={idle(condition.field)}
          onRemove={() => change({ filter: writeFilter(conditions.filter((_, at) => at !== index)) || null })}
        >
          {describeCondition(condition)}
        </Chip>
      ))}
    </>
  );
}

interface ChipProps {
  readonly isIdle?: boolean;
  readonly onRemove: () => void;
  readonly children: ComponentChildren;
}

function Chip({ isIdle = false, onRemove, children }: ChipProps) {
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

/** The filters of a view without a search; nothing where there are none. */
export function ChipBar({ by }: ViewChipsProps) {
  const view = useView();
  const isOneDay = view.from !== null && view.from === view.to;
  if (!isOneDay && view.country === '' && view.device === 'all' && view.get('filter') === '') return null;
  return (
    <div class="filter-bar">
      <ViewChips by={by} />
    </div>
  );
}
