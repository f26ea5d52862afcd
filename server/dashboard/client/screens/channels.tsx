import { useState } from 'preact/hooks';
import { isManager, useResource } from '../lib/api.ts';
import { formatAgo } from '../lib/dates.ts';
import { useOpen } from '../lib/drafts.ts';
import { onSingleClick, send, useForm, useWork } from '../lib/form.ts';
import type { ProjectsAnswer } from '../lib/types.ts';
import {
  ChoiceField,
  ConfirmButton,
  Form,
  ItemList,
  ManyField,
  Problem,
  RemoveButton,
  Secret,
  TextField,
  useTitle,
} from '../parts/form.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Empty, ErrorBox, Skeleton } from '../parts/states.tsx';

interface Channel {
  readonly version: string;
  readonly id: string;
  readonly kind: string;
  readonly to: string;
  readonly name: string;
  readonly project: string | null;
  readonly events: readonly string[];
  readonly types: readonly string[] | null;
  readonly minSeverity: string | null;
  readonly state: 'on' | 'disabled';
}

interface Delivery {
  readonly id: string;
  readonly event: string;
  readonly state: string;
  readonly attempts: number;
  readonly nextAt: string | null;
  readonly status: number | null;
  readonly answer: string | null;
  readonly createdAt: string;
}

const KINDS: readonly (readonly [string, string, string])[] = [
  ['email', 'E-mail', 'team@example.com'],
  ['webhook', 'Webhook', 'https://example.com/hooks/ordinate'],
  ['slack', 'Slack', 'https://hooks.slack.com/services/…'],
  ['discord', 'Discord', 'https://discord.com/api/webhooks/…'],
  ['teams', 'Teams', 'https://….logic.azure.com/workflows/…'],
  ['google-chat', 'Google Chat', 'https://chat.googleapis.com/v1/spaces/…'],
];
const EVENTS: readonly (readonly [string, string])[] = [
  ['alert.opened', 'An alert opens'],
  ['alert.resolved', 'An alert resolves'],
  ['sync.failed', 'A sync fails'],
  ['sync.recovered', 'A sync works again'],
  ['digest.weekly', 'Digest of each week'],
  ['digest.monthly', 'Digest of each month'],
];
const SEVERITIES = [
  ['', 'All alerts'],
  ['warning', 'Warnings and critical ones'],
  ['critical', 'Critical ones only'],
] as const;

const kindName = (kind: string): string => KINDS.find(([name]) => name === kind)?.[1] ?? kind;
const eventName = (event: string): string => EVENTS.find(([name]) => name === event)?.[1] ?? event;

/** Where the workspace is told of what happens. */
export function Channels() {
  useTitle('Channels');
  const { data, error, isLoading, reload } = useResource<{ channels: readonly Channel[] }>(
    isManager.value ? '/channels' : null,
  );
  const { data: known } = useResource<ProjectsAnswer>(isManager.value ? '/projects' : null);
  const [isAdding, setAdding] = useOpen('/channels');
  const [secret, setSecret] = useState('');
  if (!isManager.value) return <Empty title="Only owners and admins manage channels" />;
  const domainOf = (id: string | null): string =>
    id === null ? 'all projects' : (known?.projects.find((project) => project.id === id)?.domain ?? id);
  return (
    <>
      <PageHead title="Channels" subtitle="Who is notified of alerts, failed syncs and weekly results">
        {!isAdding && (
          <button type="button" class="button button-main" onClick={() => setAdding(true)}>
            Add a channel
          </button>
        )}
      </PageHead>
      {error && <ErrorBox error={error} retry={reload} />}
      {secret && <Secret label="The key that signs what this webhook gets." value={secret} />}
      {isAdding && (
        <NewChannel
          projects={known?.projects ?? []}
          onEnd={(made) => {
            setAdding(false);
            if (made === undefined) return;
            setSecret(made);
            reload();
          }}
        />
      )}
      {isLoading && <Skeleton lines={3} height={70} />}
      {data?.channels.length === 0 && !isAdding && (
        <Empty title="Nobody is notified yet">
          <p>Add an email address, a webhook or a chat. It is notified of what happens from then on.</p>
        </Empty>
      )}
      <ItemList label="Channels">
        {data?.channels.map((channel) => (
          <Item
            key={channel.id}
            channel={channel}
            about={domainOf(channel.project)}
            onChange={reload}
            onSecret={setSecret}
          />
        ))}
      </ItemList>
    </>
  );
}

interface ItemProps {
  readonly channel: Channel;
  readonly about: string;
  readonly onChange: () => void;
  readonly onSecret: (secret: string) => void;
}

