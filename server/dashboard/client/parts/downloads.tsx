import { useState } from 'preact/hooks';
import { apiAddress } from '../lib/api.ts';
import { useWork } from '../lib/form.ts';
import { Problem } from './form.tsx';
import { Icon } from './icons.tsx';

interface DownloadsProps {
  /** The path of the rows as CSV, below the root of the API. */
  readonly csv: string;
}

/** All rows of a table as files: CSV, and a workbook for Excel. */
export function Downloads({ csv }: DownloadsProps) {
  const work = useWork();
  const [isAsked, setAsked] = useState(false);
  const address = apiAddress(csv);
  const save = (): Promise<boolean> =>
    work.run(async () => {
      setAsked(true);
      // Loaded when somebody asks.
      const { saveWorkbook } = await import('../lib/save-workbook.ts');
      await saveWorkbook(csv).finally(() => setAsked(false));
    });
  return (
    <span class="downloads">
      <Problem problem={work.problem} />
      <a class="link-button" href={`${address}${csv.includes('?') ? '&' : '?'}bom=1`} download>
        <Icon name="download" size={14} /> CSV<span class="sr-only"> of all rows</span>
      </a>
      <button type="button" class="link-button" disabled={work.isBusy} onClick={() => void save()}>
        <Icon name="download" size={14} /> {isAsked ? 'One moment…' : 'XLSX'}
        <span class="sr-only"> of all rows</span>
      </button>
    </span>
  );
}
