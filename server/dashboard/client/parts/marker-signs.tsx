import { useEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { formatDate, formatRange } from '../lib/dates.ts';
import type { ChartPoint, Marker } from './chart-data.ts';
import { markerPlaces } from './chart-drawing.ts';
import { NoteVerdict } from './verdict.tsx';

/** What there is to open on a day of a chart, and where it stands, in pixels. */
export interface Sign {
  readonly left: number;
  readonly top: number;
  readonly markers: readonly Marker[];
}

/** The least distance of two signs that can both be hit, in pixels. */
const APART = 24;

/** A sign for the markers of a day, or of days too near to each other for two. */
export function signsOf(chart: uPlot, points: readonly ChartPoint[], markers: readonly Marker[]): Sign[] {
  const { over } = chart;
  const placed = markers.flatMap((marker) => {
    const places = markerPlaces(points, marker);
    return places === undefined ? [] : [{ marker, left: chart.valToPos(places[0], 'x') + over.offsetLeft }];
  });
  const signs: { left: number; top: number; markers: Marker[] }[] = [];
  for (const { marker, left } of placed.toSorted((a, b) => a.left - b.left)) {
    const last = signs.at(-1);
    if (last !== undefined && left - last.left < APART) last.markers.push(marker);
    else signs.push({ left, top: over.offsetTop + over.offsetHeight, markers: [marker] });
  }
  return signs;
}

const KINDS = { note: 'Note', event: 'Change', alert: 'Alert', ranking: 'Ranking update' } as const;
const LINKS = { note: 'All notes', event: 'Source', alert: 'Open the alert', ranking: 'Source' } as const;

/** Buttons over the signs that a chart draws; each opens what it stands for. */
export function MarkerSigns({ signs, width }: { signs: readonly Sign[]; width: number }) {
  const [opened, setOpened] = useState<Sign | undefined>();
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => setOpened(undefined), [signs]);
  useEffect(() => {
    if (opened === undefined) return;
    const close = (event: Event): void => {
      const isOutside =
        event instanceof KeyboardEvent ? event.key === 'Escape' : !box.current?.contains(event.target as Node);
      if (isOutside) setOpened(undefined);
    };
    addEventListener('keydown', close);
    addEventListener('pointerdown', close);
    return () => {
      removeEventListener('keydown', close);
      removeEventListener('pointerdown', close);
    };
  }, [opened]);
  return (
    <div ref={box}>
      {signs.map((sign) => (
        <button
          key={sign.left}
          type="button"
          class="marker-sign"
          style={{ left: `${sign.left - 12}px`, top: `${sign.top - 20}px` }}
          aria-expanded={sign === opened}
          aria-label={nameOf(sign)}
          title={nameOf(sign)}
          onClick={() => setOpened(sign === opened ? undefined : sign)}
        />
      ))}
      {opened && (
        <div
          class="marker-box"
          style={{
            left: `${Math.max(0, Math.min(opened.left - 140, width - 290))}px`,
            bottom: `calc(100% - ${opened.top - 24}px)`,
          }}
        >
          {opened.markers.map(({ from, to, kind, text, href, note }) => (
            <div key={`${kind} ${text}`} class={`tip-${kind}`}>
              <p class="muted">
                {KINDS[kind]}, {from === to ? formatDate(from) : formatRange({ from, to })}
              </p>
              <p dir="auto">{text}</p>
              {note && <NoteVerdict project={note.project} note={note.id} />}
              {href !== undefined && (
                <a href={href} {...(href.startsWith('/') ? {} : { target: '_blank', rel: 'noreferrer' })}>
                  {LINKS[kind]}
                </a>
              )}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}

function nameOf({ markers }: Sign): string {
  return markers.map(({ kind, text }) => `${KINDS[kind]}: ${text}`).join('; ');
}
