import { useState } from 'preact/hooks';
import { apiPath, useResource } from '../lib/api.ts';
import { formatDate } from '../lib/dates.ts';
import { type FormState, send, useForm } from '../lib/form.ts';
import { formatBound, formatFinePercent, METRIC_NAMES, plural } from '../lib/format.ts';
import { type Day, type GroupsAnswer, METRICS, type Metric, type Project, type SiteAnswer } from '../lib/types.ts';
import { ChoiceField, Form, ItemList, ManyField, NumberField, TextField } from '../parts/form.tsx';
import { GroupItem, Section } from '../parts/settings-parts.tsx';
import { ErrorBox, Skeleton } from '../parts/states.tsx';
import { TimeChart } from '../parts/time-chart.tsx';

interface AlertRule {
  readonly scope: 'site' | 'group' | 'keyword' | 'page_group';
  readonly id?: string;
  readonly metric: Metric;
  readonly window: string;
  readonly against: 'value' | 'previous' | 'year';
  readonly op: 'lt' | 'gt' | 'falls_by' | 'rises_by';
  readonly value: number;
  readonly unit?: 'percent' | 'absolute';
  readonly min_impressions?: number;
  readonly for?: number;
  readonly resolve_at?: number;
}

interface Rule {
  readonly id: string;
  readonly name: string;
  readonly rule: AlertRule;
  readonly severity: 'info' | 'warning' | 'critical';
  readonly enabled: boolean;
}

interface RuleAnswer {
  readonly rule: Rule;
  readonly version: string;
}

/** Alert rules of the project, beside the checks that every project has. */
export function Rules({ project }: { project: Project }) {
  const path = `/projects/${project.id}/rules`;
  const { data, error, reload } = useResource<{ rules: readonly Rule[] }>(path);
  return (
    <Section
      title="Alert rules"
      add="Add a rule"
      draft={path}
      error={error && <ErrorBox error={error} retry={reload} />}
    >
      {(isAdding, end) => (
        <>
          {isAdding && (
            <RuleForm
              project={project}
              onEnd={(isSaved) => {
                end();
                if (isSaved) reload();
              }}
            />
          )}
          {data === undefined && !error && <Skeleton lines={2} />}
          <ItemList label="Alert rules">
            {data?.rules.map((rule) => (
              <GroupItem key={rule.id} path={path} group={rule} about={describe(rule)} onChange={reload}>
                {(read: RuleAnswer, onEnd) => <RuleForm project={project} read={read} onEnd={onEnd} />}
              </GroupItem>
            ))}
          </ItemList>
        </>
      )}
    </Section>
  );
}

function describe({ rule, severity, enabled }: Rule): string {
  const { scope, metric, window: days, against, op, value, unit } = rule;
  const number = unit === 'percent' ? formatFinePercent(value / 100) : formatBound(metric, value);
  const than = { value: '', previous: ' against the days before', year: ' against a year before' }[against];
  const does = { lt: 'below', gt: 'above', falls_by: 'falls by', rises_by: 'rises by' }[op];
  const about = `${METRIC_NAMES[metric]} of ${SCOPES[scope]}, ${days.replace('d', '')} days: ${does} ${number}${than}`;
  return `${about}; ${severity}${enabled ? '' : ', off'}`;
}

const SCOPES = { site: 'the site', group: 'a group', keyword: 'a keyword', page_group: 'a page group' } as const;
const AGAINST = [
  ['previous', 'the same number of days before'],
  ['year', 'the same days a year before'],
  ['value', 'a fixed value'],
] as const;

