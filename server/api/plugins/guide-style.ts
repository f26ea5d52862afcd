import { HEADER_STYLE } from './docs-assets.ts';

export const GUIDE_STYLE = `:root {
  color-scheme: light dark;
  --text: #1c2733; --quiet: #566575; --line: #dfe5ec; --back: #fff; --code: #f4f7fa; --link: #1458a6; --mark: #e8f0fa;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #dce4ec; --quiet: #9aabbc; --line: #2b3846; --back: #10171f; --code: #182330; --link: #7db7f2; --mark: #1c3048;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 68px; }
body { margin: 0; font: 16px/1.65 system-ui, sans-serif; color: var(--text); background: var(--back); }
${HEADER_STYLE}
.guide { display: grid; grid-template-columns: 220px minmax(0, 46rem); gap: 48px; max-width: 1080px; margin: 0 auto; padding: 0 24px; }
.guide > nav { position: sticky; top: 52px; align-self: start; padding: 36px 0; font-size: 15px; }
.guide > nav ul { margin: 0; padding: 0; list-style: none; }
.guide > nav a { display: block; padding: 5px 12px; border-radius: 6px; color: var(--quiet); text-decoration: none; }
.guide > nav a:hover { color: var(--text); }
.guide > nav a[aria-current] { color: var(--text); background: var(--mark); font-weight: 600; }
main { padding: 28px 0 96px; overflow-wrap: break-word; }
h1 { margin: 8px 0 20px; font-size: 32px; line-height: 1.2; letter-spacing: -0.015em; }
h2 { margin: 44px 0 12px; padding-top: 20px; border-top: 1px solid var(--line); font-size: 22px; line-height: 1.3; }
h3 { margin: 28px 0 8px; font-size: 17px; }
p, ul, ol { margin: 12px 0; }
li { margin: 4px 0; }
main a { color: var(--link); text-underline-offset: 2px; }
code { font: 0.875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; padding: 1px 5px; border-radius: 4px; background: var(--code); }
pre { margin: 16px 0; padding: 14px 16px; overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; background: var(--code); }
pre code { padding: 0; background: none; font-size: 13.5px; }
.table { margin: 16px 0; overflow-x: auto; }
table { border-collapse: collapse; font-size: 14.5px; line-height: 1.5; }
th, td { padding: 7px 14px 7px 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--quiet); font-weight: 600; }
@media (max-width: 800px) {
  .guide { display: block; padding: 0 16px; }
  .guide > nav { position: static; padding: 16px 0 0; }
  .guide > nav ul { display: flex; flex-wrap: wrap; gap: 2px; }
  main { padding-top: 12px; }
  h1 { font-size: 27px; }
}
@media print { .ordinate-header, .guide > nav { display: none; } .guide { display: block; } }
`;
