import type { TargetPage } from '../lib/tracker.ts';
import type { Project } from '../lib/types.ts';
import { useScreenLink } from '../lib/view.ts';
import { shortUrl } from './top-rows.tsx';

interface KeywordNameProps {
  readonly id: string;
  readonly query: string;
  readonly project: Project;
  readonly target: TargetPage | undefined;
  readonly isRanking: boolean;
}

/** A tracked query in the list of the rank tracker, and whether its target page ranks. */
export function KeywordName({ id, query, project, target, isRanking }: KeywordNameProps) {
  const link = useScreenLink();
  return (
    <span class="keyword-name">
      <span class="row-name">
        <a class="text" dir="auto" href={link(`/app/p/${project.id}/keywords/${id}`)}>
          {query}
        </a>
        {!isRanking && <span class="pill">not ranking</span>}
      </span>
      {target !== undefined && <Target of={target} domain={project.domain} />}
    </span>
  );
}

/** The page that should rank, against the one that does. */
function Target({ of: { target, ranking, isSame }, domain }: { of: TargetPage; domain: string }) {
  return (
    <span class="muted target-page">
      <span title={target}>target {shortUrl(target, domain)}</span>{' '}
      {isSame ? (
        <span class="pill sync-ok">ranks</span>
      ) : (
        ranking !== null && (
          <span class="pill severity-warning" title={ranking} dir="auto">
            {shortUrl(ranking, domain)} ranks instead
          </span>
        )
      )}
    </span>
  );
}
