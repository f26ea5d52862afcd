import { METRICS } from '../lib/types.ts';
import { useView, type View } from '../lib/view.ts';

/** How rows changed against the compared days, by their name in the API. */
const CHANGES = [
  ['', 'All'],
  ['up', 'Winners'],
  ['down', 'Losers'],
  ['new', 'New'],
  ['gone', 'Gone'],
] as const;

/** What the address says of changed rows: how they changed, and by which metric; undefined for all rows. */
export function moversOf(view: View): { readonly change: string; readonly by: string } | undefined {
  const change = CHANGES.find(([name]) => name !== '' && name === view.get('change'))?.[0];
  if (change === undefined || view.compare === 'none') return undefined;
  const by = view.get('sort').replace('-', '');
  return { change, by: METRICS.find((metric) => metric === by) ?? 'clicks' };
}

/** Shows all rows of a list, or those that changed in one way. */
export function ChangeTabs({ label }: { label: string }) {
  const view = useView();
  if (view.compare === 'none') return null;
  const chosen = moversOf(view)?.change ?? '';
  return (
    <nav class="segments" aria-label={label}>
      {CHANGES.map(([name, text]) => (
        <a
          key={name}
          href={view.with({ change: name || null, offset: null })}
          aria-current={chosen === name ? 'true' : undefined}
        >
          {text}
        </a>
      ))}
    </nav>
  );
}
