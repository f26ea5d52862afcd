import { useState } from 'preact/hooks';
import { apiPath } from '../lib/api.ts';
import { Icon } from './icons.tsx';
import { Menu } from './menu.tsx';

interface CopyProps {
  /** Below the root of the API, without parameters. */
  readonly path: string;
  readonly parameters?: Readonly<Record<string, string | number | null | undefined>>;
  /** The parameters of the call that has all rows; otherwise the same without a limit. */
  readonly fileParameters?: CopyProps['parameters'];
  /** Whether the endpoint answers as CSV. */
  readonly hasCsv?: boolean;
}

/** The call of the API that is behind a view, for a terminal, as CSV, for pandas and for a spreadsheet. */
export function CopyButton({ path, parameters = {}, fileParameters, hasCsv = true }: CopyProps) {
  const [copied, setCopied] = useState('');
  const root = `${location.origin}/api/v1`;
  const { limit: _limit, offset: _offset, ...unlimited } = parameters;
  const all = fileParameters ?? unlimited;
  const texts: readonly (readonly [name: string, text: string])[] = [
    ['curl', curl(root + apiPath(path, parameters), '')],
    ...(hasCsv
      ? ([
          ['CSV', curl(root + apiPath(`${path}.csv`, all), `-o ${path.split('/').at(-1)}.csv `)],
          ['pandas', pandas(root + apiPath(`${path}.csv`, all))],
          ['Sheets', sheets(root + apiPath(`${path}.csv`, all))],
        ] as const)
      : []),
  ];
  const copy = async (name: string, text: string): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(name);
  };
  return (
    <Menu
      class="icon-button"
      title="Copy the API call of this view"
      button={
        <>
          <Icon name="copy" />
          <span class="sr-only">Copy as…</span>
        </>
      }
    >
      {() => (
        <>
          {texts.map(([name, text]) => (
            <button key={name} type="button" class="menu-item" onClick={() => void copy(name, text)}>
              <strong>{copied === name ? `${name}: copied` : name}</strong>
              <code>{text.split('\n')[0]}</code>
            </button>
          ))}
          <p class="muted" role="status">
            {copied === 'Sheets'
              ? 'Paste it under Extensions › Apps Script, add your key, then use =ordinate() in a cell.'
              : 'Set ORDINATE_KEY to an API key first.'}
          </p>
        </>
      )}
    </Menu>
  );
}

/** The address stands in single quotes, which it has none of: `URLSearchParams` encodes them, and ids are letters. */
function curl(address: string, options: string): string {
  return `curl ${options}-H "Authorization: Bearer $ORDINATE_KEY" '${address}'`;
}

function pandas(address: string): string {
  return `import os, pandas
rows = pandas.read_csv('${address}', storage_options={'Authorization': 'Bearer ' + os.environ['ORDINATE_KEY']})`;
}

/** A function for a spreadsheet, which cannot send a key by a formula. */
function sheets(address: string): string {
  return `function ordinate() {
  const key = PropertiesService.getScriptProperties().getProperty('ORDINATE_KEY');
  const answer = UrlFetchApp.fetch('${address}', { headers: { Authorization: 'Bearer ' + key } });
  return Utilities.parseCsv(answer.getContentText());
}`;
}
