import { useState } from 'preact/hooks';
import { useResource } from '../lib/api.ts';
import { DEVICE_NAMES } from '../lib/format.ts';
import { describeFilter, OPERATORS, type QuestionFilter, SUBJECTS, valueName } from '../lib/question.ts';
import { Select } from './controls.tsx';
import { Icon } from './icons.tsx';
import { Chip } from './view-chips.tsx';

interface Props {
  readonly project: string;
  readonly filters: readonly QuestionFilter[];
  readonly onChange: (filters: readonly QuestionFilter[]) => void;
}

/** The filters of a question, of which all must hold. */
export function QuestionFilters({ project, filters, onChange }: Props) {
  const [isAdding, setAdding] = useState(false);
  return (
    <>
      {filters.map((filter, index) => (
        <Chip key={JSON.stringify(filter)} onRemove={() => onChange(filters.filter((_, at) => at !== index))}>
          {describeFilter(filter)}
        </Chip>
      ))}
      <button type="button" class="button" aria-expanded={isAdding} onClick={() => setAdding(!isAdding)}>
        <Icon name="plus" size={14} /> Filter
      </button>
      {isAdding && (
        <NewFilter
          project={project}
          onAdd={(filter) => {
            setAdding(false);
            onChange([...filters, filter]);
          }}
        />
      )}
    </>
  );
}

/** Dimensions whose texts can be searched; the others have `is` only. */
const TEXTS: readonly string[] = ['query', 'page', 'keyword'];
const CHOICES: Readonly<Record<string, readonly string[]>> = {
  device: Object.keys(DEVICE_NAMES),
  brand: ['brand', 'non_brand'],
};

function NewFilter({ project, onAdd }: { project: string; onAdd: (filter: QuestionFilter) => void }) {
  const [dimension, setDimension] = useState<string>('query');
  const [verb, setVerb] = useState('contains');
  const [value, setValue] = useState('');
  const groups = useGroups(project, dimension);
  const choices = groups ?? CHOICES[dimension]?.map((one) => [one, valueName(dimension, one)] as const);
  const chosen = choices === undefined ? value : (choices.find(([one]) => one === value)?.[0] ?? choices[0]?.[0] ?? '');
  const operators = TEXTS.includes(dimension) ? OPERATORS : OPERATORS.slice(0, 1);
  return (
    <form
      class="new-condition"
      onSubmit={(event) => {
        event.preventDefault();
        const isNot = verb.startsWith('not ');
        const values = dimension === 'country' ? chosen.toLowerCase().match(/[a-z]{3}/g) : [chosen];
        const condition: QuestionFilter = [isNot ? verb.slice(4) : verb, dimension, values ?? []];
        onAdd(isNot ? ['not', condition] : condition);
      }}
    >
      <Select
        label="Filter by"
        value={dimension}
        options={SUBJECTS}
        onChange={(next) => {
          setDimension(next);
          setVerb(TEXTS.includes(next) ? 'contains' : 'equals');
          setValue('');
        }}
      />
      <Select
        label="Operator"
        value={verb}
        options={operators.flatMap(([op, name]) => [[op, name] as const, [`not ${op}`, `not: ${name}`] as const])}
        onChange={setVerb}
      />
      {choices === undefined ? (
        <input
          key={dimension}
          required
          maxLength={1000}
          aria-label="Value"
          {...(dimension === 'country'
            ? { pattern: '[A-Za-z]{3}([ ,]+[A-Za-z]{3})*', title: 'Codes of three letters, such as gbr, irl' }
            : {})}
          placeholder={dimension === 'country' ? 'gbr, irl' : dimension === 'appearance' ? 'VIDEO' : 'value'}
          value={value}
          onInput={(event) => setValue(event.currentTarget.value)}
        />
      ) : (
        <Select label="Value" value={chosen} options={choices} onChange={setValue} />
      )}
      <button type="submit" class="button button-main" disabled={choices?.length === 0}>
        Add
      </button>
    </form>
  );
}

interface Named {
  readonly id: string;
  readonly name: string;
}

/** The groups to choose from; undefined for a dimension that has none. */
function useGroups(project: string, dimension: string): readonly (readonly [string, string])[] | undefined {
  const path = { group: 'groups', pageGroup: 'page-groups' }[dimension];
  const { data } = useResource<{ groups?: readonly Named[]; pageGroups?: readonly Named[] }>(
    path === undefined ? null : `/projects/${project}/${path}`,
  );
  if (path === undefined) return undefined;
  return (data?.groups ?? data?.pageGroups ?? []).map(({ id, name }) => [id, name] as const);
}