function valuesOf(rule: Rule | undefined) {
  const {
    scope = 'site',
    id = '',
    metric = 'clicks',
    window = '7d',
    against = 'previous',
    op = 'falls_by',
  } = rule?.rule ?? {};
  const { value = 30, min_impressions: least } = rule?.rule ?? {};
  // Against a value it may be left out.
  const unit = rule?.rule.unit ?? (rule?.rule.against === 'value' ? 'absolute' : 'percent');
  return {
    ...{ name: rule?.name ?? '', severity: rule?.severity ?? 'warning', enabled: rule?.enabled ?? true },
    ...{ scope: scope as string, id, metric: metric as string, window: window.replace('d', '') },
    ...{ against: against as string, op: op as string, value: String(value), unit: unit as string },
    least: least === undefined ? '' : String(least),
  };
}
type Values = ReturnType<typeof valuesOf>;

const LABELS: Partial<Record<keyof Values, string>> = {
  ...{ name: 'Name', scope: 'About', id: 'Which', metric: 'Metric', window: 'Days', against: 'Compared with' },
  ...{ op: 'Opens when it', value: 'Value', unit: 'Unit', least: 'Impressions', severity: 'Severity', enabled: 'On' },
};

/** The rule as it is sent: fields that the form does not show stay as they were. */
function ruleOf({ scope, id, metric, window, against, op, value, unit, least }: Values, before: Rule | undefined) {
  const { id: _id, min_impressions: _least, ...kept } = before?.rule ?? {};
  return {
    ...kept,
    ...{ scope, metric, against, op, window: `${window}d`, value: Number(value), unit },
    ...(scope !== 'site' && { id }),
    ...(least !== '' && { min_impressions: Number(least) }),
  };
}

interface RuleFormProps {
  readonly project: Project;
  /** The one that is changed; a new one without it. */
  readonly read?: RuleAnswer;
  readonly onEnd: (isSaved: boolean) => void;
}

function RuleForm({ project, read, onEnd }: RuleFormProps) {
  const rule = read?.rule;
  const path = `/projects/${project.id}/rules`;
  const item = `${path}/${rule?.id}`;
  const form = useForm(valuesOf(rule), {
    draft: rule === undefined ? path : item,
    secrets: [],
    stored: read && { path: item, version: read.version, valuesOf: (answer: RuleAnswer) => valuesOf(answer.rule) },
  });
  const { name, severity, enabled, metric, against, scope } = form.values;
  const [tested, setTested] = useState<Tested | undefined>();
  const sent = ruleOf(form.values, rule);
  const test = (): Promise<boolean> =>
    form.run(async () => setTested(await send<Tested>('POST', `${path}/test`, { rule: sent })));
  const save = (): Promise<boolean> =>
    form.save(async (submitted) => {
      const body = { name, severity, enabled, rule: sent };
      if (rule === undefined) await send('POST', path, body, submitted);
      else await send('PATCH', item, body, submitted);
      onEnd(true);
    });
  const isFixed = against === 'value';
  return (
    <Form
      form={form}
      fields={[
        'name',
        'scope',
        'metric',
        'id',
        'window',
        'against',
        'op',
        'value',
        'unit',
        'min_impressions',
        'severity',
      ]}
      labels={LABELS}
      submit={rule === undefined ? 'Add' : 'Save'}
      onSubmit={() => void save()}
      onCancel={() => onEnd(false)}
    >
      <TextField form={form} name="name" label="Name" isRequired maxLength={200} />
      <div class="fields">
        <ChoiceField form={form} name="scope" label="About" options={Object.entries(SCOPES)} />
        {scope !== 'site' && <Subject project={project} form={form} />}
        <ChoiceField
          form={form}
          name="metric"
          label="Metric"
          options={METRICS.map((one) => [one, METRIC_NAMES[one]] as const)}
        />
        <NumberField form={form} name="window" label="Days that are added up" min={1} max={364} />
      </div>
      <div class="fields">
        <Against form={form} />
        <ChoiceField
          form={form}
          name="op"
          label="Opens when it"
          options={
            isFixed
              ? [
                  ['lt', 'is below'],
                  ['gt', 'is above'],
                ]
              : [
                  ['falls_by', 'falls by at least'],
                  ['rises_by', 'rises by at least'],
                ]
          }
        />
        <NumberField form={form} name="value" label="Value" />
        <ChoiceField
          form={form}
          name="unit"
          label="Unit"
          options={[
            ['percent', 'per cent'],
            ['absolute', metric === 'position' ? 'places' : 'absolute'],
          ]}
        />
        <NumberField
          form={form}
          name="least"
          field="min_impressions"
          label="Only from so many impressions"
          min={0}
          isOptional
        />
        <ChoiceField
          form={form}
          name="severity"
          label="Severity"
          options={[
            ['info', 'info'],
            ['warning', 'warning'],
            ['critical', 'critical'],
          ]}
        />
      </div>
      <ManyField
        legend="State"
        options={[['on', 'On']]}
        chosen={enabled ? ['on'] : []}
        onChange={(chosen) => form.set({ enabled: chosen.length > 0 })}
      />
      <div>
        <button type="button" class="button" disabled={form.isBusy} onClick={() => void test()}>
          Test over the last year
        </button>
      </div>
      {tested && <TestResult project={project} tested={tested} metric={metric as Metric} isSite={scope === 'site'} />}
    </Form>
  );
}

