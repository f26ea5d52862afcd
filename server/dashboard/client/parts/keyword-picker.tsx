import { useState } from 'preact/hooks';
import { apiPath, useResource } from '../lib/api.ts';
import { writeFilter } from '../lib/filter.ts';
import { plural } from '../lib/format.ts';
import type { KeywordsAnswer, Project } from '../lib/types.ts';
import { ManyField } from './form.tsx';

/** Keywords that are shown at a time; a search finds the others. */
const SHOWN = 50;

interface Props {
  readonly project: Project;
  /** Ids. */
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
}

/** Chooses tracked keywords of a project. */
export function KeywordPicker({ project, chosen, onChange }: Props) {
  const [search, setSearch] = useState('');
  const filter = search.trim() === '' ? null : writeFilter([{ field: 'query', op: 'contains', value: search.trim() }]);
  const path = apiPath(`/projects/${project.id}/keywords`, { filter, sort: 'query', limit: SHOWN });
  const { data } = useResource<KeywordsAnswer>(path);
  const shown = data?.keywords ?? [];
  const ids = new Set(shown.map(({ id }) => id));
  return (
    <div class="field">
      <label for="keyword-search">Search keywords</label>
      <input
        id="keyword-search"
        type="search"
        dir="auto"
        value={search}
        onInput={(event) => setSearch(event.currentTarget.value)}
      />
      <div class="picked">
        <ManyField
          legend={plural(chosen.length, 'chosen keyword')}
          options={shown.map(({ id, query }) => [id, query] as const)}
          chosen={chosen.filter((id) => ids.has(id))}
          onChange={(next) => onChange([...chosen.filter((id) => !ids.has(id)), ...next])}
        />
      </div>
    </div>
  );
}
