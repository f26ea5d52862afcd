import { useMemo } from 'preact/hooks';
import { expectedRange } from '../lib/effect.ts';
import type { EffectsAnswer } from '../lib/types.ts';
import type { Marker } from './chart-data.ts';
import { TimeChart } from './time-chart.tsx';

/** Clicks by day, those expected without the change, and the range in which they would be. */
export function EffectChart({ answer }: { answer: EffectsAnswer }) {
  const { daily, effect, subject, windows, events } = answer;
  const points = useMemo(() => daily.map(({ date, actual }) => ({ date, value: actual })), [answer]);
  const extra = useMemo(
    () =>
      effect === null
        ? []
        : [{ name: 'Expected', metric: 'clicks' as const, values: daily.map(({ expected }) => expected) }],
    [answer],
  );
  const band = useMemo(
    () => (effect?.low === null || effect === null ? undefined : { name: 'Expected, 95%', ...expectedRange(answer) }),
    [answer],
  );
  const markers = useMemo(
    () => [
      { from: subject.date, to: windows.settle?.to ?? subject.date, text: 'The change', kind: 'note' as const },
      ...events.map(
        ({ kind, title, from, to, source }): Marker => ({
          ...{ from, to: to ?? windows.after.to, kind: kind === 'ranking' ? 'ranking' : 'event' },
          text: to === null ? `${title}, still rolling out` : title,
          href: source,
        }),
      ),
    ],
    [answer],
  );
  if (points.length === 0) return null;
  return (
    <TimeChart
      metric="clicks"
      points={points}
      extra={extra}
      {...(band && { band })}
      markers={markers}
      label={`Clicks of ${subject.name} by day, and those expected. ${answer.text}`}
    />
  );
}
