import type { ChannelKind } from '../catalog/channels.ts';
import { type Message, oneLine } from './message.ts';

type Chat = Exclude<ChannelKind, 'email' | 'webhook'>;

/** Less than what each takes, in characters: Discord counts the whole text. */
const MAX_TITLE = 200;
const MAX_LINE = 1200;
/** Of all lines: Teams takes 28 kB, of which a character may need six bytes; Slack takes 50 blocks. */
const MAX_TEXT = 3600;
const MAX_LINES = 40;
/** Of the whole text in Discord, which takes 2,000. */
const MAX_DISCORD = 1900;
/** Of the line that says how many are left out. */
const MAX_MORE = 40;
const OPEN = 'Open in Ordinate';

/** The JSON that a chat takes for a message. Texts from outside make no mention, link or markup in it. */
export function chatBody(kind: Chat, message: Message): string {
  const title = cut(oneLine(message.title), MAX_TITLE);
  const about = cut(oneLine(message.about), MAX_TITLE);
  const { link } = message;
  const all = message.lines.map((line) => cut(oneLine(line), MAX_LINE));
  const others = markdown(title).length + markdown(about).length + (link?.length ?? 0) + MAX_MORE;
  const lines = kind === 'discord' ? shorten(all, MAX_DISCORD - others, markdown) : shorten(all, MAX_TEXT);
  return JSON.stringify(FORMATS[kind]({ title, lines, about, link }));
}

/** The first lines that fit, at least one, and how many are left out. @param written a line as it is sent */
function shorten(lines: readonly string[], most: number, written = (line: string): string => line): readonly string[] {
  let length = 0;
  const end = lines.findIndex((line, index) => {
    length += written(line).length + 1;
    return length > most || index === MAX_LINES;
  });
  if (end === -1) return lines;
  const shown = lines.slice(0, Math.max(1, end));
  const more = lines.length - shown.length;
  return more === 0 ? shown : [...shown, `${more} more lines are in Ordinate.`];
}

const FORMATS: Readonly<Record<Chat, (message: Message) => object>> = {
  // Texts are in blocks of plain text; `text` is for notifications.
  slack: ({ title, lines, about, link }) => {
    const plain = (text: string) => ({ type: 'plain_text', text: ampersands(inert(text)), emoji: false });
    const texts = [title, ...lines, about];
    return {
      text: [...texts, ...(link === null ? [] : [link])]
        .map((text) => (text === link ? `<${link}>` : ampersands(inert(text))))
        .join('\n'),
      blocks: [
        ...texts.map((text) => ({ type: 'section', text: plain(text) })),
        ...(link === null ? [] : [{ type: 'section', text: { type: 'mrkdwn', text: `<${link}|${OPEN}>` } }]),
      ],
    };
  },
  discord: ({ title, lines, about, link }) => ({
    content: cut(
      [`**${markdown(title)}**`, ...lines.map(markdown), markdown(about)].join('\n'),
      MAX_DISCORD - (link?.length ?? 0),
    ).concat(link === null ? '' : `\n<${link}>`),
    allowed_mentions: { parse: [] },
  }),
  // A text run has no markup, other than a text block.
  teams: ({ title, lines, about, link }) => ({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            textRun(title, { weight: 'Bolder' }),
            ...lines.map((line) => textRun(line)),
            textRun(about, { isSubtle: true }),
            ...(link === null ? [] : [{ type: 'TextBlock', text: `[${OPEN}](${link})`, wrap: true }]),
          ],
        },
      },
    ],
  }),
  'google-chat': ({ title, lines, about, link }) => ({
    cardsV2: [
      {
        cardId: 'event',
        card: {
          sections: [
            {
              widgets: [
                ...[title, ...lines, about].map((line) => ({ textParagraph: { text: ampersands(inert(line)) } })),
                ...(link === null
                  ? []
                  : [{ buttonList: { buttons: [{ text: OPEN, onClick: { openLink: { url: link } } }] } }]),
              ],
            },
          ],
        },
      },
    ],
  }),
};

const textRun = (text: string, style: object = {}) => ({
  type: 'RichTextBlock',
  inlines: [{ type: 'TextRun', text: inert(text).replaceAll('<', '<\u200b'), ...style }],
});

/** As Slack and HTML escape. */
export function ampersands(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A space without width in what chats make mentions and links of. */
function inert(text: string): string {
  return text
    .replaceAll('@', '@\u200b')
    .replaceAll(/(\p{L}):(?=\/\/)/gu, '$1:\u200b')
    .replaceAll(/\b(mailto|tel):/gi, '$1:\u200b')
    .replaceAll(/\b(www)\./gi, '$1\u200b.')
    .replaceAll('](', ']\u200b(');
}

function markdown(text: string): string {
  // Backslashes first are those of the text. Before a digit one would be shown: the dot of a numbered list is escaped.
  return inert(text.replaceAll(/[\\*_~`|[\]<>]/g, String.raw`\$&`)).replace(/^(?:(\d+)(?=\.)|(?=[#-]))/, '$1\\');
}

/** The beginning of a text that is too long. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  // Neither half of a character nor the backslash of an escape ends it.
  return `${text.slice(0, most - 1).replace(/[\ud800-\udbff\\]+$/u, '')}…`;
}
