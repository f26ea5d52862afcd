import { formatCount, formatMetric } from '../lib/format.ts';
import type { Tracker } from '../lib/tracker.ts';
import type { Group } from '../lib/types.ts';
import { useView } from '../lib/view.ts';
import { Select } from './controls.tsx';
import { Sparkline } from './sparkline.tsx';

interface GroupTreeProps {
  readonly groups: readonly Group[];
  readonly total: number;
  /** How many keywords each group has, and their average position by day; undefined until it is there. */
  readonly lines: Tracker['groups'] | undefined;
}

/** The groups of keywords below their folders; on a narrow screen as a list to choose from. */
export function GroupTree({ groups, total, lines = [] }: GroupTreeProps) {
  const view = useView();
  const chosen = view.get('group');
  const ordered = inOrder(groups, null, 0);
  const lineOf = new Map(lines.map((line) => [line.id, line]));
  return (
    <>
      <nav class="group-tree" aria-label="Groups">
        <a href={view.with({ group: null, offset: null })} aria-current={chosen === '' ? 'true' : undefined}>
          <span>All keywords</span>
          <span class="muted">{formatCount(total)}</span>
        </a>
        {ordered.map(({ group, depth }) => (
          <a
            key={group.id}
            href={view.with({ group: group.id, offset: null })}
            aria-current={chosen === group.id ? 'true' : undefined}
            class={group.kind === 'folder' ? 'folder' : ''}
            style={{ paddingLeft: `${10 + 14 * depth}px` }}
          >
            <span dir="auto">{group.name}</span>
            <GroupLine name={group.name} line={lineOf.get(group.id)} />
          </a>
        ))}
      </nav>
      <div class="group-select">
        <Select
          label="Group"
          value={chosen}
          options={[
            ['', 'All keywords'],
            ...ordered.map(({ group, depth }) => [group.id, `${'\u2003'.repeat(depth)}${group.name}`] as const),
          ]}
          onChange={(group) => view.change({ group: group || null, offset: null })}
        />
      </div>
    </>
  );
}

function GroupLine({ name, line }: { name: string; line: Tracker['groups'][number] | undefined }) {
  const latest = line?.positions.findLast((position) => position !== null);
  return (
    <span class="group-line">
      <Sparkline
        values={line?.positions ?? []}
        width={44}
        height={18}
        inverted
        label={`Average position of ${name}${latest === undefined ? '' : `: ${formatMetric('position', latest)} at last`}`}
      />
      <span class="muted">{line === undefined ? '' : formatCount(line.keywords)}</span>
    </span>
  );
}

/** Depth first, each group below its folder. A folder that is not there hides nothing. */
function inOrder(groups: readonly Group[], parent: string | null, depth: number): { group: Group; depth: number }[] {
  const known = new Set(groups.map(({ id }) => id));
  return groups
    .filter(({ parentId }) => (parentId !== null && known.has(parentId) ? parentId : null) === parent)
    .flatMap((group) => [{ group, depth }, ...(depth > 8 ? [] : inOrder(groups, group.id, depth + 1))]);
}
