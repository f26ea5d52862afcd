import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { Test } from 'tap';

interface Mail {
  readonly to: readonly string[];
  readonly from: string;
  /** As it was sent. */
  readonly raw: string;
  /** Whether it came over TLS. */
  readonly isSecure: boolean;
}

/** A real mail server on this machine, which keeps what it gets. */
export interface MailServer {
  readonly port: number;
  readonly mails: Mail[];
  /** The error of the next mails; none without it. */
  refusal: { readonly code: number; readonly message: string } | undefined;
}

export async function startMailServer(t: Test, options: SMTPServerOptions = {}): Promise<MailServer> {
  const mails: Mail[] = [];
  const state: MailServer = { port: 0, mails, refusal: undefined };
  const server = new SMTPServer({
    authOptional: true,
    onAuth: ({ username, password }, _session, done) => {
      if (username === 'user' && password === 'pass@word') done(null, { user: username });
      else done(new Error('wrong password'));
    },
    onData: (stream, session, done) => {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        const { refusal } = state;
        if (refusal !== undefined) {
          done(Object.assign(new Error(refusal.message), { responseCode: refusal.code }));
          return;
        }
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          to: rcptTo.map(({ address }) => address),
          from: mailFrom === false ? '' : mailFrom.address,
          raw: Buffer.concat(parts).toString('latin1'),
          isSecure: session.secure,
        });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => {});
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => new Promise<void>((done) => server.close(() => done())));
  return Object.assign(state, { port: (server.server.address() as AddressInfo).port });
}

/** The headers of a mail, unfolded, in lower case. */
export function headersOf(raw: string): ReadonlyMap<string, string> {
  const head = raw.slice(0, raw.indexOf('\r\n\r\n')).replaceAll(/\r\n[ \t]+/g, ' ');
  return new Map(
    head.split('\r\n').map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}

/** The decoded parts of a mail of one type. */
export function partsOf(raw: string, type: string): Buffer[] {
  const [, boundary] = /boundary="?([^";\r\n]+)"?/.exec(headersOf(raw).get('content-type') ?? '') ?? [];
  if (boundary === undefined) return headersOf(raw).get('content-type')?.startsWith(type) ? [decode(raw)] : [];
  return raw
    .split(`--${boundary}`)
    .slice(1, -1)
    .flatMap((part) => partsOf(part.replace(/^\r\n/, ''), type));
}

function decode(part: string): Buffer {
  const body = part.slice(part.indexOf('\r\n\r\n') + 4);
  const encoding = headersOf(part).get('content-transfer-encoding')?.toLowerCase();
  if (encoding === 'base64') return Buffer.from(body, 'base64');
  if (encoding !== 'quoted-printable') return Buffer.from(body, 'latin1');
  const whole = body.replaceAll(/=\r\n/g, '');
  return Buffer.from(
    whole.replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );
}
