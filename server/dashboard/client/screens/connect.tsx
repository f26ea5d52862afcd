import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { isManager, session, useResource } from '../lib/api.ts';
import { formatInstant } from '../lib/dates.ts';
import { send, useWork } from '../lib/form.ts';
import type { Project, ProjectsAnswer } from '../lib/types.ts';
import { ItemList, Problem, RemoveButton, useTitle } from '../parts/form.tsx';
import { Icon } from '../parts/icons.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Empty, ErrorBox, Skeleton } from '../parts/states.tsx';
import { Bing, type BingConnection } from './connect-bing.tsx';
import { Properties } from './connect-properties.tsx';

interface Grant {
  readonly id: string;
  readonly connectedBy: string;
  readonly connectedAt: string;
  readonly warning: string | null;
  readonly state: 'ok' | 'lost' | 'unreadable';
  readonly projects: readonly string[];
}

interface ConnectAnswer {
  readonly google: {
    readonly configured: boolean;
    readonly clientId: string | null;
    readonly redirectUri: string | null;
    readonly problem: string | null;
  };
  readonly grants: readonly Grant[];
  readonly bing: readonly BingConnection[];
}

/** What became of a sign-in at Google, by the code in the address. */
const ERRORS: Readonly<Record<string, string>> = {
  state:
    'The sign-in at Google took longer than 10 minutes, was used already, or began in another browser. Start again.',
  access_denied: 'Access was not granted at Google. Start again and allow it; Ordinate only reads Search Console.',
  code_refused:
    'Google refused the sign-in. Check that the secret belongs to the client id, and that the client lists the redirect URI below, letter by letter.',
  no_refresh_token:
    'Google gave no lasting access. Remove Ordinate at myaccount.google.com/permissions, then start again.',
  scope_missing: 'The box for Search Console was left empty at Google. Start again and tick it.',
  unavailable: 'Google could not be reached, or answered with an error. Nothing was changed; try again in a minute.',
};
const STATES = {
  ok: 'connected',
  lost: 'access lost',
  unreadable: 'its key file is missing',
} as const;

/** Connects properties of Search Console by Google's sign-in, and projects to Bing by keys. */
export function Connect() {
  useTitle('Connect');
  const { query } = useLocation();
  const { data, error, isLoading, reload } = useResource<ConnectAnswer>(isManager.value ? '/connect' : null);
  const { data: known } = useResource<ProjectsAnswer>(isManager.value ? '/projects' : null);
  if (!isManager.value) return <Empty title="Only owners and admins connect properties" />;
  const failed = ERRORS[query['error'] ?? ''];
  return (
    <>
      <PageHead title="Connect" subtitle="Search Console by the sign-in of Google, Bing by a key" />
      {error && <ErrorBox error={error} retry={reload} />}
      {failed && (
        <div class="notice notice-error" role="alert">
          <Icon name="warning" />
          <p>{failed}</p>
        </div>
      )}
      {isLoading && <Skeleton lines={3} height={90} />}
      {data && <Setup google={data.google} hasGrants={data.grants.length > 0} />}
      <ItemList label="Connected accounts">
        {data?.grants.map((grant) => (
          <GrantItem
            key={grant.id}
            grant={grant}
            projects={known?.projects ?? []}
            isNew={grant.id === query['grant']}
            onChange={reload}
          />
        ))}
      </ItemList>
      <ServiceAccount />
      {data && known && known.projects.length > 0 && (
        <Bing connections={data.bing} projects={known.projects} onChange={reload} />
      )}
    </>
  );
}

/** The way without a browser, for whoever runs the server. */
function ServiceAccount() {
  const workspace = session.value?.workspace.id;
  return (
    <section class="card form" aria-label="Service account">
      <h2>Without a sign-in: a service account</h2>
      <p>
        Whoever runs this server can connect a property with the key file of a service account that may read it in
        Search Console. Such a connection does not depend on the account of a person.
      </p>
      <code class="command">
        ordinate projects create --workspace {workspace} --property sc-domain:example.com --credentials FILE
      </code>
      <p class="muted">
        <a href="/docs/guide/load#connect-a-property" target="_blank" rel="noopener">
          The guide
        </a>{' '}
        says how to make the account and its file. An existing project gets it by <code>ordinate connections set</code>.
      </p>
    </section>
  );
}

function Setup({ google, hasGrants }: { google: ConnectAnswer['google']; hasGrants: boolean }) {
  const { problem, redirectUri, clientId } = google;
  const work = useWork();
  const isOwner = session.value?.role === 'owner';
  const start = (): Promise<boolean> =>
    work.run(async () => {
      const { url } = await send<{ url: string }>('POST', '/connect/google', {});
      location.assign(url);
    });
  return (
    <section class="card form" aria-label="Sign-in of Google">
      {problem !== null && (
        <>
          <h2>This server does not know an OAuth client yet</h2>
          <p>{problem}</p>
          <p class="muted">
            In Google's console: create a project, enable the Search Console API, fill in the consent screen and publish
            it, then create an OAuth client of the kind <em>Web application</em>.{' '}
            <a href="/docs/guide/connect-google" target="_blank" rel="noopener">
              The guide
            </a>{' '}
            has every step, and what each error of Google means.
          </p>
        </>
      )}
      {redirectUri !== null && (
        <div class="field">
          <strong>Redirect URI of the client</strong>
          <code class="command">{redirectUri}</code>
          {clientId !== null && <p class="muted">Client: {clientId}</p>}
        </div>
      )}
      {problem === null &&
        (isOwner ? (
          <div class="form-buttons">
            <button type="button" class="button button-main" disabled={work.isBusy} onClick={() => void start()}>
              {hasGrants ? 'Connect another Google account' : 'Connect a Google account'}
            </button>
          </div>
        ) : (
          <p class="muted">Owners of the workspace connect accounts.</p>
        ))}
      <Problem problem={work.problem} />
    </section>
  );
}

interface GrantProps {
  readonly grant: Grant;
  readonly projects: readonly Pick<Project, 'id' | 'domain'>[];
  /** Whether the account was connected just now. */
  readonly isNew: boolean;
  readonly onChange: () => void;
}

function GrantItem({ grant, projects, isNew, onChange }: GrantProps) {
  const { id, connectedBy, connectedAt, warning, state } = grant;
  const [isOpen, setOpen] = useState(isNew);
  const work = useWork();
  const { route } = useLocation();
  return (
    <li>
      <div class="item-head">
        <strong>Google account</strong>
        <span class={`pill sync-${state === 'ok' ? 'ok' : 'failed'}`}>{STATES[state]}</span>
        <span class="muted">
          connected by {connectedBy}, {formatInstant(connectedAt)}
        </span>
        <span class="actions">
          {state === 'ok' && (
            <button type="button" class="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              {isOpen ? 'Hide properties' : 'Show properties'}
            </button>
          )}
          {session.value?.role === 'owner' && (
            <RemoveButton
              confirm="Revoke at Google and forget"
              path={`/connect/google/${id}`}
              work={work}
              onDone={() => {
                route('/app/connect', true);
                onChange();
              }}
            >
              Revoke
            </RemoveButton>
          )}
        </span>
      </div>
      {isNew && <p role="status">Connected. Choose below what Ordinate keeps.</p>}
      {warning !== null && <p class="problem">{warning}</p>}
      {state === 'lost' && (
        <p>Google no longer accepts this access. Connect the account again: its projects move over.</p>
      )}
      <Problem problem={work.problem} />
      {isOpen && <Properties grant={id} projects={projects} />}
    </li>
  );
}