function Item({ channel, about, onChange, onSecret }: ItemProps) {
  const { id, kind, to, name, events, minSeverity, types, state, version } = channel;
  const work = useWork();
  const [tested, setTested] = useState('');
  const [isOpen, setOpen] = useState(false);
  const path = `/channels/${id}`;
  const test = (): Promise<boolean> =>
    work.run(async () => {
      setTested('');
      const { delivery } = await send<{ delivery: Delivery }>('POST', `${path}/test`);
      const answer = [delivery.status, delivery.answer].filter(Boolean).join(' ');
      setTested(delivery.state === 'sent' ? 'The test was accepted.' : `The test was not accepted: ${answer}`);
    });
  const toggle = (): Promise<boolean> =>
    work.run(async (submitted) => {
      try {
        await send('PATCH', path, { enabled: state === 'disabled' }, { ...submitted, version });
      } finally {
        // Also what somebody else has changed meanwhile.
        onChange();
      }
    });
  return (
    <li>
      <div class="item-head">
        <strong dir="auto">{name}</strong>
        <span class="pill">{kindName(kind)}</span>
        {state === 'disabled' && <span class="pill severity-warning">disabled</span>}
        {to !== name && <span class="muted">{to}</span>}
        <span class="actions">
          <button type="button" class="button" disabled={work.isBusy} onClick={() => void test()}>
            Test<span class="sr-only"> {name}</span>
          </button>
          <button type="button" class="button" disabled={work.isBusy} onClick={onSingleClick(() => void toggle())}>
            {state === 'disabled' ? 'Enable' : 'Disable'}
            <span class="sr-only"> {name}</span>
          </button>
          {kind === 'webhook' && (
            <ConfirmButton
              confirm="Make a new key"
              work={work}
              onConfirm={async (submitted) => {
                const made = await send<{ secret: string }>('POST', `${path}/rotate`, undefined, submitted);
                onSecret(made.secret);
              }}
              onDone={onChange}
            >
              New key
            </ConfirmButton>
          )}
          <RemoveButton confirm="Remove for good" path={path} work={work} onDone={onChange}>
            Remove
          </RemoveButton>
        </span>
      </div>
      <p class="muted">
        {about}: {events.map((event) => eventName(event).toLowerCase()).join(', ')}
        {minSeverity !== null && `; alerts from ${minSeverity}`}
        {types !== null && `; types: ${types.join(', ')}`}
      </p>
      {tested && <p role="status">{tested}</p>}
      <Problem problem={work.problem} />
      <button type="button" class="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Hide deliveries' : 'Show deliveries'}
      </button>
      {isOpen && <Deliveries path={path} />}
    </li>
  );
}

/** The most that the server answers. */
const MAX_DELIVERIES = 200;

function Deliveries({ path }: { path: string }) {
  const { data, error, reload } = useResource<{ deliveries: readonly Delivery[] }>(`${path}/deliveries`);
  if (error) return <ErrorBox error={error} retry={reload} />;
  if (data === undefined) return <Skeleton lines={2} />;
  if (data.deliveries.length === 0) return <p class="muted">Nothing was sent in the last 30 days.</p>;
  return (
    <table class="deliveries">
      {data.deliveries.length >= MAX_DELIVERIES && <caption>The newest {MAX_DELIVERIES} of the last 30 days</caption>}
      <thead>
        <tr>
          <th scope="col">Event</th>
          <th scope="col">When</th>
          <th scope="col">State</th>
          <th scope="col">Last answer</th>
        </tr>
      </thead>
      <tbody>
        {data.deliveries.map(({ id, event, state, attempts, nextAt, status, answer, createdAt }) => (
          <tr key={id}>
            <td>{event === 'channel.test' ? 'Test' : eventName(event)}</td>
            <td>{formatAgo(createdAt)}</td>
            <td>
              {state}
              {attempts > 1 && ` after ${attempts} attempts`}
              {nextAt !== null && `, next attempt ${formatAgo(nextAt)}`}
            </td>
            <td dir="auto">{[status, answer].filter((part) => part !== null && part !== '').join(' ')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface NewChannelProps {
  readonly projects: ProjectsAnswer['projects'];
  /** Ends with the signing key, empty where there is none; with nothing if it was cancelled. */
  readonly onEnd: (secret?: string) => void;
}

function NewChannel({ projects, onEnd }: NewChannelProps) {
  const initial = {
    ...{ kind: 'email', to: '', name: '', project: '', minSeverity: '' },
    events: EVENTS.slice(0, 4).map(([name]) => name),
  };
  // The address of a chat is a secret.
  const form = useForm(initial, { draft: '/channels', secrets: ['to'] });
  const { kind, to, name, project, minSeverity, events } = form.values;
  const add = (): Promise<boolean> =>
    form.save(async (submitted) => {
      const chosen = { ...(name && { name }), ...(project && { project }), ...(minSeverity && { minSeverity }) };
      const body = { kind, to, events, ...chosen };
      const { secret = '' } = await send<{ secret?: string }>('POST', '/channels', body, submitted);
      onEnd(secret);
    });
  return (
    <Form
      form={form}
      fields={['kind', 'to', 'name', 'project', 'events', 'minSeverity']}
      submit="Add"
      onSubmit={() => void add()}
      onCancel={() => onEnd()}
    >
      <div class="fields">
        <ChoiceField form={form} name="kind" label="Kind" options={KINDS.map(([value, text]) => [value, text])} />
        <ChoiceField
          form={form}
          name="project"
          label="About"
          options={[['', 'All projects'], ...projects.map(({ id, domain }) => [id, domain] as const)]}
        />
      </div>
      <TextField
        form={form}
        name="to"
        label="Address"
        isRequired
        placeholder={KINDS.find(([value]) => value === kind)?.[2] ?? ''}
        help={kind === 'email' ? undefined : 'It is stored encrypted; lists show only its host.'}
      />
      <TextField form={form} name="name" label="Name" maxLength={100} help="Its address or host without one." />
      <ManyField
        legend="Events"
        work={form}
        name="events"
        options={EVENTS}
        chosen={events}
        onChange={(next) => form.set({ events: next })}
      />
      <ChoiceField form={form} name="minSeverity" label="Which alerts" options={SEVERITIES} />
    </Form>
  );
}
