import { createTransport } from 'nodemailer';
import MimeNode from 'nodemailer/lib/mime-node';
import { type Channel, secretsOf } from '../catalog/channels.ts';
import type { AttemptResult, DeliveryBody } from '../catalog/deliveries.ts';
import { toMicroseconds } from '../domain/instants.ts';
import { orAborted } from '../runtime/promises.ts';
import type { Settings } from '../settings/settings.ts';
import { barChart } from './chart.ts';
import { ampersands, cut } from './chat.ts';
import { type Message, messageOf, oneLine, shorten } from './message.ts';

const MAX_SUBJECT = 200;
const LOOPBACK = /^(localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/;

/** Sends a delivery as a mail. Rejects with nothing but the reason of `signal`. */
export async function sendMail(
  channel: Channel,
  { id, body }: { readonly id: string; readonly body: string },
  { settings, now, signal }: { settings: Settings; now: () => number; signal: AbortSignal },
): Promise<AttemptResult> {
  const { smtpUrl, mailFrom, publicUrl } = settings;
  const missing = missingMailSetting(settings);
  if (missing !== undefined) return { outcome: 'retry', status: null, answer: `${missing} is not set` };
  const event = JSON.parse(body) as DeliveryBody;
  const message = messageOf(event);
  const [token] = secretsOf(settings, channel, toMicroseconds(now()));
  const unsubscribe = publicUrl === null ? null : `${publicUrl}/unsubscribe/${token}`;
  const from = readMailbox(mailFrom);
  const host = publicUrl === null ? from.address.split('@')[1]! : new URL(publicUrl).hostname;
  const transport = createTransport(smtpOptions(smtpUrl, settings.deliverySeconds * 1000));
  try {
    const headers = {
      Subject: cut(oneLine(message.title), MAX_SUBJECT),
      Date: new Date(event.timestamp).toUTCString().replace('GMT', '+0000'),
      'Message-ID': `<${id}@${host}>`,
      'Auto-Submitted': 'auto-generated',
      ...(unsubscribe === null
        ? {}
        : { 'List-Unsubscribe': `<${unsubscribe}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
    };
    const root = letterOf(message, unsubscribe);
    root.setHeader('From', [from]).setHeader('To', [{ name: '', address: channel.shown }]);
    for (const [name, value] of Object.entries(headers)) root.setHeader(name, value);
    const envelope = { from: from.address, to: [channel.shown] };
    const sending = transport.sendMail({ envelope, raw: await root.build() });
    const { response } = await orAborted(sending, signal);
    return { outcome: 'sent', status: Number(response.slice(0, 3)), answer: shorten(response) };
  } catch (error) {
    signal.throwIfAborted();
    return resultOf(error as SmtpError);
  } finally {
    transport.close();
  }
}

interface SmtpError extends Error {
  readonly code?: string;
  /** Of the last answer, if there was one. */
  readonly responseCode?: number;
  readonly response?: string;
}

function resultOf({ code, responseCode, response }: SmtpError): AttemptResult {
  const answer = shorten(response ?? (code === undefined ? 'no answer' : `no answer: ${code}`));
  const isFinal = responseCode !== undefined && responseCode >= 500;
  return { outcome: isFinal ? 'failed' : 'retry', status: responseCode ?? null, answer };
}

function smtpOptions(text: string, timeout: number) {
  const { protocol, hostname, port, username, password } = new URL(text);
  const isLoopback = LOOPBACK.test(hostname);
  const secure = protocol === 'smtps:';
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port),
    secure,
    // A password goes to another machine over TLS only.
    requireTLS: username !== '' && !isLoopback,
    ...(username === '' ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    // No certificate is for this machine.
    tls: { rejectUnauthorized: !isLoopback },
    connectionTimeout: timeout,
    greetingTimeout: timeout,
    socketTimeout: timeout,
    dnsTimeout: timeout,
  };
}

function readMailbox(text: string): { name: string; address: string } {
  const [, name = '', address = text] = /^([^<]*)<([^<>]+)>$/.exec(text) ?? [];
  return { name: name.trim().replace(/^"(.*)"$/, '$1'), address: address.trim() };
}

/** The same in two forms, with the pictures that one of them shows. */
function letterOf({ title, lines, about, link, charts = [] }: Message, unsubscribe: string | null): MimeNode {
  const why = 'You get this because a channel of Ordinate has your address.';
  const text = [
    ...[title, ...lines, about].map(oneLine),
    ...(link === null ? [] : [link]),
    `-- \n${why}${unsubscribe === null ? '' : `\nUnsubscribe: ${unsubscribe}`}`,
  ].join('\n\n');
  const html = [
    `<h1 style="font-size:18px">${escaped(title)}</h1>`,
    ...lines.flatMap((line, index) => {
      const alt = `Clicks by day: ${charts[index]?.join(', ')}`;
      const picture = `<p><img src="cid:${cidOf(index)}" alt="${alt}" width="560" height="120"></p>`;
      return [`<p>${escaped(line)}</p>`, ...(charts[index] === undefined ? [] : [picture])];
    }),
    `<p>${escaped(about)}</p>`,
    ...(link === null ? [] : [`<p>${anchor(link, 'Open in Ordinate')}</p>`]),
    `<p style="color:#666;font-size:12px">${why}${unsubscribe === null ? '' : `<br>${anchor(unsubscribe, 'Unsubscribe')}`}</p>`,
  ].join('\n');
  const page = `<!doctype html>\n<html lang="en"><body style="font-family:sans-serif">\n${html}\n</body></html>\n`;
  const hasPictures = charts.some((chart) => chart !== undefined);
  const root = new MimeNode(hasPictures ? 'multipart/related; type="multipart/alternative"' : 'multipart/alternative');
  const forms = hasPictures ? root.createChild('multipart/alternative') : root;
  forms.createChild('text/plain; charset=utf-8').setContent(text);
  forms.createChild('text/html; charset=utf-8').setContent(page);
  for (const [index, chart] of charts.entries()) {
    if (chart === undefined) continue;
    const picture = root.createChild('image/png', { filename: `clicks-${index + 1}.png` });
    picture.setHeader('Content-ID', `<${cidOf(index)}>`).setHeader('Content-Disposition', 'inline');
    picture.setContent(barChart(chart));
  }
  return root;
}

const cidOf = (index: number): string => `chart-${index}@ordinate`;
const escaped = (text: string): string => ampersands(oneLine(text));
const anchor = (href: string, words: string): string => `<a href="${attribute(href)}">${words}</a>`;

function attribute(text: string): string {
  return ampersands(text).replaceAll('"', '&quot;');
}

/** The setting that mail needs and that is not set. */
export function missingMailSetting({ smtpUrl, mailFrom }: Settings): string | undefined {
  if (smtpUrl === '') return 'ORDINATE_SMTP_URL';
  return mailFrom === '' ? 'ORDINATE_MAIL_FROM' : undefined;
}
