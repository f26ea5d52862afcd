import { useEffect, useState } from 'preact/hooks';
import { useResource } from '../lib/api.ts';
import { isDay } from '../lib/dates.ts';
import { effectPath, type Judged } from '../lib/effect.ts';
import { formatFinePercent } from '../lib/format.ts';
import type { EffectsAnswer } from '../lib/types.ts';

/** Milliseconds without typing after which is asked. */
const PAUSE = 500;

/** How large an effect must be to be seen, before a change is made. */
export function Detectable({ project, date, of }: { project: string; date: string; of: Judged }) {
  const path = (after: string): string => effectPath(project, { ...of, date, after });
  const wanted = isDay(date) ? path('') : null;
  const [asked, setAsked] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(wanted), PAUSE);
    return () => clearTimeout(timer);
  }, [wanted]);
  const isAsked = asked !== null && asked === wanted;
  const { data: usual } = useResource<EffectsAnswer>(isAsked ? path('28d') : null);
  const { data: longer } = useResource<EffectsAnswer>(isAsked ? path('56d') : null);
  if (!isAsked || usual === undefined || longer === undefined) return null;
  return (
    <p class="muted detectable" role="status">
      {detectableText(usual, longer)}
    </p>
  );
}

function detectableText(usual: EffectsAnswer, longer: EffectsAnswer): string {
  if (usual.detectable === null) return usual.text;
  const within = `A change under ${formatFinePercent(usual.detectable.ratio)} could not be seen here within 28 days`;
  return longer.detectable === null
    ? `${within}.`
    : `${within}; with 56 days ${formatFinePercent(longer.detectable.ratio)}.`;
}
