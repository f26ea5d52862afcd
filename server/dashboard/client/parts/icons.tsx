/** Outlines on a grid of 16, drawn with the colour of the text. */
const PATHS = {
  projects: 'M2.5 3.5h4v4h-4zM9.5 3.5h4v4h-4zM2.5 10h4v3.5h-4zM9.5 10h4v3.5h-4z',
  overview: 'M2.5 2.5v11h11M5 10.5l2.8-3.4 2.2 1.8 3.3-4.6',
  explain: 'M2.5 2.5h3v5h-3zM6.5 6h3v4h-3zM10.5 8.5h3v5h-3z',
  findings: 'M8 1.8a4.2 4.2 0 0 1 2.2 7.8v1.9H5.8V9.6A4.2 4.2 0 0 1 8 1.8zM6 13.8h4',
  explore: 'M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4zM10.8 5.2 9.2 9.2l-4 1.6 1.6-4z',
  queries: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.3 10.3l3.4 3.4',
  pages: 'M4 1.8h5.2L12.5 5v9.2H4zM9 2v3.3h3.3M6.3 8.3h4M6.3 10.8h4',
  keywords: 'M2.5 8.3V3a.5.5 0 0 1 .5-.5h5.3l5.2 5.2a1 1 0 0 1 0 1.4l-4.4 4.4a1 1 0 0 1-1.4 0zM5.6 5.6h.01',
  breakdowns: 'M8 1.8v6.2h6.2A6.2 6.2 0 1 1 8 1.8zM10.5 2.2a6 6 0 0 1 3.3 3.3h-3.3z',
  alerts:
    'M8 1.8a4.2 4.2 0 0 1 4.2 4.2c0 3.6 1.3 4.8 1.3 4.8h-11s1.3-1.2 1.3-4.8A4.2 4.2 0 0 1 8 1.8zM6.6 13.3a1.5 1.5 0 0 0 2.8 0',
  notes: 'M2.5 3h11v8h-6l-3 2.7V11h-2zM5 6h6M5 8.3h3.5',
  data: 'M2.5 3.5h11v10h-11zM2.5 6.5h11M5.5 1.8v3M10.5 1.8v3M5.5 9h.01M8 9h.01M10.5 9h.01M5.5 11.3h.01M8 11.3h.01',
  keys: 'M10.3 2a3.7 3.7 0 1 1-3.3 5.3l-5 5V14h2.3v-1.7H6v-1.7h1.6M11 5.2h.01',
  connect: 'M6.5 9.5l3-3M7.3 4.7l1.6-1.6a2.8 2.8 0 0 1 4 4l-1.6 1.6M8.7 11.3l-1.6 1.6a2.8 2.8 0 0 1-4-4l1.6-1.6',
  channels: 'M2.5 3.5h11v9h-11zM2.8 4l5.2 4.3L13.2 4',
  members:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.8 13.5c0-2.6 1.8-4 4.2-4s4.2 1.4 4.2 4M10.8 3a2.3 2.3 0 0 1 0 4.2M12 9.8c1.4.5 2.2 1.8 2.2 3.7',
  audit: 'M3.5 2h9v12h-9zM6 5h4M6 7.5h4M6 10h2.5',
  settings:
    'M2.5 4.5h6M11.5 4.5h2M2.5 11.5h2M7.5 11.5h6M10 6a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM6 13a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z',
  out: 'M6 13.5H2.8v-11H6M10.3 11l3-3-3-3M13 8H6',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  table: 'M2.5 3h11v10h-11zM2.5 6.3h11M2.5 9.6h11M6.5 3v10',
  chevron: 'M4.5 6.3 8 9.8l3.5-3.5',
  download: 'M8 2.5v7.3M4.8 7 8 10l3.2-3M2.8 13.3h10.4',
  close: 'M4 4l8 8M12 4l-8 8',
  plus: 'M8 3v10M3 8h10',
  warning: 'M8 2.3 14.3 13.3H1.7zM8 6.5v3.3M8 11.5h.01',
  info: 'M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4zM8 7.4v3.8M8 4.9h.01',
  left: 'M9.8 4.5 6.3 8l3.5 3.5',
  right: 'M6.3 4.5 9.8 8l-3.5 3.5',
  theme: 'M8 2.2a5.8 5.8 0 1 0 0 11.6zM8 2.2a5.8 5.8 0 0 1 0 11.6',
  views: 'M4 2.2h8v11.6l-4-3-4 3z',
  star: 'M8 2l1.8 3.9 4.2.5-3.1 2.9.8 4.2L8 11.4l-3.7 2.1.8-4.2L2 6.4l4.2-.5z',
  up: 'M8 12.5v-9M4.3 7.2 8 3.5l3.7 3.7',
  down: 'M8 3.5v9M4.3 8.8 8 12.5l3.7-3.7',
} as const;
export type IconName = keyof typeof PATHS;

/** Says nothing to screen readers: a text beside it does. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width={size} height={size} aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
