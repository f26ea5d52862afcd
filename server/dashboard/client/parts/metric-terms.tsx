import { useEffect, useRef } from 'preact/hooks';

const TERMS: readonly (readonly [name: string, meaning: string])[] = [
  [
    'Clicks',
    'How often somebody came to the site from the results of the search engine. A second click on the same result in one search counts once.',
  ],
  [
    'Impressions',
    'How often a result of the site was on a page of results that somebody opened, seen or not. Of one search, the site counts once; each page of it counts once, too, so pages add up to more.',
  ],
  ['CTR', 'Clicks divided by impressions, of all days together. It is not the mean of the days.'],
  [
    'Position',
    'The mean place of the topmost result of the site, weighted by impressions; 1 is the top. It gets worse when the site is found for more searches far down, and better when these are lost.',
  ],
  [
    'Anonymous queries',
    'The search engine does not name queries that few people make. Their clicks are in the totals of the site and in no row of a list: rows add up to less than the total.',
  ],
  [
    'Days that may still change',
    'The newest two or three days are counted again by the search engine. Comparisons leave them out on both sides, unless you include them.',
  ],
  [
    'Change',
    'The difference to the compared days. A percentage is withheld where it would mislead: few clicks, missing days, days that may still change, or a change in how the search engine counts.',
  ],
];

/** What the numbers count, over the page. */
export function MetricTerms({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="card help" aria-labelledby="metric-help" onClose={onClose}>
      <h2 id="metric-help">What these numbers are</h2>
      <dl>
        {TERMS.map(([name, meaning]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <button type="button" class="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}
