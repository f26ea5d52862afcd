import { useState } from 'preact/hooks';
import { formatInstant } from '../lib/dates.ts';
import { send, useForm, useWork } from '../lib/form.ts';
import type { Project } from '../lib/types.ts';
import { ChoiceField, Form, ItemList, Problem, RemoveButton, TextField } from '../parts/form.tsx';

/** A connection of a project to Bing. */
export interface BingConnection {
  /** The id of the project. */
  readonly project: string;
  readonly state: 'ok' | 'waits' | 'rests' | 'lost' | 'failed' | 'unreadable';
  readonly reason: string | null;
  readonly restsUntil: string | null;
  /** Null where a command named a file. */
  readonly connectedBy: string | null;
  readonly connectedAt: string;
}

type NamedProject = Pick<Project, 'id' | 'domain' | 'country'>;

/** What the pill of a state says, and its colour. */
const STATES = {
  ok: ['connected', 'ok'],
  waits: ['waits for Google', 'warning'],
  rests: ['rests', 'warning'],
  lost: ['access lost', 'failed'],
  failed: ['not read', 'warning'],
  unreadable: ['its key cannot be read', 'failed'],
} as const;

const WAITS = 'Nothing is read before the project is connected to Google, too, above on this page.';

interface BingProps {
  readonly connections: readonly BingConnection[];
  readonly projects: readonly NamedProject[];
  readonly onChange: () => void;
}

/** Connects projects to Bing Webmaster Tools by API keys. */
export function Bing({ connections, projects, onChange }: BingProps) {
  const free = projects.filter(({ id }) => !connections.some(({ project }) => project === id));
  return (
    <>
      {free.length > 0 && (
        <section aria-label="Bing Webmaster Tools">
          <KeyForm projects={free} onChange={onChange} />
        </section>
      )}
      <ItemList label="Connections to Bing">
        {connections.map((connection) => (
          <BingItem
            key={connection.project}
            connection={connection}
            project={projects.find(({ id }) => id === connection.project)}
            onChange={onChange}
          />
        ))}
      </ItemList>
    </>
  );
}

interface KeyFormProps {
  readonly projects: readonly NamedProject[];
  /** The project whose key is replaced. */
  readonly replaced?: string;
  readonly onChange: () => void;
  readonly onEnd?: () => void;
}

function KeyForm({ projects, replaced, onChange, onEnd }: KeyFormProps) {
  const form = useForm({ project: '', apiKey: '' }, { draft: `/bing/${replaced ?? ''}`, secrets: ['apiKey'] });
  const [found, setFound] = useState('');
  // The chosen one is no longer offered once it is connected.
  const chosen = projects.some(({ id }) => id === form.values.project) ? form.values.project : projects[0]?.id;
  const save = (): Promise<boolean> =>
    form.save(async () => {
      setFound('');
      const answer = await send<{ found: string; isSynced: boolean }>('PUT', `/projects/${replaced ?? chosen}/bing`, {
        apiKey: form.values.apiKey,
      });
      setFound(`${answer.found} ${answer.isSynced ? 'The next sync stores it.' : WAITS}`);
      form.reset();
      onChange();
      onEnd?.();
    });
  const isNew = replaced === undefined;
  return (
    <Form
      form={form}
      fields={isNew ? ['project', 'apiKey'] : ['apiKey']}
      submit={isNew ? 'Connect Bing' : 'Replace the key'}
      onSubmit={() => void save()}
      onCancel={onEnd}
    >
      {isNew && (
        <>
          <h2>Bing Webmaster Tools</h2>
          <p>
            Bing keeps a few months; Ordinate stores them from now on. The site is that of the project's property,
            verified with the account of the key. The project needs its connection to Google, too: the sync of Search
            Console reads Bing on its way.{' '}
            <a href="/docs/guide/connect-bing" target="_blank" rel="noopener">
              The guide
            </a>{' '}
            says what is stored.
          </p>
          <ChoiceField
            form={{ ...form, values: { ...form.values, project: chosen ?? '' } }}
            name="project"
            label="Project"
            options={projects.map((project) => [project.id, nameOf(project)])}
          />
        </>
      )}
      <TextField
        form={form}
        name="apiKey"
        label="API key of Bing"
        type="password"
        autocomplete="off"
        maxLength={200}
        isRequired
        help="Bing Webmaster Tools: Settings > API access > API Key. It is stored encrypted and never shown again."
      />
      {found !== '' && <p role="status">{found}</p>}
    </Form>
  );
}

interface ItemProps {
  readonly connection: BingConnection;
  readonly project: NamedProject | undefined;
  readonly onChange: () => void;
}

function BingItem({ connection, project, onChange }: ItemProps) {
  const { state, reason, restsUntil, connectedBy, connectedAt } = connection;
  const [isReplacing, setReplacing] = useState(false);
  const work = useWork();
  const name = project === undefined ? connection.project : nameOf(project);
  const [says, colour] = STATES[state];
  return (
    <li>
      <div class="item-head">
        <strong>{name}</strong>
        <span class={`pill sync-${colour}`}>{says}</span>
        <span class="muted">
          {connectedBy === null ? 'by a file of this server' : `connected by ${connectedBy}`},{' '}
          {formatInstant(connectedAt)}
        </span>
        <span class="actions">
          {!isReplacing && (
            <button type="button" class="button" onClick={() => setReplacing(true)}>
              Replace key<span class="sr-only"> of {name}</span>
            </button>
          )}
          <RemoveButton
            confirm="Disconnect and keep the data"
            path={`/projects/${connection.project}/bing`}
            work={work}
            onDone={onChange}
          >
            Remove<span class="sr-only"> {name}</span>
          </RemoveButton>
        </span>
      </div>
      {state === 'waits' && <p>{WAITS}</p>}
      {restsUntil !== null && <p>Bing was asked too much. The key rests until {formatInstant(restsUntil)}.</p>}
      {reason !== null && <p>The last sync could not read it: {reason}</p>}
      {state === 'lost' && (
        <p>Verify the site in Bing Webmaster Tools with the account of the key, or replace the key.</p>
      )}
      <Problem problem={work.problem} />
      {isReplacing && (
        <KeyForm projects={[]} replaced={connection.project} onChange={onChange} onEnd={() => setReplacing(false)} />
      )}
    </li>
  );
}

function nameOf({ domain, country }: NamedProject): string {
  return country === null ? domain : `${domain} (${country})`;
}
