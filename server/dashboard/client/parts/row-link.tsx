import type { ComponentChildren } from 'preact';
import type { Project } from '../lib/types.ts';
import { useScreenLink } from '../lib/view.ts';

interface RowLinkProps {
  readonly project: Project;
  readonly kind: 'queries' | 'pages';
  readonly text: string;
  /** The keyword that tracks the query. */
  readonly keywordId?: string | null | undefined;
  readonly class: string;
  readonly children: ComponentChildren;
}

/** Opens the screen of one query or page; that of the keyword where the query is tracked. */
export function RowLink({ project, kind, text, keywordId, class: style, children }: RowLinkProps) {
  const link = useScreenLink();
  const root = `/app/p/${project.id}`;
  const href = keywordId ? link(`${root}/keywords/${keywordId}`) : link(`${root}/${kind}/one`, { of: text });
  const title = kind === 'pages' ? text : keywordId ? 'Tracked keyword' : undefined;
  return (
    <a class={style} dir="auto" href={href} title={title}>
      {children}
    </a>
  );
}
