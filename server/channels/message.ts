import type { DeliveryBody } from '../catalog/outbox.ts';

/** An event in words, for people. Texts from outside are as they are: each medium escapes them. */
export interface Message {
  /** One line. */
  readonly title: string;
  readonly lines: readonly string[];
  /** The project or workspace that it is about. */
  readonly about: string;
  readonly link: string | null;
}

const REASONS: Readonly<Record<string, string>> = {
  access_lost: 'The provider no longer grants access to the property.',
  credentials: 'The credentials cannot be used.',
  quota: 'The quota of the provider is exhausted for now.',
  unavailable: 'The provider returned errors.',
  other: 'The page of the project and the log say why.',
};

export function messageOf({ type, data }: DeliveryBody): Message {
  const { workspace, project, link } = data;
  const about = project?.domain ?? workspace.name;
  return { ...wordsOf(type, data, about), about, link };
}

function wordsOf(
  type: string,
  { alert, sync, channel }: DeliveryBody['data'],
  about: string,
): Pick<Message, 'title' | 'lines'> {
  if (alert !== undefined) {
    const title = oneLine(alert.title);
    if (type === 'alert.resolved') return { title: `Resolved: ${title}`, lines: [alert.body] };
    return {
      title: `${alert.severity === 'info' ? 'Alert' : `Alert (${alert.severity})`}: ${title}`,
      lines: [alert.body],
    };
  }
  if (sync !== undefined) {
    if (type === 'sync.recovered') return { title: `Sync of ${oneLine(about)} works again`, lines: [] };
    return { title: `Sync of ${oneLine(about)} fails`, lines: [REASONS[sync.reason ?? 'other']!] };
  }
  return { title: `Test of the channel ${oneLine(channel?.name ?? '')}`, lines: ['It can be reached.'] };
}

/** Control characters would end a line, or change the direction of text. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\s]+/gu, ' ').trim();
}
