import type { StaticFile } from './static-files.ts';

/** A rising line between two axes; the ordinate is the value on the vertical axis. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" role="img" aria-label="Ordinate">
<rect width="32" height="32" rx="7" fill="#12355b"/>
<path d="M8 6v18h18" fill="none" stroke="#9fc3e7" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round"/>
<path d="M12 19.5l4.5-5 3.5 3 5.5-8" fill="none" stroke="#fff" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round"/>
<circle cx="25.5" cy="9.5" r="2.5" fill="#ffb547"/>
</svg>
`;

export const ICON_FILE: StaticFile = ['icon.svg', 'image/svg+xml', Buffer.from(ICON)];

/** The header of all pages. */
export const HEADER_STYLE = `.ordinate-header {
  position: sticky; top: 0; z-index: 20; box-sizing: border-box; height: 52px; padding: 0 20px;
  display: flex; align-items: center; gap: 10px;
  font: 600 17px/1 system-ui, sans-serif; color: #fff; background: #12355b;
}
.ordinate-header img { width: 28px; height: 28px; border: 1px solid #2d5684; border-radius: 7px; }
.ordinate-header nav { display: flex; gap: 4px; margin-left: 14px; font-weight: 400; font-size: 14px; }
.ordinate-header nav a { padding: 8px 10px; border-radius: 6px; color: #bcd6ef; text-decoration: none; }
.ordinate-header nav a:hover, .ordinate-header nav a[aria-current] { color: #fff; background: #2d5684; }
.ordinate-header a:focus-visible { outline: 2px solid #ffb547; outline-offset: 1px; }
`;

export const STYLE = `:root { --scalar-custom-header-height: 52px; }
body { margin: 0; }
${HEADER_STYLE}`;

const SECTIONS = [
  ['/docs', 'API reference'],
  ['/docs/guide', 'Guide'],
] as const;

/** The header of a page. @param root the folder of its static files @param current the section that it belongs to */
export function header(root: string, current: (typeof SECTIONS)[number][0]): string {
  const links = SECTIONS.map(
    ([href, text]) => `<a href="${href}"${href === current ? ' aria-current="true"' : ''}>${text}</a>`,
  );
  return `<header class="ordinate-header"><img src="${root}/icon.svg" alt=""> Ordinate <nav>${links.join('')}</nav></header>`;
}

/** Disables everything that would be loaded from other hosts. */
const CONFIGURATION = {
  url: '/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  defaultOpenAllTags: true,
  documentDownloadType: 'json',
  authentication: { preferredSecurityScheme: 'key' },
};

export const START = `Scalar.createApiReference('#reference', ${JSON.stringify(CONFIGURATION)});\n`;

/** The HTML page. @param root path of its static files */
export function page(root: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Ordinate API</title>
<link rel="icon" type="image/svg+xml" href="${root}/icon.svg">
<link rel="stylesheet" href="${root}/docs.css">
</head>
<body>
${header(root, '/docs')}
<noscript>This page needs JavaScript; the same documentation for programs is at <a href="/openapi.json">/openapi.json</a>.</noscript>
<div id="reference"></div>
<script src="${root}/reference.js"></script>
<script src="${root}/start.js"></script>
</body>
</html>
`;
}
