import { isMailbox, isSmtpUrl, setting, wholeNumber } from './values.ts';

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** What channels send, and how. */
export const DELIVERY = {
  deliveryRetries: setting({
    name: 'ORDINATE_DELIVERY_RETRIES',
    uses: ['delivery', 'server'],
    fallback: '5s,5m,30m,2h,5h,10h,24h',
    help: 'Pauses between the attempts of a delivery, ± 20 %; after the last one it has failed.',
    wanted: 'numbers of seconds, minutes or hours separated by commas, such as 5s,5m,2h',
    read: (text) => {
      const pauses = text.split(',').map((pause) => {
        const [, count, unit] = /^([1-9]\d{0,5})([smh])$/.exec(pause.trim()) ?? [];
        return unit === undefined ? undefined : Number(count) * UNITS[unit]!;
      });
      return pauses.every((pause) => pause !== undefined) ? pauses : undefined;
    },
  }),
  deliverySeconds: setting({
    name: 'ORDINATE_DELIVERY_SECONDS',
    uses: ['delivery', 'channels', 'server'],
    fallback: '10',
    help: 'Seconds that one attempt of a delivery may take.',
    wanted: 'a whole number from 1 to 60',
    read: (text) => wholeNumber(text, 1, 60),
  }),
  deliveryLoopback: setting({
    name: 'ORDINATE_DELIVERY_LOOPBACK',
    uses: ['delivery', 'channels', 'server'],
    fallback: 'off',
    help: 'Whether channels may have addresses of this machine (127.0.0.0/8 and ::1), also over http: on or off.',
    wanted: 'on or off',
    read: (text) => ({ on: true, off: false })[text],
  }),
  smtpUrl: setting({
    name: 'ORDINATE_SMTP_URL',
    uses: ['delivery', 'channels', 'server'],
    fallback: '',
    shown: 'none',
    help: 'Server that sends mail, for channels of kind email.',
    wanted: 'an address such as smtp://USER:PASSWORD@HOST:587 or smtps://USER:PASSWORD@HOST:465',
    isSecret: true,
    read: (text) => (text === '' || isSmtpUrl(text) ? text : undefined),
  }),
  mailFrom: setting({
    name: 'ORDINATE_MAIL_FROM',
    uses: ['delivery', 'channels', 'server'],
    fallback: '',
    shown: 'none',
    help: 'Sender of mail.',
    wanted: 'an address such as reports@example.com, or Name <reports@example.com>',
    read: (text) => (text === '' || isMailbox(text) ? text : undefined),
  }),
};
