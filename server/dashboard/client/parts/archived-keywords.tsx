import { isManager, useResource } from '../lib/api.ts';
import { formatDateOf } from '../lib/dates.ts';
import { send, useWork } from '../lib/form.ts';
import { plural } from '../lib/format.ts';
import type { Project } from '../lib/types.ts';
import { ItemList, Problem } from './form.tsx';
import { ErrorBox, Skeleton } from './states.tsx';

interface Archived {
  readonly id: string;
  readonly query: string;
  readonly trackedSince: string;
  readonly version: string;
}

interface ArchivedAnswer {
  readonly keywords: readonly Archived[];
  readonly hasMore: boolean;
}

/** Queries that are no longer tracked, to track again: their days are still there. */
export function ArchivedKeywords({ project, onChange }: { project: Project; onChange: (query: string) => void }) {
  const { data, error, reload } = useResource<ArchivedAnswer>(`/projects/${project.id}/archived-keywords`);
  if (error) return <ErrorBox error={error} retry={reload} />;
  if (data === undefined) return <Skeleton lines={3} />;
  const { keywords, hasMore } = data;
  return (
    <section aria-label="Archived queries">
      <p class="muted list-head">
        {hasMore
          ? `The first ${keywords.length} archived queries`
          : plural(keywords.length, 'archived query', 'archived queries')}
      </p>
      <ItemList label="Archived queries">
        {keywords.map((keyword) => (
          <ArchivedItem key={keyword.id} project={project} keyword={keyword} onChange={onChange} />
        ))}
      </ItemList>
    </section>
  );
}

interface ItemProps {
  readonly project: Project;
  readonly keyword: Archived;
  readonly onChange: (query: string) => void;
}

function ArchivedItem({ project, keyword: { id, query, trackedSince, version }, onChange }: ItemProps) {
  const work = useWork();
  const track = (): Promise<boolean> =>
    work.run(async (submitted) => {
      const path = `/projects/${project.id}/keywords/${id}`;
      await send('PATCH', path, { archived: false }, { ...submitted, version });
      onChange(query);
    });
  return (
    <li>
      <div class="item-head">
        <strong dir="auto">{query}</strong>
        <span class="muted">tracked since {formatDateOf(trackedSince)}</span>
        {isManager.value && (
          <span class="actions">
            <button type="button" class="button" disabled={work.isBusy} onClick={() => void track()}>
              Track again<span class="sr-only"> {query}</span>
            </button>
          </span>
        )}
      </div>
      <Problem problem={work.problem} />
    </li>
  );
}
