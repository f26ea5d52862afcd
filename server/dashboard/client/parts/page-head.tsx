import type { ComponentChildren } from 'preact';

interface PageHeadProps {
  readonly title: string;
  readonly subtitle?: ComponentChildren;
  /** What the view can be changed with. */
  readonly children?: ComponentChildren;
}

export function PageHead({ title, subtitle, children }: PageHeadProps) {
  return (
    <div class="page-head">
      <div class="page-title">
        <h1>{title}</h1>
        <div class="muted">{subtitle ?? '\u00a0'}</div>
      </div>
      <div class="controls">{children}</div>
    </div>
  );
}
