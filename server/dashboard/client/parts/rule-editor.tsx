import { formatBound, nameInSentence, percentageOf, ratioOf } from '../lib/format.ts';
import type { Metric } from '../lib/types.ts';
import { Select } from './controls.tsx';
import { Icon } from './icons.tsx';

export interface Condition {
  readonly field?: string;
  readonly op: string;
  readonly value: string | number;
}

export interface GroupRule {
  readonly match: 'all' | 'any';
  readonly conditions: readonly Condition[];
}

const TEXT_OPS = [
  ['contains', 'contains'],
  ['not_contains', 'does not contain'],
  ['equals', 'is'],
  ['not_equals', 'is not'],
  ['starts_with', 'begins with'],
  ['ends_with', 'ends with'],
  ['matches', 'matches the expression'],
] as const;
const NUMBER_OPS = [
  ['lt', 'below'],
  ['lte', 'at most'],
  ['gt', 'above'],
  ['gte', 'at least'],
  ['eq', 'exactly'],
  ['neq', 'not'],
] as const;
const CHOICE_OPS = [
  ['equals', 'is'],
  ['not_equals', 'is not'],
] as const;
const FIELDS: Readonly<
  Record<string, { readonly name: string; readonly choices?: readonly string[]; readonly isNumber?: true }>
> = {
  query: { name: 'Query' },
  intent: { name: 'Intent', choices: ['informational', 'navigational', 'commercial', 'transactional'] },
  source: { name: 'Source', choices: ['suggested', 'manual', 'import'] },
  clicks: { name: 'Clicks', isNumber: true },
  impressions: { name: 'Impressions', isNumber: true },
  ctr: { name: 'CTR', isNumber: true },
  position: { name: 'Position', isNumber: true },
};

const opsOf = (field: string): readonly (readonly [string, string])[] => {
  if (FIELDS[field]?.isNumber) return NUMBER_OPS;
  return FIELDS[field]?.choices ? CHOICE_OPS : TEXT_OPS;
};

/** The first condition of a new rule. */
export function newRule(of: 'keywords' | 'pages'): GroupRule {
  const first = of === 'keywords' ? { field: 'query', op: 'contains', value: '' } : { op: 'starts_with', value: '/' };
  return { match: 'all', conditions: [first] };
}

interface RuleEditorProps {
  readonly of: 'keywords' | 'pages';
  readonly rule: GroupRule;
  readonly onChange: (rule: GroupRule) => void;
}

/** The conditions of a group: on keywords by field, on pages by their path. */
export function RuleEditor({ of, rule, onChange }: RuleEditorProps) {
  const { match, conditions } = rule;
  const change = (index: number, next: Condition | undefined): void => {
    const others = conditions.flatMap((one, place) => (place === index ? (next === undefined ? [] : [next]) : [one]));
    onChange({ match, conditions: others });
  };
  return (
    <fieldset class="field">
      <legend>{of === 'keywords' ? 'Keywords that meet' : 'Pages whose path meets'}</legend>
      <Select
        label="How many conditions"
        value={match}
        options={[
          ['all', 'all conditions'],
          ['any', 'any condition'],
        ]}
        onChange={(next) => onChange({ match: next as GroupRule['match'], conditions })}
      />
      {conditions.map((condition, index) => (
        <ConditionRow
          key={index}
          of={of}
          condition={condition}
          onChange={(next) => change(index, next)}
          onRemove={conditions.length > 1 ? () => change(index, undefined) : undefined}
        />
      ))}
      <button
        type="button"
        class="button"
        onClick={() => onChange({ match, conditions: [...conditions, ...newRule(of).conditions] })}
      >
        <Icon name="plus" /> Condition
      </button>
    </fieldset>
  );
}

interface RowProps {
  readonly of: 'keywords' | 'pages';
  readonly condition: Condition;
  readonly onChange: (condition: Condition) => void;
  readonly onRemove: (() => void) | undefined;
}

function ConditionRow({ of, condition, onChange, onRemove }: RowProps) {
  const { field = '', op, value } = condition;
  const { isNumber = false, choices } = FIELDS[field] ?? { name: 'Path' };
  // Shares are shown in percent and stored as ratios.
  const isShare = field === 'ctr';
  return (
    <div class="condition">
      {of === 'keywords' && (
        <Select
          label="Field"
          value={field}
          options={Object.entries(FIELDS).map(([name, shown]) => [name, shown.name] as const)}
          onChange={(next) =>
            onChange({ field: next, op: opsOf(next)[0]![0], value: FIELDS[next]?.choices?.[0] ?? '' })
          }
        />
      )}
      <Select
        label="Operator"
        value={op}
        options={opsOf(field)}
        onChange={(next) => onChange({ ...condition, op: next })}
      />
      {choices === undefined ? (
        <input
          aria-label={isShare ? 'Value in percent' : 'Value'}
          required
          // The types of inputs allow each type for itself only.
          type={(isNumber ? 'number' : 'text') as 'text'}
          step="any"
          value={String(isShare ? percentageOf(Number(value)) : value)}
          dir="auto"
          onInput={({ currentTarget: { value: next } }) =>
            onChange({ ...condition, value: isShare ? ratioOf(Number(next)) : isNumber ? Number(next) : next })
          }
        />
      ) : (
        <Select
          label="Value"
          value={String(value)}
          options={choices.map((choice) => [choice, choice])}
          onChange={(next) => onChange({ ...condition, value: next })}
        />
      )}
      {onRemove && (
        <button type="button" class="icon-button" aria-label="Remove the condition" onClick={onRemove}>
          <Icon name="close" />
        </button>
      )}
    </div>
  );
}

/** A rule in words. */
export function describeRule({ match, conditions }: GroupRule): string {
  return conditions
    .map(({ field = '', op, value }) => {
      const words = opsOf(field).find(([name]) => name === op)?.[1] ?? op;
      const shown = FIELDS[field]?.isNumber ? formatBound(field as Metric, Number(value)) : value;
      return `${nameInSentence(FIELDS[field]?.name ?? 'Path')} ${words} ${shown}`;
    })
    .join(match === 'all' ? ' and ' : ' or ');
}