function Against({ form }: { form: FormState<Values> }) {
  const set = (changes: Partial<Values>): void => {
    const isFixed = changes.against === 'value';
    // The operators of a fixed value are others.
    form.set(isFixed ? { ...changes, op: 'lt', unit: 'absolute' } : { ...changes, op: 'falls_by' });
  };
  return <ChoiceField form={{ ...form, set }} name="against" label="Compared with" options={AGAINST} />;
}

/** The group, page group or keyword that a rule is about. */
function Subject({ project, form }: { project: Project; form: FormState<Values> }) {
  const { scope } = form.values;
  const path = `/projects/${project.id}`;
  const groups = useResource<GroupsAnswer>(scope === 'group' ? `${path}/groups` : null).data?.groups;
  const pages = useResource<{ pageGroups: readonly { id: string; name: string }[] }>(
    scope === 'page_group' ? `${path}/page-groups` : null,
  ).data?.pageGroups;
  const keywords = useResource<{ keywords: readonly { id: string; query: string }[] }>(
    scope === 'keyword' ? apiPath(`${path}/keywords`, { sort: 'query', limit: 5000 }) : null,
  ).data?.keywords.map(({ id, query }) => ({ id, name: query }));
  const found = groups ?? pages ?? keywords ?? [];
  return (
    <ChoiceField
      form={form}
      name="id"
      label="Which"
      options={[['', 'Choose…'], ...found.map(({ id, name }) => [id, name] as const)]}
    />
  );
}

interface Tested {
  readonly from: Day;
  readonly to: Day;
  readonly days: readonly Day[];
}

/** When a rule would have opened an alert: as marks on the line of the site, where it is about that. */
function TestResult(props: { project: Project; tested: Tested; metric: Metric; isSite: boolean }) {
  const { project, tested, metric, isSite } = props;
  const { from, to, days } = tested;
  const { data } = useResource<SiteAnswer>(isSite ? apiPath(`/projects/${project.id}/site`, { from, to }) : null);
  const text = `${plural(days.length, 'alert')} from ${formatDate(from)} to ${formatDate(to)}`;
  return (
    <div role="status">
      <p>
        {days.length === 0
          ? text
          : `${text}${days.length > 20 ? '; the newest 20' : ''}: ${days.slice(-20).map(formatDate).join('; ')}`}
      </p>
      {data && (
        <TimeChart
          metric={metric}
          points={data.daily.map((day) => ({ date: day.date, value: day[metric] }))}
          markers={days.map((day) => ({ from: day, to: day, text: 'An alert would open', kind: 'event' as const }))}
          eventName="An alert would open"
          height={200}
          label={text}
        />
      )}
    </div>
  );
}
