import { useState } from 'preact/hooks';
import { isManager, useResource } from '../lib/api.ts';
import { formatInstant } from '../lib/dates.ts';
import { useOpen } from '../lib/drafts.ts';
import { send, useForm, useWork } from '../lib/form.ts';
import { plural } from '../lib/format.ts';
import { ChoiceField, Form, ItemList, Problem, RemoveButton, Secret, TextField, useTitle } from '../parts/form.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Empty, ErrorBox, Skeleton } from '../parts/states.tsx';

interface Feed {
  readonly id: string;
  readonly keyId: string;
  /** What it answers: below the root of the API. */
  readonly path: string;
  readonly createdAt: string;
  readonly revokedAt: string | null;
}

interface FeedsAnswer {
  /** Whether the server answers feeds at all. */
  readonly isServed: boolean;
  readonly feeds: readonly Feed[];
}

interface KeysAnswer {
  readonly keys: readonly { readonly id: string; readonly name: string; readonly revokedAt: string | null }[];
}

/** Addresses that answer one question as CSV without a key, for spreadsheets. */
export function Feeds() {
  useTitle('Feeds');
  const { data, error, reload } = useResource<FeedsAnswer>(isManager.value ? '/feeds' : null);
  const keys = useResource<KeysAnswer>(isManager.value ? '/keys' : null).data?.keys ?? [];
  const [isAdding, setAdding] = useOpen('/feeds');
  const [url, setUrl] = useState('');
  if (!isManager.value) return <Empty title="Only owners and admins manage feeds" />;
  const active = data?.feeds.filter(({ revokedAt }) => revokedAt === null);
  return (
    <>
      <PageHead title="Feeds" subtitle={active && plural(active.length, 'feed')}>
        {!isAdding && (
          <button type="button" class="button button-main" onClick={() => setAdding(true)}>
            New feed
          </button>
        )}
      </PageHead>
      {error && <ErrorBox error={error} retry={reload} />}
      {data?.isServed === false && (
        <p class="notice">
          This server does not answer feeds: start it with <code>ORDINATE_FEEDS=on</code>.
        </p>
      )}
      {url && <Secret label="Whoever has this address reads the feed." value={url} />}
      {isAdding && (
        <NewFeed
          keys={keys.filter(({ revokedAt }) => revokedAt === null)}
          onEnd={(made) => {
            setAdding(false);
            if (made === undefined) return;
            setUrl(made);
            reload();
          }}
        />
      )}
      {data === undefined && !error && <Skeleton lines={3} />}
      {active?.length === 0 && !isAdding && (
        <Empty title="No feeds yet">
          <p>A feed is an address that a spreadsheet reads without a key: one question, as CSV.</p>
        </Empty>
      )}
      <ItemList label="Feeds">
        {active?.map((feed) => (
          <FeedItem key={feed.id} feed={feed} of={keys.find(({ id }) => id === feed.keyId)?.name} onChange={reload} />
        ))}
      </ItemList>
    </>
  );
}

function FeedItem({ feed, of, onChange }: { feed: Feed; of: string | undefined; onChange: () => void }) {
  const work = useWork();
  return (
    <li>
      <div class="item-head">
        <code>{feed.path}</code>
        <span class="muted">
          {of !== undefined && <span dir="auto">with the key {of}, </span>}
          {formatInstant(feed.createdAt)}
        </span>
        <span class="actions">
          <RemoveButton confirm="Revoke it for good" path={`/feeds/${feed.id}`} work={work} onDone={onChange}>
            Revoke<span class="sr-only"> {feed.path}</span>
          </RemoveButton>
        </span>
      </div>
      <Problem problem={work.problem} />
    </li>
  );
}

interface NewFeedProps {
  readonly keys: KeysAnswer['keys'];
  /** Ends with the address, or with nothing if it was cancelled. */
  readonly onEnd: (url?: string) => void;
}

function NewFeed({ keys, onEnd }: NewFeedProps) {
  const form = useForm({ keyId: '', path: '' }, { draft: '/feeds', secrets: [] });
  const save = (): Promise<boolean> =>
    form.save(async (submitted) => onEnd((await send<{ url: string }>('POST', '/feeds', form.values, submitted)).url));
  return (
    <Form form={form} fields={['keyId', 'path']} submit="Create" onSubmit={() => void save()} onCancel={() => onEnd()}>
      <ChoiceField
        form={form}
        name="keyId"
        label="Key"
        options={[['', 'Choose…'], ...keys.map(({ id, name }) => [id, name] as const)]}
      />
      <TextField
        form={form}
        name="path"
        label="Path"
        placeholder="/projects/Fw7kd/site.csv?period=3m"
        help="What it answers: a path of the API with its parameters, as Copy as… gives it."
      />
    </Form>
  );
}
