import { PARTS, signed } from '../lib/explain.ts';
import type { ExplainAnswer } from '../lib/types.ts';

/** The parts of a change as bars: each begins where the one before it ended. The last bar is all of them. */
export function Waterfall({ answer: { parts, change } }: { answer: ExplainAnswer }) {
  const { difference } = change.clicks;
  let end = 0;
  const steps = PARTS.flatMap(([name, text, help]) => {
    const part = parts[name] ?? null;
    if (part === null) return [];
    const start = end;
    end += part;
    return [{ text, help, part, low: Math.min(start, end), high: Math.max(start, end) }];
  });
  const all = {
    text: 'All clicks',
    help: '',
    part: difference,
    low: Math.min(0, difference),
    high: Math.max(0, difference),
  };
  const bars = [...steps, all];
  const low = Math.min(...bars.map((bar) => bar.low));
  const width = Math.max(1, Math.max(...bars.map((bar) => bar.high)) - low);
  return (
    <table class="waterfall">
      <caption class="sr-only">Parts of the change</caption>
      <tbody>
        {bars.map(({ text, help, part, ...bar }) => (
          <tr key={text}>
            <th scope="row" title={help}>
              {text}
            </th>
            <td class="track" aria-hidden="true">
              <span
                class={part < 0 ? 'fall' : part > 0 ? 'rise' : ''}
                style={{
                  left: `${(100 * (bar.low - low)) / width}%`,
                  width: `${(100 * (bar.high - bar.low)) / width}%`,
                }}
              />
            </td>
            <td class="number">{signed(part)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
