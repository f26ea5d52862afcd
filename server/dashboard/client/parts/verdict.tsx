import { useEffect, useRef, useState } from 'preact/hooks';
import { useResource } from '../lib/api.ts';
import { effectPath, effectScreen } from '../lib/effect.ts';
import type { EffectsAnswer } from '../lib/types.ts';
import { ErrorBox } from './states.tsx';

/** The verdict on a noted change, requested when it comes into view. */
export function NoteVerdict({ project, note }: { project: string; note: string }) {
  const place = useRef<HTMLDivElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const seen = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting) setSeen(true);
    });
    seen.observe(place.current!);
    return () => seen.disconnect();
  }, []);
  const { data, error, reload } = useResource<EffectsAnswer>(isSeen ? effectPath(project, { note }) : null);
  return (
    <div class="verdict" ref={place}>
      {error && <ErrorBox error={error} retry={reload} />}
      {data && (
        <a class={`verdict-${data.verdict}`} href={effectScreen(project, { note })}>
          {data.text}
        </a>
      )}
      {!data && !error && <span class="muted">Judging…</span>}
    </div>
  );
}
