import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import {
  type Condition,
  filterOfRows,
  NUMBER_OPERATORS,
  parseFilter,
  TEXT_FIELDS,
  TEXT_OPERATORS,
  type TextField,
  writeFilter,
} from '../lib/filter.ts';
import { METRIC_NAMES, ratioOf } from '../lib/format.ts';
import { METRICS } from '../lib/types.ts';
import { useView } from '../lib/view.ts';
import { Select } from './controls.tsx';
import { Icon } from './icons.tsx';
import { type Filtered, ViewChips } from './view-chips.tsx';

/** Typing searches after this pause, in milliseconds. */
const PAUSE = 300;

interface FilterBarProps {
  readonly field: TextField;
  readonly placeholder: string;
  /** Filters that count on this screen, besides its texts and numbers. */
  readonly by?: readonly Filtered[];
  /** Other filters. */
  readonly children?: ComponentChildren;
}

/** Filters a list: a text to search for, and conditions in the language of the API. */
export function FilterBar({ field, placeholder, by = [], children }: FilterBarProps) {
  return (
    <div class="filter-bar">
      <Search placeholder={placeholder} />
      {children}
      <ViewChips by={[...by, 'day', field]} />
      <AddFilter fields={[field]} />
    </div>
  );
}

/** A button that opens a form for one more condition on texts of rows or on their numbers. */
export function AddFilter({ fields }: { fields: readonly TextField[] }) {
  const view = useView();
  const [isAdding, setAdding] = useState(false);
  const filter = view.get('filter');
  // A filter in JSON cannot be taken apart.
  if (filter.trimStart().startsWith('{')) return null;
  const add = (condition: Condition): void => {
    setAdding(false);
    view.change({ filter: writeFilter([...parseFilter(filter), condition]), offset: null });
  };
  return (
    <>
      <button type="button" class="button" aria-expanded={isAdding} onClick={() => setAdding(!isAdding)}>
        <Icon name="plus" size={14} /> Filter
      </button>
      {isAdding && <NewCondition fields={fields} onAdd={add} />}
    </>
  );
}

/** What is typed here is searched for in the names of rows. */
export function Search({ placeholder }: { placeholder: string }) {
  const view = useView();
  const known = view.get('search');
  const [text, setText] = useState(known);
  const typed = useRef(known);
  useEffect(() => {
    // The address was changed by something else than typing.
    if (known !== typed.current) setText(known);
    typed.current = known;
  }, [known]);
  useEffect(() => {
    if (text === typed.current) return;
    const timer = setTimeout(() => {
      typed.current = text;
      view.change({ search: text || null, offset: null }, { replace: true });
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <input
      type="search"
      data-filter
      aria-label={placeholder.replace(/ *\/$/, '')}
      aria-keyshortcuts="/"
      placeholder={placeholder}
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
    />
  );
}

interface NewConditionProps {
  readonly fields: readonly TextField[];
  readonly onAdd: (condition: Condition) => void;
}

function NewCondition({ fields, onAdd }: NewConditionProps) {
  const [field, setField] = useState<string>(fields[0]!);
  const [op, setOp] = useState('contains');
  const [value, setValue] = useState('');
  const isText = isTextField(field);
  const operators = isText ? TEXT_OPERATORS : NUMBER_OPERATORS;
  return (
    <form
      class="new-condition"
      onSubmit={(event) => {
        event.preventDefault();
        // Shares are shown in percent and asked for as ratios.
        const sent = field === 'ctr' ? String(ratioOf(Number(value))) : value;
        onAdd({ field, op, value: sent });
      }}
    >
      <Select
        label="Field"
        value={field}
        options={[
          ...fields.map((name) => [name, TEXT_FIELDS[name]] as const),
          ...METRICS.map((name) => [name, METRIC_NAMES[name]] as const),
        ]}
        onChange={(next) => {
          setField(next);
          if (isTextField(next) !== isText) setOp(isTextField(next) ? 'contains' : 'lte');
        }}
      />
      <Select label="Operator" value={op} options={operators} onChange={setOp} />
      <input
        // Another field is another input: browsers keep the pattern of one that had it.
        key={isText ? 'text' : 'number'}
        required
        inputMode={isText ? 'text' : 'decimal'}
        {...(isText ? {} : { pattern: '[0-9]+([.][0-9]+)?', title: 'A number, such as 10 or 2.5' })}
        aria-label={field === 'ctr' ? 'Value in percent' : 'Value'}
        placeholder={field === 'ctr' ? 'percent' : 'value'}
        value={value}
        onInput={(event) => setValue(event.currentTarget.value)}
      />
      <button type="submit" class="button button-main">
        Add
      </button>
    </form>
  );
}

function isTextField(name: string): boolean {
  return name in TEXT_FIELDS;
}

/** The filter of the address and the search, as one. */
export function useFilter(field: TextField): string {
  const view = useView();
  const search = view.get('search').trim();
  const filter = filterOfRows(view.get('filter'), field);
  if (search === '' || filter.trimStart().startsWith('{')) return filter;
  const found = writeFilter([{ field, op: 'contains', value: search }]);
  return filter === '' ? found : `${found};${filter}`;
}
